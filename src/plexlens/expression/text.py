"""From a tree to its text in the language, with as few brackets as it needs."""

from __future__ import annotations

from plexlens.expression.piece import LEVELS, Level, Piece, sides
from plexlens.expression.tree import Among, Binary, Call, Expression, Name, Null, Number, Text, Unary


def text_of(expression: Expression) -> str:
    """The text of a tree; parsing it gives the tree."""
    return _piece(expression).text


def digits_of(value: float) -> str:
    """The shortest text of a number that reads back as the same number."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def quoted(text: str) -> str:
    """A text in quotes, with inner quotes doubled, as in the language and in SQL."""
    return "'" + text.replace("'", "''") + "'"


def _piece(one: Expression) -> Piece:
    if isinstance(one, Binary):
        left, right = sides(one.operator)
        made = f"{_piece(one.left).at(left)} {one.operator} {_piece(one.right).at(right)}"
        return Piece(made, LEVELS[one.operator])
    if isinstance(one, Unary):
        if one.operator == "not":
            return Piece(f"not {_piece(one.operand).at(Level.COMPARISON)}", Level.NOT)
        return Piece(f"-{_piece(one.operand).at(Level.VALUE)}", Level.SIGN)
    if isinstance(one, Among):
        values = ", ".join(quoted(value.value) for value in one.values)
        return Piece(f"{_piece(one.operand).at(Level.SUM)} in ({values})", Level.COMPARISON)
    if isinstance(one, Call):
        parts = []
        for argument in one.arguments:
            parts.append(_piece(argument).text)
        return Piece(f"{one.function}({', '.join(parts)})")
    return Piece(_leaf(one))


def _leaf(one: Number | Text | Null | Name) -> str:
    if isinstance(one, Number):
        return digits_of(one.value) + (f" {one.unit.symbol}" if one.unit is not None else "")
    if isinstance(one, Text):
        return quoted(one.value)
    return "null" if isinstance(one, Null) else one.name
