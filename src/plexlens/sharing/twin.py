"""A simulator scenario that reproduces a measured data-sharing group.

Every number of it was measured, was fitted so that a run reproduces what was measured, or is a stated assumption;
`plexlens.sharing.twin_toml` writes the origin next to each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.conversion import Threshold
from plexlens.sharing.twin_group import (
    Group,
    MemberUse,
    SharingMeasured,
    Work,
    lock_structure,
    pool_number,
    pool_structure,
)

#: Processor time of the path lengths that the simulator counts by itself, microseconds: its own defaults, written into
#: the scenario, since what they take is taken off the measured CPU of a class.
PATH = {"getpage_us": 1.0, "lock_us": 1.0, "read_us": 15.0, "update_us": 3.0, "commit_us": 20.0}

#: Share of the time that the single main task of a region may be busy in a twin: waits for it are not measured.
_REGION_BUSY = 0.25

#: CPU of a piece of work that is not a transaction, seconds.
_PIECE = 0.002

#: Bytes of a directory entry of a group buffer pool (Db2 13 for z/OS, "Group buffer pool sizes": about 400).
DIRECTORY_ENTRY = 400

#: Pages of a page set of inserts: so many that its end does not come round to pages that are still known.
HOT_PAGES = 1_000_000

#: Getpages per transaction below which a scan is left out: the simulator reads each scan ahead by whole prefetches.
_SHORTEST_SCAN = 8.0

_LOCK_STEP = 1e-9


@dataclass(frozen=True)
class PageSets:
    """The pages of a pool: a page set that all members share, and a private page set for each member.

    Attributes
    ----------
    shared, private
        Pages of the shared page set, and of the own one of each member; 0 where there are none.
    skew, private_skew
        Exponents of Zipf's law.
    """

    shared: int
    skew: float
    private: int = 0
    private_skew: float = 0.0


@dataclass(frozen=True)
class LockedPages:
    """Pages of a pool that members lock physically to change them: index leaf pages, pages with row locks.

    Attributes
    ----------
    pages, skew
        Pages, and the exponent of Zipf's law.
    updates
        Their share of the changed pages of the pool that are GBP-dependent.
    getpages
        Their share of the GBP-dependent getpages by key.
    """

    pages: int
    skew: float
    updates: float
    getpages: float


@dataclass(frozen=True)
class PoolFit:
    """The page sets of a pool, and the distribution of its getpages over them.

    Attributes
    ----------
    pages
        Page sets.
    dependent
        Share of the getpages that go to the shared page set.
    written
        Changed pages written to the group buffer pool for each buffer update.
    dependent_by
        How ``dependent`` was found: ``counted`` by Db2, or ``assumed``.
    hot
        Share of the written pages, but for ``locked``, that are one, where all members insert.
    locked
        Pages with page P-locks; None where the pool has none.
    """

    pages: PageSets
    dependent: float
    written: float
    dependent_by: str
    hot: float = 0.0
    locked: LockedPages | None = None


@dataclass
class Fit:
    """Fitted parameters, which no record contains.

    Attributes
    ----------
    pools
        By group and pool.
    avoidance
        Share of read-only getpages without a lock, by group.
    db2_cpu
        CPU seconds of a transaction on an engine of speed 1 besides path lengths and requests, by twin class.
    threshold
        Service time above which requests are asynchronous.
    lock, read, page
        Execution times in the coupling facility, seconds.
    speed, link
        By facility: speed, and one-way seconds of adapter and link.
    index_pools
        Pools that hold indexes alone, as stated: their pages are not locked.
    """

    pools: dict[tuple[str, str], PoolFit] = field(default_factory=dict)
    avoidance: dict[str, float] = field(default_factory=dict)
    db2_cpu: dict[str, float] = field(default_factory=dict)
    lock: float = 2e-6
    read: float = 3e-6
    page: float = 5e-6
    speed: dict[str, float] = field(default_factory=dict)
    link: dict[str, float] = field(default_factory=dict)
    read_time: float = 0.0005
    log_time: float = 0.0005
    write_cpu: float = 3e-6
    threshold: Threshold = field(default_factory=lambda: Threshold(0.0, 0.0, math.inf, "stated"))
    index_pools: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TwinClass:
    """A class of the twin: its name, and the measured class and member that it represents."""

    name: str
    label: str
    group: str
    member: str
    system: str
    work: Work


def twin_classes(measured: SharingMeasured) -> tuple[TwinClass, ...]:
    """The classes of a twin: each measured class of each member, with a name that fits SMF records."""
    results: list[TwinClass] = []
    taken: set[str] = set()
    number = 0
    for group in measured.groups:
        for member in group.members:
            number += 1
            for work in member.work:
                stem = re.sub(r"[^A-Z0-9@#$_]", "", work.name.upper())[:6] or "WORK"
                name, extra = f"{stem}{number:02d}", 0
                while name in taken:
                    extra += 1
                    name = f"{stem[: 6 - len(str(extra))]}{extra}{number:02d}"
                taken.add(name)
                results.append(TwinClass(name, work.name, group.name, member.name, member.system, work))
    return tuple(results)


def shared_set(pool: str) -> str:
    """Name of the page set of a pool that is shared by all members of the twin."""
    return f"{pool}.SHARED"


def hot_set(pool: str) -> str:
    """Name of the pool's page set to whose end all members of the twin insert."""
    return f"{pool}.INSERTS"


def locked_set(pool: str) -> str:
    """Name of the pool's page set whose pages all members of the twin lock physically to change them."""
    return f"{pool}.LEAVES"


def own_set(pool: str, member: str) -> str:
    """Name of the pool's page set that is private to a member of the twin."""
    return f"{pool}.{member}"


def data_pages(size: float, elements: float, page_bytes: int) -> float:
    """Pages that fit in a group buffer pool: an element is a page, or 4 KB of a larger page if elements are smaller."""
    if elements <= 0:
        return 0.0
    return elements if size >= elements * page_bytes or page_bytes <= 4096 else elements * 4096 / page_bytes


def build(
    measured: SharingMeasured, fit: Fit, assumptions: Assumptions, classes: tuple[TwinClass, ...]
) -> dict[str, Any]:
    """The tables of the scenario, without the length of its run."""
    values: dict[str, Any] = {"sysplex": "TWIN"}
    used = sorted({member.system for group in measured.groups for member in group.members})
    values["cec"] = [
        {
            "name": f"C{number}",
            "engines": max(round(measured.systems[name].engines), 1),
            "ziips": round(measured.systems[name].ziips),
            "speed": assumptions.speed_of(name),
            "ziip_speed": round(measured.systems[name].ziip_speed * assumptions.speed_of(name), 6),
        }
        for number, name in enumerate(used, 1)
    ]
    values["system"] = [{"name": name, "cec": f"C{number}"} for number, name in enumerate(used, 1)]
    values["coupling_facility"] = [
        {
            "name": facility.name,
            "engines": max(round(facility.engines), 1),
            "speed": round(fit.speed.get(facility.name, 1.0), 6),
            "link": fit.link.get(facility.name, 0.0),
            "subchannels": max(round(facility.subchannels), 1) if facility.subchannels else 7,
        }
        for facility in measured.facilities.values()
    ]
    values["coupling"] = {
        "lock_us": fit.lock * 1e6,
        "read_us": fit.read * 1e6,
        "page_us": fit.page * 1e6,
        "sync_host_us": assumptions.sync_path * 1e6,
        "async_host_us": assumptions.async_path * 1e6,
        "convert_above_us": fit.threshold.seconds * 1e6,
        "contention_host_us": assumptions.contention_path * 1e6,
    }
    values["dasd"] = {"volumes": 256, "parallel": 8, "cache_hits": 1.0, "hit_time": fit.read_time}
    values["db2"] = [_group(measured, group, fit) for group in measured.groups]
    values["region"], values["class"] = _work(measured, fit, assumptions, classes)
    return values


def _group(measured: SharingMeasured, group: Group, fit: Fit) -> dict[str, Any]:
    pools, page_sets = [], []
    for name in group.pools:
        about = fit.pools[group.name, name]
        members = [member.pools[name] for member in group.members if name in member.pools]
        # The simulator's pools are the same in all members: the mean keeps the buffers of the group.
        size = round(sum(pool.size for pool in members) / len(members))
        pool: dict[str, Any] = {
            "number": pool_number(name),
            "size": max(size, 100),
            "page_bytes": members[0].page_bytes,
        }
        structure = measured.allocated.get(pool_structure(group.name, name))
        if structure is not None:
            data = round(data_pages(structure.size, structure.data_elements, members[0].page_bytes))
            pool["group"] = {
                "coupling_facility": structure.facility,
                "data_entries": max(data, 1),
                "directory_entries": max(round(structure.directory_entries), data, 1),
            }
        pools.append(pool)
        if about.pages.shared:
            page_sets.append(
                {
                    "name": shared_set(name),
                    "pool": pool_number(name),
                    "pages": about.pages.shared,
                    "skew": round(about.pages.skew, 4),
                    "index": name in fit.index_pools,
                }
            )
            if about.hot:
                page_sets.append(
                    {
                        "name": hot_set(name),
                        "pool": pool_number(name),
                        "pages": HOT_PAGES,
                        "index": name in fit.index_pools,
                    }
                )
        if about.locked and name not in fit.index_pools:
            page_sets.append(
                {
                    "name": locked_set(name),
                    "pool": pool_number(name),
                    "pages": about.locked.pages,
                    "skew": about.locked.skew,
                    "index": True,
                }
            )
        if about.pages.private:
            page_sets += [
                {
                    "name": own_set(name, member.name),
                    "pool": pool_number(name),
                    "pages": about.pages.private,
                    "skew": round(about.pages.private_skew, 4),
                    "index": name in fit.index_pools,
                }
                for member in group.members
            ]
    lock = measured.allocated[lock_structure(group.name)]
    return {
        "group": group.name,
        "lock_avoidance": fit.avoidance.get(group.name, 0.9),
        "log_write": fit.log_time,
        "path": PATH | {"write_us": fit.write_cpu * 1e6, "castout_us": fit.write_cpu * 1e6},
        "lock": {"coupling_facility": lock.facility, "entries": max(round(lock.lock_entries), 1)},
        "member": [{"name": member.name, "system": member.system, "threads": 5000} for member in group.members],
        "pool": pools,
        "page_set": page_sets,
    }


def _work(
    measured: SharingMeasured, fit: Fit, assumptions: Assumptions, classes: tuple[TwinClass, ...]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    regions: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    others = other_cpu(measured, classes)
    for group in measured.groups:
        for member in group.members:
            twin_classes = [
                work_class
                for work_class in classes
                if work_class.group == group.name and work_class.member == member.name
            ]
            busy = sum(work_class.work.rate * others.by_class[work_class.name] for work_class in twin_classes)
            names = [f"{member.name[:4]}R{n:03d}" for n in range(max(math.ceil(busy / _REGION_BUSY), 1))]
            regions += [{"name": name, "system": member.system, "db2": group.name, "threads": 1000} for name in names]
            speed = assumptions.speed_of(member.system)
            for class_use in twin_classes:
                values: dict[str, Any] = {
                    "name": class_use.name,
                    "rate": class_use.work.rate,
                    "regions": names,
                    "cpu": others.by_class[class_use.name] * speed,
                    "db2_cpu": fit.db2_cpu.get(class_use.name, class_use.work.db2_cpu * speed),
                    "ziip_share": round(class_use.work.ziip_share, 6)
                    if measured.systems[class_use.system].ziips
                    else 0.0,
                    "references": list(references(group, member, class_use, fit)),
                }
                results.append(values)
    for number, (system, engines) in enumerate(sorted(others.background.items()), 1):
        speed = assumptions.speed_of(system)
        names = [f"OTH{number:02d}{n:03d}" for n in range(max(math.ceil(engines / _REGION_BUSY), 1))]
        regions += [{"name": name, "system": system, "priority": 7} for name in names]
        results.append(
            {"name": f"OTHER{number:02d}", "rate": engines / _PIECE, "regions": names, "cpu": _PIECE * speed}
        )
    return regions, results


@dataclass(frozen=True)
class OtherCpu:
    """CPU outside Db2 on the thread: seconds per transaction by twin class, engines of other work by system."""

    by_class: dict[str, float]
    background: dict[str, float]


#: Connection types whose transactions run in regions.
_IN_REGIONS = ("CICS", "IMS")

#: CPU seconds outside of Db2 beyond which a transaction's share of a system's other work is not believed.
_MOST_OUTSIDE = 0.05


def other_cpu(measured: SharingMeasured, classes: tuple[TwinClass, ...]) -> OtherCpu:
    """Distribution of each system's CPU time outside Db2.

    CPU that CICS monitoring records for a class is the class's own. Of the rest, classes that arrive through regions
    get an equal amount per transaction, unless that is absurd; otherwise it is separate work.
    """
    by_class: dict[str, float] = {}
    background: dict[str, float] = {}
    spaces: dict[str, float] = {}
    for group in measured.groups:
        for member in group.members:
            spaces[member.system] = spaces.get(member.system, 0.0) + member.dbm1_cpu + member.mstr_cpu + member.irlm_cpu
    for system, use in measured.systems.items():
        here = [work_class for work_class in classes if work_class.system == system]
        if not here:
            continue
        text = sum(work_class.work.rate * (work_class.work.db2_cpu + work_class.work.other_cpu) for work_class in here)
        left = max(use.busy + use.ziip_busy - spaces.get(system, 0.0) - text, 0.0)
        through = [
            work_class for work_class in here if any(work_class.work.kind.startswith(kind) for kind in _IN_REGIONS)
        ]
        without = [work_class for work_class in through if work_class.work.other_cpu == 0.0]
        rate = sum(work_class.work.rate for work_class in without)
        each = left / rate if rate and left / rate <= _MOST_OUTSIDE else 0.0
        for class_use in here:
            by_class[class_use.name] = class_use.work.other_cpu or (each if class_use in without else 0.0)
        if not each and left > 0.005:
            background[system] = left
    return OtherCpu(by_class, background)


def sequential_share(member: MemberUse, pool: str) -> dict[str, float]:
    """Share of sequential getpages in each class's getpages of a pool, consistent with the pool's counter.

    Classes that waited for prefetch get them first, the largest readers before the others.
    """
    wanted = member.pools[pool].sequential if pool in member.pools else 0.0
    reads = [(work, work.rate * work.getpages.get(pool, 0.0)) for work in member.work]
    shares = {work.name: 0.0 for work in member.work}
    waiting = [(work_class, pages) for work_class, pages in reads if work_class.prefetches > 0 and pages > 0]
    for contents in (waiting, [(work_class, pages) for work_class, pages in reads if pages > 0]):
        # The pages that a class got by scans go with how often it waited for prefetch; else with its getpages.
        parts = [
            (
                work_class,
                pages * (1.0 - shares[work_class.name]),
                work_class.prefetches * work_class.rate if contents is waiting else pages,
            )
            for work_class, pages in contents
        ]
        weights = sum(weight for *_, weight in parts)
        if wanted <= 0 or weights <= 0:
            continue
        given = 0.0
        for work_class, pages, weight in parts:
            part = min(wanted * weight / weights, pages)
            shares[work_class.name] = min(
                shares[work_class.name] + part / (work_class.rate * work_class.getpages[pool]), 1.0
            )
            given += part
        wanted -= given
    return shares


def references(group: Group, member: MemberUse, work_class: TwinClass, fit: Fit) -> Iterator[dict[str, Any]]:
    """Pages referenced by a transaction of a twin class; ends of page sets last, since their locks are expensive."""
    inserts = []
    for pool in group.pools:
        getpages = work_class.work.getpages.get(pool, 0.0)
        if getpages <= 0:
            continue
        about = fit.pools[group.name, pool]
        scanned = sequential_share(member, pool)[work_class.work.name]
        updates = work_class.work.updates.get(pool, 0.0)
        counted = work_class.work.dependent_share(pool) if about.dependent_by == "counted" else None
        shared = (about.dependent if counted is None else counted) if about.pages.shared else 0.0
        if not about.pages.private and about.pages.shared:
            shared = 1.0
        by_key, changed = getpages * shared * (1.0 - scanned), updates * shared * about.written
        leaves = about.locked if pool not in fit.index_pools else None
        leaf_updates = min(changed * leaves.updates, by_key) if leaves else 0.0
        leaf_getpages = max(by_key * leaves.getpages, leaf_updates) if leaves else 0.0
        if leaf_getpages > _LOCK_STEP:
            share = min(leaf_updates / leaf_getpages, 1.0)
            yield {"page_set": locked_set(pool), "getpages": round(leaf_getpages, 6), "update": round(share, 6)}
        # Rows that a unit of work inserts go to one page, which is written once.
        hot = min(about.hot * (changed - leaf_updates), by_key - leaf_getpages, 1.0)
        if hot > _LOCK_STEP:
            end = {"page_set": hot_set(pool), "getpages": round(hot, 6), "update": 1.0, "access": "append"}
            inserts.append(end)
        parts = (
            (shared_set(pool), shared, about.written, hot + leaf_getpages, hot + leaf_updates),
            (own_set(pool, member.name), 1.0 - shared if about.pages.private else 0.0, 1.0, 0.0, 0.0),
        )
        for name, share, written, read, taken in parts:
            by_key, by_scan = getpages * share * (1.0 - scanned) - read, getpages * share * scanned
            if by_scan < _SHORTEST_SCAN:
                by_key, by_scan = by_key + by_scan, 0.0
            if by_key > _LOCK_STEP:
                changed = max(updates * share * written - taken, 0.0) / by_key
                yield {"page_set": name, "getpages": round(by_key, 6), "update": round(min(changed, 1.0), 6)}
            if by_scan > _LOCK_STEP:
                yield {"page_set": name, "getpages": round(by_scan, 6), "access": "sequential"}
    yield from inserts
