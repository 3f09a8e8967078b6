"""`plexlens compare`: two runs side by side, or a prediction against the measurement that followed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli import completion
from plexlens.cli.app import app
from plexlens.cli.options import ONE_SOURCE, Catalogue, Json
from plexlens.cli.output import Format, PageOut, page, target
from plexlens.cli.selection import selectable
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


@app.command()
@selectable
@reads_dumps
def compare(
    base: Annotated[
        str,
        typer.Argument(
            metavar="BASE",
            help=f"{ONE_SOURCE} (PATH, PATH@2008-09-03, PATH@FROM..TO); a run of a study (STUDY:TABLE or "
            "STUDY:TABLE:ROW); or a prediction saved by plexlens pools (FILE.json).",
            autocompletion=completion.runs,
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="The run to compare with BASE, named in the same way.", autocompletion=completion.runs
        ),
    ],
    *,
    output: PageOut = None,
    form: Format = None,
    as_json: Json = False,
    chain: Annotated[
        str,
        typer.Option(
            metavar="STUDY:TABLE",
            help="Take BASE and NEW as releases, and chain the ITR ratios of the pairs of runs in this table.",
        ),
    ] = "",
    rate_bound: Annotated[
        float, typer.Option(metavar="PERCENT", help="Maximum difference of rates between comparable runs.")
    ] = 5.0,
    mix_bound: Annotated[
        float, typer.Option(metavar="PERCENT", help="Maximum share of the work that moved between objects.")
    ] = 5.0,
    object_bound: Annotated[
        float,
        typer.Option(metavar="PERCENT", help="Maximum share of the work done by objects that appear in only one run."),
    ] = 1.0,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Compare two runs, or a prediction and a run.

    The answer lists differences of the environment, whether the runs did the same work, what changed and why, and every
    number by group.
    """
    from plexlens.compare.page.asked import compared
    from plexlens.compare.runs.comparability import Bounds

    read = [Path(place) for text in (base, new) for place in (text, text.rpartition("@")[0]) if place]
    where = target("compare", output, form, as_json=as_json, inputs=read)
    bounds = Bounds(
        _share("rate-bound", rate_bound), _share("mix-bound", mix_bound), _share("object-bound", object_bound)
    )
    with progress_bar() as progress:
        comparison = compared(
            base, new, bounds=bounds, chain=chain, reading=reading, selection=selection, progress=progress
        )
        where.show(page(lambda: comparison.report, comparison.to_json))


def _share(name: str, value: float) -> float:
    if not 0 <= value <= 100:
        raise UsageError(
            file="",
            what=f"--{name} {value:g} is outside 0 to 100 percent",
            remedy=f"give a percentage, as in --{name} 5",
        )
    return value / 100
