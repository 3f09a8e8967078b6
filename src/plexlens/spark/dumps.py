"""Dumps as a source of Spark's tables: tasks of executors decode files, or parts of them, by the Rust core.

Before the tasks start, the process that plans them walks through the files (`plexlens.ingest.smf_splits`). A task gets
its part, and with it all that reaches into it from before: dictionaries of CICS regions, time zones, parts of records
that RMF split, and hashes of its records that the file or a file before it by path brought already. So rows are those
of files read whole. Counters that run since the start of a Db2 are decoded as they are; metric views difference them
over all files.
"""

from __future__ import annotations

import glob
import pickle
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from plexlens import _core
from plexlens.errors import UnreadableInputError, UsageError
from plexlens.ingest import smf
from plexlens.ingest.smf_splits import Split, SplitPlan
from plexlens.ingest.source import DAMAGE_SCHEMA, damage_batch
from plexlens.layouts_path import layout_folders
from plexlens.pdb.content import sample_of
from plexlens.pdb.object_store import Access
from plexlens.pdb.place import files_at, is_dump_object, source_at
from plexlens.spark.widening import spark_schema, widened
from plexlens.storage_size import parse_size

if TYPE_CHECKING:
    from plexlens.pdb.dump_objects import DumpObject

NAME = "plexlens"
"""The format to ask Spark for."""

SPLIT_BYTES = 128 << 20
"""Bytes of a dump that a task reads, about, unless the option ``split_bytes`` says otherwise; as Spark cuts files."""

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


def files_of(place: str) -> list[Path]:
    """The files of a path, a folder or a pattern, by name; or the objects of an address (``s3://``, ``s3a://``).

    Raises
    ------
    UsageError
        The path is of something else.
    UnreadableInputError
        There is no such file.
    """
    if is_dump_object(place):
        return [path for path, _ in files_at(place)]
    if "://" in place and not place.startswith("file:"):
        raise UsageError(
            file=place,
            what="dumps are read from paths of a file system, and from s3:// and s3a://",
            remedy="mount the storage at the same path on every executor, or copy the dumps",
        )
    place = place.removeprefix("file://").removeprefix("file:")
    if Path(place).is_dir():
        place = str(Path(glob.escape(place), "**", "*"))
    files = sorted(path for path in glob.glob(place, recursive=True) if Path(path).is_file())  # noqa: PTH207
    if not files:
        raise UnreadableInputError(file=place, what="there is no such file", remedy="check the path or the pattern")
    return list(map(Path, files))


@dataclass
class DumpPart(InputPartition):  # type: ignore[misc]
    """A dump, or part of it, for one task.

    Attributes
    ----------
    path : str
        The file.
    state : Found or None
        An object of object storage as it was planned: if it has changed, it is not read.
    source_id : str
        What its rows bear in ``source_id``.
    packed : bytes
        Its `Split`, pickled and compressed (regions of one release have dictionaries that hardly differ); empty for
        a whole file that was not planned.
    """

    path: str
    source_id: str
    packed: bytes = b""
    state: Any = None

    @classmethod
    def of(cls, path: Path, source_id: str, split: Split | None = None) -> DumpPart:
        """With its split packed."""
        packed = zlib.compress(pickle.dumps(split), 1) if split is not None else b""
        return cls(str(path), source_id, packed, getattr(path, "state", None))

    @property
    def file(self) -> Path:
        """The file, or the object in the state that was planned."""
        path = source_at(self.path)
        return path if self.state is None else cast("DumpObject", path).in_state(self.state)

    @property
    def split(self) -> Split | None:
        """The part as it was planned."""
        return pickle.loads(zlib.decompress(self.packed)) if self.packed else None


def plan(
    paths: Sequence[Path], table: str, *, split_bytes: int = SPLIT_BYTES, codepage: str = "1047"
) -> list[DumpPart]:
    """A task for each file or part.

    Several files are walked through for the hashes of their records, and a long one for its parts.
    """
    sizes = [path.stat().st_size for path in paths]
    identities = [sample_of(path, size)[:16] for path, size in zip(paths, sizes, strict=True)]
    # The counts of a file stand in one row for each type: nothing of it is decoded, and one task counts them.
    if table == COUNTS:
        split_bytes = max(sizes) + 1
    if len(paths) == 1 and sizes[0] <= split_bytes:
        return [DumpPart.of(paths[0], identities[0])]
    planned = SplitPlan(wanted(table), split_bytes=split_bytes, codepage=codepage)
    return [
        DumpPart.of(path, source_id, split)
        for path, source_id in zip(paths, identities, strict=True)
        for split in planned.parts_of(path)
    ]


def wanted(table: str) -> list[str] | None:
    """The raw tables to decode for a table; None for all."""
    if table == COUNTS:
        return [smf.INVENTORY]
    return None if table in ABOUT else [table]


class DumpReader(DataSourceReader):  # type: ignore[misc]
    """Reads one table of dumps, a file or a part of it per task."""

    def __init__(self, options: Mapping[str, str], access: Mapping[str, str]) -> None:
        self._access = dict(access)
        self._place = options.get("path", "")
        self._table = options.get("table", "")
        self._codepage = options.get("codepage", "1047")
        self._leap_seconds = options.get("leap_seconds", "false").lower() == "true"
        self._split_bytes = parse_size(options.get("split_bytes", str(SPLIT_BYTES)))

    def partitions(self) -> list[DumpPart]:
        """The tasks."""
        self._reach()
        return plan(files_of(self._place), self._table, split_bytes=self._split_bytes, codepage=self._codepage)

    def _reach(self) -> None:
        """Let this process reach object storage as the one that registered the source does."""
        if is_dump_object(self._place):
            Access(self._access).use()

    def read(self, partition: DumpPart) -> Iterator[pa.RecordBatch]:
        """The rows of one file or part."""
        self._reach()
        reading = smf.read(
            partition.file,
            source_id=partition.source_id,
            tables=wanted(self._table),
            codepage=self._codepage,
            leap_seconds=self._leap_seconds,
            threads=1,
            split=partition.split,
        )
        schema = widened(table_schema(self._table))
        for table, batch in reading:
            if table == self._table:
                yield _cast(batch, schema)
        if self._table == "damage":
            yield _cast(damage_batch(reading.damage), schema)
        elif self._table == COUNTS:
            yield _cast(_records(partition, reading.summary), schema)


def _records(partition: DumpPart, summary: Mapping[str, Any]) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = [
        {"record": record, "records": count, "left_out": None} for record, count in summary["records"].items()
    ]
    rows.append({"record": None, "records": sum(summary["records"].values()), "left_out": summary["duplicates"]})
    whose = {"source_id": partition.source_id, "file": partition.path}
    return pa.RecordBatch.from_pylist([whose | row for row in rows], schema=RECORDS_SCHEMA)


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [batch.column(field.name).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


COUNTS = "records"
"""The table that counts the records of each type."""

ABOUT = {"damage": DAMAGE_SCHEMA, COUNTS: RECORDS_SCHEMA}
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
    """The source ``plexlens``: a file, folder or pattern.

    Options are ``table``, ``split_bytes``, ``codepage`` and ``leap_seconds``.
    """

    access: Mapping[str, str] = {}
    """The variables of the environment by which object storage is reached (`plexlens.pdb.object_store.Access`)."""

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
        return DumpReader(self.options, self.access)


def source_here() -> type[DumpSource]:
    """The source, with access to object storage as this process has it.

    The class is one of its own, so that it is sent to other processes with its attributes, not by its name.
    """
    return type("DumpSourceHere", (DumpSource,), {"access": dict(Access.here())})
