"""`plexlens ways-in`: rank the ways into CICS with the measurements of a published study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Json
from plexlens.cli.output import Format, PageOut, page, target


@app.command("ways-in")
def ways_in(
    *,
    rate: Annotated[float, typer.Option(metavar="N", help="Transactions per second.")],
    payload: Annotated[
        str, typer.Option(metavar="SIZE", help="Data sent, and the same amount received: 1920, 32KB.")
    ] = "32KB",
    connection: Annotated[
        str, typer.Option(metavar="KIND", help="Connection: persistent, per-request or any.")
    ] = "any",
    security: Annotated[str, typer.Option(metavar="KIND", help="Security: none, ssl or any.")] = "any",
    engines: Annotated[
        float | None,
        typer.Option(metavar="N", help="General-purpose processors of the system (default: those of the study)."),
    ] = None,
    rank: Annotated[
        str,
        typer.Option(metavar="KEY", help="Rank by cpu (all processors) or general (general-purpose processors only)."),
    ] = "cpu",
    extrapolate: Annotated[
        bool,
        typer.Option(
            "--extrapolate",
            help="Also rank ways that were not measured at this payload or rate, marked as extrapolated.",
        ),
    ] = False,
    study: Annotated[
        Path | None,
        typer.Option(
            "--study", metavar="FOLDER", help="Study of your own with a ways_in.toml, as lab and run --way write."
        ),
    ] = None,
    as_json: Json = False,
    form: Format = None,
    output: PageOut = None,
) -> None:
    """Rank the ways into CICS for a workload.

    For each way: CPU time per transaction, busy processors, and the limit that is reached first.
    """
    from plexlens.compare.analysis.ways_in import Wish, advise, payload_bytes
    from plexlens.compare.audit.audit import audit
    from plexlens.compare.page.ways_in import to_object, ways_report
    from plexlens.compare.study.reader import load_study

    where = target("ways-in", output, form, as_json=as_json)
    wish = Wish(payload_bytes(payload), rate, connection, security, engines, extrapolate, rank)
    advice = advise(wish, None if study is None else audit(load_study(str(study))))
    where.show(page(lambda: ways_report(advice), lambda: to_object(advice)))
