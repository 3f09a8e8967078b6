"""The order of findings: the most important first.

Findings of one rule stand together. A rule's cost is the sum of its findings' costs, and that sum is what the report
heads the rule with.

1. Rules with a critical finding: work fails or stops, and no cost per hour weighs that.
2. By cost, where it is at least 36 seconds per hour: one per cent of a processor, or of one user's time. A second of
   CPU and a second of delay weigh alike.
3. By severity, then by what cost there is, then by the number of intervals, then by rule.

Within a rule: by severity, then by cost, then by the worst interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from plexlens.findings.cause import weight
from plexlens.findings.finding import Finding
from plexlens.findings.rule import Rule, Severity

#: Seconds per hour below which a cost does not decide the order.
NOTICEABLE = 36.0


@dataclass(frozen=True)
class Group:
    """The findings of one rule.

    Attributes
    ----------
    members
        Findings by their order within the rule; one at least.
    cost
        Sum of the members' costs in seconds per hour; None where none has one.
    """

    members: tuple[Finding, ...]
    cost: float | None

    @property
    def rule(self) -> Rule:
        """The rule."""
        return self.members[0].rule

    @property
    def severity(self) -> Severity:
        """The highest severity of a member."""
        return max((member.severity for member in self.members), key=lambda severity: severity.rank)


def groups(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """The findings by rule, in order."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule.id, []).append(finding)
    results = []
    for members in by_rule.values():
        costs = [member.cost for member in members if member.cost is not None]
        results.append(Group(tuple(sorted(members, key=weight)), sum(costs) if costs else None))
    return tuple(sorted(results, key=_key))


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in order, with their rank from 1."""
    ordered = (finding for group in groups(findings) for finding in group.members)
    return tuple(replace(finding, rank=rank) for rank, finding in enumerate(ordered, 1))


def _key(group: Group) -> tuple[bool, float, int, float, int, str]:
    cost = group.cost or 0.0
    return (
        group.severity is not Severity.CRITICAL,
        -cost if cost >= NOTICEABLE else 0.0,
        -group.severity.rank,
        -cost,
        -max(member.holding for member in group.members),
        group.rule.id,
    )
