"""A TOML file of the catalogue, with the line of each key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import tomli

from plexlens.metrics.catalogue.error import CatalogueError

_TABLE = re.compile(r"\[(\[?)\s*([A-Za-z0-9_.\"' -]+?)\s*\](\]?)\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_\"'-]+)\s*=\s*(.*)$")

Place = tuple[str | int, ...]
"""Where a value stands: names of tables and keys, and the number of a table among several (``source``, 0, ``sql``)."""


@dataclass(frozen=True)
class Document:
    """A file of definitions.

    Attributes
    ----------
    path
        The file.
    values
        What it says.
    shipped
        Whether it comes with Plexlens.
    """

    path: Path
    values: Mapping[str, Any]
    text: str = field(repr=False)
    shipped: bool = True

    @cached_property
    def _lines(self) -> dict[Place, int]:
        places = dict(_places(self.text))
        # A table that only stands before the point of others begins with the first of them.
        for place, line in list(places.items()):
            for length in range(1, len(place)):
                places.setdefault(place[:length], line)
        return places

    def line(self, place: Place) -> int | None:
        """Line of a key, from 1, or else of its table."""
        for length in range(len(place), 0, -1):
            if place[:length] in self._lines:
                return self._lines[place[:length]]
        return None

    def wrong(self, place: Place, what: str, remedy: str) -> CatalogueError:
        """An error about the value at a place."""
        key = ".".join(str(part + 1) if isinstance(part, int) else part for part in place)
        return CatalogueError(
            file=str(self.path), line=self.line(place), what=f"{key}: {what}" if key else what, remedy=remedy
        )


def read_document(path: Path, *, shipped: bool) -> Document:
    """Read a file of the catalogue.

    Raises
    ------
    CatalogueError
        It cannot be read, or is not TOML.
    """
    text = text_of_file(path)
    try:
        values = tomli.loads(text)
    except (tomli.TOMLDecodeError, RecursionError) as error:
        match = re.search(r"\(at line (\d+), column \d+\)", str(error))
        raise CatalogueError(
            file=str(path),
            line=int(match[1]) if match else None,
            what=f"the file is not TOML: {str(error).split(' (at ')[0]}",
            remedy="correct it there",
        ) from error
    return Document(path, values, text, shipped)


def text_of_file(path: Path) -> str:
    """The text of a file.

    Raises
    ------
    CatalogueError
        It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise CatalogueError(
            file=str(path), what=f"the file cannot be read: {why}", remedy="give a text file"
        ) from error


def _places(text: str) -> Iterator[tuple[Place, int]]:
    """Position of each table and key; the TOML parser does not keep positions.

    A scan for lines that begin as tables and keys do, texts of several lines and lists left out.
    """
    table: Place = ()
    counts: dict[str, int] = {}
    closing = ""
    for number, line in enumerate(text.splitlines(), 1):
        if closing:
            if closing in line:
                closing = ""
            continue
        if match := _TABLE.match(line):
            names = tuple(part.strip(" \"'") for part in match[2].split("."))
            table = names
            if not match[1] and names[0] in counts:
                # A table of the last one of a list of tables.
                table = (names[0], counts[names[0]], *names[1:])
            if match[1]:
                counts[match[2]] = counts.get(match[2], -1) + 1
                table = (*names, counts[match[2]])
                yield names, number
            yield table, number
        elif match := _KEY.match(line):
            yield (*table, match[1].strip("\"'")), number
            rest = match[2]
            for quotes in ('"""', "'''"):
                if rest.count(quotes) % 2:
                    closing = quotes
            if rest.startswith("[") and "]" not in rest:
                closing = "]"
