"""Small raw tables for metric tests, in an in-memory DuckDB."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.metrics.raw_tables import known_type
from plexlens.pdb.engine import add_table, connect

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

EARLIEST = datetime.min.replace(tzinfo=UTC)

_TYPES = {
    "system": pa.string(),
    "sysplex": pa.string(),
    "subsystem": pa.string(),
    "interval_start": pa.timestamp("us", "UTC"),
    "interval_end": pa.timestamp("us", "UTC"),
    "utc_offset": pa.float64(),
    "source_id": pa.string(),
    "record_no": pa.uint64(),
    "section_no": pa.uint32(),
    "qwacbsc": pa.timestamp("us", "UTC"),
    "qwacesc": pa.timestamp("us", "UTC"),
}

_KINDS = {
    "varchar": pa.string(),
    "double": pa.float64(),
    "uinteger": pa.uint32(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "blob": pa.binary(),
}


def row(
    record_no: int, section_no: int = 1, *, interval: int = 0, seconds: float = 900, **fields: Any
) -> dict[str, Any]:
    """One raw row: identity columns of interval number ``interval``, and the given fields."""
    start = START + timedelta(seconds=seconds * interval)
    return {
        "system": "SYS1",
        "sysplex": "PLEX",
        "subsystem": None,
        "interval_start": start,
        "interval_end": start + timedelta(seconds=seconds),
        "utc_offset": 0.0,
        "source_id": "s",
        "record_no": record_no,
        "section_no": section_no,
    } | fields


def inputs(**tables: list[dict[str, Any]]) -> Inputs:
    """The tables behind a connection, as the metrics read them."""
    connection = connect()
    for name, rows in tables.items():
        columns = list(dict.fromkeys(key for r in rows for key in r))
        arrays = {}
        for column in columns:
            values = [r.get(column) for r in rows]
            if pa.types.is_timestamp(_TYPES.get(column, pa.null())):
                values = [datetime.fromisoformat(one) if isinstance(one, str) else one for one in values]
            array = pa.array(values, type=_TYPES.get(column))
            # DuckDB has no column of no type; a field that no row has is of the type that its layout tells.
            kind = _KINDS[known_type(name, column)]
            arrays[column] = array.cast(kind) if pa.types.is_null(array.type) else array
        add_table(connection, name, pa.table(arrays))
    return Inputs(connection)


def query_of(connection: Any, table: pa.Table, name: str = "given") -> Query:
    """Arrow data as a table of a connection."""
    add_table(connection, name, table)
    return Query(connection, name, tuple(table.column_names))


def rows_of(table: Any) -> list[dict[str, Any]]:
    """All rows of a query as dictionaries, by time: the engine's threads return them in any order."""
    return sorted(table.rows(), key=lambda row: row.get("time") or EARLIEST)
