"""Placement, rules and local search in a data-sharing group, each member with its own use and budget."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.pool_workloads import MadeTrace, many_objects
from plexlens.pools.cost import group_cost
from plexlens.pools.outcome import states_of
from plexlens.pools.search.case import Case, Limits
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.looked_at import samples_of
from plexlens.pools.search.medians import Medians
from plexlens.pools.search.optimiser import Optimiser
from plexlens.pools.search.recommendation import Recommendation
from plexlens.pools.search.structure_steps import coupled
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import Trace, open_trace
from plexlens.pools.work import Work, look_at

PAGE = 4096
MEMBERS = ("DB1A", "DB1B")


def write_group(path: Path, objects: int, getpages: int, *, seed: int) -> None:
    """The same objects at both members, with rates of their own; the rows of both in the order of time."""
    first = many_objects(objects, getpages, seed=seed)
    names = list(first.objects.values())
    random = np.random.default_rng(seed)
    rates = random.permutation([one.rate for one in names])
    again = [type(one)(**{**vars(one), "rate": float(rate)}) for one, rate in zip(names, rates, strict=True)]
    tables = []
    for member, made in zip(MEMBERS, (first, MadeTrace(again, getpages // 2, seed=seed + 1)), strict=True):
        part = path.with_suffix(f".{member}")
        made.write(part)
        table = pq.read_table(part)
        at = table.schema.get_field_index("member")
        tables.append(table.set_column(at, "member", pa.array([member] * table.num_rows)))
    both = pa.concat_tables(tables)
    order = np.argsort(both["time"].to_numpy(), kind="stable")
    pq.write_table(both.take(pa.array(order)), path)


@pytest.fixture(scope="module", params=[30, 130], ids=["few", "many"])
def looked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, Work]:
    """Fewer objects, and more, than are searched for by curves too."""
    path = tmp_path_factory.mktemp("group") / "t.parquet"
    write_group(path, request.param, 10_000, seed=request.param)
    trace = open_trace([path])
    return trace, look_at(trace)


def before_of(work: Work, size: int) -> Configuration:
    pools = {member: {name: PoolSettings.of(name, size) for name in work.pools} for member in MEMBERS}
    return coupled(Configuration.of_members(pools), work)


def recommended(looked: tuple[Trace, Work], limits: Limits, size: int = 250) -> Recommendation:
    trace, work = looked
    return Optimiser(trace, before_of(work, size), work=work, cost=group_cost(), limits=limits).run()


@pytest.fixture(scope="module")
def found(looked: tuple[Trace, Work]) -> Recommendation:
    budgets = dict(zip(MEMBERS, (1000 * PAGE, 1000 * PAGE), strict=True))
    return recommended(looked, Limits(budgets=budgets, least_buffers=60, settings=False))


def test_a_group_never_loses_to_a_simple_rule(looked: tuple[Trace, Work], found: Recommendation) -> None:
    trace, work = looked
    frontier = found.frontier
    assert frontier is not None
    assert {rule.name for rule in frontier.rules} == {
        "equal split", "in proportion to getpages", "marginal gain", "bands by getpages per page"
    }  # fmt: skip
    configurations = [rule.state.configuration for rule in frontier.rules]
    assert all(one.of(member).bytes <= 1000 * PAGE for one in configurations for member in MEMBERS)
    again = states_of(trace, [found.after.configuration, *configurations], work=work, cost=group_cost())
    after, *ruled = [state.cpu_seconds for state in again]
    assert after == pytest.approx(found.after.cpu_seconds)
    # What is recommended may forgo what its moves would have to save.
    least = 0.001 * min(1, 50 / len(work.objects)) * found.before.cpu_seconds
    assert after <= min(ruled) + least * max(frontier.points[-1].moved, 1)
    assert frontier.points[-1].state.cpu_seconds <= min(ruled)
    assert min(ruled) < 0.99 * found.before.cpu_seconds, "the rules find something"


def test_more_moves_save_more_and_budgets_are_kept(found: Recommendation) -> None:
    frontier = found.frontier
    assert frontier is not None
    costs = [point.state.cpu_seconds for point in frontier.points]
    assert costs == sorted(costs, reverse=True) and len(costs) > 1
    for point in frontier.points:
        assert all(point.state.configuration.of(member).bytes <= 1000 * PAGE for member in MEMBERS)
        placed = point.state.configuration.placement
        # One pool for an object at all members, as the catalog has it.
        assert len(placed) == point.moved
    assert frontier.gap is not None and 0 <= frontier.gap < 0.5


def test_no_more_objects_move_than_are_asked_for(looked: tuple[Trace, Work]) -> None:
    budgets = dict.fromkeys(MEMBERS, 1000 * PAGE)
    made = recommended(looked, Limits(budgets=budgets, least_buffers=60, settings=False, most_moves=3))
    assert len(made.after.configuration.placement) <= 3


def test_storage_changes_pools_only_within_a_member(looked: tuple[Trace, Work]) -> None:
    budgets = {"DB1A": 700 * PAGE, "DB1B": 1300 * PAGE}
    made = recommended(looked, Limits(budgets=budgets, least_buffers=60, settings=False, moves=False), 150)
    for member, budget in budgets.items():
        assert made.after.configuration.of(member).bytes <= budget
    assert made.frontier is not None
    assert all(not point.moved for point in made.frontier.points)


def small_case(folder: Path, budgets: dict[str, int]) -> tuple[Case, dict[str, Composition]]:
    """Four objects at two members: what is a flood at one is a small table at the other."""
    random = np.random.default_rng(5)
    parts = {
        "DB1A": {1: random.integers(0, 40, 900), 2: np.arange(1500), 3: random.integers(0, 90, 900)},
        "DB1B": {1: np.arange(900), 2: random.integers(0, 50, 1200), 4: np.arange(1200) % 70},
    }
    tables = []
    for member, objects in parts.items():
        which = np.repeat(list(objects), [len(pages) for pages in objects.values()])
        random.shuffle(which)
        page = np.empty(len(which), np.int64)
        for number, pages in objects.items():
            page[which == number] = pages
        names = [f"D.T{number}" for number in which]
        columns = {"time": np.arange(len(which)) * 1000, "object": names, "page": page}
        tables.append(pa.table({**columns, "member": [member] * len(which), "pool": ["BP1"] * len(which)}))
    both = pa.concat_tables(tables)
    path = folder / "small.parquet"
    pq.write_table(both.take(pa.array(np.argsort(both["time"].to_numpy(), kind="stable"))), path)
    trace = open_trace([path])
    work = look_at(trace)
    names = ["BP1", "BP2", "BP3"]
    limits = {member: size * PAGE for member, size in budgets.items()}
    case = Case(
        work=work,
        home={"BP1": frozenset(work.objects)},
        page_bytes=dict.fromkeys(names, PAGE),
        budgets=limits,
        least=dict.fromkeys([f"{member}.{name}" for member in MEMBERS for name in names], 1),
        before=before_of(work, 100),
        cost=group_cost(),
        free=["BP2", "BP3"],
        limits=Limits(budgets=limits),
    )
    _, rests = samples_of(trace, work.numbers, 1_000_000, None)
    weights = {member: dict.fromkeys(part.objects, 1.0) for member, part in work.members.items()}
    return case, {member: Composition(rests[member], weights[member]) for member in MEMBERS}


@pytest.mark.parametrize("budgets", [(60, 60), (150, 90), (90, 220)])
def test_placement_and_bound_against_every_placement(tmp_path: Path, budgets: tuple[int, int]) -> None:
    case, compositions = small_case(tmp_path, dict(zip(MEMBERS, budgets, strict=True)))
    medians = Medians(case, compositions)
    every = product(range(3), repeat=len(medians.numbers))
    best = min(medians.sized(np.array(chosen)).cost for chosen in every)
    targets = [medians.choose(pools) for pools in (1, 2, 3)]
    groupings = [medians.grouping(target) for target in targets]
    assert best <= min(grouping.cost for grouping in groupings) <= 1.15 * best
    for target, grouping in zip(targets, groupings, strict=True):
        assert medians.bound(3, target.price) <= best * (1 + 1e-9), "a bound that is not one"
        for member, size in zip(MEMBERS, budgets, strict=True):
            own = [count for name, count in grouping.sizes.items() if name.startswith(member)]
            assert sum(own) <= size
    assert max(medians.bound(3, target.price) for target in targets) > 0.6 * best, "a bound that says nothing"
