"""`plexlens sql`: a query over a performance database."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor, wait
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSource
from plexlens.cli.output import ROW_FORMS, RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows
from plexlens.cli.selection import selectable
from plexlens.cli.sources import Reading, database, inputs_of, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError
from plexlens.progress import Progress

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from plexlens.metrics.selection import Selection


class Dialect(StrEnum):
    """Engines for which SQL can be printed."""

    DUCKDB = "duckdb"
    SPARK = "spark"


_NAMES = '"show tables" lists the tables, "describe NAME" the columns of a table'


@app.command()
@selectable
@reads_dumps
def sql(
    source: DatabaseOrSource,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="One SELECT over its tables and metrics, in DuckDB's SQL.")
    ] = None,
    *,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="NAME", help="Print the SQL of a metric view, such as coupling_structure, and no rows."
        ),
    ] = None,
    dialect: Annotated[
        Dialect | None,
        typer.Option("--dialect", help="With --explain: the engine whose SQL is printed; DuckDB by default."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of row objects.")] = False,
    form: RowsFormat = None,
    output: RowsOut = None,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Query a performance database, or dumps and reports, with SQL.

    Raw tables have the names of their record layouts, metrics those of their grains. Values are in base units: seconds,
    bytes, counts, fractions. Binary columns are shown in hexadecimal. With --explain the SQL of a metric view is
    printed instead: it runs over the raw tables, here or in another tool.
    """
    import duckdb

    from plexlens.metrics import GRAINS
    from plexlens.metrics.evaluate import attach
    from plexlens.metrics.inputs import Inputs
    from plexlens.metrics.selection import resolve
    from plexlens.metrics.selection.raw import show_selected
    from plexlens.pdb.report_views import VALUES, attach_report_views

    if explain is not None:
        if query or as_json or form is not None or output is not None:
            raise UsageError(
                file=str(source),
                what="--explain prints SQL alone: it takes no query, no --json, no --format and no -o",
                remedy="leave these out; > FILE keeps the SQL",
            )
        _explain(source, explain, dialect or Dialect.DUCKDB, reading, selection)
        return
    if dialect is not None:
        raise UsageError(
            file=str(source), what="--dialect is of --explain", remedy="add --explain NAME, or leave it out"
        )
    where = target("sql", output, form, as_json=as_json, forms=ROW_FORMS, inputs=[source])
    query = query or ""
    check_query(query, str(source))
    with database([source]) as (pdb, dumps), progress_bar("%", lines=False) as progress:
        if dumps:
            reading.into(pdb, dumps, progress)
        progress(0, 0, "opening the database")
        connection = pdb.connect()
        # Only what the query can mean; a query that names no grain may list or describe all of them.
        words = set(re.findall(r"\w+", query.lower()))
        inputs = Inputs(connection, resolve(selection, connection, str(source)))
        attach(inputs, words & GRAINS.keys() or None)
        if inputs.selection:
            show_selected(connection, inputs.selection, words | {VALUES})
        if VALUES in words or not words.isdisjoint(("tables", "describe", "show")) or "rmf_" in query.lower():
            attach_report_views(connection)
        # Of the statements of pages the order of joins is known to be good; of this one it is not.
        connection.execute("reset disabled_optimizers")
        try:
            table = _rows(connection, query, progress)
        except duckdb.Error as error:
            raise _failed(source, error) from error
    where.show(Rows.of(table, str(source)).made)


def _explain(source: Path, name: str, dialect: Dialect, reading: Reading, selection: Selection) -> None:
    """Print the SQL of a metric view."""
    from plexlens.metrics.explained import explained

    with (
        progress_bar(lines=False) as progress,
        inputs_of([source], reading, progress, selection) as inputs,
    ):
        typer.echo(explained(inputs, name, dialect.value, file=str(source)), nl=False)


def _rows(connection: duckdb.DuckDBPyConnection, query: str, progress: Progress) -> pa.Table:
    """The rows of a query, run in a separate thread so that progress can be shown."""
    connection.execute("set enable_progress_bar = true")
    connection.execute("set enable_progress_bar_print = false")
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
    import duckdb

    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise _failed(Path(pdb), error) from error
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
            what=f"there are {count} statements, and the command runs one query: {_short(texts[0])} comes first, "
            f"then {_short(texts[1])}",
            remedy="run plexlens sql once for each of them",
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


def _failed(pdb: Path, error: Exception) -> UsageError:
    said, _, place = str(error).strip().partition("\n\nLINE ")
    number = place.partition(":")[0]
    where = f" (line {number} of the query)" if number.isdigit() and number != "1" else ""
    text = " ".join(said.split())
    return UsageError(file=str(pdb), what=f"the query failed: {text}{where}", remedy=_NAMES)
