"""The audit of a study as a report: each table with printed, computed and difference, and all disagreements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from plexlens import __version__
from plexlens.compare import Audit, TableAudit
from plexlens.compare import Cell as AuditCell
from plexlens.compare.analysis.analysis import Analysis, analyse
from plexlens.compare.audit.json_object import RELATION_RULE, RULE, counted
from plexlens.compare.formulas.catalogue import FORMULAS
from plexlens.compare.numbers.quantity import printed, shown
from plexlens.compare.page.study_analysis import DEFINITIONS, analysis_sections
from plexlens.compare.study.model import TURNED, StudyTable
from plexlens.metrics.unit import COUNT, Unit
from plexlens.report.model import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Definition,
    Figure,
    KeyFigures,
    Level,
    Linked,
    Note,
    PrintedNumber,
    Report,
    Section,
    Table,
)
from plexlens.report.model import text_column as _text
from plexlens.report.writers.csv_file import csv_of

_CSV_HEADS = (
    "study", "table", "row", "label", "column", "formula", "unit",
    "printed", "computed", "low", "high", "difference", "agrees", "arithmetic", "note",
)  # fmt: skip


def study_report(audits: Sequence[Audit], analyses: Sequence[Analysis] | None = None) -> Report:
    """A report of one or more studies.

    Parameters
    ----------
    audits
        As `plexlens.compare.audit.audit` makes them, at least one.
    analyses
        What is declared about each; worked out if not given.
    """
    several = len(audits) > 1
    analyses = [analyse(audit) for audit in audits] if analyses is None else analyses
    used = {cell.formula for audit in audits for table in audit.tables for cell in table.cells}
    return Report(
        title="Published studies recomputed" if several else audits[0].study.title,
        sections=tuple(
            section
            for audit, analysis in zip(audits, analyses, strict=True)
            for section in (
                _about(audit, analysis, several),
                *analysis_sections(analysis, audit.study.name, _places(audit, several)),
                _summary(audit, several),
                *(
                    _section(audit, table, several, group)
                    for table, group in zip(audit.tables, _groups(audit, several), strict=True)
                ),
            )
        ),
        definitions={
            **(DEFINITIONS if any(analysis != Analysis() for analysis in analyses) else {}),
            **{
                f"study.{name}": Definition(
                    f"study.{name}", "Study", "a cell of a printed table", formula.title,
                    Unit(formula.unit, formula.unit), formula.text, formula.source,
                )
                for name, formula in FORMULAS.items()
            if name in used
            },
        },
        generator=f"Plexlens {__version__}",
        kind="Study",
        subject="; ".join(audit.study.source for audit in audits),
    )  # fmt: skip


def _about(audit: Audit, analysis: Analysis, several: bool) -> Section:
    """The study's question and method, and the audit's result for its printed numbers."""
    compared = sum(len(table.compared) for table in audit.tables)
    wrong = sum(len(table.disagree) for table in audit.tables)
    own_way = sum(len(table.conventions) for table in audit.tables)
    count = sum(len(table.tested) for table in audit.tables)
    broken = sum(len(table.broken) for table in audit.tables)
    claims, doubtful = len(analysis.claims), sum(not claim.agrees for claim in analysis.claims)
    figures = [
        Figure(
            "tables",
            "Tables",
            len(audit.tables),
            detail=f"{sum(len(table.table.rows) for table in audit.tables):,} rows",
        ),
        Figure("computed", "Printed cells recomputed", compared, detail=f"{compared - wrong - own_way:,} agree"),
        Figure("disagree", "Cells that disagree", wrong, detail="the arithmetic is below", alarm=wrong > 0),
    ]
    if own_way:
        figures.append(
            Figure("conventions", "Cells by a convention of the source", own_way, detail="explained, not wrong")
        )
    if count:
        figures.append(
            Figure(
                "relations",
                "Cells that break a relation",
                broken,
                detail=f"of {count:,} comparisons",
                alarm=broken > 0,
            )
        )
    if claims:
        figures.append(
            Figure(
                "claims",
                "Statements of the text that the tables contradict",
                doubtful,
                detail=f"of {claims} compared",
                alarm=doubtful > 0,
            )
        )
    blocks: list[Block] = [KeyFigures(f"{audit.study.name}-figures-of-audit", tuple(figures))]
    if analysis.setup:
        blocks.append(Note("How it was measured", details=analysis.setup))
    return Section(
        f"study-{audit.study.name}",
        audit.study.title if several else "Question and setup",
        tuple(blocks),
        analysis.question or f"{audit.study.source}.",
    )


#: Studies with more tables than this have them folded in the contents, in groups of at most this size.
GROUP = 12


def _places(audit: Audit, several: bool) -> dict[str, str]:
    """Ids of the sections of a study's tables."""
    return {
        table.table.id: f"{audit.study.name}-{table.table.id}" if several else table.table.id for table in audit.tables
    }


def _groups(audit: Audit, several: bool) -> list[str]:
    """The group of each table in the contents: neighbouring tables whose ids begin with the same word."""
    names = [table.table.id for table in audit.tables]
    if len(names) <= GROUP:
        return [""] * len(names)
    groups: list[str] = []
    for _, family in groupby(names, key=lambda name: name.partition("-")[0]):
        members = list(family)
        for start in range(0, len(members), GROUP):
            part = members[start : start + GROUP]
            title = f"{part[0]} to {part[-1]}" if len(part) > 1 else ""
            groups += [f"{audit.study.name}: {title}" if several and title else title] * len(part)
    return groups


def _summary(audit: Audit, several: bool) -> Section:
    places = _places(audit, several)
    rows = tuple(
        (
            Linked(table.table.id, [(table.table.id, places[table.table.id])]), table.table.title,
            len(table.table.rows),
            len(table.compared), table.agree, len(table.disagree), len(table.conventions), len(table.tested),
            len(table.broken),
        )
        for table in audit.tables
    )  # fmt: skip
    counts = (
        ("rows", "Rows"), ("computed", "Computed cells"), ("agree", "Agree"), ("disagree", "Disagree"),
        ("convention", "Own convention"), ("tested", "Checked against relations"), ("broken", "Break one"),
    )  # fmt: skip
    heads = (
        _text("table", "Table", key=True),
        _text("title", "Title"),
        *(Column(name, title, ColumnKind.NUMBER, COUNT) for name, title in counts),
    )
    return Section(
        f"{audit.study.name}-audit",
        "Audit",
        (
            Note(RULE),
            Note(RELATION_RULE),
            Table(f"{audit.study.name}-tables", "Tables", heads, rows, top=len(rows)),
        ),
        f"{audit.study.source}. {counted(audit)}",
    )


def _section(audit: Audit, table: TableAudit, several: bool, group: str) -> Section:
    name = _places(audit, several)[table.table.id]
    blocks: list[Block] = []
    if table.table.note:
        blocks.append(Note(table.table.note))
    blocks += [
        Note(f"{lacking.column} is not computed: the table prints no {', '.join(lacking.missing)}.")
        for lacking in table.table.left_out
    ]
    blocks += [
        Note(
            f"Row {cell.row} ({cell.label}), {cell.column}: printed {cell.text} cannot be what its inputs give.",
            Level.WARNING,
            tuple(part for part in (cell.arithmetic, cell.note) if part),
        )
        for cell in table.disagree
    ]
    blocks += [
        Note(
            f"Row {broken.row} ({broken.label}), {broken.column}: {broken.arithmetic}.",
            Level.WARNING,
            tuple(part for part in (broken.reason, broken.note) if part),
        )
        for broken in table.broken
    ]
    if table.conventions:
        blocks.append(
            Note(
                "Cells that follow a convention of the source; they are not errors.",
                details=tuple(
                    f"Row {cell.row} ({cell.label}), {cell.column}: {cell.arithmetic}. {cell.note}"
                    for cell in table.conventions
                ),
            )
        )
    blocks += [Note(f"Row {cell.row} ({cell.label}), {cell.column}: {cell.arithmetic}.") for cell in table.not_computed]
    blocks.append(_reading(name, table))
    blocks += [Note(text) for text in _lines(table)]
    if table.cells:
        heads = (
            _text("row", "Row", key=True), _text("label", table.table.columns[0], key=True),
            _text("column", "Column", key=True), _text("formula", "Formula"), _text("unit", "Unit"),
            Column("printed", "Printed", ColumnKind.PRINTED), Column("computed", "Computed", ColumnKind.PRINTED),
            _text("bounds", "Bounds"), Column("difference", "Difference", ColumnKind.PRINTED),
            _text("result", "Result"),
        )  # fmt: skip
        rows = tuple(_row(cell) for cell in table.cells)
        blocks.append(Table(f"{name}-cells", "Derived cells", heads, rows, top=len(rows), folded=True))
    return Section(name, f"{table.table.id}: {table.table.title}", tuple(blocks), group=group)


def _reading(name: str, table_audit: TableAudit) -> Table:
    """The table as printed, with marks on recomputed cells, followed by numbers that the study does not print.

    A table with more columns than rows is turned, so that a page holds its width.
    """
    table = table_audit.table
    results = {(cell.row, cell.column): cell for cell in table_audit.cells}
    unprinted = list(dict.fromkeys(cell.column for cell in table_audit.cells if cell.column not in table.columns))
    heads = [*table.columns, *unprinted]
    titles = [*table.columns, *(f"{column} (worked out)" for column in unprinted)]
    cells = [
        [_marked(row.get(head, ""), results.get((number, head)), bool(restored_by(table, row, head))) for head in heads]
        for number, row in enumerate(table.rows, 1)
    ]
    sources = list(dict.fromkeys(restored.by for restored in table.restored))
    grid = [["" if table.columns[0] == TURNED else titles[0], *titles[1:]], *cells]
    if len(heads) > _WIDE and len(heads) > len(table.rows):
        grid = [list(line) for line in zip(*grid, strict=True)]
    columns = tuple(
        Column(f"c{number}", head, ColumnKind.PRINTED if number else ColumnKind.TEXT, key=number == 0)
        for number, head in enumerate(grid[0])
    )
    rows = tuple((line[0], *(_printed(text) for text in line[1:])) for line in grid[1:])
    notes = [_MARKS] if table_audit.cells else []
    if sources:
        notes.append(
            f"\u2020 marks values that are missing in the available text and come from elsewhere. {' '.join(sources)}"
        )
    note = " ".join(notes)
    return Table(f"{name}-printed", "As printed", columns, rows, top=_SHOWN, note=note)


#: Rows of a table shown before the reader asks for all.
_SHOWN = 24

#: A table with more columns is turned where it has fewer rows.
_WIDE = 8

_MARKS = (
    "\u2713 marks cells that follow from other cells of the study; \u2260 cells that do not, with the correct number; "
    "\u2248 cells that follow a convention of the source. Columns that the study does not print come last."
)


#: Marks behind a cell of the grid.
_MARK = re.compile(" [\u2020\u2713\u2260\u2248]")


def _printed(text: str) -> Cell:
    """A cell of the grid; right-aligned if it begins with a printed number."""
    bare = _MARK.split(text)[0]
    try:
        quantity = printed(bare)
    except ValueError:
        return text
    return text if quantity is None else PrintedNumber(text, float(quantity.value))


def restored_by(table: StudyTable, row: Mapping[str, str], column: str) -> str:
    """Source of a cell that is missing in the available text; empty for a printed cell."""
    return next(
        (restored.by for restored in table.restored if column in restored.columns and restored.rows.takes(row)), ""
    )


def _marked(text: str, cell: AuditCell | None, restored: bool) -> str:
    text = f"{text} \u2020" if restored and text.strip() else text
    if cell is None:
        return text
    if cell.computed is None:
        return text
    if cell.printed is None:
        return shown(cell.computed.value, 5)
    if cell.agrees:
        return f"{text} \u2713"
    mark = "\u2248" if cell.convention else "\u2260"
    return f"{text} {mark} {shown(cell.computed.value, 5)}"


def _row(cell: AuditCell) -> tuple[Cell, ...]:
    computed = cell.computed
    difference = cell.difference
    result = "not compared"
    if computed is None:
        result = "not computed"
    elif cell.printed is not None:
        result = "agrees" if cell.agrees else "own convention" if cell.convention else "DISAGREES"
    return (
        str(cell.row), cell.label, cell.column, FORMULAS[cell.formula].title, FORMULAS[cell.formula].unit,
        _printed(cell.text),
        "" if computed is None else PrintedNumber(shown(computed.value), float(computed.value)),
        "" if computed is None or computed.low == computed.high else f"{shown(computed.low)} to {shown(computed.high)}",
        "" if difference is None else PrintedNumber(shown(difference, 3), float(difference)),
        result,
    )  # fmt: skip


def _lines(table: TableAudit) -> list[str]:
    texts = []
    for fitted in table.lines:
        line = fitted.line
        error = "" if line.slope_error is None else f" (standard error {line.slope_error:.4f})"
        text = (
            f"Least squares over {len(line.residuals)} rows, {' + '.join(fitted.columns)}: processor time = "
            f"{line.fixed:.2f} ms per second at any rate, plus {line.slope:.4f} ms{error} per transaction; rows "
            f"differ from the line by {min(line.residuals):+.2f} to {max(line.residuals):+.2f} ms per second."
        )
        if fitted.predicted:
            note = "; ".join(
                f"at {rate:,.2f} transactions per second {guess:.3f} ms, measured {cost:.3f} ({guess / cost - 1:+.1%})"
                for rate, cost, guess in fitted.predicted
            )
            text += f" The line through the rows before the last two predicts {note}."
        texts.append(text)
    return texts


def study_csv(audits: Sequence[Audit]) -> str:
    """Every derived cell of the studies as CSV, a row each."""
    rows = (
        _csv_row(audit.study.name, table.table.id, cell)
        for audit in audits
        for table in audit.tables
        for cell in table.cells
    )
    return csv_of(_CSV_HEADS, rows)


def _csv_row(study: str, table: str, cell: AuditCell) -> tuple[object, ...]:
    computed = cell.computed
    numbers = ("", "", "") if computed is None else (float(computed.value), float(computed.low), float(computed.high))
    return (
        study, table, cell.row, cell.label, cell.column, cell.formula, FORMULAS[cell.formula].unit, cell.text,
        *numbers,
        "" if cell.difference is None else float(cell.difference),
        ("yes" if cell.agrees else "no") if cell.compared else "",
        cell.arithmetic, cell.note,
    )  # fmt: skip
