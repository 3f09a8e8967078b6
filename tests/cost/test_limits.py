"""Capping simulated: closed forms of a constant demand, conservation of work, division by weight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from plexlens.cost.limits import Group, Rules, delay_of, divided, simulate
from plexlens.cost.rolling import begins, rolling


def rules(
    periods: int,
    count: int = 1,
    *,
    defined: float = math.nan,
    group: float | None = None,
    weights: tuple[float, ...] = (1.0,),
    ceiling: float = 1e9,
    machine: float = math.inf,
) -> Rules:
    groups = () if group is None else (Group(tuple(range(count)), np.full(periods, group)),)
    start = np.column_stack([begins(periods, ()) for _ in range(count)])
    return Rules(np.full((periods, count), defined), groups, np.array(weights), np.full(count, ceiling), machine, start)


def demand(*rates: float, periods: int) -> NDArray[np.float64]:
    return np.tile(np.array(rates), (periods, 1))


def test_a_constant_demand_above_the_limit() -> None:
    """200 MSU under 100, from zero: the average reaches 100 after two hours.

    It is 200 x t / 4 h, and not above 100 at 2:00 (24 periods), so the 25th still runs at 200. From then on 100: at
    4:00 the average is (25 x 200 + 23 x 100) / 48 = 152.083, above the limit.
    """
    wanted = demand(200.0, periods=72)
    run = simulate(wanted, rules(72, defined=100.0, ceiling=200.0))
    assert run.msu[:25, 0] == pytest.approx(np.full(25, 200.0))
    assert run.msu[25:72, 0] == pytest.approx(np.full(47, 100.0))
    average = rolling(run.msu[:, 0], begins(72, ()))
    assert average[47] == pytest.approx((25 * 200 + 23 * 100) / 48)
    delay = delay_of(wanted[:, 0], run, 0)
    # 47 periods of 100 MSU are 47 / 12 x 100 MSU-hours, and all of it still waits.
    assert delay.hours_capped == pytest.approx(47 / 12)
    assert delay.delayed == pytest.approx(47 / 12 * 100)
    assert delay.left == pytest.approx(47 / 12 * 100)


def test_what_waits_runs_when_it_may() -> None:
    """160 MSU for 3 hours, then 20: what waits at the end of the cap runs at the ceiling of 160.

    The average passes 100 after 30 periods (160 x 30 / 48 = 100: not above), so the 31st runs, then 5 of 36 periods are
    held at 100: 5 x 60 / 12 = 25 MSU-hours wait.
    """
    wanted = np.concatenate([demand(160.0, periods=36), demand(20.0, periods=100)])
    run = simulate(wanted, rules(136, defined=100.0, ceiling=160.0))
    assert run.waiting[35, 0] == pytest.approx(25.0)
    assert run.waiting[-1, 0] == 0.0
    assert run.msu.sum() == pytest.approx(wanted.sum())
    assert delay_of(wanted[:, 0], run, 0).left == 0.0


def test_delay_is_first_come_first_served() -> None:
    # 120 MSU-periods come in the first period and run at 40 per period: the last of them ends two periods later.
    wanted = np.array([[120.0], [0.0], [0.0], [0.0]])
    run = simulate(wanted, rules(4, ceiling=40.0))
    assert run.msu[:, 0] == pytest.approx([40.0, 40.0, 40.0, 0.0])
    delay = delay_of(wanted[:, 0], run, 0)
    assert delay.longest == 600.0
    assert delay.delayed == pytest.approx(80 / 12)


def test_a_group_is_capped_at_shares_by_weight() -> None:
    # 60 and 60 under 60 with weights 1 and 2: the sum passes 60 after 24 periods; from the 26th on 20 and 40.
    run = simulate(demand(60.0, 60.0, periods=40), rules(40, 2, group=60.0, weights=(1.0, 2.0), ceiling=60.0))
    assert run.msu[24] == pytest.approx([60.0, 60.0])
    assert run.msu[25] == pytest.approx([20.0, 40.0])
    assert run.capped[25:].all()


def test_a_full_machine_is_shared_by_weight_and_is_no_cap() -> None:
    run = simulate(demand(80.0, 80.0, periods=3), rules(3, 2, weights=(3.0, 1.0), ceiling=80.0, machine=100.0))
    assert run.msu[0] == pytest.approx([75.0, 25.0])
    assert not run.capped.any()


def test_what_one_does_not_need_goes_to_the_others() -> None:
    # 90 by weights 1:1:1 would be 30 each; the first wants 10, so the others have 40 each.
    assert divided(90.0, [10.0, 100.0, 100.0], [1.0, 1.0, 1.0]) == pytest.approx([10.0, 40.0, 40.0])
    assert divided(90.0, [10.0, 20.0, 30.0], [1.0, 1.0, 1.0]) == pytest.approx([10.0, 20.0, 30.0])
    assert divided(10.0, [5.0, 0.0], [0.0, 0.0]) == pytest.approx([5.0, 0.0])


@given(
    st.lists(st.tuples(st.floats(0, 300), st.floats(0, 300)), min_size=1, max_size=80),
    st.floats(1, 200),
    st.floats(1, 300),
)
def test_no_work_is_lost(rates: list[tuple[float, float]], limit: float, group: float) -> None:
    wanted = np.array(rates)
    periods = len(rates)
    run = simulate(wanted, rules(periods, 2, defined=limit, group=group, weights=(2.0, 1.0), ceiling=300.0))
    come, gone = wanted.sum(axis=0) / 12, run.msu.sum(axis=0) / 12
    assert gone + run.waiting[-1] == pytest.approx(come, abs=1e-6)
    assert (run.msu <= 300.0 + 1e-6).all()
    assert (run.msu >= 0).all()


def test_without_limits_all_runs_as_it_comes() -> None:
    wanted = demand(70.0, 20.0, periods=60)
    run = simulate(wanted, rules(60, 2, weights=(1.0, 1.0)))
    assert (run.msu == wanted).all()
    assert not run.waiting.any()
