"""Event-by-event simulation of a configuration: a single Db2, or the members of a group with their group buffer pools.

Both run the same pools of `plexlens._core`; those of a Db2 alone need no ordering between members and run side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import pool_name
from plexlens.pools.members import full_name, member_and_pool
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.structures import GroupPoolSettings, id_of

#: What was counted, by name.
Counters = dict[str, int]

#: Object, partition, and what was counted of them.
Row = tuple[int, int, Counters]

#: The same of several data sets: ``object``, ``partition`` and counters by name.
Columns = Mapping[str, npt.NDArray[np.int64]]


class Simulation(Protocol):
    """A simulation to which parts of a trace are added in turn."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next part of the trace."""

    def data_sets(self, name: str) -> Sequence[Row]:
        """Data sets of a pool, by its full name."""

    def counters(self) -> dict[str, Counters]:
        """Counters of every pool, by full name."""

    def uses(self, pools: Iterable[str]) -> dict[str, Counters]:
        """Counters of the group buffer pools of these pools: per member, by full name; and per structure.

        What members count of castout the structure (``GBP2``) counts once more, for all of them.
        """

    def without_configuration(self) -> dict[str, int]:
        """References to pools that are not simulated, by full name."""


def refused(error: Exception) -> UsageError:
    """An error of the engine as a `UsageError`."""
    what, _, remedy = str(error).partition("; ")
    return UsageError(file="", what=what, remedy=remedy or "docs/pools.md lists valid settings of pools")


def new_simulation(
    configuration: Configuration,
    members: Mapping[int, str],
    dependent: Mapping[int, Sequence[tuple[int, int]]],
    placement: Mapping[tuple[int, int], int] | None = None,
) -> Simulation:
    """A new simulation, before any reference is added.

    Parameters
    ----------
    configuration
        Pools and group buffer pools.
    members
        Names of the members by number; none of a Db2 alone.
    dependent
        Data sets that are kept coherent, by pool id.
    placement
        Data sets, by object and partition, that are in another pool (by its id) than a trace of a Db2 alone has them;
        of a group they are moved before they are added.

    Raises
    ------
    UsageError
        Impossible settings, a shared pool without a group buffer pool, a group buffer pool without a pool.
    """
    if not members:
        return Alone(new_alone(configuration, placement=placement or None))
    structures = list(configuration.structures.values())
    by_member = {member: configuration.of(member).pools for member in configuration.members}
    unknown = sorted(by_member.keys() - set(members.values()))
    if unknown:
        remedy = f"give one of {', '.join(members.values())}"
        raise UsageError(file="", what=f"the trace has no member {unknown[0]}", remedy=remedy)
    return _Group(new_group(by_member, structures, dependent, members), members, list(configuration.pools))


def new_alone(configuration: Configuration, **others: Any) -> _core.PoolSimulation:
    """The engine of a single Db2, before any reference is added.

    Raises
    ------
    UsageError
        Impossible settings.
    """
    settings = {id_of(name): pool.engine() for name, pool in configuration.pools.items()}
    try:
        return _core.PoolSimulation(settings, **others)
    except _core.PoolError as error:
        raise refused(error) from error


def new_together(
    configurations: Sequence[Configuration], placements: Sequence[Mapping[tuple[int, int], int]]
) -> _core.PoolSimulations:
    """The engine of several configurations of a single Db2, before any reference is added.

    Parameters
    ----------
    configurations
        Pools.
    placements
        Of each configuration: data sets that are in another pool than the trace has them, as for `new_simulation`.

    Raises
    ------
    UsageError
        Impossible settings.
    """
    runs = [
        ({id_of(name): pool.engine() for name, pool in configuration.pools.items()}, placement or None)
        for configuration, placement in zip(configurations, placements, strict=True)
    ]
    try:
        return _core.PoolSimulations(runs)
    except _core.PoolError as error:
        raise refused(error) from error


def in_columns(rows: Sequence[Row]) -> Columns:
    """Data sets of a pool in columns."""
    columns = {
        "object": np.array([number for number, _, _ in rows], np.int64),
        "partition": np.array([partition for _, partition, _ in rows], np.int64),
    }
    names = rows[0][2] if rows else ()
    return columns | {name: np.array([counters[name] for _, _, counters in rows], np.int64) for name in names}


class Alone:
    """The pools of one Db2.

    Parameters
    ----------
    simulation
        Its engine.
    """

    def __init__(self, simulation: _core.PoolSimulation) -> None:
        self._simulation = simulation

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next part of the trace."""
        try:
            self._simulation.add(batch)
        except _core.PoolError as error:
            raise refused(error) from error

    def data_sets(self, name: str) -> Sequence[Row]:
        """Data sets of a pool."""
        return self._simulation.data_sets(id_of(name))

    def counters(self) -> dict[str, Counters]:
        """Counters of every pool."""
        return {pool_name(pool): counted for pool, counted in self._simulation.counters().items()}

    def uses(self, pools: Iterable[str]) -> dict[str, Counters]:
        """Empty: a single Db2 has no group buffer pools."""
        return {}

    def without_configuration(self) -> dict[str, int]:
        """References to pools that are not simulated."""
        return {pool_name(pool): rows for pool, rows in self._simulation.without_configuration().items()}


class _Group:
    """The pools of several members, and the group buffer pools between them."""

    def __init__(self, simulation: _core.GroupSimulation, members: Mapping[int, str], names: Sequence[str]) -> None:
        self._simulation = simulation
        self._names = names
        self._members = members
        self._numbers = {name: number for number, name in members.items()}

    def add(self, batch: pa.RecordBatch) -> None:
        try:
            self._simulation.add(batch)
        except _core.PoolError as error:
            raise refused(error) from error

    def data_sets(self, name: str) -> Sequence[Row]:
        member, pool = member_and_pool(name)
        return self._simulation.data_sets(id_of(pool)).get(self._numbers[member], [])

    def counters(self) -> dict[str, Counters]:
        results = {}
        for name in self._names:
            member, pool = member_and_pool(name)
            results[name] = self._simulation.pools(id_of(pool))[self._numbers[member]]
        return results

    def uses(self, pools: Iterable[str]) -> dict[str, Counters]:
        counts: dict[str, Counters] = {}
        for pool in pools:
            try:
                of_members = self._simulation.members(id_of(pool))
            except KeyError:
                continue
            for number, counters in of_members.items():
                counts[full_name(self._members[number], pool)] = counters
            counts[f"G{pool}"] = self._simulation.structure(id_of(pool))
        return counts

    def without_configuration(self) -> dict[str, int]:
        return {
            full_name(self._members[member], pool_name(pool)): rows
            for (pool, member), rows in self._simulation.without_configuration().items()
        }


def new_group(
    pools: Mapping[str, Mapping[str, PoolSettings]],
    structures: Iterable[GroupPoolSettings],
    dependent: Mapping[int, Sequence[tuple[int, int]]],
    members: Mapping[int, str],
) -> _core.GroupSimulation:
    """The engine of a group, before any reference is added.

    Parameters
    ----------
    pools
        By member and name.
    structures
        Group buffer pools. A pool whose data sets nobody shares needs none.
    dependent
        Data sets that are kept coherent, by pool id.
    members
        Names of the members by number.

    Raises
    ------
    UsageError
        Impossible settings, a shared pool without a group buffer pool, a group buffer pool without a pool.
    """
    by_id: dict[int, dict[int, dict[str, Any]]] = {}
    for number, member in members.items():
        for settings in pools.get(member, {}).values():
            by_id.setdefault(id_of(settings.name), {})[number] = settings.engine()
    have = {id_of(structure.name): structure for structure in structures}
    for pool in sorted(by_id.keys() ^ have.keys()):
        if pool in have:
            raise UsageError(
                file="",
                what=f"the group buffer pool of {pool_name(pool)} has no local pool",
                remedy="give the size of the pool at the members",
            )
        if dependent.get(pool):
            raise UsageError(
                file="",
                what=f"pool {pool_name(pool)} has no group buffer pool, but members share its pages",
                remedy=f"give its size, as in --gbp G{pool_name(pool)}=128MiB",
            )
        # Nothing goes through it.
        have[pool] = GroupPoolSettings(pool_name(pool), 1, 1)
    try:
        return _core.GroupSimulation(
            by_id,
            {pool: have[pool].engine() for pool in by_id},
            {pool: data_sets for pool, data_sets in dependent.items() if pool in by_id},
        )
    except _core.PoolError as error:
        raise refused(error) from error
