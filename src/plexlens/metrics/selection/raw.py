"""Raw tables under a selection: for SQL, and for code that reads them without a grain."""

from __future__ import annotations

from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

import tomli

from plexlens.metrics.selection.selection import Selection
from plexlens.metrics.selection.window import Window
from plexlens.pdb.engine import Connection, columns_of, quoted, shown_by, tables_of
from plexlens.pdb.partition import UNDATED
from plexlens.pdb.place import is_object
from plexlens.pdb.views import view_sql

#: Database within the connection whose views show only what is selected.
SELECTED = "selected"

#: Columns of a raw table whose rows can be selected.
_TIMED = {"source_id", "system", "interval_start", "interval_end", "utc_offset"}
_RECORD = ("source_id", "record_no")

#: Local time differs from UTC by less than this; a start is taken to the nearest minute.
_OFFSETS, _NEAREST = timedelta(hours=24), timedelta(minutes=1)


@cache
def _class_declarations() -> tuple[dict[str, Any], ...]:
    text = files(__package__).joinpath("classes.toml").read_text(encoding="utf-8")
    return tuple(tomli.loads(text)["source"])


def timed_tables(connection: Connection) -> list[tuple[str, str, str]]:
    """Raw tables with a system and times: quoted name, and expressions of start and end."""
    rows = connection.execute(
        "select table_name, column_name, data_type from information_schema.columns"
        " where table_schema = 'main' order by table_name"
    ).fetchall()
    columns: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        columns.setdefault(table, {})[column] = kind
    results = []
    for table, there in columns.items():
        if not there.keys() >= _TIMED:
            continue
        # A column that was null throughout has no type of its own.
        start, end = (
            f'"{name}"::timestamptz' if there[name].startswith("TIMESTAMP") else "null::timestamptz"
            for name in ("interval_start", "interval_end")
        )
        results.append((f'"{table}"', start, end))
    return results


def class_sources(connection: Connection) -> list[tuple[str, tuple[str, ...]]]:
    """Raw tables that name classes, with the columns of the names."""
    there = tables_of(connection)
    results = []
    for declared in _class_declarations():
        names = [declared["names"]] if "names" in declared else [n for n in there if fnmatchcase(n, declared["tables"])]
        for name in sorted(set(there).intersection(names)):
            columns = columns_of(connection, quoted(name))
            results.append((name, tuple(column for column in declared["columns"] if column in columns)))
    return results


def of_near_days(connection: Connection, selection: Selection, name: str, catalog: str) -> str:
    """Name of a view with the files of a raw table that can have selected rows; the table itself where these are all.

    A file is of a day (UTC) by the moment that selects its rows (`plexlens.pdb.partition.DAY_COLUMNS`). Rows of tasks
    and threads have an end alone, so that conditions on both moments do not tell the engine which files to leave out.
    """
    whole = f"{quoted(catalog)}.main.{quoted(name)}"
    pdb = shown_by(connection)
    if pdb is None or is_object(pdb.path) or not selection.windows or name not in pdb.manifest.columns:
        return whole
    if not columns_of(connection, whole).keys() >= _TIMED:
        return whole
    files = pdb.manifest.files.get(name, [])
    near = [file for file in files if all(_is_near(window, file.day) for window in selection.windows)]
    if len(near) == len(files):
        return whole
    view, variants = f"near_{name}", pdb.manifest.variants[name]
    connection.execute(view_sql(pdb.path, view, pdb.manifest.columns[name], variants, near, temporary=True))
    return quoted(view)


def _is_near(window: Window, day: str) -> bool:
    """Whether rows of a partition may be in a window; those without a day may."""
    first, last = window.around(_OFFSETS if window.is_local else _NEAREST)
    if day == UNDATED:
        return True
    return (first is None or day >= first.date().isoformat()) and (last is None or day <= last.date().isoformat())


def selected_sql(connection: Connection, selection: Selection, name: str, catalog: str, *, whole: str = "") -> str:
    """The select of the selected rows of a raw table; all rows if it has neither system nor time.

    A row is taken by the start of its own interval, or by its end where it has no start. Cumulative records are taken
    by their own time, though the interval that metrics make of them starts at the record before.

    Parameters
    ----------
    connection
        The connection with the raw tables.
    selection
        A resolved selection.
    name
        The raw table.
    catalog
        The database that it is in: the full name means all of it whatever `show_selected` did.
    whole
        A view of the rows that may be selected (`of_near_days`); the table by default.
    """
    whole = whole or f"{quoted(catalog)}.main.{quoted(name)}"
    there = columns_of(connection, whole)
    conditions = []
    if there.keys() >= _TIMED:
        has_times = there["interval_start"].startswith("TIMESTAMP")
        conditions.append(selection.rows(there, has_times=has_times))
    if selection.classes:
        conditions.append(_of_class(connection, selection, name, catalog))
    listed = " and ".join(f"({condition})" for condition in conditions if condition)
    return f"select * from {whole}{f' where {listed}' if listed else ''}"


def _of_class(connection: Connection, selection: Selection, name: str, catalog: str) -> str:
    """SQL condition for rows of the selected classes in a raw table; empty if the table has no class column."""
    for declared in _class_declarations():
        if not fnmatchcase(name, declared["tables"]):
            continue
        columns = tuple(declared["columns"])
        if "names" not in declared or declared["names"] == name:
            return selection.class_condition(columns_of(connection, f"{quoted(catalog)}.main.{quoted(name)}"), columns)
        if declared["names"] in tables_of(connection):
            names = f"{quoted(catalog)}.main.{quoted(declared['names'])}"
            wanted = selection.class_condition(columns_of(connection, names), columns)
            record = ", ".join(_RECORD)
            return f"({record}) in (select ({record}) from {names}{f' where {wanted}' if wanted else ''})"
    return ""


def show_selected(connection: Connection, selection: Selection, named: set[str]) -> None:
    """Make unqualified table names refer to the selected rows for the rest of the connection.

    Parameters
    ----------
    connection
        The connection with the raw tables, and with views of the grains that already show only what is selected.
    selection
        A resolved selection.
    named
        The raw tables that statements will name. Other tables can be listed and are not restricted.
    """
    row = connection.execute("select current_database()").fetchone()
    catalog = str(row[0]) if row else ""
    raw = {table.strip('"') for table, _, _ in timed_tables(connection)} & named
    # Temporary tables stay visible from every database.
    tables = [
        name
        for (name,) in connection.execute(
            "select table_name from information_schema.tables"
            f" where table_catalog = '{catalog}' and table_schema = 'main'"
        ).fetchall()
    ]
    # A database of its own: "show tables" would list the schemas of one database together.
    connection.execute(f"attach ':memory:' as {quoted(SELECTED)}")
    for name in sorted(tables):
        whole = f"{quoted(catalog)}.main.{quoted(name)}"
        statement = selected_sql(connection, selection, name, catalog) if name in raw else f"select * from {whole}"
        connection.execute(f"create view {quoted(SELECTED)}.main.{quoted(name)} as {statement}")
    connection.execute(f"use {quoted(SELECTED)}")
