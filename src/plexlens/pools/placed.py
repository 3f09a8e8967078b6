"""A trace with some of its objects moved to other pools."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.ingest.page_trace import POOL_NAMES, TraceNames, pool_id


class Placed:
    """Moves objects to other pools while a trace is read.

    Parameters
    ----------
    placement
        Pool by data set: ``DATABASE.PAGESET`` for all its partitions, or ``DATABASE.PAGESET.3`` for one.
    names
        Names of the trace; they must be complete (after one pass) where they come from records of a dump.

    Raises
    ------
    UsageError
        A pool that Db2 has not.
    """

    def __init__(self, placement: Mapping[str, str], names: TraceNames) -> None:
        self._names = names
        self._pools = {}
        for data_set, name in placement.items():
            pool = pool_id(name)
            if pool is None:
                raise UsageError(
                    file="",
                    what=f"{data_set} cannot be put into {name}: Db2 has no such pool",
                    remedy=f"name {POOL_NAMES}",
                )
            self._pools[data_set] = pool
        self._used: set[str] = set()
        self._met: set[str] = set()
        self._goes: dict[int, int] = {}

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches with the pool of each moved object changed."""
        if not self._pools:
            yield from batches
            return
        place = 2
        for batch in batches:
            assert batch.schema.names[place] == "pool"
            keys = (batch["object"].to_numpy().astype(np.uint64) << np.uint64(16)) | batch["partition"].to_numpy()
            encoded = pa.array(keys).dictionary_encode()
            goes = np.array([self._pool(key) for key in encoded.dictionary.to_pylist()], np.int32)
            if (goes >= 0).any():
                goes = goes[encoded.indices.to_numpy()]
                pools = np.where(goes >= 0, goes, batch["pool"].to_numpy()).astype(np.uint16)
                yield batch.set_column(place, batch.schema.field(place), pa.array(pools))
            else:
                yield batch

    def check_all_met(self) -> None:
        """Refuse names that do not occur in the trace; call this after a pass.

        Raises
        ------
        UsageError
            One that it does not have, with those most like it.
        """
        missing = sorted(self._pools.keys() - self._used)
        if not missing:
            return
        like = difflib.get_close_matches(missing[0], sorted(self._met), 3, 0.4)
        raise UsageError(
            file="",
            what=f"the trace has no data set {missing[0]}",
            remedy=f"use a name of the report, such as {', '.join(like)}" if like else "use a name of the report",
        )

    def _pool(self, key: int) -> int:
        """Target pool of a data set (object and partition in one number); -1 if it is not moved."""
        goes = self._goes.get(key)
        if goes is None:
            number, partition = key >> 16, key & 0xFFFF
            names = (self._names.data_set(number, partition), self._names.data_set(number, 0))
            self._met.update(names)
            text = next((name for name in names if name in self._pools), None)
            goes = self._goes[key] = -1 if text is None else self._pools[text]
            if text is not None:
                self._used.add(text)
        return goes
