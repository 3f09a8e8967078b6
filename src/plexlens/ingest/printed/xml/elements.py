"""From elements to rows: variables, cells, heads and messages, each assigned to its report.

The grammar is IBM's (z/OS RMF Programmer's Guide, "How to interpret an XML document returned by the DDS")::

    ddsml          server, (report | postprocessor | message)*, rmf-mfpmsg?
    postprocessor  metric, version, resource, time-data, (segment | message)*
    segment        name, (part | message)*
    part           name?, (var-list | table | message)*
    table          column-headers, row*
    report         metric, resource, time-data, caption?, row*, column-headers?, message?
    caption        var*
    var            name, value
    row            col*
    message        description, severity

Segments of a report that somebody saved without the rest of it, in ``<xml>``, are read as a report ``FRAGMENT`` that
names no system and no time.

Nothing depends on a file keeping to it: an element that is none of these is walked through, and its texts come out
under its path.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plexlens.ingest.printed.errors import RmfXmlError
from plexlens.ingest.printed.values import Printed
from plexlens.ingest.printed.xml.cell_values import read_value
from plexlens.ingest.printed.xml.model import Report
from plexlens.ingest.printed.xml.output import Output
from plexlens.ingest.printed.xml.report_rows import ReportRows, as_name
from plexlens.ingest.printed.xml.rows import NOWHERE, Cell
from plexlens.ingest.printed.xml.table_rows import Piece, TableRows
from plexlens.ingest.printed.xml.tables import MONITOR3, POSTPROCESSOR
from plexlens.ingest.printed.xml.walk import LONGEST
from plexlens.ingest.source import Severity

_ROOT = "ddsml"
_ROOT_OF_FRAGMENT = "xml"
_OF_A_FRAGMENT = frozenset({"segment", "part", "table", "var-list"})
FRAGMENT = "FRAGMENT"
"""The name of a report whose document lacks everything above its segments."""
_OF_THE_FILE = frozenset({"server", "rmf-mfpmsg", "message"})
_GATHERERS = {"postprocessor": POSTPROCESSOR, "report": MONITOR3}
_HEADS_OF_REPORT = frozenset({"metric", "version", "resource"})
_IN_PIECES = frozenset({"row", "var", "message"})
_GIVE_A_REPORT = "give RMF Postprocessor or Monitor III XML as the Distributed Data Server returns it"


@dataclass(slots=True)
class _Frame:
    """An open element."""

    tag: str
    attributes: dict[str, str]
    line: int
    texts: list[str] = field(default_factory=list)
    length: int = 0
    has_child: bool = False
    table: TableRows | None = None
    pieces: list[Piece] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


class Elements:
    """Turns the elements of a file into rows; a `plexlens.ingest.printed.xml.walk.Handler`.

    Parameters
    ----------
    output
        Where the rows go.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._stack: list[_Frame] = []
        self._report: ReportRows | None = None
        self._foreign = False
        self._in_fragment = False

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        """Process the start of an element."""
        if self._in_fragment and len(self._stack) == 1 and tag in _OF_A_FRAGMENT:
            self._begin_fragment(line)
        depth = len(self._stack)
        frame = _Frame(tag, attributes, line)
        if not depth:
            self._check_root(frame)
        else:
            self._stack[-1].has_child = True
            self._stray(self._stack[-1])
        self._stack.append(frame)
        if self._foreign:
            return
        if depth == 1 and tag not in _OF_THE_FILE:
            self._begin_report(frame)
        elif self._report is not None:
            self._begin(frame, self._report)
        if attributes and not self._comes_with_row():
            self._attributes(frame)

    def text(self, text: str, line: int) -> None:
        """Process characters of the open element."""
        if not self._stack:
            return
        frame = self._stack[-1]
        frame.length += len(text)
        if frame.length > LONGEST:
            raise RmfXmlError(
                file=self._output.file,
                what=f"the text of <{frame.tag}> is longer than {LONGEST:,} characters",
                line=line,
                remedy="no value is that long: check the file",
            )
        frame.texts.append(text)

    def end(self, line: int) -> None:
        """Process the end of the innermost element."""
        if self._in_fragment and len(self._stack) == 2 and self._report is not None:
            # The report of a fragment has no element of its own: it ends with the outermost one.
            self._stack.pop()
            self._end_report(whole=True)
        frame = self._stack[-1]
        if self._in_fragment and len(self._stack) == 1 and not self._output.reports:
            raise self._other_root(frame)
        if not self._foreign:
            if frame.has_child:
                self._stray(frame)
                if len(self._stack) > 1 and self._stack[-2].tag == "row":
                    # A cell with markup in it keeps its place; its texts have come out under their path.
                    self._stack[-2].pieces.append((frame.tag, "", frame.line, frame.attributes))
            else:
                self._leaf(frame)
            if frame.table is not None:
                frame.table.end()
        self._stack.pop()
        if self._foreign:
            self._foreign = bool(self._stack)
        elif self._report is None:
            if frame.tag == "message":
                self._message_of_the_file(frame)
        elif len(self._stack) == 1:
            self._end_report(whole=True)
        else:
            self._close(frame, self._report)

    def broken(self, what: str, line: int, offset: int | None) -> None:
        """Process the end of a cut or broken file: keep the complete parts.

        Raises
        ------
        RmfXmlError
            Nothing was complete before.
        """
        report = self._report
        if report is None and not self._output.reports:
            raise RmfXmlError(
                file=self._output.file,
                what=f"it is not well-formed XML before its first report: {what}",
                line=line,
                offset=offset,
                remedy="request or transfer the report again",
            )
        inside = "/".join(frame.tag for frame in self._stack)
        lost = ""
        if report is not None and report.segment is not None and report.has_twin:
            lost = f"; segment {report.segment.name!r} has no rows in the report's own table"
        self._output.note(
            "not well-formed",
            Severity.DATA_LOSS,
            f"line {line}: {what}{f', inside {inside}' if inside else ''}; everything before it was read{lost}",
            "request or transfer the report again",
            offset,
        )
        if report is not None:
            self._keep_complete(report)
            self._end_report(whole=False)
        self._stack.clear()

    def _keep_complete(self, report: ReportRows) -> None:
        """Write the complete cells and variables of elements that will not end."""
        while len(self._stack) > 1:
            frame = self._stack.pop()
            if frame.tag == "var" and all(tag == "name" for tag, *_ in frame.pieces):
                for tag, text, line, _ in frame.pieces:
                    report.emit("text", text, line, tag)
            elif frame.pieces:
                self._close(frame, report)
            if frame.table is not None:
                frame.table.end()

    # -- beginning --------------------------------------------------------------------------------------------

    def _check_root(self, frame: _Frame) -> None:
        self._in_fragment = frame.tag.casefold() == _ROOT_OF_FRAGMENT
        if self._in_fragment or frame.tag.casefold() == _ROOT:
            return
        error = self._other_root(frame)
        if not self._output.reports:
            raise error
        self._foreign = True
        self._output.note(
            "not RMF XML", Severity.DATA_LOSS, f"line {frame.line}: a further document: {error.what}", _GIVE_A_REPORT
        )

    def _other_root(self, frame: _Frame) -> RmfXmlError:
        what = f"the outermost element is <{frame.tag}>, not <{_ROOT}>"
        return RmfXmlError(file=self._output.file, what=what, line=frame.line, remedy=_GIVE_A_REPORT)

    def _begin_report(self, frame: _Frame) -> None:
        self._output.reports += 1
        self._output.record_no = self._output.reports
        gatherer = _GATHERERS.get(frame.tag, frame.tag)
        self._report = ReportRows(Report(self._output.reports, frame.line, gatherer), self._output)

    def _begin_fragment(self, line: int) -> None:
        """Begin segments that have no report around them."""
        frame = _Frame("postprocessor", {}, line)
        self._stack[-1].has_child = True
        self._stack.append(frame)
        self._begin_report(frame)
        if self._report is not None:
            self._report.metric({"id": FRAGMENT})
            self._report.report.title = "Segments of a report without system and time"
        self._output.note(
            "part of a report",
            Severity.ERROR,
            f"line {line}: segments of a report, and nothing identifies their report, system and time",
            "save the whole document, from <ddsml> to </ddsml>",
        )

    def _begin(self, frame: _Frame, report: ReportRows) -> None:
        if frame.tag == "metric":
            report.metric(frame.attributes)
        elif frame.tag == "segment":
            report.begin_segment(frame.line)
        elif frame.tag == "part":
            report.begin_part()
        elif frame.tag == "table":
            frame.table = TableRows(report, self._output, frame.line)
        elif frame.tag == "row":
            self._table_of(self._stack[-2], report)
        elif frame.tag == "column-headers":
            parent = self._stack[-2]
            if parent.table is not None and parent.table.complete:
                # New heads: what follows is another table.
                parent.table.end()
                parent.table = None
            self._table_of(parent, report)

    def _table_of(self, frame: _Frame, report: ReportRows) -> TableRows:
        """The table for rows and heads directly inside an element, ``<table>`` or not."""
        if frame.table is None:
            frame.table = TableRows(report, self._output, frame.line)
        return frame.table

    def _comes_with_row(self) -> bool:
        """Whether the innermost element's attributes are written elsewhere: with its row, or with its column head."""
        if self._report is None:
            return False
        here, parent = self._stack[-1], self._stack[-2]
        return (
            here.tag == "row"
            or parent.tag == "row"
            or (parent.tag == "column-headers" and set(here.attributes) == {"type"})
        )

    def _attributes(self, frame: _Frame) -> None:
        for name, text in frame.attributes.items():
            self._emit("attribute", text.strip(), frame.line, f"{frame.tag}@{name}")

    # -- texts ------------------------------------------------------------------------------------------------

    def _emit(
        self, kind: str, text: str, line: int, name: str, *, unit: str | None = None, cell: Cell = NOWHERE
    ) -> Printed:
        if self._report is not None:
            return self._report.emit(kind, text, line, name, unit=unit, cell=cell)
        printed = as_name(text) if kind == "mfpmsg" else read_value(text, unit=unit, name=name)
        self._output.of_the_file(kind, name, printed, cell, line)
        return printed

    def _stray(self, frame: _Frame) -> None:
        """Write text between the children of an element."""
        text = "".join(frame.texts).strip()
        frame.texts.clear()
        frame.length = 0
        if text and not self._foreign:
            if frame.tag == "row" and self._report is not None:
                frame.strays.append(text)
            else:
                self._emit("text", text, frame.line, frame.tag)

    def _leaf(self, frame: _Frame) -> None:
        """Write the text of an element without children as a value."""
        text = "".join(frame.texts).strip()
        parent = self._stack[-2] if len(self._stack) > 1 else None
        if parent is None:
            self._text_of(frame, text)
        elif parent.tag in _IN_PIECES:
            parent.pieces.append((frame.tag, text, frame.line, frame.attributes))
        elif self._report is None:
            if frame.tag == "mfpmsg":
                label = Cell(row_label=frame.attributes.get("id"))
                self._emit("mfpmsg", text, frame.line, frame.tag, cell=label)
            elif parent.tag == "server":
                self._emit("server", text, frame.line, frame.tag)
            else:
                self._text_of(frame, text)
        elif not self._leaf_of_report(frame, parent, text, self._report):
            self._text_of(frame, text)

    def _leaf_of_report(self, frame: _Frame, parent: _Frame, text: str, report: ReportRows) -> bool:
        """Write a leaf defined by the grammar; False for any other."""
        if parent.tag == "column-headers" and self._stack[-3].table is not None:
            self._stack[-3].table.head(text, frame.attributes.get("type"), frame.line, frame.tag)
        elif frame.tag == "name" and parent.tag in {"segment", "part"}:
            (report.name_segment if parent.tag == "segment" else report.name_part)(text)
            report.emit("name", text, frame.line, parent.tag)
        elif parent.tag == "time-data":
            unit = frame.attributes.get("unit")
            report.times.setdefault(frame.tag, (text, unit))
            report.report.locale = frame.attributes.get("locale") or report.report.locale
            report.emit("time", text, frame.line, frame.tag, unit=unit)
        elif parent.tag in _HEADS_OF_REPORT:
            self._leaf_of_head(frame, parent, text, report)
        elif frame.tag == "message" and text:
            report.emit("message", text, frame.line, "message", cell=Cell(row_label=frame.attributes.get("id")))
        else:
            return False
        return True

    def _leaf_of_head(self, frame: _Frame, parent: _Frame, text: str, report: ReportRows) -> None:
        if parent.tag == "resource":
            report.resource.setdefault(frame.tag, text)
        elif parent.tag == "metric" and frame.tag == "description":
            report.report.title = text or None
        elif parent.tag == "metric" and frame.tag in {"type", "format"}:
            report.report.type = text or None
        report.emit(parent.tag, text, frame.line, frame.tag)

    def _text_of(self, frame: _Frame, text: str) -> None:
        """Write text that no rule of the grammar covers."""
        if text:
            path = "/".join(open_.tag for open_ in self._stack[2:]) or frame.tag
            self._emit("other", text, frame.line, path, unit=frame.attributes.get("unit"))

    # -- ending -----------------------------------------------------------------------------------------------

    def _close(self, frame: _Frame, report: ReportRows) -> None:
        parent = self._stack[-1]
        if frame.tag == "row" and parent.table is not None:
            parent.table.row(frame.line, frame.attributes, frame.pieces, frame.strays)
        elif frame.tag == "var":
            self._variable(frame, parent, report)
        elif frame.tag == "column-headers" and parent.table is not None:
            parent.table.heads_complete()
        elif frame.tag == "message":
            self._message(frame)
            shown = dict(piece[:2] for piece in reversed(frame.pieces))
            text = shown.get("description") or "".join(frame.texts).strip()
            if text or frame.attributes:
                report.message(text, shown.get("severity", ""), frame.attributes.get("id"))
        elif frame.tag == "part":
            report.end_part()
        elif frame.tag == "segment":
            report.end_segment()
        elif frame.tag == "resource":
            report.resource_known()
        elif frame.tag == "time-data":
            report.times_known(frame.line)

    def _variable(self, frame: _Frame, parent: _Frame, report: ReportRows) -> None:
        if not frame.pieces:
            return
        report.has_data = True
        names = [piece for piece in frame.pieces if piece[0] == "name"]
        name = names[0][1] if names else ""
        values = [piece for piece in frame.pieces if piece[0] != "name"]
        for tag, text, line, attributes in values or [("value", "", frame.line, {})]:
            shown = (name or tag) if tag == "value" else "/".join(filter(None, (name, tag)))
            printed = report.emit("var", text, line, shown, unit=attributes.get("unit"))
            if report.has_twin and report.part is not None and name:
                report.part.variables.append((name, printed))
        for _, text, line, _ in names[1:]:
            report.emit("text", text, line, "name")
        if name and name in parent.names and report.has_twin:
            self._output.note(
                "duplicate variable",
                Severity.INFO,
                f"line {frame.line}: a second variable {name!r} in one list",
                "the report's own table has the first; see rmf_xml_value for both",
            )
        parent.names.add(name)

    def _message(self, frame: _Frame) -> None:
        label = Cell(row_label=frame.attributes.get("id"))
        for tag, text, line, _ in frame.pieces:
            self._emit("message", text, line, tag, cell=label)

    def _message_of_the_file(self, frame: _Frame) -> None:
        self._message(frame)
        words = [frame.attributes.get("id", ""), *(text for _, text, _, _ in frame.pieces[:1])]
        self._output.messages.append(" ".join(filter(None, words)))

    def _end_report(self, *, whole: bool) -> None:
        if self._report is not None:
            self._report.end(whole=whole)
        self._report = None
        self._output.record_no = None
