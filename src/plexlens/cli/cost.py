"""`plexlens cost`: the four-hour average of capacity used, who is in its peak, and what changes would save."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
def cost(
    sources: DatabaseOrSources,
    *,
    prices: Annotated[
        Path | None,
        typer.Option("--prices", metavar="FILE", help="Prices of the site (TOML); docs/cost.md has the form."),
    ] = None,
    defined: Annotated[
        list[str] | None,
        typer.Option("--defined", metavar="PARTITION=MSU", help="Defined capacity of a partition; repeatable."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="GROUP=MSU",
            help="Limit of a capacity group, or of all partitions of a machine; repeatable.",
        ),
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="PARTITION=WEIGHT", help="Weight of a partition; repeatable."),
    ] = None,
    move: Annotated[
        list[str] | None,
        typer.Option(
            "--move",
            metavar="NAME=HH-HH:HH",
            help="Move a class, job, transaction or plan: 08-12:20 starts work of 08:00-12:00 at 20:00; repeatable.",
        ),
    ] = None,
    ziip: Annotated[
        list[str] | None,
        typer.Option(
            "--ziip",
            metavar="NAME[=PERCENT]",
            help="Move zIIP-eligible time of a class, job, transaction or plan to zIIPs, or PERCENT of its CPU time; "
            "repeatable.",
        ),
    ] = None,
    saves: Annotated[
        list[str] | None,
        typer.Option(
            "--saves",
            metavar="NAME=PERCENT",
            help="Reduce the CPU time of a class, job, transaction or plan by PERCENT, or by SECONDS s/h as pools "
            "states it of a tuned pool; repeatable.",
        ),
    ] = None,
    goals: Annotated[
        bool,
        typer.Option("--goals", help="Judge the goals of service class periods under caps, by the model of plan."),
    ] = False,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Show the four-hour average of MSU, who is in its peak, and what changes would save.

    Each what-if is worked out alone, and several also together. Amounts need a price file; without it results are in
    MSU.
    """
    from plexlens.cost import costed, to_object
    from plexlens.cost.page.report import cost_report
    from plexlens.cost.prices import read_prices
    from plexlens.cost.what_if import Kind, what_if
    from plexlens.metrics.opening import inputs_of

    where = target("cost", output, form, as_json=as_json, inputs=[*sources, *([prices] if prices is not None else [])])
    wanted_changes = (
        (Kind.DEFINED, defined), (Kind.GROUP, group), (Kind.WEIGHT, weight), (Kind.MOVE, move), (Kind.ZIIP, ziip),
        (Kind.SAVES, saves),
    )  # fmt: skip
    changes = [what_if(kind, text) for kind, texts in wanted_changes for text in texts or ()]
    paid = read_prices(prices) if prices is not None else None
    name = str(sources[0])
    with progress_bar() as progress, inputs_of(sources, reading, progress, selection) as inputs:
        selections = {"": inputs.selection}
        result = costed(inputs, name, prices=paid, changes=changes, goals=goals, progress=progress)
    where.show(selected_page(lambda: cost_report(result), lambda: to_object(result), selections))
