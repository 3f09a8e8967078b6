"""What a command loads before it begins: a question to a database needs no decoder and no statistics."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.example_file import write_example


@pytest.mark.parametrize(
    ("modules", "not_needed"),
    [
        ("plexlens", ("plexlens.api", "pyarrow")),
        ("plexlens.cli", ("plexlens.api", "duckdb", "numpy", "pyarrow", "scipy", "starlette", "uvicorn")),
        ("plexlens.metrics.evaluate, plexlens.pdb", ("plexlens.ingest.smf", "plexlens.ingest.printed.text", "scipy")),
        ("plexlens.report.build, plexlens.report.pages", ("scipy", "starlette", "uvicorn")),
        ("plexlens.compare", ("scipy.stats",)),
        (
            "plexlens.compare.comparison.comparison, plexlens.compare.runs.database_run, plexlens.compare.page.runs",
            ("plexlens.compare.study.model", "plexlens.pools", "plexlens.ingest.smf", "plexlens.report.build", "scipy"),
        ),
        ("plexlens.report, plexlens.report.build", ("plexlens.ingest.smf",)),
    ],
)
def test_modules_load_no_more_than_they_need(modules: str, not_needed: tuple[str, ...]) -> None:
    program = f"import sys, {modules}; print(*[name for name in {not_needed!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_command_loads_pandas_where_it_is_installed(tmp_path: Path) -> None:
    """Pyarrow loads it for its first array, unless the program prevents that."""
    pytest.importorskip("pandas")
    write_example(tmp_path / "example.smf")
    words = ["plexlens", "report", "example.smf", "-o", "report.html"]
    program = (
        f"import atexit, sys; sys.argv = {words!r}; from plexlens.cli.__main__ import program; "
        "atexit.register(lambda: print('pyarrow' in sys.modules, 'pandas' in sys.modules)); program()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout.split()[-2:]) == (0, ["True", "False"]), done.stderr


def test_a_report_of_a_dump_does_without_pyarrow_compute(tmp_path: Path) -> None:
    """Its import takes longer than the decoding of a small dump."""
    write_example(tmp_path / "example.smf")
    words = ["plexlens", "report", "example.smf", "-o", "report.html"]
    program = (
        f"import atexit, sys; sys.argv = {words!r}; from plexlens.cli.__main__ import program; "
        "atexit.register(lambda: print('pyarrow' in sys.modules, 'pyarrow.compute' in sys.modules)); program()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout.split()[-2:]) == (0, ["True", "False"]), done.stderr
