"""Percentiles of a metric over the intervals of its grain.

The values are those of single intervals: a ratio is formed in each interval, and the percentile is taken of the ratios.
Each value counts by the length of its interval. The percentile is the smallest value such that intervals with this
value or less make up at least the share of the time (the inverse of the weighted distribution function), so it is
always a value that was measured, and nothing is interpolated. Intervals without a value do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

#: The percentiles that reports show: the median and the 95th.
SHARES = (0.5, 0.95)

#: With fewer intervals than this, no percentile is shown: the 95th would be the largest value itself.
LEAST_INTERVALS = 20

#: Shares of a sum of interval lengths may be off by rounding.
_ROUNDING = 1e-12


def percentiles(values: Iterable[tuple[float | None, float]], shares: Sequence[float] = SHARES) -> tuple[float, ...]:
    """Percentiles of values over time.

    Parameters
    ----------
    values
        The value of each interval, or null, and the length of the interval.
    shares
        Percentiles to compute, as fractions.

    Returns
    -------
    tuple of float
        A value for each share; nothing with fewer than `LEAST_INTERVALS` values.

    Examples
    --------
    >>> percentiles([(float(value), 900.0) for value in range(1, 21)])
    (10.0, 19.0)
    """
    known = sorted((value, length) for value, length in values if value is not None and isfinite(value) and length > 0)
    if len(known) < LEAST_INTERVALS:
        return ()
    whole = sum(length for _, length in known)
    results = []
    for share in shares:
        reached = 0.0
        for value, length in known:
            reached += length
            if reached >= share * whole * (1 - _ROUNDING):
                results.append(value)
                break
    return tuple(results)
