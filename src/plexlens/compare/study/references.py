"""Arguments of a study's formulas: references to cells, each checked against the tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plexlens.compare.formulas.catalogue import Formula
from plexlens.compare.study.model import SAME, Match, Reference
from plexlens.compare.study.toml import TomlReader

_REFERENCE_KEYS = ("value", "table", "column", "row", "rows", "but", "times", "computed", "as_printed", "rounded")

#: Where a row is named by this word, the table's base is meant: its first row unless it says otherwise.
BASE = "base"

#: Words that name a row by its place against that of the row at hand: the one before, and that of another table.
_OFFSETS = {"previous": -1, "same place": 0}


class ReferenceReader(TomlReader):
    """Reads references; knows the headings of the study's tables, and the base of the current table."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.headings: dict[str, tuple[str, ...]] = {}
        self.base = Match({}, {})

    def column(self, key: str, name: str, table_id: str) -> str:
        """A heading of the table."""
        if name not in self.headings[table_id]:
            there = ", ".join(repr(heading) for heading in self.headings[table_id])
            raise self.wrong(key, f"table {table_id!r} has no column {name!r}", f"use one of {there}")
        return name

    def match(self, key: str, table_id: str, cells: Any, but: Any = None) -> Match:
        """The rows with these cells."""
        for given in (cells, but or {}):
            if not isinstance(given, dict) or not all(isinstance(cell, str) for cell in given.values()):
                raise self.wrong(key, f"{given!r} names no rows", 'write {"heading" = "cell"}')
            for column in given:
                self.column(key, column, table_id)
        return Match(cells, but or {})

    def arguments(
        self, entry: Mapping[str, Any], formula: Formula, table_id: str, of: str
    ) -> dict[str, tuple[Reference, ...]]:
        """The arguments of a formula from the cells that an entry names."""
        raw = entry.get("arguments", {})
        if not isinstance(raw, dict):
            raise self.wrong(f"{of}arguments", "it is not a table", "write arguments = {name = ...}")
        self.known_keys(raw, formula.arguments, f"{of}arguments.")
        arguments = {}
        for argument in formula.arguments:
            key = f"{of}arguments.{argument}"
            if argument not in raw:
                raise self.wrong(key, f"formula {formula.name!r} needs it", "give its source")
            value = raw[argument]
            parts = value if isinstance(value, list) else [value]
            references = tuple(self.reference(key, part, table_id) for part in parts)
            if argument in formula.singles and (len(references) != 1 or references[0].many):
                raise self.wrong(key, "it takes one number, and several are given", "name one cell")
            arguments[argument] = references
        return arguments

    def reference(self, key: str, value: Any, table_id: str) -> Reference:
        """A heading, a cell of another row or table, or a constant."""
        if isinstance(value, str):
            return Reference(table=table_id, column=value if value == SAME else self.column(key, value, table_id))
        if not isinstance(value, dict):
            raise self.wrong(key, f"{value!r} is not a reference", "give a heading, or {column, row} or {value}")
        self.known_keys(value, _REFERENCE_KEYS, f"{key}.")
        times = self.factor(key, value.get("times", 1))
        if "value" in value:
            return Reference(value=str(value["value"]), times=times)
        there = value.get("table", table_id)
        if there not in self.headings:
            raise self.wrong(f"{key}.table", f"there is no table {there!r}", f"use one of {', '.join(self.headings)}")
        column = self.text(value, "column")
        if column != SAME:
            self.column(f"{key}.column", column, there)
        many = "rows" in value
        cells = value.get("rows", value.get("row"))
        offset = _OFFSETS.get(cells) if isinstance(cells, str) else None
        numbered = cells if type(cells) is int and not many else 0
        if offset is not None or numbered:
            match: Match | None = None
        elif cells == BASE and there == table_id:
            match = self.base
        else:
            match = None if cells is None else self.match(f"{key}.row", there, cells, value.get("but"))
        if match is None and offset is None and not numbered and there != table_id:
            raise self.wrong(
                key, f"the row of table {there!r} is not named", "add row = {...}, or rows = {...} for several"
            )
        computed, whole, rounded = (self.flag(value, f"{key}.", name) for name in ("computed", "as_printed", "rounded"))
        return Reference("", there, column, match, many, computed, whole, rounded, times, offset, numbered)
