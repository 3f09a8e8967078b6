"""Five-minute samples of capacity used, their four-hour average, and its mean over each hour of the clock.

WLM keeps the MSU rate of the last 48 periods of five minutes; their mean is the four-hour rolling average, which starts
from zero at IPL (z/OS MVS Planning: Workload Management, Defining a capacity limit). SMF intervals of any length are
divided into the five-minute periods that they cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Seconds of a period, and periods of four hours.
PERIOD = 300
WINDOW = 48

#: Periods of an hour.
OF_HOUR = 3600 // PERIOD

Series: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Span:
    """Capacity used over an interval.

    Attributes
    ----------
    start, end
        Seconds of the epoch.
    msu
        Mean rate over the interval, MSU.
    """

    start: float
    end: float
    msu: float


@dataclass(frozen=True)
class Samples:
    """Rates of five-minute periods.

    Attributes
    ----------
    msu
        Rate over each period, MSU; time without data counts as zero.
    covered
        Share of each period that has data, 0 to 1.
    """

    msu: Series
    covered: Series


def samples(spans: Iterable[Span], first: int, periods: int) -> Samples:
    """Intervals as rates by five minutes.

    A period that an interval covers in part gets that part of the rate. Where intervals overlap (two systems told of
    the same partition), their mean counts.

    Parameters
    ----------
    spans
        Intervals.
    first
        Start of the first period, seconds of the epoch.
    periods
        Number of periods.
    """
    used, covered = np.zeros(periods), np.zeros(periods)
    for span in spans:
        start, end = (span.start - first) / PERIOD, (span.end - first) / PERIOD
        for place in range(max(0, int(start)), min(periods, int(np.ceil(end)))):
            part = min(end, place + 1.0) - max(start, float(place))
            if part > 0:
                used[place] += part * span.msu
                covered[place] += part
    known = np.minimum(covered, 1.0)
    return Samples(np.divide(used * known, covered, out=np.zeros(periods), where=covered > 0), known)


def begins(periods: int, ipls: Iterable[int]) -> NDArray[np.int64]:
    """First period of the average that ends with each period: 47 periods before it, or the last IPL.

    Parameters
    ----------
    periods
        Number of periods.
    ipls
        Periods in which the system was loaded; what it used before counts as zero.
    """
    result = np.arange(periods) - (WINDOW - 1)
    for ipl in ipls:
        if 0 <= ipl < periods:
            result[ipl:] = np.maximum(result[ipl:], ipl)
    return np.maximum(result, 0)


def rolling(values: Series, start: NDArray[np.int64]) -> Series:
    """Mean over four hours up to the end of each period; the periods before ``start`` count as zero."""
    total = np.concatenate(([0.0], np.cumsum(values)))
    result: Series = (total[1:] - total[start]) / WINDOW
    return result


def known_share(covered: Series, start: NDArray[np.int64]) -> Series:
    """Share of each four hours of which the use is known: covered by data, or before an IPL.

    Parameters
    ----------
    covered
        As `Samples` has it.
    start
        As `begins` gives it. At the beginning of the data the time before it is not known.
    """
    total = np.concatenate(([0.0], np.cumsum(covered)))
    places = np.arange(len(covered))
    whole = np.maximum(places - (WINDOW - 1), 0)
    zero_by_ipl = start - whole
    result: Series = (total[1:] - total[start] + zero_by_ipl) / WINDOW
    return result


@dataclass(frozen=True)
class Hour:
    """An hour of the clock.

    Attributes
    ----------
    start
        Seconds of the epoch.
    offset
        Seconds by which the clock is ahead of UTC in it.
    periods
        Its periods, as a range of their places.
    """

    start: int
    offset: int
    periods: range


def hours(first: int, offsets: Sequence[int]) -> tuple[Hour, ...]:
    """The hours of a clock that periods fall into.

    When the clock is put back, the hour that occurs twice is two hours; when it is put forward, the hour that does not
    occur does not exist. Neither is a gap.

    Parameters
    ----------
    first
        Start of the first period, seconds of the epoch.
    offsets
        Seconds by which the clock is ahead of UTC in each period.
    """
    results: list[Hour] = []
    begin = 0
    for place in range(1, len(offsets) + 1):
        if place < len(offsets) and _clock_hour(first, place, offsets) == _clock_hour(first, begin, offsets):
            continue
        results.append(Hour(first + begin * PERIOD, offsets[begin], range(begin, place)))
        begin = place
    return tuple(results)


def _clock_hour(first: int, place: int, offsets: Sequence[int]) -> tuple[int, int]:
    return (first + place * PERIOD + offsets[place]) // 3600, offsets[place]


def of_hours(values: Series, covered: Series, listed: Sequence[Hour]) -> Series:
    """Mean over each hour of the periods that have data; not a number in an hour without data."""
    result = np.full(len(listed), np.nan)
    for place, hour in enumerate(listed):
        part = slice(hour.periods.start, hour.periods.stop)
        weight = covered[part].sum()
        if weight > 0:
            result[place] = float((values[part] * covered[part]).sum() / weight)
    return result


def weights(hour: Hour, covered: Series, start: NDArray[np.int64]) -> Series:
    """Weight of the rate of each period in the mean of an hour; the sum of rate x weight is that mean.

    Each period counts as often as it lies in the four hours up to one of the periods of the hour.
    """
    result = np.zeros(len(covered))
    known = covered[hour.periods.start : hour.periods.stop].sum()
    for place in hour.periods:
        if covered[place] > 0:
            result[start[place] : place + 1] += covered[place] / known / WINDOW
    return result
