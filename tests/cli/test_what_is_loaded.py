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
        (
            "plexlens.metrics.evaluate, plexlens.pdb",
            (
                "plexlens.ingest.smf",
                "plexlens.ingest.printed.catalogue",
                "plexlens.pdb.staging",
                "pyarrow.parquet",
                "scipy",
            ),
        ),
        ("plexlens.report.build, plexlens.report.pages", ("scipy", "starlette", "uvicorn")),
        ("plexlens.compare", ("scipy.stats",)),
        (
            "plexlens.compare.comparison.comparison, plexlens.compare.runs.database_run, plexlens.compare.page.runs",
            ("plexlens.compare.study.model", "plexlens.pools", "plexlens.ingest.smf", "plexlens.report.build", "scipy"),
        ),
        (
            "plexlens.compare.page.asked, plexlens.report.blocks.selection",
            ("plexlens.report.blocks.page", "pyarrow.parquet"),
        ),
        ("plexlens.report, plexlens.report.build", ("plexlens.ingest.smf",)),
    ],
)
def test_modules_load_no_more_than_they_need(modules: str, not_needed: tuple[str, ...]) -> None:
    program = f"import sys, {modules}; print(*[name for name in {not_needed!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def is_loaded_by_a_report(module: str, folder: Path) -> bool:
    """Whether the report of the example, which loads pyarrow, loads a module."""
    write_example(folder / "example.smf")
    words = ["plexlens", "report", "example.smf", "-o", "report.html"]
    program = (
        f"import atexit, sys; sys.argv = {words!r}; from plexlens.cli.__main__ import program; "
        f"atexit.register(lambda: print('pyarrow' in sys.modules, {module!r} in sys.modules)); program()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    pyarrow, wanted = done.stdout.split()[-2:]
    assert (done.returncode, pyarrow) == (0, "True"), done.stderr
    return wanted == "True"


def test_no_command_loads_pandas_where_it_is_installed(tmp_path: Path) -> None:
    """Pyarrow loads it for its first array, unless the program prevents that."""
    pytest.importorskip("pandas")
    assert not is_loaded_by_a_report("pandas", tmp_path)


def test_a_report_of_a_dump_does_without_pyarrow_compute(tmp_path: Path) -> None:
    """Its import takes longer than the decoding of a small dump."""
    assert not is_loaded_by_a_report("pyarrow.compute", tmp_path)
