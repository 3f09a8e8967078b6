"""The numbers that describe a group, its twin and a changed twin: measured, and from runs.

A `Key` names a number, and the same keys come from a measurement and from the results of a run, so that either can
are shown next to the other. Rates are a second, times seconds, shares fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from plexlens.ingest.page_trace import pool_name
from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.twin_group import (
    Group,
    SharingMeasured,
    lock_structure,
    pool_structure,
    standard_structure,
)


@dataclass(frozen=True, order=True)
class Key:
    """A number: its kind, and its object (a structure, pool, facility, system, class; empty: all together)."""

    what: str
    of: str = ""

    def __str__(self) -> str:
        return f"{self.what} {self.of}".strip()


Numbers = dict[Key, float]

#: What numbers are called, with their unit: ``/s``, ``us``, ``ms``, ``%``, ``engines``.
TITLES: dict[str, tuple[str, str]] = {
    "overhead": ("Increase of CPU by coupling facility requests and contention", "%"),
    "coupling_cpu": ("CPU for coupling facility requests and contention", "engines"),
    "busy": ("General engines busy", "engines"),
    "false_contention": ("False contention, of requests", "%"),
    "contention": ("All contention, of requests", "%"),
    "lock_requests": ("Lock structure requests", "/s"),
    "lock_asks": ("Lock structure requests for a lock", "/s"),
    "pool_requests": ("Group buffer pool requests", "/s"),
    "hit": ("Group buffer pool reads that returned the page", "%"),
    "absent": ("Reads of pages not in the local pool", "/s"),
    "invalid": ("Reads after cross-invalidation", "/s"),
    "writes": ("Pages written to the group buffer pool", "/s"),
    "page_lock_requests": ("Page P-lock requests", "/s"),
    "page_lock_waits": ("Page P-lock requests that waited", "/s"),
    "xi_write": ("Cross-invalidations by writes", "/s"),
    "xi_reclaim": ("Cross-invalidations by directory reclaim", "/s"),
    "directory_reclaims": ("Directory entries reclaimed", "/s"),
    "data_reclaims": ("Data entries reclaimed", "/s"),
    "sync_reads": ("Synchronous reads from disk", "/s"),
    "service": ("Service time, synchronous", "us"),
    "async": ("Requests sent asynchronously", "%"),
    "cf_busy": ("Coupling facility engines busy", "engines"),
    "db2_time": ("Time in Db2 of a transaction", "ms"),
    "db2_cpu": ("CPU in Db2 of a transaction", "ms"),
}


#: Numbers that are shares of events: of which.
_SHARES_OF = {"hit": ("absent", "invalid"), "contention": ("lock_requests",), "false_contention": ("lock_requests",)}


def events(key: Key, numbers: Numbers, seconds: float) -> float:
    """Events behind a number; infinite for times and processor use, which are sums over very many events."""
    value = numbers.get(key, 0.0)
    whole = _SHARES_OF.get(key.what)
    if whole is not None:
        return value * sum(numbers.get(Key(what, key.of), 0.0) for what in whole) * seconds
    return value * seconds if TITLES[key.what][1] == "/s" else math.inf


def of_measured(measured: SharingMeasured, assumptions: Assumptions) -> Numbers:
    """The numbers of a measurement; missing numbers are absent."""
    numbers: Numbers = {}
    coupling_cpu = 0.0
    known = set()
    for group in measured.groups:
        known |= {lock_structure(group.name), *(pool_structure(group.name, pool) for pool in group.pools)}
    for name in sorted(known & measured.allocated.keys()):
        coupling_cpu += _structure_numbers(numbers, measured, name, assumptions)
    for group in measured.groups:
        numbers[Key("lock_asks", lock_structure(group.name))] = sum(member.xes_locks for member in group.members)
        for pool in group.pools:
            _pool_numbers(numbers, measured, group, pool)
    for facility in measured.facilities.values():
        numbers[Key("cf_busy", facility.name)] = facility.busy
    systems = {member.system for group in measured.groups for member in group.members}
    for system in sorted(systems):
        numbers[Key("busy", system)] = measured.systems[system].busy
    _work_numbers(numbers, measured)
    numbers[Key("coupling_cpu")] = coupling_cpu
    numbers[Key("overhead")] = _increase(coupling_cpu, sum(measured.systems[system].busy for system in systems))
    return numbers


def _structure_numbers(numbers: Numbers, measured: SharingMeasured, name: str, assumptions: Assumptions) -> float:
    """Numbers of a structure, and the engines used by its requests and contention."""
    uses = measured.of_structure(name)
    requests, sync = sum(use.requests for use in uses), sum(use.sync for use in uses)
    if not requests:
        return 0.0
    is_lock = name.endswith("_LOCK1")
    numbers[Key("lock_requests" if is_lock else "pool_requests", name)] = requests
    numbers[Key("async", name)] = 1.0 - sync / requests
    if sync:
        numbers[Key("service", name)] = sum(use.sync * use.sync_service for use in uses) / sync
    cpu = sum(
        use.sync * (use.sync_service + assumptions.seconds("sync_path", use.system))
        + use.asynchronous * assumptions.seconds("async_path", use.system)
        for use in uses
    )
    if is_lock:
        programs = sum(use.programs for use in uses) or requests
        numbers[Key("false_contention", name)] = sum(use.false_contentions for use in uses) / programs
        numbers[Key("contention", name)] = sum(use.contentions for use in uses) / programs
        return cpu + sum(use.contentions * assumptions.seconds("contention_path", use.system) for use in uses)
    about = measured.allocated[name]
    for what in ("xi_write", "xi_reclaim", "directory_reclaims", "data_reclaims"):
        numbers[Key(what, name)] = getattr(about, what)
    return cpu


def _pool_numbers(numbers: Numbers, measured: SharingMeasured, group: Group, pool: str) -> None:
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    name = pool_structure(group.name, pool)
    numbers[Key("sync_reads", f"{group.name} {pool}")] = sum(
        member.pools[pool].sync_reads for member in group.members if pool in member.pools
    )
    if not used or name not in measured.allocated:
        return
    absent, invalid = sum(use.absent for use in used), sum(use.invalid for use in used)
    numbers[Key("absent", name)] = absent
    numbers[Key("invalid", name)] = invalid
    numbers[Key("writes", name)] = sum(use.writes for use in used)
    numbers[Key("page_lock_requests", name)] = sum(use.page_locks for use in used)
    numbers[Key("page_lock_waits", name)] = sum(use.page_lock_waits for use in used)
    if absent + invalid:
        returned = sum(use.absent_data + use.invalid_data for use in used)
        numbers[Key("hit", name)] = returned / (absent + invalid)


def _work_numbers(numbers: Numbers, measured: SharingMeasured) -> None:
    rates: dict[str, tuple[float, float, float]] = {}
    for group in measured.groups:
        for member in group.members:
            for work in member.work:
                rate, time, cpu = rates.get(work.name, (0.0, 0.0, 0.0))
                rates[work.name] = (
                    rate + work.rate,
                    time + work.rate * work.db2_elapsed,
                    cpu + work.rate * work.db2_cpu,
                )
    for name, (rate, time, cpu) in rates.items():
        if rate and time:
            numbers[Key("db2_time", name)] = time / rate
            numbers[Key("db2_cpu", name)] = cpu / rate


def of_results(values: Mapping[str, Any], results: Mapping[str, Any], labels: Mapping[str, str]) -> Numbers:
    """The numbers of a run.

    Parameters
    ----------
    values
        The scenario's tables.
    results
        What the run gave.
    labels
        Names of classes by those of the scenario; a class that it does not have keeps its own.
    """
    numbers: Numbers = {}
    intervals = results["intervals"]
    seconds = sum(interval["end"] - interval["start"] for interval in intervals)

    def add(key: Key, value: float) -> None:
        numbers[key] = numbers.get(key, 0.0) + value

    hosts = _Hosts(values)
    lasting: dict[str, list[float]] = {}
    for interval in intervals:
        for used in interval["structures"]:
            _add_structure(used, hosts, seconds, add)
        _add_members(values, interval, seconds, add)
        for used in interval["facilities"]:
            add(Key("cf_busy", used["name"]), used["busy"] / seconds)
        for used in interval["systems"]:
            add(Key("busy", used["name"]), used["busy"] / seconds)
        for used in interval["classes"]:
            sums = lasting.setdefault(labels.get(used["name"], used["name"]), [0.0, 0.0, 0.0])
            for counts in used["systems"]:
                sums[0] += counts["response"]["count"]
                sums[1] += counts["used"]["db2_elapsed"]
                sums[2] += counts["used"]["db2_cpu"]
    for key in list(numbers):
        if key in numbers:
            _over_requests(numbers, key)
    for label, (count, time, cpu) in lasting.items():
        if count and time:
            numbers[Key("db2_time", label)] = time / count
            numbers[Key("db2_cpu", label)] = cpu / count
    numbers.setdefault(Key("coupling_cpu"), 0.0)
    busy = sum(value for key, value in numbers.items() if key.what == "busy")
    numbers[Key("overhead")] = _increase(numbers[Key("coupling_cpu")], busy)
    return numbers


def _over_requests(numbers: Numbers, key: Key) -> None:
    """Convert sums of a run to shares and means."""
    requests = numbers.get(Key("lock_requests", key.of), 0.0) or numbers.get(Key("pool_requests", key.of), 0.0)
    match key.what:
        case "async" | "false_contention" | "contention":
            numbers[key] = numbers[key] / requests if requests else 0.0
        case "spin":
            spun, sync = numbers.pop(key), numbers.pop(Key("sync", key.of))
            if sync:
                numbers[Key("service", key.of)] = spun / sync
        case "returned":
            reads = numbers[Key("absent", key.of)] + numbers[Key("invalid", key.of)]
            returned = numbers.pop(key)
            if reads:
                numbers[Key("hit", key.of)] = returned / reads


class _Hosts:
    """Processor seconds per request and per contention besides the spin, by system."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        costs = values.get("coupling", {})
        self._paths: dict[str, float] = {key: costs.get(key, default) / 1e6 for key, default in _PATHS.items()}
        machines = {cec["name"]: float(cec.get("speed", 1.0)) for cec in values["cec"]}
        # Management of the partition makes everything longer.
        self._speeds = {
            system["name"]: machines[system["cec"]] / (1.0 + float(system.get("lpar_overhead", 0.0)))
            for system in values["system"]
        }

    def seconds(self, path: str, system: str) -> float:
        """Seconds of a path length on the engines of a system."""
        return self._paths[path] / self._speeds[system]


def _add_structure(used: Mapping[str, Any], hosts: _Hosts, seconds: float, add: Callable[[Key, float], None]) -> None:
    name, system = standard_structure(used["name"]), used["system"]
    count, other = used["synchronous"]["count"], used["asynchronous"]["count"]
    add(Key("lock_requests" if used["lock"] else "pool_requests", name), (count + other) / seconds)
    add(Key("async", name), other / seconds)
    add(Key("sync", name), count)
    add(Key("spin", name), used["synchronous"]["seconds"])
    host = count * hosts.seconds("sync_host_us", system) + other * hosts.seconds("async_host_us", system)
    add(Key("coupling_cpu"), (used["synchronous"]["seconds"] + host) / seconds)
    if used["lock"]:
        add(Key("false_contention", name), used["false_contentions"] / seconds)
        add(Key("contention", name), used["contentions"] / seconds)
        add(Key("coupling_cpu"), used["contentions"] * hosts.seconds("contention_host_us", system) / seconds)


def _increase(cpu: float, busy: float) -> float:
    """Increase due to a part of the processor time, relative to the rest."""
    return cpu / (busy - cpu) if busy > cpu else 0.0


#: Path lengths of the host where a scenario does not say, as the simulator's defaults have them.
_PATHS = {"sync_host_us": 2.0, "async_host_us": 20.0, "contention_host_us": 30.0}


def _add_members(
    values: Mapping[str, Any], interval: Mapping[str, Any], seconds: float, add: Callable[[Key, float], None]
) -> None:
    shared = {
        (group["group"], pool["number"])
        for group in values.get("db2", [])
        for pool in group["pool"]
        if pool.get("group")
    }
    seen: set[tuple[str, int]] = set()
    for member in interval["members"]:
        options = member["locking"]["global_locks"] + sum(pool["page_locks"]["requests"] for pool in member["pools"])
        add(Key("lock_asks", lock_structure(member["group"])), options / seconds)
        for pool in member["pools"]:
            local, used, whole = pool["local"], pool["member"], pool["group"]
            reads = local["sync_reads_random"] + local["sync_reads_sequential"]
            add(Key("sync_reads", f"{member['group']} {pool_name(pool['number'])}"), reads / seconds)
            if (member["group"], pool["number"]) not in shared:
                continue
            name = pool_structure(member["group"], pool_name(pool["number"]))
            absent = used.get("misses_with_data", 0) + used.get("misses_without_data", 0)
            invalid = used.get("invalid_with_data", 0) + used.get("invalid_without_data", 0)
            add(Key("absent", name), absent / seconds)
            add(Key("invalid", name), invalid / seconds)
            add(Key("returned", name), (used.get("misses_with_data", 0) + used.get("invalid_with_data", 0)) / seconds)
            add(Key("page_lock_requests", name), pool["page_locks"]["requests"] / seconds)
            add(Key("page_lock_waits", name), pool["page_locks"]["suspensions"] / seconds)
            add(Key("writes", name), (used.get("sync_writes", 0) + used.get("async_writes", 0)) / seconds)
            if (member["group"], pool["number"]) not in seen:
                seen.add((member["group"], pool["number"]))
                add(Key("xi_write", name), whole.get("invalidated_by_write", 0) / seconds)
                add(Key("xi_reclaim", name), whole.get("invalidated_by_reclaim", 0) / seconds)
                add(Key("directory_reclaims", name), whole.get("directory_reclaims", 0) / seconds)
                add(Key("data_reclaims", name), whole.get("data_reclaims", 0) / seconds)
