"""The line under a table or chart that names the source of its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from plexlens.metrics.grain_data import Covered, GrainData
from plexlens.metrics.rolled.levels import Levels
from plexlens.report.model.clock import length
from plexlens.report.model.display import counted

#: Stretches of days that a line names.
_NAMED = 4


def origin(grain_data: GrainData, covered: Covered | None = None) -> str:
    """Sources of a grain's numbers: ``SMF 74-4; 48 intervals of 15 min``."""
    if not grain_data.intervals:
        return ", ".join(grain_data.kinds)
    if not grain_data.regular:
        return f"{', '.join(grain_data.kinds)}; from accounting, not by interval"
    clocks = [covered] if covered is not None else grain_data.clocks
    return "; ".join(
        (", ".join(grain_data.kinds), *(_intervals(clock) for clock in clocks), *_expired(grain_data.levels))
    )


def _expired(levels: Levels | None) -> Iterator[str]:
    """``raw records of 2 days have expired, roll-ups answer: 2026-03-02 to 2026-03-03``, and what these cannot tell."""
    if levels is None or not levels.alone:
        return
    yield f"raw records of {_days(levels.alone)[0]} have expired, roll-ups answer: {_days(levels.alone)[1]}"
    if levels.whole:
        count, named = _days(levels.whole)
        yield f"hours of {count} have expired too, so that these count only in answers by whole days: {named}"
    if levels.earlier:
        count, named = _days(levels.earlier)
        yield f"{count} follow an earlier definition: {named}"


def _days(days: Sequence[str]) -> tuple[str, str]:
    """``3 days`` and ``2026-03-02 to 2026-03-03, 2026-03-09``; at most four stretches are named."""
    stretches: list[list[str]] = []
    for day in days:
        if stretches and date.fromisoformat(day) - date.fromisoformat(stretches[-1][-1]) == timedelta(days=1):
            stretches[-1].append(day)
        else:
            stretches.append([day])
    named = [stretch[0] if len(stretch) == 1 else f"{stretch[0]} to {stretch[-1]}" for stretch in stretches]
    if len(named) > _NAMED:
        left = sum(map(len, stretches[_NAMED - 1 :]))
        named = [*named[: _NAMED - 1], f"and {counted(left, 'day')} up to {days[-1]}"]
    return counted(len(days), "day"), ", ".join(named)


def _intervals(covered: Covered) -> str:
    """``48 intervals of 15 min, local time as printed``."""
    intervals = counted(len(covered.times), "interval")
    if covered.interval_seconds:
        shortest, longest = covered.interval_range
        usual = length(covered.interval_seconds)
        even = longest - shortest <= 0.2 * covered.interval_seconds
        intervals += f" of {usual}" if even else f" of {length(shortest)} to {length(longest)}"
    points = {"interval": "", "hour": ", by hour", "day": ", by day"}[covered.time]
    return f"{intervals}{points}{', local time as printed' if covered.is_local else ''}"
