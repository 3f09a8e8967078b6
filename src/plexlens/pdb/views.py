"""The tables of a PDB as views of a DuckDB connection.

A table's files fall into few groups of equal schema, which the manifest knows, so that a view is a union of groups
with explicit columns. DuckDB then opens one file per group to bind the view, not each of thousands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from plexlens.pdb.engine import literal
from plexlens.pdb.entries import DataFile
from plexlens.pdb.place import is_object
from plexlens.pdb.schema import Column


def view_sql(
    folder: Path,
    table: str,
    columns: Sequence[Column],
    variants: Sequence[Sequence[Column]],
    files: Iterable[DataFile],
    *,
    copied: bool = False,
    temporary: bool = False,
) -> str:
    """The statement that defines the view of a table, or copies the table into the connection's memory.

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
    copied
        Copy the rows into a table of DuckDB's.
    temporary
        Make it a temporary view, of this session alone.
    """
    if is_object(folder):
        groups = [(listed[0].variant, listed) for listed in pruned_apart(files)]
    else:
        by_variant: dict[int, list[DataFile]] = {}
        for file in files:
            by_variant.setdefault(file.variant, []).append(file)
        groups = sorted(by_variant.items())
    selects = "\nUNION ALL\n".join(_select(folder, columns, variants[variant], listed) for variant, listed in groups)
    if not groups:
        selects = f"SELECT {', '.join(_expressions(columns, ()))} WHERE false"
    kind = "TABLE" if copied else "TEMP VIEW" if temporary else "VIEW"
    return f"CREATE OR REPLACE {kind} {identifier(table)} AS\n{selects}"


def _select(folder: Path, columns: Sequence[Column], variant: Sequence[Column], files: Sequence[DataFile]) -> str:
    """The rows of files with the same columns."""
    paths = ", ".join(parquet_path(folder / file.path) for file in files)
    expressions = list(_expressions(columns, variant))
    # A folder above the PDB may be called `day=1`, which is not a column of ours.
    options, where = "hive_partitioning=false, union_by_name=false", ""
    if is_object(folder):
        # The engine need not open an object to learn its columns, and it leaves out a branch of the union whose
        # conditions contradict those of the question.
        schema = ", ".join(
            f"{name}: {{name: {name}, type: '{column.duckdb_type}', default_value: NULL}}"
            for name, column in ((literal(column.name), column) for column in variant)
        )
        options += f", schema=MAP {{{schema}}}"
        systems = {file.system for file in files}
        if len(systems) == 1 and any(column.name == "system" and column.type == "string" for column in variant):
            (system,) = systems
            place = [column.name for column in columns].index("system")
            expressions[place] = f"{'NULL::VARCHAR' if system is None else literal(system)} AS system"
        spans = [file.starts for file in files if file.starts]
        if len(spans) == len(files):
            first, last = min(first for first, _ in spans), max(last for _, last in spans)
            where = f" WHERE interval_start >= {_moment(first)} AND interval_start <= {_moment(last)}"
    return f"SELECT {', '.join(expressions)} FROM read_parquet([{paths}], {options}){where}"


#: Branches of the union of a table, at most, that a question can leave out.
_BRANCHES = 128


def pruned_apart(files: Iterable[DataFile]) -> list[list[DataFile]]:
    """Files of the same columns in groups that a question can leave out: by day and system, or coarser if many.

    Files whose rows do not all have a start are not with those whose rows do.
    """
    listed = list(files)
    groups: dict[tuple[object, ...], list[DataFile]] = {}
    for letters, by_system in ((10, True), (7, True), (10, False), (7, False), (4, False), (0, False)):
        groups = {}
        for file in listed:
            key = (file.variant, file.starts is None, file.day[:letters], by_system and file.path.split("/")[4])
            groups.setdefault(key, []).append(file)
        if len(groups) <= _BRANCHES:
            break
    return list(groups.values())


def _moment(iso: str) -> str:
    return f"TIMESTAMPTZ '{iso.replace('T', ' ')}'"


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
