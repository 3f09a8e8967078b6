"""Simple rules for pools: what a recommendation has to beat, and is taken from where it does not.

- *equal split*: present pools of equal storage;
- *in proportion to getpages*: storage by getpages;
- *marginal gain*: storage by part to the present pool where a byte saves most, on the hulls of its LRU curve;
- *bands by getpages per page*: objects in order of getpages per page in as many bands of equal getpages as there are
  pools, sizes by dynamic programming on LRU curves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plexlens.pools.members import ALONE
from plexlens.pools.page_sample import Curves
from plexlens.pools.search.beginnings import named
from plexlens.pools.search.case import Case, Grouping, Groups
from plexlens.pools.search.sizes import best_sizes, marginal_sizes

#: Bands of the rule that groups objects, where there are not more pools now (chosen, as an analyst would).
BANDS = 4


def rules(case: Case, curves: Curves) -> dict[str, Grouping]:
    """Groups and sizes of each rule for a Db2 alone, by its name; rules that do not fit the budget are left out.

    Parameters
    ----------
    case
        What may be done.
    curves
        LRU curves of groups.
    """
    home = case.kept(case.home)
    getpages = {name: sum(case.work.objects[number].total for number in home[name]) for name in home}
    shares = {
        "equal split": dict.fromkeys(home, 1.0),
        "in proportion to getpages": {name: float(count) for name, count in getpages.items()},
    }
    found = {name: Grouping(home, sizes, 0.0, 0.0) for name, share in shares.items() if (sizes := _split(case, share))}
    held = [curves.of(home[name], case.page_bytes[name]) for name in home]
    held = [
        curve.pinned(case.least[name]) if name in case.pinned else curve for name, curve in zip(home, held, strict=True)
    ]
    if case.fits(home, case.budgets):
        least = [case.least[name] for name in home]
        gained = marginal_sizes(held, case.budgets[ALONE], least=least)
        found["marginal gain"] = Grouping(home, dict(zip(home, gained, strict=True)), 0.0, 0.0)
    bands = _bands(case)
    if bands is not None and case.fits(bands, case.budgets):
        kept = case.kept(bands)
        own = [curves.of(kept[name], case.page_bytes[name]) for name in kept]
        own = [
            curve.pinned(case.least[name]) if name in case.pinned else curve
            for name, curve in zip(kept, own, strict=True)
        ]
        found_sizes = best_sizes(own, case.budgets[ALONE], least=[case.least[name] for name in kept])
        found["bands by getpages per page"] = Grouping(
            kept, dict(zip(kept, found_sizes.sizes, strict=True)), found_sizes.cost, found_sizes.bound
        )
    return found


def _split(case: Case, shares: Mapping[str, float]) -> dict[str, int] | None:
    """The budget divided in these shares; pools whose least size is above their share have that, and the rest less."""
    least = {name: case.least[name] * case.page_bytes[name] for name in shares}
    set_ = {name: least[name] for name in shares if name in case.pinned}
    while True:
        left = case.budgets[ALONE] - sum(set_.values())
        free = {name: share for name, share in shares.items() if name not in set_}
        total = sum(free.values())
        if left < sum(least[name] for name in free):
            return None
        parts = {name: left * share / total if total > 0 else left / len(free) for name, share in free.items()}
        short = {name: least[name] for name in free if parts[name] < least[name]}
        if not short:
            sizes = {**set_, **{name: int(part) for name, part in parts.items()}}
            return {name: sizes[name] // case.page_bytes[name] for name in shares}
        set_ |= short


def _bands(case: Case) -> Groups | None:
    """Movable objects in bands of equal getpages, by getpages per page; None where nothing may move."""
    pages: dict[int, float] = {}
    for (number, _), count in case.work.distinct_pages.items():
        pages[number] = pages.get(number, 0.0) + count
    labels: dict[int, int] = {}
    for size in sorted({case.page_bytes[name] for name in case.home}):
        own = [
            number
            for name, objects in case.home.items()
            for number in objects
            if case.page_bytes[name] == size and number not in case.fixed
        ]
        names = [name for name in case.names if case.page_bytes[name] == size]
        count = min(max(BANDS, sum(name in case.home for name in names)), len(names))
        getpages = {number: case.work.objects[number].total for number in own}
        own.sort(key=lambda number: (-getpages[number] / max(pages.get(number, 0.0), 1.0), number))
        before = np.cumsum([0, *(getpages[number] for number in own)])
        labels |= {
            number: int(min(count * done // max(int(before[-1]), 1), count - 1))
            for number, done in zip(own, before.tolist(), strict=False)
        }
    return named(case, labels) if labels else None
