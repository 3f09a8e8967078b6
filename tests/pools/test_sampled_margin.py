"""A size read off a sampled curve holds all of a set of pages that is gone through again and again, not nearly all."""

from __future__ import annotations

import numpy as np
import pytest

from plexlens.pools.page_sample import GroupCurves, take
from tests.pools.made_trace import MadeTrace, lru_misses


@pytest.mark.parametrize("first", [1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000])
def test_a_ring_fits_where_the_sampled_curve_says_it_does(first: int) -> None:
    pages = np.tile(first + np.arange(6000), 10)
    sample = take(MadeTrace(page=pages), most=8_000)
    assert sample.rate == 0.125
    curve = GroupCurves(sample, {0: 1.0}).of(frozenset({0}), 4096)
    enough = int(curve.sizes[np.argmin(curve.costs)])
    assert lru_misses(pages.tolist(), enough) == 6000
    # Not much more than it needs, either: 750 pages are in the sample, give or take 27.
    assert enough <= 6000 * (1 + 4.2 / np.sqrt(750))
