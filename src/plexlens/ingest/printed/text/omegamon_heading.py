"""Page headings of Db2 reports: Db2 subsystem, report and interval.

    LOCATION: DSNA                 OMEGAMON FOR DB2 PERFORMANCE EXPERT (V5R4M0)           PAGE: 1-1
       GROUP: DSNAGRP                    STATISTICS REPORT - LONG               REQUESTED FROM: NOT SPECIFIED
      MEMBER: DB2A                                                                         TO: NOT SPECIFIED
   SUBSYSTEM: DB2A                                                              INTERVAL FROM: 11/06/23 08:35:00.27
 DB2 VERSION: V12                        SCOPE: MEMBER                                     TO: 11/06/23 08:40:00.27

Source: IBM, OMEGAMON for Db2 Performance Expert, "Headers used in Statistics".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from plexlens.ingest.printed.values import MISSING, read_point

_LABELS = ("LOCATION", "GROUP", "MEMBER", "SUBSYSTEM", "DB2 VERSION", "REQUESTED FROM", "INTERVAL FROM", "TO", "PAGE",
           "ORDER", "SCOPE", "TOP", "LEVEL", "ACTUAL FROM")  # fmt: skip
_PAIR = re.compile(r"(?<![\w.#-])(" + "|".join(re.escape(label) for label in _LABELS) + r")\s?:(?=\s|$)")
_FIRST = re.compile(r"\s*(LOCATION|GROUP|MEMBER|SUBSYSTEM|DB2 VERSION)\s?:(?=\s|$)")
_TITLE = re.compile(r"\b((?:[A-Z][A-Z/]+ )*[A-Z][A-Z/]+) +(REPORT|TRACE)\b(?: *- *(LONG|SHORT))?", re.IGNORECASE)
_PRODUCT = re.compile(r"OMEGAMON|PERFORMANCE MONITOR|PERFORMANCE EXPERT|\bDB2 ?PM\b", re.IGNORECASE)
_MOMENT = re.compile(r"(\d{1,2}/\d{1,2}/\d{2,4}) +(\d{1,2}:\d{2}:\d{2}(?:\.\d+)?)")
_MISSING_NAMES = {*MISSING, "'BLANK'", "*"}

KNOWN_TITLES = {"STATISTICS": "db2_statistics", "ACCOUNTING": "db2_accounting"}


@dataclass(slots=True)
class PageHeading:
    """Values of a page heading, gathered from its lines."""

    names: dict[str, str] = field(default_factory=dict)
    title: str | None = None
    kind: str | None = None
    is_short: bool = False
    is_trace: bool = False
    start: datetime | None = None
    end: datetime | None = None
    _from: str = ""

    def name(self, label: str) -> str | None:
        """A name in the heading; None if it is missing or printed as not present."""
        value = self.names.get(label)
        return None if value is None or value in _MISSING_NAMES else value

    def identity(self) -> tuple[object, ...]:
        """Values that identify the report of a heading."""
        return (
            self.title,
            *(self.names.get(label) for label in ("LOCATION", "GROUP", "MEMBER", "SUBSYSTEM")),
            self.start,
            self.end,
        )

    def add(self, text: str) -> bool:
        """Process a line; return whether it belongs to a page heading."""
        begins = _FIRST.match(text) is not None
        pairs = list(_PAIR.finditer(text))
        if not begins and not (self.names and pairs):
            return False
        title = _TITLE.search(_without_pairs(text))
        if title and not _PRODUCT.search(title[1]):
            self.title = " ".join(title[0].upper().split())
            self.kind = KNOWN_TITLES.get(title[1].upper().split()[-1])
            self.is_short = (title[3] or "").upper() == "SHORT"
            self.is_trace = title[2].upper() == "TRACE"
        for pair, after in zip(pairs, [*pairs[1:], None], strict=False):
            rest = text[pair.end() : after.start() if after else len(text)]
            self._pair(pair[1], rest.strip())
        return True

    def _pair(self, label: str, rest: str) -> None:
        moment = _MOMENT.match(rest)
        if label.endswith("FROM"):
            self._from = label
        if label == "INTERVAL FROM" and moment:
            self.start = read_point(moment[1], moment[2])
        elif label == "TO":
            if moment and self._from == "INTERVAL FROM":
                self.end = read_point(moment[1], moment[2])
        elif rest:
            # None of these names has a blank; what follows has drifted close.
            self.names[label] = rest.split(maxsplit=1)[0]


def _without_pairs(text: str) -> str:
    """The line without the pair at its left, whose value could be mistaken for part of a title."""
    return re.sub(r"^\s*[A-Z0-9 ]+:\s*\S*", " ", text)


def looks_like_heading(text: str) -> bool:
    """Whether a line begins a page heading or announces a report."""
    return _FIRST.match(text) is not None and (
        _PRODUCT.search(text) is not None or _TITLE.search(text) is not None or "PAGE" in text
    )
