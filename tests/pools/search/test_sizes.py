"""Sizes under a limit against every allocation there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.errors import UsageError
from plexlens.pools.search.sizes import CostCurve, best_sizes, knee, lower_hull
from tests.draws import draws


def curve(points: dict[int, float], page_bytes: int = 1) -> CostCurve:
    """A curve of these sizes and costs."""
    return CostCurve(np.array(sorted(points)), np.array([points[size] for size in sorted(points)]), page_bytes)


def cheapest(curves: list[CostCurve], budget: int, least: list[int]) -> float:
    """The slow way: all sizes of all pools."""
    choices = []
    for one, floor in zip(curves, least, strict=True):
        sizes = [floor, *(int(size) for size in one.sizes if size > floor)]
        choices.append([(size * one.page_bytes, float(one.at(size))) for size in sizes])
    return min(sum(cost for _, cost in chosen) for chosen in product(*choices) if sum(b for b, _ in chosen) <= budget)


@st.composite
def curves_and_budget(draw: st.DrawFn) -> tuple[list[CostCurve], int, list[int]]:
    """Up to three pools with any falling costs, and enough storage for the least sizes."""
    made = []
    for _ in range(draw(st.integers(1, 3))):
        sizes = draw(st.lists(st.integers(1, 40), min_size=1, max_size=7, unique=True))
        falls = draw(st.lists(st.integers(0, 50), min_size=len(sizes), max_size=len(sizes)))
        costs = np.cumsum(falls[::-1])[::-1].astype(float)
        made.append(CostCurve(np.array(sorted(sizes)), costs, draw(st.sampled_from([1, 2, 4]))))
    least = [draw(st.integers(0, 5)) for _ in made]
    floor = sum(size * one.page_bytes for one, size in zip(made, least, strict=True))
    return made, floor + draw(st.integers(0, 150)), least


@settings(max_examples=draws(300), deadline=None)
@given(curves_and_budget())
def test_against_all_allocations(made: tuple[list[CostCurve], int, list[int]]) -> None:
    curves, budget, least = made
    best = cheapest(curves, budget, least)
    floor = sum(size * one.page_bytes for one, size in zip(curves, least, strict=True))
    # A part for each byte above the least sizes: the dynamic programming is exact.
    found = best_sizes(curves, budget, least=least, units=max(budget - floor, 1))
    assert found.cost == pytest.approx(best)
    assert found.bound <= best + 1e-9
    assert found.spent == sum(size * one.page_bytes for one, size in zip(curves, found.sizes, strict=True)) <= budget
    assert all(size >= floor for size, floor in zip(found.sizes, least, strict=True))
    assert found.cost == pytest.approx(sum(float(one.at(size)) for one, size in zip(curves, found.sizes, strict=True)))


@settings(deadline=None)
@given(curves_and_budget())
def test_a_coarse_grid_is_within_its_stated_gap(made: tuple[list[CostCurve], int, list[int]]) -> None:
    curves, budget, least = made
    found = best_sizes(curves, budget, least=least, units=3)
    assert cheapest(curves, budget, least) >= found.cost * (1 - found.gap) - 1e-9


def test_a_ring_that_fits_only_whole_gets_all_or_nothing() -> None:
    """A set of 10 pages gone through again and again, beside a curve that falls evenly.

    With 10 buffers the ring takes all of them, 100 against 55 of the other; with 9 they are of no use to it.
    """
    ring = curve({0: 100.0, 10: 0.0})
    even = curve({size: 55.0 - 5.5 * size for size in range(11)})
    assert best_sizes([ring, even], 10, least=[0, 0]).sizes == (10, 0)
    assert best_sizes([ring, even], 9, least=[0, 0]).sizes == (0, 9)
    assert best_sizes([ring, even], 15, least=[0, 0]).sizes == (10, 5)


def test_storage_that_saves_nothing_is_not_spent() -> None:
    flat = curve({1: 10.0, 5: 4.0, 9: 4.0})
    found = best_sizes([flat], 100, least=[1])
    assert (found.sizes, found.spent, found.gap) == ((5,), 5, 0.0)
    assert (flat.least_size(9), flat.least_size(4), flat.least_size(3)) == (5, 1, 1)


def test_pages_of_several_sizes_share_the_budget_by_bytes() -> None:
    """Four bytes a page save 8 at once, one byte saves 3: of five bytes both, of four the large page."""
    large, small = curve({0: 8.0, 1: 0.0}, 4), curve({0: 3.0, 1: 0.0}, 1)
    assert best_sizes([large, small], 5, least=[0, 0]).sizes == (1, 1)
    assert best_sizes([large, small], 4, least=[0, 0]).sizes == (1, 0)
    assert best_sizes([large, small], 3, least=[0, 0]).sizes == (0, 1)


def test_a_budget_below_the_least_sizes_is_refused() -> None:
    with pytest.raises(UsageError, match="the budget of 5 bytes is below the minimum of 6"):
        best_sizes([curve({1: 1.0}, 2), curve({1: 1.0}, 1)], 5, least=[2, 2])


def test_hull_and_knee_by_hand() -> None:
    """The chord from (0, 10) to (10, 0): the point (2, 2) lies 6 below it, (5, 1) only 4."""
    x, y = np.array([0.0, 1, 2, 5, 10]), np.array([10.0, 9, 2, 1, 0])
    assert list(lower_hull(x, y)) == [0, 2, 3, 4]
    assert knee(x, y) == 2
    assert knee([0, 1, 2], [4, 2, 0]) == 2, "an even fall has no knee"
    assert knee([0, 1, 2], [4, 4, 4]) == 0, "where nothing is gained the first is enough"
