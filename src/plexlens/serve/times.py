"""Chips and links by which a reader moves through time: the selection as chips, and the times next to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from plexlens.metrics.selection import Selection
from plexlens.metrics.selection.extent import Extent
from plexlens.serve.shell import address

Pairs = Sequence[tuple[str, str]]

#: Titles of the parameters of a selection.
_TITLES = {"system": "System", "shift": "Shift", "class": "Class"}

#: Parameters that say which time is selected.
_TIME = ("from", "to")

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Chip:
    """A condition that can be taken away.

    Attributes
    ----------
    title, value
        What it is a condition on, and what it asks for.
    href
        The page without it.
    """

    title: str
    value: str
    href: str


def selection_chips(path: str, selection: Selection, pairs: Pairs, rest: Pairs) -> list[Chip]:
    """The conditions of a selection.

    Parameters
    ----------
    path
        Of the page.
    selection
        As `plexlens.serve.address.selection_of` reads it.
    pairs
        The parameters of the selection.
    rest
        The other parameters of the page.
    """
    chips = []
    if selection.windows:
        without = [pair for pair in pairs if pair[0] not in _TIME]
        chips.append(Chip("Time", _words(selection), address(path, [*rest, *without])))
    for pair in pairs:
        if pair[0] not in _TIME:
            without = [entry for entry in pairs if entry != pair]
            chips.append(Chip(_TITLES[pair[0]], pair[1], address(path, [*rest, *without])))
    return chips


def _words(selection: Selection) -> str:
    window = selection.windows[0]
    start, end = window.start, window.end
    midnight = time()
    if start is not None and end is not None and start.time() == midnight and end.time() == midnight:
        last = end - _DAY
        return f"{start:%Y-%m-%d}" if last.date() == start.date() else f"{start:%Y-%m-%d} to {last:%Y-%m-%d}"
    return window.text


@dataclass(frozen=True)
class Step:
    """A link to another time."""

    title: str
    href: str
    is_current: bool = False


def steps(
    path: str,
    extent: Extent,
    selection: Selection,
    pairs: Pairs,
    rest: Pairs,
    *,
    last_interval: tuple[datetime, datetime] | None = None,
) -> list[Step]:
    """Links to other times of the same page: the last day, hour and interval, those before and after, the same earlier.

    Parameters
    ----------
    extent
        What the database holds.
    path, selection, pairs, rest
        As in `selection_chips`.
    last_interval
        Local start and end of the last interval; None where none is known.
    """
    kept = [*rest, *(pair for pair in pairs if pair[0] not in _TIME)]

    def step(title: str, start: datetime | None = None, end: datetime | None = None) -> Step:
        bounds = [] if start is None or end is None else [("from", moment_text(start)), ("to", moment_text(end))]
        return Step(title, address(path, [*kept, *bounds]), bool(bounds) and _is(selection, start, end))

    results = [Step("all", address(path, kept), not selection.windows)]
    last = max((system.last for system in extent.systems if system.last is not None), default=None)
    if last is not None:
        day, hour = datetime.combine(last.date(), time()), last.replace(minute=0, second=0, microsecond=0)
        results.append(step("last week", day - 6 * _DAY, day + _DAY))
        results.append(step("last day", day, day + _DAY))
        results.append(step("last hour", hour, hour + timedelta(hours=1)))
        if last_interval is not None:
            results.append(step("last interval", *last_interval))
    if selection.windows and (bounds := selection.windows[0]).start is not None and bounds.end is not None:
        start, end = bounds.start, bounds.end
        try:
            results += [step("earlier", start - (end - start), start), step("later", end, end + (end - start))]
            for title, days in (("a day before", 1), ("a week before", 7)):
                if timedelta() < end - start <= days * _DAY:
                    results.append(step(title, start - days * _DAY, end - days * _DAY))
        except (OverflowError, TypeError):
            # A time at the end of the calendar, or bounds on different clocks, have no neighbours.
            pass
    return results


def _is(selection: Selection, start: datetime | None, end: datetime | None) -> bool:
    return bool(selection.windows) and (selection.windows[0].start, selection.windows[0].end) == (start, end)


def moment_text(moment: datetime) -> str:
    """A bound in the form of an address: a local time to the minute, or a moment with its offset."""
    if moment.tzinfo is None:
        return moment.isoformat(timespec="seconds" if moment.second else "minutes")
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def day_bounds(day: date) -> list[tuple[str, str]]:
    """The parameters that select a day of local time."""
    return [("from", day.isoformat()), ("to", day.isoformat())]
