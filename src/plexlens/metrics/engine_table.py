"""Tables and views in the engine that roll-ups and reports keep what they read in."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import ibis
from ibis.expr.operations import DatabaseTable, InMemoryTable

from plexlens.metrics.inputs import Inputs

_NUMBERS = count(1)


def fresh_name(stem: str) -> str:
    """A name that no table has yet."""
    return f"{stem}_{next(_NUMBERS)}"


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def keep(backend: Any, name: str, table: Any) -> None:
    """Make a temporary table of an expression."""
    if table.op().find(InMemoryTable):
        backend.create_table(name, table, temp=True, overwrite=True)
        return
    # What `create_table` does beyond this statement, such as casts to the expression's own types, is costly.
    backend.raw_sql(f"create or replace temp table {name} as {backend.compile(table)}")
    # A literal such as 1.0, and sums of it, are decimals for DuckDB; facts are floating point numbers.
    columns = backend.raw_sql(f"select column_name, column_type from (describe {name})").fetchall()
    for column, kind in columns:
        if kind.startswith("DECIMAL"):
            backend.raw_sql(f'alter table {name} alter column "{column}" type double')


def view_of(inputs: Inputs, table: Any) -> str:
    """Name of a view of an expression; of the table itself where it is no more than that."""
    node = table.op()
    if isinstance(node, DatabaseTable) and node.namespace.database is None:
        return f'"{node.name}"'
    name = fresh_name("rolled_rows")
    inputs.views.append(name)
    if node.find(InMemoryTable):
        # The engine reads the values from the expression, which has to live as long as the view.
        inputs.backend.create_view(name, table)
        inputs.pinned.append(table)
    else:
        inputs.backend.raw_sql(f"create or replace temp view {name} as {inputs.backend.compile(table)}")
    return name


def view_of_sql(inputs: Inputs, sql: str, columns: Mapping[str, str]) -> Any:
    """An Ibis table over a statement whose columns and types are known."""
    name = fresh_name("rolled_up")
    inputs.views.append(name)
    inputs.backend.raw_sql(f"create or replace temp view {name} as {sql}")
    return DatabaseTable(name=name, schema=ibis.schema(dict(columns)), source=inputs.backend).to_expr()


def drop_views(inputs: Inputs, keep_first: int) -> None:
    """Drop the views that roll-ups have made after the first so many, and what was noted of their tables."""
    dropped = inputs.views[keep_first:]
    del inputs.views[keep_first:]
    for name in reversed(dropped):
        inputs.backend.raw_sql(f"drop view if exists {name}")
    gone = [key for key, value in inputs.kept.items() if isinstance(value, str) and value in dropped]
    tables = {key[0] for key in gone}
    for key in gone:
        del inputs.kept[key]
    for pattern in [key for key in inputs.patterns if key[0] in tables]:
        del inputs.patterns[pattern]
