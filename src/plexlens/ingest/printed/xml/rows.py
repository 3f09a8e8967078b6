"""Rows into Arrow batches: values with the context they share, twin rows column by column."""

from __future__ import annotations

import marshal
import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import IO, Any, NamedTuple

import pyarrow as pa

from plexlens.ingest.printed.catalogue import TableSpec
from plexlens.ingest.printed.values import Printed

VALUE_ROWS = 1 << 15
_HELD_CELLS = 1 << 16


class Place(NamedTuple):
    """Position of a value in a report."""

    segment_no: int | None = None
    segment: str | None = None
    part_no: int | None = None
    part: str | None = None


class Context(NamedTuple):
    """Facts shared by all values at a place of a report; the first columns of a value's row."""

    system: str | None = None
    sysplex: str | None = None
    subsystem: str | None = None
    interval_start: datetime | None = None
    interval_end: datetime | None = None
    utc_offset: float | None = None
    source_id: str = ""
    record_no: int = 0
    report: str | None = None
    report_title: str | None = None
    options: str | None = None
    report_type: str | None = None
    gatherer: str | None = None
    resource: str | None = None
    resource_type: str | None = None
    segment_no: int | None = None
    segment: str | None = None
    part_no: int | None = None
    part: str | None = None


class Cell(NamedTuple):
    """Position of a value in a table."""

    table_no: int | None = None
    row_no: int | None = None
    row_type: str | None = None
    row_label: str | None = None
    cell_no: int | None = None
    column_no: int | None = None
    column_type: str | None = None
    column_head: str | None = None


NOWHERE = Cell()
"""Of a value that is in no table."""


class Value(NamedTuple):
    """A value; the other columns of its row."""

    section_no: int
    kind: str
    table_no: int | None
    row_no: int | None
    row_type: str | None
    row_label: str | None
    cell_no: int | None
    column_no: int | None
    column_type: str | None
    column_head: str | None
    name: str
    value: str | None
    value_type: str
    number: float | None
    number_unit: str | None
    number_scale: float | None
    line: int

    @classmethod
    def of(cls, named: tuple[int, str, str], printed: Printed, cell: Cell, line: int) -> Value:
        """A value as printed, with its place, number, kind and name."""
        text, value_type, number, unit, scale = printed[:5]
        section_no, kind, name = named
        return cls(section_no, kind, *cell, name, text or None, value_type, number, unit, scale, line)


class ValueRows:
    """Values gathered into batches of ``rmf_xml_value``."""

    def __init__(self, table: TableSpec) -> None:
        self.total = 0
        self.numbers = 0
        self._name = table.name
        self._schema = table.schema()
        self._values: list[Value] = []
        self._contexts: list[Context] = []
        self._context_of: list[int] = []

    def add(self, context: Context, value: Value) -> None:
        """Add a row."""
        if not self._contexts or self._contexts[-1] is not context:
            self._contexts.append(context)
        self._context_of.append(len(self._contexts) - 1)
        self._values.append(value)
        self.total += 1
        if value.number is not None:
            self.numbers += 1

    def batches(self, *, all_of_it: bool) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The gathered rows, once there are enough; with `all_of_it`, at the end, all of them."""
        if self._values and (all_of_it or len(self._values) >= VALUE_ROWS):
            yield self._name, self._batch()
            self._values, self._contexts, self._context_of = [], [], []

    def _batch(self) -> pa.RecordBatch:
        columns: dict[str, pa.Array] = {}
        where = pa.array(self._context_of, type=pa.int32())
        for name, shared in zip(Context._fields, zip(*self._contexts, strict=True), strict=True):
            columns[name] = pa.array(shared, type=self._schema.field(name).type).take(where)
        for name, own in zip(Value._fields, zip(*self._values, strict=True), strict=True):
            columns[name] = pa.array(own, type=self._schema.field(name).type)
        return pa.RecordBatch.from_arrays([columns[name] for name in self._schema.names], schema=self._schema)


class HeldRows:
    """Rows of a table whose heads have not been read yet; long ones wait in a temporary file."""

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._cells = 0
        self._file: IO[bytes] | None = None

    def add(self, row: tuple[Any, ...], cells: int) -> None:
        """Hold a row of plain Python values."""
        self._rows.append(row)
        self._cells += cells
        if self._cells > _HELD_CELLS:
            self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115 -- closed by `release`
            marshal.dump(self._rows, self._file)
            self._rows, self._cells = [], 0

    def release(self) -> Iterator[tuple[Any, ...]]:
        """The rows in order; afterwards none are held."""
        if self._file is not None:
            with self._file as file:
                end = file.tell()
                file.seek(0)
                while file.tell() < end:
                    yield from marshal.load(file)
            self._file = None
        yield from self._rows
        self._rows, self._cells = [], 0
