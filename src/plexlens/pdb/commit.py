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

In object storage nothing keeps two writers apart. Step 5 is a put on condition that the manifest is still the one that
the writer read: one that was overtaken looks at what the others brought, and either repeats step 4 and 5 or gives up.
No step before 5 touches what others can see, files whose time is over are removed after it, and what a dead writer left
is removed by a repair when it is older than any writer can be.
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

from plexlens.errors import PlexlensError, StorageError
from plexlens.pdb import head as heads
from plexlens.pdb.durable import Disk, OvertakenError
from plexlens.pdb.entries import DataFile
from plexlens.pdb.head import LOG, Dropped, Head, Part
from plexlens.pdb.lock import is_held
from plexlens.pdb.manifest import NAME, Change, Line, Manifest
from plexlens.pdb.place import is_object
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


def staging_folder(pdb: Pdb, writer: str) -> Path:
    """Folder that holds the files of a writer until they are committed."""
    return pdb.disk.staging(pdb.path) / writer


def commit(
    pdb: Pdb,
    change: Change,
    staged: Sequence[StagedFile] = (),
    writer: str = "",
    *,
    fold: bool = False,
    keep: timedelta = KEEP,
    still_right: Callable[[Manifest, Manifest], bool] | None = None,
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
    still_right
        Told what the PDB held and what it holds, after another writer has overtaken this one: whether the change is
        right all the same. Without it the change is given up then.

    Raises
    ------
    TypeConflictError
        Columns do not go together with those of the PDB; nothing was done.
    OvertakenError
        Another writer has changed the PDB in a way that matters; nothing was done.
    OSError
        A step failed. Whether the change is in, the manifest on disk says; `clean_leftovers` removes the rest.
    """
    lines = pdb.manifest.lines_of(change)
    _move(pdb.path, staged, writer, pdb.disk)
    while True:
        before = pdb.manifest
        try:
            _commit_lines(pdb, change, lines, fold=fold, keep=keep)
            break
        except OvertakenError:
            pdb.refresh()
            if still_right is None or not still_right(before, pdb.manifest):
                for file in staged:
                    (pdb.path / file.target).unlink(missing_ok=True)
                raise
            lines = pdb.manifest.lines_of(change)
    if writer:
        with suppress(OSError):
            shutil.rmtree(staging_folder(pdb, writer))
    tell(pdb, Committed(change, before, pdb.manifest))


def _commit_lines(pdb: Pdb, change: Change, lines: Sequence[Line], *, fold: bool, keep: timedelta) -> None:
    """Steps 4 and 5 of a commit."""
    folder, disk = pdb.path, pdb.disk
    manifest = pdb.manifest.with_lines(lines)
    disk.make_folder(folder / LOG)
    number = pdb.head.commit + 1
    parts: tuple[Part, ...]
    if fold:
        parts = (heads.whole(folder, manifest.lines(), number, FOLDED, disk),)
    else:
        parts = heads.appended(folder, pdb.head.parts, lines, number, disk)
    _replace_head(pdb, replace(_new_head(pdb, change.what), parts=parts), manifest, change.gone, keep)


def restore(pdb: Pdb, head: Head, manifest: Manifest, what: str, keep: timedelta = KEEP) -> None:
    """Bring back the state of a former head, by a commit. Call it with the write lock held.

    Raises
    ------
    OSError
        A step failed; the manifest on disk says what the PDB holds.
    """
    data_files = {file.path: file for file in manifest.every_file()}
    gone = tuple(file for file in pdb.manifest.every_file() if file.path not in data_files)
    before = pdb.manifest
    _replace_head(pdb, replace(_new_head(pdb, what), parts=head.parts, restores=head.state), manifest, gone, keep)
    there = {file.path for file in before.every_file()}
    files = tuple(file for path, file in data_files.items() if path not in there)
    tell(pdb, Committed(Change(what, files=files, gone=gone), before, manifest))


def tell(pdb: Pdb, committed: Committed) -> None:
    """Notify the listeners of a commit."""
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
    if disk.shared:
        source = folder / STAGING / writer
        disk.write(source / JOURNAL, json.dumps([file.target for file in staged]))
        disk.sync_folder(source.parent)
    targets = sorted({(folder / file.target).parent for file in staged})
    for target in targets:
        disk.make_folder(target)
    disk.move_all((file.staged, folder / file.target) for file in staged)
    for target in targets:
        disk.sync_folder(target)


def _replace_head(pdb: Pdb, head: Head, manifest: Manifest, gone: Sequence[DataFile], keep: timedelta) -> None:
    """Replace `manifest.json`; what the new head no longer names is kept for a while. The PDB shows both then."""
    folder, disk = pdb.path, pdb.disk
    named = {part.name for part in head.parts}
    parts = tuple(part.name for part in pdb.head.parts if part.name not in named)
    if gone or parts:
        listing = ""
        if gone:
            listing = f"{disk.distinct(f'{head.commit:08d}')}.gone"
            disk.write(folder / LOG / listing, json.dumps([file.path for file in gone]))
        size = sum(file.bytes for file in gone)
        head = replace(head, dropped=(*head.dropped, Dropped(head.commit, head.at, parts, listing, len(gone), size)))
    disk.make_folder(folder / heads.SNAPSHOTS)
    before = heads.snapshot(folder, pdb.head.commit)
    if pdb.head.version == heads.VERSION and not before.exists():
        disk.write(before, pdb.head.text())
    over: list[Path] = []
    head = replace(head, dropped=tuple(_kept(pdb, head, keep, over)))
    if disk.shared:
        _remove(over, folder)
    head = replace(head, tag=disk.replace(folder / NAME, head.text(), pdb.head.tag))
    # At once, and the head last: `refresh` would not read a PDB with the new head and the old manifest again, and after
    # Ctrl-C its new files would be taken for leftovers.
    pdb.manifest = manifest
    pdb.head = head
    if not disk.shared:
        # Before, a writer that is faster could still have named them.
        with suppress(OSError, PlexlensError):
            _remove(over, folder)
    with suppress(OSError, StorageError):
        disk.write(heads.snapshot(folder, head.commit), head.text())


def _remove(paths: Iterable[Path], folder: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
        if path.suffix == ".parquet" and not is_object(path):
            remove_empty(path.parent, up_to=folder / TABLES)


def _kept(pdb: Pdb, head: Head, keep: timedelta, over: list[Path]) -> list[Dropped]:
    """Dropped files that are still kept; ``over`` gets the others, after the snapshots that need them.

    A file is removed before the head that no longer names it is written: if that fails, the next commit tries again.
    """
    folder = pdb.path
    last = datetime.now(UTC) - keep
    old = [entry for entry in head.dropped if _moment(entry.at) <= last]
    # A state before a commit needs what the commit dropped.
    least = max((entry.commit for entry in old), default=0)
    kept = [number for number in heads.snapshots(folder) if number >= least]
    first = min(kept[-MOST_SNAPSHOTS:], default=head.commit)
    for number in heads.snapshots(folder):
        if number < first and number != pdb.head.commit:
            over.append(heads.snapshot(folder, number))
    # An undo may have brought something back, and another commit dropped it again.
    purge = {path for entry in old for path in listed(folder, entry)}
    if purge:
        purge -= {file.path for file in pdb.manifest.every_file()}
        purge -= {path for entry in head.dropped if entry not in old for path in listed(folder, entry)}
        over += [folder / path for path in sorted(purge)]
    # A part of the log is needed by the snapshots before the commit that dropped it, and by nobody else.
    left = [
        replace(entry, parts=entry.parts if entry.commit > first else (), listing="" if entry in old else entry.listing)
        for entry in head.dropped
    ]
    needed = {part.name for part in head.parts} | {name for entry in left for name in (*entry.parts, entry.listing)}
    for name in {name for entry in head.dropped for name in (*entry.parts, entry.listing)} - needed:
        over.append(folder / LOG / name)
    return [entry for entry in left if entry.parts or entry.listing]


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
    return len(parts) in (5, 6) and parts[0] == TABLES and ".." not in parts and parts[-1].endswith(".parquet")


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
    if not pdb.disk.shared:
        return []
    cleaned = []
    kept: set[str] | None = None
    for staged in stale_staging(pdb):
        targets = _journal(staged)
        if targets and kept is None:
            kept = {file.path for file in pdb.manifest.every_file()}
            kept.update(path for entry in pdb.head.dropped for path in listed(pdb.path, entry))
        for target in targets:
            if kept is not None and target not in kept:
                path = pdb.path / target
                path.unlink(missing_ok=True)
                remove_empty(path.parent, up_to=pdb.path / TABLES)
        cleaned.append(staged.name)
        shutil.rmtree(staged)
    for path in stray_parts(pdb.path, pdb.head, pdb.disk):
        path.unlink(missing_ok=True)
    return cleaned


def stale_staging(pdb: Pdb) -> list[Path]:
    """The staging folders in the PDB that no living writer uses."""
    staging = pdb.path / STAGING
    if not pdb.disk.shared or not staging.is_dir():
        return []
    return [path for path in sorted(staging.iterdir()) if path.is_dir() and not is_held(path / ALIVE)]


def stray_parts(folder: Path, head: Head, disk: Disk) -> list[Path]:
    """Files in the folder of the log that the head does not name: what a commit that did not complete left."""
    log = folder / LOG
    if not log.is_dir():
        return []
    named = {part.name for part in head.parts}
    named.update(name for entry in head.dropped for name in (*entry.parts, entry.listing))
    return [path for path in sorted(log.iterdir()) if path.name not in named and disk.is_left_behind(path)]


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
