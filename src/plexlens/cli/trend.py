"""`plexlens trend`: a metric by hour, shift, day, week or month, with its peaks."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json, Where
from plexlens.cli.output import Format, PageOut, target
from plexlens.cli.selection import selectable, selected_page
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


class Every(StrEnum):
    """Lengths of time of a row."""

    HOUR = "hour"
    SHIFT = "shift"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@app.command()
@selectable
@reads_dumps
def trend(
    sources: DatabaseOrSources,
    *,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            metavar="GRAIN.NAME",
            help="Metric or fact, such as cpu_system.processors_used; plexlens metrics lists them.",
            autocompletion=completion.metrics,
        ),
    ],
    every: Annotated[
        Every,
        typer.Option(
            "--every", help="Time covered by a row; weeks begin on Monday, and a shift is the one that --shift selects."
        ),
    ] = Every.DAY,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="KEY[,KEY]", help="Keys to keep apart, such as system; repeatable."),
    ] = None,
    where: Where = "",
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Show a metric by hour, shift, day, week or month, with its peaks.

    A row has the value over its time and the intervals with the highest and the lowest value. --shift selects the hours
    of a shift; --every shift then has a row for each, also for one that runs past midnight.
    """
    from plexlens.metrics.opening import inputs_of
    from plexlens.metrics.question import Question
    from plexlens.metrics.trend import trend as trend_of
    from plexlens.metrics.trend import trend_by_shift
    from plexlens.report.of_database import clock_of
    from plexlens.report.trend import to_object, trend_report

    where_to = target("trend", output, form, as_json=as_json, inputs=list(sources))
    grain, dot, column = metric.partition(".")
    if not (grain and dot and column):
        raise UsageError(
            file="",
            what=f"--metric {metric!r} is not of the form GRAIN.NAME",
            remedy="give a grain and a metric of it, such as cpu_system.processors_used",
        )
    keys = [name.strip() for text in by or () for name in text.split(",") if name.strip()]
    question = Question.of(
        grain, by=keys, every="day" if every is Every.SHIFT else every.value, columns=[column], where=where
    )
    name = str(sources[0])
    with progress_bar() as progress, inputs_of(sources, reading, progress, selection) as inputs:
        clock = clock_of(inputs)
        periods = (trend_by_shift if every is Every.SHIFT else trend_of)(
            inputs, question, name, utc_offset=clock.offset or 0.0
        )
        selections = {"": inputs.selection}
    where_to.show(
        selected_page(
            lambda: trend_report(name, question, periods, clock, every.value),
            lambda: to_object(question, periods, every.value),
            selections,
        )
    )
