"""The audit of a study as an Excel workbook: a sheet per table, as printed, with the computed numbers below.

A sheet shows the table as the study prints it, derived cells coloured by their result, and then every derived cell
with computed value, bounds, difference, formula and arithmetic. Numbers are numbers, shown with as many decimals as
were printed; other cells (``29K``, ``N/A``) stay text. Nothing is an Excel formula: a cell that begins
with an equals sign is text too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from plexlens.compare import Audit, Cell, TableAudit
from plexlens.compare.analysis.analysis import Analysis, analyse
from plexlens.compare.audit.json_object import RULE
from plexlens.compare.formulas.catalogue import FORMULAS
from plexlens.compare.page.study import restored_by
from plexlens.compare.page.study_workbook_analysis import write_analyses
from plexlens.report.writers.workbook import Workbook

_PLAIN = re.compile(r"(?P<number>[+-]?(?:\d[\d,]*(?:\.(?P<decimals>\d*))?|\.(?P<only>\d+)))(?P<percent> ?%)?\Z")

DERIVED_HEADS = (
    "Row", "Label", "Column", "Formula", "Unit", "Printed", "Computed", "Low", "High", "Difference", "Result",
    "Formula in words", "Arithmetic", "Note",
)  # fmt: skip

_WIDTHS = (6, 26, 28, 26, 12, 12, 14, 14, 14, 12, 13, 50, 70, 50)


def result_of(cell: Cell) -> str:
    """The result of a derived cell in a word or two."""
    if cell.computed is None:
        return "not computed"
    if cell.printed is None:
        return "not printed"
    return "agrees" if cell.agrees else "own convention" if cell.convention else "DISAGREES"


#: Fill and text colour of a derived cell by its result.
COLOURS = {
    "agrees": ("#E3F1E5", "#14532D"),
    "DISAGREES": ("#F8D7DA", "#7F1D1D"),
    "own convention": ("#F1EAF8", "#4A2A6B"),
    "not computed": ("#FFF3CD", "#663C00"),
    "not printed": ("#E7ECF5", "#1E3A5F"),
}


def study_workbook(audits: Sequence[Audit], analyses: Sequence[Analysis] | None = None) -> bytes:
    """The workbook of one or more studies.

    Parameters
    ----------
    audits
        As `plexlens.compare.audit.audit` makes them, at least one.
    analyses
        What is declared about each; worked out if not given.

    Returns
    -------
    bytes
        An ``.xlsx`` file: the sheets ``Summary``, ``Findings``, ``Curves``, ``Checks`` and ``Claims``, one for each
        table, and ``Formulas``.
    """
    analyses = [analyse(audit) for audit in audits] if analyses is None else analyses
    book = Workbook()
    summary, _ = book.sheet("Summary")
    write_analyses(book, [audit.study.name for audit in audits], analyses, by_result(book))
    named = []
    for audit in audits:
        for table in audit.tables:
            sheet, name = book.sheet(table.table.id if len(audits) == 1 else f"{audit.study.name} {table.table.id}")
            _table(book, sheet, audit, table)
            named.append((audit, table, name))
    _summary(book, summary, audits, named)
    used = {cell.formula for audit in audits for table in audit.tables for cell in table.cells}
    _formulas(book, sorted(used))
    return book.data()


def by_result(book: Workbook) -> dict[str, Any]:
    """Cell formats by result of the comparison."""
    return {name: book.style(bg_color=fill, font_color=ink, valign="top") for name, (fill, ink) in COLOURS.items()}


def _summary(
    book: Workbook, sheet: Any, audits: Sequence[Audit], named: Iterable[tuple[Audit, TableAudit, str]]
) -> None:
    sheet.set_column(0, 0, 16)
    sheet.set_column(1, 1, 32)
    sheet.set_column(2, 2, 70)
    sheet.set_column(3, 10, 12)
    sheet.write_string(0, 0, "Published studies recomputed", book.title)
    row = 1
    for audit in audits:
        sheet.write_string(row, 0, f"{audit.study.title}. {audit.study.source}.")
        row += 1
    sheet.merge_range(row, 0, row, 7, RULE, book.lead)
    sheet.set_row(row, 48)
    row += 1
    styles = by_result(book)
    for name in COLOURS:
        sheet.write_string(row, 0, name, styles[name])
        row += 1
    row += 1
    heads = (
        "Study",
        "Table",
        "Title",
        "Rows",
        "Computed",
        "Agree",
        "Disagree",
        "Not computed",
        "Own convention",
        "Relations",
        "Broken",
    )
    for column, head in enumerate(heads):
        sheet.write_string(row, column, head, book.head)
    first = row
    for audit, table_audit, name in named:
        row += 1
        sheet.write_string(row, 0, audit.study.name)
        sheet.write_url(row, 1, f"internal:'{name}'!A1", book.link, name)
        sheet.write_string(row, 2, table_audit.table.title)
        counts = (
            len(table_audit.table.rows), len(table_audit.compared), table_audit.agree, len(table_audit.disagree),
            len(table_audit.not_computed),
            len(table_audit.conventions), len(table_audit.tested), len(table_audit.broken),
        )  # fmt: skip
        for column, count in enumerate(counts, 3):
            wrong = column in (6, 10) and count
            sheet.write_number(row, column, count, styles["DISAGREES"] if wrong else None)
    sheet.autofilter(first, 0, row, len(heads) - 1)
    sheet.freeze_panes(first + 1, 0)


def _table(book: Workbook, sheet: Any, audit: Audit, table_audit: TableAudit) -> None:
    table = table_audit.table
    sheet.set_column(0, len(table.columns), 14)
    for column, width in enumerate(_WIDTHS):
        sheet.set_column(column, column, width)
    sheet.write_string(0, 0, f"{table.id}: {table.title}", book.title)
    sheet.write_url(1, 0, "internal:'Summary'!A1", book.link, "to the summary")
    row = 2
    for text in (f"{audit.study.title}. {audit.study.source}.", table.note):
        if text:
            sheet.write_string(row, 0, text)
            row += 1
    row += 1
    sheet.write_string(row, 0, "As printed", book.title)
    row += 1
    for column, head in enumerate(table.columns):
        sheet.write_string(row, column, head, book.head)
    cells = {(cell.row, cell.column): cell for cell in table_audit.cells}
    for number, line in enumerate(table.rows, 1):
        row += 1
        for column, head in enumerate(table.columns):
            cell = cells.get((number, head))
            result = "" if cell is None else result_of(cell)
            _as_printed(book, sheet, (row, column), line[head], result)
            names = [f"Missing in the available text. {by}"] if (by := restored_by(table, line, head)) else []
            if cell is not None and result in ("DISAGREES", "own convention", "not computed"):
                names += [part for part in (cell.arithmetic, cell.note) if part]
            if names:
                sheet.write_comment(row, column, "\n".join(names), {"x_scale": 3, "y_scale": 2})
    row = _broken(book, sheet, row, table_audit)
    if not table_audit.cells:
        return
    row += 2
    sheet.write_string(row, 0, "Derived cells", book.title)
    row += 1
    for column, head in enumerate(DERIVED_HEADS):
        sheet.write_string(row, column, head, book.head)
    first = row
    for cell in table_audit.cells:
        row += 1
        _derived(book, sheet, row, cell)
    sheet.autofilter(first, 0, row, len(DERIVED_HEADS) - 1)


def _broken(book: Workbook, sheet: Any, row: int, table: TableAudit) -> int:
    """Write the relations that the table violates; return the last row written."""
    if table.broken:
        row += 2
        sheet.write_string(row, 0, "Broken relations", book.title)
    for test in table.broken:
        row += 1
        texts = (f"Row {test.row} ({test.label}), {test.column}: {test.arithmetic}.", test.reason, test.note)
        sheet.write_string(row, 0, " ".join(part for part in texts if part), by_result(book)["DISAGREES"])
    return row


def _as_printed(book: Workbook, sheet: Any, place: tuple[int, int], text: str, result: str) -> None:
    """Write a cell of the table: a number in its printed format if it is a plain number."""
    plain = _PLAIN.match(text.strip())
    wanted: dict[str, Any] = {"valign": "top"}
    if plain is not None:
        decimals = plain["only"] or plain["decimals"] or ""
        wanted["num_format"] = ("#,##0" if "," in plain["number"] else "0") + (
            "." + "0" * len(decimals) if decimals else ""
        )
        if plain["percent"]:
            wanted["num_format"] += '"%"'
    if result:
        wanted["bg_color"], wanted["font_color"] = COLOURS[result]
    value = text if plain is None else float(plain["number"].replace(",", ""))
    book.cell(sheet, *place, value, book.style(**wanted))


def _derived(book: Workbook, sheet: Any, row: int, cell: Cell) -> None:
    formula = FORMULAS[cell.formula]
    result = result_of(cell)
    computed = cell.computed
    numbers: tuple[float | None, ...] = (None, None, None)
    if computed is not None:
        numbers = (float(computed.value), float(computed.low), float(computed.high))
    cells: tuple[str | float | None, ...] = (
        float(cell.row), cell.label, cell.column, formula.title, formula.unit, cell.text, *numbers,
        None if cell.difference is None else float(cell.difference), result, formula.text, cell.arithmetic, cell.note,
    )  # fmt: skip
    for column, value in enumerate(cells):
        style = by_result(book)[result] if DERIVED_HEADS[column] in ("Computed", "Result") else book.text
        book.cell(sheet, row, column, value, style)


def _formulas(book: Workbook, names: Sequence[str]) -> None:
    sheet, _ = book.sheet("Formulas")
    columns = (("Name", 28), ("Title", 40), ("Unit", 18), ("Formula", 90), ("Source", 60))
    rows = (
        (name, table_audit.title, table_audit.unit, table_audit.text, table_audit.source)
        for name in names
        for table_audit in [FORMULAS[name]]
    )
    book.rows(sheet, columns, rows)
