"""The raw tables of a performance database in the form that facts are computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from plexlens.metrics import local_time
from plexlens.metrics.query import Query
from plexlens.metrics.raw_tables import IDENTITY, RECORD, select_of
from plexlens.metrics.selection.raw import selected_sql
from plexlens.metrics.selection.selection import EVERYTHING, Selection
from plexlens.pdb.engine import Connection, quoted
from plexlens.pdb.views import PLAUSIBLE


class Inputs:
    """The raw tables of a performance database, behind a DuckDB connection.

    Parameters
    ----------
    connection
        A connection in which each raw table is a table or view.
    selection
        The part of the database that facts are made of, resolved (`plexlens.metrics.selection.resolve`). It restricts
        what `plexlens.metrics.evaluate.facts` gives and what `selected` gives; `raw` gives whole tables, because the
        first selected interval of cumulative counters needs the record before it.
    reads_rollups
        Whether facts come from the database's roll-ups where these are up to date; otherwise from raw rows alone.
    brought
        Brings the facts of a statement that another engine computes, as a table of this connection: it gets these
        inputs and the statement's rows. None where this connection computes them.
    """

    def __init__(
        self,
        connection: Connection,
        selection: Selection = EVERYTHING,
        *,
        reads_rollups: bool = True,
        brought: Callable[[Inputs, Query], Query] | None = None,
    ) -> None:
        self.connection = connection
        self.selection = selection
        self.reads_rollups = reads_rollups and brought is None
        self.brought = brought
        #: Facts of grains that roll-ups have taken from the raw tables, by what they were reduced to.
        self.kept: dict[Any, Any] = {}
        #: Which facts are known together in the rows of a table: by the table, for some facts, the combinations.
        self.patterns: dict[Any, list[tuple[frozenset[str], Any]]] = {}
        #: What was counted in views that roll-ups have made, by the statement.
        self.counts: dict[str, int] = {}
        #: Views and tables that roll-ups have made, in their order: ``view`` or ``table``, and the name.
        self.made: list[tuple[str, str]] = []
        row = self.connection.execute("select current_database()").fetchone()
        self.catalog = str(row[0]) if row else ""
        self._columns: dict[tuple[str, str], dict[str, str]] = {}
        # `information_schema.columns` is a view over this list, and takes three times as long to read.
        for schema, table, column, kind in self.connection.execute(
            "select schema_name, table_name, column_name, data_type from duckdb_columns()"
            " where database_name = current_database() order by column_index"
        ).fetchall():
            self._columns.setdefault((schema, table), {})[column] = kind
        self._places_reports: bool | None = None

    @property
    def names(self) -> frozenset[str]:
        """The raw tables in the database."""
        return frozenset(table for schema, table in self._columns if schema == "main")

    @property
    def has_marked(self) -> bool:
        """Whether any table has implausible values."""
        return any(schema == PLAUSIBLE for schema, _ in self._columns)

    @property
    def places_reports(self) -> bool:
        """Whether any report in local time has an inferred offset; the table `local_time.TABLE` is created once."""
        if self._places_reports is None:
            self._places_reports = local_time.place(self.connection, sorted(self.names))
        return self._places_reports

    def has(self, *names: str) -> bool:
        """Whether all these raw tables exist."""
        return all(("main", name) in self._columns for name in names)

    def columns(self, name: str) -> dict[str, str]:
        """Columns of a raw table with their types; empty if it does not exist."""
        return self._columns.get(("main", name), {})

    def _is_marked(self, name: str) -> bool:
        return (PLAUSIBLE, name) in self._columns

    def _place(self, name: str) -> str:
        """Full name of a raw table; SQL may see only the selected rows by the unqualified name."""
        schema = PLAUSIBLE if self._is_marked(name) else "main"
        return f"{quoted(self.catalog)}.{schema}.{quoted(name)}" if self.selection else f"{schema}.{quoted(name)}"

    def raw(self, name: str, named: Iterable[str]) -> str:
        """The select of a raw table, with identity columns and the named columns that it has.

        Values that cannot be are not a number here, and reports in local time are placed
        (`plexlens.metrics.raw_tables`).
        """
        there = self._columns.get(("main", name))
        is_placed = there is not None and local_time.is_report(name) and self.places_reports
        return select_of(name, named, there, read_from=self._place(name), is_placed=is_placed)

    def selected(self, name: str, *columns: str) -> Query:
        """The selected rows of a raw table, with null for implausible values.

        What reads raw tables without a grain adds up many rows: one of them without a value leaves the sum a number.

        Parameters
        ----------
        name
            The raw table.
        columns
            Columns to read in addition to the identity; a missing column is null.
        """
        names = (*IDENTITY, *columns)
        if not self.selection:
            return self._without_marked(name, Query.of(self.connection, self.raw(name, columns), names))
        rows = selected_sql(self.connection, self.selection, name, self.catalog)
        place = f"({rows})"
        if self._is_marked(name):
            same = " and ".join(f"s.{key} is not distinct from r.{key}" for key in (*RECORD, "section_no"))
            place = f"(select r.* from {self._place(name)} r where exists (select 1 from ({rows}) s where {same}))"
        select = select_of(name, columns, self._columns.get(("main", name)), read_from=place)
        return self._without_marked(name, Query.of(self.connection, select, names))

    def _without_marked(self, name: str, rows: Query) -> Query:
        kinds = self._columns.get((PLAUSIBLE, name), {})
        replaced = ", ".join(
            f"case when not isnan({quoted(column)}) then {quoted(column)} end as {quoted(column)}"
            for column in rows.columns
            if column not in IDENTITY and kinds.get(column) in ("DOUBLE", "FLOAT")
        )
        if not replaced:
            return rows
        return Query.of(self.connection, f"select * replace ({replaced}) from {rows.source}", rows.columns)

    def restrict_sql(self, name: str) -> None:
        """Limit unqualified table names in SQL statements of this connection to selected rows, for tables without a
        grain.
        """
        if self.selection and self.has(name):
            statement = selected_sql(self.connection, self.selection, name, self.catalog)
            # A temporary view comes before the table of that name.
            self.connection.execute(f"create or replace temp view {quoted(name)} as {statement}")
