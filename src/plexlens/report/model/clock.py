"""Times as recorded: local time with its offset, UTC, or local time of unknown offset.

A moment with a time zone is a point in time. A moment without one is local time as printed in a report that names no
offset from UTC; it is shown as it is, and never compared with the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

#: Distances of axis marks, in seconds.
_MARKS = tuple(
    s * unit
    for unit, steps in (
        (60, (1, 2, 5, 10, 15, 30)),
        (3600, (1, 2, 3, 4, 6, 12)),
        (86400, (1, 2, 7, 14, 28)),
    )
    for s in steps
)


#: What the time of moments without a time zone is called.
LOCAL = "local time"

_UNKNOWN = "how far it is from UTC is not recorded"


def offset_text(seconds: float) -> str:
    """An offset from UTC as ``UTC+02:00``.

    Examples
    --------
    >>> offset_text(-16200.0), offset_text(0.0)
    ('UTC-04:30', 'UTC')
    """
    if not seconds:
        return "UTC"
    minutes = round(abs(seconds) / 60)
    return f"UTC{'+' if seconds > 0 else '-'}{minutes // 60:02d}:{minutes % 60:02d}"


@dataclass(frozen=True)
class Clock:
    """Display of points in time in a report.

    Attributes
    ----------
    offset
        Local minus UTC in seconds; None shows UTC.
    note
        What the reader is told about it.
    marks_local
        Whether a moment without a time zone is marked as local, because others have a known time.
    """

    offset: float | None
    note: str
    marks_local: bool = False

    @classmethod
    def of(cls, offsets: Iterable[float | None], *, local: bool = False) -> Clock:
        """The clock for data recorded under these offsets (seconds; duplicates and nulls allowed).

        Parameters
        ----------
        offsets
            Local minus UTC, as the data and what was inferred from it name them.
        local
            Whether there are reports, too, that print local time and name no offset.
        """
        # Offsets are recorded as clock values a hair off the minute; the minute is what they mean.
        known = sorted({round(offset / 60) * 60.0 for offset in offsets if offset is not None})
        if local and not known:
            return cls(None, f"Times are local as printed: {_UNKNOWN}.")
        beside = f" Reports with times marked as local are in local time as printed: {_UNKNOWN}." if local else ""
        if not known:
            return cls(None, "Times are UTC: the data does not record the offset of local time.")
        if len(known) > 1:
            listed = ", ".join(offset_text(offset) for offset in known)
            note = f"Times are UTC: the data was recorded under more than one local time ({listed}).{beside}"
            return cls(None, note, marks_local=local)
        return cls(known[0], f"Times are local as recorded ({offset_text(known[0])}).{beside}", marks_local=local)

    @property
    def zone(self) -> str:
        """Name of the time zone shown: ``UTC-05:00``."""
        return offset_text(self.offset or 0.0)

    def zone_of(self, moment: datetime) -> str:
        """Name of the time zone in which a moment is shown."""
        return LOCAL if moment.tzinfo is None else self.zone

    def unplaced(self) -> Clock:
        """The clock for moments without a time zone, as returned by `on_axis`."""
        return Clock(0.0, self.note)

    def local(self, moment: datetime) -> datetime:
        """The moment in the displayed time zone; a moment without a time zone is unchanged."""
        if moment.tzinfo is None:
            return moment
        return moment.astimezone(timezone(timedelta(seconds=self.offset or 0.0)))

    def date(self, moment: datetime) -> str:
        """``2022-08-09``."""
        return self.local(moment).strftime("%Y-%m-%d")

    def minute(self, moment: datetime) -> str:
        """``2022-08-09 14:15``."""
        return self.local(moment).strftime("%Y-%m-%d %H:%M") + self._mark(moment)

    def second(self, moment: datetime) -> str:
        """``2022-08-09 14:15:03``."""
        return self.local(moment).strftime("%Y-%m-%d %H:%M:%S") + self._mark(moment)

    def span(self, start: datetime, end: datetime) -> str:
        """Two moments, with the date only once if it is the same; in the format of `minute`."""
        if self.date(start) == self.date(end):
            return f"{self.local(start):%Y-%m-%d %H:%M} to {self.local(end):%H:%M}{self._mark(end)}"
        return f"{self.local(start):%Y-%m-%d %H:%M} to {self.minute(end)}"

    def _mark(self, moment: datetime) -> str:
        return " local" if self.marks_local and moment.tzinfo is None else ""

    def marks(self, start: datetime, end: datetime, most: int = 6) -> list[datetime]:
        """Round local times for an axis from start to end, at most ``most`` of them."""
        seconds = (end - start).total_seconds()
        step = next((mark for mark in _MARKS if seconds / mark <= most - 1), None)
        if step is None:
            step = 28 * 86400 * max(1, -(-int(seconds) // (28 * 86400 * (most - 1))))
        shift = self.offset or 0.0
        first = -(-(start.timestamp() + shift) // step) * step
        results = []
        moment = first - shift
        while moment <= end.timestamp():
            results.append(datetime.fromtimestamp(moment, UTC))
            moment += step
        return results


def length(seconds: float) -> str:
    """A duration in words: ``30 min``, ``4 h 15 min``; whole days from a month on.

    Examples
    --------
    >>> length(1799.997), length(15300), length(45)
    ('30 min', '4 h 15 min', '45 s')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    days, minutes = divmod(minutes, 1440)
    if days >= 30:
        return f"{days:,} d"
    hours, minutes = divmod(minutes, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "min")]
    return " ".join(f"{number} {symbol}" for number, symbol in parts if number)
