"""A select and the names of its columns: the result of facts and roll-ups, which callers narrow further.

Nothing is run before rows are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from plexlens.pdb import kept_rows
from plexlens.pdb.engine import Connection, arrow, quoted


@dataclass(frozen=True)
class Query:
    """Rows in the engine.

    Attributes
    ----------
    connection
        The engine.
    source
        A table's name as SQL, or a select in brackets.
    columns
        Names of the columns.
    timed
        Facts alone, where classes are selected: the rows of all classes. Their intervals tell the time that was
        measured; a class without a row in an interval did no work in it. None if these rows contain them.
    part_of
        The rows of which these are some, each perhaps several times; None where nothing tells.
    in_file
        Whether these are rows that `kept` put into a file.
    """

    connection: Connection
    source: str
    columns: tuple[str, ...]
    timed: Query | None = None
    part_of: Query | None = None
    in_file: bool = False

    @classmethod
    def of(cls, connection: Connection, select: str, columns: Iterable[str]) -> Query:
        """The rows of a select."""
        return cls(connection, f"(\n{select}\n)", tuple(columns))

    @property
    def sql(self) -> str:
        """The select."""
        return self.source[2:-2] if self.source.startswith("(\n") else f"select * from {self.source}"

    def where(self, condition: str | None) -> Query:
        """The rows that meet a condition; without a condition, all."""
        if not condition:
            return self
        query = self.over(lambda source: f"select * from {source} where {condition}", self.columns)
        return replace(query, part_of=self.part_of or self)

    def over(self, select: Callable[[str], str], columns: Iterable[str]) -> Query:
        """A select over these rows, and the same select over the rows that measure time."""
        names = tuple(columns)
        timed = None if self.timed is None else Query.of(self.connection, select(self.timed.source), names)
        return replace(Query.of(self.connection, select(self.source), names), timed=timed)

    def select(self, *names: str, **text: str) -> Query:
        """Columns by name, and columns made by SQL."""
        listed = [quoted(name) for name in names] + [f"{sql} as {quoted(name)}" for name, sql in text.items()]
        return Query.of(self.connection, f"select {', '.join(listed)} from {self.source}", (*names, *text))

    def distinct(self) -> Query:
        """The rows without duplicates."""
        return Query.of(self.connection, f"select distinct * from {self.source}", self.columns)

    def and_rows_of(self, other: Query) -> Query:
        """These rows and those of another query with the same columns."""
        listed = ", ".join(quoted(name) for name in self.columns)
        both = " union all ".join(f"(select {listed} from {source})" for source in (self.source, other.source))
        return Query.of(self.connection, both, self.columns)

    def grouped(self, by: Sequence[str], texts: Mapping[str, str]) -> Query:
        """A row for each combination of the columns ``by``, with aggregates; a single row if there are none."""
        listed = [*(quoted(name) for name in by), *(f"{sql} as {quoted(name)}" for name, sql in texts.items())]
        group = f" group by {', '.join(quoted(name) for name in by)}" if by else ""
        return Query.of(self.connection, f"select {', '.join(listed)} from {self.source}{group}", (*by, *texts))

    def ordered(self, *by: str) -> pa.Table:
        """The rows ordered by SQL terms."""
        return arrow(self.connection, f"select * from {self.source}{_order(by)}")

    def first(self, *by: str, limit: int) -> tuple[pa.Table, int]:
        """The first rows by SQL terms, and how many there are in all."""
        # A count in each row is a window over all of them, which takes longer than to hand them over.
        rows = self.ordered(*by)
        return rows.slice(0, limit), rows.num_rows

    def arrow(self) -> pa.Table:
        """The rows."""
        return arrow(self.connection, f"select * from {self.source}")

    def rows(self) -> list[dict[str, Any]]:
        """The rows, by column name."""
        results: list[dict[str, Any]] = self.arrow().to_pylist()
        return results

    def count(self) -> int:
        """Number of rows."""
        row = self.connection.execute(f"select count(*) from {self.source}").fetchone()
        return int(row[0]) if row else 0

    def as_view(self, name: str) -> Query:
        """The rows as a temporary view with this name."""
        self.connection.execute(f"create or replace temp view {name} as {self.sql}")
        return Query(
            self.connection, name, self.columns, None if self.timed is None else self.timed.as_view(f"{name}_timed")
        )

    def kept(self, name: str, *, in_file: bool = False) -> Query:
        """The rows under this name, computed now: as a temporary table, or in a file (`plexlens.pdb.kept_rows`)."""
        kept_rows.keep(self.connection, name, self.sql, in_file=in_file)
        timed = None if self.timed is None else self.timed.kept(f"{name}_timed", in_file=in_file)
        return Query(self.connection, name, self.columns, timed, in_file=in_file)

    def drop(self) -> None:
        """Drop rows that were kept."""
        kept_rows.drop(self.connection, self.source, in_file=self.in_file)
        if self.timed is not None:
            self.timed.drop()


@dataclass(frozen=True)
class Summed:
    """Facts by interval that are added up over keys.

    Attributes
    ----------
    rows
        The rows.
    kept
        Keys and names of systems that they keep apart; all others are null.
    """

    rows: Query
    kept: frozenset[str]


def _order(by: Sequence[str]) -> str:
    return f" order by {', '.join(by)}" if by else ""
