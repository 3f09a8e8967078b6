"""An expression as an Ibis expression over the columns of a grain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis

from plexlens.expression.tree import Among, Call, Expression, Name, Null, Number, Text, Unary, operands_of
from plexlens.metrics.expressions import standard_deviation, total


def translate(expression: Expression, column: Callable[[str], Any]) -> Any:
    """The Ibis expression; ``column`` gives the Ibis column of a name.

    A ratio with a zero denominator is null, as in metrics.
    """
    if isinstance(expression, Number | Text | Null):
        return _literal(expression)
    if isinstance(expression, Name):
        return column(expression.name)
    if isinstance(expression, Among):
        return translate(expression.operand, column).isin([one.value for one in expression.values])
    if isinstance(expression, Unary):
        operand = translate(expression.operand, column)
        return ~operand if expression.operator == "not" else -operand
    operands = [translate(one, column) for one in operands_of(expression)]
    return _MEANING[expression.function if isinstance(expression, Call) else expression.operator](*operands)


def _literal(one: Number | Text | Null) -> Any:
    if isinstance(one, Null):
        return ibis.null("float64")
    return ibis.literal(one.in_base, "float64") if isinstance(one, Number) else ibis.literal(one.value, "string")


_MEANING: dict[str, Callable[..., Any]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b.nullif(0.0),
    "known": lambda a: a.notnull(),
    "contains": lambda a, b: a.contains(b),
    "starts": lambda a, b: a.startswith(b),
    "greatest": ibis.greatest,
    "least": ibis.least,
    "total": total,
    "coalesce": ibis.coalesce,
    "if": lambda holds, then, otherwise=None: ibis.ifelse(
        holds, then, ibis.null("float64") if otherwise is None else otherwise
    ),
    "sqrt": lambda a: ibis.ifelse(a >= 0, a, ibis.null("float64")).sqrt(),
    "deviation": standard_deviation,
}
