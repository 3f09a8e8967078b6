"""Rows of facts by the hour and the day, from those by interval.

A row of an hour stands in the first interval in which its entity has a row: there the counts of all of its intervals
are added up, and the highest and lowest of its peaks kept. To a roll-up over an hour or more it looks like an entity
that did everything in that interval and nothing in the others, so that the same statements give the same answers; the
time covered follows from the intervals themselves, which are kept too (`cover`). Rows are merged only if they agree in
their attributes and in which facts they know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from plexlens.metrics.definition import END, Grain, Rollup
from plexlens.metrics.epochs import entity, joined
from plexlens.metrics.rolled.rule import MERGEABLE
from plexlens.pdb.engine import Connection, quoted
from plexlens.pdb.rollup_store import DAY, HOUR, INTERVAL

#: Seconds of a row, by level. `interval` has the rows as they are, `cover` the intervals of each observer.
LEVELS = {HOUR: 3600, DAY: 86_400}

#: Facts whose nulls one number tells.
_BITS = 60

#: Combinations of known facts that an index keeps at most.
MOST_PATTERNS = 500

#: Columns that tell the time of a row.
MOMENTS = ("interval_start", "interval_end", "interval", END)

#: Local minus UTC in seconds: offsets are recorded as clock values a hair off the minute.
OFFSET = "coalesce(round(utc_offset / 60) * 60, 0)"


def columns_of_facts(grain: Grain) -> tuple[str, ...]:
    """Columns of rolled-up rows, in their order."""
    return tuple(
        dict.fromkeys(
            (
                *("system", "sysplex", "interval_start", "interval_end", "utc_offset", "source_kind", "local_time"),
                *("interval", END),
                *(key.name for key in grain.keys),
                *(attribute.name for attribute in grain.attributes),
                *(fact.name for fact in grain.facts),
            )
        )
    )


def is_mergeable(connection: Connection, table: str, grain: Grain) -> bool:
    """Whether rows of facts can be merged: each entity has one row in an interval, of known time.

    Intervals of an observer have one beginning, end and length, and do not overlap.
    """
    spans = [fact.name for fact in grain.facts if fact.rollup is Rollup.SPAN]
    own = ", ".join(quoted(name) for name in entity(grain))
    texts = [*(("interval_start", "interval_end") if spans else ()), *spans]
    agree = " and ".join(
        f"count(*) = count({quoted(entry)}) and min({quoted(entry)}) = max({quoted(entry)})" for entry in texts
    )
    observer = joined(grain.observers)
    intervals = (
        f"select {observer} as who, interval, min(interval_start) as starts, max(interval_end) as ends, "
        f"count(*) = count(distinct ({own})) and {agree or 'true'} and count(distinct {END}) <= 1 as is_single, "
        f"bool_or(local_time) as is_local from {table} group by who, interval"
    )
    overlap = "max(ends) over (partition by who order by starts, ends rows between unbounded preceding and 1 preceding)"
    overlaps = f"coalesce({overlap} > starts, false)" if spans else "false"
    row = connection.execute(
        "select bool_and(is_single and interval is not null and not is_local and not is_overlapping) from "
        f"(select *, {overlaps} as is_overlapping from ({intervals}))"
    ).fetchone()
    return bool(row and row[0])


def merged(table: str, grain: Grain, seconds: int) -> str:
    """The select of rows by a length of time of the local clock."""
    alike = ["system", "sysplex", "utc_offset", "source_kind", "local_time"]
    alike += [key.name for key in grain.keys] + [attribute.name for attribute in grain.attributes]
    alike = list(dict.fromkeys(alike))
    texts = {name: quoted(name) for name in alike}
    texts |= {name: f"arg_min({quoted(name)}, interval)" for name in MOMENTS}
    for fact in grain.facts:
        how = MERGEABLE.get(fact.rollup)
        name = quoted(fact.name)
        texts[fact.name] = f"{how}({name})" if how else f"arg_min({name}, interval)"
    listed = ", ".join(f"{texts[name]} as {quoted(name)}" for name in columns_of_facts(grain))
    groups = [quoted(name) for name in alike]
    groups += [f"floor((epoch(interval) + {OFFSET}) / {seconds})", *nulls_of(grain)]
    return f"select {listed} from {table} group by {', '.join(groups)}"


def summed_levels(grain: Grain) -> dict[str, tuple[str, ...]]:
    """Levels of rows by interval that are added up over some of the keys, with the columns that they keep apart.

    Rows of each observer come first. Those of a single key are of all observers together, so that they answer only for
    intervals that all observers have alike (`plexlens.metrics.even_intervals`).
    """
    observers = tuple(dict.fromkeys(("sysplex", "system", *grain.observers)))
    others = [key.name for key in grain.keys if key.name not in observers]
    if not others:
        return {}
    return {f"{INTERVAL}_observer": observers} | {f"{INTERVAL}_{name}": ("sysplex", name) for name in others}


def summed(table: str, grain: Grain, kept: Iterable[str]) -> str:
    """The select of rows by interval added up over all keys but those that are kept; the others are null."""
    apart = dict.fromkeys(("sysplex", "utc_offset", "source_kind", "local_time", "interval", END, *kept))
    texts = {name: quoted(name) for name in apart}
    texts |= {"interval_start": "min(interval_start)", "interval_end": "max(interval_end)"}
    for fact in grain.facts:
        texts[fact.name] = f"{MERGEABLE.get(fact.rollup, 'max')}({quoted(fact.name)})"
    listed = ", ".join(f"{texts.get(name, 'null::varchar')} as {quoted(name)}" for name in columns_of_facts(grain))
    groups = [*map(quoted, apart), *nulls_of(grain)]
    order = ", ".join(map(quoted, dict.fromkeys((*kept, "interval"))))
    return f"select {listed} from {table} group by {', '.join(groups)} order by {order}"


def nulls_of(grain: Grain) -> list[str]:
    """SQL of bit masks of the facts that are missing in a row; the first fact is the lowest bit."""
    names = [fact.name for fact in grain.facts]
    return [
        " + ".join(f"({quoted(name)} is null)::bigint * {1 << bit}" for bit, name in enumerate(names[at : at + _BITS]))
        for at in range(0, len(names), _BITS)
    ]


def cover(table: str, grain: Grain) -> str:
    """The select of the intervals of each observer."""
    return f"select distinct {', '.join(map(quoted, cover_columns(grain)))} from {table}"


def cover_columns(grain: Grain) -> tuple[str, ...]:
    """Columns that identify the intervals of observers."""
    spans = [fact.name for fact in grain.facts if fact.rollup is Rollup.SPAN]
    identity = ("system", "sysplex", *MOMENTS[:2], "utc_offset", "source_kind", "local_time", *MOMENTS[2:])
    return tuple(dict.fromkeys((*identity, *grain.observers, *spans)))


def patterns(connection: Connection, table: str, grain: Grain) -> list[list[int]] | None:
    """Combinations of unknown facts in the rows, as in `nulls_of`; None if there are too many."""
    nulls = nulls_of(grain)
    if not nulls:
        return []
    rows = connection.execute(f"select distinct {', '.join(nulls)} from {table} limit {MOST_PATTERNS + 1}").fetchall()
    return None if len(rows) > MOST_PATTERNS else [list(row) for row in sorted(rows)]


def known_in(facts: Iterable[str], patterns: list[list[int]]) -> Iterator[dict[str, bool]]:
    """The combinations by the names of facts, which are in the order in which the rows had them."""
    names = list(facts)
    for numbers in patterns:
        yield {name: not numbers[at // _BITS] >> (at % _BITS) & 1 for at, name in enumerate(names)}


def told_of(connection: Connection, table: str, grain: Grain) -> dict[str, Any]:
    """Entries of an index for a day: offsets from UTC, combinations of unknown facts, and levels that it may have."""
    offsets = connection.execute(f"select distinct {OFFSET} from {table} order by 1").fetchall()
    return {
        "offsets": [row[0] for row in offsets],
        "patterns": patterns(connection, table, grain),
        "summed": list(summed_levels(grain)),
    }
