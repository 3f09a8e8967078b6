"""Length of an interval that a report does not print, derived from counts and their rates; and contradicting numbers.

A count printed as 7270.9K and its rate printed as 2424.49 a second allow every length between the least count over the
greatest rate and the greatest count over the least rate. What all the pairs of a report allow at once is often known to
a tenth of a second. A pair outside of what most others allow contradicts them: one of its two numbers is misprinted.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from plexlens.ingest.printed.values import Printed

WIDEST = 0.01
"""A length known less well than this share of it is not given."""


class CountAndRate(NamedTuple):
    """A count, its rate per second, and the place of both in the report."""

    name: str
    """Name as printed."""
    line: int
    """Line of the file."""
    quantity: Printed
    rate: Printed
    """The count, and the same over the seconds of the interval."""

    def bounds(self) -> tuple[float, float] | None:
        """Range of seconds consistent with the pair; None if the count is zero or a value is missing."""
        quantity, rate = self.quantity, self.rate
        if not quantity.number or quantity.low is None or quantity.high is None or rate.low is None or not rate.high:
            return None
        return quantity.low / rate.high, quantity.high / rate.low if rate.low > 0 else math.inf


class Elapsed(NamedTuple):
    """Interval length derived from pairs of count and rate."""

    low: float
    high: float
    """Seconds that the pairs allow."""
    agreeing: int
    """How many pairs allow them."""
    contradicting: tuple[CountAndRate, ...]
    """The others."""

    @property
    def seconds(self) -> float | None:
        """The middle of the range; None if the range is too wide to be useful."""
        middle = (self.low + self.high) / 2
        return middle if self.high - self.low <= WIDEST * middle else None


def elapsed(pairs: Iterable[CountAndRate]) -> Elapsed | None:
    """The length consistent with most pairs; None if no pair bounds it, or at most half of the bounding pairs agree."""
    bounded = [(pair, bounds) for pair in pairs if (bounds := pair.bounds()) is not None]
    lows, highs = sorted(low for _, (low, _) in bounded), sorted(high for _, (_, high) in bounded)
    meeting, begin = 0, 0.0
    for low in lows:
        # The most pairs meet where one of them begins: those that began by then less those that ended before.
        count = bisect_right(lows, low) - bisect_left(highs, low)
        if count > meeting:
            meeting, begin = count, low
    if not meeting or meeting * 2 <= len(bounded):
        return None
    inside = [bounds for _, bounds in bounded if bounds[0] <= begin <= bounds[1]]
    high = min(high for _, high in inside)
    if math.isinf(high):
        return None
    outside = tuple(pair for pair, (low, end) in bounded if not low <= begin <= end)
    return Elapsed(max(low for low, _ in inside), high, meeting, outside)
