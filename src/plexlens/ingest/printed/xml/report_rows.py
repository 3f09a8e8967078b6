"""The rows of a report: held until its times and resource are known, then written with them."""

from __future__ import annotations

from collections.abc import Iterable

from plexlens.ingest.printed.values import Printed
from plexlens.ingest.printed.xml.cell_values import TIME_DATA, read_value
from plexlens.ingest.printed.xml.interval import read_resource, read_times
from plexlens.ingest.printed.xml.model import Part, Report, Segment
from plexlens.ingest.printed.xml.output import Output
from plexlens.ingest.printed.xml.rows import NOWHERE, Cell, Context, Place, Value
from plexlens.ingest.printed.xml.tables import MONITOR3, TwinReport, twin_of
from plexlens.ingest.source import Severity

_HELD_VALUES = 1 << 16
"""Values that wait for the report's times."""
_NEVER_NUMBERS = frozenset({"name", "head", "mfpmsg"})


class ReportRows:
    """A report being read.

    Parameters
    ----------
    report
        Its head, filled as its elements come.
    output
        Where its rows go.
    """

    def __init__(self, report: Report, output: Output) -> None:
        self.report = report
        self.segment: Segment | None = None
        self.part: Part | None = None
        self.tables = 0
        self.has_data = False
        self.times: dict[str, tuple[str, str | None]] = {}
        self.resource: dict[str, str] = {}
        self._output = output
        self._twin: TwinReport | None = None
        self._segments = 0
        self._parts = 0
        self._sections = 0
        self._twin_rows = 0
        self._has_times = False
        self._has_resource = False
        self._messages: list[str] = []
        self._released = False
        self._held: list[tuple[Place, Value]] = []
        self._held_segments: list[Segment] = []
        self._whole: Segment | None = None
        self._place = Place()
        self._context: Context | None = None
        self._context_of = self._place

    @property
    def has_twin(self) -> bool:
        """Whether the report's segments are kept for twin rows."""
        return self._twin is not None

    def metric(self, attributes: dict[str, str]) -> None:
        """Name the report."""
        self.report.id = attributes.get("id") or self.report.id
        self.report.option = attributes.get("option") or self.report.option
        self._twin = twin_of(self.report, self._output.known)
        if self._twin is not None and self.report.gatherer == MONITOR3:
            # A Monitor III report has a caption and a table, and no segments around them.
            self.part = Part()
            self._whole = Segment(line=self.report.line, parts=[self.part])

    def begin_segment(self, line: int) -> None:
        """Begin a segment."""
        self._segments += 1
        self._parts = 0
        self.segment = Segment(line=line)
        self.part = None
        self._place = Place(segment_no=self._segments)

    def begin_part(self) -> None:
        """Begin a part."""
        self._parts += 1
        self.part = Part()
        if self.segment is not None:
            self.segment.parts.append(self.part)
        self._place = self._place._replace(part_no=self._parts, part=None)

    def name_segment(self, name: str) -> None:
        """Name the segment; a second name is ignored."""
        if self.segment is not None and self.segment.name is None:
            self.segment.name = name
            self._place = self._place._replace(segment=name or None)

    def name_part(self, name: str) -> None:
        """Name the part; a second name is ignored."""
        if self.part is not None and self.part.name is None:
            self.part.name = name
            self._place = self._place._replace(part=name or None)

    def end_part(self) -> None:
        """End the part."""
        self.part = None
        self._place = self._place._replace(part_no=None, part=None)

    def end_segment(self) -> None:
        """End the segment and write its twin rows."""
        segment, self.segment, self.part = self.segment, None, None
        self._place = Place()
        if segment is None or self._twin is None:
            return
        if self._released:
            self._add_twin_rows(self._twin.segment(segment))
        else:
            self._held_segments.append(segment)

    def message(self, description: str, severity: str, label: str | None) -> None:
        """Add a message of the server or of the segment."""
        if self.segment is not None:
            self.segment.messages.append(description)
            self.has_data = True
        self._messages.append(f"{f'{label} ' if label else ''}{description} (severity {severity or 'not given'})")

    def resource_known(self) -> None:
        """Process the complete ``<resource>`` element."""
        read_resource(self.report, self.resource)
        self._has_resource = True
        self._release_if_known()

    def times_known(self, line: int) -> None:
        """Process the complete ``<time-data>`` element."""
        wrong = read_times(self.report, self.times)
        if wrong is not None:
            self._no_interval(line, wrong)
        self._has_times = True
        self._release_if_known()

    def emit(
        self, kind: str, text: str, line: int, name: str, *, unit: str | None = None, cell: Cell = NOWHERE
    ) -> Printed:
        """Add a value, read according to its kind and head."""
        if kind in _NEVER_NUMBERS:
            printed = as_name(text)
        else:
            printed = read_value(
                text,
                column_type=TIME_DATA if kind == "time" else cell.column_type,
                unit=unit,
                name=name,
                part=self._place.part or "",
                report=self.report.id or "",
                locale=self.report.locale,
            )
        self._sections += 1
        value = Value.of((self._sections, kind, name), printed, cell, line)
        if self._released:
            self._put(self._place, value)
        else:
            self._held.append((self._place, value))
            if len(self._held) > _HELD_VALUES:
                self._no_interval(line, f"no times in the first {_HELD_VALUES:,} values")
                self._release()
        return printed

    def end(self, *, whole: bool) -> None:
        """End the report; if not `whole`, it breaks off here."""
        if not self._released:
            if self.has_data and not self._has_times:
                self._no_interval(self.report.line, "no <time-data>")
            self._release()
        if self._twin is not None and whole:
            if self._whole is not None:
                self._add_twin_rows(self._twin.segment(self._whole))
            self._add_twin_rows(self._twin.finish())
            if self.has_data and not self._twin_rows:
                self._output.note(
                    "no rows in own table",
                    Severity.INFO,
                    f"line {self.report.line}: this {self.report.id} report has no known names",
                    "see rmf_xml_value for the printed values",
                )
        if self._messages and not self.has_data:
            self._output.note(
                "no data in report",
                Severity.ERROR,
                f"line {self.report.line}: {'; '.join(self._messages)[:400]}",
                "request the report again for a time and a resource that have data",
            )
        self._output.report_ended(self.report)

    def _release_if_known(self) -> None:
        if not self._released and self._has_resource and self._has_times:
            self._release()

    def _release(self) -> None:
        self._released = True
        for place, value in self._held:
            self._put(place, value)
        self._held = []
        if self._twin is not None:
            for segment in self._held_segments:
                self._add_twin_rows(self._twin.segment(segment))
        self._held_segments = []

    def _put(self, place: Place, value: Value) -> None:
        if self._context is None or (self._context_of is not place and self._context_of != place):
            report = self.report
            self._context_of = place
            self._context = Context(
                system=report.system,
                sysplex=report.sysplex,
                interval_start=report.start,
                interval_end=report.end,
                utc_offset=report.utc_offset,
                source_id=self._output.source_id,
                record_no=report.number,
                report=report.id,
                report_title=report.title,
                options=report.option,
                report_type=report.type,
                gatherer=report.gatherer,
                resource=report.resource,
                resource_type=report.resource_type,
                **place._asdict(),
            )
        self._output.values.add(self._context, value)

    def _add_twin_rows(self, rows: Iterable[tuple[str, dict[str, object]]]) -> None:
        for table, row in rows:
            self._twin_rows += 1
            self._output.add(self.report, table, self._twin_rows, row)

    def _no_interval(self, line: int, what: str) -> None:
        self._output.note(
            "interval unknown",
            Severity.ERROR,
            f"line {line}: {what}",
            "its rows have no interval; request the report again",
        )


def as_name(text: str) -> Printed:
    """A text that is never interpreted as a number."""
    return Printed(text, "text" if text else "empty")
