"""Two forms of a page's values compared, number by number; a difference names page, table, row and column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

_CLOSE = 1e-9
"""Relative difference of numbers that another version of the engine may have added in another order."""

_LISTED = 20

#: What an entry of a list is called; an entry of another list is called as the list.
_KINDS = {
    "sections": "page", "figures": "figure", "tables": "table", "rows": "row", "columns": "column",
    "charts": "chart", "xy_charts": "chart", "heat_maps": "heat map", "series": "series", "alerts": "alert",
    "notes": "note", "fired": "finding", "passed": "rule that holds", "not_checked": "rule not checked",
}  # fmt: skip

#: Keys whose text names an entry, the first that it has.
_NAMES = ("title", "rule", "name", "column", "what", "text")

#: Texts of a row that name it, at most.
_ROW_NAMES = 4
_LONGEST = 60


class _Absent:
    """Stands for a value that one side does not have."""

    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


@dataclass(frozen=True)
class Difference:
    """A value of a page that its records do not give.

    Attributes
    ----------
    place : str
        Page, table, row and column.
    page, records : str
        The value of the page, and the one computed from the records; ``nothing`` where there is none.
    definition : str
        Id of the definition of the number; empty where it has none.
    is_number : bool
        Whether the records give a number, in the base unit of its definition.
    """

    place: str
    page: str
    records: str
    definition: str = ""
    is_number: bool = False


@dataclass
class Compared:
    """Result of a comparison.

    Attributes
    ----------
    numbers, texts : int
        Values compared: numbers, and all others.
    differing : int
        How many differ.
    differences : list of Difference
        The first of them.
    """

    numbers: int = 0
    texts: int = 0
    differing: int = 0
    differences: list[Difference] = field(default_factory=list)


@dataclass(frozen=True)
class _At:
    """A place in a page: words for it, the list that it is in, and the definition of the numbers there."""

    words: tuple[str, ...] = ()
    definition: str = ""

    def inner(self, *words: str, definition: str | None = None) -> _At:
        return _At((*self.words, *words), self.definition if definition is None else definition)


def compared(page: Any, records: Any) -> Compared:
    """Compare the values of a page with those computed from its records.

    Parameters
    ----------
    page, records
        Values of JSON. The first may be of any shape.
    """
    result = Compared()
    _compare(result, page, records, _At())
    return result


def _compare(result: Compared, page: Any, records: Any, at: _At) -> None:
    if isinstance(page, dict) and isinstance(records, dict):
        definition = records.get("definition")
        here = at.inner(definition=definition) if isinstance(definition, str) else at
        for key in dict.fromkeys((*records, *page)):
            _compare_key(result, key, page, records, here)
    elif isinstance(page, list) and isinstance(records, list):
        for number, pair in enumerate(zip_longest(page, records, fillvalue=_ABSENT), start=1):
            _compare(result, *pair, at.inner(str(number)))
    else:
        _compare_value(result, page, records, at)


def _compare_key(result: Compared, key: str, page: Mapping[str, Any], records: Mapping[str, Any], at: _At) -> None:
    said, given = page.get(key, _ABSENT), records.get(key, _ABSENT)
    if not isinstance(said, list) or not isinstance(given, list):
        # Pages stand in their list; of all else the key says what it is.
        _compare(result, said, given, at.inner(key.replace("_", " ")))
        return
    times = records.get("times") if key == "series" else None
    columns = records.get("columns") if key == "rows" else None
    for number, pair in enumerate(zip_longest(said, given, fillvalue=_ABSENT), start=1):
        entry = pair[1] if pair[1] is not _ABSENT else pair[0]
        if columns is not None and all(isinstance(side, dict) for side in pair):
            _compare_row(result, pair, at.inner(f"row {number}{_row_name(entry, columns)}"), columns)
        elif times is not None and all(
            isinstance(side, dict) and isinstance(side.get("values"), list) for side in pair
        ):
            _compare_series(result, pair, at.inner(f"series {_name(entry) or number}"), times)
        else:
            kind = _KINDS.get(key, key.replace("_", " "))
            _compare(result, *pair, at.inner(f"{kind} {_name(entry) or number}"))


def _compare_row(result: Compared, pair: tuple[Any, Any], at: _At, columns: list[dict[str, Any]]) -> None:
    page, records = pair
    definitions = {column["name"]: column["definition"] for column in columns}
    for name in dict.fromkeys((*records, *page)):
        inner = at.inner(f"column {name}", definition=definitions.get(name) or "")
        _compare(result, page.get(name, _ABSENT), records.get(name, _ABSENT), inner)


def _compare_series(result: Compared, pair: tuple[Any, Any], at: _At, times: list[str]) -> None:
    page, records = pair
    for time, said, given in zip_longest(times, page["values"], records["values"], fillvalue=_ABSENT):
        _compare(result, said, given, at.inner(f"value at {time}"))
    page, records = ({key: value for key, value in side.items() if key != "values"} for side in pair)
    _compare(result, page, records, at)


def _compare_value(result: Compared, page: Any, records: Any, at: _At) -> None:
    if _is_number(records):
        result.numbers += 1
    else:
        result.texts += 1
    if not _equal(page, records):
        result.differing += 1
        if len(result.differences) < _LISTED:
            place = ", ".join(at.words) or "the page"
            result.differences.append(
                Difference(place, _shown(page), _shown(records), at.definition, _is_number(records))
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(page: Any, records: Any) -> bool:
    if _is_number(page) and _is_number(records):
        return page == records or math.isclose(page, records, rel_tol=_CLOSE, abs_tol=0.0)
    return type(page) is type(records) and bool(page == records)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _name(entry: Any) -> str:
    """Name of an entry of a list: its title, and its short name behind it."""
    if not isinstance(entry, dict):
        return ""
    texts = [entry[key] for key in _NAMES if isinstance(entry.get(key), str)]
    short = entry.get("id", entry.get("name"))
    title = _shown(texts[0]) if texts else ""
    return f"{title} ({short})" if isinstance(short, str) and title and short != title else title


def _row_name(row: Any, columns: list[dict[str, Any]]) -> str:
    if not isinstance(row, dict):
        return ""
    texts = [row.get(column["name"]) for column in columns if column.get("kind") in ("text", "time")]
    named = [text for text in texts if isinstance(text, str) and text][:_ROW_NAMES]
    return f" ({', '.join(map(_shown, named))})" if named else ""
