"""Where a file's rows go: values with the identity of the report they stand in, twin rows, damage and counts.

A report prints its interval where it likes, often below the first values. So the rows of the open report wait until it
ends, or until there are many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from plexlens.ingest.printed.catalogue import Catalogue, TableSpec
from plexlens.ingest.printed.text.elapsed import CountAndRate, Elapsed, elapsed
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.printed import Printed
from plexlens.ingest.printed.text.tables import PREFIX, VALUE
from plexlens.ingest.source import Damage, Severity

_HELD_VALUES = 1 << 16
_VALUE_ROWS = 1 << 15
_TWIN_ROWS = 1 << 12
_KEPT_DAMAGE = 1000
"""Damage rows kept of one reason; the others are counted."""


@dataclass(slots=True)
class Record:
    """A report: one interval of one system, Db2, region or facility.

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
        """Work out of start, end and length the one that is missing; the length from rates where none is printed."""
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
        """The columns that every row begins with, but for its own number."""
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


class Output:
    """Rows, damage and counts of one file.

    Parameters
    ----------
    file, source_id
        What damage rows and table rows bear.
    """

    def __init__(self, file: str, source_id: str, known: Catalogue) -> None:
        self.file = file
        self.source_id = source_id
        self.record: Record | None = None
        self.records = 0
        self.values = 0
        self.numbers = 0
        self.kinds: dict[str, int] = {}
        self.rows: dict[str, int] = {}
        self.systems: set[str] = set()
        self.sysplexes: set[str] = set()
        self.subsystems: set[str] = set()
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.damage: list[Damage] = []
        self.damage_counts: dict[str, int] = {}
        self.without_column: dict[tuple[str, str], int] = {}
        """Numbers that no table has a column for, by kind of report and printed name."""
        self.known = known
        self._columns = {table.name: Rows(table) for table in known.of_source(PREFIX)}

    def begin(self, kind: str, title: str | None = None) -> Record:
        """Open a report; the one before it ends."""
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
        if len(record.values) >= _HELD_VALUES:
            self._let_go(record)

    def twin(self, table: str, row: dict[str, object]) -> None:
        """Add a twin row to the open report; what it says of identity goes before the report's own."""
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
        self.kinds[record.kind] = self.kinds.get(record.kind, 0) + 1
        for held, name in (
            (self.systems, record.system),
            (self.sysplexes, record.sysplex),
            (self.subsystems, record.subsystem),
        ):
            if name:
                held.add(name)
        for point in (record.start, record.end):
            if point is not None:
                self.first = point if self.first is None else min(self.first, point)
                self.last = point if self.last is None else max(self.last, point)

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
            self._columns[VALUE].add(
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
            given = {column: value for column, value in row.items() if value is not None}
            self._columns[table].add({**common, **identity, "section_no": counts[table], **given})
        record.twins = []

    def unplaced(self, name: str) -> None:
        """Count a number of the open report that no table but ``text_report_value`` has a column for."""
        place = (self.record.kind if self.record is not None else "unknown", name)
        self.without_column[place] = self.without_column.get(place, 0) + 1

    def note(self, reason: str, severity: Severity, detail: str, remedy: str, *, record_no: int | None = None) -> None:
        """Note damage."""
        count = self.damage_counts.get(reason, 0) + 1
        self.damage_counts[reason] = count
        if count <= _KEPT_DAMAGE:
            self.damage.append(Damage(self.source_id, self.file, record_no, None, reason, severity, detail, remedy))

    def _tell_of_interval(self, record: Record) -> None:
        """Say where the length of the interval is from, and which printed numbers contradict it."""
        found = record.elapsed
        if found is None:
            return
        if record.is_worked_out:
            self.note(
                "interval worked out",
                Severity.INFO,
                f"report {record.number} ({record.kind}) prints no interval; {found.agreeing} counts with their rates "
                f"allow {found.low:.2f} to {found.high:.2f} s, and {record.interval_seconds:.2f} s is taken",
                "nothing; the page heading of the report would say it",
                record_no=record.number,
            )
        for pair in found.contradicting:
            low, high = pair.bounds() or (0.0, 0.0)
            self.note(
                "printed numbers disagree",
                Severity.ERROR,
                f"line {pair.line}: {pair.name} {pair.quantity.text} at {pair.rate.text} a second takes {low:.1f} to "
                f"{high:.1f} s; {found.agreeing} other pairs of report {record.number} allow {found.low:.2f} to "
                f"{found.high:.2f} s",
                "look at the original: one of the two numbers is misprinted; both are kept as printed",
                record_no=record.number,
            )

    def batches(self, *, all_of_it: bool) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Batches that are full; at the end all of them."""
        for name, rows in self._columns.items():
            for batch in rows.batches(all_of_it=all_of_it):
                self.rows[name] = self.rows.get(name, 0) + batch.num_rows
                yield name, batch


class Rows:
    """Rows of one table on their way into batches."""

    def __init__(self, table: TableSpec) -> None:
        self._table = table
        self._schema = table.schema()
        self._limit = _VALUE_ROWS if table.name == VALUE else _TWIN_ROWS
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        """Add one row; columns it lacks are null, names that are no columns are left out."""
        self._rows.append(self._table.complete(row))

    def batches(self, *, all_of_it: bool) -> Iterator[pa.RecordBatch]:
        """The rows gathered, as soon as there are many; `all_of_it` at the end."""
        if self._rows and (all_of_it or len(self._rows) >= self._limit):
            arrays = [
                pa.array([row.get(column.name) for row in self._rows], type=column.type) for column in self._schema
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)
            self._rows = []
