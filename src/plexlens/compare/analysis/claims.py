"""Statements of a study: findings with numbers from its tables, and claims compared with them.

A finding is a sentence with places for values; it is written only while the conditions that its words rest on hold. A
claim is a number printed in the text of a study; it agrees where some number that rounds to it lies within the bounds
of what the tables give.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from plexlens.compare.analysis.entries import Entry
from plexlens.compare.analysis.values import Value
from plexlens.compare.numbers.quantity import Quantity, UndefinedError, printed, shown
from plexlens.compare.study.model import Place

_CONDITION = re.compile(r"(?P<left>\S+) (?P<relation><=|>=|<|>) (?P<right>\S+)\Z")

#: How a printed number of a text may stand to the tables'.
RELATIONS = {
    "=": "is",
    "<": "is less than",
    ">": "is more than",
}


@dataclass(frozen=True)
class Finding:
    """A sentence with its numbers filled in.

    Attributes
    ----------
    text
        The sentence.
    worked
        How each number came about, in the order of the sentence's values.
    tables
        Ids of the tables that its numbers come from.
    """

    text: str
    worked: tuple[str, ...]
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A number in the text of a study, compared with its tables.

    Attributes
    ----------
    text
        What the study says, in our words.
    place
        Where it says so.
    relation
        One of `RELATIONS`: the tables' number is, or is less or more than, the printed one.
    text_number
        The number as printed.
    printed, computed
        The two with their bounds; ``computed`` is None where the tables do not give it.
    arithmetic
        How the tables' number came about, or why there is none.
    unit
        Unit of both.
    note
        What explains a disagreement.
    places
        The printed cells that it was held against.
    """

    text: str
    place: str
    relation: str
    text_number: str
    printed: Quantity
    computed: Quantity | None
    arithmetic: str
    unit: str
    note: str
    places: frozenset[Place] = frozenset()

    @property
    def agrees(self) -> bool:
        """Whether the tables confirm the claim; False if they do not give the number."""
        if self.computed is None:
            return False
        if self.relation == "<":
            return self.computed.low < self.printed.high
        if self.relation == ">":
            return self.computed.high > self.printed.low
        return self.printed.meets(self.computed)


def _named(entry: Entry) -> dict[str, Value]:
    content = entry.content.get("values", {})
    if not isinstance(content, dict):
        raise entry.wrong("values", "it is not a table", "write values = {name = ...}")
    named: dict[str, Value] = {}
    for name, spec in content.items():
        try:
            named[name] = entry.numbers.value(spec, f"{entry.where}, value {name!r}", named)
        except UndefinedError as error:
            raise entry.wrong(f"values.{name}", str(error), "name a cell that holds a number") from error
    return named


def read_finding(entry: Entry) -> Finding:
    """A finding from its ``[[findings]]`` entry.

    Raises
    ------
    StudyError
        A value is not there or rests on a cell that the audit rejects, or a condition of the sentence does not hold.
    """
    entry.only("text", "values", "holds")
    entry = replace(entry, numbers=entry.numbers.afresh())
    named = _named(entry)
    for condition in entry.texts("holds"):
        _check(entry, condition, named)
    numbers = {name: float(value.quantity.value) for name, value in named.items()}
    try:
        text = entry.text("text").format(**numbers)
    except (KeyError, IndexError, ValueError) as error:
        raise entry.wrong("text", f"a place in it cannot be filled: {error}", "name a value: {saving:.1f}") from error
    rejected = entry.numbers.audit.rejected
    for table, row, column in sorted(entry.numbers.read & rejected.keys()):
        raise entry.wrong(
            "values",
            f"row {row + 1}, {column!r} of table {table!r} is a cell that the audit rejects: "
            f"{rejected[table, row, column]}",
            "take what follows from other cells (computed = true), or other runs",
        )
    used = [name for name in named if f"{{{name}" in entry.text("text")]
    tables = {table for table, _, _ in entry.numbers.read}
    in_order = tuple(table for table in entry.numbers.audit.study.tables if table in tables)
    return Finding(text, tuple(named[name].worked for name in used), in_order)


def _check(entry: Entry, condition: str, named: Mapping[str, Value]) -> None:
    match = _CONDITION.match(condition)
    if match is None:
        raise entry.wrong("holds", f"{condition!r} is not a condition", 'write "saving > 0"')
    left, right = (
        entry.numbers.value(match[side], f"{entry.where}, key 'holds'", named).quantity.value
        for side in ("left", "right")
    )
    holds = {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[match["relation"]]
    if not holds:
        raise entry.wrong("holds", f"{condition} does not hold: {shown(left)} and {shown(right)}", "reword the finding")


def read_claim(entry: Entry) -> Claim:
    """A claim from its ``[[claims]]`` entry."""
    entry.only("text", "place", "relation", "printed", "unit", "values", "tables", "note", "cut")
    relation = entry.one_of("relation", tuple(RELATIONS), "=")
    number = entry.text("printed")
    try:
        quantity = printed(number, cut=bool(entry.content.get("cut", False)))
    except ValueError as error:
        raise entry.wrong("printed", str(error), "write the number as the text prints it") from error
    if quantity is None:
        raise entry.wrong("printed", "it is not a number", "write the number as the text prints it")
    result: Quantity | None = None
    entry = replace(entry, numbers=entry.numbers.afresh())
    try:
        value = entry.numbers.value(entry.content.get("tables"), f"{entry.where}, key 'tables'", _named(entry))
        result, arithmetic = value.quantity, value.worked
        if result.low != result.high:
            arithmetic += f" ({shown(result.low)} to {shown(result.high)})"
    except UndefinedError as error:
        arithmetic = f"not computed: {error}"
    return Claim(
        entry.text("text"), entry.text("place"), relation, number, quantity, result, arithmetic, entry.text("unit", ""),
        entry.text("note", ""), entry.numbers.read,
    )  # fmt: skip
