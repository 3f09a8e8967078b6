"""Members with pools of their own and a group buffer pool, against a slow group and by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plexlens.errors import UsageError
from plexlens.pools.cost import REQUEST, group_cost
from plexlens.pools.curves import curves_of
from plexlens.pools.objects import pools_of
from plexlens.pools.observation import observe
from plexlens.pools.outcome import states_of
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.simulation import simulate
from plexlens.pools.structures import GroupPoolSettings
from plexlens.pools.trace import open_trace
from plexlens.pools.work import look_at
from tests.pools.made_trace import lru_misses
from tests.pools.slow_group import SlowGroup

START = 1_772_445_600_000_000
#: Pages so far apart that no reference looks sequential.
APART = 1000


def events(seed: int, rows: int = 6000) -> list[tuple[int, tuple[int, int], bool]]:
    """References of members 0, 1, 2 to three data sets; an update follows the getpage of its page."""
    rng = np.random.default_rng(seed)
    made: list[tuple[int, tuple[int, int], bool]] = []
    for _ in range(rows):
        member, data_set = int(rng.integers(0, 3)), int(rng.integers(0, 3))
        page = int(rng.zipf(1.3) % 120) if rng.random() < 0.8 else int(rng.integers(0, 120))
        made.append((member, (data_set, page), False))
        if rng.random() < 0.25:
            made.append((member, (data_set, page), True))
    # Whatever else: every data set is first met in the order of its number, used by all, and changed.
    first = [
        (member, (data_set, 0), change) for data_set in range(3) for member in range(3) for change in (False, True)
    ]
    return first + made


def written(path: Path, made: list[tuple[int, tuple[int, int], bool]]) -> Path:
    pq.write_table(
        pa.table(
            {
                "time": [START + 10_000 * at for at in range(len(made))],
                "member": [f"DB{member}A" for member, _, _ in made],
                "pool": ["BP2"] * len(made),
                "object": [f"D.T{data_set}" for _, (data_set, _), _ in made],
                "page": [page * APART for _, (_, page), _ in made],
                "function": ["set_write" if change else "getpage" for _, _, change in made],
            }
        ),
        path,
    )
    return path


@pytest.mark.parametrize(
    ("seed", "sizes", "data", "directory"),
    [
        (1, (60, 100, 150), 80, 500),
        (2, (60, 100, 150), 80, 130),
        (3, (40, 40, 300), 20, 60),
        (4, (50, 50, 50), 200, 200),
    ],
)
def test_members_and_group_buffer_pool_count_what_a_slow_group_does(
    tmp_path: Path, seed: int, sizes: tuple[int, int, int], data: int, directory: int
) -> None:
    made = events(seed)
    trace = open_trace([written(tmp_path / "t.parquet", made)])
    work = look_at(trace)
    slow = SlowGroup(dict(enumerate(sizes)), data, directory, class_pages=6, pool_threshold=30)
    slow.run(made)
    configuration = Configuration.of_members(
        {f"DB{member}A": {"BP2": PoolSettings("BP2", size, vdwqt=90, dwqt=90)} for member, size in enumerate(sizes)},
        structures={"BP2": GroupPoolSettings("BP2", data, directory, class_threshold=0, class_pages=6)},
    )
    (state,) = states_of(trace, [configuration], work=work, cost=group_cost())
    assert state.dependent == {"BP2": ("D.T0", "D.T1", "D.T2")}
    for member in range(3):
        use, counted = state.uses[f"DB{member}A.BP2"], slow.members[member]
        own = state.pools[f"DB{member}A.BP2"]
        assert own.sync_reads == counted["disk_reads"], member
        assert own.prefetch_reads == 0
        assert own.getpages == sum(one == member and not change for one, _, change in made)
        for name in (
            "misses_with_data",
            "misses_without_data",
            "invalid_with_data",
            "invalid_without_data",
            "sync_writes",
            "failed_writes",
        ):
            assert getattr(use, name) == counted[name], (member, name)
    whole = state.structures["BP2"]
    for name in ("invalidated_by_write", "invalidated_by_reclaim", "directory_reclaims", "castout_pages"):
        assert getattr(whole, name) == slow.structure[name], name
    assert slow.structure["invalidated_by_write"] > 100
    assert (slow.structure["invalidated_by_reclaim"] > 0) == (seed in (2, 3, 4))
    # The whole simulation, with sizes by member, counts the same.
    done = simulate(trace, configuration, work=work)
    for member in range(3):
        counters = done.pools[f"DB{member}A.BP2"]
        assert counters["sync_reads_random"] == slow.members[member]["disk_reads"]


def test_prices_by_hand(tmp_path: Path) -> None:
    """A read from disk each; one change; the other member reads it again from the group buffer pool."""
    made = [(0, (0, 4), False), (1, (0, 4), False), (0, (0, 4), True), (1, (0, 4), False)]
    trace = open_trace([written(tmp_path / "t.parquet", made)])
    work = look_at(trace)
    pools = {"BP2": PoolSettings("BP2", 100)}
    configuration = Configuration.of_members(
        {"DB0A": pools, "DB1A": pools}, structures={"BP2": GroupPoolSettings("BP2", 50, 100)}
    )
    cost = group_cost()
    (state,) = states_of(trace, [configuration], work=work, cost=cost)
    # Two reads without data, one with, one write: four requests; nothing is cast out yet.
    assert state.structures["BP2"].requests == 4
    assert state.structures["BP2"].cpu_seconds == pytest.approx(4 * REQUEST.value)
    assert state.cpu_seconds == pytest.approx(2 * cost.sync_read.value + 4 * REQUEST.value)
    assert (state.requests.hits, state.requests.invalid_reads) == (1, 1)


def test_curves_of_each_member_are_those_of_its_own_references(tmp_path: Path) -> None:
    made = events(7, 2000)
    curves = curves_of(open_trace([written(tmp_path / "t.parquet", made)]), sizes=(10, 50, 200), group=None)
    assert [curve.pool for curve in curves] == ["DB0A.BP2", "DB1A.BP2", "DB2A.BP2"]
    for member, curve in enumerate(curves):
        pages = [page for one, page, change in made if one == member and not change]
        assert [misses for _, misses, _ in curve.points] == [lru_misses(pages, size) for size in (10, 50, 200)]


def test_moved_objects_take_their_group_buffer_pool_along(tmp_path: Path) -> None:
    trace = open_trace([written(tmp_path / "t.parquet", events(8, 500))])
    work = look_at(trace)
    pools = {name: PoolSettings(name, 100) for name in ("BP2", "BP3")}
    members = {f"DB{member}A": pools for member in range(3)}
    structures = {name: GroupPoolSettings(name, 50, 400) for name in ("BP2", "BP3")}
    before = Configuration.of_members(members, structures=structures)
    after = Configuration.of_members(members, structures=structures, placement={"D.T1": "BP3"})
    now, then = states_of(trace, [before, after], work=work, cost=group_cost())
    assert now.dependent == {"BP2": ("D.T0", "D.T1", "D.T2")}
    assert then.dependent == {"BP2": ("D.T0", "D.T2"), "BP3": ("D.T1",)}
    assert then.structures["BP3"].writes > 0
    assert now.total.getpages == then.total.getpages


def test_the_pools_of_members_are_observed_as_they_are_simulated(tmp_path: Path) -> None:
    made = events(13, 2000)
    trace = open_trace([written(tmp_path / "t.parquet", made)])
    work = look_at(trace)
    pools = {name: PoolSettings(name, 60) for name in ("BP2", "BP3")}
    structures = {name: GroupPoolSettings(name, 50, 200) for name in pools}
    configuration = Configuration.of_members(
        dict.fromkeys(work.members, pools), structures=structures, placement={"D.T1": "BP3"}
    )
    (state,) = states_of(trace, [configuration], work=work, cost=group_cost())
    seen = observe(trace, configuration, work=work, looks=4)
    assert {io.pool: (io.getpages, io.sync_reads, io.read_ios) for io in pools_of(seen)} == {
        name: (one.getpages, one.sync_reads, one.read_ios) for name, one in state.pools.items()
    }
    own = next(one for one in seen.objects() if (one.pool, one.name) == ("DB1A.BP3", "D.T1"))
    pages = [page for member, (data_set, page), _ in made if (member, data_set) == (1, 1)]
    assert own.getpages == sum(not change for member, (data_set, _), change in made if (member, data_set) == (1, 1))
    assert own.resident[-1] <= 60
    assert max(own.referenced) <= len(set(pages)) <= sum(own.referenced)


def test_a_db2_alone_is_a_group_of_one_member(tmp_path: Path) -> None:
    """The engine of a Db2 alone counts what the engine of groups counts of one member with nothing shared."""
    trace = open_trace([written(tmp_path / "t.parquet", events(12, 3000))], subsystem="DB1A")
    work = look_at(trace)
    pool = PoolSettings("BP2", 70, vpseqt=50, dwqt=20, vdwqt=10)
    (alone,) = states_of(trace, [Configuration({"BP2": pool})], work=work, cost=group_cost())
    (number,) = {batch["member"][0].as_py() for batch in trace.batches()}
    one = replace(work, members={"DB1A": work}, numbers={number: "DB1A"})
    group = Configuration.of_members({"DB1A": {"BP2": pool}})
    (found,) = states_of(trace, [group], work=one, cost=group_cost())
    assert alone.pools["BP2"].write_ios > 0
    assert found.of("DB1A").pools == alone.pools
    assert found.of("DB1A").data_sets == alone.data_sets
    assert found.cpu_seconds == alone.cpu_seconds


def test_what_is_shared_needs_a_group_buffer_pool(tmp_path: Path) -> None:
    trace = open_trace([written(tmp_path / "t.parquet", events(9, 100))])
    work = look_at(trace)
    pools = {"BP2": PoolSettings("BP2", 100)}
    nothing = Configuration.of_members({"DB0A": pools, "DB1A": pools, "DB2A": pools})
    with pytest.raises(UsageError, match=r"pool BP2 has no group buffer pool.*--gbp GBP2"):
        states_of(trace, [nothing], work=work, cost=group_cost())
    with pytest.raises(UsageError, match=r"no member DB9A.*DB0A"):
        simulate(trace, Configuration.of_members({"DB9A": pools}), work=work)
    # A member whose pool is not set up is left out, and counted.
    part = Configuration.of_members(
        {"DB0A": pools, "DB1A": pools}, structures={"BP2": GroupPoolSettings("BP2", 50, 100)}
    )
    (state,) = states_of(trace, [part], work=work, cost=group_cost())
    assert list(state.left_out) == ["DB2A.BP2"]


def test_one_member_of_a_file_is_read_alone(tmp_path: Path) -> None:
    made = events(10, 300)
    path = written(tmp_path / "t.parquet", made)
    alone = open_trace([path], subsystem="DB1A")
    rows = sum(batch.num_rows for batch in alone.batches())
    assert rows == sum(member == 1 for member, _, _ in made)
    assert alone.facts.members == ("DB1A",)
    with pytest.raises(Exception, match=r"no references of DB9A.*DB0A, DB1A, DB2A"):
        list(open_trace([path], subsystem="DB9A").batches())
