"""Facts of a grain from all its sources, rolled up, with the metrics applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from plexlens.expression import sql_of
from plexlens.metrics.catalogue.current import GRAINS
from plexlens.metrics.ceiling import above_ceiling, below_ceiling
from plexlens.metrics.definition import IDENTITY, OWNERS, Grain, Rollup, Source
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.local_time import is_report
from plexlens.metrics.query import Query
from plexlens.metrics.required import read_by
from plexlens.metrics.rollup import Grouping, entity, epochs, joined, overlaps, statement
from plexlens.metrics.slices import sliced
from plexlens.metrics.source_sql import select_of_source
from plexlens.metrics.variants import Plan
from plexlens.pdb.engine import columns_of, literal, quoted

#: Lengths of time a result can be grouped by.
TIMES = ("interval", "hour", "day", "all")

#: Column that says whether a row is of a selected class.
_OF_CLASS = "_of_class"

#: Seconds by which a report may be off where it prints times to the minute.
_ROUNDED_TO = 30

#: Identity columns of facts, with the type of each.
_IDENTITY_TYPES = {
    "system": "varchar",
    "sysplex": "varchar",
    "interval_start": "timestamptz",
    "interval_end": "timestamptz",
    "utc_offset": "double",
}


def available(inputs: Inputs, grain: Grain) -> bool:
    """Whether any source of the grain is in the database."""
    return any(is_there(inputs, source) for source in grain.sources)


def is_there(inputs: Inputs, source: Source) -> bool:
    """Whether the raw tables of a source are in the database."""
    return inputs.has(*source.needs) and (not source.any_of or any(inputs.has(name) for name in source.any_of))


def source_select(inputs: Inputs, grain: Grain, source: Source) -> str:
    """The select of a source of facts (`plexlens.metrics.source_sql`)."""
    if source.facts is not None:
        return str(inputs.backend.compile(source.facts(inputs)))
    return select_of_source(grain, source, inputs.raw, GRAINS.catalogue.relations, GRAINS.catalogue.functions)


def _interval_name(grain: Grain) -> str:
    """SQL of the moment by which rows of different systems are known to be of the same interval.

    Systems close their intervals within moments of each other: the minute nearest the start names the interval. Two
    intervals shorter than a minute can start within the same one; where their length counts, once for all entities,
    it is the nearest ten seconds.
    """
    return _rounded("coalesce(interval_start, interval_end)", grain)


def _end_name(grain: Grain) -> str:
    """SQL of the moment that names the end of an interval: as `_interval_name` gives one that starts there."""
    return _rounded("interval_end", grain)


def _rounded(moment: str, grain: Grain) -> str:
    minute = f"date_trunc('minute', {moment} + interval 30 second)"
    if not any(fact.name == "interval_seconds" for fact in grain.facts):
        return minute
    tens = f"to_timestamp(floor(epoch({moment} + interval 5 second) / 10)::bigint * 10)"
    short = "date_diff('microsecond', interval_start, interval_end) < 60000000"
    return f"case when {short} then {tens} else {minute} end"


def _typed(inputs: Inputs, grain: Grain, source: Source) -> str:
    """The select of a source with exactly the grain's columns; facts as numbers, what is missing as null.

    Where classes are selected, a further column says which rows are of them: rows of other classes are dropped only
    after sources were matched, or a second source would fill in what was dropped of the first.
    """
    select = source_select(inputs, grain, source)
    there = columns_of(inputs.connection, f"(\n{select}\n)")
    named = [*(key.name for key in grain.keys), *(attribute.name for attribute in grain.attributes)]
    chosen = {
        name: f"{quoted(name)}::{kind}" if name in there else f"null::{kind}" for name, kind in _IDENTITY_TYPES.items()
    }
    chosen["source_kind"] = literal(source.kind)
    if "local_time" in there:
        chosen["local_time"] = "coalesce(local_time::boolean, false)"
    elif any(is_report(name) for name in source.needs) and "utc_offset" in there:
        # The source's times are local ones of unknown offset where its report names no offset.
        chosen["local_time"] = "utc_offset is null"
    else:
        chosen["local_time"] = "false"
    for name in named:
        chosen[name] = f"{quoted(name)}::varchar" if name in there else "null::varchar"
    for fact in grain.facts:
        value = f"{quoted(fact.name)}::double" if fact.name in there else "null::double"
        if inputs.has_marked and fact.name in there:
            # Facts into which a value that cannot be has gone are not a number.
            value = f"case when not isnan({value}) then {value} end"
        chosen[fact.name] = value
    if inputs.selection.classes:
        chosen[_OF_CLASS] = inputs.selection.class_condition(there) or "true"
    listed = ",\n".join(f"{sql} as {quoted(name)}" for name, sql in chosen.items())
    # Records that are added up by the quarter of an hour are named by it, and cover what they reach into it.
    name = '"interval"::timestamptz as "interval_own"' if "interval" in there else 'null::timestamptz as "interval_own"'
    inner = f"select {listed},\n{name}\nfrom (\n{select}\n)"
    interval = (
        f'coalesce(interval_own, {_interval_name(grain)}) as "interval"'
        if "interval" in there
        else (f'{_interval_name(grain)} as "interval"')
    )
    return f"select * exclude (interval_own), {interval} from (\n{inner}\n)"


def _owner(grain: Grain) -> str | None:
    return next((key.name for key in grain.keys if key.name in OWNERS), None)


def _is_held(grain: Grain, held: str) -> str:
    """SQL of whether a row ``t`` tells a time that a row of ``held`` tells already.

    Its interval has the same name, or overlaps a held one. Reports round the ends of their intervals, so an overlap
    counts from half a minute on, or from half of the shorter interval. Pieces of work (accounting without intervals in
    common) overlap by nature and are known by name alone. Times on a local clock of unknown offset are compared with
    such times alone. Both are of one system; of one Db2 or region where the grain has these.
    """
    owner = _owner(grain)
    same = 't."interval" = h."interval"'
    if any(fact.rollup is Rollup.SPAN for fact in grain.facts):
        start, end = "epoch(t.interval_start)", "epoch(t.interval_end)"
        held_start, held_end = "epoch(h.interval_start)", "epoch(h.interval_end)"
        overlap = f"least({end}, {held_end}) - greatest({start}, {held_start})"
        shorter = f"least({end} - {start}, {held_end} - {held_start})"
        # A row without both of its ends, such as a display, lies nowhere in time; it adds to what is held.
        known = "t.interval_start is not null and t.interval_end is not null and h.interval_start is not null "
        known += "and h.interval_end is not null"
        same += f" or ({known} and {overlap} > 0 and {overlap} >= least({_ROUNDED_TO}, {shorter} / 2))"
    if owner is not None:
        one = f"t.{quoted(owner)} = h.{quoted(owner)}"
    else:
        one = (
            "case when t.system is null or h.system is null then coalesce(t.sysplex, '') = coalesce(h.sysplex, '') "
            "else t.system = h.system end"
        )
    who = ", ".join(["system", "sysplex", *([quoted(owner)] if owner else [])])
    times = f'select distinct "interval", interval_start, interval_end, local_time, {who} from {held}'
    return f"exists (select 1 from ({times}) h where ({same}) and t.local_time = h.local_time and {one})"


def facts(inputs: Inputs, grain: Grain) -> Query | None:
    """All facts of a grain at its own grain, from the preferred source for each system and interval.

    Returns
    -------
    Query or None
        Identity, keys, attributes and facts of what is selected; None where no source is in the database.
    """
    sources = [source for source in grain.sources if is_there(inputs, source)]
    if not sources:
        return None
    if len(sources) == 1:
        made = _typed(inputs, grain, sources[0])
    else:
        parts, held = [], ""
        for number, source in enumerate(sources):
            select = _typed(inputs, grain, source)
            if held:
                select = f"select t.* from (\n{select}\n) t where not {_is_held(grain, held)}"
                select = f"select * from {held} union all by name ({select})"
            held = f"facts_{number}"
            parts.append(f"{held} as (\n{select}\n)")
        made = f"with {','.join(parts)}\nselect * from {held}"
    selection = inputs.selection
    columns = (
        *_IDENTITY_TYPES,
        "source_kind",
        "local_time",
        "interval",
        *(key.name for key in grain.keys if key.name not in _IDENTITY_TYPES),
        *(attribute.name for attribute in grain.attributes if attribute.name not in _IDENTITY_TYPES),
        *(fact.name for fact in grain.facts),
    )
    conditions = [
        condition for condition in (selection.rows(columns), _OF_CLASS if selection.classes else "") if condition
    ]
    chosen = f"select {', '.join(quoted(name) for name in columns)} from (\n{made}\n)"
    if conditions:
        chosen += f" where {' and '.join(conditions)}"
    return Query.of(inputs.connection, chosen, columns)


def with_metrics(rows: Query, grain: Grain, columns: Mapping[str, Mapping[str, str]] | None = None) -> Query:
    """The rows with every metric of the grain added; a share of more than the whole is null.

    Parameters
    ----------
    rows
        The facts.
    grain
        The metrics.
    columns
        For each metric, the column that stands for a fact where it is not the one of its name.
    """
    named = columns or {}
    made = []
    for metric in grain.metrics:
        own = named.get(metric.name, {})
        value = sql_of(metric.expression, partial(_column, own))
        made.append(f"({value})::double as {quoted(metric.name)}")
    names = {metric.name for metric in grain.metrics}
    plain = [name for name in rows.columns if name not in names]
    listed = ",\n".join([*(quoted(name) for name in plain), *made])
    select = f"select {listed}\nfrom {rows.source}"
    if bounded := below_ceiling(grain):
        select = f"select * replace ({bounded})\nfrom (\n{select}\n)"
    return Query.of(rows.connection, select, (*plain, *(metric.name for metric in grain.metrics)))


def _column(own: Mapping[str, str], name: str) -> str:
    return quoted(own.get(name, name))


def above_whole(rows: Query, grain: Grain) -> dict[str, tuple[int, float]]:
    """How many rows of facts have a share of more than the whole, and the greatest of them, by metric."""
    return above_ceiling(rows, grain, lambda metric: sql_of(metric.expression, quoted))


def kept_facts(inputs: Inputs, grain: Grain) -> Query | None:
    """The facts of a grain as a temporary table, made once; None where no source is in the database."""
    key = (grain.name, tuple(fact.name for fact in grain.facts), tuple(a.name for a in grain.attributes))
    if key not in inputs.kept:
        made = facts(inputs, grain)
        inputs.kept[key] = None if made is None else made.kept(fresh_name(f"facts_{grain.name}"))
    found: Query | None = inputs.kept[key]
    return found


def _patterns(inputs: Inputs, rows: str, view: str, grain: Grain, apart: Sequence[str] = ()) -> list[dict[str, bool]]:
    """Which of the facts that metrics need are known together of an entity in an interval."""
    needed = read_by(grain, grain.metrics).values()
    there = {fact.name for fact in grain.facts}
    names = tuple(sorted({name for read in needed if len(read.facts & there) > 1 for name in read.facts & there}))
    if not names:
        return []
    key = (rows, names, tuple(apart))
    if key not in inputs.patterns:
        known = ", ".join(f"count({quoted(name)}) > 0 as {quoted(name)}" for name in names)
        by = ", ".join(quoted(name) for name in (*entity(grain), *apart, "interval", "interval_to"))
        listed = ", ".join(quoted(name) for name in names)
        sql = f"select distinct {listed} from (select {known} from {view} group by {by})"
        found = inputs.connection.execute(sql).fetchall()
        inputs.patterns[key] = [dict(zip(names, row, strict=True)) for row in found]
    return inputs.patterns[key]


def _several(inputs: Inputs, view: str, grain: Grain, keys: Sequence[str], apart: Sequence[str]) -> bool:
    """Whether rows of several observers come together in a group."""
    observers = [name for name in dict.fromkeys((*grain.observers, *apart)) if name not in keys]
    return bool(observers) and _count(inputs, f"select count(distinct {joined(observers)}) from {view}") > 1


def _has_epochs(inputs: Inputs, view: str, grain: Grain) -> bool:
    """Whether there are observers that were never measured at the same time."""
    return _count(inputs, f"select count(distinct epoch) from ({epochs(view, grain)})") > 1


def _is_plain(inputs: Inputs, view: str, grain: Grain, apart: Sequence[str]) -> bool:
    """Whether all rows are on one kind of clock, and no interval of an observer covers a part of another."""
    if _count(inputs, f"select count(distinct local_time) from {view}") > 1:
        return False
    return _count(inputs, f"select count(*) from ({overlaps(view, (*grain.observers, *apart))})") == 0


def _count(inputs: Inputs, sql: str) -> int:
    """The number that a statement gives, asked once: roll-ups of one view ask the same."""
    if sql not in inputs.counts:
        row = inputs.connection.execute(sql).fetchone()
        inputs.counts[sql] = int(row[0]) if row else 0
    return inputs.counts[sql]


def _time(time: str, utc_offset: float) -> str:
    """SQL of the moment that names the time of a row; hours and days are those of a clock, local times have their own.

    Raises
    ------
    ValueError
        An unknown ``time``; the message lists the valid ones.
    """
    if time not in TIMES:
        raise ValueError(f"time {time!r} is not known; it is one of {', '.join(TIMES)}")
    if time in ("interval", "all"):
        return "interval" if time == "interval" else ""
    shift = f"to_seconds(case when local_time then 0 else {int(utc_offset)} end)"
    return f"date_trunc('{time}', interval + {shift}) - {shift}"


def evaluate(
    inputs: Inputs,
    grain: Grain,
    *,
    by: Iterable[str] | None = None,
    time: str = "interval",
    where: str | None = None,
    within: str | None = None,
    kept: Query | None = None,
    apart: Sequence[str] = (),
    utc_offset: float = 0.0,
    cut: bool = True,
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
        ``interval``, ``hour``, ``day`` or ``all``: the length of time of one row.
    where
        SQL of a condition on facts: the entities that count. Rows that do not meet it are left out before the roll-up;
        their intervals still tell what time their observer covers.
    within
        Such a condition on the time that counts: rows that do not meet it are left out altogether.
    kept
        What `facts` gave for this grain, kept as a table for several roll-ups; taken anew from ``inputs`` by default.
    apart
        Columns that part the covered time: rows that differ in them are of different selections of intervals.
    utc_offset
        Seconds by which the clock on which hours and days begin is ahead of UTC.
    cut
        Whether intervals of several observers that come together are cut where any of them begins or ends
        (`plexlens.metrics.slices`); by default a row by interval is of all observers that were measured then.
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
    bucket = _time(time, utc_offset)
    asked = None if shown is None else frozenset(shown)
    if asked is not None:
        grain = replace(grain, metrics=tuple(metric for metric in grain.metrics if metric.name in asked))
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
    base = _with_interval_to(inputs, table, grain)
    rows = base if not where else _with_interval_to(inputs, table.where(where), grain)
    several = _several(inputs, rows, grain, keys, apart)
    if several and cut and time == "interval":
        base, rows = sliced(inputs, grain, base, rows)
    has_epochs = several and _has_epochs(inputs, base, grain)
    described = [a.name for a in grain.attributes if a.name not in keys]
    plan = Plan.of(
        grain,
        _patterns(inputs, table.source, base, grain, apart),
        several=several,
        shown=asked,
    )
    columns = (
        *keys,
        *(["time"] if time != "all" else []),
        "intervals",
        "first_interval",
        "last_interval",
        *plan.variants,
        *described,
    )
    grouping = Grouping(
        keys,
        tuple(described),
        bucket,
        tuple(apart),
        has_epochs=has_epochs,
        is_plain=not several and _is_plain(inputs, base, grain, apart),
    )
    sql = statement(plan, base, rows, grouping)
    rolled = with_metrics(Query.of(inputs.connection, sql, columns), grain, plan.columns)
    plain = {fact.name for fact in grain.facts if asked is None or fact.name in asked}
    names = [name for name in rolled.columns if name not in plan.variants or name in plain]
    return rolled.select(*names)


def rolled_up(inputs: Inputs, grain: Grain, **how: Any) -> list[dict[str, Any]]:
    """The rows of `evaluate`, by column name; none where no source of the grain is in the database."""
    made = evaluate(inputs, grain, **how)
    return [] if made is None else made.rows()


def rows_view(inputs: Inputs, grain: Grain, kept: Query, where: str | None = None) -> str:
    """Name of a view of kept facts, or of those of them that count, with ``interval_to``."""
    return _with_interval_to(inputs, kept.where(where), grain)


def patterns_of(inputs: Inputs, grain: Grain, kept: Query) -> list[dict[str, bool]]:
    """Which facts that the grain's metrics need are known together of an entity in an interval."""
    return _patterns(inputs, kept.source, _with_interval_to(inputs, kept, grain), grain)


def observed_apart(inputs: Inputs, grain: Grain, kept: Query) -> tuple[tuple[str, ...], ...]:
    """Names of the observers of kept facts by the epoch that they were measured in; the earliest first.

    An observer's name is the last of its columns that has a value: the Db2 or region, or the system.
    """
    view = rows_view(inputs, grain, kept)
    name = f"coalesce({', '.join(f'{quoted(column)}' for column in reversed(grain.observers))}, '')"
    rows = inputs.connection.execute(
        f"select e.epoch, list(distinct r.name order by r.name) from ({epochs(view, grain)}) e "
        f"join (select distinct {joined(grain.observers)} as who, {name} as name from {view}) r on r.who = e.who "
        "group by e.epoch order by e.epoch"
    ).fetchall()
    return tuple(tuple(name for name in names if name) for _, names in rows)


def _with_interval_to(inputs: Inputs, rows: Query, grain: Grain) -> str:
    """A view of facts with the moment that names the end of their interval, as ``interval`` names its start."""
    key = (rows.source, "interval_to", grain.name)
    if key not in inputs.kept:
        name = fresh_name("rolled_rows")
        inputs.views.append(name)
        inputs.connection.execute(
            f"create or replace temp view {name} as select *, {_end_name(grain)} as interval_to from {rows.source}"
        )
        inputs.kept[key] = name
    return str(inputs.kept[key])


def attach(inputs: Inputs, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """Make grains that have a source views of the backend, for SQL.

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
    made = []
    # Says of every report in local time whether its offset is inferred; made whatever is asked, for SQL to read.
    _ = inputs.places_reports
    for grain in GRAINS.values():
        if (wanted is None or grain.name in wanted) and available(inputs, grain):
            rows = facts(inputs, grain)
            if rows is not None:
                select = with_metrics(rows, grain).sql
                inputs.connection.execute(f"create or replace view {quoted(grain.name)} as {select}")
                made.append(grain.name)
    return tuple(made)


__all__ = [
    "IDENTITY",
    "TIMES",
    "above_whole",
    "attach",
    "available",
    "evaluate",
    "facts",
    "kept_facts",
    "observed_apart",
    "patterns_of",
    "rolled_up",
    "rows_view",
    "with_metrics",
]
