"""Locations of the keys in a TOML text, so that errors in a scenario name the line."""

from __future__ import annotations

import re

_BARE_END = re.compile(r"[,\]}#\n]")
_KEY = re.compile(r"[A-Za-z0-9_-]+")


def lines_of(text: str) -> dict[str, int]:
    """Lines of all keys and elements of a valid TOML text, by path.

    Parameters
    ----------
    text
        A text that `tomli` has read without error.

    Returns
    -------
    dict
        Path such as ``class[2].references[0].page_set`` to its line, from 1.
    """
    return _Locator(text).run()


def line_of(lines: dict[str, int], path: str) -> int | None:
    """Line of a path, or of the nearest enclosing part present in the text (a missing key has no line)."""
    while path:
        if path in lines:
            return lines[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return None


#: Strings and comments hide brackets and dots.
_HIDDEN = re.compile(r'"""(?:[^\\]|\\.)*?"""+|\'\'\'.*?\'\'\'+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)


def line_of_depth(text: str, most: int) -> int | None:
    """First line where tables and arrays are nested deeper than ``most``.

    Parameters
    ----------
    text
        A TOML text, which need not be valid.
    most
        Tables and arrays within each other, those of dotted keys and headers among them.

    Returns
    -------
    int or None
        The line, from 1; None where the text is nowhere that deep.
    """
    # A string becomes one letter for each of its lines.
    shown = _HIDDEN.sub(lambda hidden: "s" + "\n" * hidden[0].count("\n"), text)
    header, brackets = 0, 0
    for number, line in enumerate(shown.split("\n"), 1):
        stripped = line.strip()
        values = stripped
        key = 0
        if brackets == 0 and stripped.startswith("["):
            header = stripped.strip("[] \t").count(".") + 1
            values = ""
        elif brackets == 0 and "=" in stripped:
            name, _, values = stripped.partition("=")
            key = name.count(".")
        for character in values:
            brackets += (character in "[{") - (character in "]}")
            if header + key + brackets > most:
                return number
        if header + key + brackets > most:
            return number
    return None


class _Locator:
    """Reads a TOML text as far as needed to locate its keys."""

    def __init__(self, text: str) -> None:
        # As TOML has it: a carriage return before a line feed belongs to the end of the line.
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._line = 1
        self._lines: dict[str, int] = {}
        self._elements: dict[str, int] = {}

    def run(self) -> dict[str, int]:
        table = ""
        while self._skip(newlines=True):
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)
        return self._lines

    def _advance(self, count: int) -> str:
        taken = self._text[self._at : self._at + count]
        self._line += taken.count("\n")
        self._at += count
        return taken

    def _skip(self, *, newlines: bool) -> bool:
        """Skip blanks and comments; return whether any text is left."""
        blanks = " \t\n" if newlines else " \t"
        while self._at < len(self._text):
            if self._text[self._at] in blanks:
                self._advance(1)
            elif self._text[self._at] == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return True
        return False

    def _key(self) -> list[str]:
        """A key, split into its parts if dotted."""
        parts = []
        while True:
            self._skip(newlines=False)
            if self._text[self._at] in "\"'":
                parts.append(self._string()[1:-1])
            else:
                match = _KEY.match(self._text, self._at)
                parts.append(self._advance(len(match[0]) if match else 1))
            self._skip(newlines=False)
            if not self._text.startswith(".", self._at):
                return parts
            self._advance(1)

    @staticmethod
    def _inside(table: str, part: str) -> str:
        """Path of a key of a table."""
        return f"{table}.{part}" if table else part

    def _last(self, path: str) -> str:
        """Path of the last table of an array of tables; for other paths, the path itself."""
        count = self._elements.get(path)
        return path if count is None else f"{path}[{count - 1}]"

    def _header(self, brackets: int) -> str:
        line = self._line
        self._advance(brackets)
        *outer, name = self._key()
        self._advance(brackets)
        path = ""
        for part in outer:
            path = self._last(self._inside(path, part))
        path = self._inside(path, name)
        self._lines.setdefault(path, line)
        if brackets == 2:
            self._elements[path] = self._elements.get(path, 0) + 1
            path = self._last(path)
        self._lines[path] = line
        return path

    def _pair(self, table: str) -> None:
        line = self._line
        path = table
        for part in self._key():
            path = self._inside(path, part)
            self._lines.setdefault(path, line)
        self._advance(1)  # The equals sign.
        self._skip(newlines=False)
        self._value(path)

    def _value(self, path: str) -> None:
        first = self._text[self._at]
        if first in "\"'":
            self._string()
        elif first == "[":
            self._array(path)
        elif first == "{":
            self._inline(path)
        else:
            end = _BARE_END.search(self._text, self._at)
            self._advance((end.start() if end else len(self._text)) - self._at)

    def _array(self, path: str) -> None:
        self._advance(1)
        number = 0
        while self._skip(newlines=True) and self._text[self._at] != "]":
            self._lines[f"{path}[{number}]"] = self._line
            self._value(f"{path}[{number}]")
            number += 1
            self._skip(newlines=True)
            if self._text[self._at] == ",":
                self._advance(1)
        self._advance(1)

    def _inline(self, path: str) -> None:
        self._advance(1)
        while self._skip(newlines=True) and self._text[self._at] != "}":
            self._pair(path)
            self._skip(newlines=True)
            if self._text[self._at] == ",":
                self._advance(1)
        self._advance(1)

    def _string(self) -> str:
        """A string with its quotes, of any of TOML's four kinds."""
        quote = self._text[self._at]
        if self._text.startswith(quote * 3, self._at):
            end = self._end_of_text(quote * 3, self._at + 3)
            # Up to two quotes may stand before those that end it.
            while self._text.startswith(quote, end + 3):
                end += 1
            return self._advance(end + 3 - self._at)
        return self._advance(self._end_of_text(quote, self._at + 1) + 1 - self._at)

    def _end_of_text(self, quotes: str, at: int) -> int:
        while not self._text.startswith(quotes, at):
            at += 2 if quotes[0] == '"' and self._text[at] == "\\" else 1
        return at
