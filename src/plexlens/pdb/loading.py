"""Load sources into a PDB: each file completely or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np

from plexlens.errors import (
    EmptyInputError,
    IngestFailuresError,
    NothingUsableError,
    PdbLockedError,
    PdbWriteError,
    PlexlensError,
    SchemaConflictError,
    UnknownSourceError,
)
from plexlens.ingest import kinds as sources
from plexlens.ingest import plausible
from plexlens.ingest.compression import USUAL, Expansion
from plexlens.pdb.commit import clean_leftovers, commit, staging_folder
from plexlens.pdb.database import Pdb
from plexlens.pdb.durable import OvertakenError
from plexlens.pdb.entries import DataFile
from plexlens.pdb.hashes import hashes_in
from plexlens.pdb.job import IngestResult, Job, Outcome
from plexlens.pdb.lock import unheard
from plexlens.pdb.manifest import Change, Manifest
from plexlens.pdb.place import files_at
from plexlens.pdb.reading import INVENTORIES, Source, Staged, inventory_files, read
from plexlens.pdb.rewriting import Rewriter, Variants
from plexlens.pdb.schema import TypeConflictError
from plexlens.pdb.staging import MEMORY, StagedFile
from plexlens.pdb.writing import told_of_disk, writing
from plexlens.progress import Progress, silent

LoadedBy = Callable[[Sequence[Path], Job], AbstractContextManager[Callable[[Path], IngestResult]]]
"""Gives a function that loads a file, for files in the order in which it is called."""


def ingest(
    paths: str | Path | Iterable[str | Path],
    pdb: Pdb,
    *,
    progress: Progress | None = None,
    layouts: Sequence[str | Path] = (),
    codepage: str = "1047",
    leap_seconds: bool = False,
    memory: int = MEMORY,
    wait: float = 0.0,
    tell: Callable[[str], None] = unheard,
    names: Mapping[Path, str] | None = None,
    expansion: Expansion = USUAL,
    loaded_by: LoadedBy | None = None,
) -> list[IngestResult]:
    """Load sources into a PDB one after another, each completely or not at all.

    Parameters
    ----------
    paths
        Files, and folders of which every file (also deeper) that is a known source is taken; in object storage also
        patterns.
    pdb
        Where they go. Afterwards it shows them.
    progress
        Told how far each stage of each file is, in bytes: ``reading day1.smf``, then ``storing day1.smf``;
        ``checking`` it comes before where the PDB may hold it already.
    layouts
        Folders with record layouts of the site.
    codepage
        EBCDIC code page of text in dumps: ``037`` or ``1047``.
    leap_seconds
        Whether the clocks of the systems run ahead of UTC by the leap seconds.
    memory
        Bytes of rows held before files are written.
    wait
        Seconds to wait for another process that writes into the PDB.
    tell
        Told, as sentences, for whom it waits and what a writer before has left.
    names
        What the PDB calls files that are there for the ingest only: where their contents came from.
    expansion
        How far a compressed file may expand.
    loaded_by
        Loads the files, which other processes may read meanwhile; by default this process reads one after another.

    Returns
    -------
    list of IngestResult
        One for each file, in the order of `paths`.

    Raises
    ------
    PdbLockedError
        Another process is writing into the PDB.
    PdbWriteError
        The PDB cannot be written; what it held, and the files ingested before, are whole.
    NothingUsableError
        There was no usable file.
    PlexlensError
        The only file failed.
    IngestFailuresError
        Some of several files failed; the others are in the PDB.
    """
    results = files_at(paths)
    folders = tuple(map(Path, layouts))
    bounds = plausible.read_bounds(folders)
    bar = progress or silent
    job = Job(pdb, bar, folders, codepage, leap_seconds, memory, bounds, names or {}, tell=tell, expansion=expansion)
    every = [path for path, _ in results]
    with writing(pdb, wait=wait, tell=tell), (loaded_by or _loaded_here)(every, job) as loaded:
        for path, named in results:
            try:
                job.results.append(loaded(path))
            except (UnknownSourceError, EmptyInputError) as error:
                if named:
                    job.failures.append(error)
                else:
                    job.results.append(IngestResult(str(path), Outcome.SKIPPED, reason=error.what))
            except PdbWriteError:
                raise
            except PlexlensError as error:
                job.failures.append(error)
    if job.failures:
        raise job.failures[0] if len(results) == 1 else IngestFailuresError(job.failures, job.results)
    if all(result.outcome is Outcome.SKIPPED for result in job.results):
        raise NothingUsableError(
            file=", ".join(str(path) for path, _ in results[:3]) + (", ..." if len(results) > 3 else ""),
            what=f"none of {len(results)} files is a known source",
            remedy=f"give {sources.known_kinds()}",
        )
    return job.results


@contextmanager
def _loaded_here(paths: Sequence[Path], job: Job) -> Iterator[Callable[[Path], IngestResult]]:
    del paths
    yield partial(load, job=job)


#: How often a file is read because other writers committed some of its records meanwhile.
_READINGS = 5


def load(path: Path, job: Job, *, again: bool = False) -> IngestResult:
    """Load one file, with the write lock held where the PDB has one.

    Parameters
    ----------
    path
        The file.
    job
        How it is read, and where it goes.
    again
        Whether a file that the PDB holds is read again; its new rows then take the place of the old ones.

    Raises
    ------
    PlexlensError
        As `ingest`.
    """
    for number in range(_READINGS):
        try:
            return _load(path, job, again=again)
        except OvertakenError:
            if number + 1 < _READINGS:
                job.tell(f"{path}: another writer has committed some of its records meanwhile; it is read once more")
    raise PdbLockedError(
        file=str(job.pdb.path),
        what=f"other writers committed records of {path} during each of {_READINGS} readings; nothing of it was stored",
        remedy="run the command again when they are done",
    )


def _load(path: Path, job: Job, *, again: bool) -> IngestResult:
    try:
        staged = read(path, job, again=again)
        return staged if isinstance(staged, IngestResult) else store(staged, job.pdb)
    except BaseException:
        if not job.pdb.disk.shared:
            with suppress(PlexlensError):
                job.pdb.refresh()
            raise
        # Whether a commit that failed had got past its moment, only the manifest on disk knows.
        job.pdb.refresh()
        told_of_disk(job.pdb, lambda: clean_leftovers(job.pdb))
        raise


def store(staged: Staged, pdb: Pdb) -> IngestResult:
    """Commit a source that was read, with the write lock held where the PDB has one.

    Raises
    ------
    OvertakenError
        Records of it were committed since it was read; nothing of it was stored.
    PlexlensError
        The PDB cannot be written, or its tables conflict with those of the source.

    Where the PDB has a lock, `plexlens.pdb.commit.clean_leftovers` removes what an error leaves.
    """
    source = staged.source
    try:
        if staged.seen.commit != pdb.head.commit and not is_still_right(staged, pdb, pdb.manifest):
            raise OvertakenError(source.name)
        _commit(staged, pdb)
    except BaseException:
        if not pdb.disk.shared:
            shutil.rmtree(staging_folder(pdb, source.writer), ignore_errors=True)
        raise
    if source.before is not None:
        return IngestResult(str(source.path), Outcome.READ_AGAIN, staged.entry)
    return IngestResult(str(source.path), Outcome.ADDED if staged.is_new else Outcome.NOTHING_NEW, staged.entry)


def _commit(staged: Staged, pdb: Pdb) -> None:
    source = staged.source
    variants = Variants({table: list(listed) for table, listed in staged.variants.items()})
    gone = pdb.manifest.files_of(source.ingest_id) if source.before else []
    left = told_of_disk(pdb, lambda: _rows_of_others(gone, source, variants, pdb))
    data_files = [
        *(file.data_file((source.ingest_id,)) for file in staged.files),
        *(
            file.data_file(tuple(other for other in before.sources if other != source.ingest_id))
            for before, file in left
        ),
    ]
    what = f"{'rebuild' if source.before else 'ingest'} {source.path.name}"
    change = Change(what, (staged.entry,), variants=variants.of(), files=tuple(data_files), gone=tuple(gone))
    files = [*staged.files, *(file for _, file in left)]
    try:
        told_of_disk(
            pdb,
            lambda: commit(
                pdb,
                change,
                files,
                source.writer,
                keep=pdb.keep,
                still_right=lambda _, now: is_still_right(staged, pdb, now),
            ),
        )
    except TypeConflictError as error:
        raise SchemaConflictError(
            file=str(source.path),
            what=f"it conflicts with the contents of the PDB: {error}",
            remedy="correct the layout that defines this column, or ingest the file into a separate PDB",
        ) from error


def is_still_right(staged: Staged, pdb: Pdb, now: Manifest) -> bool:
    """Whether a reading keeps each record once in a later state of the PDB: none of its records came since."""
    source, seen = staged.source, staged.seen
    if source.before is not None or now.may_hold(source.sample) or now.source(source.ingest_id) is not None:
        return False
    if now.horizons != seen.horizons:
        return False
    files = inventory_files(now, staged.files)
    if not seen.inventories <= {path for _, path in files}:
        # What was left out as a duplicate may be gone.
        return False
    for table in INVENTORIES:
        came = [pdb.path / path for of_table, path in files if of_table == table and path not in seen.inventories]
        own = [file.staged for file in staged.files if file.table == table]
        if came and len(np.intersect1d(hashes_in(came), hashes_in(own))):
            return False
    return True


def _rows_of_others(
    files: Sequence[DataFile], source: Source, variants: Variants, pdb: Pdb
) -> list[tuple[DataFile, StagedFile]]:
    """Files that hold rows of other sources too, written anew without those of this one."""
    folder = staging_folder(pdb, source.writer)
    rewriter = Rewriter(pdb.path, folder, f"{source.writer}-of-others", pdb.disk, variants)
    left = []
    for file in files:
        if len(file.sources) > 1:
            columns = pdb.manifest.variants[file.table][file.variant]
            staged_file = rewriter.write([file], columns, without=source.ingest_id)
            if staged_file is not None:
                left.append((file, staged_file))
    return left
