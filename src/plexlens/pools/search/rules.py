"""Simple rules for pools, with which a recommendation is compared and which it adopts where they are cheaper.

- *equal split*: present pools of equal storage;
- *in proportion to getpages*: storage by getpages;
- *marginal gain*: storage by part to the present pool where a byte saves most, on the hulls of its LRU curve;
- *bands by getpages per page*: objects in order of getpages per page in as many bands of equal getpages as there are
  pools, sizes by dynamic programming on LRU curves.

In a data-sharing group each member's storage is divided by its own getpages and curves; bands are of all members.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plexlens.pools.members import full_name
from plexlens.pools.page_sample import Curves
from plexlens.pools.search.beginnings import named
from plexlens.pools.search.case import Case, Grouping, Groups
from plexlens.pools.search.placement import pinned_where_fixed, simulate
from plexlens.pools.search.sizes import marginal_sizes

#: Bands of the rule that groups objects, where there are not more pools now (chosen, as an analyst would).
BANDS = 4


def rules(case: Case, curves: Curves) -> dict[str, Grouping]:
    """Groups and sizes of each rule, by its name; rules that do not fit the budget are left out.

    Parameters
    ----------
    case
        What may be done.
    curves
        LRU curves of groups.
    """
    home = case.kept(case.home)
    shares: dict[str, dict[str, dict[str, float]]] = {"equal split": {}, "in proportion to getpages": {}}
    for member, work in case.work.parts.items():
        names = case.pools_of(member, home)
        objects = work.objects
        getpages = {name: sum(objects[number].total for number in home[name] if number in objects) for name in names}
        shares["equal split"][member] = dict.fromkeys(names, 1.0)
        shares["in proportion to getpages"][member] = {name: float(count) for name, count in getpages.items()}
    groupings = {
        name: Grouping(home, sizes, 0.0, 0.0) for name, share in shares.items() if (sizes := _split(case, share))
    }
    if case.fits(home, case.budgets):
        gained: dict[str, int] = {}
        for member in case.members:
            names = case.pools_of(member, home)
            own = [curves.of(home[name], case.page_bytes[name], member) for name in names]
            own = pinned_where_fixed(case, names, own, member)
            full = [full_name(member, name) for name in names]
            least = [case.least[name] for name in full]
            gained |= zip(full, marginal_sizes(own, case.budgets[member], least=least), strict=True)
        groupings["marginal gain"] = Grouping(home, gained, 0.0, 0.0)
    bands = _bands(case)
    if bands is not None and case.fits(bands, case.budgets):
        groupings["bands by getpages per page"] = simulate(case, bands, curves)
    return groupings


def _split(case: Case, shares: Mapping[str, Mapping[str, float]]) -> dict[str, int] | None:
    """The budget of each member divided in these shares, by full name of the pool; None where it is too small."""
    sizes: dict[str, int] = {}
    for member, own in shares.items():
        parts = _parts(case, member, own)
        if parts is None:
            return None
        sizes |= {full_name(member, name): int(part) // case.page_bytes[name] for name, part in parts.items()}
    return sizes


def _parts(case: Case, member: str, shares: Mapping[str, float]) -> dict[str, float] | None:
    """Bytes of a member's pools; pools whose least size is above their share have that, and the rest less."""
    full = {name: full_name(member, name) for name in shares}
    least = {name: case.least[full[name]] * case.page_bytes[name] for name in shares}
    given = {name: float(least[name]) for name in shares if full[name] in case.pinned}
    while True:
        left = case.budgets[member] - sum(given.values())
        free = {name: share for name, share in shares.items() if name not in given}
        total = sum(free.values())
        if left < sum(least[name] for name in free):
            return None
        parts = {name: left * share / total if total > 0 else left / len(free) for name, share in free.items()}
        short = {name: float(least[name]) for name in free if parts[name] < least[name]}
        if not short:
            return {name: {**given, **parts}[name] for name in shares}
        given |= short


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
