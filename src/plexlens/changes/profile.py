"""Weekly profile of a series: medians, on which changes, trends and odd hours have no effect.

Values stand on a grid of the local clock, a row per day and a column per slot of a day (a quarter of an hour, half an
hour or an hour), not a number where nothing was measured.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plexlens.forecast.daily import WEEK, Values

#: Places of days or of slots.
Places: TypeAlias = NDArray[np.intp]

#: Fewest weeks of which a profile has seven days of its own; of fewer weeks it has a workday and a weekend.
FEWEST_WEEKS = 4

#: What is added before the logarithm is taken, as a share of the mean: a small change near zero stays small.
STARTED = 0.05

#: Days of the local median that a level is.
LEVEL_DAYS = 7

#: Ratio of the standard deviation to the median of absolute deviations, of normal noise.
TO_DEVIATION = 1.4826

#: Days that begin a weekend, from Monday as 0.
_SATURDAY = 5


def median_known(values: Values) -> Values:
    """Median along the last axis of the values that are known; not a number where none is."""
    if not np.isnan(values).any():
        count = values.shape[-1]
        half = count // 2
        # One place at a time: numpy orders for one with the vector unit, for the two of `median` without.
        parted = np.partition(values, half, axis=-1)
        middle = parted[..., half]
        return np.asarray(middle if count % 2 else (parted[..., :half].max(axis=-1) + middle) / 2)
    # Values that are not a number come last.
    ordered = np.sort(values, axis=-1)
    known = np.isfinite(ordered).sum(axis=-1)
    low, high = np.maximum(known - 1, 0) // 2, np.minimum(known // 2, values.shape[-1] - 1)
    result = (np.take_along_axis(ordered, low[..., None], -1) + np.take_along_axis(ordered, high[..., None], -1)) / 2
    return np.asarray(np.where(known > 0, result[..., 0], np.nan))


def scaled(values: Values) -> tuple[Values, bool]:
    """Values on the scale on which noise is of the same size at low and at high load.

    The logarithm of the value and a twentieth of the mean; where any value is below zero, shares of the mean of the
    absolute values.

    Returns
    -------
    Values, bool
        The values, and whether they are logarithms.
    """
    known = values[np.isfinite(values)]
    mean = float(np.abs(known).mean()) if len(known) else 0.0
    if not mean:
        return values, False
    if known.min() < 0:
        return values / mean, False
    return np.log(values / mean + STARTED), True


def weekly_profile(values: Values, weekday: int) -> Values:
    """Median of each slot of the week.

    Parameters
    ----------
    values
        A row per day.
    weekday
        Weekday of the first day, Monday is 0.

    Returns
    -------
    Values
        Seven days from Monday. Where there are fewer than `FEWEST_WEEKS` weeks, workdays are alike, and Saturday and
        Sunday are. A slot that no week has is not a number.
    """
    days, slots = values.shape
    if days >= FEWEST_WEEKS * WEEK:
        weeks = -(-(weekday + days) // WEEK)
        padded = np.full((weeks * WEEK, slots), np.nan)
        padded[weekday : weekday + days] = values
        by_slot = np.ascontiguousarray(padded.reshape(weeks, WEEK * slots).T)
        return median_known(by_slot).reshape(WEEK, slots)
    kind = (np.arange(weekday, weekday + days) % WEEK) >= _SATURDAY
    result = np.full((WEEK, slots), np.nan)
    for is_weekend, rows in ((False, slice(0, _SATURDAY)), (True, slice(_SATURDAY, WEEK))):
        result[rows] = median_known(values[kind == is_weekend].T)
    return result


def on_days(profile: Values, weekday: int, days: int) -> Values:
    """The profile for each of a number of days, the first of which is the weekday."""
    return profile[(weekday + np.arange(days)) % WEEK]


def local_level(daily: Values) -> Values:
    """Median of the days around each day: it follows changes and trends, and no single day."""
    half = LEVEL_DAYS // 2
    padded = np.concatenate([np.full(half, np.nan), daily, np.full(half, np.nan)])
    return median_known(np.lib.stride_tricks.sliding_window_view(padded, LEVEL_DAYS))


def spread(residuals: Values, weekday: int) -> Values:
    """Deviation of the residuals at each slot of workdays and of weekends, from the median of absolute residuals.

    An hour's slots count together. No deviation is below a fifth of that of all slots, so that a quiet hour makes no
    odd hour of a trifle.

    Returns
    -------
    Values
        A row per day, as the residuals; all zero where the residuals are.
    """
    days, slots = residuals.shape
    size = np.abs(residuals)
    hours = 24
    by_hour = size.reshape(days, hours, slots // hours)
    kind = ((weekday + np.arange(days)) % WEEK) >= _SATURDAY
    of_kind = np.zeros((2, hours))
    for place in (0, 1):
        rows = by_hour[kind == bool(place)]
        if len(rows):
            of_kind[place] = median_known(rows.transpose(1, 0, 2).reshape(hours, -1))
    known = size[np.isfinite(size)]
    overall = float(median_known(known)) if len(known) else 0.0
    if not overall and len(known):
        # More than half of the residuals are zero: the mean square is what is left.
        overall = float(np.sqrt((known**2).mean())) / TO_DEVIATION
    of_kind = np.maximum(np.nan_to_num(of_kind), overall / 5)
    return TO_DEVIATION * np.repeat(of_kind[kind.astype(int)], slots // hours, axis=1)


def unscaled(scaled_values: Values, values: Values, *, is_log: bool) -> Values:
    """Values in the unit of the series, of values on the scale of `scaled`.

    Parameters
    ----------
    scaled_values
        What to turn back.
    values
        The series that was scaled.
    is_log
        Whether it was turned to logarithms.
    """
    mean = float(np.abs(values[np.isfinite(values)]).mean())
    result: Values = np.maximum(np.exp(scaled_values) - STARTED, 0.0) * mean if is_log else scaled_values * mean
    return result
