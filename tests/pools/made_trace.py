"""Small traces made of arrays, read as a trace is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.pools.settings import Configuration, PoolSettings


class MadeTrace:
    """A trace of the named columns; those not given are zero, times are ordinals."""

    def __init__(self, *, rows: int = 1000, **columns: Any) -> None:
        length = len(columns["page"])
        columns.setdefault("time", np.arange(length))
        self.rows = rows
        self.batch = pa.record_batch(
            {
                name: pa.array(np.asarray(columns.get(name, np.zeros(length))), pa.type_for_alias(kind))
                for name, kind in _core.TRACE_COLUMNS
            }
        )

    def batches(self, progress: Callable[[int, int, str], None] | None = None) -> Iterator[pa.RecordBatch]:
        """The trace in short stretches."""
        for at in range(0, self.batch.num_rows, self.rows):
            yield self.batch.slice(at, self.rows)


def rests_of(trace: MadeTrace) -> _core.DataSetAges:
    """The rests of a trace's data sets."""
    rests = _core.DataSetAges()
    for batch in trace.batches():
        rests.add(batch)
    return rests


def configured(pools: Iterable[PoolSettings], placement: Mapping[str, str] | None = None) -> Configuration:
    """The configuration of one Db2 with these pools."""
    return Configuration({pool.name: pool for pool in pools}, placement or {})


def lru_misses(pages: Sequence[Any], size: int) -> int:
    """Misses of an LRU pool, counted the slow way."""
    held: OrderedDict[Any, None] = OrderedDict()
    misses = 0
    for page in pages:
        if page in held:
            held.move_to_end(page)
        else:
            misses += 1
            if len(held) == size:
                held.popitem(last=False)
            held[page] = None
    return misses


def zipf(random: np.random.Generator, pages: int, skew: float, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Independent references to pages whose popularity falls as the power ``skew`` of their rank."""
    weights = np.arange(1, pages + 1, dtype=float) ** -skew
    return random.choice(pages, size=count, p=weights / weights.sum())


def mixed(seed: int, parts: Mapping[int, Sequence[int]]) -> tuple[list[int], list[int]]:
    """References of several objects mingled at random, each in its order: objects and pages."""
    random = np.random.default_rng(seed)
    order = np.concatenate([np.full(len(pages), number) for number, pages in parts.items()])
    random.shuffle(order)
    left = {number: iter(pages) for number, pages in parts.items()}
    return order.tolist(), [int(next(left[number])) for number in order.tolist()]
