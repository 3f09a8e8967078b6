"""Odd episodes: the chance by hand, its rate in exponential noise, and planted episodes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from plexlens.changes.odd import LIGHT, SHAPE, beyond, is_heavy, odd_days, odd_episodes, shape_of


def test_the_chance_by_hand() -> None:
    # Of 10 sizes the highest two may be odd. The eight others are 1 to 8: the first spacing is 1, with 9 sizes above
    # it, the last has 3 above it; the mean of 9, 8, 7, 6, 5, 4, 3 is 6, and 7 spacings of 6 are 42.
    sizes = np.array([1.0, 2, 3, 4, 5, 6, 7, 8, 12, 40])
    places, chances = beyond(sizes)
    assert places.tolist() == [9, 8]
    # Excess over 8: 32 and 4; two of them count, and 2 x (1 + 4 / 42)^-7 is more than 1.
    assert chances == pytest.approx([2 * (1 + 32 / 42) ** -7, 1.0])


def test_few_episodes_tell_nothing() -> None:
    assert len(beyond(np.arange(8.0))[0]) == 0
    # Most are equal, as counts of few events are.
    assert len(beyond(np.array([1.0] * 30 + [2.0, 3.0, 9.0]))[0]) == 0


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_exponential_noise_and_lighter_is_odd_as_often_as_stated(power: float) -> None:
    generator = np.random.default_rng(5)
    chances = np.array([beyond(generator.exponential(size=50) ** power)[1].min() for _ in range(2000)])
    # 10 % of 2,000 are 200, with a deviation of 13.
    assert (chances <= 0.1).sum() <= 240
    assert (chances <= 0.01).sum() <= 34


def test_hours_that_stand_out_are_odd() -> None:
    generator = np.random.default_rng(8)
    scores = generator.normal(size=8064)
    scores[5000:5008] += 9.0
    scores[3000] = np.nan
    p, episodes = odd_episodes(scores)
    assert p < 1e-4
    assert (episodes[0].start, episodes[0].end) == (5000, 5008)
    assert all(episode.p > 0.001 for episode in episodes[1:])


def test_long_noise_makes_no_odd_hours() -> None:
    generator = np.random.default_rng(9)
    smallest = []
    for _ in range(40):
        steps = generator.normal(size=4032)
        scores = np.empty(4032)
        scores[0] = 0.0
        for place in range(1, 4032):
            scores[place] = 0.95 * scores[place - 1] + np.sqrt(1 - 0.95**2) * steps[place]
        smallest.append(odd_episodes(scores)[0])
    # More than 7 of 40 at 5 % happen once in 400 times.
    assert sum(p < 0.05 for p in smallest) <= 7
    assert min(smallest) > 1e-4


def test_heavy_tails_by_closed_forms() -> None:
    """Distances at evenly spaced quantiles: what 1 % exceed over what 10 % exceed is 1.57, 2.0 and 2.48."""
    upper = (np.arange(20_000) + 0.5) / 20_000
    normal, exponential = stats.norm.ppf(1 - upper / 2), -np.log(upper)
    student = stats.t(3).ppf(1 - upper / 2)
    assert [is_heavy(distances, 12) for distances in (normal, exponential, student)] == [False, True, True]
    assert [is_heavy(distances, 4) for distances in (normal, exponential, student)] == [False, False, True]
    assert not is_heavy(np.full(10, np.nan), 12)


def test_some_odd_hours_make_no_heavy_tail() -> None:
    scores = np.random.default_rng(8).normal(size=8064)
    scores[5000:5012] += 9.0
    assert not is_heavy(scores, 12)


def test_an_odd_day() -> None:
    scores = np.random.default_rng(4).normal(size=84)
    scores[40] = -15.0
    p, days = odd_days(scores)
    assert p < 1e-4
    assert (days[0].start, days[0].end) == (40, 41)


def test_tails_of_a_known_shape_are_odd_as_often_as_stated() -> None:
    # Pareto tails of shape 0.2: taken for exponential they are odd too often, with their shape they are not.
    generator = np.random.default_rng(5)
    plain, shaped = [], []
    for _ in range(2_000):
        sizes = (generator.uniform(size=60) ** -0.2 - 1) / 0.2
        plain.append(beyond(sizes)[1].min())
        shaped.append(beyond(sizes, shape=0.2)[1].min())
    assert (np.array(plain) < 0.01).mean() > 0.02
    assert (np.array(shaped) < 0.01).mean() <= 0.012


def test_the_shape_by_closed_forms() -> None:
    chances = (np.arange(100_000) + 0.5) / 100_000
    normal, student = stats.norm.ppf(chances), stats.t.ppf(chances, 8)
    assert shape_of(normal, 12) == 0.0
    assert shape_of(student, 12) == pytest.approx(
        SHAPE * (stats.t.ppf(0.995, 8) / stats.t.ppf(0.95, 8) - LIGHT), abs=1e-3
    )
