"""Rows that are a part of others are rolled up as the same rows by themselves, whatever is taken from the whole."""

from __future__ import annotations

import math
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.evaluate import available, kept_facts, rolled_up
from plexlens.metrics.inputs import Inputs

#: Parts that keep some observers, some intervals, some rows, and none.
PARTS = (
    "hash(system) % 2 = 0",
    'hash("interval") % 2 = 0',
    "hash(interval_start, system, {keys}) % 3 > 0",
    "false",
)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


@pytest.mark.parametrize("name", GRAINS)
def test_a_part_is_rolled_up_as_its_rows_are(example: Inputs, name: str) -> None:
    grain = GRAINS[name]
    if not available(example, grain):
        pytest.skip("the example has no source of it")
    whole = kept_facts(example, grain)
    assert whole is not None
    for condition in PARTS:
        part = whole.where(condition.format(keys=", ".join(f'"{key.name}"' for key in grain.keys) or "system"))
        assert part.part_of is whole
        alone = part.kept(fresh_name("part_alone"))
        assert alone.part_of is None
        for how in ({"time": "interval"}, {"time": "all"}, {"time": "all", "by": ("source_kind",)}):
            found, expected = (rolled_up(example, grain, kept=rows, **how) for rows in (part, alone))
            assert len(found) == len(expected)
            for one, other in zip(found, expected, strict=True):
                assert one.keys() == other.keys()
                assert [key for key in one if not _alike(one[key], other[key])] == []
