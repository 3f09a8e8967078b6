"""The tables of a PDB as views of a DuckDB connection.

A table's files fall into few groups of equal schema, which the manifest knows, so that a view is a union of groups
with explicit columns. DuckDB then opens one file per group to bind the view, not each of thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from plexlens.pdb.manifest import DataFile
from plexlens.pdb.schema import Column


def view_sql(
    folder: Path,
    table: str,
    columns: Sequence[Column],
    variants: Sequence[Sequence[Column]],
    files: Iterable[DataFile],
) -> str:
    """The statement that defines the view of a table.

    Parameters
    ----------
    folder
        The PDB.
    table
        Name of the view.
    columns
        The table's columns, all variants joined.
    variants
        The columns of each group of files.
    files
        The table's files; at least one.
    """
    groups: dict[int, list[str]] = {}
    for file in files:
        groups.setdefault(file.variant, []).append(parquet_path(folder / file.path))
    selects = "\nUNION ALL\n".join(
        f"SELECT {', '.join(_expressions(columns, variants[variant]))} FROM read_parquet([{', '.join(paths)}],"
        # A folder above the PDB may be called `day=1`, which is no column of ours.
        " hive_partitioning=false, union_by_name=false)"
        for variant, paths in sorted(groups.items())
    )
    return f"CREATE OR REPLACE VIEW {identifier(table)} AS\n{selects}"


def _expressions(columns: Sequence[Column], variant: Sequence[Column]) -> Iterator[str]:
    there = {column.name: column for column in variant}
    for column in columns:
        name = identifier(column.name)
        stored = there.get(column.name)
        if stored is None or (stored.type == "null" and column.type != "null"):
            yield f"CAST(NULL AS {column.duckdb_type}) AS {name}"
        elif stored.type != column.type:
            yield f"CAST({name} AS {column.duckdb_type}) AS {name}"
        else:
            yield name


def identifier(name: str) -> str:
    """A name quoted as SQL wants it."""
    return '"' + name.replace('"', '""') + '"'


def parquet_path(path: Path) -> str:
    """A path as an SQL string that DuckDB takes for this one file, whatever pattern characters it has in it."""
    escaped = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))
    return "'" + escaped.replace("'", "''") + "'"
