"""Wide printed tables, fitted next to the table of contents on a page 1,400 pixels wide.

A table of few rows is turned: a line for each of its columns. One of many rows is divided: each part begins with the
columns that name a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plexlens.report.model import Cell, Column, ColumnKind, PrintedNumber, Table

#: Letters that stand side by side in a window of 1,400 pixels, blanks between columns included.
_LETTERS = 150

#: Letters that the space between two columns, and the sign that a head sorts, take.
_BETWEEN = 2

#: Cells with longer texts are wrapped.
_WRAPPED = 26

#: Tables with at most this number of rows are transposed.
_FEW_ROWS = 3


def fitted(table: Table) -> Iterator[Table]:
    """The table, transposed or split if it is too wide; no cell is lost."""
    widths = [_width(table, index) for index in range(len(table.columns))]
    if sum(widths) <= _LETTERS:
        yield table
    elif 0 < len(table.rows) <= _FEW_ROWS:
        yield _turned(table)
    else:
        yield from _divided(table, widths)


def _width(table: Table, index: int) -> int:
    words = re.split(r"[\s/]", table.columns[index].title)
    cells = [len(_text(row[index])) for row in table.rows]
    return max(*(len(word) for word in words), min(max(cells, default=0), _WRAPPED)) + _BETWEEN


def _text(cell: Cell) -> str:
    return cell.text if isinstance(cell, PrintedNumber) else str(cell or "")


def _turned(table: Table) -> Table:
    """The table transposed: a row for each column."""
    lines = tuple((column.title, *(row[at] for row in table.rows)) for at, column in enumerate(table.columns))
    titles = ("Value",) if len(table.rows) == 1 else tuple(f"Row {number}" for number in range(1, len(table.rows) + 1))
    columns = (
        Column("name", "Name", ColumnKind.PRINTED, key=True),
        *(Column(f"value_{number}", title, ColumnKind.PRINTED) for number, title in enumerate(titles, 1)),
    )
    return replace(table, columns=columns, rows=lines, total_rows=len(lines), top=60, query="", sorted_by=None)


def _divided(table: Table, widths: Sequence[int]) -> Iterator[Table]:
    keys = [at for at, column in enumerate(table.columns) if column.key]
    parts: list[list[int]] = []
    room = 0
    for at, width in enumerate(widths):
        if at in keys:
            continue
        if not parts or width > room:
            parts.append([])
            room = _LETTERS - sum(widths[key] for key in keys)
        parts[-1].append(at)
        room -= width
    for number, part in enumerate(parts, 1):
        chosen = [*keys, *part]
        yield replace(
            table,
            name=table.name if number == 1 else f"{table.name}_part_{number}",
            title=table.title if number == 1 else f"{table.title} (columns from {table.columns[part[0]].title} on)",
            columns=tuple(table.columns[at] for at in chosen),
            rows=tuple(tuple(row[at] for at in chosen) for row in table.rows),
        )
