"""Facts of a grain from all its sources, rolled up, with the metrics applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ibis

from plexlens.metrics.ceiling import below_ceiling
from plexlens.metrics.definition import IDENTITY, OWNERS, Attribute, Grain, Key, Rollup, Source
from plexlens.metrics.engine_table import fresh_name, keep, quoted, view_of, view_of_sql
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.local_time import is_report
from plexlens.metrics.required import read_by
from plexlens.metrics.rollup import Grouping, entity, epochs, joined, statement
from plexlens.metrics.selection.selection import Selection
from plexlens.metrics.slices import sliced
from plexlens.metrics.variants import Plan

#: Lengths of time a result can be grouped by.
TIMES = ("interval", "hour", "day", "all")

#: Column that says whether a row is of a selected class.
_OF_CLASS = "_of_class"

#: Seconds by which a report may be off where it prints times to the minute.
_ROUNDED_TO = 30

_IDENTITY_TYPES = {
    "system": "string",
    "sysplex": "string",
    "interval_start": "timestamp('UTC')",
    "interval_end": "timestamp('UTC')",
    "utc_offset": "float64",
    "source_kind": "string",
}


def available(inputs: Inputs, grain: Grain) -> bool:
    """Whether any source of the grain is in the database."""
    return any(inputs.has(*source.needs) for source in grain.sources)


def _interval_name(start: Any, end: Any, grain: Grain) -> Any:
    """The moment by which rows of different systems are known to be of the same interval.

    Systems close their intervals within moments of each other: the minute nearest the start names the interval. Two
    intervals shorter than a minute can start within the same one; where their length counts, once for all entities,
    it is the nearest ten seconds.
    """
    return _rounded(ibis.coalesce(start, end), start, end, grain)


def _end_name(table: Any, grain: Grain) -> Any:
    """The moment that names the end of an interval: the same as `_interval_name` gives one that starts there."""
    return _rounded(table.interval_end, table.interval_start, table.interval_end, grain)


def _rounded(moment: Any, start: Any, end: Any, grain: Grain) -> Any:
    minute = (moment + ibis.interval(seconds=30)).truncate("minute").cast("timestamp('UTC')")
    if not any(fact.name == "interval_seconds" for fact in grain.facts):
        return minute
    tens = ((moment + ibis.interval(seconds=5)).epoch_seconds() // 10 * 10).as_timestamp("s").cast("timestamp('UTC')")
    short = end.delta(start, unit="microsecond") < 60_000_000
    return ibis.ifelse(short.fill_null(False), tens, minute)


def _is_local(table: Any, source: Source) -> Any:
    """Whether a row's times are local ones of unknown offset: the source says so, or its report names no offset."""
    if "local_time" in table.columns:
        return table.local_time.cast("boolean").fill_null(False)
    if any(is_report(name) for name in source.needs) and "utc_offset" in table.columns:
        return table.utc_offset.isnull()
    return ibis.literal(False)


def _typed(table: Any, grain: Grain, source: Source, selection: Selection) -> Any:
    """The table with exactly the grain's columns; facts as float64, what is missing as null.

    Where classes are selected, a further column says which rows are of them: rows of other classes are dropped only
    after sources were matched, or a second source would fill in what was dropped of the first.
    """
    there = set(table.columns)
    chosen: dict[str, Any] = {}
    for name, dtype in _IDENTITY_TYPES.items():
        if name == "source_kind":
            chosen[name] = ibis.literal(source.kind)
        else:
            chosen[name] = table[name].cast(dtype) if name in there else ibis.null(dtype)
    chosen["local_time"] = _is_local(table, source)
    # Records that are added up by the quarter of an hour are named by it, and cover what they reach into it.
    chosen["interval"] = (
        table["interval"].cast("timestamp('UTC')")
        if "interval" in there
        else _interval_name(chosen["interval_start"], chosen["interval_end"], grain)
    )
    named: tuple[Key | Attribute, ...] = (*grain.keys, *grain.attributes)
    for column in named:
        chosen[column.name] = table[column.name].cast("string") if column.name in there else ibis.null("string")
    for fact in grain.facts:
        chosen[fact.name] = table[fact.name].cast("float64") if fact.name in there else ibis.null("float64")
    of_class = selection.class_condition(table)
    if selection.classes:
        chosen[_OF_CLASS] = ibis.literal(True) if of_class is None else of_class
    # A key may bear the name of an identity column (system); it is that column.
    return table.select(**chosen)


def _known(table: Any, grain: Grain) -> Any:
    """The table with null for facts into which a value that cannot be has gone: they are not a number."""
    return table.mutate(
        **{f.name: ibis.ifelse(table[f.name].isnan(), ibis.null("float64"), table[f.name]) for f in grain.facts}
    )


def _owner(grain: Grain) -> str | None:
    return next((key.name for key in grain.keys if key.name in OWNERS), None)


def _held_times(table: Any, owner: str | None) -> Any:
    """Who was measured and when, and whether that time is local."""
    who = ("system", "sysplex", *([owner] if owner else []))
    held = table.select("interval", "interval_start", "interval_end", "local_time", *who).distinct()
    return held.select(
        held_interval=held.interval,
        held_start=held.interval_start.epoch_seconds(),
        held_end=held.interval_end.epoch_seconds(),
        held_local=held.local_time,
        **{f"held_{name}": held[name] for name in who},
    )


def _same_time(table: Any, held: Any, grain: Grain) -> Any:
    """Whether a row tells what is held: its interval has the same name, or overlaps a held one.

    Reports round the ends of their intervals, so an overlap counts from half a minute on, or from half of the shorter
    interval. Pieces of work (accounting without intervals in common) overlap by nature and are known by name alone.
    Times on a local clock of unknown offset are compared with such times alone.
    """
    same = table.interval == held.held_interval
    if any(fact.rollup is Rollup.SPAN for fact in grain.facts):
        start, end = table.interval_start.epoch_seconds(), table.interval_end.epoch_seconds()
        overlap = ibis.least(end, held.held_end) - ibis.greatest(start, held.held_start)
        shorter = ibis.least(end - start, held.held_end - held.held_start)
        # A row without both of its ends, such as a display, lies nowhere in time; it adds to what is held.
        known = start.notnull() & end.notnull() & held.held_start.notnull() & held.held_end.notnull()
        same |= known & (overlap > 0) & (overlap >= ibis.least(_ROUNDED_TO, shorter / 2))
    return same & (table.local_time == held.held_local)


def _same_owner(table: Any, held: Any, owner: str | None) -> Any:
    """Whether both are of one system; of one Db2 or region where the grain has these."""
    if owner is not None:
        return table[owner] == held[f"held_{owner}"]
    return ibis.ifelse(
        table.system.isnull() | held.held_system.isnull(),
        table.sysplex.fill_null("") == held.held_sysplex.fill_null(""),
        table.system == held.held_system,
    )


def facts(inputs: Inputs, grain: Grain) -> Any:
    """All facts of a grain at its own grain, from the preferred source for each system and interval.

    Returns
    -------
    ibis.expr.types.Table or None
        Identity, keys, attributes and facts of what is selected; None where no source is in the database.
    """
    result: Any = None
    owner = _owner(grain)
    for source in grain.sources:
        if not inputs.has(*source.needs):
            continue
        table = _typed(source.facts(inputs), grain, source, inputs.selection)
        if inputs.has_marked:
            table = _known(table, grain)
        if result is None:
            result = table
            continue
        held = _held_times(result, owner)
        table = table.anti_join(
            held,
            [_same_time(table, held, grain), _same_owner(table, held, owner)],
        )
        result = result.union(table)
    return None if result is None else _selected(result, inputs.selection)


def _selected(table: Any, selection: Selection) -> Any:
    """The facts of the selected systems, times and classes."""
    if not selection:
        return table
    table = selection.rows(table)
    return table.filter(table[_OF_CLASS]).drop(_OF_CLASS) if selection.classes else table


class _Columns:
    """The facts as one metric reads them: some by columns of their own."""

    def __init__(self, table: Any, columns: Mapping[str, str]) -> None:
        self._table, self._columns = table, columns

    def __getitem__(self, name: str) -> Any:
        return self._table[self._columns.get(name, name)]

    def __getattr__(self, name: str) -> Any:
        return self[name]


def with_metrics(table: Any, grain: Grain, columns: Mapping[str, Mapping[str, str]] | None = None) -> Any:
    """The table with every metric of the grain added; a share of more than the whole is null.

    Parameters
    ----------
    table
        The facts.
    grain
        The metrics.
    columns
        For each metric, the column that stands for a fact where it is not the one of its name.
    """
    named = columns or {}
    added = table.mutate(
        **{
            metric.name: metric.expression(_Columns(table, named.get(metric.name, {}))).cast("float64")
            for metric in grain.metrics
        }
    )
    return below_ceiling(added, grain)


def kept_facts(inputs: Inputs, grain: Grain) -> Any:
    """The facts of a grain as a temporary table, made once; None where no source is in the database."""
    key = (grain.name, tuple(fact.name for fact in grain.facts), tuple(a.name for a in grain.attributes))
    if key not in inputs.kept:
        table = facts(inputs, grain)
        if table is not None:
            name = fresh_name(f"facts_{grain.name}")
            keep(inputs.backend, name, table)
            table = inputs.backend.table(name)
        inputs.kept[key] = table
    return inputs.kept[key]


def _patterns(inputs: Inputs, table: Any, view: str, grain: Grain, apart: Sequence[str] = ()) -> list[dict[str, bool]]:
    """Which of the facts that metrics need are known together of an entity in an interval."""
    needed = read_by(grain, grain.metrics).values()
    there = {fact.name for fact in grain.facts}
    names = tuple(sorted({name for read in needed if len(read.facts & there) > 1 for name in read.facts & there}))
    if not names:
        return []
    key = (table.op(), names, tuple(apart))
    if key not in inputs.patterns:
        known = ", ".join(f"count({quoted(name)}) > 0 as {quoted(name)}" for name in names)
        by = ", ".join(quoted(name) for name in (*entity(grain), *apart, "interval", "interval_to"))
        listed = ", ".join(quoted(name) for name in names)
        sql = f"select distinct {listed} from (select {known} from {view} group by {by})"
        rows = inputs.backend.raw_sql(sql).fetchall()
        inputs.patterns[key] = [dict(zip(names, row, strict=True)) for row in rows]
    return inputs.patterns[key]


def _several(inputs: Inputs, view: str, grain: Grain, keys: Sequence[str], apart: Sequence[str]) -> bool:
    """Whether rows of several observers come together in a group."""
    observers = [name for name in dict.fromkeys((*grain.observers, *apart)) if name not in keys]
    if not observers:
        return False
    rows = inputs.backend.raw_sql(f"select count(distinct {joined(observers)}) from {view}").fetchone()
    return bool(rows[0] > 1)


def _has_epochs(inputs: Inputs, view: str, grain: Grain) -> bool:
    """Whether there are observers that were never measured at the same time."""
    rows = inputs.backend.raw_sql(f"select count(distinct epoch) from ({epochs(view, grain)})").fetchone()
    return bool(rows[0] > 1)


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
    where: Any = None,
    within: Any = None,
    kept: Any = None,
    apart: Sequence[str] = (),
    utc_offset: float = 0.0,
    cut: bool = True,
) -> Any:
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
        A function from the facts (Ibis table) to a boolean column: the entities that count. Rows without it are left
        out before the roll-up; their intervals still tell what time their observer covers.
    within
        Such a function for the time that counts: rows without it are left out altogether.
    kept
        What `facts` gave for this grain, kept as a table for several roll-ups; taken anew from ``inputs`` by default.
    apart
        Columns that part the covered time: rows that differ in them are of different selections of intervals.
    utc_offset
        Seconds by which the clock on which hours and days begin is ahead of UTC.
    cut
        Whether intervals of several observers that come together are cut where any of them begins or ends
        (`plexlens.metrics.slices`); by default a row by interval is of all observers that were measured then.

    Returns
    -------
    ibis.expr.types.Table or None
        Columns ``by``, ``time`` (start of the row's time, absent for ``all``), attributes, facts and metrics; None
        where no source of the grain is in the database.

    Raises
    ------
    ValueError
        An unknown column in ``by`` or an unknown ``time``; the message lists the valid ones.
    """
    bucket = _time(time, utc_offset)
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
    if within is not None:
        table = table.filter(within(table))
    base = _with_interval_to(inputs, table, grain)
    rows = base if where is None else _with_interval_to(inputs, table.filter(where(table)), grain)
    several = _several(inputs, rows, grain, keys, apart)
    if several and cut and time == "interval":
        base, rows = sliced(inputs, grain, base, rows)
    has_epochs = several and _has_epochs(inputs, base, grain)
    described = [a.name for a in grain.attributes if a.name not in keys]
    plan = Plan.of(
        grain,
        _patterns(inputs, table, base, grain, apart),
        several=several,
    )
    columns = {
        **dict.fromkeys(keys, "string"),
        **({"time": "timestamp('UTC')"} if time != "all" else {}),
        "intervals": "int64",
        "first_interval": "timestamp('UTC')",
        "last_interval": "timestamp('UTC')",
        **dict.fromkeys(plan.variants, "float64"),
        **dict.fromkeys(described, "string"),
    }
    grouping = Grouping(keys, tuple(described), bucket, tuple(apart), has_epochs=has_epochs)
    sql = statement(plan, base, rows, grouping)
    rolled = with_metrics(view_of_sql(inputs, sql, columns), grain, plan.columns)
    plain = {fact.name for fact in grain.facts}
    return rolled.drop(*(name for name in plan.variants if name not in plain))


def rows_view(inputs: Inputs, grain: Grain, kept: Any, where: Any = None) -> str:
    """Name of a view of kept facts, or of those of them that count, with ``interval_to``."""
    return _with_interval_to(inputs, kept if where is None else kept.filter(where(kept)), grain)


def patterns_of(inputs: Inputs, grain: Grain, kept: Any) -> list[dict[str, bool]]:
    """Which facts that the grain's metrics need are known together of an entity in an interval."""
    return _patterns(inputs, kept, _with_interval_to(inputs, kept, grain), grain)


def observed_apart(inputs: Inputs, grain: Grain, kept: Any) -> tuple[tuple[str, ...], ...]:
    """Names of the observers of kept facts by the epoch that they were measured in; the earliest first.

    An observer's name is the last of its columns that has a value: the Db2 or region, or the system.
    """
    view = rows_view(inputs, grain, kept)
    name = f"coalesce({', '.join(f'{quoted(column)}' for column in reversed(grain.observers))}, '')"
    rows = inputs.backend.raw_sql(
        f"select e.epoch, list(distinct r.name order by r.name) from ({epochs(view, grain)}) e "
        f"join (select distinct {joined(grain.observers)} as who, {name} as name from {view}) r on r.who = e.who "
        "group by e.epoch order by e.epoch"
    ).fetchall()
    return tuple(tuple(name for name in names if name) for _, names in rows)


def _with_interval_to(inputs: Inputs, table: Any, grain: Grain) -> str:
    """A view of facts with the moment that names the end of their interval, as ``interval`` names its start."""
    key = (table.op(), "interval_to", grain.name)
    if key not in inputs.kept:
        inputs.kept[key] = view_of(inputs, table.mutate(interval_to=_end_name(table, grain)))
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
    from plexlens.metrics import GRAINS

    wanted = None if names is None else set(names)
    made = []
    # Says of every report in local time whether its offset is inferred; made whatever is asked, for SQL to read.
    _ = inputs.places_reports
    for grain in GRAINS.values():
        if (wanted is None or grain.name in wanted) and available(inputs, grain):
            inputs.backend.create_view(grain.name, with_metrics(facts(inputs, grain), grain), overwrite=True)
            made.append(grain.name)
    return tuple(made)


__all__ = [
    "IDENTITY",
    "TIMES",
    "attach",
    "available",
    "evaluate",
    "facts",
    "kept_facts",
    "observed_apart",
    "patterns_of",
    "rows_view",
    "with_metrics",
]
