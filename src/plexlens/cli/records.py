"""`plexlens records`: the inventory of dumps."""

from __future__ import annotations

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json, Sources
from plexlens.cli.terminal import emit


@app.command()
def records(sources: Sources, as_json: Json = False) -> None:
    """What is in dumps: records by type and subtype, systems, time, damage, values that cannot be. Nothing is kept."""
    from plexlens.ingest import inventory

    found = list(inventory.of_files(sources))
    if as_json:
        emit(inventory.to_json(found))
        return
    for line in inventory.to_lines(found):
        typer.echo(line)
