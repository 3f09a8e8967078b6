"""Curves of data sets alone, in any grouping, and moved to other pools, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from plexlens import _core


def batch(rows: list[tuple[int, int, int]]) -> pa.RecordBatch:
    """Getpages of pool 2 from (object, partition, page), a microsecond apart."""
    values: dict[str, list[int]] = {name: [0] * len(rows) for name, _ in _core.TRACE_COLUMNS}
    values["time"] = list(range(len(rows)))
    values["pool"] = [2] * len(rows)
    values["object"], values["partition"], values["page"] = (list(column) for column in zip(*rows, strict=True))
    types = dict(_core.TRACE_COLUMNS)
    return pa.RecordBatch.from_pydict({name: pa.array(column, types[name]) for name, column in values.items()})


#: Object 1 goes three times round ten pages, object 2 asks for one page again and again: together a ring of eleven.
RING = [row for _ in range(3) for page in range(10) for row in ((1, 0, page), (2, 3, 0))]


def test_each_data_set_alone() -> None:
    curves = _core.DataSetCurves()
    curves.add(batch(RING))
    assert curves.data_sets() == [(1, 0, 30, 10.0), (2, 3, 30, 1.0)]
    assert curves.read_misses(1, 0, [9, 10]) == [(30.0, 0.0), (10.0, 0.0)]
    assert curves.read_misses(2, 3, [1]) == [(1.0, 0.0)]
    assert (curves.enough(1, 0), curves.enough(2, 3), curves.rate) == (10, 1, 1.0)
    with pytest.raises(KeyError, match="object 1, partition 3"):
        curves.read_misses(1, 3, [1])


def test_groups_of_a_sample_that_holds_everything() -> None:
    sample = _core.TraceSample(sample=1.0)
    sample.add(batch(RING[:7]))
    sample.add(batch(RING[7:]))
    assert (len(sample), sample.data_sets()) == (60, [(1, 0, 30), (2, 3, 30)])
    together, one = sample.read_misses([[(1, 0), (2, 3)], [(1, 0)]], [1, 2, 10, 11], errors=True)
    # Together: with one buffer everything misses; with two object 2 stays; eleven hold all pages.
    assert together == [(60.0, 0.0), (31.0, 0.0), (31.0, 0.0), (11.0, 0.0)]
    assert one == [(30.0, 0.0), (30.0, 0.0), (10.0, 0.0), (10.0, 0.0)]
    ((first, second),) = sample.shares([[(2, 3), (1, 0)]])
    assert (first[:2], first[2]) == ((2, 3), [(1.0, 30.0), (2.0, 1.0)])
    assert (second[:2], second[2][-1], dict(second[2])[10.0]) == ((1, 0), (11.0, 10.0), 30.0)
    with pytest.raises(KeyError, match="object 9"):
        sample.read_misses([[(9, 0)]], [1])
    with pytest.raises(_core.PoolError, match="rate of 0"):
        _core.TraceSample(sample=0.0)


@pytest.mark.parametrize("sample", [None, 1.0])
def test_placed_curves(sample: float | None) -> None:
    curves = _core.PoolCurves(sample=sample, placement={(2, 3): 7, (5, 0): 9})
    curves.add(batch(RING))
    assert curves.pools() == [2, 7]
    assert curves.read_misses(2, [9, 10]) == [(30.0, 0.0), (10.0, 0.0)]
    assert curves.read_misses(7, [1]) == [(1.0, 0.0)]


def test_placed_simulation() -> None:
    small = {"prefetch": False, "vpseqt": 100}
    simulation = _core.PoolSimulation({2: {"size": 9, **small}, 7: {"size": 1, **small}}, placement={(2, 3): 7})
    simulation.add(batch(RING))
    counters = simulation.counters()
    assert (counters[2]["sync_reads_random"], counters[7]["sync_reads_random"]) == (30, 1)
    assert simulation.data_sets(7)[0][:2] == (2, 3)
