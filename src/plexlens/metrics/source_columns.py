"""Columns of the last select in a source's SQL, and that SQL without the columns that are not read.

Each column of a statement costs, in every step that hands it on, as much as a row of a small table. SQL is cut only
where its text alone says that nothing else changes: no set operation, no `distinct`, no grouping by all columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

#: SQL texts whose names are kept: a comparison makes the same select for each of its databases.
TEXTS = 512

#: A comment, a text, a name or number, a bracket or comma.
_TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|\w+|[(),*]")
#: Words that make rows depend on which columns there are.
_WHOLE_ROWS = frozenset({"union", "intersect", "except", "distinct", "unpivot", "pivot", "columns", "all", "qualify"})
_STAR = re.compile(r"(?:\bselect|,)\s*(?:\w+\.)?\*", re.IGNORECASE)
_NAMED = re.compile(r"\bas\s+\"?(\w+)\"?\s*\Z", re.IGNORECASE)
_PLAIN = re.compile(r"\A(?:\w+\.)?\"?(\w+)\"?\Z")


@dataclass(frozen=True)
class _Item:
    """A column of a select list: where its text stands, its name in small letters (empty: not told), words in it."""

    start: int
    end: int
    name: str
    words: tuple[str, ...]


def columns_given(sql: str) -> frozenset[str] | None:
    """Names of the columns of the last select; None if its text does not show them."""
    items = _items(sql)
    return frozenset(item.name for item in items) if items and all(item.name for item in items) else None


def takes_whole_rows(sql: str) -> bool:
    """Whether SQL hands all columns of a relation to something that depends on which there are."""
    return _STAR.search(sql) is not None and not _WHOLE_ROWS.isdisjoint(_words(sql))


def pruned(sql: str, wanted: Collection[str]) -> str:
    """The SQL without those columns of its last select that are not wanted, and that it does not name itself.

    Parameters
    ----------
    sql
        A select, with or without common table expressions.
    wanted
        Names of columns in small letters, and of all else that what reads the rows names.
    """
    items = _items(sql)
    words: dict[str, int] = {}
    for token in _words(sql):
        words[token] = words.get(token, 0) + 1
    if not items or _WHOLE_ROWS & words.keys():
        return sql
    # A name that stands elsewhere in the text may mean the column by its new name.
    kept = [
        item for item in items if not item.name or item.name in wanted or words[item.name] > item.words.count(item.name)
    ]
    if len(kept) == len(items):
        return sql
    listed = ",\n".join(sql[item.start : item.end].strip() for item in kept or items[:1])
    return f"{sql[: items[0].start]} {listed}\n{sql[items[-1].end :].lstrip()}"


@lru_cache(TEXTS)
def _words(sql: str) -> tuple[str, ...]:
    """Names in SQL, in lower case, without comments and texts."""
    return tuple(token[0].strip('"').lower() for token in _TOKEN.finditer(sql) if token[0][0] not in "-'(),*")


@lru_cache(TEXTS)
def _items(sql: str) -> tuple[_Item, ...]:
    """The list of the last select that stands in no bracket; nothing where there are several, or it has no `from`."""
    depth, start, selects = 0, None, 0
    items: list[_Item] = []
    for token in _TOKEN.finditer(sql):
        word = token[0].lower()
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        elif depth:
            continue
        elif word == "select":
            start, selects = token.end(), selects + 1
        elif start is not None and word in (",", "from"):
            items.append(_item(sql, start, token.start()))
            start = token.end() if word == "," else None
    return tuple(items) if selects == 1 and start is None else ()


def _item(sql: str, start: int, end: int) -> _Item:
    text = re.sub(r"--[^\n]*", "", sql[start:end]).strip()
    match = _NAMED.search(text) or _PLAIN.match(text)
    name = match[1].lower() if match else ""
    return _Item(start, end, name, _words(text))
