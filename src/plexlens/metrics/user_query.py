"""A user's query: checked to only read, then run over the tables of a database and the metrics that it names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.evaluate import attach
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import EVERYTHING, Selection, resolve
from plexlens.metrics.selection.raw import show_selected
from plexlens.pdb.deadline import OverTimeError, ended_after
from plexlens.pdb.engine import Connection, in_batches, let_wait, literal, tables_of
from plexlens.pdb.place import cause_of
from plexlens.pdb.report_views import VALUES, attach_report_views
from plexlens.progress import Progress, silent

_NAMES = '"show tables" lists the tables, "describe NAME" the columns of a table'

#: Words of a query that may list tables and views, or read them by a text that names them.
_LISTING = frozenset({"show", "tables", "views", "columns", "describe", "summarize", "explain", "query", "query_table"})
_LISTING_PREFIXES = ("duckdb_", "information_schema", "pg_", "pragma_", "sqlite_")

#: Rows that the engine hands on at once.
_BATCH = 10_000


@dataclass(frozen=True)
class Limits:
    """Time and memory that a query may take.

    Attributes
    ----------
    seconds
        Elapsed time of the query; None for any.
    memory
        Bytes that the engine may use before it spills to disk, and that the rows of the answer may take; None for any.
    """

    seconds: float | None = None
    memory: int | None = None


#: No limits.
UNLIMITED = Limits()


class TimeLimitError(UsageError):
    """The query took longer than it may."""


class _OverMemoryError(Exception):
    """The rows of the answer take more than they may."""


def run_query(
    connection: Connection,
    query: str,
    name: str,
    *,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    before: Callable[[Connection], object] | None = None,
    refused: str = _NAMES,
    limits: Limits = UNLIMITED,
) -> pa.Table:
    """The rows of a query over the tables of a database and the metrics that it names.

    Parameters
    ----------
    connection
        A connection of its own: views are made in it.
    query
        One SELECT, as `check_query` takes it.
    name
        What the user called the database, for errors.
    selection
        The part of the database that the query sees, not resolved.
    progress
        Told the share done in percent, negative where the engine cannot tell.
    before
        Called with the connection when all is ready for the query: it may take rights away from it.
    refused
        What the user can do about a query that lacks such a right.
    limits
        Time and memory that the query may take; the limit of memory of the engine is that of its connection.

    Raises
    ------
    UsageError
        The query is not one that reads, it fails, or it meets a limit.
    NothingUsableError
        Nothing is selected.
    """
    check_query(query, name)
    words = set(re.findall(r"\w+", query.lower()))
    lists = any(word in _LISTING or word.startswith(_LISTING_PREFIXES) for word in words)
    inputs = Inputs(connection, resolve(selection, connection, name))
    # Only what the query can mean.
    named = words & GRAINS.keys()
    attach(inputs, named if named or not (lists or _reads_unknown(connection, query)) else None)
    if inputs.selection:
        show_selected(connection, inputs.selection, words | {VALUES})
    if VALUES in words or lists or "rmf_" in query.lower():
        attach_report_views(connection)
    # Of the statements of pages the order of joins is known to be good; of this one it is not.
    connection.execute("reset disabled_optimizers")
    connection.execute("set enable_progress_bar = true")
    connection.execute("set enable_progress_bar_print = false")
    let_wait(connection)
    if before is not None:
        before(connection)
    try:
        return _rows(connection, query, progress, limits)
    except duckdb.PermissionException as error:
        raise _failed(name, error, refused) from error
    except OverTimeError as error:
        raise TimeLimitError(
            file=name,
            what=f"the query took more than {limits.seconds:g} s and was stopped",
            remedy="ask for a shorter time or fewer columns, or raise --time-limit (0 for none)",
        ) from error
    except (_OverMemoryError, duckdb.OutOfMemoryException) as error:
        if limits.memory is None:
            raise _failed(name, error) from error
        over = "rows of the answer take" if isinstance(error, _OverMemoryError) else "query needs"
        raise UsageError(
            file=name,
            what=f"the {over} more than the {limits.memory / 2**30:g} GiB of memory that it may use",
            remedy="ask for fewer rows or columns, add up in the query (group by, limit), or raise --memory",
        ) from error
    except duckdb.Error as error:
        raise cause_of(error) or _failed(name, error) from error


def confine(connection: Connection, folder: Path) -> None:
    """Take from a connection every right to files outside of a database's folder, for good."""
    folders = ", ".join(literal(str(path)) for path in dict.fromkeys((folder.resolve(), folder)))
    connection.execute(f"set allowed_directories = [{folders}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _rows(connection: Connection, query: str, progress: Progress, limits: Limits) -> pa.Table:
    """The rows of a query, run in a separate thread so that progress can be shown and the query be stopped."""

    def fetched() -> pa.Table:
        reader = in_batches(connection, query, _BATCH)
        batches, size = [], 0
        for batch in reader:
            batches.append(batch)
            size += batch.nbytes
            if limits.memory is not None and size > limits.memory:
                raise _OverMemoryError
        return pa.Table.from_batches(batches, reader.schema)

    with ThreadPoolExecutor(1) as thread, ended_after(limits.seconds, lambda: [connection]):
        rows = thread.submit(fetched)
        try:
            progress(0, 100, "running the query")
            while not wait([rows], timeout=0.2).done:
                # A negative share: the engine cannot tell.
                progress(round(max(connection.query_progress(), 0.0)), 100, "running the query")
        except BaseException:
            # The engine forgets an interrupt that comes before it has begun with the query.
            while not wait([rows], timeout=0.05).done:
                connection.interrupt()
            raise
        return rows.result()


def nodes_of(connection: Connection, query: str) -> Iterator[dict[str, Any]]:
    """Every node of the engine's own tree of a SELECT, from its root; the engine's complaint if it has no tree."""
    row = connection.execute("select json_serialize_sql(?::varchar)", [query]).fetchone()
    waiting: list[Any] = [json.loads(row[0])] if row else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _reads_unknown(connection: Connection, query: str) -> bool:
    """Whether a query reads a table that is not there: the engine's message suggests names that are similar.

    Of a statement without a tree it is not known what it reads.
    """
    tables: set[str] = set()
    own: set[str] = set()
    for node in nodes_of(connection, query):
        if node.get("error"):
            return True
        if node.get("type") == "BASE_TABLE":
            tables.add(node["table_name"].lower())
        own.update(entry["key"].lower() for entry in node.get("cte_map", {}).get("map", ()))
    return not tables - own <= set(tables_of(connection))


def check_query(query: str, pdb: str) -> None:
    """Refuse anything except a single read-only query.

    Parameters
    ----------
    query
        The text of the query.
    pdb
        The database as the user named it.

    Raises
    ------
    UsageError
        The text is empty, no SQL, several statements, or a statement that does not read.
    """
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise _failed(pdb, error) from error
    # A PIVOT is split into statements that have no text of their own.
    texts = [statement.query.strip() for statement in statements]
    count = sum(map(bool, texts)) + ("" in texts)
    if not count:
        raise UsageError(
            file=pdb,
            what="the query is empty",
            remedy='give one SELECT, such as "select * from smf_record limit 3", or "show tables" to list the tables',
        )
    if count > 1:
        raise UsageError(
            file=pdb,
            what=f"there are {count} statements, and the command runs a single query: {_short(texts[0])} comes first, "
            f"then {_short(texts[1])}",
            remedy="run plexlens sql once per statement",
        )
    kind = statements[-1].type.name
    if kind not in ("SELECT", "EXPLAIN"):
        raise UsageError(
            file=pdb,
            what=f"{_short(texts[-1])} is a statement of type {kind}, and the command only reads",
            remedy="give one SELECT; -o FILE.csv or -o FILE.parquet writes its rows to a file",
        )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= 40 else f'"{line[:37]}..."'


def _failed(pdb: str, error: Exception, remedy: str = _NAMES) -> UsageError:
    said, _, place = str(error).strip().partition("\n\nLINE ")
    number = place.partition(":")[0]
    where = f" (line {number} of the query)" if number.isdigit() and number != "1" else ""
    text = " ".join(said.split())
    return UsageError(file=pdb, what=f"the query failed: {text}{where}", remedy=remedy)
