"""Results of checking: findings with their evidence, rules that passed, rules that could not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from plexlens.findings.rule import Cost, CostKind, Rule, Severity
from plexlens.metrics.unit import Unit


@dataclass(frozen=True)
class Evidence:
    """A number that supports a finding.

    Attributes
    ----------
    column
        Fact or metric of the rule's grain.
    title, unit
        As defined there.
    value
        Over all intervals in which the condition holds, in the base unit.
    """

    column: str
    title: str
    unit: Unit
    value: float | None


@dataclass(frozen=True)
class Entity:
    """A column that identifies the object of a finding, and its value."""

    column: str
    title: str
    value: str | None


@dataclass(frozen=True)
class Finding:
    """A problem with an object.

    Attributes
    ----------
    rule
        The rule that fired.
    severity
        The rule's, or a higher one by its grades.
    entity
        The object.
    sentence, action, command, undo
        The rule's texts with this object's names and numbers; the last two may be empty.
    remarks
        What is to be known before acting: settings that the data does not hold, or that have been changed since.
    evidence
        The numbers; the first is the measure. Never empty.
    worst, worst_time
        Measure of the worst interval, and its start; None for a rule over all the time.
    holding, intervals
        Intervals in which the condition holds, and in which it could be judged.
    start, end
        First start and last end of the intervals in which it holds.
    cost
        Seconds lost per hour of the data; None where no rule derives any.
    cost_rule
        The rule that derives it, where others contribute.
    own_cost
        What the finding itself adds to it, where others contribute.
    thing
        The object of the rule's cause; empty without a cause, or if the data does not identify the object.
    contributing
        Findings of the same cause about the same thing, which this one speaks for.
    acknowledged
        Why the site has acknowledged it; empty where it has not.
    rank
        Place among all findings, from 1.
    """

    rule: Rule
    severity: Severity
    entity: tuple[Entity, ...]
    sentence: str
    action: str
    command: str
    undo: str
    remarks: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    worst: float | None
    worst_time: datetime | None
    holding: int
    intervals: int
    start: datetime | None
    end: datetime | None
    cost: float | None
    cost_rule: Rule | None = None
    own_cost: float | None = None
    thing: str = ""
    contributing: tuple[Finding, ...] = ()
    acknowledged: str = ""
    rank: int = 0

    @property
    def name(self) -> str:
        """The object in one line."""
        return " / ".join(part.value for part in self.entity if part.value)

    @property
    def costing(self) -> Cost | None:
        """Derivation of the cost; None if there is no cost."""
        return (self.cost_rule or self.rule).cost if self.cost is not None else None

    @property
    def cost_kind(self) -> CostKind | None:
        """Kind of the cost."""
        return self.costing.kind if self.costing is not None else None

    @property
    def all(self) -> tuple[Finding, ...]:
        """The finding and those that contribute to it."""
        return (self, *self.contributing)


@dataclass(frozen=True)
class Passed:
    """A rule that ran and did not fire.

    Attributes
    ----------
    objects
        Objects it judged.
    intervals
        Intervals it judged, over all objects.
    """

    rule: Rule
    objects: int
    intervals: int


@dataclass(frozen=True)
class Suppressed:
    """A finding that the site suppresses, and the reason."""

    finding: Finding
    reason: str


class Lack(StrEnum):
    """Reason why a rule was not checked."""

    SOURCE = "records missing"
    """The data has no source of its grain."""
    FIELDS = "fields not recorded"
    """The records exist, but lack the fields it needs."""
    TIME = "no time recorded"
    """The records exist, but have no times to match them by."""
    NOTHING = "nothing it applies to"
    """The records contain no object of its kind, or only idle ones."""
    RELEASE = "other release"
    """It applies to other releases than those in the data."""


@dataclass(frozen=True)
class NotChecked:
    """A rule that could not run, and the input it lacked.

    Attributes
    ----------
    lack
        Kind of reason.
    reason
        The reason in words.
    needs
        Kinds of source, or fields, that would let it run.
    """

    rule: Rule
    lack: Lack
    reason: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Findings:
    """All results of checking.

    Attributes
    ----------
    fired
        Findings by rank.
    passed, not_checked
        The other rules, by id.
    left_out
        Objects of a rule beyond those in ``fired``, by rule id.
    suppressed
        Findings that the site's decisions suppress.
    decisions
        What is to be said about the decisions themselves: expired, or without a finding.
    """

    fired: tuple[Finding, ...] = ()
    passed: tuple[Passed, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    suppressed: tuple[Suppressed, ...] = ()
    decisions: tuple[str, ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The highest severity that fired; None if no rule fired."""
        return max((finding.severity for finding in self.fired), key=lambda finding: finding.rank, default=None)

    def at_or_above(self, severity: Severity) -> tuple[Finding, ...]:
        """Findings of this severity or a higher one that the site has not acknowledged."""
        return tuple(
            finding for finding in self.fired if finding.severity.rank >= severity.rank and not finding.acknowledged
        )

    def to_json(self) -> dict[str, Any]:
        """Only JSON types; numbers in base units, times in UTC, costs in seconds per hour."""
        return {
            "fired": [_finding(finding) for finding in self.fired],
            "passed": [
                {
                    "rule": passed.rule.id,
                    "title": passed.rule.title,
                    "objects": passed.objects,
                    "intervals": passed.intervals,
                }
                for passed in self.passed
            ],
            "not_checked": [
                {
                    "rule": unchecked.rule.id,
                    "title": unchecked.rule.title,
                    "lack": str(unchecked.lack),
                    "reason": unchecked.reason,
                    "needs": list(unchecked.needs),
                }
                for unchecked in self.not_checked
            ],
            "left_out": dict(self.left_out),
            "suppressed": [
                _finding(suppressed.finding) | {"reason": suppressed.reason} for suppressed in self.suppressed
            ],
            "decisions": list(self.decisions),
        }


def _time(moment: datetime | None) -> str | None:
    """ISO 8601: UTC with a Z; local time of unknown offset without a zone."""
    if moment is None or moment.tzinfo is None:
        return None if moment is None else moment.isoformat()
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _finding(finding: Finding) -> dict[str, Any]:
    rule = finding.rule
    return {
        "rank": finding.rank,
        "rule": rule.id,
        "title": rule.title,
        "severity": str(finding.severity),
        "entity": {part.column: part.value for part in finding.entity},
        "sentence": finding.sentence,
        "action": finding.action,
        "command": finding.command or None,
        "undo": finding.undo or None,
        "remarks": list(finding.remarks),
        "acknowledged": finding.acknowledged or None,
        "evidence": [
            {
                "column": f"{rule.grain}.{part.column}",
                "title": part.title,
                "value": part.value,
                "unit": part.unit.base,
            }
            for part in finding.evidence
        ],
        "worst": {"value": finding.worst, "time": _time(finding.worst_time)}
        if finding.worst_time is not None
        else None,
        "holding": finding.holding,
        "intervals": finding.intervals,
        "span": [_time(finding.start), _time(finding.end)],
        "cost": None if finding.cost is None else {"seconds_per_hour": finding.cost, "kind": str(finding.cost_kind)},
        "cause": None if rule.cause is None or not finding.thing else {"name": rule.cause.name, "thing": finding.thing},
        "contributing": [_finding(other) for other in finding.contributing],
        "source": {
            "document": rule.source.document,
            "where": rule.source.where,
            "url": rule.source.url or None,
            "threshold": str(rule.source.threshold),
        },
    }
