"""`plexlens records`: the inventory of dumps."""

from __future__ import annotations

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json, Sources
from plexlens.cli.terminal import emit, progress_bar


@app.command()
def records(sources: Sources, as_json: Json = False) -> None:
    """Count the records of dumps by type and system.

    The answer has types, subtypes, systems, time span, damage and implausible values. Nothing is stored.
    """
    from plexlens.ingest import inventory

    with progress_bar(lines=False) as progress:
        found = list(inventory.of_files(sources, progress))
    if as_json:
        emit(inventory.to_json(found))
        return
    for line in inventory.to_lines(found):
        typer.echo(line)
