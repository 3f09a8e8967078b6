"""An Excel workbook in memory: sheets with valid names, heads, numbers, texts and links.

Nothing is an Excel formula: a text that begins with an equals sign stays text.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

import xlsxwriter

from plexlens.report.writers.names import cell_text

#: Longest name of a sheet, longest text of a cell, and most rows and columns of a sheet in Excel.
SHEET_NAME = 31
CELL_TEXT = 32_767
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384

#: Whole numbers above this are not exact in Excel, which keeps 15 digits; they are written as text.
_EXACT = 10**15

_CUT = " (cut: Excel does not allow longer text)"
_UNFIT = re.compile(r"[\[\]:*?/\\']")

Value = str | float | int | bool | datetime | None


class Workbook:
    """A workbook being written; `data` finishes it.

    Examples
    --------
    >>> book = Workbook()
    >>> sheet, name = book.sheet("CPU/zIIP")
    >>> book.rows(sheet, [("System", 12), ("Busy, %", 10)], [("SYS1", 71.5)])
    >>> name, book.data()[:2]
    ('CPU-zIIP', b'PK')
    """

    def __init__(self) -> None:
        self._out = io.BytesIO()
        self.book = xlsxwriter.Workbook(
            self._out,
            {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "remove_timezone": True},
        )
        self._taken: set[str] = set()
        self._styles: dict[tuple[tuple[str, Any], ...], Any] = {}

    def style(self, **properties: Any) -> Any:
        """A cell format; the same properties give the same format."""
        key = tuple(sorted(properties.items()))
        if key not in self._styles:
            self._styles[key] = self.book.add_format(properties)
        return self._styles[key]

    @cached_property
    def title(self) -> Any:
        """Format for a heading."""
        return self.style(bold=True, font_size=14)

    @cached_property
    def lead(self) -> Any:
        """Format for running text."""
        return self.style(text_wrap=True, valign="top")

    @cached_property
    def head(self) -> Any:
        """Format for column heads."""
        return self.style(bold=True, text_wrap=True, valign="top", bottom=1, bg_color="#EEF0F3")

    @cached_property
    def text(self) -> Any:
        """Format for texts in tables."""
        return self.style(valign="top")

    @cached_property
    def link(self) -> Any:
        """Format for links."""
        return self.style(font_color="#0B57D0", underline=1)

    def name(self, wanted: str) -> str:
        """Reserve and return a sheet name that is valid in Excel and unique."""
        plain = _UNFIT.sub("-", wanted).strip() or "sheet"
        name, number = plain[:SHEET_NAME], 1
        while name.lower() in self._taken:
            number += 1
            ending = f" ({number})"
            name = plain[: SHEET_NAME - len(ending)] + ending
        self._taken.add(name.lower())
        return name

    def sheet(self, wanted: str) -> tuple[Any, str]:
        """A new sheet, and its name."""
        name = self.name(wanted)
        return self.book.add_worksheet(name), name

    def heads(self, sheet: Any, columns: Sequence[tuple[str, int]], row: int = 0) -> None:
        """Write column heads, and set the column widths in characters."""
        for place, (title, width) in enumerate(columns):
            sheet.set_column(place, place, width)
            sheet.write_string(row, place, cell_text(title), self.head)

    def rows(
        self,
        sheet: Any,
        columns: Sequence[tuple[str, int]],
        rows: Iterable[Sequence[Value]],
        *,
        styles: Sequence[Any] = (),
        first: int = 0,
        fixed: int = 0,
    ) -> None:
        """Write heads and the rows below them, with filters for the reader.

        Parameters
        ----------
        sheet
            Where to write.
        columns
            Head and width of each column.
        rows
            Cells in the order of the columns; None is an empty cell.
        styles
            Format of each column; that of plain text where there is none.
        first
            Row of the heads.
        fixed
            Columns that stay in sight when the sheet scrolls.
        """
        self.heads(sheet, columns, first)
        last = first
        for last, row in enumerate(rows, first + 1):
            for place, value in enumerate(row):
                self.cell(sheet, last, place, value, styles[place] if styles else self.text)
        sheet.freeze_panes(first + 1, fixed)
        sheet.autofilter(first, 0, max(last, first + 1), len(columns) - 1)

    def cell(self, sheet: Any, row: int, column: int, value: Value, style: Any = None) -> None:
        """Write a cell: numbers as numbers, moments as dates, texts as texts; unknown values stay empty."""
        if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
            sheet.write_blank(row, column, None, style)
        elif isinstance(value, bool):
            sheet.write_boolean(row, column, value, style)
        elif isinstance(value, datetime):
            sheet.write_datetime(row, column, value, style)
        elif isinstance(value, int | float) and (isinstance(value, float) or abs(value) < _EXACT):
            sheet.write_number(row, column, value, style)
        else:
            text = cell_text(str(value))
            cut = text if len(text) <= CELL_TEXT else text[: CELL_TEXT - len(_CUT)] + _CUT
            sheet.write_string(row, column, cut, style)

    def data(self) -> bytes:
        """The finished file; afterwards nothing can be written."""
        self.book.close()
        return self._out.getvalue()
