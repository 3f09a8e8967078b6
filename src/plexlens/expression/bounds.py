"""Interval arithmetic: the possible values of an expression whose inputs are known within bounds.

A printed number stands for all that round to it; the bounds of a formula over such numbers contain its value whatever
they were. Floating point rounds in one direction for all, so that the bounds hold for computed values too, as long as
nothing overflows. Names that occur twice are taken to vary by themselves: bounds may be wider than need be, never
narrower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

from plexlens.expression.percentile import percentile
from plexlens.expression.rounding import rounded_up
from plexlens.expression.tree import Among, Binary, Call, Expression, Name, Null, Number, Text, Unary, operands_of
from plexlens.expression.value import value

_INFINITE = math.inf


@dataclass(frozen=True)
class Interval:
    """Numbers from ``low`` to ``high``, both included; empty if ``low`` is above ``high``.

    Attributes
    ----------
    missing
        Whether there may be no value.
    """

    low: float
    high: float
    missing: bool = False

    @property
    def has_numbers(self) -> bool:
        """Whether the interval contains any number."""
        return self.low <= self.high

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.missing
        return isinstance(value, float | int) and self.low <= value <= self.high


#: No value.
NOTHING = Interval(_INFINITE, -_INFINITE, missing=True)

Truths = frozenset[bool | None]
"""What a condition may be: that it holds, that it does not, or neither."""

Bounds = Interval | Truths | str | None
"""What an expression may be; texts are known."""


def bounds(expression: Expression, intervals: Mapping[str, Interval | str | Sequence[Interval] | None]) -> Bounds:
    """Bounds of the expression for inputs within the named intervals; a text is returned as it is, None is a missing
    value.

    A list is a sequence of intervals.

    Raises
    ------
    KeyError
        A name without an entry.
    ValueError
        Two lists of different length are multiplied.
    """
    if isinstance(expression, Name):
        return intervals[expression.name]  # type: ignore[return-value]  # a list stands in functions of lists only
    if isinstance(expression, Number):
        return Interval(expression.in_base, expression.in_base)
    if isinstance(expression, Text | Null):
        return NOTHING if isinstance(expression, Null) else expression.value
    operands: list[Any] = []
    for operand in operands_of(expression):
        operands.append(bounds(operand, intervals))
    return _of_operands(expression, operands)


def _of_operands(expression: Unary | Binary | Among | Call, operands: list[Any]) -> Bounds:
    of_texts = isinstance(expression, Among) or (isinstance(expression, Call) and expression.function not in _CALLS)
    if of_texts or any(isinstance(operand, str) for operand in operands):
        texts = dict(zip("ab", operands, strict=False))
        return frozenset({value(_over_names(expression), texts)})  # type: ignore[arg-type]
    operands = [NOTHING if operand is None else operand for operand in operands]
    if isinstance(expression, Call):
        return _CALLS[expression.function](*operands)
    if isinstance(expression, Unary):
        return _not(*operands) if expression.operator == "not" else _negative(*operands)
    assert isinstance(expression, Binary)
    return _BINARY[expression.operator](*operands)


def _over_names(expression: Unary | Binary | Among | Call) -> Expression:
    """The same expression with operands named a and b."""
    if isinstance(expression, Among):
        return Among(Name("a"), expression.values)
    if isinstance(expression, Binary):
        return Binary(expression.operator, Name("a"), Name("b"))
    assert isinstance(expression, Call)
    return Call(expression.function, tuple(Name(name) for name in "ab"[: len(expression.arguments)]))


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _of_corners(numbers: Iterable[float], missing: bool) -> Interval:
    # Of corners at infinity that have no value, the finite inputs next to them have one near 0.
    results = [0.0 if math.isnan(number) else number for number in numbers]
    return Interval(min(results), max(results), missing)


def _arithmetic(corners: Callable[[Interval, Interval], Interval]) -> Callable[[Interval, Interval], Interval]:
    def result(left: Interval, right: Interval) -> Interval:
        return corners(left, right) if left.has_numbers and right.has_numbers else NOTHING

    return result


def _sum(left: Interval, right: Interval) -> Interval:
    low, high = left.low + right.low, left.high + right.high
    missing = left.missing or right.missing
    return Interval(-_INFINITE if math.isnan(low) else low, _INFINITE if math.isnan(high) else high, missing)


def _difference(left: Interval, right: Interval) -> Interval:
    return _sum(left, _negative(right))


def _product(left: Interval, right: Interval) -> Interval:
    corners = (a * b for a, b in product((left.low, left.high), (right.low, right.high)))
    return _of_corners(corners, left.missing or right.missing)


def _ratio(left: Interval, right: Interval) -> Interval:
    missing = left.missing or right.missing or 0.0 in right
    if right.low > 0 or right.high < 0:
        corners = (a / b for a, b in product((left.low, left.high), (right.low, right.high)))
        return _of_corners(corners, missing)
    interval = Interval(NOTHING.low, NOTHING.high, missing)
    if right.high > 0:
        low = left.low / right.high if left.low >= 0 else -_INFINITE
        high = left.high / right.high if left.high <= 0 else _INFINITE
        interval = _either(interval, _of_corners((low, high), missing))
    if right.low < 0:
        low = left.high / right.low if left.high <= 0 else -_INFINITE
        high = left.low / right.low if left.low >= 0 else _INFINITE
        interval = _either(interval, _of_corners((low, high), missing))
    return interval


def _negative(interval: Interval) -> Interval:
    return Interval(-interval.high, -interval.low, interval.missing)


def _either(first: Interval, second: Interval) -> Interval:
    """The union of the two."""
    return Interval(min(first.low, second.low), max(first.high, second.high), first.missing or second.missing)


def _known(interval: Interval) -> Interval:
    return Interval(interval.low, interval.high)


# --- functions --------------------------------------------------------------------------------------------------------


def _root(interval: Interval) -> Interval:
    if interval.high < 0 or not interval.has_numbers:
        return NOTHING
    return Interval(math.sqrt(max(interval.low, 0.0)), math.sqrt(interval.high), interval.missing or interval.low < 0)


def _deviation(squares: Interval, values: Interval, count: Interval) -> Interval:
    mean = _divided(values, count)
    variance = _less(_divided(squares, count), _times(mean, mean))
    if not variance.has_numbers:
        return NOTHING
    return _root(Interval(max(variance.low, 0.0), max(variance.high, 0.0), variance.missing))


def _ceiling(interval: Interval) -> Interval:
    return Interval(rounded_up(interval.low), rounded_up(interval.high), interval.missing)


def _percentile(*operands: Interval) -> Interval:
    whole, largest, *pairs = operands[1:]
    if not whole.has_numbers or whole.high <= 0:
        return NOTHING
    if all((each.low == each.high and not each.missing) or not each.has_numbers for each in operands):
        number = percentile(operands[0].low, *(each.low if each.has_numbers else None for each in operands[1:]))
        return NOTHING if number is None else Interval(number, number)
    # The power of the last step can come out rounded above the last bound.
    return Interval(min(pairs[0].low, largest.low), pairs[-2].high * (1 + 1e-12), missing=True)


def _all_known(items: Sequence[Interval], function: Callable[[], Interval]) -> Interval:
    """The result of a function of a list, if all of its numbers may be known."""
    if not all(item.has_numbers for item in items):
        return NOTHING
    interval = function()
    return Interval(interval.low, interval.high, interval.missing or any(item.missing for item in items))


def _sum_of_list(items: Sequence[Interval]) -> Interval:
    return _all_known(items, lambda: reduce(_sum, items, Interval(0.0, 0.0)))


def _product_of_list(items: Sequence[Interval]) -> Interval:
    return _all_known(items, lambda: reduce(_product, items, Interval(1.0, 1.0)))


def _sum_of_products(first: Sequence[Interval], second: Sequence[Interval]) -> Interval:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} numbers are multiplied with {len(second)}")
    return _sum_of_list([_times(a, b) for a, b in zip(first, second, strict=True)])


def _largest(items: Sequence[Interval]) -> Interval:
    if not items:
        return NOTHING
    return _all_known(items, lambda: Interval(max(item.low for item in items), max(item.high for item in items)))


def _smallest(items: Sequence[Interval]) -> Interval:
    return _negative(_largest([_negative(item) for item in items]))


def _total(*parts: Interval) -> Interval:
    result, *rest = (_either(_known(part), Interval(0.0, 0.0)) if part.missing else part for part in parts)
    for interval in rest:
        result = _sum(result, interval)
    if not any(part.has_numbers for part in parts):
        return NOTHING
    return Interval(result.low, result.high, all(part.missing for part in parts))


def _coalesce(*parts: Interval) -> Interval:
    interval = NOTHING
    for part in parts:
        interval = Interval(min(interval.low, part.low), max(interval.high, part.high), part.missing)
        if not part.missing:
            break
    return interval


def _greatest(*parts: Interval) -> Interval:
    there = [part.low for part in parts if not part.missing]
    return Interval(
        max(there) if there else min(part.low for part in parts),
        max(part.high for part in parts),
        all(part.missing for part in parts),
    )


def _least(*parts: Interval) -> Interval:
    return _negative(_greatest(*(_negative(part) for part in parts)))


def _choice(holds: Truths, then: Interval, otherwise: Interval = NOTHING) -> Interval:
    if True not in holds:
        return otherwise
    return then if holds == {True} else _either(then, otherwise)


def _is_known(interval: Interval | Truths) -> Truths:
    if isinstance(interval, Interval):
        return frozenset({*([True] if interval.has_numbers else []), *([False] if interval.missing else [])})
    return frozenset(truth is not None for truth in interval)


# --- conditions -------------------------------------------------------------------------------------------------------


def _comparison(
    can_hold: Callable[[Interval, Interval], bool], can_fail: Callable[[Interval, Interval], bool]
) -> Callable[[Interval, Interval], Truths]:
    def result(left: Interval, right: Interval) -> Truths:
        results: set[bool | None] = {None} if left.missing or right.missing else set()
        if left.has_numbers and right.has_numbers:
            results |= {True} if can_hold(left, right) else set()
            results |= {False} if can_fail(left, right) else set()
        return frozenset(results)

    return result


def _below(left: Interval, right: Interval) -> bool:
    return left.low < right.high


def _at_most(left: Interval, right: Interval) -> bool:
    return left.low <= right.high


def _above(left: Interval, right: Interval) -> bool:
    return left.high > right.low


def _at_least(left: Interval, right: Interval) -> bool:
    return left.high >= right.low


def _meet(left: Interval, right: Interval) -> bool:
    return _at_most(left, right) and _at_least(left, right)


def _differ(left: Interval, right: Interval) -> bool:
    return not left.low == left.high == right.low == right.high


def _not(truths: Truths) -> Truths:
    return frozenset(None if truth is None else not truth for truth in truths)


def _and(left: Truths, right: Truths) -> Truths:
    return frozenset(False if False in pair else None if None in pair else True for pair in product(left, right))


def _or(left: Truths, right: Truths) -> Truths:
    return frozenset(True if True in pair else None if None in pair else False for pair in product(left, right))


_less, _times, _divided = _arithmetic(_difference), _arithmetic(_product), _arithmetic(_ratio)

_BINARY: dict[str, Callable[..., Bounds]] = {
    "+": _arithmetic(_sum),
    "-": _less,
    "*": _times,
    "/": _divided,
    "<": _comparison(_below, _at_least),
    "<=": _comparison(_at_most, _above),
    ">": _comparison(_above, _at_most),
    ">=": _comparison(_at_least, _below),
    "=": _comparison(_meet, _differ),
    "!=": _comparison(_differ, _meet),
    "and": _and,
    "or": _or,
}

_CALLS: dict[str, Callable[..., Bounds]] = {
    "known": _is_known,
    "greatest": _greatest,
    "least": _least,
    "total": _total,
    "coalesce": _coalesce,
    "if": _choice,
    "sqrt": _root,
    "deviation": _deviation,
    "ceiling": _ceiling,
    "percentile": _percentile,
    "sum": _sum_of_list,
    "product": _product_of_list,
    "count": lambda items: Interval(len(items), len(items)),
    "largest": _largest,
    "smallest": _smallest,
    "sum_of_products": _sum_of_products,
}
