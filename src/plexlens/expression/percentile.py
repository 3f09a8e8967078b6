"""Percentiles of values that were counted within bounds: ``percentile(95 %, n, longest, 1 ms, a, 2 ms, b)``.

Such counts add up over time and over whatever was counted, as percentiles do not. A percentile is the smallest value
that the share of all values does not exceed. It lies between the first bound within which that share was counted and
the bound before it. There it is where a value of its rank is expected among values that are drawn evenly on a
logarithmic scale: of three, at a quarter, a half and three quarters of the way. If the largest of all values is one of
them, it is the last, and the others are expected below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from plexlens.expression.error import wrong
from plexlens.expression.ordered import ordered
from plexlens.expression.rounding import rounded_up
from plexlens.expression.tree import FUNCTIONS, Expression, Number

#: A count may fall short of the share by this part: counts of several observers are scaled, and come out rounded.
_ROUNDING = 1e-9


def check_percentile(arguments: Sequence[Expression]) -> None:
    """Check the share, the bounds, and the number of arguments of a call.

    Raises
    ------
    ExpressionError
        The share is not a number between 0 and 1; bounds are not numbers that rise from above 0; a count is missing.
    """
    share, _, _, *pairs = arguments
    if not isinstance(share, Number) or not 0 < share.in_base < 1:
        raise wrong("the share is not a number between 0 % and 100 %", FUNCTIONS["percentile"], share.at)
    if len(pairs) % 2:
        raise wrong("the last bound has no count", FUNCTIONS["percentile"], pairs[-1].at)
    last = 0.0
    for bound in pairs[::2]:
        if not isinstance(bound, Number) or not last < bound.in_base < math.inf:
            raise wrong("a bound is not a number above the one before it", FUNCTIONS["percentile"], bound.at)
        last = bound.in_base


def wanted_part(share: float) -> float:
    """The part of all values that has to be counted within a bound."""
    return share * (1 - _ROUNDING)


def widest_step(bounds: Sequence[float]) -> float:
    """The largest ratio of a bound to the one before it, by which no percentile is farther off."""
    return max(high / low for low, high in pairwise(bounds))


def share_and_bounds(arguments: Sequence[Expression]) -> tuple[float, list[float]]:
    """The share and the bounds of a call.

    Raises
    ------
    ExpressionError
        As `check_percentile`.
    """
    check_percentile(arguments)
    share, *bounds = (each.in_base for each in (arguments[0], *arguments[3::2]) if isinstance(each, Number))
    return share, bounds


def percentile(share: float, whole: Any, largest: Any, *pairs: Any) -> float | None:
    """The percentile; None where nothing was counted, or where it lies above the last bound.

    Parameters
    ----------
    share
        Share of all values, between 0 and 1.
    whole
        Count of all values.
    largest
        The largest of them, or more; None if unknown.
    pairs
        Each bound, and the count of values that do not exceed it.
    """
    if whole is None or not ordered(whole) > ordered(0.0):
        return None
    least = whole * wanted_part(share)
    bounds, counts = pairs[::2], pairs[1::2]
    for number, within in enumerate(counts):
        if within is None or not ordered(within) >= ordered(least):
            continue
        if not number:
            return float(bounds[0] if largest is None else min(bounds[0], largest, key=ordered))
        low, high = bounds[number - 1 : number + 1]
        # An unknown count hides no value that the next one tells: it is taken as none.
        before = counts[number - 1] or 0.0
        # A rank is whole, unless counts are scaled.
        rank, between = min(rounded_up(least), within) - before, within - before
        if largest is None or ordered(largest) > ordered(high):
            return float(low * (high / low) ** (rank / (between + 1)))
        # A largest value that does not belong to the counts can be below the bound before.
        return float(min(low * (max(low, largest) / low) ** (rank / between), largest))
    return None
