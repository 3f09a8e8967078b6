"""Parameters of a twin that no record holds, fitted to what was measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from plexlens.sharing.assumptions import Assumptions
from plexlens.sharing.closed_form import break_even, facility_wait
from plexlens.sharing.closed_form_pages import PageRates, PageSetLoad, page_rates
from plexlens.sharing.twin import Fit, PageSets, PoolFit, data_pages
from plexlens.sharing.twin_group import Group, SharingMeasured, StructureUse, lock_structure, pool_structure

#: Squared execution time over the square of the mean, where only the mean is known: requests are of few kinds.
_SQUARES = 1.2

#: Execution times in the coupling facility where none can be found: the simulator's defaults, in seconds.
LOCK, READ, PAGE = 2e-6, 3e-6, 5e-6

#: Exponents of Zipf's law that are tried first.
_SKEWS = (0.0, 0.3, 0.6, 0.8, 0.95, 1.1)

#: Members whose pools are fitted one by one; more are taken as so many of their mean.
_MOST_MEMBERS = 4


@dataclass(frozen=True)
class MemberLoad:
    """What a member does to a pool, a second.

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
    """

    buffers: float
    random: float
    sequential: float
    updates: float
    private: float = 0.0
    hot: float = 0.0


def rates_of(pages: PageSets, members: list[MemberLoad], data: float, directory: float) -> PageRates:
    """What becomes of the getpages of a pool with these page sets."""
    none = (0.0,) * len(members)
    sets = []
    if pages.shared:
        random, sequential, updates = (
            tuple(getattr(load, name) for load in members) for name in ("random", "sequential", "updates")
        )
        sets.append(PageSetLoad(pages.shared, pages.skew, random, sequential, updates, dependent=True))
    if pages.private:
        for number, load in enumerate(members):
            own = tuple(load.private if at == number else 0.0 for at in range(len(members)))
            sets.append(PageSetLoad(pages.private, pages.private_skew, own, none, none, dependent=False))
    hot = tuple(load.hot for load in members) if pages.shared else ()
    return page_rates(sets, [load.buffers for load in members], data, directory, hot)


@dataclass(frozen=True)
class PageTargets:
    """What a run of the page sets is to reproduce, a second over all members."""

    absent: float
    invalid: float
    absent_hits: float
    invalid_hits: float
    private_misses: float


def targets(group: Group, pool: str) -> PageTargets:
    """What was measured of a pool."""
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    no_data = sum(one.absent_no_data + one.invalid_no_data for one in used)
    reads = sum(
        member.pools[pool].sync_reads + member.pools[pool].prefetch_pages
        for member in group.members
        if pool in member.pools
    )
    return PageTargets(
        sum(one.absent for one in used),
        sum(one.invalid for one in used),
        sum(one.absent_data for one in used),
        sum(one.invalid_data for one in used),
        max(reads - no_data, 0.0),
    )


def loads(group: Group, pool: str, dependent: float, written: float, hot: float = 0.0) -> list[MemberLoad]:
    """What each member does to a pool's page sets."""
    made = []
    for member in group.members:
        about = member.pools.get(pool)
        if about is None or about.random + about.sequential <= 0:
            continue
        changed = about.updates * dependent * written
        inserted = min(changed * hot, about.random * dependent)
        made.append(
            MemberLoad(
                about.size,
                about.random * dependent - inserted,
                about.sequential * dependent,
                changed - inserted,
                (about.random + about.sequential) * (1.0 - dependent),
                inserted,
            )
        )
    if len(made) <= _MOST_MEMBERS:
        return made
    mean = [sum(getattr(load, name) for load in made) / len(made) for name in MemberLoad.__dataclass_fields__]
    return [MemberLoad(*mean)] * len(made)


def dependent_share(group: Group, pool: str) -> tuple[float, str]:
    """Share of the getpages of a pool that are of GBP-dependent page sets, and whether Db2 counted them.

    Without that counter: what left no trace at the group buffer pool, reads from disk beyond its answers without data,
    is of other page sets, and these are taken to find their pages as often.
    """
    getpages = sum(
        member.pools[pool].random + member.pools[pool].sequential for member in group.members if pool in member.pools
    )
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    if not used or not getpages or not any(one.absent + one.invalid + one.writes for one in used):
        return 0.0, "counted"
    if all(one.dependent is not None for one in used):
        return min(sum(one.dependent or 0.0 for one in used) / getpages, 1.0), "counted"
    about = targets(group, pool)
    alone = about.private_misses if about.private_misses > 0.02 * about.absent else 0.0
    return (about.absent / (about.absent + alone) if about.absent else 1.0), "assumed"


def fit_pool(
    measured: SharingMeasured,
    group: Group,
    pool: str,
    wanted: PageTargets,
    *,
    before: PoolFit | None = None,
    hot: float = 0.0,
) -> PoolFit:
    """Page sets that, in closed form, give what is wanted: a search over pages and skew from fixed starts.

    With a fit from before, the search begins there, and its share of written pages stands.
    """
    dependent, how = dependent_share(group, pool)
    members = [member for member in group.members if pool in member.pools]
    updates = sum(member.pools[pool].updates for member in members)
    writes = sum(member.group_pools[pool].writes for member in members if pool in member.group_pools)
    changed = updates * dependent
    written = min(writes / changed, 1.0 / max(dependent, 1e-6)) if changed > 0 else 0.0
    if before is not None:
        dependent, written = before.dependent, before.written
    held = loads(group, pool, dependent, written, hot)
    structure = measured.allocated.get(pool_structure(group.name, pool))
    data = data_pages(structure.size, structure.data_elements, members[0].pools[pool].page_bytes) if structure else 0.0
    directory = max(structure.directory_entries, data) if structure else 0.0
    buffers = max((load.buffers for load in held), default=1000.0)
    private = _private_pages(held, wanted, buffers) if dependent < 1.0 else (0, 0.0)
    if dependent <= 0.0:
        return PoolFit(PageSets(0, 0.0, *private), 0.0, 0.0, how)

    def at(pages: float, skew: float) -> PageRates:
        return rates_of(PageSets(max(round(pages), 10), skew, *private), held, data, directory)

    def error(pages: float, skew: float) -> float:
        found = at(pages, skew)
        pairs = (
            (found.absent, wanted.absent, 1.0),
            (found.invalid, wanted.invalid, 0.7),
            (found.absent_hits, wanted.absent_hits, 0.7),
            (found.invalid_hits, wanted.invalid_hits, 0.2),
        )
        # Ratios, softened where next to nothing was counted.
        floor = 0.003 * (wanted.absent + wanted.invalid) + 1e-3
        return sum(weight * math.log((one + floor) / (other + floor)) ** 2 for one, other, weight in pairs)

    if before is not None and before.pages.shared:
        places = [(float(before.pages.shared), before.pages.skew)]
    else:
        places = [(buffers * factor, skew) for factor in (0.5, 1.5, 4.0, 12.0, 50.0) for skew in _SKEWS]
    starts = sorted((error(pages, skew), math.log(pages), skew) for pages, skew in places)
    best: tuple[float, float, float] = starts[0]
    for _, pages, skew in starts[:2]:
        found = minimize(
            lambda x: error(math.exp(min(max(x[0], 2.5), 20.0)), min(max(x[1], 0.0), 1.6)),
            np.array([pages, skew]),
            method="Nelder-Mead",
            options={
                "maxfev": 60,
                "xatol": 0.005,
                "fatol": 1e-6,
                "initial_simplex": np.array([[pages, skew], [pages + 0.4, skew], [pages, skew + 0.15]]),
            },
        )
        best = min(best, (float(found.fun), float(found.x[0]), float(found.x[1])))
    pages, skew = math.exp(min(max(best[1], 2.5), 20.0)), min(max(best[2], 0.0), 1.6)
    return PoolFit(PageSets(max(round(pages), 10), round(skew, 4), *private), dependent, written, how)


#: Skew of the page sets that members have alone: nothing measured tells it; popularity of business data is about this.
PRIVATE_SKEW = 0.8


def _private_pages(held: list[MemberLoad], wanted: PageTargets, buffers: float) -> tuple[int, float]:
    """Pages of the members' own page sets: as many as give the measured misses with their share of the pool."""
    own = sum(load.private for load in held)
    if own <= 0:
        return 0, 0.0
    miss = min(wanted.private_misses / own, 0.95)
    whole = sum(load.private + load.random + load.sequential for load in held)

    def misses(pages: float) -> float:
        alone = [
            MemberLoad(
                load.buffers * load.private / max(load.private + load.random + load.sequential, 1e-9),
                0,
                0,
                0,
                load.private,
            )
            for load in held
        ]
        return rates_of(PageSets(0, 0.0, round(pages), PRIVATE_SKEW), alone, 0, 0).other_misses / own

    low, high = 10.0, buffers * 200.0
    if miss <= misses(low) + 1e-6:
        return max(round(0.5 * buffers * own / whole), 10), PRIVATE_SKEW
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if misses(middle) < miss else (low, middle)
    return round(math.sqrt(low * high)), PRIVATE_SKEW


# --- coupling facilities ----------------------------------------------------------------------------------------------


def _service(uses: tuple[StructureUse, ...]) -> tuple[float, float]:
    """Requests a second of a structure, and their mean service time: of the synchronous ones, where there are any."""
    sync = sum(use.sync for use in uses)
    if sync:
        return sum(use.requests for use in uses), sum(use.sync * use.sync_service for use in uses) / sync
    requests = sum(use.requests for use in uses)
    return requests, sum(use.asynchronous * use.async_service for use in uses) / requests if requests else 0.0


def moving_share(group: Group, pool: str) -> float:
    """Share of the requests to a group buffer pool that move a page; of the others some only register."""
    used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
    moving = sum(one.absent_data + one.invalid_data + one.writes + one.castouts for one in used)
    registering = sum(one.absent_no_data + one.invalid_no_data for one in used)
    return moving / (moving + registering) if moving + registering else 1.0


def fit_coupling(measured: SharingMeasured, fit: Fit, assumptions: Assumptions, threshold: float | None) -> list[str]:
    """Execution times, links and speeds from service times and busy engines; notes on what could not be told.

    Of each facility the mean service time less execution and its wait is the link; what a structure's service time is
    above that is its execution.
    """
    notes = []
    executions: dict[str, tuple[float, float]] = {}
    names: dict[str, list[str]] = {}
    for name, structure in measured.allocated.items():
        if sum(use.requests for use in measured.of_structure(name)):
            names.setdefault(structure.facility, []).append(name)
    for facility, held in sorted(names.items()):
        about = measured.facilities.get(facility)
        served = {name: _service(measured.of_structure(name)) for name in held}
        requests = sum(rate for rate, _ in served.values())
        mean = sum(rate * time for rate, time in served.values()) / requests
        busy = about.busy if about else 0.0
        execution = busy / requests
        if not 0 < execution < mean:
            notes.append(
                f"{facility}: busy time tells no execution time below the service time of {mean * 1e6:.1f} µs; a third "
                "of it is assumed."
            )
            execution = mean / 3.0
        wait = facility_wait(requests, execution, _SQUARES * execution**2, about.engines if about else 1.0)
        wait = min(wait, mean - execution)
        both_ways = mean - execution - wait
        fit.link[facility] = round(both_ways / 2.0, 10)
        for name, (rate, time) in served.items():
            executions[name] = (rate, max(time - both_ways - wait, 0.2 * execution))
    _fit_execution(measured, fit, executions)
    for facility, held in sorted(names.items()):
        about = measured.facilities.get(facility)
        modelled = measured_execution = 0.0
        for name in held:
            rate, execution = executions[name]
            expected = _expected(measured, fit, name)
            if expected is not None:
                modelled += rate * expected
                measured_execution += rate * execution
        fit.speed[facility] = modelled / measured_execution if modelled and measured_execution else 1.0
    fit.threshold = _threshold(measured, assumptions) if threshold is None else threshold
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
    """Execution times of kinds of requests, by least squares; what structures do not tell apart stands as 3 to 5."""
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
    found, *_ = np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)
    fit.lock, fit.read, fit.page = (float(max(value, 1e-7)) for value in found)


def _threshold(measured: SharingMeasured, assumptions: Assumptions) -> float:
    """Service time from which requests are converted: what costs as much CPU either way, if the data agree with it."""
    threshold = break_even(assumptions.seconds("sync_path", None), assumptions.seconds("async_path", None))
    kept = [use.sync_service for use in measured.uses if use.sync > 9 * use.asynchronous and use.sync_service]
    return max(threshold, 1.2 * max(kept, default=0.0))


def first_fit(
    measured: SharingMeasured, assumptions: Assumptions, threshold: float | None = None
) -> tuple[Fit, list[str]]:
    """All parameters from closed forms, before a run."""
    fit = Fit()
    notes = fit_coupling(measured, fit, assumptions, threshold)
    for group in measured.groups:
        for pool in group.pools:
            fit.pools[group.name, pool] = fit_pool(measured, group, pool, targets(group, pool))
        fit.avoidance[group.name] = _avoidance(group)
    works = [work for group in measured.groups for member in group.members for work in member.work]
    fit.read_time = _mean((work.sync_read_wait, work.rate * sum(work.getpages.values())) for work in works) or 0.0005
    changing = [work for work in works if sum(work.updates.values()) > 0.05 and work.log_wait > 0]
    # A transaction waits for a write and, on the average, for half of the one that is under way.
    fit.log_time = _mean((work.log_wait, work.rate) for work in changing) or 0.0005
    fit.write_cpu = _write_cpu(measured, assumptions) or fit.write_cpu
    return fit, notes


def _write_cpu(measured: SharingMeasured, assumptions: Assumptions) -> float:
    """CPU of DBM1 for a page written or cast out, without its requests to the coupling facility; 0 where unknown."""
    pages = cpu = 0.0
    for group in measured.groups:
        for member in group.members:
            pages += sum(pool.pages_written for pool in member.pools.values())
            cpu += member.dbm1_cpu
            for pool, used in member.group_pools.items():
                _, service = _service(measured.of_structure(pool_structure(group.name, pool)))
                pages += used.castouts
                # Each page is read, and every third request is one that unlocks.
                cpu -= used.castouts * 4.0 / 3.0 * (service + assumptions.seconds("sync_path", member.system))
    return min(max(cpu / pages, 1e-6), 100e-6) if pages > 1.0 else 0.0


def _mean(pairs: Iterable[tuple[float, float]]) -> float:
    total = weights = 0.0
    for value, weight in pairs:
        if value > 0:
            total, weights = total + value * weight, weights + weight
    return total / weights if weights else 0.0


def _avoidance(group: Group) -> float:
    """Share of getpages without lock, from the lock requests of Db2: each update and so many of the reads lock."""
    reads = updates = 0.0
    for member in group.members:
        for pool in member.pools.values():
            updates += min(pool.updates, pool.random)
            reads += max(pool.random - pool.updates, 0.0)
    locks = sum(member.locks for member in group.members)
    return min(max(1.0 - (locks - updates) / reads, 0.0), 1.0) if reads else 0.9
