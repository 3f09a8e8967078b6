"""Simulation of a configuration of the pools of a trace; its counters take the form of Db2 statistics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import SCHEMA
from plexlens.pools.engine import Alone, Counters, Simulation, new_alone, new_simulation, refused
from plexlens.pools.members import ALONE, full_name, pool_order
from plexlens.pools.placed import Placed
from plexlens.pools.settings import Configuration
from plexlens.pools.statistics_records import Member, Statistics, write_statistics
from plexlens.pools.structures import id_of
from plexlens.pools.trace import Trace
from plexlens.pools.work import Dependents, Work, dependent_names, dependents
from plexlens.progress import Progress
from plexlens.smf_rows.record import Row
from plexlens.smf_rows.smf100 import group_pool_row, pool_row

#: Statistics interval of Db2 (STATIME), in seconds.
INTERVAL = 60.0

#: Maximum number of intervals by default; a long trace gets longer intervals.
MOST_INTERVALS = 1440

_SECOND = 1_000_000


@dataclass(frozen=True)
class SimulatedInterval:
    """The end of a statistics interval.

    Attributes
    ----------
    end
        Time in microseconds of the trace.
    pools
        Counters since the beginning, by full name of the pool.
    chains
        Fewest and most buffers on the sequential chain within the interval; of a Db2 alone.
    uses
        What a member has counted of a group buffer pool, by full name of its pool
        (`plexlens._core.GroupSimulation.member_fields`), and what was counted of the structure, by its name.
    """

    end: int
    pools: dict[str, Counters]
    chains: dict[str, tuple[int, int]] = field(default_factory=dict)
    uses: dict[str, Counters] = field(default_factory=dict)


@dataclass(frozen=True)
class Simulated:
    """Counters of a simulation, by the names of `plexlens._core.PoolSimulation.fields`.

    Attributes
    ----------
    configuration
        The pools simulated.
    members
        Names of the members, in the order of their numbers; a Db2 alone has none.
    dependent
        Data sets that are kept coherent, by pool: several members use them and one at least changes them.
    pools, uses
        Counters since the beginning, as `SimulatedInterval` has them.
    objects
        Counters by full name of the pool and name of the data set.
    numbers
        Object and partition of these.
    intervals
        Ends of the statistics intervals, the last at the last reference; empty where the trace has no times.
    first, last
        Times of first and last reference, in microseconds of the trace.
    seconds
        Time between them; 0 if the trace has no times.
    left_out
        References to pools that are not simulated, by full name.
    """

    configuration: Configuration
    members: tuple[str, ...]
    dependent: dict[str, tuple[str, ...]]
    pools: dict[str, Counters]
    uses: dict[str, Counters]
    objects: dict[tuple[str, str], Counters]
    numbers: dict[tuple[str, str], tuple[int, int]]
    intervals: list[SimulatedInterval] = field(repr=False)
    first: int
    last: int
    seconds: float
    left_out: dict[str, int]


def simulate(
    trace: Trace,
    configuration: Configuration,
    *,
    work: Work | None = None,
    interval: float | None = None,
    progress: Progress | None = None,
) -> Simulated:
    """Simulate pools event by event.

    Parameters
    ----------
    trace
        The references.
    configuration
        The pools, group buffer pools, and data sets that are in other pools than the trace has them
        (``DATABASE.PAGESET`` -> ``BP2``). References to other pools are counted and left out.
    work
        What a pass over the trace has found; None for a Db2 alone.
    interval
        Seconds of a statistics interval; None for `INTERVAL`, or longer ones if there were more than `MOST_INTERVALS`.
    progress
        Told bytes done, bytes in all and the file.

    Raises
    ------
    UsageError
        Impossible settings, a shared pool without a group buffer pool, or a data set that the trace does not have.
    UnreadableInputError
        The trace cannot be read.
    """
    # Names that come with the records of a dump may follow the first reference; so do times.
    if (configuration.placement or interval is None) and not trace.facts.complete:
        for _ in trace.batches(progress):
            pass
    length = interval_of(trace, interval)
    shared: Dependents = {}
    numbers = {} if work is None else work.numbers
    if work is not None and numbers:
        shared = work.dependent
        if configuration.placement:
            (shared,) = dependents(trace, trace.names, [configuration.placement], progress=progress)
    placed = Placed(configuration.placement, trace.names)
    run = _GroupRun(configuration, numbers, shared, length) if numbers else _Run(configuration, length)
    batch = None
    try:
        for batch in placed.batches(trace.batches(progress)):
            run.add(batch, begins=trace.facts.first == batch["time"][0].as_py())
        if batch is not None:
            run.end(batch)
    except _core.PoolError as error:
        raise refused(error) from error
    placed.check_all_met()
    facts = trace.facts
    first, last = facts.first or 0, facts.last or 0
    total = run.counted(last)
    objects, of_objects = {}, {}
    for name in configuration.pools:
        for number, partition, counters in run.simulation.data_sets(name):
            key = (name, trace.names.data_set(number, partition))
            objects[key], of_objects[key] = counters, (number, partition)
    return Simulated(
        configuration=configuration,
        members=tuple(numbers[number] for number in sorted(numbers)),
        dependent=dependent_names(shared, trace.names),
        pools=total.pools,
        uses=total.uses,
        objects=objects,
        numbers=of_objects,
        intervals=[*(end for end in run.ends() if end.end < last), total] if facts.timed else [],
        first=first,
        last=last,
        seconds=facts.seconds,
        left_out=run.simulation.without_configuration(),
    )


def interval_of(trace: Trace, interval: float | None) -> int | None:
    """Microseconds of an interval; None if the trace has no times."""
    if interval is not None and interval <= 0:
        raise UsageError(file="", what=f"an interval of {interval} s is not possible", remedy="give seconds above 0")
    if interval is None:
        if not trace.facts.timed:
            return None
        interval = max(INTERVAL, trace.facts.seconds / MOST_INTERVALS)
    return max(round(interval * _SECOND), 1)


class _Run:
    """The simulation of a single Db2; the engine keeps the counters at the ends of intervals."""

    def __init__(self, configuration: Configuration, length: int | None) -> None:
        self._pools = {id_of(name): name for name in configuration.pools}
        self.engine = new_alone(configuration, interval=length)
        self.simulation: Simulation = Alone(self.engine)

    def add(self, batch: pa.RecordBatch, *, begins: bool) -> None:
        """Add part of a trace; the first part sets the clock of all pools."""
        if begins:
            self.engine.add(_marks(list(self._pools), batch.slice(0, 1)))
        self.engine.add(batch)

    def end(self, batch: pa.RecordBatch) -> None:
        """Advance the clock of all pools to the last reference."""
        self.engine.add(_marks(list(self._pools), batch.slice(batch.num_rows - 1)))

    def counted(self, time: int) -> SimulatedInterval:
        """The counters at this time."""
        return SimulatedInterval(time, self.simulation.counters())

    def ends(self) -> list[SimulatedInterval]:
        """The full intervals."""
        by_time: dict[int, SimulatedInterval] = {}
        for number, pool in self._pools.items():
            for time, fewest, most, counters in self.engine.snapshots(number):
                interval = by_time.setdefault(time, SimulatedInterval(time, {}))
                interval.pools[pool], interval.chains[pool] = counters, (fewest, most)
        return [by_time[time] for time in sorted(by_time)]


class _GroupRun:
    """The simulation of a group, cut where intervals end."""

    def __init__(
        self, configuration: Configuration, members: Mapping[int, str], shared: Dependents, length: int | None
    ) -> None:
        self.simulation: Simulation = new_simulation(configuration, members, shared)
        self._pools = configuration.pool_names
        self._length = length
        self._next: int | None = None
        self._ends: list[SimulatedInterval] = []

    def add(self, batch: pa.RecordBatch, *, begins: bool) -> None:
        """Add part of a trace."""
        for part in self._parts(batch):
            self.simulation.add(part)

    def end(self, batch: pa.RecordBatch) -> None:
        """Nothing to do."""

    def _parts(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if self._length is None:
            yield batch
            return
        times = batch["time"].to_numpy()
        if self._next is None:
            self._next = int(times[0]) + self._length
        done = 0
        while times[-1] >= self._next:
            rows = int(np.count_nonzero(times < self._next))
            if rows > done:
                yield batch.slice(done, rows - done)
                done = rows
            self._ends.append(self.counted(self._next))
            self._next += self._length
        yield batch.slice(done)

    def counted(self, time: int) -> SimulatedInterval:
        """The counters at this time."""
        return SimulatedInterval(time, self.simulation.counters(), uses=self.simulation.uses(self._pools))

    def ends(self) -> list[SimulatedInterval]:
        """The full intervals."""
        return self._ends


def _marks(pools: Sequence[int], reference: pa.RecordBatch) -> pa.RecordBatch:
    """A commit in every pool at the time of a reference: it sets the clock and changes no pool of a single Db2.

    So the intervals of all pools begin and end together, whenever each is referenced.
    """
    marks = {
        name: column.take(pa.array([0] * len(pools))) for name, column in zip(SCHEMA.names, reference, strict=True)
    }
    marks["pool"] = pa.array(pools, pa.uint16())
    marks["function"] = pa.array([_core.TRACE_FUNCTIONS.index("commit")] * len(pools), pa.uint8())
    return pa.record_batch(marks, schema=SCHEMA)


def write_smf(
    simulated: Simulated, path: Path, *, system: str = "SIM1", subsystem: str = "DBS1", group: str = "SIMGROUP"
) -> int:
    """Write the simulation as Db2 statistics: SMF 100 IFCID 1 and 2.

    A record of each kind for the beginning and for the end of each interval, with counters since the beginning, as Db2
    counts since its start. Times are those of the trace; a trace whose times are relative begins on 1 January 2000. A
    member of a group keeps its name where that is one of a Db2 (else ``DBS1``, ``DBS2`` and so on), each on a system of
    its own, with QBGL; castout is counted by the first member that changed a page of the data set, its owner.

    Parameters
    ----------
    simulated
        What was counted.
    path
        The dump; what is there is replaced when it is complete.
    system, subsystem
        SMF id and name of a Db2 alone.
    group
        Name of the data-sharing group.

    Returns
    -------
    int
        Records written, dump header and trailer not counted.

    Raises
    ------
    UsageError
        The trace has no times, or only a single time; or a name is invalid.
    PlexlensError
        The file cannot be written.
    """
    start = SimulatedInterval(simulated.first, {})
    ends = [start, *simulated.intervals] if simulated.intervals else []
    if not simulated.members:
        own = [_statistics(simulated, end, ALONE) for end in ends]
        return write_statistics(path, [Member(system, subsystem, statistics=own)])
    if re.fullmatch(r"[A-Z0-9@#$]{1,8}", group) is None:
        raise UsageError(
            file="", what=f"{group!r} is not a valid group name", remedy="give 1 to 8 of the characters A-Z 0-9 @ # $"
        )
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


def _statistics(simulated: Simulated, interval: SimulatedInterval, member: str) -> Statistics:
    """Statistics of a Db2 at the end of an interval."""
    pools: list[Row] = []
    group_pools: list[Row] = []
    settings = simulated.configuration.of(member).pools
    counted = {pool: interval.pools.get(full_name(member, pool), {}) for pool in settings}
    for pool in sorted(settings, key=pool_order):
        name = full_name(member, pool)
        counters = dict(counted[pool])
        chain = interval.chains.get(name)
        if chain is not None:
            counters |= {"fewest_sequential": chain[0], "most_sequential": chain[1]}
        if member:
            own = interval.uses.get(name, {})
            # After each castout I/O its pages are unlocked.
            counters |= {"castout_pages": own.get("castout_pages", 0), "castout_ios": own.get("castout_unlocks", 0)}
            group_pools.append(group_pool_row(id_of(pool), own))
        pools.append(pool_row(id_of(pool), settings[pool].size, counters))
    return Statistics(
        time=interval.end,
        pools=pools,
        group_pools=group_pools,
        # All pools are written at the same checkpoints; one that is not used has none.
        checkpoints=max((counters.get("checkpoints", 0) for counters in counted.values()), default=0),
    )
