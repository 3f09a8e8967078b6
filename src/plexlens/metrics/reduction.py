"""A grain with only the definitions that a question needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ibis.expr.operations import Field

from plexlens.metrics.definition import Grain
from plexlens.metrics.required import read_by, shape

Where = Callable[[Any], Any]
"""From the facts of a grain (an Ibis table) to a boolean column: the rows that count."""


def reduced(grain: Grain, columns: Iterable[str], wheres: Iterable[Where | None]) -> Grain:
    """The grain with no more metrics than the columns name, and no more facts than they and the conditions read.

    What a statement costs, to compile and to run, grows with every fact that it rolls up.
    """
    table = shape(grain)
    wanted = set(columns)
    metrics = tuple(metric for metric in grain.metrics if metric.name in wanted)
    read = wanted | {"interval_seconds"}
    read.update(*(each.facts for each in read_by(grain, metrics).values()))
    read.update(*(fields_of(where(table)) for where in wheres if where is not None))
    return replace(grain, metrics=metrics, facts=tuple(fact for fact in grain.facts if fact.name in read))


def scoping(grain: Grain) -> frozenset[str]:
    """Columns that say whose the facts are that several rows report alike."""
    return frozenset(name for fact in grain.facts for name in fact.of or ())


def fields_of(expression: Any) -> set[str]:
    """Names of the columns that an Ibis expression reads."""
    return {node.name for node in expression.op().find(Field)}
