"""Predictions: closed forms, goals by hand, properties, wrong use."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens._core import erlang_c
from plexlens.capacity import Change, calibrate, make_plan, measure, to_object
from plexlens.capacity.change import check
from plexlens.capacity.goals import Goal, quantile
from plexlens.capacity.model import Model
from plexlens.capacity.overflow import Overflow
from plexlens.capacity.predict import at, breaking, run_at, saturation
from plexlens.errors import UsageError
from tests.capacity.made import database, online
from tests.draws import draws


def one_class(**how: Any) -> Model:
    """ONLINE alone on one engine: 1 transaction a second of 0.5 s, nothing else in its response of 1 s."""
    fields = {**online(response=1.0), "cpu": 500.0, "r723cict": 0.0, **how}
    return calibrate(measure(database(classes={"ONLINE": fields}, engines=1, ziips=0, busy=500.0)))


def test_one_class_is_the_closed_form() -> None:
    model = one_class()
    (system,) = model.systems
    # M/M/1 at 50 %: 0.5 / 0.5 = 1 s is the whole response, so no other delay is left.
    assert system.of("ONLINE.1").other == pytest.approx(0, abs=1e-12)
    for load in (0.2, 1.0, 1.9):
        found = at(model, system, Change(), load)
        assert found.classes["ONLINE.1"].response == pytest.approx(0.5 / (1 - 0.5 * load))
        assert found.busy == pytest.approx(0.5 * load)


def test_load_that_saturates_and_load_that_breaks_the_goal() -> None:
    model = one_class()
    (system,) = model.systems
    limit = saturation(model, system, Change())
    assert limit is not None
    assert limit[0] == pytest.approx(2.0, rel=1e-5)
    assert limit[1] == "general engines"
    # Goal 3 s: 0.5 / (1 - 0.5 x) = 3 gives x = 5/3.
    assert breaking(model, system, Change(), "ONLINE.1", limit[0]).load == pytest.approx(5 / 3, rel=1e-4)
    # Twice as fast: 0.25 / (1 - 0.25 x) = 3 gives x = 11/3.
    faster = Change(speed=2.0)
    assert breaking(model, system, faster, "ONLINE.1", 4.0).load == pytest.approx(11 / 3, rel=1e-4)


def test_two_engines_and_a_second_member() -> None:
    model = one_class()
    (system,) = model.systems
    # M/M/2 at rho 0.5: 0.5 / (1 - 0.25), load 2.
    found = at(model, system, Change(scale=2.0, engines="2"))
    assert found.classes["ONLINE.1"].response == pytest.approx(0.5 / 0.75)
    assert at(model, system, Change(scale=2.0, engines="+1")).busy == found.busy
    # Two members at twice the load: each is as it was.
    assert at(model, system, Change(scale=2.0, members=1)).classes["ONLINE.1"].response == pytest.approx(1.0)
    # Sharing costs a tenth of the processor time: M/M/1 of 0.55 s.
    dear = at(model, system, Change(scale=2.0, members=1, member_cost=0.1))
    assert dear.classes["ONLINE.1"].response == pytest.approx(0.55 / 0.45)


def test_run_agrees_with_the_formula() -> None:
    model = calibrate(measure(database()))
    (system,) = model.systems
    solved, run = at(model, system, Change()), run_at(model, system, Change(), seed=5)
    assert run.busy == pytest.approx(solved.busy, abs=0.03)
    for name in ("ONLINE.1", "DDF.1"):
        found, formula = run.classes[name], solved.classes[name].response
        assert found.response is not None
        assert found.half_width is not None
        assert formula is not None
        assert abs(found.response - formula) < 2 * found.half_width + 0.05 * formula


def test_scale_of_one_changes_nothing() -> None:
    model = calibrate(measure(database()))
    (system,) = model.systems
    assert at(model, system, Change(scale=1.0)) == at(model, system, Change())


@settings(max_examples=draws(60), deadline=None)
@given(low=st.floats(0.01, 1.9), more=st.floats(1.0, 1.5))
def test_more_load_never_helps(low: float, more: float) -> None:
    model = _MODEL
    (system,) = model.systems
    less, above = at(model, system, Change(), low), at(model, system, Change(), low * more)
    assert above.busy >= less.busy - 1e-9
    assert (above.ziip_busy or 0) >= (less.ziip_busy or 0) - 1e-9
    assert above.overflow >= less.overflow - 1e-9
    for name, one in less.classes.items():
        if one.response is not None and above.classes[name].response is not None:
            assert above.classes[name].response >= one.response - 1e-9


@settings(max_examples=draws(40), deadline=None)
@given(engines=st.integers(1, 4), busy=st.floats(0.05, 0.95), share=st.floats(0.001, 0.999), load=st.floats(0.1, 20))
def test_overflow_goes_through_its_point(engines: int, busy: float, share: float, load: float) -> None:
    law = Overflow.fitted(engines, busy * engines, share)
    offered = busy * engines / (1 - share)
    assert law.share(engines, offered) == pytest.approx(share, abs=1e-6)
    found = law.share(engines, offered * load)
    assert 0 <= found <= 1
    # What overflows keeps the rest within the zIIPs.
    assert offered * load * (1 - found) <= engines + 1e-6


def test_overflow_by_hand() -> None:
    # One zIIP half busy: C = 0.5. A tenth of the arrivals wait longer than t: 0.5 exp(-0.5 t) = 0.1, t = 2 ln 5.
    law = Overflow.fitted(1, 0.5, 0.1)
    assert law.patience == pytest.approx(2 * math.log(5))
    assert erlang_c(1, 0.5) == pytest.approx(0.5)
    assert Overflow.fitted(1, 0.5, 0.0).share(1, 5.0) == 0.0
    assert Overflow.fitted(0, 0.0, 1.0).share(0, 5.0) == 1.0


def test_percentile_between_buckets() -> None:
    bounds = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 2.0, 4.0)
    ended = [80.0, 0, 0, 0, 0, 16.0, 0, 0, 0, 0, 0, 0, 0, 4.0]
    # 90 of 100: 80 up to 0.5, then 10 of the 16 between 0.9 and 1.0.
    assert quantile(ended, bounds, 0.9) == pytest.approx(0.9 + 0.1 * 10 / 16)
    assert quantile(ended, bounds, 0.97) is None
    assert quantile([0.0] * 14, bounds, 0.9) is None


def test_performance_index() -> None:
    assert Goal("average", 2.0).index(3.0, None) == pytest.approx(1.5)
    assert Goal("velocity", 0.4).index(None, 0.5) == pytest.approx(0.8)
    assert Goal("percentile", 1.0, 90.0, 2.0).index(0.6, None) == pytest.approx(1.2)
    assert Goal("none").index(1.0, 1.0) is None


def test_a_volume_saturates_by_hand() -> None:
    # One volume 40 % busy with 10 ms I/Os waits 0.4 x 10 / 0.6 = 6.67 ms; at twice the load 0.8 x 10 / 0.2 = 40 ms.
    # A transaction that does three gets 100 ms more; at 2.5 times the load nothing is an answer, whatever the engines.
    from plexlens.capacity.lines import Line, Wait

    model = one_class()
    system = model.systems[0]
    volume = Line("volume", "0001", 1, 0.4, 0.010, rate=40.0)
    wait = Wait("volume", {"volume 0001": 1.0}, 3.0, 0.020)
    classes = tuple(replace(one, waits=(wait,)) for one in system.classes)
    with_volume = replace(system, classes=classes, lines={"volume 0001": volume})
    before, after = at(model, system, Change(scale=1.8)), at(model, with_volume, Change(scale=1.8))
    # 0.72 x 10 / 0.28 = 25.71 ms: 3 x (25.71 - 6.67) ms on top of the 20 ms measured.
    more = 0.020 + 3 * (0.72 * 0.010 / 0.28 - 0.4 * 0.010 / 0.6)
    assert after.classes["ONLINE.1"].response == pytest.approx(before.classes["ONLINE.1"].response + more, rel=1e-9)
    assert at(model, with_volume, Change(scale=2.5, engines="4")).saturated == "volume 0001"
    assert saturation(model, with_volume, Change(engines="4")) == (pytest.approx(2.5, rel=1e-5), "volume 0001")
    # Engines do not make volumes faster; another member takes its share of the work, but uses the same volume.
    shared = replace(with_volume, lines={"volume 0001": replace(volume, shared=True)})
    assert at(model, shared, Change(scale=2.5, members=1)).saturated == "volume 0001"


def test_a_class_that_is_not_reproduced_has_no_conclusion() -> None:
    # 0.5 s of processor on one engine half busy is 1 s at least; measured is 0.6 s.
    samples = {"r723ctou": 99, "r723ctot": 1, "r723ccus": 99, "r723ccde": 1, "r723ctsa": 100}
    fields = {**online(response=0.6), "cpu": 500.0, "r723cict": 0.0, **samples}
    measured = measure(database(classes={"ONLINE": fields}, engines=1, ziips=0, busy=500.0))
    plan = make_plan("made", measured, calibrate(measured), Change())
    (found,) = plan.checks[0].classes
    assert found.error == pytest.approx(1 / 0.6 - 1)
    assert not found.reproduced
    assert "off by 67%" in found.reason
    assert plan.outlooks[0].breakings == ()


def test_velocity_by_hand() -> None:
    # Only the processor is used: velocity = D / R = 1 - rho, 50 % as measured; a goal of 40 breaks at rho = 0.6.
    samples = {"r723ctou": 50, "r723ctot": 50, "r723ccus": 50, "r723ccde": 50, "r723ctsa": 100}
    fields = {"cpu": 500.0, "r723cict": 0.0, "r723crgf": 0x20, "r723cval": 40, **samples}
    measured = measure(database(classes={"ONLINE": online(response=1.0) | fields}, engines=1, ziips=0, busy=500.0))
    plan = make_plan("made", measured, calibrate(measured), Change())
    (found,) = plan.checks[0].classes
    assert found.velocity_modelled == pytest.approx(0.5)
    assert found.reproduced
    assert plan.outlooks[0].breakings[0].load == pytest.approx(1.2, rel=1e-4)


def test_engines_that_are_never_idle_have_no_model() -> None:
    measured = measure(database(classes={"ONLINE": {**online(), "cpu": 1000.0}}, engines=1, ziips=0, busy=1000.0))
    plan = make_plan("made", measured, calibrate(measured), Change())
    (found,) = plan.checks[0].classes
    assert not found.reproduced
    assert "saturates general engines" in found.reason
    # With one engine more there is a load to speak of, but nothing to believe it by.
    assert plan.outlooks[0].breakings == ()


def test_intervals_check_the_model() -> None:
    # Two intervals of M/M/1: at 0.4 and 0.8 of an engine, responses as the formula has them, 0.5 / 0.6 and 0.5 / 0.2.
    def fields(load: float) -> dict[str, Any]:
        return {**online(load, response=0.5 / (1 - 0.5 * load)), "cpu": 500.0, "r723cict": 0.0}

    first = database(0.8, classes={"ONLINE": fields(0.8)}, engines=1, ziips=0, busy=500.0)
    plan = make_plan("made", measured := measure(first), calibrate(measured), Change())
    (point,) = plan.checks[0].points
    assert point.busy == pytest.approx(0.4)
    assert point.modelled["ONLINE.1"] == pytest.approx(0.5 / 0.6)


def test_saturated_load_says_where() -> None:
    measured = measure(database())
    plan = make_plan("made", measured, calibrate(measured), Change(scale=3.0))
    found = to_object(plan)
    chosen = found["outlooks"][1]
    assert chosen["systems"]["SYS1"]["saturated"] == "general engines"
    assert chosen["systems"]["SYS1"]["busy"] > 1
    assert chosen["systems"]["SYS1"]["classes"]["ONLINE.1"]["response"] is None
    assert chosen["saturates"]["load"] < 2.01


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change(scale=-1.0), "--scale is -1"),
        (Change(scale=math.nan), "--scale is nan"),
        (Change(scales={"DDF": -2.0}), "--scale of DDF is -2"),
        (Change(scales={"NOBODY": 2.0}), "no class 'NOBODY'"),
        (Change(speed=0.0), "--speed is 0"),
        (Change(members=-1), "--members is -1"),
        (Change(engines="many"), "--engines 'many'"),
        (Change(engines="-4"), "--engines -4 leaves 0"),
        (Change(ziips="-2"), "--ziips -2 leaves -1"),
    ],
)
def test_changes_that_mean_nothing(change: Change, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        check(change, _MODEL)


def test_no_ziips_left() -> None:
    (system,) = _MODEL.systems
    found = at(_MODEL, system, Change(ziips="0"))
    assert found.overflow == 1.0
    assert found.ziip_busy is None
    # Everything eligible now runs on general engines: 200 s of zIIP time more in 1,000 s on four engines.
    assert found.busy == pytest.approx(0.5 + 0.2 / 4)


_MODEL = calibrate(measure(database()))
