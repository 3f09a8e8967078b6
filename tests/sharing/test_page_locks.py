"""Page P-locks: the closed form by hand, and how they are told apart from locks of transactions."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from plexlens.sharing.closed_form_locks import page_lock_rates
from plexlens.sharing.twin_group import Group, GroupPoolUse, MemberUse, PoolUse
from plexlens.sharing.twin_page_locks import PageLockTargets, fit_page_locks, page_lock_contention


def test_page_locks_by_hand() -> None:
    # Ten pages alike; each member uses each once a second and changes it 0.2 times. A pause of ln 2 has a chance of
    # one half, so that a buffer is stolen once a second: a member holds 0.2 / (0.4 + 1) of the time.
    found = page_lock_rates(10, 0.0, (2.0, 2.0), (10.0, 10.0), (math.log(2.0), math.log(2.0)))
    assert found.held == pytest.approx((10 / 7, 10 / 7))
    assert found.granted == pytest.approx(4 * 5 / 7)
    assert found.negotiated == pytest.approx(4 / 7)
    assert found.requests == pytest.approx(24 / 7)
    # As many are given back as granted: each lock held, once a second.
    assert sum(found.held) * 1.0 == pytest.approx(found.granted)


def test_locks_that_stay_are_all_held() -> None:
    found = page_lock_rates(10, 0.8, (3.0, 1.0), (30.0, 10.0), (math.inf, math.inf))
    assert found.held == pytest.approx((7.5, 2.5))
    assert found.granted == pytest.approx(0.0, abs=1e-9)
    # Of the first's changes a quarter find the other's lock, of the second's three quarters.
    assert found.negotiated == pytest.approx(3.0 * 0.25 + 1.0 * 0.75)


def group() -> Group:
    """Two members alike, whose unused pages stay for 4 s: 2,000 buffers, 500 pages a second."""
    pool = PoolUse("BP1", 2000.0, 4096, 400.0, 0.0, 500.0, 0.0, 100.0, 0.0)
    shared = GroupPoolUse(None, 0.0, 500.0, 0.0, 0.0, 100.0, 0.0, page_locks=14.0, page_lock_waits=8.0)
    member = MemberUse(
        "DB1", "SYS1", 60.0, 50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, {"BP1": pool}, {"BP1": shared}, (), 1.0
    )
    return Group("DSNG", (member, replace(member, name="DB2", system="SYS2")))


def test_waits_of_all_members_are_no_contention_of_transactions() -> None:
    assert page_lock_contention(group()) == 16.0


@pytest.mark.parametrize(("pages", "updates", "getpages"), [(300, 40.0, 200.0), (2000, 90.0, 300.0)])
def test_pages_are_found_again(pages: int, updates: float, getpages: float) -> None:
    """What pages of this number and use give is fitted by as many pages, used as often."""
    both = ((updates / 2,) * 2, (getpages / 2,) * 2, (4.0, 4.0))
    given = page_lock_rates(pages, 0.8, *both)
    wanted = PageLockTargets(given.granted, given.negotiated, sum(given.held))
    found = fit_page_locks(group(), "BP1", wanted, changed=200.0, most=800.0)
    assert found.pages == pytest.approx(pages, rel=0.02)
    assert found.updates * 200.0 == pytest.approx(updates, rel=0.01)
    assert found.getpages * 800.0 == pytest.approx(getpages, rel=0.05)
