"""A report as an Excel workbook: contents, key figures and notes, then a sheet per table and chart.

Numbers are numbers in the unit that the page shows, which the head of their column names. Times are those of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from plexlens.metrics.unit import Unit
from plexlens.report.model import (
    Advice,
    Cell,
    Column,
    ColumnKind,
    Figure,
    KeyFigures,
    Missing,
    Note,
    PrintedNumber,
    Report,
    Section,
    Table,
)
from plexlens.report.model.clock import Clock
from plexlens.report.model.display import listed
from plexlens.report.writers.tables import tables_of
from plexlens.report.writers.workbook import Value, Workbook

_LEADING_NUMBER = re.compile(r"(?P<number>[+-]?[\d,]+(?:\.(?P<decimals>\d+))?)(?P<rest>[^\d.,\"][^\"]*)?\Z")
_WIDEST = 60
_DATE = "yyyy-mm-dd hh:mm:ss"


def render_xlsx(report: Report) -> bytes:
    """The report as a workbook.

    Parameters
    ----------
    report
        As `plexlens.report.build` makes it.

    Returns
    -------
    bytes
        An ``.xlsx`` file: the sheets ``Contents``, ``Key figures``, ``Notes``, one for each table and chart, and
        ``Definitions``.
    """
    book = Workbook()
    contents, _ = book.sheet("Contents")
    figures = list(_figures(report))
    if figures:
        sheet, _ = book.sheet("Key figures")
        _key_figures(book, sheet, figures)
    notes = list(_notes(report))
    if notes:
        sheet, _ = book.sheet("Notes")
        columns = (("Section", 28), ("Kind", 16), ("Text", 140))
        book.rows(sheet, columns, notes, styles=(book.text, book.text, book.lead))
    named = []
    for section, table in tables_of(report):
        sheet, name = book.sheet(table.name)
        _table(book, sheet, table, report.clock)
        named.append((section, table, name))
    if report.definitions:
        sheet, _ = book.sheet("Definitions")
        heads = (
            ("Name", 40),
            ("Title", 40),
            ("Row", 40),
            ("Unit", 12),
            ("Formula", 80),
            ("Source", 60),
            ("Caveat", 60),
        )
        rows = (
            (
                definition.id,
                definition.title,
                definition.row,
                definition.unit.symbol,
                definition.formula or definition.rollup,
                definition.source,
                definition.caveat,
            )
            for definition in report.definitions.values()
        )
        book.rows(sheet, heads, rows)
    _contents(book, contents, report, named)
    return book.data()


def _contents(book: Workbook, sheet: object, report: Report, named: Sequence[tuple[Section, Table, str]]) -> None:
    about = [report.title, report.kind, report.subject, listed(report.systems), report.selection]
    if report.start is not None and report.end is not None:
        about.append(report.clock.span(report.start, report.end))
    about += [report.time_note, report.generator]
    lines = [text for text in about if text]
    for row, text in enumerate(lines):
        book.cell(sheet, row, 0, text, book.title if not row else None)
    first = len(lines) + 1
    columns = (("Section", 28), ("Sheet", 32), ("Title", 60), ("Rows", 8), ("Rows left out", 12), ("Note", 140))
    rows = [
        (section.title, "", table.title, len(table.rows), table.left_out or None, _told(table))
        for section, table, _ in named
    ]
    book.rows(sheet, columns, rows, first=first)
    for row, (_, _, name) in enumerate(named, first + 1):
        sheet.write_url(row, 1, f"internal:'{name}'!A1", book.link, name)  # type: ignore[attr-defined]


def _told(table: Table) -> str:
    more = f"SQL for all rows: {table.query}" if table.left_out and table.query else ""
    return " ".join(part for part in (table.note, table.origin, more) if part)


def _figures(report: Report) -> Iterator[tuple[Section, Figure]]:
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, KeyFigures):
                for figure in block.figures:
                    yield section, figure


def _key_figures(book: Workbook, sheet: object, figures: Iterable[tuple[Section, Figure]]) -> None:
    columns = (("Section", 28), ("Figure", 50), ("Value", 16), ("Unit", 12), ("Remark", 60))
    book.heads(sheet, columns)
    for row, (section, figure) in enumerate(figures, 1):
        unit = figure.unit.symbol if figure.unit is not None else ""
        value, style = _number(book, figure.value, figure.unit)
        for place, cell in enumerate((section.title, figure.title, value, unit, figure.detail)):
            book.cell(sheet, row, place, cell, style if place == 2 else book.text)
    sheet.freeze_panes(1, 0)  # type: ignore[attr-defined]


def _notes(report: Report) -> Iterator[tuple[str, str, str]]:
    for alert in report.alerts:
        yield report.title, alert.level.value, "\n".join((alert.text, *alert.details))
    for section in report.sections:
        if section.lead:
            yield section.title, "about", section.lead
        for block in section.blocks:
            if isinstance(block, Note):
                yield section.title, block.level.value, "\n".join((block.text, *block.details))
            elif isinstance(block, Missing):
                ways = (f"{way.kind}: {way.how}" for way in block.ways)
                yield section.title, "missing", "\n".join((block.what, *ways))
            elif isinstance(block, Advice):
                yield section.title, block.severity, _advice(block)


def _advice(advice: Advice) -> str:
    parts = (
        advice.title, advice.text, advice.objects, f"Cost: {advice.cost}" if advice.cost else "", advice.action,
        advice.command, f"To undo it:\n{advice.undo}" if advice.undo else "", *advice.remarks,
        f"Fires when: {advice.condition}" if advice.condition else "", advice.source, advice.url,
    )  # fmt: skip
    return "\n".join(part for part in parts if part)


def _table(book: Workbook, sheet: object, table: Table, clock: Clock) -> None:
    columns, styles = [], []
    for place, column in enumerate(table.columns):
        head = f"{column.group}: {column.title}" if column.group else column.title
        if column.kind is ColumnKind.NUMBER and column.unit is not None and column.unit.symbol:
            head = f"{head}, {column.unit.symbol}"
        elif column.kind is ColumnKind.TIME:
            zones = {clock.zone_of(cell) for row in table.rows if isinstance(cell := row[place], datetime)}
            head = f"{head} ({zones.pop()})" if len(zones) == 1 else head
        columns.append((head, _width(table, place, column)))
        styles.append(_style(book, column))
    keys = [column.key for column in table.columns]
    fixed = keys.index(False) if False in keys else 0
    book.heads(sheet, columns)
    for number, row in enumerate(table.rows, 1):
        for place, cell in enumerate(row):
            column = table.columns[place]
            if isinstance(cell, PrintedNumber):
                value, style = _as_printed(book, cell)
            elif column.kind is ColumnKind.NUMBER:
                value, style = _number(book, cell, column.unit)
            else:
                value, style = _plain(cell, clock), styles[place]
            book.cell(sheet, number, place, value, style)
    sheet.freeze_panes(1, fixed)  # type: ignore[attr-defined]
    sheet.autofilter(0, 0, len(table.rows), len(columns) - 1)  # type: ignore[attr-defined]


def _style(book: Workbook, column: Column) -> object:
    return book.style(num_format=_DATE, valign="top") if column.kind is ColumnKind.TIME else book.text


def _width(table: Table, place: int, column: Column) -> int:
    if column.kind is ColumnKind.TIME:
        return 20
    if column.kind is ColumnKind.NUMBER:
        return 14
    texts = (len(row[place].text if isinstance(row[place], PrintedNumber) else str(row[place])) for row in table.rows)  # type: ignore[union-attr]
    return min(max(10, *texts, 0) + 2, _WIDEST)


def _number(book: Workbook, cell: Cell, unit: Unit | None) -> tuple[Value, object]:
    """A number in the page's unit, with its decimals; anything else as text."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return _plain(cell, None), book.text
    digits = unit.digits if unit is not None else 0
    pattern = "#,##0" + (f".{'0' * digits}" if digits else "")
    value: Value = cell * unit.factor if unit is not None and unit.factor != 1.0 else cell
    return value, book.style(num_format=pattern, valign="top")


def _as_printed(book: Workbook, cell: PrintedNumber) -> tuple[Value, object]:
    """A number with its printed decimals and words; text if the print is not that number."""
    match = _LEADING_NUMBER.match(cell.text.strip())
    if match is None or float(match["number"].replace(",", "")) != cell.value:
        return cell.text, book.text
    pattern = "#,##0" if "," in match["number"] else "0"
    pattern += f".{'0' * len(match['decimals'])}" if match["decimals"] else ""
    pattern += f'"{match["rest"]}"' if match["rest"] else ""
    return cell.value, book.style(num_format=pattern, valign="top")


def _plain(cell: Cell, clock: Clock | None) -> Value:
    if isinstance(cell, datetime) and clock is not None:
        # The page marks a moment as local if others have a known time.
        is_marked = clock.marks_local and cell.tzinfo is None
        return clock.second(cell) if is_marked else clock.local(cell).replace(tzinfo=None)
    if isinstance(cell, tuple):
        return " ".join("" if number is None else f"{number:g}" for number in cell)
    return cell.text if isinstance(cell, PrintedNumber) else cell
