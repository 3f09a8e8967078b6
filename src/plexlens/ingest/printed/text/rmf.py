"""RMF Postprocessor reports as text: recognition of pages, and their readers."""

from __future__ import annotations

import re

from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.text.rmf_coupling import FACILITY_NAME, STRUCTURE_NAME, CouplingPages
from plexlens.ingest.printed.text.rmf_heading import (
    Interval,
    foreign_title,
    heading_pairs,
    policy_activation,
    title_of,
)
from plexlens.ingest.printed.text.rmf_processor import ProcessorPages
from plexlens.ingest.printed.text.rmf_workload import WorkloadPages
from plexlens.ingest.printed.values import read_value

_EXCERPTS: tuple[tuple[str, re.Pattern[str], str, str], ...] = (
    ("POLICY", re.compile(r"\bREPORT BY\s*:\s*POLICY"), "rmf_workload", "workload"),
    ("TRANS-TIME", re.compile(r"-TRANSACTIONS-+\s+TRANS-TIME"), "rmf_workload", "workload"),
    ("SERVICE", re.compile(r"-*SERVICE\s+TIMES?-*\s+-+APPL\s*%"), "rmf_workload", "workload"),
    ("FACILITY", FACILITY_NAME, "rmf_coupling_facility", "usage"),
    ("STRUCTURE", STRUCTURE_NAME, "rmf_coupling_facility", "structure"),
    ("AVG/SEC", re.compile(r"\bSYSTEM\s+NAME\s+TOTAL\s+AVG/SEC\b"), "rmf_coupling_facility", "structure"),
)
"""Lines by which an excerpt without page heading is told: a word of the pattern, the pattern, kind, part."""


def starts(line: Line) -> bool:
    """Whether a line can begin an RMF report."""
    return title_of(line.text) is not None or foreign_title(line.text) is not None or _excerpt(line.text) is not None


def _excerpt(text: str) -> tuple[str, str] | None:
    shown = text.upper().replace("\t", "  ")
    for word, pattern, kind, part in _EXCERPTS:
        if word in shown and pattern.search(shown):
            return kind, part
    return None


class RmfReport:
    """Reads lines of RMF reports."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._interval = Interval()
        self._title: str | None = None
        self._kind: str | None = None
        self._part = "other"
        self._foreign: str | None = None
        self._identity: tuple[object, ...] | None = None
        self._is_stale = True
        self._printed: list[tuple[Line, str, str]] = []
        self._processors = ProcessorPages(output)
        self._workload = WorkloadPages(output)
        self._coupling = CouplingPages(output)

    @property
    def foreign(self) -> str | None:
        """Title of an unsupported RMF report; its lines are skipped."""
        return self._foreign

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""
        foreign = foreign_title(line.text)
        if foreign is not None:
            self._end()
            self._output.end()
            self._foreign, self._kind = foreign, None
        titled = title_of(line.text)
        if titled is not None and foreign is None:
            self._foreign = None
            self._turn_to(*titled)
            return True
        if self._interval.add(line.text):
            self._is_stale = True
            self._printed += [(line, *pair) for pair in heading_pairs(line.text)]
            return self._foreign is None
        if self._foreign is not None:
            return False
        return self._page_line(line)

    def _page_line(self, line: Line) -> bool:
        """Process a line below the page headings."""
        excerpt = _excerpt(line.text)
        if excerpt is not None and (self._kind is None or excerpt[0] != self._kind or excerpt[1] == "structure"):
            self._turn_to(None, *excerpt)
        self._open(line)
        activation = policy_activation(line.text)
        if activation is not None and self._kind is not None:
            self._output.value(line, "POLICY ACTIVATION DATE/TIME", read_value(activation[0]), block="PAGE HEADING")
            line = line._replace(text=activation[1])
            if not line.text.strip():
                return True
        if self._kind == "rmf_cpu":
            return self._part == "other" or self._processors.line(line, self._part)
        if self._kind == "rmf_workload":
            return self._workload.line(line)
        if self._kind == "rmf_coupling_facility":
            return self._part == "other" or self._coupling.line(line, self._part)
        return False

    def finish(self) -> None:
        """End the report: write its twin rows and clear its headings."""
        self._end()
        self._interval, self._title, self._kind, self._foreign = Interval(), None, None, None
        self._printed = []

    def _end(self) -> None:
        self._processors.finish()
        self._workload.finish()
        self._coupling.finish()
        self._is_stale, self._identity = True, None

    def _turn_to(self, title: str | None, kind: str, part: str) -> None:
        if self._kind is not None and kind != self._kind:
            self._end()
        self._title, self._kind, self._part = title or self._title, kind, part
        self._is_stale = True

    def _open(self, line: Line) -> None:
        """Open a report if the page headings name another kind, system or interval."""
        if not self._is_stale or self._kind is None:
            return
        self._is_stale = False
        now, printed, self._printed = self._interval, self._printed, []
        identity = (self._kind, now.system, now.sysplex, now.start, now.seconds)
        if identity == self._identity and self._output.record is not None:
            return
        self._end()
        self._is_stale, self._identity = False, identity
        record = self._output.begin(self._kind, self._title)
        record.system, record.sysplex = now.system, now.sysplex
        record.start, record.end, record.interval_seconds = now.start, now.end, now.seconds
        for heading, name, text in printed:
            self._output.value(heading, name, read_value(text), block="PAGE HEADING")
