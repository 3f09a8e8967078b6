"""Axes: round tick values of a scale, and their labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_DIGITS = (1.0, 2.0, 5.0)
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def marks(largest: float, most: int = 5) -> tuple[float, ...]:
    """Round numbers from zero to the first at or above ``largest``, at most ``most`` + 1 of them.

    Examples
    --------
    >>> marks(87.0)
    (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
    >>> marks(0.0)
    (0.0, 1.0)
    """
    if not math.isfinite(largest) or largest <= 0:
        return (0.0, 1.0)
    step = _step(largest / most)
    count = math.ceil(largest / step * (1 - 1e-9))
    return tuple(step * i for i in range(count + 1))


def labels(values: Sequence[float]) -> tuple[str, ...]:
    """Labels of an axis, all with the same decimals, in thousands or millions if they are long.

    Examples
    --------
    >>> labels((0.0, 0.5, 1.0)), labels((0.0, 20000.0, 40000.0))
    (('0', '0.5', '1.0'), ('0', '20 k', '40 k'))
    """
    largest = max(abs(value) for value in values)
    divisor, suffix = next(((d, f" {s}") for d, s in _LARGE if largest >= 10 * d), (1.0, ""))
    scaled = [value / divisor for value in values]
    digits = next(
        (d for d in range(7) if all(math.isclose(round(v, d), v, rel_tol=1e-9, abs_tol=1e-12) for v in scaled)), 7
    )
    return tuple("0" if value == 0 else f"{value:,.{digits}f}{suffix}" for value in scaled)


def _step(raw: float) -> float:
    """The first round number at or above ``raw``."""
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * step for step in _STEPS if power * step >= raw * (1 - 1e-9))


def marks_around(low: float, high: float, most: int = 5) -> tuple[float, ...]:
    """Round numbers, including zero, from at or below ``low`` to at or above ``high``.

    Examples
    --------
    >>> marks_around(-3.0, 9.0), marks_around(2.0, 87.0)
    ((-5.0, -2.5, 0.0, 2.5, 5.0, 7.5, 10.0), (0.0, 20.0, 40.0, 60.0, 80.0, 100.0))
    """
    if not low < 0:
        return marks(high, most)
    step = _step((max(high, 0.0) - low) / most)
    first, last = math.floor(low / step * (1 - 1e-9)), math.ceil(max(high, 0.0) / step * (1 - 1e-9))
    return tuple(step * i for i in range(first, last + 1))


def marks_within(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Round numbers from ``low`` to ``high``, at most ``most`` of them.

    Examples
    --------
    >>> marks_within(3.0, 87.0)
    (20.0, 40.0, 60.0, 80.0)
    """
    step = _step((high - low) / (most - 1))
    first, last = math.ceil(low / step * (1 - 1e-9)), math.floor(high / step * (1 + 1e-9))
    return tuple(step * i for i in range(first, last + 1)) or (low,)


def log_marks(low: float, high: float, most: int = 7) -> tuple[float, ...]:
    """Round numbers of a logarithmic axis from ``low`` to ``high``: 1, 2, 5 of each power of ten, or fewer.

    Examples
    --------
    >>> log_marks(90.0, 2500.0), log_marks(1.0, 1e6)
    ((100.0, 200.0, 500.0, 1000.0, 2000.0), (1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0))
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for digits, stride in ((_DIGITS, 1), ((1.0, 3.0), 1), *(((1.0,), n) for n in range(1, last - first + 2))):
        numbers = tuple(
            value
            for power in range(first, last + 1, stride)
            for digit in digits
            if low * (1 - 1e-9) <= (value := digit * 10.0**power) <= high * (1 + 1e-9)
        )
        if len(numbers) <= most:
            break
    # Less than a decade may hold one round number or none: then the numbers of a linear axis do.
    return numbers if len(numbers) >= 2 else marks_within(low, high)
