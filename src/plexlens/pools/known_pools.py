"""Pools of a Db2 alone that were simulated before, so that none is simulated twice.

The pools of a single Db2 do not touch each other. What a pool counts follows from its settings and from the references
that go to it: two configurations that agree in both for a pool have the same counters there, whatever the other pools
are. The steps of a recommendation often leave half of the pools alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plexlens.pools.activities import Activities
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.structures import id_of
from plexlens.pools.work import Work


@dataclass(frozen=True)
class Contents:
    """Settings of a pool, and the references of a trace that go to it.

    Attributes
    ----------
    settings
        Settings, with the name of the pool.
    data_sets
        Bytes of the numbers of its data sets, ascending: object, partition, and a last bit that is set where only those
        references are in the pool that the trace has there.
    """

    settings: PoolSettings
    data_sets: bytes


def contents_of(
    configuration: Configuration, placement: Mapping[tuple[int, int], int], work: Work
) -> dict[str, Contents]:
    """Contents of the pools of a Db2 alone, by name; empty where the work does not say which references are where.

    Parameters
    ----------
    configuration
        Settings of the pools.
    placement
        Data sets, by object and partition, that are in another pool (by its id) than the trace has them.
    work
        What a pass over the whole trace has found.
    """
    sample = work.sample
    if sample is None or not sample.elsewhere.isdisjoint(placement):
        return {}
    numbers: dict[int, list[int]] = {id_of(name): [] for name in configuration.pools}
    for data_set, use in work.data_sets.items():
        number = (data_set[0] << 16 | data_set[1]) << 1
        target = placement.get(data_set)
        pools = use.getpages if target is None else (target,)
        for pool in pools:
            if pool in numbers:
                numbers[pool].append(number | (len(pools) > 1))
    return {
        name: Contents(settings, np.sort(np.array(numbers[id_of(name)], np.int64)).tobytes())
        for name, settings in configuration.pools.items()
    }


@dataclass
class KnownPools:
    """Data sets of simulated pools by the contents of these; of one trace, at the same prices."""

    _pools: dict[Contents, tuple[Activities, str]] = field(default_factory=dict)

    def __contains__(self, contents: object) -> bool:
        """Whether a pool with these contents was simulated."""
        return contents in self._pools

    def keep(self, contents: Contents, data_sets: Activities, pool: str) -> None:
        """Keep the data sets of a pool that was simulated."""
        self._pools[contents] = data_sets, pool

    def of(self, contents: Contents) -> tuple[Activities, str]:
        """The configuration's data sets, and the pool's name there."""
        return self._pools[contents]
