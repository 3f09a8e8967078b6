"""A table of plain rows as CSV, as a sheet of an Excel workbook, and as Parquet."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.json_text import hexadecimal, json_text
from plexlens.report.writers.csv_file import csv_of
from plexlens.report.writers.workbook import MOST_COLUMNS, MOST_ROWS, Value, Workbook

#: Widest column of a sheet, in characters.
_WIDEST = 60


def rows_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The rows as CSV, below their names."""
    return csv_of(names, ([flat_value(value) for value in row] for row in rows))


def rows_sheet(book: Workbook, title: str, names: Sequence[str], rows: Sequence[Sequence[Any]], source: str) -> None:
    """Write the rows to a new sheet.

    Parameters
    ----------
    book
        The workbook.
    title
        Name of the sheet.
    names, rows
        Heads and cells.
    source
        File or database of the rows, for the error.

    Raises
    ------
    UsageError
        A sheet cannot hold the rows.
    """
    if len(rows) >= MOST_ROWS or len(names) > MOST_COLUMNS:
        raise UsageError(
            file=source,
            what=f"{len(rows):,} rows of {len(names):,} columns do not fit on an Excel sheet",
            remedy="write .csv or .parquet, or ask for fewer rows",
        )
    sheet, _ = book.sheet(title)
    cells = [[_excel(value) for value in row] for row in rows]
    moments = [any(isinstance(row[at], datetime) for row in cells) for at in range(len(names))]
    widths = [
        20 if moments[at] else min(max(8, len(name), *(len(str(row[at])) for row in cells[:1000]), 0) + 2, _WIDEST)
        for at, name in enumerate(names)
    ]
    styles = [book.style(num_format="yyyy-mm-dd hh:mm:ss") if moment else book.text for moment in moments]
    book.rows(sheet, list(zip(names, widths, strict=True)), cells, styles=styles)


def table_parquet(table: pa.Table) -> bytes:
    """The table as a Parquet file, with the metadata of its fields."""
    # Most commands write no Parquet file.
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def flat_value(value: Any) -> Any:
    """A value for a single cell: binary data in hexadecimal, lists and objects as JSON."""
    if isinstance(value, bytes):
        return hexadecimal(value)
    return json_text(value).rstrip("\n") if isinstance(value, list | dict) else value


def _excel(value: Any) -> Value:
    """The same for Excel: dates become date-times, other kinds of numbers become floating point."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None) if value.year >= 1900 else str(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day) if value.year >= 1900 else str(value)
    flat = flat_value(value)
    return flat if isinstance(flat, str | int | float | bool | None) else str(flat)
