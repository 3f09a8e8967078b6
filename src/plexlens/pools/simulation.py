"""One configuration of the pools of a trace, simulated; its counters as the statistics that Db2 would have written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens import _core
from plexlens.errors import PlexlensError, UsageError
from plexlens.ingest.page_trace import SCHEMA, pool_id, pool_name
from plexlens.layouts_path import layout_folders
from plexlens.pools.placed import Placed
from plexlens.pools.settings import PoolSettings
from plexlens.pools.trace import Progress, Trace

#: Statistics interval of Db2 (STATIME), in seconds.
INTERVAL = 60.0

#: So many intervals at most where none is asked for; a long trace has longer ones.
MOST_INTERVALS = 1440

_SECOND = 1_000_000

#: Times of a trace that is no more than this after 1970 are relative: its statistics begin here.
_RELATIVE = 365 * 86400 * _SECOND
_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: QWHSRN of Db2 12, whose statistics have counters of 8 bytes.
_RELEASE = 0xC1

Counters = dict[str, int]


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
    length = _interval(trace, interval)
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
        raise _refused(error) from error
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


def _interval(trace: Trace, interval: float | None) -> int | None:
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
        raise _refused(error) from error


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


def _refused(error: Exception) -> UsageError:
    what, _, remedy = str(error).partition("; ")
    return UsageError(file="", what=what, remedy=remedy or "see docs/pools.md for what pools can be")


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
    if not simulated.intervals or simulated.last <= simulated.first:
        raise UsageError(
            file=str(path),
            what="the trace tells no times: statistics are of intervals of time",
            remedy="give a trace with a column time",
        )
    for what, name in (("system", system), ("subsystem", subsystem)):
        if re.fullmatch(r"[A-Z0-9@#$]{1,4}", name) is None:
            raise UsageError(
                file="", what=f"{name!r} is no name of a {what}", remedy="give 1 to 4 of the characters A-Z 0-9 @ # $"
            )
    zero = _EPOCH if simulated.first > _RELATIVE else _BEGINNING - timedelta(microseconds=simulated.first)
    start = SimulatedInterval(simulated.first, {name: {} for name in simulated.pools}, {})
    catalogue = _core.Catalogue(layout_folders())
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with _core.DumpWriter(unfinished) as dump:
            dump.dump_header(system, (zero + timedelta(microseconds=simulated.first)).replace(tzinfo=None))
            written = 0
            for sequence, one in enumerate([start, *simulated.intervals], 1):
                end = zero + timedelta(microseconds=one.end)
                for record, sections in _sections(simulated, one).items():
                    header = {"qwhsiseq": sequence, "qwhsrn": _RELEASE, "qwhsssid": subsystem, "qwhsstck": end}
                    tables = {"smf100_qwhs": [header]} | sections
                    dump.write(
                        _core.encode_record(
                            catalogue,
                            record,
                            {"system": system, "subsystem": subsystem, "written_at": end.replace(tzinfo=None)},
                            {name: _batch(catalogue, name, rows) for name, rows in tables.items()},
                        )
                    )
                    written += 1
            dump.dump_trailer(system, end.replace(tzinfo=None))
        unfinished.replace(path)
    except OSError as error:
        raise PlexlensError(
            file=str(path),
            what=f"it cannot be written: {error.strerror or error}",
            remedy="check the folder, your rights and that there is room",
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return written


def _sections(simulated: Simulated, interval: SimulatedInterval) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Sections of the records at one time."""
    checkpoints = max((counters.get("checkpoints", 0) for counters in interval.pools.values()), default=0)
    return {
        "smf100_ifcid1": {"smf100_ifcid1_qwsd": [{"qwsdckpt": checkpoints}]},
        "smf100_ifcid2": {
            "smf100_ifcid2_qbst": [
                _pool_row(simulated.settings[name], counters, interval.chains.get(name))
                for name, counters in sorted(interval.pools.items(), key=lambda item: pool_id(item[0]) or 0)
            ]
        },
    }


def _pool_row(pool: PoolSettings, counters: Mapping[str, int], chain: tuple[int, int] | None) -> dict[str, Any]:
    """QBST of a pool."""
    row: dict[str, Any] = {"qbstpid": _id(pool), "qbstvpl": pool.size}
    for name, place, _ in _core.PoolSimulation.fields():
        if place:
            row[place.lower()] = counters.get(name, 0)
    # QBSTRIO counts all synchronous reads, QBSTSIO those of sequential access among them.
    row["qbstrio"] = counters.get("sync_reads_random", 0) + counters.get("sync_reads_sequential", 0)
    if chain is not None:
        row["qbstsmin"], row["qbstsmax"] = chain
    return row


def _batch(catalogue: _core.Catalogue, section: str, rows: list[dict[str, Any]]) -> pa.RecordBatch:
    named = {name for row in rows for name in row}
    fields = [one for one in catalogue.schema(section) if one.name in named]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(fields))
