"""`plexlens why`: a metric in two periods, the parts that moved it, and the changes behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json, Where
from plexlens.cli.output import Format, PageOut, target
from plexlens.cli.selection import selectable, selected_page
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


@app.command()
@selectable
@reads_dumps
def why(
    sources: DatabaseOrSources,
    *,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="GRAIN.NAME",
            help="Metric, such as db2_accounting.class2_elapsed_per_commit; plexlens metrics lists them.",
            autocompletion=completion.metrics,
        ),
    ],
    at: Annotated[
        str,
        typer.Option("--at", metavar="PERIOD", help="The period to explain: a day (2026-01-12), or FROM..TO."),
    ],
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="PERIOD",
            help="The period to compare it with; the same time a week earlier by default, or else the time of the "
            "same length just before.",
        ),
    ] = "",
    where: Where = "",
    findings: Annotated[bool, typer.Option("--findings/--no-findings", help="Check the rules in both periods.")] = True,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Say why a metric changed from one period to another.

    The answer divides the change among objects and parts, and lists the changes behind it, ranked, with the command
    that shows each. A change that may be chance is called that.
    """
    from plexlens.metrics.opening import inputs_of
    from plexlens.report.of_database import clock_of
    from plexlens.why.answer import why as why_of
    from plexlens.why.page.json_object import to_object
    from plexlens.why.page.report import why_report

    where_to = target("why", output, form, as_json=as_json, inputs=list(sources))
    name = str(sources[0])
    with progress_bar() as progress, inputs_of(sources, reading, progress) as inputs:
        clock = clock_of(inputs)
        answer = why_of(
            inputs, metric, at, against, name=name, where=where, selection=selection, findings=findings,
            progress=progress,
        )  # fmt: skip
    where_to.show(selected_page(lambda: why_report(answer, clock), lambda: to_object(answer), answer.selections))
