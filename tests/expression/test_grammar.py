"""The grammar against trees written with every bracket and against Python's arithmetic; texts of any kind and size."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.expression import (
    ExpressionError,
    Interval,
    Scope,
    bounds,
    expand,
    names_of,
    needed,
    parse,
    sql_of,
    text_of,
    type_of,
    value,
    words_of,
)
from plexlens.expression.parser import MOST_DEPTH, MOST_TOKENS
from plexlens.expression.tree import LITERAL_UNITS, Among, Binary, Call, Expression, Name, Number, Text, Unary
from tests.draws import draws


@pytest.mark.parametrize(("unit", "parts"), [("%", 100), ("ms", 1000), ("us", 1_000_000)])
def test_a_limit_is_the_number_that_a_ratio_at_it_gives(unit: str, parts: int) -> None:
    """70 of 100 is not below 70 %: 70 * 0.01 would be above 0.7."""
    for n in range(1, 201):
        made = parse(f"{n} {unit}")
        assert isinstance(made, Number)
        assert made.in_base == n / parts


def _rendered(expression: Expression) -> str:  # noqa: PLR0911 a table of cases
    """An expression as text, with every bracket."""
    if isinstance(expression, Number):
        return f"{expression.value!r}" + (f" {expression.unit.symbol}" if expression.unit else "")
    if isinstance(expression, Text):
        return f"'{expression.value}'"
    if isinstance(expression, Name):
        return expression.name
    if isinstance(expression, Unary):
        return f"({expression.operator} {_rendered(expression.operand)})"
    if isinstance(expression, Among):
        values = ", ".join(_rendered(one) for one in expression.values)
        return f"({_rendered(expression.operand)} in ({values}))"
    if isinstance(expression, Call):
        return f"{expression.function}({', '.join(_rendered(one) for one in expression.arguments)})"
    return f"({_rendered(expression.left)} {expression.operator} {_rendered(expression.right)})"


def _bare(expression: Expression) -> Any:  # noqa: PLR0911 a table of cases
    """An expression without the places in the text."""
    if isinstance(expression, Number):
        return (expression.value, expression.unit)
    if isinstance(expression, Text):
        return f"'{expression.value}'"
    if isinstance(expression, Name):
        return expression.name
    if isinstance(expression, Unary):
        return (expression.operator, _bare(expression.operand))
    if isinstance(expression, Among):
        return ("in", _bare(expression.operand), tuple(_bare(one) for one in expression.values))
    if isinstance(expression, Call):
        return (expression.function, *(_bare(one) for one in expression.arguments))
    return (expression.operator, _bare(expression.left), _bare(expression.right))


_LEAVES = st.one_of(
    st.builds(
        Number,
        st.floats(0, 1e9, allow_nan=False).map(lambda x: round(x, 3)),
        st.sampled_from([None, *LITERAL_UNITS.values()]),
        st.just(0),
    ),
    st.builds(Name, st.sampled_from(["a", "b", "requests", "x_1"]), st.just(0)),
)
_ARITHMETIC = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/"]), inner, inner, st.just(0)),
        st.builds(Call, st.sampled_from(["greatest", "least"]), st.tuples(inner, inner), st.just(0)),
    ),
    max_leaves=4,
)
# So many leaves stay below the bounds of the parser, with every bracket written.
_CONDITIONS = st.recursive(
    st.one_of(
        st.builds(Binary, st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), _ARITHMETIC, _ARITHMETIC, st.just(0)),
        st.builds(
            Among,
            st.builds(Name, st.just("t"), st.just(0)),
            st.lists(
                st.builds(Text, st.text(st.characters(exclude_characters="'"), max_size=8), st.just(0)), min_size=1
            )
            .map(tuple)
            .filter(lambda found: len(found) < 6),
            st.just(0),
        ),
    ),
    lambda inner: st.builds(Binary, st.sampled_from(["and", "or"]), inner, inner, st.just(0)),
    max_leaves=3,
)


@given(_CONDITIONS)
@settings(max_examples=draws(200), deadline=None)
def test_an_expression_written_out_is_read_back(expression: Expression) -> None:
    assert _bare(parse(_rendered(expression))) == _bare(expression)


@given(st.lists(st.sampled_from(["+", "-", "*"]), max_size=20), st.data())
@settings(max_examples=draws(200), deadline=None)
def test_arithmetic_binds_as_in_school(operators: list[str], data: st.DataObject) -> None:
    """Against Python's own reading of the same text."""
    numbers = [data.draw(st.integers(0, 9)) for _ in range(len(operators) + 1)]
    text = str(numbers[0]) + "".join(f" {op} {n}" for op, n in zip(operators, numbers[1:], strict=True))
    assert _computed(parse(text)) == eval(text)


def _computed(expression: Expression) -> float:
    if isinstance(expression, Number):
        return expression.value
    assert isinstance(expression, Binary)
    left, right = _computed(expression.left), _computed(expression.right)
    return {"+": left + right, "-": left - right, "*": left * right}[expression.operator]


@given(st.one_of(st.text(), st.text("()<>=!+-*/%'., abc019_andortniul\n", max_size=60)))
@settings(max_examples=draws(500), deadline=None)
def test_any_text_is_an_expression_or_an_error_with_a_remedy(text: str) -> None:
    try:
        type_of(parse(text), Scope.of("a name", {"a": "s", "b": "count"}, ["t"]))
    except ExpressionError as error:
        assert error.what
        assert error.remedy


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "not " * 100_000 + "a = 1",
        "-" * 100_000 + "a",
        "a" + " + a" * 100_000,
        "1e99999",
        "9" * 400,
        "greatest(" * 500,
        "a = '" + "x" * 100_000 + "'",
    ],
    ids=["brackets", "not", "minus", "sum", "exponent", "digits", "calls", "text"],
)
def test_huge_texts_end_soon(text: str) -> None:
    try:
        type_of(parse(text), Scope.of("a name", {"a": "count"}))
    except ExpressionError as error:
        assert len(str(error)) < 5000


def test_bounds_are_what_they_say() -> None:
    assert parse("(" * (MOST_DEPTH - 1) + "a" + ")" * (MOST_DEPTH - 1)) == Name("a", MOST_DEPTH)
    with pytest.raises(ExpressionError, match="levels deep"):
        parse("(" * MOST_DEPTH + "a" + ")" * MOST_DEPTH)
    parse("a" + "+a" * (MOST_TOKENS // 2 - 1))
    with pytest.raises(ExpressionError, match="parts"):
        parse("a" + "+a" * (MOST_TOKENS // 2))


def test_names_of_an_expression() -> None:
    assert names_of(parse("greatest(a, -b) > 1 and not known(c) or t in ('x')")) == {"a", "b", "c", "t"}


@pytest.mark.parametrize(
    "text",
    [
        "+".join("a" * (MOST_TOKENS // 2)),
        f"total({','.join('a' * (MOST_TOKENS // 2 - 2))})",
        "total(a, " * (MOST_DEPTH - 1) + "a" + ")" * (MOST_DEPTH - 1),
        "if(a > 0, a, " * (MOST_DEPTH - 1) + "a" + ")" * (MOST_DEPTH - 1),
    ],
    ids=["long", "wide", "deep", "cases"],
)
def test_whatever_is_parsed_can_be_used(text: str) -> None:
    """The largest trees that the parser gives do not exhaust the stack in anything that is done with them."""
    tree = parse(text)
    assert parse(text_of(tree)) == tree
    assert hash(tree) == hash(expand(tree, {}))
    assert type_of(tree, Scope.of("a name", {"a": "s"})).base == "s"
    assert needed(tree) == {frozenset({"a"})}
    found = value(tree, {"a": 1.0})
    assert bounds(tree, {"a": Interval(1, 1)}) == Interval(found, found)  # type: ignore[arg-type]
    assert sql_of(tree, str).count("a") >= text.count("a")
    assert words_of(tree, str).startswith("a")
