"""A prediction compared with the measured result: the part of the difference that the load explains, and the rest.

A prediction of I/O holds for the getpages it was made from. If they changed, the prediction is first rescaled to them,
object by object. What the rescaling changes is the load's part of the difference; what remains is the prediction's own
error, and everything else that changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RateCheck:
    """A predicted rate of an object compared with the measured rate.

    Attributes
    ----------
    base
        The rate before the change; None where it is not known.
    predicted, actual
        The predicted rate, and the measured rate.
    work_base, work_new
        The work the prediction was made from, and that was done afterwards, a second.
    rescaled
        The prediction at the work that was done: predicted x work_new / work_base.
    """

    object_name: str
    base: float | None
    predicted: float
    actual: float
    work_base: float
    work_new: float
    rescaled: float

    @property
    def difference(self) -> float:
        """Actual minus predicted."""
        return self.actual - self.predicted

    @property
    def load(self) -> float:
        """The load's part of the difference."""
        return self.rescaled - self.predicted

    @property
    def rest(self) -> float:
        """The part that the load does not explain: actual minus rescaled prediction."""
        return self.actual - self.rescaled

    @property
    def error(self) -> float | None:
        """The rest as a fraction of the rescaled prediction; None if that is zero."""
        return self.rest / self.rescaled if self.rescaled else None

    @property
    def arithmetic(self) -> str:
        """Derivation of the rescaled prediction."""
        return f"{self.predicted:,.2f} x {self.work_new:,.2f} / {self.work_base:,.2f} = {self.rescaled:,.2f}"


def check_rate(
    object_name: str, *, base: float | None, predicted: float, actual: float, work_base: float, work_new: float
) -> RateCheck:
    """Compare a predicted rate with the measured rate.

    Where the object had no work when the prediction was made, the prediction cannot be rescaled and stays as it was.

    Examples
    --------
    >>> check = check_rate("BP2", base=859.45, predicted=720.0, actual=737.96, work_base=1000.0, work_new=950.0)
    >>> check.rescaled, round(check.load, 2), round(check.rest, 2)
    (684.0, -36.0, 53.96)
    """
    rescaled = predicted * work_new / work_base if work_base > 0 else predicted
    return RateCheck(object_name, base, predicted, actual, work_base, work_new, rescaled)


@dataclass(frozen=True)
class CheckTotals:
    """Sums over objects."""

    predicted: float
    actual: float
    load: float
    rest: float

    @property
    def error(self) -> float | None:
        """The rest as a fraction of the rescaled prediction; None if that is zero."""
        rescaled = self.predicted + self.load
        return self.rest / rescaled if rescaled else None


def totals(checks: Sequence[RateCheck]) -> CheckTotals:
    """The sums of several checks."""
    return CheckTotals(
        math.fsum(check.predicted for check in checks),
        math.fsum(check.actual for check in checks),
        math.fsum(check.load for check in checks),
        math.fsum(check.rest for check in checks),
    )
