"""Read a source into staged files: everything of an ingest before the commit.

It needs no lock, and changes nothing that a reader of the PDB sees. So the process that reads need not be the process
that commits: what is staged says which state of the PDB it was read against, and travels from one to the other.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa

from plexlens.errors import NothingUsableError, SchemaConflictError, SourceChangedError
from plexlens.ingest import kinds as sources
from plexlens.ingest import plausible
from plexlens.ingest.plausible import Plausibility
from plexlens.ingest.source import Reading, ReadOptions, Severity, damage_batch
from plexlens.pdb.commit import staging_folder
from plexlens.pdb.content import hash_meanwhile, hash_of, sample_of
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import Ingest, Note
from plexlens.pdb.job import IngestResult, Job, Outcome
from plexlens.pdb.manifest import Manifest, Variants
from plexlens.pdb.partition import partition_of
from plexlens.pdb.records_once import Found, leave_out_held
from plexlens.pdb.schema import TypeConflictError
from plexlens.pdb.staging import StagedFile, StagedTables
from plexlens.pdb.writing import told_of_disk

# Tables that say what a source was like; a source with rows in no other gave nothing usable.
_ABOUT_THE_SOURCE = {"damage", plausible.TABLE}

#: Tables that list the records of a PDB, by which a record in several sources is known.
INVENTORIES = frozenset({"smf_record", *(kind.once.inventory for kind in sources.SOURCES if kind.once is not None)})

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


@dataclass(frozen=True, slots=True)
class Source:
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
        """Bytes of the file."""
        return self.state.size


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a PDB that a source was read against.

    Attributes
    ----------
    commit : int
        Its number.
    horizons : dict
        By table the first day that it took.
    inventories : frozenset of str
        Files of its `INVENTORIES`, of the days of the source.
    """

    commit: int
    horizons: dict[str, str]
    inventories: frozenset[str]

    @classmethod
    def of(cls, pdb: Pdb, staged: Iterable[StagedFile]) -> Seen:
        """The present state, as far as it matters to these files."""
        files = inventory_files(pdb.manifest, staged)
        return cls(pdb.head.commit, dict(pdb.manifest.horizons), frozenset(path for _, path in files))


def inventory_files(manifest: Manifest, staged: Iterable[StagedFile]) -> list[tuple[str, str]]:
    """Table and path of the files that list records of the days of these files."""
    days: dict[str, set[str]] = {}
    for file in staged:
        if file.table in INVENTORIES:
            days.setdefault(file.table, set()).add(file.day)
    return [
        (table, file.path)
        for table, of_table in sorted(days.items())
        for file in manifest.files.get(table, ())
        if file.day in of_table
    ]


@dataclass(frozen=True, slots=True)
class Staged:
    """A source that is read and not committed.

    Attributes
    ----------
    source : Source
        The file.
    entry : Ingest
        Its entry in the manifest.
    variants : dict
        Sets of columns of its files, by table.
    files : tuple of StagedFile
        Its files, on the device.
    is_new : bool
        Whether it brought new records.
    seen : Seen
        What it was read against.
    """

    source: Source
    entry: Ingest
    variants: Variants
    files: tuple[StagedFile, ...]
    is_new: bool
    seen: Seen


def read(path: Path, job: Job, *, again: bool = False) -> IngestResult | Staged:
    """Read a source into staged files, against the PDB as `job` shows it.

    Parameters
    ----------
    path
        The file.
    job
        How it is read, and where it goes.
    again
        Whether a file that the PDB holds is read again.

    Returns
    -------
    IngestResult or Staged
        The result for a file that the PDB holds already, of which nothing was read.

    Raises
    ------
    PlexlensError
        It cannot be read, holds nothing usable, or its files cannot be written; nothing of it is left.
    """
    kind = sources.recognise(path)
    state = _identity(path)
    sample = sample_of(path, state.size)
    before: Ingest | None = None
    if job.pdb.manifest.may_hold(sample):
        stage = f"checking {path.name}"
        before = job.pdb.manifest.find(hash_of(path, lambda done: job.progress(done, state.size, stage)))
        if before is not None and not again and not before.incomplete:
            return IngestResult(str(path), Outcome.ALREADY_HELD, before)
    name = job.names.get(path, str(path))
    ingest_id = before.id if before else job.pdb.manifest.new_id(sample)
    # No file of another commit has its name: one that went may come back by an undo.
    writer = job.pdb.disk.distinct(".".join(filter(None, [ingest_id, str(job.pdb.head.commit + 1), job.reader])))
    source = Source(path, name, kind, state, sample, ingest_id, writer, datetime.now(UTC), before)
    folder = staging_folder(job.pdb, writer)
    horizons = job.pdb.manifest.horizons if job.horizons else {}
    tables = told_of_disk(
        job.pdb, lambda: StagedTables(folder, writer, job.pdb.disk, memory=job.memory, horizons=horizons)
    )
    try:
        return _read(source, tables, job)
    except BaseException:
        tables.abandon()
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _read(source: Source, tables: StagedTables, job: Job) -> Staged:
    path = source.path
    with hash_meanwhile(path) as sha256:
        options = ReadOptions(
            source.ingest_id,
            lambda day: job.pdb.held_hashes("smf_record", [partition_of(day)], without=source.ingest_id),
            job.layouts,
            job.codepage,
            job.leap_seconds,
            job.expansion,
            job.threads,
        )
        reading = source.kind.read(path, options)
        _stage(source, reading, tables, job)
        _check_unchanged(path, source.state)
        content = sha256()
    _check_unchanged(path, source.state)
    job.progress(0, 0, f"storing {path.name}")
    finding = _records_once(source, reading, tables, job)
    is_new = _is_anything_new(path, reading, finding, tables, job.pdb)
    marks = (*_mark_implausible(path, tables, job), *_expired(tables))
    entry = _entry(source, content, reading, finding, job)
    files = tuple(told_of_disk(job.pdb, tables.finish))
    entry = replace(entry, rows=dict(sorted(tables.rows.items())), notes=(*entry.notes, *marks))
    return Staged(source, entry, tables.variants, files, is_new, Seen.of(job.pdb, files))


def _stage(source: Source, reading: Reading, tables: StagedTables, job: Job) -> None:
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


def _records_once(source: Source, reading: Reading, tables: StagedTables, job: Job) -> Found:
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


def _entry(source: Source, sha256: str, reading: Reading, finding: Found, job: Job) -> Ingest:
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
