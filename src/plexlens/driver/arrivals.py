"""Open arrivals: times at which requests are due, whatever the server does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Arrivals:
    """Arrivals at a rate that follows a profile.

    Attributes
    ----------
    profile
        Seconds since the start and requests per second, in rising order of time, from 0; the rate between two points is
        on the straight line. Two points at the same second are a step.
    is_poisson
        Poisson arrivals; if false, arrivals are even: the k-th is due when the profile has brought k requests.
    """

    profile: tuple[tuple[float, float], ...]
    is_poisson: bool = True

    @property
    def seconds(self) -> float:
        """Length of the profile."""
        return self.profile[-1][0]

    def expected(self, start: float = 0.0, end: float = math.inf) -> float:
        """Mean number of arrivals from one second to another: the area under the profile."""
        total = 0.0
        for (left, low), (right, high) in pairwise(self.profile):
            begin, finish = max(left, start), min(right, end)
            if finish > begin:
                slope = (high - low) / (right - left)
                at_begin, at_end = low + slope * (begin - left), low + slope * (finish - left)
                total += (at_begin + at_end) / 2 * (finish - begin)
        return total

    def times(self, generator: np.random.Generator) -> Iterator[float]:
        """Seconds since the start at which requests are due, in order.

        Poisson arrivals are those of rate 1, brought to the profile's time by the inverse of its area (E. Cinlar,
        Introduction to Stochastic Processes, 1975, section 4.7).
        """
        due = 0.0
        area = 0.0
        segments = [(start, end) for start, end in pairwise(self.profile) if end[0] > start[0]]
        place = 0
        while True:
            due += generator.exponential() if self.is_poisson else 1.0
            while place < len(segments):
                (left, low), (right, high) = segments[place]
                brought = (low + high) / 2 * (right - left)
                if due <= area + brought:
                    break
                area += brought
                place += 1
            if place == len(segments):
                return
            yield left + _inverse(due - area, low, (high - low) / (right - left))


def _inverse(amount: float, rate: float, slope: float) -> float:
    """Seconds after which a rate that grows by `slope` per second has brought an amount."""
    # The root of rate t + slope t^2 / 2 = amount in the form that does not cancel for a small slope.
    return 2 * amount / (rate + math.sqrt(max(0.0, rate * rate + 2 * slope * amount)))
