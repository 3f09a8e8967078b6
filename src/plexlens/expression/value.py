"""The value of an expression in plain Python, with SQL's rules for nulls.

A NaN is a value, equal to itself and above every number, as DuckDB has it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from plexlens.expression.ordered import ordered
from plexlens.expression.percentile import percentile
from plexlens.expression.rounding import rounded_up
from plexlens.expression.tree import Among, Binary, Call, Expression, Name, Null, Number, Text, Unary, operands_of

Value = float | str | bool | None
"""A number, a text, whether a condition holds, or nothing."""


def value(expression: Expression, values: Mapping[str, float | str | Sequence[float | None] | None]) -> Value:
    """The value of an expression, given values by name and lists as sequences; None if it has no value.

    Raises
    ------
    KeyError
        A name without an entry.
    ValueError
        Two lists of different length are multiplied.
    """
    if isinstance(expression, Name):
        return values[expression.name]  # type: ignore[return-value]  # a list stands in functions of lists only
    if isinstance(expression, Number | Text | Null):
        return _literal(expression)
    operands = []
    for operand in operands_of(expression):
        operands.append(value(operand, values))
    if isinstance(expression, Call):
        return _CALLS[expression.function](*operands)
    if isinstance(expression, Binary) and expression.operator in _LOGIC:
        return _LOGIC[expression.operator](*operands)
    return None if None in operands else _of_known(expression, operands)


def _of_known(expression: Unary | Binary | Among, operands: list[Any]) -> Value:
    if isinstance(expression, Among):
        return any(operands[0] == choice.value for choice in expression.values)
    return (_UNARY if isinstance(expression, Unary) else _BINARY)[expression.operator](*operands)


def _literal(literal: Number | Text | Null) -> Value:
    if isinstance(literal, Null):
        return None
    return literal.in_base if isinstance(literal, Number) else literal.value


def variance(squares: float, values: float, count: float) -> float | None:
    """Mean of the squares minus the square of the mean; 0 if rounding makes it negative."""
    if count == 0:
        return None
    mean = values / count
    value = squares / count - mean * mean
    return 0.0 if ordered(value) < ordered(0.0) else value


def _both(left: Value, right: Value) -> Value:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _any(left: Value, right: Value) -> Value:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _total(*parts: Any) -> Value:
    if all(part is None for part in parts):
        return None
    result = 0.0 if parts[0] is None else parts[0]
    for part in parts[1:]:
        result += 0.0 if part is None else part
    return float(result)


def _root(value: Any) -> Value:
    return None if value is None or ordered(value) < ordered(0.0) else math.sqrt(value)


def _ceiling(value: Any) -> Value:
    return None if value is None else rounded_up(value)


def _of_list(function: Callable[..., float | None]) -> Callable[..., Value]:
    """A function of lists; it has no value if any number is missing."""

    def result(*lists: Sequence[float | None] | None) -> Value:
        return None if any(numbers is None or None in numbers for numbers in lists) else function(*lists)

    return result


def _sum(items: Sequence[float]) -> float:
    # Not Python's sum: that rounds otherwise than one + after the other, as do bounds.
    return reduce(operator.add, items, 0.0)


def _sum_of_products(first: Sequence[float], second: Sequence[float]) -> float:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} numbers are multiplied with {len(second)}")
    return _sum([a * b for a, b in zip(first, second, strict=True)])


def _deviation(*operands: Any) -> Value:
    value = None if None in operands else variance(*operands)
    return None if value is None else math.sqrt(value)


_LOGIC: dict[str, Callable[[Any, Any], Value]] = {"and": _both, "or": _any}

_UNARY: dict[str, Callable[[Any], Value]] = {"-": lambda a: -a, "not": lambda a: not a}

_BINARY: dict[str, Callable[[Any, Any], Value]] = {
    "<": lambda a, b: bool(ordered(a) < ordered(b)),
    "<=": lambda a, b: bool(ordered(a) <= ordered(b)),
    ">": lambda a, b: bool(ordered(a) > ordered(b)),
    ">=": lambda a, b: bool(ordered(a) >= ordered(b)),
    "=": lambda a, b: bool(ordered(a) == ordered(b)),
    "!=": lambda a, b: bool(ordered(a) != ordered(b)),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: None if b == 0 else a / b,
}

_CALLS: dict[str, Callable[..., Value]] = {
    "known": lambda a: a is not None,
    "contains": lambda a, b: None if a is None or b is None else b in a,
    "starts": lambda a, b: None if a is None or b is None else a.startswith(b),
    "greatest": lambda *parts: max((part for part in parts if part is not None), key=ordered, default=None),
    "least": lambda *parts: min((part for part in parts if part is not None), key=ordered, default=None),
    "total": _total,
    "coalesce": lambda *parts: next((part for part in parts if part is not None), None),
    "if": lambda holds, then, otherwise=None: then if holds else otherwise,
    "sqrt": _root,
    "deviation": _deviation,
    "ceiling": _ceiling,
    "sum": _of_list(_sum),
    "product": _of_list(lambda items: reduce(operator.mul, items, 1.0)),
    "count": lambda items: None if items is None else float(len(items)),
    "largest": _of_list(lambda items: max(items, key=ordered, default=None)),
    "smallest": _of_list(lambda items: min(items, key=ordered, default=None)),
    "sum_of_products": _of_list(_sum_of_products),
    "percentile": percentile,
}
