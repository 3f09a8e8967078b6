"""Model of a report: sections of blocks with values in base units, charts and heat maps, and number formats."""

from __future__ import annotations

from plexlens.report.model.report import (
    Advice,
    Block,
    Cell,
    Column,
    ColumnKind,
    Definition,
    Figure,
    KeyFigures,
    Level,
    Linked,
    Missing,
    Note,
    PrintedNumber,
    Report,
    Section,
    Table,
    Way,
    text_column,
)

__all__ = [
    "Advice",
    "Block",
    "Cell",
    "Column",
    "ColumnKind",
    "Definition",
    "Figure",
    "KeyFigures",
    "Level",
    "Linked",
    "Missing",
    "Note",
    "PrintedNumber",
    "Report",
    "Section",
    "Table",
    "Way",
    "text_column",
]
