"""The intervals of a server that a database holds.

The database itself remembers: an ingest bears the name of the server, the sysplex and its first and last moment, and is
committed together with its rows. A crash can therefore neither lose nor repeat an interval.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from plexlens.watch.dds.answer import Interval

_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(
    r"(?P<server>\S+)/gpm/rmfm3\.xml (?P<first>\d{8}T\d{6}Z)-(?P<last>\d{8}T\d{6}Z) UTC(?P<minutes>[+-]\d+) min"
)


def name_of(server: str, interval: Interval, offset: timedelta) -> str:
    """The name under which the answers of an interval are held, with the local time of the server."""
    span = f"{interval.start:{_STAMP}}-{interval.end:{_STAMP}}"
    return f"{server}/gpm/rmfm3.xml {span} UTC{offset // timedelta(minutes=1):+d} min"


class Coverage:
    """Time of which answers are held, as spans that do not touch.

    Parameters
    ----------
    intervals
        What is held.
    """

    def __init__(self, intervals: Iterable[Interval] = ()) -> None:
        self._spans: list[Interval] = []
        self._offsets: list[tuple[datetime, timedelta]] = []
        for interval in sorted(intervals):
            self.add(interval)

    @classmethod
    def of_names(cls, server: str, names: Iterable[str]) -> Coverage:
        """The time of a server that the names of held sources cover."""
        coverage = cls()
        for match in (_NAME.fullmatch(name) for name in names if name.startswith(f"{server}/")):
            if match is not None and match["server"] == server:
                interval = Interval(_moment(match["first"]), _moment(match["last"]))
                coverage.add(interval, timedelta(minutes=int(match["minutes"])))
        return coverage

    def offset_before(self, moment: datetime) -> timedelta | None:
        """Local time minus UTC in the last interval held before a moment; None if there is none."""
        at = bisect_left(self._offsets, (moment, timedelta.max))
        return self._offsets[at - 1][1] if at else None

    @property
    def last(self) -> datetime | None:
        """The latest moment held; None if nothing is."""
        return self._spans[-1].end if self._spans else None

    @property
    def first(self) -> datetime | None:
        """The earliest moment held; None if nothing is."""
        return self._spans[0].start if self._spans else None

    def add(self, interval: Interval, offset: timedelta | None = None) -> None:
        """Add an interval and merge it with intervals that it touches; keep its local time minus UTC if known."""
        if offset is not None:
            insort(self._offsets, (interval.start, offset))
        start, end, kept = interval.start, interval.end, []
        for span in self._spans:
            if span.end < start or end < span.start:
                kept.append(span)
            else:
                start, end = min(start, span.start), max(end, span.end)
        kept.insert(bisect_left(kept, Interval(start, end)), Interval(start, end))
        self._spans = kept

    def overlaps(self, interval: Interval) -> bool:
        """Whether some of the interval is held."""
        return any(span.overlaps(interval) for span in self._spans)

    def missing(self, since: datetime, until: datetime, length: timedelta) -> list[Interval]:
        """The parts of a time that are not held, in pieces of the length of an interval that end where it ends.

        Pieces are counted back from the end of each gap, where an interval that is held begins or the newest one ends.
        What is left over at the start of a gap, shorter than an interval, is a piece of its own if it is longer than a
        second.
        """
        gaps, at = [], since
        for span in self._spans:
            if span.start > at and at < until:
                gaps.append(Interval(at, min(span.start, until)))
            at = max(at, span.end)
        if at < until:
            gaps.append(Interval(at, until))
        pieces: list[Interval] = []
        for gap in gaps:
            end, results = gap.end, []
            while end - gap.start >= length:
                results.append(Interval(end - length, end))
                end -= length
            if end - gap.start > timedelta(seconds=1):
                results.append(Interval(gap.start, end))
            pieces += reversed(results)
        return pieces


def _moment(text: str) -> datetime:
    return datetime.strptime(text, _STAMP).replace(tzinfo=UTC)
