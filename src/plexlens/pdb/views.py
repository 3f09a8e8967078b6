"""The tables of a PDB as views of a DuckDB connection.

A table's files fall into few groups of equal schema, which the manifest knows, so that a view is a union of groups
with explicit columns. DuckDB then opens one file per group to bind the view, not each of thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        The table's files; without any the view is empty.
    """
    groups: dict[int, list[str]] = {}
    for file in files:
        groups.setdefault(file.variant, []).append(parquet_path(folder / file.path))
    selects = "\nUNION ALL\n".join(
        f"SELECT {', '.join(_expressions(columns, variants[variant]))} FROM read_parquet([{', '.join(paths)}],"
        # A folder above the PDB may be called `day=1`, which is not a column of ours.
        " hive_partitioning=false, union_by_name=false)"
        for variant, paths in sorted(groups.items())
    )
    if not groups:
        selects = f"SELECT {', '.join(_expressions(columns, ()))} WHERE false"
    return f"CREATE OR REPLACE VIEW {identifier(table)} AS\n{selects}"


PLAUSIBLE = "plausible"
"""The schema with a view of each table that has marked values, in which these are not a number.

A null would count as nothing in a sum of several fields; what is not a number makes the sum unknown."""


def plausible_views_sql(marked: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The statements that define, in the schema `PLAUSIBLE`, tables without their implausible values.

    Parameters
    ----------
    marked
        Table to its columns of which a value is named in the table ``implausible``.
    """
    if marked:
        yield f"CREATE SCHEMA IF NOT EXISTS {PLAUSIBLE}"
    for table, columns in sorted(marked.items()):
        replaced = ",\n".join(
            f"CASE WHEN list_contains(marks.fields, '{column}') THEN 'NaN'::DOUBLE"
            f" ELSE CAST(held.{identifier(column)} AS DOUBLE) END AS {identifier(column)}"
            for column in sorted(columns)
        )
        yield (
            f"CREATE OR REPLACE VIEW {PLAUSIBLE}.{identifier(table)} AS\nSELECT held.* REPLACE (\n{replaced})\n"
            f"FROM main.{identifier(table)} AS held LEFT JOIN (\n"
            "SELECT source_id, record_no, section_no, list(lower(field)) AS fields FROM main.implausible"
            f" WHERE table_name = '{table}' GROUP BY ALL) AS marks\n"
            "ON held.source_id = marks.source_id AND held.record_no = marks.record_no"
            " AND held.section_no = marks.section_no"
        )


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
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def parquet_path(path: Path) -> str:
    """A path as an SQL string that DuckDB takes literally, pattern characters included."""
    escaped = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))
    return "'" + escaped.replace("'", "''") + "'"
