"""Number formatting: a single conversion from the base unit, fixed decimals, grouped thousands."""

from __future__ import annotations

import math

from plexlens.metrics.unit import Unit

#: Shown for null.
NULL = "–"  # noqa: RUF001 - an en dash is what stands in a table for "no value"


def shown(value: float | int | None, unit: Unit | None) -> str:
    """A number in its display unit, without the unit's symbol.

    A value that is not zero never reads as zero: what rounds to nothing at the unit's decimals is shown as less than
    the smallest number those decimals can tell. A negative one is shown with as many decimals as it takes, up to three
    more.

    Parameters
    ----------
    value
        The number in the base unit; None, not a number and infinite all read as null.
    unit
        Base unit and unit of display; None for a plain count.

    Examples
    --------
    >>> from plexlens.metrics.unit import FRACTION, MICROSECONDS, PER_SECOND
    >>> shown(0.9734, FRACTION), shown(0.0000131, MICROSECONDS), shown(0.001, PER_SECOND)
    ('97.3', '13.1', '<0.01')
    """
    if value is None or not math.isfinite(value):
        return NULL
    digits = unit.digits if unit is not None else 0
    number = float(value) * (unit.factor if unit is not None else 1.0)
    text = f"{number:,.{digits}f}"
    if number != 0 and not text.strip("-0.,"):
        least = f"{10.0**-digits:.{digits}f}"
        return f"<{least}" if number > 0 else _small_negative(number, digits)
    return text


def _small_negative(number: float, digits: int) -> str:
    """A negative number that would round to zero, with enough decimals to show its first digit."""
    longer = (f"{number:.{more}f}" for more in range(digits + 1, digits + 4))
    return next((text for text in longer if text.strip("-0.")), f"-<{10.0**-digits:.{digits}f}")


def with_symbol(value: float | int | None, unit: Unit | None) -> str:
    """The number with its unit, as in running text: ``97.3 %``; null becomes a dash."""
    text = shown(value, unit)
    if text == NULL or unit is None or not unit.symbol:
        return text
    return f"{text} {unit.symbol}"
