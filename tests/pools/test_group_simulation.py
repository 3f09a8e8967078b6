"""Pools of a data-sharing group: simulated as pools alone where nothing is shared, and read back from statistics."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.simulation import Simulated, simulate, write_smf
from plexlens.pools.structures import GroupPoolSettings
from plexlens.pools.trace import open_trace
from plexlens.pools.work import look_at
from tests.pools.made_trace import configured

GROUP_POOL = GRAINS["db2_group_pool"]
POOL = GRAINS["db2_pool"]

START = 1_772_445_600_000_000
POOLS = (PoolSettings("BP2", 300), PoolSettings("BP3", 200))
STRUCTURES = (GroupPoolSettings("BP2", 200, 1000), GroupPoolSettings("BP3", 200, 1000))


def write(path: Path, *, shared: bool, rows: int = 20_000) -> Path:
    """Two members; their objects are the same where they share, else each has its own."""
    rng = np.random.default_rng(3)
    member = rng.integers(0, 2, rows)
    names = np.where(member == 0, "D.A", "D.B") if not shared else np.where(rng.random(rows) < 0.5, "D.A", "D.B")
    table = pa.table(
        {
            "time": START + np.sort(rng.integers(0, 150_000_000, rows)),
            "member": np.where(member == 0, "DB1A", "DB1B"),
            "pool": np.where(rng.random(rows) < 0.7, "BP2", "BP3"),
            "object": names,
            "page": rng.zipf(1.2, rows) % 2000,
            "function": np.where(rng.random(rows) < 0.2, "set_write", "getpage"),
        }
    )
    pq.write_table(table, path)
    return path


def group_of(
    path: Path,
    pools: Iterable[PoolSettings] = POOLS,
    structures: Iterable[GroupPoolSettings] = STRUCTURES,
    interval: float | None = None,
) -> Simulated:
    """The pools, the same at each member, simulated."""
    trace = open_trace([path])
    work = look_at(trace, group=True)
    own = {pool.name: pool for pool in pools}
    known = {one.name: one for one in structures}
    configuration = Configuration.of_members(dict.fromkeys(work.members, own), structures=known)
    return simulate(trace, configuration, work=work, interval=interval)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Simulated:
    path = write(tmp_path_factory.mktemp("group") / "t.parquet", shared=True)
    return group_of(path)


def test_members_that_share_nothing_are_alone(tmp_path: Path) -> None:
    """Each member's counters are those of its references simulated without the other."""
    path = write(tmp_path / "t.parquet", shared=False)
    group = group_of(path)
    assert group.dependent == {}
    table = pq.read_table(path)
    for member in ("DB1A", "DB1B"):
        own = tmp_path / f"{member}.parquet"
        pq.write_table(table.filter(pa.compute.equal(table["member"], member)), own)
        alone = simulate(open_trace([own]), configured(POOLS))
        for pool in ("BP2", "BP3"):
            assert group.pools[f"{member}.{pool}"] == alone.pools[pool]
    assert all(value == 0 for one in group.uses.values() for value in one.values())


def test_sharing_is_seen(simulated: Simulated) -> None:
    assert sorted(simulated.members) == ["DB1A", "DB1B"]
    assert simulated.dependent == {"BP2": ("D.A", "D.B"), "BP3": ("D.A", "D.B")}
    for pool in ("BP2", "BP3"):
        assert simulated.uses[f"G{pool}"]["invalidated_by_write"] > 0
        assert simulated.uses[f"G{pool}"]["castout_pages"] > 0
        assert all(simulated.uses[f"{member}.{pool}"]["sync_writes"] > 0 for member in simulated.members)


def metrics(dump: Path, folder: Path, grain: Any) -> list[dict[str, Any]]:
    pdb = Pdb.open_or_create(folder)
    ingest([dump], pdb)
    rows: list[dict[str, Any]] = sorted(facts(Inputs(pdb.connect()), grain).rows(), key=lambda row: row["interval_end"])
    return rows


def test_the_statistics_of_each_member_are_what_it_counted(simulated: Simulated, tmp_path: Path) -> None:
    dump = tmp_path / "group.smf"
    # 150 s: three intervals, with the beginning four times, of two kinds for two members.
    assert write_smf(simulated, dump, group="DSNPLEX") == 16
    pools = metrics(dump, tmp_path / "pdb", POOL)
    shared = metrics(dump, tmp_path / "pdb", GROUP_POOL)
    for member in simulated.members:
        for pool in ("BP2", "BP3"):
            own = [row for row in pools if (row["subsystem"], row["pool"]) == (member, pool)]
            counters = simulated.pools[f"{member}.{pool}"]
            assert len(own) == 3
            assert {row["group_name"] for row in own} == {"DSNPLEX"}
            assert sum(row["getpages"] for row in own) == counters["getpages"] > 0
            assert sum(row["sync_reads"] for row in own) == (
                counters["sync_reads_random"] + counters["sync_reads_sequential"]
            )
            group = [row for row in shared if row["subsystem"] == member and row["group_pool"] == f"G{pool}"]
            assert len(group) == 3
            counted = simulated.uses[f"{member}.{pool}"]
            for fact, name in (
                ("reads_invalid_data", "invalid_with_data"),
                ("reads_invalid_no_data", "invalid_without_data"),
                ("reads_absent_data", "misses_with_data"),
                ("reads_absent_no_data", "misses_without_data"),
                ("changed_pages_sync", "sync_writes"),
                ("changed_pages_async", "async_writes"),
                ("write_failed_no_storage", "failed_writes"),
            ):
                assert sum(row[fact] for row in group) == counted[name], fact
            assert sum(row["pages_castout"] for row in group) == counted["castout_pages"]
    for pool in ("BP2", "BP3"):
        structure = simulated.uses[f"G{pool}"]
        counted = [simulated.uses[f"{member}.{pool}"] for member in simulated.members]
        for whole, own in (("castout_pages", "castout_pages"), ("castout_ios", "castout_unlocks")):
            assert sum(one[own] for one in counted) == structure[whole] > 0


def test_intervals_add_up_to_one_run(simulated: Simulated, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", shared=True)
    whole = group_of(path, interval=1e6)
    assert (whole.pools, whole.uses) == (simulated.pools, simulated.uses)
    assert [one.end for one in whole.intervals] == [simulated.last]
    assert [one.end - simulated.first for one in simulated.intervals[:-1]] == [60_000_000, 120_000_000]


def test_getpages_are_those_of_the_trace(simulated: Simulated, tmp_path: Path) -> None:
    table = pq.read_table(write(tmp_path / "t.parquet", shared=True)).to_pylist()
    for member in simulated.members:
        for pool in ("BP2", "BP3"):
            wanted = sum((row["member"], row["pool"], row["function"]) == (member, pool, "getpage") for row in table)
            assert simulated.pools[f"{member}.{pool}"]["getpages"] == wanted


def test_impossible_groups(simulated: Simulated, tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", shared=True, rows=100)
    for settings, structures, expected in (
        (POOLS, STRUCTURES[:1], "pool BP3 has no group buffer pool"),
        (POOLS[:1], STRUCTURES, "the group buffer pool of BP3 has no local pool"),
        (POOLS[:1], (GroupPoolSettings("BP2", 0),), "data"),
    ):
        with pytest.raises(UsageError, match=expected):
            group_of(path, settings, structures)
    one = tmp_path / "one.csv"
    one.write_text("time,pool,page\n1,BP2,1\n")
    with pytest.raises(UsageError, match="the trace has one member"):
        group_of(one)
    with pytest.raises(UsageError, match="'long name' is not a valid group name"):
        write_smf(simulated, tmp_path / "g.smf", group="long name")
    other = group_of(path, POOLS[:1], STRUCTURES[:1])
    rows = pa.compute.sum(pa.compute.equal(pq.read_table(path)["pool"], "BP3")).as_py()
    assert set(other.left_out) == {"DB1A.BP3", "DB1B.BP3"}
    assert sum(other.left_out.values()) == rows


def test_every_counter_of_a_member_has_its_fact() -> None:
    assert {place for _, place, _ in _core.GroupSimulation.member_fields()} == {
        *("QBGLMD", "QBGLMR", "QBGLXD", "QBGLXR", "QBGLSW", "QBGLAW", "QBGLWF"),
        *("QBGLAX", "QBGLAY", "QBGLDG", "QBGLDN"),
        *("QBGLRC", "QBGLUN", "QBGLCC", "QBGLCS", "QBGLCT", "QBGLGT"),
    }
