"""Findings: what is wrong, first, with evidence, what to do, and what could not be checked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from plexlens.findings import CostKind, Finding, Findings, Lack, Severity, Threshold
from plexlens.findings.check import needs
from plexlens.metrics.display import shown
from plexlens.metrics.unit import COUNT, Unit
from plexlens.report.display import counted
from plexlens.report.model import (
    Advice,
    Block,
    Cell,
    Column,
    ColumnKind,
    Figure,
    KeyFigures,
    Level,
    Note,
    Table,
)
from plexlens.report.page import Page

if TYPE_CHECKING:
    from plexlens.report.context import Context

SECONDS_PER_HOUR = Unit("s/h", "s/h", 1.0, 0)

#: Objects of a rule that are shown before the reader asks for all.
TOP = 6

#: Rules that are shown in full; of the others the head, until the reader opens them. Critical ones are never folded.
FULL = 10

_COSTS = {CostKind.CPU: "of CPU", CostKind.DELAY: "of delay"}


def _prepare(context: Context) -> None:
    for rule in context.rules:
        if rule.grain in context.grains:
            columns, where = needs(rule, context.grains[rule.grain])
            context.need(rule.grain, columns, where)


def _blocks(context: Context) -> Sequence[Block]:
    found = context.judge()
    ran = len({one.rule.id for one in found.fired}) + len(found.passed)
    blocks: list[Block] = [_figures(found, ran)]
    if not ran:
        blocks.append(Note("No rule could be checked: the data holds none of the records they read.", Level.WARNING))
    elif not found.fired:
        blocks.append(Note(f"Nothing found by {counted(ran, 'rule')}; they are listed below."))
    by_rule: dict[str, list[Finding]] = {}
    for one in found.fired:
        by_rule.setdefault(one.rule.id, []).append(one)
    advice = [
        _advice(context, rank, members, found.left_out.get(name, 0))
        for rank, (name, members) in enumerate(by_rule.items(), 1)
    ]
    blocks += [one for one in advice if not one.folded]
    if folded := [one for one in advice if one.folded]:
        blocks += [Note(f"{counted(len(folded), 'more rule')} found something; they weigh less."), *folded]
    if found.passed:
        blocks.append(_passed(found, folded=bool(found.fired)))
    if found.not_checked:
        blocks.append(_lacking(found))
        blocks.append(_not_checked(found))
    return blocks


def _figures(found: Findings, ran: int) -> KeyFigures:
    counts = {severity: sum(one.severity is severity for one in found.fired) for severity in Severity}
    figures = [
        Figure(
            f"findings_{severity}",
            f"{severity.capitalize()} findings",
            count,
            COUNT,
            alarm=count > 0 and severity.rank >= Severity.HIGH.rank,
        )
        for severity, count in reversed(counts.items())
    ]
    figures += [
        Figure("rules_checked", "Rules checked", ran, COUNT),
        Figure("rules_not_checked", "Rules not checked", len(found.not_checked), COUNT),
    ]
    return KeyFigures("findings", tuple(figures))


# --- one rule that fired ----------------------------------------------------------------------------------------------


def _advice(context: Context, rank: int, members: Sequence[Finding], left_out: int) -> Advice:
    """A rule and the objects it fired for; these stand by rank, the one that costs most first."""
    first, rule = members[0], members[0].rule
    worst = max(members, key=lambda one: one.severity.rank).severity
    costs = [one.cost for one in members if one.cost is not None]
    cost = ""
    if costs and rule.cost is not None:
        cost = f"{shown(sum(costs), SECONDS_PER_HOUR)} s {_COSTS[rule.cost.kind]} an hour"
    stated = "" if rule.source.threshold is Threshold.STATED else " (the level was chosen by Plexlens)"
    origin = f"; as changed in {rule.origin}" if rule.origin else ""
    return Advice(
        name=rule.id,
        rank=rank,
        severity=str(worst),
        title=rule.title,
        text=first.sentence,
        objects=counted(len(members) + left_out, "object"),
        evidence=_evidence(context, members, left_out),
        action=first.action,
        command=_commands([(_subsystem(one), one.command) for one in members]),
        undo=_commands([(_subsystem(one), one.undo) for one in members]),
        condition=_condition(first),
        source=f"{rule.source.document}. {rule.source.where}{stated}{origin}.",
        url=rule.source.url,
        cost=cost,
        cost_meaning=rule.cost.meaning if cost and rule.cost is not None else "",
        folded=rank > FULL and worst is not Severity.CRITICAL,
    )


def _subsystem(one: Finding) -> str:
    return next((entity.value or "" for entity in one.entity if entity.column == "subsystem"), "")


def _commands(told: Sequence[tuple[str, str]]) -> str:
    """Commands of all objects, each once; of several subsystems, under the name of each, as a comment."""
    by_subsystem: dict[str, dict[str, None]] = {}
    for subsystem, command in told:
        if command:
            by_subsystem.setdefault(subsystem, {})[command] = None
    named = len(by_subsystem) > 1
    lines = []
    for subsystem, commands in by_subsystem.items():
        # Some commands say themselves whose they are.
        if named and subsystem and not any(command.startswith("* ") for command in commands):
            lines.append(f"* {subsystem}")
        lines += commands
    return "\n".join(lines)


def _condition(one: Finding) -> str:
    rule = one.rule
    text = rule.condition.text
    if rule.percentile is not None:
        text += f", of percentile {rule.percentile:g} over the intervals"
    elif rule.min_share:
        text += f", in {rule.min_share:.0%} of the {_times(rule.time)} or more"
    elif rule.time != "all":
        text += f", in any {rule.time}"
    text += "".join(f"; {severity}: {formula.text}" for severity, formula in rule.grades)
    return f"{text} ({rule.id})"


def _times(time: str) -> str:
    return {"interval": "intervals", "hour": "hours"}.get(time, time)


def _evidence(context: Context, members: Sequence[Finding], left_out: int) -> Table:
    rule = members[0].rule
    grain = context.grains[rule.grain]
    columns: list[Column] = []
    data: list[list[Cell]] = []

    def add(column: Column, cells: list[Cell]) -> None:
        if any(cell is not None for cell in cells):
            columns.append(column)
            data.append(cells)

    for name in rule.by:
        parts = [next((part for part in one.entity if part.column == name), None) for one in members]
        cells: list[Cell] = [part.value if part is not None else None for part in parts]
        add(Column(name, context.title(grain, name), ColumnKind.TEXT, key=True), cells)
    if len({one.severity for one in members}) > 1:
        add(Column("severity", "Severity", ColumnKind.TEXT), [str(one.severity) for one in members])
    if rule.cost is not None:
        # Beside the names: what an object costs is in sight however wide its evidence is.
        kind = rule.cost.kind if rule.cost.kind.isupper() else rule.cost.kind.capitalize()
        add(
            Column("cost", f"{kind} cost", ColumnKind.NUMBER, SECONDS_PER_HOUR),
            [one.cost for one in members],
        )
    for place, name in enumerate(rule.evidence):
        column = grain.column(name)
        definition = context.define(grain, name)
        numbers: list[Cell] = [one.evidence[place].value for one in members]
        add(Column(name, column.title, ColumnKind.NUMBER, column.unit, definition), numbers)
        if place == 0 and any(one.holding > 1 and one.worst_time is not None for one in members):
            title = "Lowest" if rule.lowest else "Highest"
            add(
                Column("worst", title, ColumnKind.NUMBER, column.unit, definition, group="Worst interval"),
                [one.worst for one in members],
            )
            add(
                Column("worst_time", "At", ColumnKind.TIME, group="Worst interval"),
                [one.worst_time for one in members],
            )
    if rule.time != "all" and rule.percentile is None:
        add(
            Column("held", f"Holds in {_times(rule.time)}", ColumnKind.TEXT),
            [f"{one.holding:,} of {one.intervals:,}" for one in members],
        )
    add(Column("start", "From", ColumnKind.TIME), [one.start for one in members])
    add(Column("end", "To", ColumnKind.TIME), [one.end for one in members])
    note = ""
    if left_out:
        note = f"The {len(members)} worst of {len(members) + left_out:,} objects."
    return Table(
        name=f"evidence_{rule.id.replace('.', '_')}",
        title=f"{rule.title}: evidence",
        columns=tuple(columns),
        rows=tuple(zip(*data, strict=True)),
        top=TOP,
        note=note,
        origin="Numbers are of the intervals in which the condition holds." if rule.time != "all" else "",
    )


# --- rules that did not fire ------------------------------------------------------------------------------------------


def _text(name: str, title: str, *, key: bool = False) -> Column:
    return Column(name, title, ColumnKind.TEXT, key=key)


def _passed(found: Findings, *, folded: bool) -> Table:
    return Table(
        name="findings_passed",
        title="Checked and in order",
        columns=(
            _text("title", "Rule", key=True),
            _text("rule", "Id"),
            Column("objects", "Objects", ColumnKind.NUMBER, COUNT),
            Column("intervals", "Intervals", ColumnKind.NUMBER, COUNT),
            _text("condition", "Would fire when"),
        ),
        rows=tuple(
            (one.rule.title, one.rule.id, one.objects, one.intervals, one.rule.condition.text) for one in found.passed
        ),
        top=20,
        note="Rules that had data, and found nothing.",
        folded=folded,
    )


def _lacking(found: Findings) -> Note:
    """What would let most of the other rules run, in one line each."""
    lacking = sorted(
        (" or ".join(one.needs) for one in found.not_checked if one.lack is Lack.SOURCE and one.needs),
    )
    lines = tuple(f"{kind}: {counted(len(list(members)), 'rule')}" for kind, members in groupby(lacking))
    others = len(found.not_checked) - len(lacking)
    if others:
        lines += (f"fields, objects or releases that this data does not hold: {counted(others, 'rule')}",)
    return Note(f"{counted(len(found.not_checked), 'rule')} could not be checked. What they lack:", details=lines)


def _not_checked(found: Findings) -> Table:
    return Table(
        name="findings_not_checked",
        title="Not checked",
        columns=(
            _text("title", "Rule", key=True),
            _text("rule", "Id"),
            _text("lack", "Why"),
            _text("reason", "What is missing"),
        ),
        rows=tuple((one.rule.title, one.rule.id, str(one.lack), one.reason) for one in found.not_checked),
        top=20,
        folded=True,
    )


PAGE = Page(
    order=100,
    id="findings",
    title="Findings",
    lead=(
        "What is wrong, in the order to look at it: what fails or stops, then what costs most, then by severity. "
        "Every number leads to its definition, every rule to its source."
    ),
    blocks=_blocks,
    prepare=_prepare,
)
