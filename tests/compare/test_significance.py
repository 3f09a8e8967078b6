"""Confidence intervals: a textbook case, SciPy's Welch test as a twin, coverage on series whose truth is known."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from plexlens.compare.runs.run import Estimate
from plexlens.compare.runs.significance import (
    FEWEST_INTERVALS,
    MOST_GROUPS,
    group_lengths,
    interval_of,
    of_repeats,
    without_each,
)

NUMBERS = st.lists(st.floats(1.0, 1000.0), min_size=4, max_size=12)


def means_without(values: list[float], lengths: list[int]) -> list[float]:
    """The mean without each group, the slow way."""
    found, at = [], 0
    for length in lengths:
        rest = values[:at] + values[at + length :]
        found.append(sum(rest) / len(rest))
        at += length
    return found


def test_repeats_by_hand() -> None:
    """1, 2, 3: mean 2, variance 1, standard error sqrt(1/3); 4, 6: mean 5, variance 2, error 1.

    Welch: variances of the means 1/3 and 1, freedom (4/3)² / ((1/3)²/2 + 1²/1) = 1.7778 / 1.0556 = 1.6842.
    """
    first, second = of_repeats([1.0, 2.0, 3.0]), of_repeats([4.0, 6.0])
    assert first[1] is not None and second[1] is not None
    assert (first[0], second[0]) == (2.0, 5.0)
    assert first[1].error == pytest.approx(math.sqrt(1 / 3))
    assert second[1].error == pytest.approx(1.0)
    found = interval_of(2.0, 5.0, first[1], second[1])
    assert found.freedom == pytest.approx(16 / 9 / (1 / 18 + 1), rel=1e-12)
    half = stats.t.ppf(0.975, found.freedom) * math.sqrt(4 / 3)
    assert (found.low, found.high) == (pytest.approx(3 - half), pytest.approx(3 + half))


def test_a_single_run_has_no_spread() -> None:
    assert of_repeats([4.0]) == (4.0, None)


@given(NUMBERS, NUMBERS)
def test_groups_of_one_are_welch(first: list[float], second: list[float]) -> None:
    """Leaving out single intervals of a mean gives SciPy's interval of two samples with unequal variances."""
    assume(max(first) - min(first) > 1e-3 and max(second) - min(second) > 1e-3)
    spreads = []
    for values in (first, second):
        without = means_without(values, [1] * len(values))
        spread = without_each(sum(values) / len(values), without, len(values))
        assert spread is not None
        spreads.append(spread)
    base, new = sum(first) / len(first), sum(second) / len(second)
    found = interval_of(base, new, *spreads)
    twin = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    assert found.low == pytest.approx(twin.low, rel=1e-6, abs=1e-6)
    assert found.high == pytest.approx(twin.high, rel=1e-6, abs=1e-6)


@given(NUMBERS, NUMBERS, st.floats(0.01, 100))
def test_interval_scales_and_turns_round(first: list[float], second: list[float], factor: float) -> None:
    assume(max(first) - min(first) > 1e-3 and max(second) - min(second) > 1e-3)
    (base, one), (new, other) = of_repeats(first), of_repeats(second)
    assert one is not None and other is not None
    found = interval_of(base, new, one, other)
    larger = interval_of(
        base * factor, new * factor,
        Estimate(one.error * factor, one.freedom, one.count, one.groups),
        Estimate(other.error * factor, other.freedom, other.count, other.groups),
    )  # fmt: skip
    assert larger.low == pytest.approx(found.low * factor, rel=1e-9, abs=1e-9)
    assert larger.ratio_low == pytest.approx(found.ratio_low, rel=1e-9)
    back = interval_of(new, base, other, one)
    assert (back.low, back.high) == (pytest.approx(-found.high), pytest.approx(-found.low))
    assert found.ratio_high is not None and back.ratio_low is not None
    assert back.ratio_low == pytest.approx(1 / found.ratio_high, rel=1e-9)


@given(st.integers(0, 5000))
def test_groups_cover_all_intervals(count: int) -> None:
    lengths = group_lengths(count)
    if count < FEWEST_INTERVALS:
        assert lengths == []
    else:
        assert sum(lengths) == count
        assert 3 <= len(lengths) <= MOST_GROUPS
        assert max(lengths) - min(lengths) <= 1


def test_undefined_values_leave_no_spread() -> None:
    assert without_each(1.0, [1.0, None, 1.0, 1.0], 4) is None
    assert without_each(None, [1.0] * 4, 4) is None
    assert without_each(1.0, [1.0, 1.0], 4) is None


def coverage(count: int, memory: float, runs: int = 400) -> float:
    """How often the interval holds the true difference of two series, each value remembering part of the last."""
    rng = random.Random(7)
    lengths = group_lengths(count)
    held = 0
    for _ in range(runs):
        spreads, means = [], []
        for level in (100.0, 103.0):
            state = rng.gauss(0, 1 / math.sqrt(1 - memory**2))
            values = []
            for _ in range(count):
                state = memory * state + rng.gauss(0, 1)
                values.append(level + state)
            mean = sum(values) / count
            spread = without_each(mean, means_without(values, lengths), count)
            assert spread is not None
            means.append(mean)
            spreads.append(spread)
        found = interval_of(*means, *spreads)
        held += found.low <= 3.0 <= found.high
    return held / runs


def test_independent_intervals_are_covered_as_stated() -> None:
    assert 0.92 <= coverage(48, 0.0) <= 0.98


def test_intervals_that_resemble_each_other_are_nearly_covered() -> None:
    """Groups of three do not take out all of a memory of one half."""
    assert 0.85 <= coverage(48, 0.5) <= 0.97


def test_resemblance_of_groups_is_told() -> None:
    rising = [float(value) for value in range(27)]
    lengths = group_lengths(27)
    spread = without_each(sum(rising) / 27, means_without(rising, lengths), 27)
    assert spread is not None and spread.resemblance is not None and spread.resemblance > 0.5
