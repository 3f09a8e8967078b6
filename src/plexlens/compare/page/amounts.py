"""Numbers of a comparison as text: readings, differences, intervals, with their significant digits."""

from __future__ import annotations

import math

from plexlens.compare.runs.deltas import Delta
from plexlens.compare.runs.run import Measure, Reading
from plexlens.metrics.display import NULL, percent, with_symbol
from plexlens.metrics.unit import Unit


def symbol_of(unit: str) -> str:
    """Symbol of a unit after a number."""
    return {"1/s": "/s", "count": "", "fraction": "%", "ratio": ""}.get(unit, unit)


def _places(reading: Reading) -> int:
    """Number of significant decimals in a printed number."""
    width = (reading.high or 0.0) - (reading.low or 0.0)
    if width <= 0:
        return 0 if reading.value is not None and float(reading.value).is_integer() else 3
    return max(0, min(6, math.ceil(round(-math.log10(width), 6))))


def _number(value: float, places: int | None, unit: Unit) -> str:
    if places is None:
        return with_symbol(value, unit)
    return f"{value:,.{places}f} {symbol_of(unit.symbol)}".strip()


def amount(reading: Reading | None, measure: Measure) -> str:
    """A reading as its source printed it, with its significant decimals."""
    if reading is None or reading.value is None:
        return NULL
    return _number(reading.value, None if reading.low is None else _places(reading), measure.unit)


def decimals(one: Delta) -> int | None:
    """Significant decimals of both printed readings; None if neither was printed."""
    found = [_places(reading) for reading in (one.base, one.new) if reading is not None and reading.low is not None]
    return max(found) if found else None


def points(unit: Unit) -> Unit:
    """The unit of a difference: percentages differ by points."""
    return Unit("points", unit.base, unit.factor, unit.digits + 1) if unit.symbol == "%" else unit


def difference(one: Delta) -> str:
    """NEW minus BASE, with its sign."""
    if one.difference is None:
        return NULL
    return signed(one.difference, decimals(one), points(one.measure.unit))


def signed(value: float, places: int | None, unit: Unit) -> str:
    """A number with its unit and its sign."""
    text = _number(value, places, unit)
    return text if value <= 0 or text.startswith("<") else f"+{text}"


def plus(value: float, unit: Unit) -> str:
    """A number with the decimals of its unit, and its sign."""
    return signed(value, None, unit)


def change(one: Delta) -> str:
    """The change as a percentage of BASE; empty for percentages, whose difference is sufficient."""
    return "" if one.change is None or one.measure.unit.symbol == "%" else percent(one.change, signed=True)


def interval(one: Delta) -> str:
    """The confidence interval of a difference; empty if there is none."""
    if one.interval is None:
        return ""
    unit = points(one.measure.unit)
    places = decimals(one)
    return f"{signed(one.interval.low, places, unit)} to {signed(one.interval.high, places, unit)}"


def digits(one: Delta) -> str:
    """Range of a difference consistent with the printed digits: from, to."""
    if one.low is None or one.high is None:
        return ""
    places = (decimals(one) or 0) + 1
    unit = points(one.measure.unit)
    if one.low == one.high:
        return "exact"
    return f"{one.low:+,.{places}f} to {signed(one.high, places, unit)}"


def share(value: float | None, *, signed: bool = False) -> str:
    """A share in percent; empty if there is none."""
    if value is None:
        return ""
    return percent(value, signed=signed)
