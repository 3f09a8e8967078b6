"""The cost of data sharing as a report: answer, waterfall, requests by kind, address spaces, transaction classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plexlens import __version__
from plexlens.metrics import GRAINS
from plexlens.metrics.unit import (
    FRACTION,
    MEAN_COUNT,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PROCESSORS,
    SECONDS,
    Unit,
)
from plexlens.report.model import (
    Block,
    Cell,
    Chart,
    ChartKind,
    Column,
    ColumnKind,
    Definition,
    Figure,
    KeyFigures,
    Level,
    Note,
    Report,
    Section,
    Series,
    Table,
)
from plexlens.report.xy import MOST_SERIES
from plexlens.sharing.assumptions import PATHS, PAYERS_SOURCE
from plexlens.sharing.attribution import WAITS, ClassCost
from plexlens.sharing.cost import CostOfSharing, SystemCost
from plexlens.sharing.kinds import Kind, Part, Payer
from plexlens.sharing.requests import Line

_STUDY = "Sysplex/CICSplex/DB2 Data Sharing (1996)"
_HOST = "Host effect: rate x (synchronous service + issue path); asynchronous: rate x software path"
_SPIN = "z/OS RMF Report Analysis: the processor waits for a synchronous request"

_TEXTS: tuple[tuple[str, str, Unit, str, str, str], ...] = (
    ("cpu", "CPU time", SECONDS, "Σ synchronous x (service time + path) + Σ asynchronous x path + Σ other work x path",
     _HOST, "Service times are measured (SMF 74-4), path lengths stated."),
    ("service", "Of it measured", SECONDS, "Σ synchronous requests x service time of structure and system (R744SSTM)",
     _SPIN, "A structure has one service time for all kinds of request."),
    ("engines", "Engines", PROCESSORS, "CPU time / length of the time", _HOST, ""),
    ("overhead", "Increase over the base", FRACTION, "CPU time of data sharing / (measured CPU time - that)",
     f"{_STUDY}, table 6: increased CPU time", "Cache disturbance and longer paths inside Db2 are not in it."),
    ("efficiency", "Coupling efficiency", FRACTION, "(measured CPU time - that of data sharing) / measured CPU time",
     f"{_STUDY}, table 6", "ITR with sharing over ITR without, at the same work on the same engines."),
    ("share", "Share of data sharing", FRACTION, "CPU time / CPU time of data sharing", _HOST, ""),
    ("captured", "Of captured time", FRACTION, "CPU time of data sharing / CPU time of service classes",
     "SMF 72-3", ""),
    ("per_commit", "Per unit of work", MICROSECONDS, "CPU time / commits", _HOST, ""),
    ("requests", "Requests", PER_SECOND, "requests or events / length of the time",
     "SMF 74-4 by structure; SMF 100 IFCID 2 by kind",
     "Counts of pages are brought to the requests that the coupling facility served."),
    ("sync", "Synchronous", FRACTION, "synchronous requests / requests", "SMF 74-4 R744SSRC, R744SARC",
     "Asynchronous requests are first those that Db2 does not wait for (castout, asynchronous writes, registration)."),
    ("each", "CPU of each", MICROSECONDS, "CPU time / requests", _HOST, ""),
    ("measured", "Used in all", SECONDS, "CPU time of the address space or of the threads",
     "SMF 100 IFCID 1; SMF 101 class 1 and 2; SMF 72-3 report class", ""),
    ("used", "Processor time", SECONDS, "busy time of engines; else CPU time of service classes",
     "SMF 70-1; else SMF 72-3", ""),
    ("commits", "Units of work", PER_SECOND, "commits / length of the time", "SMF 101 QWACCOMM; SMF 100 Q3STCOMM", ""),
    ("per_requests", "Requests per unit of work", MEAN_COUNT, "requests / commits", "SMF 74-4, SMF 100, SMF 101", ""),
    ("all_cpu", "All CPU", MICROSECONDS, "CPU time inside and outside Db2 / commits",
     "SMF 110-1 USRCPUT; else SMF 101 class 1", "Without SMF 110-1 what a CICS region does outside Db2 is not in it."),
    ("class2", "CPU in Db2", MICROSECONDS, "class 2 CPU time / commits", "SMF 101 IFCID 3", ""),
    ("db2_increase", "Increase of CPU in Db2", FRACTION,
     "CPU time of data sharing on threads / (class 2 CPU time - that)", f"{_STUDY}, table 8: DB2 TCB time", ""),
    ("increase", "Increase of all CPU", FRACTION,
     "CPU time of data sharing, whoever pays / (all CPU time - its part on threads)",
     f"{_STUDY}, table 8", "All CPU time is that of CICS (SMF 110-1), else class 1."),
    ("delay", "Delay", MILLISECONDS, "(CPU time on threads + waits + reads from disk after invalidation) / commits",
     "SMF 101 class 3", ""),
    ("wait", "Wait", MILLISECONDS, "class 3 time / commits", "SMF 101 IFCID 3, QWAC and QWAX", ""),
    ("delay_share", "Of the time in Db2", FRACTION, "delay / class 2 elapsed time", "SMF 101 IFCID 3", ""),
    ("path", "Stated", MICROSECONDS, "", "Stated input", ""),
)  # fmt: skip

DEFINITIONS = {
    f"sharing.{name}": Definition(
        f"sharing.{name}",
        "Cost of data sharing",
        "a kind of request, address space, system or transaction class over the time measured",
        title,
        unit,
        formula,
        source,
        caveat,
    )
    for name, title, unit, formula, source, caveat in _TEXTS
}
_STRUCTURES = GRAINS["coupling_structure"]
_SPINNING = _STRUCTURES.metric("sync_processors")
_SPUN = f"{_STRUCTURES.name}.{_SPINNING.name}"
DEFINITIONS[_SPUN] = Definition(
    _SPUN, _STRUCTURES.title, _STRUCTURES.row, _SPINNING.title, _SPINNING.unit, _SPINNING.formula, _SPINNING.source,
    _SPINNING.caveat,
)  # fmt: skip
_UNITS = {name: unit for name, _, unit, _, _, _ in _TEXTS}
_TITLES = {name: title for name, title, *_ in _TEXTS}

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
    sections += [*_classes(cost), *more, _inputs(cost)]
    measured = cost.measured
    groups = sorted({line.group for line in cost.lines if line.group})
    return Report(
        title="Cost of data sharing",
        systems=tuple(one.system or "all systems" for one in cost.systems),
        sysplexes=(),
        start=measured.start,
        end=measured.end,
        utc_offset=None,
        time_note="Times are UTC.",
        alerts=tuple(Note(text, Level.WARNING) for text in measured.missing),
        sections=tuple(sections),
        definitions=dict(DEFINITIONS),
        generator=f"Plexlens {__version__}",
        kind="Cost of data sharing",
        subject=f"{', '.join(groups) or 'no data sharing group of Db2'}: {cost.name}",
    )


def _text(name: str, title: str, *, key: bool = False) -> Column:
    return Column(name, title, ColumnKind.TEXT, key=key)


def _number(
    name: str, definition: str, title: str = "", *, group: str = "", bar: bool = False, unit: Unit | None = None
) -> Column:
    return Column(
        name, title or _TITLES[definition], ColumnKind.NUMBER, unit or _UNITS[definition], f"sharing.{definition}",
        group=group, bar=bar,
    )  # fmt: skip


def _cpu(lines: Iterable[Line]) -> float:
    return sum(line.cpu_seconds for line in lines)


def _over(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _answer(cost: CostOfSharing) -> Section:
    total = cost.total
    figures: list[Figure] = []

    def figure(name: str, definition: str, value: Cell, detail: str = "") -> None:
        if value is not None:
            title = DEFINITIONS[f"sharing.{definition}"].title
            figures.append(Figure(name, title, value, _UNITS[definition], f"sharing.{definition}", detail))

    if cost.is_timed:
        figure("overhead", "overhead", total.overhead, "CPU time that data sharing adds")
        figure("efficiency", "efficiency", total.efficiency)
        figure(
            "engines",
            "engines",
            _over(total.cpu_seconds, total.seconds),
            f"of {total.engines:.1f}" if total.engines else "",
        )
        figure("per_commit", "per_commit", total.per_commit)
        share = _over(total.service_seconds, total.cpu_seconds)
        figure("service", "service", total.service_seconds, f"{share:.0%} of the cost" if share is not None else "")
    blocks: list[Block] = [KeyFigures("sharing-answer", tuple(figures))] if figures else []
    blocks.append(_systems(cost))
    if len({(line.group, line.member) for line in cost.lines}) > 1:
        blocks.append(_members(cost))
    blocks += [Note(text, Level.WARNING) for text in cost.notes]
    blocks.append(
        Note(
            f"Whether it is higher than it needs to be, and what to do, say the findings of plexlens report: {_RULES}."
        )
    )
    lead = (
        "What data sharing adds to the processor time of these systems: measured service times of the coupling "
        "facility, stated path lengths."
    )
    return Section("answer", "The cost", tuple(blocks), lead)


def _systems(cost: CostOfSharing) -> Table:
    heads = (
        _text("system", "System", key=True), _number("cpu", "cpu"), _number("service", "service"),
        _number("engines", "engines"), _number("used", "used"), _number("captured", "captured"),
        _number("overhead", "overhead", bar=True), _number("efficiency", "efficiency"),
        _number("commits", "commits"), _number("per_commit", "per_commit"),
        _number("other", "cpu", "Other structures, not in it"),
    )  # fmt: skip
    systems = [*cost.systems, cost.total] if len(cost.systems) > 1 else list(cost.systems)
    return Table(
        "sharing-systems", "By system", heads, tuple(_system(cost, one) for one in systems), top=len(systems),
        note="Base: processor time without data sharing, worked out as what was measured less the cost.",
    )  # fmt: skip


def _system(cost: CostOfSharing, one: SystemCost) -> tuple[Cell, ...]:
    name = one.system or ("All" if len(cost.systems) > 1 else "all systems")
    if not cost.is_timed:
        return (name, None, None, None, one.busy_seconds, None, None, None, _over(one.commits, one.seconds), None, None)
    return (
        name, one.cpu_seconds, one.service_seconds, _over(one.cpu_seconds, one.seconds), one.busy_seconds,
        _over(one.cpu_seconds, one.captured_seconds), one.overhead, one.efficiency,
        _over(one.commits, one.seconds), one.per_commit, one.other_seconds,
    )  # fmt: skip


def _members(cost: CostOfSharing) -> Table:
    heads = (
        _text("group", "Group", key=True), _text("member", "Member", key=True), _text("system", "System"),
        _number("requests", "requests"), _number("sync", "sync"), _number("cpu", "cpu"), _number("service", "service"),
        _number("engines", "engines", bar=True), _number("share", "share"),
        _number("per_commit", "per_commit"),
    )  # fmt: skip
    commits = {(one.system, one.subsystem): one.commits for one in cost.measured.members}
    groups = sorted({line.group for line in cost.lines})
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        keys = sorted({(line.member, line.system) for line in cost.lines if line.group == group})
        of_group = [line for line in cost.lines if line.group == group]
        if len(keys) > 1 and group:
            some = [commits.get((system, member)) for member, system in keys]
            every = None if any(one is None for one in some) else sum(one or 0.0 for one in some)
            rows.append((group, "all", "", *_sums(cost, of_group, every)))
        for member, system in keys:
            own = [line for line in of_group if (line.member, line.system) == (member, system)]
            rows.append((group or "not of one group", member, system, *_sums(cost, own, commits.get((system, member)))))
    return Table("sharing-members", "By group and member", heads, tuple(rows), top=20)


def _sums(cost: CostOfSharing, lines: list[Line], commits: float | None) -> tuple[Cell, ...]:
    requests = [line for line in lines if line.kind.is_request]
    count, synchronous = sum(line.count for line in requests), sum(line.synchronous for line in requests)
    rate = sum(_rate(cost, line) for line in requests)
    if not cost.is_timed:
        return rate, None, None, None, None, None, None
    seconds = _cpu(lines)
    return (
        rate, _over(synchronous, count), seconds, sum(line.service_seconds for line in lines),
        sum(_engines(cost, line) for line in lines), _over(seconds, cost.total.cpu_seconds), _over(seconds, commits),
    )  # fmt: skip


def _rate(cost: CostOfSharing, line: Line) -> float:
    return line.count / length if (length := cost.measured.seconds.get(line.system)) else 0.0


def _engines(cost: CostOfSharing, line: Line) -> float:
    return line.cpu_seconds / length if (length := cost.measured.seconds.get(line.system)) else 0.0


def _waterfall(cost: CostOfSharing) -> Section:
    total, systems = cost.total, [one.system for one in cost.systems]
    heads = (
        _text("part", "Part", key=True), _number("cpu", "cpu"), _number("service", "service"),
        _number("share", "share", bar=True), _number("overhead", "overhead"), _number("per_commit", "per_commit"),
        *(
            _number(f"cpu_{system}", "cpu", system or "all", group="CPU time by system")
            for system in (systems if len(systems) > 1 else [])
        ),
    )  # fmt: skip
    base = total.base_seconds

    def row(name: str, lines: Sequence[Line]) -> tuple[Cell, ...]:
        seconds = _cpu(lines)
        by_system = [_cpu(line for line in lines if line.system == system) for system in systems]
        return (
            name, seconds, sum(line.service_seconds for line in lines), _over(seconds, total.cpu_seconds),
            _over(seconds, base), _over(seconds, total.commits), *(by_system if len(systems) > 1 else []),
        )  # fmt: skip

    rows: list[tuple[Cell, ...]] = []
    if base is not None:
        bases = [one.base_seconds for one in cost.systems]
        rows.append(("Base: all else", base, None, None, None, None, *(bases if len(systems) > 1 else [])))
    rows += [row(part.value, lines) for part, lines in cost.by_part().items()]
    rows.append(row("Data sharing", cost.lines))
    if base is not None:
        used = [one.busy_seconds for one in cost.systems]
        rows.append(("Measured", total.busy_seconds, None, None, None, None, *(used if len(systems) > 1 else [])))
    blocks: tuple[Block, ...] = (
        Table(
            "sharing-parts", "From base to measured", heads, tuple(rows), top=len(rows),
            note="Base and parts add up to what was measured. Not in the parts, and so in the base: caches of "
            "processors that refill after a spin or an interruption, longer paths inside Db2 and IRLM, and what "
            "routing work between systems costs.",
        ),
    )  # fmt: skip
    course = measured_course(cost)
    if course is not None:
        blocks = (*blocks, course)
    if not cost.is_timed:
        blocks = (Note("Without service times of the coupling facility nothing adds up to CPU time.", Level.WARNING),)
    return Section("parts", "What it is made of", blocks)


def measured_course(cost: CostOfSharing) -> Chart | None:
    """Engines that spun over time, by group and what for; None where there is one interval only."""
    course = cost.measured.course
    if len(course.times) < 2:
        return None
    dearest = sorted(course.values.items(), key=lambda item: -sum(value or 0.0 for value in item[1]))
    return Chart(
        "sharing-course", "Engines that spun for Db2's structures", PROCESSORS, ChartKind.STACK, course.times,
        course.ends, tuple(Series(name, values) for name, values in dearest[:MOST_SERIES]), _SPUN,
        left_out=max(len(dearest) - MOST_SERIES, 0), note="All systems; the measured part of the cost.",
    )  # fmt: skip


def _kinds(cost: CostOfSharing) -> Section:
    heads = (
        _number("requests", "requests", bar=True), _number("sync", "sync"), _number("each", "each"),
        _number("cpu", "cpu"), _number("service", "service"), _number("share", "share"),
        _number("per_requests", "per_requests", "Per unit of work"), _number("per_commit", "per_commit"),
    )  # fmt: skip
    kinds = {line.kind.name: line.kind for line in cost.lines}
    ordered = sorted(kinds.values(), key=lambda kind: (list(Part).index(kind.part), kind.title))
    rows = tuple(
        (
            kind.title,
            kind.part.value,
            _payers(cost, kind),
            *_kind(cost, [one for one in cost.lines if one.kind == kind]),
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
        "Contention, messages and reads from disk are no requests to the coupling facility; they are counted beside "
        "them.",
    )  # fmt: skip


def _payers(cost: CostOfSharing, kind: Kind) -> str:
    return ", ".join(sorted({line.payer.value for line in cost.lines if line.kind == kind}))


def _kind(cost: CostOfSharing, lines: list[Line]) -> tuple[Cell, ...]:
    count, seconds = sum(line.count for line in lines), _cpu(lines)
    commits = cost.total.commits
    rate = sum(_rate(cost, line) for line in lines)
    if not cost.is_timed:
        return rate, None, None, None, None, None, _over(count, commits), None
    synchronous = sum(line.synchronous for line in lines)
    return (
        rate, _over(synchronous, count) if lines[0].kind.is_request else None, _over(seconds, count), seconds,
        sum(line.service_seconds for line in lines), _over(seconds, cost.total.cpu_seconds), _over(count, commits),
        _over(seconds, commits),
    )  # fmt: skip


def _spaces(cost: CostOfSharing) -> Section:
    heads = (
        _text("group", "Group"), _text("member", "Member", key=True), _text("system", "System"),
        _text("space", "Address space", key=True), _number("cpu", "cpu", bar=True), _number("measured", "measured"),
        _number("overhead", "overhead"), _number("per_commit", "per_commit"), _text("by", "Used in all from"),
    )  # fmt: skip
    commits = {(one.system, one.subsystem): one.commits for one in cost.measured.members}
    rows = tuple(
        (
            one.group, one.member, one.system,
            f"of threads: {one.space}" if one.payer is Payer.THREAD and one.space != "threads" else one.space,
            one.cpu_seconds, one.measured_seconds, one.overhead,
            _over(one.cpu_seconds, commits.get((one.system, one.member))), one.measured_by or "not in the data",
        )
        for one in cost.spaces
    )  # fmt: skip
    if not cost.is_timed:
        return Section("spaces", "Who pays", (Note("Without service times there is nothing to pay.", Level.WARNING),))
    return Section(
        "spaces", "Who pays",
        (Table("sharing-spaces", "By address space", heads, rows, top=24),),
        f"Threads spin for their own lock requests and reads; MSTR writes at commit, DBM1 casts out, IRLM settles "
        f"contention ({PAYERS_SOURCE}).",
    )  # fmt: skip


class _Together:
    """A transaction class on all members."""

    def __init__(self, name: str, kind: str, costs: list[ClassCost]) -> None:
        self.name, self.kind, self.costs = name, kind, costs

    def fact(self, name: str) -> float:
        return sum(float(one.use.facts.get(name) or 0.0) for one in self.costs)

    @property
    def commits(self) -> float:
        return self.fact("commits")

    @property
    def cpu(self) -> float:
        return sum(one.cpu_seconds for one in self.costs)

    @property
    def threads(self) -> float:
        return sum(one.thread_seconds for one in self.costs)

    def part(self, part: Part) -> float:
        return sum(one.cpu.get(part, 0.0) for one in self.costs)

    @property
    def all_seconds(self) -> float:
        return sum(one.all_seconds for one in self.costs)

    @property
    def requests(self) -> float:
        return sum(sum(one.requests.values()) for one in self.costs)


def _together(costs: Sequence[ClassCost]) -> list[_Together]:
    """Classes over all members, the dearest first."""
    found: dict[tuple[str, str], list[ClassCost]] = {}
    for one in costs:
        found.setdefault((one.name, one.use.connection_type), []).append(one)
    made = [_Together(name, kind, rows) for (name, kind), rows in found.items()]
    return sorted(made, key=lambda one: (-one.cpu, -one.commits, one.name))


def _classes(cost: CostOfSharing) -> list[Section]:
    if not cost.classes:
        return []
    found = _together(cost.classes)
    length = cost.total.seconds
    sections = [_class_delay(found, length)]
    if cost.is_timed:
        sections.insert(0, _class_cost(cost, found, length))
    return sections


def _class_cost(cost: CostOfSharing, found: list[_Together], length: float) -> Section:
    parts = [part for part in Part if any(one.part(part) for one in found)]
    heads = (
        _text("class", "Class", key=True), _text("kind", "Connection type"), _number("commits", "commits"),
        _number("per_requests", "per_requests", "Requests"), _number("per_commit", "per_commit", "CPU", bar=True),
        _number("all", "all_cpu"), _number("class2", "class2"),
        _number("db2_increase", "db2_increase", "In Db2", group="Increase"),
        _number("increase", "increase", "All", group="Increase"), _number("share", "share"),
        *(_number(part.name.lower(), "per_commit", part.value, group="CPU per unit of work") for part in parts),
    )  # fmt: skip
    rows = []
    for one in found:
        n, everything, class_2 = one.commits, one.all_seconds, one.fact("class2_cpu_seconds")
        rows.append(
            (
                one.name, one.kind, _over(n, length), _over(one.requests, n), _over(one.cpu, n), _over(everything, n),
                _over(class_2, n),
                _over(one.threads, class_2 - one.threads) if class_2 > one.threads else None,
                _over(one.cpu, everything - one.threads) if everything > one.threads else None,
                _over(one.cpu, cost.total.cpu_seconds), *(_over(one.part(part), n) for part in parts),
            )
        )  # fmt: skip
    rest = cost.unattributed_seconds
    blocks: list[Block] = [
        Table("sharing-classes", "By transaction class", heads, tuple(rows), top=20, sorted_by=None),
        Note("How it was laid at their door", details=tuple(_how(cost))),
    ]
    if cost.total.cpu_seconds and rest > 0.005 * cost.total.cpu_seconds:
        blocks.append(
            Note(
                f"{rest:.3f} s of CPU time, {rest / cost.total.cpu_seconds:.1%} of the cost, are of no class: work "
                "without accounting in this time, and Db2's own."
            )
        )
    return Section(
        "classes", "By transaction class", tuple(blocks),
        "Per unit of work, all members together, whoever pays. Without accounting of a kind by thread it is spread by "
        "the key named.",
    )  # fmt: skip


def _how(cost: CostOfSharing) -> list[str]:
    ways: dict[str, set[str]] = {}
    for one in cost.classes:
        for part, how in one.how.items():
            ways.setdefault(part.value, set()).add("counted by accounting (QTGA, QBGA)" if how == "counted" else how)
    order = [part.value for part in Part]
    return [f"{part}: {' or '.join(sorted(ways[part]))}" for part in order if part in ways]


def _class_delay(found: list[_Together], length: float) -> Section:
    waits = {name: title for name, title in WAITS.items() if any(one.fact(name) for one in found)}
    heads = (
        _text("class", "Class", key=True), _text("kind", "Connection type"), _number("commits", "commits"),
        _number("delay", "delay", bar=True), _number("delay_share", "delay_share"),
        _number("cpu", "delay", "Processor time", group="Of it"),
        *(_number(name, "wait", title, group="Of it") for name, title in waits.items()),
        _number("reread", "delay", "Reads from disk again", group="Of it"),
    )  # fmt: skip
    rows = []
    for one in found:
        n = one.commits
        delay = sum(cost.delay_seconds for cost in one.costs)
        reread = sum(cost.reread_seconds for cost in one.costs)
        rows.append(
            (
                one.name, one.kind, _over(n, length), _over(delay, n), _over(delay, one.fact("class2_elapsed_seconds")),
                _over(one.threads, n), *(_over(one.fact(name), n) for name in waits), _over(reread, n),
            )
        )  # fmt: skip
    return Section(
        "delay", "Response time",
        (Table("sharing-delay", "Delay by transaction class", heads, tuple(rows), top=20),),
        "What data sharing adds to the time in Db2, per unit of work. Waits are as accounting class 3 recorded them: "
        "those for global locks are also waits for work of other members, which one Db2 alone would have had as "
        "local ones.",
    )  # fmt: skip


def _inputs(cost: CostOfSharing) -> Section:
    stated = cost.stated
    heads = (
        _text("name", "Option", key=True), _text("what", "What"), _number("seconds", "path", "Engine of speed 1"),
        *(
            _number(f"on_{one.system}", "path", one.system or "all", group="On the engines of")
            for one in cost.systems
            if stated.speeds.get(one.system, stated.speed) != 1.0
        ),
        _text("source", "Source of the default"),
    )  # fmt: skip
    rows = tuple(
        (
            f"--{path.name.replace('_', '-')}", path.title, getattr(stated, path.name),
            *(
                stated.seconds(path.name, one.system)
                for one in cost.systems
                if stated.speeds.get(one.system, stated.speed) != 1.0
            ),
            path.source,
        )
        for path in PATHS
    )  # fmt: skip
    foreign = sorted({use.structure for use in cost.measured.structures if not use.group and use.sync_requests})
    blocks: list[Block] = [
        Table("sharing-inputs", "Path lengths", heads, rows, top=len(rows)),
        Note(
            "What it rests on",
            details=(
                "Kinds of request are Db2's counts (SMF 100), brought to the number that the coupling facility served "
                "(SMF 74-4) for each structure and system.",
                "Structures are Db2's by their names: GROUP_LOCK1, GROUP_SCA, GROUP_GBPn.",
                "Castout, its disk I/O apart, is a cost of data sharing: a Db2 alone writes the same pages by deferred "
                "writes. A read of a page that was in no pool would be needed without data sharing too; its request to "
                "the group buffer pool would not.",
                "P-lock negotiation is paid by IRLM and DBM1 half each.",
            ),
        ),
    ]
    if foreign:
        blocks.append(Note("Structures that are not of one group", details=(", ".join(foreign),)))
    return Section("inputs", "Stated inputs", tuple(blocks), "Give the options to change them.")
