"""`plexlens forecast`: the peak hour of coming days, with the error of the forecast."""

from __future__ import annotations

from enum import StrEnum
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


class What(StrEnum):
    """Kinds of series."""

    CPU = "cpu"
    MSU = "msu"
    DASD = "dasd"
    STRUCTURE = "structure"


@app.command()
@selectable
@reads_dumps
def forecast(
    sources: DatabaseOrSources,
    *,
    days: Annotated[int, typer.Option("--days", min=1, max=366, metavar="N", help="Days ahead.")] = 28,
    what: Annotated[
        list[What] | None, typer.Option("--what", help="Kinds of series; repeatable, all of them by default.")
    ] = None,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Forecast the peak hour of each day of processors, MSU, DASD and structures.

    The forecast is tested on weeks held out, and its error is shown next to that of last week's value, which is used
    where nothing does better.
    """
    from plexlens.forecast import forecasted, to_object
    from plexlens.forecast.page.report import forecast_report
    from plexlens.metrics.opening import inputs_of
    from plexlens.report.of_database import clock_of

    where = target("forecast", output, form, as_json=as_json, inputs=list(sources))
    name = str(sources[0])
    with progress_bar() as progress, inputs_of(sources, reading, progress, selection) as inputs:
        selections = {"": inputs.selection}
        result = forecasted(
            inputs,
            name,
            days=days,
            kinds=[kind.value for kind in what or ()],
            utc_offset=clock_of(inputs).offset,
            progress=progress,
        )
    where.show(selected_page(lambda: forecast_report(result), lambda: to_object(result), selections))
