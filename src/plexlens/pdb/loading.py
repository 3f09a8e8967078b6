"""Load sources into a PDB: each file completely or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from plexlens.errors import (
    EmptyInputError,
    IngestFailuresError,
    NothingUsableError,
    PdbLockedError,
    PdbWriteError,
    PlexlensError,
    SchemaConflictError,
    SourceChangedError,
    UnknownSourceError,
    UsageError,
)
from plexlens.ingest import kinds as sources
from plexlens.ingest import plausible
from plexlens.ingest.compression import USUAL, Expansion
from plexlens.ingest.plausible import Plausibility
from plexlens.ingest.source import Reading, ReadOptions, Severity, damage_batch
from plexlens.pdb.commit import clean_leftovers, commit, staging_folder
from plexlens.pdb.content import hash_meanwhile, hash_of, sample_of
from plexlens.pdb.database import Pdb
from plexlens.pdb.durable import OvertakenError
from plexlens.pdb.entries import DataFile, Ingest, Note
from plexlens.pdb.hashes import hashes_in
from plexlens.pdb.job import IngestResult, Job, Outcome
from plexlens.pdb.lock import unheard
from plexlens.pdb.manifest import Change, Manifest
from plexlens.pdb.partition import partition_of
from plexlens.pdb.place import is_object
from plexlens.pdb.records_once import Found, leave_out_held
from plexlens.pdb.rewriting import Rewriter, Variants
from plexlens.pdb.schema import TypeConflictError
from plexlens.pdb.staging import MEMORY, StagedFile, StagedTables
from plexlens.pdb.writing import told_of_disk, writing
from plexlens.progress import Progress, silent

# Tables that say what a source was like; a source with rows in no other gave nothing usable.
_ABOUT_THE_SOURCE = {"damage", plausible.TABLE}

EXPIRED = "rows_expired"
"""The note that counts rows of days that retention has removed: they were left out."""


@dataclass(frozen=True, slots=True)
class _Identity:
    """File attributes compared before and after reading, to detect that a file changed meanwhile."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> _Identity:
        status = path.stat()
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


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
) -> list[IngestResult]:
    """Load sources into a PDB one after another, each completely or not at all.

    Parameters
    ----------
    paths
        Files, and folders of which every file (also deeper) that is a known source is taken.
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
    listed = [paths] if isinstance(paths, str | Path) or is_object(paths) else list(paths)
    for dump in filter(is_object, listed):
        raise UsageError(
            file=str(dump),
            what="dumps are read from files, not from object storage",
            remedy="copy the dump to a disk of this machine, or mount the storage",
        )
    results = sources.expand(listed)
    folders = tuple(map(Path, layouts))
    bounds = plausible.read_bounds(folders)
    bar = progress or silent
    job = Job(pdb, bar, folders, codepage, leap_seconds, memory, bounds, names or {}, tell=tell, expansion=expansion)
    with writing(pdb, wait=wait, tell=tell):
        for path, named in results:
            try:
                job.results.append(load(path, job))
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


@dataclass(frozen=True, slots=True)
class _Source:
    """A file that is read into the PDB, and the source whose place it takes, if the PDB held it before."""

    path: Path
    name: str
    kind: sources.SourceKind
    state: _Identity
    sample: str
    ingest_id: str
    writer: str
    started: datetime
    before: Ingest | None

    @property
    def size(self) -> int:
        return self.state.size


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
    kind = sources.recognise(path)
    state = _identity(path)
    sample = sample_of(path, state.size)
    ingest: Ingest | None = None
    if job.pdb.manifest.may_hold(sample):
        stage = f"checking {path.name}"
        ingest = job.pdb.manifest.find(hash_of(path, lambda done: job.progress(done, state.size, stage)))
        if ingest is not None and not again and not ingest.incomplete:
            return IngestResult(str(path), Outcome.ALREADY_HELD, ingest)
    name = job.names.get(path, str(path))
    ingest_id = ingest.id if ingest else job.pdb.manifest.new_id(sample)
    # No file of another commit has its name: one that went may come back by an undo.
    writer = job.pdb.disk.distinct(f"{ingest_id}.{job.pdb.head.commit + 1}")
    source = _Source(path, name, kind, state, sample, ingest_id, writer, datetime.now(UTC), ingest)
    folder = staging_folder(job.pdb, writer)
    horizons = job.pdb.manifest.horizons if job.horizons else {}
    tables = told_of_disk(
        job.pdb, lambda: StagedTables(folder, writer, job.pdb.disk, memory=job.memory, horizons=horizons)
    )
    try:
        with hash_meanwhile(path) as sha256:
            options = ReadOptions(
                ingest_id,
                lambda day: job.pdb.held_hashes("smf_record", [partition_of(day)], without=ingest_id),
                job.layouts,
                job.codepage,
                job.leap_seconds,
                job.expansion,
            )
            reading = kind.read(path, options)
            _stage(source, reading, tables, job)
            _check_unchanged(path, state)
            content = sha256()
        _check_unchanged(path, state)
        job.progress(0, 0, f"storing {path.name}")
        finding = _records_once(source, reading, tables, job)
        new = _is_anything_new(path, reading, finding, tables, job.pdb)
        marks = (*_mark_implausible(path, tables, job), *_expired(tables))
        entry = _entry(source, content, reading, finding, job)
        entry = _store(source, entry, marks, tables, job.pdb)
    except BaseException:
        tables.abandon()
        if not job.pdb.disk.shared:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(PlexlensError):
                job.pdb.refresh()
            raise
        # Whether a commit that failed had got past its moment, only the manifest on disk knows.
        job.pdb.refresh()
        told_of_disk(job.pdb, lambda: clean_leftovers(job.pdb))
        raise
    if ingest is not None:
        return IngestResult(str(path), Outcome.READ_AGAIN, entry)
    return IngestResult(str(path), Outcome.ADDED if new else Outcome.NOTHING_NEW, entry)


def _stage(source: _Source, reading: Reading, tables: StagedTables, job: Job) -> None:
    """Read the whole source into the staged tables; its damage becomes a table of its own."""
    path, size, stage = source.path, source.size, f"reading {source.path.name}"
    job.progress(0, size, stage)
    for table, batch in reading:
        _add(path, tables, table, batch, job.pdb)
        position = getattr(reading, "position", None)
        if position is not None:
            job.progress(min(position, size), size, stage)
    if reading.damage:
        damage = [replace(damage, file=source.name) for damage in reading.damage]
        _add(path, tables, "damage", damage_batch(damage), job.pdb)
    job.progress(size, size, stage)


def _add(path: Path, tables: StagedTables, table: str, batch: pa.RecordBatch, pdb: Pdb) -> None:
    try:
        told_of_disk(pdb, lambda: tables.add(table, batch))
    except TypeConflictError as error:
        raise SchemaConflictError(
            file=str(path), what=f"table {table}: {error}", remedy="correct the layout that defines this table"
        ) from error


def _check_unchanged(path: Path, state: _Identity) -> None:
    if _identity(path) != state:
        raise SourceChangedError(
            file=str(path),
            what="the file changed while it was read; nothing was stored",
            remedy="ingest it when the program that writes it has ended",
        )


def _records_once(source: _Source, reading: Reading, tables: StagedTables, job: Job) -> Found:
    """Count the records of a source and those already held, which are left out unless the module has done so."""
    rows = source.kind.once
    if rows is not None:
        horizon = job.pdb.manifest.horizons.get(rows.inventory, "") if job.horizons else ""
        hashes = partial(job.pdb.held_hashes, without=source.ingest_id)
        return told_of_disk(job.pdb, lambda: leave_out_held(tables, rows, hashes, horizon))
    summary = reading.summary
    return Found(int(summary.get("measurements", 0)), int(summary.get("duplicates", 0)))


def _mark_implausible(path: Path, tables: StagedTables, job: Job) -> tuple[Note, ...]:
    """Record the values above their bounds in a table of their own; return their counts as notes."""
    checker = Plausibility(job.names.get(path, str(path)), job.bounds)
    columns = {
        table: {column.name: column.unit for variant in variants for column in variant}
        for table, variants in tables.variants.items()
        if table in checker.tables
    }
    if not columns:
        return ()
    staged: dict[str, list[Path]] = {}
    for file in told_of_disk(job.pdb, tables.flush):
        staged.setdefault(file.table, []).append(file.staged)
    notes = []
    for table in columns:
        marked = checker.marked_in_files(table, staged, columns)
        for batch in marked.to_batches():
            _add(path, tables, plausible.TABLE, batch, job.pdb)
        notes += [
            Note(plausible.NOTE, name, field.upper(), count, severity=Severity.ERROR)
            for name, field, count in plausible.counted(marked)
        ]
    return tuple(notes)


def _expired(tables: StagedTables) -> tuple[Note, ...]:
    """Counts of rows that were left out because their days have expired."""
    return tuple(Note(EXPIRED, table, count=rows) for table, rows in sorted(tables.expired.items()))


def _is_anything_new(path: Path, reading: Reading, finding: Found, tables: StagedTables, pdb: Pdb) -> bool:
    """Whether the source brought new records; if not, only the facts about the source are kept."""
    if finding.duplicates and finding.duplicates == finding.records:
        told_of_disk(pdb, lambda: tables.keep_only(_ABOUT_THE_SOURCE))
        return False
    if any(count and table not in _ABOUT_THE_SOURCE for table, count in tables.rows.items()):
        return True
    if tables.expired:
        told_of_disk(pdb, lambda: tables.keep_only(_ABOUT_THE_SOURCE))
        return False
    first = next((f": {damage.reason}, {damage.detail}" for damage in reading.damage), "")
    raise NothingUsableError(
        file=str(path),
        what=f"the file contains nothing usable{first}",
        remedy=reading.damage[0].remedy if reading.damage else "check that it is the right file and complete",
    )


def _entry(source: _Source, sha256: str, reading: Reading, finding: Found, job: Job) -> Ingest:
    """The source's entry in the manifest, without its rows."""
    summary = reading.summary
    first, last = summary.get("span") or (None, None)
    return Ingest(
        id=source.ingest_id,
        sha256=sha256,
        sample=source.sample,
        file=source.name,
        size=source.size,
        kind=source.kind.name,
        started_at=source.started.isoformat(),
        finished_at=datetime.now(UTC).isoformat(),
        rows={},
        records=dict(summary.get("records", {})),
        span=(first, last),
        duplicates=finding.duplicates,
        damage=_damage_counts(reading),
        notes=tuple(Note(**note) for note in summary.get("notes", ())),
        path=str(source.path.absolute()),
        options={"codepage": job.codepage, "leap_seconds": job.leap_seconds} | job.expansion.noted(),
        revision=source.before.revision + 1 if source.before else 0,
    )


def _store(source: _Source, entry: Ingest, marks: tuple[Note, ...], tables: StagedTables, pdb: Pdb) -> Ingest:
    """Commit the staged tables; return the source's entry in the manifest."""
    files = told_of_disk(pdb, tables.finish)
    entry = replace(entry, rows=dict(sorted(tables.rows.items())), notes=(*entry.notes, *marks))
    variants = Variants({table: list(listed) for table, listed in tables.variants.items()})
    gone = pdb.manifest.files_of(entry.id) if source.before else []
    left = told_of_disk(pdb, lambda: _rows_of_others(gone, source, variants, pdb))
    data_files = [
        *(file.data_file((entry.id,)) for file in files),
        *(file.data_file(tuple(source for source in before.sources if source != entry.id)) for before, file in left),
    ]
    what = f"{'rebuild' if source.before else 'ingest'} {source.path.name}"
    change = Change(what, (entry,), variants=variants.of(), files=tuple(data_files), gone=tuple(gone))
    try:
        staged = [*files, *(file for _, file in left)]
        right = partial(_is_still_right, source, staged, pdb)
        told_of_disk(pdb, lambda: commit(pdb, change, staged, source.writer, keep=pdb.keep, still_right=right))
    except TypeConflictError as error:
        raise SchemaConflictError(
            file=str(source.path),
            what=f"it conflicts with the contents of the PDB: {error}",
            remedy="correct the layout that defines this column, or ingest the file into a separate PDB",
        ) from error
    return entry


def _is_still_right(source: _Source, staged: Sequence[StagedFile], pdb: Pdb, before: Manifest, now: Manifest) -> bool:
    """Whether a reading keeps each record once, now that another writer has committed: none of its records came."""
    if source.before is not None or now.may_hold(source.sample) or now.source(source.ingest_id) is not None:
        return False
    if now.horizons != before.horizons:
        return False
    inventories = {"smf_record", *(kind.once.inventory for kind in sources.SOURCES if kind.once is not None)}
    for table in inventories:
        days = {file.day for file in staged if file.table == table}
        there = {file.path for file in before.files.get(table, ()) if file.day in days}
        files = [file for file in now.files.get(table, ()) if file.day in days]
        if not there <= {file.path for file in files}:
            # What was left out as a duplicate may be gone.
            return False
        came = [pdb.path / file.path for file in files if file.path not in there]
        own = [file.staged for file in staged if file.table == table]
        if came and len(np.intersect1d(hashes_in(came), hashes_in(own))):
            return False
    return True


def _rows_of_others(
    files: Sequence[DataFile], source: _Source, variants: Variants, pdb: Pdb
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


def _damage_counts(reading: Reading) -> dict[str, int]:
    """Damage by reason, as counted by the reader; the damage table may hold only the first rows of very many."""
    counted: dict[str, int] = dict(reading.summary.get("damage", {}))
    if not counted:
        for damage in reading.damage:
            counted[damage.reason] = counted.get(damage.reason, 0) + 1
    return counted


def _identity(path: Path) -> _Identity:
    try:
        return _Identity.of(path)
    except OSError as error:
        raise SourceChangedError(
            file=str(path),
            what=f"the file disappeared while it was read ({error.strerror}); nothing was stored",
            remedy="ingest it from a place where it stays",
        ) from error
