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


def decimals(delta: Delta) -> int | None:
    """Significant decimals of both printed readings; None if neither was printed."""
    numbers = [
        _places(reading) for reading in (delta.base, delta.new) if reading is not None and reading.low is not None
    ]
    return max(numbers) if numbers else None


def points(unit: Unit) -> Unit:
    """The unit of a difference: percentages differ by points."""
    return Unit("points", unit.base, unit.factor, unit.digits + 1) if unit.symbol == "%" else unit


def difference(delta: Delta) -> str:
    """NEW minus BASE, with its sign."""
    if delta.difference is None:
        return NULL
    return signed(delta.difference, decimals(delta), points(delta.measure.unit))


def signed(value: float, places: int | None, unit: Unit) -> str:
    """A number with its unit and its sign."""
    text = _number(value, places, unit)
    return text if value <= 0 or text.startswith("<") else f"+{text}"


def plus(value: float, unit: Unit) -> str:
    """A number with the decimals of its unit, and its sign."""
    return signed(value, None, unit)


def change(delta: Delta) -> str:
    """The change as a percentage of BASE; empty for percentages, whose difference is sufficient."""
    return "" if delta.change is None or delta.measure.unit.symbol == "%" else percent(delta.change, signed=True)


def interval(delta: Delta) -> str:
    """The confidence interval of a difference; empty if there is none."""
    if delta.interval is None:
        return ""
    unit = points(delta.measure.unit)
    places = decimals(delta)
    return f"{signed(delta.interval.low, places, unit)} to {signed(delta.interval.high, places, unit)}"


def digits(delta: Delta) -> str:
    """Range of a difference consistent with the printed digits: from, to."""
    if delta.low is None or delta.high is None:
        return ""
    places = (decimals(delta) or 0) + 1
    unit = points(delta.measure.unit)
    if delta.low == delta.high:
        return "exact"
    return f"{delta.low:+,.{places}f} to {signed(delta.high, places, unit)}"


def share(value: float | None, *, signed: bool = False) -> str:
    """A share in percent; empty if there is none."""
    if value is None:
        return ""
    return percent(value, signed=signed)
