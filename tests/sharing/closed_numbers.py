"""The numbers of a twin, or of a changed one, in closed form: without a run, from the tables of its scenario."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plexlens.ingest.page_trace import pool_name
from plexlens.sharing.closed_form import FIBRE, Sending, facility_wait, false_contention, held_by_little
from plexlens.sharing.closed_form_locks import PageLockRates, page_lock_rates
from plexlens.sharing.closed_form_pages import PageRates, PageSetLoad, page_rates
from plexlens.sharing.twin import PageSets
from plexlens.sharing.twin_group import lock_structure, pool_structure
from plexlens.sharing.twin_numbers import Key, Numbers
from plexlens.sharing.twin_pages import MemberLoad, conflicts
from plexlens.sharing.what_if_changes import class_rates

#: Pages of a castout I/O, where nothing else is known: changed pages of one transaction lie apart.
_PAGES_A_CASTOUT = 3.0


@dataclass(frozen=True)
class Basis:
    """What is known of the group besides the scenario.

    Attributes
    ----------
    times
        Seconds in Db2 of a transaction, by class of the scenario.
    labels
        Name that a class goes by, by that of the scenario.
    castouts
        Pages cast out for each page written, by structure.
    kept
        Members that still had a page whose directory entry was reclaimed, mean, by structure, where any was.
    """

    times: Mapping[str, float]
    labels: Mapping[str, str]
    castouts: Mapping[str, float]
    kept: Mapping[str, float]


@dataclass
class _Class:
    """A class as the closed form counts it: what a transaction asks of whom."""

    name: str
    member: int
    rate: float
    exclusive: float = 0.0
    shared_locks: float = 0.0
    getpages: dict[str, float] = field(default_factory=dict)
    scans: dict[str, float] = field(default_factory=dict)
    inserts: dict[str, float] = field(default_factory=dict)
    writes: dict[str, float] = field(default_factory=dict)


@dataclass
class _Structure:
    facility: str
    registering: float = 0.0
    moving: float = 0.0
    locks: float = 0.0

    @property
    def requests(self) -> float:
        return self.registering + self.moving + self.locks


def closed_numbers(values: Mapping[str, Any], basis: Basis) -> Numbers:
    """The numbers of a scenario whose classes run on one system each, in closed form.

    False contention by the locks that are held (Little's law: rate times the time they are held, which is taken as half
    of the time in Db2 for locks that stay to commit; page P-locks are held until another member changes the page or its
    buffer is stolen), page rates by Che's approximation, service times by execution,
    links, distance and the wait for engines, requests sent asynchronously where that time is above the threshold, and
    contention for pages by the share of the time that another member holds them.
    """
    numbers: Numbers = {}
    structures: dict[str, _Structure] = {}
    works: dict[str, list[_Class]] = {}
    rates: dict[str, PageRates] = {}
    page_locks: dict[str, list[PageLockRates]] = {}
    for group in values.get("db2", []):
        works[group["group"]] = _classes(values, group)
        physical = page_locks[group["group"]] = []
        for pool in group["pool"]:
            name = pool_structure(group["group"], pool_name(pool["number"]))
            found = _pool(group, pool, works[group["group"]], basis.kept.get(name))
            rates[name] = found
            physical += _page_locks(values, group, pool, works[group["group"]], found)
            disk = found.absent - found.absent_hits + found.invalid - found.invalid_hits + found.other_misses
            numbers[Key("sync_reads", f"{group['group']} {pool_name(pool['number'])}")] = disk
            if pool.get("group"):
                structure = _Structure(pool["group"]["coupling_facility"])
                _pool_numbers(numbers, structure, name, found, basis)
                structures[name] = structure
        _locks(group, works[group["group"]], physical, structures)
    services = _services(values, structures)
    sending = _sending(values)
    cpu = 0.0
    for name, structure in structures.items():
        if not structure.requests:
            continue
        service = services[name]
        numbers[Key("lock_requests" if structure.locks else "pool_requests", name)] = structure.requests
        numbers[Key("service", name)] = service
        numbers[Key("async", name)] = 1.0 if sending.is_converted(service) else 0.0
        cpu += structure.requests * sending.cpu(service)
    for facility in values.get("coupling_facility", []):
        numbers[Key("cf_busy", facility["name"])] = _facility_busy(values, structures, facility)
    contention = values.get("coupling", {}).get("contention_host_us", 30.0) / 1e6
    for group in values.get("db2", []):
        if group.get("lock"):
            name = lock_structure(group["group"])
            requests = structures[name].requests
            physical = page_locks[group["group"]]
            share = _false(group, works[group["group"]], basis, physical) / requests if requests else 0.0
            numbers[Key("false_contention", name)] = share
            met = _conflicts(values, group, works[group["group"]], basis) + sum(one.negotiated for one in physical)
            numbers[Key("contention", name)] = share + met / requests if requests else 0.0
            cpu += (share * requests + met) * contention
    model = _Model(values, works, rates, services, sending)
    for label, time in model.times(basis).items():
        numbers[Key("coupling_time", label)] = time
    numbers[Key("coupling_cpu")] = cpu
    return numbers


def _classes(values: Mapping[str, Any], group: Mapping[str, Any]) -> list[_Class]:
    homes = {region["name"]: region["system"] for region in values.get("region", [])}
    members = {member["system"]: number for number, member in enumerate(group["member"])}
    connected = {region["name"] for region in values.get("region", []) if region.get("db2") == group["group"]}
    rates = class_rates(values)
    sets = {page_set["name"]: page_set for page_set in group["page_set"]}
    dependent = dependent_sets(values, group)
    made = []
    for one in values["class"]:
        if not one.get("references") or not set(one["regions"]) <= connected:
            continue
        work = _Class(one["name"], members[homes[one["regions"][0]]], rates[one["name"]])
        for reference in one["references"]:
            page_set = sets[reference["page_set"]]
            getpages, update = reference["getpages"], reference.get("update", 0.0)
            name = page_set["name"]
            work.getpages[name] = work.getpages.get(name, 0.0) + getpages
            work.writes[name] = work.writes.get(name, 0.0) + getpages * update
            kind = {"sequential": work.scans, "append": work.inserts}.get(reference.get("access", ""))
            if kind is not None:
                kind[name] = kind.get(name, 0.0) + getpages
            if name not in dependent or page_set.get("index"):
                continue
            work.exclusive += getpages * update
            locked = 1.0 - group.get("lock_avoidance", 0.9)
            if reference.get("access") == "sequential":
                work.shared_locks += locked
            else:
                work.shared_locks += locked * getpages * (1.0 - update)
        made.append(work)
    return made


def dependent_sets(values: Mapping[str, Any], group: Mapping[str, Any]) -> set[str]:
    """Page sets in pools with a group buffer pool that several members of a group use and one at least changes."""
    homes = {region["name"]: region["system"] for region in values.get("region", [])}
    systems = {member["system"] for member in group["member"]}
    users: dict[str, set[str]] = {}
    changed = set()
    for one in values["class"]:
        here = {homes[name] for name in one["regions"]} & systems
        for reference in one.get("references", []):
            users.setdefault(reference["page_set"], set()).update(here)
            if reference.get("update", 0.0) > 0:
                changed.add(reference["page_set"])
    shared = {pool["number"] for pool in group["pool"] if pool.get("group")}
    return {
        page_set["name"]
        for page_set in group["page_set"]
        if page_set["pool"] in shared and page_set["name"] in changed and len(users.get(page_set["name"], ())) > 1
    }


def _pool(group: Mapping[str, Any], pool: Mapping[str, Any], works: list[_Class], kept: float | None) -> PageRates:
    """Page rates of a pool; references of one class are independent of each other."""
    members = len(group["member"])
    hot = [0.0] * members
    sets = []

    def by_member(name: str, of: str) -> tuple[float, ...]:
        rates = [0.0] * members
        for work in works:
            rates[work.member] += work.rate * getattr(work, of).get(name, 0.0)
        return tuple(rates)

    for page_set in group["page_set"]:
        if page_set["pool"] != pool["number"]:
            continue
        name = page_set["name"]
        used, written, scanned, inserted = (by_member(name, of) for of in ("getpages", "writes", "scans", "inserts"))
        dependent = bool(pool.get("group")) and sum(value > 0 for value in used) > 1 and sum(written) > 0
        if dependent:
            hot = [one + other for one, other in zip(hot, inserted, strict=True)]
        by_key = tuple(a - b - c for a, b, c in zip(used, scanned, inserted, strict=True))
        # Inserts change their page whenever they use it; the other updates are the rest.
        changed = tuple(max(a - b, 0.0) if dependent else 0.0 for a, b in zip(written, inserted, strict=True))
        if sum(by_key) + sum(scanned) > 0:
            sets.append(PageSetLoad(page_set["pages"], page_set.get("skew", 0.0), by_key, scanned, changed, dependent))
    about = pool.get("group") or {}
    data = about.get("data_entries", 0)
    directory = about.get("directory_entries", 5 * data)
    return page_rates(sets, [float(pool["size"])] * members, data, directory, hot, kept=kept)


def _pool_numbers(numbers: Numbers, structure: _Structure, name: str, found: PageRates, basis: Basis) -> None:
    reads = found.absent + found.invalid
    numbers[Key("absent", name)] = found.absent
    numbers[Key("invalid", name)] = found.invalid
    numbers[Key("writes", name)] = found.writes
    numbers[Key("xi_write", name)] = found.xi_write
    numbers[Key("xi_reclaim", name)] = found.xi_reclaim
    numbers[Key("directory_reclaims", name)] = found.directory_reclaims
    returned = found.absent_hits + found.invalid_hits
    if reads:
        numbers[Key("hit", name)] = returned / reads
    castouts = found.writes * basis.castouts.get(name, 0.7)
    structure.registering = reads - returned + castouts / _PAGES_A_CASTOUT
    structure.moving = returned + found.writes + castouts


def _page_locks(
    values: Mapping[str, Any], group: Mapping[str, Any], pool: Mapping[str, Any], works: list[_Class], found: PageRates
) -> list[PageLockRates]:
    """Page P-locks of the page sets of a pool that have them."""
    if not group.get("lock"):
        return []
    dependent = dependent_sets(values, group)
    members = len(group["member"])
    # Each page that comes into a pool takes the buffer of another; members' pools are of one size.
    misses = found.absent + found.other_misses
    stay = pool["size"] * members / misses if misses > 0 else math.inf
    made = []
    for page_set in group["page_set"]:
        name = page_set["name"]
        if page_set["pool"] != pool["number"] or name not in dependent or not has_page_locks(page_set):
            continue
        updates, getpages = [0.0] * members, [0.0] * members
        for work in works:
            # Inserts go to a few pages that stay with the member; only changes by key are met all over the page set.
            inserts = work.inserts.get(name, 0.0)
            updates[work.member] += work.rate * max(work.writes.get(name, 0.0) - inserts, 0.0)
            getpages[work.member] += work.rate * (work.getpages.get(name, 0.0) - inserts)
        made.append(page_lock_rates(page_set["pages"], page_set.get("skew", 0.0), updates, getpages, [stay] * members))
    return made


def has_page_locks(page_set: Mapping[str, Any]) -> bool:
    """Whether members lock pages of a page set physically to change them."""
    return bool(page_set.get("index")) or page_set.get("lock_size") == "row"


def _locks(
    group: Mapping[str, Any], works: list[_Class], physical: list[PageLockRates], structures: dict[str, _Structure]
) -> None:
    if not group.get("lock"):
        return
    locks = sum(work.rate * (work.exclusive + work.shared_locks) for work in works)
    # Each is asked for and given back; of page P-locks those that another member did not take.
    pages = sum(one.requests + one.granted for one in physical)
    structures[lock_structure(group["group"])] = _Structure(
        group["lock"]["coupling_facility"], locks=2.0 * locks + pages
    )


def _false(group: Mapping[str, Any], works: list[_Class], basis: Basis, physical: list[PageLockRates]) -> float:
    """Lock requests a second that meet another resource in their entry."""
    entries = group["lock"]["entries"]
    members = range(len(group["member"]))
    update = [0.0] * len(group["member"])
    share = [0.0] * len(group["member"])
    for work in works:
        time = basis.times.get(work.name, 0.0)
        update[work.member] += held_by_little(work.rate * work.exclusive, time / 2.0)
        # A reader's lock is given back with the page.
        share[work.member] += held_by_little(work.rate * work.shared_locks, 20e-6)
    for one in physical:
        for member in members:
            update[member] += one.held[member]
    met = 0.0
    for work in works:
        others = [m for m in members if m != work.member]
        exclusive = sum(update[m] for m in others)
        shared = sum(share[m] for m in others)
        met += work.rate * work.shared_locks * false_contention(exclusive, entries)
        met += work.rate * work.exclusive * false_contention(exclusive + shared, entries)
    everything = (sum(update) + sum(share)) * (1.0 - 1.0 / len(members))
    # Members ask for as many page P-locks as each other, taken together.
    return met + sum(one.requests for one in physical) * false_contention(everything, entries)


def _conflicts(values: Mapping[str, Any], group: Mapping[str, Any], works: list[_Class], basis: Basis) -> float:
    """Lock requests a second that meet an exclusive lock of another member on the same page."""
    updating = [(work.rate * work.exclusive, basis.times.get(work.name, 0.0)) for work in works]
    weight = sum(rate for rate, _ in updating)
    held = sum(rate * time for rate, time in updating) / weight / 2.0 if weight else 0.0
    dependent = dependent_sets(values, group)
    met = 0.0
    for page_set in group["page_set"]:
        name = page_set["name"]
        if name not in dependent or page_set.get("index"):
            continue
        loads = []
        for member in range(len(group["member"])):
            here = [work for work in works if work.member == member]
            inserts, scans, getpages, writes = (
                sum(work.rate * getattr(work, of).get(name, 0.0) for work in here)
                for of in ("inserts", "scans", "getpages", "writes")
            )
            by_key = getpages - inserts - scans
            loads.append(MemberLoad(0.0, by_key, scans, max(writes - inserts, 0.0), 0.0, inserts))
        sets = PageSets(page_set["pages"], page_set.get("skew", 0.0))
        met += conflicts(sets, loads, group.get("lock_avoidance", 0.9), held)
    return met


def _executions(values: Mapping[str, Any], structure: _Structure, speed: float) -> tuple[float, float]:
    """Mean execution time of a request of a structure, and mean of its square."""
    costs = values.get("coupling", {})
    kinds = (
        (structure.locks, costs.get("lock_us", 2.0)),
        (structure.registering, costs.get("read_us", 3.0)),
        (structure.moving, costs.get("page_us", 5.0)),
    )
    total = structure.requests
    if not total:
        return 0.0, 0.0
    mean = sum(rate * cost for rate, cost in kinds) / total * 1e-6 / speed
    square = sum(rate * cost**2 for rate, cost in kinds) / total * 1e-12 / speed**2
    return mean, square


def _of_facility(structures: Mapping[str, _Structure], name: str) -> dict[str, _Structure]:
    return {key: one for key, one in structures.items() if one.facility == name}


def _services(values: Mapping[str, Any], structures: Mapping[str, _Structure]) -> dict[str, float]:
    """Service time of each structure."""
    found = {}
    for facility in values.get("coupling_facility", []):
        held = _of_facility(structures, facility["name"])
        speed = facility.get("speed", 1.0)
        requests = sum(one.requests for one in held.values())
        if not requests:
            continue
        parts = [(one.requests, *_executions(values, one, speed)) for one in held.values()]
        mean = sum(rate * execution for rate, execution, _ in parts) / requests
        square = sum(rate * squares for rate, _, squares in parts) / requests
        wait = facility_wait(requests, mean, square, facility.get("engines", 1))
        link = 2.0 * (facility.get("link", 3e-6) + FIBRE * facility.get("distance_km", 0.0))
        for name, one in held.items():
            found[name] = _executions(values, one, speed)[0] + wait + link
    return found


def _facility_busy(
    values: Mapping[str, Any], structures: Mapping[str, _Structure], facility: Mapping[str, Any]
) -> float:
    held = _of_facility(structures, facility["name"]).values()
    return sum(one.requests * _executions(values, one, facility.get("speed", 1.0))[0] for one in held)


def _sending(values: Mapping[str, Any]) -> Sending:
    costs = values.get("coupling", {})
    threshold = costs.get("convert_above_us", 0.0) / 1e6
    return Sending(costs.get("sync_host_us", 2.0) / 1e6, costs.get("async_host_us", 20.0) / 1e6, threshold or None)


@dataclass(frozen=True)
class _Model:
    """What the time in Db2 of classes is made from."""

    values: Mapping[str, Any]
    works: Mapping[str, list[_Class]]
    rates: Mapping[str, PageRates]
    services: Mapping[str, float]
    sending: Sending

    def each(self, structure: str) -> float:
        """Seconds that a request to a structure takes a transaction."""
        service = self.services.get(structure, 0.0)
        if not service:
            return 0.0
        delay = self.values.get("coupling", {}).get("async_delay", 50e-6)
        return self.sending.cpu(service) + (service + delay if self.sending.is_converted(service) else 0.0)

    def times(self, basis: Basis) -> dict[str, float]:
        """Time in Db2 of a transaction that coupling facilities and reads from disk make, by class: a part of it."""
        sums: dict[str, tuple[float, float]] = {}
        for group in self.values.get("db2", []):
            for work, time in self._group(group):
                label = basis.labels.get(work.name, work.name)
                rate, total = sums.get(label, (0.0, 0.0))
                sums[label] = rate + work.rate, total + work.rate * time
        return {label: total / rate for label, (rate, total) in sums.items() if rate}

    def _group(self, group: Mapping[str, Any]) -> Iterator[tuple[_Class, float]]:
        disk = self.values.get("dasd", {}).get("hit_time", 0.0003)
        pools = {page_set["name"]: page_set["pool"] for page_set in group["page_set"]}
        dependent = dependent_sets(self.values, group)
        works = self.works[group["group"]]
        whole: dict[tuple[int, bool], float] = {}
        for work in works:
            for name, pages in work.getpages.items():
                key = pools[name], name in dependent
                whole[key] = whole.get(key, 0.0) + work.rate * pages
        for work in works:
            time = 2.0 * (work.exclusive + work.shared_locks) * self.each(lock_structure(group["group"]))
            for name, pages in work.getpages.items():
                structure = pool_structure(group["group"], pool_name(pools[name]))
                found, all_pages = self.rates[structure], whole[pools[name], name in dependent] or math.inf
                if name in dependent:
                    reads, returned = found.absent + found.invalid, found.absent_hits + found.invalid_hits
                    # Scans are read ahead: they ask as others do, but do not wait for the disk each time.
                    waiting = pages - work.scans.get(name, 0.0)
                    asked = pages * reads * self.each(structure) + waiting * (reads - returned) * disk
                    time += asked / all_pages + work.writes[name] * self.each(structure)
                else:
                    time += pages * found.other_misses / all_pages * disk
            yield work, time
