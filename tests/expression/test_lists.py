"""Values of functions of lists, by hand and against a fold in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.expression import needed, parse, value

ITEMS = st.lists(st.integers(-1000, 1000), max_size=6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sum(items)", 7.5),
        ("count(items)", 3),
        ("product(items)", 5),
        ("largest(items)", 5),
        ("smallest(items)", 0.5),
        ("sum_of_products(items, items)", 29.25),
        ("sum(items) / count(items)", 2.5),
        ("sum(gaps)", None),
        ("count(gaps)", 2),
        ("largest(gaps)", None),
        ("sum_of_products(gaps, gaps)", None),
        ("sum(none)", 0),
        ("product(none)", 1),
        ("largest(none)", None),
        ("smallest(none)", None),
        ("sum(none) / count(none)", None),
        ("ceiling(x)", 3),
        ("ceiling(-x)", -2),
        ("ceiling(x / 0)", None),
    ],
)
def test_values_by_hand(text: str, expected: float | None) -> None:
    values: dict[str, Any] = {"items": [2, 5, 0.5], "gaps": [1.0, None], "none": [], "x": 2.25}
    assert value(parse(text), values) == expected


def test_what_is_too_large_is_not_rounded_up() -> None:
    assert value(parse("ceiling(x)"), {"x": math.inf}) == math.inf
    assert math.isnan(float(value(parse("ceiling(x)"), {"x": math.nan}) or 0))


def test_lists_of_different_length_are_not_multiplied() -> None:
    with pytest.raises(ValueError, match="2 numbers are multiplied with 1"):
        value(parse("sum_of_products(a, b)"), {"a": [1.0, 2.0], "b": [1.0]})


@given(ITEMS, ITEMS)
def test_values_are_those_of_fractions(first: list[int], second: list[int]) -> None:
    """Whole numbers of this size are exact in floating point."""
    pairs = list(zip(first, second, strict=False))
    values: dict[str, Any] = {"a": [float(a) for a, _ in pairs], "b": [float(b) for _, b in pairs]}
    found = value(parse("sum_of_products(a, b) - sum(a) + largest(b)"), values)
    expected = None
    if pairs:
        expected = sum((Fraction(a) * b - a for a, b in pairs), Fraction(max(b for _, b in pairs)))
    assert found == (None if expected is None else float(expected))


def test_a_list_has_to_be_known() -> None:
    assert needed(parse("sum(a) / b")) == {frozenset({"a"}), frozenset({"b"})}
