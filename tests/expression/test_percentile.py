"""Percentiles from counts within bounds, against those of the values themselves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.expression import ExpressionError, Scope, needed, parse, text_of, type_of, value, words_of
from plexlens.expression.percentile import widest_step

BOUNDS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.1)
PAIRS = "1 ms, a, 2 ms, b, 3 ms, c, 5 ms, d, 10 ms, e, 100 ms, f"
SCOPE = Scope.of("a count", dict.fromkeys("nabcdef", "count") | {"seconds": "s", "most": "s"})


def counted(values: list[float]) -> dict[str, Any]:
    within = [float(sum(each <= bound for each in values)) for bound in BOUNDS]
    return {"n": float(len(values)), "most": max(values), **dict(zip("abcdef", within, strict=True))}


def low_of(number: float) -> float:
    return max(bound for bound in BOUNDS if bound < number)


@given(st.lists(st.floats(0.0001, 0.3), min_size=1, max_size=60), st.sampled_from([1, 50, 90, 95, 99]))
def test_a_percentile_lies_between_the_bounds_of_the_exact_one(values: list[float], percent: int) -> None:
    estimate = value(parse(f"percentile({percent} %, n, most, {PAIRS})"), counted(values))
    # The smallest value that the share of all does not exceed, in whole numbers.
    exact = sorted(values)[-(-len(values) * percent // 100) - 1]
    if exact > BOUNDS[-1]:
        assert estimate is None
    elif exact <= BOUNDS[0]:
        assert estimate == min(BOUNDS[0], max(values))
    elif exact == max(values) and sum(each > low_of(exact) for each in values) == 1:
        assert estimate == pytest.approx(exact, rel=1e-12)
    else:
        assert isinstance(estimate, float)
        assert estimate <= max(values)
        low, high = next((low, high) for low, high in pairwise(BOUNDS) if low < exact <= high)
        assert low < estimate <= high * (1 + 1e-12)
        assert 1 / widest_step(BOUNDS) < estimate / exact < widest_step(BOUNDS)


@pytest.mark.parametrize("highest", [0.002, 0.005, 0.1])
@pytest.mark.parametrize("percent", [1, 33, 50, 90, 99])
def test_values_that_are_spread_as_is_assumed_have_their_exact_percentile(highest: float, percent: int) -> None:
    # Values at equal steps of their logarithm between two bounds.
    values = [0.001 * (highest / 0.001) ** (number / 2000) for number in range(1, 2001)]
    estimate = value(parse(f"percentile({percent} %, n, most, {PAIRS})"), counted(values))
    assert estimate == pytest.approx(0.001 * (highest / 0.001) ** (percent / 100), rel=0.003)


def test_the_widest_step() -> None:
    assert widest_step([1.0, 4.0, 5.0]) == 4.0


def test_no_percentile_exceeds_the_largest_value() -> None:
    # All between 1 and 2 ms, the largest 1.2 ms: nine tenths of the way to it. If it is unknown, the ninth of ten.
    counts = {"n": 10.0, "most": 0.0012, "a": 0.0, **dict.fromkeys("bcdef", 10.0)}
    assert value(parse(f"percentile(90 %, n, most, {PAIRS})"), counts) == pytest.approx(0.001 * 1.2**0.9, rel=1e-6)
    assert value(parse(f"percentile(90 %, n, null, {PAIRS})"), counts) == pytest.approx(0.001 * 2 ** (9 / 11), rel=1e-6)
    # A largest value above the bound tells nothing. One below the bound before is not of these counts.
    higher, lower = {**counts, "most": 0.1}, {**counts, "most": 0.0008}
    assert value(parse(f"percentile(90 %, n, most, {PAIRS})"), higher) == pytest.approx(0.001 * 2 ** (9 / 11), rel=1e-6)
    assert value(parse(f"percentile(90 %, n, most, {PAIRS})"), lower) == 0.0008


def test_by_hand() -> None:
    # The 50th of 20 values is the tenth, the last within 1 ms. The 90th is the 18th, of nine between 1 and 2 ms the
    # eighth. The 99th is the last, which lies between 2 and 3 ms, or is the largest if that is known.
    counts = {"n": 20.0, "most": None, "a": 10.0, "b": 19.0, "c": 20.0, "d": 20.0, "e": 20.0, "f": 20.0}
    for percent, expected in {50: 0.001, 90: 0.001 * 2**0.8, 99: 0.002 * 1.5**0.5}.items():
        assert value(parse(f"percentile({percent} %, n, most, {PAIRS})"), counts) == pytest.approx(expected, rel=1e-6)
    counts["most"] = 0.0022
    for percent, expected in {50: 0.001, 90: 0.001 * 2**0.8, 99: 0.0022}.items():
        assert value(parse(f"percentile({percent} %, n, most, {PAIRS})"), counts) == pytest.approx(expected, rel=1e-6)


def test_scaled_counts_by_hand() -> None:
    # 1.5 of 4.5 values lie between 1 and 2 ms. Rank 2.25 is rounded up to 3, of which 2.5 lie within 2 ms.
    counts = {"n": 4.5, "most": None, "a": 1.0, "b": 2.5, **dict.fromkeys("cdef", 4.5)}
    estimate = value(parse(f"percentile(50 %, n, most, {PAIRS})"), counts)
    assert estimate == pytest.approx(0.001 * 2 ** (1.5 / 2.5), rel=1e-6)


@pytest.mark.parametrize("whole", [None, 0.0, -1.0])
def test_nothing_that_was_counted_has_no_percentile(whole: float | None) -> None:
    assert (
        value(parse(f"percentile(95 %, n, most, {PAIRS})"), dict.fromkeys("abcdef", 0.0) | {"n": whole, "most": None})
        is None
    )


def test_it_is_a_value_of_the_bounds_from_counts() -> None:
    assert type_of(parse(f"percentile(95 %, n, most, {PAIRS})"), SCOPE).base == "s"
    assert needed(parse(f"percentile(95 %, n, most, {PAIRS})")) == {frozenset({"n"})}
    words = words_of(parse(f"percentile(95 %, n, most, {PAIRS})"), str)
    assert words == "95th percentile, from counts within bounds of 1 ms to 100 ms"
    assert parse(text_of(parse(f"percentile(95 %, n, most, {PAIRS})"))) == parse(f"percentile(95 %, n, most, {PAIRS})")


@pytest.mark.parametrize(
    ("percent", "words"),
    [("50", "50th"), ("1", "1st"), ("22", "22nd"), ("93", "93rd"), ("12", "12th"), ("99.9", "99.9th")],
)
def test_the_percentile_in_words(percent: str, words: str) -> None:
    assert words_of(parse(f"percentile({percent} %, n, most, {PAIRS})"), str).startswith(f"{words} percentile, ")


@pytest.mark.parametrize(
    ("text", "character", "what"),
    [
        ("percentile(95, n, most, 1 ms, a)", 12, "the share is not a number between 0 % and 100 %"),
        ("percentile(n, n, most, 1 ms, a)", 12, "the share is not a number"),
        ("percentile(95 %, n, most, 2 ms, a, 2 ms, b)", 36, "a bound is not a number above the one before it"),
        ("percentile(95 %, n, most, 0 ms, a)", 27, "a bound is not a number above"),
        ("percentile(95 %, n, most, seconds, a)", 27, "a bound is not a number above"),
        ("percentile(95 %, n, most, 1 ms, a, 2 ms)", 36, "the last bound has no count"),
        ("percentile(95 %, n, most, 1 ms, seconds)", 1, "one side is in count, the other in s"),
        ("percentile(95 %, n, a, 1 ms, b)", 1, "one side is in count, the other in s"),
        ("percentile(95 %, n, 1 ms, a)", 1, "4 values do not fit percentile"),
    ],
)
def test_what_is_refused(text: str, character: int, what: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        type_of(parse(text), SCOPE)
    assert f"character {character}: {what}" in str(caught.value)
