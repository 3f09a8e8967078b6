"""Percentiles of a metric over the intervals of its grain.

The values are those of single intervals: a ratio is formed in each interval, and the percentile is taken of the ratios.
Each value counts by the length of its interval. The percentile is the smallest value such that intervals with this
value or less make up at least the share of the time (the inverse of the weighted distribution function), so it is
always a value that was measured, and nothing is interpolated. Intervals without a value do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: The percentiles that reports show: the median and the 95th.
SHARES = (0.5, 0.95)

#: With fewer intervals than this, no percentile is shown: the 95th would be the largest value itself.
LEAST_INTERVALS = 20

#: Shares of a sum of interval lengths may be off by rounding.
_ROUNDING = 1e-12


def percentiles(
    values: Sequence[float | None] | NDArray[np.float64],
    lengths: Sequence[float] | NDArray[np.float64],
    shares: Sequence[float] = SHARES,
) -> tuple[float, ...]:
    """Percentiles of values over time.

    Parameters
    ----------
    values
        The value of each interval; none, or NaN, where it has none.
    lengths
        Length of each interval.
    shares
        Percentiles to compute, as fractions.

    Returns
    -------
    tuple of float
        A value for each share; nothing with fewer than `LEAST_INTERVALS` values.

    Examples
    --------
    >>> percentiles([float(value) for value in range(1, 21)], [900.0] * 20)
    (10.0, 19.0)
    """
    numbers, weights = np.asarray(values, np.float64), np.asarray(lengths, np.float64)
    known = np.isfinite(numbers) & (weights > 0)
    if np.count_nonzero(known) < LEAST_INTERVALS:
        return ()
    order = np.argsort(numbers[known], kind="stable")
    ranked, reached = numbers[known][order], np.cumsum(weights[known][order])
    places = np.searchsorted(reached, [share * reached[-1] * (1 - _ROUNDING) for share in shares])
    return tuple(ranked[places].tolist())
