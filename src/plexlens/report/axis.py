"""Axes: round numbers for the marks of a scale, and their spelling."""

from __future__ import annotations

import math
from collections.abc import Sequence

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def marks(largest: float, most: int = 5) -> tuple[float, ...]:
    """Round numbers from zero to the first one at or above ``largest``, at most ``most`` + 1 of them.

    Examples
    --------
    >>> marks(87.0)
    (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
    >>> marks(0.0)
    (0.0, 1.0)
    """
    if not math.isfinite(largest) or largest <= 0:
        return (0.0, 1.0)
    raw = largest / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * one for one in _STEPS if power * one >= raw * (1 - 1e-9))
    count = math.ceil(largest / step * (1 - 1e-9))
    return tuple(step * i for i in range(count + 1))


def labels(values: Sequence[float]) -> tuple[str, ...]:
    """The marks of one axis, all with the same decimals, in thousands or millions where they are long.

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
