"""`plexlens sql`: a query over a performance database."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSource, engine_memory
from plexlens.cli.output import RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows
from plexlens.cli.selection import selectable
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import err, progress_bar
from plexlens.errors import UsageError
from plexlens.report.forms import ROW_FORMS

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


class Dialect(StrEnum):
    """Engines for which SQL can be printed."""

    DUCKDB = "duckdb"
    SPARK = "spark"


@app.command()
@selectable
@reads_dumps
def sql(
    source: DatabaseOrSource,
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="A single SELECT over tables and metric views, in DuckDB's SQL."),
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
    allow_files: Annotated[
        bool,
        typer.Option("--allow-files", help="Let the query read files besides those of the database (read_csv, glob)."),
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option("--time-limit", metavar="SECONDS", min=0.0, help="Time that the query may take; 0 for any."),
    ] = 600.0,
    memory: Annotated[
        str,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="Memory of the engine, such as 512MiB or 4GiB, beyond which it spills to disk; and of the rows found.",
        ),
    ] = "2GiB",
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
    from plexlens.metrics.user_query import Limits, check_query, confine, run_query
    from plexlens.pdb.opening import database

    if explain is not None:
        if query or as_json or form is not None or output is not None:
            raise UsageError(
                file=str(source),
                what="--explain prints only SQL: it takes no query, no --json, no --format and no -o",
                remedy="leave these out; > FILE keeps the SQL",
            )
        _explain(source, explain, dialect or Dialect.DUCKDB, reading, selection)
        return
    if dialect is not None:
        raise UsageError(
            file=str(source), what="--dialect needs --explain", remedy="add --explain NAME, or leave it out"
        )
    where = target("sql", output, form, as_json=as_json, forms=ROW_FORMS, inputs=[source])
    query = query or ""
    check_query(query, str(source))
    limits = Limits(seconds=time_limit or None, memory=engine_memory(memory))
    with database([source], reading) as (pdb, dumps), progress_bar("%", lines=False) as progress:
        if dumps:
            reading.into(pdb, dumps, progress)
        progress(0, 0, "opening the database")
        connection = pdb.connect(memory_limit=f"{engine_memory(memory) // 1024}KiB")
        if allow_files:
            err.print("warning: --allow-files: the query can read every file that you can read")
        table = run_query(
            connection,
            query,
            str(source),
            selection=selection,
            progress=progress,
            before=None if allow_files else partial(confine, folder=pdb.path),
            refused="a query reads the database alone; --allow-files lets it read files, for queries that you wrote",
            limits=limits,
        )
    where.show(Rows.of(table, str(source)).made)


def _explain(source: Path, name: str, dialect: Dialect, reading: Reading, selection: Selection) -> None:
    """Print the SQL of a metric view."""
    from plexlens.metrics.explained import explained
    from plexlens.metrics.opening import inputs_of

    with (
        progress_bar(lines=False) as progress,
        inputs_of([source], reading, progress, selection) as inputs,
    ):
        typer.echo(explained(inputs, name, dialect.value, file=str(source)), nl=False)
