"""Ordinary assembler expressions: terms, arithmetic, relocatability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from plexlens.dsect.fault import FaultError
from plexlens.dsect.terms import SYMBOL, bounded, self_defining

_DEEPEST = 50


class UnresolvedError(Exception):
    """A symbol without a value yet.

    Attributes
    ----------
    symbol : str
        Its name.
    """

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        super().__init__(symbol)


@dataclass(frozen=True)
class Value:
    """A value of an expression or symbol.

    Attributes
    ----------
    number : int
        The value, or the offset in its section.
    section : str or None
        The section that it is relocatable in; None for an absolute value.
    length : int or None
        Length attribute: a symbol's own, an expression's that of its leftmost term; None while not known.
    """

    number: int
    section: str | None = None
    length: int | None = 1


@dataclass(frozen=True)
class _Sum:
    """A partial sum: a number, and the coefficient of each section's origin."""

    number: int
    origins: tuple[tuple[str, int], ...] = ()

    def plus(self, other: _Sum, sign: int) -> _Sum:
        counts = dict(self.origins)
        for section, count in other.origins:
            counts[section] = counts.get(section, 0) + sign * count
        kept = tuple((section, count) for section, count in counts.items() if count)
        return _Sum(bounded(self.number + sign * other.number), kept)


class Symbols(Protocol):
    """Symbol table queries of expressions; each raises `UnresolvedError`."""

    def value(self, name: str) -> Value:
        """Value of a symbol."""

    def length(self, name: str) -> int:
        """Length attribute of a symbol, which may be known before its value is."""


def evaluate(text: str, symbols: Symbols, here: Value | None) -> Value:
    """Evaluate an expression.

    Parameters
    ----------
    text
        The expression.
    symbols
        The symbol table.
    here
        The location counter; None while it is not known.

    Raises
    ------
    FaultError
        The text is not an expression, or its value is neither absolute nor relocatable in one section.
    UnresolvedError
        It needs a symbol, or the location counter, that has no value yet.
    """
    parser = _Parser(text, symbols, here)
    total = parser.whole()
    if not total.origins:
        return Value(total.number, None, parser.first_length)
    if len(total.origins) == 1 and total.origins[0][1] == 1:
        return Value(total.number, total.origins[0][0], parser.first_length)
    raise FaultError(
        f"`{text}` adds or subtracts addresses of different sections",
        "subtract only addresses of the same section",
    )


def evaluate_absolute(text: str, symbols: Symbols, here: Value | None) -> int:
    """Evaluate an expression that must be absolute; raises as `evaluate`."""
    value = evaluate(text, symbols, here)
    if value.section is not None:
        raise FaultError(f"`{text}` is an address where a number is needed", "subtract an address of the same section")
    return value.number


class _Parser:
    def __init__(self, text: str, symbols: Symbols, here: Value | None) -> None:
        self._text = text
        self._symbols = symbols
        self._here = here
        self._at = 0
        self._depth = 0
        self._terms = 0
        self.first_length: int | None = 1

    def whole(self) -> _Sum:
        total = self._sum()
        if self._at != len(self._text):
            self._refuse()
        return total

    def _refuse(self) -> None:
        rest = self._text[self._at : self._at + 20] or "its end"
        raise FaultError(
            f"`{self._text[:60]}` is not an expression: cannot be parsed from `{rest}` on", "check the operand"
        )

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _sum(self) -> _Sum:
        total = self._product()
        while self._peek() in ("+", "-"):
            sign = 1 if self._peek() == "+" else -1
            self._at += 1
            total = total.plus(self._product(), sign)
        return total

    def _product(self) -> _Sum:
        total = self._signed()
        while self._peek() in ("*", "/"):
            operator = self._peek()
            self._at += 1
            other = self._signed()
            if total.origins or other.origins:
                raise FaultError(f"`{self._text}` multiplies or divides an address", "use numbers, or differences")
            total = _Sum(
                bounded(total.number * other.number if operator == "*" else quotient(total.number, other.number))
            )
        return total

    def _signed(self) -> _Sum:
        sign = 1
        while self._peek() in ("+", "-"):
            sign = -sign if self._peek() == "-" else sign
            self._at += 1
        term = self._term()
        return term if sign == 1 else _Sum(0).plus(term, -1)

    def _term(self) -> _Sum:
        if self._peek() == "(":
            self._depth += 1
            if self._depth > _DEEPEST:
                raise FaultError(f"parentheses nest more than {_DEEPEST} deep", "simplify the expression")
            self._at += 1
            inner = self._sum()
            if self._peek() != ")":
                self._refuse()
            self._at += 1
            self._depth -= 1
            return inner
        self._terms += 1
        known = self_defining(self._text, self._at)
        if known:
            self._at = known[1]
            return _Sum(known[0])
        if self._peek() == "*":
            self._at += 1
            if self._here is None:
                raise UnresolvedError("*")
            return self._valued(self._here)
        if self._text[self._at : self._at + 2].upper() == "L'":
            self._at += 2
            return _Sum(self._symbols.length(self._symbol()))
        return self._valued(self._symbols.value(self._symbol()))

    def _symbol(self) -> str:
        match = SYMBOL.match(self._text, self._at)
        if not match:
            self._refuse()
            raise AssertionError
        self._at = match.end()
        return match[0].upper()

    def _valued(self, value: Value) -> _Sum:
        if self._terms == 1:
            self.first_length = value.length
        return _Sum(value.number, ((value.section, 1),) if value.section is not None else ())


def quotient(dividend: int, divisor: int) -> int:
    """Assembler division: the fraction is dropped; division by zero gives zero."""
    if divisor == 0:
        return 0
    size = abs(dividend) // abs(divisor)
    return size if (dividend < 0) == (divisor < 0) else -size
