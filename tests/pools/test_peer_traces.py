"""The traces compared with libCacheSim, short: curve and simulation against an LRU pool counted the slow way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.pool_peer import references, scan_and_hot, zipf
from benchmarks.pool_speed import Ids, write_oracle_general
from plexlens import _core
from plexlens.pools.curves import curves_of
from plexlens.pools.trace import open_trace
from tests.pools.made_trace import lru_misses

ROWS = 12_000


def made(name: str) -> Ids:
    stretches = zipf(ROWS, pages=4000) if name == "zipf" else scan_and_hot(ROWS, hot=500, scanned=700)
    return np.concatenate(list(stretches))


@pytest.mark.parametrize("name", ["zipf", "scan and hot"])
def test_curve_and_simulation_are_those_of_the_slow_pool(tmp_path: Path, name: str) -> None:
    ids = made(name)
    trace = tmp_path / "trace.oracleGeneral"
    write_oracle_general(trace, np.array_split(ids, 7))
    assert references(trace) == ROWS
    pages = len(np.unique(ids))
    sizes = sorted({int(size) for size in np.geomspace(3, pages + 50, 25)})
    slow = {size: lru_misses(ids.tolist(), size) for size in sizes}
    (curve,) = curves_of([trace], sizes=sizes)
    assert {size: misses for size, misses, _ in curve.points} == slow
    assert (curve.getpages, curve.distinct_pages) == (ROWS, pages)
    for size in sizes[8::6]:
        engine = _core.PoolSimulation({0: {"size": size, "vpseqt": 100, "prefetch": False}})
        for batch in open_trace([trace]).batches():
            engine.add(batch)
        counters = engine.counters()[0]
        assert counters["sync_reads_random"] + counters["sync_reads_sequential"] == slow[size]


def test_the_scan_saves_nothing_until_it_fits_with_the_hot_pages() -> None:
    """A cliff: with the table one page short every reference to it misses, from the size of all pages on none."""
    ids = made("scan and hot").tolist()
    scanned = [page for page in ids if page >= 500]
    assert len(scanned) / ROWS == pytest.approx(0.2, abs=0.02)
    assert set(scanned) == set(range(500, 1200))
    few, all_pages = 500, len(set(ids))
    misses = [lru_misses(ids, size) for size in (few, all_pages)]
    assert misses[0] >= len(scanned)
    assert misses[1] == all_pages
