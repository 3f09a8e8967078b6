"""The time axis of a chart, broken where long periods have no data.

A dump of the peak hours of five days, or of two systems recorded months apart, would otherwise be slivers in empty
space. Stretches with data keep their proportions to each other; what lies between is shown as a break.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

from plexlens.report.model.clock import Clock

#: The axis is broken where stretches without data take more than this share of it.
EMPTY = 0.5

#: Width of a break, and least width of a stretch, in parts of the axis.
BREAK, LEAST = 0.02, 0.05

#: A stretch ends where the next interval starts more than this many of its own lengths later.
LENGTHS = 3


#: Widths of a plot, in pixels, from which on it has room for more labels; the style sheet knows them by their number.
WIDTHS = (190, 330, 560, 830)

#: Width of a character of a label and the room between two labels, in pixels.
CHARACTER, ROOM = 6.6, 10


@dataclass(frozen=True)
class Mark:
    """A label on the axis: two lines of text and a position from 0 to 1.

    `level` is the place in `WIDTHS` of the least width of a plot in which the label has room next to the others.
    """

    place: float
    text: str
    second: str = ""
    level: int = 0


@dataclass(frozen=True)
class Stretch:
    """A period with data: from ``start`` to ``end`` (seconds since 1970), drawn from ``left`` to ``right`` (0 to 1)."""

    start: float
    end: float
    left: float
    right: float

    def place(self, moment: float) -> float:
        """Position of a moment on the axis; moments outside are at the nearer end."""
        length = (self.end - self.start) or 1.0
        inside = min(max((moment - self.start) / length, 0.0), 1.0)
        return self.left + inside * (self.right - self.left)


@dataclass(frozen=True)
class TimeAxis:
    """Positions of points in time."""

    stretches: tuple[Stretch, ...]

    @classmethod
    def over(cls, times: Sequence[datetime], ends: Sequence[datetime], start: datetime, end: datetime) -> TimeAxis:
        """An axis from start to end, broken if the intervals from ``times`` to ``ends`` cover only a small part of
        it.
        """
        first, last = start.timestamp(), end.timestamp()
        whole = (last - first) or 1.0
        runs: list[list[float]] = []
        for low, high in sorted((a.timestamp(), b.timestamp()) for a, b in zip(times, ends, strict=True)):
            if runs and low - runs[-1][1] <= LENGTHS * (high - low):
                runs[-1][1] = max(high, runs[-1][1])
            else:
                runs.append([low, high])
        covered = sum(high - low for low, high in runs)
        if len(runs) < 2 or covered > (1 - EMPTY) * whole:
            return cls((Stretch(first, last, 0.0, 1.0),))
        room = 1 - BREAK * (len(runs) - 1)
        shares = [max((high - low) / covered, LEAST) for low, high in runs]
        stretches = []
        left = 0.0
        for (low, high), share in zip(runs, shares, strict=True):
            right = left + share / sum(shares) * room
            stretches.append(Stretch(low, high, left, right))
            left = right + BREAK
        return cls(tuple(stretches))

    def place(self, moment: float) -> float:
        """Position of a moment (seconds since 1970), from 0 to 1."""
        for stretch in self.stretches:
            if moment <= stretch.end:
                return stretch.place(moment)
        return self.stretches[-1].place(moment)

    def end_place(self, start: float, end: float) -> float:
        """Position of the end of an interval that starts at ``start``: in the segment of its start."""
        for stretch in self.stretches:
            if start < stretch.end:
                return stretch.place(end)
        return self.stretches[-1].place(end)

    @property
    def breaks(self) -> tuple[float, ...]:
        """Middles of the breaks."""
        return tuple((a.right + b.left) / 2 for a, b in pairwise(self.stretches))

    def marks(self, clock: Clock, most: int = 6) -> tuple[Mark, ...]:
        """Tick labels: round times, or the start of each stretch on a broken axis."""
        if len(self.stretches) > 1:
            every = -(-len(self.stretches) // most)
            return _spaced([_mark(clock, stretch.start, stretch.left, "") for stretch in self.stretches[::every]])
        only = self.stretches[0]
        marks = []
        date = ""
        days = only.end - only.start > 10 * 86400
        for moment in clock.marks(datetime.fromtimestamp(only.start, UTC), datetime.fromtimestamp(only.end, UTC), most):
            mark = _mark(clock, moment.timestamp(), only.place(moment.timestamp()), "" if days else date)
            date = clock.date(moment)
            marks.append(Mark(mark.place, mark.second, "") if days else mark)
        return _spaced(marks)


def _spaced(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks in order, each with the minimum plot width at which it has room; marks that never fit are dropped."""
    taken: list[Mark] = []
    for level, width in enumerate(WIDTHS):
        for mark in marks:
            if all(abs(mark.place - other.place) * width >= (_width(mark) + _width(other)) / 2 for other in taken):
                taken.append(replace(mark, level=level))
    return tuple(sorted(taken, key=lambda mark: mark.place))


def _width(mark: Mark) -> float:
    return CHARACTER * max(len(mark.text), len(mark.second)) + ROOM


def _mark(clock: Clock, moment: float, place: float, date: str) -> Mark:
    """The time of day, with the day below it unless it equals the previous label's day."""
    at = datetime.fromtimestamp(moment, UTC)
    local = clock.local(at)
    today = clock.date(at)
    return Mark(place, f"{local:%H:%M}", "" if today == date else f"{local.day} {local:%b %Y}")
