"""The end of a warm-up, and drift, against slow and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.load.steady import APART, drift, means, rates, warm_up


def slow_warm_up(values: list[float], noise: float = 0.0) -> int:
    """The rule as White states it, each truncation point on its own; each slice has at least the variance of noise."""
    count = len(values)
    best, least = 0, float("inf")
    for left_out in range(count // 2 + 1):
        rest = values[left_out:]
        mean = sum(rest) / len(rest)
        error = sum((value - mean) ** 2 + noise**2 for value in rest) / len(rest) ** 2
        if error < least - 1e-9 * abs(least if least != float("inf") else 0):
            best, least = left_out, error
    return best


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), min_size=4, max_size=60), st.sampled_from((0.0, 1.0, 2.5)))
def test_warm_up_is_that_of_the_slow_rule(values: list[int], noise: float) -> None:
    fast = warm_up(np.array(values, float), noise)
    slow = slow_warm_up([float(value) for value in values], noise)
    if fast != slow:
        # Two points may be equally good up to rounding.
        def error(left_out: int) -> float:
            rest = values[left_out:]
            mean = sum(rest) / len(rest)
            return sum((value - mean) ** 2 + noise**2 for value in rest) / len(rest) ** 2

        assert error(fast) == pytest.approx(error(slow), abs=1e-9)


def test_a_ramp_is_left_out() -> None:
    """Twenty slices rise from 0 to 100, then eighty are 100 with noise of 1."""
    rng = np.random.default_rng(5)
    values = np.concatenate([np.arange(20) * 5.0, 100 + rng.normal(0, 1, 80)])
    assert 18 <= warm_up(values) <= 24


def test_slices_hold_means_and_rates() -> None:
    seconds = np.array([0.0, 0.5, 1.5, 3.5])
    assert rates(seconds, 0.0, 4.0, 4).tolist() == [2.0, 1.0, 0.0, 1.0]
    held = means(seconds, np.array([1.0, 3.0, 5.0, 7.0]), 0.0, 4.0, 4)
    assert held[[0, 1, 3]].tolist() == [2.0, 5.0, 7.0]
    assert np.isnan(held[2])


def test_drift_of_a_step_is_told_and_chance_is_not() -> None:
    rng = np.random.default_rng(11)
    stepped = np.concatenate([10 + rng.normal(0, 1, 100), 12 + rng.normal(0, 1, 100)])
    found = drift("Response", stepped)
    assert found is not None
    assert not found.is_steady
    assert (found.first, found.second) == (pytest.approx(10, abs=0.4), pytest.approx(12, abs=0.4))
    # 500 tests without a step: the bound lets about one in 500 pass by chance; more than 8 would be a wrong bound.
    false = 0
    for _ in range(500):
        chance = drift("Response", 10 + rng.normal(0, 1, 200))
        false += chance is not None and abs(chance.errors) >= APART
    assert false <= 8


def test_too_few_slices_have_no_drift() -> None:
    assert drift("Rate", np.array([1.0, 2.0, 3.0, np.nan, 4.0])) is None
    constant = drift("Rate", np.full(40, 3.0))
    assert constant is not None
    assert constant.is_steady
