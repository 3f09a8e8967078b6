"""Forecasts of daily series: by hand, and what must hold of any series."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plexlens.forecast.daily import (
    BackTest,
    back_test,
    forecast,
    half_width,
    held_out_weeks,
    last_week,
    slope,
    weekday_and_trend,
)

WEEKDAYS = [50.0, 52.0, 51.0, 53.0, 54.0, 20.0, 15.0]


def test_last_week_by_hand() -> None:
    values = np.array([1.0, 2, 3, 4, 5, 6, 7, 11, 12, math.nan, 14, 15, 16, 17])
    # The third weekday of the last week is missing, so that of the week before counts.
    assert last_week(values, 10).tolist() == [11, 12, 3, 14, 15, 16, 17, 11, 12, 3]


def test_the_slope_of_a_line_with_weekdays() -> None:
    # Weekdays cancel in pairs that are whole weeks apart: the slope is exactly 0.5 a day.
    values = np.array(WEEKDAYS * 6) + 0.5 * np.arange(42)
    assert slope(values) == pytest.approx(0.5)
    # A day of an outage or of a record does not move the median.
    values[20] = 0.0
    assert slope(values) == pytest.approx(0.5)


def test_no_slope_is_found_in_weeks_that_repeat_or_in_two_weeks() -> None:
    assert slope(np.array(WEEKDAYS * 6)) == 0.0
    # Two values a weekday: S = 7 of a variance of 7 x 2 x 1 x 9 / 18 = 7; z = 6 / 2.646 = 2.27, chance 2.3 %: a slope.
    assert slope(np.array(WEEKDAYS * 2) + 0.5 * np.arange(14)) == pytest.approx(0.5)
    # Four rises and three falls: S = 1, z = 0.
    second = np.array(WEEKDAYS) + np.array([1, 1, 1, 1, -1, -1, -1])
    assert slope(np.concatenate([WEEKDAYS, second])) == 0.0


def test_weekday_and_trend_by_hand() -> None:
    values = np.array(WEEKDAYS * 8) + 0.5 * np.arange(56)
    expected = np.array(WEEKDAYS * 2) + 0.5 * np.arange(56, 70)
    assert weekday_and_trend(values, 14) == pytest.approx(expected)
    # The median of four: a Tuesday that was 200 once changes nothing.
    values[50] = 200.0
    assert weekday_and_trend(values, 7) == pytest.approx(expected[:7])


def test_weeks_held_out_leave_two_weeks_and_half_of_the_data() -> None:
    assert [held_out_weeks(days) for days in (7, 21, 27, 28, 56, 200, 400)] == [0, 0, 0, 2, 4, 8, 8]


def test_a_back_test_forecasts_from_the_days_before_it() -> None:
    # Values rise by 1 each week: last week's value is 1 short one week ahead, and 2 short two weeks ahead.
    values = np.repeat(np.arange(8.0), 7)
    test = back_test(values, last_week, 3, 2)
    assert test.error == pytest.approx(1.0)
    assert test.days == 21
    assert test.by_week[0].tolist() == [1.0] * 21
    assert test.by_week[1].tolist() == [2.0] * 14


def test_the_future_is_not_seen() -> None:
    generator = np.random.default_rng(5)
    values = generator.uniform(10, 90, 70)
    before = back_test(values, weekday_and_trend, 4, 1).by_week[0][:7]
    changed = values.copy()
    # Held-out weeks are days 42 to 69; those after the first one change nothing in its errors.
    changed[49:] = 1000.0
    assert back_test(changed, weekday_and_trend, 4, 1).by_week[0][:7] == pytest.approx(before)


def test_the_interval_is_a_quantile_of_the_errors_and_widens() -> None:
    # 14 errors of 1 to 14: rank ceil(15 x 0.8) = 12. A second week with 10 errors is enough, a third with 7 is not.
    test = BackTest(0.0, (np.arange(1.0, 15.0), np.arange(11.0, 21.0), np.arange(7.0)), 14)
    assert half_width(test, 0) == 12.0
    assert half_width(test, 1) == 19.0
    assert half_width(test, 2) == pytest.approx(19.0 * math.sqrt(3 / 2))


def test_a_line_is_better_than_last_week_and_a_random_walk_is_not() -> None:
    line = np.array(WEEKDAYS * 12) + 0.5 * np.arange(84)
    made = forecast(line, 28)
    assert (made.model, made.is_better, made.weeks) == ("weekday and trend", True, 6)
    assert made.tests["last week"].error == pytest.approx(3.5)
    assert made.values == pytest.approx(np.array(WEEKDAYS * 4) + 0.5 * np.arange(84, 112))
    same = forecast(np.array(WEEKDAYS * 12), 7)
    assert (same.model, same.is_better) == ("last week", False)
    assert same.values.tolist() == WEEKDAYS


def test_too_few_weeks_give_last_week_without_an_interval() -> None:
    made = forecast(np.array(WEEKDAYS * 3), 7)
    assert (made.model, made.weeks, made.tests) == ("last week", 0, {})
    assert np.isnan(made.low).all()
    assert made.values.tolist() == WEEKDAYS


def test_days_without_values_are_no_errors() -> None:
    values = np.array(WEEKDAYS * 8) + np.tile([0.0, 1.0], 28)
    values[[3, 30, 31, 52]] = np.nan
    made = forecast(values, 14)
    assert not np.isnan(made.values).any()
    assert all(not np.isnan(errors).any() for test in made.tests.values() for errors in test.by_week)
