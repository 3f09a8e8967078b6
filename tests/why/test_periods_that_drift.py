"""Whether two numbers differ beyond chance, also where a period drifts; against scipy, and by trials of noise alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import linregress, ttest_ind

from plexlens.why.decomposition import difference, difference_of_means, drift_of
from plexlens.why.links import ALPHA
from plexlens.why.measured import Replicated


def of_groups(values: Sequence[float]) -> Replicated:
    """A mean over groups of equal length, without each and of each alone."""
    count, total = len(values), float(sum(values))
    return Replicated(total / count, tuple((total - each) / (count - 1) for each in values), tuple(values))


def p_of(first: Sequence[float], second: Sequence[float]) -> float:
    moved = difference(of_groups(first), of_groups(second))
    assert moved is not None
    assert moved.p is not None
    return moved.p


STEADY = (0.057, 0.060, 0.058, 0.064, 0.066, 0.063)

#: A response that grows through all of a period, as measured in groups of half an hour.
GROWING = (18.0, 31.0, 48.0, 66.0, 82.0, 91.0)


def test_without_a_drift_it_is_twice_the_smaller_of_two_tests_of_welch() -> None:
    first, second = (1.0, 1.2, 0.9, 1.1, 1.3, 0.8), (1.4, 1.2, 1.5, 1.6, 1.1, 1.5)
    tests = [
        ttest_ind(*pair, equal_var=False).pvalue
        for pair in ((first, second), (np.log(first).tolist(), np.log(second).tolist()))
    ]
    assert p_of(first, second) == pytest.approx(2 * min(tests))


def test_a_response_that_grows_through_all_of_a_period_has_changed() -> None:
    # Welch's t alone sees a mean of 56 with a spread of 29.
    assert ttest_ind(STEADY, GROWING, equal_var=False).pvalue > 0.001
    assert p_of(STEADY, GROWING) < 1e-6


def test_a_spread_around_a_line_by_hand() -> None:
    # 1 to 6 with 0.1 above and below in turn: the line is beyond chance, and leaves a spread of its own.
    line = [1.1, 1.9, 3.1, 3.9, 5.1, 5.9]
    flat = [9.0, 9.2, 9.0, 9.2, 9.0, 9.2]
    fitted = linregress(range(6), line)
    beside = sum((value - fitted.intercept - fitted.slope * place) ** 2 for place, value in enumerate(line)) / 4
    variances = (beside / 6, float(np.var(flat, ddof=1)) / 6)
    freedom = sum(variances) ** 2 / (variances[0] ** 2 / 4 + variances[1] ** 2 / 5)
    from scipy.stats import t

    expected = 2 * t.sf((np.mean(flat) - np.mean(line)) / sum(variances) ** 0.5, freedom)
    assert difference_of_means(line, flat) == pytest.approx(expected)


def test_numbers_that_are_not_positive_have_no_logarithms() -> None:
    first, second = (0.0, 1.0, 0.5, 1.0), (3.0, 3.5, 3.0, 4.0)
    assert p_of(first, second) == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue)


def test_the_same_number_in_another_order_of_sums_has_not_changed() -> None:
    moved = difference(of_groups([0.5] * 6), of_groups([0.5 + 1e-15] * 6))
    assert moved is not None
    assert moved.p == 1.0


@pytest.mark.parametrize("carried", [0.0, 0.3])
@pytest.mark.parametrize("spread", [0.02, 0.5])
def test_noise_alone_is_seldom_a_change(spread: float, carried: float) -> None:
    # 2,000 pairs of periods of six groups. Noise that is carried over makes groups alike, which the test does not know.
    generator = np.random.default_rng(7)
    false = 0
    for _ in range(2000):
        noise = generator.normal(0, spread, (2, 7))
        for place in range(1, 7):
            noise[:, place] += carried * noise[:, place - 1]
        false += p_of(*np.exp(noise[:, 1:]).tolist()) <= ALPHA
    assert false / 2000 <= (ALPHA if not carried else 4 * ALPHA)


def test_a_drift_is_shown_where_it_is_large() -> None:
    first, last = drift_of(of_groups((10.0, 11.0, 12.1, 13.2, 14.6, 16.1))) or (0.0, 0.0)
    assert (first, last) == pytest.approx((10.0, 16.1))
    assert drift_of(of_groups(STEADY)) is None
    # Along a line, but by 5 %.
    assert drift_of(of_groups((10.0, 10.1, 10.2, 10.3, 10.4, 10.5))) is None
