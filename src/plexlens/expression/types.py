"""Type checking of an expression: which names it may use, whether its units agree, and its resulting unit.

A number must be given in a unit where the column it meets is a fraction, a time or a size: ``5 %``, not ``5`` or
``0.05``. Only so does a threshold say what it is next to a metric that is kept in one unit and shown in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from plexlens.expression.base import PLAIN, agree, parts_of, root, times
from plexlens.expression.error import wrong
from plexlens.expression.percentile import check_percentile
from plexlens.expression.tree import (
    FUNCTIONS,
    LIST_FUNCTIONS,
    LITERAL_UNITS,
    Among,
    Binary,
    Call,
    Expression,
    Name,
    Null,
    Number,
    Text,
    Unary,
    names_of,
    operands_of,
)


class Kind(StrEnum):
    """Kind of a value."""

    NUMBER = "number"
    TEXT = "text"
    TRUTH = "condition"
    LIST = "list"


@dataclass(frozen=True)
class Type:
    """Kind of a value and, for a number or list, its base unit; an empty base is unknown and agrees with every other.

    Parameters
    ----------
    kind, base
        Kind and base unit.
    scaled
        Whether a number without a unit multiplies or divides it. Such a number can change the unit (4096 bytes to a
        page, 3600 seconds to an hour), so that the base is only what it is if the number is a mere factor.
    """

    kind: Kind
    base: str = ""
    scaled: bool = False


NUMBER, TEXT, TRUTH = Type(Kind.NUMBER), Type(Kind.TEXT), Type(Kind.TRUTH)

#: Base units in which a plain number other than 0 would not say what it means.
_NAMED_BASES = ("fraction", "s", "bytes", "s²")


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
    def of(cls, what: str, bases: Mapping[str, str], texts: Iterable[str] = ()) -> Scope:
        """A scope of numbers with their base units, and of text names."""
        return cls(what, {name: Type(Kind.NUMBER, base) for name, base in bases.items()} | dict.fromkeys(texts, TEXT))

    def with_terms(self, terms: Mapping[str, Expression]) -> Scope:
        """The scope extended by terms, which may use each other in any order.

        Raises
        ------
        ExpressionError
            As `type_of`, for a term; or a term is made of itself.
        """
        types = dict(self.types)
        left = dict(terms)
        while left:
            ready = {name: tree for name, tree in left.items() if not names_of(tree) & left.keys()}
            if not ready:
                raise wrong(f"terms refer to each other: {', '.join(left)}", "let terms name facts, without a circle")
            for name, tree in ready.items():
                types[name] = type_of(tree, Scope(self.what, types))
                del left[name]
        return Scope(self.what, types)


def type_of(expression: Expression, scope: Scope) -> Type:
    """The type of an expression.

    Raises
    ------
    ExpressionError
        A name that is not known, or values that do not go together.
    """
    if isinstance(expression, Number):
        return Type(Kind.NUMBER, expression.unit.base if expression.unit is not None else "")
    if isinstance(expression, Text):
        return TEXT
    if isinstance(expression, Null):
        return NUMBER
    if isinstance(expression, Name):
        if expression.name not in scope.types:
            valid = ", ".join(sorted(scope.types))
            raise wrong(f"{expression.name} is not {scope.what}", f"there are: {valid}", expression.at)
        return scope.types[expression.name]
    operands = []
    for operand in operands_of(expression):
        operands.append((operand, type_of(operand, scope)))
    return _CHECKS[type(expression)](expression, operands)


_Operands = list[tuple[Expression, Type]]


def condition(expression: Expression, scope: Scope) -> Expression:
    """The expression, checked to be a condition over the scope.

    Raises
    ------
    ExpressionError
        As `type_of`; or it is a number or text.
    """
    result = type_of(expression, scope)
    if result.kind is not Kind.TRUTH:
        raise wrong(f"it is a {result.kind}, not a condition", "compare it with something")
    return expression


def number(expression: Expression, scope: Scope) -> Expression:
    """The expression, checked to be a number over the scope.

    Raises
    ------
    ExpressionError
        As `type_of`; or it is a text or condition.
    """
    result = type_of(expression, scope)
    if result.kind is not Kind.NUMBER:
        raise wrong(f"it is a {result.kind}, not a number", "give facts, metrics and arithmetic")
    return expression


def check_metric(expression: Expression, scope: Scope, base: str) -> Expression:
    """The expression, checked to be a number in the base unit that its metric declares.

    Where a number without unit multiplies, it may be what changes the unit: then nothing is said.

    Raises
    ------
    ExpressionError
        As `number`; or it comes out in another unit.
    """
    result = type_of(number(expression, scope), scope)
    if result.base and base and not result.scaled and parts_of(result.base) != parts_of(base):
        raise wrong(
            f"its value is {'as ' * (result.base == PLAIN)}{_in(result.base)}, but its unit is one for {base}",
            f"give it a unit that is kept in {result.base}, or correct the formula",
        )
    return expression


def _in(base: str) -> str:
    return f"a {PLAIN}" if base == PLAIN else f"in {base}"


def _all_of(operands: _Operands, kind: Kind, where: str) -> None:
    """Refuse operands of another kind."""
    for operand, result in operands:
        if result.kind is not kind:
            raise wrong(
                f"a {kind} is expected {where}, and this is a {result.kind}", "correct the expression", operand.at
            )


def _unary(expression: Unary, operands: _Operands) -> Type:
    wanted = Kind.TRUTH if expression.operator == "not" else Kind.NUMBER
    _all_of(operands, wanted, f"after {expression.operator!r}")
    return operands[0][1]


def _among(_: Among, operands: _Operands) -> Type:
    _all_of(operands, Kind.TEXT, "before 'in'")
    return TRUTH


def _call(call: Call, operands: _Operands) -> Type:
    name = call.function
    if name == "known":
        return TRUTH
    if name in LIST_FUNCTIONS:
        return _of_lists(name, operands)
    if name in ("contains", "starts"):
        _all_of(operands, Kind.TEXT, f"in {name}")
        return TRUTH
    if name == "if":
        _all_of(operands[:1], Kind.TRUTH, "first in if")
        operands = operands[1:]
    _all_of(operands, Kind.NUMBER, f"in {name}")
    if name == "sqrt":
        operand = operands[0][1]
        return Type(Kind.NUMBER, (root(operand.base) or "") if operand.base else "", operand.scaled)
    if name == "percentile":
        return _percentile(call, operands)
    return _deviation(call, operands) if name == "deviation" else _one_unit(operands, call.at)


def _percentile(call: Call, operands: _Operands) -> Type:
    check_percentile(call.arguments)
    _one_unit([operands[1], *operands[4::2]], call.at)
    return _one_unit([operands[2], *operands[3::2]], call.at)


def _of_lists(name: str, operands: _Operands) -> Type:
    """The type of a list function's result."""
    _all_of(operands, Kind.LIST, f"in {name}")
    (_, first), *others = operands
    if name == "count":
        return Type(Kind.NUMBER, "count")
    if name == "product":
        return Type(Kind.NUMBER, "", first.scaled)
    if others:
        second = others[0][1]
        text = times(first.base, second.base) if first.base and second.base else ""
        return Type(Kind.NUMBER, text, first.scaled or second.scaled)
    return Type(Kind.NUMBER, first.base, first.scaled)


def _deviation(call: Call, operands: _Operands) -> Type:
    (_, squares), (_, values), (_, count) = operands
    scaled = any(result.scaled for _, result in operands)
    if not values.base or not count.base:
        return Type(Kind.NUMBER, "", scaled)
    square = times(times(values.base, values.base), count.base, -1)
    if squares.base and not scaled and parts_of(squares.base) != parts_of(square):
        raise wrong(
            f"the squares are {_in(squares.base)} and the values {_in(values.base)}",
            FUNCTIONS["deviation"],
            call.at,
        )
    return Type(Kind.NUMBER, times(values.base, count.base, -1), scaled)


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
        return _product(operator, operands)
    unit = _one_unit(operands, expression.at)
    return unit if operator in ("+", "-") else TRUTH


_CHECKS: dict[type, Callable[[Any, _Operands], Type]] = {Unary: _unary, Among: _among, Call: _call, Binary: _binary}


def _product(operator: str, operands: _Operands) -> Type:
    (_, left), (_, right) = operands
    scaled = (
        left.scaled or right.scaled or any(isinstance(_bare(operand), Number) and not t.base for operand, t in operands)
    )
    if not right.base:
        return Type(Kind.NUMBER, left.base, scaled)
    if operator == "*":
        return Type(Kind.NUMBER, times(left.base, right.base) if left.base else right.base, scaled)
    return Type(Kind.NUMBER, times(left.base or PLAIN, right.base, -1), scaled)


def _bare(expression: Expression) -> Expression:
    """The operand without its sign."""
    while isinstance(expression, Unary) and expression.operator == "-":
        expression = expression.operand
    return expression


def _one_unit(operands: _Operands, at: int) -> Type:
    """The type of a sum, a choice or a comparison, whose values must all have the same unit."""
    scaled = any(result.scaled for _, result in operands)
    first = next((result.base for _, result in operands if result.base), "")
    for operand, result in operands:
        if result.base and not agree(first, result.base):
            raise wrong(
                f"one side is {_in(first)}, the other {_in(result.base)}", "give both in units of the same kind", at
            )
        literal = _bare(operand)
        if first in _NAMED_BASES and isinstance(literal, Number) and literal.unit is None and literal.value:
            units = ", ".join(unit.symbol for unit in LITERAL_UNITS.values() if unit.base == first)
            raise wrong(
                f"{literal.value:g} meets a value in {first} and has no unit",
                f"put a unit after it: {units}" if units else "compare it with another fact or metric",
                literal.at,
            )
    # A plain number takes the unit of what it meets.
    named = next((result.base for _, result in operands if result.base not in ("", PLAIN)), first)
    return Type(Kind.NUMBER, named, scaled)
