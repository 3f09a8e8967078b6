"""Page sets of a twin: statistics do not list any, so they are fitted to reads, writes, reclaims and lock contention.

Contention for page P-locks is not contention for locks of transactions: Db2 counts it by pool, and it has pages of its
own (`plexlens.sharing.twin_page_locks`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from plexlens.sharing.closed_form import crossing
from plexlens.sharing.closed_form_locks import page_lock_rates
from plexlens.sharing.closed_form_pages import PageRates, PageSetLoad, page_rates, zipf_classes
from plexlens.sharing.twin import LockedPages, PageSets, PoolFit, data_pages
from plexlens.sharing.twin_group import Group, MemberUse, SharingMeasured, lock_structure, pool_structure
from plexlens.sharing.twin_page_locks import (
    PageLockTargets,
    buffer_stays,
    fit_page_locks,
    page_lock_contention,
    page_lock_targets,
)

#: What is tried first: pages over buffers, exponents of Zipf's law, shares of updates at the end of a page set.
_FACTORS = (0.5, 1.5, 4.0, 12.0, 50.0)
_SKEWS = (0.0, 0.3, 0.6, 0.8, 0.95, 1.1)
_HOTS = (0.02, 0.15, 0.4)

#: Maximum number of members whose pools are fitted individually; further members are treated as average members.
_MOST_MEMBERS = 4

#: Share that is all of it: accounting and statistics do not end with the same transactions.
_ALL = 0.998

#: Bounds of the search: logarithm of pages, exponent, share of updates at the end.
_BOUNDS = ((2.5, 20.0), (0.0, 1.5), (0.0, 0.9))


@dataclass(frozen=True)
class MemberLoad:
    """Activity of a member on a pool, per second.

    Attributes
    ----------
    buffers
        Size of the local pool.
    random, sequential
        Getpages of the shared page set, by key and by scan.
    updates
        Pages of it that are changed and written at commit.
    private
        Getpages of the member's own page set.
    hot
        Getpages that change the one page where all members insert.
    locked, locked_updates
        Getpages, by key, of pages that are locked physically to change them, and changes of them.
    """

    buffers: float
    random: float
    sequential: float
    updates: float
    private: float = 0.0
    hot: float = 0.0
    locked: float = 0.0
    locked_updates: float = 0.0


def rates_of(
    pages: PageSets,
    members: list[MemberLoad],
    data: float,
    directory: float,
    *,
    kept: float | None = None,
    locked: LockedPages | None = None,
) -> PageRates:
    """Rates of the events that the getpages of a pool with these page sets cause; see `page_rates`."""
    none = (0.0,) * len(members)
    sets = []
    if pages.shared:
        random, sequential, updates = (
            tuple(getattr(load, name) for load in members) for name in ("random", "sequential", "updates")
        )
        sets.append(PageSetLoad(pages.shared, pages.skew, random, sequential, updates, dependent=True))
    if locked and any(load.locked for load in members):
        used, changed = tuple(load.locked for load in members), tuple(load.locked_updates for load in members)
        sets.append(PageSetLoad(locked.pages, locked.skew, used, none, changed, dependent=True))
    if pages.private:
        for number, load in enumerate(members):
            own = tuple(load.private if at == number else 0.0 for at in range(len(members)))
            sets.append(PageSetLoad(pages.private, pages.private_skew, own, none, none, dependent=False))
    hot = tuple(load.hot for load in members) if pages.shared else ()
    return page_rates(sets, [load.buffers for load in members], data, directory, hot, kept=kept)


def conflicts(pages: PageSets, members: list[MemberLoad], avoidance: float, value: float) -> float:
    """Lock requests per second that meet an exclusive lock of another member on their page.

    Each page is locked exclusively at the rate of its updates, for a time of ``value`` seconds; requests find it so as
    often as it is (arrivals at random see time averages). An insert waits for nobody: it takes the next page.

    Parameters
    ----------
    pages, members
        The page sets, and what members do.
    avoidance
        Share of reads that need no lock.
    value
        Seconds that a lock is held to commit.
    """
    counts, chance = zipf_classes(max(pages.shared, 1), pages.skew)
    same = float(counts @ chance**2) if pages.shared else 0.0
    updates = sum(load.updates for load in members)
    met = 0.0
    for load in members:
        options = load.updates + (1.0 - avoidance) * max(load.random - load.updates, 0.0)
        met += same * options * (updates - load.updates) * value
    return met


@dataclass(frozen=True)
class PageTargets:
    """Targets for a run of the page sets, per second over all members.

    Attributes
    ----------
    conflicts
        Lock contention that is neither false nor for page P-locks: of the pool of the group that is written most; None
        of the others, since no record tells contention by pool, and index pages are not locked.
    held
        Seconds that locks are held to commit: half of the time in Db2 of transactions that update.
    locks
        Page P-locks; None where there are none.
    is_index
        Whether the pool holds indexes alone, all of whose pages have page P-locks.
    """

    absent: float
    invalid: float
    absent_hits: float
    invalid_hits: float
    private_misses: float
    directory_reclaims: float
    conflicts: float | None
    held: float
    locks: PageLockTargets | None = None
    is_index: bool = False


def targets(
    measured: SharingMeasured, group: Group, pool: str, index_pools: frozenset[str] = frozenset()
) -> PageTargets:
    """Measured numbers of a pool; index pools take no part in lock contention."""
    structure = measured.allocated.get(pool_structure(group.name, pool))
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    no_data = sum(use.absent_no_data + use.invalid_no_data for use in used)
    reads = sum(
        member.pools[pool].sync_reads + member.pools[pool].prefetch_pages
        for member in group.members
        if pool in member.pools
    )
    writes: dict[str, float] = {}
    for member in group.members:
        for name in member.group_pools.keys() - index_pools:
            group_pool = member.group_pools[name]
            writes[name] = writes.get(name, 0.0) + group_pool.writes
    contention = sum(
        use.contentions - use.false_contentions for use in measured.of_structure(lock_structure(group.name))
    )
    contention = max(contention - page_lock_contention(group), 0.0)
    works = [work for member in group.members for work in member.work]
    updating = [(work.rate * sum(work.updates.values()), work.db2_elapsed) for work in works]
    weight = sum(rate for rate, _ in updating)
    return PageTargets(
        sum(use.absent for use in used),
        sum(use.invalid for use in used),
        sum(use.absent_data for use in used),
        sum(use.invalid_data for use in used),
        max(reads - no_data, 0.0),
        structure.directory_reclaims if structure else 0.0,
        contention if pool == max(writes, key=lambda name: (writes[name], name), default="") else None,
        sum(rate * time for rate, time in updating) / weight / 2.0 if weight else 0.0,
        page_lock_targets(measured, group, pool),
        pool in index_pools,
    )


def loads(
    group: Group, pool: str, dependent: float, written: float, *, hot: float = 0.0, locked: LockedPages | None = None
) -> list[MemberLoad]:
    """Activity of each member on a pool's page sets."""
    results = []
    for member in group.members:
        about = member.pools.get(pool)
        if about is None or about.random + about.sequential <= 0:
            continue
        changed, by_key = about.updates * dependent * written, about.random * dependent
        leaf_updates = min(changed * locked.updates, by_key) if locked else 0.0
        leaves = max(by_key * locked.getpages, leaf_updates) if locked else 0.0
        changed, by_key = changed - leaf_updates, by_key - leaves
        inserted = min(changed * _inserted_share(member, pool, hot, dependent * written), by_key)
        results.append(
            MemberLoad(
                about.size,
                by_key - inserted,
                about.sequential * dependent,
                changed - inserted,
                (about.random + about.sequential) * (1.0 - dependent),
                inserted,
                leaves,
                leaf_updates,
            )
        )
    if len(results) <= _MOST_MEMBERS:
        return results
    mean = [sum(getattr(load, name) for load in results) / len(results) for name in MemberLoad.__dataclass_fields__]
    return [MemberLoad(*mean)] * len(results)


def _inserted_share(member: MemberUse, pool: str, hot: float, written: float) -> float:
    """Share of a member's changed pages at the common insert point: at most one per unit of work.

    Rows that a unit of work inserts go to one page, which is written once.
    """
    pages = [(work.rate, work.updates.get(pool, 0.0) * written) for work in member.work]
    changed = sum(rate * each for rate, each in pages)
    return sum(rate * min(hot * each, 1.0) for rate, each in pages) / changed if changed > 0 else hot


def dependent_share(group: Group, pool: str) -> tuple[float, str]:
    """Share of the getpages of a pool on GBP-dependent page sets, and whether Db2 counted them.

    Without that counter: what left no trace at the group buffer pool, reads from disk beyond its answers without data,
    is of other page sets, and these are taken to find their pages as often.
    """
    getpages = sum(
        member.pools[pool].random + member.pools[pool].sequential for member in group.members if pool in member.pools
    )
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    if not used or not getpages or not any(use.absent + use.invalid + use.writes for use in used):
        return 0.0, "counted"
    if all(use.dependent is not None for use in used):
        share = min(sum(use.dependent or 0.0 for use in used) / getpages, 1.0)
        return (share if share < _ALL else 1.0), "counted"
    absent = sum(use.absent for use in used)
    reads = sum(member.pools[pool].sync_reads for member in group.members if pool in member.pools)
    alone = max(reads - sum(use.absent_no_data + use.invalid_no_data for use in used), 0.0)
    alone = alone if alone > 0.02 * absent else 0.0
    return (max(absent / (absent + alone), 0.5) if absent else 1.0), "assumed"


def _bounded(x: tuple[float, ...]) -> tuple[float, float, float]:
    pages, skew, hot = (min(max(value, low), high) for value, (low, high) in zip(x, _BOUNDS, strict=True))
    return pages, skew, hot


def fit_pool(
    measured: SharingMeasured,
    group: Group,
    pool: str,
    wanted: PageTargets,
    *,
    avoidance: float,
    before: PoolFit | None = None,
) -> PoolFit:
    """Page sets that meet the targets in closed form: a search from fixed starting points.

    Parameters
    ----------
    measured, group, pool
        Of which pool.
    wanted
        What the page sets are to give.
    avoidance
        Share of reads without a lock.
    before
        A fit that the search begins at; its shares of dependent getpages and of written pages stand.
    """
    dependent, how = dependent_share(group, pool)
    members = [member for member in group.members if pool in member.pools]
    updates = sum(member.pools[pool].updates for member in members)
    writes = sum(member.group_pools[pool].writes for member in members if pool in member.group_pools)
    changed = updates * dependent
    written = min(writes / changed, 1.0 / max(dependent, 1e-6)) if changed > 0 else 0.0
    if before is not None:
        dependent, written = before.dependent, before.written
    structure = measured.allocated.get(pool_structure(group.name, pool))
    data = data_pages(structure.size, structure.data_elements, members[0].pools[pool].page_bytes) if structure else 0.0
    directory = max(structure.directory_entries, data) if structure else 0.0
    member_loads = loads(group, pool, dependent, written)
    buffers = max((load.buffers for load in member_loads), default=1000.0)
    private = _private_pages(member_loads, wanted, buffers) if dependent < 1.0 else (0, 0.0)
    if dependent <= 0.0:
        return PoolFit(PageSets(0, 0.0, *private), 0.0, 0.0, how)
    locked = None
    if wanted.locks is not None and not wanted.is_index:
        by_key = sum(member.pools[pool].random for member in members) * dependent
        locked = fit_page_locks(group, pool, wanted.locks, changed=updates * dependent * written, most=by_key)

    stays = buffer_stays(group, pool)
    stays = stays if len(stays) == len(member_loads) else [sum(stays) / len(stays)] * len(member_loads)

    def error(x: tuple[float, ...]) -> float:
        pages, skew, hot = _bounded(x)
        sets = PageSets(max(round(math.exp(pages)), 10), skew, *private)
        here = loads(group, pool, dependent, written, hot=hot, locked=locked)
        met = conflicts(sets, here, avoidance, wanted.held)
        # Without contention nothing tells inserts at one place from popular pages: none, then.
        extra = (0.01 if wanted.conflicts else 1.0) * hot
        rates = rates_of(sets, here, data, directory, kept=structure.kept if structure else None, locked=locked)
        return _misfit(rates, met, wanted) + extra + _index_misfit(sets, here, stays, wanted)

    if before is not None and before.pages.shared:
        places = [(math.log(before.pages.shared), before.pages.skew, before.hot)]
    else:
        places = [
            (math.log(max(buffers * factor, 20.0)), skew, hot)
            for factor in _FACTORS
            for skew in _SKEWS
            for hot in _HOTS
        ]
    starts = sorted((error(place), place) for place in places)
    best = starts[0]
    for _, (pages, skew, hot) in starts[:2]:
        corners = [[pages, skew, hot], [pages + 0.4, skew, hot], [pages, skew + 0.15, hot], [pages, skew, hot + 0.1]]
        result = minimize(
            lambda x: error(tuple(x)),
            np.array(corners[0]),
            method="Nelder-Mead",
            options={"maxfev": 80, "xatol": 0.005, "fatol": 1e-6, "initial_simplex": np.array(corners)},
        )
        best = min(best, (float(result.fun), _bounded(tuple(float(value) for value in result.x))))
    pages, skew, hot = best[1]
    shared = max(round(math.exp(pages)), 10)
    return PoolFit(PageSets(shared, round(skew, 4), *private), dependent, written, how, round(hot, 4), locked)


def reached(
    measured: SharingMeasured, group: Group, pool: str, about: PoolFit, aim: PageTargets, *, avoidance: float
) -> PageTargets:
    """Values that page sets reach in closed form for targets that may be unreachable."""
    structure = measured.allocated.get(pool_structure(group.name, pool))
    members = [member for member in group.members if pool in member.pools]
    if structure is None or not members:
        return aim
    data = data_pages(structure.size, structure.data_elements, members[0].pools[pool].page_bytes)
    here = loads(group, pool, about.dependent, about.written, hot=about.hot, locked=about.locked)
    directory = max(structure.directory_entries, data)
    rates = rates_of(about.pages, here, data, directory, kept=structure.kept, locked=about.locked)
    met = conflicts(about.pages, here, avoidance, aim.held)
    return replace(
        aim,
        absent=rates.absent or aim.absent,
        invalid=rates.invalid or aim.invalid,
        absent_hits=rates.absent_hits or aim.absent_hits,
        invalid_hits=rates.invalid_hits or aim.invalid_hits,
        directory_reclaims=rates.directory_reclaims or aim.directory_reclaims,
        conflicts=aim.conflicts and (met or aim.conflicts),
    )


def _misfit(result: PageRates, met: float, wanted: PageTargets) -> float:
    """Squared log ratios, weighted; damped for very small counts."""
    pairs = (
        (result.absent, wanted.absent, 1.0),
        (result.invalid, wanted.invalid, 0.7),
        (result.absent_hits, wanted.absent_hits, 0.7),
        (result.invalid_hits, wanted.invalid_hits, 0.2),
        (result.directory_reclaims, wanted.directory_reclaims, 0.3),
    )
    floor = 0.003 * (wanted.absent + wanted.invalid) + 1e-3
    total = sum(weight * math.log((first + floor) / (other + floor)) ** 2 for first, other, weight in pairs)
    if wanted.conflicts is None:
        return total
    rare = 0.02 * wanted.conflicts + 0.05
    return total + 0.2 * math.log((met + rare) / (wanted.conflicts + rare)) ** 2


def _index_misfit(pages: PageSets, members: list[MemberLoad], stays: list[float], wanted: PageTargets) -> float:
    """The same for page P-locks in an index pool, whose pages are those of the shared page set."""
    if wanted.locks is None or not wanted.is_index or not pages.shared:
        return 0.0
    updates, getpages = [load.updates for load in members], [load.random for load in members]
    lock_rates = page_lock_rates(pages.shared, pages.skew, updates, getpages, stays)
    aim = wanted.locks
    floor = 0.1 * (aim.granted + aim.negotiated)
    pairs = [(lock_rates.granted, aim.granted), (lock_rates.negotiated, aim.negotiated)]
    total = sum(0.5 * math.log((first + floor) / (other + floor)) ** 2 for first, other in pairs)
    if aim.held is not None:
        total += 0.5 * math.log((sum(lock_rates.held) + 1.0) / (aim.held + 1.0)) ** 2
    return total


#: Skew of the members' private page sets: no measurement determines it; popularity of business data is about this.
PRIVATE_SKEW = 0.8


def _private_pages(member_loads: list[MemberLoad], wanted: PageTargets, buffers: float) -> tuple[int, float]:
    """Pages of the members' private page sets that give the measured misses with their share of the pool."""
    own = sum(load.private for load in member_loads)
    if own <= 0:
        return 0, 0.0
    miss = min(wanted.private_misses / own, 0.95)
    whole = sum(load.private + load.random + load.sequential for load in member_loads)

    def misses(pages: float) -> float:
        alone = [
            MemberLoad(
                load.buffers * load.private / max(load.private + load.random + load.sequential, 1e-9),
                0,
                0,
                0,
                load.private,
            )
            for load in member_loads
        ]
        return rates_of(PageSets(0, 0.0, round(pages), PRIVATE_SKEW), alone, 0, 0).other_misses / own

    low, high = 10.0, buffers * 200.0
    if miss <= misses(low) + 1e-6:
        return max(round(0.5 * buffers * own / whole), 10), PRIVATE_SKEW
    return round(crossing(lambda pages: misses(pages) - miss, low, high)), PRIVATE_SKEW
