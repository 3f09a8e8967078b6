"""`plexlens changes`: what changed in every metric, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json
from plexlens.cli.output import Format, PageOut, target
from plexlens.cli.selection import selectable, selected_page
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


@app.command()
@selectable
@reads_dumps
def changes(
    sources: DatabaseOrSources,
    *,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="GRAIN.NAME",
            help="Metric or fact, such as cpu_system.processors_used; repeatable, every metric by default.",
            autocompletion=completion.metrics,
        ),
    ] = None,
    rate: Annotated[
        float,
        typer.Option(
            "--rate",
            min=0.001,
            max=0.5,
            metavar="SHARE",
            help="Share of the told changes that may be false, on average.",
        ),
    ] = 0.05,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Find level shifts, trends, and odd hours and days of every metric against its weekly profile.

    Needs two weeks of data. False alarms are bounded over all series together.
    """
    import os

    from plexlens.changes import changed, to_object
    from plexlens.changes.page.report import changes_report
    from plexlens.metrics.opening import inputs_of

    where = target("changes", output, form, as_json=as_json, inputs=list(sources))
    with progress_bar() as progress, inputs_of(sources, reading, progress, selection) as inputs:
        selections = {"": inputs.selection}
        processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        result = changed(
            inputs, str(sources[0]), metrics=metric or (), rate=rate, processes=processes, progress=progress
        )
    where.show(selected_page(lambda: changes_report(result), lambda: to_object(result), selections))
