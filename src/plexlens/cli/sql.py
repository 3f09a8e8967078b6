"""`plexlens sql`: a query over a performance database."""

from __future__ import annotations

import csv
import io
import re
from concurrent.futures import ThreadPoolExecutor, wait
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue
from plexlens.cli.output import Form, target
from plexlens.cli.selection import selectable
from plexlens.cli.terminal import hexadecimal, json_text, progress_bar, table_text
from plexlens.errors import UsageError
from plexlens.progress import Progress

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from plexlens.metrics.selection import Selection


class Dialect(StrEnum):
    """Engines whose SQL can be printed."""

    DUCKDB = "duckdb"
    SPARK = "spark"


_FORMS = (Form.TEXT, Form.JSON, Form.CSV, Form.PARQUET)
_NAMES = '"show tables" lists the tables, "describe NAME" the columns of one'


@app.command()
@selectable
def sql(
    pdb: Annotated[Path, typer.Argument(metavar="PDB", help="A performance database (see plexlens ingest).")],
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
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="File to write; its ending names the form: .csv, .json, .parquet, .txt.",
        ),
    ] = None,
    catalogue: Catalogue = None,
    selection: Selection,
) -> None:
    """Query a performance database with SQL.

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
    from plexlens.pdb import Pdb
    from plexlens.pdb.report_views import VALUES, attach_report_views

    if explain is not None:
        if query or as_json or output is not None:
            raise UsageError(
                file=str(pdb),
                what="--explain prints SQL alone: it takes no query, no --json and no -o",
                remedy="leave these out; > FILE keeps the SQL",
            )
        _explain(pdb, explain, dialect or Dialect.DUCKDB, selection)
        return
    if dialect is not None:
        raise UsageError(file=str(pdb), what="--dialect is of --explain", remedy="add --explain NAME, or leave it out")
    where = target("sql", output, as_json=as_json, forms=_FORMS)
    database = Pdb.open(pdb)
    query = query or ""
    check_query(query, str(pdb))
    with progress_bar("%", lines=False) as progress:
        progress(0, 0, "opening the database")
        connection = database.connect()
        # Only what the query can mean; a query that names no grain may list or describe all of them.
        words = set(re.findall(r"\w+", query.lower()))
        inputs = Inputs(connection, resolve(selection, connection, str(pdb)))
        attach(inputs, words & GRAINS.keys() or None)
        if inputs.selection:
            show_selected(connection, inputs.selection, words | {VALUES})
        if VALUES in words or not words.isdisjoint(("tables", "describe", "show")) or "rmf_" in query.lower():
            attach_report_views(connection)
        try:
            table = _rows(connection, query, progress)
        except duckdb.Error as error:
            raise _failed(pdb, error) from error
    where.show(lambda form: _written(form, table, pdb))


def _explain(pdb: Path, name: str, dialect: Dialect, selection: Selection) -> None:
    """Print the SQL of a metric view."""
    from plexlens.metrics.explained import explained
    from plexlens.metrics.inputs import Inputs
    from plexlens.metrics.selection import resolve
    from plexlens.pdb import Pdb

    connection = Pdb.open(pdb).connect()
    inputs = Inputs(connection, resolve(selection, connection, str(pdb)))
    typer.echo(explained(inputs, name, dialect.value, file=str(pdb)), nl=False)


def _rows(connection: duckdb.DuckDBPyConnection, query: str, progress: Progress) -> pa.Table:
    """The rows of a query, which a thread of its own waits for while this one shows how far it is."""
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
    """Refuse what is not one query that reads.

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


def _written(form: Form, table: pa.Table, pdb: Path) -> str | bytes:
    names = table.column_names
    if form is Form.PARQUET:
        import pyarrow.parquet as pq

        _check_names(names, pdb, "a Parquet file")
        file = io.BytesIO()
        pq.write_table(table, file)
        return file.getvalue()
    if form is Form.JSON:
        _check_names(names, pdb, "a JSON object")
        return json_text(table.to_pylist())
    columns = [column.to_pylist() for column in table.columns]
    rows = list(zip(*columns, strict=True))
    if form is Form.CSV:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_csv_cell(value) for value in row] for row in rows)
        return text.getvalue()
    return table_text(names, rows)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bytes):
        return hexadecimal(value)
    return json_text(value).rstrip("\n") if isinstance(value, list | dict) else value


def _check_names(names: list[str], pdb: Path, what: str) -> None:
    """Refuse columns of the same name where one would replace the other."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            file=str(pdb),
            what=f"several columns of the query are named {', '.join(twice)}, and {what} keeps one column per name",
            remedy="give each column its own name with AS",
        )
