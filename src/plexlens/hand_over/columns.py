"""Contents of columns of a database, and the treatment of each: the lines of ``smf.csv`` and of ``tables.csv``.

A table that record layouts fill has the lines of these layouts. Other tables, and the columns that all tables share,
have lines in ``tables.csv``: ``table`` is a name, or a pattern with ``*``. A column of characters without a line is
refused.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from plexlens.errors import UnreadableInputError
from plexlens.hand_over.holds import Holding, character_files, holdings
from plexlens.layouts_path import layout_folders, layout_lines
from plexlens.pdb.schema import Column

#: What becomes of a column of a line of ``tables.csv``; every other word is a kind of name.
TREATMENTS = {"code": "keep", "token": "blank", "key": "key", "file": "file"} | {
    word: word for word in ("printed", "printed_serial")
}
_TIMES = ("date32[day]", "timestamp[us]", "timestamp[us, tz=UTC]")
_CHARACTERS = ("string", "list<string>")
_REMEDY = "layouts/characters/README.md describes the lines"


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """Treatment of a column.

    Attributes
    ----------
    name : str
        The column.
    treatment : str
        ``keep``, ``name``, ``blank``, ``moved``, ``clock``, ``printed_date``, ``dictionary``, ``key``, ``file``,
        ``printed``, ``printed_serial``; or ``parts``.
    parts : tuple of Holding
        The lines of a field that has several.
    """

    name: str
    treatment: str
    parts: tuple[Holding, ...] = ()


class ColumnPlans:
    """Treatments of the columns of tables.

    Parameters
    ----------
    site
        Folders with layouts of the site.

    Raises
    ------
    UnreadableInputError
        A line is wrong.
    """

    def __init__(self, site: Sequence[Path] = ()) -> None:
        self._fields: dict[tuple[str, str], list[Holding]] = {}
        for holding in holdings(site):
            self._fields.setdefault((holding.layout, holding.field.lower()), []).append(holding)
        self._layouts = _layouts_of_tables(site)
        self._lines: list[tuple[str, str, str]] = []
        for path in character_files(site, "tables.csv"):
            for number, line in layout_lines(path, _REMEDY):
                words = line.get("table", ""), line.get("column", ""), line.get("holds", "")
                if not all(words):
                    what = "a line has a table, a column and what it holds"
                    raise UnreadableInputError(file=str(path), line=number, what=what, remedy=_REMEDY)
                self._lines.append(words)

    def of(self, table: str, columns: Sequence[Column]) -> list[ColumnPlan]:
        """Treatment of each column of a table, in their order.

        Raises
        ------
        UnreadableInputError
            Nothing says what a column of characters holds.
        """
        return [self._of(table, column) for column in columns]

    def _of(self, table: str, column: Column) -> ColumnPlan:
        for layout in self._layouts.get(table, (table,)):
            if (lines := self._fields.get((layout, column.name))) is not None:
                if len(lines) == 1 and not lines[0].when and not lines[0].at and lines[0].length is None:
                    return ColumnPlan(column.name, _of_type(column, lines[0].treatment))
                return ColumnPlan(column.name, "parts", tuple(lines))
        matching = [
            (len(pattern) if "*" not in pattern else pattern.count("_") - 100, holds)
            for pattern, name, holds in self._lines
            if name == column.name and fnmatchcase(table, pattern)
        ]
        if matching:
            return ColumnPlan(column.name, _of_type(column, TREATMENTS.get(max(matching)[1], "name")))
        if column.type in _CHARACTERS:
            raise UnreadableInputError(
                file=table,
                what=f"nothing says what the column {column.name} holds",
                remedy="add a line for it to characters/tables.csv in the folder of your layouts (--layouts)",
            )
        if column.type in _TIMES:
            return ColumnPlan(column.name, "moved")
        return ColumnPlan(column.name, "blank" if column.type == "binary" else "keep")


def _of_type(column: Column, treatment: str) -> str:
    return "moved" if column.type in _TIMES and treatment not in ("keep", "blank") else treatment


def _layouts_of_tables(site: Sequence[Path]) -> Mapping[str, tuple[str, ...]]:
    """The layouts whose sections are rows of a table."""
    layouts: dict[str, dict[str, None]] = {}
    for folder in layout_folders(site):
        for path in sorted((folder / "records").glob("*.csv")):
            text = path.read_text(encoding="utf-8").splitlines()
            for line in csv.DictReader(row for row in text if not row.startswith("#")):
                layouts.setdefault(line.get("table") or line["layout"], {})[line["layout"]] = None
    return {table: tuple(names) for table, names in layouts.items()}


def dictionary_words(site: Sequence[Path] = ()) -> frozenset[str]:
    """Owners and short names of all fields that a CICS dictionary places."""
    words: set[str] = set()
    for folder in layout_folders(site):
        for path in sorted(folder.glob("*.csv")):
            text = path.read_text(encoding="utf-8").splitlines()
            for line in csv.DictReader(row for row in text if not row.startswith("#")):
                if place := line.get("dictionary"):
                    owner, _, rest = place.partition(":")
                    nickname = rest.partition(":")[2]
                    words |= {owner, nickname or str(line["field"])}
    return frozenset(words)
