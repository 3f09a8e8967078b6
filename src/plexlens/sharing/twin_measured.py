"""Measurements of data-sharing groups, read from a performance database."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plexlens.errors import NothingUsableError
from plexlens.ingest.page_trace import pool_name
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import rows_of
from plexlens.sharing.twin_group import (
    Allocated,
    FacilityUse,
    Group,
    GroupPoolUse,
    MemberUse,
    PoolUse,
    SharingMeasured,
    StructureUse,
    SystemUse,
    Work,
    lock_structure,
    standard_structure,
)

Row = Mapping[str, Any]

#: Classes of a member that are kept apart, by getpages; what is left of its work is one more.
MOST_CLASSES = 8

#: Share of a member's getpages below which work that no class tells is not worth a class.
_NOTHING = 0.01


def measure_sharing(inputs: Inputs, name: str = "") -> SharingMeasured:
    """Read the measurements of every data-sharing group with two members or more.

    Parameters
    ----------
    inputs
        The raw tables.
    name
        What the user called them.

    Raises
    ------
    NothingUsableError
        Processors, coupling facilities or Db2 statistics are missing, or no group has two members.
    """
    needs = {
        "cpu_system": ("processors", "SMF 70-1"),
        "coupling_facility": ("coupling facilities", "SMF 74-4"),
        "coupling_structure": ("structures", "SMF 74-4"),
        "db2_subsystem": ("Db2 statistics", "SMF 100"),
        "db2_pool": ("buffer pools", "SMF 100 IFCID 2"),
    }
    lacking = {grain: said for grain, said in needs.items() if not available(inputs, GRAINS[grain])}
    if lacking:
        raise NothingUsableError(
            file=name,
            what=f"it has no {', no '.join(what for what, _ in lacking.values())}, so a twin of the group cannot be "
            "built",
            remedy="add " + " and ".join(sorted({how for _, how in lacking.values()})) + " of the same time",
        )
    systems = _systems(inputs)
    notes: list[str] = []
    groups = _groups(inputs, systems, notes)
    shared = tuple(group for group in groups if len(group.members) > 1)
    if not shared:
        there = ", ".join(f"{group.name} ({group.members[0].name})" for group in groups) or "no group name"
        raise NothingUsableError(
            file=name,
            what=f"no data-sharing group has two members with statistics and processors: {there}",
            remedy="add SMF 100 and 70-1 of the other members and their systems",
        )
    for group in groups:
        if len(group.members) == 1:
            notes.append(f"Group {group.name} has one member with data, {group.members[0].name}, and is left out.")
    facilities, uses, allocated = _coupling(inputs, notes)
    for group in shared:
        if lock_structure(group.name) not in allocated:
            raise NothingUsableError(
                file=name,
                what=f"the lock structure {lock_structure(group.name)} of group {group.name} is in no SMF 74-4 record",
                remedy="add SMF 74-4 of the members' systems",
            )
    seconds = max(member.seconds for group in shared for member in group.members)
    return SharingMeasured(name, seconds, systems, facilities, uses, allocated, shared, tuple(notes))


def _rows(inputs: Inputs, grain: str, *by: str) -> list[Row]:
    rows: list[Row] = list(rolled_up(inputs, GRAINS[grain], by=by, time="all"))
    return sorted(rows, key=lambda row: [str(row[key]) for key in by])


def _number(row: Row, name: str) -> float:
    value = row.get(name)
    return float(value) if value is not None and math.isfinite(value) else 0.0


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


def _systems(inputs: Inputs) -> dict[str, SystemUse]:
    rows: dict[str, dict[str, Row]] = {}
    for row in _rows(inputs, "cpu_system", "system", "processor_type"):
        if row["system"] and _number(row, "interval_seconds"):
            rows.setdefault(row["system"], {})[row["processor_type"]] = row
    factors = {}
    for row in _rows(inputs, "workload_period", "system"):
        engine = _number(row, "ziip_engine_seconds")
        factors[row["system"]] = _ratio(_number(row, "ziip_seconds"), engine) if engine > 1.0 else 1.0

    def counted(row: Row | None) -> tuple[float, float]:
        if row is None:
            return 0.0, 0.0
        seconds, online, parked = (
            _number(row, key) for key in ("interval_seconds", "engine_seconds", "parked_seconds")
        )
        busy = row.get("dispatch_seconds")
        used = online - parked - _number(row, "wait_seconds") if busy is None else float(busy)
        return (online - parked) / seconds, used / seconds

    systems = {}
    for name, kinds in rows.items():
        (engines, busy), (ziips, ziip_busy) = counted(kinds.get("CP")), counted(kinds.get("IIP"))
        if engines > 0:
            systems[name] = SystemUse(name, engines, ziips, busy, ziip_busy, factors.get(name, 1.0) or 1.0)
    return systems


def _coupling(
    inputs: Inputs, notes: list[str]
) -> tuple[dict[str, FacilityUse], tuple[StructureUse, ...], dict[str, Allocated]]:
    uses = []
    for row in _rows(inputs, "coupling_structure", "facility", "structure", "system"):
        seconds = _number(row, "interval_seconds")
        if not seconds or not row["structure"] or not row["facility"]:
            continue
        sync, asynchronous = _number(row, "sync_requests"), _number(row, "async_requests")
        uses.append(
            StructureUse(
                row["facility"],
                standard_structure(row["structure"]),
                row["system"] or "",
                row["structure_type"] or "",
                sync / seconds,
                _ratio(_number(row, "sync_seconds"), sync),
                asynchronous / seconds,
                _ratio(_number(row, "async_seconds"), asynchronous),
                _number(row, "changed_requests") / seconds,
                _number(row, "external_requests") / seconds,
                _number(row, "contention_requests") / seconds,
                _number(row, "false_contention_requests") / seconds,
                _number(row, "queued_requests") / seconds,
                seconds,
            )
        )
    allocated: dict[str, Allocated] = {}
    values: dict[tuple[str, str], float] = {}
    for row in _rows(inputs, "coupling_structure", "facility", "structure"):
        seconds = _number(row, "interval_seconds")
        if not seconds or not row["structure"] or not row["facility"]:
            continue
        counted = (
            _number(row, key) / seconds
            for key in ("directory_reclaims", "data_reclaims", "xi_directory_reclaim", "xi_write")
        )
        sizes = (_number(row, key) for key in ("lock_entries", "directory_entries", "data_elements", "structure_bytes"))
        name = standard_structure(row["structure"])
        result = Allocated(row["facility"], name, row["structure_type"] or "", *sizes, *counted)
        values[name, result.facility] = (_number(row, "sync_requests") + _number(row, "async_requests")) / seconds
        before = allocated.get(name)
        if before is None or values[name, before.facility] < values[name, result.facility]:
            allocated[name] = result
    requests: dict[str, float] = {}
    for use in uses:
        requests[use.facility] = requests.get(use.facility, 0.0) + use.requests
    # Duplexed or rebuilt elsewhere: the instance with the most requests stands for the structure.
    twice = sorted({name for name, facility in values if allocated[name].facility != facility})
    notes += [f"{name} is in two coupling facilities; the twin uses only {allocated[name].facility}." for name in twice]
    uses = [use for use in uses if allocated[use.structure].facility == use.facility]
    seen: dict[str, set[str]] = {}
    for row in _rows(inputs, "coupling_facility", "facility", "system"):
        seen.setdefault(row["facility"], set()).add(row["system"] or "")
    facilities = {}
    for row in _rows(inputs, "coupling_facility", "facility"):
        name, seconds = row["facility"], _number(row, "interval_seconds")
        if name and seconds:
            facilities[name] = FacilityUse(
                name,
                _number(row, "effective_processors") or _number(row, "logical_processors") or 1.0,
                _number(row, "busy_seconds") / seconds,
                requests.get(name, 0.0),
                _ratio(_number(row, "subchannels"), len(seen.get(name, {""}))),
            )
    return facilities, tuple(uses), allocated


# --- Db2 --------------------------------------------------------------------------------------------------------------


def _groups(inputs: Inputs, systems: Mapping[str, SystemUse], notes: list[str]) -> tuple[Group, ...]:
    members: dict[str, list[MemberUse]] = {}
    reader = _MemberReader(inputs)
    for row in _rows(inputs, "db2_subsystem", "group_name", "subsystem", "system"):
        group, name, system = row["group_name"], row["subsystem"], row["system"]
        if not group or not name or not _number(row, "interval_seconds"):
            continue
        if system not in systems:
            notes.append(f"Member {name} is left out: there is no SMF 70-1 of its system {system}.")
            continue
        members.setdefault(group, []).append(reader.member(row))
    return tuple(Group(name, tuple(member_uses)) for name, member_uses in sorted(members.items()))


@dataclass(frozen=True)
class _PoolsOfWork:
    """A plan's activity in pools, its GBP-dependent getpages of each pool, and a class's share of it."""

    pools: list[Row]
    dependent: Mapping[str, float]
    weight: float


class _MemberReader:
    """The tables with facts about all members, read once."""

    def __init__(self, inputs: Inputs) -> None:
        self._pools = _by(_rows(inputs, "db2_pool", "subsystem", "pool"), "subsystem")
        self._group_pools = _by(_rows(inputs, "db2_group_pool", "subsystem", "group_pool"), "subsystem")
        self._locking = _by(_rows(inputs, "db2_locking", "subsystem"), "subsystem")
        self._logs = _by(_rows(inputs, "db2_log", "subsystem"), "subsystem")
        self._spaces = _by(_rows(inputs, "db2_address_space", "subsystem", "address_space"), "subsystem")
        keys = ("subsystem", "connection_type", "plan", "correlation")
        self._work = _by(_rows(inputs, "db2_accounting_correlation", *keys), "subsystem")
        self._work_pools = _by(
            _rows(inputs, "db2_accounting_pool", "subsystem", "connection_type", "plan", "pool"), "subsystem"
        )
        self._dependent = _dependent(inputs)
        self._responses = {
            (row["system"], row["class_name"]): _number(row, "elapsed_seconds") / row["transactions"]
            for row in _rows(inputs, "workload_period", "system", "class_kind", "class_name")
            if row["class_kind"] == "service class" and row["transactions"]
        }
        self._cics = {
            row["transaction"]: _ratio(_number(row, "cpu_seconds"), _number(row, "transactions"))
            for row in (
                _rows(inputs, "cics_transaction", "transaction")
                if any(key.name == "transaction" for key in GRAINS["cics_transaction"].keys)
                else []
            )
        }

    def member(self, row: Row) -> MemberUse:
        name, system, seconds = row["subsystem"], row["system"], _number(row, "interval_seconds")

        def rate(of: Row, *keys: str) -> float:
            return sum(_number(of, key) for key in keys) / (_number(of, "interval_seconds") or seconds)

        pools = {}
        for statistics in self._pools.get(name, ()):
            if not statistics["pool"]:
                continue
            size = _number(statistics, "buffers")
            pages = _ratio(_number(statistics, "pool_bytes"), size)
            pools[statistics["pool"]] = PoolUse(
                statistics["pool"],
                size,
                round(pages) or 4096,
                rate(statistics, "getpages_random"),
                rate(statistics, "getpages_sequential"),
                rate(statistics, "sync_reads"),
                rate(statistics, "sequential_prefetch_pages", "list_prefetch_pages", "dynamic_prefetch_pages"),
                rate(statistics, "buffer_updates"),
                rate(statistics, "pages_written"),
            )
        group_pools = {}
        for statistics in self._group_pools.get(name, ()):
            if not statistics["group_pool"]:
                continue
            dependent = rate(statistics, "dependent_getpages")
            group_pools[statistics["group_pool"].removeprefix("G")] = GroupPoolUse(
                dependent if dependent > 0 else None,
                rate(statistics, "reads_absent_data"),
                rate(statistics, "reads_absent_no_data"),
                rate(statistics, "reads_invalid_data"),
                rate(statistics, "reads_invalid_no_data"),
                rate(statistics, "changed_pages_sync", "changed_pages_async"),
                rate(statistics, "pages_castout"),
                rate(statistics, "page_lock_requests"),
                rate(statistics, "page_lock_suspensions"),
            )
        locking: Row = next(iter(self._locking.get(name, ())), {})
        log: Row = next(iter(self._logs.get(name, ())), {})
        cpu = {
            space["address_space"]: rate(space, "cp_seconds", "iip_srb_seconds")
            for space in self._spaces.get(name, ())
            if space["address_space"]
        }

        def space(name: str) -> float:
            return sum(value for key, value in cpu.items() if key.endswith(name))

        commits = rate(row, "commits_phase_2", "commits_read_only", "commits_single_phase", "commits")
        work, accounted = self._classes(name, system, seconds, commits, pools)
        for pool, about in group_pools.items():
            counted = sum(work_class.rate * work_class.dependent.get(pool, 0.0) for work_class in work)
            if about.dependent is None and counted > 0:
                group_pools[pool] = replace(about, dependent=counted)
        return MemberUse(
            name,
            system,
            seconds,
            commits,
            rate(locking, "lock_requests"),
            rate(locking, "xes_lock_requests"),
            rate(locking, "xes_lock_requests", "xes_change_requests", "xes_unlock_requests"),
            rate(locking, "suspends_irlm"),
            rate(log, "log_writes", "writes"),
            space("DBM1"),
            space("MSTR"),
            space("IRLM"),
            pools,
            group_pools,
            work,
            accounted,
        )

    def _classes(
        self, member: str, system: str, seconds: float, commits: float, pools: Mapping[str, PoolUse]
    ) -> tuple[tuple[Work, ...], float]:
        """Classes of a member by getpages; surplus classes, and work that no record describes, form another class."""
        use: dict[tuple[Any, Any], list[Row]] = {}
        for pool in self._work_pools.get(member, ()):
            use.setdefault((pool["connection_type"], pool["plan"]), []).append(pool)
        rows = [row for row in self._work.get(member, ()) if _count(row)]
        value = sum(_count(row) for row in rows) / seconds
        # Accounting can reach beyond the statistics; what it tells then is of a longer time than what they tell.
        scale = min(commits / value, 1.0) if value and commits else 1.0
        plans: dict[tuple[Any, Any], float] = {}
        for row in rows:
            key = (row["connection_type"], row["plan"])
            plans[key] = plans.get(key, 0.0) + _count(row)
        results = []
        for row in rows:
            key = (row["connection_type"], row["plan"])
            contents = use.get(key, [])
            share = _count(row) / plans[key]
            all_of_plan = sum(_number(row, "getpages") for row in contents)
            # Pool data is by plan: its transactions use the pools alike, in proportion to their getpages.
            weight = _ratio(_number(row, "getpages"), all_of_plan) if _number(row, "getpages") else share
            dependent = self._dependent.get((member, *key), {})
            results.append(self._one(row, system, scale / seconds, _PoolsOfWork(contents, dependent, weight)))
        results.sort(
            key=lambda work_class: (
                -sum(work_class.getpages.values()) * work_class.rate,
                -work_class.rate,
                work_class.name,
            )
        )
        kept, rest = results[:MOST_CLASSES], results[MOST_CLASSES:]
        left = _left_over(kept, commits, pools, rest)
        return (*kept, *([left] if left else [])), min(_ratio(value, commits), 1.0) if commits else 1.0

    def _one(self, row: Row, system: str, scale: float, use: _PoolsOfWork) -> Work:
        count = _count(row)
        each = 1.0 / count
        name = row["correlation"] or row["plan"] or "WORK"
        cpu = _number(row, "class2_cp_cpu_seconds") + _number(row, "class2_se_cpu_seconds")
        whole = _number(row, "class1_cp_cpu_seconds") + _number(row, "class1_se_cpu_seconds")
        eligible = _number(row, "class2_se_cpu_seconds") + _number(row, "class1_secp_cpu_seconds")
        outside = max(self._cics.get(name, 0.0) - whole * each, (whole - cpu) * each, 0.0)
        return Work(
            name,
            row["connection_type"] or "",
            count * scale,
            cpu * each,
            min(_ratio(eligible, cpu), 1.0),
            outside,
            _number(row, "class2_elapsed_seconds") * each,
            self._responses.get((system, name)),
            _number(row, "lock_requests") * each,
            _ratio(_number(row, "class3_database_io_seconds"), _number(row, "class3_database_io_events"))
            or _ratio(_number(row, "class3_sync_io_seconds"), _number(row, "class3_sync_io_events")),
            _number(row, "class3_log_write_io_seconds") * each,
            {pool["pool"]: _number(pool, "getpages") * use.weight * each for pool in use.pools if pool["pool"]},
            {pool["pool"]: _number(pool, "buffer_updates") * use.weight * each for pool in use.pools if pool["pool"]},
            _number(row, "class3_other_read_io_events") * each,
            {pool: getpages * use.weight * each for pool, getpages in use.dependent.items()},
        )


def _dependent(inputs: Inputs) -> dict[tuple[str, Any, Any], dict[str, float]]:
    """Getpages of GBP-dependent page sets by Db2, connection type and plan, and by pool (SMF 101 QBGA)."""
    if not inputs.has("smf101_ifcid3_qbga"):
        return {}
    rows = inputs.selected("smf101_ifcid3_qbga", "qbgagn", "qbgagg")
    header = inputs.raw("smf101_qwhc", ("qwhcatyp", "qwhcplan"))
    first = "source_id, record_no order by section_no"
    connection_type = GRAINS.catalogue.functions.expanded("connection_type_of(h.qwhcatyp)")
    sql = f"""
        select r.subsystem, {connection_type} as connection_type, h.qwhcplan as plan, r.qbgagn,
            sum(r.qbgagg::double) as getpages
        from {rows.source} r left join (
            select * from ({header}) qualify row_number() over (partition by {first}) = 1
        ) h on r.source_id = h.source_id and r.record_no = h.record_no
        group by all"""
    values: dict[tuple[str, Any, Any], dict[str, float]] = {}
    for row in rows_of(inputs.connection, sql):
        if row["qbgagn"] is not None:
            by_pool = values.setdefault((row["subsystem"], row["connection_type"], row["plan"]), {})
            by_pool[pool_name(int(row["qbgagn"]))] = row["getpages"] or 0.0
    # A field that nobody fills is zero everywhere.
    return values if any(sum(by_pool.values()) for by_pool in values.values()) else {}


def _by(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    results: dict[str, list[Row]] = {}
    for row in rows:
        results.setdefault(row[key] or "", []).append(row)
    return results


def _count(row: Row) -> float:
    """Units of work of an accounting row; records if none committed."""
    return _number(row, "commits") or _number(row, "occurrences")


def _left_over(kept: Iterable[Work], commits: float, pools: Mapping[str, PoolUse], rest: Iterable[Work]) -> Work | None:
    """Work of a member outside its kept classes, as a class; None if negligible."""
    kept, rest = list(kept), list(rest)
    rate = commits - sum(work.rate for work in kept)
    getpages = {
        name: pool.random + pool.sequential - sum(work.rate * work.getpages.get(name, 0.0) for work in kept)
        for name, pool in pools.items()
    }
    updates = {
        name: pool.updates - sum(work.rate * work.updates.get(name, 0.0) for work in kept)
        for name, pool in pools.items()
    }
    all_getpages = sum(pool.random + pool.sequential for pool in pools.values())
    left = sum(max(value, 0.0) for value in getpages.values())
    if left < _NOTHING * all_getpages:
        return None
    # Getpages without commits of their own: threads that began before or end after, or Db2's own.
    rate = max(rate, 0.01 * commits, left / 1000.0)
    known = sum(work.rate for work in rest)

    def mean(of: str) -> float:
        return _ratio(sum(getattr(work_class, of) * work_class.rate for work_class in rest), known)

    return Work(
        "REST",
        "",
        rate,
        mean("db2_cpu"),
        mean("ziip_share"),
        mean("other_cpu"),
        mean("db2_elapsed"),
        None,
        mean("locks"),
        mean("sync_read_wait"),
        mean("log_wait"),
        {name: max(value, 0.0) / rate for name, value in getpages.items()},
        {name: max(value, 0.0) / rate for name, value in updates.items()},
        mean("prefetches"),
    )
