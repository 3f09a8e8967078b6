"""Columns as data: what each table of this source holds, in which unit, and which SMF field says the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from plexlens.ingest.source import COMMON_FIELDS

_TYPES = {
    "text": pa.string(),
    "number": pa.float64(),
    "index": pa.uint32(),
    "flag": pa.bool_(),
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Column name, snake case.
    kind : str
        ``text``, ``number`` (float64), ``index`` (uint32) or ``flag`` (bool).
    unit : str
        Base unit; empty for text and plain numbers.
    description : str
        What the value is.
    smf : str
        The SMF field, or the expression of SMF fields, with the same meaning; empty where there is none.
    derived : bool
        True when the value is calculated here from printed values, and so carries their rounding.
    """

    name: str
    kind: str
    unit: str
    description: str
    smf: str = ""
    derived: bool = False

    def field(self) -> pa.Field:
        """The column as an Arrow field with its metadata."""
        metadata = {"description": self.description}
        if self.unit:
            metadata["unit"] = self.unit
        if self.smf:
            metadata["smf_field"] = self.smf
        if self.derived:
            metadata["derived"] = "from printed values"
        return pa.field(self.name, _TYPES[self.kind], metadata=metadata)


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table: its name, what one row is, and its own columns (the common ones come before them)."""

    name: str
    grain: str
    columns: tuple[Column, ...]

    def schema(self) -> pa.Schema:
        """The Arrow schema: common columns, then the table's own."""
        return pa.schema(
            [*COMMON_FIELDS, *(column.field() for column in self.columns)], metadata={"description": self.grain}
        )

    def names(self) -> frozenset[str]:
        """Names of the table's own columns."""
        return frozenset(column.name for column in self.columns)


def text(name: str, description: str, smf: str = "") -> Column:
    """A text column."""
    return Column(name, "text", "", description, smf)


def number(name: str, unit: str, description: str, smf: str = "") -> Column:
    """A number taken as printed, in base units."""
    return Column(name, "number", unit, description, smf)


def derived(name: str, unit: str, description: str, smf: str = "") -> Column:
    """A number calculated from printed ones: additive where those are averages or rates."""
    return Column(name, "number", unit, description, smf, derived=True)


def index(name: str, description: str, smf: str = "") -> Column:
    """A small whole number that names something."""
    return Column(name, "index", "", description, smf)


def flag(name: str, description: str, smf: str = "") -> Column:
    """A yes or no."""
    return Column(name, "flag", "", description, smf)


INTERVAL = number("interval_seconds", "seconds", "length of the interval as the report states it", "SMF7xINT")
"""First own column of every twin: what its rates were divided by."""


def markdown(tables: tuple[TableSpec, ...]) -> Iterator[str]:
    """Lines of the column reference in ``docs/rmf-xml.md``; a test compares them with the page."""
    for table in tables:
        yield f"### `{table.name}`"
        yield ""
        yield f"One row: {table.grain}."
        yield ""
        yield "| column | type | unit | meaning | SMF field |"
        yield "|---|---|---|---|---|"
        for column in table.columns:
            smf = f"`{column.smf}`" if column.smf else ""
            meaning = column.description + (" (derived)" if column.derived else "")
            yield f"| `{column.name}` | {_TYPES[column.kind]} | {column.unit} | {meaning} | {smf} |"
        yield ""
