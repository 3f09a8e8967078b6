"""Metrics as columns of facts: each expression once, and parts that several of them share once."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from plexlens.expression import Expression, Name, expand, shared_parts, sql_of
from plexlens.metrics.ceiling import below_ceiling
from plexlens.metrics.definition import Grain
from plexlens.metrics.query import Query
from plexlens.pdb.engine import quoted

#: What the names of columns begin with that several metrics, or one metric several times, are made of.
_SHARED = "shared_"


def with_metrics(
    rows: Query,
    grain: Grain,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    without: Collection[str] = (),
) -> Query:
    """The rows with every metric of the grain added; an impossible share becomes null.

    Parameters
    ----------
    rows
        The facts.
    grain
        The metrics.
    columns
        For each metric, the column that stands for a fact where it is not the one of its name.
    without
        Columns of the facts that metrics alone read.
    """
    named = columns or {}
    own = [_with_columns(metric.expression, named.get(metric.name, {})) for metric in grain.metrics]
    names = {metric.name for metric in grain.metrics}
    steps, expressions = shared_parts(own, _SHARED, names.union(rows.columns))
    source = rows.source
    for parts in steps:
        listed = ", ".join(f"({sql_of(part, quoted)}) as {quoted(name)}" for name, part in parts.items())
        source = f"(select *, {listed}\nfrom {source})"
    results = [
        f"({sql_of(expression, quoted)})::double as {quoted(metric.name)}"
        for metric, expression in zip(grain.metrics, expressions, strict=True)
    ]
    plain = [name for name in rows.columns if name not in names and name not in without]
    listed = ",\n".join([*(quoted(name) for name in plain), *results])
    select = f"select {listed}\nfrom {source}"
    if bounded := below_ceiling(grain):
        shown = [bounded.get(name) or quoted(name) for name in (*plain, *(metric.name for metric in grain.metrics))]
        select = f"select {', '.join(shown)}\nfrom (\n{select}\n)"
    return Query.of(rows.connection, select, (*plain, *(metric.name for metric in grain.metrics)))


def _with_columns(expression: Expression, columns: Mapping[str, str]) -> Expression:
    return expand(expression, {name: Name(column) for name, column in columns.items() if name != column})


def view_select(rows: Query, grain: Grain) -> str:
    """The select of facts with their metrics, step by step, for readers and other tools."""
    named = Query(rows.connection, "facts", rows.columns)
    metrics = with_metrics(named, grain)
    return f"with facts as (\n{rows.sql}\n)\n{metrics.sql}"
