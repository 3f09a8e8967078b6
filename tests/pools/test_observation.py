"""Working sets, residency and I/O of objects: a trace worked by hand, a slow twin, and published objects."""

from __future__ import annotations

import csv
import random
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from plexlens.errors import UsageError
from plexlens.ingest.page_trace.delays import ObjectDelay
from plexlens.pools.cost import default_cost
from plexlens.pools.objects import Io, objects_of, partitions_of, pools_of, ranked
from plexlens.pools.observation import Observation, observe
from plexlens.pools.residency import residencies
from plexlens.pools.settings import PoolSettings
from plexlens.pools.trace import open_trace
from plexlens.pools.working_set import working_sets
from tests.conftest import REPOSITORY
from tests.pools.made_trace import configured

STUDY = REPOSITORY / "studies" / "pools-2014"


def written(folder: Path, **columns: list[object]) -> Path:
    path = folder / "trace.parquet"
    pa.parquet.write_table(pa.table(columns), path)
    return path


def bp(number: int, size: int, **others: int) -> PoolSettings:
    return PoolSettings(f"BP{number}", size, vpseqt=others.pop("vpseqt", 0), **others)  # type: ignore[arg-type]


def small(folder: Path) -> Observation:
    """Three buffers, a getpage a second: A1 A2 B1 A1 B2 A3 A1 B1 B1 A2; three looks of three seconds each."""
    pages = [("D.A", 1), ("D.A", 2), ("D.B", 1), ("D.A", 1), ("D.B", 2), ("D.A", 3), ("D.A", 1), ("D.B", 1), ("D.B", 1)]
    pages.append(("D.A", 2))
    path = written(
        folder,
        time=[second * 1_000_000 for second in range(10)],
        pool=["BP1"] * 10,
        object=[name for name, _ in pages],
        page=[page for _, page in pages],
    )
    return observe(open_trace([path]), configured([bp(1, 3)]), looks=3)


def test_a_trace_worked_by_hand(tmp_path: Path) -> None:
    found = small(tmp_path)
    # Oldest first:  A1 | A1 A2 | A1 A2 B1 | A2 B1 A1 |look| B1 A1 B2 (A2 out) | A1 B2 A3 (B1 out) | B2 A3 A1 |look|
    #                A3 A1 B1 (B2 out) | A3 A1 B1 | A1 B1 A2 (A3 out) |look|
    assert found.looks.tolist() == [3, 6, 9]
    a, b = found.objects()
    assert (a.name, b.name) == ("D.A", "D.B")
    assert a.resident.tolist() == [2, 2, 2]
    assert b.resident.tolist() == [1, 1, 1]
    # Between looks: A1 A2 B1 A1 | B2 A3 A1 | B1 B1 A2.
    assert a.referenced.tolist() == [2, 2, 1]
    assert b.referenced.tolist() == [1, 1, 1]
    assert (a.counters["sync_reads"], b.counters["sync_reads"]) == (4, 3)
    assert found.filled == {"BP1": 0}
    # Stolen: A2 read at 1 s, gone at 4 s; B1 from 2 to 5; B2 from 4 to 7; A3 from 5 to 9: 3 + 3 + 3 + 4 s.
    pool, *objects = residencies(found)
    assert (pool.stolen, pool.seconds, pool.sequential_seconds) == (4, 3.25, None)
    # Seven reads in nine seconds through three buffers: 27 / 7. Three of them are still in the pool at the end.
    assert pool.by_reads == pytest.approx(27 / 7)
    assert [one.by_reads for one in objects] == [None, None]
    assert {one.name: (one.stolen, one.random_seconds) for one in objects} == {"D.A": (2, 3.5), "D.B": (2, 3.0)}


def test_io_worked_by_hand(tmp_path: Path) -> None:
    found = small(tmp_path)
    a, b = objects_of(found)
    # Six getpages of A and four of B in nine seconds, four and three of them read.
    assert (a.name, a.getpages, a.read_ios, a.read_ios_per_second) == ("D.A", 6, 4, pytest.approx(4 / 9))
    assert a.application_hit_ratio == pytest.approx(2 / 6)
    assert a.random_share == 1.0
    assert (b.name, b.read_ios) == ("D.B", 3)
    (pool,) = pools_of(found)
    assert (pool.getpages, pool.read_ios, pool.partitions) == (10, 7, 2)
    cost = default_cost()
    assert pool.cpu_seconds(cost) == pytest.approx(7 * 33e-6)
    assert pool.delay_per_day(cost) == pytest.approx(7 * 0.002 * 86400 / 9)
    largest, other = working_sets(found)
    assert (largest.name, largest.average, largest.maximum, largest.delta) == ("D.A", 2.0, 2, 0.0)
    assert (largest.maximum_share, other.maximum_share) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


class SlowLru:
    """Pools as lists of pages, the oldest first."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes
        self.pools: dict[str, OrderedDict[tuple[str, int, int], float]] = {name: OrderedDict() for name in sizes}
        self.reads: dict[tuple[str, str], int] = {}
        self.stays: dict[tuple[str, str], list[float]] = {}

    def getpage(self, time: float, pool: str, name: str, partition: int, page: int) -> None:
        held = self.pools[pool]
        key = (name, partition, page)
        if key in held:
            held.move_to_end(key)
            return
        self.reads[pool, name] = self.reads.get((pool, name), 0) + 1
        if len(held) == self.sizes[pool]:
            (old, _, _), loaded = held.popitem(last=False)
            self.stays.setdefault((pool, old), []).append(time - loaded)
        held[key] = time

    def resident(self, pool: str, name: str) -> int:
        return sum(one[0] == name for one in self.pools[pool])


@pytest.mark.parametrize("looks", [1, 7, 50])
def test_the_slow_twin_agrees(tmp_path: Path, looks: int) -> None:
    generator = random.Random(looks)
    sizes = {"BP1": 40, "BP2": 25, "BP3": 500}
    events = []
    time = 5_000_000
    for _ in range(4000):
        time += generator.choice([0, 0, 1000, 250_000])
        name = generator.choice(["D.A", "D.B", "D.C", "D.D"])
        pool = {"D.A": "BP1", "D.B": "BP1", "D.C": "BP2", "D.D": "BP3"}[name]
        partition = generator.choice([1, 2]) if name == "D.B" else 0
        page = int(generator.paretovariate(0.7)) % 120
        events.append((time, pool, name, partition, page))
    path = written(
        tmp_path, time=[e[0] for e in events], pool=[e[1] for e in events], object=[e[2] for e in events],
        partition=[e[3] for e in events], page=[e[4] for e in events],
    )  # fmt: skip
    found = observe(open_trace([path]), configured(bp(n, sizes[f"BP{n}"]) for n in (1, 2, 3)), looks=looks)

    first, last = events[0][0], events[-1][0]
    ends = [-((first - last) * n // looks) + first for n in range(1, looks + 1)]
    slow, at = SlowLru(sizes), 0
    resident: dict[str, list[int]] = {name: [] for name in ("D.A", "D.B", "D.C", "D.D")}
    referenced: dict[str, list[int]] = {name: [] for name in resident}
    for end in ends:
        seen: dict[str, set[tuple[int, int]]] = {name: set() for name in resident}
        while at < len(events) and events[at][0] <= end:
            when, pool, name, partition, page = events[at]
            slow.getpage(when / 1e6, pool, name, partition, page)
            seen[name].add((partition, page))
            at += 1
        for name, course in resident.items():
            course.append(sum(slow.resident(pool, name) for pool in sizes))
            referenced[name].append(len(seen[name]))
    assert at == len(events)

    for one in found.objects():
        assert one.resident.tolist() == resident[one.name], one.name
        assert one.referenced.tolist() == referenced[one.name], one.name
        assert one.counters["sync_reads"] == slow.reads[one.pool, one.name]
        assert one.getpages == sum(event[2] == one.name for event in events)
    stays = {(one.pool, one.name): one for one in residencies(found) if one.name}
    for key, times in slow.stays.items():
        assert stays[key].seconds == pytest.approx(sum(times) / len(times))
        assert stays[key].stolen == len(times)
    # BP3 never fills: nothing is stolen, every look counts.
    assert found.filled["BP3"] is None
    (never,) = [one for one in working_sets(found) if one.pool == "BP3"]
    assert not never.since_full
    assert never.average == pytest.approx(np.mean(resident["D.D"]))
    assert [one.seconds for one in residencies(found) if one.pool == "BP3"] == [None, None]


def test_looks_before_the_pool_is_full_do_not_count(tmp_path: Path) -> None:
    # Pages 0 to 99 once each in a pool of 50, looks at 10, 20, 30, 40, 50: 11, 21, 31, 41 pages, and full at the fifth.
    path = written(tmp_path, time=list(range(100)), pool=["BP1"] * 100, object=["D.A"] * 100, page=list(range(100)))
    found = observe(open_trace([path]), configured([bp(1, 50)]), looks=10)
    assert found.filled["BP1"] == 4
    (one,) = working_sets(found)
    assert one.course == (11, 21, 31, 41, 50, 50, 50, 50, 50, 50)
    assert (one.average, one.maximum) == (50, 50)


def test_scans_stay_on_their_own_chain(tmp_path: Path) -> None:
    """A scan of 2,000 pages through 100 buffers, of which VPSEQT gives it half; two pages again and again."""
    rows = []
    for number in range(2000):
        rows.append((number * 1000, "D.SCAN", number, "sequential"))
        rows.append((number * 1000 + 1, "D.HOT", number % 2, "random"))
    path = written(
        tmp_path, time=[r[0] for r in rows], pool=["BP1"] * len(rows), object=[r[1] for r in rows],
        page=[r[2] for r in rows], access=[r[3] for r in rows],
    )  # fmt: skip
    found = observe(open_trace([path]), configured([bp(1, 100, vpseqt=50)]))
    scan, hot = objects_of(found)
    assert (scan.name, scan.random_share) == ("D.SCAN", 0.0)
    assert (hot.read_ios, hot.application_hit_ratio) == (2, pytest.approx(1998 / 2000))
    # All but the first pages come by prefetch: the application hardly waits, the system reads every page.
    assert scan.prefetch_pages is not None
    assert scan.prefetch_pages >= 1900
    assert scan.application_hit_ratio == pytest.approx(1.0, abs=0.01)
    assert scan.system_hit_ratio == pytest.approx(0.0, abs=0.05)
    stays = {one.name: one for one in residencies(found)}
    assert stays["D.SCAN"].stolen_random == 0
    assert stays["D.SCAN"].sequential_seconds is not None
    # Little's law: 1,000 pages a second through at most 98 buffers, and at least the 50 of VPSEQT.
    assert 0.049 < stays["D.SCAN"].sequential_seconds < 0.099
    assert stays["D.HOT"].seconds is None


def test_partitions_and_the_object_they_make(tmp_path: Path) -> None:
    path = written(
        tmp_path, time=[0, 1, 2, 3], pool=["BP1"] * 4, object=["D.P", "D.P", "D.P", "D.Q"], partition=[1, 2, 2, 0],
        page=[7, 7, 8, 1],
    )  # fmt: skip
    found = observe(open_trace([path]), configured([bp(1, 10)]))
    assert [(one.name, one.partitions, one.getpages) for one in objects_of(found)] == [("D.P", 2, 3), ("D.Q", 1, 1)]
    assert [(one.name, one.read_ios) for one in partitions_of(found)] == [("D.P.2", 2), ("D.P.1", 1)]


def test_objects_can_be_observed_elsewhere(tmp_path: Path) -> None:
    path = written(tmp_path, pool=["BP1"] * 4, object=["D.P", "D.Q", "D.P", "D.Q"], page=[1, 1, 1, 1])
    found = observe(open_trace([path]), configured([bp(1, 1), bp(2, 1)], {"D.Q": "BP2"}))
    assert {(one.pool, one.name): one.read_ios for one in objects_of(found)} == {("BP1", "D.P"): 1, ("BP2", "D.Q"): 1}
    # A trace without times has no rates, and looks are at references.
    assert not found.timed
    assert found.looks[-1] == 3
    assert [one.read_ios_per_second for one in pools_of(found)] == [None, None]
    with pytest.raises(UsageError, match=r"no data set D\.X"):
        observe(open_trace([path]), configured([bp(1, 1)], {"D.X": "BP2"}))
    with pytest.raises(UsageError, match="0 observations"):
        observe(open_trace([path]), configured([bp(1, 1)]), looks=0)
    assert observe(open_trace([path]), configured([bp(2, 1)])).left_out == {"BP1": 4}


def test_pages_of_any_number(tmp_path: Path) -> None:
    large = [1 << 45, (1 << 45) + 1, 1 << 45, 1 << 62]
    path = written(tmp_path, time=[0, 1, 2, 3], object=["D.A", "D.A", "D.B", "D.A"], page=pa.array(large, pa.uint64()))
    found = observe(open_trace([path]), configured([bp(0, 10)]), looks=1)
    assert {one.name: one.referenced.tolist() for one in found.objects()} == {"D.A": [3], "D.B": [1]}


def test_delays_of_all_partitions_of_an_object_count() -> None:
    def told(pool: int, partition: int, ios: int, seconds: float, longest: float) -> ObjectDelay:
        return ObjectDelay(
            pool=pool, object=9, partition=partition, source="IFCID 199", sync_ios=ios, sync_seconds=seconds,
            sync_longest=longest,
        )  # fmt: skip

    held = Observation(
        {}, 1.0, np.zeros(0), True, (), {}, {}, {}, (told(1, 1, 10, 0.02, 0.5), told(1, 2, 30, 0.02, 0.1))
    )
    own = held._delay("BP1", 9)
    assert own is not None
    assert (own.sync_mean, own.sync_longest) == (pytest.approx(0.001), 0.5)
    # Moved to another pool, the object keeps the times that were recorded where it was.
    assert held._delay("BP2", 9) == own
    assert held._delay("BP1", 8) is None


def _published(name: str) -> list[dict[str, str]]:
    with (STUDY / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("name", "seconds"), [("XGEN048Z", 2656.0), ("XGEN048B", 2656.0), ("BP11 object", 2981.0)])
def test_published_objects(name: str, seconds: float) -> None:
    """Ratios, rates and pages per write of the 2014 study's objects from their printed counts."""
    told = {row["item"]: float(row[name].replace(",", "")) for row in _published("objects.csv")}
    one = Io(
        "BP9", name, seconds=seconds, getpages=told["Total Get Pages"], random_getpages=told["Get Page Rand"],
        sync_reads=told["Pages Read Sync"], prefetch_reads=told["Reads For Dynpr"],
        prefetch_pages=told["Pages Read Dynpr"], write_ios=told["Writes Asynch"], pages_written=told["Pages Written"],
        sync_delay=told["Avg Synch IO (ms)"] / 1000,
    )  # fmt: skip
    assert one.application_hit_ratio == pytest.approx(told["App Hit Ratio"] / 100, abs=6e-4)
    assert one.system_hit_ratio == pytest.approx(told["System Hit Ratio"] / 100, abs=6e-4)
    assert one.read_ios_per_second == pytest.approx(told["Read IO Rate/sec"], abs=0.006)
    assert one.pages_per_write == pytest.approx(told["Pages / Write"], abs=0.006)
    assert one.random_share == 1.0


def test_two_published_objects_of_like_io_and_twice_the_delay() -> None:
    costs = {row["Object Name"][-8:]: row for row in _published("object_io_cost.csv")}
    seconds = 2656.0
    ios = [
        Io("BP9", "XGEN048B", seconds=seconds, sync_reads=650072, prefetch_reads=1759, sync_delay=0.001),
        Io("BP9", "XGEN048Z", seconds=seconds, sync_reads=701022, prefetch_reads=0, sync_delay=0.002),
    ]
    assert [one.name for one in ranked(ios)] == ["XGEN048Z", "XGEN048B"]
    cost = default_cost()
    for one in ios:
        printed = costs[one.name]
        assert one.read_ios == float(printed["Total I/O"])
        assert one.cpu_seconds(cost) == pytest.approx(float(printed["CPU Sec Cost"]), abs=6e-4)
        assert one.elapsed_seconds(cost) == pytest.approx(float(printed["IO Elap Sec"]), abs=6e-4)
        assert one.delay_per_day(cost) == pytest.approx(float(printed["24Hrs IO Delay"]), rel=5e-4)


def test_a_published_negative_hit_ratio() -> None:
    """67 million getpages, 41 % more pages read than asked for: the system hit ratio is below zero."""
    told = {}
    for row in _published("negative_hit_ratio.csv"):
        told.setdefault(row["item"], row["value"].replace(",", ""))
    one = Io(
        "BP1", "EBPPE001", seconds=900.0, getpages=405898, sync_reads=float(told["Pages Read - Synch"]),
        prefetch_pages=float(told["Pages Read - SPref"]) + float(told["Pages Read - DPref"]),
        prefetch_reads=float(told["Read I/O - SPref"]) + float(told["Read I/O - DPref"]),
    )  # fmt: skip
    assert one.pages_read == float(told["Pages Read"])
    assert one.read_ios == float(told["Read I/Os"])
    assert one.system_hit_ratio == pytest.approx(-0.41, abs=5e-4)
    assert one.read_ios_per_second == pytest.approx(254.9, abs=0.05)


def test_io_of_a_page_fixed_pool_costs_less(tmp_path: Path) -> None:
    path = written(tmp_path, time=[0, 1], pool=["BP1", "BP2"], object=["D.A", "D.B"], page=[1, 1])
    found = observe(open_trace([path]), configured([bp(1, 10), PoolSettings("BP2", 10, vpseqt=0, pgfix=True)]))
    cost = default_cost()
    # A read of 33 µs, and one of 33 µs less the 8 % that page fixing saves.
    assert {one.name: one.cpu_seconds(cost) for one in objects_of(found)} == {
        "D.A": pytest.approx(33e-6),
        "D.B": pytest.approx(33e-6 * 0.92),
    }
    assert [one.cpu_seconds(cost) for one in pools_of(found)] == [pytest.approx(33e-6), pytest.approx(30.36e-6)]


def test_what_is_not_known_stays_unknown() -> None:
    nothing = Io("BP1", "D.A")
    assert nothing.read_ios is None
    assert nothing.cpu_per_day(default_cost()) is None
    assert nothing.application_hit_ratio is None
    assert nothing.elapsed_seconds(default_cost()) is None
    assert Io("BP1", "D.A", sync_reads=5).delay_per_day(default_cost()) is None
