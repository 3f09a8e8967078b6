"""Intervals of the slow roll-up: what they are called, how they overlap, and what time they cover together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Row = Mapping[str, Any]
Name = tuple[Any, ...]

#: An overlap of so many seconds is none.
MOMENTS = 2.0


@dataclass(frozen=True)
class Span:
    """An interval: whose clock it is on, when it begins and ends, and how long it says it is, if that is known."""

    is_local: bool
    start: datetime | None
    end: datetime | None
    length: float | None

    @property
    def order(self) -> tuple[bool, Any, Any]:
        """By which intervals follow each other; those without ends come last."""
        return self.start is None, self.start or 0, self.end or 0

    def with_(self, other: Span) -> Span:
        """Both as one: intervals of one name."""
        return Span(
            self.is_local,
            known_of(min, self.start, other.start),
            known_of(max, self.end, other.end),
            known_of(max, self.length, other.length),
        )


def known_of(choose: Callable[..., Any], one: Any, other: Any) -> Any:
    """The smaller or greater of what is known."""
    known = [value for value in (one, other) if value is not None]
    return choose(known) if known else None


def shares(spans: Mapping[Name, Span]) -> dict[Name, float]:
    """For each interval, the share of it that no interval before it covers."""
    result: dict[Name, float] = {}
    reached: dict[bool, datetime] = {}
    for name, span in sorted(spans.items(), key=lambda item: item[1].order):
        if span.start is None or span.end is None:
            result[name] = 1.0
            continue
        before = reached.get(span.is_local)
        begin = span.start
        if before is not None and (before - span.start).total_seconds() > MOMENTS:
            begin = before
        whole = (span.end - span.start).total_seconds()
        result[name] = max(0.0, (span.end - begin).total_seconds()) / whole
        reached[span.is_local] = span.end if before is None else max(before, span.end)
    return result


def covered(spans: Mapping[Name, Span]) -> float | None:
    """Length of the time that intervals cover together; None where no length is known."""
    lengths = [share * length for name, share in shares(spans).items() if (length := spans[name].length) is not None]
    return sum(lengths) if lengths or not spans else None


def has_ends(row: Row) -> bool:
    """Whether a row has a start and an end."""
    return row["interval_start"] is not None and row["interval_end"] is not None


def stamp(row: Row) -> tuple[bool, Any]:
    """The moment of a row by which what is in force is told: its end, else its start; without both, long ago."""
    moment = row["interval_end"] or row["interval_start"]
    return moment is not None, moment or 0


def named_moment(moment: datetime | None, row: Row, *, timed: bool) -> datetime | None:
    """The minute nearest to a moment; the nearest ten seconds for an interval shorter than a minute."""
    if moment is None:
        return None
    short = timed and has_ends(row) and (row["interval_end"] - row["interval_start"]).total_seconds() < 60
    step = 10 if short else 60
    return datetime.fromtimestamp((moment.timestamp() + step / 2) // step * step, moment.tzinfo)
