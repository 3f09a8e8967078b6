"""Entries of an ``analysis.toml``, read with error messages that give the location."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plexlens.compare.analysis.values import Numbers
from plexlens.compare.study.model import StudyError, StudyTable


@dataclass(frozen=True)
class Entry:
    """A table of the file.

    Parameters
    ----------
    content
        Its keys.
    where
        What messages call it; empty for the whole file.
    numbers
        The study that its values are looked up in.
    """

    content: Mapping[str, Any]
    where: str
    numbers: Numbers

    def wrong(self, key: str, what: str, remedy: str) -> StudyError:
        """The error for an invalid key."""
        return self.numbers.wrong(self.place(f"key {key!r}"), what, remedy)

    def place(self, part: str) -> str:
        """Name of a part of the table in messages."""
        return f"{self.where}, {part}" if self.where else part

    def only(self, *allowed: str) -> None:
        """Refuse keys that nothing reads."""
        for key in self.content:
            if key not in allowed:
                raise self.wrong(key, "there is no such key", f"use one of {', '.join(allowed)}")

    def text(self, key: str, default: str | None = None) -> str:
        """A text; optional if there is a default."""
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(
                key, "it is missing" if value is None else f"{value!r} is not a text", f'write {key} = "..."'
            )
        return value

    def one_of(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        """A text from a list of choices."""
        value = self.text(key, default)
        if value not in choices:
            raise self.wrong(key, f"{value!r} is not known", f"use one of {', '.join(choices)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, or a single text; empty if the key is missing."""
        value = self.content.get(key, [])
        results = [value] if isinstance(value, str) else value
        if not isinstance(results, list) or not all(isinstance(item, str) for item in results):
            raise self.wrong(key, f"{value!r} is not a list of texts", f'write {key} = ["...", "..."]')
        return tuple(results)

    def number(self, key: str, default: float | None = None) -> float:
        """A number; optional if there is a default."""
        value = self.content.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(
                key, "it is missing" if value is None else f"{value!r} is not a number", f"write {key} = 1.0"
            )
        return float(value)

    def entries(self, key: str) -> list[Entry]:
        """The subtables."""
        value = self.content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "it is not a list of tables", f"write {key} = [{{...}}]")
        return [Entry(item, self.place(f"{key} {number}"), self.numbers) for number, item in enumerate(value, 1)]

    def table(self, key: str = "table") -> StudyTable:
        """The table of the study that a key names."""
        return self.numbers.table(self.content.get(key), self.place(f"key {key!r}"))

    def rows(self, table: StudyTable) -> list[int]:
        """The rows selected by ``rows`` and ``but``, in order."""
        return self.numbers.rows(table, self.content.get("rows"), self.content.get("but"), self.where)

    def sums(self, key: str, table: StudyTable, rows: Sequence[int]) -> list[float]:
        """A column, or the sum of several, as plain numbers."""
        columns = self.texts(key)
        if not columns:
            raise self.wrong(key, "no column is named", f'write {key} = "a heading", or a list of headings to add up')
        for column in columns:
            self.numbers.column(table, column, self.place(f"key {key!r}"))
        parts = [self.numbers.floats(table, rows, column, self.where) for column in columns]
        return [sum(column_values) for column_values in zip(*parts, strict=True)]
