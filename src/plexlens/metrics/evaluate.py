"""Facts of a grain from all its sources, rolled up, with the metrics applied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ibis

from plexlens.metrics.definition import IDENTITY, Attribute, Fact, Grain, Key, Source
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.local_time import is_report
from plexlens.metrics.selection.selection import Selection

#: Lengths of time a result can be grouped by.
TIMES = ("interval", "hour", "day", "all")

#: Column that says whether a row is of a selected class.
_OF_CLASS = "_of_class"

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
    moment = ibis.coalesce(start, end)
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
    chosen["interval"] = _interval_name(chosen["interval_start"], chosen["interval_end"], grain)
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


#: Keys that say who was measured where that is not a system: a Db2, a queue manager, a CICS region.
_OWNERS = ("subsystem", "applid")


def _owner(grain: Grain) -> str | None:
    return next((key.name for key in grain.keys if key.name in _OWNERS), None)


def _held_times(table: Any, owner: str | None) -> Any:
    """Who was measured and when, and whether that time is local."""
    who = ("system", "sysplex", *([owner] if owner else []))
    held = table.select("interval", "local_time", *who).distinct()
    return held.select(
        held_interval=held.interval, held_local=held.local_time, **{f"held_{name}": held[name] for name in who}
    )


def _same_time(table: Any, held: Any) -> Any:
    """Whether a row tells what is held: the same interval, or a longer one in which held ones begin.

    Times on a local clock of unknown offset are compared with such times alone.
    """
    last = table.interval_end - ibis.interval(seconds=30)
    within = (held.held_interval > table.interval) & (held.held_interval < last)
    same = table.interval == held.held_interval
    return (same | within.fill_null(False)) & (table.local_time == held.held_local)


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
            [_same_time(table, held), _same_owner(table, held, owner)],
        )
        result = result.union(table)
    return None if result is None else _selected(result, inputs.selection)


def _selected(table: Any, selection: Selection) -> Any:
    """The facts of the selected systems, times and classes."""
    if not selection:
        return table
    table = selection.rows(table)
    return table.filter(table[_OF_CLASS]).drop(_OF_CLASS) if selection.classes else table


def with_metrics(table: Any, grain: Grain) -> Any:
    """The table with every metric of the grain added."""
    return table.mutate(**{metric.name: metric.expression(table).cast("float64") for metric in grain.metrics})


def _combine(column: Any, how: str) -> Any:
    return {"sum": column.sum, "max": column.max, "min": column.min, "mean": column.mean}[how]()


def _across(fact: Fact, column: Any) -> Any:
    return _combine(column, fact.rollup.across)


def _over(fact: Fact, column: Any, seconds: Any) -> Any:
    if fact.rollup.over != "mean":
        return _combine(column, fact.rollup.over)
    weight = ibis.ifelse(column.isnull(), ibis.null("float64"), seconds)
    return ibis.coalesce((column * weight).sum() / weight.sum().nullif(0.0), column.mean())


def evaluate(
    inputs: Inputs,
    grain: Grain,
    *,
    by: Iterable[str] | None = None,
    time: str = "interval",
    where: Any = None,
    kept: Any = None,
) -> Any:
    """Metrics of a grain, rolled up to fewer columns or longer times.

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
        A function from the facts (Ibis table) to a boolean column; rows without it are left out before the roll-up.
    kept
        What `facts` gave for this grain, kept as a table for several roll-ups; taken anew from ``inputs`` by default.

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
    if time not in TIMES:
        raise ValueError(f"time {time!r} is not known; it is one of {', '.join(TIMES)}")
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
    table = facts(inputs, grain) if kept is None else kept
    if table is None:
        return None
    if where is not None:
        table = table.filter(where(table))
    described = [a.name for a in grain.attributes if a.name not in keys]
    step = table.group_by([*keys, "interval"]).aggregate(
        **{f.name: _across(f, table[f.name]) for f in grain.facts},
        **{f"{name}_low": table[name].min() for name in described},
        **{f"{name}_high": table[name].max() for name in described},
    )
    bucket = {
        "interval": step.interval,
        "hour": step.interval.truncate("hour"),
        "day": step.interval.truncate("day"),
    }.get(time)
    if bucket is not None:
        step = step.mutate(time=bucket)
    groups = [*keys, *(["time"] if bucket is not None else [])]
    seconds = step["interval_seconds"] if "interval_seconds" in step.columns else ibis.literal(1.0)
    rolled = step.group_by(groups).aggregate(
        intervals=step.interval.nunique(),
        first_interval=step.interval.min(),
        last_interval=step.interval.max(),
        **{f.name: _over(f, step[f.name], seconds) for f in grain.facts},
        **{f"{name}_low": step[f"{name}_low"].min() for name in described},
        **{f"{name}_high": step[f"{name}_high"].max() for name in described},
    )
    rolled = rolled.mutate(
        **{
            name: ibis.ifelse(
                rolled[f"{name}_low"] == rolled[f"{name}_high"], rolled[f"{name}_low"], ibis.null("string")
            )
            for name in described
        }
    ).drop(*(f"{name}_{end}" for name in described for end in ("low", "high")))
    return with_metrics(rolled, grain)


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


__all__ = ["IDENTITY", "TIMES", "attach", "available", "evaluate", "facts", "with_metrics"]
