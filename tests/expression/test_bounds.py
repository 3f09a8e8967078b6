"""Bounds contain the value of any inputs within them, and are as narrow as a person would have them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from plexlens.expression import Expression, Interval, bounds, parse, value
from plexlens.expression.bounds import NOTHING
from tests.draws import draws
from tests.expression.trees import LISTS, NUMBERS, TEXTS, conditions, numbers

ENDS = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.5, 100.0]), st.floats(-1e3, 1e3)).map(lambda one: one + 0.0)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Intervals by name, and a value within each."""
    intervals: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name in NUMBERS:
        low, high = sorted((draw(ENDS), draw(ENDS)))
        kind = draw(st.sampled_from(["known", "known", "may be missing", "missing"]))
        if kind == "missing":
            intervals[name], values[name] = draw(st.sampled_from([NOTHING, None])), None
            continue
        intervals[name] = Interval(low, high, missing=kind == "may be missing")
        inside = st.one_of(st.just(low), st.just(high), st.floats(low, high))
        values[name] = draw(st.one_of(inside, st.none()) if kind == "may be missing" else inside)
    length = draw(st.integers(0, 3))
    for name in LISTS:
        ends = [sorted((draw(ENDS), draw(ENDS))) for _ in range(length)]
        gaps = [draw(st.booleans()) for _ in ends]
        intervals[name] = [Interval(low, high, missing=gap) for (low, high), gap in zip(ends, gaps, strict=True)]
        inside = [draw(st.floats(low, high)) for low, high in ends]
        values[name] = [
            draw(st.sampled_from([one, None])) if gap else one for one, gap in zip(inside, gaps, strict=True)
        ]
    for name in TEXTS:
        intervals[name] = values[name] = draw(st.sampled_from([None, "", "a", "ab"]))
    return intervals, values


@given(numbers(4, lists=True), inputs())
@settings(max_examples=draws(500, soak=15_000), deadline=None)
def test_bounds_contain_the_value_of_any_inputs_within_them(
    tree: Expression, given_inputs: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    intervals, values = given_inputs
    found = value(tree, values)
    assume(found is None or math.isfinite(found))  # type: ignore[arg-type]
    made = bounds(tree, intervals)
    assert found in (made if isinstance(made, Interval) else NOTHING)


@given(conditions(3), inputs())
@settings(max_examples=draws(300, soak=8_000), deadline=None)
def test_bounds_of_a_condition_contain_what_it_is(
    tree: Expression, given_inputs: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    intervals, values = given_inputs
    made = bounds(tree, intervals)
    assert isinstance(made, frozenset)
    assert value(tree, values) in made


@given(numbers(4), inputs())
@settings(max_examples=draws(150, soak=3_000), deadline=None)
def test_bounds_of_known_inputs_are_the_value(tree: Expression, given_inputs: tuple[Any, dict[str, Any]]) -> None:
    _, values = given_inputs
    found = value(tree, values)
    assume(found is None or math.isfinite(found))  # type: ignore[arg-type]
    points: dict[str, Any] = {
        name: [NOTHING if item is None else Interval(item, item) for item in one]
        if name in LISTS
        else one
        if name in TEXTS
        else NOTHING
        if one is None
        else Interval(one, one)
        for name, one in values.items()
    }
    made = bounds(tree, points)
    assert isinstance(made, Interval)
    if made.low == made.high or not made.has_numbers:
        assert made == (NOTHING if found is None else Interval(found, found))  # type: ignore[arg-type]


INFINITE = math.inf


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", Interval(4, 8)),
        ("a - b", Interval(-4, 0)),
        ("-a", Interval(-3, -1)),
        ("a * b", Interval(3, 15)),
        ("sign * b", Interval(-10, 5)),
        ("b / a", Interval(1, 5)),
        ("a / sign", Interval(-INFINITE, INFINITE, missing=True)),
        ("a / down", Interval(0.5, INFINITE, missing=True)),
        ("down / a", Interval(0, 2)),
        ("a / zero", Interval(INFINITE, -INFINITE, missing=True)),
        ("a + maybe", Interval(11, 23, missing=True)),
        ("total(a, maybe)", Interval(1, 23)),
        ("total(maybe, maybe)", Interval(0, 40, missing=True)),
        ("coalesce(maybe, a)", Interval(1, 20)),
        ("coalesce(a, maybe)", Interval(1, 3)),
        ("greatest(a, b, maybe)", Interval(3, 20)),
        ("least(a, b, maybe)", Interval(1, 3)),
        ("sqrt(b - 2)", Interval(1, math.sqrt(3))),
        ("sqrt(sign)", Interval(0, 1, missing=True)),
        ("if(a > 0, b)", Interval(3, 5)),
        ("if(a > 5, b, 7)", Interval(7, 7)),
        ("if(a > 2, b, 7)", Interval(3, 7)),
        ("if(known(maybe), 1, 2)", Interval(1, 2)),
        ("if(maybe > 0, 1)", Interval(1, 1, missing=True)),
        ("null", NOTHING),
        ("ceiling(a / 2)", Interval(1, 2)),
        ("ceiling(maybe)", Interval(10, 20, missing=True)),
        ("sum(items)", Interval(3, 8)),
        ("sum(gaps)", Interval(3, 8, missing=True)),
        ("product(items)", Interval(2, 15)),
        ("count(gaps)", Interval(2, 2)),
        ("largest(items)", Interval(2, 5)),
        ("smallest(items)", Interval(1, 3)),
        ("sum_of_products(items, items)", Interval(5, 34)),
        ("sum(none)", Interval(0, 0)),
        ("product(none)", Interval(1, 1)),
        ("largest(none)", NOTHING),
    ],
)
def test_bounds_by_hand(text: str, expected: Interval) -> None:
    intervals = {
        "a": Interval(1, 3),
        "b": Interval(3, 5),
        "sign": Interval(-2, 1),
        "down": Interval(0, 2),
        "zero": Interval(0, 0),
        "maybe": Interval(10, 20, missing=True),
        "items": [Interval(1, 3), Interval(2, 5)],
        "gaps": [Interval(1, 3), Interval(2, 5, missing=True)],
        "none": [],
    }
    assert bounds(parse(text), intervals) == expected
