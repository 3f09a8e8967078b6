"""Db2 statistics and accounting reports in the layout of OMEGAMON for Db2 Performance Expert and DB2 PM.

Blocks stand side by side, each line of a block a name and values under column heads. What is known of names and
titles is in `plexlens.ingest.printed.text.omegamon_blocks`; here lines are cut into them, page by page.
"""

from __future__ import annotations

import re
from functools import cache

from plexlens.ingest.printed.catalogue import catalogue
from plexlens.ingest.printed.text.db2_accounting import TABLE, AccountingRows
from plexlens.ingest.printed.text.db2_statistics import StatisticsRows
from plexlens.ingest.printed.text.elapsed import CountAndRate
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.omegamon_blocks import (
    OTHER,
    Blocks,
    Heading,
    may_have_heads,
)
from plexlens.ingest.printed.text.omegamon_heading import PageHeading, looks_like_heading
from plexlens.ingest.printed.text.omegamon_lanes import Lane, Lanes
from plexlens.ingest.printed.text.omegamon_short import ShortAccounting
from plexlens.ingest.printed.text.output import Output, Record
from plexlens.ingest.printed.text.words import (
    Segment,
    Word,
    is_prose,
    is_rule,
    is_tabbed,
    segments,
    split,
)
from plexlens.ingest.printed.values import SECONDS, Printed, is_value, read_duration, read_point, read_value
from plexlens.ingest.source import Severity

_SECTION = re.compile(r"\s*(?:-{2,}\s*([A-Z][A-Z0-9 /.,&()-]*?)\s*-{3,}|-{4,}\s+([A-Z][A-Z0-9 /.,&()]*?))\s*$")
_BAR = re.compile(r"([A-Z][A-Z0-9.]*(?: [A-Z.]+)?)\s*\|\s*=*>?\s*<?\s*(\d{1,3})\s*%")
_CLASS_2_BARS = frozenset({"CPU", "SECPU", "NOTACC"})
_BAR_WIDTH = 40
_TOLD_RATES = 10
_GRAND = re.compile(r"\*+\s*(GRAND TOTAL|TOTAL|GROUP TOTAL)\s*\*+|^\s*(GRAND TOTAL|GROUP TOTAL)\s*$")
_NOTE = re.compile(r"\s*(?:ACCOUNTING|STATISTICS) (?:REPORT|TRACE) COMPLETE\b|\s*\*+.*\*+\s*$|\s*NOTE\b")
_HIGHLIGHT = {
    "INTERVAL START": "start",
    "INTERVAL END": "end",
    "INTERVAL ELAPSED": "elapsed",
    "DATA SHARING MEMBER": "member",
}
_INTERVAL_LINE = re.compile(r"\s*INTERVAL (?:START|END|ELAPSED)\s*:")
_MOMENT = re.compile(r"(\d{1,2}/\d{1,2}/\d{2,4})\s+(\d{1,2}:\d{2}:\d{2}(?:\.\d+)?)")
_SECONDS_HEADS = {
    *("APPL(CL.1)", "DB2 (CL.2)", "IFI (CL.5)", "AVERAGE TIME", "ELAPSED TIME", "TIME", "TIMES", "TIME/EVENT"),
    *("TCB TIME", "PREEMPT SRB", "NONPREEMPT SRB", "PREEMPT IIP SRB", "IIP CPU TIME", "SRB TIME", "TOTAL TIME"),
    *("CP CPU TIME", "CP CPU /COMMIT", "ZIIP TIME"),
}
_COUNTS_AMONG_TIMES = re.compile(r"ENT/EXIT|EN/EX|ENTRY/EXIT|DESCR|LOG EXTRACT")
_STATISTICS_HEADS = {"QUANTITY", "/SECOND", "/THREAD", "/COMMIT", "/MINUTE", "TCB TIME"}


def starts(line: Line) -> bool:
    """Whether a line can begin a Db2 report or a block of such a report."""
    if looks_like_heading(line.text) or _INTERVAL_LINE.match(line.text):
        return True
    if not may_have_heads(line.text):
        return False
    headings = _blocks_of_shipped().headings(split(line.text))
    return any(heading.kind is not OTHER or set(heading.heads) & {"QUANTITY", "APPL(CL.1)"} for heading in headings)


@cache
def _identifier() -> re.Pattern[str]:
    """An identifier of accounting and its value."""
    names = "|".join(sorted(catalogue().tables[TABLE].printed_names("identifier")))
    return re.compile(rf"(?<![\w.#])({names})\s*:[ \t]{{0,2}}(\S.*?)(?=\s{{2,}}|\t|\s[A-Z ]{{3,10}}:|$)")


@cache
def _blocks_of_shipped() -> Blocks:
    return Blocks(catalogue())


class Db2Report:
    """Reads lines of Db2 statistics and accounting reports."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._heading = PageHeading()
        self._is_heading_open = False
        self._identity: tuple[object, ...] | None = None
        self._foreign: str | None = None
        self._section: str | None = None
        self._lanes = Lanes()
        self._kinds = Blocks(output.known)
        self._statistics = StatisticsRows(output.known)
        self._accounting = AccountingRows(output.known)
        self._short = ShortAccounting(output)
        self._short_open = False
        self._pending = ""
        self._after_heading = False
        self._bars_ended = False
        self._above: Line | None = None

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""
        if self._page_heading(line.text):
            return True
        if self._foreign is not None:
            return False
        return self._short_line(line) if self._is_short(line.text) else self._long_line(line)

    def _short_line(self, line: Line) -> bool:
        self._record_for(("APPL(CL.1)",))
        if is_rule(line.text):
            self._short.rule()
            return True
        return self._short.line(line) or _NOTE.match(line.text) is not None or bool(_GRAND.search(line.text))

    def _long_line(self, line: Line) -> bool:
        above, self._above = self._above, None
        if is_rule(line.text):
            if above is not None:
                self._lanes.begin(self._kinds.ruled_heads(above.text, line.text), tabbed=False)
            return True
        section = _SECTION.match(line.text)
        if section:
            self._section = section[1] or section[2]
            self._lanes.close()
            self._pending = ""
            if self._section == "IDENTIFICATION":
                self._accounting.end_group()
            return True
        return self._bars(line) or self._identifiers(line) or self._blocks(line) or _NOTE.match(line.text) is not None

    def _is_short(self, text: str) -> bool:
        """Whether the lines belong to a short accounting report."""
        record = self._output.record
        if record is not None and record.kind == "db2_accounting" and "#OCCURS" in text.split():
            self._short_open = True
        return self._short_open

    @property
    def foreign(self) -> str | None:
        """Title of an unsupported report of the same product; its lines are skipped."""
        return self._foreign

    def finish(self) -> None:
        """End the report: write its twin rows and clear its headings."""
        self._end()
        self._heading, self._is_heading_open, self._identity = PageHeading(), False, None
        self._foreign = self._section = None
        self._lanes.close()
        self._accounting.is_average = True

    def _end(self) -> None:
        record = self._output.record
        if record is not None:
            record.complete_interval()
            for table, row in self._statistics.rows(record.interval_seconds):
                self._output.twin(table, row)
            self._tell_of_rates(record)
            for row in self._accounting.rows():
                self._output.twin(TABLE, row)
        self._statistics = StatisticsRows(self._output.known)
        average, self._accounting = self._accounting.is_average, AccountingRows(self._output.known)
        self._accounting.is_average = average

    def _tell_of_rates(self, record: Record) -> None:
        """Note which counts were computed from rates, and their precision."""
        results = self._statistics.turned_back
        if results:
            self._output.note(
                "counts computed from rates",
                Severity.INFO,
                f"report {record.number} prints {len(results)} counts only as rates; over "
                f"{record.interval_seconds:g} s "
                + "; ".join(map(str, results[:_TOLD_RATES]))
                + (f"; and {len(results) - _TOLD_RATES} more" if len(results) > _TOLD_RATES else ""),
                "no action; counts are exact if the report has the column QUANTITY",
                record_no=record.number,
            )

    # --- page headings ----------------------------------------------------------------------------------------

    def _page_heading(self, text: str) -> bool:
        if looks_like_heading(text) and (not self._is_heading_open or "LOCATION" in text):
            self._heading = PageHeading()
            self._is_heading_open = True
        if self._is_heading_open:
            if self._heading.add(text):
                return True
            self._is_heading_open = False
            self._apply_heading()
        return False

    def _apply_heading(self) -> None:
        heading = self._heading
        if heading.title and heading.kind is None:
            self._end()
            self._output.end()
            self._foreign, self._identity = heading.title, None
            return
        self._foreign = None
        if heading.identity() == self._identity and self._output.record is not None:
            return
        self._identity = heading.identity()
        self._begin(heading.kind or "db2_statistics")

    def _begin(self, kind: str) -> None:
        """Open a report with the values of the page heading."""
        self._end()
        self._lanes.close()
        self._short, self._short_open = ShortAccounting(self._output), False
        heading = self._heading
        record = self._output.begin(kind, heading.title)
        record.location, record.group = heading.name("LOCATION"), heading.name("GROUP")
        record.member, record.subsystem = heading.name("MEMBER"), heading.name("SUBSYSTEM") or heading.name("MEMBER")
        record.version = heading.name("DB2 VERSION")
        record.start, record.end = heading.start, heading.end
        self._accounting.is_average = not heading.is_trace

    def _record_for(self, heads: tuple[str, ...]) -> None:
        """Ensure that a report of the right kind is open, since an excerpt may begin with a block."""
        record = self._output.record
        kind = "db2_statistics" if set(heads) & _STATISTICS_HEADS else "db2_accounting"
        if record is None or (heads and record.kind != kind and self._identity is None):
            self._begin(kind)

    # --- lines ------------------------------------------------------------------------------------------------

    def _bars(self, line: Line) -> bool:
        """Process distributions drawn as bars: ``APPL |====> 40%``."""
        matches = list(_BAR.finditer(line.text))
        if not matches:
            return False
        self._record_for(())
        for bar in matches:
            # Both distributions have a bar of suspensions; the one of class 2 stands at the right, or comes second.
            is_class_2 = bar[1] in _CLASS_2_BARS or (
                bar[1] == "SUSP" and (bar.start() > _BAR_WIDTH or self._bars_ended)
            )
            self._bars_ended = bar[1] == "SUSP" and not is_class_2
            block = "CLASS 2 TIME DISTRIBUTION" if is_class_2 else "ELAPSED TIME DISTRIBUTION"
            self._output.value(
                line, bar[1], read_value(bar[2], unit="percent"), block=block, about=self._accounting.about
            )
        return True

    def _identifiers(self, line: Line) -> bool:
        """Process a line of identifiers: ``PRIMAUTH: X  PLANNAME: Y``."""
        results = _identifier().findall(line.text)
        grand = _GRAND.search(line.text)
        if grand:
            self._record_for(())
            self._accounting.identify({"PLANNAME": f"*{grand[1] or grand[2]}*"})
            return True
        if not results or (self._lanes.open and not line.text.lstrip().startswith(results[0][0])):
            return False
        self._record_for(())
        self._accounting.identify({name: value.strip() for name, value in results})
        for name, value in results:
            self._output.value(
                line,
                name,
                read_value(value.strip()),
                block=self._section or "IDENTIFICATION",
                about=self._accounting.about,
            )
        others = _identifier().sub("", line.text)
        if others.strip():
            self._pairs(line, segments(split(others), self._kinds.known, tabbed=is_tabbed(others)))
        return True

    def _blocks(self, line: Line) -> bool:
        """Process block headings, and names with their values."""
        words = split(line.text)
        tabbed = is_tabbed(line.text)
        pending, self._pending = self._pending, ""
        headings = self._kinds.headings(words, pending)
        if headings and (headings[0].title or self._after_heading):
            self._record_for(headings[0].heads)
            self._section, self._after_heading = None, True
            standing = self._title_alone(words[headings[-1].last :])
            # What stands left of the heading belongs to a block that goes on.
            self._values(line, segments(words[: headings[0].first], self._kinds.known, tabbed=tabbed))
            self._lanes.begin([*headings, *standing], tabbed)
            rest = words[headings[-1].last :]
            if any(is_value(word.text) for word in rest):
                # And what stands right of it to another that does.
                self._values(line, segments(rest, self._kinds.known, tabbed=tabbed))
            elif rest and not standing:
                self._pending = " ".join(word.text for word in rest)
            return True
        self._after_heading = False
        return self._values(line, self._kinds.completed(words, pending, tabbed=tabbed))

    def _title_alone(self, words: list[Word]) -> list[Heading]:
        """A block without column heads at the right end of a heading line: ``HIGHLIGHTS``."""
        title = " ".join(word.text for word in words)
        kind = self._kinds.kind_of(title, ())
        if kind.name != "highlights":
            return []
        return [Heading(title, (), (), words[0].start, words[0].cell, 0, 0, kind=kind)]

    def _values(self, line: Line, result: list[Segment]) -> bool:
        if not result:
            return False
        if result[0].is_pair and not self._lanes.open:
            return self._pairs(line, result)
        if not any(segment.values for segment in result):
            return self._labels(line, result)
        if is_prose(line.text) and not any(segment.label in self._kinds.known for segment in result):
            return False
        # Every value must find its place; a line of which some do is read, and told of all the same.
        understood = self._segments(line, self._kinds.text_values(result))
        last = result[-1]
        if not last.values and not last.is_pair and understood:
            self._pending = last.label
        return understood

    def _labels(self, line: Line, result: list[Segment]) -> bool:
        """Process a line of names without values: parents of later names, the start of a wrapped line, or a heading."""
        values = self._kinds.text_values(result)
        if any(segment.values for segment in values):
            return self._segments(line, values)
        self._above = line
        if len(result) == 1:
            self._pending = result[0].label
        for order, segment in enumerate(result):
            lane = self._lanes.of(segment, order)
            if lane is not None and segment.label in lane.kind.names:
                lane.parent_of(segment.label)
        return not is_prose(line.text)

    def _segments(self, line: Line, result: list[Segment]) -> bool:
        """Process every name of a line with its values; return whether all were assigned to a block."""
        names = [segment for segment in result if segment.label and segment.values and not segment.is_pair]
        if len(names) > len(self._lanes.open) and any(segment.label not in self._kinds.known for segment in names):
            # More names than blocks to hold them: the line is of something else, or its words were cut wrongly.
            return False
        understood = True
        for order, segment in enumerate(result):
            understood &= self._segment(line, segment, order)
        return understood

    def _segment(self, line: Line, segment: Segment, order: int) -> bool:
        if segment.is_pair and self._highlight(segment):
            return self._pairs(line, [segment])
        lane = self._lanes.of(segment, order)
        if segment.is_pair and (lane is None or segment.label not in lane.kind.names):
            return self._pairs(line, [segment])
        if lane is None or not segment.values:
            return lane is not None
        if not segment.label:
            return self._wrapped(line, lane, segment)
        if segment.label not in self._kinds.known and (
            segment.label != segment.label.upper() or len(segment.values) > max(len(lane.heading.heads), 1)
        ):
            # Of another table, whose heads nobody told us.
            return False
        lane.last = segment
        parent = lane.parent_of(segment.label)
        self._emit(line, lane, segment.label, parent, lane.assign(segment))
        return True

    def _wrapped(self, line: Line, lane: Lane, segment: Segment) -> bool:
        """Process values without a name: the continuation of a wrapped line."""
        for candidate in reversed(self._lanes.open):
            last = candidate.last
            if last is not None and len(last.values) + len(segment.values) <= len(candidate.heading.heads):
                before = len(last.values)
                last.values.extend(segment.values)
                parent = candidate.kind.parts.get(last.label) or None
                assigned: list[tuple[str | None, Word]] = [
                    (candidate.heading.heads[position], word)
                    for position, word in enumerate(last.values)
                    if position >= before
                ]
                self._emit(line, candidate, last.label, parent, assigned)
                return True
        return False

    def _emit(
        self, line: Line, lane: Lane, name: str, parent: str | None, assigned: list[tuple[str | None, Word]]
    ) -> None:
        values = [(head, read_value(word.text, unit=_unit(lane, name, head))) for head, word in assigned]
        kind, about = lane.kind.name, lane.about
        if self._output.record is None:
            self._record_for(lane.heading.heads)
        is_statistics = self._output.record is not None and self._output.record.kind == "db2_statistics"
        if is_statistics and not self._statistics.fits(kind, about, name, values):
            # Another interval without a heading of its own.
            self._restart()
        package = lane.title if kind.startswith("package") else None
        if is_statistics:
            placed = self._statistics.add(kind, about, name, values)
        else:
            placed = self._accounting.add(kind, package or about, name, parent, values)
            about = package or about or self._accounting.about
        if not placed and any(value.number is not None for _, value in values):
            self._output.unplaced(f"{lane.title}: {name}" if lane.title else name)
        self._rate(line, name, dict(values))
        for head, value in values:
            self._output.value(line, name, value, block=lane.title, about=about, parent=parent, head=head)

    def _rate(self, line: Line, name: str, values: dict[str | None, Printed]) -> None:
        """Use a quantity and its rate to determine the interval length."""
        record = self._output.record
        if record is not None and "QUANTITY" in values and "/SECOND" in values:
            record.rates.append(CountAndRate(name, line.number, values["QUANTITY"], values["/SECOND"]))

    def _restart(self) -> None:
        record = self._output.record
        if record is None:
            return
        lanes = self._lanes.open
        start, end = record.start, record.end
        self._begin(record.kind)
        self._lanes.open = lanes
        if self._output.record is not None:
            self._output.record.start, self._output.record.end = start, end

    # --- pairs ------------------------------------------------------------------------------------------------

    @staticmethod
    def _highlight(segment: Segment) -> str | None:
        return _HIGHLIGHT.get(segment.label.upper())

    def _pairs(self, line: Line, result: list[Segment]) -> bool:
        """Process names and values separated by a colon: the highlights of statistics, distributed activity ..."""
        understood = False
        for segment in result:
            if not segment.is_pair or (
                segment.label != segment.label.upper() and segment.label not in self._kinds.known
            ):
                continue
            understood = True
            text = segment.values[0].text if segment.values else ""
            what = self._highlight(segment)
            self._record_for(("QUANTITY",) if what else ())
            if what:
                self._interval(what, text)
            lane = self._lanes.of(segment, 0)
            block = lane.title if lane is not None and segment.label in lane.kind.names else self._section
            value = read_value(text)
            self._output.value(line, segment.label, value, block=block, about=self._accounting.about)
            record = self._output.record
            if record is not None and record.kind == "db2_accounting":
                self._accounting.add("highlights", None, segment.label, None, [(None, value)])
        return understood

    def _interval(self, what: str, text: str) -> None:
        record = self._output.record
        moment = _MOMENT.match(text)
        point = read_point(moment[1], moment[2]) if moment else None
        if what == "start" and point is not None and record is not None:
            if self._statistics and record.start != point:
                self._begin(record.kind)
                record = self._output.record
            if record is not None:
                record.start, record.end, record.interval_seconds = point, None, None
        elif what == "end" and point is not None and record is not None:
            record.end = point
        elif what == "elapsed" and record is not None:
            length = read_duration(text) or read_value(text)
            record.interval_seconds = length.number
        elif what == "member" and record is not None and read_value(text).type == "text":
            record.member = record.member or text


def _unit(lane: Lane, name: str, head: str | None) -> str | None:
    if "(%)" in name:
        return "percent"
    if head in _SECONDS_HEADS and not _COUNTS_AMONG_TIMES.search(name):
        return SECONDS
    return None
