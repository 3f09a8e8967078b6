"""The steady part of a load test: where the warm-up ends, and whether the rest stays as it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Slices of equal length that a test is cut into: enough to place the end of the warm-up within half a per cent.
SLICES = 200
#: Requests that a slice holds on average, at least; fewer give no useful mean.
FEWEST = 5
#: Batches of each half whose means are compared.
BATCHES = 10
#: Standard errors by which halves that differ by chance alone do so in about one test of 500 (18 degrees of freedom).
APART = 3.6


@dataclass(frozen=True)
class Drift:
    """A number in the first and the second half of the steady part; `errors` is their distance in standard errors."""

    what: str
    first: float
    second: float
    errors: float

    @property
    def is_steady(self) -> bool:
        """Whether chance explains the difference."""
        return abs(self.errors) < APART


def slices(seconds: Floats, length: float) -> int:
    """Number of slices for requests that began at these seconds of a test."""
    return max(1, min(SLICES, int(len(seconds) / FEWEST), int(length * 10) or 1))


def warm_up(values: Floats, least: float = 0.0) -> int:
    """Slices to leave out at the begin: the truncation point of MSER (White, 1997).

    It is the number d up to half of all for which the squared standard error of the mean of the rest,
    ``sum((y - mean)^2 + least^2) / (n - d)^2``, is least. A minimum at the very limit means that no steady part was
    found.

    Parameters
    ----------
    values
        Shape (n,): a mean for each slice, NaN where it holds no request.
    least
        Deviation of a slice that means nothing. Without it a test at a constant rate, whose slices hold a request more
        or less, would lose all slices up to the last with one more.
    """
    known = np.where(np.isnan(values), np.nanmean(values) if not np.isnan(values).all() else 0.0, values)
    count = len(known)
    if count < 4:
        return 0
    # Equal values may differ by rounding, which must not count as a deviation.
    least = max(least, 1e-9 * float(np.abs(known).max()))
    known = known - known.mean()
    # Sums of the values from each place to the end.
    sums, squares = np.cumsum(known[::-1])[::-1], np.cumsum((known**2)[::-1])[::-1]
    left = np.arange(count, 0, -1)
    errors = (squares - sums**2 / left + left * least**2) / left**2
    return int(np.argmin(errors[: count // 2 + 1]))


def means(seconds: Floats, values: Floats, begin: float, end: float, count: int) -> Floats:
    """Mean of the values in each of `count` slices of equal length; NaN for a slice without any."""
    place = np.clip(((seconds - begin) / (end - begin) * count).astype(int), 0, count - 1)
    number = np.bincount(place, minlength=count)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(place, values, count) / number


def rates(seconds: Floats, begin: float, end: float, count: int) -> Floats:
    """Requests per second in each of `count` slices of equal length."""
    place = np.clip(((seconds - begin) / (end - begin) * count).astype(int), 0, count - 1)
    return np.bincount(place, minlength=count) / ((end - begin) / count)


def drift(what: str, slice_values: Floats, least: float = 0.0) -> Drift | None:
    """Comparison of the two halves by means of batches; None for fewer than four slices per half.

    Parameters
    ----------
    what
        The number that is compared.
    slice_values
        Shape (n,): a mean or a rate for each slice, NaN where it holds no request.
    least
        Deviation that means nothing, over the slices of a batch together: a constant rate is a request more or less.
    """
    known = slice_values[~np.isnan(slice_values)]
    half = len(known) // 2
    if half < 4:
        return None
    batches = min(BATCHES, half)
    halves = [
        np.array([part.mean() for part in np.array_split(side, batches)]) for side in (known[:half], known[-half:])
    ]
    first, second = (float(side.mean()) for side in halves)
    of_batch = least * batches / half
    error = math.sqrt(sum((float(side.var(ddof=1)) + of_batch**2) / batches for side in halves))
    distance = 0.0 if first == second else math.inf if error == 0 else (second - first) / error
    return Drift(what, first, second, distance)
