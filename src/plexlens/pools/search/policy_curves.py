"""Curves of groups of objects from the event-by-event simulation.

An LRU curve knows every size but neither prefetch nor write thresholds. In a small pool these decide: pages that
prefetch brings are stolen before they are used, and are read again one by one. So a group is simulated event by event
at a few sizes, and between these the difference to the LRU curve is interpolated over the logarithm of the size: the
LRU curve gives the shape, the simulation the level.

Long traces are simulated in part: references from the middle of the trace, as many as `MOST_ROWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.pools.cost import IoCost
from plexlens.pools.members import ALONE, by_member
from plexlens.pools.page_sample import Batches, GroupCurves, cost_curve
from plexlens.pools.prediction import use_of
from plexlens.pools.search.sizes import CostCurve, Floats, Integers
from plexlens.pools.settings import MOST_BUFFERS
from plexlens.pools.structures import GroupPoolSettings
from plexlens.progress import Progress

#: References that groups are simulated on at most.
MOST_ROWS = 1_000_000

#: Sizes at which a group is simulated.
SIZES = 12

#: Counters of a pool that are prefetch and write I/Os.
OTHER_IOS = ("sequential_reads", "list_reads", "dynamic_reads", "async_writes", "sync_writes")

_THREADS = 2

#: Sizes that are simulated side by side; of all at once the pools would take much memory.
_TOGETHER = 4


@dataclass(frozen=True)
class Prices:
    """Prices of I/O in the objective function.

    Attributes
    ----------
    sync, other
        Of a synchronous read, and of a prefetch or write I/O.
    """

    sync: float
    other: float

    @classmethod
    def of(cls, cost: IoCost, delay_weight: float) -> Prices:
        """Prices from CPU seconds, plus delay at its weight."""
        return cls(cost.sync_read.value + delay_weight * cost.sync_delay.value, cost.async_io.value)


def middle(trace: Batches, rows: int, *, most: int = MOST_ROWS, progress: Progress | None = None) -> pa.RecordBatch:
    """References from the middle of a trace.

    Parameters
    ----------
    trace
        The trace.
    rows
        References in it.
    most
        References wanted at most.
    progress
        Told how far the reading is.
    """
    kept = Middle(rows, most)
    for batch in trace.batches(progress):
        kept.add(batch)
    return kept.rows()


class Middle:
    """Keeps the references from the middle of a trace while the trace is read.

    Parameters
    ----------
    rows
        References in the trace.
    most
        References wanted at most.
    """

    def __init__(self, rows: int, most: int) -> None:
        self._first = max((rows - most) // 2, 0)
        self._last = self._first + most
        self._at = 0
        self._kept: list[pa.RecordBatch] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next part of the trace."""
        low, high = max(self._first - self._at, 0), min(self._last - self._at, batch.num_rows)
        if low < high:
            self._kept.append(batch.slice(low, high - low))
        self._at += batch.num_rows

    def rows(self) -> pa.RecordBatch:
        """The references kept."""
        schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in _core.TRACE_COLUMNS])
        table = pa.Table.from_batches([batch.select(schema.names) for batch in self._kept], schema).combine_chunks()
        batches = table.to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], schema)


@dataclass(frozen=True)
class Coupling:
    """Facts that couple the pools of a group's members.

    Attributes
    ----------
    members
        Names of the members by their numbers in the trace.
    shared
        Data sets (object and partition) that are kept coherent.
    request
        CPU seconds of a request to a group buffer pool.
    structure
        The group buffer pool of a group of objects, given the buffers and their size in bytes, over all members.
    """

    members: Mapping[int, str]
    shared: frozenset[tuple[int, int]]
    request: float
    structure: Callable[[frozenset[int], int, int], GroupPoolSettings]


class PolicyCurves:
    """Simulated curves of groups; each group is simulated once.

    Of a group with several members all of them are simulated together, each with a pool of the same size, so that
    cross-invalidation and requests to the group buffer pool are in what a size costs.

    Parameters
    ----------
    rows
        References to simulate on, of the whole trace or of its middle.
    curves
        LRU curves of groups, of the whole trace, by member.
    prices
        What I/Os cost.
    least, most
        Bytes of the smallest and largest pool that matters.
    coupling
        What members share; None of a Db2 alone.
    progress
        Told what is being done.
    """

    def __init__(
        self,
        rows: pa.RecordBatch,
        curves: Mapping[str, GroupCurves],
        prices: Prices,
        *,
        least: int,
        most: int,
        coupling: Coupling | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.curves = curves
        self.prices = prices
        self.coupling = coupling
        self.simulated = 0
        self._rows = rows
        self._objects = rows.column("object").to_numpy()
        self._range = max(least, 4096), max(most, 2 * least, 8192)
        self._tell = progress or (lambda stage: None)
        self._known: dict[tuple[frozenset[int], int], dict[str, CostCurve]] = {}

    def of(self, objects: frozenset[int], page_bytes: int, member: str = ALONE) -> CostCurve:
        """Cost at each size of a pool that holds only these objects, with Db2's default thresholds."""
        key = (objects, page_bytes)
        if key not in self._known:
            self._known[key] = self._of_members(objects, page_bytes)
        return self._known[key][member]

    def _of_members(self, objects: frozenset[int], page_bytes: int) -> dict[str, CostCurve]:
        lru = {member: curves.of(objects, page_bytes) for member, curves in self.curves.items()}
        mask = np.isin(self._objects, np.fromiter(sorted(objects), np.uint32))
        own = self._rows.filter(pa.array(mask))
        if own.num_rows == 0:
            return lru
        self._tell("simulating pools event by event")
        self.simulated += 1
        sizes = np.unique(np.geomspace(*self._range, SIZES).astype(np.int64) // page_bytes)
        sizes = np.unique(sizes[sizes > 0].clip(max=MOST_BUFFERS))
        own = own.set_column(own.schema.get_field_index("pool"), "pool", pa.array(np.zeros(own.num_rows, np.uint16)))
        parts = {ALONE: own}
        if self.coupling is not None:
            parts = {self.coupling.members[number]: rows for number, rows in by_member(own)}
        costs = self._costs(own, parts, objects, sizes, page_bytes)
        results = {}
        for member, rows in parts.items():
            simulated = CostCurve(sizes, costs[member], page_bytes)
            results[member] = _levelled(lru[member], simulated, rows, self.curves[member], objects)
        return lru | results

    def _costs(
        self,
        own: pa.RecordBatch,
        parts: Mapping[str, pa.RecordBatch],
        objects: frozenset[int],
        sizes: Integers,
        page_bytes: int,
    ) -> dict[str, Floats]:
        """Costs of each member at the sizes."""
        coupling = self.coupling
        shared = [] if coupling is None else sorted(pair for pair in coupling.shared if pair[0] in objects)
        if coupling is None or not shared:
            return {member: self._simulate(rows, sizes, page_bytes) for member, rows in parts.items()}
        numbers = {number: member for number, member in coupling.members.items() if member in parts}

        def at_size(size: int) -> dict[str, float]:
            structure = coupling.structure(objects, size * len(numbers), page_bytes).engine()
            simulation = _core.GroupSimulation(
                {0: {number: {"size": size, "page_bytes": page_bytes} for number in numbers}},
                {0: structure | {"page_bytes": page_bytes}},
                {0: shared},
            )
            simulation.add(own)
            reads, uses = simulation.data_sets(0), simulation.members(0)
            return {
                member: self._price(reads[number]) + coupling.request * use_of(uses[number]).requests
                for number, member in numbers.items()
            }

        with ThreadPoolExecutor(_THREADS) as threads:
            values = list(threads.map(at_size, sizes.tolist()))
        return {member: np.array([costs[member] for costs in values]) for member in parts}

    def _simulate(self, rows: pa.RecordBatch, sizes: Integers, page_bytes: int) -> Floats:
        costs: list[float] = []
        for first in range(0, len(sizes), _TOGETHER):
            several = sizes[first : first + _TOGETHER].tolist()
            simulation = _core.PoolSimulations(
                [({0: {"size": size, "page_bytes": page_bytes}}, None) for size in several]
            )
            simulation.add(rows)
            for run in range(len(several)):
                counted = simulation.counters(run)[0]
                sync = counted["sync_reads_random"] + counted["sync_reads_sequential"]
                other = sum(counted[name] for name in OTHER_IOS)
                costs.append(sync * self.prices.sync + other * self.prices.other)
        return np.array(costs)

    def _price(self, data_sets: Sequence[tuple[int, int, Mapping[str, int]]]) -> float:
        sync = sum(counters["sync_reads"] for _, _, counters in data_sets)
        other = sum(counters["prefetch_reads"] + counters["writes"] for _, _, counters in data_sets)
        return sync * self.prices.sync + other * self.prices.other


def _levelled(
    lru: CostCurve, simulated: CostCurve, rows: pa.RecordBatch, curves: GroupCurves, objects: frozenset[int]
) -> CostCurve:
    """The LRU curve of the whole trace, shifted to the cost level simulated for a part of it."""
    window = _lru(rows, curves.weights, lru.page_bytes)
    # Ratio of the getpages of the whole trace to those of the part.
    known = curves.sample.objects
    scale = sum(known[number].total for number in objects if number in known) / max(_getpages(rows), 1)
    extra = (simulated.costs - window.at(simulated.sizes)) * scale
    every = np.union1d(lru.sizes, simulated.sizes)
    total = lru.at(every) + np.interp(np.log(every), np.log(simulated.sizes), extra)
    return CostCurve(every, np.maximum(np.minimum.accumulate(total), 0.0), lru.page_bytes)


def _getpages(rows: pa.RecordBatch) -> int:
    return int(np.count_nonzero(rows.column("function").to_numpy() == _core.TRACE_FUNCTIONS.index("getpage")))


def _lru(rows: pa.RecordBatch, weights: Mapping[int, float], page_bytes: int) -> CostCurve:
    curves = _core.PoolCurves()
    curves.add(rows)
    return cost_curve(curves, weights, 1.0, page_bytes)
