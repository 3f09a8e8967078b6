"""What an expression means over a grain: which names it may use, whether its units agree, and its Ibis expression.

A number must be given in a unit where the column it meets is a fraction, a time or a size: ``5 %``, not ``5`` or
``0.05``. Only so does a threshold say what it is beside a metric that is kept in one unit and shown in another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import ibis

from plexlens.findings.error import wrong
from plexlens.findings.expression import (
    LITERAL_UNITS,
    Among,
    Binary,
    Call,
    Expression,
    Name,
    Number,
    Text,
    Unary,
    operands_of,
)
from plexlens.metrics.definition import Fact, Grain, Metric


class Kind(StrEnum):
    """What a value is."""

    NUMBER = "number"
    TEXT = "text"
    TRUTH = "condition"


@dataclass(frozen=True)
class Type:
    """Kind of a value, and of a number its base unit; an empty base agrees with every other."""

    kind: Kind
    base: str = ""


NUMBER, TEXT, TRUTH = Type(Kind.NUMBER), Type(Kind.TEXT), Type(Kind.TRUTH)

#: Base units in which a plain number other than 0 would not say what it means.
_NAMED_BASES = ("fraction", "s", "bytes", "s²")

#: Bases that all count something, and so may be compared.
_COUNTS = ("count", "processors", "frames", "slots", "pages", "ratio")

#: Functions, and what they do.
FUNCTIONS: dict[str, str] = {
    "known": "known(x): whether x has a value",
    "contains": "contains(text, 'part'): whether the text holds the part",
    "starts": "starts(text, 'part'): whether the text begins with the part",
    "greatest": "greatest(x, y, ...): the largest of the values that are there",
    "least": "least(x, y, ...): the smallest of the values that are there",
}


@dataclass(frozen=True)
class Scope:
    """The names that an expression may use.

    Parameters
    ----------
    what
        What they are names of, for messages.
    types
        Type of each name.
    """

    what: str
    types: Mapping[str, Type]

    @classmethod
    def numbers(cls, grain: Grain) -> Scope:
        """Facts and metrics of a grain: what stands in its rolled-up rows."""
        columns: tuple[Fact | Metric, ...] = (*grain.facts, *grain.metrics)
        return cls(
            f"a fact or metric of {grain.name}",
            {column.name: Type(Kind.NUMBER, column.unit.base) for column in columns},
        )

    @classmethod
    def rows(cls, grain: Grain) -> Scope:
        """Keys, attributes and facts of a grain: what stands in its rows before they are rolled up."""
        named = ("system", "sysplex", *(key.name for key in grain.keys), *(one.name for one in grain.attributes))
        return cls(
            f"a key, attribute or fact of {grain.name}",
            {fact.name: Type(Kind.NUMBER, fact.unit.base) for fact in grain.facts} | dict.fromkeys(named, TEXT),
        )


def type_of(expression: Expression, scope: Scope) -> Type:
    """The type of an expression.

    Raises
    ------
    RuleError
        A name or function that is not known, or values that do not go together.
    """
    if isinstance(expression, Number):
        return Type(Kind.NUMBER, expression.unit.base if expression.unit is not None else "")
    if isinstance(expression, Text):
        return TEXT
    if isinstance(expression, Name):
        if expression.name not in scope.types:
            valid = ", ".join(sorted(scope.types))
            raise wrong(f"character {expression.at}: {expression.name} is not {scope.what}", f"there are: {valid}")
        return scope.types[expression.name]
    operands = [(operand, type_of(operand, scope)) for operand in operands_of(expression)]
    return _CHECKS[type(expression)](expression, operands)


_Operands = list[tuple[Expression, Type]]


def condition(expression: Expression, scope: Scope) -> Expression:
    """The expression, checked to be a condition over the scope.

    Raises
    ------
    RuleError
        As `type_of`; or it is a number or text.
    """
    found = type_of(expression, scope)
    if found.kind is not Kind.TRUTH:
        raise wrong(f"it is a {found.kind}, not a condition", "compare it with something")
    return expression


def number(expression: Expression, scope: Scope) -> Expression:
    """The expression, checked to be a number over the scope.

    Raises
    ------
    RuleError
        As `type_of`; or it is a text or condition.
    """
    found = type_of(expression, scope)
    if found.kind is not Kind.NUMBER:
        raise wrong(f"it is a {found.kind}, not a number", "give facts, metrics and arithmetic")
    return expression


def _all_of(operands: _Operands, kind: Kind, where: str) -> None:
    """Refuse operands that are of another kind."""
    for operand, found in operands:
        if found.kind is not kind:
            raise wrong(
                f"character {operand.at}: a {kind} is expected {where}, and this is a {found.kind}",
                "correct the expression",
            )


def _unary(expression: Unary, operands: _Operands) -> Type:
    wanted = Kind.TRUTH if expression.operator == "not" else Kind.NUMBER
    _all_of(operands, wanted, f"after {expression.operator!r}")
    return operands[0][1]


def _among(expression: Among, operands: _Operands) -> Type:
    _all_of(operands, Kind.TEXT, "before 'in'")
    return TRUTH


def _call(call: Call, operands: _Operands) -> Type:
    name = call.function
    if name not in FUNCTIONS:
        raise wrong(f"character {call.at}: there is no function {name}", f"there are: {'; '.join(FUNCTIONS.values())}")
    fits = {"known": len(operands) == 1, "contains": len(operands) == 2, "starts": len(operands) == 2}
    if not fits.get(name, len(operands) >= 2):
        raise wrong(f"character {call.at}: {len(operands)} values do not fit {name}", FUNCTIONS[name])
    if name == "known":
        return TRUTH
    if name in ("contains", "starts"):
        _all_of(operands, Kind.TEXT, f"in {name}")
        return TRUTH
    _all_of(operands, Kind.NUMBER, f"in {name}")
    for other in operands[1:]:
        _agree([operands[0], other], call.at)
    return Type(Kind.NUMBER, next((found.base for _, found in operands if found.base), ""))


def _binary(expression: Binary, operands: _Operands) -> Type:
    operator = expression.operator
    if operator in ("and", "or"):
        _all_of(operands, Kind.TRUTH, f"beside {operator!r}")
        return TRUTH
    (_, left), (_, right) = operands
    if operator in ("=", "!=") and left.kind is right.kind is Kind.TEXT:
        return TRUTH
    _all_of(operands, Kind.NUMBER, f"beside {operator!r}")
    if operator in ("*", "/"):
        return _product(operator, left, right)
    _agree(operands, expression.at)
    return Type(Kind.NUMBER, left.base or right.base) if operator in ("+", "-") else TRUTH


_CHECKS: dict[type, Callable[[Any, _Operands], Type]] = {Unary: _unary, Among: _among, Call: _call, Binary: _binary}


def _product(operator: str, left: Type, right: Type) -> Type:
    if not right.base:
        return left
    return right if operator == "*" and not left.base else NUMBER


def _agree(operands: _Operands, at: int) -> None:
    """Refuse a comparison or sum of two values in different units."""
    left, right = operands
    bases = left[1].base, right[1].base
    if all(bases) and bases[0] != bases[1] and not all(base in _COUNTS for base in bases):
        raise wrong(
            f"character {at}: one side is in {bases[0]}, the other in {bases[1]}",
            "give both in units of the same kind",
        )
    for (literal, _), (_, other) in ((left, right), (right, left)):
        if isinstance(literal, Number) and literal.unit is None and literal.value and other.base in _NAMED_BASES:
            units = ", ".join(one.symbol for one in LITERAL_UNITS.values() if one.base == other.base)
            raise wrong(
                f"character {literal.at}: {literal.value:g} meets a value in {other.base} and has no unit",
                f"put a unit after it: {units}" if units else "compare it with another fact or metric",
            )


def translate(expression: Expression, column: Callable[[str], Any]) -> Any:
    """The Ibis expression; ``column`` gives the Ibis column of a name.

    A ratio with a zero denominator is null, as in metrics.
    """
    if isinstance(expression, Number):
        return ibis.literal(expression.in_base, "float64")
    if isinstance(expression, Text):
        return ibis.literal(expression.value, "string")
    if isinstance(expression, Name):
        return column(expression.name)
    if isinstance(expression, Among):
        return translate(expression.operand, column).isin([one.value for one in expression.values])
    if isinstance(expression, Unary):
        operand = translate(expression.operand, column)
        return ~operand if expression.operator == "not" else -operand
    operands = [translate(one, column) for one in operands_of(expression)]
    return _MEANING[expression.function if isinstance(expression, Call) else expression.operator](*operands)


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
}
