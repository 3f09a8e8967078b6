"""Rows of a statement kept for the statements after it: as a temporary table, or in a Parquet file if they are many.

A temporary table of DuckDB is not compressed: the facts of 2.4 million device intervals take 870 MiB of memory as a
table and 80 MiB as a file, which is written in the same time and read as fast.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from pathlib import Path

import duckdb

from plexlens.errors import UsageError
from plexlens.pdb.engine import Connection, literal, shown_by

#: Values from which rows go into a file; a table of as many takes some 40 MiB.
MANY = 5_000_000


def are_many(connection: Connection, tables: Iterable[str], columns: int) -> bool:
    """Whether rows with this many columns, computed from some raw tables, may be too many for a temporary table.

    Never where the connection shows no performance database, since only `plexlens.pdb.Pdb.connect` names a folder for
    files, nor where it has lost its right to files.
    """
    pdb = shown_by(connection)
    if pdb is None:
        return False
    files = pdb.manifest.files
    rows = max((sum(file.rows for file in files.get(name, ())) for name in tables), default=0)
    return rows * columns >= MANY and bool(_setting(connection, "enable_external_access"))


def keep(connection: Connection, name: str, select: str, *, in_file: bool = False) -> None:
    """Keep the rows of a select under a name that has no rows yet.

    Parameters
    ----------
    connection
        The engine.
    name
        Name of the temporary table or view.
    select
        The select.
    in_file
        Whether the rows go into a file in the connection's temporary folder. It is deleted with the connection.

    Raises
    ------
    UsageError
        The folder has no room for the file.
    """
    if not in_file:
        connection.execute(f"create or replace temp table {name} as {select}")
        return
    path = _file(connection, name)
    weakref.finalize(connection, path.unlink, missing_ok=True)
    try:
        connection.execute(f"copy ({select}) to {literal(str(path))} (format parquet)")
    except duckdb.IOException as error:
        # Rows that cannot be read have nothing to do with the folder.
        if str(path.parent) not in str(error):
            raise
        raise UsageError(
            file=str(path.parent),
            what=f"rows that this question needs cannot be put there: {str(error).splitlines()[0]}",
            remedy="free space there, or set TMPDIR to a folder with more",
        ) from error
    connection.execute(f"create or replace temp view {name} as from read_parquet({literal(str(path))})")


def drop(connection: Connection, name: str, *, in_file: bool) -> None:
    """Drop what `keep` kept under a name."""
    connection.execute(f"drop {'view' if in_file else 'table'} {name}")
    if in_file:
        _file(connection, name).unlink(missing_ok=True)


def _file(connection: Connection, name: str) -> Path:
    return Path(str(_setting(connection, "temp_directory"))) / f"{name}.parquet"


def _setting(connection: Connection, name: str) -> object:
    row = connection.execute(f"select current_setting('{name}')").fetchone()
    assert row is not None, "a setting has a value"
    value: object = row[0]
    return value
