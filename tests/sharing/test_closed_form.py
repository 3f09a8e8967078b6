"""Closed forms against hand calculations, published numbers and slow simulations of the same."""

from __future__ import annotations

import math
import random
from collections import OrderedDict

import pytest

from plexlens.sharing.closed_form import (
    Path,
    Sending,
    break_even,
    facility_wait,
    false_contention,
    held_by_little,
    held_of_contention,
)
from plexlens.sharing.closed_form_pages import PageSetLoad, page_rates, zipf_classes
from plexlens.sharing.twin import PageSets
from plexlens.sharing.twin_pages import MemberLoad, conflicts


def test_false_contention_by_hand() -> None:
    # 500 locks over 10,000 entries: 1 - 0.9999^500 = 4.877 %, as the lock table of the simulator is tested with.
    assert false_contention(500, 10_000) == pytest.approx(0.0487730, abs=1e-6)
    assert false_contention(1, 4) == pytest.approx(0.25)
    assert false_contention(2, 4) == pytest.approx(1 - 0.75**2)
    assert false_contention(0, 100) == 0.0
    assert false_contention(3, 1) == 1.0
    # Small: nearly held / entries, without loss of digits.
    assert false_contention(1e-3, 1e9) == pytest.approx(1e-12, rel=1e-6)
    with pytest.raises(ValueError, match="lock table"):
        false_contention(1, 0)


def test_false_contention_by_throwing_balls() -> None:
    chance = random.Random(7)
    entries, held, met, tries = 64, 20, 0, 20_000
    for _ in range(tries):
        taken = {chance.randrange(entries) for _ in range(held)}
        met += chance.randrange(entries) in taken
    assert false_contention(held, entries) == pytest.approx(met / tries, abs=0.012)


def test_contention_tells_what_is_held() -> None:
    assert held_of_contention(false_contention(123.0, 4096), 4096) == pytest.approx(123.0)
    # ln 0.99 / ln 0.999 = 10.0453 locks; over 2000 entries 1 - 0.9995^10.0453.
    held = held_of_contention(0.01, 1000)
    assert false_contention(held, 2000) == pytest.approx(0.0050113, abs=1e-7)
    assert held_by_little(200.0, 0.005) == 1.0


def test_wait_for_a_facility() -> None:
    # M/D/1 at 50 %: rho / (2 (1 - rho)) = half a service time; M/M/1: one. Erlang C of M/M/2 at 50 % is 1/3.
    assert facility_wait(0.5, 1.0, 1.0, 1) == pytest.approx(0.5)
    assert facility_wait(0.5, 1.0, 2.0, 1) == pytest.approx(1.0)
    assert facility_wait(1.0, 1.0, 2.0, 2) == pytest.approx(1.0 / 3.0)
    assert facility_wait(0.0, 1.0, 1.0, 1) == 0.0
    assert math.isinf(facility_wait(1.0, 1.0, 1.0, 1))


def test_way_to_a_facility() -> None:
    way = Path(execution=6e-6, wait=1e-6, link=8e-6)
    assert way.service == pytest.approx(15e-6)
    # Twice the speed halves execution and wait; ten kilometres are 100 microseconds there and back.
    assert way.changed(speed=2.0).service == pytest.approx(11.5e-6)
    assert way.changed(kilometres=10.0).service == pytest.approx(115e-6)


def test_conversion_where_both_cost_as_much() -> None:
    threshold = break_even(2e-6, 20e-6)
    assert threshold == pytest.approx(18e-6)
    sending = Sending(2e-6, 20e-6, threshold)
    assert sending.cpu(10e-6) == pytest.approx(12e-6)
    assert sending.cpu(17.9e-6) < 20e-6
    assert sending.cpu(115e-6) == pytest.approx(20e-6)
    assert Sending(2e-6, 20e-6, None).cpu(115e-6) == pytest.approx(117e-6)


def test_classes_of_ranks_keep_pages_and_probability() -> None:
    for pages, skew in ((1, 0.5), (50, 0.0), (5000, 0.8), (200_000, 1.0), (200_000, 1.2)):
        counts, chance = zipf_classes(pages, skew)
        assert counts.sum() == pages
        assert float(counts @ chance) == pytest.approx(1.0)
        exact = sum(rank**-skew for rank in range(1, pages + 1))
        assert chance[0] == pytest.approx(1.0 / exact, rel=0.01)


class _Lru:
    """Pages by their last use."""

    def __init__(self, size: int) -> None:
        self.size, self.pages = size, OrderedDict[int, None]()

    def use(self, page: int) -> tuple[bool, int | None]:
        there = page in self.pages
        self.pages[page] = None
        self.pages.move_to_end(page)
        gone = self.pages.popitem(last=False)[0] if len(self.pages) > self.size else None
        return there, gone


def _replayed(pages: int, skew: float, size: int, data: int, update: float) -> dict[str, float]:
    """Two members over one page set and a group buffer pool, page by page: shares of getpages.

    Written from the rules: a read registers; a write makes other members' copies invalid and caches the page; the data
    are an LRU list that reads renew. The directory is large.
    """
    chance = random.Random(3)
    weights = [rank**-skew for rank in range(1, pages + 1)]
    pools, valid = [_Lru(size), _Lru(size)], [set[int](), set[int]()]
    cached = _Lru(data)
    counts = dict.fromkeys(("absent", "invalid", "absent_hits", "invalid_hits", "writes", "xi"), 0)
    steps = chance.choices(range(pages), weights, k=240_000)
    for number, page in enumerate(steps):
        member, counted = number % 2, number > 60_000
        there, gone = pools[member].use(page)
        if gone is not None:
            valid[member].discard(gone)
        kind = "absent" if not there else "invalid" if page not in valid[member] else ""
        if kind:
            hit = page in cached.pages
            if hit:
                cached.use(page)
            counts[kind] += counted
            counts[f"{kind}_hits"] += counted and hit
            valid[member].add(page)
        if chance.random() < update:
            counts["writes"] += counted
            counts["xi"] += counted and page in valid[1 - member]
            valid[1 - member].discard(page)
            cached.use(page)
    return {name: count / 180_000 for name, count in counts.items()}


@pytest.mark.parametrize(
    ("skew", "size", "data", "update"), [(0.8, 300, 150, 0.2), (0.5, 500, 300, 0.1), (1.0, 200, 400, 0.3)]
)
def test_page_rates_against_a_replay(skew: float, size: int, data: int, update: float) -> None:
    pages = 1500
    found = page_rates(
        [PageSetLoad(pages, skew, (0.5, 0.5), (0.0, 0.0), (0.5 * update, 0.5 * update), dependent=True)],
        [size, size],
        data,
        10 * pages,
    )
    replayed = _replayed(pages, skew, size, data, update)
    assert found.absent == pytest.approx(replayed["absent"], abs=0.01)
    assert found.invalid == pytest.approx(replayed["invalid"], abs=0.012)
    assert found.absent_hits == pytest.approx(replayed["absent_hits"], abs=0.02)
    assert found.invalid_hits == pytest.approx(replayed["invalid_hits"], abs=0.015)
    assert found.writes == pytest.approx(replayed["writes"], abs=0.005)
    assert found.xi_write == pytest.approx(replayed["xi"], abs=0.012)
    assert (found.directory_reclaims, found.xi_reclaim, found.other_misses) == (0.0, 0.0, 0.0)


def test_directory_is_reclaimed_only_when_it_is_too_small() -> None:
    load = PageSetLoad(1000, 0.5, (50.0, 50.0), (0.0, 0.0), (5.0, 5.0), dependent=True)
    assert page_rates([load], [100, 100], 100, 1000).directory_reclaims == 0.0
    reclaims = [page_rates([load], [100, 100], 100, entries).directory_reclaims for entries in (900, 600, 300)]
    assert 0.0 < reclaims[0] < reclaims[1] < reclaims[2]


def test_separated_page_sets_ask_nobody() -> None:
    own = [
        PageSetLoad(500, 0.5, (50.0, 0.0), (0.0, 0.0), (0.0, 0.0), dependent=False),
        PageSetLoad(500, 0.5, (0.0, 50.0), (0.0, 0.0), (0.0, 0.0), dependent=False),
    ]
    found = page_rates(own, [500, 100], 100, 500)
    assert (found.absent, found.invalid, found.writes, found.xi_write) == (0.0, 0.0, 0.0, 0.0)
    # The first member's pages all fit; of the second's some do not.
    assert 0.0 < found.other_misses < 50.0


def test_conflicts_by_hand() -> None:
    # Ten pages alike, two members with 4 and 6 updates a second held 10 ms: 10 x 0.1^2 x (4 x 6 + 6 x 4) x 0.01.
    sets = PageSets(10, 0.0)
    loads = [MemberLoad(0, 4.0, 0, 4.0), MemberLoad(0, 6.0, 0, 6.0)]
    assert conflicts(sets, loads, 1.0, 0.01) == pytest.approx(0.1 * 48 * 0.01)
    # Inserts at one place wait for nobody.
    loads = [MemberLoad(0, 0, 0, 0, 0, 5.0), MemberLoad(0, 0, 0, 0, 0, 5.0)]
    assert conflicts(PageSets(10, 0.0), loads, 1.0, 0.01) == 0.0
