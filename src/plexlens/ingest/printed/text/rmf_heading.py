"""Page headings of RMF Postprocessor reports: title, system or sysplex, interval.

                               C P U  A C T I V I T Y
        z/OS V2R4             SYSTEM ID SYSA          DATE 07/27/2021      INTERVAL 29.59.996
                              RPT VERSION V2R4 RMF    TIME 10.00.00        CYCLE 1.000 SECONDS

A report of several intervals as one has START and END in the place of DATE and TIME.

Source: IBM, z/OS RMF Report Analysis, "Common report headings".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from plexlens.ingest.printed.values import read_duration, read_point

TITLES: tuple[tuple[str, str, str], ...] = (
    ("CPU ACTIVITY", "rmf_cpu", "cpu"),
    ("PARTITION DATA REPORT", "rmf_cpu", "partition"),
    ("WORKLOAD ACTIVITY", "rmf_workload", "workload"),
    ("COUPLING FACILITY USAGE SUMMARY", "rmf_coupling_facility", "usage"),
    ("COUPLING FACILITY STRUCTURE ACTIVITY", "rmf_coupling_facility", "structure"),
    ("COUPLING FACILITY ACTIVITY", "rmf_coupling_facility", "usage"),
    ("SUBCHANNEL ACTIVITY", "rmf_coupling_facility", "subchannel"),
    ("CF TO CF ACTIVITY", "rmf_coupling_facility", "other"),
    ("CHANNEL PATH DETAILS", "rmf_coupling_facility", "other"),
    ("LPAR CLUSTER REPORT", "rmf_cpu", "other"),
    ("GROUP CAPACITY REPORT", "rmf_cpu", "other"),
)
"""Title of a page, kind of its report, part of the report. Those of the part ``other`` are not read."""

_TITLE_BEGINNINGS = tuple(title for title, _, _ in TITLES)
_SPACED = re.compile(r"(?<![^\s])(?:\S ){2,}\S(?![^\s])")
_ACTIVITY = re.compile(r"[A-Z/ -]{3,60} (?:ACTIVITY|REPORT|STATISTICS|SUMMARY)|CRYPTO HARDWARE ACTIVITY")
_VERSION = re.compile(r"\b(?:RPT|RMF) +VERSION\b|\bCONVERTED TO\b", re.IGNORECASE)
_DATE_LINE = re.compile(r"\b(?:DATE|START)\s+\d.*\bINTERVAL\s+\d", re.IGNORECASE)
_TIME_LINE = re.compile(r"\b(?:TIME|END)\s+\d.*\bCYCLE\s", re.IGNORECASE)
_SYSTEM = re.compile(r"\bSYSTEM ID\s+(\S+)", re.IGNORECASE)
_SYSPLEX = re.compile(r"\bSYSPLE?X\s+(\S+)", re.IGNORECASE)
_DATE = re.compile(r"\bDATE\s+(\d{1,2}/\d{1,2}/\d{2,4})", re.IGNORECASE)
_TIME = re.compile(r"\bTIME\s+(\d{1,2}\.\d{2}\.\d{2})", re.IGNORECASE)
_START = re.compile(r"\bSTART\s+(\d{1,2}/\d{1,2}/\d{2,4})-(\d{1,2}\.\d{2}\.\d{2})", re.IGNORECASE)
_END = re.compile(r"\bEND\s+(\d{1,2}/\d{1,2}/\d{2,4})-(\d{1,2}\.\d{2}\.\d{2})", re.IGNORECASE)
_INTERVAL = re.compile(r"\bINTERVAL\s+(\d[\d.:]*)", re.IGNORECASE)
_PAIR = re.compile(
    r"\b(SYSTEM ID|SYSPLE?X|DATE|TIME|START|END|INTERVAL|CYCLE|(?:RPT |RMF )?VERSION)\s+(\S+)", re.IGNORECASE
)
_POLICY_ACTIVATION = re.compile(
    r"\bPOLICY ACTIVATION(?: DATE/TIME)?\s*[:=]?\s*(\d{1,2}/\d{1,2}/\d{2,4})[\s-]+(\d{1,2}[.:]\d{2}[.:]\d{2})",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(\d{1,3})\.(\d{2})\.(\d{3})")


def collapsed(text: str) -> str:
    """A line with letter-spaced titles joined, single blanks, and no dashes at word ends: ``CPU ACTIVITY``."""
    joined = _SPACED.sub(lambda result: result[0].replace(" ", ""), text)
    return " ".join(joined.strip().strip("-").split()).upper()


def title_of(text: str) -> tuple[str, str, str] | None:
    """Title, kind and part of the page, if the line is a page title; else None."""
    line = collapsed(text)
    if not line.startswith(_TITLE_BEGINNINGS):
        return None
    for title, kind, part in TITLES:
        if line == title or (line.startswith(title) and len(line) <= len(title) + 24 and "=" not in line):
            return title, kind, part
    return None


def foreign_title(text: str) -> str | None:
    """The title of an unsupported RMF report: a line printed with blanks between its letters."""
    if not _SPACED.search(text):
        return None
    line = collapsed(text)
    return line if _ACTIVITY.fullmatch(line) and title_of(text) is None else None


@dataclass(slots=True)
class Interval:
    """Interval data gathered from page headings so far."""

    system: str | None = None
    sysplex: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    seconds: float | None = None
    _date: str | None = None

    def add(self, text: str) -> bool:
        """Process a line; return whether it belongs to a page heading."""
        is_heading = any(pattern.search(text) for pattern in (_DATE_LINE, _TIME_LINE, _VERSION))
        if not is_heading:
            return False
        if _DATE_LINE.search(text):
            # The line of the date names the system or the sysplex of the page, and no other page's holds here.
            self.system = self.sysplex = None
        for pattern, name in ((_SYSTEM, "system"), (_SYSPLEX, "sysplex")):
            match = pattern.search(text)
            if match:
                setattr(self, name, match[1])
        date, time = _DATE.search(text), _TIME.search(text)
        if date:
            self._date = date[1]
        if time and self._date:
            self.start, self.end = read_point(self._date, time[1]), None
        start, end = _START.search(text), _END.search(text)
        if start:
            self.start = read_point(start[1], start[2])
        if end:
            self.end = read_point(end[1], end[2])
        length = _INTERVAL.search(text)
        if length:
            self.seconds = interval_seconds(length[1])
        return True


def heading_pairs(text: str) -> list[tuple[str, str]]:
    """Names and values of a line of a page heading, as printed."""
    return [(" ".join(match[1].upper().split()), match[2]) for match in _PAIR.finditer(text)]


def policy_activation(text: str) -> tuple[str, str] | None:
    """Time of the policy's activation as printed, and the line without it; None if the line does not contain it."""
    match = _POLICY_ACTIVATION.search(text)
    if not match:
        return None
    return f"{match[1]} {match[2]}", text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]


def interval_seconds(text: str) -> float | None:
    """Length of an interval: ``014.59.996`` begins with minutes, ``000.15.00`` with hours."""
    match = _PARTS.fullmatch(text)
    if match:
        return int(match[1]) * 60 + int(match[2]) + int(match[3]) / 1000
    value = read_duration(text)
    return value.number if value else None
