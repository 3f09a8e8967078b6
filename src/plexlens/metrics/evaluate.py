"""Facts of a grain from all its sources, rolled up, with the metrics applied."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from plexlens.expression import sql_of
from plexlens.metrics.applied_metrics import view_select, with_metrics
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.ceiling import above_ceiling
from plexlens.metrics.definition import END, IDENTITY, Grain
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.epochs import entity
from plexlens.metrics.even_intervals import parted
from plexlens.metrics.facts import end_name, facts, keep
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.kept_steps import kept_steps
from plexlens.metrics.known_facts import KnownFacts, have_single_rows, known_facts
from plexlens.metrics.moments import SECONDS, start_of
from plexlens.metrics.query import Query, Summed
from plexlens.metrics.rollup import Grouping, statement
from plexlens.metrics.rollup_direct import (
    CleanIntervals,
    clean_intervals,
    direct_statement,
    has_lengths,
    leaves_out_of_reports,
)
from plexlens.metrics.slices import Cut, sliced
from plexlens.metrics.source_rows import available
from plexlens.metrics.source_sql import names_in
from plexlens.metrics.steps import Steps, are_of_several, are_plain, are_told_apart, have_epochs
from plexlens.metrics.variants import Plan
from plexlens.pdb.engine import quoted

#: Lengths of time a result can be grouped by.
TIMES = ("interval", "quarter_hour", "hour", "day", "week", "month", "all")


def above_whole(rows: Query, grain: Grain) -> dict[str, tuple[int, float]]:
    """Number of fact rows with an impossible share, and the greatest value, by metric."""
    return above_ceiling(rows, grain, lambda metric: sql_of(metric.expression, quoted))


def kept_facts(inputs: Inputs, grain: Grain) -> Query | None:
    """The facts of a grain as a temporary table, created once; None if no source is in the database."""
    key = (grain.name, tuple(fact.name for fact in grain.facts), tuple(a.name for a in grain.attributes))
    if key not in inputs.kept:
        query = facts(inputs, grain)
        inputs.kept[key] = None if query is None else keep(query, grain, fresh_name(f"facts_{grain.name}"))
    result: Query | None = inputs.kept[key]
    return result


def _known_facts(
    inputs: Inputs,
    grain: Grain,
    table: Query,
    where: str | None = None,
    *,
    apart: Sequence[str] = (),
    shown: Collection[str] | None = None,
) -> KnownFacts:
    """Facts that are known together in the rows that count.

    What many roll-ups read is asked first: if it needs no conditions, no part of it does. If its
    entities have single rows, those of each part have.
    """
    whole = table if table.part_of is None else table.part_of
    view = _with_interval_to(inputs, whole, grain)

    def single() -> bool:
        return are_single_rows(inputs, grain, table)

    known = known_facts(inputs, whole.source, view, grain, single=single)
    part = table.where(where)
    if (part is whole and not apart) or known.is_one:
        return known
    if not Plan.of(grain, known.combinations, several=False, shown=shown).is_mixed and single():
        return known
    own = part.source if single() else _with_interval_to(inputs, part, grain)
    return known_facts(inputs, part.source, own, grain, apart=apart, single=single)


def are_single_rows(inputs: Inputs, grain: Grain, rows: Query, *, ask: bool = True) -> bool:
    """Whether no entity has several rows in an interval in all the rows of which these are a part.

    A key that only the part has tells more apart. ``ask`` is that of `have_single_rows`.
    """
    # Not those that tell the time: they need not have the entities.
    whole = rows.part_of or rows
    names = tuple(name for name in entity(grain) if name in whole.columns)
    return have_single_rows(inputs, _with_interval_to(inputs, whole, grain), names, ask=ask)


def _clean_of_whole(inputs: Inputs, grain: Grain, rows: Query, apart: Sequence[str]) -> CleanIntervals | None:
    """The intervals of a part, derived from those of the whole, which many parts need: all except the common ones.

    None if the rows are not part of others, others determine their time, or the whole is not clean.
    """
    if rows.part_of is None or rows.timed is not None or apart:
        return None
    whole = _with_interval_to(inputs, rows.part_of, grain)
    result = clean_intervals(inputs, whole, grain, apart)
    return None if result is None else replace(result, common=None)


def _time(time: str, utc_offset: float, day_begins: float) -> str:
    """SQL of the moment that names the time of a row; hours and days follow a clock, and local times are kept separate.

    Raises
    ------
    ValueError
        An unknown ``time``; the message lists the valid ones.
    """
    if time not in TIMES:
        raise ValueError(f"time {time!r} is not known; it is one of {', '.join(TIMES)}")
    if time in ("interval", "all"):
        return "interval" if time == "interval" else ""
    local, known = -int(day_begins), int(utc_offset) - int(day_begins)
    shift = str(local) if local == known else f"case when local_time then {local} else {known} end"
    if time in SECONDS:
        return start_of(time, "interval", shift)
    return f"date_trunc('{time}', interval + to_seconds({shift})) - to_seconds({shift})"


def evaluate(
    inputs: Inputs,
    grain: Grain,
    *,
    by: Iterable[str] | None = None,
    time: str = "interval",
    where: str | None = None,
    within: str | None = None,
    kept: Query | None = None,
    summed: Summed | None = None,
    entities: Callable[[], Query] | None = None,
    apart: Sequence[str] = (),
    utc_offset: float = 0.0,
    day_begins: float = 0.0,
    cut: Cut = Cut.ALIGNED,
    shown: Iterable[str] | None = None,
) -> Query | None:
    """Metrics of a grain, rolled up to fewer columns or longer times (`plexlens.metrics.rollup`).

    Parameters
    ----------
    inputs
        The raw tables.
    grain
        What to evaluate.
    by
        Keys, attributes or ``system``, ``sysplex`` to keep apart; None keeps all keys.
    time
        ``interval``, ``quarter_hour``, ``hour``, ``day``, ``week`` (from Monday), ``month`` or ``all``: the length of
        time of one row.
    where
        SQL of a condition on facts: the entities that count. Rows that do not meet it are left out before the roll-up;
        their intervals still tell what time their observer covers.
    within
        Such a condition on the time that counts: rows that do not meet it are left out altogether.
    kept
        What `facts` gave for this grain, kept as a table for several roll-ups; taken anew from ``inputs`` by default.
    summed
        Rows by interval of ``kept``, added up over keys that neither ``by`` nor a condition names.
    entities
        Gives the names in ``kept``, in fewer rows; None where there are no fewer.
    apart
        Columns that part the covered time: rows that differ in them are of different selections of intervals.
    utc_offset
        Seconds by which the clock on which hours and days begin is ahead of UTC.
    day_begins
        Seconds after midnight of that clock at which a day of ``time`` begins.
    cut
        Whether a roll-up by interval splits intervals where those of other observers begin or end
        (`plexlens.metrics.slices`).
    shown
        Facts and metrics that are asked for; all by default.

    Returns
    -------
    Query or None
        Columns ``by``, ``time`` (start of the row's time, absent for ``all``), attributes, facts and metrics; None
        where no source of the grain is in the database.

    Raises
    ------
    ValueError
        An unknown column in ``by`` or an unknown ``time``; the message lists the valid ones.
    """
    bucket = _time(time, utc_offset, day_begins)
    names = None if shown is None else frozenset(shown)
    if names is not None:
        grain = replace(grain, metrics=tuple(metric for metric in grain.metrics if metric.name in names))
    groupable = (
        {"system", "sysplex", "source_kind"} | {key.name for key in grain.keys} | {a.name for a in grain.attributes}
    )
    keys = (
        tuple(dict.fromkeys(by))
        if by is not None
        else tuple(dict.fromkeys(("system", "sysplex", *(key.name for key in grain.keys))))
    )
    for key in keys:
        if key not in groupable:
            raise ValueError(f"{grain.name} has no key {key!r}; it has {', '.join(sorted(groupable))}")
    table = kept_facts(inputs, grain) if kept is None else kept
    if table is None:
        return None
    table = table.where(within)
    own = _with_interval_to(inputs, table, grain)
    base = own if table.timed is None else _with_interval_to(inputs, table.timed, grain)
    rows = own if not where else _with_interval_to(inputs, table.where(where), grain)
    if apart or within:
        # Rows that are added up need not have the columns.
        summed = None
    fewer = "" if summed is None else _with_interval_to(inputs, summed.rows.where(where), grain)
    observed = fewer if summed is not None and summed.kept.issuperset(grain.observers) else ""

    @cache
    def named() -> tuple[str, str]:
        """Views of the names in all rows, and in those that count."""
        if entities is not None and not (apart or within):
            names = entities()
            if names_in(where or "").isdisjoint(set(table.columns).difference(names.columns)):
                return names.source, names.where(where).source
        return own, rows

    def come_together() -> bool:
        # Rows of observers name no other key, and the intervals that tell the time have all of their names.
        by_time = table.timed if observed else None
        views = named() if by_time is None else (base, _with_interval_to(inputs, by_time.where(where), grain))
        # If none of the whole come together, none of a part do: one answer for the conditions of many questions.
        is_cut = cut is Cut.ALIGNED and time == "interval"
        return all(are_of_several(inputs, view, grain, keys, apart, cut=is_cut) for view in dict.fromkeys(views))

    known = _known_facts(inputs, grain, table, where, apart=apart, shown=names).combinations
    plan = Plan.of(grain, known, several=False, shown=names)
    by_interval = time == "interval"
    steps = Steps(True, None, False)
    if plan.takes_time or (has_lengths(grain) and cut is not Cut.NEVER and by_interval):
        steps = Steps.of(
            plan,
            by_interval,
            _clean_of_whole(inputs, grain, table, apart),
            lambda: clean_intervals(inputs, base, grain, apart),
            come_together,
        )
    has_epochs = not steps.is_one and steps.several and have_epochs(inputs, base, grain)
    described = tuple(attribute.name for attribute in grain.attributes if attribute.name not in keys)
    are_added_up = bool(observed) and not described and (steps.is_one or steps.intervals is not None)
    if are_added_up:
        rows, fewer = observed, ""
    choice = _Choice(
        inputs, grain, table, lambda: named()[1], keys, described, time, bucket, tuple(apart), cut, names, tuple(known),
        plan, has_epochs=has_epochs, are_added_up=are_added_up,
    )  # fmt: skip
    # Of a table for the intervals alone, which is small, it is soon known which of them are even.
    can_be_parted = by_interval and table.timed is not None and not apart and not has_epochs
    can_be_one = not leaves_out_of_reports(plan) and steps.intervals is not None and steps.intervals.are_named_apart
    if can_be_parted and can_be_one and not steps.is_one:
        parts = parted(inputs, grain, base, rows, fewer)
        if parts is not None:
            fewer = parts.of_even(fewer) if fewer else ""
            even = choice.combined(replace(steps, is_one=True), parts.even_base, parts.even_rows, fewer)
            return even if parts.uneven is None else even.and_rows_of(choice.combined(steps, *parts.uneven))
    return choice.combined(steps, base, rows, fewer)


@dataclass(frozen=True)
class _Choice:
    """Keys and times of a roll-up, with what is known of its rows.

    Attributes
    ----------
    inputs, grain, time, apart, cut
        As `evaluate` takes them; the grain has the metrics that are asked for.
    table
        The facts.
    named
        Gives the view of the names in the rows that count.
    keys, described
        Columns to keep apart, and attributes to carry along.
    bucket
        SQL of the moment that names the time of a row.
    names
        Facts and metrics that are asked for; None for all.
    known
        Combinations of known facts among the rows.
    plan
        The columns, where no rows of several observers come together.
    has_epochs
        Whether observers that are never measured at the same time come together.
    are_added_up
        Whether the rows are added up over keys, for each observer.
    """

    inputs: Inputs
    grain: Grain
    table: Query
    named: Callable[[], str]
    keys: tuple[str, ...]
    described: tuple[str, ...]
    time: str
    bucket: str
    apart: tuple[str, ...]
    cut: Cut
    names: frozenset[str] | None
    known: tuple[Mapping[str, bool], ...]
    plan: Plan
    has_epochs: bool
    are_added_up: bool

    def combined(self, steps: Steps, base: str, rows: str, summed: str = "") -> Query:
        """The metrics of some of the rows, combined by these steps.

        Parameters
        ----------
        steps
            The steps.
        base, rows
            Views of the facts that tell the time, and of those that count.
        summed
            View of the facts that count, added up over other keys; empty where there are none.
        """
        inputs, grain, plan, by_interval = self.inputs, self.grain, self.plan, self.time == "interval"
        keys, named = self.keys, self.named
        are_clean, is_cut = steps.intervals is not None, False
        if not steps.is_one and steps.several and self.cut is not Cut.NEVER and by_interval:
            # Slices begin and end with the intervals that they are cut from: the epochs are the same.
            uncut = rows
            base, rows = sliced(inputs, grain, base, rows)
            is_cut = rows != uncut
            if is_cut:
                steps = replace(steps, intervals=None)
        if steps.several or not steps.is_one:
            plan = Plan.of(grain, self.known, several=steps.several, shown=self.names, is_cut=is_cut)
        is_plain = (
            not steps.is_one
            and plan.takes_time
            and (steps.intervals is not None or (not steps.several and are_plain(inputs, base, grain, self.apart)))
        )
        has_intervals = steps.intervals is not None
        is_summed = bool(summed) and steps.is_one and _answer_when_added_up(plan, self.described)
        is_cell = (
            steps.is_one
            and not (is_summed or self.are_added_up)
            and has_intervals
            and are_told_apart(inputs, named(), grain, keys, ask=by_interval)
            and are_single_rows(inputs, grain, self.table)
        )
        is_row = is_cell and by_interval and not are_of_several(inputs, named(), grain, keys, self.apart, cut=False)
        asks_for_known = any(condition.needed for condition in plan.conditions)
        grouping = Grouping(
            self.keys,
            self.described,
            self.bucket,
            self.apart,
            has_epochs=self.has_epochs,
            has_times=self.table.timed is not None,
            is_plain=is_plain,
            # A row that is added up has what all of its entities know.
            has_single_rows=is_summed
            or self.are_added_up
            or (
                # Slices of intervals that do not overlap are as single as these.
                (are_clean or not is_cut)
                and (is_cell or (asks_for_known and are_single_rows(inputs, grain, self.table, ask=has_intervals)))
            ),
            is_cell=is_cell,
            is_row=is_row,
            several=steps.several,
        )
        if steps.is_one:
            sql = direct_statement(plan, base, summed if is_summed else rows, grouping, steps.intervals)
        else:
            # A table for the intervals alone, whole: the next question has the same.
            is_whole = self.table.timed is not None and base == self.table.timed.source
            sql = statement(plan, base, rows, grouping, partial(kept_steps, inputs) if is_whole else None)
        time = ["time"] if self.time != "all" else []
        columns = (*self.keys, *time, "intervals", "first_interval", "last_interval", *plan.variants, *self.described)
        plain = {fact.name for fact in grain.facts if self.names is None or fact.name in self.names}
        query = Query.of(inputs.connection, sql, columns)
        return with_metrics(query, grain, plan.columns, plan.variants.keys() - plain)


def _answer_when_added_up(plan: Plan, described: Sequence[str]) -> bool:
    """Whether rows that are added up answer: they lack attributes, and rows by which conditions leave out time."""
    return not described and not plan.timed_conditions


def rolled_up(inputs: Inputs, grain: Grain, **how: Any) -> list[dict[str, Any]]:
    """The rows of `evaluate`, ordered by name and time; empty if no source of the grain is available."""
    query = evaluate(inputs, grain, **how)
    if query is None:
        return []
    names = query.columns[: query.columns.index("intervals")]
    rows: list[dict[str, Any]] = query.ordered(*(quoted(name) for name in names)).to_pylist()
    return rows


def cut_together(inputs: Inputs, grain: Grain, kept: Query, by: Sequence[str]) -> Query:
    """Kept facts with the intervals of observers that come together in a group cut where any of them begins or ends.

    The facts stay as they are where each group is of one observer, or all of them have the same intervals.
    """
    if not has_lengths(grain) or set(grain.observers) <= set(by):
        return kept
    own = _with_interval_to(inputs, kept, grain)
    if not are_of_several(inputs, own, grain, by, (), cut=True):
        return kept
    intervals = clean_intervals(inputs, own, grain)
    if intervals is not None and intervals.common is not None:
        return kept
    base = own if kept.timed is None else _with_interval_to(inputs, kept.timed, grain)
    timed, rows = (_without_interval_to(kept, view) for view in sliced(inputs, grain, base, own))
    return replace(rows, timed=None if kept.timed is None else timed)


def _without_interval_to(kept: Query, view: str) -> Query:
    columns = tuple(name for name in kept.columns if name != END)
    return Query.of(kept.connection, f"select * exclude ({END}) from {view}", columns)


def rows_view(inputs: Inputs, grain: Grain, kept: Query, where: str | None = None) -> str:
    """Name of a view of kept facts, or of the subset that counts, with ``interval_to``."""
    return _with_interval_to(inputs, kept.where(where), grain)


def known_in(inputs: Inputs, grain: Grain, kept: Query) -> KnownFacts:
    """Facts that are known together in kept facts, or in those that they are a part of."""
    return _known_facts(inputs, grain, kept)


def _with_interval_to(inputs: Inputs, rows: Query, grain: Grain) -> str:
    """Facts with the moment that names the end of their interval; kept facts have it, others become a view."""
    if END in rows.columns:
        return rows.source
    key = (rows.source, "interval_to", grain.name)
    if key not in inputs.kept:
        name = fresh_name("rolled_rows")
        inputs.made.append(("view", name))
        inputs.connection.execute(
            f"create or replace temp view {name} as select *, {end_name(grain)} as interval_to from {rows.source}"
        )
        inputs.kept[key] = name
    return str(inputs.kept[key])


def attach(inputs: Inputs, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Create views of the connection for grains that have a source, for use in SQL.

    Parameters
    ----------
    inputs
        The raw tables.
    names
        The grains wanted; None takes all. Names of other things are passed over.

    Returns
    -------
    tuple of str
        The views made.
    """
    wanted = None if names is None else set(names)
    results = []
    # Lists whether the offset of each report in local time is inferred; always created, for use in SQL.
    _ = inputs.places_reports
    # By name: a grain that is not wanted is not read from its file.
    for grain in (GRAINS[name] for name in GRAINS if wanted is None or name in wanted):
        if available(inputs, grain):
            rows = facts(inputs, grain)
            if rows is not None:
                select = view_select(rows, grain)
                inputs.connection.execute(f"create or replace view {quoted(grain.name)} as {select}")
                results.append(grain.name)
    return tuple(results)


__all__ = [
    "IDENTITY",
    "TIMES",
    "Cut",
    "above_whole",
    "are_single_rows",
    "attach",
    "available",
    "cut_together",
    "evaluate",
    "facts",
    "kept_facts",
    "known_in",
    "rolled_up",
    "rows_view",
    "with_metrics",
]
