"""A pass over a trace: references of each object, its reads in a simulated configuration, and its resident pages.

The pools are simulated event by event (`plexlens._core.PoolSimulation`), and looked at at the ends of equal stretches
of the trace: how many pages of each object are in its pool, and how many different pages it referenced since the last
look. Memory grows with the pages referenced within one stretch and with objects times looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace import pool_name
from plexlens.ingest.page_trace.delays import ObjectDelay
from plexlens.pools.engine import Simulation, new_simulation, refused
from plexlens.pools.members import ALONE, by_member, full_name, member_and_pool, pool_order
from plexlens.pools.placed import Placed
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.structures import id_of
from plexlens.pools.trace import Trace
from plexlens.pools.work import Dependents, Work, dependents
from plexlens.progress import Progress

#: Looks at the pools where no number of them is asked for.
LOOKS = 60

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Pages = npt.NDArray[np.uint64]

_GETPAGE, _WRITE, _READ, _PREFETCH = (
    _core.TRACE_FUNCTIONS.index(name) for name in ("getpage", "set_write", "read", "prefetch")
)
_ACCESSES = len(_core.TRACE_ACCESSES)

#: Bits of a page number where it shares 64 bits with the number of its data set.
_PAGE_BITS = np.uint64(40)


@dataclass
class ObservedObject:
    """An object (a page set with all its partitions, or a single partition) in a pool.

    Attributes
    ----------
    name, kind
        ``DATABASE.PAGESET``; ``tablespace``, ``index`` or empty.
    partitions
        Data sets of it that were referenced.
    accesses
        Getpages by access (`plexlens._core.TRACE_ACCESSES`), as the trace records them.
    updates
        References that change a page.
    recorded_sync_reads, recorded_prefetches
        Read I/Os that the trace records (IFCID 6).
    counters
        What the simulation counted, by name: ``sync_reads``, ``prefetch_reads``, ``prefetch_pages``, ``writes``, ...
    resident
        Pages in the pool at each look.
    referenced
        Different pages referenced between one look and the next.
    delay
        I/O times of it that were recorded; None where none were, and of a single partition.
    """

    pool: str
    name: str
    kind: str
    object: int
    partition: int
    partitions: int = 1
    accesses: Integers = field(default_factory=lambda: np.zeros(_ACCESSES, np.int64))
    updates: int = 0
    recorded_sync_reads: int = 0
    recorded_prefetches: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    resident: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    referenced: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    delay: ObjectDelay | None = None

    @property
    def getpages(self) -> int:
        """All getpages."""
        return int(self.accesses.sum())

    def getpages_of(self, access: str) -> int:
        """Getpages with this kind of access."""
        return int(self.accesses[_core.TRACE_ACCESSES.index(access)])


@dataclass(frozen=True)
class Observation:
    """Result of a pass over a trace.

    Attributes
    ----------
    settings
        The pools simulated, by full name; so are they in all that follows.
    seconds
        Time from first to last reference; 0 if the trace has no times: then there are no rates.
    looks
        Times of the looks, in seconds since the first reference (references, where the trace has no times).
    timed
        Whether it tells times.
    data_sets
        Each data set (partition) by itself, in no order.
    pools
        Counters of each pool since the beginning, by name.
    filled
        The look at which each pool was full for the first time; None where it never was.
    left_out
        References to pools that are not simulated, by pool name.
    delays
        I/O times that records tell (IFCID 6 and 7, or 199).
    """

    settings: Mapping[str, PoolSettings]
    seconds: float
    looks: Floats
    timed: bool
    data_sets: tuple[ObservedObject, ...]
    pools: Mapping[str, Mapping[str, int]]
    filled: Mapping[str, int | None]
    left_out: Mapping[str, int]
    delays: tuple[ObjectDelay, ...] = ()

    def objects(self) -> list[ObservedObject]:
        """Page sets with all their partitions, ordered by pool and name."""
        groups: dict[tuple[str, int], list[ObservedObject]] = {}
        for data_set in self.data_sets:
            groups.setdefault((data_set.pool, data_set.object), []).append(data_set)
        merged = [_merged(parts, self._delay(*key)) for key, parts in groups.items()]
        return sorted(merged, key=lambda data_set: (*pool_order(data_set.pool), data_set.name))

    def _delay(self, pool: str, number: int) -> ObjectDelay | None:
        """I/O times of an object: those in its pool, else those of the pool in which they were recorded."""
        own = [delay for delay in self.delays if delay.object == number]
        return _sum_of([delay for delay in own if pool_name(delay.pool) == member_and_pool(pool)[1]] or own)

    @property
    def recorded(self) -> bool:
        """Whether the trace records read I/Os."""
        return any(data_set.recorded_sync_reads or data_set.recorded_prefetches for data_set in self.data_sets)


def _merged(parts: Sequence[ObservedObject], delay: ObjectDelay | None) -> ObservedObject:
    first = min(parts, key=lambda part: part.partition)
    counters: dict[str, int] = {}
    for part in parts:
        for name, count in part.counters.items():
            counters[name] = counters.get(name, 0) + count
    used = [part for part in parts if part.getpages or part.updates]
    return ObservedObject(
        pool=first.pool,
        name=_page_set(first),
        kind=first.kind,
        object=first.object,
        partition=0,
        partitions=max(len(used), 1),
        accesses=np.sum([part.accesses for part in parts], axis=0),
        updates=sum(part.updates for part in parts),
        recorded_sync_reads=sum(part.recorded_sync_reads for part in parts),
        recorded_prefetches=sum(part.recorded_prefetches for part in parts),
        counters=counters,
        resident=np.sum([part.resident for part in parts], axis=0),
        referenced=np.sum([part.referenced for part in parts], axis=0),
        delay=delay,
    )


def _page_set(observed: ObservedObject) -> str:
    return observed.name.removesuffix(f".{observed.partition}") if observed.partition else observed.name


def _sum_of(parts: Sequence[ObjectDelay]) -> ObjectDelay | None:
    if not parts:
        return None
    whole = ObjectDelay(pool=parts[0].pool, object=parts[0].object, partition=0, source=parts[0].source)
    for part in parts:
        whole.sync_ios += part.sync_ios
        whole.sync_seconds += part.sync_seconds
        whole.sync_longest = max(whole.sync_longest, part.sync_longest)
        whole.prefetch_ios += part.prefetch_ios
        whole.prefetch_seconds += part.prefetch_seconds
        whole.prefetch_longest = max(whole.prefetch_longest, part.prefetch_longest)
        whole.prefetch_pages += part.prefetch_pages
        whole.write_ios += part.write_ios
        whole.write_pages += part.write_pages
    return whole


def observe(
    trace: Trace,
    configuration: Configuration,
    *,
    work: Work | None = None,
    looks: int = LOOKS,
    progress: Progress | None = None,
) -> Observation:
    """Read a trace, simulate its pools, and sample the pools' contents.

    Parameters
    ----------
    trace
        The references. It is read once, or twice where nothing has read it before.
    configuration
        The pools, and objects that are in others than the trace has them in. References to other pools are counted and
        left out.
    work
        What a pass over the trace has found; None for a Db2 alone.
    looks
        How often to look at the pools.
    progress
        Told bytes done, bytes in all and the file.

    Raises
    ------
    UsageError
        No look, impossible settings, or a placed object that the trace does not have.
    UnreadableInputError
        The trace cannot be read.
    """
    if looks < 1:
        raise UsageError(file="", what=f"{looks} observations of the pools are not possible", remedy="give at least 1")
    if not trace.facts.complete:
        for _ in trace.batches(progress):
            pass
    facts = trace.facts
    first, last = facts.first or 0, facts.last or 0
    ends = first + np.ceil((last - first) * np.arange(1, looks + 1) / looks).astype(np.int64)
    ends = np.unique(np.maximum(ends, first))
    placed = Placed(configuration.placement, trace.names)
    numbers = {} if work is None else work.numbers
    try:
        simulation = new_simulation(configuration, numbers, _shared(trace, configuration, work, progress))
        passes = {member: _Pass(member, configuration.of(member)) for member in numbers.values() or [ALONE]}
        for batch, full in _cut(placed.batches(trace.batches(progress)), ends):
            if batch is not None:
                simulation.add(batch)
                for number, own in by_member(batch) if numbers else [(0, batch)]:
                    passes[numbers.get(number, ALONE)].add(own)
            if full:
                for replay in passes.values():
                    replay.look(simulation)
    except _core.PoolError as error:
        raise refused(error) from error
    placed.check_all_met()
    looked = (ends - first) / (1e6 if facts.timed else 1.0)
    every = [_observation(trace, configuration, simulation, replay, looked) for replay in passes.values()]
    return _joined(every, simulation)


def _shared(trace: Trace, configuration: Configuration, work: Work | None, progress: Progress | None) -> Dependents:
    if work is None or not work.members:
        return {}
    if not configuration.placement:
        return work.dependent
    (results,) = dependents(trace, work.names, [configuration.placement], progress=progress)
    return results


def _joined(parts: Sequence[Observation], simulation: Simulation) -> Observation:
    """The observations of all members combined."""
    return replace(
        parts[0],
        settings={name: pool for part in parts for name, pool in part.settings.items()},
        data_sets=tuple(data_set for part in parts for data_set in part.data_sets),
        pools=simulation.counters(),
        filled={name: at for part in parts for name, at in part.filled.items()},
        left_out=simulation.without_configuration(),
    )


def _cut(batches: Iterable[pa.RecordBatch], ends: Integers) -> Iterator[tuple[pa.RecordBatch | None, bool]]:
    """The batches split after the last reference at or before each end, and whether an end is reached."""
    at = 0
    for batch in batches:
        times = batch.column("time").to_numpy()
        start = 0
        while at < len(ends) and times[-1] > ends[at]:
            stop = int(np.searchsorted(times, ends[at], "right"))
            yield (batch.slice(start, stop - start) if stop > start else None), True
            start, at = stop, at + 1
        if start < len(times):
            yield batch.slice(start), False
    # The last end is the time of the last reference, which no reference lies beyond.
    for _ in range(at, len(ends)):
        yield None, True


class _Pass:
    """Counters of a member during a pass; data sets are numbered in the order of first reference."""

    def __init__(self, member: str, configuration: Configuration) -> None:
        self.member = member
        self.pools = {id_of(name): full_name(member, name) for name in configuration.pools}
        self.numbers: dict[tuple[int, int, int], int] = {}
        self.keys: list[tuple[int, int, int]] = []
        self.accesses = np.zeros((0, _ACCESSES), np.int64)
        self.functions = np.zeros((0, len(_core.TRACE_FUNCTIONS)), np.int64)
        self.pages: list[tuple[Integers, Pages]] = []
        self.resident: list[Integers] = []
        self.referenced: list[Integers] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Count part of the trace."""
        columns = {name: column.to_numpy() for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        number = self._numbers(columns["pool"], columns["object"], columns["partition"])
        function, access = columns["function"], columns["access"]
        size = len(self.keys)
        kinds = np.bincount(number * len(_core.TRACE_FUNCTIONS) + function, minlength=size * len(_core.TRACE_FUNCTIONS))
        self.functions = _grown(self.functions, size) + kinds.reshape(size, -1)
        options = function == _GETPAGE
        ways = np.bincount(number[options] * _ACCESSES + access[options], minlength=size * _ACCESSES)
        self.accesses = _grown(self.accesses, size) + ways.reshape(size, -1)
        self.pages.append(_distinct(number[options], columns["page"][options]))

    def _numbers(
        self, pool: npt.NDArray[np.uint16], object: npt.NDArray[np.uint32], partition: npt.NDArray[np.uint16]
    ) -> Integers:
        keys = (pool.astype(np.uint64) << np.uint64(48)) | (object.astype(np.uint64) << np.uint64(16)) | partition
        result, which = np.unique(keys, return_inverse=True)
        numbers = np.empty(len(result), np.int64)
        for at, key in enumerate(result.tolist()):
            name = (key >> 48, key >> 16 & 0xFFFFFFFF, key & 0xFFFF)
            numbers[at] = self._number(name)
        known: Integers = numbers[which]
        return known

    def _number(self, name: tuple[int, int, int]) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.keys)
            self.keys.append(name)
        return number

    def look(self, simulation: Simulation) -> None:
        """Record the resident pages of each data set, and those referenced since the last look."""
        whose = np.zeros(0, np.int64)
        if self.pages:
            whose, _ = _distinct(*(np.concatenate(parts) for parts in zip(*self.pages, strict=True)))
        self.referenced.append(np.bincount(whose, minlength=len(self.keys)))
        self.pages = []
        values = np.zeros(len(self.keys), np.int64)
        for pool, name in self.pools.items():
            for number, partition, counters in simulation.data_sets(name):
                values[self.numbers[pool, number, partition]] = counters["loaded"] - counters["stolen"]
        self.resident.append(values)


def _distinct(number: Integers, page: Pages) -> tuple[Integers, Pages]:
    """Each distinct page of each data set."""
    if not len(page) or int(page.max()) >> int(_PAGE_BITS) == 0:
        keys = np.unique((number.astype(np.uint64) << _PAGE_BITS) | page)
        return (keys >> _PAGE_BITS).astype(np.int64), keys & np.uint64((1 << int(_PAGE_BITS)) - 1)
    order = np.lexsort((page, number))
    number, page = number[order], page[order]
    new = np.ones(len(page), np.bool_)
    new[1:] = (number[1:] != number[:-1]) | (page[1:] != page[:-1])
    return number[new], page[new]


def _grown(table: Integers, rows: int) -> Integers:
    if len(table) == rows:
        return table
    return np.concatenate([table, np.zeros((rows - len(table), table.shape[1]), np.int64)])


def _observation(
    trace: Trace, configuration: Configuration, simulation: Simulation, result: _Pass, looks: Floats
) -> Observation:
    size = len(result.keys)
    resident, referenced = (
        np.array([np.pad(row, (0, size - len(row))) for row in rows]).reshape(len(rows), size)
        for rows in (result.resident, result.referenced)
    )
    counters = {
        (pool, number, partition): counted
        for pool, name in result.pools.items()
        for number, partition, counted in simulation.data_sets(name)
    }
    data_sets = []
    for at, key in enumerate(result.keys):
        pool, number, partition = key
        if pool not in result.pools:
            continue
        data_sets.append(
            ObservedObject(
                pool=result.pools[pool],
                name=trace.names.data_set(number, partition),
                kind=trace.names.kind(number),
                object=number,
                partition=partition,
                accesses=result.accesses[at],
                updates=int(result.functions[at, _WRITE]),
                recorded_sync_reads=int(result.functions[at, _READ]),
                recorded_prefetches=int(result.functions[at, _PREFETCH]),
                counters=counters.get(key, {}),
                resident=resident[:, at],
                referenced=referenced[:, at],
            )
        )
    filled: dict[str, int | None] = {}
    for name in result.pools.values():
        values = sum((each.resident for each in data_sets if each.pool == name), start=np.zeros(len(looks), np.int64))
        full = np.flatnonzero(values >= configuration.pools[name].size)
        filled[name] = int(full[0]) if len(full) else None
    return Observation(
        settings={name: configuration.pools[name] for name in result.pools.values()},
        seconds=trace.facts.seconds,
        looks=looks,
        timed=trace.facts.timed,
        data_sets=tuple(data_sets),
        pools={},
        filled=filled,
        left_out={},
        delays=tuple(trace.delays),
    )
