"""The parts of a rule: the facts it reads, its condition, its message and its source.

A rule is data (`plexlens.findings.reading` takes it from TOML); everything in it has been checked against the grain it
reads, so that evaluating it cannot fail for want of a name or a unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plexlens.expression.tree import Expression, names_of
from plexlens.findings.template import Template


class Severity(StrEnum):
    """Importance of a finding."""

    LOW = "low"
    """For information; no work waits."""
    MEDIUM = "medium"
    """Avoidable use of CPU or time."""
    HIGH = "high"
    """Work is delayed or a limit is near."""
    CRITICAL = "critical"
    """Work fails or stops."""

    @property
    def rank(self) -> int:
        """0 for the lowest."""
        return list(Severity).index(self)


class CostKind(StrEnum):
    """Kind of an estimated cost."""

    CPU = "CPU"
    """Processor time."""
    DELAY = "delay"
    """Time that work waits."""


class Threshold(StrEnum):
    """Origin of the numbers in a condition."""

    STATED = "stated"
    """The source states them."""
    CHOSEN = "chosen"
    """The source explains the effect; the level was chosen here."""


@dataclass(frozen=True)
class Formula:
    """An expression and the text it was written as."""

    expression: Expression
    text: str

    @property
    def names(self) -> frozenset[str]:
        """Names used in the formula."""
        return names_of(self.expression)


@dataclass(frozen=True)
class Cost:
    """An estimate of the cost of a finding.

    Attributes
    ----------
    seconds
        Seconds lost in the intervals in which the condition holds; divided by the hours of the data. Rows without
        intervals in common (accounting) cover the hours from the first one's begin to the last one's end.
    kind
        CPU or delay.
    meaning
        What the estimate counts, in words.
    """

    seconds: Formula
    kind: CostKind
    meaning: str


@dataclass(frozen=True)
class Reference:
    """The document a rule comes from.

    Attributes
    ----------
    document
        Title of the document.
    where
        Chapter, section, message or statement in it.
    url
        Address; empty where it has none.
    threshold
        Whether the numbers of the condition are in it.
    """

    document: str
    where: str
    url: str
    threshold: Threshold


@dataclass(frozen=True)
class Releases:
    """Range of releases that a rule applies to, both ends included; None for an open end."""

    product: str
    since: tuple[int, int] | None
    until: tuple[int, int] | None

    def include(self, release: tuple[int, int]) -> bool:
        """Whether a release is in the range."""
        return (self.since is None or release >= self.since) and (self.until is None or release <= self.until)

    def __str__(self) -> str:
        """``z/OS 2.4 and later``, ``z/OS up to 2.3``, ``z/OS 2.1 to 2.3``."""
        since, until = (None if end is None else f"{end[0]}.{end[1]}" for end in (self.since, self.until))
        if until is None:
            return f"{self.product} {since} and later"
        return f"{self.product} up to {until}" if since is None else f"{self.product} {since} to {until}"


@dataclass(frozen=True)
class Cause:
    """A cause that several rules detect from different sides.

    Findings of one cause about one thing are one finding: that of the rule with the lowest ``order``, with the others
    as further evidence. The cost of a cause is that of the rule that sees the most of it.

    Attributes
    ----------
    name
        The cause.
    thing
        What it befalls, from keys and attributes: the same text means the same thing.
    order
        Place among the rules of the cause; the lowest one speaks for all.
    """

    name: str
    thing: Template
    order: int


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes
    ----------
    id
        ``family.name``.
    grain
        Name of the grain it reads.
    by
        Keys, attributes, ``system``, ``sysplex`` that identify its objects.
    time
        ``interval``, ``hour`` or ``all``: the length of time on which the condition is judged.
    where
        Rows it applies to; None for all.
    condition
        What is wrong.
    min_share
        Share of an object's intervals in which the condition must hold; 0 for one interval at least.
    percentile
        Where not None, each number in the condition is this percentile over the object's intervals.
    severity, grades
        Severity, and the conditions under which it is a higher one.
    evidence
        Facts and metrics that are shown; the first is the measure, by which the worst interval is found.
    lowest
        Whether the worst interval is the one with the smallest measure.
    sentence, action, command
        What is wrong and why it matters, what to do, and the exact text of the command or parameter, if there is one.
    undo
        The text that takes the command back, if there is one.
    unrecorded
        Settings that the command changes and no record tells; they are to be noted before the change.
    cause
        What it sees from its side; None where no other rule sees the same.
    yields_to
        Rules whose findings about the same object withhold this rule's command: theirs would be undone by it.
    cost
        None where no cost can be derived.
    releases
        None for all.
    origin
        File that the rule comes from, as a user would name it.
    """

    id: str
    title: str
    grain: str
    by: tuple[str, ...]
    time: str
    where: Formula | None
    condition: Formula
    min_share: float
    percentile: float | None
    severity: Severity
    grades: tuple[tuple[Severity, Formula], ...]
    evidence: tuple[str, ...]
    lowest: bool
    sentence: Template
    action: Template
    command: Template
    undo: Template
    cost: Cost | None
    source: Reference
    releases: Releases | None
    unrecorded: tuple[str, ...] = ()
    cause: Cause | None = None
    yields_to: tuple[str, ...] = ()
    origin: str = ""

    @property
    def family(self) -> str:
        """The first word of the id."""
        return self.id.partition(".")[0]

    @property
    def severities(self) -> str:
        """The rule's severity, and the highest it can be raised to: ``low``, ``low to high``."""
        return f"{self.severity} to {self.grades[-1][0]}" if self.grades else str(self.severity)

    @property
    def measure(self) -> str:
        """The column that determines the worst interval."""
        return self.evidence[0]

    @property
    def numbers(self) -> frozenset[str]:
        """Every fact and metric that the rule reads from rolled-up rows."""
        formulas = [self.condition, *(formula for _, formula in self.grades)]
        if self.cost is not None:
            formulas.append(self.cost.seconds)
        named = [formula.names for formula in formulas]
        named += [names_of(expression) for expression in (*self.written, *self.commanded)]
        return frozenset(self.evidence).union(*named) - self.named

    @property
    def written(self) -> tuple[Expression, ...]:
        """The numbers and conditions in its message and action."""
        return tuple(dict.fromkeys((*self.sentence.expressions, *self.action.expressions)))

    @property
    def commanded(self) -> tuple[Expression, ...]:
        """The numbers and conditions in its command and in the command that reverses it."""
        return tuple(dict.fromkeys((*self.command.expressions, *self.undo.expressions)))

    @property
    def named(self) -> frozenset[str]:
        """The keys and attributes used in its texts."""
        texts = (self.sentence, self.action, self.command, self.undo)
        things = (self.cause.thing,) if self.cause is not None else ()
        return frozenset[str]().union(*(text.names for text in (*texts, *things)))
