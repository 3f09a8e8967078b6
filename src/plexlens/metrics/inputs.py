"""Raw tables as the metrics see them: a column that an older or partial source lacks reads as null."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics import local_time
from plexlens.metrics.selection.raw import selected, whole_table
from plexlens.metrics.selection.selection import EVERYTHING, Selection
from plexlens.pdb.views import PLAUSIBLE

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
    selection
        The part of the database that facts are made of, resolved (`plexlens.metrics.selection.resolve`). It restricts
        what `plexlens.metrics.evaluate.facts` gives and what `selected` gives; `table` gives whole tables, because the
        first selected interval of cumulative counters needs the record before it.
    """

    def __init__(self, backend: Any, selection: Selection = EVERYTHING) -> None:
        self.backend = backend
        self.selection = selection
        #: Views that roll-ups have made, in their order.
        self.views: list[str] = []
        #: Expressions that views of the backend read from.
        self.pinned: list[Any] = []
        #: Facts of grains that roll-ups have taken from the raw tables, by what they were reduced to.
        self.kept: dict[Any, Any] = {}
        #: Which facts are known together in the rows of a table, by the table and the facts.
        self.patterns: dict[Any, list[dict[str, bool]]] = {}
        self._names = frozenset(backend.list_tables())
        self._places_reports: bool | None = None
        databases = backend.list_databases() if hasattr(backend, "list_databases") else ()
        self._marked = frozenset(backend.list_tables(database=PLAUSIBLE) if PLAUSIBLE in databases else ())

    @property
    def has_marked(self) -> bool:
        """Whether any table has values that cannot be."""
        return bool(self._marked)

    @property
    def places_reports(self) -> bool:
        """Whether any report in local time has an offset inferred; the table `local_time.TABLE` is made once."""
        if self._places_reports is None:
            self._places_reports = local_time.place(self.backend, sorted(self._names))
        return self._places_reports

    def has(self, *names: str) -> bool:
        """Whether all these raw tables are there."""
        return all(name in self._names for name in names)

    def table(self, name: str, *columns: str, text: tuple[str, ...] = ()) -> Any:
        """A raw table with its identity columns and the named ones.

        Values that cannot be (`plexlens.ingest.plausible`) are not a number here, and so is every sum with one of them.

        A report that prints local time alone is moved to UTC, and its `utc_offset` set, where `local_time` infers the
        offset; else its times stay local and `utc_offset` null.

        Parameters
        ----------
        name
            The raw table.
        columns
            Columns to read; one that the table lacks is a null of type float64.
        text
            Further columns; one that the table lacks is a null string.
        """
        if name in self._marked:
            table = self.backend.table(name, database=PLAUSIBLE)
        else:
            # The full name means the whole table also where SQL sees only what is selected.
            table = whole_table(self.backend, name) if self.selection else self.backend.table(name)
        table = _chosen(table, columns, text)
        return self._placed(table) if local_time.is_report(name) and self.places_reports else table

    def selected(self, name: str, *columns: str, text: tuple[str, ...] = ()) -> Any:
        """As `table`, with only the rows that are selected, and null for values that cannot be.

        What reads raw tables without a grain adds up many rows: one of them without a value leaves the sum a number.
        """
        if not self.selection:
            table = self.table(name, *columns, text=text)
        else:
            rows = selected(self.backend, self.selection, name)
            if name in self._marked:
                sound = self.backend.table(name, database=PLAUSIBLE)
                rows = sound.semi_join(rows, [*RECORD, "section_no"])
            table = _chosen(rows, columns, text)
        if name not in self._marked:
            return table
        numbers = [column for column in columns if table[column].type().is_floating()]
        return table.mutate(**{n: ibis.ifelse(table[n].isnan(), ibis.null(table[n].type()), table[n]) for n in numbers})

    def restrict_sql(self, name: str) -> None:
        """Make SQL statements of this connection see only what is selected of a raw table, for what has no grain."""
        if self.selection and self.has(name):
            statement = self.backend.compile(selected(self.backend, self.selection, name))
            # A temporary view comes before the table of that name.
            self.backend.raw_sql(f'create or replace temp view "{name}" as {statement}')

    def _placed(self, table: Any) -> Any:
        """Reports in local time moved to UTC by the offset inferred for them."""
        inferred = self.backend.table(local_time.TABLE)
        inferred = inferred.filter(inferred.utc_offset.notnull())
        inferred = inferred.select("source_id", "record_no", inferred_offset=inferred.utc_offset).distinct()
        columns = table.columns
        # By names of its own: a report's columns can be called anything.
        table = table.mutate(placed_source=table.source_id, placed_record=table.record_no.cast("uint64"))
        table = table.left_join(
            inferred,
            [table.placed_source == inferred.source_id, table.placed_record == inferred.record_no],
            rname="inferred_{name}",
        )
        shift = ibis.ifelse(table.utc_offset.isnull(), table.inferred_offset, ibis.null("float64"))
        shift_by = shift.fill_null(0.0).cast("int64").as_interval("s")
        moved = {
            name: (table[name].cast("timestamp('UTC')") - shift_by).cast("timestamp('UTC')")
            for name in ("interval_start", "interval_end")
        }
        return table.mutate(**moved, utc_offset=ibis.coalesce(table.utc_offset, shift)).select(*columns)


def _chosen(table: Any, columns: tuple[str, ...], text: tuple[str, ...]) -> Any:
    """Identity columns and the named ones; null where the table lacks one."""
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
    names = ("system", "sysplex", "interval_start", "interval_end", "utc_offset")
    return {name: table[name] for name in (*names, *(("local_time",) if "local_time" in table.columns else ()))}


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
