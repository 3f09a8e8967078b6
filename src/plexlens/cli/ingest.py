"""`plexlens ingest`: add dumps to a performance database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.options import WAIT, Json, Sources, Wait
from plexlens.cli.sources import Reading, reads_dumps, tell
from plexlens.cli.terminal import emit, progress_bar
from plexlens.errors import IngestFailuresError, PlexlensError


@app.command()
@reads_dumps
def ingest(
    sources: Sources,
    pdb: Annotated[
        Path, typer.Option("--pdb", metavar="PDB", help="Performance database: a folder, created if it does not exist.")
    ],
    *,
    as_json: Json = False,
    wait: Wait = WAIT,
    reading: Reading,
) -> None:
    """Add files to a performance database.

    A file that is already in the database changes nothing. Of overlapping dumps each record is kept once.
    """
    from plexlens.pdb import Pdb
    from plexlens.pdb import ingest as put
    from plexlens.pdb.opening import losses

    was_there, is_new = pdb.exists(), not (pdb / "manifest.json").is_file()
    held = Pdb.open_or_create(pdb)
    failures: list[PlexlensError] = []
    try:
        with progress_bar() as progress:
            try:
                results = put(
                    sources,
                    held,
                    progress=progress,
                    layouts=reading.layouts,
                    codepage=reading.codepage,
                    leap_seconds=reading.leap_seconds,
                    wait=wait,
                    tell=tell,
                )
            except IngestFailuresError as error:
                results, failures = list(error.results), list(error.failures)
    finally:
        # A database is made for what goes into it: where nothing does, none is left.
        gone = is_new and held.remove_if_empty(folder_was_there=was_there)
    if not gone:
        from plexlens.metrics.rolled.making import bring_up_to_date

        for message in filter(None, [bring_up_to_date(held)]):
            tell(message)
    if as_json:
        emit(
            {
                "pdb": str(pdb),
                "files": [_result(result) for result in results],
                "failed": [
                    {"file": failure.file, "what": failure.what, "remedy": failure.remedy} for failure in failures
                ],
            }
        )
    else:
        for result in results:
            made = _result(result)
            counts = ("records", "rows", "duplicates", "damage")
            told = ", ".join(f"{made[name]:,} {name}" for name in counts if made[name])
            if made["expired"]:
                told += f"{', ' if told else ''}{made['expired']:,} rows of days that have expired left out"
            why = f": {result.reason}" if result.reason else ""
            typer.echo(f"{result.file}: {result.outcome.value}{why}" + (f" ({told})" if told else ""))
    for message in (*losses(held, results), *map(str, failures)):
        tell(message)
    if failures:
        raise typer.Exit(min(failure.exit_code for failure in failures))


def _result(result: Any) -> dict[str, Any]:
    """The outcome for a file, as a plain object."""
    made = result.ingest
    return {
        "file": result.file,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "kind": made.kind if made else None,
        "records": sum(made.records.values()) if made else 0,
        "rows": sum(made.rows.values()) if made else 0,
        "duplicates": made.duplicates if made else 0,
        "damage": sum(made.damage.values()) if made else 0,
        "expired": sum(note.count for note in made.notes if note.note == "rows_expired") if made else 0,
    }
