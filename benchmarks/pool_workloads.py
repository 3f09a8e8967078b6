"""Workloads for buffer pools: synthetic page-reference traces with stated parts, from a seed.

Each object of a workload is used in one of the ways that objects of a Db2 are used:

- ``random``: pages of falling popularity (Zipf), one at a time;
- ``index``: probes from the root over the second level to a leaf, leaves of falling popularity;
- ``scan``: from the first page to the last and again, in stretches of 32 pages, marked as sequential;
- ``ring``: a set of pages gone through again and again, as a batch job does that repeats, marked as random;
- ``append``: inserts at the end, and reads of what was inserted lately;
- ``hot``: a few pages of a code table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from plexlens import _core

Integers = npt.NDArray[np.int64]

_GETPAGE, _WRITE = (_core.TRACE_FUNCTIONS.index(name) for name in ("getpage", "set_write"))
_RANDOM, _SEQUENTIAL = (_core.TRACE_ACCESSES.index(name) for name in ("random", "sequential"))
_BURST = {"random": 1, "index": 3, "scan": 32, "ring": 8, "append": 2, "hot": 1}


@dataclass(frozen=True)
class UsedObject:
    """An object and its use.

    Attributes
    ----------
    name
        ``DATABASE.PAGESET``.
    use
        One of the ways above.
    pages
        Its pages.
    rate
        Its share of the references, before all shares are scaled to one.
    pool
        Pool id.
    skew
        Exponent of the popularity of its pages.
    writes
        Share of its getpages that change the page.
    """

    name: str
    use: str
    pages: int
    rate: float
    pool: int
    skew: float = 0.8
    writes: float = 0.0


class MadeTrace:
    """A trace in memory with the interface of a trace file.

    Parameters
    ----------
    objects
        Its objects, numbered from 1 as database 300.
    references
        Getpages.
    seed
        Of all that is random.
    seconds
        Time that they take.
    """

    def __init__(self, objects: Sequence[UsedObject], references: int, *, seed: int, seconds: float = 600.0) -> None:
        self.objects = {(300 << 16) + number: data_set for number, data_set in enumerate(objects, start=1)}
        self.seconds = seconds
        self.batch = _made(self.objects, references, seed, seconds)

    def batches(self, progress: Callable[[int, int, str], None] | None = None) -> Iterator[pa.RecordBatch]:
        """The references, in batches."""
        rows = 1 << 16
        for at in range(0, self.batch.num_rows, rows):
            yield self.batch.slice(at, rows)

    def write(self, path: Path) -> None:
        """Write it as Parquet, with the names of its objects and pools."""
        table = pa.Table.from_batches([self.batch])
        names = pa.array([data_set.name for data_set in self.objects.values()])
        first = min(self.objects)
        index = pc.subtract(table["object"].cast(pa.int64()), first)
        table = table.set_column(table.schema.get_field_index("object"), "object", pc.take(names, index))
        pools = pa.array([f"BP{number}" for number in range(50)])
        table = table.set_column(table.schema.get_field_index("pool"), "pool", pc.take(pools, table["pool"]))
        pa.parquet.write_table(table, path)


def _made(objects: dict[int, UsedObject], references: int, seed: int, seconds: float) -> pa.RecordBatch:
    random = np.random.default_rng(seed)
    numbers = np.array(list(objects), np.int64)
    bursts = np.array([_BURST[data_set.use] for data_set in objects.values()])
    share = np.array([data_set.rate for data_set in objects.values()]) / bursts
    chosen = random.choice(len(numbers), size=references, p=share / share.sum())
    lengths = bursts[chosen]
    chosen = np.repeat(chosen, lengths)[:references]
    pages = np.empty(references, np.int64)
    writes = np.zeros(references, bool)
    # The rows of each object, in their order: one sort instead of a comparison per object.
    order = np.argsort(chosen.astype(np.uint32), kind="stable")
    ends = np.searchsorted(chosen[order], np.arange(len(numbers) + 1))
    for index, data_set in enumerate(objects.values()):
        rows = order[ends[index] : ends[index + 1]]
        pages[rows] = _pages(data_set, len(rows), random)
        writes[rows] = random.random(len(rows)) < data_set.writes
    kinds = np.array([_SEQUENTIAL if data_set.use == "scan" else _RANDOM for data_set in objects.values()])
    pools = np.array([data_set.pool for data_set in objects.values()])
    # A page that is changed is marked right after its getpage.
    times = 1 + writes
    columns: dict[str, Any] = {
        "object": np.repeat(numbers[chosen], times),
        "page": np.repeat(pages, times),
        "pool": np.repeat(pools[chosen], times),
        "access": np.repeat(kinds[chosen], times),
    }
    function = np.full(len(columns["page"]), _GETPAGE)
    function[np.cumsum(times)[writes] - 1] = _WRITE
    columns["function"] = function
    columns["time"] = np.linspace(0, seconds * 1e6, len(function)).astype(np.int64)
    nothing = np.zeros(len(function), np.int64)
    return pa.record_batch(
        {name: pa.array(columns.get(name, nothing), pa.type_for_alias(kind)) for name, kind in _core.TRACE_COLUMNS}
    )


def _popular(data_set: UsedObject, count: int, random: np.random.Generator, pages: int) -> Integers:
    """Pages in order of falling popularity; the popular pages are spread over the object."""
    weights = np.cumsum(np.arange(1, pages + 1, dtype=float) ** -data_set.skew)
    ranks = np.searchsorted(weights, random.random(count) * weights[-1])
    return np.asarray(random.permutation(pages)[ranks], np.int64)


def _pages(data_set: UsedObject, count: int, random: np.random.Generator) -> Integers:
    if data_set.use in ("random", "hot"):
        return _popular(data_set, count, random, data_set.pages)
    if data_set.use in ("scan", "ring"):
        return np.arange(count, dtype=np.int64) % data_set.pages
    if data_set.use == "index":
        leaves = _popular(data_set, count // 3 + 1, random, data_set.pages)
        second = 1 + leaves * max(data_set.pages // 200, 1) // data_set.pages
        levels = np.stack([np.zeros_like(leaves), second, leaves + 1000], axis=1)
        return np.asarray(levels.reshape(-1)[:count], np.int64)
    if data_set.use == "append":
        # A page takes ten inserts; every second reference reads what was inserted lately.
        end = np.arange(count, dtype=np.int64) // 20
        back = random.geometric(1 / data_set.pages, size=count)
        return np.where(np.arange(count) % 2 == 0, end, np.maximum(end - back, 0))
    raise ValueError(f"no use {data_set.use!r}; give one of {', '.join(_BURST)}")


def fifty_objects(references: int = 1_200_000, *, seed: int = 20_14) -> MadeTrace:
    """Fifty objects with all kinds of use in three unmanaged pools: tables, indexes, and the rest."""
    random = np.random.default_rng(seed)
    objects: list[UsedObject] = []

    def sizes(count: int, least: int, most: int) -> list[int]:
        return sorted(int(size) for size in np.exp(random.uniform(np.log(least), np.log(most), count)))

    for number, pages in enumerate(sizes(12, 2000, 60_000)):
        skew = float(random.uniform(0.5, 1.0))
        objects.append(UsedObject(f"SALES.TS{number:02}", "random", pages, 2.0, 1, skew, 0.2))
    for number, pages in enumerate(sizes(12, 1000, 30_000)):
        skew = float(random.uniform(0.6, 1.1))
        objects.append(UsedObject(f"SALES.IX{number:02}", "index", pages, 3.0, 2, skew, 0.05))
    for number, pages in enumerate(sizes(8, 4000, 40_000)):
        objects.append(UsedObject(f"REPORT.TS{number:02}", "scan", pages, 2.0, 1))
    for number, pages in enumerate(sizes(6, 1500, 8000)):
        objects.append(UsedObject(f"BATCH.TS{number:02}", "ring", pages, 1.6, 3))
    for number, pages in enumerate(sizes(8, 50, 2000)):
        objects.append(UsedObject(f"LOGS.TS{number:02}", "append", pages, 0.8, 3, writes=0.5))
    for number, pages in enumerate(sizes(4, 50, 200)):
        objects.append(UsedObject(f"CODES.TS{number:02}", "hot", pages, 2.0, 3, 0.6))
    return MadeTrace(objects, references, seed=seed)


#: Kinds of objects of a large subsystem: use, share of the objects, weight of the rate, smallest and largest skew,
#: share of the getpages that change the page.
_KINDS = (
    ("random", 0.30, 1.0, 0.4, 1.1, 0.15),
    ("index", 0.30, 1.5, 0.4, 1.1, 0.05),
    ("scan", 0.12, 1.0, 0.0, 0.0, 0.0),
    ("ring", 0.06, 1.0, 0.0, 0.0, 0.0),
    ("append", 0.14, 0.6, 0.0, 0.0, 0.5),
    ("hot", 0.08, 1.0, 0.3, 0.8, 0.02),
)


def many_objects(count: int, references: int, *, seed: int = 18, pools: int = 4) -> MadeTrace:
    """Any number of objects in unmanaged pools: tables, indexes, and two pools of applications that hold both.

    Sizes and rates are skewed and independent of each other, as in a subsystem that has grown: pages are log-normal
    (median 600, one in ten above 4,700), rates fall with the rank (Zipf, exponent 0.9) in random order.

    Parameters
    ----------
    count
        Objects.
    references
        Getpages.
    seed
        Of all that is random.
    pools
        Present pools: with 4, a third of the objects is in the pools of applications.
    """
    random = np.random.default_rng([seed, count])
    kinds = random.permutation(_kinds_of(count))
    pages = np.exp(random.normal(np.log(600), 1.6, count)).clip(8, 200_000).astype(int)
    rates = np.arange(1, count + 1, dtype=float)[random.permutation(count)] ** -0.9
    objects = []
    for number, (kind, size, rate) in enumerate(zip(kinds, pages, rates, strict=True)):
        use, _, weight, low, high, writes = _KINDS[kind]
        own = int(min(size, 200)) if use in ("hot", "append") else int(size)
        apart = pools > 2 and random.random() < 1 / 3
        pool = 3 + int(random.integers(pools - 2)) if apart else 2 if use == "index" and pools > 1 else 1
        skew = float(random.uniform(low, high))
        objects.append(UsedObject(f"DB{number // 100:03}.TS{number:05}", use, own, weight * rate, pool, skew, writes))
    return MadeTrace(objects, references, seed=seed)


def _kinds_of(count: int) -> list[int]:
    """The kind of each object, by the shares of the kinds."""
    shares = np.cumsum([kind[1] for kind in _KINDS])
    kinds: list[int] = np.searchsorted(shares / shares[-1], (np.arange(count) + 0.5) / count).tolist()
    return kinds


@dataclass(frozen=True)
class TwoPools:
    """A workload of two pools: a table read uniformly at random, and objects with steep popularity.

    A page stands for a block of ten pages of the published case, and pools have a tenth of the buffers.

    Attributes
    ----------
    uniform_share
        Share of the getpages that go to the table in BP3, every page of it as likely as any other.
    uniform_pages
        Its pages.
    popular_pages, skew
        Pages of the objects in BP2, and the exponent of their popularity (Zipf).
    references
        Getpages.
    """

    uniform_share: float = 0.69
    uniform_pages: int = 6610
    popular_pages: int = 1_000_000
    skew: float = 1.25
    references: int = 4_000_000

    def batch(self, *, seed: int = 1) -> pa.RecordBatch:
        """The references: object 2 in BP2, object 3 in BP3."""
        random = np.random.default_rng(seed)
        uniform = random.random(self.references) < self.uniform_share
        page = np.empty(self.references, np.int64)
        count = int(uniform.sum())
        page[uniform] = random.integers(0, self.uniform_pages, count)
        weights = np.cumsum(np.arange(1, self.popular_pages + 1, dtype=float) ** -self.skew)
        page[~uniform] = np.searchsorted(weights, random.random(self.references - count) * weights[-1])
        number = np.where(uniform, 3, 2)
        columns = {"page": page, "pool": number, "object": number, "time": np.arange(self.references)}
        nothing = np.zeros(self.references, np.int64)
        return pa.record_batch(
            {name: pa.array(columns.get(name, nothing), pa.type_for_alias(kind)) for name, kind in _core.TRACE_COLUMNS}
        )


#: The published case: pages of both pools in thousands -> hit ratio in percent with two equal pools, with one. IBM
#: OMEGAMON for Db2 Performance Expert, Buffer Pool Analyzer, "Case: analyzing the effects of different buffer pool
#: attributes".
PUBLISHED = {100: (79.1, 96.0), 125: (92.4, 96.2), 300: (97.1, 97.3), 500: (97.7, 97.8), 1000: (98.2, 98.2)}


def hit_ratios(workload: TwoPools, thousands: Sequence[int], *, seed: int = 1) -> dict[int, tuple[float, float]]:
    """Hit ratios in percent, by thousands of pages of the case: two pools of equal size, and a single pool for both."""
    batch = workload.batch(seed=seed)
    apart, together = _core.PoolCurves(), _core.PoolCurves(placement={(3, 0): 2})
    for curves in (apart, together):
        curves.add(batch)
    found = {}
    for size in thousands:
        pages = size * 100
        misses = sum(apart.read_misses(pool, [pages // 2])[0][0] for pool in (2, 3))
        miss = together.read_misses(2, [pages])[0][0]
        found[size] = (100 - 100 * misses / batch.num_rows, 100 - 100 * miss / batch.num_rows)
    return found
