"""Moments of known time have a time zone, local moments do not: they are shown unchanged and kept apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
