"""Text to tree and back, terms, and names; bad input with its place and what is valid."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from plexlens.expression import Expression, ExpressionError, expand, names_of, parse, text_of
from plexlens.expression.tree import MOST_PARTS, NULL, Binary, Call, Name, Number, Text, Unary
from tests.draws import draws
from tests.expression.trees import ANY


@given(ANY)
@settings(max_examples=draws(500), deadline=None)
def test_the_text_of_a_tree_is_read_back_as_the_tree(tree: Expression) -> None:
    assert parse(text_of(tree)) == tree


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ("((a + b)) / (c)", "(a + b) / c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a - b) - c", "a - b - c"),
        ("a / (b * c)", "a / (b * c)"),
        ("(a * b) / c", "a * b / c"),
        ("-(-a)", "-(-a)"),
        ("- - a", "a"),
        ("not (not (a > 1))", "not (not a > 1)"),
        ("(a > 1 and b > 1) or c > 1", "a > 1 and b > 1 or c > 1"),
        ("a > 1 and (b > 1 or c > 1)", "a > 1 and (b > 1 or c > 1)"),
        ("0.05", "0.05"),
        ("33e-6", "3.3e-05"),
        ("33  us*a", "33 us * a"),
        ("t in ( 'a','b' )", "t in ('a', 'b')"),
        ("t = 'it''s'", "t = 'it''s'"),
        ("if(known(a),a,null)", "if(known(a), a, null)"),
        ("86400.0", "86400"),
    ],
)
def test_texts_have_no_bracket_too_many(text: str, shortest: str) -> None:
    assert text_of(parse(text)) == shortest


def test_what_the_parts_are() -> None:
    assert parse("total(a, 4 KiB) / 2") == Binary(
        "/",
        Call("total", (Name("a"), Number(4.0, parse("1 KiB").unit))),
        Number(2.0),  # type: ignore[union-attr]
    )
    assert parse("null") == NULL
    assert parse("-'it''s'") == Unary("-", Text("it's"))


def test_trees_are_equal_wherever_they_were_written() -> None:
    first, second = parse("a+a"), parse("  a  +  a ")
    assert first == second
    assert hash(first) == hash(second)
    assert isinstance(first, Binary)
    assert (first.left.at, first.right.at) == (1, 3)


# --- terms ------------------------------------------------------------------------------------------------------------


def test_terms_are_put_in_to_the_last() -> None:
    terms = {"reads": parse("total(hits, misses)"), "all": parse("reads + writes"), "unused": parse("unused_2")}
    made = expand(parse("reads / all"), terms)
    assert made == parse("total(hits, misses) / (total(hits, misses) + writes)")
    assert names_of(made) == {"hits", "misses", "writes"}


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        ({"a": "a"}, "a term refers to itself: a -> a"),
        ({"a": "b + 1", "b": "c", "c": "2 * b"}, "a term refers to itself: b -> c -> b"),
    ],
)
def test_terms_do_not_go_in_a_circle(terms: dict[str, str], says: str) -> None:
    with pytest.raises(ExpressionError, match=says):
        expand(parse("x / a"), {name: parse(text) for name, text in terms.items()})


def test_terms_that_double_each_other_end_soon() -> None:
    terms = {f"t{n}": parse(f"t{n - 1} + t{n - 1}") for n in range(1, 60)}
    with pytest.raises(ExpressionError, match="too large"):
        expand(parse("t59"), terms)
    assert 2**11 < MOST_PARTS < 2**13


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "character", "what", "remedy"),
    [
        ("a ? b", 3, "'?' is not allowed here", "are known"),
        ("t = 'x", 5, "is not allowed here", "close the quote"),
        ("a + ", 5, "the end stands where a value was expected", "correct"),
        ("a b", 3, "'b' stands where an operator or the end was expected", "correct"),
        ("(a + b", 7, "the end stands where ')' was expected", "correct"),
        ("a, b", 2, "',' stands where an operator", "correct"),
        ("t in (a)", 7, "'a' stands where a 'text' was expected", "correct"),
        ("log(a)", 1, "there is no function log", "total(x, y, ...)"),
        ("1 + total()", 11, "')' stands where a value was expected", "correct"),
        ("a + sqrt(a, b)", 5, "2 values do not fit sqrt", "sqrt(x): the square root"),
        ("if(a > 1)", 1, "1 values do not fit if", "if(condition, x, y)"),
        ("deviation(a, b)", 1, "2 values do not fit deviation", "deviation(squares, sum, count)"),
        ("1e999", 1, "too large a number", "smaller"),
        ("5 furlongs", 3, "'furlongs' stands where an operator", "correct"),
        ("+".join("a" * 500), 401, "more than 400 parts", "several"),
        ("(" * 40 + "a", 31, "more than 30 levels", "several"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text: str, character: int, what: str, remedy: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.character == character
    assert caught.value.what.startswith(f"character {character}: ")
    assert what in caught.value.what
    assert remedy in caught.value.remedy
