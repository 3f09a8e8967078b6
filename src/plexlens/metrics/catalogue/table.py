"""A table of a file of definitions, read key by key: what is missing, of another type or not known is refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plexlens.metrics.catalogue.document import Document, Place
from plexlens.metrics.catalogue.error import CatalogueError, near

_NAMED = {str: "a text", bool: "true or false", int: "a whole number", dict: "a table", list: "a list"}


@dataclass(frozen=True)
class Entry:
    """A value and where it stands."""

    value: Any
    document: Document
    place: Place

    def wrong(self, what: str, remedy: str) -> CatalogueError:
        """An error about the value."""
        return self.document.wrong(self.place, what, remedy)

    def table(self, *keys: str, open_ended: bool = False) -> Table:
        """The value as a table with none but these keys."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"it is {_what(self.value)}, not a table", "write it as [table] or {key = ...}")
        if not open_ended:
            for key in self.value:
                if key not in keys:
                    place = (*self.place, key)
                    raise self.document.wrong(place, "there is no such key", near(key, keys))
        return Table({key: Entry(value, self.document, (*self.place, key)) for key, value in self.value.items()}, self)

    def text(self) -> str:
        """The value as a text that is not empty."""
        text = self._of(str)
        if not text.strip():
            raise self.wrong("it is empty", "give a text")
        return str(text).strip()

    def truth(self) -> bool:
        """The value as true or false."""
        return bool(self._of(bool))

    def texts(self) -> tuple[str, ...]:
        """The value as a list of texts."""
        listed = self._of(list)
        for one in listed:
            if not isinstance(one, str):
                raise self.wrong(f"{one!r} stands in the list, not a text", 'write ["one", "another"]')
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
    """Values by key, each with its place: those of one definition can come from several files."""

    entries: Mapping[str, Entry]
    whole: Entry

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def get(self, key: str) -> Entry | None:
        """The value of a key that may be missing."""
        return self.entries.get(key)

    def need(self, key: str, example: str) -> Entry:
        """The value of a key that has to be there."""
        found = self.entries.get(key)
        if found is None:
            raise self.whole.wrong(f"the key {key} is missing", f"add {example}")
        return found

    def text(self, key: str) -> str:
        """The text of a key; empty where it is missing."""
        found = self.entries.get(key)
        return found.text() if found is not None else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of a key; none where it is missing."""
        found = self.entries.get(key)
        return found.texts() if found is not None else ()

    def names(self, key: str) -> dict[str, str]:
        """Texts by name, of a key that holds a table of them; none where it is missing."""
        found = self.entries.get(key)
        if found is None:
            return {}
        return {name: entry.text() for name, entry in found.table(open_ended=True).entries.items()}

    def over(self, other: Table) -> Table:
        """Its values, and those of the other that it does not have."""
        return Table({**other.entries, **self.entries}, self.whole)


def alone(table: Table, keys: Sequence[str], example: str) -> str:
    """Which one of the keys is there; exactly one has to be."""
    there = [key for key in keys if key in table]
    if not there:
        raise table.whole.wrong(f"none of {', '.join(keys)} is there", f"add one of them: {example}")
    if len(there) > 1:
        raise table.entries[there[1]].wrong(
            f"{' and '.join(there)} cannot both be there", f"keep one of {', '.join(there)}"
        )
    return there[0]
