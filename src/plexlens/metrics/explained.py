"""The SQL of a metric view for readers and other tools: formatted, and in the dialect of another engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics import local_time
from plexlens.metrics.applied_metrics import view_select
from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.facts import from_sources
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.pdb.engine import Connection, literal, quoted
from plexlens.pdb.views import PLAUSIBLE

#: What a relation for a raw table without its implausible values is called.
_MARKED = "plausible_"


def explained(inputs: Inputs, name: str, dialect: str = "duckdb", *, file: str = "") -> str:
    """The statement of a view: raw tables, source by source, facts, metrics.

    It reads raw tables alone: what a connection of Plexlens has besides (raw tables without implausible values, reports
    placed in time) is part of the statement.

    Parameters
    ----------
    inputs
        The raw tables: what the database lacks is null in the statement.
    name
        The grain.
    dialect
        The engine, as sqlglot names it: ``duckdb``, ``spark``.
    file
        What the user called the database, for errors.

    Raises
    ------
    UsageError
        No grain has that name.
    NothingUsableError
        No source of the grain is in the database.
    """
    if name not in GRAINS:
        near = get_close_matches(name, GRAINS, n=3) or sorted(GRAINS)
        raise UsageError(file=file, what=f"there is no metric view {name}", remedy=f"name one of {', '.join(near)}")
    grain = GRAINS[name]
    rows = from_sources(inputs, grain)
    if rows is None:
        kinds = ", ".join(dict.fromkeys(source.kind for source in grain.sources))
        raise NothingUsableError(
            file=file, what=f"no source of {name} is in the database", remedy=f"ingest one of {kinds}"
        )
    view = partial(view_select, grain=grain)
    return _explained(inputs, rows, view, dialect)


def explained_facts(inputs: Inputs, rows: Query, dialect: str) -> str:
    """The statement of facts (`plexlens.metrics.facts.from_sources`), as `explained` gives that of a view."""
    return _explained(inputs, rows, lambda query: f"with facts as (\n{query.sql}\n)\nselect * from facts", dialect)


def _explained(inputs: Inputs, rows: Query, select: Callable[[Query], str], dialect: str) -> str:
    parts, sql = _raw_tables_alone(inputs, rows.sql)
    view = select(Query.of(rows.connection, sql, rows.columns))
    listed = "".join(f"{name} as (\n{part}\n),\n" for name, part in parts.items())
    return laid_out(f"with {listed}{view.removeprefix('with ')}", dialect, inputs.connection)


def _raw_tables_alone(inputs: Inputs, sql: str) -> tuple[dict[str, str], str]:
    """A statement that reads raw tables and the relations given with it, which read raw tables and those before."""
    catalog = re.escape(quoted(inputs.catalog))
    sql = re.sub(rf"{catalog}\.(main|{PLAUSIBLE})\.", r"\1.", sql)
    parts = local_time.relations(inputs.connection, sorted(inputs.names)) if local_time.TABLE in sql else {}
    for table in dict.fromkeys(re.findall(rf'\b{PLAUSIBLE}\."(\w+)"', sql)):
        parts[f"{_MARKED}{table}"] = _definition(inputs.connection, table)
    return parts, re.sub(rf'\b{PLAUSIBLE}\."(\w+)"', rf"{_MARKED}\1", sql)


def _definition(connection: Connection, table: str) -> str:
    """The select of the view that leaves implausible values out of a raw table."""
    from sqlglot import exp, parse_one

    row = connection.execute(
        f"select sql from duckdb_views() where schema_name = {literal(PLAUSIBLE)} and view_name = {literal(table)}"
    ).fetchone()
    assert row is not None, f"{PLAUSIBLE}.{table} is not a view"
    view = parse_one(row[0], read="duckdb")
    assert isinstance(view, exp.Create)
    return str(view.expression.sql("duckdb"))


def laid_out(sql: str, dialect: str = "duckdb", connection: Connection | None = None) -> str:
    """A DuckDB statement in readable lines, in the dialect of an engine.

    Parameters
    ----------
    sql
        The statement.
    dialect
        The engine, as sqlglot names it.
    connection
        Where the statement can be planned; Spark needs to be told columns in some places.
    """
    from sqlglot import parse_one

    tree = parse_one(sql, read="duckdb")
    if dialect != "spark" or connection is None:
        return f"{tree.sql(dialect, pretty=True, copy=False)}\n"
    from plexlens.metrics.spark_dialect import printed

    def columns_of(query: str) -> list[str]:
        return [column for column, *_ in connection.execute(f"describe {query}").fetchall()]

    return f"{printed(tree, columns_of)}\n"
