"""The language of formulas and conditions: text is parsed once to a tree, from which SQL, words and units follow.

`parse` gives the tree of a text. From it come the text again (`text_of`), the words shown to the reader (`words_of`),
the SQL (`sql_of`), the names it reads (`names_of`), those that have to be known (`needed`), its kind and unit
(`type_of`, `check_metric`), its value in plain Python (`value`), and what that can be for inputs
within bounds (`bounds`). `expand` puts terms in, `shared_parts` takes out what occurs more than once.
"""

from plexlens.expression.bounds import Interval, bounds
from plexlens.expression.error import ExpressionError
from plexlens.expression.needed import Clauses, needed
from plexlens.expression.parser import parse
from plexlens.expression.shared import shared_parts
from plexlens.expression.sql import sql_of
from plexlens.expression.text import text_of
from plexlens.expression.tree import (
    FUNCTIONS,
    LIST_FUNCTIONS,
    LITERAL_UNITS,
    Binary,
    Call,
    Expression,
    Name,
    Number,
    Unary,
    expand,
    names_of,
    operands_of,
    walk,
)
from plexlens.expression.types import Kind, Scope, Type, check_metric, type_of
from plexlens.expression.value import Value, value
from plexlens.expression.words import words_of

__all__ = [
    "FUNCTIONS",
    "LIST_FUNCTIONS",
    "LITERAL_UNITS",
    "Binary",
    "Call",
    "Clauses",
    "Expression",
    "ExpressionError",
    "Interval",
    "Kind",
    "Name",
    "Number",
    "Scope",
    "Type",
    "Unary",
    "Value",
    "bounds",
    "check_metric",
    "expand",
    "names_of",
    "needed",
    "operands_of",
    "parse",
    "shared_parts",
    "sql_of",
    "text_of",
    "type_of",
    "value",
    "walk",
    "words_of",
]
