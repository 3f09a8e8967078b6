"""Rows of a report from the catalogue alone: each column's address locates its value in the report.

A table says what of the report makes one of its rows: the report as a whole, a segment, or a row of a printed table
that has the table's heads. Reports of which more has to be known subclass `ReportByAddress`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plexlens.ingest.printed.address import Address, key
from plexlens.ingest.printed.catalogue import PRINTED_UNITS, Column, TableSpec
from plexlens.ingest.printed.values import Printed
from plexlens.ingest.printed.xml.model import Part, Report, Row, Segment, Table, as_index, as_number, as_text, cell

Values = dict[str, object]
Rows = Iterator[tuple[str, Values]]


def typed(printed: Printed | None, column: Column) -> object:
    """A printed value converted to the column's type; None if it is missing."""
    if column.kind == "flag":
        return printed is not None and key(printed.text) in map(key, column.printed.split("; "))
    if column.kind == "text":
        return as_text(printed)
    if column.printed == "hexadecimal":
        return _hexadecimal(as_text(printed))
    if column.kind == "index":
        return as_index(printed)
    number = as_number(printed)
    return None if number is None else number / PRINTED_UNITS.get(column.printed, 1.0)


def _hexadecimal(printed: str | None) -> int | None:
    try:
        return None if printed is None else int(printed, 16)
    except ValueError:
        return None


def of_segment(spec: TableSpec, segment: Segment, block: str = "") -> Values:
    """Values of variables, and of cells in named rows; the first value counts."""
    values: Values = {}
    for column in spec.columns:
        for address in column.xml:
            if address.block == block:
                said = (typed(printed, column) for printed in _printed_at(address, segment))
                value = next((value for value in said if value is not None), None)
                if value is not None:
                    values.setdefault(column.name, value)
    return values


def _printed_at(address: Address, segment: Segment) -> Iterator[Printed]:
    """Values at an address of variables (name, or part and name) or of cells (part, row, head)."""
    parts = segment.parts
    if len(address.levels) > 1:
        parts = [parts[at] for at in address.levels[0].within(part.name for part in parts)]
    for part in parts:
        if len(address.levels) < 3:
            yield from (part.variables[at][1] for at in address.levels[-1].within(name for name, _ in part.variables))
            continue
        for table in part.tables:
            heads = list(address.levels[2].within(table.heads))
            for at in address.levels[1].within(row.cells[0].text if row.cells else "" for row in table.rows):
                yield from (results for head in heads if (results := cell(table.rows[at], head)) is not None)


def heads_of(spec: TableSpec, table: Table, block: str = "") -> dict[str, int]:
    """Columns whose head the table has, and the position of the head."""
    heads = {}
    for column in spec.columns:
        for address in column.xml:
            if address.block == block and len(address.levels) == 1 and column.name not in heads:
                position = next(address.levels[0].within(table.heads), None)
                if position is not None:
                    heads[column.name] = position
    return heads


def cells(spec: TableSpec, row: Row, where: dict[str, int]) -> Values:
    """The values of a row by column."""
    return {name: typed(cell(row, position), spec[name]) for name, position in where.items()}


class ReportByAddress:
    """Rows of a report."""

    def __init__(self, report: Report, specs: Sequence[TableSpec]) -> None:
        self.report = report
        self.specs = {spec.name: spec for spec in specs}
        self._whole: dict[str, Values] = {}

    def segment(self, segment: Segment) -> Rows:
        """Rows of a complete segment."""
        for spec in self.specs.values():
            results = of_segment(spec, segment) if spec.rows else {}
            if spec.rows == "segment" and any(name in results for name in spec.needs):
                yield spec.name, {**self.common, **self.around(segment), **results}
            elif spec.rows:
                self._whole[spec.name] = results | self._whole.get(spec.name, {})
        for part in segment.parts:
            for table in part.tables:
                for spec in self.specs.values():
                    if spec.rows == "table row":
                        yield from self._table(spec, segment, part, table)

    def finish(self) -> Rows:
        """Rows of the report as a whole."""
        for name, results in self._whole.items():
            if results and self.specs[name].rows == "report":
                yield name, {**self.common, **results}

    @property
    def common(self) -> Values:
        """Values common to all rows."""
        return {"interval_seconds": self.report.interval_seconds}

    def around(self, segment: Segment) -> Values:
        """Values of a segment that apply to its rows."""
        return {}

    def takes(self, spec: TableSpec, segment: Segment, part: Part, table: Table, where: dict[str, int]) -> bool:
        """Whether a printed table belongs to `spec`: it has the required heads, or if none are required, half of all
        heads.
        """
        if spec.needs:
            return all(name in where for name in spec.needs)
        heads = sum(any(len(address.levels) == 1 for address in column.xml) for column in spec.columns)
        return 2 * len(where) >= heads

    def filled(self, spec: TableSpec, segment: Segment, part: Part, table: Table, values: Values) -> Values | None:
        """A row completed with values from elsewhere in the report; None to leave it out."""
        return values

    def _table(self, spec: TableSpec, segment: Segment, part: Part, table: Table) -> Rows:
        where = heads_of(spec, table)
        if not self.takes(spec, segment, part, table, where):
            return
        for row in table.rows:
            # Monitor III sets kinds of processor apart by rows of empty cells.
            if not row.is_total and any(printed.text for printed in row.cells):
                values = {**self.common, **self._whole.get(spec.name, {}), **cells(spec, row, where)}
                results = self.filled(spec, segment, part, table, values)
                if results is not None:
                    yield spec.name, results
