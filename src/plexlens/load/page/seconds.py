"""A load test second by second as CSV."""

from __future__ import annotations

from plexlens.load.run import Run
from plexlens.load.seconds import by_second
from plexlens.report.writers.csv_file import csv_of

_TIMES = ("mean", "p95", "longest", "from_schedule_p95")


def csv_by_second(run: Run) -> str:
    """`by_second` as CSV: times as ISO 8601 with the offset from UTC, response times in ms, empty if not known."""
    rows = by_second(run)
    columns = {name: column.to_pylist() for name, column in zip(rows.column_names, rows.columns, strict=True)}
    columns["second"] = [time.isoformat() for time in columns["second"]]
    for name in _TIMES:
        columns[name] = [None if seconds is None else round(seconds * 1e3, 6) for seconds in columns[name]]
    heads = [f"{name}_ms" if name in _TIMES else name for name in columns]
    return csv_of(heads, zip(*columns.values(), strict=True))
