"""The cost of data sharing by transaction class: CPU time, requests by kind, delay."""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.report.model import Block, Cell, Note, Section, Table
from plexlens.report.model import text_column as _text
from plexlens.sharing.attribution import WAITS, ClassCost
from plexlens.sharing.cost import CostOfSharing
from plexlens.sharing.kinds import KINDS, Part
from plexlens.sharing.page.fields import SHARING, number


class _Together:
    """A transaction class on all members."""

    def __init__(self, name: str, kind: str, costs: list[ClassCost]) -> None:
        self.name, self.kind, self.costs = name, kind, costs

    def fact(self, name: str) -> float:
        return sum(float(cost.use.facts.get(name) or 0.0) for cost in self.costs)

    @property
    def commits(self) -> float:
        return self.fact("commits")

    @property
    def cpu(self) -> float:
        return sum(cost.cpu_seconds for cost in self.costs)

    @property
    def threads(self) -> float:
        return sum(cost.thread_seconds for cost in self.costs)

    def kinds(self) -> dict[str, tuple[float, float]]:
        """Requests or events and their CPU seconds, by kind."""
        results: dict[str, tuple[float, float]] = {}
        for cost in self.costs:
            for kind, count in cost.counts.items():
                before, seconds = results.get(kind, (0.0, 0.0))
                results[kind] = (before + count, seconds + cost.seconds[kind])
        return results

    def part(self, part: Part) -> float:
        return sum(cost.cpu.get(part, 0.0) for cost in self.costs)

    @property
    def all_seconds(self) -> float | None:
        every = [cost.all_seconds for cost in self.costs]
        return None if any(value is None for value in every) else sum(value or 0.0 for value in every)

    @property
    def requests(self) -> float:
        return sum(sum(cost.requests.values()) for cost in self.costs)


def _together(costs: Sequence[ClassCost]) -> list[_Together]:
    """Classes summed over all members, the costliest first."""
    class_costs: dict[tuple[str, str], list[ClassCost]] = {}
    for cost in costs:
        class_costs.setdefault((cost.name, cost.use.connection_type), []).append(cost)
    rows_together = [_Together(name, kind, rows) for (name, kind), rows in class_costs.items()]
    return sorted(rows_together, key=lambda row: (-row.cpu, -row.commits, row.name))


def class_sections(cost: CostOfSharing) -> list[Section]:
    """Sections on transaction classes; none without accounting."""
    if not cost.classes:
        return []
    results = _together(cost.classes)
    length = cost.total.seconds
    sections = [_class_delay(results, length)]
    if cost.is_timed:
        sections.insert(0, _class_cost(cost, results, length))
    return sections


def _class_cost(cost: CostOfSharing, result: list[_Together], length: float) -> Section:
    parts = [part for part in Part if any(together.part(part) for together in result)]
    heads = (
        _text("class", "Class", key=True), _text("kind", "Connection type"), number("commits", "commits"),
        number("per_requests", "per_requests", "Requests"), number("per_commit", "per_commit", "CPU", bar=True),
        number("all", "all_cpu"), number("class2", "class2"),
        number("db2_increase", "db2_increase", "In Db2", group="Increase"),
        number("increase", "increase", "All", group="Increase"), number("share", "share"),
        *(number(part.name.lower(), "per_commit", part.value, group="CPU per unit of work") for part in parts),
    )  # fmt: skip
    rows, per_commit = [], SHARING["per_commit"]
    for together in result:
        n, everything, class_2 = together.commits, together.all_seconds, together.fact("class2_cpu_seconds")
        rows.append(
            (
                together.name, together.kind, SHARING["commits"](commits=n, seconds=length),
                SHARING["per_requests"](requests=together.requests, commits=n), per_commit(cpu=together.cpu, commits=n),
                SHARING["all_cpu"](everything=everything, commits=n), SHARING["class2"](class2=class_2, commits=n),
                SHARING["db2_increase"](threads=together.threads, class2=class_2),
                SHARING["increase"](cpu=together.cpu, threads=together.threads, everything=everything),
                SHARING["share"](cpu=together.cpu, sharing=cost.total.cpu_seconds),
                *(per_commit(cpu=together.part(part), commits=n) for part in parts),
            )
        )  # fmt: skip
    rest = cost.unattributed_seconds
    blocks: list[Block] = [
        Table("sharing-classes", "By transaction class", heads, tuple(rows), top=20),
        _by_kind(result),
        _by_member(cost, length),
        Note("Attribution of the cost to classes", details=tuple(_how(cost))),
    ]
    if cost.total.cpu_seconds and rest > 0.005 * cost.total.cpu_seconds:
        blocks.append(
            Note(
                f"{rest:.3f} s of CPU time, {rest / cost.total.cpu_seconds:.1%} of the cost, belong to no class: work "
                "without accounting in this time, and work of Db2 itself."
            )
        )
    return Section(
        "classes", "By transaction class", tuple(blocks),
        "Per unit of work, all members together, in any address space. A kind of request that accounting does not "
        "count by thread is spread by the key shown.",
    )  # fmt: skip


def _by_kind(result: list[_Together]) -> Table:
    heads = (
        _text("class", "Class", key=True), _text("kind", "Kind", key=True), _text("part", "Part"),
        number("per_requests", "per_requests", "Per unit of work", bar=True), number("each", "each"),
        number("per_commit", "per_commit", "CPU per unit of work"), number("share", "share", "Share of the class"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for together in result:
        kinds = sorted(together.kinds().items(), key=lambda item: -item[1][1])
        rows += [
            (
                together.name, KINDS[kind].title, KINDS[kind].part.value,
                SHARING["per_requests"](requests=count, commits=together.commits),
                SHARING["each"](cpu=seconds, requests=count), SHARING["per_commit"](cpu=seconds,
                commits=together.commits),
                SHARING["share"](cpu=seconds, sharing=together.cpu),
            )
            for kind, (count, seconds) in kinds
            if count > 0
        ]  # fmt: skip
    return Table("sharing-class-kinds", "Requests by class and kind", heads, tuple(rows), top=30, folded=True)


def _by_member(cost: CostOfSharing, length: float) -> Table:
    heads = (
        _text("class", "Class", key=True), _text("member", "Member", key=True), _text("system", "System"),
        _text("plan", "Plan"), _text("connection", "Connection"), number("commits", "commits"),
        number("per_requests", "per_requests", "Requests"), number("per_commit", "per_commit", "CPU", bar=True),
        number("on_threads", "per_commit", "On threads"), number("class2", "class2"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    per_commit = SHARING["per_commit"]
    for work_class in sorted(
        cost.classes, key=lambda work_class: (work_class.name, work_class.use.system, work_class.use.subsystem)
    ):
        n = float(work_class.use.facts.get("commits") or 0.0)
        rows.append(
            (
                work_class.name, work_class.use.subsystem, work_class.use.system, work_class.use.plan,
                work_class.use.connection,
                SHARING["commits"](commits=n, seconds=length),
                SHARING["per_requests"](requests=sum(work_class.requests.values()), commits=n),
                per_commit(cpu=work_class.cpu_seconds, commits=n), per_commit(cpu=work_class.thread_seconds, commits=n),
                SHARING["class2"](class2=work_class.use.facts.get("class2_cpu_seconds"), commits=n),
            )
        )  # fmt: skip
    return Table("sharing-class-members", "By class and member", heads, tuple(rows), top=30, folded=True)


def _how(cost: CostOfSharing) -> list[str]:
    ways: dict[str, set[str]] = {}
    for work_class in cost.classes:
        for part, how in work_class.how.items():
            ways.setdefault(part.value, set()).add("counted by accounting (QTGA, QBGA)" if how == "counted" else how)
    order = [part.value for part in Part]
    return [f"{part}: {' or '.join(sorted(ways[part]))}" for part in order if part in ways]


def _class_delay(result: list[_Together], length: float) -> Section:
    waits = {name: title for name, title in WAITS.items() if any(together.fact(name) for together in result)}
    heads = (
        _text("class", "Class", key=True), _text("kind", "Connection type"), number("commits", "commits"),
        number("delay", "delay", bar=True), number("delay_share", "delay_share"),
        number("cpu", "delay", "Processor time", group="Of it"),
        *(number(name, "wait", title, group="Of it") for name, title in waits.items()),
        number("reread", "delay", "Reads from disk again", group="Of it"),
    )  # fmt: skip
    rows, per_commit = [], SHARING["delay"]
    for together in result:
        n = together.commits
        delay = sum(cost.delay_seconds for cost in together.costs)
        reread = sum(cost.reread_seconds for cost in together.costs)
        rows.append(
            (
                together.name, together.kind, SHARING["commits"](commits=n, seconds=length), per_commit(delay=delay,
                commits=n),
                SHARING["delay_share"](delay=delay, class2_elapsed=together.fact("class2_elapsed_seconds")),
                per_commit(delay=together.threads, commits=n),
                *(SHARING["wait"](class3=together.fact(name), commits=n) for name in waits),
                per_commit(delay=reread, commits=n),
            )
        )  # fmt: skip
    return Section(
        "delay", "Response time",
        (Table("sharing-delay", "Delay by transaction class", heads, tuple(rows), top=20),),
        "Time that data sharing adds in Db2, per unit of work. Waits come from accounting class 3. Waits for global "
        "locks include waits for work of other members, which would be local lock waits in a single Db2.",
    )  # fmt: skip
