"""A study's audit as an Excel workbook: a sheet for each table, as printed, with what was worked out below it.

A sheet shows the table as the study prints it, derived cells coloured by what came of them, and then every derived cell
with computed value, bounds, difference, formula and arithmetic. Numbers are numbers, shown with as many decimals as
were printed; what is no plain number (``29K``, ``N/A``) stays text. Nothing is an Excel formula: a cell that begins
with an equals sign is text too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import xlsxwriter

from plexlens.compare import Audit, Cell, TableAudit
from plexlens.compare.analysis.analysis import Analysis, analyse
from plexlens.compare.audit.json_object import RULE
from plexlens.compare.formulas.catalogue import FORMULAS
from plexlens.report.study import restored_by
from plexlens.report.study_xlsx_analysis import write_analyses

_PLAIN = re.compile(r"(?P<number>[+-]?(?:\d[\d,]*(?:\.(?P<decimals>\d*))?|\.(?P<only>\d+)))(?P<percent> ?%)?\Z")
_UNFIT = re.compile(r"[\[\]:*?/\\']")

#: Longest name that Excel gives a sheet.
SHEET_NAME = 31

DERIVED_HEADS = (
    "Row", "Label", "Column", "Formula", "Unit", "Printed", "Computed", "Low", "High", "Difference", "Result",
    "Formula in words", "Arithmetic", "Note",
)  # fmt: skip

_WIDTHS = (6, 26, 28, 26, 12, 12, 14, 14, 14, 12, 13, 50, 70, 50)


@dataclass(frozen=True)
class _Formats:
    title: Any
    lead: Any
    head: Any
    text: Any
    link: Any
    by_result: dict[str, Any]


def result_of(cell: Cell) -> str:
    """What came of a derived cell, in a word or two."""
    if cell.computed is None:
        return "not computed"
    if cell.printed is None:
        return "not printed"
    return "agrees" if cell.agrees else "own convention" if cell.convention else "DISAGREES"


#: Fill and text colour of a derived cell by what came of it.
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
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    try:
        formats = _formats(book)
        taken: set[str] = {"summary", "formulas", "findings", "curves", "checks", "claims"}
        named = [
            (audit, one, _sheet_name(one.table.id if len(audits) == 1 else f"{audit.study.name} {one.table.id}", taken))
            for audit in audits
            for one in audit.tables
        ]
        _summary(book.add_worksheet("Summary"), audits, named, formats)
        write_analyses(
            book, [audit.study.name for audit in audits], analyses, head=formats.head, colours=formats.by_result
        )
        for audit, one, name in named:
            _table(book, book.add_worksheet(name), audit, one, formats)
        used = {cell.formula for audit in audits for one in audit.tables for cell in one.cells}
        _formulas(book.add_worksheet("Formulas"), sorted(used), formats)
    finally:
        book.close()
    return out.getvalue()


def _formats(book: Any) -> _Formats:
    return _Formats(
        book.add_format({"bold": True, "font_size": 14}),
        book.add_format({"text_wrap": True, "valign": "top"}),
        book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1, "bg_color": "#EEF0F3"}),
        book.add_format({"valign": "top"}),
        book.add_format({"font_color": "#0B57D0", "underline": 1}),
        {
            name: book.add_format({"bg_color": fill, "font_color": ink, "valign": "top"})
            for name, (fill, ink) in COLOURS.items()
        },
    )


def _sheet_name(wanted: str, taken: set[str]) -> str:
    """A name that Excel takes and no other sheet has."""
    plain = _UNFIT.sub("-", wanted)
    name = plain[:SHEET_NAME]
    number = 1
    while name.lower() in taken:
        number += 1
        ending = f" ({number})"
        name = plain[: SHEET_NAME - len(ending)] + ending
    taken.add(name.lower())
    return name


def _summary(
    sheet: Any, audits: Sequence[Audit], named: Iterable[tuple[Audit, TableAudit, str]], formats: _Formats
) -> None:
    sheet.set_column(0, 0, 16)
    sheet.set_column(1, 1, 32)
    sheet.set_column(2, 2, 70)
    sheet.set_column(3, 10, 12)
    sheet.write_string(0, 0, "Published studies recomputed", formats.title)
    row = 1
    for audit in audits:
        sheet.write_string(row, 0, f"{audit.study.title}. {audit.study.source}.")
        row += 1
    sheet.merge_range(row, 0, row, 7, RULE, formats.lead)
    sheet.set_row(row, 48)
    row += 1
    for name in COLOURS:
        sheet.write_string(row, 0, name, formats.by_result[name])
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
        sheet.write_string(row, column, head, formats.head)
    first = row
    for audit, one, name in named:
        row += 1
        sheet.write_string(row, 0, audit.study.name)
        sheet.write_url(row, 1, f"internal:'{name}'!A1", formats.link, name)
        sheet.write_string(row, 2, one.table.title)
        counts = (
            len(one.table.rows), len(one.compared), one.agree, len(one.disagree), len(one.not_computed),
            len(one.conventions), len(one.tested), len(one.broken),
        )  # fmt: skip
        for column, count in enumerate(counts, 3):
            wrong = column in (6, 10) and count
            sheet.write_number(row, column, count, formats.by_result["DISAGREES"] if wrong else None)
    sheet.autofilter(first, 0, row, len(heads) - 1)
    sheet.freeze_panes(first + 1, 0)


def _table(book: Any, sheet: Any, audit: Audit, one: TableAudit, formats: _Formats) -> None:
    table = one.table
    sheet.set_column(0, len(table.columns), 14)
    for column, width in enumerate(_WIDTHS):
        sheet.set_column(column, column, width)
    sheet.write_string(0, 0, f"{table.id}: {table.title}", formats.title)
    sheet.write_url(1, 0, "internal:'Summary'!A1", formats.link, "to the summary")
    row = 2
    for text in (f"{audit.study.title}. {audit.study.source}.", table.note):
        if text:
            sheet.write_string(row, 0, text)
            row += 1
    row += 1
    sheet.write_string(row, 0, "As printed", formats.title)
    row += 1
    for column, head in enumerate(table.columns):
        sheet.write_string(row, column, head, formats.head)
    found = {(cell.row, cell.column): cell for cell in one.cells}
    styles: dict[tuple[str, str], Any] = {}
    for number, line in enumerate(table.rows, 1):
        row += 1
        for column, head in enumerate(table.columns):
            cell = found.get((number, head))
            result = "" if cell is None else result_of(cell)
            _as_printed(sheet, (row, column), line[head], result, book=book, styles=styles)
            told = [f"Lost in the text at hand. {by}"] if (by := restored_by(table, line, head)) else []
            if cell is not None and result in ("DISAGREES", "own convention", "not computed"):
                told += [part for part in (cell.arithmetic, cell.note) if part]
            if told:
                sheet.write_comment(row, column, "\n".join(told), {"x_scale": 3, "y_scale": 2})
    row = _broken(sheet, row, one, formats)
    if not one.cells:
        return
    row += 2
    sheet.write_string(row, 0, "Derived cells", formats.title)
    row += 1
    for column, head in enumerate(DERIVED_HEADS):
        sheet.write_string(row, column, head, formats.head)
    first = row
    for cell in one.cells:
        row += 1
        _derived(sheet, row, cell, formats)
    sheet.autofilter(first, 0, row, len(DERIVED_HEADS) - 1)


def _broken(sheet: Any, row: int, one: TableAudit, formats: _Formats) -> int:
    """The relations that the table breaks; the last row written."""
    if one.broken:
        row += 2
        sheet.write_string(row, 0, "Broken relations", formats.title)
    for test in one.broken:
        row += 1
        told = (f"Row {test.row} ({test.label}), {test.column}: {test.arithmetic}.", test.reason, test.note)
        sheet.write_string(row, 0, " ".join(part for part in told if part), formats.by_result["DISAGREES"])
    return row


def _as_printed(
    sheet: Any, place: tuple[int, int], text: str, result: str, *, book: Any, styles: dict[tuple[str, str], Any]
) -> None:
    """A cell of the table: a number in the printed form where it is a plain one."""
    plain = _PLAIN.match(text.strip())
    number_format = ""
    if plain is not None:
        decimals = plain["only"] or plain["decimals"] or ""
        number_format = ("#,##0" if "," in plain["number"] else "0") + ("." + "0" * len(decimals) if decimals else "")
        if plain["percent"]:
            number_format += '"%"'
    key = (number_format, result)
    if key not in styles:
        wanted: dict[str, Any] = {"valign": "top"}
        if number_format:
            wanted["num_format"] = number_format
        if result:
            wanted["bg_color"], wanted["font_color"] = COLOURS[result]
        styles[key] = book.add_format(wanted)
    if plain is None:
        sheet.write_string(*place, text, styles[key])
    else:
        sheet.write_number(*place, float(plain["number"].replace(",", "")), styles[key])


def _derived(sheet: Any, row: int, cell: Cell, formats: _Formats) -> None:
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
        style = formats.by_result[result] if DERIVED_HEADS[column] in ("Computed", "Result") else formats.text
        if value is None:
            sheet.write_blank(row, column, None, style)
        elif isinstance(value, str):
            sheet.write_string(row, column, value, style)
        else:
            sheet.write_number(row, column, value, style)


def _formulas(sheet: Any, names: Sequence[str], formats: _Formats) -> None:
    heads = ("Name", "Title", "Unit", "Formula", "Source")
    for column, (head, width) in enumerate(zip(heads, (28, 40, 18, 90, 60), strict=True)):
        sheet.set_column(column, column, width)
        sheet.write_string(0, column, head, formats.head)
    for row, name in enumerate(names, 1):
        formula = FORMULAS[name]
        for column, text in enumerate((name, formula.title, formula.unit, formula.text, formula.source)):
            sheet.write_string(row, column, text, formats.text)
    sheet.freeze_panes(1, 0)
