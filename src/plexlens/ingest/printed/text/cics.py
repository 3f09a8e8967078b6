"""CICS interval statistics as printed by DFHSTUP and the sample program DFH0STAT.

Names and values with rows of points between them, and tables; the dispatcher's table of TCB modes tells where a region
waits.

Source: IBM, CICS Transaction Server, "Dispatcher domain statistics", "Dispatcher TCB Modes report"; the 2012 study.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.text.cics_table import Table
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.text.pairs import dotted_pairs
from plexlens.ingest.printed.text.words import has_numbers, is_prose, is_rule, runs
from plexlens.ingest.printed.values import DURATION, NUMBER, Printed, read_point, read_value

_APPLID = re.compile(r"\bAPPLID\s*:?\s+(\S+)", re.IGNORECASE)
_SYSID = re.compile(r"\bSYSID\s*:?\s+(\S+)", re.IGNORECASE)
_JOBNAME = re.compile(r"\bJOBNAME\s*:?\s+(\S+)", re.IGNORECASE)
_VERSION = re.compile(r"\bCICS(?: TS)?\s+(\d+\.\d+(?:\.\d+)?)")
_COLLECTED = re.compile(r"COLLECTION DATE-TIME\s+(\d{1,2}/\d{1,2}/\d{4})[- ](\d{1,2}:\d{2}:\d{2})", re.IGNORECASE)
_RESET = re.compile(r"LAST RESET\s+(\d{1,2}:\d{2}:\d{2})", re.IGNORECASE)
_INTERVAL = re.compile(r"\bINTERVAL\s+(\d{1,3}:\d{2}:\d{2})", re.IGNORECASE)
_PRINTED = re.compile(r"\b(?:DATE\s+)?(\d{1,2}/\d{1,2}/\d{4})\s+TIME\s+(\d{1,2}:\d{2}:\d{2})", re.IGNORECASE)
_UTILITY = re.compile(r"STATISTICS UTILITY PROGRAM|\bDFHSTUP\b|\bREPORT (?:DATE|TIME)\b", re.IGNORECASE)
_KIND = re.compile(
    r"\b(INTERVAL|REQUESTED|END[- ]OF[- ]DAY|UNSOLICITED|SUMMARY)\s+(?:STATISTICS\s+)?REPORT\b", re.IGNORECASE
)
_MODES = re.compile(r"\bDISPATCHER TCB MODES\b|\bTCB\b.*\bTCBS ATTACHED\b", re.IGNORECASE)
_NOTE = re.compile(r"\((?:NOT RESET|SINCE RESET)\)|^\s*(?:NOTE|\*)", re.IGNORECASE)
_COUNT = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>ms|MS|%|K|M|G|bytes|seconds)?")
_UNITS = {"ms": "milliseconds", "MS": "milliseconds", "%": "percent", "seconds": "seconds", "bytes": "bytes",
          "K": "kilobytes", "M": "megabytes"}  # fmt: skip


def starts(line: Line) -> bool:
    """Whether a line can begin CICS statistics."""
    # In upper case, so that most lines are left without a search that regards both cases.
    text = line.text.upper()
    return (
        ("APPLID" in text and bool(_APPLID.search(text)) and bool(_JOBNAME.search(text) or _SYSID.search(text)))
        or "STATISTICS UTILITY PROGRAM" in text
        or ("TCB" in text and _MODES.search(text) is not None)
    )


@dataclass(slots=True)
class _Region:
    applid: str | None = None
    sysid: str | None = None
    job: str | None = None
    version: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    title: str | None = None


class CicsReport:
    """Reads lines of CICS statistics."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._statistics = {fold(name): known for name, known in output.known.lists["cics_statistic"].items()}
        self._region = _Region()
        self._identity: tuple[object, ...] | None = None
        self._is_stale = True
        self._section: str | None = None
        self._heads: list[str] = []
        self._table: Table | None = None

    foreign: str | None = None
    """CICS statistics have no section that is passed over."""

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""
        text = line.text
        if self._heading(text):
            return True
        self._open()
        if is_rule(text):
            if self._heads:
                self._table, self._heads = Table(self._heads), []
            return True
        if self._table is not None:
            row = self._table.row(text)
            if row is not None:
                self._row(line, *row)
                return True
        if self._pairs(line):
            self._table, self._heads = None, []
            return True
        return self._label(text)

    def finish(self) -> None:
        """End the report. Its rows are already written."""
        self._is_stale, self._identity = True, None
        self._table, self._heads, self._section = None, [], None

    # --- headings ---------------------------------------------------------------------------------------------

    def _heading(self, text: str) -> bool:
        matches = [pattern.search(text) for pattern in (_APPLID, _COLLECTED, _RESET, _PRINTED)]
        utility, kind = _UTILITY.search(text), _KIND.search(text)
        if not any(matches) and not utility and not (kind and len(text.split()) <= 12):
            return False
        if matches[3] and not matches[0] and not utility:
            return False
        region = self._region
        for name, pattern in (("applid", _APPLID), ("sysid", _SYSID), ("job", _JOBNAME), ("version", _VERSION)):
            match = pattern.search(text)
            if match:
                setattr(region, name, match[1])
        if kind:
            region.title = kind[0]
        self._times(text)
        self._is_stale = True
        return True

    def _times(self, text: str) -> None:
        region = self._region
        collected, printed = _COLLECTED.search(text), _PRINTED.search(text)
        moment = collected or (printed if not _UTILITY.search(text) else None)
        if moment:
            end = read_point(moment[1], moment[2])
            if end != region.end:
                region.start, region.end = None, end
        length, reset = _INTERVAL.search(text), _RESET.search(text)
        if region.end is None:
            return
        if length:
            value = read_value(length[1])
            region.start = region.end - timedelta(seconds=value.number or 0.0)
        elif reset:
            begin = read_point(region.end.date().isoformat(), reset[1])
            if begin is not None:
                region.start = begin if begin <= region.end else begin - timedelta(days=1)

    def _open(self) -> None:
        if not self._is_stale and self._output.record is not None:
            return
        self._is_stale = False
        region = self._region
        identity = (region.applid, region.end)
        if identity == self._identity and self._output.record is not None:
            return
        self._identity = identity
        record = self._output.begin("cics_statistics", region.title)
        record.subsystem = region.applid
        record.start, record.end = region.start, region.end
        self._table = None

    # --- values -----------------------------------------------------------------------------------------------

    def _row(self, line: Line, key: str, values: list[tuple[str, str]]) -> None:
        for name, text in values:
            self._value(line, name, text, key)

    def _pairs(self, line: Line) -> bool:
        text = _NOTE.sub("", line.text)
        results = [pair for pair in dotted_pairs(text) if pair.value or ". ." in line.text]
        if not results or (is_prose(text) and ". ." not in text):
            return False
        for pair in results:
            self._value(line, pair.name, pair.value, None)
        return True

    def _label(self, text: str) -> bool:
        """Process a section title or a table head; return whether the line is either."""
        if is_prose(text) or (has_numbers(text) and not _MODES.search(text)):
            return False
        parts = runs(text)
        if len(parts) == 1 and len(parts[0].text.split()) <= 8:
            self._section, self._table, self._heads = parts[0].text, None, []
        else:
            if _MODES.search(text):
                self._section = self._section or "Dispatcher TCB Modes"
            self._table = None
            self._heads.append(text)
        return True

    def _value(self, line: Line, name: str, text: str, resource: str | None) -> None:
        counted = _COUNT.fullmatch(text.split("  ", maxsplit=1)[0].strip())
        if counted:
            unit = _UNITS.get(counted["unit"] or "")
            value = read_value(counted["number"], unit=unit, exact=True)._replace(text=text)
        else:
            value = read_value(text, exact=True)
        self._output.value(line, name, value, block=self._section, about=resource)
        self._output.twin("text_cics_statistics", self._statistic(name, value, resource))

    def _statistic(self, name: str, value: Printed, resource: str | None) -> dict[str, object]:
        is_number = value.type in {NUMBER, DURATION}
        return {
            "section": self._section,
            "resource": resource,
            "statistic": self._statistics.get(fold(name)) or _slug(name),
            "name": name,
            "value": value.text,
            "number": value.number if is_number else None,
            "low": value.low if is_number else None,
            "high": value.high if is_number else None,
            "unit": value.unit if is_number else None,
            "system_name": self._region.sysid,
            "job_name": self._region.job,
            "cics_version": self._region.version,
        }


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
