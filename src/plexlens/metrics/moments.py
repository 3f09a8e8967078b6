"""Moments of known time have a time zone, those of local time none: they are shown as they are, and kept apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: Systems close their intervals within this time of each other.
TOGETHER = timedelta(seconds=60)


def on_axis(moment: datetime) -> datetime:
    """The moment as a place on an axis: one without a time zone by its reading, with those of its own kind."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def shown_on(moment: datetime | None, *, is_local: bool) -> datetime | None:
    """A time stamp of the engine as it is shown: UTC, or local time without a time zone."""
    if moment is None:
        return None
    moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None) if is_local else moment
