"""The cost of data sharing as a report: total, waterfall, requests by kind, address spaces, transaction classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plexlens import __version__
from plexlens.metrics.unit import (
    PROCESSORS,
)
from plexlens.report.model import Block, Cell, Figure, KeyFigures, Level, Note, Report, Section, Table
from plexlens.report.model import text_column as _text
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.model.xy import MOST_SERIES
from plexlens.sharing.assumptions import PATHS, PAYERS_SOURCE
from plexlens.sharing.cost import CostOfSharing, SystemCost
from plexlens.sharing.kinds import Kind, Part, Payer
from plexlens.sharing.page.classes import class_sections
from plexlens.sharing.page.fields import SHARING, SPUN, definitions, number
from plexlens.sharing.requests import Line

#: Rules that say when the cost is higher than it needs to be.
_RULES = (
    "coupling.synchronous_cost, coupling.db2_false_contention, coupling.directory_reclaim, coupling.facility_busy, "
    "db2.group_pool_invalid_miss, db2.group_pool_page_locks"
)


def sharing_report(cost: CostOfSharing, more: Sequence[Section] = ()) -> Report:
    """The report of the cost of data sharing.

    Parameters
    ----------
    cost
        What was worked out.
    more
        Sections to stand before the stated inputs, such as what other configurations would cost.
    """
    sections = [_answer(cost), _waterfall(cost), _kinds(cost), _spaces(cost)]
    sections += [*class_sections(cost), *more, _inputs(cost)]
    measured = cost.measured
    groups = sorted({line.group for line in cost.lines if line.group})
    return Report(
        title="Cost of data sharing",
        systems=tuple(system.system or "all systems" for system in cost.systems),
        start=measured.start,
        end=measured.end,
        time_note="Times are UTC.",
        alerts=tuple(Note(text, Level.WARNING) for text in measured.missing),
        sections=tuple(sections),
        definitions=definitions(),
        generator=f"Plexlens {__version__}",
        kind="Cost of data sharing",
        subject=f"{', '.join(groups) or 'no data sharing group of Db2'}: {cost.name}",
    )


def _cpu(lines: Iterable[Line]) -> float:
    return sum(line.cpu_seconds for line in lines)


def _answer(cost: CostOfSharing) -> Section:
    total = cost.total
    figures: list[Figure] = []

    def figure(name: str, definition: str, value: Cell, detail: str = "") -> None:
        if value is not None:
            entry = SHARING[definition]
            figures.append(Figure(name, entry.title, value, entry.unit, entry.id, detail))

    if cost.is_timed:
        figure("overhead", "overhead", total.overhead, "CPU time that data sharing adds")
        figure("efficiency", "efficiency", total.efficiency)
        figure(
            "engines",
            "engines",
            SHARING["engines"](cpu=total.cpu_seconds, seconds=total.seconds),
            f"of {total.engines:.1f}" if total.engines else "",
        )
        figure("per_commit", "per_commit", total.per_commit)
        share = SHARING["share"](cpu=total.service_seconds, sharing=total.cpu_seconds)
        figure("service", "service", total.service_seconds, f"{share:.0%} of the cost" if share is not None else "")
    blocks: list[Block] = [KeyFigures("sharing-answer", tuple(figures))] if figures else []
    blocks.append(_systems(cost))
    if len({(line.group, line.member) for line in cost.lines}) > 1:
        blocks.append(_members(cost))
    blocks += [Note(text, Level.WARNING) for text in cost.notes]
    blocks.append(Note(f"To see whether this cost is avoidable, check these findings of plexlens report: {_RULES}."))
    lead = (
        "Processor time that data sharing adds on these systems, from measured service times of the coupling facility "
        "and assumed path lengths."
    )
    return Section("answer", "The cost", tuple(blocks), lead)


def _systems(cost: CostOfSharing) -> Table:
    heads = (
        _text("system", "System", key=True), number("cpu", "cpu"), number("service", "service"),
        number("engines", "engines"), number("used", "used"), number("captured", "captured"),
        number("overhead", "overhead", bar=True), number("efficiency", "efficiency"),
        number("commits", "commits"), number("per_commit", "per_commit"),
        number("other", "cpu", "Other structures, not included"),
    )  # fmt: skip
    systems = [*cost.systems, cost.total] if len(cost.systems) > 1 else list(cost.systems)
    return Table(
        "sharing-systems", "By system", heads, tuple(_system(cost, system) for system in systems), top=len(systems),
        note="Base: processor time without data sharing, computed as measured time minus the cost.",
    )  # fmt: skip


def _system(cost: CostOfSharing, value: SystemCost) -> tuple[Cell, ...]:
    name = value.system or ("All" if len(cost.systems) > 1 else "all systems")
    commits = SHARING["commits"](commits=value.commits, seconds=value.seconds)
    if not cost.is_timed:
        return (name, None, None, None, value.busy_seconds, None, None, None, commits, None, None)
    return (
        name, value.cpu_seconds, value.service_seconds, SHARING["engines"](cpu=value.cpu_seconds,
        seconds=value.seconds),
        value.busy_seconds, SHARING["captured"](sharing=value.cpu_seconds, captured=value.captured_seconds),
        value.overhead,
        value.efficiency, commits, value.per_commit, value.other_seconds,
    )  # fmt: skip


def _members(cost: CostOfSharing) -> Table:
    heads = (
        _text("group", "Group", key=True), _text("member", "Member", key=True), _text("system", "System"),
        number("requests", "requests"), number("sync", "sync"), number("cpu", "cpu"), number("service", "service"),
        number("engines", "engines", bar=True), number("share", "share"),
        number("per_commit", "per_commit"),
    )  # fmt: skip
    commits = {(member.system, member.subsystem): member.commits for member in cost.measured.members}
    groups = sorted({line.group for line in cost.lines})
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        keys = sorted({(line.member, line.system) for line in cost.lines if line.group == group})
        of_group = [line for line in cost.lines if line.group == group]
        if len(keys) > 1 and group:
            some = [commits.get((system, member)) for member, system in keys]
            every = None if any(value is None for value in some) else sum(value or 0.0 for value in some)
            rows.append((group, "all", "", *_sums(cost, of_group, every)))
        for member, system in keys:
            own = [line for line in of_group if (line.member, line.system) == (member, system)]
            rows.append((group or "no common group", member, system, *_sums(cost, own, commits.get((system, member)))))
    return Table("sharing-members", "By group and member", heads, tuple(rows), top=20)


def _sums(cost: CostOfSharing, lines: list[Line], commits: float | None) -> tuple[Cell, ...]:
    requests = [line for line in lines if line.kind.is_request]
    count, synchronous = sum(line.count for line in requests), sum(line.synchronous for line in requests)
    rate = sum(_rate(cost, line) for line in requests)
    if not cost.is_timed:
        return rate, None, None, None, None, None, None
    seconds = _cpu(lines)
    return (
        rate, SHARING["sync"](synchronous=synchronous, requests=count), seconds,
        sum(line.service_seconds for line in lines), sum(_engines(cost, line) for line in lines),
        SHARING["share"](cpu=seconds, sharing=cost.total.cpu_seconds),
        SHARING["per_commit"](cpu=seconds, commits=commits),
    )  # fmt: skip


def _rate(cost: CostOfSharing, line: Line) -> float:
    return SHARING["requests"](events=line.count, seconds=cost.measured.seconds.get(line.system)) or 0.0


def _engines(cost: CostOfSharing, line: Line) -> float:
    return SHARING["engines"](cpu=line.cpu_seconds, seconds=cost.measured.seconds.get(line.system)) or 0.0


def _waterfall(cost: CostOfSharing) -> Section:
    total, systems = cost.total, [system.system for system in cost.systems]
    heads = (
        _text("part", "Part", key=True), number("cpu", "cpu"), number("service", "service"),
        number("share", "share", bar=True), number("overhead", "overhead"), number("per_commit", "per_commit"),
        *(
            number(f"cpu_{system}", "cpu", system or "all", group="CPU time by system")
            for system in (systems if len(systems) > 1 else [])
        ),
    )  # fmt: skip
    base = total.base_seconds

    def row(name: str, lines: Sequence[Line]) -> tuple[Cell, ...]:
        seconds = _cpu(lines)
        by_system = [_cpu(line for line in lines if line.system == system) for system in systems]
        return (
            name, seconds, sum(line.service_seconds for line in lines),
            SHARING["share"](cpu=seconds, sharing=total.cpu_seconds),
            SHARING["overhead"](cpu=seconds, sharing=total.cpu_seconds, measured=total.busy_seconds),
            SHARING["per_commit"](cpu=seconds, commits=total.commits), *(by_system if len(systems) > 1 else []),
        )  # fmt: skip

    rows: list[tuple[Cell, ...]] = []
    if base is not None:
        bases = [system.base_seconds for system in cost.systems]
        rows.append(("Base: everything else", base, None, None, None, None, *(bases if len(systems) > 1 else [])))
    rows += [row(part.value, lines) for part, lines in cost.by_part().items()]
    rows.append(row("Data sharing", cost.lines))
    if base is not None:
        used = [system.busy_seconds for system in cost.systems]
        rows.append(("Measured", total.busy_seconds, None, None, None, None, *(used if len(systems) > 1 else [])))
    blocks: tuple[Block, ...] = (
        Table(
            "sharing-parts", "From base to measured", heads, tuple(rows), top=len(rows),
            note="Base and components add up to the measured time. The base also contains effects that are not "
                 "measured: processor cache misses after a spin or an interruption, longer paths inside Db2 and IRLM, "
                 "and the cost of routing work between systems.",
        ),
    )  # fmt: skip
    course = measured_course(cost)
    if course is not None:
        blocks = (*blocks, course)
    if not cost.is_timed:
        blocks = (
            Note("Without service times of the coupling facility, the CPU time cannot be computed.", Level.WARNING),
        )
    return Section("parts", "Components of the cost", blocks)


def measured_course(cost: CostOfSharing) -> Chart | None:
    """Engines that spun over time, by group and purpose; None if there is only one interval."""
    course = cost.measured.course
    if len(course.times) < 2:
        return None
    dearest = sorted(course.values.items(), key=lambda item: -sum(value or 0.0 for value in item[1]))
    return Chart(
        "sharing-course", "Engines spinning for structures of Db2", PROCESSORS, ChartKind.STACK, course.times,
        course.ends, tuple(Series(name, values) for name, values in dearest[:MOST_SERIES]), SPUN,
        left_out=max(len(dearest) - MOST_SERIES, 0), note="All systems; only the measured part of the cost.",
    )  # fmt: skip


def _kinds(cost: CostOfSharing) -> Section:
    heads = (
        number("requests", "requests", bar=True), number("sync", "sync"), number("each", "each"),
        number("cpu", "cpu"), number("service", "service"), number("share", "share"),
        number("per_requests", "per_requests", "Per unit of work"), number("per_commit", "per_commit"),
    )  # fmt: skip
    kinds = {line.kind.name: line.kind for line in cost.lines}
    ordered = sorted(kinds.values(), key=lambda kind: (list(Part).index(kind.part), kind.title))
    rows = tuple(
        (
            kind.title,
            kind.part.value,
            _payers(cost, kind),
            *_kind(cost, [line for line in cost.lines if line.kind == kind]),
        )
        for kind in ordered
    )
    each = tuple(
        (line.system, line.member, line.structure or "-", line.kind.title, line.payer.value, *_kind(cost, [line]))
        for line in sorted(cost.lines, key=lambda line: (-line.cpu_seconds, -line.count))
    )
    return Section(
        "kinds", "Requests by kind",
        (
            Table(
                "sharing-kinds", "All systems together",
                (_text("kind", "Kind", key=True), _text("part", "Part"), _text("payer", "Paid by"), *heads), rows,
                top=len(rows),
            ),
            Table(
                "sharing-lines", "By member and structure",
                (
                    _text("system", "System"), _text("member", "Member"), _text("structure", "Structure", key=True),
                    _text("kind", "Kind", key=True), _text("payer", "Paid by"), *heads,
                ),
                each, top=20, folded=True,
            ),
        ),
        "Contention, messages and reads from disk are not requests to the coupling facility; they are counted in "
        "addition.",
    )  # fmt: skip


def _payers(cost: CostOfSharing, kind: Kind) -> str:
    return ", ".join(sorted({line.payer.value for line in cost.lines if line.kind == kind}))


def _kind(cost: CostOfSharing, lines: list[Line]) -> tuple[Cell, ...]:
    count, seconds = sum(line.count for line in lines), _cpu(lines)
    commits = cost.total.commits
    rate = sum(_rate(cost, line) for line in lines)
    per_commit = SHARING["per_requests"](requests=count, commits=commits)
    if not cost.is_timed:
        return rate, None, None, None, None, None, per_commit, None
    synchronous = sum(line.synchronous for line in lines)
    return (
        rate, SHARING["sync"](synchronous=synchronous, requests=count) if lines[0].kind.is_request else None,
        SHARING["each"](cpu=seconds, requests=count), seconds, sum(line.service_seconds for line in lines),
        SHARING["share"](cpu=seconds, sharing=cost.total.cpu_seconds), per_commit,
        SHARING["per_commit"](cpu=seconds, commits=commits),
    )  # fmt: skip


def _spaces(cost: CostOfSharing) -> Section:
    heads = (
        _text("group", "Group"), _text("member", "Member", key=True), _text("system", "System"),
        _text("space", "Address space", key=True), number("requests", "requests"), number("each", "each"),
        number("cpu", "cpu", bar=True), number("measured", "measured"),
        number("overhead", "overhead"), number("per_commit", "per_commit"), _text("by", "Used in all from"),
    )  # fmt: skip
    commits = {(member.system, member.subsystem): member.commits for member in cost.measured.members}
    rows = tuple(
        (
            space.group, space.member, space.system,
            f"of threads: {space.space}" if space.payer is Payer.THREAD and space.space != "threads" else space.space,
            SHARING["requests"](events=space.requests, seconds=cost.measured.seconds.get(space.system)),
            SHARING["each"](cpu=space.cpu_seconds, requests=space.requests) if space.payer is not Payer.IRLM else None,
            space.cpu_seconds, space.measured_seconds, space.overhead,
            SHARING["per_commit"](cpu=space.cpu_seconds, commits=commits.get((space.system, space.member))),
            space.measured_by or "not in the data",
        )
        for space in cost.spaces
    )  # fmt: skip
    if not cost.is_timed:
        return Section(
            "spaces",
            "Who pays",
            (Note("Without service times, the cost by address space is not known.", Level.WARNING),),
        )
    return Section(
        "spaces", "Who pays",
        (Table("sharing-spaces", "By address space", heads, rows, top=24),),
        "Threads spin for their own lock requests and reads; MSTR writes at commit, DBM1 casts out, IRLM resolves "
        f"contention ({PAYERS_SOURCE}).",
    )  # fmt: skip


def _inputs(cost: CostOfSharing) -> Section:
    stated = cost.stated
    heads = (
        _text("name", "Option", key=True), _text("what", "What"), number("seconds", "path", "Engine of speed 1"),
        *(
            number(f"on_{system.system}", "path", system.system or "all", group="On the engines of")
            for system in cost.systems
            if stated.speeds.get(system.system, stated.speed) != 1.0
        ),
        _text("source", "Source of default"),
    )  # fmt: skip
    rows = tuple(
        (
            f"--{path.name.replace('_', '-')}", path.title, getattr(stated, path.name),
            *(
                stated.seconds(path.name, system.system)
                for system in cost.systems
                if stated.speeds.get(system.system, stated.speed) != 1.0
            ),
            path.source,
        )
        for path in PATHS
    )  # fmt: skip
    foreign = sorted({use.structure for use in cost.measured.structures if not use.group and use.sync_requests})
    blocks: list[Block] = [
        Table("sharing-inputs", "Path lengths", heads, rows, top=len(rows)),
        Note(
            "Assumptions",
            details=(
                "Requests by kind are counts of Db2 (SMF 100), scaled to the requests that the coupling facility "
                "served (SMF 74-4) per structure and system.",
                "Structures of Db2 are identified by name: GROUP_LOCK1, GROUP_SCA, GROUP_GBPn.",
                "Castout is a cost of data sharing, without its disk I/O: a single Db2 writes the same pages by "
                "deferred writes. A read of a page that is in no pool is needed without data sharing too; its request "
                "to the group buffer pool is not.",
                "P-lock negotiation is counted with IRLM; the page that DBM1 writes for it is among the writes.",
            ),
        ),
    ]
    if foreign:
        blocks.append(Note("Structures that do not belong to one group", details=(", ".join(foreign),)))
    return Section("inputs", "Stated inputs", tuple(blocks), "Use the options to change them.")
