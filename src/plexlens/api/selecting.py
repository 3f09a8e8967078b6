"""The selection of a question, from plain Python values; each parameter means what the command's option means."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from os import PathLike
from pathlib import Path

from plexlens.metrics.selection import Selection, between, read_shifts, shift

#: A file or folder.
AnyPath = str | PathLike[str]

#: A moment or a day: a text as the commands take it, or a date or time of Python.
Moment = str | date

#: One text, or several.
Names = str | Iterable[str]


def selection_of(
    *,
    start: Moment | None = None,
    end: Moment | None = None,
    systems: Names = (),
    shifts: Names = (),
    classes: Names = (),
    site: AnyPath | None = None,
) -> Selection:
    """The part of a database that a question is about, not resolved.

    Parameters
    ----------
    start, end
        First moment inside, and first moment after; a day as the end means the end of that day. A time without an
        offset is local time of each system.
    systems, classes
        Names or patterns.
    shifts
        Hours of the week (``mon-fri/08:00-17:00``), or names from the file of the site.
    site
        A site's TOML file.

    Raises
    ------
    UsageError
        A text is not a time, a shift or a file of a site, or the time ends before it starts.
    """
    named = read_shifts(Path(site)) if site is not None else {}
    since, until = _text(start), _text(end)
    return Selection(
        windows=(between(since, until),) if since or until else (),
        shifts=tuple(shift(text, named) for text in names_of(shifts)),
        systems=names_of(systems),
        classes=names_of(classes),
    )


def names_of(named: Names) -> tuple[str, ...]:
    """The names: those of a list, or those between the commas of a text."""
    texts = named.split(",") if isinstance(named, str) else named
    return tuple(text.strip() for text in texts if text.strip())


def _text(moment: Moment | None) -> str:
    if moment is None:
        return ""
    return moment.strip() if isinstance(moment, str) else moment.isoformat()
