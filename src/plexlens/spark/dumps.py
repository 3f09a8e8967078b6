"""Dumps as a source of Spark's tables: each file is decoded by the Rust core in one task of an executor.

A file is one partition, compressed or not: dictionaries of CICS regions, spanned records and records that RMF split
reach across any place at which a file could be cut, and reading it whole finds them as ``plexlens ingest`` does.
Counters that run since the start of a Db2 are decoded as they are; metric views difference them over all files.

Records in several files are kept once. The first file by path keeps them: before the tasks start, the process that
plans them reads the hashes of all records, and each task gets the hashes of its own that files before contain.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from plexlens import _core
from plexlens.errors import UnreadableInputError, UsageError
from plexlens.ingest import smf
from plexlens.ingest.source import DAMAGE_SCHEMA, damage_batch
from plexlens.layouts_path import layout_folders
from plexlens.pdb.content import sample_of
from plexlens.spark.widening import spark_schema, widened

NAME = "plexlens"
"""The format to ask Spark for."""

RECORDS_SCHEMA = pa.schema(
    [
        pa.field("source_id", pa.string()),
        pa.field("file", pa.string()),
        pa.field("record", pa.string()),
        pa.field("records", pa.int64()),
        pa.field("left_out", pa.int64()),
    ]
)
"""Schema of the table ``records``: records of each type in each file, those left out among them; how many of a file
are left out, because they came before, stands in its row without a type."""


def files_of(place: str) -> list[str]:
    """The files of a path, a folder or a pattern, by name.

    Raises
    ------
    UsageError
        The path is one of an object store.
    UnreadableInputError
        There is no such file.
    """
    if "://" in place and not place.startswith("file:"):
        raise UsageError(
            file=place,
            what="dumps are read from paths of a file system, not from object storage",
            remedy="mount the storage at the same path on every executor, or copy the dumps",
        )
    place = place.removeprefix("file://").removeprefix("file:")
    if Path(place).is_dir():
        place = str(Path(glob.escape(place), "**", "*"))
    files = sorted(path for path in glob.glob(place, recursive=True) if Path(path).is_file())  # noqa: PTH207
    if not files:
        raise UnreadableInputError(file=place, what="there is no such file", remedy="check the path or the pattern")
    return files


@dataclass
class DumpFile(InputPartition):  # type: ignore[misc]
    """A dump for one task.

    Attributes
    ----------
    path : str
        The file.
    source_id : str
        What its rows bear in ``source_id``.
    came_before : bytes
        Hashes of its records that files before it hold too, 64 bits each.
    """

    path: str
    source_id: str
    came_before: bytes


def plan(paths: Sequence[str]) -> list[DumpFile]:
    """A task for each file. Several files are read once for the hashes of their records."""
    parts = []
    earlier = np.empty(0, dtype=np.uint64)
    for path in paths:
        source_id = sample_of(Path(path), os.stat(path).st_size)[:16]  # noqa: PTH116
        own = _hashes(path) if len(paths) > 1 else np.empty(0, dtype=np.uint64)
        parts.append(DumpFile(path, source_id, np.intersect1d(own, earlier).tobytes()))
        earlier = np.union1d(earlier, own)
    return parts


def _hashes(path: str) -> Any:
    reading = smf.read(Path(path), source_id="", tables=[smf.INVENTORY], threads=1)
    listed = [batch.column("hash").to_numpy() for table, batch in reading if table == smf.INVENTORY]
    return np.concatenate(listed) if listed else np.empty(0, dtype=np.uint64)


class DumpReader(DataSourceReader):  # type: ignore[misc]
    """Reads one table of dumps, a file per task."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._place = options.get("path", "")
        self._table = options.get("table", "")
        self._codepage = options.get("codepage", "1047")
        self._leap_seconds = options.get("leap_seconds", "false").lower() == "true"

    def partitions(self) -> list[DumpFile]:
        """The tasks."""
        return plan(files_of(self._place))

    def read(self, partition: DumpFile) -> Iterator[pa.RecordBatch]:
        """The rows of one file."""
        came_before = np.frombuffer(partition.came_before, dtype=np.uint64)
        is_raw = self._table not in ABOUT
        reading = smf.read(
            Path(partition.path),
            source_id=partition.source_id,
            seen=lambda day: came_before,
            tables=[self._table] if is_raw else None,
            codepage=self._codepage,
            leap_seconds=self._leap_seconds,
            threads=1,
        )
        schema = widened(table_schema(self._table))
        for table, batch in reading:
            if table == self._table:
                yield _cast(batch, schema)
        if self._table == "damage":
            yield _cast(damage_batch(reading.damage), schema)
        elif self._table == "records":
            yield _cast(_records(partition, reading.summary), schema)


def _records(partition: DumpFile, summary: Mapping[str, Any]) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = [
        {"record": record, "records": count, "left_out": None} for record, count in summary["records"].items()
    ]
    rows.append({"record": None, "records": sum(summary["records"].values()), "left_out": summary["duplicates"]})
    whose = {"source_id": partition.source_id, "file": partition.path}
    return pa.RecordBatch.from_pylist([whose | row for row in rows], schema=RECORDS_SCHEMA)


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [batch.column(field.name).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


ABOUT = {"damage": DAMAGE_SCHEMA, "records": RECORDS_SCHEMA}
"""Tables that say what the files were like."""


def table_schema(table: str) -> pa.Schema:
    """The schema of a table as the decoder gives it.

    Raises
    ------
    UsageError
        There is no such table.
    """
    if table in ABOUT:
        return ABOUT[table]
    catalogue = _core.Catalogue(layout_folders())
    names = catalogue.tables()
    if table not in names:
        near = get_close_matches(table, names, n=3) or ["smf_record", *ABOUT]
        what = f"there is no table {table}" if table else "no table is named"
        remedy = f"set option table to one of {', '.join(near)}; `plexlens layouts list` names all"
        raise UsageError(file="", what=what, remedy=remedy)
    return catalogue.schema(table)


class DumpSource(DataSource):  # type: ignore[misc]
    """The source ``plexlens``: a file, folder or pattern, with options ``table``, ``codepage``, ``leap_seconds``."""

    @classmethod
    def name(cls) -> str:
        """As `spark.read.format` knows it."""
        return NAME

    def schema(self) -> Any:
        """Columns of the table, with types that Spark has."""
        return spark_schema(table_schema(self.options.get("table", "")))

    def reader(self, schema: Any) -> DumpReader:
        """The reader of the table."""
        del schema
        return DumpReader(self.options)
