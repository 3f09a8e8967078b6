"""`plexlens ways-in`: which way into CICS to take, by what a published study measured."""

from __future__ import annotations

from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.output import Format, PageOut, page, target


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
    form: Format = None,
    output: PageOut = None,
) -> None:
    """Rank ways into CICS: CPU per transaction, processors busy, and the limit that binds first."""
    from plexlens.compare.ways_in import Wish, advise, payload_bytes
    from plexlens.report.ways_in import to_object, ways_report

    where = target("ways-in", output, form, as_json=as_json)
    advice = advise(Wish(payload_bytes(payload), rate, connection, security, engines, extrapolate, rank))
    where.show(page(lambda: ways_report(advice), lambda: to_object(advice)))
