"""A table of a definition file, read key by key: missing keys, wrong types and unknown keys are refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plexlens.metrics.catalogue.document import Document, Place
from plexlens.metrics.catalogue.error import CatalogueError, near

_NAMED = {str: "a text", bool: "true or false", int: "a whole number", dict: "a table", list: "a list"}


@dataclass(frozen=True)
class Entry:
    """A value and its location."""

    value: Any
    document: Document
    place: Place

    def wrong(self, what: str, remedy: str) -> CatalogueError:
        """An error about the value."""
        return self.document.wrong(self.place, what, remedy)

    def table(self, *keys: str, open_ended: bool = False) -> Table:
        """The value as a table that has only these keys."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"it is {_what(self.value)}, not a table", "write it as [table] or {key = ...}")
        if not open_ended:
            for key in self.value:
                if key not in keys:
                    place = (*self.place, key)
                    raise self.document.wrong(place, "there is no such key", near(key, keys))
        return Table({key: Entry(value, self.document, (*self.place, key)) for key, value in self.value.items()}, self)

    def text(self) -> str:
        """The value as a non-empty text."""
        text = self._of(str)
        if not text.strip():
            raise self.wrong("it is empty", "give a text")
        return str(text).strip()

    def truth(self) -> bool:
        """The value as a boolean."""
        return bool(self._of(bool))

    def texts(self) -> tuple[str, ...]:
        """The value as a list of texts."""
        listed = self._of(list)
        for entry in listed:
            if not isinstance(entry, str):
                raise self.wrong(f"the list contains {entry!r}, not a text", 'write ["one", "another"]')
        return tuple(listed)

    def one_of(self, valid: Collection[str], what: str) -> str:
        """The value as one of the valid words."""
        word = self.text()
        if word not in valid:
            raise self.wrong(f"there is no {what} {word!r}", near(word, valid))
        return word

    def _of(self, wanted: type) -> Any:
        if type(self.value) is not wanted:
            raise self.wrong(f"it is {_what(self.value)}, not {_NAMED[wanted]}", f"give {_NAMED[wanted]}")
        return self.value


def _what(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {value!r}"
    return _NAMED[type(value)] if isinstance(value, dict | list) else repr(value)


@dataclass(frozen=True)
class Table:
    """Values by key, each with its location; a definition can combine several files."""

    entries: Mapping[str, Entry]
    whole: Entry

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def get(self, key: str) -> Entry | None:
        """The value of an optional key."""
        return self.entries.get(key)

    def need(self, key: str, example: str) -> Entry:
        """The value of a required key."""
        entry = self.entries.get(key)
        if entry is None:
            raise self.whole.wrong(f"the key {key} is missing", f"add {example}")
        return entry

    def text(self, key: str) -> str:
        """The text of a key; empty if it is missing."""
        entry = self.entries.get(key)
        return entry.text() if entry is not None else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of a key; empty if it is missing."""
        entry = self.entries.get(key)
        return entry.texts() if entry is not None else ()

    def names(self, key: str) -> dict[str, str]:
        """Texts by name from a key that holds a table; empty if it is missing."""
        result = self.entries.get(key)
        if result is None:
            return {}
        return {name: entry.text() for name, entry in result.table(open_ended=True).entries.items()}

    def over(self, other: Table) -> Table:
        """The table on top of another, which supplies the missing keys."""
        return Table({**other.entries, **self.entries}, self.whole)


def alone(table: Table, keys: Sequence[str], example: str) -> str:
    """The key that is present; exactly one must be."""
    there = [key for key in keys if key in table]
    if not there:
        raise table.whole.wrong(f"none of {', '.join(keys)} is given", f"add one of them: {example}")
    if len(there) > 1:
        raise table.entries[there[1]].wrong(
            f"{' and '.join(there)} cannot be combined", f"keep one of {', '.join(there)}"
        )
    return there[0]
