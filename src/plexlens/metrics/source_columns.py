"""Columns of the last select in a source's SQL, and that SQL without the columns that are not read.

Each column of a statement costs, in every step that hands it on, as much as a row of a small table. SQL is cut only
where its text alone says that nothing else changes: no set operation, no `distinct`, no grouping by all columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

#: SQL texts whose names are kept: a comparison makes the same select for each of its databases.
TEXTS = 512

#: A comment, a text, a name or number, a bracket or comma.
_TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"|\w+|[(),*]")
#: Words that make rows depend on which columns there are.
_WHOLE_ROWS = frozenset({"union", "intersect", "except", "distinct", "unpivot", "pivot", "columns", "all", "qualify"})
_COMMENT = re.compile(r"--[^\n]*")
_STAR = re.compile(r"(?:\bselect|,)\s*(?:\w+\.)?\*", re.IGNORECASE)
_NAMED = re.compile(r"\bas\s+\"?(\w+)\"?\s*\Z", re.IGNORECASE)
_PLAIN = re.compile(r"\A(?:\w+\.)?\"?(\w+)\"?\Z")
#: All columns of what is read, but for some.
_ALL = re.compile(r"\A\*(?:\s*exclude\s*\(([\w\s,]*)\))?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class _Item:
    """A column of a select list: where its text stands, its name in small letters (empty: not told), words in it."""

    start: int
    end: int
    name: str
    words: tuple[str, ...]


def columns_given(sql: str, relations: Mapping[str, str] | None = None) -> frozenset[str] | None:
    """Names of the columns of the last select; None if its text does not show them.

    Parameters
    ----------
    sql
        A select, with or without common table expressions.
    relations
        Selects that it may read, by name.
    """
    items = _items(sql)
    names: set[str] = set()
    for item in items:
        given = {item.name} if item.name else _of_star(sql, item, relations or {})
        if given is None:
            return None
        names |= given
    return frozenset(names) if items else None


def _of_star(sql: str, item: _Item, relations: Mapping[str, str]) -> frozenset[str] | None:
    """Columns that ``*`` stands for; None where the text does not show them."""
    star = _ALL.match(_COMMENT.sub("", sql[item.start : item.end]).strip())
    read = _read_from(sql, _items(sql)[-1].end)
    if star is None or read is None:
        return None
    known = dict(relations)
    for part in _parts(sql):
        # A part may read those before it.
        known[part.name] = sql[part.start : part.end]
    names: set[str] = set()
    for name in read:
        given = columns_given(known.pop(name), known) if name in known else None
        if given is None:
            return None
        names |= given
    return frozenset(names - {name.strip().lower() for name in (star[1] or "").split(",")})


def _read_from(sql: str, start: int) -> tuple[str, ...] | None:
    """Names after ``from``, which ends at ``start``, and after ``join``; None if it reads other rows too."""
    names, depth, awaited = [], 0, False
    for token in _TOKEN.finditer(sql, start):
        word = token[0].lower()
        if word.startswith("--"):
            continue
        if awaited and word == "(":
            return None
        if awaited:
            names.append(word)
        depth += (word == "(") - (word == ")")
        if word == "," and not depth and len(names) == 1:
            # Of `from a, b` the second name is not seen.
            return None
        awaited = not depth and word in ("from", "join")
    return tuple(names)


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
    # What only the columns read that are gone now goes too.
    return pruned(f"{sql[: items[0].start]} {listed}\n{sql[items[-1].end :].lstrip()}", wanted)


def pruned_throughout(sql: str, wanted: Collection[str]) -> str:
    """The SQL without columns that are not wanted (`pruned`), and without those that it does not read of its parts."""
    sql = pruned(sql, wanted)
    for name in reversed([part.name for part in _parts(sql)]):
        part = next(part for part in _parts(sql) if part.name == name)
        # Only what comes behind a part can read it.
        before, own, after = sql[: part.start], sql[part.start : part.end], sql[part.end :]
        if not takes_whole_rows(after):
            sql = before + pruned(own, {*wanted, *_words(after)}) + after
    return sql


@dataclass(frozen=True)
class _Part:
    """A common table expression: its name, and where its select stands."""

    name: str
    start: int
    end: int


@lru_cache(TEXTS)
def _parts(sql: str) -> tuple[_Part, ...]:
    """The common table expressions of a select, in their order."""
    parts: list[_Part] = []
    depth, name, last, start = 0, "", "", 0
    for token in _TOKEN.finditer(sql):
        word = token[0].lower()
        if word.startswith("--"):
            continue
        if word == "(":
            if not depth:
                start = token.end()
            depth += 1
        elif word == ")":
            depth -= 1
            if not depth and name:
                parts.append(_Part(name, start, token.start()))
                name = ""
        elif not depth:
            if word == "select":
                break
            if word == "as":
                name = last
            elif word not in ("not", "materialized"):
                name, last = "", word
    return tuple(parts)


@lru_cache(TEXTS)
def _words(sql: str) -> tuple[str, ...]:
    """Names in SQL, in lower case, without comments and texts."""
    return tuple([token.strip('"').lower() for token in _TOKEN.findall(sql) if token[0] not in "-'(),*"])


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
    text = _COMMENT.sub("", sql[start:end]).strip()
    match = _NAMED.search(text) or _PLAIN.match(text)
    name = match[1].lower() if match else ""
    return _Item(start, end, name, _words(text))
