"""libCacheSim's trace formats: oracleGeneral, and csv with a column ``obj_id``.

Both have one object and getpages alone; sizes of objects are not pages, and are left aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plexlens.ingest.page_trace.error import TraceError

#: A record of oracleGeneral: seconds, object id, object size, when it is referenced next.
_ORACLE = np.dtype([("time", "<u4"), ("page", "<u8"), ("size", "<u4"), ("next", "<i8")])

#: Bytes of a record of oracleGeneral.
RECORD_BYTES = _ORACLE.itemsize

_SECOND = 1_000_000


def is_oracle_general(name: str) -> bool:
    """Whether the file name is that of an oracleGeneral trace; the contents have no signature."""
    return re.search(r"\.oracleGeneral(\.bin)?$", name) is not None


def oracle_general(path: Path, rows: int) -> Iterator[dict[str, pa.Array]]:
    """Columns of a trace, ``rows`` rows at a time.

    Raises
    ------
    TraceError
        The last record is cut off.
    """
    size = _ORACLE.itemsize
    with path.open("rb") as file:
        done = 0
        while block := file.read(rows * size):
            if len(block) % size:
                raise TraceError(
                    file=str(path),
                    offset=done + len(block) // size * size,
                    what=f"the last record is cut off: {len(block) % size} of {size} bytes",
                    remedy="copy the file again",
                )
            records = np.frombuffer(block, _ORACLE)
            done += len(block)
            times = records["time"].astype(np.int64) * _SECOND
            yield {"time": pa.array(times), "page": pa.array(records["page"].copy())}


def is_csv(columns: list[str]) -> bool:
    """Whether the columns are those of libCacheSim's csv."""
    return "obj_id" in columns and "page" not in columns


def csv_columns(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The relevant columns of libCacheSim's csv: seconds and object ids."""
    made = {"page": columns["obj_id"]}
    time = columns.get("time", columns.get("timestamp"))
    if time is not None:
        made["time"] = pc.floor(pc.multiply(time, _SECOND)).cast(pa.int64(), safe=False)
    return made
