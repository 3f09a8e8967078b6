"""What a configuration of a group's pools does with the work of a trace: simulated event by event, priced.

Several configurations are simulated side by side in one pass over the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import pyarrow as pa

from plexlens import _core
from plexlens.ingest.page_trace import pool_name
from plexlens.pools.group.cost import GroupCost
from plexlens.pools.group.settings import GroupConfiguration, id_of
from plexlens.pools.group.simulation import new_simulation
from plexlens.pools.group.work import Dependents, GroupWork, dependent_names, dependents
from plexlens.pools.outcome import activity_of
from plexlens.pools.page_sample import Batches
from plexlens.pools.placed import Placed
from plexlens.pools.prediction import Activity, State
from plexlens.pools.simulation import refused
from plexlens.progress import Progress


@dataclass(frozen=True)
class GroupPoolActivity:
    """What is done with a group buffer pool during the trace; of one member, only what members count.

    Attributes
    ----------
    misses_with_data, misses_without_data
        Reads of pages that are not in the local pool, by whether the group buffer pool had them.
    invalid_with_data, invalid_without_data
        Reads of pages that another member's change, or a directory entry taken away, had made invalid.
    sync_writes, async_writes, failed_writes
        Changed pages written, at commit or before, and writes that found no room.
    invalidated_by_write, invalidated_by_reclaim
        Pages in local pools that became invalid: changed by another member; their directory entry taken.
    directory_reclaims, data_reclaims
        Entries taken from pages that used them.
    class_threshold, pool_threshold
        Times that CLASST and GBPOOLT were exceeded.
    castout_pages, castout_ios
        Changed pages written to disk, and I/Os for it.
    castout_unlocks, castout_classes, castout_statistics
        Requests of castout besides those that read the pages: unlocks after each I/O, names of a class's changed pages,
        numbers of changed pages by class.
    register_lists, prefetched_pages
        Requests that register the pages of a prefetch, and pages of these that were read from here.
    unregistered, deleted_names
        Requests that end the registration of a page, and of all pages of a data set.
    cpu_seconds
        Of the requests, and of the castout I/Os.
    """

    misses_with_data: float = 0.0
    misses_without_data: float = 0.0
    invalid_with_data: float = 0.0
    invalid_without_data: float = 0.0
    sync_writes: float = 0.0
    async_writes: float = 0.0
    failed_writes: float = 0.0
    invalidated_by_write: float = 0.0
    invalidated_by_reclaim: float = 0.0
    directory_reclaims: float = 0.0
    data_reclaims: float = 0.0
    class_threshold: float = 0.0
    pool_threshold: float = 0.0
    castout_pages: float = 0.0
    castout_ios: float = 0.0
    castout_unlocks: float = 0.0
    castout_classes: float = 0.0
    castout_statistics: float = 0.0
    register_lists: float = 0.0
    prefetched_pages: float = 0.0
    unregistered: float = 0.0
    deleted_names: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def invalid_reads(self) -> float:
        """Reads of pages that had become invalid."""
        return self.invalid_with_data + self.invalid_without_data

    @property
    def reads(self) -> float:
        """Reads of both kinds: each registers the page."""
        return self.misses_with_data + self.misses_without_data + self.invalid_reads

    @property
    def hits(self) -> float:
        """Reads that brought the page, so that no I/O was needed."""
        return self.misses_with_data + self.invalid_with_data

    @property
    def writes(self) -> float:
        """Changed pages written to it."""
        return self.sync_writes + self.async_writes

    @property
    def requests(self) -> float:
        """Requests of all kinds."""
        castout = self.castout_pages + self.castout_unlocks + self.castout_classes + self.castout_statistics
        registration = self.register_lists + self.prefetched_pages + self.unregistered + self.deleted_names
        return self.reads + self.writes + castout + registration

    def __add__(self, other: GroupPoolActivity) -> GroupPoolActivity:
        """Both together."""
        return GroupPoolActivity(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True)
class GroupState:
    """Pools of a group as they are set, and what they do with the work of the trace.

    Attributes
    ----------
    configuration
        Settings.
    members
        Pools of each member.
    uses
        What each member does with each group buffer pool, by member and pool name; the rest has member ``""``: what is
        counted of the structure alone.
    dependent
        Data sets that are kept coherent, by pool name.
    left_out
        References to pools without settings, by member and pool name.
    """

    configuration: GroupConfiguration
    members: Mapping[str, State] = field(default_factory=dict)
    uses: Mapping[tuple[str, str], GroupPoolActivity] = field(default_factory=dict)
    dependent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @cached_property
    def structures(self) -> dict[str, GroupPoolActivity]:
        """Activity of each group buffer pool, by pool name."""
        found = {pool: GroupPoolActivity() for pool in self.dependent if pool in self.configuration.pools}
        for (_, pool), one in self.uses.items():
            if pool in found:
                found[pool] += one
        return found

    @property
    def total(self) -> Activity:
        """Pools of all members together."""
        return sum((state.total for state in self.members.values()), start=Activity())

    @property
    def requests(self) -> GroupPoolActivity:
        """All group buffer pools together."""
        return sum(self.structures.values(), start=GroupPoolActivity())

    @property
    def cpu_seconds(self) -> float:
        """CPU of I/O, of requests to group buffer pools, and of castout."""
        return self.total.cpu_seconds + self.requests.cpu_seconds

    @property
    def write_ios(self) -> float:
        """Write I/Os of the members and of castout."""
        return self.total.write_ios + self.requests.castout_ios


def group_states(
    trace: Batches,
    configurations: Sequence[GroupConfiguration],
    *,
    work: GroupWork,
    cost: GroupCost,
    dependent: Dependents | None = None,
    progress: Progress | None = None,
) -> list[GroupState]:
    """Simulate configurations, all in one pass over the trace.

    Parameters
    ----------
    trace
        The trace, or a part of it.
    configurations
        Settings and placements. What is in a pool without settings is left out, and counted.
    work
        What a pass over the whole trace has found.
    cost
        Prices of I/O and requests.
    dependent
        Data sets that are kept coherent in all of them, where that is known; else a pass of its own finds it where
        objects are moved.
    progress
        Told how far the reading is.

    Raises
    ------
    UsageError
        Settings that cannot be simulated, an unknown object.
    """
    placements = list({tuple(sorted(one.placement.items())): one.placement for one in configurations}.values())
    moved = [placement for placement in placements if placement and dependent is None]
    found = iter(dependents(trace, work.names, moved, progress=progress) if moved else [])
    still = work.dependent if dependent is None else dependent
    placed = []
    for placement in placements:
        shared = next(found) if placement in moved else still
        own = [_Run(one, shared, work) for one in configurations if one.placement == placement]
        placed.append((Placed(placement, work.names), own))
    for batch in trace.batches(progress):
        for where, own in placed:
            for rows in where.batches([batch]):
                for run in own:
                    run.add(rows)
    runs = {id(run.configuration): run for _, own in placed for run in own}
    return [runs[id(one)].state(cost) for one in configurations]


class _Run:
    """One configuration being simulated."""

    def __init__(self, configuration: GroupConfiguration, shared: Dependents, work: GroupWork) -> None:
        self.configuration = configuration
        self._work = work
        self._names = dependent_names(shared, work.names)
        self._simulation = new_simulation(
            {name: one.pools for name, one in configuration.members.items()},
            [one for name, one in configuration.structures.items() if name in configuration.pools],
            shared,
            work.numbers,
        )

    def add(self, rows: pa.RecordBatch) -> None:
        try:
            self._simulation.add(rows)
        except _core.PoolError as error:
            raise refused(error) from error

    def state(self, cost: GroupCost) -> GroupState:
        """What was counted, priced."""
        pools: dict[str, dict[str, Activity]] = {name: {} for name in self.configuration.members}
        data_sets: dict[str, dict[tuple[str, str], Activity]] = {name: {} for name in self.configuration.members}
        uses: dict[tuple[str, str], GroupPoolActivity] = {}
        for pool in self.configuration.pools:
            number = id_of(pool)
            for member, rows in self._simulation.data_sets(number).items():
                name = self._work.numbers[member]
                own = self._priced(name, pool, rows, cost)
                data_sets[name] |= own
                pools[name][pool] = sum(own.values(), start=Activity())
            if pool in self._names:
                uses |= self._uses(pool, number, cost)
        left_out = self._simulation.without_configuration()
        return GroupState(
            self.configuration,
            {
                name: State(self.configuration.of(name), pools[name], data_sets[name])
                for name in self.configuration.members
            },
            uses,
            self._names,
            {(self._work.numbers[member], pool_name(pool)): rows for (pool, member), rows in left_out.items()},
        )

    def _priced(
        self, member: str, pool: str, rows: Sequence[tuple[int, int, Mapping[str, int]]], cost: GroupCost
    ) -> dict[tuple[str, str], Activity]:
        """Activity of each data set in a member's pool."""
        work = self._work.members[member]
        settings = self.configuration.members[member].pools[pool]
        return {
            (pool, work.names.data_set(entry, partition)): activity_of(
                counters, work, (entry, partition), cost.io, page_fixed=settings.pgfix
            )
            for entry, partition, counters in rows
        }

    def _uses(self, pool: str, number: int, cost: GroupCost) -> dict[tuple[str, str], GroupPoolActivity]:
        found: dict[tuple[str, str], GroupPoolActivity] = {}
        counted = [(self._work.numbers[member], one) for member, one in self._simulation.members(number).items()]
        # What members count of castout the structure counts once more, for all of them.
        members = {name for name, _, _ in _core.GroupSimulation.member_fields()}
        structure = {key: value for key, value in self._simulation.structure(number).items() if key not in members}
        for name, counters in [*counted, ("", structure)]:
            activity = GroupPoolActivity(**{key: float(value) for key, value in counters.items()})
            spent = activity.requests * cost.request.value + cost.io.cpu_seconds(0, activity.castout_ios)
            found[name, pool] = activity + GroupPoolActivity(cpu_seconds=spent)
        return found
