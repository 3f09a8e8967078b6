"""Printed form of a tree for the reader: ``(R744SSRC + R744SARC) / interval``, ``√``, ``²``, ``x``, ``µs``.

The words are as exact as mathematics is on paper, not as floating point is: ``a + (b - c)`` is written without
brackets, and what a sum counts as zero where it is missing is written as a plain sum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from plexlens.expression.piece import LEVELS, Level, Piece
from plexlens.expression.text import digits_of, quoted
from plexlens.expression.tree import Among, Binary, Call, Expression, Name, Null, Number, Text, Unary

_SIGNS = {"*": "x", "<=": "≤", ">=": "≥", "!=": "≠"}
_UNITS = {"us": "µs"}

#: Whole numbers from here on have commas.
_LARGE = 1e4

_OUTER = re.compile(r"\([^()]*\)")


Word = str | Sequence[str]
"""What a name is called: a field, or arithmetic of fields. A list has a name, or is written as its items."""


def words_of(expression: Expression, word: Callable[[str], Word]) -> str:
    """The expression in words and symbols; ``word`` gives the printed form of a name."""
    return _Words(word).piece(expression).text


class _Words:
    def __init__(self, word: Callable[[str], Word]) -> None:
        self.word = word

    def piece(self, expression: Expression) -> Piece:
        if isinstance(expression, Binary):
            return self.binary(expression)
        if isinstance(expression, Unary):
            return self.unary(expression)
        if isinstance(expression, Call):
            return _CALLS[expression.function](self, expression.arguments)
        if isinstance(expression, Among):
            return self.among(expression)
        if isinstance(expression, Name):
            word = self.word(expression.name)
            return _named(word) if isinstance(word, str) else Piece(", ".join(word), Level.PHRASE)
        return Piece(_leaf(expression))

    def binary(self, binary: Binary) -> Piece:
        left, right = self.piece(binary.left), self.piece(binary.right)
        if binary.operator == "*" and binary.left == binary.right and not isinstance(binary.left, Number):
            return Piece(f"{_tight(left)}²")
        level = LEVELS[binary.operator]
        tighter = Level(level + 1)
        # a + (b - c) and a x (b / c) are what they are without brackets; a - (b + c) is not.
        needs = tighter if binary.operator in ("-", "/") or level is Level.COMPARISON else level
        first = left.at(tighter if level is Level.COMPARISON else level)
        return Piece(f"{first} {_SIGNS.get(binary.operator, binary.operator)} {right.at(needs)}", level)

    def unary(self, unary: Unary) -> Piece:
        if unary.operator == "-":
            return Piece(f"-{self.piece(unary.operand).at(Level.VALUE)}", Level.SIGN)
        inner = unary.operand
        if isinstance(inner, Call) and inner.function == "known":
            return self.said(inner.arguments, "is missing")
        return Piece(f"not {self.piece(inner).at(Level.VALUE)}", Level.NOT)

    def among(self, among: Among) -> Piece:
        values = [quoted(value.value) for value in among.values]
        last = f" or {values[-1]}" if len(values) > 1 else values[-1]
        return Piece(f"{self.piece(among.operand).at(Level.SUM)} is {', '.join(values[:-1])}{last}", Level.COMPARISON)

    def said(self, arguments: Sequence[Expression], what: str) -> Piece:
        return Piece(f"{self.piece(arguments[0]).at(Level.SUM)} {what}", Level.COMPARISON)

    def known(self, arguments: Sequence[Expression]) -> Piece:
        return self.said(arguments, "is known")

    def contains(self, arguments: Sequence[Expression]) -> Piece:
        return self.said(arguments, f"contains {self.piece(arguments[1]).at(Level.SUM)}")

    def starts(self, arguments: Sequence[Expression]) -> Piece:
        return self.said(arguments, f"starts with {self.piece(arguments[1]).at(Level.SUM)}")

    def total(self, arguments: Sequence[Expression]) -> Piece:
        pieces = [self.piece(argument) for argument in arguments]
        return pieces[0] if len(pieces) == 1 else Piece(" + ".join(piece.at(Level.SUM) for piece in pieces), Level.SUM)

    def listed(self, name: str, arguments: Sequence[Expression]) -> Piece:
        return Piece(f"{name}({', '.join(self.piece(argument).at(Level.OR) for argument in arguments)})")

    def coalesce(self, arguments: Sequence[Expression]) -> Piece:
        # A value that counts as 0 where it is missing reads as the value, as in a total.
        pieces = [
            self.piece(argument) for argument in arguments if not (isinstance(argument, Number) and not argument.value)
        ]
        if len(pieces) < 2:
            return pieces[0] if pieces else self.piece(arguments[0])
        parts = [piece.at(Level.OR) for piece in pieces]
        if len(parts) == 2:
            return Piece(f"{parts[0]}, or {parts[1]} where it is missing", Level.PHRASE)
        return Piece(f"the first known of {', '.join(parts[:-1])} and {parts[-1]}", Level.PHRASE)

    def choice(self, arguments: Sequence[Expression]) -> Piece:
        cases: list[tuple[Expression, Expression]] = []
        rest: Expression = Call("if", tuple(arguments))
        while isinstance(rest, Call) and rest.function == "if":
            condition, result, *others = rest.arguments
            cases.append((condition, result))
            rest = others[0] if others else Null()
        if len(cases) == 1 and isinstance(cases[0][1], Null):
            condition = cases[0][0]
            if isinstance(condition, Unary) and condition.operator == "not":
                holds = f"if {self.positive(condition)}"
            else:
                holds = f"unless {self.piece(condition).text}"
            return Piece(f"{self.piece(rest).at(Level.OR)} {holds}", Level.PHRASE)
        parts = [f"{self.piece(result).at(Level.OR)} if {self.piece(test).text}" for test, result in cases]
        if not isinstance(rest, Null):
            parts.append(f"else {self.piece(rest).at(Level.OR)}")
        return Piece(", ".join(parts), Level.PHRASE)

    def positive(self, condition: Unary) -> str:
        return self.piece(condition.operand).text

    def root(self, arguments: Sequence[Expression]) -> Piece:
        return Piece(f"√{_tight(self.piece(arguments[0]))}")

    def ceiling(self, arguments: Sequence[Expression]) -> Piece:
        return Piece(f"{self.piece(arguments[0]).at(Level.SUM)}, rounded up", Level.PHRASE)

    def items(self, expression: Expression) -> Sequence[str] | None:
        """The items of a list literal."""
        word = self.word(expression.name) if isinstance(expression, Name) else ""
        return None if isinstance(word, str) else word

    def of_list(self, what: str, arguments: Sequence[Expression]) -> Piece:
        return Piece(f"{what} of {_tight(self.piece(arguments[0]))}")

    def sum_of_list(self, arguments: Sequence[Expression]) -> Piece:
        items = self.items(arguments[0])
        return self.of_list("sum", arguments) if items is None else _sum(items)

    def product_of_list(self, arguments: Sequence[Expression]) -> Piece:
        items = self.items(arguments[0])
        return self.of_list("product", arguments) if items is None else Piece(" x ".join(items) or "1", Level.PRODUCT)

    def count(self, arguments: Sequence[Expression]) -> Piece:
        items = self.items(arguments[0])
        return self.of_list("number", arguments) if items is None else Piece(str(len(items)))

    def extreme(self, what: str, sign: str, arguments: Sequence[Expression]) -> Piece:
        items = self.items(arguments[0])
        return self.of_list(what, arguments) if items is None else Piece(f"{sign}({', '.join(items)})")

    def sum_of_products(self, arguments: Sequence[Expression]) -> Piece:
        first, second = map(self.items, arguments)
        if first is not None and second is not None:
            return _sum([f"{a} x {b}" for a, b in zip(first, second, strict=True)])
        return Piece(f"sum of {' x '.join(_tight(self.piece(argument)) for argument in arguments)}", Level.PRODUCT)

    def percentile(self, arguments: Sequence[Expression]) -> Piece:
        share, _, _, *pairs = arguments
        first, last = (self.piece(bound).text for bound in (pairs[0], pairs[-2]))
        return Piece(f"{_ordinal(share)} percentile, from counts within bounds of {first} to {last}", Level.PHRASE)

    def deviation(self, arguments: Sequence[Expression]) -> Piece:
        squares, values, count = arguments
        mean = Binary("/", values, count)
        return self.root([Binary("-", Binary("/", squares, count), Binary("*", mean, mean))])


_CALLS: dict[str, Callable[[_Words, Sequence[Expression]], Piece]] = {
    "known": _Words.known,
    "contains": _Words.contains,
    "starts": _Words.starts,
    "greatest": lambda words, arguments: words.listed("max", arguments),
    "least": lambda words, arguments: words.listed("min", arguments),
    "total": _Words.total,
    "coalesce": _Words.coalesce,
    "if": _Words.choice,
    "sqrt": _Words.root,
    "deviation": _Words.deviation,
    "ceiling": _Words.ceiling,
    "percentile": _Words.percentile,
    "sum": _Words.sum_of_list,
    "product": _Words.product_of_list,
    "count": _Words.count,
    "largest": lambda words, arguments: words.extreme("largest", "max", arguments),
    "smallest": lambda words, arguments: words.extreme("smallest", "min", arguments),
    "sum_of_products": _Words.sum_of_products,
}


def _ordinal(share: Expression) -> str:
    """``95th`` of 95 %."""
    percent = digits_of(100 * share.in_base) if isinstance(share, Number) else "?"
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(percent[-1], "th")
    return percent + ("th" if percent[-2:-1] == "1" else ending)


def _sum(items: Sequence[str]) -> Piece:
    return Piece(" + ".join(items) or "0", Level.SUM)


def _tight(piece: Piece) -> str:
    """The text, in brackets if an adjacent sign would otherwise apply to only a part."""
    text = piece.at(Level.VALUE)
    inside = text
    while inside != (inside := _OUTER.sub("", inside)):
        pass
    return f"({text})" if " " in inside.strip() else text


def _named(text: str) -> Piece:
    """The printed form of a name; if it is itself arithmetic, it has that precedence."""
    outside = text
    while outside != (outside := _OUTER.sub("", outside)):
        pass
    for signs, level in (((", ",), Level.PHRASE), ((" + ", " - "), Level.SUM), ((" x ", " / "), Level.PRODUCT)):
        if any(sign in outside for sign in signs):
            return Piece(text, level)
    return Piece(text)


def _leaf(leaf: Number | Text | Null) -> str:
    if isinstance(leaf, Number):
        whole = leaf.value.is_integer() and _LARGE <= leaf.value < 1e15
        digits = f"{leaf.value:,.0f}" if whole else digits_of(leaf.value)
        return digits + (f" {_UNITS.get(leaf.unit.symbol, leaf.unit.symbol)}" if leaf.unit is not None else "")
    return quoted(leaf.value) if isinstance(leaf, Text) else "no value"
