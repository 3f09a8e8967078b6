"""Raw tables for the SQL of sources: identity columns and the columns that the SQL names, the same in every database.

A column that an older or partial source lacks is null, of the type that its layout or its report's schema gives it; a
table that is not there is empty. Values that cannot be (`plexlens.ingest.plausible`) are not a number, and so is every
sum with one of them. A report that prints local time alone is moved to UTC, and its `utc_offset` set, where
`plexlens.metrics.local_time` infers the offset; else its times stay local and `utc_offset` null.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from plexlens.layouts_path import layouts_path
from plexlens.metrics import local_time
from plexlens.pdb.engine import quoted

#: Columns by which sections of one record are joined.
RECORD = ("source_id", "record_no")

#: Identity columns of every raw table, with the type they are read as.
IDENTITY = {
    "system": "varchar",
    "sysplex": "varchar",
    "subsystem": "varchar",
    "interval_start": "timestamptz",
    "interval_end": "timestamptz",
    "utc_offset": "double",
    "source_id": "varchar",
    "record_no": "bigint",
    "section_no": "integer",
}

#: Type of a column by its format in the layout; every other format is a number.
_FORMATS = {"ebcdic": "varchar", "stck": "timestamptz", "smf_date": "date", "bytes": "blob"}

_KINDS = {"text": "varchar", "number": "double", "index": "uinteger", "flag": "boolean"}


@cache
def declared(table: str) -> Mapping[str, str]:
    """Possible columns of a raw table with their types, from its layout or the schema of its report."""
    if local_time.is_report(table):
        return _reported().get(table, {})
    path = layouts_path() / f"{table}.csv"
    if not path.is_file():
        return _RECORDS if table == "smf_record" else {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        return {name: kind for row in csv.DictReader(lines) for name, kind in _columns_of(row)}


def _columns_of(field: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The columns decoded from a layout field; a CICS clock gives a time and a count."""
    name = field["field"].lower()
    if field["unit"] == "clock":
        yield f"{name}_seconds", "double"
        yield f"{name}_count", "double"
    else:
        yield name, _FORMATS.get(field["format"], "double")


_RECORDS = {"record_type": "double", "subtype": "double", "ssid": "varchar", "written_at": "timestamp"}


@cache
def _reported() -> dict[str, dict[str, str]]:
    # Databases of SMF alone have no printed reports.
    from plexlens.ingest.printed.catalogue import catalogue

    return {
        spec.name: {column.name: _KINDS[column.kind] for column in spec.columns} for spec in catalogue().tables.values()
    }


def select_of(
    table: str,
    named: Iterable[str],
    there: Mapping[str, str] | None,
    *,
    read_from: str = "",
    is_placed: bool = False,
) -> str:
    """The select of a raw table.

    Parameters
    ----------
    table
        The raw table.
    named
        Names used in the SQL; names that are not columns of the table are ignored.
    there
        Columns of the table and their types; None where the database lacks the table.
    read_from
        Where its rows are read, as SQL; the table itself by default.
    is_placed
        Whether its times are moved where an offset is inferred for the report.
    """
    known = dict(declared(table)) if there is None or not set(named) <= there.keys() else {}
    columns = []
    for name, kind in IDENTITY.items():
        # A column that was null throughout has no type of its own.
        columns.append(
            f"{name}::{kind} as {name}" if there is not None and name in there else f"null::{kind} as {name}"
        )
    for name in sorted(set(named) - IDENTITY.keys()):
        if there is not None and name in there:
            # A column that was null throughout has no type of its own.
            kind = f"::{known_type(table, name)}" if there[name] in ('"NULL"', "NULL", "INTEGER") else ""
            columns.append(f"{quoted(name)}{kind}{f' as {quoted(name)}' if kind else ''}")
        elif name in known:
            columns.append(f"null::{known[name]} as {quoted(name)}")
    if there is None:
        return f"select {', '.join(columns)} where false"
    select = f"select {', '.join(columns)} from {read_from or f'main.{quoted(table)}'}"
    return _placed(select) if is_placed else select


def known_type(table: str, name: str) -> str:
    """Type of a column by layout or schema; a number if neither defines it."""
    return declared(table).get(name, "double")


def _placed(select: str) -> str:
    """Reports in local time moved to UTC by the offset inferred for them."""
    inferred = (
        f"select distinct source_id, record_no, utc_offset as inferred_offset from {local_time.TABLE} "
        "where utc_offset is not null"
    )
    shift = "case when r.utc_offset is null then i.inferred_offset end"
    shift_by = f"to_seconds(coalesce({shift}, 0)::bigint)"
    moved = ", ".join(f"r.{name} - {shift_by} as {name}" for name in ("interval_start", "interval_end"))
    return (
        f"select r.* replace ({moved}, coalesce(r.utc_offset, {shift}) as utc_offset) from ({select}) r "
        f"left join ({inferred}) i on r.source_id = i.source_id and r.record_no = i.record_no"
    )
