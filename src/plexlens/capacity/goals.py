"""Goals of class periods, and the distance of a predicted response time or velocity from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plexlens.capacity.measured import Facts

#: Upper bounds of the response buckets as a share of the goal, where no map is recorded (z/OS MVS Planning: WLM).
_BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 2.0, 4.0)


@dataclass(frozen=True)
class Goal:
    """A response time, a percentile of it, or a velocity.

    Attributes
    ----------
    kind
        ``average``, ``percentile``, ``velocity``, or ``none``.
    value
        Seconds, or velocity as a fraction; 0 for none.
    percentile
        Percent of transactions that have to end within the goal.
    quantile
        Measured response time not exceeded by this percentage of transactions, over the mean response time.
    estimated
        Whether ``quantile`` is that of exponential response times, for want of a measured distribution.
    """

    kind: str
    value: float = 0.0
    percentile: float = 0.0
    quantile: float | None = None
    estimated: bool = False

    @property
    def text(self) -> str:
        """The goal in the form of a service definition."""
        if self.kind == "velocity":
            return f"velocity {self.value:.0%}".replace("%", "")
        if self.kind == "percentile":
            return f"{self.percentile:g} % within {self.value:g} s"
        return f"average {self.value:g} s" if self.kind == "average" else "none"

    def index(self, response: float | None, velocity: float | None) -> float | None:
        """Performance index: above 1 the goal is missed; None without a goal or a number."""
        if self.kind == "velocity":
            if velocity is None:
                return None
            return self.value / velocity if velocity > 0 else math.inf
        if response is None or not self.value:
            return None
        if self.kind == "average":
            return response / self.value
        return None if self.quantile is None else self.quantile * response / self.value


def goal_of(facts: Facts) -> Goal:
    """The goal in the facts of a period."""
    if facts["goal_velocity"] is not None:
        return Goal("velocity", facts["goal_velocity"])
    seconds, percent = facts["goal_seconds"], facts["goal_percentile"] or 0.0
    if not seconds:
        return Goal("none")
    if not percent:
        return Goal("average", seconds)
    ended = [facts[f"bucket_{n}"] or 0.0 for n in range(1, 15)]
    bounds = [facts[f"bound_{n}"] or _BOUNDS[n - 1] for n in range(1, 14)]
    mean = facts["elapsed_seconds"] / facts["transactions"] if facts["transactions"] else 0.0
    reached = quantile(ended, bounds, percent / 100.0)
    if reached is not None and mean > 0:
        return Goal("percentile", seconds, percent, reached * seconds / mean)
    share = min(percent / 100.0, 0.9999)
    return Goal("percentile", seconds, percent, -math.log(1.0 - share), estimated=True)


def quantile(ended: Sequence[float], bounds: Sequence[float], share: float) -> float | None:
    """Response time, as a fraction of the goal, within which the given share of transactions ended.

    Between two bounds transactions are taken to be spread evenly. None where none ended, or where the open last bucket
    would have to tell.
    """
    total = sum(ended)
    if total <= 0:
        return None
    so_far, below = 0.0, 0.0
    for count, bound in zip(ended, bounds, strict=False):
        if so_far + count >= share * total - 1e-9 and count > 0:
            return below + (bound - below) * (share * total - so_far) / count
        so_far, below = so_far + count, bound
    return None
