"""The printed formula of a metric, read as a reader would: names of fields and facts, numbers, + - x / and brackets.

Written from docs/metrics.md, which prints the formulas, and nothing of the program is used but its texts: the names and
titles of facts, the fields that each is made of, and the titles of metrics that a formula refers to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class NotAFormulaError(ValueError):
    """A text that is not arithmetic over facts; the message names the first part that cannot be read."""


@dataclass(frozen=True)
class Named:
    """A fact, by its texts: the name, the title, and the field or the arithmetic of fields that it is made of."""

    name: str
    title: str
    made_of: str


_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_UNIT = re.compile(r"\s+(kib|mib|h|µs|%)(?![\w/])")
_UNITS = {"kib": 1024.0, "mib": 1024.0**2, "h": 3600.0, "µs": 1e-6, "%": 0.01}
_FIELD = re.compile(r"[A-Z][A-Z0-9_]{3,}")
_OPERATORS = {"+": "+", "-": "-", "/": "/", "x": "*", "(": "(", ")": ")"}
_RECORD = re.compile(
    r"^(?:SMF \d+(?:-\d+)?(?: and \d+(?:-\d+)?)*(?: IFCID \d+(?: and \d+)*)?|RMF [A-Z]+)\s+", re.IGNORECASE
)


def field_of(source: str) -> str:
    """What a source text says after the name of the record: ``QBSTGET`` of ``SMF 100 IFCID 2 QBSTGET``."""
    return _RECORD.sub("", source).removesuffix(", time")


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("Σ", "").strip()).casefold()


class Formula:
    """A formula that can be worked out.

    Parameters
    ----------
    text
        As printed.
    facts
        The facts it may be about. Of two of the same name, those that come first count.
    words
        What other words of the text stand for: arithmetic over facts.

    Raises
    ------
    NotAFormulaError
        The text has words that are the name of nothing, or is not arithmetic.
    """

    def __init__(self, text: str, facts: Sequence[Named], words: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = {"interval": "interval_seconds", "interval length": "interval_seconds"}
        for way in (lambda f: f.name, lambda f: field_of(f.made_of), lambda f: f.title):
            for fact in facts:
                if name := _words(way(fact)):
                    self._names.setdefault(name, fact.name)
        # A field that one fact alone is made of, with something else.
        fields = [(field, fact.name) for fact in facts for field in set(_FIELD.findall(field_of(fact.made_of)))]
        made = Counter(field for field, _ in fields)
        for field, name in fields:
            if made[field] == 1:
                self._names.setdefault(_words(field), name)
        self._longest = sorted(self._names, key=len, reverse=True)
        text = _words(text)
        for word in sorted(words or {}, key=len, reverse=True):
            text = re.sub(rf"(?<![\w/-]){re.escape(_words(word))}(?![\w/-])", f"({(words or {})[word]})", text)
        self._tokens = list(self._split(text))
        self._place = 0
        self.facts: set[str] = set()
        self._tree = self._sum()
        if self._place < len(self._tokens):
            raise NotAFormulaError(self._tokens[self._place][1])

    def value(self, facts: Mapping[str, float]) -> float | None:
        """The value for these facts; None where something is divided by zero."""
        try:
            return float(_worked_out(self._tree, facts))
        except ZeroDivisionError:
            return None

    def _split(self, text: str) -> list[tuple[str, str]]:
        tokens = []
        while text := text.lstrip():
            name = next((n for n in self._longest if text.startswith(n) and _ends(text, len(n))), None)
            if name is not None:
                tokens.append(("name", self._names[name]))
                text = text[len(name) :]
            elif text[0] in _OPERATORS and (text[0] != "x" or _ends(text, 1)):
                tokens.append((_OPERATORS[text[0]], text[0]))
                text = text[1:]
            elif number := _NUMBER.match(text):
                value = float(number[0].replace(",", ""))
                text = text[number.end() :]
                if unit := _UNIT.match(text):
                    value *= _UNITS[unit[1]]
                    text = text[unit.end() :]
                tokens.append(("number", repr(value)))
            else:
                raise NotAFormulaError(text)
        return tokens

    def _next(self, *kinds: str) -> str | None:
        if self._place < len(self._tokens) and self._tokens[self._place][0] in kinds:
            self._place += 1
            return self._tokens[self._place - 1][0]
        return None

    def _sum(self) -> object:
        tree = self._product()
        while sign := self._next("+", "-"):
            tree = (sign, tree, self._product())
        return tree

    def _product(self) -> object:
        tree = self._atom()
        while sign := self._next("*", "/"):
            tree = (sign, tree, self._atom())
        return tree

    def _atom(self) -> object:
        kind = self._next("(", "name", "number")
        if kind is None:
            raise NotAFormulaError("end" if self._place >= len(self._tokens) else self._tokens[self._place][1])
        if kind == "(":
            tree = self._sum()
            if not self._next(")"):
                raise NotAFormulaError("(")
            return tree
        text = self._tokens[self._place - 1][1]
        if kind == "number":
            return float(text)
        self.facts.add(text)
        return text


def _ends(text: str, length: int) -> bool:
    """Whether a name ends there: no letter or digit follows."""
    return length == len(text) or not (text[length].isalnum() or text[length] in "_@#$")


def _worked_out(tree: object, facts: Mapping[str, float]) -> float:
    if isinstance(tree, float):
        return tree
    if isinstance(tree, str):
        return facts[tree]
    assert isinstance(tree, tuple)
    sign, first, second = tree[0], _worked_out(tree[1], facts), _worked_out(tree[2], facts)
    if sign == "+":
        return first + second
    if sign == "-":
        return first - second
    return first * second if sign == "*" else first / second
