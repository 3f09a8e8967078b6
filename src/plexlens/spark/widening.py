"""Types of raw tables in Spark, which has no unsigned integers: each becomes the next wider type that holds it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.large_string(): pa.string(),
}

#: Columns of eight unsigned bytes whose values stay below 2**63: positions in a file, not counters of a record.
_POSITIONS = ("record_no", "offset")

#: Kept to the last digit: 64 bits that name something and do not measure anything.
_EXACT = ("hash", "qw0401id")


def widened(schema: pa.Schema) -> pa.Schema:
    """The schema with types that Spark has; 64 unsigned bits are a decimal of 20 digits."""
    return pa.schema([pa.field(field.name, _WIDER.get(field.type, field.type)) for field in schema])


def spark_schema(schema: pa.Schema) -> Any:
    """The schema as Spark's; a moment without a zone keeps its type."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(widened(schema), prefer_timestamp_ntz=True)


def in_numbers(frame: Any) -> Any:
    """A table of Spark whose decimals are doubles, as metrics take them.

    Quotients of decimals have a fixed number of digits, so metrics of decimals would be rounded. Counters above
    2**53 lose their last digits, as they do in DuckDB when a fact is made of them.
    """
    from pyspark.sql.types import DecimalType

    columns = []
    for field in frame.schema:
        name = f"`{field.name}`"
        if isinstance(field.dataType, DecimalType) and field.name not in _EXACT:
            columns.append(f"cast({name} as {'bigint' if field.name in _POSITIONS else 'double'}) as {name}")
        else:
            columns.append(name)
    return frame.selectExpr(*columns)
