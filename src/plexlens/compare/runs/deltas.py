"""Differences and ratios of every number that both runs have, in the groups of a performance report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from plexlens.compare.runs.run import Better, Group, Measure, Reading, Run
from plexlens.compare.runs.significance import ALIKE, Interval, interval_of


class Judgement(StrEnum):
    """Judgement of a change."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    LOWER = "lower"
    CHANCE = "within chance"
    ROUNDING = "within rounding"
    ONE_SIDED = "in one run only"


@dataclass(frozen=True)
class Delta:
    """A number in both runs.

    Attributes
    ----------
    base, new
        Its readings; None where a run has none.
    difference
        NEW less BASE.
    ratio
        NEW over BASE; None where BASE is zero or either is negative.
    low, high
        Bounds of the difference that the printed digits leave; None where nothing is printed.
    ratio_low, ratio_high
        The same of the ratio.
    interval
        Confidence interval; None where one of the runs has no repeats.
    """

    measure: Measure
    object_name: str
    base: Reading | None
    new: Reading | None
    difference: float | None
    ratio: float | None
    low: float | None
    high: float | None
    ratio_low: float | None
    ratio_high: float | None
    interval: Interval | None

    @property
    def judgement(self) -> Judgement:
        """Judgement of the change."""
        if self.difference is None:
            return Judgement.ONE_SIDED
        if self.difference == 0:
            return Judgement.SAME
        if self.interval is not None and not self.interval.excludes_zero:
            return Judgement.CHANCE
        if self.low is not None and self.high is not None and self.low <= 0 <= self.high:
            return Judgement.ROUNDING
        rises = self.difference > 0
        if self.measure.better is Better.NEITHER:
            return Judgement.HIGHER if rises else Judgement.LOWER
        return Judgement.BETTER if rises == (self.measure.better is Better.HIGHER) else Judgement.WORSE

    @property
    def told_from_chance(self) -> bool | None:
        """Whether the confidence interval excludes zero; None without an interval."""
        return None if self.interval is None else self.interval.excludes_zero

    @property
    def too_narrow(self) -> bool:
        """Whether neighbouring groups of intervals are correlated, which makes the interval too narrow."""
        estimates = (
            value.estimate for value in (self.base, self.new) if value is not None and self.interval is not None
        )
        numbers = (estimate.resemblance for estimate in estimates if estimate is not None)
        return any(value is not None and value > ALIKE for value in numbers)

    @property
    def change(self) -> float | None:
        """The ratio minus 1."""
        return None if self.ratio is None else self.ratio - 1


def deltas(base: Run, new: Run) -> tuple[Delta, ...]:
    """Every number of either run, in the order of the groups and of BASE, then of NEW.

    What neither run has a value for is left out.
    """
    measures = {**new.measures, **base.measures}
    keys = dict.fromkeys((*base.readings, *new.readings))
    order = {group: place for place, group in enumerate(Group)}
    places = {name: place for place, name in enumerate(measures)}
    results = [
        delta(
            measures[name], object_name, base.readings.get((name, object_name)), new.readings.get((name, object_name))
        )
        for name, object_name in keys
    ]
    there = [delta for delta in results if _value(delta.base) is not None or _value(delta.new) is not None]
    return tuple(sorted(there, key=lambda delta: (order[delta.measure.group], places[delta.measure.id])))


def delta(measure: Measure, object_name: str, base: Reading | None, new: Reading | None) -> Delta:
    """A number of two runs."""
    before, after = _value(base), _value(new)
    if base is None or new is None or before is None or after is None:
        return Delta(measure, object_name, base, new, None, None, None, None, None, None, None)
    interval = None
    if base.estimate is not None and new.estimate is not None:
        interval = interval_of(before, after, base.estimate, new.estimate)
    low = high = ratio_low = ratio_high = None
    lows, highs = _bounds(base), _bounds(new)
    if base.low is not None or new.low is not None:
        low, high = highs[0] - lows[1], highs[1] - lows[0]
        if lows[0] > 0 and highs[0] >= 0:
            ratio_low, ratio_high = highs[0] / lows[1], highs[1] / lows[0]
    ratio = after / before if before > 0 and after >= 0 else None
    return Delta(
        measure, object_name, base, new, after - before, ratio, low, high, ratio_low, ratio_high, interval
    )  # fmt: skip


def _value(reading: Reading | None) -> float | None:
    return None if reading is None else reading.value


def _bounds(reading: Reading) -> tuple[float, float]:
    value = reading.value or 0.0
    return (value if reading.low is None else reading.low, value if reading.high is None else reading.high)


def by_group(deltas: Iterable[Delta]) -> dict[Group, list[Delta]]:
    """Deltas by their group; groups without any are left out."""
    groups: dict[Group, list[Delta]] = {}
    for delta in deltas:
        groups.setdefault(delta.measure.group, []).append(delta)
    return groups
