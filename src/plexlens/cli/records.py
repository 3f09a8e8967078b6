"""`plexlens records`: the inventory of dumps."""

from __future__ import annotations

from plexlens.cli.app import app
from plexlens.cli.options import DatabaseOrSources, Json
from plexlens.cli.output import RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.report.forms import ROW_FORMS


@app.command()
@reads_dumps
def records(
    sources: DatabaseOrSources,
    *,
    as_json: Json = False,
    form: RowsFormat = None,
    output: RowsOut = None,
    reading: Reading,
) -> None:
    """Count records by type and system.

    The answer has types, subtypes, systems, time span, damage and implausible values. As a table (CSV, Excel, Parquet)
    it has one row per file, type and system. Nothing is stored.
    """
    from plexlens.ingest import inventory
    from plexlens.pdb.opening import database
    from plexlens.report.writers.names import printable

    where = target("records", output, form, as_json=as_json, forms=ROW_FORMS, inputs=sources)
    with database(sources, reading) as (pdb, files), progress_bar(lines=False) as progress:
        if files:
            inventories = list(
                inventory.of_files(
                    files,
                    progress,
                    layouts=reading.layouts,
                    codepage=reading.codepage,
                    leap_seconds=reading.leap_seconds,
                    expansion=reading.expansion,
                )
            )
        else:
            from plexlens.pdb.inventory import of_database

            inventories = of_database(pdb)
    where.show(
        Rows(
            inventory.HEADS,
            inventory.to_rows(inventories),
            lambda: inventory.to_json(inventories),
            lambda: map(printable, inventory.to_lines(inventories)),
        ).made
    )
