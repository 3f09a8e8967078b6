"""Recommendations for seven objects and three pools against every placement, tried one by one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.pool_optimum import Costs, SmallCase, best, measure, partitions
from tests.draws import SOAK


def test_every_placement_is_tried_once() -> None:
    """Stirling numbers of the second kind: S(7,1) + S(7,2) + S(7,3) = 1 + 63 + 301, and with S(7,4) 350 more."""
    names = list("abcdefg")
    found = [frozenset(frozenset(group) for group in groups) for groups in partitions(names, 3)]
    assert len(found) == len(set(found)) == 365
    assert len(list(partitions(names, 4))) == 715
    assert all(frozenset.union(*groups) == frozenset(names) for groups in found)


def test_the_best_sizes_are_those_of_every_division() -> None:
    """Three groups and nine parts, with costs that fall in steps: every division is added up by hand."""
    random = np.random.default_rng(11)
    groups = [{"a"}, {"b", "c"}, {"d"}]
    costs: dict[frozenset[str], Costs] = {
        frozenset(group): np.sort(random.integers(0, 60, 9).astype(float))[::-1] for group in groups
    }
    divisions = [sizes for sizes in product(range(1, 10), repeat=3) if sum(sizes) <= 9]
    assert len(divisions) == 84, "C(9, 3)"
    slow = min(sum(costs[frozenset(group)][size - 1] for group, size in zip(groups, sizes, strict=True))
               for sizes in divisions)  # fmt: skip
    assert best(groups, costs) == slow


# Twenty seconds each. In a soak both seeds are tried.
@pytest.mark.drawn
@pytest.mark.parametrize("seed", [811, 812] if SOAK else [811])
def test_a_recommendation_is_within_one_percent_of_the_optimum(tmp_path: Path, seed: int) -> None:
    """The optimum of every placement with sizes of whole twelfths of the storage."""
    gap = measure(SmallCase(seed, getpages=6000, parts=12), tmp_path)
    assert gap.optimum < 0.99 * gap.now, "there is something to find"
    assert gap.placement >= gap.optimum
    assert gap.recommended <= 1.01 * gap.optimum
    assert gap.recommended <= 1.01 * gap.placement
    assert gap.frontier <= gap.recommended + 1e-12
