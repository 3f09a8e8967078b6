"""The scalability law: points made from known terms, another minimiser, limits, and where nothing can be said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from plexlens.compare.numbers.line import interval_at
from plexlens.compare.numbers.scalability import PARAMETERS, fit_scalability, terms_for
from tests.draws import draws

#: ITR (H) of one, two, three and six processors, table 31 of the VM/ESA report.
ITR = ([1, 2, 3, 6], [44.73, 87.53, 123.64, 236.35])


def usl(n: float, one: float, serial: float, coherency: float) -> float:
    return one * n / (1 + serial * (n - 1) + coherency * n * (n - 1))


@settings(max_examples=draws(40), deadline=None)
@given(st.floats(1e-3, 1e6), st.floats(0.001, 0.3), st.floats(1e-4, 0.02))
def test_terms_that_made_the_points_come_back(one: float, serial: float, coherency: float) -> None:
    processors = [1, 2, 4, 8, 16, 32]
    law = fit_scalability(processors, [usl(n, one, serial, coherency) for n in processors])
    assert law.one == pytest.approx(one, rel=1e-6)
    assert law.serial == pytest.approx(serial, abs=1e-6)
    assert law.coherency == pytest.approx(coherency, abs=1e-6)
    assert max(map(abs, law.residuals)) < 1e-6


@settings(max_examples=draws(30), deadline=None)
@given(st.floats(1e-3, 1e3))
def test_unit_of_throughput_changes_nothing_but_throughput(factor: float) -> None:
    law = fit_scalability(*ITR)
    scaled = fit_scalability(ITR[0], [factor * one for one in ITR[1]])
    assert scaled.one == pytest.approx(factor * law.one, rel=1e-6)
    assert scaled.serial == pytest.approx(law.serial, abs=1e-7)
    assert scaled.residuals == pytest.approx(law.residuals, abs=1e-7)
    assert scaled.interval(12) == pytest.approx(tuple(factor * one for one in law.interval(12) or ()), rel=1e-5)


def test_three_points_against_another_minimiser() -> None:
    """Nelder and Mead know nothing of gradients or bounds; the serial term is above zero anyway."""

    def cost(values: np.ndarray) -> float:
        return sum(
            math.log(measured / usl(n, values[0], values[1], 0)) ** 2
            for n, measured in zip(ITR[0][:3], ITR[1][:3], strict=True)
        )

    found = optimize.minimize(cost, [44.0, 0.05], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-16})
    law = fit_scalability(ITR[0][:3], ITR[1][:3])
    assert law.terms == ("one", "serial")
    assert (law.one, law.serial) == pytest.approx(tuple(found.x), rel=1e-5)
    assert law.at(6) == pytest.approx(usl(6, found.x[0], found.x[1], 0), rel=1e-5)


def test_interval_by_hand_where_only_the_size_is_fitted() -> None:
    """Points a little better than proportional hold both terms at zero, which leaves the mean of a logarithm."""
    noise = [-0.02, -0.01, 0.01, 0.02]
    processors = [1, 2, 3, 4]
    law = fit_scalability(processors, [n * math.exp(one) for n, one in zip(processors, noise, strict=True)])
    assert law.at_bound == ("serial", "coherency")
    freedom = len(noise) - 3
    variance = sum((one - sum(noise) / 4) ** 2 for one in noise) / freedom
    # Student's t of one degree of freedom at 97.5 %.
    width = 12.706204736 * math.sqrt(variance * (1 + 1 / 4))
    low, high = law.interval(8) or (0.0, 0.0)
    assert math.log(high / low) / 2 == pytest.approx(width, rel=1e-6)


def test_interval_holds_nearly_as_many_as_it_says() -> None:
    """Of four hundred further points of made-up lines about 95 % lie inside."""
    random = np.random.default_rng(7)
    inside = 0
    processors = [1, 2, 3, 4, 6, 8]
    for _ in range(400):
        points = [usl(n, 50, 0.05, 0.002) * math.exp(random.normal(0, 0.01)) for n in processors]
        low, high = fit_scalability(processors, points).interval(12) or (0.0, 0.0)
        inside += low <= usl(12, 50, 0.05, 0.002) * math.exp(random.normal(0, 0.01)) <= high
    assert 0.90 <= inside / 400 <= 0.99


def test_terms_follow_from_the_number_of_points_alone() -> None:
    assert terms_for(3) == ("one", "serial")
    assert terms_for(4) == PARAMETERS


def test_no_interval_where_nothing_is_left_to_estimate_it_from() -> None:
    assert fit_scalability([1, 2], [10, 19]).interval(4) is None
    assert fit_scalability(ITR[0][:3], ITR[1][:3], PARAMETERS).interval(6) is None


def test_superlinear_points_hold_terms_at_zero_and_say_so() -> None:
    law = fit_scalability([1, 2, 3, 4], [10, 21, 33, 46])
    assert law.serial == law.coherency == 0
    assert law.at_bound == ("serial", "coherency")
    assert law.peak is None and law.ceiling is None


def test_peak_and_ceiling_are_those_of_the_law() -> None:
    processors = [1, 2, 4, 8, 16]
    law = fit_scalability(processors, [usl(n, 10, 0.02, 0.003) for n in processors])
    assert law.peak == pytest.approx(math.sqrt(0.98 / 0.003), rel=1e-4)
    assert law.at(law.peak or 0) > max(law.at((law.peak or 0) * 0.9), law.at((law.peak or 0) * 1.1))
    amdahl = fit_scalability([1, 2, 3], [usl(n, 10, 0.1, 0) for n in (1, 2, 3)])
    assert amdahl.ceiling == pytest.approx(100, rel=1e-4)


@pytest.mark.parametrize(
    ("processors", "throughput", "told"),
    [
        ([1, 2], [1], "for 1"),
        ([1, 2, 3], [1, 0, 2], "above zero"),
        ([1, 1, 1], [1, 2, 3], "cannot fit"),
        ([1, 2, math.nan], [1, 2, 3], "above zero"),
    ],
)
def test_what_cannot_be_fitted_is_refused(processors: list[float], throughput: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        fit_scalability(processors, throughput)


def test_interval_of_a_line_by_hand() -> None:
    """Points (1, 1), (2, 3), (3, 4): slope 1.5, residuals -1/6, 1/3, -1/6, so a variance of 1/6 with one freedom."""
    low, high = interval_at([1, 2, 3], [1, 3, 4], 5, 0.95) or (0.0, 0.0)
    middle = 8 / 3 + 1.5 * (5 - 2)
    width = 12.706204736 * math.sqrt(1 / 6 * (1 + 1 / 3 + 9 / 2))
    assert (low, high) == pytest.approx((middle - width, middle + width))
    assert interval_at([1, 2], [1, 3], 5, 0.95) is None
    assert interval_at([1, 1, 1], [1, 3, 4], 5, 0.95) is None
