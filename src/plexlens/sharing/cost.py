"""The cost of data sharing: its processor time, the work that causes it, and the processor time without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from plexlens.errors import UsageError
from plexlens.metrics.page_numbers import page_numbers
from plexlens.sharing.assumptions import Assumptions, CommitWrites
from plexlens.sharing.attribution import ClassCost, class_costs
from plexlens.sharing.kinds import Part, Payer
from plexlens.sharing.measured import Measured, Role, StructureUse
from plexlens.sharing.requests import Line, request_lines, work_lines

_SHARING = page_numbers("sharing")

#: Kinds that are done at commit.
_AT_COMMIT = frozenset({"write_sync", "page_unlock"})


@dataclass(frozen=True)
class SystemCost:
    """Cost of data sharing for a system, or for all systems.

    Attributes
    ----------
    system
        SMF id; empty for all.
    seconds
        Length of the time; of all systems the longest.
    cpu_seconds
        CPU seconds of data sharing.
    service_seconds
        Of these, measured: processors that spun for synchronous requests. The rest rests on stated path lengths.
    other_seconds
        CPU seconds of requests to structures that are not Db2's; not part of ``cpu_seconds``.
    busy_seconds
        Busy engine seconds (SMF 70-1); captured CPU seconds where there is no 70-1; None without either.
    captured_seconds
        CPU seconds of all service classes (SMF 72-3); None without it.
    engines
        Engines online; None without SMF 70-1.
    commits
        Units of work; None where neither accounting nor statistics tell.
    """

    system: str
    seconds: float
    cpu_seconds: float
    service_seconds: float
    other_seconds: float
    busy_seconds: float | None
    captured_seconds: float | None
    engines: float | None
    commits: float | None

    @property
    def base_seconds(self) -> float | None:
        """Busy seconds without data sharing: measured minus cost."""
        return None if self.busy_seconds is None else self.busy_seconds - self.cpu_seconds

    @property
    def overhead(self) -> float | None:
        """Increase over the base, as a fraction."""
        return _SHARING["overhead"](cpu=self.cpu_seconds, sharing=self.cpu_seconds, measured=self.busy_seconds)

    @property
    def efficiency(self) -> float | None:
        """Coupling efficiency: base / measured, the ratio of internal throughput rates with and without sharing."""
        return _SHARING["efficiency"](sharing=self.cpu_seconds, measured=self.busy_seconds)

    @property
    def per_commit(self) -> float | None:
        """CPU seconds of data sharing per unit of work."""
        return _SHARING["per_commit"](cpu=self.cpu_seconds, commits=self.commits)


@dataclass(frozen=True)
class SpaceCost:
    """Cost of data sharing for an address space.

    Attributes
    ----------
    system, group, member
        Where.
    space
        ``DBM1``, ``MSTR``, ``IRLM``, ``XCFAS``, ``threads``, or of these the address space of a connection.
    payer
        Whose time it is.
    requests
        Requests to coupling facilities that it sent.
    cpu_seconds
        CPU seconds of data sharing.
    measured_seconds
        CPU seconds of all that it did; None where they are not in the data.
    measured_by
        Their source: ``IFCID 1``, ``report class``, ``class 1``, ``class 2``; empty for nothing.
    """

    system: str
    group: str
    member: str
    space: str
    payer: Payer
    requests: float
    cpu_seconds: float
    measured_seconds: float | None
    measured_by: str

    @property
    def overhead(self) -> float | None:
        """Increase over the remainder, as a fraction; None if more was attributed than the address space used."""
        # A lock manager may have done nothing else: what is left is then the rounding of its record.
        if self.measured_seconds is None or self.measured_seconds - self.cpu_seconds <= 1e-6 * self.cpu_seconds:
            return None
        return _SHARING["overhead"](cpu=self.cpu_seconds, sharing=self.cpu_seconds, measured=self.measured_seconds)


@dataclass(frozen=True)
class CostOfSharing:
    """All costs; seconds are CPU seconds over the measured time unless stated otherwise.

    Attributes
    ----------
    name
        What was read.
    measured
        What it is worked out from.
    stated
        Path lengths and who pays, stated.
    lines
        Every kind of work by system, member and structure. Everything else is a sum of these.
    systems
        Each system, by name.
    total
        All systems.
    spaces
        Address spaces, each with what it pays; they add up to ``total.cpu_seconds``, connections apart, which are
        parts of ``threads``.
    classes
        Transaction classes of each member.
    notes
        What has to be known of the numbers: payers changed, more attributed than used.
    """

    name: str
    measured: Measured
    stated: Assumptions
    lines: tuple[Line, ...]
    systems: tuple[SystemCost, ...]
    total: SystemCost
    spaces: tuple[SpaceCost, ...]
    classes: tuple[ClassCost, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def is_timed(self) -> bool:
        """Whether service times are known, so that CPU times are meaningful."""
        return any(use.role is not Role.OTHER for use in self.measured.structures)

    @property
    def unattributed_seconds(self) -> float:
        """CPU seconds that could not be attributed to a transaction class."""
        return self.total.cpu_seconds - sum(work_class.cpu_seconds for work_class in self.classes)

    def by_part(self, where: Callable[[Line], bool] = lambda _: True) -> dict[Part, tuple[Line, ...]]:
        """Lines by part, in the order of parts; parts without lines are left out."""
        lines = [line for line in self.lines if where(line)]
        results = {part: tuple(line for line in lines if line.kind.part is part) for part in Part}
        return {part: rows for part, rows in results.items() if rows}


def cost_of(measured: Measured, stated: Assumptions | None = None, name: str = "") -> CostOfSharing:
    """Compute the cost of data sharing.

    Parameters
    ----------
    measured
        What `plexlens.sharing.measured.measure` read.
    stated
        Path lengths, and who pays for writes at commit.
    name
        What the user called the data.

    Raises
    ------
    UsageError
        A speed is stated of a system that is not in the data.
    """
    stated = stated or Assumptions()
    strangers = sorted(stated.speeds.keys() - measured.seconds.keys())
    if strangers:
        there = ", ".join(sorted(system for system in measured.seconds if system)) or "none that is named"
        raise UsageError(
            file=name,
            what=f"--speed {strangers[0]}=...: the data has no system {strangers[0]}; its systems are {there}",
            remedy="name one of these, or give a single speed for all",
        )
    notes: list[str] = []
    lines = tuple(_paid([*request_lines(measured, stated), *work_lines(measured, stated)], measured, stated, notes))
    classes = class_costs(measured, lines)
    commits = _commits(measured)
    systems = tuple(
        SystemCost(
            system.system, system.seconds, *_sums(lines, system.system), _others(measured.structures, system.system,
            stated),
            system.captured if system.busy is None else system.busy, system.captured, system.engines,
            commits.get(system.system),
        )
        for system in measured.systems
    )  # fmt: skip
    spaces = tuple(_spaces(measured, lines, classes))
    notes += _more_than_used(spaces)
    return CostOfSharing(name, measured, stated, lines, systems, _together(systems), spaces, classes, tuple(notes))


def _paid(lines: list[Line], measured: Measured, stated: Assumptions, notes: list[str]) -> Iterable[Line]:
    """Lines with the address spaces charged for work at commit."""
    to_threads = stated.commit_writes is CommitWrites.THREAD
    moved: dict[tuple[str, str], str] = {}
    if stated.commit_writes is CommitWrites.AUTO:
        for member in measured.members:
            used = member.spaces.get("MSTR")
            options = sum(
                line.cpu_seconds
                for line in lines
                if (line.system, line.member) == (member.system, member.subsystem) and line.payer is Payer.MSTR
            )
            if used is not None and options > used:
                moved[member.system, member.subsystem] = (
                    f"{member.subsystem} on {member.system}: MSTR used {used:.3f} s, the work needs {options:.3f} s"
                )
    if moved:
        notes.append(
            "Work at commit is charged to the threads, because MSTR used less CPU time than this work needs "
            f"({'; '.join(moved.values())}). Use --commit-writes MSTR or thread to choose."
        )
    for line in lines:
        if line.kind.name in _AT_COMMIT and (to_threads or (line.system, line.member) in moved):
            yield replace(line, payer=Payer.THREAD)
        else:
            yield line


def _sums(lines: Iterable[Line], system: str) -> tuple[float, float]:
    own = [line for line in lines if line.system == system]
    return sum(line.cpu_seconds for line in own), sum(line.service_seconds for line in own)


def _others(structures: Iterable[StructureUse], system: str, stated: Assumptions) -> float:
    """CPU seconds of requests to structures other than Db2's."""
    return sum(
        use.sync_seconds
        + use.sync_requests * stated.seconds("sync_path", system)
        + use.async_requests * stated.seconds("async_path", system)
        for use in structures
        if use.system == system and use.role is Role.OTHER
    )


def _commits(measured: Measured) -> dict[str, float]:
    """Units of work by system: from statistics, else from accounting."""
    commits: dict[str, float] = {}
    for member in measured.members:
        if member.commits is not None:
            commits[member.system] = commits.get(member.system, 0.0) + member.commits
    if not commits:
        for use in measured.classes:
            commits[use.system] = commits.get(use.system, 0.0) + float(use.facts.get("commits") or 0.0)
    return commits


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum; None if any part is unknown."""
    numbers = list(values)
    return None if any(value is None for value in numbers) or not numbers else sum(value or 0.0 for value in numbers)


def _together(systems: tuple[SystemCost, ...]) -> SystemCost:
    some = [system.commits for system in systems if system.commits is not None]
    return SystemCost(
        "",
        max((system.seconds for system in systems), default=0.0),
        sum(system.cpu_seconds for system in systems),
        sum(system.service_seconds for system in systems),
        sum(system.other_seconds for system in systems),
        _sum(system.busy_seconds for system in systems),
        _sum(system.captured_seconds for system in systems),
        _sum(system.engines for system in systems),
        sum(some) if some else None,
    )


def _spaces(measured: Measured, lines: tuple[Line, ...], classes: tuple[ClassCost, ...]) -> Iterable[SpaceCost]:
    members = {(member.system, member.subsystem): member for member in measured.members}
    paid: dict[tuple[str, str, str, Payer], tuple[float, float]] = {}
    for line in lines:
        key = (line.system, line.group, line.member, line.payer)
        requests, seconds = paid.get(key, (0.0, 0.0))
        paid[key] = (requests + (line.count if line.kind.is_request else 0.0), seconds + line.cpu_seconds)
    for (system, group, member, payer), (requests, seconds) in sorted(paid.items()):
        about = members.get((system, member))
        own = [
            work_class
            for work_class in classes
            if work_class.use.system == system and (work_class.use.subsystem == member or not member)
        ]
        if payer is not Payer.THREAD:
            used = about.spaces.get(payer.value) if about else None
            by = "IFCID 1"
            if payer is Payer.XCFAS:
                used, by = measured.report_classes.get((system, payer.value)), "report class"
            by = by if used is not None else ""
            yield SpaceCost(system, group, member, payer.value, payer, requests, seconds, used, by)
            continue
        class_2 = [float(cost.use.facts.get("class2_cpu_seconds") or 0.0) for cost in own]
        used = sum(class_2) if own else None
        yield SpaceCost(system, group, member, "threads", payer, requests, seconds, used, "class 2" if own else "")
        yield from _connections(measured, system, group, member, own)


def _connections(
    measured: Measured, system: str, group: str, member: str, classes: list[ClassCost]
) -> Iterable[SpaceCost]:
    """Address spaces of the threads: CICS regions and other connections, if there are several."""
    for name in sorted({work_class.use.connection for work_class in classes if work_class.use.connection}):
        own = [work_class for work_class in classes if work_class.use.connection == name]
        used, by = measured.report_classes.get((system, name)), "report class"
        if used is None:
            used, by = sum(float(cost.use.facts.get("class1_cpu_seconds") or 0.0) for cost in own), "class 1"
        seconds, requests = sum(cost.thread_seconds for cost in own), sum(cost.thread_requests for cost in own)
        yield SpaceCost(system, group, member, name, Payer.THREAD, requests, seconds, used or None, by if used else "")


def _more_than_used(spaces: Iterable[SpaceCost]) -> list[str]:
    return [
        f"{space.space} of {space.member or 'Db2'} on {space.system or 'all systems'}: {space.cpu_seconds:.3f} s are "
        f"attributed to it, but it used {space.measured_seconds:.3f} s ({space.measured_by}). Either the path lengths "
        "are "
        "too long for these engines (--speed), or another address space runs the work."
        for space in spaces
        if space.measured_seconds is not None and space.cpu_seconds > space.measured_seconds * 1.01 + 0.001
    ]
