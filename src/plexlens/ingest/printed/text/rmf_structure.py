"""RMF structure activity: each system's requests to a structure, in lines of SYNC, ASYNC and CHNGD requests.

SYSTEM    TOTAL             #    % OF  -SERV TIME(MIC)-   REASON   #   % OF  -- AVG TIME(MIC) -  EXTERNAL REQUEST
NAME     AVG/SEC          REQ     ALL    AVG   STD_DEV           REQ   REQ   /DEL  STD_DEV /ALL  CONTENTIONS

SYSA       126K   SYNC   126K  100.0    61.0    22.5     NO SCH    0   0.0    0.0     0.0   0.0  REQ TOTAL     162K
          701.7   ASYNC     0    0.0     0.0     0.0     PR WT     0   0.0    0.0     0.0   0.0  REQ DEFERRED   612
                  CHNGD     0    0.0  INCLUDED IN ASYNC  PR CMP    0   0.0    0.0     0.0   0.0  -CONT          621
                                                                                                 -FALSE CONT    212
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.text.elapsed import CountAndRate
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.values import NUMBER, Printed, is_value, read_value

_KIND = re.compile(r"(?<![\w/-])(SYNC|ASYNC|CHNGD|CHANGED|SUPPR)(?![\w/-])")
_REASON = re.compile(r"(?<![\w/-])(NO SCH|PR WT|PR CMP|DUMP|MONOP\w*)(?![\w/-])")
_EXTERNAL = re.compile(
    r"(?P<name>REQ\s+TOTAL|#\s*REQ\s+DELAYED|REQ\s+DEFERRED|#\s?REQ(?=\s+\d)|-?\s?FALSE\s+CONT|-\s?CONT|READS|WRITES|CASTOUTS|XI'S)"
    r"\s*=?\s*(?P<value>\d[\d.,]*[KMG]?)(?=\s|$)"
)
_TABLE = "text_rmf_coupling_structure"
_KINDS = {"sync_requests", "async_requests"}
_HEADS = ("# REQ", "% OF ALL", "SERV TIME AVG", "SERV TIME STD_DEV")
_DELAY_HEADS = ("DELAYED # REQ", "DELAYED % OF REQ", "AVG TIME /DEL", "AVG TIME STD_DEV", "AVG TIME /ALL")


class _Structure(NamedTuple):
    name: str | None
    type: str | None
    status: str | None


class StructureActivity:
    """Gathers the lines of a structure, system by system.

    Parameters
    ----------
    output
        Takes the rows.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._activity = output.known.tables[_TABLE].places("activity")
        self._external = output.known.tables[_TABLE].places("external")
        self._structure = _Structure(None, None, None)
        self._system: str | None = None
        self._row: dict[str, object] = {}
        self._total: Printed | None = None
        self._rounded: set[str] = set()
        self.is_open = False

    def begin(
        self, line: Line, name: str | None, kind: str | None, status: str | None, *, facility: str | None
    ) -> None:
        """Process a structure's heading. The same heading repeated on the next page continues the structure."""
        results = _Structure(name, kind, " ".join(status.split()) if status else None)
        if results != self._structure:
            self.finish(facility)
            self._structure = results
        self.is_open = True
        for head, value in zip(("STRUCTURE NAME", "TYPE", "STATUS"), results, strict=True):
            if value is not None:
                self._value(line, head, Printed(value, "text"))

    def finish(self, facility: str | None) -> None:
        """End the structure."""
        self._flush(facility)
        self._structure, self._system, self.is_open = _Structure(None, None, None), None, False

    def line(self, line: Line, text: str, facility: str | None) -> bool:
        """Process a line; return whether it was understood."""
        kind = _KIND.search(text)
        external = list(_EXTERNAL.finditer(text, kind.end() if kind else 0))
        rest_end = external[0].start() if external else len(text)
        if not kind:
            reason = _REASON.search(text)
            if reason:
                self._delay(line, reason, text[reason.end() : rest_end])
            self._contentions(line, external)
            return bool(external or reason)
        self._left(line, text[: kind.start()].split(), kind[1], facility)
        reason = _REASON.search(text, kind.end(), rest_end)
        self._requests(line, kind[1], text[kind.end() : reason.start() if reason else rest_end])
        if reason:
            self._delay(line, reason, text[reason.end() : rest_end])
        self._contentions(line, external)
        self.is_open = True
        return True

    def _left(self, line: Line, words: list[str], kind: str, facility: str | None) -> None:
        """Read the system name and its total, or its rate."""
        if words and not is_value(words[0]):
            self._flush(facility)
            self._system = words.pop(0)
        elif kind == "SYNC" and self._row.get("sync_requests") is not None:
            # The next system, whose name was lost.
            self._flush(facility)
            self._system = None
        if not words:
            return
        value = read_value(words[0])
        column, head = ("requests", "TOTAL") if kind == "SYNC" else ("requests_per_second", "AVG/SEC")
        self._set(column, value)
        self._value(line, "REQUESTS", value, head)
        if kind == "SYNC":
            self._total = value
        elif self._total is not None and self._output.record is not None:
            pair = CountAndRate(f"requests of {self._system or 'a system'}", line.number, self._total, value)
            self._output.record.rates.append(pair)
            self._total = None

    def _requests(self, line: Line, kind: str, rest: str) -> None:
        words = [word for word in rest.split() if is_value(word)]
        for head, word in zip(_HEADS, words, strict=False):
            self._value(line, kind, self._take(kind, head, word), head)

    def _delay(self, line: Line, reason: re.Match[str], rest: str) -> None:
        words = [word for word in rest.split() if is_value(word)]
        name = "MONOP" if reason[1].startswith("MONOP") else reason[1]
        for head, word in zip(_DELAY_HEADS, words, strict=False):
            self._value(line, reason[1], self._take(name, head, word), head, "DELAYED REQUESTS")

    def _take(self, name: str, head: str, word: str) -> Printed:
        """Read a word below a head of its kind of request or reason for delay, and put it into its column."""
        value = read_value(word, unit="percent" if "%" in head else "microseconds" if "TIME" in head else None)
        column = self._activity.get((fold(name), fold(head)))
        if column is not None:
            self._set(column, value)
        return value

    def _contentions(self, line: Line, matches: list[re.Match[str]]) -> None:
        for match in matches:
            value = read_value(match["value"])
            self._set(self._external[fold(match["name"]),], value)
            self._value(line, " ".join(match["name"].split()), value, None, "EXTERNAL REQUEST")

    def _set(self, column: str, value: Printed) -> None:
        if value.type == NUMBER and column not in self._row:
            self._row[column] = value.number
            if value.scale is not None:
                self._rounded.add(column)

    def _flush(self, facility: str | None) -> None:
        row, self._row = self._row, {}
        rounded, self._rounded = self._rounded, set()
        if self._output.record is None or not row or (self._system or "").upper() == "TOTAL":
            return
        self._output.twin(
            _TABLE,
            {
                "cf_name": facility,
                "structure_name": self._structure.name,
                "structure_type": self._structure.type,
                "status": self._structure.status,
                "system": self._system,
                **_completed(row, rounded),
            },
        )

    def _value(self, line: Line, name: str, value: Printed, head: str | None = None, parent: str | None = None) -> None:
        about = " ".join(filter(None, (self._structure.name, self._system))) or None
        self._output.value(line, name, value, block="STRUCTURE ACTIVITY", about=about, parent=parent, head=head)


def _completed(row: dict[str, object], rounded: set[str]) -> dict[str, object]:
    """Compute total requests where the report prints only their kinds.

    A count in thousands (``30K``) gives way to what the total, printed in full, leaves for it.
    """

    def printed(column: str) -> float | None:
        value = row.get(column)
        return value if isinstance(value, float) else None

    counts = [printed("sync_requests"), printed("async_requests")]
    whole = printed("requests")
    if whole is None and any(count is not None for count in counts):
        row["requests"] = sum(count or 0.0 for count in counts)
    elif whole is not None and "requests" not in rounded:
        for column, other in (("sync_requests", counts[1]), ("async_requests", counts[0])):
            if column in rounded and other is not None and rounded.isdisjoint(_KINDS - {column}):
                row[column] = whole - other
    return row
