"""The order of findings: what to look at first.

1. Critical findings: work fails or stops, and no cost per hour weighs that.
2. By estimated cost, where it is at least 36 seconds an hour: one per cent of a processor, or of one user's time. A
   second of CPU and a second of delay weigh alike.
3. By severity, then by what cost there is, then by the number of intervals, then by rule, and within a rule
   by the worst interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plexlens.findings.finding import Finding
from plexlens.findings.rule import Severity

#: Seconds an hour below which a cost does not decide the order.
NOTICEABLE = 36.0


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in order, with their rank from 1."""
    ordered = sorted(findings, key=_key)
    return tuple(replace(one, rank=rank) for rank, one in enumerate(ordered, 1))


def _key(one: Finding) -> tuple[bool, float, int, float, int, str, float, str]:
    cost = one.cost or 0.0
    worst = one.worst if one.worst is not None else 0.0
    return (
        one.severity is not Severity.CRITICAL,
        -cost if cost >= NOTICEABLE else 0.0,
        -one.severity.rank,
        -cost,
        -one.holding,
        one.rule.id,
        worst if one.rule.lowest else -worst,
        one.name,
    )
