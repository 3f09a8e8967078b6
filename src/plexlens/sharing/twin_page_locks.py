"""Physically locked pages of a twin, fitted to requests and waits for page P-locks and to the locks held."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plexlens.sharing.closed_form import crossing, held_by_little, held_of_contention
from plexlens.sharing.closed_form_locks import PageLockRates, page_lock_rates
from plexlens.sharing.twin import LockedPages
from plexlens.sharing.twin_group import Group, SharingMeasured, lock_structure

#: Exponent of Zipf's law of these pages: no measurement determines it; popularity of business data is about this.
LOCKED_SKEW = 0.8

#: Page P-lock requests per second below which a pool is taken to have none.
_NOTHING = 0.05

#: False contentions in all below which they do not tell how many locks are held.
_FEW = 30.0

_MOST_PAGES = 1_000_000


@dataclass(frozen=True)
class PageLockTargets:
    """Targets for the physically locked pages of a pool, per second over all members.

    Attributes
    ----------
    granted
        Page P-lock requests that did not wait (QBGLP1 - QBGLS1).
    negotiated
        Those that did (QBGLS1).
    held
        Page P-locks held, as false contention tells; None where it is too rare to tell.
    """

    granted: float
    negotiated: float
    held: float | None


def page_lock_targets(measured: SharingMeasured, group: Group, pool: str) -> PageLockTargets | None:
    """Measured page P-lock numbers of a pool; None if it has none."""
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    requests = sum(use.page_locks for use in used)
    if requests < _NOTHING:
        return None
    waits = min(sum(use.page_lock_waits for use in used), requests)
    every = sum(pool.page_locks for member in group.members for pool in member.group_pools.values())
    value = _held(measured, group)
    return PageLockTargets(requests - waits, waits, None if value is None else value * requests / every)


def page_lock_contention(group: Group) -> float:
    """Contention per second for page P-locks: that of the lock structure, without contention for transactions'
    locks.
    """
    return sum(pool.page_lock_waits for member in group.members for pool in member.group_pools.values())


def _held(measured: SharingMeasured, group: Group) -> float | None:
    """Page P-locks held by all members: the part of false contention beyond transactions' locks."""
    name = lock_structure(group.name)
    uses = measured.of_structure(name)
    met = sum(use.false_contentions for use in uses)
    options = sum(member.xes_locks for member in group.members)
    members = len(group.members)
    if options <= 0 or met * measured.seconds < _FEW or met >= options:
        return None
    others = held_of_contention(met / options, measured.allocated[name].lock_entries)
    works = [work for member in group.members for work in member.work]
    to_commit = sum(held_by_little(work.rate * sum(work.updates.values()), work.db2_elapsed / 2.0) for work in works)
    value = others * members / (members - 1) - to_commit
    return value if value > 1.0 else None


def fit_page_locks(group: Group, pool: str, wanted: PageLockTargets, changed: float, most: float) -> LockedPages:
    """Pages whose P-locks are, in closed form, requested and held as targeted.

    Of each change of such a page the lock is held by its member, by another, or by none. Where all members hold as many
    of the pages as they make of the changes, these three shares tell how many changes there are; how often locks are
    given back tells how often the pages are used, and the locks held tell how many pages there are.

    Parameters
    ----------
    group, pool
        Of which pool.
    wanted
        What the pages are to give.
    changed
        Changes per second of GBP-dependent pages of the pool.
    most
        Getpages per second by key of GBP-dependent pages of the pool.
    """
    members = [member for member in group.members if pool in member.pools]
    weights = _shares([member.pools[pool].updates for member in members])
    other = 1.0 - sum(weight**2 for weight in weights)
    updates = wanted.granted + (wanted.negotiated / other if other > 0 else 0.0)
    updates = min(updates, changed)
    stays = buffer_stays(group, pool)
    most = max(most, updates)

    def rates(pages: float, getpages: float) -> PageLockRates:
        changes, used = ([total * weight for weight in weights] for total in (updates, getpages))
        return page_lock_rates(round(pages), LOCKED_SKEW, changes, used, stays)

    def used_by(pages: float) -> float:
        """Getpages at which the targeted number of locks is released; the same number is granted again."""
        return crossing(lambda value: wanted.granted - rates(pages, value).granted, updates, most)

    if wanted.held is None:
        # Nothing tells reads of these pages apart: none but those that change them.
        pages = crossing(lambda value: rates(value, updates).granted - wanted.granted, 2.0, _MOST_PAGES)
        getpages = updates
    else:
        content = wanted.held
        pages = crossing(lambda value: sum(rates(value, used_by(value)).held) - content, 2.0, _MOST_PAGES)
        getpages = used_by(pages)
    return LockedPages(
        max(round(pages), 2),
        LOCKED_SKEW,
        round(updates / changed, 6) if changed > 0 else 0.0,
        round(getpages / most, 6) if most > 0 else 0.0,
    )


def buffer_stays(group: Group, pool: str) -> list[float]:
    """Residence time of an unreferenced page in each member that has the pool: buffers / pages read per second."""
    stays = []
    for member in group.members:
        if pool not in member.pools:
            continue
        about, used = member.pools[pool], member.group_pools.get(pool)
        misses = about.sync_reads + about.prefetch_pages + (used.absent_data if used else 0.0)
        stays.append(about.size / misses if misses > 0 else math.inf)
    return stays


def _shares(values: list[float]) -> list[float]:
    total = sum(values)
    return [value / total for value in values] if total > 0 else [1.0 / len(values)] * len(values)
