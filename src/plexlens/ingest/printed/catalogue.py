"""The tables filled from printed reports, as data: ``layouts/printed/*.csv``, read once for both scanners.

``tables.csv`` names each table, the file of its columns and the report that fills it. A file of columns gives for each
column its type, unit and meaning, the SMF field that holds the same, where RMF XML (``xml``), a text report (``text``)
and a message of a display command (``message``) print it, and the formula of a column that is worked out from others
(``derived``). ``layouts/printed/README.md`` describes the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from plexlens.errors import UnreadableInputError
from plexlens.expression import Expression, ExpressionError, names_of, parse, value
from plexlens.ingest.printed.address import Address, addresses
from plexlens.ingest.source import COMMON_FIELDS
from plexlens.layouts_path import layout_folders, layout_lines

TYPES = {"text": pa.string(), "number": pa.float64(), "index": pa.uint32(), "flag": pa.bool_()}
TERM = "term"
"""Type of a value that formulas share and that is not a column."""

PRINTED_UNITS = {"milliseconds": 1e3, "microseconds": 1e6}
"""Units in which a number may be printed, and how many of them are one second."""


@dataclass(frozen=True, slots=True)
class Column:
    """A line of a column file; a line without a column name lists printed names that fill no column."""

    name: str
    kind: str
    unit: str
    printed: str
    description: str
    smf: str
    xml: tuple[Address, ...]
    text: tuple[Address, ...]
    message: tuple[Address, ...]
    formula: Expression | None
    all_zero: bool

    def field(self) -> pa.Field:
        """The column as an Arrow field with its metadata."""
        metadata = {"description": self.description}
        if self.unit:
            metadata["unit"] = self.unit
        if self.smf:
            metadata["smf_field"] = self.smf
        if self.formula is not None:
            metadata["derived"] = "from printed values"
        return pa.field(self.name, TYPES[self.kind], metadata=metadata)

    def heading(self) -> str:
        """The heading in text reports, in its first spelling: the heads before the name."""
        return self.text[0].printed[-1][0] if self.text else self.name.upper().replace("_", " ")


@dataclass(frozen=True)
class TableSpec:
    """A table: the meaning of a row, the reports that fill it, its own columns (the common columns come before them).

    `rows` says what of an XML report makes a row (``report``, ``segment`` or ``table row``; empty where code does),
    `needs` the columns of which it must print one, and in a table's row all.
    """

    name: str
    grain: str
    reports: tuple[str, ...]
    rows: str
    needs: tuple[str, ...]
    columns: tuple[Column, ...]
    others: tuple[Column, ...]
    formulas: tuple[tuple[str, Expression], ...]

    def schema(self) -> pa.Schema:
        """The Arrow schema: common columns, then the table's own."""
        return pa.schema([*COMMON_FIELDS, *(column.field() for column in self.columns)], {"description": self.grain})

    def names(self) -> frozenset[str]:
        """Names of the table's own columns."""
        return frozenset(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        """A column by name."""
        return next(column for column in self.columns if column.name == name)

    def complete(self, row: dict[str, object]) -> dict[str, object]:
        """Add derived values to a row; a formula with a missing input leaves its column unchanged."""
        if self.formulas:
            values: dict[str, object] = {column.name: row.get(column.name) for column in self.columns}
            for name, formula in self.formulas:
                result = value(formula, values)  # type: ignore[arg-type]
                if result is not None or name not in values:
                    values[name] = result
            row.update((name, values[name]) for name, _ in self.formulas if values[name] is not None)
            for term in self.others:
                row.pop(term.name, None)
        return row

    def places(self, *blocks: str) -> Mapping[tuple[str, ...], str]:
        """Columns by the folded words of their heading in text reports, for some kinds of block; empty for any."""
        return {
            words: column.name
            for column in self.columns
            for address in column.text
            if address.block in blocks or not blocks
            for words in address.folded()
        }

    def printed_names(self, *blocks: str, levels: int | None = None) -> set[str]:
        """Names printed by text reports in some kinds of block, with or without a column; with `levels` only addresses
        of that depth.
        """
        return {
            name
            for column in (*self.columns, *self.others)
            for address in column.text
            if address.block in blocks and levels in (None, len(address.levels))
            for name in address.printed[-1]
        }


class Block(NamedTuple):
    """A kind of block of Db2 reports: the table for its values, its titles, and the blocks whose names it shares."""

    block: str
    kind: str
    table: str
    known: str
    title: str


@dataclass(frozen=True)
class Catalogue:
    """All tables, the blocks of Db2 reports, and lists of printed names without columns."""

    tables: Mapping[str, TableSpec]
    blocks: tuple[Block, ...]
    lists: Mapping[str, Mapping[str, str]]

    def of_source(self, prefix: str) -> tuple[TableSpec, ...]:
        """The tables of a source, the table of all values first."""
        return tuple(table for table in self.tables.values() if table.name.startswith(prefix))

    def of_report(self, prefix: str, report: str) -> tuple[TableSpec, ...]:
        """The tables that a report of a source fills."""
        return tuple(table for table in self.of_source(prefix) if report in table.reports)


@cache
def catalogue(site: tuple[Path, ...] = ()) -> Catalogue:
    """The shipped catalogue, extended by the ``printed`` folders of a site.

    Raises
    ------
    UsageError
        A folder of the site does not exist.
    UnreadableInputError
        A line of a file is wrong.
    """
    folders = [folder / "printed" for folder in layout_folders(site)]
    files = {path.name: path for folder in folders for path in sorted(folder.glob("*.csv"))}
    listed = {line["table"]: (path, number, line) for path, number, line in _lines(folders, "tables.csv")}
    tables = {}
    for name, (path, number, line) in listed.items():
        columns = files.get(f"{line['columns']}.csv")
        if columns is None:
            raise _wrong(path, number, f"there is no column file {line['columns']}.csv", "write it next to this file")
        tables[name] = _table(line, _columns(columns), columns)
    blocks = {line["block"]: Block(**line) for _, _, line in _lines(folders, "blocks.csv")}
    lists: dict[str, dict[str, str]] = {}
    for _, _, line in _lines(folders, "names.csv"):
        lists.setdefault(line["list"], {}).update(
            (printed.strip(), line["name"]) for printed in line["printed"].split(";")
        )
    return Catalogue(tables, tuple(blocks.values()), lists)


def _lines(folders: Iterable[Path], name: str) -> Iterator[tuple[Path, int, dict[str, str]]]:
    for folder in folders:
        if (folder / name).is_file():
            yield from ((folder / name, number, line) for number, line in _lines_of(folder / name))


def _lines_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    return layout_lines(path, "quote cells that hold commas")


def _wrong(path: Path, line: int | None, what: str, remedy: str) -> UnreadableInputError:
    return UnreadableInputError(file=str(path), line=line, what=what, remedy=remedy)


@cache
def _columns(path: Path) -> tuple[Column, ...]:
    columns: dict[tuple[str, int], Column] = {}
    for number, line in _lines_of(path):
        kind = line["type"]
        if kind not in (*TYPES, TERM, "" if not line["column"] else TERM):
            raise _wrong(path, number, f"{kind!r} is not a type", f"write one of {', '.join((*TYPES, TERM))}")
        place = (line["column"], 0 if line["column"] else number)
        if place in columns:
            raise _wrong(path, number, f"column {line['column']} is defined twice", "remove one of them")
        try:
            columns[place] = Column(
                line["column"],
                kind,
                line["unit"],
                line.get("printed", ""),
                line["meaning"],
                line.get("smf", ""),
                addresses(line.get("xml") or ""),
                addresses(line.get("text") or ""),
                addresses(line.get("message") or ""),
                parse(line["derived"]) if line.get("derived") else None,
                line.get("all_zero") == "0",
            )
        except (ExpressionError, re.error) as error:
            remedy = "layouts/printed/README.md describes places and formulas"
            raise _wrong(path, number, f"{line['column'] or 'the line'}: {error}", remedy) from error
    return tuple(columns.values())


def _table(line: dict[str, str], columns: tuple[Column, ...], path: Path) -> TableSpec:
    own = tuple(column for column in columns if column.kind in TYPES)
    others = tuple(column for column in columns if column.kind not in TYPES)
    formulas = {column.name: column.formula for column in columns if column.formula is not None}
    known = {column.name for column in columns}
    reads = {name: names_of(formula) for name, formula in formulas.items()}
    unknown = sorted(set().union(*reads.values()) - known)
    if unknown:
        raise _wrong(path, None, f"a formula names {unknown[0]}, which is not a column", "add it, or correct it")
    try:
        order = [name for name in TopologicalSorter(reads).static_order() if name in formulas]
    except CycleError as error:
        raise _wrong(
            path, None, f"formulas of {', '.join(error.args[1])} refer to each other", "remove the circular reference"
        ) from error
    needs = tuple(line["needs"].split())
    if missing := [name for name in needs if name not in known]:
        what = f"{line['table']} needs {missing[0]!r}, which is not a column of {path.name}"
        raise _wrong(path.parent / "tables.csv", None, what, "name its columns, with blanks between them")
    return TableSpec(
        line["table"],
        line["row"],
        tuple(part.strip() for part in line["report"].split(";") if part.strip()),
        line["from"],
        needs,
        own,
        others,
        tuple((name, formulas[name]) for name in order),
    )
