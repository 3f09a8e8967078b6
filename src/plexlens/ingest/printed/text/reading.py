"""Reading of a file: assignment of lines to reports, tables as a stream, then the summary and the damage."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from plexlens.ingest.compression import USUAL, Expansion
from plexlens.ingest.printed.catalogue import catalogue
from plexlens.ingest.printed.errors import TextReportError
from plexlens.ingest.printed.output import PrintedReading
from plexlens.ingest.printed.text import cics, db2_display, gbp_panel, omegamon, rmf
from plexlens.ingest.printed.text.decode import HEAD, TextStream, as_text
from plexlens.ingest.printed.text.lines import Line, read_lines
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.text.words import has_numbers, is_prose
from plexlens.ingest.printed.text_kinds import known_kinds
from plexlens.ingest.source import Severity

_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1c-\x1f]")
_PAGE_NUMBER = re.compile(r"[-\s]*PAGE:?\s+\d+(?:-\d+)?(?:\s+OF\s+\d+)?[-\s]*", re.IGNORECASE)

_PROSE_LEAVES = 3
"""Sentences in a row after which a report is over."""

_STRANGE_LEAVES = 25
"""Lines in a row that are not understood, after which a report is over."""


_LINES_BETWEEN = 64
"""Lines after which gathered rows are given out, if there are enough for a batch."""


class ReportReader(Protocol):
    """Reads the lines of a family of reports."""

    @property
    def foreign(self) -> str | None:
        """Title of an unsupported report of the family while its lines are being skipped."""

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""

    def finish(self) -> None:
        """End the open report and write its twin rows."""


class Family(NamedTuple):
    """A family of reports: how to recognise it, and its reader."""

    starts: Callable[[Line], bool]
    reader: Callable[[Output], ReportReader]


FAMILIES: tuple[Family, ...] = (
    Family(db2_display.starts, db2_display.DisplayReport),
    Family(omegamon.starts, omegamon.Db2Report),
    Family(gbp_panel.starts, gbp_panel.GroupPoolPanel),
    Family(rmf.starts, rmf.RmfReport),
    Family(cics.starts, cics.CicsReport),
)
"""The families, asked in this order."""


def sniff(head: bytes, name: str) -> bool:
    """Whether a file looks like text that contains a known report.

    Parameters
    ----------
    head : bytes
        The file's first bytes, decompressed; the more, the further down the report may begin.
    name : str
        The file's name; not looked at.
    """
    text = as_text(head[:HEAD])
    if len(_CONTROL.findall(text)) * 50 > len(text):
        # Binary data, in which a name may stand by chance.
        return False
    lines = read_lines([text], lambda reason, line: None)
    return any(family.starts(line) for line in lines for family in FAMILIES)


class TextReportReading(PrintedReading):
    """Reads a file of text reports, plain or compressed; a site's layouts extend the catalogue."""

    def __init__(self, path: Path, source_id: str, site: tuple[Path, ...] = (), expansion: Expansion = USUAL) -> None:
        self._output = Output(str(path), source_id, catalogue(site))
        super().__init__(self._output)
        self._stream = TextStream(path, expansion)
        self._readers = [(family.starts, family.reader(self._output)) for family in FAMILIES]
        self._active: ReportReader | None = None
        self._lines = {"understood": 0, "text": 0, "not understood": 0, "passed over": 0, "outside": 0}
        self._first_outside: int | None = None
        self._outside_numbers = 0
        self._sentences = 0
        self._strange = 0
        self._passed: dict[str, int] = {}

    @property
    def position(self) -> int:
        """Bytes of the file read so far."""
        return self._stream.position

    @property
    def summary(self) -> dict[str, Any]:
        """Counts of the reports and values read.

        ``reports``, ``values``, ``numbers`` : int
            Reports, rows of ``text_report_value``, and those with a number.
        ``records`` : dict
            Reports by kind.
        ``tables`` : dict
            Rows by table.
        ``lines`` : dict
            Lines that are not blank: ``understood``, ``text`` (sentences within a report), ``not understood``,
            ``passed over`` (of reports that are not read), ``outside`` (of no report).
        ``systems``, ``sysplexes``, ``subsystems`` : list of str
        ``span`` : list or None
            First start and last end of the intervals, ISO 8601; None where no report prints its interval.
        ``damage`` : dict
            Damage by reason, also beyond what `damage` keeps.
        ``notes`` : list of dict
            Numbers that stand in ``text_report_value`` alone, since no table has a column for their name.
        """
        done = self._output
        rows = {name: table.total for name, table in done.tables.items()}
        return self._counted(done.records, done.values, done.numbers, rows) | {
            "lines": dict(self._lines),
            "subsystems": sorted(done.subsystems),
            "span": [done.first.isoformat(), done.last.isoformat()] if done.first and done.last else None,
            "notes": [
                {"note": "number_without_a_column", "section": kind, "field": name, "count": count}
                for (kind, name), count in sorted(done.without_column.items())
            ],
        }

    def _tables(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        for count, line in enumerate(read_lines(self._stream.pieces(), self._odd), start=1):
            self._take(line)
            # To ask every table after each line takes longer than to read the line.
            if not count % _LINES_BETWEEN:
                yield from self._output.batches(all_of_it=False)
        self._leave()
        self._close()
        if not self._output.values:
            raise TextReportError(
                file=self._output.file,
                what=f"the file contains no known report: {known_kinds()}",
                remedy="send the report as printed, including its headings, or the SMF data behind it",
            )
        yield from self._output.batches(all_of_it=True)

    # --- lines ------------------------------------------------------------------------------------------------

    def _take(self, line: Line) -> None:
        if _PAGE_NUMBER.fullmatch(line.text):
            self._lines["understood"] += 1
            return
        reader = None
        for starts, of_family in self._readers:
            if starts(line):
                reader = of_family
                break
        if reader is not None and reader is not self._active:
            self._leave()
            self._active = reader
        if self._active is None:
            self._outside(line)
            return
        understood = self._active.line(line)
        foreign = self._active.foreign
        if understood:
            self._sentences = self._strange = 0
            self._lines["understood"] += 1
        elif foreign is not None:
            self._lines["passed over"] += 1
            self._passed[foreign] = self._passed.get(foreign, 0) + 1
        else:
            self._not_understood(line)

    def _not_understood(self, line: Line) -> None:
        is_sentence = is_prose(line.text)
        if is_sentence or not has_numbers(line.text):
            self._sentences += is_sentence
            self._lines["text"] += 1
        else:
            self._strange += 1
            self._lines["not understood"] += 1
            record = self._output.record
            self._output.note(
                "line not recognised",
                Severity.ERROR,
                f"line {line.number}: {line.text.strip()[:80]!r} in {record.kind if record else 'a report'}",
                "check whether the line is wrapped or cut; the values around it were read",
                record_no=record.number if record else None,
            )
        if self._sentences >= _PROSE_LEAVES or self._strange >= _STRANGE_LEAVES:
            self._leave()

    def _outside(self, line: Line) -> None:
        self._lines["outside"] += 1
        self._outside_numbers += has_numbers(line.text)
        if self._first_outside is None:
            self._first_outside = line.number

    def _leave(self) -> None:
        """End the active report."""
        if self._active is not None:
            self._active.finish()
            self._output.end()
        self._active = None
        self._sentences = self._strange = 0

    def _close(self) -> None:
        """Report the counts at the end of the file."""
        for title, count in self._passed.items():
            self._output.note(
                "report not read",
                Severity.INFO,
                f"{title}: {count} lines",
                f"supported reports are {known_kinds()}",
            )
        if self._lines["outside"]:
            self._output.note(
                "text outside reports",
                Severity.INFO,
                f"{self._lines['outside']} lines belong to no known report, the first is line {self._first_outside}; "
                f"{self._outside_numbers} of them contain numbers",
                "no action, unless a report was expected there: then send it with its headings",
            )
        if self._stream.undecodable:
            self._output.note(
                "undecodable bytes",
                Severity.ERROR,
                f"{self._stream.undecodable} places contain bytes that are not valid {self._stream.encoding}",
                "transfer the file in binary, or in a single encoding",
            )
        if self._stream.broken is not None:
            self._output.note(
                "compression broken",
                Severity.DATA_LOSS,
                f"the compressed file ends early: {self._stream.broken}",
                "transfer it again in binary",
            )

    def _odd(self, reason: str, line: int) -> None:
        if reason == "line too long":
            self._output.note(
                reason,
                Severity.DATA_LOSS,
                f"line {line} has more than 4096 characters; only the first 4096 were read",
                "transfer the report with line ends",
            )


def read(
    path: str | Path, *, source_id: str, site: tuple[Path, ...] = (), expansion: Expansion = USUAL
) -> TextReportReading:
    """Read a file of text reports.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed with gzip or Zstandard.
    source_id : str
        The ingest, for the ``source_id`` column.
    site : tuple of Path
        Folders with layouts of the site, whose ``printed`` adds to the catalogue.
    expansion : Expansion
        How far a compressed file may expand.

    Returns
    -------
    TextReportReading
        Iterate it once for pairs of table name and Arrow batch; nothing is read before.
    """
    return TextReportReading(Path(path), source_id, site, expansion)
