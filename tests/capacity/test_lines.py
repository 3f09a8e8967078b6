"""Lines against closed forms, worked examples and a simulation of a few lines that shares no code."""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import replace

import pytest

from plexlens.capacity.goals import Goal
from plexlens.capacity.lines import (
    Holds,
    Law,
    Line,
    Wait,
    gate_length,
    queue_factor,
    queue_wait,
    servers_for,
)
from plexlens.capacity.model import ClassModel, SystemModel
from plexlens.capacity.network import Setting, at_base, base, solved
from plexlens.capacity.overflow import Overflow


def test_waits_by_hand() -> None:
    # M/M/1 half busy: 0.5 x 10 / 0.5 = 10 ms. M/M/2, rho 0.75: C = 2 rho^2 / (1 + rho) = 9/14, x 10 / (2 x 0.25).
    assert queue_wait(1, 0.5, 0.010) == pytest.approx(0.010)
    assert queue_wait(2, 0.75, 0.010) == pytest.approx(9 / 14 * 0.010 / 0.5)
    assert queue_wait(3, 0.0, 0.010) == 0.0


def test_a_factor_is_the_measured_wait_over_the_formula() -> None:
    # 10,000 requests that wait half as long as M/M/1 says: 5 ms, and 20 waits of 20 ms on both sides.
    found = queue_factor(1, 0.5, 0.010, 10_000, 10_000 * 0.005)
    assert found == pytest.approx((50 + 0.4) / (100 + 0.4))
    # Nothing waited, but only 10 requests came: chance.
    assert queue_factor(1, 0.5, 0.010, 10, 0.0) == pytest.approx(0.4 / (0.1 + 0.4))


def test_a_line_keeps_up_until_it_is_full() -> None:
    line = Line("QR TCB", "AOR1", 1, 0.5, 0.002)
    assert line.wait(1.9) == pytest.approx(0.95 * 0.002 / 0.05)
    assert line.wait(2.0) is None
    # Held for a quarter longer it is full at 1.6 times the requests.
    assert line.wait(1.6, 1.25) is None
    assert line.used(1.2, 1.25) == pytest.approx(0.75)


@pytest.mark.parametrize("servers", [2, 4, 9])
def test_servers_follow_from_the_wait(servers: int) -> None:
    offered = 0.7 * servers
    for factor in (0.5, 1.0):
        wait = factor * queue_wait(servers, 0.7, 0.020)
        assert servers_for(offered, 0.020, wait) == servers
    assert servers_for(offered, 0.020, 0.0) is None


def _gated(rate: float, write: float, count: int, seed: int) -> float:
    """Mean wait for a log that writes what came during the write before, request by request."""
    chance = random.Random(seed)
    now = end = waited = 0.0
    following: list[float] = []
    for _ in range(count):
        now += chance.expovariate(rate)
        while following and now >= end:
            end += write
            waited += sum(end - come for come in following)
            following = []
        if now >= end:
            end = now + write
            waited += write
        else:
            following.append(now)
    end += write
    return (waited + sum(end - come for come in following)) / count


@pytest.mark.parametrize("load", [0.1, 0.5, 1.2, 3.0])
def test_a_log_that_gates(load: float) -> None:
    write = 0.006
    line = Line("log", "SYS1", 1, load, write, Law.GATE, rate=load / write)
    expected = _gated(load / write, write, 200_000, 7)
    # The standard error of the mean is below 0.2 %.
    assert line.wait(1.0) == pytest.approx(expected, rel=0.01)
    assert gate_length(load / write, line.wait(1.0) or 0.0) == pytest.approx(write, rel=1e-6)
    # It never saturates: at most every write is followed by another.
    assert line.wait(1e6) == pytest.approx(1.5 * write)


def _one_lock(rate: float, hold: float, count: int, seed: int) -> float:
    """Mean wait for one lock that each holds for an exponential time, in the order of asking."""
    chance = random.Random(seed)
    now = free = waited = 0.0
    for _ in range(count):
        now += chance.expovariate(rate)
        waited += max(0.0, free - now)
        free = max(free, now) + chance.expovariate(1 / hold)
    return waited / count


def test_a_hot_lock() -> None:
    # 40 % held at the measured load; at 1.8 times the requests, each held 1.1 times as long: 79 %.
    rate, hold = 100.0, 0.004
    measured = _one_lock(rate, hold, 300_000, 1)
    line = Line("locks", "SYS1", 1, 0.4, measured * 0.6 / 0.4, Law.LOCKS, holds=Holds.RESPONSE)
    assert line.wait(1.0) == pytest.approx(measured)
    assert line.wait(1.8, 1.1) == pytest.approx(_one_lock(1.8 * rate, 1.1 * hold, 300_000, 2), rel=0.08)


def one_class(lines: dict[str, Line], *waits: Wait, general: float = 0.002) -> SystemModel:
    sale = ClassModel(
        "SALE.1", 1, 0, Goal("average", 0.02), False, 1000, 100.0, 0.010, None, general, 0.0, 0.0, waits=waits
    )  # fmt: skip
    return at_base(SystemModel("SYS1", (sale,), 8.0, 0.0, 100.0 * general, 0.0, 1.0, 1.0, 1.0,
                               Overflow(None, 1.0, 0.0), lines=lines))  # fmt: skip


def test_the_measured_load_is_right_by_construction() -> None:
    line = Line("QR TCB", "AOR1", 1, 0.5, 0.005, factor=0.7, shares={"SALE.1": 1.0}, holds=Holds.ENGINES)
    system = one_class({line.text: line}, Wait("QR TCB", {line.text: 1.0}, 1.0, 0.0031))
    found = solved(system, base(system)).classes["SALE.1"]
    assert found.waiting == pytest.approx(0.0031)
    # Engines are idle, so that nothing but the QR TCB grows: 0.7 x 5 ms x (0.75 / 0.25 - 1) more.
    more = solved(system, Setting({"SALE.1": 150.0}, 8.0, 0.0)).classes["SALE.1"]
    assert more.waiting == pytest.approx(0.0031 + 0.7 * 0.005 * 2.0, rel=1e-3)
    assert solved(system, Setting({"SALE.1": 201.0}, 8.0, 0.0)).saturated == "QR TCB AOR1"


def test_full_engines_hold_the_qr_tcb_for_longer() -> None:
    # One engine of 8 left: what takes an engine 1 ms has to wait for it, and keeps the QR TCB meanwhile.
    line = Line("QR TCB", "AOR1", 1, 0.4, 0.004, shares={"SALE.1": 1.0}, holds=Holds.ENGINES)
    system = one_class({line.text: line}, Wait("QR TCB", {line.text: 1.0}, 1.0, 0.002), general=0.008)
    wide, narrow = (solved(system, Setting({"SALE.1": 100.0}, engines, 0.0)) for engines in (8.0, 1.0))
    assert narrow.used[line.text] > 1.5 * wide.used[line.text] or narrow.saturated


def test_synchronous_requests_spin_for_a_busy_facility() -> None:
    # 1,000 synchronous requests a second of 200 us on one engine 30 % busy: at twice the load each takes
    # 0.6 x 0.2 / 0.4 - 0.3 x 0.2 / 0.7 = 0.214 ms more, and 2,000 of them a second spin 0.43 engines.
    line = Line("coupling facility", "CF1", 1, 0.3, 0.0002)
    system = replace(one_class({line.text: line}), spins=((1000.0, (line.text,)),))
    found = solved(system, Setting({"SALE.1": 200.0}, 8.0, 0.0))
    spin = 2000 * (0.6 * 0.0002 / 0.4 - 0.3 * 0.0002 / 0.7)
    assert found.busy * 8 == pytest.approx(200 * 0.002 + spin, rel=1e-6)


def test_delay_of_unknown_cause_grows_as_the_busiest_resource() -> None:
    line = Line("volume", "0001", 1, 0.5, 0.001)
    system = one_class({line.text: line})
    system = at_base(replace(system, classes=tuple(replace(one, other=0.004) for one in system.classes)))
    # (1 - 0.5) / (1 - 0.75) = 2.
    found = solved(system, Setting({"SALE.1": 150.0}, 8.0, 0.0)).classes["SALE.1"]
    assert found.waiting == pytest.approx(0.008)


def test_waits_without_a_queue_grow_as_the_busiest_resource() -> None:
    # As above, (1 - 0.5) / (1 - 0.75) = 2, whatever the wait is called; a wait that has a queue grows by its own.
    line = Line("volume", "0001", 1, 0.5, 0.001)
    waits = (Wait("Db2 latches", {}, 0.0, 0.003), Wait("volume", {line.text: 1.0}, 1.0, 0.001))
    system = one_class({line.text: line}, *waits)
    assert solved(system, base(system)).classes["SALE.1"].waiting == pytest.approx(0.004)
    found = solved(system, Setting({"SALE.1": 150.0}, 8.0, 0.0)).classes["SALE.1"]
    assert found.waiting == pytest.approx(0.006 + 0.003)


def test_page_p_locks_do_not_grow() -> None:
    # 0.4 negotiations of 0.35 ms: 0.14 ms at every load, beside a volume that doubles what it adds.
    volume, lock = Line("volume", "0001", 1, 0.5, 0.001), Line("page P-locks", "SYS1", 1, 0.0, 0.00035, Law.FIXED)
    waits = (Wait("page P-locks", {lock.text: 1.0}, 0.4, 0.00014),)
    system = one_class({volume.text: volume, lock.text: lock}, *waits)
    for rate in (100.0, 150.0):
        found = solved(system, Setting({"SALE.1": rate}, 8.0, 0.0)).classes["SALE.1"]
        assert found.waiting == pytest.approx(0.00014)


def test_a_line_of_several_servers_against_a_simulation() -> None:
    """Constant services at three servers: the factor measured at one load holds at another within a few per cent."""

    def simulated(rate: float) -> float:
        chance, free, now, waited = random.Random(5), [0.0] * 3, 0.0, 0.0
        for _ in range(200_000):
            now += chance.expovariate(rate)
            begin = max(now, heapq.heappop(free))
            waited += begin - now
            heapq.heappush(free, begin + 0.010)
        return waited / 200_000

    measured = simulated(150.0)
    factor = queue_factor(3, 0.5, 0.010, 200_000, 200_000 * measured)
    line = Line("volume", "0001", 3, 0.5, 0.010, factor=factor)
    assert math.isclose(line.wait(1.0) or 0.0, measured, rel_tol=0.01)
    assert line.wait(1.7) == pytest.approx(simulated(255.0), rel=0.10)
