"""The SQL of a metric view for readers and other tools: formatted, and in the dialect of another engine."""

from __future__ import annotations

from difflib import get_close_matches

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.evaluate import facts, view_select
from plexlens.metrics.inputs import Inputs


def explained(inputs: Inputs, name: str, dialect: str = "duckdb", *, file: str = "") -> str:
    """The statement of a view: raw tables, source by source, facts, metrics.

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
    rows = facts(inputs, grain)
    if rows is None:
        kinds = ", ".join(dict.fromkeys(source.kind for source in grain.sources))
        raise NothingUsableError(
            file=file, what=f"no source of {name} is in the database", remedy=f"ingest one of {kinds}"
        )
    return laid_out(view_select(rows, grain), dialect)


def laid_out(sql: str, dialect: str = "duckdb") -> str:
    """A DuckDB statement in readable lines, in the dialect of an engine."""
    from sqlglot import transpile

    (text,) = transpile(sql, read="duckdb", write=dialect, pretty=True)
    return f"{text}\n"
