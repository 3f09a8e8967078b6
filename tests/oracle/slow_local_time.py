"""Which report in local time is of which offset, and which rows of a grain count: by lists and loops alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

SLACK = timedelta(seconds=30)


@dataclass(frozen=True)
class Row:
    """An interval of a system (or of a sysplex where it has none) that one source tells.

    `start` and `end` are UTC where `offset` is known, local where it is None; both without a time zone.
    """

    kind: str
    system: str | None
    sysplex: str
    start: datetime
    end: datetime
    offset: timedelta | None


def offset_of(report: Row, others: Iterable[Row]) -> timedelta | None:
    """The one offset under which rows of the same owner begin and end when the report does, on their local clocks."""
    begins: set[timedelta] = set()
    ends: set[timedelta] = set()
    for other in others:
        if other.offset is None or other.sysplex != report.sysplex:
            continue
        if report.system is not None and other.system != report.system:
            continue
        if abs(other.start + other.offset - report.start) <= SLACK:
            begins.add(other.offset)
        if abs(other.end + other.offset - report.end) <= SLACK:
            ends.add(other.offset)
    both = begins & ends
    return both.pop() if len(both) == 1 else None


def placed(report: Row, others: Iterable[Row]) -> Row:
    """The report in UTC where its offset can be told."""
    if report.offset is not None:
        return report
    offset = offset_of(report, others)
    if offset is None:
        return report
    return Row(report.kind, report.system, report.sysplex, report.start - offset, report.end - offset, offset)


def counted(sources: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows that count: of each source those that no source before it tells."""
    everything = [row for source in sources for row in source]
    kept: list[Row] = []
    for source in sources:
        there = list(kept)
        for row in source:
            moved = placed(row, everything)
            if not any(_tells(moved, earlier) for earlier in there):
                kept.append(moved)
    return kept


def _tells(row: Row, earlier: Row) -> bool:
    """Whether an earlier source has the row's interval, or a part of its time, by the same kind of clock."""
    if (row.offset is None) != (earlier.offset is None):
        return False
    if row.system is None or earlier.system is None:
        if row.sysplex != earlier.sysplex:
            return False
    elif row.system != earlier.system:
        return False
    if _minute(row.start) == _minute(earlier.start):
        return True
    overlap = min(row.end, earlier.end) - max(row.start, earlier.start)
    shorter = min(row.end - row.start, earlier.end - earlier.start)
    return overlap > timedelta(0) and overlap >= min(SLACK, shorter / 2)


def _minute(moment: datetime) -> datetime:
    """The nearest minute, half a minute up."""
    return (moment + SLACK).replace(second=0, microsecond=0)
