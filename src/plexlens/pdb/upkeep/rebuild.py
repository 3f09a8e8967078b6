"""Rebuild: sources that are still at hand are read again, with today's layouts and bounds.

Each source is replaced whole, by one commit; records that another source brought stay with that one. A source that is
not at hand keeps the rows that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plexlens.errors import PdbLockedError, PdbWriteError, PlexlensError, UnreadableInputError, UsageError
from plexlens.ingest import plausible
from plexlens.ingest.compression import Expansion
from plexlens.pdb.content import hash_of, sample_of
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import Ingest
from plexlens.pdb.job import Job
from plexlens.pdb.loading import load
from plexlens.pdb.lock import unheard
from plexlens.pdb.place import files_at
from plexlens.pdb.staging import MEMORY
from plexlens.pdb.upkeep.verify import at_hand
from plexlens.pdb.writing import writing
from plexlens.progress import Progress, silent


@dataclass(frozen=True)
class Rebuilt:
    """Outcome for a source.

    Attributes
    ----------
    source : Ingest
        The source, as the PDB has it now.
    done : bool
        Whether it was read again.
    reason : str
        Why it was not.
    rows_before : int
        Rows that it had.
    """

    source: Ingest
    done: bool
    reason: str = ""
    rows_before: int = 0


@dataclass(frozen=True)
class Wanted:
    """A source, and where its file is; None if it is not at hand."""

    source: Ingest
    path: Path | None


def find(pdb: Pdb, files: Sequence[Path] = (), *, progress: Progress = silent) -> list[Wanted]:
    """The sources to rebuild, in the order in which they were ingested, and where their files are.

    Parameters
    ----------
    pdb
        The PDB.
    files
        Files, and folders of files: only their sources are wanted. By default all sources, where they were ingested.
    progress
        Told how many sources are looked at.

    Raises
    ------
    UsageError
        None of the files is a source of the PDB.
    UnreadableInputError
        There is no such file.
    """
    if not files:
        wanted = []
        for done, source in enumerate(pdb.ingests):
            progress(done, len(pdb.ingests), "looking for sources")
            wanted.append(Wanted(source, at_hand(source)))
        return wanted
    by_hash: dict[str, Path] = {}
    for path, _ in files_at(files):
        try:
            size = path.stat().st_size
        except OSError as error:
            raise UnreadableInputError(
                file=str(path), what=f"the file cannot be read: {error.strerror}", remedy="check its name"
            ) from error
        if pdb.manifest.may_hold(sample_of(path, size)):
            by_hash[hash_of(path)] = path
    results = [Wanted(ingest, by_hash[ingest.sha256]) for ingest in pdb.ingests if ingest.sha256 in by_hash]
    if not results:
        raise UsageError(
            file=", ".join(map(str, files[:3])),
            what="the PDB holds no source with these contents",
            remedy='add it with plexlens ingest; the PDB\'s sources are listed by: plexlens sql PDB "from source"',
        )
    return results


def rebuild(
    pdb: Pdb,
    wanted: Iterable[Wanted],
    *,
    layouts: Sequence[str | Path] = (),
    with_expired: bool = False,
    wait: float = 0.0,
    tell: Callable[[str], None] = unheard,
    progress: Progress = silent,
) -> list[Rebuilt]:
    """Read sources again; the lock is free between two of them.

    Parameters
    ----------
    pdb
        The PDB; it shows the result afterwards.
    wanted
        What `find` found.
    layouts
        Folders with record layouts of the site.
    with_expired
        Whether rows of days come back that retention has removed.
    wait
        Seconds to wait for a writer.
    tell
        Told, as sentences, whom it waits for.
    progress
        As `plexlens.pdb.ingest`.

    Returns
    -------
    list of Rebuilt
        A source that could not be read keeps the rows that it had, with the reason.

    Raises
    ------
    PdbLockedError, PdbWriteError
        The PDB cannot be written; sources before are done.
    """
    folders = tuple(map(Path, layouts))
    bounds = plausible.read_bounds(folders)
    done = []
    for entry in wanted:
        before = sum(file.rows for file in pdb.manifest.files_of(entry.source.id) if len(file.sources) == 1)
        if entry.path is None:
            done.append(Rebuilt(entry.source, done=False, reason="its file is not at hand", rows_before=before))
            continue
        options = entry.source.options
        job = Job(
            pdb,
            progress,
            folders,
            str(options.get("codepage", "1047")),
            bool(options.get("leap_seconds", False)),
            MEMORY,
            bounds,
            horizons=not with_expired,
            expansion=Expansion.of(options),
        )
        try:
            with writing(pdb, wait=wait, tell=tell):
                if pdb.manifest.source(entry.source.id) is None:
                    done.append(Rebuilt(entry.source, done=False, reason="the PDB no longer holds it"))
                    continue
                result = load(entry.path, job, again=True)
        except (PdbLockedError, PdbWriteError):
            raise
        except PlexlensError as error:
            done.append(Rebuilt(entry.source, done=False, reason=str(error), rows_before=before))
            continue
        done.append(Rebuilt(result.ingest or entry.source, done=True, rows_before=sum(entry.source.rows.values())))
    return done
