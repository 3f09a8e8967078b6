"""`plexlens ingest`: add dumps to a performance database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from plexlens.cli.app import app
from plexlens.cli.engine import Computing, computes
from plexlens.cli.options import DATABASE, WAIT, Json, Location, Sources, Wait, located
from plexlens.cli.output import RowsFormat, RowsOut, target
from plexlens.cli.rows import Rows
from plexlens.cli.sources import Reading, reads_dumps, tell
from plexlens.cli.terminal import progress_bar
from plexlens.errors import IngestFailuresError, PlexlensError
from plexlens.report.forms import ROW_FORMS

#: Columns of the outcomes as one table.
_HEADS = ("file", "outcome", "reason", "kind", "records", "rows", "duplicates", "damage", "expired")


@app.command()
@reads_dumps
@computes
def ingest(
    sources: Sources,
    pdb: Annotated[
        Location,
        typer.Option("--pdb", metavar="PDB", parser=located, help=f"{DATABASE}; made if not there."),
    ],
    *,
    as_json: Json = False,
    form: RowsFormat = None,
    output: RowsOut = None,
    wait: Wait = WAIT,
    reading: Reading,
    computing: Computing,
) -> None:
    """Add files to a performance database.

    A file that is already in the database changes nothing. Of overlapping dumps each record is kept once.
    The answer says per file what became of it; as a table (CSV, Excel, Parquet) it has one row per file, and a file
    that cannot be read has the outcome "failed".
    """
    from plexlens.pdb import Pdb
    from plexlens.pdb import ingest as put
    from plexlens.pdb.opening import losses

    where = target("ingest", output, form, as_json=as_json, forms=ROW_FORMS, inputs=sources)
    computing.check_work()
    was_there, is_new = pdb.exists(), not (pdb / "manifest.json").is_file()
    content = Pdb.open_or_create(pdb)
    failures: list[PlexlensError] = []
    try:
        with progress_bar() as progress:
            try:
                results = put(
                    sources,
                    content,
                    progress=progress,
                    layouts=reading.layouts,
                    codepage=reading.codepage,
                    leap_seconds=reading.leap_seconds,
                    expansion=reading.expansion,
                    wait=wait,
                    tell=tell,
                    loaded_by=computing.loaded_by(progress),
                )
            except IngestFailuresError as error:
                results, failures = list(error.results), list(error.failures)
    finally:
        # A database is made for what goes into it: where nothing does, none is left.
        gone = is_new and content.remove_if_empty(folder_was_there=was_there)
    if not gone:
        from plexlens.metrics.rolled.making import bring_up_to_date

        for message in filter(None, [bring_up_to_date(content)]):
            tell(message)
    files = [_result(result) for result in results]
    refused = [{"file": failure.file, "what": failure.what, "remedy": failure.remedy} for failure in failures]
    where.show(
        Rows(
            _HEADS,
            [tuple(file[name] for name in _HEADS) for file in files]
            + [(failure.file, "failed", failure.what, None, 0, 0, 0, 0, 0) for failure in failures],
            lambda: {"pdb": str(pdb), "files": files, "failed": refused},
            lambda: map(_line, files),
            str(pdb),
        ).made
    )
    for message in (*losses(content, results), *map(str, failures)):
        tell(message)
    if failures:
        raise typer.Exit(min(failure.exit_code for failure in failures))


def _result(result: Any) -> dict[str, Any]:
    """The outcome for a file, as a plain object."""
    ingest = result.ingest
    return {
        "file": result.file,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "kind": ingest.kind if ingest else None,
        "records": sum(ingest.records.values()) if ingest else 0,
        "rows": sum(ingest.rows.values()) if ingest else 0,
        "duplicates": ingest.duplicates if ingest else 0,
        "damage": sum(ingest.damage.values()) if ingest else 0,
        "expired": sum(note.count for note in ingest.notes if note.note == "rows_expired") if ingest else 0,
    }


def _line(file: Mapping[str, Any]) -> str:
    """The outcome for a file as a line of text."""
    counts = ("records", "rows", "duplicates", "damage")
    text = ", ".join(f"{file[name]:,} {name}" for name in counts if file[name])
    if file["expired"]:
        text += f"{', ' if text else ''}{file['expired']:,} rows of days that have expired left out"
    why = f": {file['reason']}" if file["reason"] else ""
    return f"{file['file']}: {file['outcome']}{why}" + (f" ({text})" if text else "")
