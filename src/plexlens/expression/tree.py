"""Expressions of rules, as a tree: what a condition, a cost or a place in a sentence is made of.

The language has numbers with a unit (``5 %``, ``200 us``, ``4 MiB``), texts (``'cache'``), names of facts, metrics,
keys and attributes, arithmetic, comparisons, ``in``, ``and``, ``or``, ``not`` and a few functions. It says nothing
about where the values come from; `plexlens.findings.translation` gives it a meaning over a grain.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LiteralUnit:
    """A unit that may follow a number: the base unit it stands for, and how many of it, or how many make one of it.

    A part is a divisor, not a fraction to multiply by: 70 % has to be the same number as 70 / 100.
    """

    symbol: str
    base: str
    times: float = 1.0
    parts: float = 1.0


#: Units that may follow a number, by symbol.
LITERAL_UNITS: dict[str, LiteralUnit] = {
    unit.symbol: unit
    for unit in (
        LiteralUnit("%", "fraction", parts=100.0),
        LiteralUnit("us", "s", parts=1e6),
        LiteralUnit("ms", "s", parts=1e3),
        LiteralUnit("s", "s"),
        LiteralUnit("min", "s", times=60.0),
        LiteralUnit("h", "s", times=3600.0),
        LiteralUnit("KiB", "bytes", times=1024.0),
        LiteralUnit("MiB", "bytes", times=1024.0**2),
        LiteralUnit("GiB", "bytes", times=1024.0**3),
    )
}


@dataclass(frozen=True)
class Number:
    """A number, with the unit that was written after it."""

    value: float
    unit: LiteralUnit | None
    at: int

    @property
    def in_base(self) -> float:
        """The number in the base unit of its unit."""
        return self.value * self.unit.times / self.unit.parts if self.unit is not None else self.value


@dataclass(frozen=True)
class Text:
    """A text in quotes."""

    value: str
    at: int


@dataclass(frozen=True)
class Name:
    """A fact, metric, key or attribute."""

    name: str
    at: int


@dataclass(frozen=True)
class Unary:
    """``-`` or ``not`` before an operand."""

    operator: str
    operand: Expression
    at: int


@dataclass(frozen=True)
class Binary:
    """Two operands and ``+ - * / < <= > >= = != and or`` between them."""

    operator: str
    left: Expression
    right: Expression
    at: int


@dataclass(frozen=True)
class Among:
    """``operand in ('a', 'b')``."""

    operand: Expression
    values: tuple[Text, ...]
    at: int


@dataclass(frozen=True)
class Call:
    """A function and its arguments."""

    function: str
    arguments: tuple[Expression, ...]
    at: int


Expression = Number | Text | Name | Unary | Binary | Among | Call
"""A tree of the above; ``at`` is the place in the text, from 1, for messages."""


def operands_of(expression: Expression) -> tuple[Expression, ...]:
    """What an expression is made of, one level down."""
    if isinstance(expression, Unary | Among):
        return (expression.operand,)
    if isinstance(expression, Binary):
        return (expression.left, expression.right)
    return expression.arguments if isinstance(expression, Call) else ()


def names_of(expression: Expression) -> frozenset[str]:
    """Every name in an expression."""
    names = set()
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        waiting += operands_of(one)
        if isinstance(one, Name):
            names.add(one.name)
    return frozenset(names)
