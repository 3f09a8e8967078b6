"""Percentiles over intervals: by hand, and against a slow twin."""

from __future__ import annotations

import random

import pytest

from plexlens.metrics.percentile import LEAST_INTERVALS, percentiles
from tests.oracle.slow_selection import percentile


def test_equal_intervals_by_hand() -> None:
    """Of 1 to 20, ten make half of the time, and nineteen make 95 percent of it."""
    values = [(float(value), 900.0) for value in range(20, 0, -1)]
    assert percentiles(*zip(*values, strict=True)) == (10.0, 19.0)


def test_a_long_interval_counts_as_long_as_it_is() -> None:
    """19 intervals of a minute at 100, one of an hour at 1: the hour is 60 of 79 minutes, so the median is 1."""
    values = [(100.0, 60.0)] * 19 + [(1.0, 3600.0)]
    assert percentiles(*zip(*values, strict=True)) == (1.0, 100.0)


def test_intervals_without_a_value_do_not_count() -> None:
    values = [(float(value), 60.0) for value in range(1, 21)] + [(None, 1e9), (float("nan"), 1e9)]
    assert percentiles(*zip(*values, strict=True)) == (10.0, 19.0)


def test_too_few_intervals() -> None:
    assert percentiles([1.0] * (LEAST_INTERVALS - 1), [60.0] * (LEAST_INTERVALS - 1)) == ()
    assert percentiles([1.0] * LEAST_INTERVALS, [60.0] * LEAST_INTERVALS) == (1.0, 1.0)


@pytest.mark.parametrize("seed", range(200))
def test_against_a_slow_percentile(seed: int) -> None:
    dice = random.Random(seed)
    values = [
        (float(dice.randint(0, 30)), float(dice.choice([60, 300, 899, 900, 901, 3600])))
        for _ in range(dice.randint(LEAST_INTERVALS, 80))
    ]
    shares = (0.5, 0.95, 1.0, dice.random())
    numbers, lengths = zip(*values, strict=True)
    assert percentiles(numbers, lengths, shares) == tuple(percentile(values, share) for share in shares)
