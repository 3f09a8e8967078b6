"""Which facts a metric reads, and which of them have to be known for a row to count in it.

Both follow from the metric's expression. A product of facts needs all of them; of ``coalesce(a, b)`` one is enough; a
fact that `fill_null` or `total` replaces by zero is not needed at all. What is needed is a set of clauses: in each at
least one of the facts has to be known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import ibis
from ibis.expr import operations as ops

from plexlens.metrics.definition import Grain, Metric

Clauses = frozenset[frozenset[str]]
"""Sets of facts; of each set at least one fact has to be known."""

_NOTHING: Clauses = frozenset()

#: More alternatives than this are not told apart: the row then counts whatever is known.
_MOST_CLAUSES = 64


@dataclass(frozen=True)
class Read:
    """The facts that a metric reads, and those it cannot do without."""

    facts: frozenset[str]
    needed: Clauses


def shape(grain: Grain) -> Any:
    """An unbound table with the columns of the grain's facts, keys and attributes."""
    return ibis.table(
        {
            **dict.fromkeys(("system", "sysplex", "source_kind"), "string"),
            **{key.name: "string" for key in grain.keys},
            **{attribute.name: "string" for attribute in grain.attributes},
            **{fact.name: "float64" for fact in grain.facts},
            "local_time": "boolean",
        },
        name=grain.name,
    )


_READ: dict[Callable[[Any], Any], Read] = {}


def read_by(grain: Grain, metrics: Iterable[Metric]) -> dict[str, Read]:
    """What each of the grain's metrics reads, by the metric's name."""
    table = None
    for metric in (metrics := tuple(metrics)):
        if metric.expression not in _READ:
            table = shape(grain) if table is None else table
            node = metric.expression(table).op()
            facts = frozenset(field.name for field in node.find(ops.Field))
            _READ[metric.expression] = Read(facts, needed(node))
    return {metric.name: _READ[metric.expression] for metric in metrics}


def needed(node: Any) -> Clauses:
    """What has to be known for an Ibis expression to have a value, zero denominators aside."""
    if isinstance(node, ops.Field):
        return frozenset({frozenset({node.name})})
    if isinstance(node, ops.Coalesce | ops.Greatest | ops.Least):
        return reduce(_either, (needed(part) for part in node.arg))
    if isinstance(node, ops.IfElse):
        return _of_branches([(node.bool_expr, node.true_expr)], node.false_null_expr)
    if isinstance(node, ops.SearchedCase):
        return _of_branches(list(zip(node.cases, node.results, strict=True)), node.default)
    # What makes a value null where it is equal (NULLIF) is no operand; a literal has none.
    operands = [node.arg] if isinstance(node, ops.NullIf) else node.__children__
    return _all(needed(child) for child in operands if isinstance(child, ops.Value))


def _of_branches(cases: list[tuple[Any, Any]], otherwise: Any) -> Clauses:
    """What a choice needs: what its conditions read, and what one of its results needs."""
    results = [needed(result) for _, result in cases if not _is_null(result)]
    if not _is_null(otherwise):
        results.append(needed(otherwise))
    tested = []
    for condition, result in cases:
        if _is_null(result) and (missing := _missing(condition)):
            # Null where this is null: it has to be known.
            tested += [needed(value) for value in missing]
        elif len(cases) == 1 and _is_null(otherwise):
            tested.append(_of_condition(condition))
        else:
            tested.append(_of_condition(condition) if not condition.find((ops.IsNull, ops.NotNull)) else _NOTHING)
    return _all([*tested, reduce(_either, results) if results else _NOTHING])


def _missing(condition: Any) -> list[Any]:
    """The values of which a condition says that one of them is null; empty where it says something else too."""
    if isinstance(condition, ops.Or):
        return [*_missing(condition.left), *_missing(condition.right)]
    return [condition.arg] if isinstance(condition, ops.IsNull) else []


def _of_condition(node: Any) -> Clauses:
    """What has to be known for a condition to be able to hold."""
    if isinstance(node, ops.NotNull):
        return needed(node.arg)
    if isinstance(node, ops.IsNull):
        return _NOTHING
    if isinstance(node, ops.And):
        return _all([_of_condition(node.left), _of_condition(node.right)])
    if isinstance(node, ops.Or):
        return _either(_of_condition(node.left), _of_condition(node.right))
    return needed(node)


def _is_null(node: Any) -> bool:
    while isinstance(node, ops.Cast):
        node = node.arg
    return isinstance(node, ops.Literal) and node.value is None


def _all(parts: Iterable[Clauses]) -> Clauses:
    return _least(frozenset[frozenset[str]]().union(*parts))


def _either(first: Clauses, second: Clauses) -> Clauses:
    if len(first) * len(second) > _MOST_CLAUSES:
        return _NOTHING
    return _least(frozenset(a | b for a in first for b in second))


def _least(clauses: Clauses) -> Clauses:
    """Without clauses that another one implies."""
    return frozenset(clause for clause in clauses if not any(other < clause for other in clauses))
