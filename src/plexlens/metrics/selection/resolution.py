"""Resolution of a selection: names in place of patterns, and the extent that it covers in a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa

from plexlens.errors import NothingUsableError
from plexlens.metrics.selection.extent import Extent, SystemExtent, minute_text
from plexlens.metrics.selection.kept_extent import CLASSES, EXTENT, extent_select, kept_lists
from plexlens.metrics.selection.raw import class_sources, timed_tables
from plexlens.metrics.selection.selection import Selection
from plexlens.pdb.engine import Connection, arrow, read_once, rows_of

#: Names that an error lists at most.
_LISTED = 30


@dataclass(frozen=True)
class Intervals:
    """The intervals of a database, listed once for several selections of it.

    Attributes
    ----------
    table
        System, offset and start (to the minute) of each.
    bounds
        The first and the last of each system and offset.
    """

    table: pa.Table
    bounds: Sequence[Mapping[str, Any]]


def resolve(selection: Selection, connection: Connection, name: str, there: Intervals | None = None) -> Selection:
    """The selection with names in place of patterns, and with the extent that it covers in a database.

    Parameters
    ----------
    selection
        As the user gave it.
    connection
        The connection with the raw tables.
    name
        What the user called the database, for errors.
    there
        The intervals of the same tables; listed anew by default.

    Raises
    ------
    NothingUsableError
        A system or class is not there, or nothing is selected; the message lists the valid names.
    """
    if not selection:
        return selection
    there = intervals_there(connection) if there is None else there
    known = sorted({row["system"] for row in there.bounds if row["system"]})
    classes = _classes(connection) if selection.classes else []
    result = replace(
        selection,
        systems=_named(selection.systems, known, "system", name),
        classes=_named(selection.classes, classes, "class", name),
    )
    systems = _systems(connection, result, there)
    extent = Extent(systems, tuple(classes))
    if not any(system.taken_first is not None for system in systems) and (
        result.windows or result.shifts or result.systems
    ):
        raise NothingUsableError(
            file=name, what=f"nothing matches {result.text}", remedy=f"it holds {_there(systems)}; choose among these"
        )
    return replace(result, extent=extent)


def intervals_there(connection: Connection) -> Intervals:
    """The intervals of a database, for several selections of it."""
    table = arrow(connection, _extent_sql(connection))
    return Intervals(table, _bounds(connection, table))


def whole_extent(connection: Connection, there: Intervals | None = None) -> Extent:
    """Systems of a database with their times, and its classes, as if everything were selected.

    ``there`` is as in `resolve`.
    """
    there = intervals_there(connection) if there is None else there
    return Extent(_systems(connection, Selection(), there), tuple(_classes(connection)))


def _extent_sql(connection: Connection) -> str:
    """Statement that lists system, offset and start (to the minute) of all rows in the raw tables."""
    kept = kept_lists(connection)
    selects = [
        f"select * from read_parquet([{', '.join(kept[name][EXTENT])}], hive_partitioning=false)"
        if EXTENT in kept.get(name := table.strip('"'), {})
        else extent_select(table, start, end)
        for table, start, end in timed_tables(connection)
    ]
    if not selects:
        return 'select null::varchar as system, null::double as utc_offset, null::timestamptz as "interval" limit 0'
    return f"select distinct * from ({' union all '.join(selects)})"


def _systems(connection: Connection, selection: Selection, there: Intervals) -> tuple[SystemExtent, ...]:
    condition = selection.rows(("interval",))
    selected = _bounds(connection, there.table, condition) if condition else there.bounds
    taken = {(row["system"], row["offset"]): row for row in selected}
    results: dict[str | None, list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]] = {}
    for row in there.bounds:
        results.setdefault(row["system"], []).append((row, taken.get((row["system"], row["offset"]))))
    entries = []
    for system, rows in sorted(results.items(), key=lambda item: (item[0] is None, item[0] or "")):
        entries.append(
            SystemExtent(
                system,
                _offsets(row for row, _ in rows),
                min((_local(row, "first") for row, _ in rows if row["first"] is not None), default=None),
                max((_local(row, "last") for row, _ in rows if row["last"] is not None), default=None),
                _offsets(row for _, row in rows if row),
                min((_local(row, "first") for _, row in rows if row and row["first"] is not None), default=None),
                max((_local(row, "last") for _, row in rows if row and row["last"] is not None), default=None),
            )
        )
    return tuple(entries)


def _offsets(rows: Iterable[Mapping[str, Any]]) -> tuple[float | None, ...]:
    return tuple(sorted({row["offset"] for row in rows}, key=lambda entry: (entry is None, entry or 0.0)))


def _bounds(connection: Connection, table: pa.Table, condition: str = "") -> list[dict[str, Any]]:
    with read_once(connection, "intervals_there", table):
        return rows_of(
            connection,
            'select system, round(utc_offset / 60) * 60 as "offset", min(epoch("interval")) as first,'
            f' max(epoch("interval")) as last from intervals_there{f" where {condition}" if condition else ""}'
            " group by all",
        )


def _local(row: Mapping[str, Any], name: str) -> datetime:
    return datetime(1970, 1, 1) + timedelta(seconds=row[name] + (row["offset"] or 0.0))


def _classes(connection: Connection) -> list[str]:
    """Every class that a raw table names."""
    names: set[str] = set()
    kept = kept_lists(connection)
    for table, columns in class_sources(connection):
        if files := kept.get(table, {}).get(CLASSES):
            listed = f"select distinct name from read_parquet([{', '.join(files)}], hive_partitioning=false)"
            names.update(name for (name,) in connection.execute(listed).fetchall() if name)
            continue
        for column in columns:
            rows = connection.execute(f'select distinct "{column}"::varchar from "{table}"').fetchall()
            names.update(name for (name,) in rows if name)
    return sorted(names)


def _named(patterns: Sequence[str], known: Sequence[str], noun: str, file: str) -> tuple[str, ...]:
    """The names that match the patterns, in alphabetical order."""
    names: set[str] = set()
    for pattern in patterns:
        matched = [name for name in known if fnmatchcase(name.upper(), pattern.upper())]
        if not matched:
            near = get_close_matches(pattern.upper(), known, n=3)
            plural = "classes" if noun == "class" else f"{noun}s"
            there = f"it has the {plural} {_list(near or known)}" if known else f"it names no {noun}"
            if near:
                there = f"did you mean {_list(near)}? it has {len(known):,} {plural if len(known) > 1 else noun}"
            raise NothingUsableError(file=file, what=f"no {noun} is called {pattern!r}", remedy=there)
        names.update(matched)
    return tuple(sorted(names))


def _list(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _LISTED:,} more" if len(listed) > _LISTED else ""
    return ", ".join(listed[:_LISTED]) + more


def _there(systems: Sequence[SystemExtent]) -> str:
    if not systems:
        return "no interval of any system"
    parts = []
    for system in systems:
        span = f"{minute_text(system.first)} to {minute_text(system.last)}" if system.first is not None else "no times"
        parts.append(f"{system.system or 'data without a system'} ({system.zone}): {span}")
    return "; ".join(parts[:_LISTED])
