"""Working sets: pages of its pool that each object holds, and pages that it references, over time.

An object's working set is what it holds of its pool, looked at at equal stretches of the trace. It depends on the
pool: in a larger one everything holds more. What the object references between two looks does not; where that is far
more than it holds, its pages are gone before they are asked for again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plexlens.metrics.page_numbers import page_numbers
from plexlens.pools.observation import Integers, Observation, ObservedObject

_SET = page_numbers("working_set")


@dataclass(frozen=True)
class WorkingSet:
    """The working set of an object.

    Attributes
    ----------
    average, maximum
        Pages in the pool over the looks that count: those since the pool was full for the first time, or all where it
        never was.
    pool_pages
        Buffers of the pool.
    referenced_average, referenced_maximum
        Different pages referenced from look to look.
    course
        Pages in the pool at every look.
    since_full
        Whether the pool was ever full; else the working set has not been put to the test.
    """

    pool: str
    name: str
    kind: str
    average: float
    maximum: int
    pool_pages: int
    referenced_average: float
    referenced_maximum: int
    course: tuple[int, ...]
    since_full: bool

    @property
    def delta(self) -> float:
        """Maximum minus average: the variation."""
        return _SET["delta"].of(self) or 0.0

    @property
    def average_share(self) -> float:
        """Average as a share of the pool."""
        return _SET["average_share"].of(self) or 0.0

    @property
    def maximum_share(self) -> float:
        """Maximum as a share of the pool."""
        return _SET["maximum_share"].of(self) or 0.0

    @property
    def delta_share(self) -> float:
        """Delta as a share of the pool."""
        return _SET["delta_share"].of(self) or 0.0


def working_sets(observation: Observation) -> list[WorkingSet]:
    """The working set of every object, ordered by share of a pool, largest first."""
    results = [_of(observed, observation) for observed in observation.objects()]
    return sorted(results, key=lambda observed: (-observed.maximum_share, observed.pool, observed.name))


def _of(observed: ObservedObject, observation: Observation) -> WorkingSet:
    full = observation.filled[observed.pool]
    counted: Integers = observed.resident[full or 0 :]
    return WorkingSet(
        pool=observed.pool,
        name=observed.name,
        kind=observed.kind,
        average=float(np.mean(counted)),
        maximum=int(np.max(counted)),
        pool_pages=observation.settings[observed.pool].size,
        referenced_average=float(np.mean(observed.referenced)),
        referenced_maximum=int(np.max(observed.referenced)),
        course=tuple(observed.resident.tolist()),
        since_full=full is not None,
    )
