"""Page-reference traces from files and SMF dumps, read as batches of a common form.

A trace gives record batches with the columns of `plexlens._core.TRACE_COLUMNS`. Of named columns only ``page`` must
be there; the others default to one member, one pool (0), one object, partition 0, random getpages, and the number of
the row as time. ``pool``, ``object`` and ``member`` may be numbers or names, ``function`` and ``access`` are names or
codes; ``time`` is in microseconds or a timestamp. Besides, a file may have ``kind`` (what the object is) and ``lost``
(references that were lost before the row).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from plexlens.ingest.page_trace.error import LostRecordsError, TraceError, TraceOrderError
from plexlens.ingest.page_trace.files import ROWS, FileTrace
from plexlens.ingest.page_trace.named_columns import SCHEMA
from plexlens.ingest.page_trace.names import TraceNames
from plexlens.ingest.page_trace.pool_names import POOL_NAMES, page_bytes, pool_id, pool_name

__all__ = [
    "POOL_NAMES",
    "ROWS",
    "SCHEMA",
    "FileTrace",
    "LostRecordsError",
    "TraceError",
    "TraceNames",
    "TraceOrderError",
    "page_bytes",
    "pool_id",
    "pool_name",
    "read",
]


def read(path: Path, names: TraceNames | None = None) -> Iterator[pa.RecordBatch]:
    """Read a trace file in batches, in the file's order; memory does not grow with its length.

    Parameters
    ----------
    path
        The file. Its form is recognised by its first bytes and its name.
    names
        Where names of objects and members go; None forgets them.

    Yields
    ------
    pyarrow.RecordBatch
        Columns of `plexlens._core.TRACE_COLUMNS`.

    Raises
    ------
    TraceError
        It cannot be read, has no page column or unknown ones, or holds values that mean nothing.
    """
    yield from FileTrace(path, TraceNames() if names is None else names).batches()
