"""The way in which rows are combined, from what is known of their observers and intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plexlens.metrics.definition import Grain
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity, epochs, joined
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.over_time import MOMENTS
from plexlens.metrics.rollup import ENDS
from plexlens.metrics.rollup_direct import CleanIntervals, leaves_out_of_reports
from plexlens.metrics.variants import Plan

#: Rows that are looked at first for groups of several observers, and what says that the others have to be looked at.
_FIRST_ROWS, _OPEN = 20_000, -1


@dataclass(frozen=True)
class Steps:
    """Combination of rows.

    Attributes
    ----------
    is_one
        Whether one step does it (`plexlens.metrics.rollup_direct`).
    intervals
        What is known of their intervals; None where nothing depends on them, or they are not clean.
    several
        Whether rows of several observers come together.
    """

    is_one: bool
    intervals: CleanIntervals | None
    several: bool

    @classmethod
    def of(
        cls,
        plan: Plan,
        by_interval: bool,
        whole: CleanIntervals | None,
        own: Callable[[], CleanIntervals | None],
        several: Callable[[], bool],
    ) -> Steps:
        """The steps for columns that depend on intervals.

        Parameters
        ----------
        plan
            The columns.
        by_interval
            Whether each interval is a row of its own.
        whole
            What is known of the whole that the rows are a part of; None where that says nothing.
        own
            Gives what is known of the rows' own intervals.
        several
            Says whether rows of several observers come together.
        """
        intervals = whole if whole is not None else own()
        if intervals is None:
            return cls(False, None, several())
        is_one = intervals.are_named_apart or not by_interval
        if is_one and intervals.common is not None and not plan.timed_conditions:
            return cls(True, intervals, False)
        comes_together = several()
        if comes_together and whole is not None:
            # A part may have intervals in common that the whole has not.
            return cls.of(plan, by_interval, None, own, lambda: True)
        is_one = is_one and (intervals.common is not None or not comes_together) and not leaves_out_of_reports(plan)
        return cls(is_one, intervals, comes_together)


def are_of_several(
    inputs: Inputs, view: str, grain: Grain, keys: Sequence[str], apart: Sequence[str], *, cut: bool
) -> bool:
    """Whether any group combines rows of several observers; if ``cut``, over all groups together."""
    observers = [name for name in dict.fromkeys((*grain.observers, *apart)) if name not in keys]
    if not observers:
        return False
    if not _differ(inputs, view, observers):
        return False
    if cut or not keys:
        return True
    named = [quoted(name) for name in observers]
    by = ", ".join(quoted(key) for key in keys)
    # Least and greatest take one pass; to list the different observers of each group takes several times as long.
    varied = " or ".join(f"min({name}) < max({name}) or count({name}) between 1 and count(*) - 1" for name in named)
    listed = ", ".join(dict.fromkeys([*map(quoted, keys), *named]))
    # Of many rows, the first ones hardly ever leave the question open.
    some = _count(
        inputs,
        f"with first as materialized (select {listed} from {view} limit {_FIRST_ROWS}) "
        f"select case when exists (select 1 from first group by {by} having {varied}) then 1 "
        f"when (select count(*) from first) < {_FIRST_ROWS} then 0 else {_OPEN} end",
    )
    if some != _OPEN:
        return some > 0
    return _count(inputs, f"select count(*) from (select 1 from {view} group by {by} having {varied} limit 1)") > 0


def are_told_apart(inputs: Inputs, view: str, grain: Grain, keys: Sequence[str], *, ask: bool) -> bool:
    """Whether the keys identify the entities of an observer: no other key exists, or the only other has a single value.

    The rows are asked for that value only if ``ask``; several other keys hardly ever have a single value each.
    """
    others = [name for name in entity(grain) if name not in grain.observers and name not in keys]
    return not others or (ask and len(others) == 1 and not _differ(inputs, view, others))


def _differ(inputs: Inputs, view: str, names: Sequence[str]) -> bool:
    """Whether rows differ in any of the columns: they are read until one differs from the first."""
    listed = [quoted(name) for name in names]
    differs = " or ".join(f"r.{name} is distinct from f.{name}" for name in listed)
    first = f"(select {', '.join(listed)} from {view} limit 1)"
    sql = f"select count(*) from (select 1 from {view} r cross join {first} f where {differs} limit 1)"
    return _count(inputs, sql) > 0


def have_epochs(inputs: Inputs, view: str, grain: Grain) -> bool:
    """Whether some observers never measured at the same time."""
    return _count(inputs, f"select count(distinct epoch) from ({epochs(view, grain)})") > 1


def are_plain(inputs: Inputs, view: str, grain: Grain, apart: Sequence[str]) -> bool:
    """Whether all rows use the same kind of clock, and no interval of an observer overlaps another."""
    clocks = f"(select count(distinct local_time) from {view})"
    overlapping = f"(select count(*) from ({_overlaps(view, (*grain.observers, *apart))}))"
    return _count(inputs, f"select case when {clocks} > 1 then 1 else {overlapping} end") == 0


def _count(inputs: Inputs, sql: str) -> int:
    """The count returned by a statement; cached, since roll-ups of a view repeat it."""
    if sql not in inputs.counts:
        row = inputs.connection.execute(sql).fetchone()
        inputs.counts[sql] = int(row[0]) if row else 0
    return inputs.counts[sql]


def _overlaps(base: str, observers: Sequence[str]) -> str:
    """SQL of the intervals that begin before an earlier interval of the same observer ends."""
    who = joined(observers)
    intervals = f"select {who} as who, interval, interval_to, {ENDS} from {base} group by all"
    before = "max(ends) over (partition by who order by starts, ends rows between unbounded preceding and 1 preceding)"
    return f"select * from ({intervals}) qualify epoch({before}) - epoch(starts) > {MOMENTS}"
