"""A query of a user over a database: checked to be one that reads, and run over its tables and the metrics it names."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import duckdb
import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.evaluate import attach
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import EVERYTHING, Selection, resolve
from plexlens.metrics.selection.raw import show_selected
from plexlens.pdb.engine import Connection, literal
from plexlens.pdb.report_views import VALUES, attach_report_views
from plexlens.progress import Progress, silent

_NAMES = '"show tables" lists the tables, "describe NAME" the columns of a table'


def run_query(
    connection: Connection,
    query: str,
    name: str,
    *,
    selection: Selection = EVERYTHING,
    progress: Progress = silent,
    before: Callable[[Connection], object] | None = None,
    refused: str = _NAMES,
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

    Raises
    ------
    UsageError
        The query is not one that reads, or it fails.
    NothingUsableError
        Nothing is selected.
    """
    check_query(query, name)
    # Only what the query can mean; a query that names no grain may list or describe all of them.
    words = set(re.findall(r"\w+", query.lower()))
    inputs = Inputs(connection, resolve(selection, connection, name))
    attach(inputs, words & GRAINS.keys() or None)
    if inputs.selection:
        show_selected(connection, inputs.selection, words | {VALUES})
    if VALUES in words or not words.isdisjoint(("tables", "describe", "show")) or "rmf_" in query.lower():
        attach_report_views(connection)
    # Of the statements of pages the order of joins is known to be good; of this one it is not.
    connection.execute("reset disabled_optimizers")
    connection.execute("set enable_progress_bar = true")
    connection.execute("set enable_progress_bar_print = false")
    if before is not None:
        before(connection)
    try:
        return _rows(connection, query, progress)
    except duckdb.PermissionException as error:
        raise _failed(name, error, refused) from error
    except duckdb.Error as error:
        raise _failed(name, error) from error


def confine(connection: Connection, folder: Path) -> None:
    """Take from a connection every right to files outside of a database's folder, for good."""
    folders = ", ".join(literal(str(path)) for path in dict.fromkeys((folder.resolve(), folder)))
    connection.execute(f"set allowed_directories = [{folders}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _rows(connection: Connection, query: str, progress: Progress) -> pa.Table:
    """The rows of a query, run in a separate thread so that progress can be shown."""
    with ThreadPoolExecutor(1) as thread:
        rows = thread.submit(lambda: connection.execute(query).to_arrow_table())
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
