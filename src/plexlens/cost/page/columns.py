"""Columns and figures of the numbers of `plexlens cost`."""

from __future__ import annotations

from plexlens.metrics.page_numbers import page_numbers
from plexlens.report.model import Cell, Column, ColumnKind, Figure
from plexlens.report.model.page_definitions import definitions_of

#: Numbers that the page works out.
COST = page_numbers("cost")

DEFINITIONS = definitions_of(COST)


def number(name: str, title: str, definition: str, *, bar: bool = False, group: str = "") -> Column:
    """A column of a number of the catalogue."""
    result = DEFINITIONS[f"cost.{definition}"]
    return Column(name, title, ColumnKind.NUMBER, result.unit, result.id, bar=bar, group=group)


def figure(name: str, title: str, value: Cell, definition: str, *, detail: str = "") -> Figure:
    """A key figure of a number of the catalogue."""
    result = DEFINITIONS[f"cost.{definition}"]
    return Figure(name, title, value, result.unit, result.id, detail=detail)
