"""Recommendations for a group against every division of the storage tried one after the other."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plexlens.errors import UsageError
from plexlens.pools.group.cost import GroupCost
from plexlens.pools.group.recommend import GroupLimits, GroupOptimiser, GroupRecommendation
from plexlens.pools.group.settings import GroupConfiguration, GroupPoolSettings
from plexlens.pools.group.states import group_states
from plexlens.pools.group.work import GroupWork, look_at_group
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import Trace, open_trace
from tests.pools.made_trace import zipf

PAGE = 4096
BUDGET = 600


def pools(*sizes: int) -> Configuration:
    return Configuration({f"BP{number}": PoolSettings(f"BP{number}", size) for number, size in enumerate(sizes, 1)})


BEFORE = GroupConfiguration(
    {"DB1A": pools(300, 300), "DB1B": pools(300, 300)}, {"BP1": GroupPoolSettings("BP1", 60, 240)}, name="DSNDB1G"
)


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, GroupWork]:
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
    return trace, look_at_group(trace)


def recommended(looked: tuple[Trace, GroupWork], limits: GroupLimits) -> GroupRecommendation:
    trace, work = looked
    return GroupOptimiser(trace, BEFORE, work=work, cost=GroupCost(), limits=limits).run()


@pytest.fixture(scope="module")
def found(looked: tuple[Trace, GroupWork]) -> GroupRecommendation:
    limits = GroupLimits(budgets=dict.fromkeys(("DB1A", "DB1B"), BUDGET * PAGE), structures=3 << 20, least_buffers=20)
    return recommended(looked, limits)


def test_no_division_of_the_storage_is_much_better(looked: tuple[Trace, GroupWork], found: GroupRecommendation) -> None:
    trace, work = looked
    after = found.after.configuration
    parts = range(20, BUDGET, 58)
    every = []
    for first, second in product(parts, parts):
        members = {"DB1A": pools(first, BUDGET - first), "DB1B": pools(second, BUDGET - second)}
        every.append(GroupConfiguration(members, after.structures))
    costs = [state.cpu_seconds for state in group_states(trace, every, work=work, cost=GroupCost())]
    assert found.after.cpu_seconds <= 1.01 * min(costs)
    assert min(costs) < 0.97 * costs[0]
    # The ring fits, though equal parts would not hold it.
    assert after.members["DB1A"].pools["BP2"].size >= 410
    assert all(own.bytes <= BUDGET * PAGE for own in after.members.values())


def test_no_group_buffer_pool_within_the_budget_is_much_better(
    looked: tuple[Trace, GroupWork], found: GroupRecommendation
) -> None:
    trace, work = looked
    tried = [
        GroupPoolSettings("BP1", data, int(data * ratio))
        for data, ratio in product((50, 100, 200, 400, 600), (1, 1.5, 2, 3, 5, 8))
    ]
    every = [found.after.configuration.with_structures({"BP1": one}) for one in tried if one.bytes <= 3 << 20]
    costs = [state.cpu_seconds for state in group_states(trace, every, work=work, cost=GroupCost())]
    assert len(costs) > 15
    assert found.after.cpu_seconds <= 1.01 * min(costs)
    assert found.after.configuration.structure_bytes <= 3 << 20
    assert found.after.requests.invalidated_by_reclaim < 0.01 * found.before.requests.invalidated_by_reclaim


def test_steps_lead_from_before_to_after_and_each_is_worth_it(
    looked: tuple[Trace, GroupWork], found: GroupRecommendation
) -> None:
    trace, work = looked
    worth = [step for step in found.steps if step.worth]
    assert len(worth) >= 2
    assert worth[0].before.configuration == BEFORE
    assert worth[-1].after.configuration == found.after.configuration
    for earlier, later in pairwise(worth):
        assert earlier.after.configuration == later.before.configuration
    (again,) = group_states(trace, [found.after.configuration], work=work, cost=GroupCost())
    assert again.cpu_seconds == found.after.cpu_seconds < found.before.cpu_seconds
    assert all(step.value >= 0.001 * found.before.cpu_seconds for step in worth)
    assert any("Not looked at in a group" in note for note in found.notes)


def test_group_buffer_pools_stay_without_a_budget_of_theirs(looked: tuple[Trace, GroupWork]) -> None:
    made = recommended(looked, GroupLimits(budgets={"DB1B": BUDGET * PAGE}, least_buffers=20))
    assert made.after.configuration.structures == BEFORE.structures
    assert made.after.configuration.members["DB1A"] == BEFORE.members["DB1A"]
    assert any("Group buffer pools stay as they are (GBP1 take" in note for note in made.notes)


def test_a_smaller_budget_is_kept_though_it_costs(looked: tuple[Trace, GroupWork]) -> None:
    limits = GroupLimits(budgets={"DB1A": 500 * PAGE, "DB1B": 500 * PAGE}, structures=150_000, least_buffers=20)
    made = recommended(looked, limits)
    after = made.after.configuration
    assert [own.bytes <= 500 * PAGE for own in after.members.values()] == [True, True]
    assert after.structure_bytes <= 150_000 < BEFORE.structure_bytes


def test_pinned_pools_keep_their_size(looked: tuple[Trace, GroupWork]) -> None:
    limits = GroupLimits(
        budgets={"DB1A": BUDGET * PAGE},
        structures=3 << 20,
        least_buffers=20,
        pinned=frozenset({("DB1A", "BP1")}),
        pinned_structures=frozenset({"BP1"}),
    )
    after = recommended(looked, limits).after.configuration
    assert after.members["DB1A"].pools["BP1"].size == 300
    assert after.structures == BEFORE.structures


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (GroupLimits(budgets={"DB1A": 10 * PAGE}, least_buffers=20), r"DB1A: the budget of 40,960 bytes is below"),
        (GroupLimits(structures=1000), r"below the .* that GBP1 needs"),
    ],
)
def test_budgets_below_the_least(looked: tuple[Trace, GroupWork], limits: GroupLimits, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        recommended(looked, limits)
