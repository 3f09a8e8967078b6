"""`plexlens plan`: a capacity model calibrated from measurements."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plexlens.cli.app import app
from plexlens.cli.options import Catalogue, DatabaseOrSources, Json
from plexlens.cli.output import Format, PageOut, target
from plexlens.cli.selection import selectable, selected_page
from plexlens.cli.sources import Reading, reads_dumps
from plexlens.cli.terminal import progress_bar
from plexlens.errors import UsageError

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection


@app.command()
@selectable
@reads_dumps
def plan(
    sources: DatabaseOrSources,
    *,
    scale: Annotated[
        list[str] | None,
        typer.Option(metavar="FACTOR|CLASS=FACTOR", help="Load as a multiple of the measured load; repeatable."),
    ] = None,
    engines: Annotated[str, typer.Option(metavar="N|+N", help="General-purpose processors of each system.")] = "",
    ziips: Annotated[str, typer.Option(metavar="N|+N", help="zIIPs of each system.")] = "",
    speed: Annotated[
        float, typer.Option(metavar="FACTOR", help="Speed of all processors as a multiple of the measured speed.")
    ] = 1.0,
    members: Annotated[int, typer.Option(metavar="N", help="Number of systems added to share the load.")] = 0,
    member_cost: Annotated[
        float, typer.Option(metavar="PERCENT", help="Increase of CPU time per transaction when systems are added.")
    ] = 0.0,
    until_goals: Annotated[
        bool, typer.Option("--until-goals", help="Print only the load at which each goal breaks.")
    ] = False,
    careful: Annotated[
        bool,
        typer.Option(
            "--careful", help="Also simulate the engines event by event; other waits stay those of the formulas."
        ),
    ] = False,
    scenario: Annotated[
        Path | None,
        typer.Option(
            "--scenario", metavar="FILE", help="Also run this scenario of the sysplex simulator, for comparison."
        ),
    ] = None,
    fixed_background: Annotated[
        bool, typer.Option("--fixed-background", help="Keep work without transactions constant while the load grows.")
    ] = False,
    report_classes: Annotated[
        bool, typer.Option("--report-classes", help="Model report classes instead of service classes.")
    ] = False,
    serves: Annotated[
        list[str] | None,
        typer.Option(
            metavar="REGIONS=CLASS[,CLASS]|REGIONS=*",
            help="Charge the CPU time of the REGIONS class to the classes it serves; * = every class without CPU time "
            "of its own.",
        ),
    ] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS=N", help="Model CLASS as closed: N users with think time instead of an arrival rate."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(metavar="PERCENT", help="Maximum model error before results are marked unreliable.")
    ] = 30.0,
    form: Format = None,
    output: PageOut = None,
    as_json: Json = False,
    catalogue: Catalogue = None,
    reading: Reading,
    selection: Selection,
) -> None:
    """Predict response time and utilisation.

    The prediction is for another load or other processors. It comes from a queueing model that is calibrated with the
    measured intervals and checked against them.
    """
    from plexlens.capacity import Change, to_object
    from plexlens.capacity.page.report import goals_report, plan_report
    from plexlens.capacity.planned import check_tolerance, planned
    from plexlens.metrics.opening import inputs_of
    from plexlens.simulate import read_scenario

    read = [*sources, *([scenario] if scenario is not None else [])]
    where = target("plan", output, form, as_json=as_json, inputs=read)
    check_tolerance(tolerance / 100)
    whole, single = _scales(scale or ())
    change = Change(whole, single, engines, ziips, speed, members, member_cost / 100, fixed_background=fixed_background)
    closed = {name: int(_number("--users", name, count, whole=True)) for name, count in _pairs("--users", users)}
    loaded = read_scenario(scenario) if scenario is not None else None
    name = str(sources[0])
    with progress_bar() as progress, inputs_of(sources, reading, progress, selection) as inputs:
        selections = {"": inputs.selection}
        result = planned(
            inputs,
            name,
            change,
            report_classes=report_classes,
            users=closed,
            serves=dict(_pairs("--serves", serves)),
            tolerance=tolerance / 100,
            careful=careful,
            scenario=loaded,
            progress=progress,
        )
    where.show(
        selected_page(
            lambda: (goals_report if until_goals else plan_report)(result), lambda: to_object(result), selections
        )
    )


def _pairs(option: str, texts: Iterable[str] | None) -> list[tuple[str, str]]:
    pairs = []
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            raise UsageError(
                file="", what=f"{option} {text!r} is not of the form NAME=VALUE", remedy=f"give {option} NAME=VALUE"
            )
        pairs.append((name, value))
    return pairs


def _number(option: str, name: str, text: str, *, whole: bool = False) -> float:
    try:
        number = float(int(text)) if whole else float(text)
    except ValueError:
        number = -1.0
    if not number >= (1.0 if whole else 0.0):
        raise UsageError(
            file="",
            what=f"{option} {name + '=' if name else ''}{text} is not a {'number of users' if whole else 'factor'}",
            remedy="give a whole number from 1" if whole else "give 0 or more, as in --scale 1.3 or --scale DDFHI=1.3",
        )
    return number


def _scales(texts: Iterable[str]) -> tuple[float, dict[str, float]]:
    """The factor for all classes, and the factors for single classes."""
    whole, single = 1.0, {}
    for text in texts:
        name, sign, value = text.partition("=")
        if sign:
            single[name] = _number("--scale", name, value)
        else:
            whole = _number("--scale", "", text)
    return whole, single
