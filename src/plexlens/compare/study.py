"""Studies as folders: tables as printed, and what is said about them in ``study.toml``.

Everything is checked when a study is read: a column, table, formula or argument that does not exist is named with the
file, the table and the key.
"""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plexlens.compare.formulas import FORMULAS, Formula
from plexlens.errors import UnreadableInputError, UsageError

#: Where a column or a cell of a match stands for that of the row at hand.
SAME = "*"

#: Heading of the column of a transposed table that holds the former headings.
TURNED = "column"


_REFERENCE_KEYS = ("value", "table", "column", "row", "rows", "but", "computed", "as_printed")
_DERIVED_KEYS = ("column", "formula", "arguments", "where", "but", "printed", "cut", "decimals", "digits")


class StudyError(UnreadableInputError):
    """A study whose files cannot be read or do not fit together."""


@dataclass(frozen=True)
class Match:
    """Which rows of a table are meant: those with these cells, less those with the others."""

    cells: Mapping[str, str]
    but: Mapping[str, str]

    def takes(self, row: Mapping[str, str]) -> bool:
        """Whether a row is meant."""
        if any(row[column] != cell for column, cell in self.cells.items()):
            return False
        return not self.but or any(row[column] != cell for column, cell in self.but.items())


@dataclass(frozen=True)
class Reference:
    """Where an argument of a formula comes from.

    Attributes
    ----------
    value
        A constant; the other attributes are then empty.
    table, column
        Id of the table, and heading of the column.
    match
        The rows; None for the row at hand.
    many
        Whether any number of rows may match; one must otherwise.
    computed
        Whether the worked-out number is taken where the printed one would be.
    as_printed
        Whether the digits are taken for the number itself, as where a paper goes on with what it printed.
    """

    value: str = ""
    table: str = ""
    column: str = ""
    match: Match | None = None
    many: bool = False
    computed: bool = False
    as_printed: bool = False


@dataclass(frozen=True)
class Derived:
    """Cells that follow from others: of which columns and rows, by which formula, from which arguments.

    ``printed`` is false where the study prints no such column: the numbers are worked out, shown, and compared with
    nothing. ``cut`` is true where the study cuts digits off instead of rounding them. ``decimals`` is with how many the
    study would show what it does not print; ``digits`` how many decimals of the printed cells mean something, where the
    print pads them with zeros.
    """

    columns: tuple[str, ...]
    rows: Match
    formula: Formula
    arguments: Mapping[str, tuple[Reference, ...]]
    printed: bool
    cut: bool = False
    decimals: int | None = None
    digits: int | None = None


@dataclass(frozen=True)
class Known:
    """A cell that is known to be wrong in print, and why it is the print that is wrong."""

    column: str
    rows: Match
    note: str


@dataclass(frozen=True)
class Line:
    """A fitted line: processor time a second = fixed + per transaction x rate."""

    rate: str
    cpu_percent: tuple[str, ...]


@dataclass(frozen=True)
class StudyTable:
    """A table as printed, and what follows from what in it.

    Attributes
    ----------
    columns, rows
        Headings, and the cells of each row by heading.
    counts
        Columns whose whole numbers are exact counts.
    note
        What a reader has to know; why nothing in it can be worked out, where nothing is.
    """

    id: str
    title: str
    path: Path
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    counts: frozenset[str]
    derived: tuple[Derived, ...]
    known: tuple[Known, ...]
    lines: tuple[Line, ...]
    note: str


@dataclass(frozen=True)
class Study:
    """A published study: its tables by id, in the order of the paper."""

    name: str
    title: str
    source: str
    path: Path
    tables: Mapping[str, StudyTable]


def studies_path() -> Path:
    """The folder of the studies that come with Plexlens.

    Raises
    ------
    UsageError
        It is not there: the installation is incomplete.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "studies", package.parents[1] / "studies"):
        if folder.is_dir():
            return folder
    raise UsageError(
        file=str(package / "studies"),
        what="the studies that come with Plexlens are missing",
        remedy="install Plexlens again",
    )


def study_names(folder: Path | None = None) -> list[str]:
    """Names of the studies in a folder, in order."""
    return sorted(path.parent.name for path in (folder or studies_path()).glob("*/study.toml"))


def load_study(name: str, folder: Path | None = None) -> Study:
    """Read a study and check it whole.

    Parameters
    ----------
    name
        Its name: that of its folder.
    folder
        Where studies are; those that come with Plexlens if not given.

    Raises
    ------
    UsageError
        There is no study of that name.
    StudyError
        A file cannot be read, or says something that cannot be.
    """
    folder = folder or studies_path()
    if name not in study_names(folder):
        raise UsageError(
            file="",
            what=f"there is no study {name!r}",
            remedy=f"name one of {', '.join(study_names(folder))}, or give --all",
        )
    path = folder / name / "study.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(file=str(path), what=f"it cannot be read: {error}", remedy="restore the file") from error
    except tomllib.TOMLDecodeError as error:
        raise StudyError(file=str(path), what=f"it is no TOML: {error}", remedy="correct the syntax") from error
    return _Reader(path).study(content)


class _Reader:
    """Reads one study.toml; knows where it is for the sake of messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = ""
        self.headings: dict[str, tuple[str, ...]] = {}

    def wrong(self, key: str, what: str, remedy: str) -> StudyError:
        at = ", ".join(part for part in (self.where, f"key {key!r}") if part)
        return StudyError(file=str(self.path), what=f"{at}: {what}", remedy=remedy)

    def known_keys(self, content: Mapping[str, Any], allowed: tuple[str, ...], of: str = "") -> None:
        for key in content:
            if key not in allowed:
                raise self.wrong(f"{of}{key}", "there is no such key", f"use one of {', '.join(allowed)}")

    def text(self, content: Mapping[str, Any], key: str, default: str | None = None) -> str:
        value = content.get(key, default)
        if not isinstance(value, str):
            found = "it is missing" if value is None else f"{value!r} is no text"
            raise self.wrong(key, found, f'write {key} = "..."')
        return value

    def entries(self, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        value = content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.wrong(key, "it is no list of tables", f"write [[tables.{key}]]")
        return value

    def study(self, content: Mapping[str, Any]) -> Study:
        self.known_keys(content, ("name", "title", "source", "tables"))
        raw = self.entries(content, "tables")
        cells: dict[str, tuple[tuple[str, ...], list[dict[str, str]]]] = {}
        for number, one in enumerate(raw, 1):
            self.where = f"table {number}"
            table_id = self.text(one, "id")
            self.where = f"table {table_id!r}"
            if table_id in cells:
                raise self.wrong("id", "two tables have it", "give each table an id of its own")
            cells[table_id] = self.cells(one)
            unprinted = [
                column
                for derived in self.entries(one, "derived")
                if derived.get("printed") is False
                for column in self.column_names(derived.get("column"))
            ]
            self.headings[table_id] = (*cells[table_id][0], *unprinted)
        tables = {one["id"]: self.table(one, *cells[one["id"]]) for one in raw}
        self.where = ""
        return Study(
            self.text(content, "name"), self.text(content, "title"), self.text(content, "source"), self.path, tables
        )

    def cells(self, one: Mapping[str, Any]) -> tuple[tuple[str, ...], list[dict[str, str]]]:
        path = self.path.parent / self.text(one, "file")
        try:
            with path.open(encoding="utf-8", newline="") as file:
                lines = list(csv.reader(file))
        except (OSError, UnicodeDecodeError) as error:
            raise self.wrong("file", f"{path.name} cannot be read: {error}", "name a CSV file of the folder") from error
        if not lines or not lines[0]:
            raise StudyError(file=str(path), line=1, what="there are no headings", remedy="write them in line 1")
        for number, line in enumerate(lines, 1):
            if len(line) != len(lines[0]):
                raise StudyError(
                    file=str(path),
                    line=number,
                    what=f"{len(line)} cells stand under {len(lines[0])} headings",
                    remedy="write one cell for each heading, blank where nothing is printed",
                )
        labels = one.get("transpose")
        if labels is not None:
            lines = self.turned(lines, self.column_names(labels))
        heads = tuple(lines[0])
        if len(set(heads)) != len(heads):
            twice = next(head for head in heads if heads.count(head) > 1)
            raise StudyError(file=str(path), line=1, what=f"heading {twice!r} stands twice", remedy="tell them apart")
        return heads, [dict(zip(heads, line, strict=True)) for line in lines[1:]]

    def turned(self, lines: list[list[str]], labels: tuple[str, ...]) -> list[list[str]]:
        """Columns for rows: a row of items under each former heading."""
        for label in labels:
            if label not in lines[0]:
                raise self.wrong("transpose", f"there is no column {label!r}", f"use one of {', '.join(lines[0])}")
        at = [lines[0].index(label) for label in labels]
        heads = [TURNED]
        seen: Counter[str] = Counter()
        for line in lines[1:]:
            name = " / ".join(line[place] for place in at)
            seen[name] += 1
            heads.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
        kept = [place for place in range(len(lines[0])) if place not in at]
        return [heads, *([lines[0][place], *(line[place] for line in lines[1:])] for place in kept)]

    def column_names(self, value: Any) -> tuple[str, ...]:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise self.wrong("column", f"{value!r} names no column", "give a heading, or a list of headings")
        return tuple(names)

    def column(self, key: str, name: str, table_id: str) -> str:
        if name not in self.headings[table_id]:
            there = ", ".join(repr(one) for one in self.headings[table_id])
            raise self.wrong(key, f"table {table_id!r} has no column {name!r}", f"use one of {there}")
        return name

    def match(self, key: str, table_id: str, cells: Any, but: Any = None) -> Match:
        for given in (cells, but or {}):
            if not isinstance(given, dict) or not all(isinstance(cell, str) for cell in given.values()):
                raise self.wrong(key, f"{given!r} names no rows", 'write {"heading" = "cell"}')
            for column in given:
                self.column(key, column, table_id)
        return Match(cells, but or {})

    def table(self, one: Mapping[str, Any], heads: tuple[str, ...], rows: list[dict[str, str]]) -> StudyTable:
        table_id = one["id"]
        self.where = f"table {table_id!r}"
        allowed = ("id", "file", "title", "note", "counts", "transpose", "derived", "known", "lines")
        self.known_keys(one, allowed)
        counts = one.get("counts", [])
        names = heads if counts == SAME else self.column_names(counts) if counts else ()
        derived = tuple(self.derived(entry, table_id, heads) for entry in self.entries(one, "derived"))
        known = []
        for entry in self.entries(one, "known"):
            self.known_keys(entry, ("column", "where", "but", "note"), "known.")
            known.append(
                Known(
                    self.column("known.column", self.text(entry, "column"), table_id),
                    self.match("known.where", table_id, entry.get("where", {}), entry.get("but")),
                    self.text(entry, "note"),
                )
            )
        lines = []
        for entry in self.entries(one, "lines"):
            self.known_keys(entry, ("rate", "cpu_percent"), "lines.")
            lines.append(
                Line(
                    self.column("lines.rate", self.text(entry, "rate"), table_id),
                    tuple(
                        self.column("lines.cpu_percent", name, table_id)
                        for name in self.column_names(entry.get("cpu_percent"))
                    ),
                )
            )
        note = self.text(one, "note", "")
        if not derived and not note:
            raise self.wrong("note", "nothing in the table is worked out, and nothing says why", "state the reason")
        return StudyTable(
            table_id,
            self.text(one, "title"),
            self.path.parent / one["file"],
            heads,
            tuple(rows),
            frozenset(self.column("counts", name, table_id) for name in names),
            derived,
            tuple(known),
            tuple(lines),
            note,
        )

    def derived(self, entry: Mapping[str, Any], table_id: str, heads: tuple[str, ...]) -> Derived:
        self.known_keys(entry, _DERIVED_KEYS, "derived.")
        rows = self.match("derived.where", table_id, entry.get("where", {}), entry.get("but"))
        given = self.column_names(entry.get("column"))
        if given == (SAME,):
            fixed = set(rows.cells) | set(rows.but)
            given = tuple(head for head in heads if head not in fixed)
        columns = tuple(self.column("derived.column", name, table_id) for name in given)
        name = self.text(entry, "formula")
        if name not in FORMULAS:
            raise self.wrong("derived.formula", f"there is no formula {name!r}", f"use one of {', '.join(FORMULAS)}")
        formula = FORMULAS[name]
        raw = entry.get("arguments", {})
        if not isinstance(raw, dict):
            raise self.wrong("derived.arguments", "it is no table", "write arguments = {name = ...}")
        self.known_keys(raw, formula.arguments, "derived.arguments.")
        arguments = {}
        for argument in formula.arguments:
            key = f"derived.arguments.{argument}"
            if argument not in raw:
                raise self.wrong(key, f"formula {name!r} needs it", "say where it comes from")
            value = raw[argument]
            parts = value if isinstance(value, list) else [value]
            references = tuple(self.reference(key, part, table_id) for part in parts)
            if argument in formula.singles and (len(references) != 1 or references[0].many):
                raise self.wrong(key, "it is one number, and more are given", "name one cell")
            arguments[argument] = references
        decimals, digits = (self.decimals(entry, key) for key in ("decimals", "digits"))
        printed, cut = (self.flag(entry, "derived.", key, key == "printed") for key in ("printed", "cut"))
        return Derived(columns, rows, formula, arguments, printed, cut, decimals, digits)

    def decimals(self, entry: Mapping[str, Any], key: str) -> int | None:
        value = entry.get(key)
        if value is None or (type(value) is int and value >= 0):
            return value
        raise self.wrong(f"derived.{key}", f"{value!r} is no number of decimals", f"write {key} = 3")

    def flag(self, content: Mapping[str, Any], of: str, key: str, default: bool = False) -> bool:
        value = content.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(f"{of}{key}", f"{value!r} is neither true nor false", f"write {key} = true or false")
        return value

    def reference(self, key: str, value: Any, table_id: str) -> Reference:
        if isinstance(value, str):
            return Reference(table=table_id, column=value if value == SAME else self.column(key, value, table_id))
        if not isinstance(value, dict):
            raise self.wrong(key, f"{value!r} is no reference", "give a heading, or {column, row} or {value}")
        self.known_keys(value, _REFERENCE_KEYS, f"{key}.")
        if "value" in value:
            return Reference(value=str(value["value"]))
        there = value.get("table", table_id)
        if there not in self.headings:
            raise self.wrong(f"{key}.table", f"there is no table {there!r}", f"use one of {', '.join(self.headings)}")
        column = self.text(value, "column")
        if column != SAME:
            self.column(f"{key}.column", column, there)
        many = "rows" in value
        cells = value.get("rows", value.get("row"))
        match = None if cells is None else self.match(f"{key}.row", there, cells, value.get("but"))
        if match is None and there != table_id:
            raise self.wrong(key, f"no row of table {there!r} is named", "add row = {...}, or rows = {...} for several")
        computed, as_printed = (self.flag(value, f"{key}.", name) for name in ("computed", "as_printed"))
        return Reference("", there, column, match, many, computed, as_printed)
