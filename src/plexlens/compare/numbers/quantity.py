"""Printed numbers as intervals: the digits shown, and the error of rounding.

A printed number stands for every number that rounds to it: half a unit of its last digit to either side, or, where
a paper cuts digits off, up to a unit further from zero. Sums, products
and quotients carry the bounds along by interval arithmetic, in exact fractions, so that nothing but the printed digits
decides whether two numbers agree. The bounds hold for certain. Where an input stands twice in a formula, interval
arithmetic alone leaves them wider than need be; each number therefore carries how it moves with each input (its slopes,
as intervals), so that an input with which it only rises, or only falls, can be set to its ends
(`plexlens.compare.audit.audit`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

_NUMBER = re.compile(r"(?P<digits>[+-]?(?:\d[\d,]*\.?\d*|\.\d+)) ?(?P<suffix>%|[KM](?![A-Za-z]))?(?P<unit>[ /].*)?\Z")
_CLOCK = re.compile(r"(?P<hours>\d+):(?P<minutes>[0-5]\d):(?P<seconds>[0-5]\d(?:\.\d+)?)\Z")
_SCALE = {"K": 1_000, "M": 1_000_000}
_BINARY_SCALE = {"K": 1024, "M": 1024 * 1024}

#: Cells that print no number.
NOT_PRINTED = frozenset({"", "N/A", "N/C", "NA", "#NA#", "N/P", "-"})


class MissingError(Exception):
    """A required number that is not printed."""


class UndefinedError(ArithmeticError):
    """A quotient whose divisor is zero, or may be zero within its rounding."""


#: Least and greatest.
Ends = tuple[Fraction, Fraction]

_ONE: Ends = (Fraction(1), Fraction(1))


def _at_most(first: Fraction, second: Fraction) -> bool:
    """Whether ``first <= second``; the comparison of `Fraction` takes four times as long, since it takes any number."""
    return first.numerator * second.denominator <= second.numerator * first.denominator


def _product(first: Ends, second: Ends) -> Ends:
    if second is _ONE:
        return first
    (a, b), (c, d) = first, second
    if a.numerator >= 0 and c.numerator >= 0:
        # Most numbers are: no end has to be looked for.
        return a * c, b * d
    ends = [a * c, a * d, b * c, b * d]
    return min(ends), max(ends)


@dataclass(frozen=True)
class Quantity:
    """A number and its bounds, given that the printed digits are rounded.

    Parameters
    ----------
    value
        The number as printed, or worked out from numbers as printed.
    low, high
        Least and greatest number that the printed digits allow; ``low <= value <= high``.
    slopes
        By input least and greatest slope of the number along it, for all numbers that the digits allow; None where
        they are not known, as for a largest number or a rounded one.
    repeated
        Inputs that the number was worked out from more than once.
    """

    value: Fraction
    low: Fraction
    high: Fraction
    slopes: Mapping[Hashable, Ends] | None = field(default=None, compare=False, repr=False)
    repeated: frozenset[Hashable] = field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (_at_most(self.low, self.value) and _at_most(self.value, self.high)):
            raise ValueError(f"{self.value} does not lie within {self.low} to {self.high}")

    def __add__(self, other: Quantity) -> Quantity:
        return self._joined(other, self.value + other.value, (self.low + other.low, self.high + other.high), _ONE, _ONE)

    def __sub__(self, other: Quantity) -> Quantity:
        ends = (self.low - other.high, self.high - other.low)
        return self._joined(other, self.value - other.value, ends, _ONE, (-_ONE[0], -_ONE[1]))

    def __mul__(self, other: Quantity) -> Quantity:
        ends = _product((self.low, self.high), (other.low, other.high))
        return self._joined(other, self.value * other.value, ends, (other.low, other.high), (self.low, self.high))

    def __truediv__(self, other: Quantity) -> Quantity:
        """The quotient.

        Raises
        ------
        UndefinedError
            The divisor is zero or may be zero within its rounding.
        """
        if other.low <= 0 <= other.high:
            raise UndefinedError("the divisor is zero, or may be within its rounding")
        inverse = (1 / other.high, 1 / other.low)
        ends = _product((self.low, self.high), inverse)
        falling = _product(ends, (-inverse[1], -inverse[0]))
        return self._joined(other, self.value / other.value, ends, inverse, falling)

    def of(self, source: Hashable) -> Quantity:
        """The same number marked as a named input, which formulas may read several times."""
        return self if self.low == self.high else replace(self, slopes={source: _ONE})

    def _joined(self, other: Quantity, value: Fraction, ends: Ends, by_self: Ends, by_other: Ends) -> Quantity:
        """The result of an operation whose derivatives with respect to its operands have these bounds."""
        mine, theirs = self._known_slopes(), other._known_slopes()
        repeated = self.repeated | other.repeated
        if mine is None or theirs is None:
            return Quantity(value, *ends, None, repeated)
        slopes = {source: _product(slope, by_self) for source, slope in mine.items()}
        for source, slope in theirs.items():
            moved = _product(slope, by_other)
            if source in slopes:
                repeated |= {source}
                moved = (slopes[source][0] + moved[0], slopes[source][1] + moved[1])
            slopes[source] = moved
        return Quantity(value, *ends, slopes, repeated)

    def _known_slopes(self) -> Mapping[Hashable, Ends] | None:
        return {} if self.slopes is None and self.low == self.high else self.slopes

    def meets(self, other: Quantity) -> bool:
        """Whether the bounds of both overlap."""
        return self.low <= other.high and other.low <= self.high


def exact(number: Fraction | int | str) -> Quantity:
    """A number without rounding: a count, or a constant of a formula."""
    value = Fraction(number)
    return Quantity(value, value, value)


def total(quantities: Iterable[Quantity]) -> Quantity:
    """The sum; zero for an empty list."""
    result = exact(0)
    for quantity in quantities:
        result += quantity
    return result


@lru_cache(maxsize=1 << 16)
def printed(
    cell: str,
    *,
    count: bool = False,
    cut: bool = False,
    digits: int | None = None,
    padded: bool = False,
    binary: bool = False,
) -> Quantity | None:
    """The number in a cell, with the bounds of its rounding.

    Thousands commas, brackets around the number and a unit behind it are passed over; ``K`` and ``M`` multiply; a
    percent sign does not divide (formulas state percentages as such); ``h:mm:ss`` is in seconds.

    Parameters
    ----------
    cell
        The text as printed.
    count
        Whether the number counts something: a whole number is then exact.
    cut
        Whether digits were cut off rather than rounded: the number then lies up to one unit further from zero.
    digits
        How many of the decimals mean something, where the others are zeros that pad the print; None for all.
    padded
        Whether decimals that are all zeros only pad the print of a whole number.
    binary
        Whether ``K`` and ``M`` multiply by 1024 and its square.

    Returns
    -------
    Quantity or None
        None where the cell says that there is no number (blank, ``N/A``).

    Raises
    ------
    ValueError
        The text is neither.
    """
    text = cell.strip()
    if text.upper() in NOT_PRINTED:
        return None
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
    clock = _CLOCK.match(text)
    if clock is not None:
        places = len(clock["seconds"].partition(".")[2])
        value = 3600 * int(clock["hours"]) + 60 * int(clock["minutes"]) + Fraction(clock["seconds"])
        return _bounded(value, Fraction(1, 10**places), cut)
    match = _NUMBER.match(text)
    if match is None:
        raise ValueError(f"{cell!r} is not a printed number")
    text = match["digits"].replace(",", "").rstrip(".")
    scale = (_BINARY_SCALE if binary else _SCALE).get(match["suffix"] or "", 1)
    decimals = text.partition(".")[2]
    places = 0 if padded and not decimals.strip("0") else len(decimals)
    value = Fraction(text) * scale
    if digits is not None:
        places = min(places, digits)
    if count and not places and scale == 1:
        return exact(value)
    return _bounded(value, Fraction(scale, 10**places), cut)


def _bounded(value: Fraction, unit: Fraction, cut: bool) -> Quantity:
    if not cut:
        return Quantity(value, value - unit / 2, value + unit / 2)
    # A cut zero may come from either side.
    return Quantity(value, value - (unit if value <= 0 else 0), value + (unit if value >= 0 else 0))


def as_printed(quantity: Quantity, decimals: int, *, cut: bool) -> Quantity:
    """The printed form at a number of decimals; a range if its bounds round differently."""

    def printed(number: Fraction) -> Fraction:
        scaled = number * 10**decimals
        whole = math.trunc(scaled) if cut else math.floor(scaled + Fraction(1, 2))
        return Fraction(whole, 10**decimals)

    return Quantity(printed(quantity.value), printed(quantity.low), printed(quantity.high))


def rounded(quantity: Quantity, decimals: int) -> Quantity:
    """A number known only to a number of decimals: its bounds contain all numbers with the same digits."""
    half = Fraction(1, 2 * 10**decimals)
    digits = as_printed(quantity, decimals, cut=False)
    return Quantity(digits.value, digits.low - half, digits.high + half)


def shown(number: Fraction, significant: int = 7) -> str:
    """A number for readers: enough digits to see a difference, no exponents for numbers usually written in full."""
    if number.denominator == 1:
        return f"{number.numerator:,}"
    text = f"{float(number):,.{significant}g}"
    if "e" in text:
        size = float(number)
        text = f"{size:,.2f}" if abs(size) >= 1 else f"{size:.{significant + 5}f}".rstrip("0")
    return text
