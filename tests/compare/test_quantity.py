"""Printed numbers and their bounds: hand-made cases, and what must hold of interval arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plexlens.compare.numbers.line import fit_line
from plexlens.compare.numbers.quantity import Quantity, UndefinedError, as_printed, exact, printed


@pytest.mark.parametrize(
    ("cell", "value", "low", "high"),
    [
        ("0.144", "0.144", "0.1435", "0.1445"),
        ("1,027.07", "1027.07", "1027.065", "1027.075"),
        (".27", "0.27", "0.265", "0.275"),
        ("447.0M", "447000000", "446950000", "447050000"),
        ("30K", "30000", "29500", "30500"),
        ("-41.0 %", "-41", "-41.05", "-40.95"),
        ("[276,753]", "276753", "276752.5", "276753.5"),
        ("20,660 /Sec", "20660", "20659.5", "20660.5"),
        ("13 mSec", "13", "12.5", "13.5"),
        ("00:44:16", "2656", "2655.5", "2656.5"),
        ("0:54:04.31", "3244.31", "3244.305", "3244.315"),
    ],
)
def test_cells(cell: str, value: str, low: str, high: str) -> None:
    assert printed(cell) == Quantity(Fraction(value), Fraction(low), Fraction(high))


def test_counts_cut_cells_and_padding() -> None:
    assert printed("725,536", count=True) == exact(725536)
    assert printed("30K", count=True) == printed("30K")
    assert printed("0.140", cut=True) == Quantity(Fraction("0.140"), Fraction("0.140"), Fraction("0.141"))
    assert printed("-2", cut=True) == Quantity(Fraction(-2), Fraction(-3), Fraction(-2))
    assert printed("47.10%", digits=1) == printed("47.1%")


@pytest.mark.parametrize("cell", ["", "N/A", "NA", "N/C", "#NA#"])
def test_what_prints_no_number(cell: str) -> None:
    assert printed(cell) is None


@pytest.mark.parametrize("cell", ["Base", "1.2.3", "12x", "< 5", "1:2:3"])
def test_what_is_no_number(cell: str) -> None:
    with pytest.raises(ValueError, match="is not a printed number"):
        printed(cell)


numbers = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)


intervals = st.tuples(numbers, numbers).map(lambda ends: (min(ends), max(ends)))


@given(intervals, intervals)
def test_bounds_of_a_product_are_its_extreme_corners(
    first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]
) -> None:
    corners = [a * b for a in first for b in second]
    result = Quantity(first[0], *first) * Quantity(second[1], *second)
    assert (result.low, result.high) == (min(corners), max(corners))


@pytest.mark.parametrize("value", ["0.9", "2.1", "-1"])
def test_a_value_outside_its_bounds_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="does not lie within 1 to 2"):
        Quantity(Fraction(value), Fraction(1), Fraction(2))


@st.composite
def with_point(draw: st.DrawFn) -> tuple[Quantity, Fraction]:
    """A quantity, and some number within its bounds."""
    low, value, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    share = draw(st.fractions(min_value=0, max_value=1, max_denominator=50))
    return Quantity(value, low, high), low + share * (high - low)


@given(with_point(), with_point())
def test_bounds_hold_whatever_was_rounded_away(one: tuple[Quantity, Fraction], two: tuple[Quantity, Fraction]) -> None:
    (a, x), (b, y) = one, two
    for found, true, middle in (
        (a + b, x + y, a.value + b.value),
        (a - b, x - y, a.value - b.value),
        (a * b, x * y, a.value * b.value),
    ):
        assert found.low <= true <= found.high
        assert found.value == middle
    if b.low <= 0 <= b.high:
        with pytest.raises(UndefinedError):
            a / b
    else:
        assert (a / b).low <= x / y <= (a / b).high


@given(with_point(), with_point())
def test_meeting_is_mutual_and_needs_a_shared_number(
    one: tuple[Quantity, Fraction], two: tuple[Quantity, Fraction]
) -> None:
    a, b = one[0], two[0]
    assert a.meets(b) == b.meets(a)
    assert a.meets(b) == (max(a.low, b.low) <= min(a.high, b.high))


@given(st.decimals(min_value=0, max_value=9999, places=6), st.integers(0, 4), st.booleans())
def test_what_was_printed_lies_within_what_the_print_allows(number: object, places: int, cut: bool) -> None:
    true = Fraction(str(number))
    shown = as_printed(exact(true), places, cut=cut).value
    cell = printed(f"{float(shown):.{places}f}", cut=cut)
    assert cell is not None
    assert cell.low <= true <= cell.high


def test_a_line_by_hand() -> None:
    # Means 2 and 14/3; sum of products (-1)(-8/3) + 0 + 1 x 7/3 = 5 over 2.
    line = fit_line([1, 2, 3], [2, 5, 7])
    assert line is not None
    assert line.slope == pytest.approx(2.5)
    assert line.fixed == pytest.approx(14 / 3 - 5)
    assert line.residuals == pytest.approx((-1 / 6, 1 / 3, -1 / 6))
    # Residual variance (1/36 + 4/36 + 1/36) / 1 = 1/6, over 2.
    assert line.slope_error == pytest.approx((1 / 12) ** 0.5)
    assert fit_line([4, 4], [1, 2]) is None
