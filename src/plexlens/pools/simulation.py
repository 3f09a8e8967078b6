"""One configuration of the pools of a trace, simulated; its counters as the statistics that Db2 would have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import SCHEMA, pool_id, pool_name
from plexlens.pools.engine import Counters, refused
from plexlens.pools.placed import Placed
from plexlens.pools.settings import PoolSettings
from plexlens.pools.statistics_records import Member, Statistics, pool_row, write_statistics
from plexlens.pools.trace import Trace
from plexlens.progress import Progress

#: Statistics interval of Db2 (STATIME), in seconds.
INTERVAL = 60.0

#: So many intervals at most where none is asked for; a long trace has longer ones.
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
        Counters since the beginning, by pool name.
    chains
        Fewest and most buffers on the sequential chain within the interval, by pool name.
    """

    end: int
    pools: dict[str, Counters]
    chains: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Simulated:
    """What a simulation counted, by the names of `plexlens._core.PoolSimulation.fields`.

    Attributes
    ----------
    settings
        The pools simulated, by name.
    pools
        Counters since the beginning, by pool name.
    objects
        Counters by pool name and data set name.
    numbers
        Object and partition of these.
    intervals
        Ends of the statistics intervals, the last at the last reference; empty where the trace tells no times.
    first, last
        Times of first and last reference, in microseconds of the trace.
    seconds
        Time between them; 0 where the trace tells none.
    left_out
        References to pools that are not simulated, by pool name.
    """

    settings: dict[str, PoolSettings]
    pools: dict[str, Counters]
    objects: dict[tuple[str, str], Counters]
    numbers: dict[tuple[str, str], tuple[int, int]]
    intervals: list[SimulatedInterval] = field(repr=False)
    first: int
    last: int
    seconds: float
    left_out: dict[str, int]


def simulate(
    trace: Trace,
    settings: Sequence[PoolSettings],
    *,
    interval: float | None = None,
    placement: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Simulated:
    """Simulate pools event by event.

    Parameters
    ----------
    trace
        The references.
    settings
        The pools; references to others are counted and left out.
    interval
        Seconds of a statistics interval; None for `INTERVAL`, or longer ones if there were more than `MOST_INTERVALS`.
    placement
        Data sets that are simulated in other pools than the trace has them: ``DATABASE.PAGESET`` -> ``BP2``.
    progress
        Told bytes done, bytes in all and the file.

    Raises
    ------
    UsageError
        Impossible settings, or a data set that the trace does not have.
    UnreadableInputError
        The trace cannot be read.
    """
    by_id = {_id(pool): pool for pool in settings}
    # Names that come with the records of a dump may follow the first reference; so do times.
    if (placement or interval is None) and not trace.facts.complete:
        for _ in trace.batches(progress):
            pass
    length = interval_of(trace, interval)
    simulation = _simulation(by_id, length)
    placed = Placed(placement or {}, trace.names)
    batch = None
    try:
        for batch in placed.batches(trace.batches(progress)):
            if trace.facts.first == batch["time"][0].as_py():
                simulation.add(_marks(by_id, batch.slice(0, 1)))
            simulation.add(batch)
        if batch is not None:
            simulation.add(_marks(by_id, batch.slice(batch.num_rows - 1)))
    except _core.PoolError as error:
        raise refused(error) from error
    placed.check_all_met()
    facts = trace.facts
    first, last = facts.first or 0, facts.last or 0
    counted = {pool_name(pool): counters for pool, counters in simulation.counters().items()}
    objects, numbers = {}, {}
    for pool, one in by_id.items():
        for number, partition, counters in simulation.data_sets(pool):
            key = (one.name, trace.names.data_set(number, partition))
            objects[key], numbers[key] = counters, (number, partition)
    return Simulated(
        settings={pool.name: pool for pool in settings},
        pools=counted,
        objects=objects,
        numbers=numbers,
        intervals=_intervals(simulation, by_id, counted, last) if facts.timed else [],
        first=first,
        last=last,
        seconds=facts.seconds,
        left_out={pool_name(pool): rows for pool, rows in simulation.without_configuration().items()},
    )


def _id(pool: PoolSettings) -> int:
    number = pool_id(pool.name)
    assert number is not None, "PoolSettings takes names of Db2's pools alone"
    return number


def interval_of(trace: Trace, interval: float | None) -> int | None:
    """Microseconds of an interval; None where the trace tells no times."""
    if interval is not None and interval <= 0:
        raise UsageError(file="", what=f"an interval of {interval} s is not possible", remedy="give seconds above 0")
    if interval is None:
        if not trace.facts.timed:
            return None
        interval = max(INTERVAL, trace.facts.seconds / MOST_INTERVALS)
    return max(round(interval * _SECOND), 1)


def _simulation(pools: Mapping[int, PoolSettings], interval: int | None) -> _core.PoolSimulation:
    try:
        return _core.PoolSimulation({pool: one.engine() for pool, one in pools.items()}, interval=interval)
    except _core.PoolError as error:
        raise refused(error) from error


def _marks(pools: Mapping[int, PoolSettings], reference: pa.RecordBatch) -> pa.RecordBatch:
    """A commit in every pool at the time of a reference: it changes no pool of one Db2, but shows it the time.

    So the intervals of all pools begin and end together, whenever each is referenced.
    """
    marks = {
        name: column.take(pa.array([0] * len(pools))) for name, column in zip(SCHEMA.names, reference, strict=True)
    }
    marks["pool"] = pa.array(list(pools), pa.uint16())
    marks["function"] = pa.array([_core.TRACE_FUNCTIONS.index("commit")] * len(pools), pa.uint8())
    return pa.record_batch(marks, schema=SCHEMA)


def _intervals(
    simulation: _core.PoolSimulation, pools: Mapping[int, PoolSettings], counted: dict[str, Counters], last: int
) -> list[SimulatedInterval]:
    """The full intervals, and what is left after the last of them."""
    by_time: dict[int, tuple[dict[str, Counters], dict[str, tuple[int, int]]]] = {}
    for number, pool in pools.items():
        for time, fewest, most, counters in simulation.snapshots(number):
            held, chains = by_time.setdefault(time, ({}, {}))
            held[pool.name], chains[pool.name] = counters, (fewest, most)
    intervals = []
    for time in sorted(time for time in by_time if time < last):
        intervals.append(SimulatedInterval(time, *by_time[time]))
    intervals.append(SimulatedInterval(last, counted, {}))
    return intervals


def write_smf(simulated: Simulated, path: Path, *, system: str = "SIM1", subsystem: str = "DBS1") -> int:
    """Write the simulation as the statistics that Db2 would have written: SMF 100 IFCID 1 and 2.

    A record of each kind for the beginning and for the end of each interval, with counters since the beginning, as Db2
    counts since its start. Times are those of the trace; a trace whose times are relative begins on 1 January 2000.

    Parameters
    ----------
    simulated
        What was counted.
    path
        The dump; what is there is replaced when it is complete.
    system
        SMF id.
    subsystem
        Name of the Db2.

    Returns
    -------
    int
        Records written, dump header and trailer not counted.

    Raises
    ------
    UsageError
        The trace tells no times, or all of one; or an impossible name.
    PlexlensError
        The file cannot be written.
    """
    start = SimulatedInterval(simulated.first, {name: {} for name in simulated.pools}, {})
    ends = [start, *simulated.intervals] if simulated.intervals else []
    statistics = [_statistics(simulated, one) for one in ends]
    return write_statistics(path, [Member(system, subsystem, statistics=statistics)])


def _statistics(simulated: Simulated, interval: SimulatedInterval) -> Statistics:
    """What Db2 would have counted at the end of an interval."""
    settings = sorted(simulated.settings.values(), key=_id)
    return Statistics(
        time=interval.end,
        pools=[
            pool_row(_id(pool), pool.size, interval.pools[pool.name], interval.chains.get(pool.name))
            for pool in settings
        ],
        # All pools are written at the same checkpoints; one that is not used has none.
        checkpoints=max((counters.get("checkpoints", 0) for counters in interval.pools.values()), default=0),
    )
