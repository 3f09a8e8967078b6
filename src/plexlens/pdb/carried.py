"""Tables that travel without their PDB: each as one Parquet file, and a PDB of such files.

Rows stand in the order of source, record and entry, so that the same sources give the same bytes, whatever the days
and merges of the PDB that they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path, PurePosixPath

import pyarrow.parquet as pq

from plexlens.pdb.commit import TABLES, commit
from plexlens.pdb.database import Pdb
from plexlens.pdb.engine import Connection, in_batches, let_wait, quoted
from plexlens.pdb.entries import DataFile, Ingest
from plexlens.pdb.manifest import Change, Variants
from plexlens.pdb.opening import MEMORY_LIMIT
from plexlens.pdb.partition import UNDATED, family_of
from plexlens.pdb.rewriting import fitted, groups, schema_of
from plexlens.pdb.schema import Column, columns_of
from plexlens.pdb.staging import parquet_options, sha256_of
from plexlens.pdb.writing import writing
from plexlens.progress import Progress, silent

_ORDER = ("source_id", "record_no", "section_no")
_BATCH_ROWS = 16_384
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)


def carried_path(table: str) -> str:
    """Path of the only file of a table, from the folder of a PDB that holds carried tables."""
    return str(PurePosixPath(TABLES, family_of(table), table, UNDATED, "carried-1.parquet"))


def carry(pdb: Pdb, to: Pdb, progress: Progress = silent) -> list[DataFile]:
    """Write every table of a PDB as one file into an empty PDB, which then holds them.

    Parameters
    ----------
    pdb
        The PDB.
    to
        The empty PDB.
    progress
        Told how many tables are written, and of how many.

    Returns
    -------
    list of DataFile
        The files, by table.

    Raises
    ------
    OSError, pyarrow.ArrowException
        A file could not be written.
    PlexlensError
        The PDB is damaged.
    """
    connection = let_wait(pdb.connect(memory_limit=MEMORY_LIMIT, threads=1))
    columns_of_tables = sorted(pdb.manifest.columns.items())
    for number, (table, columns) in enumerate(columns_of_tables):
        progress(number, len(columns_of_tables), "copying the records")
        path = to.path / carried_path(table)
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(connection, table, columns, path)
    return adopt(to, [table for table, _ in columns_of_tables], carried_sources(pdb.ingests))


def _write(connection: Connection, table: str, columns: Sequence[Column], path: Path) -> None:
    schema = schema_of(columns)
    order = ", ".join(name for name in _ORDER if name in schema.names)
    statement = f"select * from main.{quoted(table)}{f' order by {order}' if order else ''}"
    reader = in_batches(connection, statement, _BATCH_ROWS)
    with pq.ParquetWriter(path, schema, **parquet_options(schema, "zstd")) as writer:
        for group in groups((fitted(batch, schema) for batch in reader), schema):
            writer.write_table(group, row_group_size=max(1, group.num_rows))


def carried_sources(ingests: Iterable[Ingest]) -> tuple[Ingest, ...]:
    """Sources as carried tables name them: in their order, without the time of reading and the place of the file."""
    ordered = sorted(ingests, key=lambda ingest: (ingest.started_at, ingest.id))
    moments = ((_FIRST + timedelta(seconds=number)).isoformat() for number in count())
    return tuple(
        replace(ingest, path="", started_at=moment, finished_at=moment)
        for moment, ingest in zip(moments, ordered, strict=False)
    )


def adopt(pdb: Pdb, tables: Iterable[str], sources: Sequence[Ingest]) -> list[DataFile]:
    """Make files of tables that lie in the folder of an empty PDB, each at its `carried_path`, the contents of the PDB.

    Parameters
    ----------
    pdb
        The empty PDB.
    tables
        The tables.
    sources
        The sources of their rows.

    Raises
    ------
    OSError, pyarrow.ArrowException
        A file does not exist, or is not a Parquet file.
    KeyError
        A column has a type that a PDB does not hold.
    PlexlensError
        The PDB cannot be written.
    """
    variants: Variants = {}
    files = []
    ids = tuple(source.id for source in sources)
    for table in tables:
        path = pdb.path / carried_path(table)
        with pq.ParquetFile(path) as stored:
            variants[table] = (columns_of(stored.schema_arrow),)
            rows = stored.metadata.num_rows
        size = path.stat().st_size
        files.append(DataFile(carried_path(table), table, UNDATED, 0, rows, size, sha256_of(path), ids))
    with writing(pdb):
        commit(pdb, Change("carried tables", sources=tuple(sources), variants=variants, files=tuple(files)))
    return files
