"""Knee of a curve, and the smallest configuration that meets a goal.

The knee is found by the method of V. Satopää and others, "Finding a 'Kneedle' in a Haystack" (2011), without its
smoothing, for measured points are few: both axes are scaled to the range they cover, and the knee is the measured point
furthest from the straight line between the first and the last, on the side to which the curve bends. A quantity whose
largest value is more than ten times its smallest is scaled by its logarithm: on a linear scale one extreme run would
hide the bend between the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

#: Ratio of largest to smallest value above which a quantity is scaled by its logarithm.
LOGARITHMIC = 10.0

#: Ratio of largest to smallest value below which a curve is called flat: it has no knee.
FLAT = 2.0

#: Distance from the straight line, of the range covered, below which nothing is called a knee.
STRAIGHT = 0.1


@dataclass(frozen=True)
class Knee:
    """A knee.

    Attributes
    ----------
    place
        Index of the measured point.
    x, y
        The point.
    distance
        How far it lies off the straight line, as a share of the range of y.
    logarithmic
        Whether y was scaled by its logarithm.
    """

    place: int
    x: float
    y: float
    distance: float
    logarithmic: bool


def _scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) for value in values]


def find_knee(x: Sequence[float], y: Sequence[float], *, concave: bool = False) -> Knee | None:
    """The knee of a curve; None if the curve is flat, straight, or bends the other way.

    Parameters
    ----------
    x
        Load or size, rising.
    y
        What is measured there, such as response time: it rises ever steeper with load, or falls ever less with size.
    concave
        Whether it is the other way, as with throughput, which rises ever less.

    Raises
    ------
    ValueError
        Lengths differ, or x does not rise.
    """
    if len(x) != len(y):
        raise ValueError(f"{len(x)} x for {len(y)} y")
    if any(left >= right for left, right in pairwise(x)):
        raise ValueError("x has to rise")
    if len(x) < 3 or min(y) < 0 or max(y) < FLAT * min(y) or max(y) == 0:
        return None
    logarithmic = min(y) > 0 and max(y) > LOGARITHMIC * min(y)
    across, up = _scaled(x), _scaled([math.log(value) for value in y] if logarithmic else y)
    rise = up[-1] - up[0]
    side = -1 if concave else 1
    under = [side * (up[0] + rise * a - b) for a, b in zip(across, up, strict=True)]
    place = max(range(1, len(x) - 1), key=lambda at: under[at])
    if under[place] < STRAIGHT:
        return None
    return Knee(place, x[place], y[place], under[place], logarithmic)


@dataclass(frozen=True)
class GoalMet:
    """The smallest configuration that meets a goal.

    Attributes
    ----------
    place
        Index of the least measured size from which on every larger one meets the goal; None where the largest does not.
    fails
        Index of the largest measured size below that does not; None where all meet it.
    crossing
        Size at which the goal would be met by interpolation between the two, linear in x and in the logarithm of y;
        an estimate, not a measurement. None where either is missing.
    """

    place: int | None
    fails: int | None
    crossing: float | None


def least_that_meets(x: Sequence[float], y: Sequence[float], goal: float) -> GoalMet:
    """The smallest size from which on y is always at or below a goal.

    Parameters
    ----------
    x, y
        Size (rising) and what has to be at or below the goal; y and goal above zero.

    Raises
    ------
    ValueError
        x does not rise, or a y or the goal is not above zero.
    """
    if any(left >= right for left, right in pairwise(x)):
        raise ValueError("x has to rise")
    if goal <= 0 or any(value <= 0 for value in y):
        raise ValueError("goal and measured values have to be above zero")
    failing = [place for place, value in enumerate(y) if value > goal]
    if not failing:
        return GoalMet(0, None, None)
    fails = failing[-1]
    if fails == len(x) - 1:
        return GoalMet(None, fails, None)
    part = math.log(y[fails] / goal) / math.log(y[fails] / y[fails + 1])
    return GoalMet(fails + 1, fails, x[fails] + part * (x[fails + 1] - x[fails]))
