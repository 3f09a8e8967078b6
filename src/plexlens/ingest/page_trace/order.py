"""Batches of a trace in time order: a stream is sorted within bounds, several streams are merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens.ingest.page_trace.error import TraceOrderError


@dataclass
class Disorder:
    """Statistics of rows out of order.

    Attributes
    ----------
    rows : int
        Rows that came after a later one, and were put right.
    """

    rows: int = 0


def in_order(
    batches: Iterable[pa.RecordBatch], disorder: Disorder, *, file: str, remedy: str
) -> Iterator[pa.RecordBatch]:
    """A stream in time order.

    Several processors write the records of one Db2, so neighbours may be exchanged. A batch is held back until the
    next is there, and the rows of both are sorted where they overlap: what is late by no more than the rows of one
    batch is put right (rows of one time keep their order), what is later is refused.

    Raises
    ------
    TraceOrderError
        A row is earlier than rows that are gone already.
    """
    content: pa.RecordBatch | None = None
    first, last, gone, done = 0, 0, None, 0
    for each in batches:
        if each.num_rows == 0:
            continue
        batch = _sorted(each, disorder)
        begins, ends = _span(batch)
        if content is not None:
            if begins < last:
                disorder.rows += int(np.count_nonzero(_times(batch) < last))
                rows = content.num_rows
                both = _by_time(pa.concat_batches([content, batch]))
                content, batch = both.slice(0, rows), both.slice(rows)
                (first, last), (begins, ends) = _span(content), _span(batch)
            _check(first, gone, done, file, remedy)
            yield content
            gone = last
            done += content.num_rows
        content, first, last = batch, begins, ends
    if content is not None:
        _check(first, gone, done, file, remedy)
        yield content


def _check(first: int, gone: int | None, done: int, file: str, remedy: str) -> None:
    """Refuse a batch that begins before rows already passed on."""
    if gone is not None and first < gone:
        raise TraceOrderError(
            file=file,
            record_no=done + 1,
            what=f"references are out of order: a reference at {first} us comes more than a batch after a reference "
            f"at {gone} us, which is {(gone - first) / 1e6:.6f} s later",
            remedy=remedy,
        )


def merged(streams: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Ordered streams merged by time, ties by stream. A single batch of each is held."""
    if len(streams) == 1:
        yield from streams[0]
        return
    heads = [next(stream, None) for stream in streams]
    while True:
        ends = [(int(_times(head)[-1]), number) for number, head in enumerate(heads) if head is not None]
        if not ends:
            return
        bound, bounding = min(ends)
        parts = []
        for number, head in enumerate(heads):
            if head is None:
                continue
            # Rows of the bounding time itself: an earlier stream has shown all of its own, a later one waits its turn.
            times = _times(head)
            rows = int(np.count_nonzero(times <= bound if number <= bounding else times < bound))
            if rows:
                parts.append(head.slice(0, rows))
            heads[number] = head.slice(rows) if rows < head.num_rows else next(streams[number], None)
        yield parts[0] if len(parts) == 1 else _by_time(pa.concat_batches(parts))


def _span(batch: pa.RecordBatch) -> tuple[int, int]:
    """Times of the first and the last row."""
    times = _times(batch)
    return int(times[0]), int(times[-1])


def _times(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    times: npt.NDArray[np.int64] = batch.column("time").to_numpy()
    return times


def _sorted(batch: pa.RecordBatch, disorder: Disorder) -> pa.RecordBatch:
    times = _times(batch)
    if len(times) < 2 or not (times[1:] < times[:-1]).max():
        return batch
    disorder.rows += int(np.count_nonzero(times < np.maximum.accumulate(times)))
    return _by_time(batch)


def _by_time(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.take(pa.array(np.argsort(_times(batch), kind="stable")))
