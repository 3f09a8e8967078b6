"""Output of a file's rows: values with the identity of their report, twin rows, damage and counts.

A report prints its interval where it likes, often below the first values. So the rows of the open report wait until it
ends, or until there are many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from plexlens.ingest.printed.catalogue import Catalogue
from plexlens.ingest.printed.output import HELD_VALUES, VALUE_ROWS, FileOutput, TableRows
from plexlens.ingest.printed.text.elapsed import CountAndRate, Elapsed, elapsed
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text_kinds import PREFIX, VALUE
from plexlens.ingest.printed.values import Printed
from plexlens.ingest.source import Severity


@dataclass(slots=True)
class Record:
    """A report: an interval of a system, Db2, region or facility.

    `start` and `end` are local times as printed, stored as if they were UTC; `utc_offset` stays null to say so.
    """

    number: int
    kind: str
    title: str | None = None
    system: str | None = None
    sysplex: str | None = None
    subsystem: str | None = None
    location: str | None = None
    group: str | None = None
    member: str | None = None
    version: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    interval_seconds: float | None = None
    rows: int = 0
    values: list[tuple[Any, ...]] = field(default_factory=list)
    twins: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    rates: list[CountAndRate] = field(default_factory=list)
    elapsed: Elapsed | None = None
    is_worked_out: bool = False

    def complete_interval(self) -> None:
        """Compute the missing item of start, end and length; the length comes from rates if none is printed."""
        if self.rates:
            self.elapsed = elapsed(self.rates)
        if self.elapsed is not None and self.interval_seconds is None and not (self.start and self.end):
            self.interval_seconds = self.elapsed.seconds
            self.is_worked_out = self.interval_seconds is not None
        try:
            if self.interval_seconds is None and self.start and self.end and self.end > self.start:
                self.interval_seconds = (self.end - self.start).total_seconds()
            if self.end is None and self.start and self.interval_seconds is not None:
                self.end = self.start + timedelta(seconds=self.interval_seconds)
            if self.start is None and self.end and self.interval_seconds is not None:
                self.start = self.end - timedelta(seconds=self.interval_seconds)
        except OverflowError:
            self.start = self.end = None

    def common(self, source_id: str) -> dict[str, object]:
        """The columns at the start of every row, except its own number."""
        return {
            "system": self.system,
            "sysplex": self.sysplex,
            "subsystem": self.subsystem,
            "interval_start": self.start,
            "interval_end": self.end,
            "utc_offset": None,
            "source_id": source_id,
            "record_no": self.number,
        }


_TIMES = ("interval_start", "interval_end")


class Output(FileOutput):
    """Rows, damage and counts of a file."""

    def __init__(self, file: str, source_id: str, known: Catalogue) -> None:
        super().__init__(file, source_id, known, PREFIX)
        self.tables[VALUE] = TableRows(known.tables[VALUE], VALUE_ROWS)
        self.record: Record | None = None
        self.records = 0
        self.values = 0
        self.numbers = 0
        self.without_column: dict[tuple[str, str], int] = {}
        """Numbers that no table has a column for, by kind of report and printed name."""

    def begin(self, kind: str, title: str | None = None) -> Record:
        """Open a report; the previous report ends."""
        self.end()
        self.records += 1
        self.record = Record(self.records, kind, title)
        return self.record

    def value(
        self,
        line: Line,
        name: str,
        printed: Printed,
        *,
        block: str | None = None,
        about: str | None = None,
        parent: str | None = None,
        head: str | None = None,
    ) -> None:
        """Add a value to the open report."""
        record = self.record
        if record is None:
            raise RuntimeError("no report is open")
        record.values.append((block, about, parent, name, head, printed, line.page, line.number))
        if len(record.values) >= HELD_VALUES:
            self._let_go(record)

    def twin(self, table: str, row: dict[str, object]) -> None:
        """Add a twin row to the open report; identity in the row overrides the report's own."""
        record = self.record
        if record is None:
            raise RuntimeError("no report is open")
        record.twins.append((table, row))

    def end(self) -> None:
        """End the open report."""
        record, self.record = self.record, None
        if record is None:
            return
        record.complete_interval()
        self._let_go(record)
        if not record.rows:
            self.records -= 1
            return
        self._tell_of_interval(record)
        self.count_report(record.kind, (record.system, record.sysplex, record.subsystem), record.start, record.end)

    def _let_go(self, record: Record) -> None:
        common = record.common(self.source_id)
        identity = {
            "report": record.kind,
            "report_title": record.title,
            "location": record.location,
            "group_name": record.group,
            "member": record.member,
            "db2_version": record.version,
            "interval_seconds": record.interval_seconds,
        }
        for block, about, parent, name, head, printed, page, line in record.values:
            record.rows += 1
            self.tables[VALUE].add(
                {
                    **common,
                    **identity,
                    "section_no": record.rows,
                    "block": block,
                    "object": about,
                    "parent": parent,
                    "name": name,
                    "column_head": head,
                    "value": printed.text,
                    "value_type": printed.type,
                    "number": printed.number,
                    "low": printed.low,
                    "high": printed.high,
                    "number_unit": printed.unit,
                    "number_scale": printed.scale,
                    "decimals": printed.decimals,
                    "page_no": page,
                    "line": line,
                }
            )
            self.values += 1
            self.numbers += printed.number is not None
        record.values = []
        counts: dict[str, int] = {}
        for table, row in record.twins:
            counts[table] = counts.get(table, 0) + 1
            record.rows += 1
            # A row may lack the times that its report has, but not by chance: it then says so.
            given = {column: value for column, value in row.items() if value is not None or column in _TIMES}
            self.tables[table].add({**common, **identity, "section_no": counts[table], **given})
        record.twins = []

    def unplaced(self, name: str) -> None:
        """Count a number of the open report that only ``text_report_value`` has a column for."""
        place = (self.record.kind if self.record is not None else "unknown", name)
        self.without_column[place] = self.without_column.get(place, 0) + 1

    def _tell_of_interval(self, record: Record) -> None:
        """Note the origin of the interval length, and the printed numbers that contradict it."""
        results = record.elapsed
        if results is None:
            return
        if record.is_worked_out:
            self.note(
                "interval computed",
                Severity.INFO,
                f"report {record.number} ({record.kind}) prints no interval; {results.agreeing} counts and their rates "
                f"allow {results.low:.2f} to {results.high:.2f} s; {record.interval_seconds:.2f} s is used",
                "no action; include the page heading of the report to have the exact interval",
                record_no=record.number,
            )
        for pair in results.contradicting:
            low, high = pair.bounds() or (0.0, 0.0)
            self.note(
                "printed numbers disagree",
                Severity.ERROR,
                f"line {pair.line}: {pair.name} {pair.quantity.text} at {pair.rate.text} per second take {low:.1f} to "
                f"{high:.1f} s; {results.agreeing} other pairs of report {record.number} allow {results.low:.2f} to "
                f"{results.high:.2f} s",
                "check the original: one of the two numbers is misprinted; both are kept as printed",
                record_no=record.number,
            )
