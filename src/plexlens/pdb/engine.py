"""Metadata queries on a DuckDB connection: its tables, their columns, rows as Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import duckdb
import pyarrow as pa

Connection: TypeAlias = duckdb.DuckDBPyConnection

#: What a connection shows, as whoever made it says: the PDB, in the state that it was opened in.
_SHOWN: WeakKeyDictionary[Connection, Any] = WeakKeyDictionary()


#: Where connections are noted that are made now; None where nobody wants to know.
_MADE: ContextVar[list[Connection] | None] = ContextVar("made", default=None)


@contextmanager
def noticed() -> Iterator[list[Connection]]:
    """The connections and sessions that are made within, as they are made."""
    connections: list[Connection] = []
    before = _MADE.set(connections)
    try:
        yield connections
    finally:
        _MADE.reset(before)


def show(connection: Connection, what: Any) -> None:
    """Record the object that a connection and its sessions show."""
    _SHOWN[connection] = what


def shown_by(connection: Connection) -> Any:
    """The object that `show` noted for a connection; None if there is none."""
    return _SHOWN.get(connection)


def connect(**settings: Any) -> Connection:
    """A connection to an empty database in memory, whose clock is UTC.

    ``settings`` are those of DuckDB.
    """
    return _set(duckdb.connect(config=settings))


def session_of(connection: Connection) -> Connection:
    """A connection to the same database with separate temporary tables."""
    result = _set(connection.cursor())
    if (shown := shown_by(connection)) is not None:
        show(result, shown)
    return result


def _set(connection: Connection) -> Connection:
    connection.execute("SET TimeZone = 'UTC'")
    if (connections := _MADE.get()) is not None:
        connections.append(connection)
    # A name that is not a table must not mean a variable of the program.
    connection.execute("SET python_enable_replacements = false")
    return connection


def tables_of(connection: Connection, schema: str = "main") -> tuple[str, ...]:
    """Names of the tables and views of the connection's own database, and of its temporary ones."""
    rows = connection.execute(
        "select distinct table_name from information_schema.tables"
        " where (table_catalog = current_database() and table_schema = ?)"
        " or (table_catalog in ('temp', 'system') and table_schema = 'main' and ? = 'main') order by 1",
        [schema, schema],
    ).fetchall()
    return tuple(name for (name,) in rows)


def columns_of(connection: Connection, name: str) -> dict[str, str]:
    """Names and types of the columns of a table, view or query (a table's name as SQL, or a select in brackets)."""
    rows = connection.execute(f"describe select * from {name}").fetchall()
    return {row[0]: row[1] for row in rows}


def arrow(connection: Connection, sql: str) -> pa.Table:
    """The result of a statement as Arrow; DuckDB's own rows need another package for times with a zone."""
    return connection.execute(sql).to_arrow_table()


def rows_of(connection: Connection, sql: str) -> list[dict[str, Any]]:
    """The rows of a statement, by column name."""
    rows: list[dict[str, Any]] = arrow(connection, sql).to_pylist()
    return rows


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def add_table(connection: Connection, name: str, table: pa.Table, *, temporary: bool = False) -> None:
    """Make a table of Arrow data."""
    kind = "temp table" if temporary else "table"
    with read_once(connection, "added_table", table):
        connection.execute(f"create or replace {kind} {quoted(name)} as select * from added_table")


@contextmanager
def read_once(connection: Connection, name: str, table: pa.Table) -> Iterator[None]:
    """Arrow data under a name, for a single statement that reads it once."""
    # As a stream: for a table of Arrow DuckDB loads the query engine of Arrow, which takes longer than the copy.
    connection.register(name, table.__arrow_c_stream__())
    try:
        yield
    finally:
        connection.unregister(name)
