"""Lines through rows of a table: what a transaction costs, and what is spent whatever the rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FittedLine:
    """An ordinary least squares line ``y = fixed + slope x``.

    Attributes
    ----------
    fixed, slope
        Intercept (unit of y) and rise (unit of y over unit of x).
    fixed_error, slope_error
        Standard errors; None where two points leave none to estimate them from.
    residuals
        Measured less fitted, one for each point.
    """

    fixed: float
    slope: float
    fixed_error: float | None
    slope_error: float | None
    residuals: tuple[float, ...]

    def at(self, x: float) -> float:
        """The line's value."""
        return self.fixed + self.slope * x


def fit_line(x: Sequence[float], y: Sequence[float]) -> FittedLine | None:
    """The line with the least sum of squared residuals; None with fewer than two different ``x``."""
    if len(x) != len(y):
        raise ValueError(f"{len(x)} x for {len(y)} y")
    if len(set(x)) < 2:
        return None
    count = len(x)
    middle_x, middle_y = math.fsum(x) / count, math.fsum(y) / count
    spread = math.fsum((one - middle_x) ** 2 for one in x)
    slope = math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True)) / spread
    fixed = middle_y - slope * middle_x
    residuals = tuple(b - fixed - slope * a for a, b in zip(x, y, strict=True))
    if count == 2:
        return FittedLine(fixed, slope, None, None, residuals)
    variance = math.fsum(one * one for one in residuals) / (count - 2)
    return FittedLine(
        fixed,
        slope,
        math.sqrt(variance * (1 / count + middle_x**2 / spread)),
        math.sqrt(variance / spread),
        residuals,
    )
