"""Which names of an expression have to be known for a row to count in it.

A product needs all of them; of ``coalesce(a, b)`` and of ``total(a, b)`` one is enough. What is needed is a set of
clauses: in each at least one of the names has to be known.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from plexlens.expression.tree import NULL, Binary, Call, Expression, Name, Null, Unary, operands_of

Clauses = frozenset[frozenset[str]]
"""Sets of names; of each set at least one has to be known."""

_NOTHING: Clauses = frozenset()

#: More alternatives than this are not told apart: the row then counts whatever is known.
_MOST_CLAUSES = 64

#: Functions that have a value where one of theirs has.
_ONE_IS_ENOUGH = ("coalesce", "total", "greatest", "least")


def needed(expression: Expression) -> Clauses:
    """What has to be known for an expression to have a value, zero denominators aside."""
    if isinstance(expression, Name):
        return frozenset({frozenset({expression.name})})
    if isinstance(expression, Call) and expression.function == "if":
        return _of_choice(expression)
    parts = []
    for operand in operands_of(expression):
        if not isinstance(operand, Null):
            parts.append(needed(operand))
    if isinstance(expression, Call) and expression.function in _ONE_IS_ENOUGH:
        return reduce(_either, parts) if parts else _NOTHING
    return _all(parts)


def _of_choice(choice: Call) -> Clauses:
    """What a choice needs: what its conditions read, and what one of its results needs."""
    cases: list[tuple[Expression, Expression]] = []
    rest: Expression = choice
    while isinstance(rest, Call) and rest.function == "if":
        condition, result, *others = rest.arguments
        cases.append((condition, result))
        rest = others[0] if others else NULL
    results = [needed(result) for result in (*(result for _, result in cases), rest) if not isinstance(result, Null)]
    tested = []
    for condition, result in cases:
        if isinstance(result, Null) and (missing := _missing(condition)):
            # Null where this is null: it has to be known.
            tested += [needed(value) for value in missing]
        elif (len(cases) == 1 and isinstance(rest, Null)) or not _asks_what_is_known(condition):
            tested.append(_of_condition(condition))
    return _all([*tested, reduce(_either, results) if results else _NOTHING])


def _missing(condition: Expression) -> list[Expression]:
    """The values of which a condition says that one of them is null; empty where it says something else too."""
    if isinstance(condition, Binary) and condition.operator == "or":
        return [*_missing(condition.left), *_missing(condition.right)]
    inner = _negated(condition)
    return [inner.arguments[0]] if isinstance(inner, Call) and inner.function == "known" else []


def _of_condition(one: Expression) -> Clauses:
    """What has to be known for a condition to be able to hold."""
    inner = _negated(one)
    if isinstance(inner, Call) and inner.function == "known":
        return _NOTHING
    if isinstance(one, Binary) and one.operator == "and":
        return _all([_of_condition(one.left), _of_condition(one.right)])
    if isinstance(one, Binary) and one.operator == "or":
        return _either(_of_condition(one.left), _of_condition(one.right))
    return needed(one)


def _negated(one: Expression) -> Expression | None:
    """What is said not to hold."""
    return one.operand if isinstance(one, Unary) and one.operator == "not" else None


def _asks_what_is_known(one: Expression) -> bool:
    """Whether a condition asks what is known; so does a total."""
    waiting = [one]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Call) and inner.function in ("known", "total"):
            return True
        waiting += operands_of(inner)
    return False


def _all(parts: Iterable[Clauses]) -> Clauses:
    return _least(frozenset[frozenset[str]]().union(*parts))


def _either(first: Clauses, second: Clauses) -> Clauses:
    if len(first) * len(second) > _MOST_CLAUSES:
        return _NOTHING
    return _least(frozenset(a | b for a in first for b in second))


def _least(clauses: Clauses) -> Clauses:
    """Without clauses that another one implies."""
    return frozenset(clause for clause in clauses if not any(other < clause for other in clauses))
