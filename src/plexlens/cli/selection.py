"""The options that select a part of the data, common to all commands that evaluate a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plexlens.cli.bundle import Option, bundle
from plexlens.cli.options import Site
from plexlens.cli.output import page
from plexlens.report.forms import Form

if TYPE_CHECKING:
    from plexlens.metrics.selection import Selection
    from plexlens.report.model import Report

#: An option of a selection; they stand together in the help.
_selecting = partial(typer.Option, rich_help_panel="Selection")

_REPEATED = "; repeatable."

Since = Annotated[
    str,
    _selecting(
        "--from",
        metavar="TIME",
        help="Select intervals that start at this time or later: 2024-10-26, 2024-10-26T08:00 (local time of each "
        "system) or 2024-10-26T08:00+02:00 (one moment for all).",
    ),
]
Until = Annotated[
    str,
    _selecting(
        "--to",
        metavar="TIME",
        help="Select intervals that start before this time; a date means the end of that day.",
    ),
]
System = Annotated[
    list[str] | None,
    _selecting(
        "--system",
        metavar="NAME[,NAME]",
        help="Select systems by name or pattern (SYS1, PRD*)" + _REPEATED,
    ),
]
Shifts = Annotated[
    list[str] | None,
    _selecting(
        "--shift",
        metavar="[DAYS/]HH:MM-HH:MM|NAME",
        help="Select hours of the week in local time (mon-fri/08:00-17:00, 22:00-06:00), or a shift that the site "
        "names" + _REPEATED,
    ),
]
Class = Annotated[
    list[str] | None,
    _selecting(
        "--class",
        metavar="NAME[,NAME]",
        help="Select service classes, report classes or workloads by name or pattern, where data names them"
        + _REPEATED,
    ),
]

_OPTIONS: tuple[Option, ...] = (
    ("since", Since, ""),
    ("until", Until, ""),
    ("systems", System, None),
    ("shifts", Shifts, None),
    ("classes", Class, None),
    ("site", Site, None),
)


def _selection(
    *,
    since: str,
    until: str,
    systems: list[str] | None,
    shifts: list[str] | None,
    classes: list[str] | None,
    site: Path | None,
) -> Selection:
    from plexlens.metrics.selection import read_shifts, selected

    return selected(
        since=since,
        until=until,
        systems=systems or (),
        shifts=shifts or (),
        classes=classes or (),
        named=read_shifts(site) if site is not None else {},
    )


#: Gives a command the options of a selection; it gets them as one argument, ``selection``, not yet resolved.
selectable = bundle("selection", _OPTIONS, _selection)


def selected_page(
    report: Callable[[], Report], values: Callable[[], dict[str, Any]], selections: Mapping[str, Selection]
) -> Callable[[Form], str | bytes]:
    """The function that renders each form of a report page with the selection stated on it.

    Parameters
    ----------
    report, values
        As `plexlens.cli.output.page` takes them.
    selections
        Selection by what it is of (``BASE``, ``NEW``); one of an empty name is of the whole page.
    """
    from plexlens.report.blocks.selection import selection_json, under_selection

    return page(
        lambda: under_selection(report(), selections), lambda: values() | {"selection": selection_json(selections)}
    )
