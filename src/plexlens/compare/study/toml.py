"""Keys of a study's TOML files; an error message names file, location and key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import tomli

from plexlens.compare.study.model import StudyError


class TomlReader:
    """Reads keys; tracks the file and the location for messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = ""

    def toml(self, path: Path) -> dict[str, Any]:
        """The contents of a TOML file."""
        try:
            return tomli.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(file=str(path), what=f"it cannot be read: {error}", remedy="restore the file") from error
        except tomli.TOMLDecodeError as error:
            raise StudyError(
                file=str(path), what=f"it is not valid TOML: {error}", remedy="correct the syntax"
            ) from error

    def wrong(self, key: str, what: str, remedy: str) -> StudyError:
        """The error for an invalid key."""
        at = ", ".join(part for part in (self.where, f"key {key!r}") if part)
        return StudyError(file=str(self.path), what=f"{at}: {what}", remedy=remedy)

    def known_keys(self, content: Mapping[str, Any], allowed: tuple[str, ...], of: str = "") -> None:
        """Refuse keys that nothing reads."""
        for key in content:
            if key not in allowed:
                raise self.wrong(f"{of}{key}", "there is no such key", f"use one of {', '.join(allowed)}")

    def text(self, content: Mapping[str, Any], key: str, default: str | None = None) -> str:
        """A text; optional if there is a default."""
        value = content.get(key, default)
        if not isinstance(value, str):
            result = "it is missing" if value is None else f"{value!r} is not a text"
            raise self.wrong(key, result, f'write {key} = "..."')
        return value

    def entries(self, content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """The tables below a key; empty if it is missing."""
        value = content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "it is not a list of tables", f"write [[tables.{key}]]")
        return value

    def choice(self, entry: Mapping[str, Any], key: str, choices: Sequence[str], default: str) -> str:
        """A text from a list of choices."""
        value = self.text(entry, key, default)
        if value not in choices:
            raise self.wrong(key, f"{value!r} is not known", f"use one of {', '.join(c for c in choices if c)}")
        return value

    def column_names(self, value: Any) -> tuple[str, ...]:
        """A heading, or a list of headings."""
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise self.wrong("column", f"{value!r} names no column", "give a heading, or a list of headings")
        return tuple(names)

    def decimals(self, entry: Mapping[str, Any], key: str) -> int | None:
        """A number of decimals; None if the key is missing."""
        value = entry.get(key)
        if value is None or (type(value) is int and value >= 0):
            return value
        raise self.wrong(f"derived.{key}", f"{value!r} is not a number of decimals", f"write {key} = 3")

    def flag(self, content: Mapping[str, Any], of: str, key: str, default: bool = False) -> bool:
        """True or false."""
        value = content.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(f"{of}{key}", f"{value!r} is neither true nor false", f"write {key} = true or false")
        return value

    def factor(self, key: str, value: Any) -> Fraction:
        """A constant factor of a cell: a number, or a quotient as text."""
        try:
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise ValueError
            return Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            raise self.wrong(f"{key}.times", f"{value!r} is not a factor", 'write times = 1000, or "1/3600"') from None
