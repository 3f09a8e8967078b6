"""Formulas of studies, and their values over printed numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

from plexlens.compare.numbers.quantity import Quantity, exact, total
from plexlens.expression import Binary, Call, Expression, Name, Number, Unary, operands_of, words_of

Argument = Quantity | list[Quantity]


@dataclass(frozen=True)
class Formula:
    """Derivation of a column from others.

    Parameters
    ----------
    name, title
        What a study names it by, and what a report calls it.
    unit
        Unit of the result; empty for that of the arguments.
    expression
        The formula, over the names of the arguments.
    singles, lists
        Names of the arguments that are one number, and of those that are any number of them.
    source
        Study and table, or manual, that defines it.
    scope
        Scope of the arguments, such as "each per second" or "of the same work".
    note
        What the reader has to know of the result.
    """

    name: str
    title: str
    unit: str
    expression: Expression
    singles: tuple[str, ...]
    lists: tuple[str, ...]
    source: str
    scope: str = ""
    note: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of all arguments."""
        return self.singles + self.lists

    @cached_property
    def text(self) -> str:
        """The formula in words and symbols with the names of the arguments, its scope and its note."""
        scope = f", {self.scope}" if self.scope else ""
        note = f": {self.note}" if self.note else ""
        return f"{words_of(self.expression, str)}{scope}{note}"

    def worked(self, numbers: Mapping[str, Sequence[str]]) -> str:
        """The formula with numbers in place of the argument names."""
        return words_of(self.expression, lambda name: numbers[name] if name in self.lists else numbers[name][0])

    def __call__(self, arguments: Mapping[str, Argument]) -> Quantity:
        """The result.

        Raises
        ------
        UndefinedError
            A divisor is zero or may be zero within its rounding.
        ValueError
            Two lists of different length are multiplied, or the largest of no numbers is asked for.
        """
        quantity: Quantity = _value(self.expression, arguments)
        return quantity


def _value(expression: Expression, arguments: Mapping[str, Argument]) -> Any:
    """The value of a tree over quantities: a number with its bounds, or a list of such numbers."""
    if isinstance(expression, Name):
        return arguments[expression.name]
    if isinstance(expression, Number):
        return exact(_fraction(expression))
    operands = []
    for operand in operands_of(expression):
        operands.append(_value(operand, arguments))
    if isinstance(expression, Unary):
        return exact(0) - operands[0]
    if isinstance(expression, Binary):
        return OPERATORS[expression.operator](*operands)
    assert isinstance(expression, Call)
    return CALLS[expression.function](*operands)


def _fraction(number: Number) -> Fraction:
    """The number exactly as written: 0.1 is a tenth, not the nearest double."""
    plain = Fraction(repr(number.value))
    return plain if number.unit is None else plain * Fraction(number.unit.times) / Fraction(number.unit.parts)


def _largest(values: Sequence[Quantity], pick: Callable[..., Fraction] = max) -> Quantity:
    if not values:
        raise ValueError("no number is given")
    return Quantity(
        pick(value.value for value in values), pick(value.low for value in values), pick(value.high for value in values)
    )


def _smallest(values: Sequence[Quantity]) -> Quantity:
    return _largest(values, min)


def _ceiling(quantity: Quantity) -> Quantity:
    value, low, high = (Fraction(math.ceil(end)) for end in (quantity.value, quantity.low, quantity.high))
    return Quantity(value, low, high)


def _sum_of_products(first: Sequence[Quantity], second: Sequence[Quantity]) -> Quantity:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} numbers are multiplied with {len(second)}")
    return total(a * b for a, b in zip(first, second, strict=True))


#: What printed numbers can be put into; a print is never null, and no condition is certain of a rounded number.
OPERATORS: dict[str, Callable[..., Quantity]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
CALLS: dict[str, Callable[..., Quantity]] = {
    "greatest": lambda *values: _largest(values),
    "least": lambda *values: _smallest(values),
    "ceiling": _ceiling,
    "sum": total,
    "product": lambda values: reduce(operator.mul, values, exact(1)),
    "count": lambda values: exact(len(values)),
    "largest": _largest,
    "smallest": _smallest,
    "sum_of_products": _sum_of_products,
}
