"""Findings: problems in order of importance, with evidence and remedy, and checks that could not run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from plexlens.findings import CostKind, Finding, Findings, Lack, Severity, Threshold
from plexlens.findings.check import needs
from plexlens.findings.ranking import Group, groups
from plexlens.metrics.display import shown
from plexlens.metrics.unit import COUNT, Unit
from plexlens.report.blocks.page import Page
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
from plexlens.report.model.display import counted

if TYPE_CHECKING:
    from plexlens.report.blocks.context import Context

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
            context.numbers.need(rule.grain, columns, where)


def _blocks(context: Context) -> Sequence[Block]:
    findings = context.judge()
    ran = len({part.rule.id for finding in findings.fired for part in finding.all}) + len(findings.passed)
    blocks: list[Block] = [_figures(findings, ran)]
    if not ran:
        blocks.append(Note("No rule could be checked: the data contains none of the records they need.", Level.WARNING))
    elif not findings.fired:
        blocks.append(Note(f"No finding from {counted(ran, 'rule')}; they are listed below."))
    advice = [_advice(context, rank, group, findings.left_out) for rank, group in enumerate(groups(findings.fired), 1)]
    blocks += [block for block in advice if not block.folded]
    if folded := [block for block in advice if block.folded]:
        blocks += [Note(f"{counted(len(folded), 'more rule')} found something of lower severity."), *folded]
    if findings.decisions:
        blocks.append(Note("Site decisions to review:", Level.WARNING, findings.decisions))
    if findings.suppressed:
        blocks.append(_suppressed(findings))
    if findings.passed:
        blocks.append(_passed(findings, folded=bool(findings.fired)))
    if findings.not_checked:
        blocks.append(_not_checked(findings))
    return blocks


def _figures(findings: Findings, ran: int) -> KeyFigures:
    counts = {severity: sum(finding.severity is severity for finding in findings.fired) for severity in Severity}
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
        Figure("rules_not_checked", "Rules not checked", len(findings.not_checked), COUNT),
    ]
    return KeyFigures("findings", tuple(figures))


# --- one rule that fired ----------------------------------------------------------------------------------------------


def _advice(context: Context, rank: int, group: Group, left_out: Mapping[str, int]) -> Advice:
    """A rule and the objects it fired for, by rank, the costliest first.

    What other rules see of the same causes stands folded behind it, without a cost of its own.
    """
    first, rule = group.members[0], group.rule
    every = [finding for member in group.members for finding in member.all]
    rows = [finding for finding in every if finding.rule.id == rule.id]
    others: dict[str, list[Finding]] = {}
    for finding in every:
        if finding.rule.id != rule.id:
            others.setdefault(finding.rule.id, []).append(finding)
    left = left_out.get(rule.id, 0)
    stated = "" if rule.source.threshold is Threshold.STATED else " (the level was chosen by Plexlens)"
    origin = f"; as changed in {rule.origin}" if rule.origin else ""
    return Advice(
        name=rule.id,
        rank=rank,
        severity=str(group.severity),
        title=rule.title,
        text=first.sentence,
        objects=_objects(len(group.members), len(rows), left),
        evidence=_evidence(context, rows, left),
        action=first.action,
        command=_with_others(rows, others, lambda row: row.command),
        undo=_with_others(rows, others, lambda row: row.undo),
        remarks=_remarks(rows),
        condition=_condition(first),
        source=f"{rule.source.document}. {rule.source.where}{stated}{origin}.",
        url=rule.source.url,
        cost=_cost(group),
        cost_meaning=_cost_meaning(group),
        folded=rank > FULL and group.severity is not Severity.CRITICAL,
        more=tuple(_evidence(context, members, left_out.get(name, 0), more=True) for name, members in others.items()),
    )


def _objects(findings: int, objects: int, left_out: int) -> str:
    """Number of objects, and of findings if several objects share a cause."""
    return counted(objects + left_out, "object") + (f", {counted(findings, 'cause')}" if findings < objects else "")


def _cost(group: Group) -> str:
    if group.cost is None:
        return ""
    kinds = dict.fromkeys(_COSTS[member.costing.kind] for member in group.members if member.costing is not None)
    return f"{shown(group.cost, SECONDS_PER_HOUR)} s {' and '.join(kinds)} per hour"


def _cost_meaning(group: Group) -> str:
    """Meanings of a cost, each with the title of its rule if that is not the group's rule."""
    meanings: dict[str, None] = {}
    for member in group.members:
        if member.costing is not None:
            rule = member.cost_rule or member.rule
            behind = "" if rule.id == group.rule.id else f" ({rule.title})"
            meanings[f"{member.costing.meaning}{behind}"] = None
    return "; ".join(meanings)


def _remarks(rows: Sequence[Finding]) -> tuple[str, ...]:
    """Each remark once, with its objects if it does not apply to all."""
    about: dict[str, list[str]] = {}
    for row in rows:
        acknowledged = (f"Acknowledged: {row.acknowledged}.",) if row.acknowledged else ()
        for remark in (*acknowledged, *row.remarks):
            about.setdefault(remark, []).append(row.name)
    return tuple(
        remark if len(names) == len(rows) else f"{', '.join(names[:TOP])}{' …' * (len(names) > TOP)}: {remark}"
        for remark, names in about.items()
    )


def _subsystem(finding: Finding) -> str:
    return next((entity.value or "" for entity in finding.entity if entity.column == "subsystem"), "")


def _commands(text: Sequence[tuple[str, str]]) -> str:
    """Commands of all objects without repetition; for several subsystems, each preceded by its name as a comment."""
    by_subsystem: dict[str, dict[str, None]] = {}
    for subsystem, command in text:
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


#: A value in a command: a number in brackets, or behind an equals sign.
_VALUE = re.compile(r"(?<=[(=,])[\d.]+(?=[),\s]|$)")


#: A command that changes settings of an object, each given as KEYWORD(value).
_CHANGES = re.compile(r"(-?ALTER [A-Z]+\([^)]*\))((?: +[A-Z]+\([^)]*\))+)")

#: One setting of such a command.
_SETTING = re.compile(r" +([A-Z]+)\([^)]*\)")


def _sets(subsystem: str, line: str) -> set[tuple[str, ...]]:
    """Settings in a line of a command, or the line without its values; MVS displays are the same for each Db2."""
    if changes := _CHANGES.fullmatch(line):
        return {(subsystem, changes[1], setting[1]) for setting in _SETTING.finditer(changes[2])}
    return {("" if line.startswith("D ") else subsystem, _VALUE.sub("", line))}


def _remaining(subsystem: str, line: str, done: set[tuple[str, ...]]) -> str:
    """A command line without settings that are already in force; empty if none remains."""
    if changes := _CHANGES.fullmatch(line):
        settings = [
            setting[0] for setting in _SETTING.finditer(changes[2]) if (subsystem, changes[1], setting[1]) not in done
        ]
        return changes[1] + "".join(settings) if settings else ""
    return "" if _sets(subsystem, line) <= done else line


def _with_others(
    rows: Sequence[Finding], others: Mapping[str, Sequence[Finding]], text: Callable[[Finding], str]
) -> str:
    """Commands of a rule, then those of other rules with the same causes, each below the title of its rule.

    What a command above sets already is not set to another value below.
    """
    texts = [(_subsystem(row), text(row)) for row in rows]
    parts = [_commands(texts)]
    done = {
        data_set for subsystem, command in texts for line in command.splitlines() for data_set in _sets(subsystem, line)
    }
    for members in others.values():
        kept = [
            (
                _subsystem(member),
                [left for line in text(member).splitlines() if (left := _remaining(_subsystem(member), line, done))],
            )
            for member in members
        ]
        if commands := _commands([(subsystem, "\n".join(lines)) for subsystem, lines in kept]):
            parts.append(f"* {members[0].rule.title}\n{commands}")
        done |= {data_set for subsystem, lines in kept for line in lines for data_set in _sets(subsystem, line)}
    return "\n".join(part for part in parts if part)


def _condition(finding: Finding) -> str:
    rule = finding.rule
    text = rule.condition.text
    if rule.percentile is not None:
        text += f", percentile {rule.percentile:g} over the intervals"
    elif rule.min_share:
        text += f", in {rule.min_share:.0%} of the {_times(rule.time)} or more"
    elif rule.time != "all":
        text += f", in any {rule.time}"
    text += "".join(f"; {severity}: {formula.text}" for severity, formula in rule.grades)
    return f"{text} ({rule.id})"


def _times(time: str) -> str:
    return {"interval": "intervals", "hour": "hours"}.get(time, time)


def _evidence(context: Context, members: Sequence[Finding], left_out: int, *, more: bool = False) -> Table:
    rule = members[0].rule
    grain = context.grains[rule.grain]
    columns: list[Column] = []
    data: list[list[Cell]] = []

    def add(column: Column, cells: list[Cell]) -> None:
        if any(cell is not None for cell in cells):
            columns.append(column)
            data.append(cells)

    for name in rule.by:
        parts = [next((part for part in member.entity if part.column == name), None) for member in members]
        cells: list[Cell] = [part.value if part is not None else None for part in parts]
        add(Column(name, context.title(grain, name), ColumnKind.TEXT, key=True), cells)
    if rule.cost is not None:
        # Next to the names, so that a table wider than the page does not hide the sort key.
        add(
            Column(
                "cost",
                f"{rule.cost.kind} cost"[:1].upper() + f"{rule.cost.kind} cost"[1:],
                ColumnKind.NUMBER,
                SECONDS_PER_HOUR,
            ),
            [member.own_cost if member.contributing else member.cost for member in members],
        )
    if len({member.severity for member in members}) > 1:
        add(Column("severity", "Severity", ColumnKind.TEXT), [str(member.severity) for member in members])
    for place, name in enumerate(rule.evidence):
        column = grain.column(name)
        definition = context.define(grain, name)
        numbers: list[Cell] = [member.evidence[place].value for member in members]
        add(Column(name, column.title, ColumnKind.NUMBER, column.unit, definition), numbers)
        if place == 0 and any(member.holding > 1 and member.worst_time is not None for member in members):
            title = "Lowest" if rule.lowest else "Highest"
            add(
                Column("worst", title, ColumnKind.NUMBER, column.unit, definition, group="Worst interval"),
                [member.worst for member in members],
            )
            add(
                Column("worst_time", "At", ColumnKind.TIME, group="Worst interval"),
                [member.worst_time for member in members],
            )
    if rule.time != "all" and rule.percentile is None:
        add(
            Column("held", f"Holds in {_times(rule.time)}", ColumnKind.TEXT),
            [f"{member.holding:,} of {member.intervals:,}" for member in members],
        )
    add(Column("start", "From", ColumnKind.TIME), [member.start for member in members])
    add(Column("end", "To", ColumnKind.TIME), [member.end for member in members])
    note = ""
    if left_out:
        note = f"The {len(members)} worst of {len(members) + left_out:,} objects; the cost covers only these."
    return Table(
        name=f"{'more' if more else 'evidence'}_{rule.id.replace('.', '_')}",
        title=f"Also seen by {rule.id}: {rule.title}" if more else f"{rule.title}: evidence",
        columns=tuple(columns),
        rows=tuple(zip(*data, strict=True)),
        top=TOP,
        note=note,
        origin="Numbers cover the intervals in which the condition holds." if rule.time != "all" else "",
    )


# --- rules that did not fire ------------------------------------------------------------------------------------------


def _text(name: str, title: str, *, key: bool = False) -> Column:
    return Column(name, title, ColumnKind.TEXT, key=key)


#: The columns of a table of rules that say which.
_RULE = (_text("title", "Rule", key=True), _text("rule", "Id"))


def _passed(findings: Findings, *, folded: bool) -> Table:
    return Table(
        name="findings_passed",
        title="Checked without a finding",
        columns=(
            *_RULE,
            Column("objects", "Objects", ColumnKind.NUMBER, COUNT),
            Column("intervals", "Intervals", ColumnKind.NUMBER, COUNT),
            _text("condition", "Would fire when"),
        ),
        rows=tuple(
            (passed.rule.title, passed.rule.id, passed.objects, passed.intervals, passed.rule.condition.text)
            for passed in findings.passed
        ),
        top=20,
        note="Rules with data whose condition does not hold.",
        folded=folded,
    )


def _suppressed(findings: Findings) -> Table:
    return Table(
        name="findings_suppressed",
        title=f"{counted(len(findings.suppressed), 'finding')} suppressed by the site",
        columns=(
            *_RULE,
            _text("object", "Object"),
            _text("severity", "Severity"),
            _text("sentence", "Problem"),
            _text("reason", "Reason for suppression"),
        ),
        rows=tuple(
            (
                suppressed.finding.rule.title,
                suppressed.finding.rule.id,
                suppressed.finding.name,
                str(suppressed.finding.severity),
                suppressed.finding.sentence,
                suppressed.reason,
            )
            for suppressed in findings.suppressed
        ),
        top=20,
        folded=True,
    )


def _not_checked(findings: Findings) -> Table:
    """A folded line, with the data that would allow most of the rules to run."""
    lacking = sorted(
        (
            " or ".join(unchecked.needs)
            for unchecked in findings.not_checked
            if unchecked.lack is Lack.SOURCE and unchecked.needs
        ),
    )
    lines = [f"{kind}: {counted(len(list(members)), 'rule')}" for kind, members in groupby(lacking)]
    others = len(findings.not_checked) - len(lacking)
    if others:
        lines.append(f"this data has no such fields, objects or releases: {counted(others, 'rule')}")
    return Table(
        name="findings_not_checked",
        title=f"{counted(len(findings.not_checked), 'rule')} could not be checked",
        columns=(
            *_RULE,
            _text("lack", "Why"),
            _text("reason", "Missing data"),
        ),
        rows=tuple(
            (unchecked.rule.title, unchecked.rule.id, str(unchecked.lack), unchecked.reason)
            for unchecked in findings.not_checked
        ),
        top=20,
        note=f"Missing: {'; '.join(lines)}.",
        folded=True,
    )


PAGE = Page(
    order=100,
    id="findings",
    title="Findings",
    lead=(
        "Problems in order of urgency: failures first, then by cost, then by severity. Each number links to its "
        "definition, each rule to its source."
    ),
    blocks=_blocks,
    prepare=_prepare,
)
