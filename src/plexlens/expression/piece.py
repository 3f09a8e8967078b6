"""Parts of a printed expression, and the brackets that they need."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from plexlens.expression.error import wrong

#: Characters beyond which nothing is printed: what is printed twice within what is printed twice grows without bounds.
MOST_CHARACTERS = 200_000


class Level(IntEnum):
    """Precedence of the outermost operator of a text, from the loosest."""

    PHRASE = 0
    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    SIGN = 7
    VALUE = 8


#: Level of each operator between two operands.
LEVELS: dict[str, Level] = {
    "or": Level.OR,
    "and": Level.AND,
    **dict.fromkeys(("<", "<=", ">", ">=", "=", "!="), Level.COMPARISON),
    **dict.fromkeys("+-", Level.SUM),
    **dict.fromkeys("*/", Level.PRODUCT),
}


@dataclass(frozen=True)
class Piece:
    """A text and its precedence."""

    text: str
    level: Level = Level.VALUE

    def __post_init__(self) -> None:
        if len(self.text) > MOST_CHARACTERS:
            raise wrong("the formula is too long after expansion", "split it into several")

    def at(self, least: Level) -> str:
        """The text, in brackets if its precedence is lower."""
        return self.text if self.level >= least else f"({self.text})"


def sides(operator: str) -> tuple[Level, Level]:
    """Precedence required of the left and right operands; operators of equal precedence associate to the left."""
    level = LEVELS[operator]
    tighter = Level(level + 1)
    return (tighter if level is Level.COMPARISON else level), tighter
