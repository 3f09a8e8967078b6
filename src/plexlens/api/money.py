"""Questions about money and growth: the cost of software, and the peak hour of coming days."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plexlens.api.answers import Page
from plexlens.api.selecting import AnyPath, Moment, Names, names_of, selection_of
from plexlens.api.source import Source, address_of, opened
from plexlens.cost import costed
from plexlens.cost import to_object as cost_object
from plexlens.cost.page.report import cost_report
from plexlens.cost.prices import read_prices
from plexlens.cost.what_if import Kind, WhatIf, what_if
from plexlens.errors import UsageError
from plexlens.forecast import forecasted
from plexlens.forecast import to_object as forecast_object
from plexlens.forecast.page.report import forecast_report
from plexlens.forecast.series import KINDS
from plexlens.report.blocks.selection import selection_json, under_selection
from plexlens.report.of_database import clock_of


def software_cost(
    source: Source,
    *,
    prices: AnyPath | None = None,
    defined: Mapping[str, float] | None = None,
    group: Mapping[str, float] | None = None,
    weight: Mapping[str, float] | None = None,
    move: Names = (),
    ziip: Mapping[str, float | None] | None = None,
    saves: Mapping[str, float | str] | None = None,
    goals: bool = False,
    start: Moment | None = None,
    end: Moment | None = None,
    systems: Names = (),
    shifts: Names = (),
    classes: Names = (),
    site: AnyPath | None = None,
) -> Page:
    """Peaks of the four-hour average of MSU, who is in them, and what changes would save, as `plexlens cost`.

    Parameters
    ----------
    source
        A `Database`, or the path of one or of a dump.
    prices
        The site's price file.
    defined, group
        Defined capacity of partitions, and limits of capacity groups or of whole machines, MSU by name.
    weight
        Weights by partition.
    move
        Work that moves, as texts in the form of the option: ``["BATCHMED=08-12:20"]``.
    ziip
        Share of the CPU time that moves to zIIPs by class, job, transaction or plan, 0 to 1; None for its eligible
        time.
    saves
        Share of the CPU time that is saved by class, job, transaction or plan, 0 to 1, or seconds per hour as a text:
        ``"120 s/h"``.
    goals
        Whether the goals of service class periods under caps are judged.
    start, end, systems, shifts, classes, site
        The part of the data, as in `Database.metric`.

    Raises
    ------
    PlexlensError
        As the command.
    """
    selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
    limits = ((Kind.DEFINED, defined), (Kind.GROUP, group), (Kind.WEIGHT, weight))
    changes = [what_if(kind, f"{name}={value!r}") for kind, values in limits for name, value in (values or {}).items()]
    changes += [what_if(Kind.MOVE, text) for text in ([move] if isinstance(move, str) else move)]
    changes += [_share(Kind.ZIIP, name, share) for name, share in (ziip or {}).items()]
    changes += [_share(Kind.SAVES, name, share) for name, share in (saves or {}).items()]
    paid = read_prices(Path(prices)) if prices is not None else None
    with opened(source, selection) as (inputs, name):
        selections = {"": inputs.selection}
        result = costed(inputs, name, prices=paid, changes=changes, goals=goals)
    return Page(
        lambda: under_selection(cost_report(result), selections),
        lambda: cost_object(result) | {"selection": selection_json(selections)},
        inputs=[Path(address_of(source))],
    )


def forecast_peaks(
    source: Source,
    *,
    days: int = 28,
    what: Names = (),
    start: Moment | None = None,
    end: Moment | None = None,
    systems: Names = (),
    shifts: Names = (),
    classes: Names = (),
    site: AnyPath | None = None,
) -> Page:
    """The peak hour of coming days of processors, MSU, DASD and structures, as `plexlens forecast`.

    Parameters
    ----------
    source
        A `Database`, or the path of one or of a dump.
    days
        Days ahead, 1 to 366.
    what
        Kinds of series: ``cpu``, ``msu``, ``dasd``, ``structure``; all by default.
    start, end, systems, shifts, classes, site
        The part of the data, as in `Database.metric`.

    Raises
    ------
    PlexlensError
        As the command.
    """
    selection = selection_of(start=start, end=end, systems=systems, shifts=shifts, classes=classes, site=site)
    kinds, valid = names_of(what), [kind.name for kind in KINDS]
    for kind in kinds:
        if kind not in valid:
            raise UsageError(
                file="", what=f"there is no kind of series {kind!r}", remedy=f"name some of {', '.join(valid)}"
            )
    if not 1 <= days <= 366:
        raise UsageError(file="", what=f"{days} days cannot be forecast", remedy="give 1 to 366 days")
    with opened(source, selection) as (inputs, name):
        selections = {"": inputs.selection}
        result = forecasted(inputs, name, days=days, kinds=kinds, utc_offset=clock_of(inputs).offset)
    return Page(
        lambda: under_selection(forecast_report(result), selections),
        lambda: forecast_object(result) | {"selection": selection_json(selections)},
        inputs=[Path(address_of(source))],
    )


def _share(kind: Kind, name: str, share: float | str | None) -> WhatIf:
    if share is None:
        return what_if(kind, name)
    if isinstance(share, str):
        return what_if(kind, f"{name}={share}")
    if not 0 <= share <= 1:
        raise UsageError(file="", what=f"{share!r} of {name} is not a share", remedy="give 0 to 1: 0.05 is 5 percent")
    return WhatIf(kind, name, float(share))
