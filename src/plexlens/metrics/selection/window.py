"""Periods of time from the command line: dates, local times, and times with an offset from UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from plexlens.errors import UsageError

#: What a user can write for a time.
FORMS = "write a date (2008-09-03), a local time (2008-09-03T17:29) or a time with its offset (2008-09-03T17:29+02:00)"


@dataclass(frozen=True)
class Window:
    """A period of time, excluding its end; an open end is None.

    A bound without an offset is local time of each system. A bound with an offset is one moment for all systems; data
    whose own offset is unknown is compared with its local time.

    Attributes
    ----------
    start, end
        First moment inside, and first moment after.
    """

    start: datetime | None = None
    end: datetime | None = None

    def condition(self, utc: str, offset: str) -> str:
        """SQL condition for rows within the window.

        Parameters
        ----------
        utc
            SQL of seconds since 1970 in UTC, or in local time where the offset is null.
        offset
            SQL of local minus UTC in seconds; null where it is unknown.
        """
        inside = []
        if self.start is not None:
            moment, bound = _compared(self.start, utc, offset)
            inside.append(f"{moment} >= {bound}")
        if self.end is not None:
            moment, bound = _compared(self.end, utc, offset)
            inside.append(f"{moment} < {bound}")
        return " and ".join(inside) or "true"

    def bounds_within(self, length: int, offset: str) -> list[str]:
        """SQL of each bound that lies within a stretch of time, in seconds since 1970 in UTC.

        Parameters
        ----------
        length
            Length of the stretches in seconds; they begin at multiples of it.
        offset
            SQL of local minus UTC in seconds; null where it is unknown.
        """
        bounds = []
        for bound in (self.start, self.end):
            if bound is not None:
                wall = _wall(bound)
                seconds = bound.timestamp() if bound.tzinfo is not None else wall
                known = f"{seconds!r}::double" if bound.tzinfo is not None else f"{wall!r}::double - {offset}"
                if wall % length or seconds % length:
                    bounds.append(f"case when ({offset}) is null then {wall!r}::double else {known} end")
        return bounds

    def around(self, margin: timedelta) -> tuple[datetime | None, datetime | None]:
        """Its bounds in UTC, widened by a margin; local time is taken as UTC. None for an open end."""
        first, last = (
            bound if bound is None or bound.tzinfo is not None else bound.replace(tzinfo=UTC)
            for bound in (self.start, self.end)
        )
        return _moved(first, -margin), _moved(last, margin)

    @property
    def text(self) -> str:
        """The window in words."""
        if self.start is not None and self.end is not None:
            return f"{_text(self.start)} to {_text(self.end)}"
        if self.start is not None:
            return f"from {_text(self.start)}"
        return f"until {_text(self.end)}" if self.end is not None else "all times"

    @property
    def is_local(self) -> bool:
        """Whether a bound is local time of each system."""
        return any(bound is not None and bound.tzinfo is None for bound in (self.start, self.end))


def _moved(bound: datetime | None, by: timedelta) -> datetime | None:
    """A bound moved earlier or later in UTC; None if there is no such time."""
    try:
        return None if bound is None else bound.astimezone(UTC) + by
    except OverflowError:
        return None


def _compared(bound: datetime, utc: str, offset: str) -> tuple[str, str]:
    """The column that is compared with a bound, and the bound in seconds, as SQL."""
    wall = _wall(bound)
    if bound.tzinfo is None:
        return f"({utc}) + coalesce({offset}, 0)", f"{wall!r}::double"
    return f"({utc})", f"case when ({offset}) is null then {wall!r}::double else {bound.timestamp()!r}::double end"


def _wall(bound: datetime) -> float:
    """Clock reading in seconds since the clock showed the start of 1970."""
    return bound.replace(tzinfo=UTC).timestamp()


def _text(bound: datetime | None) -> str:
    if bound is None:
        return ""
    seconds = ":%S" if bound.second else ""
    text = bound.strftime(f"%Y-%m-%d %H:%M{seconds}")
    if bound.tzinfo is None:
        return text
    zone = bound.strftime("%z")
    return f"{text} UTC{zone[:3]}:{zone[3:5]}" if bound.utcoffset() else f"{text} UTC"


def window(text: str) -> Window:
    """The period named by a day or by ``FROM..TO``; either end may be omitted.

    Raises
    ------
    UsageError
        It is not a time, or ends before it starts.

    Examples
    --------
    >>> window("2008-09-03").text
    '2008-09-03 00:00 to 2008-09-04 00:00'
    >>> window("2008-09-03T17:00..").text
    'from 2008-09-03 17:00'
    """
    first, dots, last = text.partition("..")
    if dots:
        return between(first.strip(), last.strip(), named=text)
    if not _is_date(first):
        _moment(first, text)
        raise UsageError(
            file="",
            what=f"{text!r} is a moment, and a range of time is needed",
            remedy="add an end: 2008-09-03T17:00..2008-09-03T18:00, or name a day: 2008-09-03",
        )
    return between(first.strip(), first.strip(), named=text)


def between(since: str, until: str, *, named: str = "") -> Window:
    """The period between two moments; an empty text leaves that end open.

    A date as the start is the start of that day, a date as the end is the end of that day.

    Parameters
    ----------
    since, until
        As `FORMS` says.
    named
        What the user wrote, for an error; the bound itself by default.

    Raises
    ------
    UsageError
        A bound is not a time, or the time ends before it starts.
    """
    start = _moment(since, named or since) if since else None
    end = _moment(until, named or until) if until else None
    if end is not None and _is_date(until):
        try:
            end += timedelta(days=1)
        except OverflowError:
            end = None
    if start is not None and end is not None and (start.tzinfo is None) == (end.tzinfo is None) and end <= start:
        raise UsageError(
            file="",
            what=f"{named or f'{since} to {until}'!r} ends before it starts",
            remedy="give the earlier time first",
        )
    return Window(start, end)


def _is_date(text: str) -> bool:
    return len(text.strip()) <= len("2008-09-03")


def _moment(part: str, text: str) -> datetime:
    try:
        # A plus sign that a shell or browser made a blank is not an offset: fromisoformat refuses it.
        return datetime.fromisoformat(part.strip())
    except ValueError as error:
        where = f"{part.strip()!r} in {text!r}" if part.strip() != text.strip() else repr(text)
        raise UsageError(file="", what=f"{where} is not a time", remedy=FORMS) from error
