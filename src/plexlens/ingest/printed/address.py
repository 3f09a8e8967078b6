"""Location of a value in a report: words in the catalogue's columns ``xml``, ``text`` and ``message``.

Average; Avg                          a name, or its other spelling
Transactions > Ended                  a name under another: of a part, a column head, a message, a parent
Total System > SUM > Page-In Rate     part, row, column head
read: GETPAGE REQUEST; GETPAGES       in one kind of block
/% ?fit/                              a regular expression, found anywhere in a name, without case
*                                     any name
Transactions > Ended || Enclaves > Ended      one place or the other
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

_BLOCK = re.compile(r"([a-z_]+): ")
_KEEP = re.compile(r"[^A-Z0-9%/#]+")


@lru_cache(maxsize=4096)
def key(name: str | None) -> str:
    """An XML name normalised for comparison: single blanks between words, case folded."""
    return " ".join((name or "").split()).casefold()


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """A printed name normalised for comparison: only letters, digits, ``%``, ``/`` and ``#``, case folded."""
    return _KEEP.sub("", name.upper())


class Words(NamedTuple):
    """A level of an address: its spellings in order of preference, or a pattern."""

    spellings: tuple[str, ...]
    pattern: re.Pattern[str] | None

    def within(self, names: Iterable[str | None]) -> Iterator[int]:
        """Positions of matching names, those with the preferred spelling first."""
        keys = [key(name) for name in names]
        if self.pattern is not None:
            yield from (position for position, name in enumerate(keys) if self.pattern.search(name))
            return
        for spelling in self.spellings:
            yield from (position for position, name in enumerate(keys) if name == spelling)


class Address(NamedTuple):
    """A location: the kind of block (empty if any), and the words from the outermost to the innermost."""

    block: str
    levels: tuple[Words, ...]
    printed: tuple[tuple[str, ...], ...]

    def expression(self, level: int) -> str:
        """A level as a regular expression for the printed text."""
        pattern = self.levels[level].pattern
        return pattern.pattern if pattern is not None else "|".join(map(re.escape, self.printed[level]))

    def folded(self) -> Iterator[tuple[str, ...]]:
        """Every spelling of the words, folded."""
        return product(*(map(fold, spellings) for spellings in self.printed))


def addresses(cell: str) -> tuple[Address, ...]:
    """The locations in a cell of the catalogue.

    Raises
    ------
    re.error
        An invalid regular expression.
    """
    return tuple(_address(part.strip()) for part in cell.split(" || ") if part.strip())


def _address(text: str) -> Address:
    block = _BLOCK.match(text)
    levels = text[block.end() if block else 0 :].split(" > ")
    printed = tuple(tuple(word.strip() for word in level.split(";") if word.strip()) for level in levels)
    words = (_words(level.strip(), spellings) for level, spellings in zip(levels, printed, strict=True))
    return Address(block[1] if block else "", tuple(words), printed)


def _words(level: str, spellings: tuple[str, ...]) -> Words:
    if level == "*":
        return Words((), re.compile(""))
    if len(level) > 2 and level[0] == level[-1] == "/":
        return Words((), re.compile(level[1:-1], re.IGNORECASE))
    return Words(tuple(map(key, spellings)), None)
