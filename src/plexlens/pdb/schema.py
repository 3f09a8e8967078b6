"""Column types over the years: the types that the PDB stores, and how a column's type widens.

A later dump may bring more columns (a longer section) or another type for one (a changed layout). Files are not
rewritten; a table is read by the union of its columns, missing ones null, each in the narrowest type that holds
every file's values:

- two integer types: the smallest integer type that holds both;
- an integer and a float, or unsigned 64 bits and a signed integer: Float64 (exact up to 2**53);
- a column that was null throughout: the other's type;
- anything else: no common type, and the later dump is refused before a row of it is committed.

A column also keeps its unit: the same name in another unit is refused, since sums over it would mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

_TYPES: dict[str, tuple[Any, str]] = {
    "null": (pa.null(), "INTEGER"),
    "bool": (pa.bool_(), "BOOLEAN"),
    "uint8": (pa.uint8(), "UTINYINT"),
    "uint16": (pa.uint16(), "USMALLINT"),
    "uint32": (pa.uint32(), "UINTEGER"),
    "uint64": (pa.uint64(), "UBIGINT"),
    "int8": (pa.int8(), "TINYINT"),
    "int16": (pa.int16(), "SMALLINT"),
    "int32": (pa.int32(), "INTEGER"),
    "int64": (pa.int64(), "BIGINT"),
    "float": (pa.float32(), "FLOAT"),
    "double": (pa.float64(), "DOUBLE"),
    "string": (pa.string(), "VARCHAR"),
    "binary": (pa.binary(), "BLOB"),
    "date32[day]": (pa.date32(), "DATE"),
    "timestamp[us]": (pa.timestamp("us"), "TIMESTAMP"),
    "timestamp[us, tz=UTC]": (pa.timestamp("us", tz="UTC"), "TIMESTAMPTZ"),
    "list<string>": (pa.list_(pa.string()), "VARCHAR[]"),
    "list<double>": (pa.list_(pa.float64()), "DOUBLE[]"),
}
"""Name in the manifest -> Arrow type and DuckDB type: the types that the PDB holds."""

_NAMES = {arrow: name for name, (arrow, _) in _TYPES.items()}

_SAME_VALUES = {
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.list_(pa.field("element", pa.string())): pa.list_(pa.string()),
    pa.list_(pa.field("element", pa.float64())): pa.list_(pa.float64()),
}
"""Other encodings of types that the PDB holds."""


_KEPT_METADATA = frozenset({b"unit", b"recorded_unit", b"description"})
"""What of a field's metadata goes into the files: it stands in every one of them. Sources and confidence of a field are
the layout's to tell."""


class TypeConflictError(Exception):
    """A column whose type or unit conflicts with that of earlier files; the message gives both."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Field name in lower case.
    type : str
        Arrow type by its name: ``uint32``, ``double``, ``timestamp[us, tz=UTC]``.
    metadata : tuple of (str, str)
        What the source says about it: ``unit`` (after conversion), ``recorded_unit``, ``description``.
    """

    name: str
    type: str
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def unit(self) -> str:
        """Unit of the values; empty for plain numbers and text."""
        return dict(self.metadata).get("unit", "")

    @property
    def description(self) -> str:
        """Short description of the column."""
        return dict(self.metadata).get("description", "")

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type."""
        return _TYPES[self.type][0]

    @property
    def duckdb_type(self) -> str:
        """The type in DuckDB's notation."""
        return str(_TYPES[self.type][1])


def stored_type(arrow: pa.DataType) -> pa.DataType:
    """The type in which the PDB stores values of this Arrow type.

    Raises
    ------
    TypeConflictError
        The PDB has no such type.
    """
    if pa.types.is_dictionary(arrow):
        return stored_type(arrow.value_type)
    arrow = _SAME_VALUES.get(arrow, arrow)
    if arrow not in _NAMES:
        raise TypeConflictError(f"a PDB cannot store values of type {arrow}")
    return arrow


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """A batch's schema as the PDB stores it: types, and the metadata reduced to units and descriptions.

    Raises
    ------
    TypeConflictError
        A type that the PDB does not hold, or two columns of one name (case apart).
    """
    seen: dict[str, str] = {}
    fields = []
    for field in schema:
        name = field.name.lower()
        if name in seen:
            raise TypeConflictError(f"columns {seen[name]} and {field.name} have the same name")
        seen[name] = field.name
        try:
            stored = field.with_type(stored_type(field.type))
        except TypeConflictError as error:
            raise TypeConflictError(f"column {field.name}: {error}") from None
        kept = {key: value for key, value in (field.metadata or {}).items() if key in _KEPT_METADATA and value}
        fields.append(stored.with_metadata(kept or None))
    return pa.schema(fields)


def columns_of(schema: pa.Schema) -> tuple[Column, ...]:
    """The columns of a schema whose types the PDB stores."""
    return tuple(
        Column(
            field.name,
            _NAMES[field.type],
            tuple(sorted((key.decode(), value.decode()) for key, value in (field.metadata or {}).items())),
        )
        for field in schema
    )


def merge_columns(variants: Iterable[Sequence[Column]]) -> tuple[Column, ...]:
    """The columns of a table whose files were written with these variants, the earliest first.

    Columns stand in the order of the first variant; one that a later variant adds comes after its neighbour there.
    Metadata is the latest variant's.

    Raises
    ------
    TypeConflictError
        A column without a common type or with two units.
    """
    merged: list[Column] = []
    for variant in variants:
        place = {column.name: index for index, column in enumerate(merged)}
        after = -1
        inserted: list[tuple[int, Column]] = []
        for column in variant:
            index = place.get(column.name)
            if index is None:
                inserted.append((after, column))
            else:
                merged[index] = _merge_column(merged[index], column)
                after = index
        # From the back, so that the places before stay valid.
        for index, column in sorted(inserted, key=lambda entry: entry[0])[::-1]:
            merged.insert(index + 1, column)
    return tuple(merged)


def _merge_column(old: Column, new: Column) -> Column:
    if old.unit != new.unit and "null" not in (old.type, new.type):
        raise TypeConflictError(
            f"column {new.name} is in {_spoken_unit(old.unit)} there and in {_spoken_unit(new.unit)} here"
        )
    joined = common_type(old.arrow_type, new.arrow_type)
    if joined is None:
        raise TypeConflictError(f"column {new.name} is {old.type} there and {new.type} here")
    latest = old if new.type == "null" and old.type != "null" else new
    return Column(new.name, _NAMES[joined], latest.metadata)


def _spoken_unit(unit: str) -> str:
    return unit or "plain numbers"


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The narrowest stored type for the values of both, or None (the module's docstring gives the rule)."""
    if left == right or pa.types.is_null(right):
        return left
    if pa.types.is_null(left):
        return right
    numeric = (pa.types.is_integer, pa.types.is_floating)
    if not all(any(test(side) for test in numeric) for side in (left, right)):
        return None
    if any(pa.types.is_floating(side) for side in (left, right)):
        return pa.float64()
    return _common_integer(left, right)


def _common_integer(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    unsigned = [pa.types.is_unsigned_integer(side) for side in (left, right)]
    if unsigned[0] == unsigned[1]:
        return left if left.bit_width >= right.bit_width else right
    # A signed type needs one bit more than the unsigned one for the same values.
    sides = zip((left, right), unsigned, strict=True)
    bits = max(side.bit_width * (2 if is_unsigned else 1) for side, is_unsigned in sides)
    return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(bits, pa.float64())
