"""Tests of levels against generalised least squares with the whole covariance matrix, and on planted changes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from plexlens.changes.levels import BIAS, CARRIED, FEWEST_DAYS, SPREAD, Calendar, Component, Kind, levels

Values = NDArray[np.float64]


def _noise(seed: int, days: int, carried: float) -> Values:
    generator = np.random.default_rng(seed)
    result = np.empty(days)
    result[0] = generator.normal()
    for day in range(1, days):
        result[day] = carried * result[day - 1] + np.sqrt(1 - carried**2) * generator.normal()
    return result


def _chance(daily: Values, places: Values, carried: float, vector: Values) -> float:
    """Two-sided probability of a vector beside weekdays, by the covariance matrix."""
    covariance = carried ** np.abs(places[:, None] - places[None, :])
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    weekdays = (places[:, None] % 7 == np.arange(7)[None, :]).astype(float)
    design = root @ np.column_stack([weekdays, vector])
    sizes, *_ = np.linalg.lstsq(design, root @ daily, rcond=None)
    rest = root @ daily - design @ sizes
    free = len(daily) - 8
    error = np.sqrt(rest @ rest / free * np.linalg.inv(design.T @ design)[-1, -1])
    return float(2 * stats.t.sf(abs(sizes[-1]) / error, free * (1 - carried) / (1 + carried)))


@pytest.mark.parametrize("index", [0, 6, 14])
def test_candidates_are_those_of_generalised_least_squares(index: int) -> None:
    # Days 20 and 21 are missing, so that the day after them is three days from the one before.
    places = np.array([day for day in range(42) if day not in (20, 21)])
    daily = _noise(3, 42, 0.4)[places]
    carried = float(CARRIED[index])
    count = len(places)
    days = np.arange(count)
    starts = range(FEWEST_DAYS, count - FEWEST_DAYS + 1)
    steps = {(start, count): _chance(daily, places, carried, (days >= start) * 1.0) for start in starts}
    pairs = {
        (start, end): _chance(daily, places, carried, ((days >= start) & (days < end)) * 1.0)
        for start in starts for end in starts if end - start >= FEWEST_DAYS
    }  # fmt: skip
    trend = _chance(daily, places, carried, places * 1.0)
    found = {one.kind: one for one in Calendar(tuple(places.tolist()), 0).candidates(daily, index)}
    for kind, oracle in ((Kind.SHIFT, steps), (Kind.TEMPORARY, pairs)):
        best = min(oracle, key=oracle.__getitem__)
        assert (found[kind].start, found[kind].end) == best
        assert found[kind].p == pytest.approx(min(1.0, len(oracle) * oracle[best]), rel=1e-6)
    assert found[Kind.TREND].p == pytest.approx(trend, rel=1e-6)


def test_the_bound_of_what_is_carried_over() -> None:
    # Alternating days carry a negative share: nothing is carried over, and the bound is that of the spread alone.
    days = 84
    daily = np.tile([1.0, -1.0], days // 2) + 0.01 * _noise(1, days, 0.0)
    assert Calendar(tuple(range(days)), 0).carried(daily) == 0
    # Noise of which 0.5 is carried over: the bound lies above it, by about bias and spread.
    places = [Calendar(tuple(range(days)), 0).carried(_noise(seed, days, 0.5)) for seed in range(20)]
    mean = float(np.mean(CARRIED[places]))
    assert 0.5 < mean < 0.5 + 2 * (BIAS * 1.5 + SPREAD * np.sqrt(0.75 * days)) / days


def test_a_step_a_temporary_shift_and_a_trend_are_told_apart() -> None:
    days = 84
    calendar = Calendar(tuple(range(days)), 0)
    noise = _noise(7, days, 0.2)
    at = np.arange(days)
    (step,) = levels(noise + 6.0 * (at >= 50), calendar, 1e-4).changes
    assert (step.kind, step.start, step.end) == (Kind.SHIFT, 50, days)
    (bump,) = levels(noise - 8.0 * ((at >= 30) & (at < 38)), calendar, 1e-4).changes
    assert (bump.kind, bump.start, bump.end) == (Kind.TEMPORARY, 30, 38)
    (trend,) = levels(noise + 0.1 * at, calendar, 1e-4).changes
    assert trend.kind is Kind.TREND
    both = levels(noise + 6.0 * (at >= 50) - 9.0 * (at >= 20), calendar, 1e-4).changes
    assert sorted((one.kind, one.start) for one in both) == [(Kind.SHIFT, 20), (Kind.SHIFT, 50)]


def test_nothing_is_told_of_noise() -> None:
    calendar = Calendar(tuple(range(84)), 0)
    chances = [levels(_noise(seed, 84, 0.5), calendar, 0.0).p for seed in range(60)]
    # A test of 5 % is right in more than 9 of 60 once in 1,000 times (binomial).
    assert sum(p is not None and p < 0.05 for p in chances) <= 9


def test_a_level_that_wanders_is_not_tested() -> None:
    calendar = Calendar(tuple(range(84)), 0)
    walks = [levels(np.cumsum(_noise(seed, 84, 0.0)), calendar, 0.01) for seed in range(20)]
    untested = [walk for walk in walks if walk.p is None]
    assert len(untested) >= 5
    assert all(not walk.changes for walk in untested)


def test_a_known_change_takes_the_days_beside_it() -> None:
    # Day 10 has half of the step that begins on day 11: it is no second change.
    vectors = Calendar(tuple(range(28)), 0).vectors(Component(Kind.SHIFT, 11, 28, 0.0))
    assert [np.flatnonzero(vector).tolist() for vector in vectors] == [list(range(11, 28)), [10], [11]]
