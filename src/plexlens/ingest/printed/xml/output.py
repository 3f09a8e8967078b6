"""Output of a file's rows, with their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

import pyarrow as pa

from plexlens.ingest.printed.catalogue import Catalogue
from plexlens.ingest.printed.output import HELD_VALUES, FileOutput
from plexlens.ingest.printed.values import Printed
from plexlens.ingest.printed.xml.model import Report
from plexlens.ingest.printed.xml.rows import Cell, Context, Value, ValueRows
from plexlens.ingest.printed.xml.tables import PREFIX, VALUE
from plexlens.ingest.source import Severity


class Output(FileOutput):
    """Rows, damage and counts of a file.

    Values that belong to the file as a whole wait to its end, when the span of its reports is known.
    """

    def __init__(self, file: str, source_id: str, known: Catalogue) -> None:
        super().__init__(file, source_id, known, PREFIX)
        self.values = ValueRows(known.tables[VALUE])
        self.reports = 0
        self.messages: list[str] = []
        self._span: tuple[datetime | None, datetime | None] = (None, None)
        self._offsets: set[float | None] = set()
        self._of_the_file: list[Value] = []
        self._sections = 0

    def of_the_file(self, kind: str, name: str, printed: Printed, cell: Cell, line: int) -> None:
        """Add a value that belongs to no report."""
        self._sections += 1
        self._of_the_file.append(Value.of((self._sections, kind, name), printed, cell, line))
        if len(self._of_the_file) > HELD_VALUES:
            self.finish()

    def report_ended(self, report: Report) -> None:
        """Count a report."""
        moments = report.local(report.start), report.local(report.end)
        self.count_report(report.id or "unknown", (report.system, report.sysplex), *moments)
        starts, ends = zip(self._span, (report.start, report.end), strict=True)
        self._span = min(filter(None, starts), default=None), max(filter(None, ends), default=None)
        self._offsets.add(report.utc_offset)

    def add(self, report: Report, table: str, section_no: int, row: dict[str, object]) -> None:
        """Add a row of a twin table."""
        identity = {
            "system": report.system,
            "sysplex": report.sysplex,
            "interval_start": report.start,
            "interval_end": report.end,
            "utc_offset": report.utc_offset,
            "source_id": self.source_id,
            "record_no": report.number,
            "section_no": section_no,
        }
        self.tables[table].add({**identity, **row})

    def finish(self) -> None:
        """Write the values of the file as a whole, with the span of its reports so far."""
        context = Context(
            system=next(iter(self.systems)) if len(self.systems) == 1 else None,
            sysplex=next(iter(self.sysplexes)) if len(self.sysplexes) == 1 else None,
            interval_start=self._span[0],
            interval_end=self._span[1],
            utc_offset=next(iter(self._offsets)) if len(self._offsets) == 1 else None,
            source_id=self.source_id,
            record_no=0,
        )
        for value in self._of_the_file:
            self.values.add(context, value)
        self._of_the_file = []

    def batches(self, *, all_of_it: bool) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Full batches; with `all_of_it`, at the end, all batches."""
        yield from self.values.batches(all_of_it=all_of_it)
        yield from super().batches(all_of_it=all_of_it)


DamageTo = Callable[[str, Severity, str, str, int | None], None]
"""Takes damage: reason, severity, detail, remedy, byte offset."""
