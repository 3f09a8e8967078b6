"""Deltas, explanations and the check of predictions: arithmetic by hand, and what must hold of any numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.compare.comparison.comparison import compare
from plexlens.compare.runs.deltas import Judgement, delta, deltas
from plexlens.compare.runs.environment import NOT_SAID, environments
from plexlens.compare.runs.explain import split_by_load
from plexlens.compare.runs.prediction_check import check_rate, totals
from plexlens.compare.runs.run import Better, Estimate, Group, Reading
from plexlens.errors import NothingUsableError, UsageError
from tests.compare.runs_by_hand import measure, run

VALUES = st.dictionaries(
    st.tuples(st.sampled_from(["reads", "writes"]), st.sampled_from(["a", "b", ""])),
    st.floats(0.1, 1e6),
    min_size=1,
    max_size=6,
)
POSITIVE = st.floats(0.01, 1e6)


@given(VALUES)
def test_a_run_against_itself_shows_no_difference(values: dict[tuple[str, str], float]) -> None:
    made = compare(run("x", values, work={"w": {"a": 1.0}}), run("x", values, work={"w": {"a": 1.0}}))
    assert made.comparability.comparable
    assert all(one.difference == 0 and one.ratio == 1 for one in made.deltas)
    assert {one.judgement for one in made.deltas} == {Judgement.SAME}
    assert made.environments.differences == ()


@given(VALUES, st.floats(0.01, 100))
def test_ratios_do_not_depend_on_scale_and_turn_round(values: dict[tuple[str, str], float], factor: float) -> None:
    other = {key: value * factor for key, value in values.items()}
    forth = {(one.measure.id, one.object_name): one for one in deltas(run("x", values), run("y", other))}
    back = {(one.measure.id, one.object_name): one for one in deltas(run("y", other), run("x", values))}
    for key, one in forth.items():
        assert one.ratio == pytest.approx(factor)
        assert back[key].ratio == pytest.approx(1 / factor)
        assert back[key].difference == pytest.approx(-(one.difference or 0.0))


@pytest.mark.parametrize(
    ("better", "new", "expected"),
    [
        (Better.LOWER, 9.0, Judgement.BETTER), (Better.LOWER, 11.0, Judgement.WORSE),
        (Better.HIGHER, 11.0, Judgement.BETTER), (Better.HIGHER, 9.0, Judgement.WORSE),
        (Better.NEITHER, 11.0, Judgement.HIGHER), (Better.NEITHER, 9.0, Judgement.LOWER),
        (Better.LOWER, 10.0, Judgement.SAME),
    ],
)  # fmt: skip
def test_which_way_is_good(better: Better, new: float, expected: Judgement) -> None:
    assert delta(measure("reads", better=better), "", Reading(10.0), Reading(new)).judgement is expected


def test_within_rounding() -> None:
    """0.94 and 0.93 as printed may both be 0.935; 0.95 cannot."""
    found = delta(measure("reads"), "", Reading(0.94, 0.935, 0.945), Reading(0.93, 0.925, 0.935))
    assert found.judgement is Judgement.ROUNDING
    assert (found.low, found.high) == (pytest.approx(-0.02), pytest.approx(0.0))
    found = delta(measure("reads"), "", Reading(0.95, 0.945, 0.955), Reading(0.93, 0.925, 0.935))
    assert found.judgement is Judgement.BETTER
    assert found.ratio_high == pytest.approx(0.935 / 0.945)


def test_within_chance() -> None:
    """Errors of 1 each: 1.41 together, of which the interval is about three each side."""
    key = ("reads", "")
    near = deltas(run("x", {key: 10.0}, errors={key: 1.0}), run("y", {key: 12.0}, errors={key: 1.0}))[0]
    far = deltas(run("x", {key: 10.0}, errors={key: 1.0}), run("y", {key: 14.0}, errors={key: 1.0}))[0]
    assert near.judgement is Judgement.CHANCE
    assert far.judgement is Judgement.WORSE and far.told_from_chance
    single = deltas(run("x", {key: 10.0}), run("y", {key: 12.0}, errors={key: 1.0}))[0]
    assert single.interval is None and single.told_from_chance is None


def test_what_one_run_lacks_stays_in_the_list() -> None:
    found = deltas(run("x", {("reads", "a"): 1.0, ("reads", "b"): None}), run("y", {("reads", "c"): 2.0}))
    assert [(one.object_name, one.judgement) for one in found] == [
        ("a", Judgement.ONE_SIDED), ("c", Judgement.ONE_SIDED)
    ]  # fmt: skip


def test_ratio_of_zero_is_none() -> None:
    found = delta(measure("reads"), "", Reading(0.0), Reading(3.0))
    assert (found.ratio, found.difference) == (None, 3.0)


def test_groups_stand_in_the_order_of_a_report() -> None:
    values = {("a", ""): 1.0, ("b", ""): 1.0}
    base = run("x", values)
    measures = {"a": measure("a", group=Group.SERVERS), "b": measure("b", group=Group.RESPONSE)}
    base = base.__class__(**{**base.__dict__, "measures": measures})
    assert [one.measure.id for one in deltas(base, base)] == ["b", "a"]


def test_runs_of_different_studies() -> None:
    values = {("reads", ""): 1.0}
    with pytest.raises(UsageError, match=r"x is of study one and y of study two"):
        compare(run("x", values, family="one"), run("y", values, family="two"))
    with pytest.raises(UsageError, match=r"a performance database"):
        compare(run("x", values, family="one"), run("y", values))


def test_nothing_in_common() -> None:
    with pytest.raises(NothingUsableError, match=r"no number in common.*objects found: a, b"):
        compare(run("x", {("reads", "a"): 1.0}), run("y", {("reads", "b"): 1.0}))


def test_environments_side_by_side() -> None:
    found = environments(
        run(settings={"engines": "2", "level": "ZV010900", "old": "x"}),
        run(settings={"engines": "4", "level": "ZV010900", "new": "y"}),
    )
    assert found.alike == 1
    assert [(one.name, one.base, one.new) for one in found.differences] == [
        ("engines", "2", "4"), ("old", "x", NOT_SAID), ("new", NOT_SAID, "y")
    ]  # fmt: skip


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE)
def test_load_and_rest_are_the_change(base: float, new: float, work: float, later: float) -> None:
    found = split_by_load("x", base, new, work, later)
    slack = 1e-12 * max(base, new, abs(found.load))
    assert found.load + found.rest == pytest.approx(new - base, abs=slack)
    # With the same rate per work the load is all of it; with the same work it is none.
    same = split_by_load("x", base, base * later / work, work, later)
    assert same.rest == pytest.approx(0, abs=1e-9 * max(same.new, base))
    assert split_by_load("x", base, new, work, work).load == 0


def test_load_of_an_object_that_had_no_work() -> None:
    found = split_by_load("x", 0.0, 5.0, 0.0, 100.0)
    assert (found.load, found.rest) == (5.0, 0.0)


def test_prediction_by_hand() -> None:
    """BP2 of 2014: 720 predicted from 41,060,193 getpages in 2656 s; 43,249,062 in 2981 s came, and 737.96 reads.

    15,459.41/s and 14,508.24/s: 720 x 0.938473 = 675.70, so 44.30 fewer by the load, and 62.26 more than that came.
    """
    found = check_rate(
        "BP2", base=859.45, predicted=720.0, actual=737.96, work_base=41060193 / 2656, work_new=43249062 / 2981
    )
    assert found.rescaled == pytest.approx(675.7006, abs=1e-3)
    assert found.load == pytest.approx(-44.2994, abs=1e-3)
    assert found.rest == pytest.approx(62.2594, abs=1e-3)
    assert found.error == pytest.approx(0.09214, abs=1e-5)


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE)
def test_parts_of_a_missed_prediction_add_up(predicted: float, actual: float, work: float, later: float) -> None:
    found = check_rate("x", base=None, predicted=predicted, actual=actual, work_base=work, work_new=later)
    # Differences of large numbers keep the rounding of the largest.
    slack = 1e-12 * max(predicted, actual, found.rescaled)
    assert found.load + found.rest == pytest.approx(found.difference, abs=slack)
    again = check_rate("x", base=None, predicted=predicted, actual=actual, work_base=work, work_new=work)
    assert again.load == pytest.approx(0, abs=slack)
    assert again.rest == pytest.approx(actual - predicted, abs=slack)
    sums = totals([found, again])
    assert sums.load == pytest.approx(found.load + again.load, abs=slack)
    assert sums.actual == pytest.approx(2 * actual)


def test_groups_that_resemble_each_other_are_told() -> None:
    close, apart = (Estimate(1.0, 9, 20, 10, resemblance) for resemblance in (0.6, 0.4))
    plain = Reading(10.0, estimate=apart)
    assert delta(measure("reads"), "", plain, Reading(12.0, estimate=close)).too_narrow
    assert not delta(measure("reads"), "", plain, Reading(12.0, estimate=apart)).too_narrow
    assert not delta(measure("reads"), "", Reading(10.0), Reading(12.0, estimate=close)).too_narrow
