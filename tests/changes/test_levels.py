"""Tests of levels against generalised least squares with the whole covariance matrix, and on planted changes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from plexlens.changes.levels import (
    BIAS,
    CARRIED,
    FEWEST_DAYS,
    SHARES,
    SPREAD,
    TEMPERED,
    WANDERING,
    Calendar,
    Component,
    Kind,
    levels,
)

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


def test_a_share_that_is_not_known_counts_by_its_likelihood() -> None:
    # The same sum with the whole covariance matrix of each share: restricted likelihood and probability by textbook.
    places = np.array([day for day in range(42) if day not in (20, 21)])
    calendar = Calendar(tuple(places.tolist()), 0)
    daily = _noise(3, 42, 0.5)[places]
    component = Component(Kind.SHIFT, 15, len(places), 0.0)
    design = np.column_stack(
        [(places[:, None] % 7 == np.arange(7)[None, :]).astype(float), np.arange(len(places)) >= 15]
    )
    chances, likely = [], []
    for share in SHARES:
        inverse = np.linalg.inv(share ** np.abs(places[:, None] - places[None, :]).astype(float))
        products = design.T @ inverse @ design
        sizes = np.linalg.solve(products, design.T @ inverse @ daily)
        rest = daily - design @ sizes
        total, free = float(rest @ inverse @ rest), len(places) - 8
        error = np.sqrt(total / free * np.linalg.inv(products)[-1, -1])
        chances.append(2 * stats.t.sf(abs(sizes[-1]) / error, free))
        likely.append(np.linalg.slogdet(inverse)[1] / 2 - np.linalg.slogdet(products)[1] / 2 - free / 2 * np.log(total))
    weights = np.exp(TEMPERED * (np.array(likely) - max(likely)))
    widths = np.gradient(SHARES)
    widths[-3:] = WANDERING / 3
    expected = 5 * float(np.sum(weights * widths * chances) / np.sum(weights * widths))
    assert calendar.of_unknown_share(daily, component, (), 5.0) == pytest.approx(min(1.0, expected), rel=1e-6)


@pytest.mark.parametrize(("carried", "days"), [(0.6, 28), (0.8, 84), (1.0, 84)])
def test_noise_that_persists_is_told_no_more_often_than_stated(carried: float, days: int) -> None:
    calendar = Calendar(tuple(range(days)), 0)
    chances = []
    for seed in range(500):
        daily = (
            np.cumsum(np.random.default_rng(seed).normal(size=days)) if carried == 1 else _noise(seed, days, carried)
        )
        chances.append(levels(daily, calendar, 0.01).p or 1.0)
    # One in a thousand: of 500 at most 3, but with a probability of 1 %.
    assert sum(p < 0.001 for p in chances) <= (3 if carried < 1 else 16)
