"""Lines through rows of a table: cost per transaction, and fixed cost at any rate."""

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
    """The line with the least sum of squared residuals; None with fewer than two distinct ``x``."""
    if len(x) != len(y):
        raise ValueError(f"{len(x)} x for {len(y)} y")
    if len(set(x)) < 2:
        return None
    count = len(x)
    middle_x, middle_y = math.fsum(x) / count, math.fsum(y) / count
    spread = math.fsum((value - middle_x) ** 2 for value in x)
    slope = math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True)) / spread
    fixed = middle_y - slope * middle_x
    residuals = tuple(b - fixed - slope * a for a, b in zip(x, y, strict=True))
    if count == 2:
        return FittedLine(fixed, slope, None, None, residuals)
    variance = math.fsum(residual * residual for residual in residuals) / (count - 2)
    return FittedLine(
        fixed,
        slope,
        math.sqrt(variance * (1 / count + middle_x**2 / spread)),
        math.sqrt(variance / spread),
        residuals,
    )


def interval_at(x: Sequence[float], y: Sequence[float], at: float, level: float) -> tuple[float, float] | None:
    """Prediction interval for a further measurement at ``at``, by Student's t around the least squares line.

    Parameters
    ----------
    x, y
        The points that the line is fitted to.
    level
        Share of further measurements that the interval is to hold.

    Returns
    -------
    tuple or None
        Lower and upper end, unit of y; None with fewer than three points, or one ``x`` only.
    """
    line = fit_line(x, y)
    if line is None or len(x) < 3:
        return None
    count, middle = len(x), math.fsum(x) / len(x)
    spread = math.fsum((value - middle) ** 2 for value in x)
    variance = math.fsum(residual * residual for residual in line.residuals) / (count - 2)
    error = math.sqrt(variance * (1 + 1 / count + (at - middle) ** 2 / spread))
    # Here, since loading it takes longer than most commands do without it.
    from scipy.special import stdtrit

    width = float(stdtrit(count - 2, 0.5 + level / 2)) * error
    return line.at(at) - width, line.at(at) + width
