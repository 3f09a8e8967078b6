"""`plexlens ways-in`: which way into CICS to take, by what a published study measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.terminal import check_writable, emit, err, write
from plexlens.whole_file import cannot_write


@app.command("ways-in")
def ways_in(
    *,
    rate: Annotated[float, typer.Option(help="Transactions a second.")],
    payload: Annotated[str, typer.Option(help="Data in, and as much out: 1920, 32KB.")] = "32KB",
    connection: Annotated[str, typer.Option(help="persistent, per-request or any.")] = "any",
    security: Annotated[str, typer.Option(help="none, ssl or any.")] = "any",
    engines: Annotated[
        float | None, typer.Option(help="General-purpose processors there are; those of the study if not given.")
    ] = None,
    rank: Annotated[
        str, typer.Option(help="By cpu (all processors) or general (general-purpose processors only).")
    ] = "cpu",
    extrapolate: Annotated[
        bool, typer.Option("--extrapolate", help="Rank ways not measured at that payload or rate too, and say so.")
    ] = False,
    as_json: Json = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write: .html, .txt or .json.")] = None,
) -> None:
    """Rank ways into CICS: CPU per transaction, processors busy, and the limit that binds first."""
    import json

    from plexlens.compare.ways_in import Wish, advise, payload_bytes
    from plexlens.report import render_html, render_text
    from plexlens.report.ways_in import to_object, ways_report

    form = "json" if as_json else output.suffix.removeprefix(".").lower() if output else "txt"
    if form not in ("html", "txt", "json"):
        raise cannot_write(Path(output or ""), f"an advice has no form {output.suffix!r}" if output else "")
    check_writable(output)
    advice = advise(Wish(payload_bytes(payload), rate, connection, security, engines, extrapolate, rank))
    if form == "json" and output is None:
        emit(to_object(advice))
        return
    text = (
        json.dumps(to_object(advice), ensure_ascii=False) + "\n"
        if form == "json"
        else (render_html if form == "html" else render_text)(ways_report(advice))
    )
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)
        err.print(f"written: {output}")
