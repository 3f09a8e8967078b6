"""Trace files: CSV, Parquet and Arrow with named columns, and libCacheSim's formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens.ingest.compression import compression_of
from plexlens.ingest.page_trace import lib_cache_sim
from plexlens.ingest.page_trace.error import TraceError
from plexlens.ingest.page_trace.named_columns import LOST, NAMED, NamedColumns
from plexlens.ingest.page_trace.names import TraceNames

#: Rows of a batch.
ROWS = 1 << 17

#: Bytes of CSV that make a batch.
_CSV_BLOCK = 4 << 20

#: Metadata of Parquet and Arrow files: references that were lost while tracing.
LOST_KEY = b"plexlens.lost"

#: What a trace file may be.
FORMS = "CSV with a header, Parquet, an Arrow file, or a trace of libCacheSim (oracleGeneral, lcs, vscsi, txt, csv)"

#: First bytes of text that is not UTF-8, and its encoding.
ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)

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
                file=str(self.path),
                what="the trace contains no references",
                remedy="give a trace with at least one getpage",
            )

    def _columns(self) -> Iterator[tuple[dict[str, pa.Array], int]]:
        try:
            with self.path.open("rb") as file:
                head = file.read(64)
            if lib_cache_sim.binary_form(self.path.name) is not None:
                for columns, size in lib_cache_sim.binary_columns(self.path, ROWS, compression_of(head)):
                    self.position += size
                    yield columns, len(columns["page"])
                return
            self._check_encoding(head)
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
            if error.strerror is None:
                # Of Arrow, not of the system: the contents.
                raise self._damaged(str(error)) from error
            raise self._error(f"it cannot be read: {error.strerror}", "check the path and your permissions") from error
        except pa.ArrowException as error:
            raise self._damaged(str(error)) from error
        except UnicodeDecodeError as error:
            raise self._damaged("the name of a column is not text in UTF-8") from error

    def _damaged(self, text: str) -> TraceError:
        """Contents that cannot be read: cut off, damaged, or of another form."""
        with self.path.open("rb") as file:
            head = file.read(8)
        kind = compression_of(head)
        if kind is not None:
            if "runcated" in text:
                return self._error(
                    f"its {kind} data is cut off after {self.path.stat().st_size:,} bytes",
                    f"copy the file again, in binary, and test it with: {kind} -t",
                )
            if "CSV" not in text:
                return self._error(
                    f"its {kind} data is damaged: {text.splitlines()[0]}",
                    f"copy the file again, in binary, and test it with: {kind} -t",
                )
        for begins, form in ((b"PAR1", "Parquet"), (b"ARROW1", "Arrow")):
            if head.startswith(begins):
                return self._error(
                    f"it begins as {form}, but is cut off or damaged: {text.splitlines()[0]}",
                    "copy the file again, in binary, or write it anew",
                )
        return self._error(
            f"it cannot be read: {text.splitlines()[0]}",
            f"give {FORMS}; if it is such a file, it may be cut off: copy it again",
        )

    def _check_encoding(self, head: bytes) -> None:
        """Refuse text that is not in UTF-8, and JSON."""
        for begins, name in ENCODINGS:
            if head.startswith(begins):
                raise self._error(f"its text is {name}", f"save it as UTF-8, as iconv -f {name} -t UTF-8 does")
        if head[:1] in (b"{", b"["):
            raise self._error("it begins as JSON, not as a page-reference trace", f"give {FORMS}")

    def _parquet(self) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet as pq

        # Text comes as the file has it, each value once: spelling it out for every row would take most of the time.
        text = [name for name in NAMED if name in pq.read_schema(self.path).names]
        # Buffered beforehand, whatever was read stays in memory until the last batch.
        with pq.ParquetFile(
            self.path, read_dictionary=text, page_checksum_verification=True, pre_buffer=False
        ) as parquet:
            self._metadata(parquet.schema_arrow)
            rows = max(parquet.metadata.num_rows, 1)
            size, done = self.path.stat().st_size, 0
            bounds = _bounds(self.path)
            for batch in parquet.iter_batches(batch_size=ROWS):
                self._check_bounds(batch, bounds, done)
                done += batch.num_rows
                self.position = size * done // rows
                yield batch

    def _check_bounds(self, batch: pa.RecordBatch, bounds: dict[str, tuple[int, int]], done: int) -> None:
        """Refuse values beyond what the file's own statistics say: its pages were damaged, and have no checksum."""
        for name, (low, high) in bounds.items():
            if name not in batch.schema.names:
                raise self._damaged(f"its statistics are of a column {name}, which it does not have")
            column = batch.column(name).to_numpy(zero_copy_only=False)
            wrong = (column < low) | (column > high)
            if wrong.any():
                row = int(wrong.argmax())
                raise TraceError(
                    file=str(self.path),
                    record_no=done + row + 1,
                    what=f"column {name} holds {column[row]}, but the file's statistics say {low} to {high}, "
                    "so it is damaged",
                    remedy="copy the file again, in binary, or write it anew",
                )

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
        text = (schema.metadata or {}).get(LOST_KEY)
        if text is None:
            return
        if not text.isdigit():
            raise self._error(
                f"its metadata {LOST_KEY.decode()} holds {text.decode(errors='replace')!r}",
                "give the number of lost references in digits",
            )
        self.lost = int(text)

    def _csv(self) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv

        separator, header = self._header()
        types: dict[str, pa.DataType] = {}
        names = ["page"] if lib_cache_sim.is_txt(header[0]) and len(header) == 1 else []
        commented = lib_cache_sim.commented_columns(header)
        identifier = lib_cache_sim.object_column(commented or header)
        if names:
            header, types = names, {"page": pa.uint64()}
        elif identifier is None:
            # What may be a name is read as text: a column may begin with numbers and go on with names.
            types = {name: pa.dictionary(pa.int32(), pa.string()) for name in NAMED if name in header}
            types |= {name: pa.uint64() for name in ("page", LOST) if name in header}
        else:
            types = {identifier: pa.uint64()}
        options = csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
        layout = csv.ReadOptions(
            block_size=_CSV_BLOCK, column_names=names or commented or None, skip_rows=1 if commented else 0
        )
        try:
            yield from self._csv_batches(separator, options, layout)
        except pa.ArrowInvalid as error:
            # Reading in one thread counts lines, so that the error says where.
            try:
                layout.use_threads = False
                for _ in self._csv_batches(separator, options, layout):
                    pass
            except pa.ArrowInvalid as placed:
                raise self._csv_error(header, str(placed)) from error
            raise

    def _csv_batches(self, separator: str, options: Any, layout: Any) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv

        with self.path.open("rb") as file:
            compressed = compression_of(file.read(4))
        with pa.OSFile(str(self.path)) as raw:
            reader = csv.open_csv(
                pa.CompressedInputStream(raw, compressed) if compressed else raw,
                read_options=layout,
                parse_options=csv.ParseOptions(delimiter=separator),
                convert_options=options,
            )
            with reader as batches:
                for batch in batches:
                    self.position = raw.tell()
                    yield batch

    def _csv_error(self, header: list[str], text: str) -> TraceError:
        row = re.search(r"Row #(\d+)", text)
        line = int(row[1]) if row else None
        value = re.search(r"column #(\d+): .*invalid value '(.*)'", text)
        if value:
            what = f"column {header[int(value[1])]} holds {value[2]!r}"
            return TraceError(file=str(self.path), line=line, what=what, remedy="give numbers, whole and not below 0")
        encoded = re.search(r"column #(\d+): .*invalid UTF8", text)
        if encoded:
            what = f"column {header[int(encoded[1])]} holds text that is not UTF-8"
            remedy = "save the file as UTF-8, as iconv -t UTF-8 does"
            return TraceError(file=str(self.path), line=line, what=what, remedy=remedy)
        columns = re.search(r"Expected (\d+) columns, got (\d+)", text)
        if columns:
            what = f"{columns[2]} columns where the header names {columns[1]}"
            remedy = "write a value for each column in each line; if the last line is cut off, copy the file again"
            return TraceError(file=str(self.path), line=line, what=what, remedy=remedy)
        return self._error(
            f"it cannot be read: {text.splitlines()[0]}",
            f"give {FORMS}",
        )

    def _header(self) -> tuple[str, list[str]]:
        """Separator and column names of a CSV file."""
        with self.path.open("rb") as plain:
            compressed = compression_of(plain.read(4))
        with pa.input_stream(str(self.path), compression=compressed) as file:
            line = file.read(1 << 16).split(b"\n", 1)[0].decode("utf-8", errors="replace").strip("\r\ufeff")
        separator = max(_SEPARATORS, key=line.count)
        return separator if separator in line else ",", [name.strip().strip('"') for name in line.split(separator)]

    def _error(self, what: str, remedy: str) -> TraceError:
        return TraceError(file=str(self.path), what=what, remedy=remedy)


def _bounds(path: Path) -> dict[str, tuple[int, int]]:
    """Least and greatest value of each whole-numbered column that every row group has statistics of.

    DuckDB reads them: pyarrow ends the process where the metadata of a column contradicts itself.
    """
    import duckdb

    # Dates and times are whole numbers in the file, and texts in its statistics.
    statement = (
        "select path_in_schema, min(low), max(high) from (select path_in_schema, "
        "try_cast(stats_min_value as hugeint) as low, try_cast(stats_max_value as hugeint) as high "
        "from parquet_metadata(?) where type in ('INT32', 'INT64')) "
        "group by path_in_schema having count(*) = count(low) and count(*) = count(high)"
    )
    try:
        with duckdb.connect() as connection:
            rows = connection.execute(statement, [escape(str(path))]).fetchall()
    except duckdb.Error:
        return {}
    return {name: (int(low), int(high)) for name, low, high in rows}
