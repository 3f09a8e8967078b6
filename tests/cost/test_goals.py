"""Goals under caps on the made-up database of `tests.capacity.made`.

A mean interval has 2,000 s of general engines in 1,000 s, so 2 engines are busy. 1,800 s of it are charged: ONLINE
1,000, DDF 400 on general engines, STC 200, SYSTEM 200. With uncaptured time, each has 1 / 0.9 of that: SYSTEM 0.22
engines, ONLINE and STC, of importance 1, 1.33, together 1.56; DDF, of importance 2, brings it to 2.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plexlens.capacity.calibrate import calibrate
from plexlens.capacity.change import Change, setting
from plexlens.capacity.measured import measure
from plexlens.capacity.network import run
from plexlens.cost.goals import Goals, judge
from plexlens.cost.limits import Delay, Pressed, Rules, pressed_of, simulate
from plexlens.cost.rolling import Samples, begins, hours
from plexlens.cost.use import PartitionUse, Use
from plexlens.metrics.inputs import Inputs
from tests.capacity.made import SYSTEM, database, online
from tests.cost.day import write_day

PERIODS = 12

#: 200 MSU of 100 each: two engines.
MSU = 100.0


def use_of(system: str = "SYS1") -> Use:
    nothing = np.full(PERIODS, np.nan)
    samples = Samples(np.full(PERIODS, 2 * MSU), np.ones(PERIODS))
    partition = PartitionUse(
        "M1", "LP1", system, "", samples, begins(PERIODS, ()), nothing, nothing, 100.0, 4 * MSU, MSU, None, nothing, ()
    )
    return Use(0, PERIODS, hours(0, [0] * PERIODS), (partition,), {}, False, ())


def judged(inputs: Inputs, engines: float, *, load: float = 1.0, system: str = "SYS1") -> Goals:
    pressed = {("M1", "LP1"): Pressed(1.0, 1.0, 1.0, 2 * MSU * load, engines * MSU)}
    delays = {("M1", "LP1"): Delay(1.0, 10.0, 2400.0, 0.0)}
    return judge(inputs, "made", use_of(system), [("A cap", pressed, delays)])


@pytest.mark.parametrize(
    ("engines", "held"),
    # SYSTEM has no goal. 0.22, 1.56 and 2 engines are the bounds.
    [(0.3, {"ONLINE", "STC", "DDF"}), (1.5, {"ONLINE", "STC", "DDF"}), (1.8, {"DDF"}), (1.95, {"DDF"}), (2.2, set())],
)
def test_classes_that_do_not_fit_are_held_back_by_importance(engines: float, held: set[str]) -> None:
    goals = judged(database(1.0, 1.0), engines)
    found = {row.name.partition(".")[0] for row in goals.rows if row.verdict.startswith("held back")}
    assert found == held
    late = [row for row in goals.rows if row.verdict.startswith("held back")]
    assert all(row.index is None and row.verdict.endswith("work waits up to 40 minutes") for row in late)
    for row in late:
        # The cap is to blame for a miss only where the class meets its goal without it.
        was_missed = (row.index_before or 0.0) > 1 + (row.error or 0.0)
        assert (row.is_missed, "misses its goal without the cap too" in row.verdict) == (not was_missed, was_missed)


def test_the_response_is_that_of_a_run_event_by_event() -> None:
    """Of what fits, `network.run` simulates each transaction; the page's number comes from formulas."""
    inputs = database(1.0, 1.0)
    goals = judged(inputs, 1.8)
    measured = measure(inputs, "made", kind="service class")
    model = calibrate(measured, users={}, serves={})
    (system,) = model.systems
    (row,) = [row for row in goals.rows if row.name.startswith("ONLINE")]
    asked = setting(Change(), model, system)
    rates = {name: 0.0 if name.startswith("DDF") else rate for name, rate in asked.rates.items()}
    simulated = run(system, replace(asked, rates=rates, engines=1.8), seed=7).classes[row.name].response
    assert simulated is not None
    # Of several classes by importance the formula is an approximation: 12 % above the run here, at 86 % of the engines.
    assert row.response == pytest.approx(simulated, rel=0.15)
    assert row.response_before is not None
    assert row.response is not None
    assert row.response > row.response_before
    # The goal is an average of 3 s.
    assert row.index == pytest.approx(row.response / 3)


def test_a_cap_makes_a_class_miss_its_goal_by_the_difference() -> None:
    """The measured response of 2.4 s meets the goal of 3 s; the engines of the cap are almost full."""
    classes = {"ONLINE": online(response=2.4), "SYSTEM": SYSTEM}
    goals = judged(database(1.0, 1.0, classes=classes, busy=1300.0), 1.32, load=1.0)
    (row,) = goals.rows
    assert row.index_before is not None
    assert row.index_before < 1
    assert row.response is not None
    assert row.response > 3
    assert (row.verdict, row.is_missed) == (f"misses by {row.response - 3:.3g} s", True)


def test_more_than_the_data_are_refused_with_the_reason(tmp_path: Path) -> None:
    from plexlens.pdb import Pdb, ingest

    write_day(tmp_path / "day.smf")
    with Pdb.temporary() as pdb:
        ingest([tmp_path / "day.smf"], pdb)
        goals = judged(Inputs(pdb.connect()), 1.8)
    assert goals.rows == ()
    assert goals.notes[0].startswith("Goals are not judged: ")
    other = judged(database(1.0, 1.0), 1.8, system="SYS9")
    assert other.rows == ()
    assert (
        "M1 LP1: goals are not judged, because no service classes of its system are recorded (SMF 72-3)." in other.notes
    )
    assert judge(database(1.0), "made", use_of(), [("No cap", {}, {})]).notes == (
        "No cap holds work back, so goals are as measured.",
    )


def test_the_capped_time_by_hand() -> None:
    # Four hours of 100 MSU under a limit of 80: the average reaches 80 x 48 / 48 = 80 with the 39th period, since
    # 38.4 periods of 100 are 80 x 48. From the 40th period on 80 run, until the average is below 80 again.
    demand = np.full((60, 1), 100.0)
    rules = Rules(np.full((60, 1), 80.0), (), np.array([1.0]), np.array([400.0]), np.inf, begins(60, ())[:, None])
    press = pressed_of(demand[:, 0], simulate(demand, rules), 0)
    assert press is not None
    assert press.demand == pytest.approx(100.0)
    assert press.ran == pytest.approx(80.0)
    assert press.hours == pytest.approx((60 - 39) / 12)
    assert (press.busiest_demand, press.busiest_ran) == pytest.approx((100.0, 80.0))
    # A last hour of 40 MSU, of which the cap still holds some back.
    demand[48:] = 40.0
    later = pressed_of(demand[:, 0], simulate(demand, rules), 0)
    assert later is not None
    assert later.demand < 90.0
    # Nine capped periods of 100 before the hour of 40, and three of that: (9 x 100 + 3 x 40) / 12.
    assert (later.busiest_demand, later.busiest_ran) == pytest.approx((85.0, 80.0))
    rules = Rules(np.full((60, 1), 101.0), (), np.array([1.0]), np.array([400.0]), np.inf, begins(60, ())[:, None])
    assert pressed_of(demand[:, 0], simulate(demand, rules), 0) is None
