"""Reports whose tables become rows by their heads alone: DEVICE and CHAN. ``heads.csv`` maps heads to columns.

A line of the file names a head as IBM words it, the column that takes it, the unit, and the factor from the printed
unit to the base unit. ``derived`` names a further column with the total: the printed rate times the interval, or the
printed average times another total.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plexlens.ingest.rmf_xml.columns import INTERVAL, Column, TableSpec, derived, number, text
from plexlens.ingest.rmf_xml.model import Report, Row, Segment, Table, as_number, as_text, cell, key

_FILE = Path(__file__).with_name("heads.csv")

_GRAINS = {
    "rmf_xml_device": "one direct access device in one interval",
    "rmf_xml_channel": "one channel path in one interval",
}


@dataclass(frozen=True, slots=True)
class _Head:
    """One line of ``heads.csv``."""

    head: str
    column: Column
    factor: float
    total: Column | None
    times: str


@cache
def _heads() -> dict[tuple[str, str], dict[str, _Head]]:
    """Heads by report and table, then by the head as heads are compared."""
    tables: dict[tuple[str, str], dict[str, _Head]] = {}
    with _FILE.open(encoding="utf-8", newline="") as stream:
        for line in csv.DictReader(stream):
            name, words, smf = line["column"], line["description"], line["smf"]
            is_text = line["kind"] == "text"
            total, _, times = line["derived"].partition(": * ")
            unit = "seconds" if line["unit"] == "seconds" else ""
            tables.setdefault((line["report"], line["table"]), {})[key(line["head"])] = _Head(
                head=line["head"],
                column=text(name, words, smf) if is_text else number(name, line["unit"], words, "" if total else smf),
                factor=float(line["factor"] or 1.0),
                total=derived(total, unit, f"{words}, all together", smf) if total else None,
                times=times,
            )
    return tables


def _columns(heads: dict[str, _Head]) -> Iterator[Column]:
    yield INTERVAL
    yield number("samples", "", "samples of the interval")
    for head in heads.values():
        yield head.column
        if head.total is not None:
            yield head.total


TABLES = tuple(TableSpec(name, _GRAINS[name], tuple(_columns(heads))) for (_, name), heads in _heads().items())

REPORTS = frozenset(report for report, _ in _heads())
"""Metric ids of the reports that are read so."""


class ReportByHeads:
    """Rows of one report of `REPORTS`."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._samples: float | None = None
        self._tables = {name: heads for (owner, name), heads in _heads().items() if owner == (report.id or "").upper()}

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows of one complete segment."""
        samples = as_number(segment.variable("Total Samples", "Samples"))
        self._samples = samples if samples is not None else self._samples
        for part in segment.parts:
            for table in part.tables:
                for name, heads in self._tables.items():
                    yield from self._rows(name, heads, table)

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Nothing: every row belongs to a table."""
        return iter(())

    def _rows(self, name: str, heads: dict[str, _Head], table: Table) -> Iterator[tuple[str, dict[str, object]]]:
        # The first head of the list names the row's object or stands beside it; a table that lacks most is another.
        places = {place: heads[key(head)] for place, head in enumerate(table.heads) if key(head) in heads}
        if 2 * len(places) < len(heads):
            return
        for row in table.rows:
            if not row.is_total:
                yield name, self._row(places, row)

    def _row(self, places: dict[int, _Head], row: Row) -> dict[str, object]:
        interval = self._report.interval_seconds
        values: dict[str, object] = {"interval_seconds": interval, "samples": self._samples}
        totals: dict[str, float | None] = {"interval": interval}
        for place, head in places.items():
            printed = cell(row, place)
            if head.column.kind == "text":
                values[head.column.name] = as_text(printed)
                continue
            amount = as_number(printed)
            amount = None if amount is None else amount * head.factor
            values[head.column.name] = amount
            if head.total is not None:
                times = totals.get(head.times)
                total = None if amount is None or times is None else amount * times
                values[head.total.name] = totals[head.total.name] = total
        return values
