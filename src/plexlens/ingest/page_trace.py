"""Page-reference traces: CSV, Parquet and Arrow files with named columns, and libCacheSim's formats.

A trace gives record batches with the columns of `plexlens._core.TRACE_COLUMNS`, in the order of the file. Of named
columns only ``page`` must be there; the others default to one member, one pool (0), one object, partition 0, random
getpages, and the number of the row as time. ``pool`` may be a number or a name (``BP2``, ``BP8K0``, ``BP16K1``,
``BP32K``); ``function`` and ``access`` are names or codes.

libCacheSim's oracleGeneral is told by its name (``.oracleGeneral``, ``.oracleGeneral.bin``), its csv by its header
(``obj_id``). Both have one object and getpages alone; sizes of objects are not pages, and are left aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from plexlens import _core
from plexlens.errors import UnreadableInputError

#: Rows of a batch.
ROWS = 1 << 16

#: A record of oracleGeneral: seconds, object id, object size, when it is referenced next.
_ORACLE = np.dtype([("time", "<u4"), ("page", "<u8"), ("size", "<u4"), ("next", "<i8")])

#: The lowest pool id of each page size, as Db2 numbers them.
_POOL_BASE = {"": 0, "32K": 80, "8K": 100, "16K": 120}

_TYPES = {name: pa.type_for_alias(kind) for name, kind in _core.TRACE_COLUMNS}


class TraceError(UnreadableInputError):
    """A file that is no page-reference trace."""


def pool_id(name: str) -> int | None:
    """Id of a pool: ``BP2`` is 2, ``BP32K`` 80, ``BP8K0`` 100, ``BP16K0`` 120; None for what names none."""
    found = re.fullmatch(r"BP(8K|16K|32K|)(\d*)", name.strip().upper())
    if found is None or (not found[2] and found[1] != "32K"):
        return None
    return _POOL_BASE[found[1]] + int(found[2] or 0)


def pool_name(pool: int) -> str:
    """Name of a pool id."""
    for kind in ("16K", "8K", "32K"):
        if pool >= _POOL_BASE[kind]:
            number = pool - _POOL_BASE[kind]
            return f"BP{kind}" if kind == "32K" and number == 0 else f"BP{kind}{number}"
    return f"BP{pool}"


def read(path: Path) -> Iterator[pa.RecordBatch]:
    """Read a trace in stretches; memory does not grow with its length.

    Parameters
    ----------
    path
        The file. Its form is told by its first bytes and its name.

    Yields
    ------
    pyarrow.RecordBatch
        Columns of `plexlens._core.TRACE_COLUMNS`.

    Raises
    ------
    TraceError
        It cannot be read, has no page column or unknown ones, or holds values that mean nothing.
    """
    rows = 0
    for batch in _batches(path):
        if batch.num_rows:
            yield _normalise(path, batch, rows)
            rows += batch.num_rows
    if rows == 0:
        raise TraceError(file=str(path), what="no references in it", remedy="give a trace with at least one getpage")


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    try:
        with path.open("rb") as file:
            head = file.read(8)
        if re.search(r"\.oracleGeneral(\.bin)?$", path.name):
            yield from _oracle_general(path)
        elif head[:4] == b"PAR1":
            with pa.parquet.ParquetFile(path) as parquet:
                yield from parquet.iter_batches(batch_size=ROWS)
        elif head[:6] == b"ARROW1":
            yield from pa.dataset.dataset(path, format="ipc").to_batches(batch_size=ROWS)
        else:
            with pa.csv.open_csv(path) as csv:
                yield from csv
    except OSError as error:
        raise TraceError(
            file=str(path),
            what=f"it cannot be read: {error.strerror or error}",
            remedy="check its name and your rights",
        ) from error
    except pa.ArrowException as error:
        raise TraceError(
            file=str(path),
            what=f"it cannot be read: {str(error).splitlines()[0]}",
            remedy="give CSV with a header, Parquet, an Arrow file, or libCacheSim's oracleGeneral or csv",
        ) from error


def _oracle_general(path: Path) -> Iterator[pa.RecordBatch]:
    size = _ORACLE.itemsize
    with path.open("rb") as file:
        done = 0
        while block := file.read(ROWS * size):
            if len(block) % size:
                raise TraceError(
                    file=str(path),
                    offset=done + len(block) // size * size,
                    what=f"the last record is cut off: {len(block) % size} of {size} bytes",
                    remedy="copy the file again",
                )
            records = np.frombuffer(block, _ORACLE)
            done += len(block)
            # Seconds in the file, microseconds here.
            times = records["time"].astype(np.int64) * 1_000_000
            yield pa.record_batch({"time": pa.array(times), "page": pa.array(records["page"].copy())})


def _normalise(path: Path, batch: pa.RecordBatch, before: int) -> pa.RecordBatch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    if "obj_id" in columns and "page" not in columns:
        columns = _lib_cache_sim(columns)
    if "page" not in columns:
        raise TraceError(
            file=str(path),
            what=f"it has no column page (it has {', '.join(columns) or 'none'})",
            remedy=f"name its columns as these: {', '.join(_TYPES)}",
        )
    unknown = sorted(columns.keys() - _TYPES.keys())
    if unknown:
        raise TraceError(
            file=str(path),
            what=f"unknown columns: {', '.join(unknown)}",
            remedy=f"leave them out or name them as one of these: {', '.join(_TYPES)}",
        )
    rows = batch.num_rows
    made = {}
    for name, kind in _TYPES.items():
        column = columns.get(name)
        if column is None:
            made[name] = pa.array(np.arange(before, before + rows) if name == "time" else np.zeros(rows), kind)
        else:
            made[name] = _cast(path, name, column, kind, before)
    return pa.record_batch(made)


def _lib_cache_sim(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The columns of libCacheSim's csv that say something of pages."""
    made = {"page": columns["obj_id"]}
    time = columns.get("time", columns.get("timestamp"))
    if time is not None:
        made["time"] = pc.multiply(time.cast(pa.int64()), 1_000_000)
    return made


def _cast(path: Path, name: str, column: pa.Array, kind: pa.DataType, before: int) -> pa.Array:
    """A column in its type; names become codes."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _codes(path, name, column, before)
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py()
        raise _wrong(path, name, before + row, "nothing", "leave out rows without it")
    try:
        return column.cast(kind)
    except pa.ArrowInvalid as error:
        raise TraceError(
            file=str(path),
            what=f"column {name}: {str(error).splitlines()[0]}",
            remedy=f"it must fit into {kind}",
        ) from error


def _codes(path: Path, name: str, column: pa.Array, before: int) -> pa.Array:
    names = column.unique().to_pylist()
    if name == "pool":
        codes = {one: pool_id(one) for one in names if one is not None}
        remedy = "name pools as BP0, BP8K0, BP16K0, BP32K, or by number"
    elif name in ("function", "access"):
        known = _core.TRACE_FUNCTIONS if name == "function" else _core.TRACE_ACCESSES
        codes = {one: known.index(one.lower()) if one.lower() in known else None for one in names if one is not None}
        remedy = f"give one of {', '.join(known)}"
    else:
        raise _wrong(path, name, before, repr(next((one for one in names if one), "")), "give numbers")
    for one, code in codes.items():
        if code is None:
            row = pc.index(column, one).as_py()
            raise _wrong(path, name, before + row, repr(one), remedy)
    keys = pa.array(list(codes), column.type)
    return pc.take(pa.array(list(codes.values()), pa.int64()), pc.index_in(column, keys))


def _wrong(path: Path, name: str, row: int, found: str, remedy: str) -> TraceError:
    return TraceError(file=str(path), record_no=row + 1, what=f"column {name} holds {found}", remedy=remedy)
