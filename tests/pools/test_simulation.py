"""Simulations of a trace, and the statistics that they are written as: read back, they are what was counted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from plexlens import _core
from plexlens.cli.every import app
from plexlens.errors import PlexlensError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pools.settings import PoolSettings
from plexlens.pools.simulation import Simulated, simulate, write_smf
from plexlens.pools.trace import open_trace
from tests.pools.made_trace import configured

POOL = GRAINS["db2_pool"]

START = 1_772_445_600_000_000  # 2026-03-02 10:00:00 UTC
MINUTE = 60_000_000
POOLS = (PoolSettings("BP2", 400), PoolSettings("BP8K0", 300, 8192))

#: Facts of the metrics to the engine's counters whose sum they must be.
FACTS = {
    "getpages": ("getpages",),
    "getpages_sequential": ("getpages_sequential",),
    "sync_reads": ("sync_reads_random", "sync_reads_sequential"),
    "sync_reads_random": ("sync_reads_random",),
    "sequential_prefetch_requests": ("sequential_requests",),
    "sequential_prefetch_reads": ("sequential_reads",),
    "sequential_prefetch_pages": ("sequential_pages",),
    "list_prefetch_requests": ("list_requests",),
    "list_prefetch_pages": ("list_pages",),
    "dynamic_prefetch_requests": ("dynamic_requests",),
    "dynamic_prefetch_reads": ("dynamic_reads",),
    "dynamic_prefetch_pages": ("dynamic_pages",),
    "prefetch_disabled_no_buffer": ("prefetch_disabled",),
    "buffer_updates": ("updates",),
    "pages_written": ("pages_written",),
    "sync_writes": ("sync_writes",),
    "async_writes": ("async_writes",),
    "deferred_write_threshold": ("horizontal_threshold",),
    "vertical_write_threshold": ("vertical_threshold",),
    "data_manager_threshold": ("data_management_threshold",),
    "unavailable_buffer": ("no_buffer",),
    "sequential_threshold_hits": ("sequential_threshold",),
    "random_hits_sequential_chain": ("random_hits_sequential",),
}


def write_trace(path: Path, *, seconds: int = 330, rows: int = 40_000) -> Path:
    """Random, sequential and list references to two pools, a quarter of them updates."""
    rng = np.random.default_rng(7)
    scan = rng.random(rows) < 0.3
    pages = np.where(scan, np.arange(rows) % 5000, rng.zipf(1.3, rows) % 3000)
    access = np.where(scan, "sequential", np.where(rng.random(rows) < 0.1, "list", "random"))
    table = pa.table(
        {
            "time": START + np.sort(rng.integers(0, seconds * 1_000_000, rows)),
            "pool": np.where(rng.random(rows) < 0.8, "BP2", "BP8K0"),
            "object": np.where(scan, "PAY.HIST", np.where(rng.random(rows) < 0.5, "PAY.CUST", "PAY.XCUST")),
            "page": pages,
            "function": np.where(rng.random(rows) < 0.25, "set_write", "getpage"),
            "access": access,
        }
    )
    pq.write_table(table, path)
    return path


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trace(tmp_path_factory.mktemp("trace") / "t.parquet")


@pytest.fixture(scope="module")
def simulated(traced: Path) -> Simulated:
    return simulate(open_trace([traced]), configured(POOLS))


def metrics(dump: Path, folder: Path) -> list[dict[str, Any]]:
    """Rows of the buffer pools' grain, as the metrics read them from a dump."""
    pdb = Pdb.create(folder)
    ingest([dump], pdb)
    rows: list[dict[str, Any]] = sorted(facts(Inputs(pdb.connect()), POOL).rows(), key=lambda row: row["interval_end"])
    return rows


def summed(counters: Mapping[str, int], names: tuple[str, ...]) -> int:
    return sum(counters[name] for name in names)


def test_the_statistics_are_what_was_counted(simulated: Simulated, tmp_path: Path) -> None:
    dump = tmp_path / "sim.smf"
    # 330 s: five minutes and a half, so six intervals; IFCID 1 and 2 at their ends and at the beginning.
    assert [one.end - START for one in simulated.intervals][:5] == [
        (minute + 1) * MINUTE + simulated.first - START for minute in range(5)
    ]
    assert write_smf(simulated, dump, subsystem="DBS1") == 14
    rows = metrics(dump, tmp_path / "pdb")
    assert len(rows) == 6 * len(POOLS)
    for pool in POOLS:
        own = [row for row in rows if row["pool"] == pool.name]
        assert {row["subsystem"] for row in own} == {"DBS1"}
        assert {row["buffers"] for row in own} == {pool.size}
        counters = simulated.pools[pool.name]
        assert counters["pages_written"] > 0
        assert counters["sync_reads_random"] > 0
        for fact, names in FACTS.items():
            assert sum(row[fact] for row in own) == summed(counters, names), fact
            # Each interval is what was counted within it.
            before = dict.fromkeys(counters, 0)
            for row, one in zip(own, simulated.intervals, strict=True):
                assert row[fact] == summed(one.pools[pool.name], names) - summed(before, names), fact
                before = one.pools[pool.name]
        for row, one in zip(own, simulated.intervals, strict=True):
            assert row["interval_end"] == datetime.fromtimestamp(one.end // 1_000_000, UTC).replace(
                microsecond=one.end % 1_000_000
            )


def test_every_field_that_is_counted_is_checked() -> None:
    """A counter with a field of the record is in the list above, or in the note beside it."""
    checked = {name for names in FACTS.values() for name in names}
    # Of list prefetch, requests and pages are looked at; its I/Os are written like those of the others.
    assert {name for name, place, _ in _core.PoolSimulation.fields() if place} - checked == {"list_reads"}


def test_the_report_reads_them(simulated: Simulated, tmp_path: Path) -> None:
    dump = tmp_path / "sim.smf"
    write_smf(simulated, dump)
    done = CliRunner().invoke(app, ["report", str(dump), "--format", "text"])
    assert done.exit_code == 0, done.output
    assert "BP8K0" in done.output


def test_intervals_add_up_to_one_run(traced: Path, simulated: Simulated) -> None:
    """Where the trace is cut into intervals changes no counter."""
    whole = simulate(open_trace([traced]), configured(POOLS), interval=1e6)
    assert whole.pools == simulated.pools
    assert whole.objects == simulated.objects
    assert [one.end for one in whole.intervals] == [simulated.last]
    assert simulated.intervals[-1].pools == simulated.pools


def test_objects_add_up_to_their_pool(simulated: Simulated) -> None:
    for pool in POOLS:
        own = [counters for (name, _), counters in simulated.objects.items() if name == pool.name]
        assert sum(one["getpages"] for one in own) == simulated.pools[pool.name]["getpages"]
    assert {name for _, name in simulated.objects} == {"PAY.HIST", "PAY.CUST", "PAY.XCUST"}


def test_an_lru_pool_without_prefetch_misses_what_the_curve_says(traced: Path) -> None:
    trace = open_trace([traced])
    engine = _core.PoolSimulation({2: {"size": 400, "prefetch": False, "vpseqt": 100}})
    curves = _core.PoolCurves()
    getpage = _core.TRACE_FUNCTIONS.index("getpage")
    for batch in trace.batches():
        only = batch.filter(pa.compute.equal(batch["function"], getpage))
        engine.add(only)
        curves.add(only)
    counters = engine.counters()[2]
    misses = counters["sync_reads_random"] + counters["sync_reads_sequential"]
    assert misses == curves.read_misses(2, [400])[0][0]


def test_a_move_is_as_if_the_trace_had_it(traced: Path, tmp_path: Path) -> None:
    moved = simulate(open_trace([traced]), configured(POOLS, placement={"PAY.HIST": "BP8K0"}))
    table = pq.read_table(traced)
    to = pa.compute.if_else(pa.compute.equal(table["object"], "PAY.HIST"), "BP8K0", table["pool"])
    path = tmp_path / "moved.parquet"
    pq.write_table(table.set_column(1, "pool", to), path)
    assert moved.pools == simulate(open_trace([path]), configured(POOLS)).pools


def test_other_pools_are_counted(traced: Path) -> None:
    done = simulate(open_trace([traced]), configured(POOLS[:1]))
    table = pq.read_table(traced)
    others = pa.compute.sum(pa.compute.equal(table["pool"], "BP8K0")).as_py()
    assert done.left_out == {"BP8K0": others}


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        ({"PAY.CUSTO": "BP2"}, "the trace has no data set PAY.CUSTO; use a name of the report, such as PAY.CUST"),
        ({"PAY.CUST": "POOL2"}, "PAY.CUST cannot be put into POOL2"),
    ],
)
def test_impossible_moves(traced: Path, placement: dict[str, str], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        simulate(open_trace([traced]), configured(POOLS, placement=placement))


def test_no_times_no_statistics(tmp_path: Path) -> None:
    trace, dump = tmp_path / "pages.csv", tmp_path / "sim.smf"
    trace.write_text("pool,page\nBP2,1\nBP2,2\n")
    done = simulate(open_trace([trace]), configured(POOLS))
    assert done.pools["BP2"]["getpages"] == 2
    with pytest.raises(UsageError, match="the trace has no times"):
        write_smf(done, dump)
    assert not list(tmp_path.glob("*smf*"))


def test_relative_times_begin_in_2000(tmp_path: Path) -> None:
    trace, dump = tmp_path / "pages.csv", tmp_path / "sim.smf"
    trace.write_text(f"time,pool,page\n0,BP2,1\n{MINUTE},BP2,2\n")
    write_smf(simulate(open_trace([trace]), configured(POOLS)), dump)
    rows = metrics(dump, tmp_path / "pdb")
    assert {row["interval_end"] for row in rows} == {datetime(2000, 1, 1, 0, 1, tzinfo=UTC)}
    assert {row["pool"]: row["getpages"] for row in rows} == {"BP2": 2, "BP8K0": 0}


def test_nothing_half_written(simulated: Simulated, tmp_path: Path) -> None:
    with pytest.raises(PlexlensError, match="it cannot be written"):
        write_smf(simulated, tmp_path / "nowhere" / "sim.smf")
    with pytest.raises(UsageError, match="an interval of 0 s"):
        simulate(open_trace([write_trace(tmp_path / "t.parquet", rows=100)]), configured(POOLS), interval=0)
    with pytest.raises(UsageError, match="'TOOLONG' is not a valid name of a subsystem"):
        write_smf(simulated, tmp_path / "sim.smf", subsystem="TOOLONG")
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def _data_sets(batch: pa.RecordBatch) -> list[tuple[int, int]]:
    return list(zip(batch["object"].to_pylist(), batch["partition"].to_pylist(), strict=True))


def test_configurations_side_by_side_count_as_each_alone(traced: Path) -> None:
    batches = list(open_trace([traced]).batches())
    there = sorted({pool for batch in batches for pool in batch["pool"].to_pylist()})
    data_sets = sorted({pair for batch in batches for pair in _data_sets(batch)})
    runs: list[tuple[dict[int, dict[str, Any]], dict[tuple[int, int], int] | None]] = [
        ({pool: {"size": 300 + pool} for pool in there}, None),
        ({pool: {"size": 2000, "vpseqt": 20} for pool in there[:-1]}, {data_sets[0]: there[0], data_sets[-1]: 49}),
        ({49: {"size": 50}}, dict.fromkeys(data_sets, 49)),
    ]
    together = _core.PoolSimulations(runs)
    for batch in batches:
        together.add(batch)
    for run, (pools, placement) in enumerate(runs):
        alone = _core.PoolSimulation(pools, placement=placement)
        for batch in batches:
            alone.add(batch)
        assert together.counters(run) == alone.counters()
        assert together.without_configuration(run) == alone.without_configuration()
        for pool in pools:
            rows = [(row.pop("object"), row.pop("partition"), row) for row in together.data_sets(run, pool).to_pylist()]
            assert rows == alone.data_sets(pool)
            assert rows or pool not in there
    for what in (together.counters, together.without_configuration):
        with pytest.raises(IndexError, match="no configuration 3"):
            what(3)
    with pytest.raises(IndexError, match="no configuration 3"):
        together.data_sets(3, there[0])
    with pytest.raises(KeyError, match="pool 48 has no configuration"):
        together.data_sets(0, 48)
    with pytest.raises(_core.PoolError, match="VPSIZE"):
        _core.PoolSimulations([({1: {"size": 0}}, None)])
