"""A load test second by second as CSV."""

from __future__ import annotations

from plexlens.load.run import Run
from plexlens.load.seconds import by_second
from plexlens.report.writers.csv_file import csv_of


def csv_by_second(run: Run) -> str:
    """`by_second` as CSV: times as ISO 8601 with the offset from UTC; empty where a number is not known."""
    rows = by_second(run)
    columns = [
        [time.isoformat() for time in column.to_pylist()]
        if name == "second"
        else [None if value is None else round(value, 6) for value in column.to_pylist()]
        if name.endswith("_ms")
        else column.to_pylist()
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    ]
    return csv_of(rows.column_names, zip(*columns, strict=True))
