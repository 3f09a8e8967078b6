"""Conditional assembly: substitution of variable symbols, and SETA, SETB, SETC and AIF expressions."""

from __future__ import annotations

import re
from typing import Protocol

from plexlens.dsect.expressions import quotient
from plexlens.dsect.fault import FaultError
from plexlens.dsect.statements import closing, split_list
from plexlens.dsect.terms import SYMBOL, bounded, self_defining

#: The longest text that a variable or a generated field can have.
LONGEST = 4096
_DEEPEST = 40
_VARIABLE = re.compile(r"&([A-Za-z$#@_][A-Za-z0-9$#@_]{0,61})")
_STRING = re.compile(r"'((?:[^']|'')*)'")
_ATTRIBUTE = re.compile(r"([KNTLDISO])'", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_RELATIONS = frozenset({"EQ", "NE", "LT", "GT", "LE", "GE"})
_JOINING = ("XOR", "OR", "AND")

#: A value: SETA and SETB give numbers, SETC and operands text.
Term = int | str


class Scope(Protocol):
    """Attributes and values that expressions request from the enclosing macro or open code."""

    def value(self, name: str, subscripts: list[int]) -> Term:
        """Value of a variable symbol."""

    def takes_subscripts(self, name: str) -> bool:
        """Whether a parenthesis after the variable is its subscript."""

    def attribute(self, letter: str, name: str, subscripts: list[int]) -> Term:
        """Attribute of a variable symbol."""

    def symbol_attribute(self, letter: str, name: str) -> Term:
        """Attribute of an ordinary symbol."""

    def symbol_value(self, name: str) -> Term:
        """Value of an ordinary symbol."""


def substitute(text: str, scope: Scope) -> str:
    """The text with variable symbols replaced by their values.

    Raises
    ------
    FaultError
        A variable that is not defined, or a value too long.
    """
    if "&" not in text:
        return text
    done: list[str] = []
    at = 0
    while at < len(text):
        ampersand = text.find("&", at)
        if ampersand < 0:
            break
        done.append(text[at:ampersand])
        if text[ampersand + 1 : ampersand + 2] == "&":
            done.append("&&")
            at = ampersand + 2
            continue
        name, subscripts, at = _reference(text, ampersand, scope)
        done.append(str(scope.value(name, subscripts)))
        if text[at : at + 1] == ".":
            at += 1
    done.append(text[at:])
    whole = "".join(done)
    if len(whole) > LONGEST:
        raise FaultError(f"a generated text is longer than {LONGEST} characters", "check the loop that builds it")
    return whole


def _reference(text: str, at: int, scope: Scope) -> tuple[str, list[int], int]:
    """The variable reference at this position: name, subscripts, and its end."""
    match = _VARIABLE.match(text, at)
    if not match:
        raise FaultError(
            f"`{text[at : at + 20]}` is not a variable symbol", "created symbols, &(...), are not supported"
        )
    name = match[1].upper()
    end = match.end()
    if text[end : end + 1] != "(" or not scope.takes_subscripts(name):
        return name, [], end
    close = closing(text, end)
    if close < 0:
        raise FaultError(f"the subscript of &{name} is not closed", "close the parenthesis")
    return name, [arithmetic(part, scope) for part in split_list(text[end + 1 : close])], close + 1


def arithmetic(text: str, scope: Scope) -> int:
    """Value of a SETA expression; raises `FaultError`."""
    return as_number(_Parser(text, scope, logical=False).whole())


def logical(text: str, scope: Scope) -> bool:
    """Value of a SETB or AIF expression; raises `FaultError`."""
    return as_number(_Parser(text, scope, logical=True).whole()) != 0


def character(text: str, scope: Scope) -> str:
    """Value of a SETC expression; raises `FaultError`."""
    return str(_Parser(text, scope, logical=False).whole())


def as_number(term: Term) -> int:
    """The numeric value of a term, or the number that its text represents."""
    if isinstance(term, int):
        return term
    text = term.strip()
    sign = -1 if text.startswith("-") else 1
    known = self_defining(text, 1 if text[:1] in ("-", "+") else 0) if text else None
    if not known or known[1] != len(text):
        raise FaultError(f"{term!r} is not a number", "compare texts between apostrophes")
    return sign * known[0]


class _Parser:
    """Recursive descent; logical and arithmetic operators by their priority, XOR lowest."""

    def __init__(self, text: str, scope: Scope, *, logical: bool) -> None:
        self._text = text
        self._scope = scope
        self._logical = logical
        self._at = 0
        self._depth = 0

    def whole(self) -> Term:
        term = self._joined(0)
        self._blanks()
        if self._at != len(self._text):
            self._refuse()
        return term

    def _refuse(self) -> None:
        rest = self._text[self._at : self._at + 20] or "its end"
        raise FaultError(
            f"`{self._text[:60]}`: cannot be parsed from `{rest}` on",
            "this form of conditional assembly is not supported; give the statements that the macro generates instead",
        )

    def _blanks(self) -> None:
        while self._text[self._at : self._at + 1] == " ":
            self._at += 1

    def _word(self) -> str:
        """The operator at this position; empty if none."""
        self._blanks()
        match = _WORD.match(self._text, self._at)
        if not match or (self._text[match.end() : match.end() + 1] == "'" and match[0].upper() not in _OPERATORS):
            return ""
        return match[0].upper()

    def _joined(self, level: int) -> Term:
        if level == len(_JOINING):
            return self._negated()
        term = self._joined(level + 1)
        while self._word() == _JOINING[level]:
            self._at += len(_JOINING[level])
            left, right = as_number(term), as_number(self._joined(level + 1))
            if self._logical:
                left, right = int(left != 0), int(right != 0)
            term = {"XOR": left ^ right, "OR": left | right, "AND": left & right}[_JOINING[level]]
        return term

    def _negated(self) -> Term:
        if self._word() != "NOT":
            return self._related()
        self._deeper()
        self._at += 3
        number = as_number(self._negated())
        self._depth -= 1
        return int(number == 0) if self._logical else ~number

    def _related(self) -> Term:
        left = self._sum()
        relation = self._word()
        if relation not in _RELATIONS:
            return left
        self._at += 2
        order = _compare(left, self._sum())
        holds = {
            "EQ": order == 0,
            "NE": order != 0,
            "LT": order < 0,
            "GT": order > 0,
            "LE": order <= 0,
            "GE": order >= 0,
        }
        return int(holds[relation])

    def _sum(self) -> Term:
        term = self._product()
        while True:
            self._blanks()
            operator = self._text[self._at : self._at + 1]
            if operator not in ("+", "-"):
                return term
            self._at += 1
            other = as_number(self._product())
            term = bounded(as_number(term) + (other if operator == "+" else -other))

    def _product(self) -> Term:
        term = self._signed()
        while True:
            self._blanks()
            operator = self._text[self._at : self._at + 1]
            if operator not in ("*", "/"):
                return term
            self._at += 1
            left, right = as_number(term), as_number(self._signed())
            term = bounded(left * right if operator == "*" else quotient(left, right))

    def _signed(self) -> Term:
        self._blanks()
        negative = signed = False
        while self._text[self._at : self._at + 1] in ("+", "-"):
            negative ^= self._text[self._at] == "-"
            signed = True
            self._at += 1
        term = self._term()
        return (-1 if negative else 1) * as_number(term) if signed else term

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FaultError(f"the expression nests more than {_DEEPEST} deep", "simplify it")

    def _term(self) -> Term:
        self._blanks()
        start = self._text[self._at : self._at + 1]
        if start == "'":
            return self._concatenated(1)
        if start == "(":
            return self._parenthesis()
        if start == "&":
            name, subscripts, self._at = _reference(self._text, self._at, self._scope)
            term = self._scope.value(name, subscripts)
            if self._text[self._at : self._at + 1] == ".":
                self._at += 1
            return term
        attribute = _ATTRIBUTE.match(self._text, self._at)
        if attribute and (attribute[1].upper() != "T" or self._text[attribute.end() : attribute.end() + 1]):
            return self._attribute(attribute)
        known = self_defining(self._text, self._at) if start else None
        if known:
            self._at = known[1]
            return known[0]
        return self._named()

    def _named(self) -> Term:
        """A function of a text, or an ordinary symbol."""
        word = self._word()
        if word in ("UPPER", "LOWER"):
            self._at += len(word)
            text = str(self._term())
            return text.upper() if word == "UPPER" else text.lower()
        symbol = SYMBOL.match(self._text, self._at)
        if not symbol or self._text[symbol.end() : symbol.end() + 1] in ("'", "("):
            self._refuse()
            raise AssertionError
        self._at = symbol.end()
        return self._scope.symbol_value(symbol[0].upper())

    def _parenthesis(self) -> Term:
        self._deeper()
        self._at += 1
        term = self._joined(0)
        word = self._word()
        if word in ("INDEX", "FIND"):
            self._at += len(word)
            term = _found(word, str(term), str(self._term()))
        self._blanks()
        if self._text[self._at : self._at + 1] != ")":
            self._refuse()
        self._at += 1
        self._depth -= 1
        if self._text[self._at : self._at + 1] == "'":
            return self._concatenated(as_number(term))
        return term

    def _concatenated(self, times: int) -> str:
        """Concatenated strings, each with its substring notation; the first is repeated ``times`` times."""
        whole = ""
        while True:
            match = _STRING.match(self._text, self._at)
            if not match:
                self._refuse()
                raise AssertionError
            self._at = match.end()
            text = substitute(match[1], self._scope).replace("''", "'")
            text = self._substring(text)
            if times < 0 or len(whole) + len(text) * times > LONGEST:
                raise FaultError(
                    f"a text of {times} times {len(text)} characters", f"{LONGEST} characters are the most"
                )
            whole += text * times
            times = 1
            dot = self._text[self._at : self._at + 1] == "."
            if self._text[self._at + dot : self._at + dot + 1] != "'":
                return whole
            self._at += dot

    def _substring(self, text: str) -> str:
        if self._text[self._at : self._at + 1] != "(":
            return text
        close = closing(self._text, self._at)
        parts = split_list(self._text[self._at + 1 : close]) if close > 0 else []
        if len(parts) != 2:
            self._refuse()
        self._at = close + 1
        first = arithmetic(parts[0], self._scope)
        size = len(text) if parts[1].strip() == "*" else arithmetic(parts[1], self._scope)
        return text[first - 1 : first - 1 + size] if first >= 1 and size >= 1 else ""

    def _attribute(self, match: re.Match[str]) -> Term:
        letter = match[1].upper()
        self._at = match.end()
        if self._text[self._at : self._at + 1] == "&":
            name, subscripts, self._at = _reference(self._text, self._at, self._scope)
            return self._scope.attribute(letter, name, subscripts)
        symbol = SYMBOL.match(self._text, self._at)
        if not symbol:
            self._refuse()
            raise AssertionError
        self._at = symbol.end()
        return self._scope.symbol_attribute(letter, symbol[0].upper())


_OPERATORS = _RELATIONS | set(_JOINING) | {"NOT", "INDEX", "FIND"}


def _compare(left: Term, right: Term) -> int:
    """Order of two values: below zero, zero, above. A shorter text is less than a longer one."""
    if isinstance(left, int) or isinstance(right, int):
        first, second = as_number(left), as_number(right)
        return (first > second) - (first < second)
    left_key, right_key = ((len(text), text.encode("cp037", "replace")) for text in (left, right))
    return (left_key > right_key) - (left_key < right_key)


def _found(word: str, text: str, sought: str) -> int:
    if word == "INDEX":
        return text.find(sought) + 1
    return min((text.find(first) + 1 for first in sought if first in text), default=0)
