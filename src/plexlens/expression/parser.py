"""Parser: from the text of an expression to its tree.

The grammar, from the loosest binding to the tightest::

    expression = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation = "not" negation | comparison
    comparison = sum [ ( "<" | "<=" | ">" | ">=" | "=" | "!=" ) sum | "in" "(" text { "," text } ")" ]
    sum = product { ( "+" | "-" ) product }
    product = factor { ( "*" | "/" ) factor }
    factor = "-" factor | value
    value = number [ unit ] | text | "null" | name | function "(" expression { "," expression } ")" | "(" expression ")"

A quote within a text is written twice.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from plexlens.expression.error import ExpressionError, wrong
from plexlens.expression.tree import (
    ARITIES,
    FUNCTIONS,
    LITERAL_UNITS,
    Among,
    Binary,
    Call,
    Expression,
    Name,
    Null,
    Number,
    Text,
    Unary,
)

#: Nesting and length beyond which no formula goes; both keep the work of any text within bounds.
MOST_DEPTH = 30
MOST_TOKENS = 400

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<text>'(?:[^']|'')*')
      | (?P<sign><=|>=|!=|[-+*/<>=(),%])""",
    re.VERBOSE,
)

_COMPARISONS = ("<", "<=", ">", ">=", "=", "!=")
_RESERVED = ("and", "or", "not", "in", "null")


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


def parse(text: str) -> Expression:
    """The tree of an expression.

    Raises
    ------
    ExpressionError
        The text is not an expression; the message says at which character and what was expected there.
    """
    return _Parser(_tokens(text)).whole()


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            known = "names, numbers, 'texts', + - * / < > = and ( ) are known"
            remedy = "close the quote" if text[place] == "'" else known
            raise wrong(f"{text[place]!r} is not allowed here", remedy, place + 1)
        if match.lastgroup != "space":
            tokens.append(_Token(str(match.lastgroup), match.group(), place + 1))
            if len(tokens) > MOST_TOKENS:
                raise wrong(f"the expression has more than {MOST_TOKENS} parts", "split it into several", place + 1)
        place = match.end()
    tokens.append(_Token("end", "", len(text) + 1))
    return tokens


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.place = 0
        self.depth = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def taken(self, *texts: str) -> _Token | None:
        """Take the next token if it is one of these words or signs."""
        token = self.token
        if token.kind in ("word", "sign") and token.text in texts:
            self.place += 1
            return token
        return None

    def expect(self, text: str) -> None:
        if self.taken(text) is None:
            raise self.unexpected(f"{text!r}")

    def unexpected(self, wanted: str) -> ExpressionError:
        token = self.token
        text = "the end" if token.kind == "end" else repr(token.text)
        return wrong(f"{text} stands where {wanted} was expected", "correct the expression", token.at)

    def whole(self) -> Expression:
        alternatives = self.alternatives()
        if self.token.kind != "end":
            raise self.unexpected("an operator or the end")
        return alternatives

    def alternatives(self) -> Expression:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise wrong(f"more than {MOST_DEPTH} levels deep", "split it into several", self.token.at)
        conjunction = self.conjunction()
        while token := self.taken("or"):
            conjunction = Binary("or", conjunction, self.conjunction(), token.at)
        self.depth -= 1
        return conjunction

    def conjunction(self) -> Expression:
        negation = self.negation()
        while token := self.taken("and"):
            negation = Binary("and", negation, self.negation(), token.at)
        return negation

    def negation(self) -> Expression:
        # Counted, not called again: any number of them is one place deeper at most.
        nots = []
        while token := self.taken("not"):
            nots.append(token)
        comparison = self.comparison()
        for token in reversed(nots[: len(nots) % 2]):
            comparison = Unary("not", comparison, token.at)
        return comparison

    def comparison(self) -> Expression:
        left = self.sum()
        if token := self.taken(*_COMPARISONS):
            return Binary(token.text, left, self.sum(), token.at)
        if token := self.taken("in"):
            self.expect("(")
            values = [self.text()]
            while self.taken(","):
                values.append(self.text())
            self.expect(")")
            return Among(left, tuple(values), token.at)
        return left

    def text(self) -> Text:
        token = self.token
        if token.kind != "text":
            raise self.unexpected("a 'text'")
        self.place += 1
        return Text(token.text[1:-1].replace("''", "'"), token.at)

    def sum(self) -> Expression:
        result = self.product()
        while token := self.taken("+", "-"):
            result = Binary(token.text, result, self.product(), token.at)
        return result

    def product(self) -> Expression:
        factor = self.factor()
        while token := self.taken("*", "/"):
            factor = Binary(token.text, factor, self.factor(), token.at)
        return factor

    def factor(self) -> Expression:
        signs = []
        while token := self.taken("-"):
            signs.append(token)
        value = self.value()
        for token in signs[: len(signs) % 2]:
            value = Unary("-", value, token.at)
        return value

    def value(self) -> Expression:
        token = self.token
        if token.kind == "number":
            return self.number()
        if token.kind == "text":
            return self.text()
        if self.taken("null"):
            return Null(token.at)
        if token.kind == "word" and token.text not in _RESERVED:
            self.place += 1
            return self.call(token) if self.taken("(") else Name(token.text, token.at)
        if self.taken("("):
            alternatives = self.alternatives()
            self.expect(")")
            return alternatives
        raise self.unexpected("a value")

    def number(self) -> Number:
        token = self.token
        self.place += 1
        value = float(token.text)
        if not math.isfinite(value):
            raise wrong(f"{token.text} is too large a number", "give a smaller one", token.at)
        unit = self.taken(*LITERAL_UNITS)
        return Number(value, LITERAL_UNITS[unit.text] if unit is not None else None, token.at)

    def call(self, token: _Token) -> Call:
        arguments = [self.alternatives()]
        while self.taken(","):
            arguments.append(self.alternatives())
        self.expect(")")
        if token.text not in FUNCTIONS:
            valid = "; ".join(FUNCTIONS.values())
            raise wrong(f"there is no function {token.text}", f"there are: {valid}", token.at)
        fewest, most = ARITIES[token.text]
        if len(arguments) < fewest or (most is not None and len(arguments) > most):
            raise wrong(f"{len(arguments)} values do not fit {token.text}", FUNCTIONS[token.text], token.at)
        return Call(token.text, tuple(arguments), token.at)
