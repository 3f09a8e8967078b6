"""Reduction of a grain to the definitions that a question needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plexlens.metrics.definition import Grain
from plexlens.metrics.required import read_by
from plexlens.metrics.source_sql import names_in


def reduced(grain: Grain, columns: Iterable[str], wheres: Iterable[str | None]) -> Grain:
    """The grain with only the named metrics, and only the facts that these and the conditions read.

    What a statement costs, to compile and to run, grows with every fact that it rolls up.
    """
    wanted = set(columns)
    metrics = tuple(metric for metric in grain.metrics if metric.name in wanted)
    read = wanted | {"interval_seconds"}
    read.update(*(each.facts for each in read_by(grain, metrics).values()))
    read.update(*(names_in(where) for where in wheres if where))
    return replace(grain, metrics=metrics, facts=tuple(fact for fact in grain.facts if fact.name in read))


def narrowed(grain: Grain, columns: Iterable[str], wheres: Iterable[str | None]) -> Grain:
    """The grain reduced to the columns, without attributes that neither the columns nor the conditions name.

    A roll-up carries every attribute along as its smallest and largest text, which costs more than all the numbers.
    """
    wanted, conditions = set(columns), [where for where in wheres if where]
    wanted.update(*(names_in(where) for where in conditions))
    smaller = reduced(grain, wanted, conditions)
    wanted.update(scoping(smaller))
    return replace(smaller, attributes=tuple(attribute for attribute in grain.attributes if attribute.name in wanted))


def scoping(grain: Grain) -> frozenset[str]:
    """Columns that identify the owner of facts that several rows repeat."""
    return frozenset(name for fact in grain.facts for name in fact.of or ())
