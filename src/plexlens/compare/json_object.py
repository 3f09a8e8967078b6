"""An audit as plain values, for JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from plexlens.compare.audit import Audit, Cell, TableAudit
from plexlens.compare.quantity import Quantity

#: Which way agreement is decided; stands in every output.
RULE = (
    "A computed number agrees where it can be what is printed: each printed number stands for all that round to it, "
    "half a unit of its last digit to either side (up to a unit further from zero where the study cuts digits off), "
    "and the inputs' own rounding is carried through the formula by interval arithmetic."
)


def to_object(audit: Audit) -> dict[str, Any]:
    """The tables of a study with what agrees and what does not."""
    return {
        "name": audit.study.name,
        "title": audit.study.title,
        "source": audit.study.source,
        "rule": RULE,
        "tables": [_table(one) for one in audit.tables],
    }


def _table(one: TableAudit) -> dict[str, Any]:
    return {
        "id": one.table.id,
        "title": one.table.title,
        "rows": len(one.table.rows),
        "computed": len(one.compared),
        "agree": one.agree,
        "disagree": [_disagreement(cell) for cell in one.disagree],
        "cells": [_cell(cell) for cell in one.cells],
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
            for fitted in one.lines
        ],
        "left_out": [
            {"column": lacking.column, "missing": list(lacking.missing), "template": lacking.template}
            for lacking in one.table.left_out
        ],
        "note": one.table.note,
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
