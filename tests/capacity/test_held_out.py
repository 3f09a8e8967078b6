"""The model tried on intervals that it was not calibrated from, and intervals told apart."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plexlens.capacity import Change, calibrate, make_plan, measure, to_object
from plexlens.capacity.goals import Goal
from plexlens.capacity.held_out import kinds, try_model
from plexlens.capacity.page.report import plan_report
from plexlens.report import render_text
from tests.capacity.made import database, raw_tables, several
from tests.draws import draws


def test_every_second_interval_is_predicted_from_the_others() -> None:
    # Response of both classes 10 % longer in the held-out intervals, at the same loads: 1 / 1.1 - 1 = -9.1 %.
    tables = raw_tables(1.0, 1.0, 1.0, 1.0)
    for row in tables["smf72_3_period"]:
        if row.get("r723crcp") and row["record_no"] // 100 % 2 == 1:
            row["r723ctet"] *= 1.1
    measured = measure(several(tables))
    tried = try_model(measured, calibrate(measured))
    assert tried is not None
    assert (len(tried.calibrated), len(tried.tried)) == (2, 2)
    assert {one.name: one.error for one in tried.classes} == {
        "ONLINE.1": pytest.approx(1 - 1 / 1.1, rel=1e-6),
        "DDF.1": pytest.approx(1 - 1 / 1.1, rel=1e-6),
    }
    assert tried.busy["SYS1"] == pytest.approx(0.0, abs=1e-9)
    assert tried.is_narrow


def test_a_class_that_fails_the_trial_has_no_conclusion() -> None:
    tables = raw_tables(1.0, 1.0, 1.0, 1.0)
    for row in tables["smf72_3_period"]:
        if row.get("r723crcp") and row["record_no"] // 100 % 2 == 1:
            row["r723ctet"] *= 1.5
    measured = measure(several(tables))
    plan = make_plan("made", measured, calibrate(measured), Change(), tolerance=0.3)
    found = next(one for one in plan.checks[0].classes if one.name == "ONLINE.1")
    assert found.held_out_error == pytest.approx(1 - 1 / 1.5, rel=1e-6)
    assert not found.reproduced
    assert "every second interval" in found.reason


def test_one_interval_is_not_tried() -> None:
    measured = measure(database())
    plan = make_plan("made", measured, calibrate(measured), Change())
    assert plan.tried is None
    assert "fewer than two" in render_text(plan_report(plan)).replace("\n", " ")


def test_intervals_of_two_configurations_are_told_apart() -> None:
    tables = raw_tables(1.0, 1.0, 1.0)
    # The third interval has one engine less.
    rows = tables["smf70_1_cpu_data"]
    tables["smf70_1_cpu_data"] = [row for row in rows if (row["record_no"], row["section_no"]) != (299, 1)]
    measured = measure(several(tables))
    found = kinds(measured)
    assert [len(one.intervals) for one in found] == [2, 1]
    assert [one.engines for one in found] == [(("SYS1", 4.0, 1.0),), (("SYS1", 3.0, 1.0),)]
    text = " ".join(render_text(plan_report(make_plan("made", measured, calibrate(measured), Change()))).split())
    assert "The intervals fall into 2 groups" in text
    assert "SYS1: 3 general engines and 1 zIIP;" in text


def test_intervals_of_two_mixes_are_told_apart() -> None:
    # 1,000 ONLINE beside 2,000 DDF, and beside 200: a third against five sixths, half of all are of other classes.
    tables = raw_tables(1.0, 1.0)
    for row in tables["smf72_3_period"]:
        if row.get("r723crcp") == 2000 and row["record_no"] >= 100:
            row["r723crcp"], row["r723ctet"] = 200, row["r723ctet"] / 10
    found = kinds(measure(several(tables)))
    assert [one.mix["ONLINE.1"] for one in found] == [pytest.approx(1 / 3), pytest.approx(5 / 6)]
    assert len(kinds(measure(several(raw_tables(1.0, 1.0))))) == 1


@settings(max_examples=draws(6, 150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    scale=st.sampled_from([0.0, 1e-9, 1.0, 3.0, 1e6, 1e300]),
    speed=st.sampled_from([1e-3, 1.0, 1e9]),
    members=st.integers(0, 3),
    ziips=st.sampled_from(["", "0", "+3"]),
    fixed=st.booleans(),
)
def test_no_number_of_the_json_is_infinite(scale: float, speed: float, members: int, ziips: str, fixed: bool) -> None:
    measured = measure(database(1.0, 1.1))
    change = Change(scale=scale, speed=speed, members=members, ziips=ziips, fixed_background=fixed)
    found = to_object(make_plan("made", measured, calibrate(measured), change))
    for number in _numbers(found):
        assert math.isfinite(number)
    json.dumps(found, allow_nan=False)


def test_a_velocity_of_zero_is_null_in_json() -> None:
    # The goal is missed without bounds: its performance index is infinite.
    assert Goal("velocity", 0.4).index(None, 0.0) == math.inf
    measured = measure(database(1.0, 1.1))
    made = make_plan("made", measured, calibrate(measured), Change())
    outlook = made.outlooks[0]
    result = outlook.results["SYS1"]
    classes = {name: replace(one, index=math.inf) for name, one in result.classes.items()}
    wrong = replace(outlook, results={"SYS1": replace(result, classes=classes)})
    found = to_object(replace(made, outlooks=(wrong, *made.outlooks[1:])))
    assert found["outlooks"][0]["systems"]["SYS1"]["classes"]["ONLINE.1"]["performance_index"] is None
    json.dumps(found, allow_nan=False)


def _numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for one in value.values() for number in _numbers(one)]
    if isinstance(value, list | tuple):
        return [number for one in value for number in _numbers(one)]
    return [value] if isinstance(value, float) else []
