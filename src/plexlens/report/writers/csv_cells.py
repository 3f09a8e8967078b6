"""A report as CSV: a line per number or text of its figures, tables and charts, in base units.

The tables of a report have different columns, so the file has one line per cell, which spreadsheets pivot and programs
filter by section, block and column. Text that belongs to no cell (findings, notes, definitions) is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from plexlens.report.model import Cell, Report, Table
from plexlens.report.writers.csv_file import csv_of
from plexlens.report.writers.json_object import to_json, value_of

#: Columns of the file. ``row`` counts from 1 within a block; ``label`` joins the values that name the row: the key
#: columns of a table, the time of a chart's point, the number below a point of a chart over a number.
HEADINGS = ("section", "block", "kind", "row", "label", "column", "title", "unit", "value")

_Row = tuple[object, ...]


def render_csv(report: Report) -> str:
    """The report as CSV.

    Parameters
    ----------
    report
        As `plexlens.report.build` makes it.

    Returns
    -------
    str
        A line of `HEADINGS`, then one line per cell. Times are UTC; a value that is not known is empty.
    """
    return csv_of(HEADINGS, _rows(report))


def _rows(report: Report) -> Iterator[_Row]:
    for section, written in zip(report.sections, to_json(report)["sections"], strict=True):
        name = section.id
        tables = [block for block in section.blocks if isinstance(block, Table)]
        for number, figure in enumerate(written["figures"], 1):
            yield (
                name,
                "figures",
                "figure",
                number,
                "",
                figure["name"],
                figure["title"],
                figure["unit"],
                figure["value"],
            )
        for block, table in zip(tables, written["tables"], strict=True):
            keys = [column.name for column in block.columns if column.key]
            yield from ((name, *row) for row in _table(table, keys))
        for chart in written["charts"]:
            yield from ((name, *row) for row in _chart(chart))
        for chart in written["xy_charts"]:
            yield from ((name, *row) for row in _xy(chart))


def rows_left_out(report: Report) -> list[str]:
    """A sentence for each table with more rows than the report shows."""
    return [
        f"{section.title}, {block.title}: {len(block.rows):,} of {block.total_rows:,} rows are written"
        + (f"; SQL for all of them: {block.query}" if block.query else "")
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Table) and block.total_rows > len(block.rows)
    ]


def _table(table: dict[str, Any], keys: list[str]) -> Iterator[_Row]:
    for number, row in enumerate(table["rows"], 1):
        label = " / ".join(str(row[key]) for key in keys if row[key] not in (None, ""))
        for column in table["columns"]:
            yield (
                table["name"], "table", number, label, column["name"], column["title"], column["unit"],
                _cell(row[column["name"]]),
            )  # fmt: skip


def _chart(chart: dict[str, Any]) -> Iterator[_Row]:
    for series in chart["series"]:
        for number, (time, value) in enumerate(zip(chart["times"], series["values"], strict=True), 1):
            yield chart["name"], "chart", number, time, series["name"], chart["title"], chart["unit"], value


def _xy(chart: dict[str, Any]) -> Iterator[_Row]:
    for series in chart["series"]:
        for number, (x, y) in enumerate(series["points"], 1):
            yield chart["name"], "xy_chart", number, x, series["name"], chart["title"], chart["y"]["unit"], y


def csv_cell(cell: Cell) -> object:
    """A table cell for CSV: in base units, times in UTC, empty if unknown."""
    return _cell(value_of(cell))


def _cell(value: object) -> object:
    """Several values in a cell, as of a profile, are separated by blanks; a printed number is unchanged."""
    if isinstance(value, dict):
        return value["printed"]
    return " ".join("" if item is None else str(item) for item in value) if isinstance(value, list) else value
