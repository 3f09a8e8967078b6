"""Findings of a judged day, and their form as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Seen:
    """A finding of a day.

    Attributes
    ----------
    rule, title, severity, grain
        The rule that fired, and the grain it is about.
    entity
        The object: column, title and value of each name.
    metric
        The number that decides.
    sentence
        What is wrong.
    cost
        Seconds lost per hour; None where no rule derives any.
    leads
        Whether it stands for itself; otherwise another finding of the same cause speaks for it.
    """

    rule: str
    title: str
    severity: str
    grain: str
    entity: tuple[tuple[str, str, str | None], ...]
    metric: str
    sentence: str
    cost: float | None
    leads: bool

    @property
    def identity(self) -> tuple[str, tuple[tuple[str, str | None], ...]]:
        """Rule and object: they make it the same finding on another day."""
        return self.rule, tuple((column, value) for column, _, value in self.entity)

    @property
    def name(self) -> str:
        """The object in one line."""
        return " / ".join(value for _, _, value in self.entity if value)

    def value(self, column: str) -> str | None:
        """A name of the object; None if it has none of this column."""
        return next((value for name, _, value in self.entity if name == column), None)


@dataclass(frozen=True)
class Judged:
    """A day as judged.

    Attributes
    ----------
    findings
        What was found.
    ran
        Rules that could be checked.
    left_out
        Objects that were found beyond those that a rule names.
    problem
        Why it could not be judged; empty where it was.
    """

    findings: tuple[Seen, ...]
    ran: frozenset[str]
    left_out: int = 0
    problem: str = ""


def judged_of(text: dict[str, Any]) -> Judged:
    """A judged day from plain values."""
    findings = [
        Seen(
            **(
                finding
                | {"entity": tuple((str(column), str(title), value) for column, title, value in finding["entity"])}
            )
        )
        for finding in text["findings"]
    ]
    return Judged(tuple(findings), frozenset(text["ran"]), int(text["left_out"]), str(text["problem"]))


def plain(judged: Judged) -> dict[str, Any]:
    """A judged day as plain values."""
    return {
        "findings": [asdict(finding) for finding in judged.findings],
        "ran": sorted(judged.ran),
        "left_out": judged.left_out,
        "problem": judged.problem,
    }
