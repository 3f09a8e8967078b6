"""Advice on settings, with simulations that say what they are told to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from plexlens.pools.cost import default_cost
from plexlens.pools.headroom import Headroom
from plexlens.pools.prediction import Activity, State
from plexlens.pools.search.advice import Advisor
from plexlens.pools.settings import Configuration, PoolSettings

Reads = Callable[[PoolSettings], float]


def state(reads: Reads, *pools: PoolSettings, **others: float) -> State:
    """A state whose pools have the reads that a function of their settings tells, 33 microseconds each."""
    configuration = Configuration({pool.name: pool for pool in pools})
    return _of(configuration, reads, **others)


def _of(configuration: Configuration, reads: Reads, **others: float) -> State:
    base = Activity(getpages=10_000, distinct_pages=5000, write_ios=0.0)
    activities = {}
    for name, pool in configuration.pools.items():
        count = reads(pool)
        one = replace(base, sync_reads=count, pages_read=count, cpu_seconds=count * 33e-6, **others)
        activities[name] = one
    return State(configuration, activities, {(name, "A.B"): one for name, one in activities.items()})


def advisor(reads: Reads, *, least: float = 33e-6, seconds: float = 10.0, **others: float) -> Advisor:
    def simulate(configurations: Sequence[Configuration]) -> list[State]:
        return [_of(one, reads, **others) for one in configurations]

    return Advisor(simulate, least=least, seconds=seconds)


def test_thresholds_are_changed_where_that_saves_enough() -> None:
    def reads(pool: PoolSettings) -> float:
        return 500.0 + pool.vpseqt if pool.name == "BP1" else 500.0

    now = state(reads, PoolSettings.of("BP1", 1000), PoolSettings.of("BP2", 1000))
    found = advisor(reads).thresholds(now)
    assert found is not None
    assert found.after.configuration.pools == {
        "BP1": PoolSettings.of("BP1", 1000, vpseqt=20),
        "BP2": PoolSettings.of("BP2", 1000),
    }
    assert found.title == "Set thresholds: BP1 VPSEQT 20"
    assert advisor(reads, least=100 * 33e-6).thresholds(now) is None


def test_thresholds_that_harm_together_are_not_set() -> None:
    def reads(pool: PoolSettings) -> float:
        changed = (pool.vpseqt == 40) + (pool.dwqt == 70)
        return {0: 500.0, 1: 400.0, 2: 900.0}[changed]

    now = state(reads, PoolSettings.of("BP1", 1000))
    assert advisor(reads).thresholds(now) is None


def test_thresholds_are_tried_on_a_part_and_confirmed_on_the_whole() -> None:
    whole: list[int] = []

    def reads(pool: PoolSettings) -> float:
        return 500.0 + pool.vpseqt

    def on_part(configurations: Sequence[Configuration]) -> list[State]:
        return [_of(one, lambda pool: reads(pool) / 10) for one in configurations]

    def on_whole(configurations: Sequence[Configuration]) -> list[State]:
        whole.append(len(configurations))
        return [_of(one, reads) for one in configurations]

    now = state(reads, PoolSettings.of("BP1", 1000))
    found = Advisor(on_whole, preview=on_part, least=33e-6, seconds=10.0).thresholds(now)
    assert found is not None
    assert (found.after.configuration.pools["BP1"].vpseqt, whole) == (20, [1])
    # What the part promises and the whole does not hold is not advised.
    contrary = Advisor(
        lambda ones: [_of(one, lambda pool: 900.0) for one in ones], preview=on_part, least=33e-6, seconds=10.0
    )
    assert contrary.thresholds(now) is None


def test_steal_without_chains_only_in_pools_without_read_io() -> None:
    reads_of = {"BP2": 9800.0, "BP4": 5700.0}

    def reads(pool: PoolSettings) -> float:
        return reads_of.get(pool.name, 5000.0)

    # 5,000 pages fit beside the overflow area of 600 of 6,000 buffers, but not of 540 of 5,400: there FIFO. BP2 reads
    # nearly every page that it is asked for, and BP4 has read more pages, by prefetch or again, than it has buffers.
    sizes = {"BP1": 6000, "BP2": 1000, "BP3": 5400, "BP4": 5400}
    found = advisor(reads).steal(state(reads, *(PoolSettings.of(name, size) for name, size in sizes.items())))
    assert [(one.title, one.worth) for one in found] == [
        ("Set PGSTEAL(NONE) for BP1", True),
        ("Set PGSTEAL(FIFO) for BP3", True),
    ]
    assert found[-1].after.configuration.pools["BP1"].steal == "NONE"
    assert found[-1].after.configuration.pools["BP2"].steal == "LRU"


def test_page_steal_that_reads_more_is_refused() -> None:
    def reads(pool: PoolSettings) -> float:
        return 5000.0 + 50 * (pool.steal == "FIFO")

    (found,) = advisor(reads).steal(state(reads, PoolSettings.of("BP2", 5400)))
    assert (found.worth, found.why) == (False, "simulation gives 50 more read I/Os")


def test_page_fix_is_for_busy_pools_the_busiest_buffers_first() -> None:
    def reads(pool: PoolSettings) -> float:
        return {"BP1": 2000.0, "BP2": 3000.0, "BP3": 500.0}[pool.name]

    pools = (PoolSettings.of("BP1", 1000), PoolSettings.of("BP2", 9000), PoolSettings.of("BP3", 10))
    now = state(reads, *pools)
    found = advisor(reads).page_fix(now, default_cost(), None)
    # Pages moved a buffer: BP3 50, BP1 2, BP2 a third. BP3 has 50 I/Os a second in the ten seconds, the others more.
    assert [(one.title, one.worth) for one in found] == [
        ("Page-fix BP3", False),
        ("Page-fix BP1", True),
        ("Page-fix BP2", True),
    ]
    after = found[-1].after
    assert [pool.pgfix for pool in after.configuration.pools.values()] == [True, True, False]
    # 8 % of the CPU of 5,000 reads.
    saved = now.total.cpu_seconds - after.total.cpu_seconds
    assert abs(saved - 0.08 * 5000 * 33e-6) < 1e-12


def test_no_page_fix_on_a_system_that_pages_or_without_times() -> None:
    def reads(pool: PoolSettings) -> float:
        return 2000.0

    now = state(reads, PoolSettings.of("BP1", 1000))
    paging = Headroom("SYSA", 0, 4096, 3.0, 2)
    (found,) = advisor(reads).page_fix(now, default_cost(), paging)
    assert not found.worth
    assert "3.0 page faults per second" in found.why
    (found,) = advisor(reads, seconds=0.0).page_fix(now, default_cost(), None)
    assert not found.worth
    assert "no times" in found.why
