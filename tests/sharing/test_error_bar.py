"""Measured numbers moved as a twin moves, and their error bars: by hand."""

from __future__ import annotations

import math

import pytest

from plexlens.sharing.error_bar import Moves, answer_of, moved, poisson_interval
from plexlens.sharing.twin_numbers import Key, Numbers

LOCK, POOL = "DSNG_LOCK1", "DSNG_GBP1"
FALSE, EVERY = Key("false_contention", LOCK), Key("contention", LOCK)
RECLAIMS, HIT, BUSY = Key("xi_reclaim", POOL), Key("hit", POOL), Key("busy", "SYS1")


def locking(false: float, every: float | None = None) -> Numbers:
    """1,000 requests a second, half of which ask for a lock."""
    return {
        FALSE: false, EVERY: false if every is None else every, Key("lock_requests", LOCK): 1000.0,
        Key("lock_asks", LOCK): 500.0,
    }  # fmt: skip


def moves(key: Key, measured: float, before: list[float], after: list[float], *, seconds: float = 60.0) -> Moves:
    total = seconds * len(before)
    runs = [[{key: value} for value in values] for values in (before, after)]
    return Moves({key: measured}, seconds, runs[0], total, runs[1], total)


@pytest.mark.parametrize(
    ("count", "low", "high"), [(0, 0.0, 3.6889), (1, 0.0253, 5.5716), (10, 4.7954, 18.3904), (100, 81.36, 121.63)]
)
def test_intervals_of_poisson_as_printed_in_tables(count: float, low: float, high: float) -> None:
    """Garwood's limits (Biometrika 28, 1936)."""
    assert poisson_interval(count) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


def test_false_contention_is_no_more_than_all_that_ask() -> None:
    """A twin that has 20 % where 34 % were measured, and 50 % after: everything that asks meets another."""
    found = moved(FALSE, locking(0.34), locking(0.2), locking(0.5))
    assert found == pytest.approx(0.5, abs=1e-3)


def test_false_contention_moves_with_the_locks_held_per_entry() -> None:
    """Half of the entries: e^-2x. Measured 0.2 of 0.5 is x = -ln 0.6; twice of it is 0.5 (1 - 0.36) = 0.32."""
    held = -math.log(1.0 - 0.15 / 0.5)
    after = 0.5 * (1.0 - math.exp(-2.0 * held))
    assert moved(FALSE, locking(0.2), locking(0.15), locking(after)) == pytest.approx(0.32)
    # Contention that is not false goes in proportion: 2 % of it stay where the twin's 1 % stay.
    assert moved(EVERY, locking(0.2, 0.22), locking(0.15, 0.16), locking(after, after + 0.01)) == pytest.approx(0.34)


def test_events_that_are_rare_state_their_interval() -> None:
    """0.1 a second in a minute are 6 events: 2.2 to 13.1, whatever the runs say."""
    found = answer_of(RECLAIMS, moves(RECLAIMS, 0.1, [0.1] * 4, [0.2] * 4))
    assert found.value == pytest.approx(0.2)
    assert found.events == pytest.approx(6)
    assert (found.low, found.high) == (
        pytest.approx(0.2 * 2.202 / 6, rel=0.01),
        pytest.approx(0.2 * 13.06 / 6, rel=0.01),
    )
    assert "6 events" in found.why


def test_rare_events_are_named_where_the_runs_scatter_more() -> None:
    """24 events whose runs scatter from 0 to 0.2 a second: the bar of the runs is wider, and holds the other."""
    found = answer_of(RECLAIMS, moves(RECLAIMS, 10.0, [10.0] * 4, [0.0, 0.2, 0.0, 0.2]))
    assert found.events == pytest.approx(24)
    assert found.high >= 0.1 * poisson_interval(24)[1] / 24
    assert "24 events" in found.why


def test_nothing_counted_is_not_nothing() -> None:
    """No event in four runs of a minute: up to 3.7 in 240 seconds."""
    found = answer_of(RECLAIMS, moves(RECLAIMS, 20.0, [20.0] * 4, [0.0] * 4))
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(3.689 / 240, rel=0.001)


def test_runs_sample_and_fit_add_up() -> None:
    """Scatter of the runs and the error of the twin, by hand; processor time is not a count of events."""
    before, after = [0.9, 1.1, 1.0, 1.0], [1.8, 2.2, 2.0, 2.0]
    found = answer_of(BUSY, moves(BUSY, 1.0, before, after))
    # The ratio is the same in all runs. One run as long as what was measured has a standard deviation of 0.0816: by
    # Student's 3.182 that is 0.26 of 1, and twice of it after.
    assert found.value == pytest.approx(2.0)
    assert found.high - found.value == pytest.approx(3.182 * 0.0816 * 2.0, rel=0.01)
    # A twin that has 10 % too little, with a change by ln 2: 10 % x 0.69.
    off = answer_of(BUSY, moves(BUSY, 1.0, [0.9] * 4, [1.8] * 4))
    assert off.high - off.value == pytest.approx(0.1 * math.log(2.0) * 2.0, rel=0.01)
    assert "differs from the measurement" in off.why


def test_shares_stay_between_none_and_all() -> None:
    found = answer_of(HIT, moves(HIT, 0.95, [0.90, 0.92], [0.99, 0.97]))
    assert found.high <= 1.0
    assert found.value <= 1.0


def test_thresholds_that_cannot_be_told_widen_the_bar() -> None:
    one = moves(BUSY, 1.0, [1.0] * 3, [2.0] * 3)
    other = Moves(one.measured, 60.0, one.before, 180.0, one.after, 180.0, [{BUSY: 5.0}])
    assert answer_of(BUSY, one).high < 2.1
    found = answer_of(BUSY, other)
    assert (found.value, found.low < 2.0, found.high >= 5.0) == (2.0, True, True)
    assert "threshold" in found.why
