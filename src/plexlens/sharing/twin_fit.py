"""Fitting of the twin's parameters that no record contains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.closed_form import facility_wait
from plexlens.sharing.conversion import threshold_of
from plexlens.sharing.twin import Fit
from plexlens.sharing.twin_group import Group, SharingMeasured, StructureUse, lock_structure, pool_structure
from plexlens.sharing.twin_pages import fit_pool, targets

#: Squared execution time over the square of the mean, where only the mean is known: requests are of few kinds.
_SQUARES = 1.2

#: Execution times in the coupling facility where none can be found: the simulator's defaults, in seconds.
LOCK, READ, PAGE = 2e-6, 3e-6, 5e-6


# --- coupling facilities ----------------------------------------------------------------------------------------------


def _service(uses: tuple[StructureUse, ...]) -> tuple[float, float]:
    """Requests per second to a structure, and their mean service time: of synchronous requests if there are any."""
    sync = sum(use.sync for use in uses)
    if sync:
        return sum(use.requests for use in uses), sum(use.sync * use.sync_service for use in uses) / sync
    requests = sum(use.requests for use in uses)
    return requests, sum(use.asynchronous * use.async_service for use in uses) / requests if requests else 0.0


def moving_share(group: Group, pool: str) -> float:
    """Share of the requests to a group buffer pool that move a page; some of the others only register."""
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    moving = sum(use.absent_data + use.invalid_data + use.writes + use.castouts for use in used)
    registering = sum(use.absent_no_data + use.invalid_no_data for use in used)
    return moving / (moving + registering) if moving + registering else 1.0


def fit_coupling(measured: SharingMeasured, fit: Fit, assumptions: Assumptions, threshold: float | None) -> list[str]:
    """Execution times, links and speeds from service times and busy engines; notes on parameters left undetermined.

    Of each facility the mean service time less execution and its wait is the link; what a structure's service time is
    above that is its execution.
    """
    notes = []
    executions: dict[str, tuple[float, float]] = {}
    names: dict[str, list[str]] = {}
    for name, structure in measured.allocated.items():
        if sum(use.requests for use in measured.of_structure(name)):
            names.setdefault(structure.facility, []).append(name)
    for facility, contents in sorted(names.items()):
        about = measured.facilities.get(facility)
        served = {name: _service(measured.of_structure(name)) for name in contents}
        requests = sum(rate for rate, _ in served.values())
        mean = sum(rate * time for rate, time in served.values()) / requests
        busy = about.busy if about else 0.0
        execution = busy / requests
        if not 0 < execution < mean:
            notes.append(
                f"{facility}: busy time does not give an execution time below the service time of {mean * 1e6:.1f} "
                "µs; a third of the service time is assumed."
            )
            execution = mean / 3.0
        wait = facility_wait(requests, execution, _SQUARES * execution**2, about.engines if about else 1.0)
        wait = min(wait, mean - execution)
        both_ways = mean - execution - wait
        fit.link[facility] = round(both_ways / 2.0, 10)
        for name, (rate, time) in served.items():
            executions[name] = (rate, max(time - both_ways - wait, 0.2 * execution))
    _fit_execution(measured, fit, executions)
    for facility, contents in sorted(names.items()):
        about = measured.facilities.get(facility)
        modelled = measured_execution = 0.0
        for name in contents:
            rate, execution = executions[name]
            expected = _expected(measured, fit, name)
            if expected is not None:
                modelled += rate * expected
                measured_execution += rate * execution
        fit.speed[facility] = modelled / measured_execution if modelled and measured_execution else 1.0
    fit.threshold = threshold_of(measured, assumptions, stated=threshold)
    if fit.threshold.note:
        notes.append(fit.threshold.note)
    return notes


def _kinds(measured: SharingMeasured) -> dict[str, tuple[float, float, float]]:
    """Shares of lock requests, registering reads and moved pages among the requests of each Db2 structure."""
    kinds = {}
    for group in measured.groups:
        kinds[lock_structure(group.name)] = (1.0, 0.0, 0.0)
        for pool in group.pools:
            moving = moving_share(group, pool)
            kinds[pool_structure(group.name, pool)] = (0.0, 1.0 - moving, moving)
    return kinds


def _expected(measured: SharingMeasured, fit: Fit, name: str) -> float | None:
    kinds = _kinds(measured).get(name)
    return None if kinds is None else kinds[0] * fit.lock + kinds[1] * fit.read + kinds[2] * fit.page


def _fit_execution(measured: SharingMeasured, fit: Fit, executions: Mapping[str, tuple[float, float]]) -> None:
    """Execution times by request kind, by least squares; kinds that structures cannot separate keep the ratio 3 to
    5.
    """
    kinds = _kinds(measured)
    rows, wanted = [], []
    for name, (rate, execution) in executions.items():
        if name in kinds and execution > 0:
            weight = math.sqrt(rate) / execution
            rows.append([share * weight for share in kinds[name]])
            wanted.append(execution * weight)
    if not rows:
        return
    strength = 0.01 * max(max(row) for row in rows)
    rows.append([0.0, PAGE / READ * strength, -strength])
    wanted.append(0.0)
    pools = any(kinds[name][0] == 0.0 for name in executions if name in kinds)
    if not pools:
        rows.append([0.0, strength, 0.0])
        wanted.append(READ * strength)
    if not any(kinds[name][0] == 1.0 for name in executions if name in kinds):
        rows.append([strength, 0.0, 0.0])
        wanted.append(LOCK * strength)
    result, *_ = np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)
    fit.lock, fit.read, fit.page = (float(max(value, 1e-7)) for value in result)


def first_fit(
    measured: SharingMeasured,
    assumptions: Assumptions,
    threshold: float | None = None,
    index_pools: frozenset[str] = frozenset(),
) -> tuple[Fit, list[str]]:
    """All parameters from closed forms, before a run."""
    fit = Fit(index_pools=index_pools)
    notes = fit_coupling(measured, fit, assumptions, threshold)
    for group in measured.groups:
        fit.avoidance[group.name] = avoidance = _avoidance(group, index_pools)
        for pool in group.pools:
            wanted = targets(measured, group, pool, index_pools)
            fit.pools[group.name, pool] = fit_pool(measured, group, pool, wanted, avoidance=avoidance)
    works = [work for group in measured.groups for member in group.members for work in member.work]
    fit.read_time = _mean((work.sync_read_wait, work.rate * sum(work.getpages.values())) for work in works) or 0.0005
    changing = [work for work in works if sum(work.updates.values()) > 0.05 and work.log_wait > 0]
    # A transaction waits for a write and, on the average, for half of the one that is under way.
    fit.log_time = _mean((work.log_wait, work.rate) for work in changing) or 0.0005
    fit.write_cpu = _write_cpu(measured, assumptions) or fit.write_cpu
    return fit, notes


def _write_cpu(measured: SharingMeasured, assumptions: Assumptions) -> float:
    """CPU of DBM1 per page written or cast out, at speed 1, without coupling facility requests; 0 if unknown."""
    pages = cpu = 0.0
    for group in measured.groups:
        for member in group.members:
            pages += sum(pool.pages_written for pool in member.pools.values())
            speed = assumptions.speed_of(member.system)
            cpu += member.dbm1_cpu * speed
            for pool, used in member.group_pools.items():
                _, service = _service(measured.of_structure(pool_structure(group.name, pool)))
                pages += used.castouts
                # Each page is read, and every third request is one that unlocks.
                cpu -= used.castouts * 4.0 / 3.0 * (service * speed + assumptions.sync_path)
    return min(max(cpu / pages, 1e-6), 100e-6) if pages > 1.0 else 0.0


def _mean(pairs: Iterable[tuple[float, float]]) -> float:
    total = weights = 0.0
    for value, weight in pairs:
        if value > 0:
            total, weights = total + value * weight, weights + weight
    return total / weights if weights else 0.0


def _avoidance(group: Group, index_pools: frozenset[str]) -> float:
    """Share of getpages without a lock, from Db2's lock requests: each update locks, and a share of the reads."""
    reads = updates = 0.0
    for member in group.members:
        for name in member.pools.keys() - index_pools:
            pool = member.pools[name]
            updates += min(pool.updates, pool.random)
            reads += max(pool.random - pool.updates, 0.0)
    locks = sum(member.locks for member in group.members)
    return min(max(1.0 - (locks - updates) / reads, 0.0), 1.0) if reads else 0.9
