"""Recommendations for a group against every division of the storage tried one after the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plexlens.errors import UsageError
from plexlens.pools.cost import group_cost
from plexlens.pools.outcome import states_of
from plexlens.pools.search.case import Limits
from plexlens.pools.search.optimiser import Optimiser
from plexlens.pools.search.recommendation import Recommendation
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.structures import GroupPoolSettings
from plexlens.pools.trace import Trace, open_trace
from plexlens.pools.work import Work, look_at
from tests.pools.made_trace import zipf

PAGE = 4096
BUDGET = 600


def pools(*sizes: int) -> dict[str, PoolSettings]:
    return {f"BP{number}": PoolSettings(f"BP{number}", size) for number, size in enumerate(sizes, 1)}


BEFORE = Configuration.of_members(
    {"DB1A": pools(300, 300), "DB1B": pools(300, 300)},
    structures={"BP1": GroupPoolSettings("BP1", 60, 240)},
    group="DSNDB1G",
)


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, Work]:
    """A table that both use and change in BP1; in BP2 a ring of 410 pages at one member, a table at the other."""
    rng = np.random.default_rng(11)
    rows = 24_000
    which = rng.choice(3, size=rows, p=[0.5, 0.25, 0.25])
    member = np.where(which == 0, rng.integers(0, 2, rows), which - 1)
    page = np.empty(rows, np.int64)
    for number, made in enumerate(
        (zipf(rng, 700, 0.7, rows), np.arange(rows) % 410, zipf(rng, 900, 0.5, rows)),
    ):
        mask = which == number
        page[mask] = made[: mask.sum()]
    change = (which == 0) & (rng.random(rows) < 0.2)
    times = 1 + change
    function = np.full(times.sum(), "getpage", object)
    function[np.cumsum(times)[change] - 1] = "set_write"
    path = tmp_path_factory.mktemp("group") / "t.parquet"
    pq.write_table(
        pa.table(
            {
                "time": 1_772_445_600_000_000 + np.arange(times.sum()) * 5000,
                "member": np.repeat(np.array(["DB1A", "DB1B"])[member], times),
                "pool": np.repeat(np.array(["BP1", "BP2", "BP2"])[which], times),
                "object": np.repeat(np.array(["D.SHARED", "D.RING", "D.TABLE"])[which], times),
                "page": np.repeat(page * 100, times),
                "function": pa.array(function.tolist()),
            }
        ),
        path,
    )
    trace = open_trace([path])
    return trace, look_at(trace)


def recommended(looked: tuple[Trace, Work], limits: Limits) -> Recommendation:
    trace, work = looked
    return Optimiser(trace, BEFORE, work=work, cost=group_cost(), limits=limits).run()


@pytest.fixture(scope="module")
def found(looked: tuple[Trace, Work]) -> Recommendation:
    limits = Limits(budgets=dict.fromkeys(("DB1A", "DB1B"), BUDGET * PAGE), structures=3 << 20, least_buffers=20)
    return recommended(looked, limits)


def test_no_division_of_the_storage_is_much_better(looked: tuple[Trace, Work], found: Recommendation) -> None:
    trace, work = looked
    after = found.after.configuration
    parts = range(20, BUDGET, 58)
    every = []
    for first, second in product(parts, parts):
        members = {"DB1A": pools(first, BUDGET - first), "DB1B": pools(second, BUDGET - second)}
        every.append(Configuration.of_members(members, structures=after.structures))
    costs = [state.cpu_seconds for state in states_of(trace, every, work=work, cost=group_cost())]
    assert found.after.cpu_seconds <= 1.01 * min(costs)
    assert min(costs) < 0.97 * costs[0]
    # The ring fits, though equal parts would not hold it.
    assert after.pools["DB1A.BP2"].size >= 410
    assert all(after.of(member).bytes <= BUDGET * PAGE for member in after.members)


def test_no_group_buffer_pool_within_the_budget_is_much_better(
    looked: tuple[Trace, Work], found: Recommendation
) -> None:
    trace, work = looked
    tried = [
        GroupPoolSettings("BP1", data, int(data * ratio))
        for data, ratio in product((50, 100, 200, 400, 600), (1, 1.5, 2, 3, 5, 8))
    ]
    every = [found.after.configuration.with_structures({"BP1": one}) for one in tried if one.bytes <= 3 << 20]
    costs = [state.cpu_seconds for state in states_of(trace, every, work=work, cost=group_cost())]
    assert len(costs) > 15
    assert found.after.cpu_seconds <= 1.01 * min(costs)
    assert found.after.configuration.structure_bytes <= 3 << 20
    assert found.after.requests.invalidated_by_reclaim < 0.01 * found.before.requests.invalidated_by_reclaim


def test_steps_lead_from_before_to_after_and_each_is_worth_it(
    looked: tuple[Trace, Work], found: Recommendation
) -> None:
    trace, work = looked
    worth = [step for step in found.steps if step.worth]
    assert len(worth) >= 2
    assert worth[0].before.configuration == BEFORE
    assert worth[-1].after.configuration == found.after.configuration
    for earlier, later in pairwise(worth):
        assert earlier.after.configuration == later.before.configuration
    (again,) = states_of(trace, [found.after.configuration], work=work, cost=group_cost())
    assert again.cpu_seconds == found.after.cpu_seconds < found.before.cpu_seconds
    # Page steal without LRU chains is worth it without saving I/O.
    priced = [step for step in worth if not step.title.startswith("Set PGSTEAL")]
    assert all(step.saved.cpu_seconds >= 0.001 * found.before.cpu_seconds for step in priced)
    assert any("Not optimised in a group" in note for note in found.notes)


def test_group_buffer_pools_stay_without_a_budget_of_theirs(looked: tuple[Trace, Work]) -> None:
    made = recommended(looked, Limits(budgets={"DB1B": BUDGET * PAGE}, least_buffers=20))
    assert made.after.configuration.structures == BEFORE.structures
    assert made.after.configuration.of("DB1A").pools == BEFORE.of("DB1A").pools
    assert any("Group buffer pools are not changed (GBP1 take" in note for note in made.notes)


def test_a_smaller_budget_is_kept_though_it_costs(looked: tuple[Trace, Work]) -> None:
    limits = Limits(budgets={"DB1A": 500 * PAGE, "DB1B": 500 * PAGE}, structures=150_000, least_buffers=20)
    made = recommended(looked, limits)
    after = made.after.configuration
    assert [after.of(member).bytes <= 500 * PAGE for member in after.members] == [True, True]
    assert after.structure_bytes <= 150_000 < BEFORE.structure_bytes


def test_pinned_pools_keep_their_size(looked: tuple[Trace, Work]) -> None:
    limits = Limits(
        budgets={"DB1A": BUDGET * PAGE},
        structures=3 << 20,
        least_buffers=20,
        pinned=frozenset({"DB1A.BP1"}),
        pinned_structures=frozenset({"BP1"}),
    )
    after = recommended(looked, limits).after.configuration
    assert after.pools["DB1A.BP1"].size == 300
    assert after.structures == BEFORE.structures


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(budgets={"DB1A": 10 * PAGE}, least_buffers=20), r"DB1A: the budget of 40,960 bytes is below"),
        (Limits(structures=1000), r"below the .* that GBP1 needs"),
    ],
)
def test_budgets_below_the_least(looked: tuple[Trace, Work], limits: Limits, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        recommended(looked, limits)


def flooded(path: Path, *, changed: float = 0.0) -> tuple[Trace, Work, int]:
    """At both members a flood takes the buffers of a table that fits; how many pages of the flood are read."""
    rng = np.random.default_rng(3)
    rows = 24_000
    flood = rng.random(rows) < 0.5
    page = np.where(flood, np.arange(rows), rng.integers(0, 250, rows))
    times = 1 + (rng.random(rows) < changed)
    function = np.full(times.sum(), "getpage", object)
    function[np.cumsum(times)[times == 2] - 1] = "set_write"
    columns = {
        "member": np.array(["DB1A", "DB1B"])[rng.integers(0, 2, rows)],
        "object": np.array(["D.TABLE", "D.FLOOD"])[flood.astype(int)],
        "page": page * 100,
    }
    table = {name: np.repeat(values, times) for name, values in columns.items()}
    table["time"] = 1_772_445_600_000_000 + np.arange(times.sum()) * 5000
    pq.write_table(pa.table({**table, "pool": ["BP1"] * len(function), "function": function.tolist()}), path)
    trace = open_trace([path])
    return trace, look_at(trace), int(flood.sum())


def test_objects_of_a_group_move_and_settings_change_where_that_saves(tmp_path: Path) -> None:
    """In a pool of its own the flood harms nobody."""
    trace, work, flood = flooded(tmp_path / "t.parquet")
    before = Configuration.of_members({member: {"BP1": PoolSettings("BP1", 300)} for member in work.members})
    limits = Limits(budgets=dict.fromkeys(work.members, 300 * PAGE), least_buffers=20)
    made = Optimiser(trace, before, work=work, cost=group_cost(), limits=limits).run()
    assert any(step.worth and step.objects for step in made.steps)
    home = {"D.TABLE": "BP1", "D.FLOOD": "BP1"} | dict(made.after.configuration.placement)
    assert home["D.TABLE"] != home["D.FLOOD"]
    for member in work.members:
        pool = made.after.configuration.pools[f"{member}.{home['D.TABLE']}"]
        assert 250 <= pool.size <= 280
        assert made.after.configuration.of(member).bytes <= 300 * PAGE
    # Every page of the table is read once by each member, and the flood as before.
    assert made.after.total.read_ios == pytest.approx(flood + 500, rel=0.01)
    alone = Optimiser(trace, before, work=work, cost=group_cost(), limits=replace(limits, moves=False)).run()
    assert made.after.cpu_seconds < 0.9 * alone.after.cpu_seconds
    assert any("PGSTEAL(FIFO)" in step.title and step.worth for step in made.steps)


def test_a_shared_object_that_moves_has_a_group_buffer_pool_where_it_goes(tmp_path: Path) -> None:
    trace, work, _ = flooded(tmp_path / "t.parquet", changed=0.05)
    before = Configuration.of_members(
        {member: {"BP1": PoolSettings("BP1", 300)} for member in work.members},
        structures={"BP1": GroupPoolSettings("BP1", 200, 2000)},
    )
    limits = Limits(budgets=dict.fromkeys(work.members, 300 * PAGE), structures=4 << 20, least_buffers=20)
    made = Optimiser(trace, before, work=work, cost=group_cost(), limits=limits).run()
    after = made.after.configuration
    assert after.placement
    assert after.structures.keys() == set(after.pool_names) == made.after.dependent.keys()
    assert after.structure_bytes <= 4 << 20
    assert any(line.startswith("-- Define structure") for line in made.script.change)
    assert made.after.cpu_seconds < 0.95 * made.before.cpu_seconds
    (again,) = states_of(trace, [replace(after, pools=dict(after.pools))], work=work, cost=group_cost())
    assert again.requests.requests == made.after.requests.requests
