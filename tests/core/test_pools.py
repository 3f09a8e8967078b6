"""Curves and simulations of page-reference traces through the extension module."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.pools.settings import STEALS
from tests.oracle.slow_lru import lru_missed, lru_misses


def batch(pages: list[int], **columns: list[int]) -> pa.RecordBatch:
    """A trace of getpages; other columns as given, else zero."""
    rows = len(pages)
    values = {"time": list(range(rows)), "page": pages, **columns}
    return pa.record_batch(
        {name: pa.array(values.get(name, [0] * rows), type=kind) for name, kind in _core.TRACE_COLUMNS}
    )


@pytest.fixture(scope="module")
def pages() -> list[int]:
    chosen = random.Random(5)
    return [int(chosen.random() ** 3 * 500) for _ in range(20_000)]


def test_curves_equal_an_ordered_dictionary(pages: list[int]) -> None:
    curves = _core.PoolCurves()
    for at in range(0, len(pages), 3000):
        curves.add(batch(pages[at : at + 3000]))
    sizes = [1, 2, 10, 100, 499, 1000]
    assert curves.read_misses(0, sizes) == [(lru_misses(pages, size), 0.0) for size in sizes]
    assert curves.pools() == [0]
    assert curves.distinct_pages(0) == len(set(pages))
    assert curves.events(0)["getpage"] == len(pages)
    assert curves.read_misses(0, [curves.enough(0)]) == [(len(set(pages)), 0.0)]


def test_shares_add_up_to_the_pool(pages: list[int]) -> None:
    curves = _core.PoolCurves()
    curves.add(batch(pages, object=[page % 3 for page in pages]))
    shares = curves.shares(0, [10])
    assert {(one[0], one[1]) for one in shares} == {(0, 0), (1, 0), (2, 0)}
    assert sum(one[2] for one in shares) == len(pages)
    assert sum(one[3] for one in shares) == len(set(pages))
    at_ten = sum(one[4][0] for one in shares)
    assert at_ten == lru_misses(pages, 10)


def test_misses_at_a_price_are_those_of_a_list_object_by_object(pages: list[int]) -> None:
    curves = _core.PoolCurves()
    curves.add(batch(pages, object=[page % 3 for page in pages]))
    prices = {0: 0.5, 1: 2.0, 2: 0.25, 9: 1e9}
    priced = curves.priced_misses(0, prices)
    costs = dict(zip(priced["size"].to_pylist(), priced["cost"].to_pylist(), strict=True))
    for size in (1, 10, 64, 100):
        assert costs[size] == sum(prices[page % 3] for page in lru_missed(pages, size))
    assert priced["cost"][-1].as_py() == sum(prices[page % 3] for page in set(pages))
    with pytest.raises(KeyError, match="has no price"):
        curves.priced_misses(0, {0: 1.0})


def test_shares_between_kept_sizes_are_interpolated_as_numpy_does(pages: list[int]) -> None:
    curves = _core.PoolCurves(share_sizes=[50, 80, 200])
    curves.add(batch(pages))
    kept = [float(misses) for misses, _ in curves.read_misses(0, [0, 50, 80, 200])]
    sizes = [0.0, 10.0, 50.0, 61.7, 80.0, 199.0, 200.0, 900.0]
    ((*_, misses),) = curves.shares(0, sizes)
    assert misses == np.interp(sizes, [0.0, 50.0, 80.0, 200.0], kept).tolist()


def test_a_sample_states_its_rate_and_its_error(pages: list[int]) -> None:
    whole = _core.PoolCurves(sample=1.0)
    whole.add(batch(pages))
    assert (whole.rate, whole.read_misses(0, [100])) == (1.0, [(lru_misses(pages, 100), 0.0)])
    part = _core.PoolCurves(sample=0.5)
    part.add(batch(pages))
    ((misses, error),) = part.read_misses(0, [100])
    assert error > 0
    assert abs(misses - lru_misses(pages, 100)) < 6 * error
    with pytest.raises(_core.PoolError, match="above 0 and at most 1"):
        _core.PoolCurves(sample=1.5)


def test_a_simulation_without_prefetch_is_the_curve(pages: list[int]) -> None:
    plain = {"vpseqt": 100, "prefetch": False}
    simulation = _core.PoolSimulation({0: {"size": 100, **plain}, 7: {"size": 5}}, interval=6000)
    simulation.add(batch(pages))
    counters = simulation.counters()
    assert counters[0]["sync_reads_random"] == lru_misses(pages, 100)
    assert counters[7]["getpages"] == 0
    assert [one[0] for one in simulation.snapshots(0)] == [6000, 12_000, 18_000]
    assert [one[3]["getpages"] for one in simulation.snapshots(0)] == [6000, 12_000, 18_000]
    ((item, partition, counted),) = simulation.data_sets(0)
    assert (item, partition, counted["getpages"]) == (0, 0, len(pages))
    assert {name for name, _, _ in simulation.fields()} == counters[0].keys()


def test_a_known_end_stops_prefetch() -> None:
    simulation = _core.PoolSimulation({0: {"size": 1000}})
    simulation.set_pages(3, 0, 50)
    sequential = _core.TRACE_ACCESSES.index("sequential")
    simulation.add(batch(list(range(50)), object=[3] * 50, access=[sequential] * 50))
    assert simulation.counters()[0]["sequential_pages"] == 50


def test_rows_of_other_pools_are_counted() -> None:
    simulation = _core.PoolSimulation({0: {}})
    simulation.add(batch([1, 2, 3], pool=[0, 4, 4]))
    assert simulation.without_configuration() == {4: 2}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda good: good.drop_columns(["page"]), "a trace batch has no column page"),
        (
            lambda good: good.set_column(5, "page", good["page"].cast(pa.int32())),
            "column page is Int32; cast it to UInt64",
        ),
        (lambda good: good.set_column(5, "page", pa.array([1, None], pa.uint64())), "column page has 1 nulls"),
        (lambda good: good.set_column(6, "function", pa.array([0, 9], pa.uint8())), "row 1: function is 9"),
    ],
)
def test_columns_that_are_no_trace_are_refused(make: object, expected: str) -> None:
    assert callable(make)
    with pytest.raises(_core.PoolError, match=expected):
        _core.PoolCurves().add(make(batch([1, 2])))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"size": 0}, "VPSIZE 0 is not possible"),
        ({"steal": "mru"}, f"PGSTEAL mru is not possible; give {', '.join(STEALS[:-1])} or {STEALS[-1]}$"),
        ({"vpsize": 10}, "a pool has no setting vpsize; give size"),
        ({"vpseqt": 101}, "VPSEQT 101 is not possible; give 0 to 100 per cent"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, object], expected: str) -> None:
    with pytest.raises(_core.PoolError, match=expected):
        _core.PoolSimulation({0: settings})


def test_a_pool_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="no pool 3"):
        _core.PoolCurves().read_misses(3, [1])
    with pytest.raises(KeyError, match="pool 3 has no configuration"):
        _core.PoolSimulation({}).snapshots(3)
