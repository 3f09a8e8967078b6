"""Significance of a difference: confidence intervals from the repeats in a run.

Two kinds of repeats are known. Runs repeated under one environment are independent: their mean is compared by Welch's
t. Intervals of one run follow one another and resemble their neighbours, so neighbours are put into groups, and the
number is worked out again without each group in turn (the jackknife with deleted groups: H. R. Künsch, The jackknife
and the bootstrap for general stationary observations, Annals of Statistics 17, 1989). Its spread gives the standard
error of any metric, ratios included, since the metric's own definition does the work each time. For a mean it is the
method of batch means, and with groups of one it is Welch's t exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from plexlens.compare.runs.run import Estimate

#: Confidence of every interval.
LEVEL = 0.95

#: Fewer intervals than this say nothing about their spread.
FEWEST_INTERVALS = 4

#: More groups gain little and leave neighbours alike (B. W. Schmeiser, Operations Research 30, 1982).
MOST_GROUPS = 30

#: A correlation of neighbouring groups above this makes the error too small.
ALIKE = 0.5

METHOD_INTERVALS = (
    "95 % confidence interval over the intervals of each run: neighbouring intervals are put into groups, the metric "
    "is recomputed without each group in turn, and the spread gives its standard error; the two errors are combined "
    "as in Welch's t test. Intervals of a run vary less than repeated runs do: the interval covers chance within each "
    "run, not differences between days."
)
METHOD_REPEATS = (
    "95 % confidence interval over repeated runs: Welch's t test of the two means, which allows unequal spreads."
)
METHOD_ONE = (
    "95 % confidence interval of the measurement, over its intervals: neighbouring intervals are grouped, the number "
    "is recomputed without each group in turn, and the spread gives its standard error. The interval covers chance "
    "within the measured time, not differences between days."
)
METHOD_NONE = (
    "A single run, or fewer than four intervals, has no confidence interval, so a change cannot be distinguished from "
    "chance."
)


@dataclass(frozen=True)
class Interval:
    """A confidence interval of the difference, and of the ratio, of two numbers.

    Attributes
    ----------
    low, high
        Bounds of NEW less BASE.
    ratio_low, ratio_high
        Bounds of NEW over BASE, from the same errors on the scale of logarithms; None where a value is not positive.
    freedom
        Degrees of freedom.
    """

    low: float
    high: float
    ratio_low: float | None
    ratio_high: float | None
    freedom: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval excludes zero difference."""
        return self.low > 0 or self.high < 0


def group_lengths(count: int) -> list[int]:
    """Lengths of the groups for this number of intervals, in order; empty if there are too few.

    A group is the cube root of the number of intervals long, or longer where there would be more than `MOST_GROUPS`
    groups; lengths differ by one at most.

    Examples
    --------
    >>> group_lengths(4), group_lengths(9), len(group_lengths(1440))
    ([1, 1, 1, 1], [3, 2, 2, 2], 30)
    """
    if count < FEWEST_INTERVALS:
        return []
    length = max(math.floor(count ** (1 / 3) + 1e-9), math.ceil(count / MOST_GROUPS))
    groups = count // length
    whole, more = divmod(count, groups)
    return [whole + 1] * more + [whole] * (groups - more)


def without_each(whole: float | None, without: Sequence[float | None], count: int) -> Estimate | None:
    """The uncertainty of a number, from its values without each group.

    Parameters
    ----------
    whole
        The number over all intervals.
    without
        The number without each group, in the order of time.
    count
        Intervals that the groups are made of.

    Returns
    -------
    Estimate or None
        None where a value is undefined, or there are fewer than three groups.
    """
    groups = len(without)
    values = [value for value in without if value is not None and math.isfinite(value)]
    if whole is None or groups < 3 or len(values) < groups:
        return None
    middle = math.fsum(values) / groups
    error = math.sqrt((groups - 1) / groups * math.fsum((value - middle) ** 2 for value in values))
    singles = [groups * whole - (groups - 1) * value for value in values]
    return Estimate(error, groups - 1, count, groups, _resemblance(singles))


def _resemblance(values: Sequence[float]) -> float | None:
    """Lag-1 correlation of the values; None for fewer than eight values, or without spread."""
    if len(values) < 8:
        return None
    middle = math.fsum(values) / len(values)
    spread = math.fsum((value - middle) ** 2 for value in values)
    if spread <= 0:
        return None
    return math.fsum((a - middle) * (b - middle) for a, b in pairwise(values)) / spread


def of_repeats(values: Sequence[float]) -> tuple[float, Estimate | None]:
    """Mean of repeated runs and its uncertainty; no uncertainty for a single run."""
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return mean, None
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return mean, Estimate(math.sqrt(variance / count), count - 1, count, count)


def interval_of(base: float, new: float, spread: Estimate, other: Estimate) -> Interval:
    """The confidence interval of the difference and the ratio of two numbers.

    Parameters
    ----------
    base, new
        The numbers.
    spread, other
        Their spreads, in the same order.
    """
    freedom = _freedom((spread.error**2, other.error**2), (spread.freedom, other.freedom))
    half = reach(freedom) * math.hypot(spread.error, other.error)
    difference = new - base
    low, high = difference - half, difference + half
    if base <= 0 or new <= 0:
        return Interval(low, high, None, None, freedom)
    parts = ((spread.error / base) ** 2, (other.error / new) ** 2)
    factor = math.exp(reach(_freedom(parts, (spread.freedom, other.freedom))) * math.sqrt(sum(parts)))
    return Interval(low, high, new / base / factor, new / base * factor, freedom)


def _freedom(variances: tuple[float, float], freedoms: tuple[float, float]) -> float:
    """Degrees of freedom by Welch and Satterthwaite."""
    below = math.fsum(variance**2 / freedom for variance, freedom in zip(variances, freedoms, strict=True))
    return sum(variances) ** 2 / below if below > 0 else sum(freedoms)


def reach(freedom: float) -> float:
    """Half-width of a confidence interval in standard errors."""
    # Here, since loading it takes longer than most commands do without it.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + LEVEL) / 2))
