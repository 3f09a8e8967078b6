"""The pools of a data-sharing group with the group buffer pools between them, simulated and written as statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import pool_name
from plexlens.pools.engine import Counters, new_group, refused
from plexlens.pools.members import check_several
from plexlens.pools.placed import Placed
from plexlens.pools.settings import PoolSettings
from plexlens.pools.simulation import interval_of
from plexlens.pools.statistics_records import Member, Row, Statistics, pool_row, write_statistics
from plexlens.pools.structures import GroupPoolSettings, id_of
from plexlens.pools.trace import Trace
from plexlens.progress import Progress


@dataclass(frozen=True)
class GroupCount:
    """What was counted up to a moment.

    Attributes
    ----------
    time
        Microseconds of the trace; everything before it is counted.
    pools
        Counters by member and pool name, by the names of `plexlens._core.PoolSimulation.fields`.
    group_pools
        What each member counts of a group buffer pool, by member and pool name
        (`plexlens._core.GroupSimulation.member_fields`).
    structures
        Counters of the structures by pool name (`plexlens._core.GroupSimulation.structure_fields`).
    """

    time: int
    pools: dict[str, dict[str, Counters]]
    group_pools: dict[str, dict[str, Counters]]
    structures: dict[str, Counters]


@dataclass(frozen=True)
class SimulatedGroup:
    """What the simulation of a group counted.

    Attributes
    ----------
    settings
        Pools that were simulated, by member and pool name.
    structures
        Group buffer pools, by pool name.
    members
        Names of the members, in the order of their numbers.
    dependent
        Data sets that are kept coherent, by pool name: several members use them and one at least changes them.
    total
        What was counted in all.
    intervals
        What was counted at the end of each interval, the last at the last reference; empty where the trace tells no
        times.
    first
        Time of the first reference.
    left_out
        References to pools that are not simulated, by pool name.
    """

    settings: dict[str, dict[str, PoolSettings]]
    structures: dict[str, GroupPoolSettings]
    members: tuple[str, ...]
    dependent: dict[str, tuple[str, ...]]
    total: GroupCount
    intervals: list[GroupCount] = field(repr=False)
    first: int
    left_out: dict[str, int]


def simulate_group(
    trace: Trace,
    settings: Sequence[PoolSettings] | Mapping[str, Sequence[PoolSettings]],
    structures: Sequence[GroupPoolSettings],
    *,
    interval: float | None = None,
    placement: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> SimulatedGroup:
    """Simulate the pools of all members of a trace; it is read twice.

    Parameters
    ----------
    trace
        The references of several members.
    settings
        The pools, the same at each member, or those of each member by its name; references to others are counted and
        left out.
    structures
        Group buffer pools, one for each pool with data sets that several members use and one changes.
    interval
        Seconds of a statistics interval; None as in `plexlens.pools.simulation.simulate`.
    placement
        Data sets that are simulated in other pools than the trace has them.
    progress
        Told bytes done, bytes in all and the file.

    Raises
    ------
    UsageError
        Impossible settings, members that the trace does not have, shared pools without structures, a data set that the
        trace does not have, a trace of one member.
    UnreadableInputError
        The trace cannot be read.
    """
    if placement and not trace.facts.complete:
        # Names that come with the records of a dump may follow the first reference.
        for _ in trace.batches(progress):
            pass
    numbers, interest = _look(Placed(placement or {}, trace.names), trace, progress)
    members = {number: trace.names.member(number) for number in numbers}
    own = _by_member(settings, list(members.values()))
    length = interval_of(trace, interval)
    dependent = {pool: data_sets for pool, data_sets in interest.dependent().items() if data_sets}
    run = _Run(new_group(own, structures, dependent, members), members, own)
    placed = Placed(placement or {}, trace.names)
    for batch in placed.batches(trace.batches(progress)):
        run.add(batch, length)
    placed.check_all_met()
    facts = trace.facts
    total = run.counted(facts.last or 0)
    left_out: dict[str, int] = {}
    for (pool, _), rows in run.without_configuration().items():
        left_out[pool_name(pool)] = left_out.get(pool_name(pool), 0) + rows
    return SimulatedGroup(
        settings=own,
        structures={one.name: one for one in structures},
        members=tuple(run.members.values()),
        dependent={
            name: tuple(sorted(trace.names.data_set(*data_set) for data_set in dependent.get(id_of(name), ())))
            for name in run.pools.values()
        },
        total=total,
        intervals=[*(one for one in run.ends if one.time < total.time), total] if facts.timed else [],
        first=facts.first or 0,
        left_out=left_out,
    )


def _by_member(
    settings: Sequence[PoolSettings] | Mapping[str, Sequence[PoolSettings]], members: Sequence[str]
) -> dict[str, dict[str, PoolSettings]]:
    """Pools of each member by name."""
    if not isinstance(settings, Mapping):
        return {member: {pool.name: pool for pool in settings} for member in members}
    unknown = sorted(settings.keys() - set(members))
    if unknown:
        raise UsageError(
            file="", what=f"the trace has no member {unknown[0]}", remedy=f"give one of {', '.join(members)}"
        )
    return {member: {pool.name: pool for pool in settings.get(member, ())} for member in members}


def write_group_smf(simulated: SimulatedGroup, path: Path, *, group: str = "SIMGROUP") -> int:
    """Write the simulation as SMF 100 IFCID 1 and 2 of each member, QBGL included.

    A member keeps its name where that is one of a Db2 (else ``DBS1``, ``DBS2`` and so on), each on a system of its own.
    Castout is counted by the first member that changed a page of the data set, its owner.

    Parameters
    ----------
    simulated
        What was counted.
    path
        The dump; what is there is replaced when it is complete.
    group
        Name of the data-sharing group.

    Returns
    -------
    int
        Records written, dump header and trailer not counted.

    Raises
    ------
    UsageError
        The trace tells no times, or an impossible name.
    PlexlensError
        The file cannot be written.
    """
    if re.fullmatch(r"[A-Z0-9@#$]{1,8}", group) is None:
        raise UsageError(
            file="", what=f"{group!r} is no name of a group", remedy="give 1 to 8 of the characters A-Z 0-9 @ # $"
        )
    nothing = GroupCount(simulated.first, {}, {}, {})
    ends = [nothing, *simulated.intervals] if simulated.intervals else []
    members = [
        Member(
            system=f"SI{number:02}",
            subsystem=name if re.fullmatch(r"[A-Z@#$][A-Z0-9@#$]{0,3}", name) else f"DBS{number}",
            group=group,
            statistics=[_statistics(simulated, end, name) for end in ends],
        )
        for number, name in enumerate(simulated.members, 1)
    ]
    return write_statistics(path, members)


class _Run:
    """A simulation and what it has counted at the ends of intervals."""

    def __init__(
        self,
        simulation: _core.GroupSimulation,
        members: dict[int, str],
        pools: Mapping[str, Mapping[str, PoolSettings]],
    ) -> None:
        self._simulation = simulation
        self.pools = {id_of(name): name for own in pools.values() for name in own}
        self._next: int | None = None
        self.members = members
        self.ends: list[GroupCount] = []

    def add(self, batch: pa.RecordBatch, length: int | None) -> None:
        """Add a stretch, cut where intervals of so many microseconds end."""
        for part in self._parts(batch, length):
            try:
                self._simulation.add(part)
            except _core.PoolError as error:
                raise refused(error) from error

    def _parts(self, batch: pa.RecordBatch, length: int | None) -> Iterator[pa.RecordBatch]:
        if length is None:
            yield batch
            return
        times = batch["time"].to_numpy()
        if self._next is None:
            self._next = int(times[0]) + length
        done = 0
        while times[-1] >= self._next:
            rows = int(np.count_nonzero(times < self._next))
            if rows > done:
                yield batch.slice(done, rows - done)
                done = rows
            self.ends.append(self.counted(self._next))
            self._next += length
        yield batch.slice(done)

    def without_configuration(self) -> dict[tuple[int, int], int]:
        """References left out, by pool id and member."""
        return self._simulation.without_configuration()

    def counted(self, time: int) -> GroupCount:
        """What was counted so far."""
        pools: dict[str, dict[str, Counters]] = {name: {} for name in self.members.values()}
        group_pools: dict[str, dict[str, Counters]] = {name: {} for name in self.members.values()}
        for pool, name in self.pools.items():
            for held, found in ((pools, self._simulation.pools(pool)), (group_pools, self._simulation.members(pool))):
                for member, counters in found.items():
                    held[self.members[member]][name] = counters
        structures = {name: self._simulation.structure(pool) for pool, name in self.pools.items()}
        return GroupCount(time, pools, group_pools, structures)


def _look(placed: Placed, trace: Trace, progress: Progress | None) -> tuple[list[int], _core.GroupInterest]:
    """Numbers of the members, and which data sets they share."""
    interest = _core.GroupInterest()
    numbers: set[int] = set()
    for batch in placed.batches(trace.batches(progress)):
        try:
            interest.add(batch)
        except _core.PoolError as error:
            raise refused(error) from error
        numbers.update(pc.unique(batch["member"]).to_pylist())
    check_several(numbers)
    return sorted(numbers), interest


def _statistics(simulated: SimulatedGroup, count: GroupCount, member: str) -> Statistics:
    """What one member would have counted."""
    pools: list[Row] = []
    group_pools: list[Row] = []
    local, shared = count.pools.get(member, {}), count.group_pools.get(member, {})
    for pool in sorted(simulated.settings[member].values(), key=lambda one: id_of(one.name)):
        row = pool_row(id_of(pool.name), pool.size, local.get(pool.name, {}))
        group_row: Row = {"qbglgn": id_of(pool.name)}
        for name, place, _ in _core.GroupSimulation.member_fields():
            if place:
                group_row[place.lower()] = shared.get(pool.name, {}).get(name, 0)
        # After each castout I/O its pages are unlocked.
        own = shared.get(pool.name, {})
        row |= {"qbstpco": own.get("castout_pages", 0), "qbstcio": own.get("castout_unlocks", 0)}
        pools.append(row)
        group_pools.append(group_row)
    return Statistics(
        time=count.time,
        pools=pools,
        group_pools=group_pools,
        checkpoints=max((counters.get("checkpoints", 0) for counters in local.values()), default=0),
    )
