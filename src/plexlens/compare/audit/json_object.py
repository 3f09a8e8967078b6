"""An audit as plain values, for JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from plexlens.compare.audit.audit import Audit, Cell, TableAudit
from plexlens.compare.numbers.quantity import Quantity

#: Which way agreement is decided; stands in every output.
RULE = (
    "A computed number agrees if it can round to the printed number. A printed number represents all values that "
    "round to it: half a unit of its last digit to either side (up to a unit away from zero where the study "
    "truncates). Interval arithmetic carries the rounding of the inputs through the formula."
)

#: What is tested where no number follows.
RELATION_RULE = (
    "Cells that cannot be recomputed are checked against relations that must hold: a part is not above its whole, two "
    "monitors agree on a run, a run has the same numbers in every table. A relation is broken if no numbers that "
    "round to the printed ones satisfy it."
)


def counted(audit: Audit) -> str:
    """Counts of the printed cells of a study by result, in a sentence or two."""
    tables = audit.tables
    compared, agree = sum(len(table.compared) for table in tables), sum(table.agree for table in tables)
    own_way = sum(len(table.conventions) for table in tables)
    tested, broken = sum(len(table.tested) for table in tables), sum(len(table.broken) for table in tables)
    text = f"Of {compared} printed cells that can be recomputed, {agree} agree and {compared - agree - own_way} do not"
    text += f"; {own_way} follow a convention of the source." if own_way else "."
    return text + (f" Of {tested} relations checked, {broken} fail." if tested else "")


def to_object(audit: Audit) -> dict[str, Any]:
    """The tables of a study with agreements and disagreements."""
    return {
        "name": audit.study.name,
        "title": audit.study.title,
        "source": audit.study.source,
        "rule": RULE,
        "tables": [_table(table) for table in audit.tables],
    }


def _table(table: TableAudit) -> dict[str, Any]:
    return {
        "id": table.table.id,
        "title": table.table.title,
        "rows": len(table.table.rows),
        "computed": len(table.compared),
        "agree": table.agree,
        "disagree": [_disagreement(cell) for cell in table.disagree],
        "own_convention": [_disagreement(cell) for cell in table.conventions],
        "relations": {
            "tested": len(table.tested),
            "broken": [
                {
                    "row": test.row,
                    "label": test.label,
                    "column": test.column,
                    "printed": test.text,
                    "arithmetic": test.arithmetic,
                    "reason": test.reason,
                    "note": test.note,
                }
                for test in table.broken
            ],
        },
        "cells": [_cell(cell) for cell in table.cells],
        "lines": [
            {
                "cpu_percent": list(fitted.columns),
                "fixed_ms_per_second": fitted.line.fixed,
                "ms_per_transaction": fitted.line.slope,
                "fixed_standard_error": fitted.line.fixed_error,
                "ms_per_transaction_standard_error": fitted.line.slope_error,
                "residuals_ms_per_second": list(fitted.line.residuals),
                "predicted": [
                    {"rate": rate, "ms_per_transaction": measured, "predicted_ms_per_transaction": predicted}
                    for rate, measured, predicted in fitted.predicted
                ],
            }
            for fitted in table.lines
        ],
        "left_out": [
            {"column": lacking.column, "missing": list(lacking.missing), "template": lacking.template}
            for lacking in table.table.left_out
        ],
        "note": table.table.note,
    }


def _disagreement(cell: Cell) -> dict[str, Any]:
    return {
        "row": cell.row,
        "column": cell.column,
        "printed": cell.text,
        "computed": _value(cell.computed),
        "arithmetic": cell.arithmetic,
        "label": cell.label,
        "note": cell.note,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "row": cell.row,
        "label": cell.label,
        "column": cell.column,
        "formula": cell.formula,
        "printed": cell.text or None,
        "computed": _value(cell.computed),
        "low": None if cell.computed is None else float(cell.computed.low),
        "high": None if cell.computed is None else float(cell.computed.high),
        "difference": None if cell.difference is None else _number(cell.difference),
        "agrees": cell.agrees if cell.compared else None,
        "arithmetic": cell.arithmetic,
    }


def _value(quantity: Quantity | None) -> float | int | None:
    return None if quantity is None else _number(quantity.value)


def _number(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else float(value)
