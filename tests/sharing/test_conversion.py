"""The threshold of conversion from counts and service times of requests, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.conversion import threshold_of
from plexlens.sharing.twin_group import Group, GroupPoolUse, MemberUse, SharingMeasured, StructureUse

LOCK, POOL = "DSNG_LOCK1", "DSNG_GBP1"


def use(
    structure: str, system: str, sync: tuple[float, float], other: tuple[float, float], changed: float = 0.0
) -> StructureUse:
    """Requests a second of both kinds with their service times in microseconds, over a minute."""
    (count, time), (converted, longer) = sync, other
    rest = (changed, count + converted, 0.0, 0.0, 0.0, 60.0)
    return StructureUse("CF1", structure, system, "", count, time * 1e-6, converted, longer * 1e-6, *rest)


def measured(*uses: StructureUse, castouts: float = 0.0) -> SharingMeasured:
    pool = GroupPoolUse(None, 0.0, 0.0, 0.0, 0.0, 0.0, castouts)
    nothing = (60.0, *(0.0,) * 9)
    member = MemberUse("DB1", "SYS1", *nothing, {}, {"BP1": pool}, (), 1.0)
    return SharingMeasured("", 60.0, {}, {}, uses, {}, (Group("DSNG", (member,)),))


def test_between_what_stays_and_what_is_converted() -> None:
    found = threshold_of(
        measured(use(LOCK, "SYS1", (100, 12), (0, 0)), use(POOL, "SYS1", (1, 26), (100, 27))), Assumptions()
    )
    assert (found.source, found.low, found.high) == ("measured", pytest.approx(12e-6), pytest.approx(27e-6))
    assert found.seconds == pytest.approx(18e-6)
    assert found.note == ""


def test_requests_of_both_kinds_lie_at_the_threshold() -> None:
    found = threshold_of(measured(use(LOCK, "SYS1", (60, 20), (40, 20.5))), Assumptions())
    assert (found.low, found.high) == (pytest.approx(20e-6), pytest.approx(20.5e-6))


def test_records_that_tell_one_side_only() -> None:
    # 20 - 2 µs of path lengths, unless requests of as much stayed synchronous.
    near = threshold_of(measured(use(LOCK, "SYS1", (100, 12), (0, 0))), Assumptions())
    assert (near.source, near.seconds, near.high) == ("assumed", pytest.approx(18e-6), math.inf)
    assert "above 12.0 µs" in near.note
    # The bar reaches from little above what was measured to none at all.
    assert near.others() == (pytest.approx(12.6e-6), 0.0)
    slow = threshold_of(measured(use(LOCK, "SYS1", (100, 30), (0, 0))), Assumptions())
    assert slow.seconds == pytest.approx(36e-6)
    far = threshold_of(measured(use(LOCK, "SYS1", (0, 0), (100, 12))), Assumptions())
    assert (far.source, far.seconds, far.low) == ("assumed", pytest.approx(10e-6), 0.0)
    assert "below 12.0 µs" in far.note


def test_other_reasons_to_be_asynchronous() -> None:
    """Requests without a subchannel, and castouts: 30 pages a second are 40 requests."""
    busy = use(LOCK, "SYS1", (60, 12), (40, 80), changed=40.0)
    cast_out = use(POOL, "SYS1", (60, 15), (40, 90))
    found = threshold_of(measured(busy, cast_out, castouts=30.0), Assumptions())
    assert (found.low, found.high) == (pytest.approx(15e-6), math.inf)
    assert threshold_of(measured(cast_out), Assumptions()).high == pytest.approx(90e-6)


def test_faster_engines_have_a_lower_threshold() -> None:
    """12 µs on an engine twice as fast are 24 on one of speed 1, where 20 were converted: that cannot be both."""
    uses = (use(LOCK, "SYS1", (100, 12), (0, 0)), use(LOCK, "SYS2", (0, 0), (100, 20)))
    alike = threshold_of(measured(*uses), Assumptions())
    assert (alike.low, alike.high, alike.note) == (pytest.approx(12e-6), pytest.approx(20e-6), "")
    apart = threshold_of(measured(*uses), Assumptions(speeds={"SYS1": 2.0}))
    assert apart.seconds == pytest.approx(math.sqrt(20e-6 * 24e-6))
    assert "different thresholds" in apart.note


def test_few_requests_say_nothing_and_a_statement_stands() -> None:
    few = replace(use(LOCK, "SYS1", (0.2, 100), (0, 0)), seconds=60.0)
    assert threshold_of(measured(few, use(LOCK, "SYS2", (100, 12), (0, 0))), Assumptions()).low == pytest.approx(12e-6)
    stated = threshold_of(measured(few), Assumptions(speed=2.0), stated=20e-6)
    assert (stated.seconds, stated.source, stated.others()) == (pytest.approx(40e-6), "stated", ())
