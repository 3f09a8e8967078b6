"""Merging of findings with a common cause: several rules or several systems may see the same problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from plexlens.findings.finding import Finding

#: Objects of one rule that are findings of their own; beyond them they are counted.
MOST_OBJECTS = 25


def weight(finding: Finding) -> tuple[int, float, float, str]:
    """Sort key for the objects of a rule: highest severity, highest cost, worst measure first."""
    worst = finding.worst if finding.worst is not None else 0.0
    return (
        -finding.severity.rank,
        -(finding.cost or 0.0),
        worst if finding.rule.lowest else -worst,
        finding.name,
    )


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, with those that share a cause and an object merged.

    The finding of the rule with the lowest order speaks for all, with the highest severity of them. Its cost is that of
    the rule whose findings cost most together: rules of one cause count the same time from different sides.
    """
    alone: list[Finding] = []
    things: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.rule.cause is None or not finding.thing:
            alone.append(finding)
        else:
            things.setdefault((finding.rule.cause.name, finding.thing), []).append(finding)
    return alone + [_one(part) for members in things.values() for part in _by_sysplex(members)]


def _by_sysplex(members: Sequence[Finding]) -> list[list[Finding]]:
    """Findings about objects with the same name, separated by sysplex.

    Records of Db2 name no sysplex: what they tell belongs to the sysplex of the others only where that is one.
    """
    apart: dict[str, list[Finding]] = {}
    unknown: list[Finding] = []
    for member in members:
        sysplex = next((part.value for part in member.entity if part.column == "sysplex" and part.value), None)
        apart.setdefault(sysplex, []).append(member) if sysplex else unknown.append(member)
    if not unknown:
        return list(apart.values())
    if len(apart) == 1:
        return [[*next(iter(apart.values())), *unknown]]
    return [*apart.values(), unknown]


def _one(members: Sequence[Finding]) -> Finding:
    lead, *others = sorted(
        members, key=lambda member: (member.rule.cause.order if member.rule.cause else 0, *weight(member))
    )
    if not others:
        return lead
    costs: dict[str, float] = {}
    for member in members:
        if member.cost is not None:
            costs[member.rule.id] = costs.get(member.rule.id, 0.0) + member.cost
    most = max(costs, key=lambda rule: costs[rule], default=None)
    return replace(
        lead,
        severity=max((member.severity for member in members), key=lambda severity: severity.rank),
        contributing=tuple(others),
        own_cost=lead.cost,
        # A cause is acknowledged where all that is seen of it is.
        acknowledged=lead.acknowledged if all(member.acknowledged for member in members) else "",
        cost=costs[most] if most is not None else None,
        cost_rule=next(member.rule for member in members if member.rule.id == most) if most is not None else None,
    )


def shortened(findings: Iterable[Finding]) -> tuple[list[Finding], dict[str, int]]:
    """The worst objects of each rule, and the number of objects left out; the same for contributing findings."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule.id, []).append(finding)
    left: dict[str, int] = {}
    kept: list[Finding] = []
    for members in by_rule.values():
        worst = sorted(members, key=weight)
        _count(left, worst[MOST_OBJECTS:])
        for finding in worst[:MOST_OBJECTS]:
            counts: dict[str, int] = {}
            some: list[Finding] = []
            for other in finding.contributing:
                counts[other.rule.id] = counts.get(other.rule.id, 0) + 1
                some.append(other) if counts[other.rule.id] <= MOST_OBJECTS else _count(left, [other])
            kept.append(replace(finding, contributing=tuple(some)))
    return kept, left


def _count(left: dict[str, int], findings: Sequence[Finding]) -> None:
    for finding in findings:
        for single in (finding, *finding.contributing):
            left[single.rule.id] = left.get(single.rule.id, 0) + 1


def withheld(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without commands that would undo the action of another finding about the same object."""
    fired: dict[str, list[Finding]] = {}
    for finding in findings:
        for single in (finding, *finding.contributing):
            fired.setdefault(single.rule.id, []).append(single)
    return [_yielding(finding, fired) for finding in findings]


def _yielding(finding: Finding, fired: Mapping[str, Sequence[Finding]]) -> Finding:
    contributing = tuple(_yielding(single, fired) for single in finding.contributing)
    stronger = (
        other for rule in finding.rule.yields_to for other in fired.get(rule, ()) if _same_object(finding, other)
    )
    other = next(stronger, None)
    if other is None or not finding.command:
        return replace(finding, contributing=contributing)
    remark = (
        f"No command is given, because it would worsen the finding of {other.rule.id} ({other.rule.title}: "
        f"{other.name})."
    )
    return replace(finding, command="", undo="", remarks=(remark,), contributing=contributing)


def _same_object(first: Finding, second: Finding) -> bool:
    """Whether two findings have a column in common and agree in all common columns."""
    mine = {part.column: part.value for part in first.entity}
    theirs = {part.column: part.value for part in second.entity}
    common = mine.keys() & theirs.keys()
    return bool(common) and all(mine[column] == theirs[column] for column in common)
