"""Residency: the time that pages stay in their pool, from read to steal.

It is known only for stolen pages. Pages still in the pool at the end have stayed for an unknown longer time, and so
have those that were in it before the trace: the mean over stolen pages is too short where pages stay long in comparison
with the trace. By Little's law the mean of all pages is the number of buffers divided by the pages read per second; so
Db2's statistics have it (the metric ``db2_pool.residency``). Pages read sequentially are on a chain of their own, whose
length VPSEQT limits: the two kinds stay for different times, so that a mean over a pool of mixed access says little.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from plexlens.pools.observation import Observation

#: Counters of a pool that add up to its pages read.
_PAGES_READ = ("sync_reads_random", "sync_reads_sequential", "sequential_pages", "list_pages", "dynamic_pages")


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
    by_reads
        Buffers times seconds, divided by pages read: the mean of all pages of a pool that is full. None of objects, if
        nothing was read, or if the trace has no times.
    """

    pool: str
    name: str
    stolen: int
    stolen_sequential: int
    seconds: float | None
    random_seconds: float | None
    sequential_seconds: float | None
    by_reads: float | None = None

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
        pool = _of(name, "", counters, timed=observation.timed)
        read = sum(counters[counter] for counter in _PAGES_READ)
        if read and observation.timed:
            pool = replace(pool, by_reads=observation.settings[name].size * observation.seconds / read)
        results += [pool, *objects]
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
