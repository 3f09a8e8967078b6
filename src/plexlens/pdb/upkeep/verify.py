"""Verification: every file of a PDB against what was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from plexlens.errors import PlexlensError
from plexlens.pdb import head as heads
from plexlens.pdb.content import hash_of
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import DataFile, Ingest
from plexlens.pdb.place import source_at
from plexlens.pdb.rewriting import opened
from plexlens.pdb.schema import TypeConflictError, columns_of
from plexlens.pdb.staging import sha256_of
from plexlens.progress import Progress, silent


@dataclass(frozen=True)
class Origin:
    """A source that lost rows, and whether it can be read again.

    Attributes
    ----------
    source_id, file, sha256 : str
        The source.
    at_hand : str
        Where it is, with the same contents; empty if it is not there, or is another file now.
    """

    source_id: str
    file: str
    sha256: str
    at_hand: str


@dataclass(frozen=True)
class Problem:
    """A file that differs from what was written.

    Attributes
    ----------
    path : str
        The file, from the PDB's folder.
    what : str
        What is wrong with it.
    file : DataFile or None
        Its entry in the manifest; None for a part of the manifest.
    origins : tuple of Origin
        The sources whose rows are in it.
    """

    path: str
    what: str
    file: DataFile | None = None
    origins: tuple[Origin, ...] = ()


@dataclass
class Verification:
    """The result.

    Attributes
    ----------
    files, bytes, rows : int
        What was checked.
    without_hash : int
        Files of format 1, for which no hash was stored: they were read from the first to the last page instead.
    problems : list of Problem
        Files that differ from what was written.
    """

    files: int = 0
    bytes: int = 0
    rows: int = 0
    without_hash: int = 0
    problems: list[Problem] = field(default_factory=list)


def verify(pdb: Pdb, *, progress: Progress = silent) -> Verification:
    """Compare every file with size, hash, rows and columns in the manifest; nothing is changed.

    Parameters
    ----------
    pdb
        The PDB; its manifest and the log were compared with their hashes when it was opened.
    progress
        Told how many bytes are done.
    """
    verification = Verification()
    files = list(pdb.manifest.every_file())
    total = sum(file.bytes for file in files)
    at_hand: dict[str, Origin] = {}
    for file in files:
        progress(verification.bytes, total, "verifying")
        what = wrong_with(pdb, file)
        if what:
            origins = tuple(_origin(pdb, source, at_hand) for source in file.sources)
            verification.problems.append(Problem(file.path, what, file, origins))
        verification.files += 1
        verification.bytes += file.bytes
        verification.rows += file.rows
        verification.without_hash += not file.sha256
    verification.problems += _snapshots(pdb)
    return verification


def wrong_with(pdb: Pdb, file: DataFile) -> str:
    """Defect of a file, in words; empty if it has none."""
    path = pdb.path / file.path
    try:
        size = path.stat().st_size
        if size != file.bytes:
            return f"it has {size:,} bytes where {file.bytes:,} were written"
        if file.sha256 and sha256_of(path) != file.sha256:
            return "its bytes are not those that were written"
        return _wrong_inside(pdb, file)
    except FileNotFoundError:
        return "it is missing"
    except (OSError, pa.ArrowException) as error:
        return f"it cannot be read: {str(error).splitlines()[0]}"


def _wrong_inside(pdb: Pdb, file: DataFile) -> str:
    with opened(pdb.path / file.path) as stored:
        rows = stored.metadata.num_rows
        if rows != file.rows:
            return f"it has {rows:,} rows where {file.rows:,} were written"
        if not _has_columns(stored.schema_arrow, pdb, file):
            return "its columns are not those that the manifest names"
        if not file.sha256:
            for _ in stored.iter_batches():
                pass
    return ""


def _has_columns(schema: pa.Schema, pdb: Pdb, file: DataFile) -> bool:
    try:
        return columns_of(schema) == pdb.manifest.variants[file.table][file.variant]
    except (KeyError, IndexError, TypeConflictError):
        return False


def _origin(pdb: Pdb, source_id: str, known: dict[str, Origin]) -> Origin:
    if source_id not in known:
        source = pdb.manifest.source(source_id)
        where = at_hand(source) if source is not None else None
        known[source_id] = Origin(
            source_id,
            source.file if source else "an unknown source",
            source.sha256 if source else "",
            str(where) if where else "",
        )
    return known[source_id]


def at_hand(source: Ingest) -> Path | None:
    """Path of the file of a source, if it is still there with the same contents."""
    try:
        path = source_at(source.path or source.file)
        if path.is_file() and path.stat().st_size == source.size and hash_of(path) == source.sha256:
            return path
    except (OSError, PlexlensError):
        pass
    return None


def _snapshots(pdb: Pdb) -> Iterator[Problem]:
    for number in heads.snapshots(pdb.path):
        try:
            heads.read_log(pdb.path, heads.read_snapshot(pdb.path, number))
        except PlexlensError as error:
            yield _of_snapshot(pdb, number, error.what)
        except FileNotFoundError as error:
            yield _of_snapshot(pdb, number, f"{error.filename} is missing")


def _of_snapshot(pdb: Pdb, number: int, what: str) -> Problem:
    path = heads.snapshot(pdb.path, number).relative_to(pdb.path)
    return Problem(str(path), f"the state after commit {number} cannot be brought back: {what}")
