"""Residency: the time that pages stay in their pool, from read to steal.

It is known only for stolen pages; pages still in the pool at the end have stayed for an unknown longer time. Pages read
sequentially are on a chain of their own, whose length VPSEQT limits: the two kinds stay for different times, so that a
mean over a pool of mixed access says little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plexlens.pools.observation import Observation


@dataclass(frozen=True)
class Residency:
    """Residency of stolen pages of a pool (``name`` empty) or of an object.

    Attributes
    ----------
    stolen, stolen_sequential
        Pages stolen, and those from the sequential chain among them.
    seconds, random_seconds, sequential_seconds
        Mean time from read to steal; of all, and of either chain. None if nothing was stolen, or the trace has no
        times.
    """

    pool: str
    name: str
    stolen: int
    stolen_sequential: int
    seconds: float | None
    random_seconds: float | None
    sequential_seconds: float | None

    @property
    def stolen_random(self) -> int:
        """Pages stolen from the random chain."""
        return self.stolen - self.stolen_sequential


def residencies(observation: Observation) -> list[Residency]:
    """Residency of every pool, each followed by its objects, shortest first."""
    results = []
    for name, counters in observation.pools.items():
        objects = [
            _of(name, observed.name, observed.counters, timed=observation.timed)
            for observed in observation.objects()
            if observed.pool == name and observed.counters
        ]
        objects.sort(key=lambda observed: (observed.seconds is None, observed.seconds or 0.0, observed.name))
        results += [_of(name, "", counters, timed=observation.timed), *objects]
    return results


def _of(pool: str, name: str, counters: Mapping[str, int], *, timed: bool) -> Residency:
    stolen, sequential = counters["stolen"], counters["stolen_sequential"]
    stayed, stayed_sequential = counters["residency"], counters["residency_sequential"]

    def mean(microseconds: int, pages: int) -> float | None:
        return microseconds / pages / 1e6 if pages and timed else None

    return Residency(
        pool=pool,
        name=name,
        stolen=stolen,
        stolen_sequential=sequential,
        seconds=mean(stayed, stolen),
        random_seconds=mean(stayed - stayed_sequential, stolen - sequential),
        sequential_seconds=mean(stayed_sequential, sequential),
    )
