"""A trace as a file: CSV, Parquet or Arrow, with the names of pools, objects and members."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.ingest.page_trace.files import LOST_KEY
from plexlens.ingest.page_trace.named_columns import KIND, LOST
from plexlens.ingest.page_trace.names import TraceNames
from plexlens.whole_file import whole_file

#: Suffixes by form.
SUFFIXES = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}

_TEXT = pa.dictionary(pa.int32(), pa.string())


def form_of(path: Path) -> str:
    """Format by suffix.

    Raises
    ------
    UsageError
        It has none that is known.
    """
    form = next((form for suffix, form in SUFFIXES.items() if path.name.lower().endswith(suffix)), None)
    if form is None:
        raise UsageError(
            file=str(path),
            what="its file ending is not that of a known form",
            remedy=f"end it with {', '.join(SUFFIXES)}",
        )
    return form


def write_batches(
    path: Path, batches: Iterable[pa.RecordBatch], names: TraceNames, *, lost: int, without: Collection[str] = ()
) -> int:
    """Write batches of a trace.

    Objects and members are written by name where they have one, else by number; ``kind`` where any is known. Lost
    references are metadata of Parquet and Arrow files, and a column of CSV.

    Parameters
    ----------
    path
        The file; its suffix tells the form. What is there is replaced when it is complete.
    batches
        The references.
    names
        Their names, complete.
    lost
        References that were lost.
    without
        Columns that mean nothing in the trace and are left out: ``time``, ``agent``, ``status``.

    Returns
    -------
    int
        References written.

    Raises
    ------
    UsageError
        A suffix that is not known.
    PlexlensError
        It cannot be written.
    """
    form = form_of(path)
    named = _Named(names, without=without, lost=lost, column=form == "csv")
    schema = named.schema(plain=form != "parquet")
    if lost and form != "csv":
        schema = schema.with_metadata({LOST_KEY: str(lost).encode()})
    rows = 0
    with (
        whole_file(path) as unfinished,
        _writer(form, unfinished, schema, packed=path.name.lower().endswith(".gz")) as write,
    ):
        for batch in batches:
            columns = named.columns(batch, first=rows == 0)
            arrays = [columns[field.name].cast(field.type) for field in schema]
            write(pa.record_batch(arrays, schema=schema))
            rows += batch.num_rows
    return rows


@contextmanager
def _writer(form: str, path: Path, schema: pa.Schema, *, packed: bool) -> Iterator[Callable[[pa.RecordBatch], Any]]:
    from pyarrow import csv as text
    from pyarrow import parquet as pq

    if form == "parquet":
        with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as parquet:
            yield parquet.write_batch
    elif form == "arrow":
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema, options=options) as arrow:
            yield arrow.write_batch
    else:
        options = text.WriteOptions(quoting_style="needed", quoting_header="needed")
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.CompressedOutputStream(file, "gzip") if packed else file as stream,
            text.CSVWriter(stream, schema, write_options=options) as csv,
        ):
            yield csv.write_batch


class _Named:
    """Columns of a batch with names in place of numbers."""

    def __init__(self, names: TraceNames, *, without: Collection[str], lost: int, column: bool) -> None:
        self._names = names
        self._without = without
        self._lost = lost if column else 0
        self._kinds = names.any_kind

    def schema(self, *, plain: bool) -> pa.Schema:
        """Schema of the file; ``plain`` text for formats in which dictionaries cannot change between batches."""
        text = pa.string() if plain else _TEXT
        fields: dict[str, pa.DataType] = {"time": pa.int64()}
        fields |= {"member": text if self._names.members else pa.uint8(), "pool": text, "object": text}
        fields |= {"partition": pa.uint16(), "page": pa.uint64(), "function": text, "access": text}
        fields |= {"agent": pa.uint32(), "status": text}
        fields = {name: kind for name, kind in fields.items() if name not in self._without}
        fields |= {KIND: text} if self._kinds else {}
        fields |= {LOST: pa.uint64()} if self._lost else {}
        return pa.schema(list(fields.items()))

    def columns(self, batch: pa.RecordBatch, *, first: bool) -> dict[str, pa.Array]:
        """Columns of a batch; the lost references are in the first row of the first batch."""
        names = self._names
        results = {name: batch[name] for name in ("time", "partition", "page", "agent")}
        results["member"] = _named(batch["member"], names.member) if names.members else batch["member"]
        results["pool"] = _named(batch["pool"], names.pool)
        results["object"] = _named(
            batch["object"], lambda code: names.page_set(code) if names.has_name(code) else str(code)
        )
        results["function"] = _named(batch["function"], lambda function: _core.TRACE_FUNCTIONS[function])
        results["access"] = _named(batch["access"], lambda code: _core.TRACE_ACCESSES[code])
        results["status"] = _named(batch["status"], lambda code: _core.TRACE_STATUSES[code])
        results[KIND] = _named(batch["object"], lambda code: names.kind(code) or None)
        lost: npt.NDArray[np.uint64] = np.zeros(batch.num_rows, np.uint64)
        lost[0] = self._lost if first else 0
        results[LOST] = pa.array(lost)
        return results


def _named(column: pa.Array, name: Callable[[int], str | None]) -> pa.DictionaryArray:
    encoded = column.dictionary_encode()
    values = pa.array([name(code) for code in encoded.dictionary.to_pylist()], pa.string())
    if values.null_count:
        # Parquet takes no null among the values of a dictionary.
        return values.take(encoded.indices).dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices, values)
