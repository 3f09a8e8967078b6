"""Facts of a grain at its own grain: from the preferred source for each system and interval."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches

import duckdb

from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.definition import OWNERS, Grain, Rollup, Source
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.local_time import is_report
from plexlens.metrics.query import Query
from plexlens.metrics.selection.quarter import quarter_functions
from plexlens.metrics.source_sql import SourceSelect, select_of_source, with_parts
from plexlens.pdb.engine import columns_of, literal, quoted

#: Column that says whether a row is of a selected class.
_OF_CLASS = "_of_class"

#: Column of kept facts that names the end of their interval.
END = "interval_to"

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


def source_select(inputs: Inputs, grain: Grain, source: Source) -> tuple[SourceSelect, frozenset[str]]:
    """The select of a source of facts (`plexlens.metrics.source_sql`), and its columns.

    Raises
    ------
    CatalogueError
        With a site's folders in the catalogue: the engine cannot read the SQL.
    """
    catalogue = GRAINS.catalogue
    try:
        functions = catalogue.functions.but(quarter_functions(inputs.selection))
        # A site's SQL is read as a whole, so that its errors show; columns of any kind can identify a class.
        whole = catalogue.is_extended or bool(inputs.selection.classes)
        made = select_of_source(grain, source, inputs.raw, catalogue.relations, functions, whole=whole)
        if made.columns is not None and not catalogue.is_extended:
            return made, made.columns
        return made, frozenset(columns_of(inputs.connection, f"(\n{with_parts(made.parts, made.select)}\n)"))
    except (duckdb.Error, ValueError) as error:
        if not catalogue.is_extended or source.wrong is None:
            raise
        said = str(error).partition("\n")[0].removeprefix("Binder Error: ").removeprefix("Parser Error: ")
        raise source.wrong(f"its SQL cannot be used: {said}", _remedy(inputs, source, said)) from error


def _remedy(inputs: Inputs, source: Source, said: str) -> str:
    """Remedy for an unknown name: the most similar column, else the place to look."""
    tables = [source.tables.get(name, name) for name in (*source.needs, *source.any_of)]
    known = {column for name in tables for column in inputs.columns(name)}
    unknown = re.search(r'column "([^"]+)" not found', said)
    close = get_close_matches(unknown[1], sorted(known), n=1) if unknown else []
    if close:
        return f"did you mean {close[0]}?"
    return 'correct it; plexlens sql PDB "describe TABLE" lists the columns of a raw table'


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
    """Facts as a temporary table with ``interval_to``, the name of the end of their interval, by which roll-ups group.

    A view that adds it afterwards is bound by the engine each time a statement reads it.
    """
    ends = f"select *, {end_name(grain)} as {END} from "
    return rows.over(lambda source: ends + source, (*rows.columns, END)).kept(name)


def _rounded(moment: str, grain: Grain, start: str, end: str) -> str:
    # By microseconds of the clock: calendar functions cost a microsecond a row.
    minute = f"to_timestamp((epoch_us({moment}) + 30000000) // 60000000 * 60)"
    if not any(fact.name == "interval_seconds" for fact in grain.facts):
        return minute
    tens = f"to_timestamp((epoch_us({moment}) + 5000000) // 10000000 * 10)"
    short = f"epoch_us({end}) - epoch_us({start}) < 60000000"
    return f"case when {short} then {tens} else {minute} end"


def _typed(inputs: Inputs, grain: Grain, source: Source) -> str:
    """The select of a source with exactly the grain's columns; facts are numbers, missing facts null.

    Where classes are selected, a further column says which rows are of them: rows of other classes are dropped only
    after sources were matched, or a second source would fill in what was dropped of the first.
    """
    made, there = source_select(inputs, grain, source)
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
    return with_parts(made.parts | {"source_rows": made.select}, f"select {listed}\nfrom source_rows")


def _owner(grain: Grain) -> str | None:
    return next((key.name for key in grain.keys if key.name in OWNERS), None)


def _is_held(grain: Grain, held: str) -> str:
    """SQL condition that ``held`` already covers the time of row ``t``.

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
        Identity, keys, attributes and facts of what is selected; None where no source is in the database. Where classes
        are selected, `Query.timed` has the rows of the other classes too.
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
                select = f"select * from {held}\nunion all\n{select}"
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
    selected = selection.rows(columns)
    if not selected and not selection.classes:
        return Query.of(inputs.connection, made, columns)
    chosen = f"select {', '.join(quoted(name) for name in columns)} from (\n{made}\n)"
    timed = Query.of(inputs.connection, f"{chosen} where {selected}" if selected else chosen, columns)
    if not selection.classes:
        return timed
    of_class = f"{selected} and {_OF_CLASS}" if selected else _OF_CLASS
    return replace(Query.of(inputs.connection, f"{chosen} where {of_class}", columns), timed=timed)
