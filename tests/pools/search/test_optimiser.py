"""Recommendations from end to end: better than rules of thumb, exact text, honest about what is not worth it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.pool_workloads import PUBLISHED, TwoPools, fifty_objects, hit_ratios, many_objects
from benchmarks.pools import contest
from plexlens.errors import UsageError
from plexlens.pools.alter import apply
from plexlens.pools.cost import default_cost
from plexlens.pools.headroom import Headroom
from plexlens.pools.outcome import moved_names, states_of
from plexlens.pools.search.case import Limits
from plexlens.pools.search.optimiser import Optimiser
from plexlens.pools.search.recommendation import Recommendation
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import open_trace
from plexlens.pools.work import Work

BEFORE = Configuration({name: PoolSettings.of(name, 2000) for name in ("BP1", "BP2", "BP3")})
LIMITS = Limits(budgets={"": 8_000 * 4096}, least_buffers=200)


@pytest.fixture(scope="module")
def fifty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another seed than the documented table has, and a twentieth of its length."""
    path = tmp_path_factory.mktemp("fifty") / "fifty.parquet"
    fifty_objects(60_000, seed=5).write(path)
    return path


@pytest.fixture(scope="module")
def recommended(fifty: Path) -> tuple[Recommendation, Work]:
    optimiser = Optimiser(open_trace([fifty]), BEFORE, cost=default_cost(), limits=LIMITS)
    return optimiser.run(), optimiser.work


def test_it_beats_rules_of_thumb_by_simulation(fifty: Path) -> None:
    costs = {
        name: state.total.cpu_seconds for name, state in contest(open_trace([fifty]), 8_000, least_buffers=200).items()
    }
    best = costs.pop("sizes and groups recommended")
    sizes = costs.pop("sizes recommended")
    assert sizes <= min(costs.values())
    assert best <= sizes
    assert best < min(costs.values())


def test_its_text_leads_there_and_back(recommended: tuple[Recommendation, Work]) -> None:
    made, work = recommended
    objects = moved_names(work)
    before, after = made.before.configuration, made.after.configuration
    changed = apply(made.script.change, before, objects)
    assert changed.pools == after.pools
    assert apply(made.script.reverse, changed, objects).pools == before.pools
    running = before
    for step in made.steps:
        if step.worth:
            assert step.before.configuration == running
            reached = apply(step.script.change, running, objects)
            assert reached.pools == step.after.configuration.pools
            running = step.after.configuration
    assert running == after


def test_what_it_states_is_what_another_simulation_finds(fifty: Path, recommended: tuple[Recommendation, Work]) -> None:
    made, work = recommended
    unfixed = {name: replace(pool, pgfix=False) for name, pool in made.after.configuration.pools.items()}
    again = replace(made.after.configuration, pools=unfixed)
    before, after = states_of(open_trace([fifty]), [BEFORE, again], work=work, cost=default_cost())
    assert before.total == made.before.total
    for name, pool in after.pools.items():
        assert pool.read_ios == made.after.pools[name].read_ios, name


def test_every_step_saves_and_all_keep_the_limit(recommended: tuple[Recommendation, Work]) -> None:
    made, _ = recommended
    worth = [step for step in made.steps if step.worth]
    assert worth
    least = LIMITS.least_gain * made.before.total.cpu_seconds
    for step in worth:
        assert step.saved.cpu_seconds >= least or "PGSTEAL" in step.title, step.title
        assert step.after.configuration.bytes <= 8_000 * 4096
    for step in made.steps:
        assert step.why, step.title
    assert 0 <= made.gap < 0.05


def test_the_budget_is_cut_to_what_the_system_has(fifty: Path) -> None:
    short = Headroom("SYSA", 1000 * 4096, 2000 * 4096, 0.0, 4)
    limits = replace(LIMITS, moves=False, settings=False)
    made = Optimiser(open_trace([fifty]), BEFORE, cost=default_cost(), limits=limits, headroom=short).run()
    assert made.after.configuration.bytes <= 7_000 * 4096
    assert any("budget is cut" in note and "SYSA" in note for note in made.notes)
    paging = replace(short, growth=0, page_faults=20.0)
    made = Optimiser(open_trace([fifty]), BEFORE, cost=default_cost(), limits=limits, headroom=paging).run()
    assert made.after.configuration.bytes <= BEFORE.bytes
    assert any("20.0 page faults per second: pools cannot grow" in note for note in made.notes)


def test_pools_without_size_and_small_budgets_are_refused(fifty: Path) -> None:
    one = Configuration({"BP1": PoolSettings.of("BP1", 3000)})
    with pytest.raises(UsageError, match="the size of BP2, BP3 is not known"):
        Optimiser(open_trace([fifty]), one, cost=default_cost(), limits=LIMITS)
    limits = replace(LIMITS, budgets={"": 4096})
    with pytest.raises(UsageError, match="the budget of 4,096 bytes is below the minimum"):
        Optimiser(open_trace([fifty]), BEFORE, cost=default_cost(), limits=limits).run()


def test_the_published_case_of_two_pools() -> None:
    """All ten numbers within a point, and the gain of combining gone where it was published to be gone."""
    ours = hit_ratios(TwoPools(), list(PUBLISHED))
    for size, (apart, together) in PUBLISHED.items():
        assert ours[size][0] == pytest.approx(apart, abs=1.0), size
        assert ours[size][1] == pytest.approx(together, abs=1.0), size
    gains = [together - apart for apart, together in ours.values()]
    assert gains[0] > 15 > gains[1] > 3
    assert max(gains[2:]) < 0.5


def test_a_budget_below_what_there_is_is_kept_though_it_costs(fifty: Path) -> None:
    limits = replace(LIMITS, budgets={"": 4_500 * 4096})
    made = Optimiser(open_trace([fifty]), BEFORE, cost=default_cost(), limits=limits).run()
    assert made.after.configuration.bytes <= 4_500 * 4096 < BEFORE.bytes
    first = made.steps[0]
    assert first.worth
    assert first.why.startswith("the budget is below the present 23.4 MiB")


def test_no_simple_rule_beats_what_is_recommended(recommended: tuple[Recommendation, Work]) -> None:
    made, _ = recommended
    frontier = made.frontier
    assert frontier is not None
    assert len(frontier.rules) == 4
    least = 0.001 * made.before.cpu_seconds
    for rule in frontier.rules:
        assert frontier.points[-1].state.cpu_seconds <= rule.state.cpu_seconds
        # What is recommended may forgo what its moves would have to save.
        assert made.after.cpu_seconds <= rule.state.cpu_seconds + least * max(frontier.points[-1].moved, 1), rule.name
    costs = [point.state.cpu_seconds for point in frontier.points]
    assert costs == sorted(costs, reverse=True)
    assert [point.moved for point in frontier.points] == sorted({point.moved for point in frontier.points})
    assert frontier.gap is not None and 0 <= frontier.gap < 0.2


def test_no_more_objects_move_than_are_asked_for(fifty: Path) -> None:
    saved = []
    for most in (0, 3):
        limits = replace(LIMITS, most_moves=most, settings=False)
        made = Optimiser(open_trace([fifty]), BEFORE, cost=default_cost(), limits=limits).run()
        moved = {name for step in made.steps if step.worth for name in step.objects}
        assert len(moved) <= most
        saved.append(made.before.cpu_seconds - made.after.cpu_seconds)
    assert saved[1] >= saved[0] > 0, "more moves cannot save less"


def test_many_objects_are_placed_by_age(tmp_path: Path) -> None:
    """More objects than are searched for by curves: no dearer than every rule, and within the budget."""
    path = tmp_path / "many.parquet"
    many_objects(150, 60_000, seed=3).write(path)
    before = Configuration({f"BP{number}": PoolSettings.of(f"BP{number}", 700) for number in range(1, 5)})
    limits = Limits(budgets={"": before.bytes}, least_buffers=100, settings=False)
    made = Optimiser(open_trace([path]), before, cost=default_cost(), limits=limits).run()
    frontier = made.frontier
    assert frontier is not None
    best = min(rule.state.cpu_seconds for rule in frontier.rules)
    assert made.after.cpu_seconds <= 1.001 * best
    assert made.after.configuration.bytes <= before.bytes


def test_without_a_new_placement_the_error_of_the_model_is_not_known(tmp_path: Path) -> None:
    """The composed curves propose only placements that were simulated already, such as the present one."""
    path = tmp_path / "ten.parquet"
    many_objects(10, 20_000).write(path)
    before = Configuration({f"BP{number}": PoolSettings.of(f"BP{number}", 1000) for number in range(1, 4)})
    limits = Limits(budgets={"": before.bytes}, least_buffers=1000, settings=False)
    frontier = Optimiser(open_trace([path]), before, cost=default_cost(), limits=limits).run().frontier
    assert frontier is not None
    assert not [point.name for point in frontier.points if point.name.startswith("by age")]
    assert frontier.model_error is None
    assert frontier.gap is not None
