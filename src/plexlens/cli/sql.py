"""`plexlens sql`: a query over a performance database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.terminal import emit, print_rows
from plexlens.errors import UsageError


@app.command()
def sql(
    pdb: Annotated[Path, typer.Argument(metavar="PDB", help="A performance database.")],
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="One SELECT over its tables and metrics (DuckDB's SQL).")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="A list of row objects on standard output.")] = False,
) -> None:
    """Query a performance database: raw tables under their layouts' names, metrics under their grains' names."""
    import duckdb

    from plexlens.metrics import GRAINS
    from plexlens.metrics.evaluate import attach
    from plexlens.metrics.inputs import Inputs
    from plexlens.pdb import Pdb

    backend = Pdb.open(pdb).connect()
    # Only what the query can mean; a query that names no grain may list or describe all of them.
    named = set(re.findall(r"\w+", query.lower())) & GRAINS.keys()
    attach(Inputs(backend), named or None)
    try:
        table = backend.raw_sql(query).to_arrow_table()
    except duckdb.Error as error:
        raise UsageError(
            file=str(pdb),
            what=f"the query failed: {str(error).strip()}",
            remedy='"show tables" lists the tables, "describe NAME" the columns of one',
        ) from error
    if as_json:
        emit(table.to_pylist())
        return
    print_rows(table.column_names, table.to_pylist())
