"""Whether runs are comparable: bounds worked by hand, properties, and the case of 27 further objects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.compare.runs.comparability import Bounds, Outcome, comparability
from plexlens.compare.runs.run import Activity
from tests.compare.runs_by_hand import run

AMOUNTS = st.dictionaries(st.text("ABCDEF", min_size=1, max_size=3), st.floats(0.5, 1e6), min_size=1, max_size=8)


def outcomes(base: dict[str, float], new: dict[str, float], **bounds: float) -> dict[str, Outcome]:
    found = comparability(run(work={"w": base}), run(work={"w": new}), Bounds(**bounds))
    return {check.id.partition(": ")[2]: check.outcome for check in found.checks}


@pytest.mark.parametrize(
    ("base", "new", "expected"),
    [
        # Five percent more is within five percent; a little more is not.
        ({"a": 100.0}, {"a": 105.0}, {"rate": "alike", "objects": "alike"}),
        ({"a": 100.0}, {"a": 105.01}, {"rate": "differs", "objects": "alike"}),
        # 50:50 to 55:45 moves 5 %, to 56:44 6 %.
        ({"a": 50.0, "b": 50.0}, {"a": 55.0, "b": 45.0}, {"rate": "alike", "objects": "alike", "mix": "alike"}),
        ({"a": 50.0, "b": 50.0}, {"a": 56.0, "b": 44.0}, {"rate": "alike", "objects": "alike", "mix": "differs"}),
        # c does 2 of 100 in one run alone.
        ({"a": 100.0}, {"a": 98.0, "c": 2.0}, {"rate": "alike", "objects": "differs", "mix": "alike"}),
        ({"a": 99.0, "c": 1.0}, {"a": 100.0}, {"rate": "alike", "objects": "alike", "mix": "alike"}),
    ],
)
def test_bounds(base: dict[str, float], new: dict[str, float], expected: dict[str, str]) -> None:
    assert {name: str(outcome) for name, outcome in outcomes(base, new).items()} == expected


def test_bounds_can_be_moved() -> None:
    assert outcomes({"a": 100.0}, {"a": 110.0}, rate=0.1)["rate"] is Outcome.ALIKE


@given(AMOUNTS)
def test_a_run_is_comparable_with_itself(amounts: dict[str, float]) -> None:
    found = comparability(run(work={"w": amounts}), run(work={"w": amounts}))
    assert found.comparable
    assert "comparable:" in found.verdict and "not comparable" not in found.verdict


@given(AMOUNTS, AMOUNTS, st.floats(0.01, 100))
def test_scale_changes_neither_objects_nor_mix(base: dict[str, float], new: dict[str, float], factor: float) -> None:
    plain = outcomes(base, new)
    scaled = outcomes(base, {thing: amount * factor for thing, amount in new.items()})
    assert {name: plain[name] for name in plain if name != "rate"} == {
        name: scaled[name] for name in scaled if name != "rate"
    }


@given(AMOUNTS, AMOUNTS)
def test_turned_round_the_same_mix_and_objects_differ(base: dict[str, float], new: dict[str, float]) -> None:
    plain, back = outcomes(base, new), outcomes(new, base)
    assert plain["objects"] == back["objects"]
    assert plain.get("mix") == back.get("mix")


def test_twenty_seven_further_objects() -> None:
    """The case the 2014 study tells: 27 more objects, 10 % more getpages, more pages written: another workload."""
    base = {f"TS{number}": 100.0 for number in range(100)}
    new = {**base, **{f"NEW{number}": 1000.0 / 27 for number in range(27)}}
    found = comparability(
        run(work={"getpages": base, "pages written": {"": 500.0}}),
        run(work={"getpages": new, "pages written": {"": 600.0}}),
    )
    assert not found.comparable
    assert found.verdict.startswith("The runs are not comparable: the rate of getpages is 10.0 % higher")
    (objects,) = [check for check in found.checks if check.id == "getpages: objects"]
    assert "27 appeared, with 9.1 % of NEW's getpages" in objects.text
    assert len(objects.details) == 27
    assert {check.id for check in found.differing} == {
        "getpages: rate", "getpages: objects", "getpages: mix", "pages written: rate"
    }  # fmt: skip


def test_work_that_one_run_does_not_tell_is_said() -> None:
    found = comparability(run(work={"w": {"a": 1.0}}), run())
    (check,) = found.checks
    assert check.outcome is Outcome.UNKNOWN
    assert "Only BASE records its w" in check.text
    assert not found.comparable and not found.tested
    assert found.verdict.startswith("Comparability cannot be tested")


def test_no_work_at_all_in_one_run() -> None:
    found = comparability(run(work={"w": {"a": 0.0, "b": 0.0}}), run(work={"w": {"a": 1.0}}))
    assert found.checks[0].outcome is Outcome.DIFFERS
    assert found.checks[0].text == "Only NEW did any w."


def test_outcomes_are_asked_for_their_objects_only() -> None:
    base, new = (
        Activity("d", "I/Os", "data sets", amounts, only_objects=True) for amounts in ({"a": 1.0}, {"a": 50.0})
    )
    plain = run()
    found = comparability(
        plain.__class__(**{**plain.__dict__, "activities": (base,)}),
        plain.__class__(**{**plain.__dict__, "activities": (new,)}),
    )
    assert [check.id for check in found.checks] == ["d: objects"]
    assert found.comparable


@pytest.mark.parametrize(("before", "after", "expected"), [(10, 20, "alike"), (10, 21, "differs"), (5, 5, "alike")])
def test_lengths_of_runs(before: int, after: int, expected: str) -> None:
    base, new = (run(work={"w": {"a": 1.0}}) for _ in range(2))
    base = base.__class__(**{**base.__dict__, "intervals": {"Processors": before, "Paging": 3}})
    new = new.__class__(**{**new.__dict__, "intervals": {"Processors": after, "Paging": 3}})
    (check,) = [one for one in comparability(base, new).checks if one.id == "intervals: count"]
    assert (check.base, check.new, str(check.outcome)) == (str(before), str(after), expected)
