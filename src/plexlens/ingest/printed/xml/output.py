"""Where a file's rows go, and what is counted on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import pyarrow as pa

from plexlens.ingest.printed.catalogue import Catalogue
from plexlens.ingest.printed.xml.model import Report
from plexlens.ingest.printed.xml.printed import Printed
from plexlens.ingest.printed.xml.rows import Cell, Context, TwinRows, Value, ValueRows
from plexlens.ingest.printed.xml.tables import PREFIX, VALUE
from plexlens.ingest.source import Damage, Severity

_HELD_VALUES = 1 << 16
_KEPT_DAMAGE = 1000
"""Damage rows kept of one reason; the others are counted."""


class Output:
    """Rows, damage and counts of one file.

    Values that belong to the file as a whole wait to its end, when the span of its reports is known.

    Parameters
    ----------
    file, source_id
        What damage rows and table rows bear.
    """

    def __init__(self, file: str, source_id: str, known: Catalogue) -> None:
        self.file = file
        self.source_id = source_id
        self.known = known
        self.values = ValueRows(known.tables[VALUE])
        self.twins = {table.name: TwinRows(table) for table in known.of_source(PREFIX) if table.name != VALUE}
        self.damage: list[Damage] = []
        self.damage_counts: dict[str, int] = {}
        self.metrics: dict[str, int] = {}
        self.reports = 0
        self.record_no: int | None = None
        self.messages: list[str] = []
        self.systems: set[str] = set()
        self.sysplexes: set[str] = set()
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.local_first: datetime | None = None
        self.local_last: datetime | None = None
        self.offsets: set[float | None] = set()
        self._of_the_file: list[Value] = []
        self._sections = 0

    @property
    def rows(self) -> int:
        """Values so far."""
        return self.values.total + len(self._of_the_file)

    def note(self, reason: str, severity: Severity, detail: str, remedy: str, offset: int | None = None) -> None:
        """Note damage in the report that is open."""
        count = self.damage_counts.get(reason, 0) + 1
        self.damage_counts[reason] = count
        if count <= _KEPT_DAMAGE:
            self.damage.append(
                Damage(self.source_id, self.file, self.record_no, offset, reason, severity, detail, remedy)
            )

    def of_the_file(self, kind: str, name: str, printed: Printed, cell: Cell) -> None:
        """Add a value that belongs to no report."""
        self._sections += 1
        self._of_the_file.append(Value.of(self._sections, kind, name, printed, cell))
        if len(self._of_the_file) > _HELD_VALUES:
            self.finish()

    def report_ended(self, report: Report) -> None:
        """Count a report."""
        name = report.id or "unknown"
        self.metrics[name] = self.metrics.get(name, 0) + 1
        if report.start is not None:
            self.first = report.start if self.first is None else min(self.first, report.start)
        if report.end is not None:
            self.last = report.end if self.last is None else max(self.last, report.end)
        self.offsets.add(report.utc_offset)
        for point in (report.local(report.start), report.local(report.end)):
            if point is not None:
                self.local_first = point if self.local_first is None else min(self.local_first, point)
                self.local_last = point if self.local_last is None else max(self.local_last, point)
        if report.system is not None:
            self.systems.add(report.system)
        if report.sysplex is not None:
            self.sysplexes.add(report.sysplex)

    def finish(self) -> None:
        """Let the values of the file as a whole go, with the span of its reports so far."""
        context = Context(
            system=next(iter(self.systems)) if len(self.systems) == 1 else None,
            sysplex=next(iter(self.sysplexes)) if len(self.sysplexes) == 1 else None,
            interval_start=self.first,
            interval_end=self.last,
            utc_offset=next(iter(self.offsets)) if len(self.offsets) == 1 else None,
            source_id=self.source_id,
            record_no=0,
        )
        for value in self._of_the_file:
            self.values.add(context, value)
        self._of_the_file = []

    def batches(self, *, all_of_it: bool) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Batches that are full; at the end all of them."""
        yield from self.values.batches(all_of_it=all_of_it)
        for rows in self.twins.values():
            yield from rows.batches(all_of_it=all_of_it)


DamageTo = Callable[[str, Severity, str, str, int | None], None]
"""Takes damage: reason, severity, detail, remedy, byte offset."""
