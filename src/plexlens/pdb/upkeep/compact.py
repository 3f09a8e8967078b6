"""Compaction: small Parquet files of a day of a table become one, with every row, column, type, unit and source.

Files are merged without the write lock, since they never change: others read and write meanwhile. Only the commit takes
the lock; what another writer has replaced by then is left as that writer made it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from plexlens.errors import PdbDamagedError, PdbLockedError
from plexlens.pdb.commit import JOURNAL, commit, staging_folder
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import DataFile
from plexlens.pdb.lock import alive, holder_of, unheard, writer_lock
from plexlens.pdb.manifest import Change, Manifest
from plexlens.pdb.rewriting import Rewriter
from plexlens.pdb.schema import Column, TypeConflictError, merge_columns
from plexlens.pdb.staging import ALIVE, StagedFile
from plexlens.pdb.writing import told_of_disk, writing
from plexlens.progress import Progress, silent

SMALL = 32 << 20
"""Bytes below which a file is merged with others of its day."""

LARGE = 128 << 20
"""Bytes of files that are merged into one, at most."""

LOCK = "compaction.lock"

#: Seconds to wait for the lock, at least, when the files are merged: giving up would waste the work.
_PATIENCE = 60.0

#: Integers that a 64-bit float does not hold exactly.
_WIDE = frozenset({"int64", "uint64"})


@dataclass(frozen=True)
class Group:
    """Files that become one.

    Attributes
    ----------
    files : tuple of DataFile
        The files, in the order of their commits.
    columns : tuple of Column
        The columns of all of them.
    """

    files: tuple[DataFile, ...]
    columns: tuple[Column, ...]

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return sum(file.rows for file in self.files)


@dataclass(frozen=True)
class Compaction:
    """Result of a compaction, or of one that is planned.

    Attributes
    ----------
    files, bytes : int
        Number and size of the files that were merged.
    into_files, into_bytes : int
        Number and size of the files that they became; a size of 0 is one that is not known yet.
    rows : int
        Rows in them.
    tables : int
        Tables to which they belong.
    left : int
        Files that another writer had replaced meanwhile.
    """

    files: int
    bytes: int
    into_files: int
    into_bytes: int
    rows: int
    tables: int
    left: int = 0


def plan(manifest: Manifest) -> list[Group]:
    """The groups of files that a compaction merges."""
    return [group for table in manifest.files for group in _of_table(manifest, table)]


def _of_table(manifest: Manifest, table: str) -> Iterator[Group]:
    folders: dict[str, list[DataFile]] = {}
    for file in manifest.files[table]:
        if file.bytes < SMALL:
            folders.setdefault(file.path.rpartition("/")[0], []).append(file)
    for files in folders.values():
        if len(files) > 1:
            yield from _of_day(files, manifest.variants[table])


def _of_day(files: Sequence[DataFile], variants: Sequence[tuple[Column, ...]]) -> Iterator[Group]:
    open_groups: list[tuple[list[DataFile], tuple[Column, ...]]] = []
    for file in files:
        columns = variants[file.variant]
        for place, (data_files, joined) in enumerate(open_groups):
            both = _joined(joined, columns)
            fits = sum(data_file.bytes for data_file in data_files) + file.bytes <= LARGE
            # When a source is read again, its rows in a file are found by this column.
            apart = file.sources == data_files[0].sources or any(column.name == "source_id" for column in columns)
            if both is not None and fits and apart:
                data_files.append(file)
                open_groups[place] = (data_files, both)
                break
        else:
            open_groups.append(([file], columns))
    yield from (Group(tuple(data_files), columns) for data_files, columns in open_groups if len(data_files) > 1)


def _joined(left: Sequence[Column], right: Sequence[Column]) -> tuple[Column, ...] | None:
    """The columns that hold every value of both exactly; None if there are none."""
    if tuple(left) == tuple(right):
        return tuple(left)
    try:
        joined = merge_columns((left, right))
    except TypeConflictError:
        return None
    types = {column.name: column.type for column in joined}
    if any(column.type in _WIDE and types[column.name] == "double" for column in (*left, *right)):
        return None
    return joined


def planned(groups: Iterable[Group]) -> Compaction:
    """Result that merging these groups would have."""
    listed = list(groups)
    files = [file for group in listed for file in group.files]
    size = sum(file.bytes for file in files)
    tables = len({file.table for file in files})
    return Compaction(len(files), size, len(listed), 0, sum(group.rows for group in listed), tables)


def compact(
    pdb: Pdb,
    *,
    wait: float = 0.0,
    tell: Callable[[str], None] = unheard,
    progress: Progress = silent,
) -> Compaction:
    """Merge the small files of each day of each table.

    Parameters
    ----------
    pdb
        The PDB; it shows the result afterwards.
    wait
        Seconds to wait for a writer.
    tell
        Told, as sentences, whom it waits for.
    progress
        Told how many groups of files are merged.

    Raises
    ------
    PdbLockedError
        Another process compacts the PDB, or writes into it for longer than `wait`.
    PdbWriteError
        The PDB cannot be written; what it held is whole.
    PdbDamagedError
        A file cannot be read, or does not have the rows that were written.
    """
    if not pdb.disk.shared:
        return _compact(pdb, wait, tell, progress)
    lock = pdb.path / LOCK
    try:
        with writer_lock(lock, pdb=pdb.path):
            return _compact(pdb, wait, tell, progress)
    except PdbLockedError as error:
        holder = holder_of(lock)
        if holder is None:
            raise
        raise PdbLockedError(
            file=error.file, what=f"{holder} compacts this PDB", remedy="wait until it is done"
        ) from None


def _compact(pdb: Pdb, wait: float, tell: Callable[[str], None], progress: Progress) -> Compaction:
    name = f"compact-{os.urandom(6).hex()}"
    folder = staging_folder(pdb, name)
    with ExitStack() as leaving:
        # Under the lock, or another writer takes the folder for one that was left.
        with writing(pdb, wait=wait, tell=tell):
            groups = plan(pdb.manifest)
            if not groups:
                return planned(groups)
            leaving.callback(_remove, folder)
            told_of_disk(pdb, lambda: pdb.disk.make_folder(folder))
            told_of_disk(pdb, lambda: leaving.enter_context(alive(folder / ALIVE)))
        rewriter = Rewriter(pdb.path, folder, name, pdb.disk)
        results: list[tuple[Group, StagedFile]] = []
        for done, group in enumerate(groups):
            progress(done, len(groups), "merging files")
            results.append((group, _merged(pdb, rewriter, group)))
        told_of_disk(pdb, lambda: pdb.disk.sync_folder(folder))
        with writing(pdb, wait=max(wait, _PATIENCE), tell=tell):
            return _commit(pdb, name, rewriter, results)


def _remove(folder: Path) -> None:
    """Remove a staging folder, unless a failed commit has moved files: its journal leads the next writer to them."""
    if not (folder / JOURNAL).exists():
        shutil.rmtree(folder, ignore_errors=True)


def _merged(pdb: Pdb, rewriter: Rewriter, group: Group) -> StagedFile:
    try:
        file = told_of_disk(pdb, lambda: rewriter.write(group.files, group.columns))
    except pa.ArrowException as error:
        raise _unreadable(pdb, group, str(error)) from error
    if file is None or file.rows != group.rows:
        raise _unreadable(pdb, group, f"they have {file.rows if file else 0} rows where {group.rows} were written")
    return file


def _unreadable(pdb: Pdb, group: Group, what: str) -> PdbDamagedError:
    first = group.files[0]
    return PdbDamagedError(
        file=str((pdb.path / first.path).parent),
        what=f"files of {first.table} of {first.day} cannot be merged: {what}; nothing was changed",
        remedy=f"see which file is damaged: plexlens pdb verify {pdb.path}",
    )


def _commit(pdb: Pdb, name: str, rewriter: Rewriter, result: list[tuple[Group, StagedFile]]) -> Compaction:
    there = {file.path for group, _ in result for file in pdb.manifest.files.get(group.files[0].table, ())}
    kept = [(group, file) for group, file in result if all(file.path in there for file in group.files)]
    gone = [file for group, _ in kept for file in group.files]
    files = [
        file.data_file(tuple(dict.fromkeys(source for file in group.files for source in file.sources)))
        for group, file in kept
    ]
    left = sum(len(group.files) for group, _ in result) - len(gone)
    if files:
        change = Change(
            f"compact {len(gone):,} files into {len(files):,}",
            variants=rewriter.variants.of(),
            files=tuple(files),
            gone=tuple(gone),
            rows_change=False,
        )
        paths = {file.path for file in gone}

        def right(before: Manifest, now: Manifest) -> bool:
            del before
            return paths <= {file.path for file in now.every_file()}

        staged = [file for _, file in kept]
        told_of_disk(pdb, lambda: commit(pdb, change, staged, name, fold=True, keep=pdb.keep, still_right=right))
    return Compaction(
        files=len(gone),
        bytes=sum(file.bytes for file in gone),
        into_files=len(files),
        into_bytes=sum(file.bytes for file in files),
        rows=sum(file.rows for file in files),
        tables=len({file.table for file in files}),
        left=left,
    )
