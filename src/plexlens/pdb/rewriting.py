"""Parquet files written anew: several as one, or one without the rows of a source.

Rows go from file to file in their order, a row group at a time, so that memory does not depend on the size of the
files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from plexlens.pdb.durable import Disk
from plexlens.pdb.entries import DataFile
from plexlens.pdb.place import is_object
from plexlens.pdb.schema import Column
from plexlens.pdb.staging import ROW_GROUP_ROWS, StagedFile, parquet_options, sha256_of, starts_of

#: Bytes of Arrow data that are gathered before a row group is written, whatever its rows.
GROUP_BYTES = 32 << 20

#: Rows that are read at a time.
_BATCH_ROWS = 16_384


@dataclass
class Variants:
    """The sets of columns with which the files of one commit are written, by table."""

    columns: dict[str, list[tuple[Column, ...]]] = field(default_factory=dict)

    def place(self, table: str, columns: Sequence[Column]) -> int:
        """The number of this set of columns among those of its table."""
        listed = self.columns.setdefault(table, [])
        wanted = tuple(columns)
        if wanted not in listed:
            listed.append(wanted)
        return listed.index(wanted)

    def of(self) -> dict[str, tuple[tuple[Column, ...], ...]]:
        """All of them, as `plexlens.pdb.Change` takes them."""
        return {table: tuple(listed) for table, listed in self.columns.items()}


def opened(path: Path) -> pq.ParquetFile:
    """A Parquet file of a PDB."""
    return pq.ParquetFile(path.open("rb") if is_object(path) else path)


def schema_of(columns: Sequence[Column]) -> pa.Schema:
    """The Arrow schema of a set of columns, with units and descriptions."""
    return pa.schema(
        [pa.field(column.name, column.arrow_type, metadata=dict(column.metadata) or None) for column in columns]
    )


@dataclass(frozen=True)
class Rewriter:
    """Writes files anew into a staging folder.

    Parameters
    ----------
    pdb
        Folder of the PDB.
    folder
        The staging folder.
    writer
        Names the files.
    disk
        Forces them to the device.
    variants
        Takes the columns with which they are written.
    """

    pdb: Path
    folder: Path
    writer: str
    disk: Disk
    variants: Variants = field(default_factory=Variants)
    written: list[StagedFile] = field(default_factory=list)

    def write(
        self, files: Sequence[DataFile], columns: Sequence[Column], *, without: str | None = None
    ) -> StagedFile | None:
        """Write the rows of several files of one folder as one.

        Parameters
        ----------
        files
            The files.
        columns
            Columns of the new file, which hold every value of the old ones.
        without
            A source whose rows are left out.

        Returns
        -------
        StagedFile or None
            The new file; None if no row is left.

        Raises
        ------
        OSError, pyarrow.ArrowException
            A file could not be read or written.
        """
        first = files[0]
        number = len(self.written) + 1
        name = f"{self.writer}-{number}.parquet"
        staged = self.folder / name
        schema = schema_of(columns)
        rows = 0
        with pq.ParquetWriter(staged, schema, **parquet_options(schema, self.disk.codec)) as writer:
            for group in groups(self._batches(files, schema, without), schema):
                writer.write_table(group, row_group_size=max(1, group.num_rows))
                rows += group.num_rows
        if not rows:
            staged.unlink()
            return None
        self.disk.sync_file(staged)
        staged_file = StagedFile(
            staged=staged,
            target=str(PurePosixPath(first.path).parent / name),
            table=first.table,
            day=first.day,
            variant=self.variants.place(first.table, columns),
            rows=rows,
            bytes=staged.stat().st_size,
            sha256=sha256_of(staged),
            starts=None if self.disk.shared else starts_of(staged),
        )
        self.written.append(staged_file)
        return staged_file

    def _batches(self, files: Sequence[DataFile], schema: pa.Schema, without: str | None) -> Iterator[pa.RecordBatch]:
        for file in files:
            with opened(self.pdb / file.path) as stored:
                for batch in stored.iter_batches(_BATCH_ROWS):
                    if without is not None:
                        # As in `hashes_of`: few commands leave out a source.
                        import pyarrow.compute as pc

                        kept = pc.fill_null(pc.not_equal(batch.column("source_id"), without), fill_value=True)
                        batch = batch.filter(kept)  # noqa: PLW2901 the rest of it
                    if batch.num_rows:
                        yield fitted(batch, schema)


def fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns of a schema that holds all of its values: others are null, types are widened."""
    arrays = []
    for entry in schema:
        index = batch.schema.get_field_index(entry.name)
        if index < 0:
            arrays.append(pa.nulls(batch.num_rows, entry.type))
        else:
            column = batch.column(index)
            arrays.append(column if column.type == entry.type else column.cast(entry.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def groups(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Batches as row groups: of `ROW_GROUP_ROWS` rows, or fewer if they are large."""
    contents: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, ROW_GROUP_ROWS - rows)
            contents.append(part)
            start += part.num_rows
            rows += part.num_rows
            size += part.nbytes
            if rows >= ROW_GROUP_ROWS or size >= GROUP_BYTES:
                yield pa.Table.from_batches(contents, schema=schema)
                contents, rows, size = [], 0, 0
    if contents:
        yield pa.Table.from_batches(contents, schema=schema)
