"""Moments of known time have a time zone, local moments do not: they are shown unchanged and kept apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: Seconds of each length of time that is always the same.
SECONDS = {"minute": 60, "quarter_hour": 900, "hour": 3600, "day": 86_400, "week": 604_800}

#: Days before 1970 from which moments are counted, so that a division always rounds down; a Monday, as weeks begin.
_BEFORE = 1_000_002

#: Systems close their intervals within this time of each other.
TOGETHER = timedelta(seconds=60)


def on_axis(moment: datetime) -> datetime:
    """The moment as a position on an axis: local moments by their clock reading, on an axis of their own."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def shown_on(moment: datetime | None, *, is_local: bool) -> datetime | None:
    """A time stamp of the engine as displayed: UTC, or local time without a time zone."""
    if moment is None:
        return None
    moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None) if is_local else moment


def start_of(length: str, moment: str, shift: str = "0") -> str:
    """SQL of the start of the minute, quarter of an hour, hour, day or week that a moment is in.

    By microseconds: DuckDB's `date_trunc` and `time_bucket` of a moment with a time zone go through a calendar, which
    takes a microsecond per row.

    Parameters
    ----------
    length
        A name in `SECONDS`.
    moment
        SQL of a moment with a time zone.
    shift
        SQL of the seconds by which the clock that hours and days follow is ahead of UTC.
    """
    seconds, before = SECONDS[length], _BEFORE * 86_400
    ahead = f"{before}" if shift == "0" else f"({before} + {shift})"
    whole = f"(epoch_us({moment}) + {ahead} * 1000000) // {seconds * 1_000_000} * {seconds}"
    return f"to_timestamp({whole} - {ahead})"


def nearest(seconds: int, moment: str) -> str:
    """SQL of the nearest multiple of ``seconds`` to a moment, by the clock as in `start_of`."""
    return f"to_timestamp((epoch_us({moment}) + {seconds * 500_000}) // {seconds * 1_000_000} * {seconds})"
