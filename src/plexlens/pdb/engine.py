"""Metadata queries on a DuckDB connection: its tables, their columns, rows as Arrow."""

from __future__ import annotations

import json
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


#: The temporary table of `in_batches`.
_RESULT = '"result in batches"'

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
    # A result larger than this waits for its reader, and before DuckDB 2.0 for ever if several pipelines give its rows.
    # Results are taken whole, except by `in_batches`, so none has to wait.
    connection.execute("SET streaming_buffer_size = '1TiB'")
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


def let_wait(connection: Connection) -> Connection:
    """The connection, whose results wait for their reader from now on: for `in_batches`, and for nothing else."""
    connection.execute("RESET streaming_buffer_size")
    return connection


def in_batches(connection: Connection, sql: str, rows: int) -> pa.RecordBatchReader:
    """The result of a statement in batches of this number of rows; never all of them are in memory.

    A result that several pipelines give is written to a temporary table first, which goes to disk where it has to.

    Parameters
    ----------
    connection
        A connection whose results wait (`let_wait`). It runs nothing else until the last batch is read.
    """
    if not _has_several_pipelines(connection, sql):
        return connection.execute(sql).to_arrow_reader(rows)
    # The table gives each column a name of its own.
    names = [row[0] for row in connection.execute(f"describe {sql}").fetchall()]
    connection.execute(f"create or replace temp table {_RESULT} as {sql}")
    reader = connection.execute(f"from {_RESULT}").to_arrow_reader(rows)
    schema = pa.schema([field.with_name(name) for field, name in zip(reader.schema, names, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, (batch.rename_columns(names) for batch in reader))


def _has_several_pipelines(connection: Connection, sql: str) -> bool:
    """Whether rows of a statement come from a union or from an outer join, with no sort of all rows after it."""
    try:
        row = connection.execute(f"explain (format json) {sql}").fetchone()
    except duckdb.ParserException:
        # It has no plan, as another EXPLAIN has none, or it is wrong: whoever runs it is told.
        return False
    waiting = json.loads(row[1]) if row else []
    while waiting:
        operator = waiting.pop()
        if operator["name"] == "UNION" or operator["extra_info"].get("Join Type") in ("RIGHT", "FULL"):
            return True
        if operator["name"] != "ORDER_BY":
            waiting.extend(operator["children"])
    return False


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
