"""Commits to a PDB, and cleanup after writers that did not complete.

Steps of a commit, each durable before the next begins:

1. the Parquet files lie complete under ``staging/<writer>/``;
2. ``staging/<writer>/journal.json`` lists where they will go;
3. they are moved there; no reader sees them, since no manifest names them;
4. a new part of the log tells what changes, and files whose time to be kept is over are removed;
5. the manifest that names the part replaces the one before, in one step: *this* is the moment;
6. it is kept as a snapshot too, and ``staging/<writer>/`` is removed.

Killed before 5, the PDB holds nothing of it; after it, all. Leftovers are listed in the journal and removed before the
next commit.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from plexlens.pdb import head as heads
from plexlens.pdb.durable import Disk
from plexlens.pdb.head import LOG, Dropped, Head, Part
from plexlens.pdb.lock import is_held
from plexlens.pdb.manifest import NAME, Change, DataFile, Manifest
from plexlens.pdb.retention import KEEP
from plexlens.pdb.staging import ALIVE, StagedFile

if TYPE_CHECKING:
    from plexlens.pdb.database import Pdb

STAGING = "staging"
TABLES = "tables"
JOURNAL = "journal.json"
"""File in a staging folder that lists where its files go."""

MOST_SNAPSHOTS = 32
"""States that an undo can bring back, at most."""

FOLDED = 99
"""Level of a part of the log that is the whole state: it is never joined with others."""


@dataclass(frozen=True)
class Committed:
    """A commit, as listeners see it.

    Attributes
    ----------
    change : Change
        What changed. `Change.rows_change` is false if files were only merged.
    before, after : Manifest
        What the PDB held, and what it holds.
    """

    change: Change
    before: Manifest
    after: Manifest


LISTENERS: list[Callable[[Pdb, Committed], None]] = []
"""Called after each commit, in the writing process and with the write lock held. What derives data from the rows
registers here to follow soon; since a process can be killed before it is called, it has to compare
`plexlens.pdb.Manifest.parts` with what it derived from as well."""


def staging_folder(folder: Path, writer: str) -> Path:
    """Folder that holds the files of a writer until they are committed."""
    return folder / STAGING / writer


def commit(
    pdb: Pdb,
    change: Change,
    staged: Sequence[StagedFile] = (),
    writer: str = "",
    *,
    fold: bool = False,
    keep: timedelta = KEEP,
) -> None:
    """Make a change part of the PDB. Call it with the write lock held.

    Parameters
    ----------
    pdb
        The PDB; it shows the change afterwards.
    change
        The change.
    staged
        The files of the change, written and on the device.
    writer
        The name of their staging folder.
    fold
        Whether to write the log anew, without its history.
    keep
        How long files that went can be brought back.

    Raises
    ------
    TypeConflictError
        Columns do not go together with those of the PDB; nothing was done.
    OSError
        A step failed. Whether the change is in, the manifest on disk says; `clean_leftovers` removes the rest.
    """
    folder, disk = pdb.path, pdb.disk
    lines = pdb.manifest.lines_of(change)
    manifest = pdb.manifest.with_lines(lines)
    _move(folder, staged, writer, disk)
    disk.make_folder(folder / LOG)
    number = pdb.head.commit + 1
    parts: tuple[Part, ...]
    if fold:
        parts = (heads.whole(folder, manifest.lines(), number, FOLDED, disk),)
    else:
        parts = heads.appended(folder, pdb.head.parts, lines, number, disk)
    _replace_head(pdb, replace(_new_head(pdb, change.what), parts=parts), change.gone, keep)
    before, pdb.manifest = pdb.manifest, manifest
    if writer:
        with suppress(OSError):
            shutil.rmtree(staging_folder(folder, writer))
    tell(pdb, Committed(change, before, manifest))


def restore(pdb: Pdb, head: Head, manifest: Manifest, what: str, keep: timedelta = KEEP) -> None:
    """Bring back the state of a former head, by a commit. Call it with the write lock held.

    Raises
    ------
    OSError
        A step failed; the manifest on disk says what the PDB holds.
    """
    held = {file.path: file for file in manifest.every_file()}
    gone = tuple(file for file in pdb.manifest.every_file() if file.path not in held)
    _replace_head(pdb, replace(_new_head(pdb, what), parts=head.parts, restores=head.state), gone, keep)
    before, pdb.manifest = pdb.manifest, manifest
    there = {file.path for file in before.every_file()}
    files = tuple(file for path, file in held.items() if path not in there)
    tell(pdb, Committed(Change(what, files=files, gone=gone), before, manifest))


def tell(pdb: Pdb, committed: Committed) -> None:
    """Tell the listeners of a commit."""
    for listener in LISTENERS:
        listener(pdb, committed)


def _new_head(pdb: Pdb, what: str) -> Head:
    return replace(pdb.head, commit=pdb.head.commit + 1, at=now(), what=what, restores=None, version=heads.VERSION)


def now() -> str:
    """The time, as heads bear it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _move(folder: Path, staged: Sequence[StagedFile], writer: str, disk: Disk) -> None:
    """Move staged files to where they belong."""
    if not staged:
        return
    source = staging_folder(folder, writer)
    disk.write(source / JOURNAL, json.dumps([file.target for file in staged]))
    disk.sync_folder(source.parent)
    targets = sorted({(folder / file.target).parent for file in staged})
    for target in targets:
        disk.make_folder(target)
    for file in staged:
        disk.move(file.staged, folder / file.target)
    for target in targets:
        disk.sync_folder(target)


def _replace_head(pdb: Pdb, head: Head, gone: Sequence[DataFile], keep: timedelta) -> None:
    """Replace `manifest.json`; what the new head no longer names is kept for a while."""
    folder, disk = pdb.path, pdb.disk
    named = {part.name for part in head.parts}
    parts = tuple(part.name for part in pdb.head.parts if part.name not in named)
    if gone or parts:
        listing = ""
        if gone:
            listing = f"{head.commit:08d}.gone"
            disk.write(folder / LOG / listing, json.dumps([file.path for file in gone]))
        size = sum(file.bytes for file in gone)
        head = replace(head, dropped=(*head.dropped, Dropped(head.commit, head.at, parts, listing, len(gone), size)))
    disk.make_folder(folder / heads.SNAPSHOTS)
    before = heads.snapshot(folder, pdb.head.commit)
    if pdb.head.version == heads.VERSION and not before.exists():
        disk.write(before, pdb.head.text())
    head = replace(head, dropped=tuple(_kept(pdb, head, keep)))
    disk.write(folder / NAME, head.text())
    pdb.head = head
    with suppress(OSError):
        disk.write(heads.snapshot(folder, head.commit), head.text())


def _kept(pdb: Pdb, head: Head, keep: timedelta) -> list[Dropped]:
    """Dropped files that are still kept; the others are removed, and the snapshots that need them before these.

    A file is removed before the head that no longer names it is written: if that fails, the next commit tries again.
    """
    folder = pdb.path
    over = datetime.now(UTC) - keep
    old = [one for one in head.dropped if _moment(one.at) <= over]
    # A state before a commit needs what the commit dropped.
    least = max((one.commit for one in old), default=0)
    kept = [number for number in heads.snapshots(folder) if number >= least]
    first = min(kept[-MOST_SNAPSHOTS:], default=head.commit)
    for number in heads.snapshots(folder):
        if number < first and number != pdb.head.commit:
            heads.snapshot(folder, number).unlink(missing_ok=True)
    # An undo may have brought something back, and another commit dropped it again.
    purge = {path for one in old for path in listed(folder, one)}
    if purge:
        purge -= {file.path for file in pdb.manifest.every_file()}
        purge -= {path for one in head.dropped if one not in old for path in listed(folder, one)}
        for path in sorted(purge):
            (folder / path).unlink(missing_ok=True)
            remove_empty((folder / path).parent, up_to=folder / TABLES)
    # A part of the log is needed by the snapshots before the commit that dropped it, and by nobody else.
    left = [
        replace(one, parts=one.parts if one.commit > first else (), listing="" if one in old else one.listing)
        for one in head.dropped
    ]
    needed = {part.name for part in head.parts} | {name for one in left for name in (*one.parts, one.listing)}
    for name in {name for one in head.dropped for name in (*one.parts, one.listing)} - needed:
        (folder / LOG / name).unlink(missing_ok=True)
    return [one for one in left if one.parts or one.listing]


def listed(folder: Path, dropped: Dropped) -> list[str]:
    """The Parquet files that a commit dropped; none if the list is lost, then a repair finds them."""
    if not dropped.listing:
        return []
    try:
        paths = json.loads((folder / LOG / dropped.listing).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [path for path in paths if is_data_path(path)]


def is_data_path(path: str) -> bool:
    """Whether a path is one of a Parquet file of a PDB: no list permits the removal of anything else."""
    parts = path.split("/")
    return len(parts) == 5 and parts[0] == TABLES and ".." not in parts and parts[4].endswith(".parquet")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def clean_leftovers(pdb: Pdb) -> list[str]:
    """Remove the files of writers that did not complete. Call it with the write lock held.

    Returns
    -------
    list of str
        The names of the writers whose traces were removed.

    Raises
    ------
    OSError
        Something could not be removed. Readers do not see it; the next writer tries again.
    """
    cleaned = []
    kept: set[str] | None = None
    for staged in stale_staging(pdb.path):
        targets = _journal(staged)
        if targets and kept is None:
            kept = {file.path for file in pdb.manifest.every_file()}
            kept.update(path for one in pdb.head.dropped for path in listed(pdb.path, one))
        for target in targets:
            if kept is not None and target not in kept:
                path = pdb.path / target
                path.unlink(missing_ok=True)
                remove_empty(path.parent, up_to=pdb.path / TABLES)
        cleaned.append(staged.name)
        shutil.rmtree(staged)
    for path in stray_parts(pdb.path, pdb.head):
        path.unlink(missing_ok=True)
    return cleaned


def stale_staging(folder: Path) -> list[Path]:
    """The staging folders that no living writer uses."""
    staging = folder / STAGING
    if not staging.is_dir():
        return []
    return [one for one in sorted(staging.iterdir()) if one.is_dir() and not is_held(one / ALIVE)]


def stray_parts(folder: Path, head: Head) -> list[Path]:
    """Files in the folder of the log that the head does not name: what a commit that did not complete left."""
    log = folder / LOG
    if not log.is_dir():
        return []
    named = {part.name for part in head.parts}
    named.update(name for one in head.dropped for name in (*one.parts, one.listing))
    return [path for path in sorted(log.iterdir()) if path.name not in named]


def _journal(staged: Path) -> list[str]:
    path = staged / JOURNAL
    if not path.exists():
        return []
    listed: Iterable[str] = json.loads(path.read_text(encoding="utf-8"))
    # Only files that this writer can have written: a journal does not permit the removal of anything else.
    return [
        target for target in listed if is_data_path(target) and target.rpartition("/")[2].startswith(f"{staged.name}-")
    ]


def remove_empty(folder: Path, *, up_to: Path) -> None:
    """Remove an empty folder and those above it that are empty then."""
    while folder != up_to and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
