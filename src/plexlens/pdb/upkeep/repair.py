"""Repair of a damaged PDB from its intact parts.

Nothing that may hold good data is destroyed: files that do not belong to the PDB, or are damaged, are moved to the
folder `set-aside`. Only leftovers of writers that did not complete are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from plexlens.errors import NotAPdbError, PdbDamagedError, PdbVersionError, PlexlensError
from plexlens.pdb import format_1
from plexlens.pdb import head as heads
from plexlens.pdb.commit import STAGING, TABLES, commit, listed, remove_empty, stale_staging, stray_parts
from plexlens.pdb.database import Pdb
from plexlens.pdb.entries import Ingest
from plexlens.pdb.head import Head
from plexlens.pdb.lock import LOCK, unheard, writer_lock
from plexlens.pdb.manifest import NAME, Change, Manifest
from plexlens.pdb.place import disk_of, is_object, location
from plexlens.pdb.state import read_state
from plexlens.pdb.upkeep.verify import Verification, verify
from plexlens.pdb.writing import told_of_disk, writing
from plexlens.progress import Progress, silent

SET_ASIDE = "set-aside"
"""Folder in a PDB for files that no longer belong to it."""


@dataclass(frozen=True)
class Diagnosis:
    """Defects of a PDB, each of which a repair removes.

    Attributes
    ----------
    manifest : str
        What is wrong with the manifest; empty if nothing is.
    falls_back_to : str
        The file whose state takes its place.
    lost : str
        What the state that takes its place lacks; empty if that is nothing.
    staging : tuple of str
        Folders that writers which did not complete have left.
    strays : tuple of str
        Parts of the log that no manifest names.
    orphans : tuple of str
        Parquet files that no manifest names.
    checked : Verification or None
        Files that are missing or damaged.
    sources : tuple of Ingest
        Sources that have lost rows.
    """

    manifest: str = ""
    falls_back_to: str = ""
    lost: str = ""
    staging: tuple[str, ...] = ()
    strays: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    checked: Verification | None = None
    sources: tuple[Ingest, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether there is nothing to repair."""
        broken = [problem for problem in self.checked.problems if problem.file] if self.checked else []
        return not (self.manifest or self.staging or self.strays or self.orphans or broken)


def examine(path: Path, *, progress: Progress = silent) -> Diagnosis:
    """Find the defects of a PDB; nothing is changed.

    Raises
    ------
    NotAPdbError
        There is no PDB.
    PdbVersionError
        A later Plexlens wrote it.
    PdbDamagedError
        No state of it can be read.
    """
    path = location(path)
    if not path.is_dir() or not any((path / name).exists() for name in (NAME, heads.SNAPSHOTS, format_1.PREVIOUS)):
        raise NotAPdbError(file=str(path), what="there is no PDB", remedy="name the folder of a performance database")
    path = path.absolute()
    try:
        pdb, wrong, results = Pdb(path, read_state(path), disk_of(path)), "", None
    except PdbVersionError:
        raise
    except PlexlensError as error:
        results = _last_good(path)
        if results is None:
            raise PdbDamagedError(
                file=error.file,
                what=f"{error.what}; no state before it can be read either",
                remedy="restore the PDB from a copy, or ingest the dumps into a new one",
            ) from error
        pdb, wrong = Pdb(path, results[1], disk_of(path)), error.what
    checked = verify(pdb, progress=progress)
    lost = {source for problem in checked.problems if problem.file for source in problem.file.sources}
    return Diagnosis(
        manifest=wrong,
        falls_back_to=str(results[0].relative_to(path)) if results else "",
        lost=_lost(path, pdb.head) if results else "",
        staging=tuple(entry.name for entry in stale_staging(pdb)),
        strays=tuple(stray_part.name for stray_part in stray_parts(path, pdb.head, pdb.disk)),
        orphans=tuple(orphans(pdb)),
        checked=checked,
        sources=tuple(ingest for ingest in pdb.manifest.ingests if ingest.id in lost),
    )


def _last_good(path: Path) -> tuple[Path, tuple[Head, Manifest]] | None:
    for number in reversed(heads.snapshots(path)):
        try:
            head = heads.read_snapshot(path, number)
            return heads.snapshot(path, number), (head, heads.read_log(path, head))
        except (PlexlensError, OSError):
            continue
    previous = path / format_1.PREVIOUS
    try:
        content = heads.read_file(previous)
        if heads.version_of(previous, content) == 1:
            return previous, (Head(version=1), format_1.manifest_of(previous, content))
    except PlexlensError:
        pass
    return None


def _lost(path: Path, head: Head) -> str:
    """Commits that came after a state, as far as files show them; empty if none did."""
    if head.version == 1:
        return "the last ingest"
    last = max([head.commit, *heads.snapshots(path), *_commits(path)])
    return f"commits {head.commit + 1} to {last}" if last > head.commit else ""


def _commits(path: Path) -> Iterator[int]:
    log = path / heads.LOG
    for entry in log.iterdir() if log.is_dir() else ():
        if entry.name[:8].isdigit():
            yield int(entry.name[:8])


def orphans(pdb: Pdb) -> list[str]:
    """Parquet files that neither the PDB nor a state that is kept for an undo names, and no writer that is at work."""
    named = {file.path for file in pdb.manifest.every_file()}
    named.update(path for entry in pdb.head.dropped for path in listed(pdb.path, entry))
    for number in heads.snapshots(pdb.path):
        try:
            manifest = heads.read_log(pdb.path, heads.read_snapshot(pdb.path, number))
        except (PlexlensError, OSError):
            continue
        named.update(file.path for file in manifest.every_file())
    return [path for path in _there(pdb.path) if path not in named and pdb.disk.is_left_behind(pdb.path / path)]


def _there(path: Path) -> list[str]:
    # In object storage also what executors staged for a writer that has died: no folder of it is locked.
    folders = (TABLES, STAGING) if is_object(path) else (TABLES,)
    return sorted(
        str(file.relative_to(path).as_posix())
        for folder in folders
        for file in (path / folder).rglob("*")
        if file.is_file()
    )


def repair(
    path: Path,
    *,
    wait: float = 0.0,
    tell: Callable[[str], None] = unheard,
    progress: Progress = silent,
) -> Diagnosis:
    """Do what `examine` finds necessary.

    Parameters
    ----------
    path
        The PDB.
    wait
        Seconds to wait for a writer.
    tell
        Told, as sentences, whom it waits for.
    progress
        Told how many bytes are verified.

    Returns
    -------
    Diagnosis
        What was wrong.

    Raises
    ------
    PdbLockedError, PdbWriteError
        The PDB cannot be written.
    PlexlensError
        As `examine`.
    """
    path = path.absolute()
    diagnosis = examine(path, progress=progress)
    if diagnosis.is_well:
        return diagnosis
    if diagnosis.manifest:
        _fall_back(path, wait, tell)
    pdb = Pdb.open(path)
    aside = path / SET_ASIDE / datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    with writing(pdb, wait=wait, tell=tell):
        broken = [problem.file for problem in verify(pdb).problems if problem.file]
        told_of_disk(pdb, lambda: _set_aside(path, orphans(pdb), aside))
        if broken:
            lost = {source for file in broken for source in file.sources}
            sources = [replace(ingest, incomplete=True) for ingest in pdb.manifest.ingests if ingest.id in lost]
            change = Change(f"repair: {len(broken):,} files are lost", tuple(sources), gone=tuple(broken))
            told_of_disk(pdb, lambda: commit(pdb, change, fold=True, keep=pdb.keep))
            told_of_disk(pdb, lambda: _set_aside(path, [file.path for file in broken], aside))
    return diagnosis


def _fall_back(path: Path, wait: float, tell: Callable[[str], None]) -> None:
    """Put the last good state in the place of a manifest that cannot be read."""
    disk = disk_of(path)
    with writer_lock(path / LOCK, pdb=path, wait=wait, tell=tell) if disk.shared else nullcontext():
        good = _last_good(path)
        if good is None:
            return
        spoilt = path / NAME
        text = good[0].read_text(encoding="utf-8")
        pdb = Pdb(path, good[1], disk)

        def replaced() -> None:
            tag = ""
            if spoilt.exists():
                content, tag = disk.read(spoilt)
                disk.make_folder(path / SET_ASIDE)
                moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
                disk.write_bytes(path / SET_ASIDE / f"{NAME}.{moment}", content)
            disk.replace(spoilt, text, tag)

        told_of_disk(pdb, replaced)


def _set_aside(path: Path, files: list[str], aside: Path) -> None:
    disk = disk_of(path)
    for name in files:
        if (path / name).exists():
            disk.make_folder((aside / name).parent)
            disk.move(path / name, aside / name)
            if disk.shared:
                remove_empty((path / name).parent, up_to=path / TABLES)
