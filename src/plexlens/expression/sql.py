"""From a tree to SQL, in DuckDB's dialect; sqlglot prints it in others.

Every column of a number is DOUBLE, and so is every literal: a decimal or whole number would make other arithmetic of
it. What has no value is null; a ratio with a zero denominator is, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from plexlens.expression.error import wrong
from plexlens.expression.percentile import share_and_bounds, wanted_part
from plexlens.expression.piece import LEVELS, Level, Piece, sides
from plexlens.expression.text import digits_of, quoted
from plexlens.expression.tree import (
    LIST_FUNCTIONS,
    Among,
    Binary,
    Call,
    Expression,
    Name,
    Null,
    Number,
    Text,
    Unary,
)

#: A decimal literal with at most this number of digits gives the nearest double; longer literals get an exponent.
_EXACT_DIGITS = 15


def sql_of(expression: Expression, column: Callable[[str], str]) -> str:
    """The SQL of an expression; ``column`` gives the SQL of a name.

    Raises
    ------
    ExpressionError
        The SQL would be far longer than that of any formula; or the formula is one of lists, which no row has.
    """
    return _Sql(column).piece(expression).text


class _Sql:
    def __init__(self, column: Callable[[str], str]) -> None:
        self.column = column

    def piece(self, expression: Expression) -> Piece:
        if isinstance(expression, Binary):
            return self.binary(expression)
        if isinstance(expression, Unary):
            return self.unary(expression)
        if isinstance(expression, Call):
            if expression.function in LIST_FUNCTIONS:
                valid = "use total(x, y, ...), greatest(x, y, ...) or least(x, y, ...) of columns"
                raise wrong(f"{expression.function} needs a list, and a row has no list", valid, expression.at)
            return _CALLS[expression.function](self, expression.arguments)
        if isinstance(expression, Among):
            values = ", ".join(quoted(value.value) for value in expression.values)
            return Piece(f"{self.piece(expression.operand).at(Level.SUM)} in ({values})", Level.COMPARISON)
        return Piece(self.column(expression.name) if isinstance(expression, Name) else _literal(expression))

    def binary(self, binary: Binary) -> Piece:
        operator = binary.operator
        if operator == "/":
            return _ratio(self.piece(binary.left), self.divisor(binary.right))
        left, right = self.piece(binary.left), self.piece(binary.right)
        # Conditions are the same whichever of them are taken together.
        level = LEVELS[operator]
        first, second = (level, level) if operator in ("and", "or") else sides(operator)
        return Piece(f"{left.at(first)} {'<>' if operator == '!=' else operator} {right.at(second)}", level)

    def divisor(self, expression: Expression) -> Piece:
        piece = self.piece(expression)
        if isinstance(expression, Number) and expression.in_base:
            return piece
        return Piece(f"nullif({piece.text}, 0)")

    def unary(self, unary: Unary) -> Piece:
        inner = unary.operand
        if unary.operator == "-":
            return Piece(f"-{self.piece(inner).at(Level.VALUE)}", Level.SIGN)
        if isinstance(inner, Call) and inner.function == "known":
            return Piece(f"{self.piece(inner.arguments[0]).at(Level.VALUE)} is null", Level.COMPARISON)
        return Piece(f"not {self.piece(inner).at(Level.VALUE)}", Level.NOT)

    def known(self, arguments: Sequence[Expression]) -> Piece:
        return Piece(f"{self.piece(arguments[0]).at(Level.VALUE)} is not null", Level.COMPARISON)

    def called(self, function: str, arguments: Sequence[Expression]) -> Piece:
        parts = []
        for argument in arguments:
            parts.append(self.piece(argument).text)
        return Piece(f"{function}({', '.join(parts)})")

    def total(self, arguments: Sequence[Expression]) -> Piece:
        if len(arguments) == 1:
            return self.piece(arguments[0])
        known, added = self.added(arguments)
        return Piece(f"case when coalesce({', '.join(known)}) is not null then {added} end")

    def added(self, arguments: Sequence[Expression]) -> tuple[list[str], str]:
        """The possibly known operands of a total, and its sum with zeros for nulls; nested totals are flattened."""
        known: list[str] = []
        parts: list[str] = []
        for argument in arguments:
            if isinstance(argument, Call) and argument.function == "total":
                inner, added = self.added(argument.arguments)
                known += inner
                parts.append(f"({added})" if parts and len(inner) > 1 else added)
            else:
                known.append(self.piece(argument).text)
                parts.append(f"coalesce({known[-1]}, 0)")
        return known, " + ".join(parts)

    def choice(self, arguments: Sequence[Expression]) -> Piece:
        cases = []
        rest: Expression | None = Call("if", tuple(arguments))
        while isinstance(rest, Call) and rest.function == "if":
            condition, result, *others = rest.arguments
            cases.append(f"when {self.piece(condition).text} then {self.piece(result).text}")
            rest = others[0] if others else None
        otherwise = "" if rest is None or isinstance(rest, Null) else f" else {self.piece(rest).text}"
        return Piece(f"case {' '.join(cases)}{otherwise} end")

    def root(self, arguments: Sequence[Expression]) -> Piece:
        inner = self.piece(arguments[0])
        return Piece(f"sqrt(case when {inner.at(Level.SUM)} >= 0 then {inner.text} end)")

    def deviation(self, arguments: Sequence[Expression]) -> Piece:
        squares, values = self.piece(arguments[0]), self.piece(arguments[1])
        count = self.divisor(arguments[2])
        mean = _ratio(values, count)
        variance = f"{_ratio(squares, count).text} - {mean.text} * {mean.at(Level.SIGN)}"
        # Rounding of the recorded sums can take it below zero.
        return Piece(f"sqrt(case when {variance} < 0 then 0 else {variance} end)")

    def percentile(self, arguments: Sequence[Expression]) -> Piece:
        share, bounds = share_and_bounds(arguments)
        whole, largest = self.piece(arguments[1]), self.piece(arguments[2]).text
        least = f"{whole.at(Level.PRODUCT)} * {_double(wanted_part(share))}"
        counts = [self.piece(within).at(Level.SIGN) for within in arguments[4::2]]
        cases = [f"when {counts[0]} >= {least} then least({_double(bounds[0])}, {largest})"]
        for (low, high), (lower, within) in zip(pairwise(bounds), pairwise(counts), strict=True):
            before, start, is_last = f"coalesce({lower}, 0)", _double(low), f"{largest} <= {_double(high)}"
            step = f"case when {is_last} then greatest({largest}, {start}) / {start} else {_double(high / low)} end"
            between = f"{within} - {before} + case when {is_last} then 0 else 1 end"
            estimate = f"{start} * power({step}, (least(ceil({least}), {within}) - {before}) / ({between}))"
            cases.append(f"when {within} >= {least} then least({estimate}, case when {is_last} then {largest} end)")
        return Piece(f"case when {whole.at(Level.SUM)} > 0::double then case {' '.join(cases)} end end")


_CALLS: dict[str, Callable[[_Sql, Sequence[Expression]], Piece]] = {
    "known": _Sql.known,
    "contains": lambda sql, arguments: sql.called("contains", arguments),
    "starts": lambda sql, arguments: sql.called("starts_with", arguments),
    "greatest": lambda sql, arguments: sql.called("greatest", arguments),
    "least": lambda sql, arguments: sql.called("least", arguments),
    "coalesce": lambda sql, arguments: sql.called("coalesce", arguments),
    "total": _Sql.total,
    "if": _Sql.choice,
    "sqrt": _Sql.root,
    "deviation": _Sql.deviation,
    "ceiling": lambda sql, arguments: sql.called("ceil", arguments),
    "percentile": _Sql.percentile,
}


def _ratio(numerator: Piece, divisor: Piece) -> Piece:
    return Piece(f"{numerator.at(Level.PRODUCT)} / {divisor.at(Level.SIGN)}", Level.PRODUCT)


def _literal(literal: Number | Text | Null) -> str:
    if isinstance(literal, Text):
        return quoted(literal.value)
    if isinstance(literal, Null):
        return "null::double"
    return _double(literal.in_base)


def _double(value: float) -> str:
    digits = digits_of(value)
    if "e" not in digits and sum(map(str.isdigit, digits)) > _EXACT_DIGITS:
        digits += "e0"
    return f"{digits}::double"
