"""States of findings from day to day: new, still there, gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from plexlens.findings import Severity
from plexlens.serve.history import Day
from plexlens.serve.judged import Judged, Seen

#: Names by which an object belongs to someone who writes records: without them, the day says nothing about it.
_OBSERVERS = ("system", "sysplex", "subsystem", "applid", "queue_manager")

#: States of a finding, in the order of the page: title, and what it means.
STATES = {
    "new": ("New", "Found on the last day with data of the object, and not on the one before."),
    "still": ("Still there", "Found on the last day with data of the object, and on the one before."),
    "gone": ("Gone", "Found earlier, and not on the last day with data of the object."),
    "unknown": ("Without newer data", "Found earlier; the latest days have no data that could show it."),
}


@dataclass(frozen=True)
class Line:
    """A finding over the days.

    Attributes
    ----------
    latest
        The finding as it was seen last.
    state
        A key of `STATES`.
    days
        Days on which it was found, the earliest first.
    could
        Days on which it could be found: the rule ran, and the object's system wrote data; the earliest first.
    """

    latest: Seen
    state: str
    days: tuple[date, ...]
    could: tuple[date, ...]

    @property
    def order(self) -> tuple[int, float, str, str]:
        """By severity, then cost, then name."""
        return -Severity(self.latest.severity).rank, -(self.latest.cost or 0.0), self.latest.title, self.latest.name


def lines_of(days: Sequence[Day], judged: Mapping[date, Judged]) -> list[Line]:
    """Every finding of the judged days, the most important first.

    Parameters
    ----------
    days
        The days with data.
    judged
        Their findings.
    """
    known = sorted((day for day in days if day.date in judged), key=lambda day: day.date)
    by_identity: dict[object, list[tuple[date, Seen]]] = {}
    for day in known:
        for seen in judged[day.date].findings:
            by_identity.setdefault(seen.identity, []).append((day.date, seen))
    last = known[-1].date if known else None
    results = []
    for seen_on in by_identity.values():
        # What another finding speaks for every time has no line of its own.
        if not any(seen.leads for _, seen in seen_on):
            continue
        latest = seen_on[-1][1]
        on = {day for day, _ in seen_on}
        could = [day.date for day in known if day.date in on or _could(latest, day, judged[day.date])]
        results.append(Line(latest, _state(on, could, last), tuple(sorted(on)), tuple(could)))
    return sorted(results, key=lambda line: line.order)


def _could(seen: Seen, day: Day, judged: Judged) -> bool:
    """Whether the day would show the finding if it were there."""
    named = (seen.value(column) for column in _OBSERVERS)
    return seen.rule in judged.ran and all(value in day.names for value in named if value)


def _state(on: set[date], could: Sequence[date], last: date | None) -> str:
    if could[-1] != last:
        return "unknown"
    if could[-1] not in on:
        return "gone"
    return "still" if len(could) > 1 and could[-2] in on else "new"
