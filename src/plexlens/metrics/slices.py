"""Intervals of several observers split at each other's boundaries, so that a sum at any moment covers all of them.

A roll-up by interval names its rows by the start of the interval. Of queue managers that close their intervals at
different moments, each start would have the numbers of one alone.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from plexlens.metrics.definition import Grain, Rollup
from plexlens.metrics.engine_table import fresh_name, quoted
from plexlens.metrics.inputs import Inputs


class Cut(Enum):
    """Intervals that a roll-up by interval splits."""

    NEVER = auto()
    """None: a row is of those that begin at the same time."""
    WITHIN = auto()
    """All, if some group combines several observers: a row is of all of the group that were measured then."""
    ALIGNED = auto()
    """All, if there are several observers: rows of all groups have the same times, as a stack needs."""


#: What tells intervals apart.
_CUT = ("local_time", "interval", "interval_to", "interval_start", "interval_end")

#: Whether a moment m lies inside the interval i, by its name and by its own start and end.
_INSIDE = (
    "m.local_time = i.local_time and m.rolled_mark > i.interval and m.rolled_mark < i.interval_to "
    "and m.rolled_mark > i.interval_start and m.rolled_mark < i.interval_end"
)


def sliced(inputs: Inputs, grain: Grain, base: str, rows: str) -> tuple[str, str]:
    """Selects with intervals split at the boundaries of others; the original views if no split is needed.

    What was counted in an interval is shared among its slices by their length; the rest is the same in all of them.
    Grains without intervals in common (jobs) stay as they are: each piece of work has a time of its own.

    Parameters
    ----------
    inputs
        The raw tables.
    grain
        The grain of the facts.
    base, rows
        Views of facts with ``interval_to``: those that tell the covered time, and those that count.
    """
    if not any(fact.rollup is Rollup.SPAN for fact in grain.facts) or not _is_uneven(inputs, base):
        return base, rows
    # A table: there are few slices, and a view would find them anew from all rows each time.
    key = (base, "slices")
    if key not in inputs.kept:
        name = fresh_name("rolled_slices")
        inputs.made.append(("table", name))
        inputs.connection.execute(f"create temp table {name} as {_slices(base)}")
        inputs.kept[key] = name
    slices = str(inputs.kept[key])
    # In brackets: the engine compiles a view when it is made, and again whenever it is read.
    selects = {base: f"({_sliced(_timing(grain), slices, base)})"}
    selects[rows] = f"({_sliced(grain, slices, rows)})"
    return selects[base], selects[rows]


def _timing(grain: Grain) -> Grain:
    """The grain with the facts alone that rows need to tell the time."""
    return replace(grain, facts=tuple(fact for fact in grain.facts if fact.rollup is Rollup.SPAN))


def _times(base: str) -> str:
    """The different intervals, as ``times``, and the moments at which one begins or ends, by clock, as ``marks``."""
    return (
        f"with times as materialized (select distinct {', '.join(_CUT)} from {base}), "
        "marks as (select local_time, interval as rolled_mark from times where interval is not null "
        "union select local_time, interval_to from times where interval_to is not null) "
    )


def _is_uneven(inputs: Inputs, base: str) -> bool:
    sql = f"{_times(base)}select count(*) from times i join marks m on {_INSIDE}"
    if sql not in inputs.counts:
        inputs.counts[sql] = int(inputs.connection.execute(sql).fetchone()[0])
    return bool(inputs.counts[sql])


def _slices(base: str) -> str:
    names = ", ".join(_CUT)
    starts = (
        f"select {names}, interval as rolled_mark from times union all "
        f"select {', '.join(f'i.{n}' for n in _CUT)}, m.rolled_mark from times i join marks m on {_INSIDE}"
    )
    return (
        f"{_times(base)}select {names}, rolled_mark, "
        f"coalesce(lead(rolled_mark) over (partition by {names} order by rolled_mark), interval_to) as rolled_until "
        f"from ({starts})"
    )


def _sliced(grain: Grain, slices: str, view: str) -> str:
    inside = [
        "case when s.rolled_mark > r.interval then s.rolled_mark else r.interval_start end as rolled_starts",
        "case when s.rolled_until < r.interval_to then s.rolled_until else r.interval_end end as rolled_ends",
    ]
    rows = (
        f"select r.*, s.rolled_mark, s.rolled_until, {', '.join(inside)} from {view} r join {slices} s "
        f"on {' and '.join(f'r.{n} is not distinct from s.{n}' for n in _CUT)}"
    )
    length = "nullif(epoch(interval_end) - epoch(interval_start), 0)"
    share = f"coalesce((epoch(rolled_ends) - epoch(rolled_starts)) / {length}, 1)"
    counted = [quoted(f.name) for f in grain.facts if f.rollup in (Rollup.COUNT, Rollup.SPAN)]
    replaced = ", ".join(
        [
            "rolled_starts as interval_start",
            "rolled_ends as interval_end",
            "rolled_mark as interval",
            "rolled_until as interval_to",
            *(f"{name} * rolled_share as {name}" for name in counted),
        ]
    )
    return (
        f"select * exclude (rolled_mark, rolled_until, rolled_starts, rolled_ends, rolled_share) replace ({replaced}) "
        f"from (select *, {share} as rolled_share from ({rows}))"
    )
