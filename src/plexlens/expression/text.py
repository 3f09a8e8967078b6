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


def _piece(expression: Expression) -> Piece:
    if isinstance(expression, Binary):
        left, right = sides(expression.operator)
        text = f"{_piece(expression.left).at(left)} {expression.operator} {_piece(expression.right).at(right)}"
        return Piece(text, LEVELS[expression.operator])
    if isinstance(expression, Unary):
        if expression.operator == "not":
            return Piece(f"not {_piece(expression.operand).at(Level.COMPARISON)}", Level.NOT)
        return Piece(f"-{_piece(expression.operand).at(Level.VALUE)}", Level.SIGN)
    if isinstance(expression, Among):
        values = ", ".join(quoted(value.value) for value in expression.values)
        return Piece(f"{_piece(expression.operand).at(Level.SUM)} in ({values})", Level.COMPARISON)
    if isinstance(expression, Call):
        parts = []
        for argument in expression.arguments:
            parts.append(_piece(argument).text)
        return Piece(f"{expression.function}({', '.join(parts)})")
    return Piece(_leaf(expression))


def _leaf(leaf: Number | Text | Null | Name) -> str:
    if isinstance(leaf, Number):
        return digits_of(leaf.value) + (f" {leaf.unit.symbol}" if leaf.unit is not None else "")
    if isinstance(leaf, Text):
        return quoted(leaf.value)
    return "null" if isinstance(leaf, Null) else leaf.name
