"""What a command loads before it begins: a question to a database needs no decoder and no statistics."""

from __future__ import annotations

import subprocess
import sys

import pytest


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
