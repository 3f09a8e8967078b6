"""Facts of a grain at its own grain: from the preferred source for each system and interval."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from plexlens.metrics.definition import END, OWNERS, Grain, Rollup, Source
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.local_time import is_report
from plexlens.metrics.moments import nearest
from plexlens.metrics.query import Query
from plexlens.metrics.rolled.days import next_to
from plexlens.metrics.rolled.reading import Rolled, rolled_of
from plexlens.metrics.rolled.rule import dated_tables
from plexlens.metrics.source_rows import columns_there, is_there, source_select
from plexlens.metrics.source_sql import with_parts
from plexlens.pdb.engine import add_table, arrow, literal, quoted
from plexlens.pdb.kept_rows import are_many
from plexlens.pdb.rollup_store import INTERVAL

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


def _interval_name(grain: Grain, start: str, end: str) -> str:
    """SQL of the moment that identifies an interval across systems.

    Systems close their intervals within moments of each other: the minute nearest the start names the interval. Two
    intervals shorter than a minute can start within the same one; where their length counts, once for all entities,
    it is the nearest ten seconds.
    """
    return _rounded(f"coalesce({start}, {end})", grain, start, end)


def end_name(grain: Grain) -> str:
    """SQL of the moment that names the end of an interval, consistent with `_interval_name` of the next interval."""
    return _rounded("interval_end", grain, "interval_start", "interval_end")


def keep(rows: Query, grain: Grain, name: str) -> Query:
    """Facts, computed once, with ``interval_to``, the name of the end of their interval, by which roll-ups group.

    A view that adds it afterwards is bound by the engine each time a statement reads it.
    """
    ends = f"select *, {end_name(grain)} as {END} from "
    tables = {table for source in grain.sources for needed in source.alternatives for table in needed}
    in_file = are_many(rows.connection, tables, len(rows.columns))
    return rows.over(lambda source: ends + source, (*rows.columns, END)).kept(name, in_file=in_file)


def _rounded(moment: str, grain: Grain, start: str, end: str) -> str:
    minute = nearest(60, moment)
    if not any(fact.name == "interval_seconds" for fact in grain.facts):
        return minute
    short = f"epoch_us({end}) - epoch_us({start}) < 60000000"
    return f"case when {short} then {nearest(10, moment)} else {minute} end"


def _typed(inputs: Inputs, grain: Grain, source: Source) -> str:
    """The select of a source with exactly the grain's columns; facts are numbers, missing facts null.

    Where classes are selected, a further column says which rows are of them: rows of other classes are dropped only
    after sources were matched, or a second source would fill in what was dropped of the first.
    """
    result = source_select(inputs, grain, source)
    there = columns_there(inputs, source, result)
    chosen = {
        name: f"{quoted(name)}::{kind}" if name in there else f"null::{kind}" for name, kind in _IDENTITY_TYPES.items()
    }
    chosen["source_kind"] = literal(source.kind)
    if "local_time" in there:
        chosen["local_time"] = "coalesce(local_time::boolean, false)"
    elif any(is_report(name) for name in source.needs) and "utc_offset" in there:
        # The source's times are local with unknown offset if its report has no offset.
        chosen["local_time"] = "utc_offset is null"
    else:
        chosen["local_time"] = "false"
    interval = _interval_name(grain, chosen["interval_start"], chosen["interval_end"])
    # Records that are added up by the quarter of an hour are named by it, and cover what they reach into it.
    chosen["interval"] = f'coalesce("interval"::timestamptz, {interval})' if "interval" in there else interval
    for name in (*(key.name for key in grain.keys), *(attribute.name for attribute in grain.attributes)):
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
    return with_parts(result.parts | {"source_rows": result.select}, f"select {listed}\nfrom source_rows")


def _owner(grain: Grain) -> str | None:
    return next((key.name for key in grain.keys if key.name in OWNERS), None)


def _is_held(grain: Grain, text: str) -> str:
    """SQL condition that ``text`` already covers the time of row ``t``.

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
        entry = f"t.{quoted(owner)} = h.{quoted(owner)}"
    else:
        entry = (
            "case when t.system is null or h.system is null then coalesce(t.sysplex, '') = coalesce(h.sysplex, '') "
            "else t.system = h.system end"
        )
    who = ", ".join(["system", "sysplex", *([quoted(owner)] if owner else [])])
    times = f'select distinct "interval", interval_start, interval_end, local_time, {who} from {text}'
    return f"exists (select 1 from ({times}) h where ({same}) and t.local_time = h.local_time and {entry})"


def facts(inputs: Inputs, grain: Grain) -> Query | None:
    """All facts of a grain at its own grain, from the preferred source for each system and interval.

    They come from the roll-ups of the database for the days that these are up to date for, and from the raw rows
    otherwise; they are the same (`plexlens.metrics.rolled`). Where another engine computes them (`Inputs.brought`),
    they come from the raw rows alone.

    Returns
    -------
    Query or None
        Identity, keys, attributes and facts of what is selected; None where no source is in the database. Where classes
        are selected, `Query.timed` has the rows of the other classes too.
    """
    rolled = rolled_of(inputs, grain)
    if rolled is not None:
        return rolled_facts(inputs, grain, rolled)
    rows = from_sources(inputs, grain)
    return rows if rows is None or inputs.brought is None else inputs.brought(inputs, rows)


def rolled_facts(
    inputs: Inputs, grain: Grain, rolled: Rolled, level: str = INTERVAL, only: Collection[str] | None = None
) -> Query:
    """Facts from roll-ups, and from raw rows for the days that lack them.

    Parameters
    ----------
    inputs
        The raw tables.
    grain
        The grain, with the facts that are asked for.
    rolled
        Its roll-ups.
    level
        Length of time of a row: ``interval``, ``hour`` or ``day``.
    only
        Columns to return, of those of facts and ``interval_to``; None for those of facts.
    """
    columns = columns_of(grain) if only is None else tuple(name for name in (*columns_of(grain), END) if name in only)
    raw = missing_facts(inputs, grain, rolled)
    selection = inputs.selection
    listed = ", ".join(quoted(name) for name in columns)
    there = {key.name for key in rolled.grain.keys} | {attribute.name for attribute in rolled.grain.attributes}
    of_class = selection.class_condition(there)

    def taken(condition: str, rows: Query | None) -> Query:
        wanted = " and ".join(f"({text})" for text in (selection.rows(columns), condition) if text)
        names = (*columns, *(name for name in there if condition and name not in columns))
        select = f"select {listed} from ({rolled.stored(level, names)}){f' where {wanted}' if wanted else ''}"
        if rows is not None:
            ends = {END: end_name(grain)}
            own = ", ".join(f"{ends[name]} as {name}" if name in ends else quoted(name) for name in columns)
            select += f"\nunion all\nselect {own} from {rows.source}"
        return Query.of(inputs.connection, select, columns)

    if not of_class:
        return taken("", raw)
    whole = taken("", None if raw is None else raw.timed or raw)
    return replace(taken(of_class, raw), timed=whole)


def missing_facts(inputs: Inputs, grain: Grain, rolled: Rolled) -> Query | None:
    """Facts of the days without a roll-up, as a temporary table; None if there is no such day."""
    key = ("facts of missing days", grain.name, grain.facts, grain.attributes)
    if rolled.missing and key not in inputs.kept:
        query = facts_of_days(inputs, grain, rolled, rolled.missing)
        inputs.kept[key] = query
    result: Query | None = inputs.kept.get(key)
    return result


def facts_of_days(inputs: Inputs, grain: Grain, rolled: Rolled, days: Sequence[str]) -> Query | None:
    """Facts of some days (UTC), computed from the raw files that contribute to them, as a temporary table."""
    wanted = {file.path for day in days for file in rolled.raw.near(day, day)}
    limit = inputs.connection.execute("select current_setting('memory_limit')").fetchone()
    tables = dated_tables(rolled.source)
    part = rolled.pdb.part(lambda file: file.path in wanted or file.table not in tables)
    rows = from_sources(
        Inputs(part.connect(memory_limit=str(limit[0]) if limit else None), inputs.selection, reads_rollups=False),
        grain,
    )
    return None if rows is None else _brought(inputs, rows, on_days(days))


def _brought(inputs: Inputs, rows: Query, condition: str) -> Query:
    """Rows of another connection as a temporary table of this one."""
    name = fresh_name("facts_of_days")
    add_table(
        inputs.connection,
        name,
        arrow(rows.connection, f"select * from {rows.source} where {condition}"),
        temporary=True,
    )
    timed = None if rows.timed is None else _brought(inputs, rows.timed, condition)
    return Query(inputs.connection, name, rows.columns, timed)


def on_days(days: Sequence[str]) -> str:
    """SQL condition that an interval begins on one of the days (UTC)."""
    # As ranges, which the engine tests as early as it can; a conversion to days it tests last.
    name, midnight = quoted("interval"), "00:00:00+00'"
    ranges = [
        f"({name} >= timestamptz '{day} {midnight} and {name} < timestamptz '{next_to(day, 1)} {midnight})"
        for day in days
    ]
    return f"({' or '.join(ranges)})"


def parts_of(grain: Grain, parts: int) -> list[str]:
    """SQL conditions that divide the entities of a grain into parts, a power of two, by a hash of the first key.

    A range of the hash is tested before rows are added up, so that a part takes its share of the memory. A remainder
    (``hash % 4``) would be tested afterwards, since the engine moves no condition that could end in an error; so would
    other keys, which a source may have joined.
    """
    key, width = quoted(grain.keys[0].name), (1 << 64) // parts
    return [f"hash({key}) between {part * width} and {(part + 1) * width - 1}" for part in range(parts)]


def columns_of(grain: Grain) -> tuple[str, ...]:
    """Columns of facts, in their order."""
    return (
        *_IDENTITY_TYPES,
        "source_kind",
        "local_time",
        "interval",
        *(key.name for key in grain.keys if key.name not in _IDENTITY_TYPES),
        *(attribute.name for attribute in grain.attributes if attribute.name not in _IDENTITY_TYPES),
        *(fact.name for fact in grain.facts),
    )


def from_sources(inputs: Inputs, grain: Grain) -> Query | None:
    """All facts of a grain from the raw rows, as `facts` gives them."""
    sources = [source for source in grain.sources if is_there(inputs, source)]
    if not sources:
        return None
    if len(sources) == 1:
        text = _typed(inputs, grain, sources[0])
    else:
        parts, content = [], ""
        for number, source in enumerate(sources):
            select = _typed(inputs, grain, source)
            if content:
                select = f"select t.* from (\n{select}\n) t where not {_is_held(grain, content)}"
                select = f"select * from {content}\nunion all\n{select}"
            content = f"facts_{number}"
            parts.append(f"{content} as (\n{select}\n)")
        text = f"with {','.join(parts)}\nselect * from {content}"
    selection = inputs.selection
    columns = columns_of(grain)
    selected = selection.rows(columns)
    if not selected and not selection.classes:
        return Query.of(inputs.connection, text, columns)
    chosen = f"select {', '.join(quoted(name) for name in columns)} from (\n{text}\n)"
    timed = Query.of(inputs.connection, f"{chosen} where {selected}" if selected else chosen, columns)
    if not selection.classes:
        return timed
    of_class = f"{selected} and {_OF_CLASS}" if selected else _OF_CLASS
    return replace(Query.of(inputs.connection, f"{chosen} where {of_class}", columns), timed=timed)
