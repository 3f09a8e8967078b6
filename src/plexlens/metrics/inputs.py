"""Raw tables as the metrics see them: a column that an older or partial source lacks reads as null."""

from __future__ import annotations

from typing import Any

import ibis

#: Columns by which sections of one record are joined.
RECORD = ("source_id", "record_no")

#: Identity columns of every raw table, with the type they are read as when absent.
_IDENTITY_TYPES = {
    "system": "string",
    "sysplex": "string",
    "subsystem": "string",
    "interval_start": "timestamp('UTC')",
    "interval_end": "timestamp('UTC')",
    "utc_offset": "float64",
    "source_id": "string",
    "record_no": "uint64",
    "section_no": "uint32",
}


class Inputs:
    """The raw tables of one performance database, behind an Ibis backend.

    Parameters
    ----------
    backend
        An Ibis backend in which each raw table is a table or view.
    """

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._names = frozenset(backend.list_tables())

    def has(self, *names: str) -> bool:
        """Whether all these raw tables are there."""
        return all(name in self._names for name in names)

    def table(self, name: str, *columns: str, text: tuple[str, ...] = ()) -> Any:
        """A raw table with its identity columns and the named ones.

        Parameters
        ----------
        name
            The raw table.
        columns
            Columns to read; one that the table lacks is a null of type float64.
        text
            Further columns; one that the table lacks is a null string.
        """
        table = self.backend.table(name)
        there = set(table.columns)
        chosen: dict[str, Any] = {}
        for column, kind in _IDENTITY_TYPES.items():
            chosen[column] = table[column] if column in there else ibis.null(kind)
        for column in columns:
            chosen[column] = table[column] if column in there else ibis.null("float64")
        for column in text:
            chosen[column] = table[column] if column in there else ibis.null("string")
        return table.select(**chosen)


def identity(table: Any) -> dict[str, Any]:
    """The identity columns that a source of facts hands on, as they stand in the raw table."""
    return {name: table[name] for name in ("system", "sysplex", "interval_start", "interval_end", "utc_offset")}


def named(table: Any, column: Any, *, each_row: bool = False) -> Any:
    """The name, or one made of the report where it has none: ``unnamed (3f2a90c1, report 2)``.

    Parameters
    ----------
    table
        A raw table.
    column
        The column of names.
    each_row
        Rows of one report without a name are of different things, so the row's number is part of the name.
    """
    made = ibis.literal("unnamed (") + table.source_id.substr(0, 8) + ", report " + table.record_no.cast("string")
    if each_row:
        made = made + ", row " + table.section_no.cast("string")
    return ibis.coalesce(column.nullif(""), made + ")")
