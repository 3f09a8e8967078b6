"""Batches in, Parquet files out: the tables of an ingest, written to a separate folder until they are committed.

Rows are gathered by table and day, so that files are few and large, within a fixed amount of memory: a partition is
written when it is large, and the largest ones when all together are. Encoding runs in a thread pool while the next
batches are decoded (pyarrow releases the interpreter lock).

Files are Zstandard level 1 with dictionaries for text only: measured on MQ, RMF and coupling facility rows that takes
two thirds of the time that dictionaries for every column take and half the space (see docs/pdb.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plexlens.pdb.durable import Disk
from plexlens.pdb.entries import DataFile
from plexlens.pdb.partition import EXPIRED, RowDays, by_system, family_of
from plexlens.pdb.schema import Column, TypeConflictError, columns_of, stored_schema

MEMORY = 256 << 20
"""Bytes of rows held before the largest partitions are written."""

PARTITION_MEMORY = 64 << 20
"""Bytes of rows at which a partition is written: a file of some 10 to 20 MB."""

ROW_GROUP_ROWS = 122_880
"""Rows of a row group: what DuckDB gives one thread at a time."""

ALIVE = "alive"
"""File in a staging folder that a writer locks which does not hold the write lock of the PDB."""

_THREADS = 2

# Tables that are made of the manifest.
_TAKEN = frozenset({"source", "note"})

# What a batch costs beyond its values, for each column: array objects and the padding of small buffers.
_COLUMN_OVERHEAD = 512

# When this many small batches have gathered they are joined, so that their overhead does not fill the memory.
_JOIN_BATCHES = 64
_JOIN_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A written Parquet file and where it belongs.

    Attributes
    ----------
    staged : Path
        Where it lies now.
    target : str
        Where it belongs, from the PDB's folder, with slashes.
    table, day : str
        Its partition.
    variant : int
        Which of the table's schemas in this ingest it has.
    rows, bytes : int
        Its size.
    sha256 : str
        Hash of its bytes.
    starts : tuple of (str, str) or None
        As in `DataFile`.
    """

    staged: Path
    target: str
    table: str
    day: str
    variant: int
    rows: int
    bytes: int
    sha256: str
    starts: tuple[str, str] | None = None

    def data_file(self, sources: tuple[str, ...]) -> DataFile:
        """The file as the manifest names it, with rows of these sources."""
        size = self.rows, self.bytes
        return DataFile(self.target, self.table, self.day, self.variant, *size, self.sha256, sources, self.starts)


@dataclass(slots=True)
class _Partition:
    table: str
    variant: int
    day: str
    system: str = ""
    memory: int = 0
    # Level 0 holds batches as they came; a full level of small ones is joined into one batch of the next.
    levels: list[list[pa.RecordBatch]] = field(default_factory=lambda: [[]])

    def add(self, rows: pa.RecordBatch, width: _RowWidth) -> int:
        """Add rows at the end of the partition; return the change of its memory in bytes."""
        added = width.memory(rows)
        self.levels[0].append(rows)
        level = 0
        while len(self.levels[level]) >= _JOIN_BATCHES:
            if sum(batch.num_rows for batch in self.levels[level]) * width.fixed > _JOIN_BYTES:
                break
            if level + 1 == len(self.levels):
                self.levels.append([])
            self.levels[level + 1].append(pa.concat_batches(self.levels[level]))
            added -= width.overhead * (len(self.levels[level]) - 1)
            self.levels[level] = []
            level += 1
        self.memory += added
        return added

    def batches(self) -> list[pa.RecordBatch]:
        """The rows in the order in which they came."""
        return [batch for level in reversed(self.levels) for batch in level]


class _RowWidth:
    """Estimated memory per row of batches with the same schema, computed without inspecting each column."""

    def __init__(self, schema: pa.Schema) -> None:
        self.fixed = 0.0
        self._varying = []
        for index, column in enumerate(schema):
            try:
                self.fixed += (column.type.bit_width + 1) / 8
            except ValueError:  # text, bytes, lists
                self._varying.append(index)
        self.overhead = _COLUMN_OVERHEAD * len(schema)

    def memory(self, batch: pa.RecordBatch) -> int:
        """Memory of a batch in bytes, roughly: bits for nulls are counted whether or not there are any."""
        varying = sum(batch.column(index).nbytes for index in self._varying)
        return int(batch.num_rows * self.fixed + varying + self.overhead)


def _check_name(table: str) -> None:
    """Refuse an impossible table name before a file gets it; a site's own layout may have any name."""
    try:
        family_of(table)
    except ValueError as error:
        raise TypeConflictError(str(error)) from None
    if table in _TAKEN:
        raise TypeConflictError("every PDB has a table of this name; choose another name for the layout")


class StagedTables:
    """The tables of one ingest while they are written.

    Parameters
    ----------
    folder
        Where the files are written; made if missing.
    writer
        Names the files.
    disk
        Forces them to the device.
    memory
        Bytes of rows held before the largest partitions are written. Up to three further partitions may be on
        their way to disk.
    horizons
        By table the first day whose rows are taken; those of earlier days have expired.
    """

    def __init__(
        self,
        folder: Path,
        writer: str,
        disk: Disk,
        *,
        memory: int = MEMORY,
        horizons: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.writer = writer
        self.rows: dict[str, int] = {}
        """Rows added so far, by table."""
        self.expired: dict[str, int] = {}
        """Rows left out because their days have expired, by table."""
        self._horizons = horizons or {}
        self._disk = disk
        self._memory_limit = memory
        self._partition_limit = min(PARTITION_MEMORY, max(1, memory // 4))
        self._memory = 0
        self._days = RowDays(self._horizons.get("smf_record", ""))
        self._schemas: dict[str, list[pa.Schema]] = {}
        self._widths: dict[str, list[_RowWidth]] = {}
        self._incoming: dict[str, list[tuple[pa.Schema, int]]] = {}
        self._partitions: dict[tuple[str, int, str, str], _Partition] = {}
        self._numbers: dict[tuple[str, str, str], int] = {}
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="parquet")
        self._under_way: set[Future[StagedFile]] = set()
        self._done: list[StagedFile] = []
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def variants(self) -> dict[str, tuple[tuple[Column, ...], ...]]:
        """The columns of each table, for every schema its batches had."""
        return {table: tuple(columns_of(schema) for schema in schemas) for table, schemas in self._schemas.items()}

    def add(self, table: str, batch: pa.RecordBatch) -> None:
        """Take the rows of a batch.

        Raises
        ------
        TypeConflictError
            The PDB cannot hold the batch: its table's name, or a column.
        OSError
            A file could not be written.
        """
        variant = self._variant(table, batch.schema)
        if batch.num_rows == 0:
            return
        schema = self._schemas[table][variant]
        if batch.schema.types != schema.types:
            batch = batch.cast(schema)
        horizon = self._horizons.get(table, "")
        for day, rows in self._days.split(table, batch):
            if day == EXPIRED or day < horizon:
                self.expired[table] = self.expired.get(table, 0) + rows.num_rows
                continue
            self.rows[table] = self.rows.get(table, 0) + rows.num_rows
            for system, part in [("", rows)] if self._disk.shared else by_system(rows):
                self._gather(table, variant, (day, system), part)
        if self._memory > self._memory_limit:
            self._write_largest()

    def flush(self) -> list[StagedFile]:
        """Write the rows added since the last flush; return all files written.

        Raises
        ------
        OSError
            A file could not be written.
        """
        for partition in sorted(self._partitions.values(), key=lambda entry: -entry.memory):
            self._write(partition)
        self._collect(wait(self._under_way).done)
        return sorted(self._done, key=lambda file: file.target)

    def rewrite(self, file: StagedFile, change: Callable[[pa.Table], pa.Table]) -> None:
        """Replace the rows of a written file; remove the file if no rows are left.

        Raises
        ------
        OSError
            The file could not be read or written.
        """
        before = pq.ParquetFile(file.staged).read()
        after = change(before)
        if after.num_rows == before.num_rows:
            return
        self._done.remove(file)
        self.rows[file.table] -= before.num_rows - after.num_rows
        if after.num_rows:
            self._write_parquet(after, file.staged)
            size, sha256 = file.staged.stat().st_size, sha256_of(file.staged)
            starts = None if self._disk.shared else starts_of(file.staged)
            self._done.append(replace(file, rows=after.num_rows, bytes=size, sha256=sha256, starts=starts))
        else:
            file.staged.unlink()

    def keep_only(self, tables: Collection[str]) -> None:
        """Forget the rows of all other tables."""
        for key in [key for key in self._partitions if key[0] not in tables]:
            self._memory -= self._partitions.pop(key).memory
        for file in self.flush():
            if file.table not in tables:
                file.staged.unlink()
        self._done = [file for file in self._done if file.table in tables]
        self.rows = {table: count for table, count in self.rows.items() if table in tables}
        self._schemas = {table: schemas for table, schemas in self._schemas.items() if table in tables}

    def finish(self) -> list[StagedFile]:
        """Write the remaining rows; every file is on the device when this returns.

        Raises
        ------
        OSError
            A file could not be written.
        """
        files = self.flush()
        self._pool.shutdown()
        self._disk.sync_folder(self.folder)
        self.rows = {table: count for table, count in self.rows.items() if count}
        self._schemas = {table: self._schemas[table] for table in self.rows}
        return files

    def abandon(self) -> None:
        """Stop writing; the caller removes the files already written."""
        self._partitions.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _variant(self, table: str, schema: pa.Schema) -> int:
        """Number of the stored schema with which a batch of this schema is written."""
        known = self._incoming.get(table)
        if known is None:
            _check_name(table)
            known = self._incoming[table] = []
        for other, variant in known:
            # Without the metadata: within one reading they do not change, and comparing them costs more than the rest.
            if schema.equals(other):
                return variant
        stored = stored_schema(schema)
        schemas = self._schemas.setdefault(table, [])
        matches = [index for index, other in enumerate(schemas) if stored.equals(other)]
        if not matches:
            schemas.append(stored)
            self._widths.setdefault(table, []).append(_RowWidth(stored))
        known.append((schema, matches[0] if matches else len(schemas) - 1))
        return known[-1][1]

    def _gather(self, table: str, variant: int, place: tuple[str, str], rows: pa.RecordBatch) -> None:
        key = (table, variant, *place)
        partition = self._partitions.get(key)
        if partition is None:
            partition = self._partitions[key] = _Partition(*key)
        self._memory += partition.add(rows, self._widths[table][variant])
        if partition.memory > self._partition_limit:
            self._write(partition)

    def _write_largest(self) -> None:
        """Write the largest partitions until half the memory is free."""
        for partition in sorted(self._partitions.values(), key=lambda entry: -entry.memory):
            if self._memory <= self._memory_limit // 2:
                break
            self._write(partition)

    def _write(self, partition: _Partition) -> None:
        place = (partition.day, partition.system)
        del self._partitions[(partition.table, partition.variant, *place)]
        self._memory -= partition.memory
        number = self._numbers.get((partition.table, *place), 0) + 1
        self._numbers[(partition.table, *place)] = number
        # As many as there are threads, and one waiting: more would be memory that no limit counts.
        while len(self._under_way) > _THREADS:
            self._collect(wait(self._under_way, return_when="FIRST_COMPLETED").done)
        self._under_way.add(self._pool.submit(self._write_file, partition, number))

    def _collect(self, done: Iterable[Future[StagedFile]]) -> None:
        for future in done:
            self._under_way.discard(future)
            self._done.append(future.result())

    def _write_file(self, partition: _Partition, number: int) -> StagedFile:
        schema = self._schemas[partition.table][partition.variant]
        rows = pa.Table.from_batches(partition.batches(), schema=schema)
        partition.levels = []
        name = f"{self.writer}-{number}.parquet"
        staged = self.folder / "@".join(filter(None, [partition.table, partition.day, partition.system, name]))
        self._write_parquet(rows, staged)
        place = PurePosixPath(partition.day, partition.system)
        target = PurePosixPath("tables", family_of(partition.table), partition.table, place, name)
        return StagedFile(
            staged=staged,
            target=str(target),
            table=partition.table,
            day=partition.day,
            variant=partition.variant,
            rows=rows.num_rows,
            bytes=staged.stat().st_size,
            sha256=sha256_of(staged),
            starts=None if self._disk.shared else starts_of(staged),
        )

    def _write_parquet(self, rows: pa.Table, path: Path) -> None:
        pq.write_table(rows, path, row_group_size=ROW_GROUP_ROWS, **parquet_options(rows.schema, self._disk.codec))
        self._disk.sync_file(path)


def starts_of(path: Path) -> tuple[str, str] | None:
    """Least and greatest ``interval_start`` in a Parquet file, by its statistics; None if a row has none."""
    with pq.ParquetFile(path) as stored:
        index = stored.schema_arrow.get_field_index("interval_start")
        if index < 0 or not pa.types.is_timestamp(stored.schema_arrow.field(index).type):
            return None
        groups = [stored.metadata.row_group(number) for number in range(stored.metadata.num_row_groups)]
    statistics = [
        group.column(number).statistics
        for group in groups
        for number in range(group.num_columns)
        if group.column(number).path_in_schema == "interval_start"
    ]
    if not statistics or any(part is None or not part.has_min_max or part.null_count != 0 for part in statistics):
        return None
    return min(part.min for part in statistics).isoformat(), max(part.max for part in statistics).isoformat()


def parquet_options(schema: pa.Schema, codec: str) -> dict[str, Any]:
    """Options of the Parquet writer for the files of a table."""
    return {
        "compression": codec,
        "compression_level": 1 if codec == "zstd" else None,
        "use_dictionary": [entry.name for entry in schema if pa.types.is_string(entry.type)],
    }


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
