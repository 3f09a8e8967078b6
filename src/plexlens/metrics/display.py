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


def byte_size(count: float | int) -> str:
    """A number of bytes in the largest binary unit that leaves at least one before the point."""
    size = float(count)
    for symbol in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:,.0f} {symbol}" if symbol == "bytes" else f"{size:,.1f} {symbol}"
        size /= 1024
    return f"{size:,.1f} TiB"


def storage_size(size: float) -> str:
    """An amount of storage as the size of a pool: ``1.25 GiB`` from a quarter of a GiB on, ``96.0 MiB`` below.

    Examples
    --------
    >>> storage_size(1.25 * (1 << 30)), storage_size(96 << 20)
    ('1.25 GiB', '96.0 MiB')
    """
    return f"{size / (1 << 30):,.2f} GiB" if size >= 1 << 28 else f"{size / (1 << 20):.1f} MiB"


def percent(share: float, digits: int = 1, *, signed: bool = False) -> str:
    """A fraction as percent, with a space before the sign.

    Examples
    --------
    >>> percent(0.0973), percent(-0.1, signed=True), percent(0.05, 0)
    ('9.7 %', '-10.0 %', '5 %')
    """
    return f"{share * 100:+.{digits}f} %" if signed else f"{share * 100:.{digits}f} %"


def significant(value: float, digits: int) -> str:
    """A number with this many significant digits, and all digits before the point.

    Examples
    --------
    >>> significant(0.012345, 3), significant(1234.5, 3), significant(12.0, 3)
    ('0.0123', '1,234', '12')
    """
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:,.{digits}g}"
