"""Trace files: CSV, Parquet and Arrow with named columns, libCacheSim's oracleGeneral and csv."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from plexlens.ingest.page_trace import lib_cache_sim
from plexlens.ingest.page_trace.error import TraceError
from plexlens.ingest.page_trace.named_columns import LOST, NAMED, NamedColumns
from plexlens.ingest.page_trace.names import TraceNames

#: Rows of a batch.
ROWS = 1 << 16

#: Bytes of CSV that make a batch.
_CSV_BLOCK = 4 << 20

#: Metadata of Parquet and Arrow files: references that were lost while tracing.
LOST_KEY = b"plexlens.lost"

_SEPARATORS = (",", "\t", ";", "|")


@dataclass
class FileTrace:
    """A trace file being read.

    Parameters
    ----------
    path
        The file. Its form is recognised by its first bytes and its name.
    names
        Where names of objects and members go.

    Attributes
    ----------
    position : int
        About how many bytes of the file are read.
    lost : int
        References lost while tracing, as the file says it: its column ``lost`` or its metadata.
    timed : bool
        Whether it tells times; else its rows are numbered.
    rows : int
        References read.
    """

    path: Path
    names: TraceNames
    position: int = 0
    lost: int = 0
    timed: bool = True
    rows: int = 0
    _first_row: int = field(default=0, repr=False)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def starting_at(self, row: int) -> FileTrace:
        """Number the rows of a trace without times, starting at ``row``."""
        self._first_row = row
        return self

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The references, in the file's order.

        Raises
        ------
        TraceError
            It cannot be read, has no page column or unknown ones, or holds values that mean nothing.
        """
        named = NamedColumns(self.path, self.names, first_row=self._first_row)
        for columns, rows in self._columns():
            if rows == 0:
                continue
            batch = named.batch(columns, rows)
            self.rows, self.timed = named.rows, named.timed
            yield batch
        self.lost += named.lost
        self.position = self.path.stat().st_size if self.path.exists() else self.position
        if self.rows == 0:
            raise TraceError(
                file=str(self.path), what="no references in it", remedy="give a trace with at least one getpage"
            )

    def _columns(self) -> Iterator[tuple[dict[str, pa.Array], int]]:
        try:
            with self.path.open("rb") as file:
                head = file.read(8)
            if lib_cache_sim.is_oracle_general(self.path.name):
                for columns in lib_cache_sim.oracle_general(self.path, ROWS):
                    rows = len(columns["page"])
                    self.position += rows * lib_cache_sim.RECORD_BYTES
                    yield columns, rows
                return
            if head[:4] == b"PAR1":
                batches = self._parquet()
            elif head[:6] == b"ARROW1":
                batches = self._arrow()
            else:
                batches = self._csv()
            for batch in batches:
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                if len(columns) < batch.num_columns:
                    raise self._error("two columns have the same name", "name each column once")
                if lib_cache_sim.is_csv(batch.schema.names):
                    columns = lib_cache_sim.csv_columns(columns)
                yield columns, batch.num_rows
        except OSError as error:
            what = f"it cannot be read: {error.strerror or error}"
            raise self._error(what, "check its name and your rights") from error
        except pa.ArrowException as error:
            raise self._error(
                f"it cannot be read: {str(error).splitlines()[0]}",
                "give CSV with a header, Parquet, an Arrow file, or libCacheSim's oracleGeneral or csv; if it is one, "
                "it may be cut off: copy it again",
            ) from error

    def _parquet(self) -> Iterator[pa.RecordBatch]:
        # Text comes as the file has it, each value once: spelling it out for every row would take most of the time.
        text = [name for name in NAMED if name in pa.parquet.read_schema(self.path).names]
        with pa.parquet.ParquetFile(self.path, read_dictionary=text) as parquet:
            self._metadata(parquet.schema_arrow)
            rows = max(parquet.metadata.num_rows, 1)
            size, done = self.path.stat().st_size, 0
            for batch in parquet.iter_batches(batch_size=ROWS):
                done += batch.num_rows
                self.position = size * done // rows
                yield batch

    def _arrow(self) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(str(self.path)) as mapped, pa.ipc.open_file(mapped) as file:
            self._metadata(file.schema)
            size = self.path.stat().st_size
            for number in range(file.num_record_batches):
                whole = file.get_batch(number)
                for first in range(0, whole.num_rows, ROWS):
                    yield whole.slice(first, ROWS)
                self.position = size * (number + 1) // file.num_record_batches

    def _metadata(self, schema: pa.Schema) -> None:
        """Read the number of lost references from a file's metadata."""
        told = (schema.metadata or {}).get(LOST_KEY)
        if told is None:
            return
        if not told.isdigit():
            raise self._error(
                f"its metadata {LOST_KEY.decode()} holds {told.decode(errors='replace')!r}",
                "give the number of lost references in digits",
            )
        self.lost = int(told)

    def _csv(self) -> Iterator[pa.RecordBatch]:
        separator, header = self._header()
        types: dict[str, pa.DataType] = {}
        if not lib_cache_sim.is_csv(header):
            # What may be a name is read as text: a column may begin with numbers and go on with names.
            types = {name: pa.dictionary(pa.int32(), pa.string()) for name in NAMED if name in header}
            types |= {name: pa.uint64() for name in ("page", LOST) if name in header}
        elif "obj_id" in header:
            types = {"obj_id": pa.uint64()}
        options = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
        try:
            yield from self._csv_batches(separator, options, threads=True)
        except pa.ArrowInvalid as error:
            # Reading in one thread counts lines, so that the error says where.
            try:
                for _ in self._csv_batches(separator, options, threads=False):
                    pass
            except pa.ArrowInvalid as placed:
                raise self._csv_error(header, str(placed)) from error
            raise

    def _csv_batches(
        self, separator: str, options: pa.csv.ConvertOptions, *, threads: bool
    ) -> Iterator[pa.RecordBatch]:
        with self.path.open("rb") as file:
            compressed = _compression(file.read(4))
        with pa.OSFile(str(self.path)) as raw:
            reader = pa.csv.open_csv(
                pa.CompressedInputStream(raw, compressed) if compressed else raw,
                read_options=pa.csv.ReadOptions(block_size=_CSV_BLOCK, use_threads=threads),
                parse_options=pa.csv.ParseOptions(delimiter=separator),
                convert_options=options,
            )
            with reader as csv:
                for batch in csv:
                    self.position = raw.tell()
                    yield batch

    def _csv_error(self, header: list[str], text: str) -> TraceError:
        row = re.search(r"Row #(\d+)", text)
        line = int(row[1]) if row else None
        value = re.search(r"column #(\d+): .*invalid value '(.*)'", text)
        if value:
            what = f"column {header[int(value[1])]} holds {value[2]!r}"
            return TraceError(file=str(self.path), line=line, what=what, remedy="give numbers, whole and not below 0")
        columns = re.search(r"Expected (\d+) columns, got (\d+)", text)
        if columns:
            what = f"{columns[2]} columns where the header names {columns[1]}"
            remedy = "write a value for each column in each line; a last line that is cut off: copy the file again"
            return TraceError(file=str(self.path), line=line, what=what, remedy=remedy)
        return self._error(
            f"it cannot be read: {text.splitlines()[0]}",
            "give CSV with a header, Parquet, an Arrow file, or libCacheSim's oracleGeneral or csv",
        )

    def _header(self) -> tuple[str, list[str]]:
        """Separator and column names of a CSV file."""
        with self.path.open("rb") as plain:
            compressed = _compression(plain.read(4))
        with pa.input_stream(str(self.path), compression=compressed) as file:
            line = file.read(1 << 16).split(b"\n", 1)[0].decode("utf-8", errors="replace").strip("\r\ufeff")
        separator = max(_SEPARATORS, key=line.count)
        return separator if separator in line else ",", [name.strip().strip('"') for name in line.split(separator)]

    def _error(self, what: str, remedy: str) -> TraceError:
        return TraceError(file=str(self.path), what=what, remedy=remedy)


def _compression(head: bytes) -> str | None:
    """Compression of a file, from its first bytes."""
    return {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}.get(head[:2])
