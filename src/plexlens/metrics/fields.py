"""Facts that are one recorded field each, declared once: the fact, its source text and its column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plexlens.metrics.definition import Fact, Rollup
from plexlens.metrics.unit import COUNT, Unit


@dataclass(frozen=True)
class Field:
    """A fact taken unchanged from one field.

    Parameters
    ----------
    name, title
        Of the fact.
    field
        Name of the recorded field, as in the layout; the raw table's column is the same in lower case.
    unit, rollup, computed_from
        Of the fact.
    """

    name: str
    title: str
    field: str
    unit: Unit = COUNT
    rollup: Rollup = Rollup.COUNT
    computed_from: str = ""

    @property
    def column(self) -> str:
        """Column of the raw table."""
        return self.field.lower()


def facts_of(record: str, fields: Iterable[Field]) -> tuple[Fact, ...]:
    """The facts of the fields; ``record`` is what their source text begins with (``SMF 115-2``)."""
    return tuple(
        Fact(f.name, f.title, f.unit, f.rollup, f"{record} {f.field}", computed_from=f.computed_from) for f in fields
    )


def names_of(fields: Iterable[Field]) -> tuple[str, ...]:
    """Columns of the raw table that the fields are read from."""
    return tuple(f.column for f in fields)


def columns_of(table: Any, fields: Iterable[Field]) -> dict[str, Any]:
    """Fact name to column of the table, in floating point."""
    return {f.name: table[f.column].cast("float64") for f in fields}
