"""Inputs of metrics: the facts that a metric reads, and those that must be known for a row to count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plexlens.expression import Clauses, Expression, names_of, needed
from plexlens.metrics.definition import Grain, Metric


@dataclass(frozen=True)
class Read:
    """The facts that a metric reads, and those that it requires."""

    facts: frozenset[str]
    needed: Clauses


_READ: dict[Expression, Read] = {}


def read_by(grain: Grain, metrics: Iterable[Metric]) -> dict[str, Read]:
    """Inputs of each of the grain's metrics, by the metric's name."""
    return {metric.name: _read(metric.expression) for metric in metrics}


def _read(expression: Expression) -> Read:
    if expression not in _READ:
        _READ[expression] = Read(names_of(expression), needed(expression))
    return _READ[expression]
