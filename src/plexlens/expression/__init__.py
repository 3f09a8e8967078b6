"""The language of formulas and conditions: text to tree once, and from the tree all that is asked of a formula.

`parse` gives the tree of a text. From it come the text again (`text_of`), the words shown to the reader (`words_of`),
and the names it reads (`names_of`); `expand` puts terms in.
"""

from plexlens.expression.error import ExpressionError
from plexlens.expression.parser import parse
from plexlens.expression.text import text_of
from plexlens.expression.tree import FUNCTIONS, LITERAL_UNITS, Expression, expand, names_of
from plexlens.expression.words import words_of

__all__ = [
    "FUNCTIONS",
    "LITERAL_UNITS",
    "Expression",
    "ExpressionError",
    "expand",
    "names_of",
    "parse",
    "text_of",
    "words_of",
]
