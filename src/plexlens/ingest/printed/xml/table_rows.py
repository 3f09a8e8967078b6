"""A table being read: heads, and rows that may precede them."""

from __future__ import annotations

from plexlens.ingest.printed.values import Printed
from plexlens.ingest.printed.xml.model import Row, Table
from plexlens.ingest.printed.xml.output import Output
from plexlens.ingest.printed.xml.report_rows import ReportRows
from plexlens.ingest.printed.xml.rows import Cell, HeldRows
from plexlens.ingest.source import Severity

Piece = tuple[str, str, int, dict[str, str]]
"""An element without children: tag, text, line, attributes."""


class TableRows:
    """A table of a report.

    Parameters
    ----------
    report
        The report.
    output
        Takes damage.
    line
        Where the table begins.
    """

    def __init__(self, report: ReportRows, output: Output, line: int) -> None:
        report.tables += 1
        self.complete = False
        self._number = report.tables
        self._report = report
        self._output = output
        self._line = line
        self._names: list[str] = []
        self._types: list[str | None] = []
        self._rows = 0
        self._held = HeldRows()
        self._too_many = 0
        self._too_few = 0
        self._model: Table | None = None
        if report.has_twin and report.part is not None:
            self._model = Table(self._names)
            report.part.tables.append(self._model)

    def head(self, text: str, column_type: str | None, line: int, tag: str) -> None:
        """Add a column head."""
        self._names.append(text)
        self._types.append(column_type)
        cell = Cell(table_no=self._number, column_no=len(self._names), column_type=column_type)
        self._report.emit("head", text, line, tag, cell=cell)

    def heads_complete(self) -> None:
        """Process the end of the heads: write the rows that waited."""
        self.complete = True
        for row in self._held.release():
            self._emit(*row)

    def row(self, line: int, attributes: dict[str, str], pieces: list[Piece], strays: list[str]) -> None:
        """Add a complete row."""
        self._rows += 1
        self._report.has_data = True
        if self.complete:
            self._emit(self._rows, line, attributes, pieces, strays)
        else:
            self._held.add((self._rows, line, attributes, pieces, strays), len(pieces))

    def end(self) -> None:
        """End the table."""
        self.heads_complete()
        for count, reason, what in (
            (self._too_many, "cells without heading", "more"),
            (self._too_few, "cells missing", "fewer"),
        ):
            if count:
                self._output.note(
                    reason,
                    Severity.INFO,
                    f"line {self._line}: {count} rows of table {self._number} have {what} cells than the "
                    f"{len(self._names)} headings of the table",
                    "see rmf_xml_value for the printed values",
                )

    def _emit(self, number: int, line: int, attributes: dict[str, str], pieces: list[Piece], strays: list[str]) -> None:
        row = Cell(
            table_no=self._number,
            row_no=number,
            row_type=attributes.get("type"),
            row_label=(pieces[0][1] or None) if pieces else None,
        )
        for name, text in attributes.items():
            self._report.emit("attribute", text.strip(), line, f"row@{name}", cell=row)
        printed = [self._cell(position, piece, row) for position, piece in enumerate(pieces)]
        for text in strays:
            self._report.emit("text", text, line, "row", cell=row)
        self._too_many += len(pieces) > len(self._names)
        # A row may end early when nothing more is to be said about it; one that ends in a value may have lost a cell.
        self._too_few += 0 < len(pieces) < len(self._names) and bool(pieces[-1][1])
        if self._model is not None:
            self._model.rows.append(Row(line, attributes, printed))

    def _cell(self, position: int, piece: Piece, row: Cell) -> Printed:
        tag, text, line, attributes = piece
        known = position < len(self._names)
        cell = row._replace(
            cell_no=position + 1,
            column_no=position + 1 if known else None,
            column_type=self._types[position] if known else None,
            column_head=self._names[position] if known else None,
        )
        for name, value in attributes.items():
            self._report.emit("attribute", value.strip(), line, f"{tag}@{name}", cell=cell)
        name = self._names[position] if known else tag
        return self._report.emit("cell", text, line, name, unit=attributes.get("unit"), cell=cell)
