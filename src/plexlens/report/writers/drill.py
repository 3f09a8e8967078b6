"""Links from a row to its parts: from system to member, pool and object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from plexlens.report.model import Cell, Table


@dataclass(frozen=True)
class Drill:
    """Link target of a table's rows.

    Attributes
    ----------
    table
        Name of the table that shows the parts.
    keys
        Indexes, in a row of the table above, of the cells by which the parts are found.
    """

    table: str
    keys: tuple[int, ...]

    def find(self, row: tuple[Cell, ...]) -> str:
        """Filter text that shows the parts of a row in the table below: each key as a whole cell."""
        return " ".join(f'"{cell}"' for index in self.keys if (cell := row[index]) not in (None, ""))


@dataclass(frozen=True)
class Leading:
    """Link of a table's rows to another page.

    Attributes
    ----------
    keys
        Indexes of the cells that name a row; the link stands in the last of them.
    address
        Address of the page about a row.
    cell
        Address of the page about a number of a row, by the index of its cell; empty for none. Keyboards reach these
        links by the arrow keys from the row's own, so that a table is not a hundred stops.
    """

    keys: tuple[int, ...]
    address: Callable[[tuple[Cell, ...]], str]
    table: str = ""
    cell: Callable[[tuple[Cell, ...], int], str] | None = None


@dataclass(frozen=True)
class Ways:
    """Links of the blocks of a report to other pages.

    Attributes
    ----------
    rows
        Of the rows and cells of tables, by the name of the table.
    blocks
        Of whole charts and tables, by their name: each a text and an address.
    figures
        Of key figures, by their name.
    """

    rows: Mapping[str, Leading]
    blocks: Mapping[str, Sequence[tuple[str, str]]]
    figures: Mapping[str, str]


NO_WAYS = Ways({}, {}, {})


@dataclass(frozen=True)
class Drills:
    """All links from the tables of a report; links to missing tables are dropped."""

    ways: Mapping[str, Drill | Leading]

    @classmethod
    def of(cls, tables: Iterable[Table]) -> Drills:
        """The links between these tables."""
        results = {table.name: table for table in tables}
        ways: dict[str, Drill | Leading] = {}
        for name, table in results.items():
            below = results.get(table.drill)
            if below is None:
                continue
            known = {column.name for column in below.columns if column.key}
            keys = tuple(i for i, column in enumerate(table.columns) if column.key and column.name in known)
            if keys:
                ways[name] = Drill(below.name, keys)
        return cls(ways)

    def reaches(self, table: str) -> bool:
        """Whether any row links to the table."""
        return any(way.table == table for way in self.ways.values())


NOWHERE = Drills({})
