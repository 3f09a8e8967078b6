"""Two models of a daily series, a back-test of both, and the interval that its errors give.

*Last week*: the value of the same weekday of the latest week (seasonal naive). *Weekday and trend*: the median of each
weekday over the last weeks on a line; the slope of the line is the median slope of all pairs of days that are whole
weeks apart (Hirsch, Slack and Smith, Techniques of trend analysis for monthly water quality data, Water Resources
Research 18, 1982), and zero where their seasonal Kendall test does not reject it. Medians leave single odd days without
effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Days of a season.
WEEK = 7

#: Weeks of which the median of a weekday is taken.
WEEKDAY_WEEKS = 4

#: Most weeks that the slope is of: what grew two years ago says little of next month.
SLOPE_WEEKS = 26

#: Probability below which a slope is taken for one.
SIGNIFICANT = 0.05

#: Fewest days before the first day that is held out, and fewest weeks held out.
FEWEST_BEFORE = 2 * WEEK
FEWEST_HELD_OUT = 2

#: Most weeks held out.
MOST_HELD_OUT = 8

#: Share of the values that an interval is to hold.
COVERAGE = 0.8

#: Share of the error of last week's value that weekday and trend has to stay below to be used.
BETTER = 0.95

Values: TypeAlias = NDArray[np.float64]
Model: TypeAlias = Callable[[Values, int], Values]


def last_week(values: Values, days: int) -> Values:
    """Seasonal naive forecast: the latest known value of the same weekday.

    Parameters
    ----------
    values
        A value a day; not a number on days without a value.
    days
        Days to forecast.
    """
    result = np.full(days, np.nan)
    for ahead in range(days):
        place = len(values) - WEEK + ahead % WEEK
        while place >= 0 and math.isnan(values[place]):
            place -= WEEK
        if place >= 0:
            result[ahead] = values[place]
    return result


def slope(values: Values) -> float:
    """Change per day: median over all pairs of days that are whole weeks apart; zero if chance explains it.

    The test adds up, over the weekdays, the rises less the falls of all pairs, whose variance without a trend is
    n (n - 1) (2 n + 5) / 18 for n values (seasonal Kendall test, normal approximation, corrected by 1).
    """
    recent = values[-SLOPE_WEEKS * WEEK :]
    slopes: list[Values] = []
    balance, variance = 0.0, 0.0
    for weekday in range(WEEK):
        places = np.arange(weekday, len(recent), WEEK)
        places = places[~np.isnan(recent[places])]
        count = len(places)
        if count < 2:
            continue
        first, second = np.triu_indices(count, 1)
        rise = recent[places[second]] - recent[places[first]]
        slopes.append(rise / (places[second] - places[first]))
        balance += float(np.sign(rise).sum())
        variance += count * (count - 1) * (2 * count + 5) / 18
    if not variance:
        return 0.0
    score = max(0.0, abs(balance) - 1.0) / math.sqrt(variance)
    chance = math.erfc(score / math.sqrt(2))
    return float(np.median(np.concatenate(slopes))) if chance < SIGNIFICANT else 0.0


def weekday_and_trend(values: Values, days: int) -> Values:
    """Forecast by the median of each weekday over the last weeks, on a line.

    Parameters
    ----------
    values, days
        As `last_week` takes them.
    """
    rate = slope(values)
    level = values - rate * np.arange(len(values))
    recent = level[-WEEKDAY_WEEKS * WEEK :]
    result = np.full(days, np.nan)
    for ahead in range(min(days, WEEK)):
        # Places of the weekday, counted from the end.
        same = recent[::-1][WEEK - 1 - ahead :: WEEK]
        same = same[~np.isnan(same)]
        if len(same):
            result[ahead::WEEK] = np.median(same)
    forecast_days = len(values) + np.arange(days, dtype=np.float64)
    line: Values = result + rate * forecast_days
    return line


MODELS: dict[str, Model] = {"weekday and trend": weekday_and_trend, "last week": last_week}


@dataclass(frozen=True)
class BackTest:
    """Errors of a model on held-out weeks.

    Attributes
    ----------
    error
        Mean absolute error of the days of the first week ahead.
    by_week
        Absolute errors by weeks ahead, from the first.
    days
        Held-out days of the first week ahead.
    """

    error: float
    by_week: tuple[Values, ...]
    days: int


@dataclass(frozen=True)
class Forecast:
    """A forecast of a daily series.

    Attributes
    ----------
    model
        The model that is used, a key of `MODELS`.
    values, low, high
        Value and interval for each day ahead; the interval is not a number where no back-test was possible.
    tests
        Back-test of each model; empty where there are too few days.
    weeks
        Weeks held out.
    """

    model: str
    values: Values
    low: Values
    high: Values
    tests: dict[str, BackTest]
    weeks: int

    @property
    def is_better(self) -> bool:
        """Whether weekday and trend did better than last week's value."""
        return self.model != "last week"


def held_out_weeks(days: int) -> int:
    """Number of weeks held out of a number of days: at most half of them; 0 if there are too few."""
    weeks = min(MOST_HELD_OUT, days // WEEK // 2, (days - FEWEST_BEFORE) // WEEK)
    return weeks if weeks >= FEWEST_HELD_OUT else 0


def back_test(values: Values, model: Model, weeks: int, ahead: int) -> BackTest:
    """Forecast each of the last weeks, and those after it, from the days before them.

    Parameters
    ----------
    values
        The series.
    model
        A model.
    weeks
        Weeks held out.
    ahead
        Weeks ahead to test, at most.
    """
    errors: list[list[float]] = [[] for _ in range(ahead)]
    for week in range(weeks, 0, -1):
        origin = len(values) - week * WEEK
        days = min(week, ahead) * WEEK
        missed = np.abs(model(values[:origin], days) - values[origin : origin + days])
        for place, error in enumerate(missed.tolist()):
            if not math.isnan(error):
                errors[place // WEEK].append(error)
    by_week = tuple(np.array(of_week) for of_week in errors)
    first = by_week[0]
    return BackTest(float(first.mean()) if len(first) else math.nan, by_week, len(first))


def half_width(test: BackTest, week: int) -> float:
    """Half width of the interval of a week ahead, from 0: a quantile of the errors of that week ahead in the back-test.

    Of n errors the one of rank ceil((n + 1) x coverage) (split conformal prediction: Vovk, Gammerman and Shafer,
    Algorithmic Learning in a Random World, 2005). Where fewer than two weeks tested it, the width of the farthest week
    with two is widened by the square root of the distance in time. It never falls with distance.
    """
    widest = 0.0
    known = 0
    for place, errors in enumerate(test.by_week[: week + 1]):
        if len(errors) < 2 * WEEK - 4 and place:
            break
        rank = min(len(errors), math.ceil((len(errors) + 1) * COVERAGE))
        if rank:
            widest = max(widest, float(np.sort(errors)[rank - 1]))
            known = place + 1
    return widest * math.sqrt((week + 1) / known) if known else math.nan


def forecast(values: Values, days: int) -> Forecast:
    """Forecast a daily series.

    Parameters
    ----------
    values
        A value per day, oldest first; not a number on days without a value.
    days
        Days to forecast.
    """
    ahead = math.ceil(days / WEEK)
    weeks = held_out_weeks(len(values))
    tests = {name: back_test(values, model, weeks, ahead) for name, model in MODELS.items()} if weeks else {}
    chosen = "last week"
    if tests and tests["weekday and trend"].error < BETTER * tests["last week"].error:
        chosen = "weekday and trend"
    result = MODELS[chosen](values, days)
    widths = np.array([half_width(tests[chosen], place // WEEK) if tests else math.nan for place in range(days)])
    return Forecast(chosen, result, np.maximum(result - widths, 0.0), result + widths, tests, weeks)
