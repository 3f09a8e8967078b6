"""A sample of a trace's pages in memory, small enough to try many groupings of objects.

A page is in the sample when a hash of its identity is below a threshold, so that all references to it are or none
(Waldspurger and others, "Efficient MRC construction with SHARDS", FAST 2015); a pool of ``n`` buffers then behaves as
one of ``rate * n`` buffers among the sampled pages. The threshold is halved as often as the sample would become too
large, so the trace is read once and its length need not be known. A trace that fits is taken whole: its rate is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.pools.members import ALONE
from plexlens.pools.search.sizes import CostCurve, Integers
from plexlens.progress import Progress

#: References that a sample holds at most.
MOST = 1_000_000

#: Standard errors that a size read off a sampled curve is enlarged by.
MARGIN = 2.0

_GETPAGE = _core.TRACE_FUNCTIONS.index("getpage")
_WRITE = _core.TRACE_FUNCTIONS.index("set_write")
_ACCESSES = len(_core.TRACE_ACCESSES)
_STATUSES = len(_core.TRACE_STATUSES)
_WHOLE = 1 << 32

Whole = npt.NDArray[np.uint64]


class Batches(Protocol):
    """A source of references that can be read repeatedly, such as a trace."""

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """The references, columns of `plexlens._core.TRACE_COLUMNS`."""


@dataclass
class Use:
    """Use of an object, or of a data set of an object, in a trace.

    Attributes
    ----------
    getpages
        Getpages by pool id.
    accesses
        Getpages by access (`plexlens._core.TRACE_ACCESSES`).
    updates
        References that change a page.
    statuses
        Getpages by what became of them (`plexlens._core.TRACE_STATUSES`), as the trace records it.
    """

    getpages: dict[int, int] = field(default_factory=dict)
    accesses: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(_ACCESSES, np.int64))
    updates: int = 0
    statuses: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(_STATUSES, np.int64))

    @property
    def home(self) -> int:
        """The pool with most of its getpages; ties go to the lowest number."""
        return min(self.getpages, key=lambda pool: (-self.getpages[pool], pool))

    @property
    def total(self) -> int:
        """Getpages in all pools."""
        return sum(self.getpages.values())

    def include(self, other: Use) -> None:
        """Add the use of another data set."""
        for pool, count in other.getpages.items():
            self.getpages[pool] = self.getpages.get(pool, 0) + count
        self.accesses += other.accesses
        self.updates += other.updates
        self.statuses += other.statuses


def hashes(objects: npt.NDArray[np.uint32], partitions: npt.NDArray[np.uint16], pages: Whole) -> npt.NDArray[np.uint32]:
    """Hashes of pages, 32 bits, evenly spread: the finaliser of MurmurHash3 over page and data set."""
    mixed = pages ^ (objects.astype(np.uint64) << np.uint64(16) | partitions.astype(np.uint64)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        mixed ^= mixed >> np.uint64(33)
        mixed *= np.uint64(factor)
    return np.asarray(mixed >> np.uint64(32), np.uint32)


@dataclass
class _Rows:
    """Sampled getpages in the order of the trace."""

    position: Integers
    hash: npt.NDArray[np.uint32]
    object: npt.NDArray[np.uint32]
    partition: npt.NDArray[np.uint16]
    page: Whole

    def take(self, chosen: npt.NDArray[np.bool_]) -> _Rows:
        return _Rows(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    @classmethod
    def joined(cls, parts: Sequence[_Rows]) -> _Rows:
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__}
        return cls(**columns)

    @classmethod
    def none(cls) -> _Rows:
        kinds: list[Any] = [np.int64, np.uint32, np.uint32, np.uint16, np.uint64]
        return cls(*(np.empty(0, kind) for kind in kinds))


class PageSample:
    """Sampled getpages of a trace, and the use of each object in the whole trace.

    Attributes
    ----------
    rate
        Share of the pages that are in it; 1: all.
    getpages
        Getpages of the whole trace.
    data_sets
        Data sets by object and partition.
    objects
        Objects by their number in the trace, all partitions together.
    most
        Sampled getpages that there could be at most.
    elsewhere
        Data sets with references to a pool of which none is a getpage: `Use.getpages` does not have that pool.
    """

    def __init__(
        self,
        rows: _Rows,
        rate: float,
        getpages: int,
        data_sets: dict[tuple[int, int], Use],
        most: int = MOST,
        *,
        elsewhere: frozenset[tuple[int, int]] = frozenset(),
    ) -> None:
        self._rows = rows
        self.rate = rate
        self.most = most
        self.getpages = getpages
        self.data_sets = data_sets
        self.elsewhere = elsewhere
        self.objects: dict[int, Use] = {}
        for (number, _), use in data_sets.items():
            self.objects.setdefault(number, Use()).include(use)

    def __len__(self) -> int:
        return len(self._rows.page)

    @property
    def position(self) -> Integers:
        """Ordinal of each sampled getpage among all getpages of the trace, ascending."""
        return self._rows.position

    @property
    def object(self) -> npt.NDArray[np.uint32]:
        """Object of each sampled getpage."""
        return self._rows.object

    def pages(self) -> Integers:
        """Page number of each sampled getpage, unique across data sets."""
        rows = self._rows
        identity = np.empty(len(rows.page), dtype=[("data_set", np.uint64), ("page", np.uint64)])
        identity["data_set"] = rows.object.astype(np.uint64) << np.uint64(16) | rows.partition
        identity["page"] = rows.page
        return np.asarray(np.unique(identity, return_inverse=True)[1], np.int64).reshape(-1)

    def distinct_pages(self) -> dict[tuple[int, int], float]:
        """Distinct pages of each data set (object, partition); estimated if the sample does not contain all."""
        rows = self._rows
        key = rows.object.astype(np.uint64) << np.uint64(16) | rows.partition
        order = np.lexsort((rows.page, key))
        key, page = key[order], rows.page[order]
        # Among neighbours, the first row of each page.
        first = np.append(True, (key[1:] != key[:-1]) | (page[1:] != page[:-1]))[: len(key)]
        codes, counts = np.unique(key[first], return_counts=True)
        return {
            (code >> 16, code & 0xFFFF): count / self.rate
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
        }

    def batches(self, objects: Iterable[int], rows: int = 1 << 18) -> Iterator[pa.RecordBatch]:
        """Getpages of only these objects, as a trace of a single pool (0)."""
        wanted = np.fromiter(objects, np.uint32)
        content = self._rows.take(np.isin(self._rows.object, wanted))
        for at in range(0, len(content.page), rows):
            cut = slice(at, at + rows)
            length = len(content.page[cut])
            columns = {
                "time": content.position[cut],
                "member": np.zeros(length, np.uint8),
                "pool": np.zeros(length, np.uint16),
                "object": content.object[cut],
                "partition": content.partition[cut],
                "page": content.page[cut],
                "function": np.full(length, _GETPAGE, np.uint8),
                "access": np.zeros(length, np.uint8),
            }
            yield pa.record_batch(
                {
                    name: pa.array(columns[name], pa.type_for_alias(kind))
                    for name, kind in _core.TRACE_COLUMNS
                    if name in columns
                }
            )


class Sampler:
    """Samples a trace's getpages as parts of the trace are added.

    Parameters
    ----------
    most
        Sampled getpages at most.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._threshold = _WHOLE
        self._parts: list[_Rows] = []
        self._held = self._getpages = 0
        self._uses = _Uses()

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the next part of the trace."""
        columns: dict[str, Any] = {
            name: column.to_numpy() for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        self._uses.add(columns)
        chosen = columns["function"] == _GETPAGE
        rows = _Rows(
            self._getpages + np.arange(int(chosen.sum()), dtype=np.int64),
            np.empty(0, np.uint32),
            columns["object"][chosen],
            columns["partition"][chosen],
            columns["page"][chosen],
        )
        self._getpages += len(rows.page)
        rows.hash = hashes(rows.object, rows.partition, rows.page)
        rows = rows.take(rows.hash < self._threshold) if self._threshold < _WHOLE else rows
        self._parts.append(rows)
        self._held += len(rows.page)
        while self._held > self._most and self._threshold > 1:
            self._threshold //= 2
            whole = _Rows.joined(self._parts)
            self._parts = [whole.take(whole.hash < self._threshold)]
            self._held = len(self._parts[0].page)

    def sample(self) -> PageSample:
        """The sample of the parts added so far."""
        rows = _Rows.joined([_Rows.none(), *self._parts])
        uses = self._uses
        rate = self._threshold / _WHOLE
        return PageSample(rows, rate, self._getpages, uses.data_sets(), self._most, elsewhere=uses.elsewhere())


def take(trace: Batches, *, most: int = MOST, progress: Progress | None = None) -> PageSample:
    """Read a trace once and keep a sample of its getpages.

    Parameters
    ----------
    trace
        The trace.
    most
        Sampled getpages at most.
    progress
        Told how far the reading is.
    """
    sampler = Sampler(most)
    for batch in trace.batches(progress):
        sampler.add(batch)
    return sampler.sample()


class _Counts:
    """Counts by key, a row each in the order in which the keys were added.

    Parameters
    ----------
    columns
        Counts of a key.
    """

    def __init__(self, columns: int) -> None:
        self.keys = np.empty(0, np.uint64)
        self.counts = np.zeros((0, columns), np.int64)
        self._order: Integers = np.empty(0, np.int64)

    def rows(self, keys: Whole) -> Integers:
        """Row of each key; -1 of those that were not added."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        at = np.searchsorted(self.keys, keys, sorter=self._order)
        rows = self._order[np.minimum(at, len(self.keys) - 1)]
        return np.where(self.keys[rows] == keys, rows, -1)

    def append(self, keys: Whole) -> None:
        """Add new keys, each once, without counts."""
        self.keys = np.concatenate((self.keys, keys))
        self.counts = np.concatenate((self.counts, np.zeros((len(keys), self.counts.shape[1]), np.int64)))
        self._order = np.argsort(self.keys)


class _Uses:
    """Use of the data sets of a trace, as its parts are added."""

    def __init__(self) -> None:
        #: Getpages by access, by data set and pool in one number.
        self._getpages = _Counts(_ACCESSES)
        #: Updates, and getpages by status, by data set.
        self._others = _Counts(1 + _STATUSES)
        #: Data set and pool, in one number, where a part of the trace has references, and no getpage among them.
        self._idle: set[int] = set()

    def add(self, columns: dict[str, Any]) -> None:
        """Add the next part of a trace."""
        key = columns["object"].astype(np.uint64) << np.uint64(32)
        key |= columns["partition"].astype(np.uint64) << np.uint64(16)
        key |= columns["pool"].astype(np.uint64)
        # By hash: sorting the keys would take most of the time of a pass.
        encoded = pa.array(key).dictionary_encode()
        codes, keys = encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_numpy()
        function = columns["function"]
        is_getpage = function == _GETPAGE
        # The core refuses codes without meaning; here they do not count.
        access = np.where(columns["access"] < _ACCESSES, columns["access"], _ACCESSES + 1)
        kinds = np.where(is_getpage, access, np.where(function == _WRITE, _ACCESSES, _ACCESSES + 1))
        counts = _counted(codes, kinds, len(keys), _ACCESSES + 2)
        getpages, updates = counts[:, :_ACCESSES], counts[:, _ACCESSES]
        any_getpage = getpages.any(axis=1)
        self._idle.update(keys[~any_getpage].tolist())
        used = np.flatnonzero(any_getpage)
        new = used[self._getpages.rows(keys[used]) < 0]
        # In the order of access and key, so that the order of data sets does not depend on that of the rows.
        new = new[np.lexsort((keys[new], np.argmax(getpages[new] > 0, axis=1)))]
        self._getpages.append(keys[new])
        data_sets, first = np.unique(keys[new] >> np.uint64(16), return_index=True)
        data_sets = data_sets[np.argsort(first)]
        self._others.append(data_sets[self._others.rows(data_sets) < 0])
        self._getpages.counts[self._getpages.rows(keys[used])] += getpages[used]
        rows = self._others.rows(keys >> np.uint64(16))
        known = rows >= 0
        np.add.at(self._others.counts[:, 0], rows[known], updates[known])
        column = columns.get("status")
        if column is not None and column.any():
            valid = is_getpage & (column < _STATUSES)
            statuses = _counted(codes[valid], column[valid], len(keys), _STATUSES)
            statuses[:, 0] = 0
            np.add.at(self._others.counts[:, 1:], rows[known], statuses[known])

    def elsewhere(self) -> frozenset[tuple[int, int]]:
        """Data sets with references to a pool of which none is a getpage."""
        idle = self._idle - set(self._getpages.keys.tolist())
        return frozenset((key >> 32, key >> 16 & 0xFFFF) for key in idle)

    def data_sets(self) -> dict[tuple[int, int], Use]:
        """Use by object and partition."""
        uses: dict[tuple[int, int], Use] = {}
        others = self._others
        for key, (updates, *_), counts in zip(others.keys.tolist(), others.counts.tolist(), others.counts, strict=True):
            uses[key >> 16, key & 0xFFFF] = Use(updates=updates, statuses=counts[1:].copy())
        getpages = self._getpages
        for key, total, counts in zip(
            getpages.keys.tolist(), getpages.counts.sum(axis=1).tolist(), getpages.counts, strict=True
        ):
            use = uses[key >> 32, key >> 16 & 0xFFFF]
            use.getpages[key & 0xFFFF] = total
            use.accesses += counts
        return uses


def _counted(codes: Integers, kinds: npt.NDArray[Any], rows: int, width: int) -> Integers:
    """Occurrences of each code (row) with each kind (column)."""
    counts = np.bincount(codes * width + kinds, minlength=rows * width)
    return np.asarray(counts.reshape(rows, width), np.int64)


class Curves(Protocol):
    """Curves of groups of objects."""

    def of(self, objects: frozenset[int], page_bytes: int, member: str = ALONE) -> CostCurve:
        """Cost at each size of a member's pool that holds only these objects."""


class GroupCurves:
    """Simulated curves of groups of objects of a member; each group is simulated once.

    Parameters
    ----------
    sample
        The sample.
    weights
        What a page read of an object costs, by the object's number.
    """

    def __init__(self, sample: PageSample, weights: dict[int, float]) -> None:
        self.sample = sample
        self.weights = weights
        self.simulated = 0
        self._known: dict[tuple[frozenset[int], int], CostCurve] = {}

    def of(self, objects: frozenset[int], page_bytes: int, member: str = ALONE) -> CostCurve:
        """Cost at each size of a pool that holds only these objects, simulated with LRU page steal."""
        key = (objects, page_bytes)
        if key not in self._known:
            self._known[key] = self._simulate(objects, page_bytes)
        return self._known[key]

    def _simulate(self, objects: frozenset[int], page_bytes: int) -> CostCurve:
        self.simulated += 1
        curves = _core.PoolCurves()
        for batch in self.sample.batches(sorted(objects)):
            curves.add(batch)
        if not curves.pools():
            return CostCurve(np.array([1], np.int64), np.zeros(1), page_bytes)
        return cost_curve(curves, self.weights, self.sample.rate, page_bytes)


class MemberCurves:
    """Simulated curves of groups of objects of several members.

    Parameters
    ----------
    members
        The curves of each.
    """

    def __init__(self, members: Mapping[str, GroupCurves]) -> None:
        self.members = members

    def of(self, objects: frozenset[int], page_bytes: int, member: str = ALONE) -> CostCurve:
        """Cost at each size of a member's pool that holds only these objects, simulated with LRU page steal."""
        return self.members[member].of(objects, page_bytes)


def cost_curve(curves: _core.PoolCurves, weights: Mapping[int, float], rate: float, page_bytes: int) -> CostCurve:
    """The cost of a pool from the misses of its data sets, each read weighted by the cost of its object.

    Parameters
    ----------
    curves
        Curves with the pool 0, of the references looked at.
    weights
        What a page read of an object costs.
    rate
        Share of the pages that were looked at.
    page_bytes
        Bytes of a page.
    """
    priced = curves.priced_misses(0, weights)
    sizes, costs = priced["size"].to_numpy(), priced["cost"].to_numpy()
    # Sampled pages stand for 1 / rate pages each; a size between two sampled ones costs what the smaller does. How many
    # pages of a set are in the sample is a matter of chance, and a pool a little too small for a set that is gone
    # through again and again gains nothing: so it gets what is enough unless chance was far off.
    margin = MARGIN * np.sqrt(sizes * (1 - rate))
    scaled = np.ceil((sizes + margin) / rate).astype(np.int64)
    kept, first = np.unique(scaled, return_index=True)
    return CostCurve(kept, costs[first] / rate, page_bytes)
