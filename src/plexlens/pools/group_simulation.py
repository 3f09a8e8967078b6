"""The pools of a data-sharing group with the group buffer pools between them, simulated and written as statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import page_bytes, pool_id, pool_name
from plexlens.pools.placed import Placed
from plexlens.pools.settings import PoolSettings
from plexlens.pools.simulation import Counters, interval_of, refused
from plexlens.pools.statistics_records import Member, Row, Statistics, pool_row, write_statistics
from plexlens.pools.trace import Progress, Trace


@dataclass(frozen=True)
class GroupPoolSettings:
    """A group buffer pool.

    Attributes
    ----------
    name
        The buffer pool it belongs to: ``BP2`` for GBP2.
    data_entries, directory_entries
        Pages and directory entries of the structure.
    class_threshold, class_pages
        CLASST in per cent; in pages, where the per cent are 0.
    pool_threshold
        GBPOOLT in per cent.
    updates_a_commit
        Updates after which a member commits; None where the trace records commits.
    """

    name: str
    data_entries: int = 4000
    directory_entries: int = 20000
    class_threshold: int = 5
    class_pages: int = 0
    pool_threshold: int = 30
    updates_a_commit: int | None = 1

    def engine(self) -> dict[str, Any]:
        """What `plexlens._core.GroupSimulation` takes for the structure."""
        settings = asdict(self)
        name = settings.pop("name")
        return settings | {"page_bytes": page_bytes(_id(name))}


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
    settings, structures
        What was simulated, by pool name.
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

    settings: dict[str, PoolSettings]
    structures: dict[str, GroupPoolSettings]
    members: tuple[str, ...]
    dependent: dict[str, tuple[str, ...]]
    total: GroupCount
    intervals: list[GroupCount] = field(repr=False)
    first: int
    left_out: dict[str, int]


def simulate_group(
    trace: Trace,
    settings: Sequence[PoolSettings],
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
        The pools, the same at each member; references to others are counted and left out.
    structures
        Their group buffer pools, one for each.
    interval
        Seconds of a statistics interval; None as in `plexlens.pools.simulation.simulate`.
    placement
        Data sets that are simulated in other pools than the trace has them.
    progress
        Told bytes done, bytes in all and the file.

    Raises
    ------
    UsageError
        Impossible settings, pools without structures, a data set that the trace does not have, a trace of one member.
    UnreadableInputError
        The trace cannot be read.
    """
    _check_pairs(settings, structures)
    if placement and not trace.facts.complete:
        # Names that come with the records of a dump may follow the first reference.
        for _ in trace.batches(progress):
            pass
    numbers, interest = _look(Placed(placement or {}, trace.names), trace, progress)
    length = interval_of(trace, interval)
    ids = {_id(pool.name): pool for pool in settings}
    dependent = {pool: data_sets for pool, data_sets in interest.dependent().items() if pool in ids}
    try:
        simulation = _core.GroupSimulation(
            {pool: dict.fromkeys(numbers, one.engine()) for pool, one in ids.items()},
            {_id(one.name): one.engine() for one in structures},
            dependent,
        )
    except _core.PoolError as error:
        raise refused(error) from error
    run = _Run(simulation, {number: trace.names.member(number) for number in numbers}, ids)
    placed = Placed(placement or {}, trace.names)
    for batch in placed.batches(trace.batches(progress)):
        run.add(batch, length)
    placed.check_all_met()
    facts = trace.facts
    total = run.counted(facts.last or 0)
    left_out: dict[str, int] = {}
    for (pool, _), rows in simulation.without_configuration().items():
        left_out[pool_name(pool)] = left_out.get(pool_name(pool), 0) + rows
    return SimulatedGroup(
        settings={pool.name: pool for pool in settings},
        structures={one.name: one for one in structures},
        members=tuple(run.members.values()),
        dependent={
            ids[pool].name: tuple(sorted(trace.names.data_set(*data_set) for data_set in data_sets))
            for pool, data_sets in dependent.items()
        },
        total=total,
        intervals=[*(one for one in run.ends if one.time < total.time), total] if facts.timed else [],
        first=facts.first or 0,
        left_out=left_out,
    )


def write_group_smf(simulated: SimulatedGroup, path: Path, *, group: str = "SIMGROUP") -> int:
    """Write the simulation as SMF 100 IFCID 1 and 2 of each member, QBGL included.

    A member keeps its name where that is one of a Db2 (else ``DBS1``, ``DBS2`` and so on), each on a system of its own.
    The first member counts all castouts, as if it owned them.

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
            statistics=[_statistics(simulated, end, name, owner=number == 1) for end in ends],
        )
        for number, name in enumerate(simulated.members, 1)
    ]
    return write_statistics(path, members)


class _Run:
    """A simulation and what it has counted at the ends of intervals."""

    def __init__(
        self, simulation: _core.GroupSimulation, members: dict[int, str], pools: Mapping[int, PoolSettings]
    ) -> None:
        self._simulation = simulation
        self._pools = pools
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

    def counted(self, time: int) -> GroupCount:
        """What was counted so far."""
        pools: dict[str, dict[str, Counters]] = {name: {} for name in self.members.values()}
        group_pools: dict[str, dict[str, Counters]] = {name: {} for name in self.members.values()}
        for pool, one in self._pools.items():
            for held, found in ((pools, self._simulation.pools(pool)), (group_pools, self._simulation.members(pool))):
                for member, counters in found.items():
                    held[self.members[member]][one.name] = counters
        structures = {one.name: self._simulation.structure(pool) for pool, one in self._pools.items()}
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
    if len(numbers) < 2:
        raise UsageError(
            file="",
            what="the trace has one member: there is nothing to keep coherent",
            remedy="simulate its pools alone, or give the traces of several members",
        )
    return sorted(numbers), interest


def _check_pairs(settings: Sequence[PoolSettings], structures: Sequence[GroupPoolSettings]) -> None:
    pools, have = {one.name for one in settings}, {one.name for one in structures}
    for one in sorted(pools ^ have):
        what = f"pool {one} has no group buffer pool" if one in pools else f"group buffer pool of {one} has no pool"
        raise UsageError(file="", what=what, remedy="give both for each pool")


def _id(name: str) -> int:
    number = pool_id(name)
    if number is None:
        raise UsageError(
            file="", what=f"{name!r} names no buffer pool", remedy="name pools as BP0, BP8K0, BP16K0, BP32K"
        )
    return number


def _statistics(simulated: SimulatedGroup, count: GroupCount, member: str, *, owner: bool) -> Statistics:
    """What one member would have counted."""
    pools: list[Row] = []
    group_pools: list[Row] = []
    local, shared = count.pools.get(member, {}), count.group_pools.get(member, {})
    for pool in sorted(simulated.settings.values(), key=lambda one: _id(one.name)):
        row = pool_row(_id(pool.name), pool.size, local.get(pool.name, {}))
        group_row: Row = {"qbglgn": _id(pool.name)}
        for name, place, _ in _core.GroupSimulation.member_fields():
            if place:
                group_row[place.lower()] = shared.get(pool.name, {}).get(name, 0)
        if owner:
            structure = count.structures.get(pool.name, {})
            castouts = {"qbglrc": "castout_pages", "qbglct": "class_threshold", "qbglgt": "pool_threshold"}
            group_row |= {column: structure.get(name, 0) for column, name in castouts.items()}
            row |= {"qbstpco": structure.get("castout_pages", 0), "qbstcio": structure.get("castout_ios", 0)}
        pools.append(row)
        group_pools.append(group_row)
    return Statistics(
        time=count.time,
        pools=pools,
        group_pools=group_pools,
        checkpoints=max((counters.get("checkpoints", 0) for counters in local.values()), default=0),
    )
