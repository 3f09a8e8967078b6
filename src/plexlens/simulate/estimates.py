"""Numbers from several runs with different seeds, as means with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.special import stdtrit


@dataclass(frozen=True)
class Estimate:
    """A mean over runs, with half of its 95 % confidence interval (NaN for a single run)."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        """Three significant digits, and the half-width to the same place."""
        digits = 0 if self.mean == 0 else max(2 - math.floor(math.log10(abs(self.mean))), 0)
        if math.isnan(self.half_width):
            return f"{self.mean:.{digits}f}"
        return f"{self.mean:.{digits}f} ± {self.half_width:.{digits}f}"


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of independent runs, by Student's distribution."""
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Estimate(mean, math.nan)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Estimate(mean, float(stdtrit(count - 1, 0.975)) * math.sqrt(variance / count))


def estimates(runs: Sequence[Mapping[str, float]]) -> dict[str, Estimate]:
    """Estimates of every number that all runs have."""
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: estimate([run[name] for run in runs]) for name in names}
