"""Weekly profiles by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plexlens.changes.profile import (
    local_level,
    median_known,
    on_days,
    scaled,
    spread,
    unscaled,
    weekly_profile,
)


def test_medians_of_what_is_known() -> None:
    values = np.array([[3.0, 1.0, math.nan, 2.0], [4.0, math.nan, math.nan, 1.0], [math.nan] * 4])
    assert median_known(values)[:2].tolist() == [2.0, 2.5]
    assert math.isnan(median_known(values)[2])


def test_the_profile_is_the_median_of_each_slot_of_the_week() -> None:
    # Five weeks from a Wednesday (2) of two slots a day; the first slot of day d is d, the second the weekday.
    days = np.arange(35)
    values = np.column_stack([days, (days + 2) % 7]).astype(float)
    values[7, 1] = 1000.0
    values[0, 0] = math.nan
    profile = weekly_profile(values, 2)
    # Wednesdays are days 0, 7, 14, 21, 28: without day 0 the median is 17.5. Mondays are days 5, 12, ..., 33.
    assert profile[2].tolist() == [17.5, 2.0]
    assert profile[0].tolist() == [19.0, 0.0]
    assert on_days(profile, 2, 3).tolist() == [profile[2].tolist(), profile[3].tolist(), profile[4].tolist()]


def test_of_two_weeks_workdays_are_alike() -> None:
    # From a Monday: workdays are 1 to 10, weekends 100.
    values = np.array([[1.0], [2], [3], [4], [5], [100], [100], [6], [7], [8], [9], [10], [100], [102]])
    assert weekly_profile(values, 0)[:, 0].tolist() == [5.5] * 5 + [100.0] * 2


def test_a_level_follows_a_step_and_no_single_day() -> None:
    daily = np.array([1.0] * 10 + [5.0] * 10)
    daily[4] = 99.0
    # Day 10 has days 7 to 13 around it: three of 1, four of 5.
    assert local_level(daily).tolist() == [1.0] * 10 + [5.0] * 10


def test_the_scale_and_back() -> None:
    values = np.array([[0.0, 10.0], [20.0, math.nan]])
    on_scale, is_log = scaled(values)
    # The mean is 10: log(0 + 0.05), log(1.05), log(2.05).
    assert is_log
    assert on_scale.ravel()[:3] == pytest.approx(np.log([0.05, 1.05, 2.05]))
    assert unscaled(on_scale, values, is_log=True).ravel()[:3] == pytest.approx([0.0, 10.0, 20.0])
    negative, is_log = scaled(np.array([[-5.0, 5.0]]))
    assert not is_log
    assert negative.tolist() == [[-1.0, 1.0]]


def test_the_spread_is_that_of_the_hour() -> None:
    # A week from Monday, one slot an hour: residuals of 1, of hour 8 on workdays 3, of hour 3 nothing.
    residuals = np.ones((7, 24))
    residuals[:5, 8] = -3.0
    residuals[:, 3] = 0.0
    found = spread(residuals, 0) / 1.4826
    assert found[0, 8] == pytest.approx(3.0)
    assert found[6, 8] == pytest.approx(1.0)
    # No less than a fifth of the deviation of all.
    assert found[0, 3] == pytest.approx(0.2)
