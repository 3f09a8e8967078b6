"""A trace that is read many times, from a copy on disk after the first pass.

A search reads its trace about ten times. To decode Parquet takes four times as long as to read the same columns from a
compressed Arrow stream, and CSV or SMF records take longer still. So the first pass writes such a stream to a temporary
file, whose name is removed as soon as the file is written: the system frees it whatever way the process ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from plexlens.ingest.page_trace import TraceNames
from plexlens.pools.trace import Trace, TraceFacts
from plexlens.progress import Progress

#: Bytes of a copy at most (chosen): about 200 million references. A longer trace is read from its source each time.
MOST_BYTES = 2 << 30


class TraceCopy:
    """A trace that copies itself while it is read for the first time, where there is room.

    Parameters
    ----------
    trace
        The trace.
    most
        Bytes of the copy at most.
    """

    def __init__(self, trace: Trace, *, most: int = MOST_BYTES) -> None:
        self._trace = trace
        self._most = most
        self._source: pa.NativeFile | None = None
        self._is_read = False
        self._is_possible = True

    @property
    def names(self) -> TraceNames:
        """Names of pools, data sets and members."""
        return self._trace.names

    @property
    def facts(self) -> TraceFacts:
        """Facts that the last pass over the trace itself found."""
        return self._trace.facts

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """Read the trace from its beginning: first as `plexlens.pools.trace.Trace` does, then from the copy."""
        if self._source is not None and not self._is_read:
            yield from self._copied(self._source, progress)
        elif self._is_possible and self._source is None:
            yield from self._copying(progress)
        else:
            yield from self._trace.batches(progress)

    def _copying(self, progress: Progress | None) -> Iterator[pa.RecordBatch]:
        copy: _Writing | None = _Writing.begun()
        try:
            for batch in self._trace.batches(progress):
                if copy is not None and not copy.add(batch, self._most):
                    copy.close()
                    copy, self._is_possible = None, False
                yield batch
            if copy is not None:
                self._source = copy.end()
        finally:
            if copy is not None:
                copy.close()

    def _copied(self, source: pa.NativeFile, progress: Progress | None) -> Iterator[pa.RecordBatch]:
        """Read the copy, which has a single position: a second pass at the same time reads the trace."""
        self._is_read = True
        try:
            source.seek(0)
            size = source.size()
            for batch in pa.ipc.open_stream(source):
                if progress:
                    progress(source.tell(), size, "reading the trace again")
                yield batch
        finally:
            self._is_read = False


class _Writing:
    """A copy while it is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._sink: pa.NativeFile | None = None
        self._stream: pa.ipc.RecordBatchStreamWriter | None = None

    @classmethod
    def begun(cls) -> _Writing | None:
        """A copy without references; None where no temporary file can be made."""
        try:
            return cls(tempfile.NamedTemporaryFile(prefix="plexlens-trace-"))
        except OSError:
            return None

    def add(self, batch: pa.RecordBatch, most: int) -> bool:
        """Add references; whether that was possible, and the copy has no more bytes than it may."""
        try:
            if self._stream is None or self._sink is None:
                options = pa.ipc.IpcWriteOptions(compression="lz4")
                self._sink = pa.OSFile(self.file.name, "wb")
                self._stream = pa.ipc.new_stream(self._sink, batch.schema, options=options)
            self._stream.write_batch(batch)
            return bool(self._sink.tell() <= most)
        except OSError:
            return False

    def end(self) -> pa.NativeFile | None:
        """Finish; the file to read, or None where not all references are in it."""
        try:
            if self._stream is None or self._sink is None:
                return None
            self._stream.close()
            self._sink.close()
            # Opened by its name: Arrow would read a Python file into memory of Python's as well.
            return pa.OSFile(self.file.name)
        except OSError:
            return None

    def close(self) -> None:
        """Remove the name of the file; it remains to whoever has it open."""
        if self._sink is not None:
            self._sink.close()
        self.file.close()
