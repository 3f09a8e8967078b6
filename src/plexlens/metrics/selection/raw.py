"""Raw tables under a selection: for SQL, and for what reads them without a grain."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

from plexlens.metrics.selection.selection import Selection

#: Database within the connection whose views show only what is selected.
SELECTED = "selected"

#: Columns of a raw table whose rows can be selected.
_TIMED = {"source_id", "system", "interval_start", "interval_end", "utc_offset"}
_RECORD = ("source_id", "record_no")


@cache
def _class_declarations() -> tuple[dict[str, Any], ...]:
    text = files(__package__).joinpath("classes.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["source"])


def timed_tables(backend: Any) -> list[tuple[str, str, str]]:
    """Raw tables with a system and times: quoted name, and expressions of start and end."""
    rows = backend.raw_sql(
        "select table_name, column_name, data_type from information_schema.columns"
        " where table_schema = 'main' order by table_name"
    ).fetchall()
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        columns.setdefault(table, {})[column] = kind
    found = []
    for table, there in columns.items():
        if not there.keys() >= _TIMED:
            continue
        # A column that was null throughout has no type of its own.
        start, end = (
            f'"{name}"::timestamptz' if there[name].startswith("TIMESTAMP") else "null::timestamptz"
            for name in ("interval_start", "interval_end")
        )
        found.append((f'"{table}"', start, end))
    return found


def class_sources(backend: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Raw tables that name classes, with the columns that do."""
    there = set(backend.list_tables())
    found = []
    for declared in _class_declarations():
        names = [declared["names"]] if "names" in declared else [n for n in there if fnmatchcase(n, declared["tables"])]
        for name in sorted(there.intersection(names)):
            columns = set(backend.table(name).columns)
            found.append((name, tuple(column for column in declared["columns"] if column in columns)))
    return found


def whole_table(backend: Any, name: str) -> Any:
    """A raw table by its full name, which means all of it whatever `show_selected` did."""
    return backend.table(name, database=(backend.current_catalog, "main"))


def selected(backend: Any, selection: Selection, name: str) -> Any:
    """A raw table with the rows that are selected; all of it where it has no system and no time.

    A row is taken by the start of its own interval, or by its end where it has no start. Cumulative records are taken
    by their own time, though the interval that metrics make of them starts at the record before.

    Parameters
    ----------
    backend
        The Ibis backend with the raw tables.
    selection
        A resolved selection.
    name
        The raw table.
    """
    table = whole_table(backend, name)
    there = set(table.columns)
    if there >= _TIMED:
        table = selection.rows(table)
    if not selection.classes:
        return table
    for declared in _class_declarations():
        if not fnmatchcase(name, declared["tables"]):
            continue
        if "names" not in declared or declared["names"] == name:
            return table.filter(selection.class_condition(table, tuple(declared["columns"])))
        if declared["names"] in backend.list_tables():
            names = whole_table(backend, declared["names"])
            names = names.filter(selection.class_condition(names, tuple(declared["columns"])))
            return table.semi_join(names, list(_RECORD))
    return table


def show_selected(backend: Any, selection: Selection, named: set[str]) -> None:
    """Make unqualified names of tables mean what is selected of them, for the rest of the connection.

    Parameters
    ----------
    backend
        The Ibis backend with the raw tables, and with views of the grains that already show only what is selected.
    selection
        A resolved selection.
    named
        The raw tables that statements will name. Other tables can be listed and are not restricted.
    """
    catalog = backend.current_catalog
    raw = {table.strip('"') for table, _, _ in timed_tables(backend)} & named
    # Temporary tables stay visible from every database.
    tables = [
        name
        for (name,) in backend.raw_sql(
            "select table_name from information_schema.tables"
            f" where table_catalog = '{catalog}' and table_schema = 'main'"
        ).fetchall()
    ]
    # A database of its own: "show tables" would list the schemas of one database together.
    backend.raw_sql(f"attach ':memory:' as \"{SELECTED}\"")
    for name in sorted(tables):
        quoted = name.replace('"', '""')
        statement = (
            backend.compile(selected(backend, selection, name))
            if name in raw
            else f'select * from "{catalog}"."main"."{quoted}"'
        )
        backend.raw_sql(f'create view "{SELECTED}"."main"."{quoted}" as {statement}')
    backend.raw_sql(f'use "{SELECTED}"')
