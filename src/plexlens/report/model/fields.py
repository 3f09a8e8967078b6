"""Columns of the pools report, each defined once by title, unit, formula and computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from plexlens.metrics.page_numbers import PageNumber
from plexlens.metrics.unit import Unit
from plexlens.report.model.report import Cell, Column, ColumnKind, Definition, Table

S = TypeVar("S")
T = TypeVar("T")

#: Rows of a table that the report holds at most.
MOST_ROWS = 1000


@dataclass(frozen=True)
class Subject:
    """Subject of the rows of some definitions: an object, a pool, a cluster.

    Attributes
    ----------
    id
        First part of the ids of its definitions: ``pool_object``.
    """

    id: str
    title: str
    row: str


@dataclass(frozen=True)
class Field(Generic[T]):
    """A column: its title, its source, and its value for a row.

    Attributes
    ----------
    formula
        Empty for what is only named or recorded; then there is no definition, unless ``source`` says where from.
    defined_as
        Its title in the list of definitions, where the head says less.
    """

    subject: Subject
    name: str
    title: str
    value: Callable[[T], Cell]
    unit: Unit | None = None
    formula: str = ""
    source: str = ""
    caveat: str = ""
    group: str = ""
    bar: bool = False
    key: bool = False
    kind: ColumnKind = ColumnKind.TEXT
    defined_as: str = ""

    @property
    def id(self) -> str:
        """Id of its definition; empty without a definition."""
        return f"{self.subject.id}.{self.name}" if self.unit is not None and self.kind is ColumnKind.TEXT else ""

    def within(self, group: str, title: str) -> Field[T]:
        """The same column below a group heading that repeats part of its title."""
        return replace(self, group=group, title=title, defined_as=self.defined_as or self.title)

    def with_bar(self) -> Field[T]:
        """The same column with bars."""
        return replace(self, bar=True)

    def through(self, part: Callable[[S], T]) -> Field[S]:
        """The same column for rows that contain its subject."""
        return Field(**(vars(self) | {"value": lambda row: self.value(part(row))}))

    def column(self) -> Column:
        """Its column head."""
        kind = ColumnKind.NUMBER if self.unit is not None and self.kind is ColumnKind.TEXT else self.kind
        return Column(self.name, self.title, kind, self.unit, self.id, self.group, self.bar, self.key)


def of_number(
    subject: Subject, name: str, number: PageNumber, value: Callable[[T], Cell], *, group: str = "", bar: bool = False
) -> Field[T]:
    """The column for a number of the catalogue."""
    return Field(
        subject,
        name,
        number.title,
        value,
        number.unit,
        number.words,
        number.source,
        number.caveat,
        group=group,
        bar=bar,
    )


@dataclass
class Definitions:
    """Definitions of all numbers in a report, in the order of first use."""

    found: dict[str, Definition] = field(default_factory=dict)

    def add(self, column: Field[T], title: str = "") -> str:
        """Record a definition; return its id."""
        assert column.unit is not None, column.name
        self.found.setdefault(
            column.id,
            Definition(
                column.id,
                column.subject.title,
                column.subject.row,
                title or column.title,
                column.unit,
                column.formula,
                column.source,
                column.caveat,
                "" if column.formula else "as counted",
            ),
        )
        return column.id

    def table(
        self,
        name: str,
        title: str,
        fields: Sequence[Field[T]],
        rows: Iterable[T],
        *,
        sorted_by: tuple[str, bool] | None = None,
        top: int = 20,
        note: str = "",
        folded: bool = False,
        drill: str = "",
    ) -> Table | None:
        """A table of the rows, at most `MOST_ROWS`; None if there are no rows.

        A column that is null in every row is left out.
        """
        every = list(rows)
        if not every:
            return None
        cells = [tuple(part.value(row) for part in fields) for row in every]
        kept = [at for at, part in enumerate(fields) if part.key or any(row[at] is not None for row in cells)]
        for at in kept:
            if fields[at].id:
                self.add(fields[at], _whole_title(fields[at]))
        shown = tuple(tuple(row[at] for at in kept) for row in cells[:MOST_ROWS])
        left_out = len(cells) - len(shown)
        more = f"{note} {left_out:,} further rows are left out." if left_out else note
        return Table(
            name,
            title,
            tuple(fields[at].column() for at in kept),
            shown,
            top=top,
            sorted_by=sorted_by,
            note=more.strip(),
            folded=folded,
            drill=drill,
        )


def _whole_title(column: Field[T]) -> str:
    if column.defined_as:
        return column.defined_as
    return f"{column.group}: {column.title.lower()}" if column.group else column.title
