"""A selection from the texts that a user gives, on the command line or in an address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plexlens.metrics.selection.selection import Selection
from plexlens.metrics.selection.shift import shift
from plexlens.metrics.selection.window import between


def selected(
    *,
    since: str = "",
    until: str = "",
    systems: Iterable[str] = (),
    shifts: Iterable[str] = (),
    classes: Iterable[str] = (),
    named: Mapping[str, str] | None = None,
) -> Selection:
    """The selection that texts describe, not yet resolved.

    Parameters
    ----------
    since, until
        Bounds as `plexlens.metrics.selection.between` takes them; empty for an open end.
    systems, classes
        Names or patterns, several separated by commas.
    shifts
        Hours of the week, or names of shifts.
    named
        The shifts that a site names.

    Raises
    ------
    UsageError
        A bound is not a time, or a shift not a shift.
    """
    return Selection(
        windows=(between(since.strip(), until.strip()),) if since.strip() or until.strip() else (),
        shifts=tuple(shift(text, named or {}) for text in shifts),
        systems=_names(systems),
        classes=_names(classes),
    )


def _names(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())
