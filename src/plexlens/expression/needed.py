"""Names that must be known for an expression to have a value in a row.

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

#: More alternatives than this are not distinguished: the row then counts whatever is known.
_MOST_CLAUSES = 64

#: Functions that have a value where one of theirs has.
_ONE_IS_ENOUGH = ("coalesce", "total", "greatest", "least")


def needed(expression: Expression) -> Clauses:
    """Inputs that must be known for an expression to have a value, zero denominators aside."""
    if isinstance(expression, Name):
        return frozenset({frozenset({expression.name})})
    if isinstance(expression, Call) and expression.function == "if":
        return _of_choice(expression)
    parts = []
    operands = operands_of(expression)
    if isinstance(expression, Call) and expression.function == "percentile":
        # The counts within bounds come from where the count of all comes from.
        operands = operands[1:2]
    for operand in operands:
        if not isinstance(operand, Null):
            parts.append(needed(operand))
    if isinstance(expression, Call) and expression.function in _ONE_IS_ENOUGH:
        return reduce(_either, parts) if parts else _NOTHING
    return _all(parts)


def _of_choice(choice: Call) -> Clauses:
    """Requirements of a choice: the inputs of its conditions, and those of one of its results."""
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
    """The values of a condition that only tests whether one of them is null; empty for other conditions."""
    if isinstance(condition, Binary) and condition.operator == "or":
        return [*_missing(condition.left), *_missing(condition.right)]
    inner = _negated(condition)
    return [inner.arguments[0]] if isinstance(inner, Call) and inner.function == "known" else []


def _of_condition(expression: Expression) -> Clauses:
    """Inputs that must be known for a condition to hold."""
    inner = _negated(expression)
    if isinstance(inner, Call) and inner.function == "known":
        return _NOTHING
    if isinstance(expression, Binary) and expression.operator == "and":
        return _all([_of_condition(expression.left), _of_condition(expression.right)])
    if isinstance(expression, Binary) and expression.operator == "or":
        return _either(_of_condition(expression.left), _of_condition(expression.right))
    return needed(expression)


def _negated(expression: Expression) -> Expression | None:
    """The operand of a negation."""
    return expression.operand if isinstance(expression, Unary) and expression.operator == "not" else None


def _asks_what_is_known(expression: Expression) -> bool:
    """Whether a condition tests for nulls; so does a total."""
    waiting = [expression]
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
    """The clauses without those implied by another."""
    return frozenset(clause for clause in clauses if not any(other < clause for other in clauses))
