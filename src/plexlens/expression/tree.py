"""Expressions as a tree: formulas, conditions, costs and the numbers of a message.

The language has numbers with a unit (``5 %``, ``200 us``, ``4 MiB``), texts (``'cache'``), names of facts, metrics,
keys and attributes, arithmetic, comparisons, ``in``, ``and``, ``or``, ``not``, ``null`` and a few functions. The tree
says nothing about where the values come from. Trees are equal where they say the same, wherever it was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from plexlens.expression.error import wrong

#: Parts and levels beyond which no tree goes once its terms are put in; both keep the work of any text within bounds.
MOST_PARTS = 4000
MOST_LEVELS = 200


@dataclass(frozen=True)
class LiteralUnit:
    """A unit that may follow a number: its base unit and its factor or divisor.

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
        LiteralUnit("bytes", "bytes"),
        LiteralUnit("KiB", "bytes", times=1024.0),
        LiteralUnit("MiB", "bytes", times=1024.0**2),
        LiteralUnit("GiB", "bytes", times=1024.0**3),
    )
}

#: Functions, and what they do.
FUNCTIONS: dict[str, str] = {
    "known": "known(x): whether x has a value",
    "contains": "contains(text, 'part'): whether the text holds the part",
    "starts": "starts(text, 'part'): whether the text begins with the part",
    "greatest": "greatest(x, y, ...): the largest of the known values",
    "least": "least(x, y, ...): the smallest of the known values",
    "total": "total(x, y, ...): the sum of the known values; no value if none is known",
    "coalesce": "coalesce(x, y, ...): the first known value",
    "if": "if(condition, x, y): x where the condition holds, else y, or no value where y is left out",
    "sqrt": "sqrt(x): the square root of x; no value where x is below 0",
    "deviation": "deviation(squares, sum, count): standard deviation, from the sum of squares, the sum and the count",
    "ceiling": "ceiling(x): x, or the next whole number above it",
    "percentile": (
        "percentile(share, count, largest, bound, within, ...): the value that a share (95 %) of all values does not "
        "exceed, from the count of all, the largest of them (or null) and the count within each bound"
    ),
    "sum": "sum(list): the sum of the numbers of a list",
    "product": "product(list): the product of the numbers of a list",
    "count": "count(list): how many numbers a list has",
    "largest": "largest(list): the largest number of a list; no value where it is empty",
    "smallest": "smallest(list): the smallest number of a list; no value where it is empty",
    "sum_of_products": "sum_of_products(list, list): the sum of each number of a list times that of the other",
}

#: Functions of lists of numbers. A formula of a study reads lists; a row of a grain has none.
LIST_FUNCTIONS = frozenset({"sum", "product", "count", "largest", "smallest", "sum_of_products"})

#: Fewest and most values that a function takes; None for any number.
ARITIES: dict[str, tuple[int, int | None]] = {
    "known": (1, 1),
    "contains": (2, 2),
    "starts": (2, 2),
    "greatest": (2, None),
    "least": (2, None),
    "total": (1, None),
    "coalesce": (1, None),
    "if": (2, 3),
    "sqrt": (1, 1),
    "deviation": (3, 3),
    "ceiling": (1, 1),
    "percentile": (5, None),
    "sum": (1, 1),
    "product": (1, 1),
    "count": (1, 1),
    "largest": (1, 1),
    "smallest": (1, 1),
    "sum_of_products": (2, 2),
}


def _hash_of(expression: Expression) -> int:
    """The hash of a tree, worked out once: trees of hundreds of parts are looked up thousands of times."""
    kept: int | None = expression.__dict__.get("_hash")
    if kept is None:
        kept = hash(
            (type(expression), *(getattr(expression, each.name) for each in fields(expression) if each.compare))
        )
        object.__setattr__(expression, "_hash", kept)
    return kept


@dataclass(frozen=True)
class Number:
    """A number, with the unit that was written after it."""

    value: float
    unit: LiteralUnit | None = None
    at: int = field(default=0, compare=False)

    __hash__ = _hash_of

    @property
    def in_base(self) -> float:
        """The number in the base unit of its unit."""
        return self.value * self.unit.times / self.unit.parts if self.unit is not None else self.value


@dataclass(frozen=True)
class Text:
    """A text in quotes."""

    value: str
    at: int = field(default=0, compare=False)

    __hash__ = _hash_of


@dataclass(frozen=True)
class Null:
    """``null``: no value."""

    at: int = field(default=0, compare=False)

    __hash__ = _hash_of


@dataclass(frozen=True)
class Name:
    """A fact, metric, key, attribute or list, or a term that names an expression."""

    name: str
    at: int = field(default=0, compare=False)

    __hash__ = _hash_of


@dataclass(frozen=True)
class Unary:
    """``-`` or ``not`` before an operand."""

    operator: str
    operand: Expression
    at: int = field(default=0, compare=False)

    __hash__ = _hash_of


@dataclass(frozen=True)
class Binary:
    """Two operands and ``+ - * / < <= > >= = != and or`` between them."""

    operator: str
    left: Expression
    right: Expression
    at: int = field(default=0, compare=False)

    __hash__ = _hash_of


@dataclass(frozen=True)
class Among:
    """``operand in ('a', 'b')``."""

    operand: Expression
    values: tuple[Text, ...]
    at: int = field(default=0, compare=False)

    __hash__ = _hash_of


@dataclass(frozen=True)
class Call:
    """A function and its arguments."""

    function: str
    arguments: tuple[Expression, ...]
    at: int = field(default=0, compare=False)

    __hash__ = _hash_of


Expression = Number | Text | Null | Name | Unary | Binary | Among | Call
"""A tree of the above; ``at`` is the place in the text, from 1, for messages."""

NULL = Null()


def operands_of(expression: Expression) -> tuple[Expression, ...]:
    """The direct operands of an expression."""
    if isinstance(expression, Unary | Among):
        return (expression.operand,)
    if isinstance(expression, Binary):
        return (expression.left, expression.right)
    return expression.arguments if isinstance(expression, Call) else ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all its descendants."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        waiting += operands_of(node)
        yield node


def names_of(expression: Expression) -> frozenset[str]:
    """Every name in an expression."""
    return frozenset(node.name for node in walk(expression) if isinstance(node, Name))


def expand(expression: Expression, terms: Mapping[str, Expression]) -> Expression:
    """The expression with each term replaced by its definition; definitions may use terms.

    Raises
    ------
    ExpressionError
        A term that is made of itself, or more parts than any formula needs.
    """
    return _Expansion(terms).of(expression)[0]


class _Expansion:
    """Expansion of terms; each is expanded once, with its number of parts and its depth."""

    def __init__(self, terms: Mapping[str, Expression]) -> None:
        self.terms = terms
        self.made: dict[str, tuple[Expression, int, int]] = {}
        self.within: list[str] = []

    def of(self, expression: Expression) -> tuple[Expression, int, int]:
        if isinstance(expression, Name):
            return self.term(expression) if expression.name in self.terms else (expression, 1, 1)
        inner = []
        for operand in operands_of(expression):
            inner.append(self.of(operand))
        parts = 1 + sum(count for _, count, _ in inner)
        levels = 1 + max((deep for _, _, deep in inner), default=0)
        if parts > MOST_PARTS or levels > MOST_LEVELS:
            raise wrong(
                "the formula is too large after its terms are inserted", "make several metrics of it", expression.at
            )
        return with_operands(expression, [tree for tree, _, _ in inner]), parts, levels

    def term(self, name: Name) -> tuple[Expression, int, int]:
        if name.name in self.within:
            around = " -> ".join([*self.within[self.within.index(name.name) :], name.name])
            raise wrong(
                f"a term refers to itself: {around}", "let terms name facts, or terms without a circle", name.at
            )
        if name.name not in self.made:
            self.within.append(name.name)
            self.made[name.name] = self.of(self.terms[name.name])
            self.within.pop()
        return self.made[name.name]


def with_operands(expression: Expression, operands: list[Expression]) -> Expression:
    """The expression with other operands; the same object if the operands are unchanged."""
    if all(new is old for new, old in zip(operands, operands_of(expression), strict=True)):
        return expression
    if isinstance(expression, Unary | Among):
        return replace(expression, operand=operands[0])
    if isinstance(expression, Binary):
        return replace(expression, left=operands[0], right=operands[1])
    return replace(expression, arguments=tuple(operands)) if isinstance(expression, Call) else expression
