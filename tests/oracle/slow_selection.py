"""A slow, obvious selection in plain Python: one interval at a time, by calendar, with nothing of Plexlens's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def nearest_minute(moment: datetime) -> datetime:
    floor = moment.replace(second=0, microsecond=0)
    return floor + timedelta(minutes=1) if moment - floor >= timedelta(seconds=30) else floor


def wall_clock(row: dict[str, Any]) -> datetime | None:
    """Local time of the start of an interval, without a zone; of its end where it has no start."""
    if row["interval_start"] is not None:
        moment = nearest_minute(row["interval_start"])
    elif row["interval_end"] is not None:
        moment = row["interval_end"]
    else:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None) + timedelta(seconds=row["utc_offset"] or 0)


def in_window(row: dict[str, Any], start: datetime | None, end: datetime | None) -> bool:
    wall = wall_clock(row)
    if wall is None:
        return start is None and end is None
    for bound, is_start in ((start, True), (end, False)):
        if bound is None:
            continue
        if bound.tzinfo is None or row["utc_offset"] is None:
            before = wall < bound.replace(tzinfo=None)
        else:
            zone = timezone(timedelta(seconds=row["utc_offset"]))
            before = wall.replace(tzinfo=zone) < bound
        if before == is_start:
            return False
    return True


def in_shift(row: dict[str, Any], days: list[str], start: int, end: int) -> bool:
    """Whether an interval starts on a shift, in minutes after midnight; one that ends before it starts goes on."""
    wall = wall_clock(row)
    if wall is None:
        return False
    minute = wall.hour * 60 + wall.minute
    today, yesterday = DAYS[wall.weekday()], DAYS[(wall.weekday() + 6) % 7]
    if start < end:
        return today in days and start <= minute < end
    return (today in days and minute >= start) or (yesterday in days and minute < end)


def percentile(values: list[tuple[float, float]], share: float) -> float:
    """The smallest value such that values up to it last at least ``share`` of the time; pairs of value, length."""
    whole = sum(length for _, length in values)
    for value, _ in sorted(values):
        until = sum(length for other, length in values if other <= value)
        if until >= share * whole:
            return value
    raise AssertionError("no values")
