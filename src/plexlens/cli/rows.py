"""Answers that are a single table: as text, JSON, CSV, an Excel sheet or a Parquet file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plexlens.cli.terminal import table_text
from plexlens.errors import UsageError
from plexlens.json_text import json_text
from plexlens.report.forms import Form

if TYPE_CHECKING:
    import pyarrow as pa


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
        from plexlens.report.writers.rows import rows_csv

        return rows_csv(self.names, self.rows)

    def _xlsx(self) -> bytes:
        from plexlens.report.writers.rows import rows_sheet
        from plexlens.report.writers.workbook import Workbook

        book = Workbook()
        rows_sheet(book, "Rows", self.names, self.rows, self.source)
        return book.data()

    def _parquet(self) -> bytes:
        import pyarrow as pa

        from plexlens.report.writers.rows import flat_value, table_parquet

        self._check_names("a Parquet file")
        table = self.arrow
        if table is None:
            columns = list(zip(*self.rows, strict=True)) or [()] * len(self.names)
            flat = [[flat_value(value) for value in column] for column in columns]
            table = pa.table(dict(zip(self.names, flat, strict=True)))
        return table_parquet(table)

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
