"""Open arrivals against theory: gaps, counts, and the profile's area."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from plexlens.driver import Arrivals
from plexlens.driver.think_time import stream

#: From 10 to 50 per second in 100 s, a step to 20, and down to nothing.
PROFILE = ((0.0, 10.0), (100.0, 50.0), (100.0, 20.0), (200.0, 20.0), (300.0, 0.0))


def area(second: float) -> float:
    """Requests up to a second, by hand: 10 t + 0.2 t^2, then 3000 + 20 t, then 5000 + 20 t - 0.1 t^2."""
    if second <= 100:
        return 10 * second + 0.2 * second**2
    if second <= 200:
        return 3000 + 20 * (second - 100)
    rest = second - 200
    return 5000 + 20 * rest - 0.1 * rest**2


def test_expected_numbers_by_hand() -> None:
    arrivals = Arrivals(PROFILE)
    assert arrivals.expected() == 6000.0
    assert arrivals.expected(50, 150) == pytest.approx(area(150) - area(50))


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_poisson_arrivals_are_exponential_in_the_profiles_own_time(seed: int) -> None:
    """Gaps measured by the area under the profile are exponential with mean 1, and not correlated."""
    times = list(Arrivals(PROFILE).times(stream(seed)))
    assert times == sorted(times)
    gaps = np.diff([area(time) for time in times])
    assert stats.kstest(gaps, stats.expon.cdf).pvalue > 0.001
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 4 / math.sqrt(len(gaps))


def test_counts_are_poisson() -> None:
    """Counts of 10 s in 40 seeds: the index of dispersion of a Poisson distribution is 1 (chi-square)."""
    edges = np.arange(0, 301, 10.0)
    means = np.diff([area(edge) for edge in edges])
    counts = np.array([np.histogram(list(Arrivals(PROFILE).times(stream(seed))), edges)[0] for seed in range(40)])
    statistic = float(((counts - means) ** 2 / means).sum())
    assert 0.001 < stats.chi2(counts.size).cdf(statistic) < 0.999
    assert counts.sum() == pytest.approx(40 * 6000, abs=4 * math.sqrt(40 * 6000))


def test_even_arrivals_bring_the_profile_request_by_request() -> None:
    times = list(Arrivals(PROFILE, is_poisson=False).times(stream(1)))
    assert [area(time) for time in times] == pytest.approx(list(range(1, len(times) + 1)))
    assert len(times) in (5999, 6000)
    assert list(Arrivals(((0.0, 4.0), (1.0, 4.0)), is_poisson=False).times(stream(1))) == [0.25, 0.5, 0.75, 1.0]


def test_a_rate_that_begins_at_nothing() -> None:
    # 2 t per second brings t^2: the k-th request at the root of k.
    times = list(Arrivals(((0.0, 0.0), (3.0, 6.0)), is_poisson=False).times(stream(1)))
    assert times == pytest.approx([math.sqrt(k) for k in range(1, 10)])
    assert list(Arrivals(((0.0, 0.0), (5.0, 0.0), (5.0, 2.0), (6.0, 2.0)), is_poisson=False).times(stream(1))) == [
        5.5,
        6.0,
    ]
