"""Answers that are a single table: as text, JSON, CSV, an Excel sheet or a Parquet file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from plexlens.cli.terminal import table_text
from plexlens.errors import UsageError
from plexlens.json_text import hexadecimal, json_text
from plexlens.report.forms import Form

if TYPE_CHECKING:
    import pyarrow as pa

_WIDEST = 60


@dataclass(frozen=True)
class Rows:
    """A table with the answer to a question.

    Attributes
    ----------
    names
        Heads of the columns.
    rows
        Cells in the order of the columns.
    values
        Makes what JSON says; a list of row objects where it is None.
    lines
        Makes what text says; the rows in aligned columns where it is None.
    source
        What an error names: the file that the rows are of.
    arrow
        The same table as Arrow has it; None where there is none yet.
    """

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    values: Callable[[], Any] | None = None
    lines: Callable[[], Iterable[str]] | None = None
    source: str = ""
    arrow: pa.Table | None = None

    @classmethod
    def of(cls, table: pa.Table, source: str) -> Rows:
        """The rows of an Arrow table."""
        columns = [column.to_pylist() for column in table.columns]
        return cls(table.column_names, list(zip(*columns, strict=True)), source=source, arrow=table)

    def made(self, form: Form) -> str | bytes:
        """The table rendered in a form.

        Raises
        ------
        UsageError
            Columns share a name where one would replace the other, or a sheet cannot hold the rows.
        """
        makers: dict[Form, Callable[[], str | bytes]] = {
            Form.TEXT: self._text,
            Form.JSON: self._json,
            Form.CSV: self._csv,
            Form.XLSX: self._xlsx,
            Form.PARQUET: self._parquet,
        }
        return makers[form]()

    def _text(self) -> str:
        return _text(self.lines()) if self.lines is not None else table_text(self.names, self.rows)

    def _json(self) -> str:
        if self.values is not None:
            return json_text(self.values())
        self._check_names("a JSON object")
        return json_text([dict(zip(self.names, row, strict=True)) for row in self.rows])

    def _csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows([_flat(value) for value in row] for row in self.rows)
        return text.getvalue()

    def _xlsx(self) -> bytes:
        from plexlens.report.writers.workbook import MOST_COLUMNS, MOST_ROWS, Workbook

        if len(self.rows) >= MOST_ROWS or len(self.names) > MOST_COLUMNS:
            raise UsageError(
                file=self.source,
                what=f"{len(self.rows):,} rows of {len(self.names):,} columns do not fit on an Excel sheet",
                remedy="write .csv or .parquet, or ask for fewer rows",
            )
        book = Workbook()
        sheet, _ = book.sheet("Rows")
        cells = [[_excel(value) for value in row] for row in self.rows]
        moments = [any(isinstance(row[at], datetime) for row in cells) for at in range(len(self.names))]
        widths = [
            20 if moments[at] else min(max(8, len(name), *(len(str(row[at])) for row in cells[:1000]), 0) + 2, _WIDEST)
            for at, name in enumerate(self.names)
        ]
        styles = [book.style(num_format="yyyy-mm-dd hh:mm:ss") if moment else book.text for moment in moments]
        book.rows(sheet, list(zip(self.names, widths, strict=True)), cells, styles=styles)
        return book.data()

    def _parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._check_names("a Parquet file")
        table = self.arrow
        if table is None:
            columns = list(zip(*self.rows, strict=True)) or [()] * len(self.names)
            flat = [[_flat(value) for value in column] for column in columns]
            table = pa.table(dict(zip(self.names, flat, strict=True)))
        file = io.BytesIO()
        pq.write_table(table, file)
        return file.getvalue()

    def _check_names(self, what: str) -> None:
        twice = sorted({name for name in self.names if list(self.names).count(name) > 1})
        if twice:
            raise UsageError(
                file=self.source,
                what=f"several columns of the query are named {', '.join(twice)}, and {what} keeps one column per name",
                remedy="give each column its own name with AS",
            )


def text_or_json(lines: Callable[[], Iterable[str]], values: Callable[[], Any]) -> Callable[[Form], str]:
    """The function that renders each form of an answer that is not a table.

    Parameters
    ----------
    lines
        Makes its lines of text.
    values
        Makes its plain values, for JSON.
    """
    return lambda form: json_text(values()) if form is Form.JSON else _text(lines())


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _flat(value: Any) -> Any:
    """A value for a single cell: binary data in hexadecimal, lists and objects as JSON."""
    if isinstance(value, bytes):
        return hexadecimal(value)
    return json_text(value).rstrip("\n") if isinstance(value, list | dict) else value


def _excel(value: Any) -> Any:
    """The same for Excel: dates become date-times, other kinds of numbers become floating point."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None) if value.year >= 1900 else str(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day) if value.year >= 1900 else str(value)
    flat = _flat(value)
    return flat if isinstance(flat, str | int | float | bool | None) else str(flat)
