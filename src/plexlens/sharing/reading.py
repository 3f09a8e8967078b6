"""Reading of the inputs for the cost of data sharing from the metrics of a performance database."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from plexlens.errors import NothingUsableError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, facts, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.subtypes import others
from plexlens.metrics.sysplexes import check_one
from plexlens.sharing.measured import (
    ClassUse,
    Course,
    Facts,
    Measured,
    Member,
    Role,
    StructureUse,
    SystemUse,
    role_of,
)

#: XCF groups whose signals are Db2's and its lock manager's.
_OF_DB2 = re.compile(r"DXR|IXCLO|DSN|DB2")


@dataclass(frozen=True)
class _Window:
    """A period of time; a row counts if the middle of its interval is within it."""

    start: datetime
    end: datetime

    @property
    def holds(self) -> str:
        """SQL condition that the middle of a fact row's interval is within the window."""
        middle = "(epoch(interval_start) + epoch(interval_end)) / 2"
        return f"{middle} between {self.start.timestamp()!r}::double and {self.end.timestamp()!r}::double"

    @property
    def holds_some(self) -> str:
        """The same; for a window shorter than an interval, the interval that contains the window's middle."""
        middle = (self.start.timestamp() + self.end.timestamp()) / 2
        inside = f"epoch(interval_start) <= {middle!r}::double and epoch(interval_end) > {middle!r}::double"
        return f"({self.holds}) or ({inside})"


def measure(inputs: Inputs, name: str = "") -> Measured:
    """Read the inputs for the cost of data sharing.

    Parameters
    ----------
    inputs
        The raw tables.
    name
        What the user called them.

    Raises
    ------
    NothingUsableError
        Neither coupling facility structures nor data sharing of Db2 are in the data.
    UsageError
        Systems of one name are in several sysplexes.
    """
    check_one(inputs, name)
    missing: list[str] = []
    window = _window(inputs, "coupling_structure")
    structures: list[StructureUse] = []
    seconds: dict[str, float] = {}
    if window is not None:
        structures, seconds = _structures(inputs, window, missing)
    if not structures:
        window = _window(inputs, "db2_locking", "xes_lock_requests is not null") or _window(inputs, "db2_group_pool")
        if window is None:
            raise _nothing(inputs, name)
        there = others(inputs, ("SMF 74-4",))
        missing.append(
            f"There is no data of coupling facility structures (SMF 74-4){f'; {there}' if there else ''}: requests are "
            "counts of Db2, their service times are unknown, and their CPU time cannot be computed. Collect SMF 74-4 "
            "of all systems (CFDETAIL)."
        )
    assert window is not None
    members = _members(inputs, window, seconds, missing) or _members_of_accounting(inputs, window, structures)
    seconds = seconds or {member.system: (window.end - window.start).total_seconds() for member in members}
    classes = _classes(inputs, window, seconds, members, missing)
    return Measured(
        window.start,
        window.end,
        seconds,
        tuple(structures),
        tuple(members),
        tuple(classes),
        tuple(_systems(inputs, window, seconds, missing)),
        _signalling(inputs, window, structures, missing),
        _report_classes(inputs, window, seconds),
        _cics(inputs, window, seconds),
        tuple(missing),
        _course(inputs, window) if structures else Course(),
    )


def _nothing(inputs: Inputs, name: str) -> NothingUsableError:
    there = [
        words
        for grain, words in (
            ("coupling_facility", "coupling facilities without structures"),
            ("db2_subsystem", "Db2 without a data sharing group"),
            ("mq_queue_manager", "MQ"),
        )
        if grain in GRAINS and available(inputs, GRAINS[grain])
    ]
    text = f" (it holds {' and '.join(there)})" if there else ""
    return NothingUsableError(
        file=name,
        what=f"it has neither structures of a coupling facility nor data sharing of Db2{text}, and the cost of data "
        "sharing is computed from these",
        remedy="add SMF 74-4 (or RMF coupling facility reports with structure activity) and Db2's SMF 100 and 101 of "
        "the same time",
    )


def _window(inputs: Inputs, grain: str, where: str | None = None) -> _Window | None:
    table = facts(inputs, GRAINS[grain])
    if table is None:
        return None
    (row,) = table.where(where).grouped((), {"start": "min(interval_start)", "end": "max(interval_end)"}).rows()
    if row["start"] is None or row["end"] is None:
        return None
    return _Window(row["start"], row["end"])


def _rows(inputs: Inputs, grain: str, by: Iterable[str], window: _Window, *, some: bool = False) -> list[Facts]:
    """A roll-up of a grain ordered by name, since the engine returns rows in any order."""
    by = tuple(by)
    within = window.holds_some if some else window.holds
    rows = rolled_up(inputs, GRAINS[grain], by=by, time="all", within=within)
    return sorted(rows, key=lambda row: tuple(row[name] or "" for name in by))


def _number(row: Facts, name: str) -> float:
    return float(row.get(name) or 0.0)


def _structures(inputs: Inputs, window: _Window, missing: list[str]) -> tuple[list[StructureUse], dict[str, float]]:
    rows = _rows(inputs, "coupling_structure", ("system", "facility", "structure"), window)
    seconds = {
        row["system"] or "": _number(row, "interval_seconds")
        for row in _rows(inputs, "coupling_structure", ("system",), window)
    }
    gathered: dict[tuple[str, str], list[Facts]] = {}
    for row in rows:
        if row["structure"]:
            gathered.setdefault((row["system"] or "", row["structure"]), []).append(row)
    cache = _caches(rows)
    everywhere: dict[str, float] = {}
    for row in rows:
        everywhere[row["structure"] or ""] = everywhere.get(row["structure"] or "", 0.0) + _sent(row)
    results = []
    for (system, structure), instances in sorted(gathered.items()):
        role, group, pool = role_of(structure)
        sent = sum(_sent(row) for row in instances)
        part = sent / everywhere[structure] if everywhere[structure] else 0.0
        sums = {
            name: sum(_number(row, name) for row in instances)
            for name in (
                "sync_requests", "sync_seconds", "async_requests", "async_seconds", "changed_requests",
                "contention_requests", "false_contention_requests", "unsplit_requests",
            )
        }  # fmt: skip
        results.append(
            StructureUse(
                system, structure, role, group, pool, sums["sync_requests"], sums["sync_seconds"],
                sums["async_requests"], sums["async_seconds"], sums["changed_requests"], sums["contention_requests"],
                sums["false_contention_requests"], sums["unsplit_requests"],
                tuple(sorted({row["facility"] or "" for row in instances})),
                {kind: count * part for kind, count in cache.get(structure, {}).items()},
            )
        )  # fmt: skip
    if any(row.unsplit for row in results):
        missing.append(
            "For some structures only the number of requests is known (usage summary of an RMF report); their service "
            "times and cost are left out. Collect the structure activity report (SYSRPTS(CF)), or SMF 74-4."
        )
    if results and all(not row.system for row in results):
        missing.append("The coupling facility data does not name systems: all systems are shown together.")
    return results, seconds


#: Kind to the counters of a cache structure (facts of ``coupling_structure``).
_CACHE_COUNTS = {
    "read_data": ("read_hits",),
    "read_no_data": (
        "read_misses_directory", "read_misses_suppressed", "read_misses_assigned", "read_misses_full",
    ),
    "write_sync": ("writes_changed",),
    "write_clean": ("writes_unchanged",),
    "castout": ("castouts",),
}  # fmt: skip


def _sent(row: Facts) -> float:
    return _number(row, "sync_requests") + _number(row, "async_requests")


def _caches(rows: list[Facts]) -> dict[str, dict[str, float]]:
    """Counters of cache structures by kind: every system's record contains those of all systems together."""
    caches: dict[str, dict[str, float]] = {}
    for row in rows:
        counts = {kind: sum(_number(row, name) for name in names) for kind, names in _CACHE_COUNTS.items()}
        values = caches.setdefault(row["structure"] or "", counts)
        for kind, count in counts.items():
            values[kind] = max(values[kind], count)
    return caches


def _course(inputs: Inputs, window: _Window) -> Course:
    rows = rolled_up(inputs, GRAINS["coupling_structure"], by=("structure",), time="interval", within=window.holds)
    results: dict[datetime, dict[str, float]] = {}
    lengths: dict[datetime, float] = {}
    for row in rows:
        role, group, _ = role_of(row["structure"] or "")
        if role in (Role.OTHER, Role.SIGNALLING) or row["sync_processors"] is None:
            continue
        what = f"{group}, {'group buffer pools' if role is Role.POOL else role.value}"
        values = results.setdefault(row["time"], {})
        values[what] = values.get(what, 0.0) + row["sync_processors"]
        lengths[row["time"]] = max(lengths.get(row["time"], 0.0), _number(row, "interval_seconds"))
    times = tuple(sorted(results))
    names = sorted({name for values in results.values() for name in values})
    return Course(
        times,
        tuple(time + timedelta(seconds=lengths[time]) for time in times),
        {name: tuple(results[time].get(name) for time in times) for name in names},
    )


def _members(inputs: Inputs, window: _Window, seconds: dict[str, float], missing: list[str]) -> list[Member]:
    by = ("system", "subsystem", "group_name")
    locking = _rows(inputs, "db2_locking", by, window)
    pools = _rows(inputs, "db2_group_pool", (*by, "group_pool"), window)
    spaces = _rows(inputs, "db2_address_space", ("system", "subsystem", "address_space"), window)
    subsystems = _rows(inputs, "db2_subsystem", by, window)
    named: dict[tuple[str, str], str] = {}
    for row in (*locking, *pools):
        if row["group_name"]:
            named[row["system"] or "", row["subsystem"]] = row["group_name"]
    if not named:
        there = available(inputs, GRAINS["db2_locking"]) or available(inputs, GRAINS["db2_group_pool"])
        missing.append(
            ("Db2 statistics (SMF 100) name no data sharing group or cover other times than the coupling facility data"
             if there else "No Db2 statistics (SMF 100)")
            + ": requests are known by structure, not by kind; contention by cause, negotiation, and the CPU time of "
              "MSTR, DBM1 and IRLM are unknown. Collect SMF 100, IFCID 1, 2 and 230, of all members."
        )  # fmt: skip
    members = []
    for (system, subsystem), group in sorted(named.items()):
        own = [row for row in locking if _is(row, system, subsystem)]
        length = max(
            [_number(row, "interval_seconds") for row in (*own, *pools) if _is(row, system, subsystem)], default=0.0
        )
        scale = seconds.get(system, length) / length if length else 1.0
        members.append(
            Member(
                subsystem,
                system,
                group,
                _scaled(own[0], scale) if own else {},
                {row["group_pool"]: _scaled(row, scale) for row in pools if _is(row, system, subsystem)},
                {
                    _space(row["address_space"]): (_number(row, "cp_seconds") + _number(row, "iip_srb_seconds")) * scale
                    for row in spaces
                    if _is(row, system, subsystem)
                },
                next(
                    (
                        row["commits_per_second"] * seconds.get(system, length)
                        for row in subsystems
                        if _is(row, system, subsystem) and row["commits_per_second"] is not None
                    ),
                    None,
                ),
            )
        )  # fmt: skip
    if members and not any(row.spaces for row in members):
        missing.append(
            "No CPU times of Db2's address spaces (SMF 100, IFCID 1): the charged address space is assumed and cannot "
            "be checked."
        )
    return members


def _members_of_accounting(inputs: Inputs, window: _Window, structures: list[StructureUse]) -> list[Member]:
    """Members without statistics: the Db2s that wrote accounting, if their system uses structures of a single group."""
    if not available(inputs, GRAINS["db2_accounting_sharing"]):
        return []
    groups: dict[str, set[str]] = {}
    for use in structures:
        if use.group:
            groups.setdefault(use.system, set()).add(use.group)
    rows = _rows(inputs, "db2_accounting_sharing", ("system", "subsystem"), window, some=True)
    return [
        Member(row["subsystem"], row["system"], next(iter(groups[row["system"]])), {}, {}, {}, None)
        for row in rows
        if len(groups.get(row["system"] or "", ())) == 1
    ]


def _is(row: Facts, system: str, subsystem: str) -> bool:
    return (row["system"] or "") == system and row["subsystem"] == subsystem


def _space(name: str | None) -> str:
    """MSTR, DBM1, DIST or IRLM; the site chooses the name of the lock manager's procedure."""
    last = (name or "")[-4:]
    return last if last in {"MSTR", "DBM1", "DIST"} else "IRLM"


def _scaled(row: Facts, scale: float) -> Facts:
    return {name: value * scale if isinstance(value, float | int) else value for name, value in row.items()}


def _classes(
    inputs: Inputs, window: _Window, seconds: dict[str, float], members: list[Member], missing: list[str]
) -> list[ClassUse]:
    grain = GRAINS["db2_accounting_sharing"]
    if not available(inputs, grain):
        missing.append(
            "No Db2 accounting (SMF 101): cost and delay of transaction classes cannot be computed. Collect SMF 101, "
            "accounting classes 1 to 3."
        )
        return []
    accounted = _accounted(inputs, window)
    known = {(member.system, member.subsystem) for member in members}
    by = ("system", "subsystem", "connection_type", "connection", "plan", "correlation")
    classes = []
    others: set[str] = set()
    for row in _rows(inputs, grain.name, by, window, some=True):
        system = row["system"] or ""
        if (system, row["subsystem"]) not in known:
            others.add(row["subsystem"] or "?")
            continue
        length = accounted.get((system, row["subsystem"]), 0.0)
        scale = seconds.get(system, length) / length if length else 1.0
        words = {name: row[name] or "" for name in by[2:]}
        classes.append(ClassUse(row["subsystem"], system, facts=_scaled(row, scale), **words))
    if others and not classes:
        missing.append(
            f"Accounting (SMF 101) in this time covers only {', '.join(sorted(others))}, without statistics of a data "
            "sharing group: the cost of transaction classes cannot be computed."
        )
    elif not classes:
        missing.append("Accounting (SMF 101) covers other times: the cost of transaction classes cannot be computed.")
    elif others:
        missing.append(
            f"Accounting of {', '.join(sorted(others))} is left out, because it is not a member of a data "
            "sharing group."
        )
    return classes


def _cics(inputs: Inputs, window: _Window, seconds: dict[str, float]) -> dict[tuple[str, str], float]:
    if not available(inputs, GRAINS["cics_transaction"]):
        return {}
    results = {}
    for row in _rows(inputs, "cics_transaction", ("system", "transaction"), window, some=True):
        system, length = row["system"] or "", row["interval_seconds"]
        if system in seconds and row["transaction"] and row["cpu_seconds"]:
            results[system, row["transaction"]] = row["cpu_seconds"] * (seconds[system] / length if length else 1.0)
    return results


def _accounted(inputs: Inputs, window: _Window) -> dict[tuple[str, str], float]:
    """Seconds of the period that the accounting of each Db2 covers, by system and Db2.

    Accounting is added up by the quarter of an hour, and covers what its records reach of it.
    """
    table = facts(inputs, GRAINS["db2_accounting_sharing"])
    if table is None:
        return {}
    by = ("system", "subsystem", "interval")
    spans = table.where(window.holds_some).grouped(by, {"start": "min(interval_start)", "end": "max(interval_end)"})
    covered: dict[tuple[str, str], float] = {}
    for row in spans.where('"start" is not null and "end" is not null').rows():
        whose = row["system"] or "", row["subsystem"] or ""
        covered[whose] = covered.get(whose, 0.0) + (row["end"] - row["start"]).total_seconds()
    return covered


def _systems(inputs: Inputs, window: _Window, seconds: dict[str, float], missing: list[str]) -> list[SystemUse]:
    cpu: dict[str, list[Facts]] = {}
    if available(inputs, GRAINS["cpu_system"]):
        for row in _rows(inputs, "cpu_system", ("system", "processor_type"), window):
            cpu.setdefault(row["system"] or "", []).append(row)
    captured = _captured(inputs, window, seconds)
    systems = []
    for system, length in sorted(seconds.items()):
        # Data of one system may not name it.
        rows = cpu.get(system) or (cpu.get("") if len(seconds) == 1 else None) or []
        covered = max((_number(row, "interval_seconds") for row in rows), default=0.0)
        if not covered:
            systems.append(SystemUse(system, length, None, captured.get(system), None))
            continue
        busy = engines = 0.0
        for row in rows:
            online = _number(row, "engine_seconds")
            dispatched = row["dispatch_seconds"]
            waited = _number(row, "wait_seconds") + _number(row, "parked_seconds")
            busy += dispatched if dispatched is not None else online - waited
            engines += online / covered
        systems.append(SystemUse(system, length, busy * length / covered, captured.get(system), engines))
    if not any(row.busy for row in systems):
        missing.append(
            "No processor data of this time (SMF 70-1)"
            + ("" if captured else " and no service classes (SMF 72-3)")
            + (": overhead relates to captured time only." if captured else
               ": overhead in percent and coupling efficiency cannot be computed.")
        )  # fmt: skip
    return systems


def _captured(inputs: Inputs, window: _Window, seconds: dict[str, float]) -> dict[str, float]:
    """CPU seconds of all service classes by system."""
    return {
        system: value
        for (system, kind, _), value in _class_seconds(inputs, window, seconds, ("system", "class_kind")).items()
        if kind == "service class"
    }


def _report_classes(inputs: Inputs, window: _Window, seconds: dict[str, float]) -> dict[tuple[str, str], float]:
    rows = _class_seconds(inputs, window, seconds, ("system", "class_kind", "class_name"))
    return {(system, name): value for (system, kind, name), value in rows.items() if kind == "report class" and name}


def _class_seconds(
    inputs: Inputs, window: _Window, seconds: dict[str, float], by: tuple[str, ...]
) -> dict[tuple[str, str, str], float]:
    if not available(inputs, GRAINS["workload_period"]):
        return {}
    class_seconds = {}
    for row in _rows(inputs, "workload_period", by, window):
        length = row["interval_seconds"]
        system = row["system"] or (next(iter(seconds)) if len(seconds) == 1 else "")
        if not length or system not in seconds:
            continue
        general = _number(row, "cp_seconds")
        ziip = _number(row, "ziip_engine_seconds") + _number(row, "zaap_engine_seconds")
        key = (system, row["class_kind"] or "", row.get("class_name") or "")
        class_seconds[key] = (general + ziip) * seconds[system] / length
    return class_seconds


def _signalling(
    inputs: Inputs, window: _Window, structures: list[StructureUse], missing: list[str]
) -> dict[str, float]:
    if not any(structure.role is Role.SIGNALLING for structure in structures):
        return {}
    if not available(inputs, GRAINS["coupling_xcf_member"]):
        missing.append(
            "No XCF members (SMF 74-2): the signals of Db2 cannot be identified, and XCF signalling is left out of "
            "the cost."
        )
        return {}
    signals: dict[str, list[float]] = {}
    for row in _rows(inputs, "coupling_xcf_member", ("system", "group"), window):
        both = _number(row, "signals_sent") + _number(row, "signals_received")
        sums = signals.setdefault(row["system"] or "", [0.0, 0.0])
        sums[0] += both
        sums[1] += both if _OF_DB2.match(row["group"] or "") else 0.0
    return {system: of_db2 / both for system, (both, of_db2) in signals.items() if both}
