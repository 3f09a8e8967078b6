"""The change of a number divided among objects: by what they did, their share of the work, and the number of each.

A number that is a ratio of sums is the mean of the objects' own ratios r, weighted with their shares s of what stands
below the line. A number that is a sum over work is the work W times that. Each of the three factors W, s and r gets its
Shapley value: the mean, over all orders in which the factors could have changed one after the other, of what the factor
moves when its turn comes (L. S. Shapley, A value for n-person games, 1953). With W = 1 this is the midpoint rule. The
parts add up to the change exactly, and no order is preferred.

    volume     = (W1 - W0) x mean(s r)
    mix        = (s1 - s0) x (mean(W r) - R)
    intensity  = (r1 - r0) x mean(W s)

``mean(a b)`` is (2 a0 b0 + a0 b1 + a1 b0 + 2 a1 b1) / 6. Of a ratio, R is the mean of the whole's ratio before and
after: shares add up to one, so that R changes no sum, and an object whose share grew counts by how far its ratio is
from the whole's. Of a sum, R is 0: the parts of an object add up to its own change. A sum without work has volume
alone.

An object that is new has no ratio before; it is taken to be the one that it has after, so that all of its change is
mix, or volume. The same holds for an object that is gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, fsum, hypot, isfinite, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from plexlens.compare.runs.significance import FEWEST_INTERVALS, Interval, interval_of, without_each
from plexlens.why.measured import Names, Replicated

#: A period drifts where the slope of a line through it has at most this probability by chance.
DRIFTS = 0.01

#: A drift by less than this, on the scale of logarithms, is not shown.
DRIFT = 0.1

#: Numbers that differ by this share of themselves are the same: sums of the same values in another order.
SAME = 1e-9

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Amount:
    """A part of a change.

    Attributes
    ----------
    value
        In the unit of the number.
    interval
        95 % confidence interval; None where the periods have too few intervals.
    p
        Probability of so large a change, of either sign, by chance; None without an interval.
    """

    value: float
    interval: Interval | None = None
    p: float | None = None


@dataclass(frozen=True)
class Item:
    """An object's part of a change.

    Attributes
    ----------
    names
        The object.
    before, after
        The number of the object itself; None where it has none.
    volume, mix, intensity
        The parts.
    all
        Their sum.
    own
        What the object itself did to the number, whatever the others did: the intensity of a ratio, all of a sum.
    change
        The change of the object's own number, ``after - before``; None where one of them is None.
    is_new, is_gone
        Whether only one of the periods has the object.
    """

    names: Names
    before: float | None
    after: float | None
    volume: float
    mix: float
    intensity: float
    all: Amount
    own: Amount
    change: Amount | None
    is_new: bool = False
    is_gone: bool = False


def shapley(w: tuple[Any, Any], s: tuple[Any, Any], r: tuple[Any, Any], middle: Any) -> tuple[Any, Any, Any]:
    """Volume, mix and intensity of products W s r that change from the first to the second values.

    Examples
    --------
    >>> shapley((1.0, 1.0), (0.5, 0.25), (2.0, 4.0), 0.0)
    (0.0, -0.75, 0.75)
    """
    volume = (w[1] - w[0]) * mean_product(s, r)
    mix = (s[1] - s[0]) * (mean_product(w, r) - middle)
    intensity = (r[1] - r[0]) * mean_product(w, s)
    return volume, mix, intensity


def mean_product(a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
    """Mean of a product over the orders in which its factors and a third one change."""
    return (2 * a[0] * b[0] + a[0] * b[1] + a[1] * b[0] + 2 * a[1] * b[1]) / 6


def parts_of(above: tuple[Floats, Floats], below: tuple[Floats, Floats] | None, *, is_sum: bool) -> tuple[Floats, ...]:
    """Volume, mix and intensity of each object.

    Parameters
    ----------
    above, below
        The two sums of each object, before and after; 0 for an object that is not there. Nothing below: a sum without
        work.
    is_sum
        Whether the number is the sum above, with what is below as the work; otherwise it is their ratio.

    Returns
    -------
    tuple of arrays
        One value for each object. They add up to the change of the whole.
    """
    if below is None:
        none = np.zeros_like(above[0])
        return above[1] - above[0], none, none
    work = tuple(float(each.sum()) for each in below)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = tuple(each / total for each, total in zip(below, work, strict=True))
        r = [up / down for up, down in zip(above, below, strict=True)]
    r = [np.where(np.isfinite(r[0]), r[0], r[1]), np.where(np.isfinite(r[1]), r[1], r[0])]
    r = [np.where(np.isfinite(each), each, 0.0) for each in r]
    if is_sum:
        return shapley((work[0], work[1]), (s[0], s[1]), (r[0], r[1]), 0.0)
    whole = [float(up.sum()) / total for up, total in zip(above, work, strict=True)]
    return shapley((1.0, 1.0), (s[0], s[1]), (r[0], r[1]), (whole[0] + whole[1]) / 2)


def amount(value: float, without: tuple[Sequence[float | None], Sequence[float | None]]) -> Amount:
    """A part of a change with its uncertainty.

    Parameters
    ----------
    value
        The part.
    without
        The part without each group of intervals of the first period, and of the second.
    """
    errors = [without_each(value, each, len(each)) for each in without]
    if errors[0] is None or errors[1] is None:
        return Amount(value)
    interval = interval_of(0.0, value, errors[0], errors[1])
    error = hypot(errors[0].error, errors[1].error)
    if error == 0:
        return Amount(value, interval, 0.0 if value else 1.0)
    return Amount(value, interval, _two_sided(interval.freedom, value / error))


def difference(base: Replicated | None, new: Replicated | None) -> Amount | None:
    """NEW less BASE of a number; None where one of them is not known.

    Its p is twice the smaller one of two tests: of the numbers, and of their logarithms by groups of intervals. A
    number that grows through all of a period, as a response does where work arrives faster than it is done, has no
    steady mean; its logarithms are far from those of the other period all the same.
    """
    if base is None or new is None or base.value is None or new.value is None:
        return None
    first, second = base.value, new.value
    if abs(second - first) <= SAME * max(abs(first), abs(second)):
        return Amount(second - first, amount(0.0, _differences(base, new)).interval, 1.0)
    moved = amount(second - first, _differences(base, new))
    logarithms = [_of_logarithms(each) for each in (base, new)]
    if moved.p is None or logarithms[0] is None or logarithms[1] is None:
        return moved
    return replace(moved, p=min(1.0, 2 * min(moved.p, difference_of_means(logarithms[0], logarithms[1]))))


def _differences(base: Replicated, new: Replicated) -> tuple[list[float | None], list[float | None]]:
    first, second = base.value or 0.0, new.value or 0.0
    return (
        [None if each is None else second - each for each in base.without],
        [None if each is None else each - first for each in new.without],
    )


def _of_logarithms(number: Replicated) -> list[float] | None:
    """Logarithm of the number of each group of intervals alone; None where one of them is not positive."""
    known = [each for each in number.alone if each is not None and isfinite(each) and each > 0]
    return [log(each) for each in known] if len(known) == len(number.alone) >= FEWEST_INTERVALS else None


def difference_of_means(first: Sequence[float], second: Sequence[float]) -> float:
    """Probability of the difference of two means by chance: Welch's t test, with spreads around a line where one is.

    Examples
    --------
    >>> round(difference_of_means([1.0, 2.5, 2.0, 4.0], [3.0, 4.5, 4.0, 6.0]), 4)
    0.0643
    """
    means = [fsum(values) / len(values) for values in (first, second)]
    spreads = [_spread(values) for values in (first, second)]
    variance = fsum(spread[0] for spread in spreads)
    if not variance:
        return 0.0 if means[0] != means[1] else 1.0
    freedom = variance**2 / fsum(spread[0] ** 2 / spread[1] for spread in spreads)
    return _two_sided(freedom, (means[1] - means[0]) / sqrt(variance))


def _spread(values: Sequence[float]) -> tuple[float, int]:
    """Variance of the mean of values in the order of time, and its degrees of freedom.

    Where they rise or fall along a line beyond chance, the line is what was measured, not noise: the variance is that
    of the distances from it.
    """
    count = len(values)
    around, along, slope = _line(values)
    beside = max(around - slope**2 * along, 0.0)
    if _drifts(values):
        return beside / (count - 2) / count, count - 2
    return around / (count - 1) / count, count - 1


def _line(values: Sequence[float]) -> tuple[float, float, float]:
    """Squares of the values and of their places around the means, and the slope of the line through them."""
    middle, mean = (len(values) - 1) / 2, fsum(values) / len(values)
    along = fsum((place - middle) ** 2 for place in range(len(values)))
    slope = fsum((place - middle) * (value - mean) for place, value in enumerate(values)) / along
    return fsum((value - mean) ** 2 for value in values), along, slope


def _drifts(values: Sequence[float]) -> bool:
    around, along, slope = _line(values)
    beside, free = max(around - slope**2 * along, 0.0), len(values) - 2
    return beside <= SAME * around or _two_sided(free, slope / sqrt(beside / free / along)) <= DRIFTS


def drift_of(number: Replicated | None) -> tuple[float, float] | None:
    """The number of the first and of the last group where it rises or falls along a line, by a tenth or more."""
    logarithms = None if number is None else _of_logarithms(number)
    if logarithms is None or not _drifts(logarithms) or abs(logarithms[-1] - logarithms[0]) < DRIFT:
        return None
    return exp(logarithms[0]), exp(logarithms[-1])


def _two_sided(freedom: float, t: float) -> float:
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


Sums = tuple[Replicated, Replicated | None]
"""The sum above the line and the one below of an object; no second one for a sum without work."""


def items_of(base: Mapping[Names, Sums], new: Mapping[Names, Sums], *, is_sum: bool) -> list[Item]:
    """The parts of each object of a change, the largest first; empty where a period has nothing below the line.

    Parameters
    ----------
    base, new
        The two sums of each object.
    is_sum
        As `parts_of` takes it.
    """
    names = list(dict.fromkeys((*base, *new)))
    has_work = all(sums[1] is not None for sums in (*base.values(), *new.values()))
    up_0, up_1 = (_table(each, names, 0) for each in (base, new))
    down_0, down_1 = (_table(each, names, 1) if has_work else None for each in (base, new))
    if any(down is not None and not down[0].sum() for down in (down_0, down_1)):
        return []

    def parts(first: int, second: int) -> tuple[Floats, ...]:
        below = None if down_0 is None or down_1 is None else (down_0[first], down_1[second])
        return parts_of((up_0[first], up_1[second]), below, is_sum=is_sum)

    whole = parts(0, 0)
    without = [parts(k, 0) for k in range(1, len(up_0))], [parts(0, k) for k in range(1, len(up_1))]

    def amount_of(number: int, places: Sequence[int]) -> Amount:
        first, second = (
            [_finite(float(sum(each[place][number] for place in places))) for each in values] for values in without
        )
        return amount(float(sum(whole[place][number] for place in places)), (first, second))

    results = []
    for number, name in enumerate(names):
        before, after = (_own(each.get(name), is_sum=is_sum) for each in (base, new))
        change = difference(before, after)
        results.append(
            Item(
                name,
                None if before is None else before.value,
                None if after is None else after.value,
                float(whole[0][number]),
                float(whole[1][number]),
                float(whole[2][number]),
                amount_of(number, (0, 1, 2)),
                tested(amount_of(number, (0, 1, 2) if is_sum else (2,)), change),
                change,
                is_new=not _is_there(base.get(name)) and _is_there(new.get(name)),
                is_gone=_is_there(base.get(name)) and not _is_there(new.get(name)),
            )
        )
    return sorted(results, key=lambda item: -abs(item.all.value))


def tested(own: Amount, change: Amount | None) -> Amount:
    """The part of an object, with the p of its own change: neither is zero without the other."""
    return own if change is None or change.p is None or own.p is None else replace(own, p=change.p)


def _is_there(sums: Sums | None) -> bool:
    return sums is not None and bool((sums[0] if sums[1] is None else sums[1]).value)


def _own(sums: Sums | None, *, is_sum: bool) -> Replicated | None:
    """The number of the object itself."""
    if sums is None:
        return None
    above, below = sums
    if is_sum or below is None:
        return above
    without, alone = (
        tuple(_over(*pair) for pair in zip(first, second, strict=True))
        for first, second in ((above.without, below.without), (above.alone, below.alone))
    )
    return Replicated(_over(above.value, below.value), without, alone)


def _over(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _table(sums: Mapping[Names, Sums], names: Sequence[Names], place: int) -> list[Floats]:
    """A sum of each object: over the period, then without each group."""
    groups = max((len(each[0].without) for each in sums.values()), default=0)
    rows = []
    for group in range(-1, groups):
        values = []
        for name in names:
            number = sums[name][place] if name in sums else None
            if number is None:
                values.append(0.0)
            else:
                value = number.value if group < 0 else (number.without[group] if number.without else None)
                values.append(value or 0.0)
        rows.append(np.array(values, np.float64))
    return rows


def log_ratio(before: float | None, after: float | None) -> float:
    """Logarithm of NEW over BASE; a large number where one of them is zero, 0 where one is not known."""
    if before is None or after is None or before == after:
        return 0.0
    if before <= 0 or after <= 0:
        return 10.0 if after > before else -10.0
    return max(-10.0, min(10.0, log(after / before)))
