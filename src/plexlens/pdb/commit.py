"""Commit of an ingest to a PDB, and cleanup after ingests that did not complete.

Steps of a commit, each durable before the next begins:

1. the Parquet files of the ingest lie complete under ``staging/<ingest>/``;
2. ``staging/<ingest>/journal.json`` lists where they will go;
3. they are moved there; no reader sees them, since no manifest names them;
4. the manifest that names them replaces the one before, in one step: *this* is the moment;
5. ``staging/<ingest>/`` is removed.

Killed before 4, the PDB holds nothing of the ingest; after it, all. Leftover files are listed in the journal and
removed before the next ingest.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from plexlens.pdb.durable import Disk
from plexlens.pdb.manifest import Manifest, write_manifest
from plexlens.pdb.staging import StagedFile

STAGING = "staging"
_JOURNAL = "journal.json"


def staging_folder(folder: Path, ingest_id: str) -> Path:
    """Folder that holds the files of an ingest until it is committed."""
    return folder / STAGING / ingest_id


def commit(folder: Path, manifest: Manifest, ingest_id: str, files: Sequence[StagedFile], disk: Disk) -> None:
    """Make an ingest part of the PDB.

    Parameters
    ----------
    folder
        The PDB.
    manifest
        The manifest with the ingest in it.
    ingest_id
        The ingest.
    files
        Its files, written and on the device.
    disk
        Takes the steps.

    Raises
    ------
    OSError
        A step failed. Whether the ingest is in, the manifest on disk says; `clean_leftovers` removes the rest.
    """
    staged = staging_folder(folder, ingest_id)
    disk.write(staged / _JOURNAL, json.dumps([file.target for file in files]))
    disk.sync_folder(staged.parent)
    targets = sorted({(folder / file.target).parent for file in files})
    for target in targets:
        disk.make_folder(target)
    for file in files:
        disk.move(file.staged, folder / file.target)
    for target in targets:
        disk.sync_folder(target)
    write_manifest(folder, manifest, disk)
    shutil.rmtree(staged)


def clean_leftovers(folder: Path, manifest: Manifest) -> list[str]:
    """Remove the files of ingests that were never committed. Call it with the write lock held.

    Returns
    -------
    list of str
        The ids of the ingests whose traces were removed.

    Raises
    ------
    OSError
        Something could not be removed. Readers do not see it; the next ingest tries again.
    """
    committed = {ingest.id for ingest in manifest.ingests}
    cleaned = []
    staging = folder / STAGING
    for staged in sorted(entry for entry in staging.iterdir() if entry.is_dir()) if staging.is_dir() else ():
        if staged.name not in committed:
            for target in _journal(staged):
                path = folder / target
                path.unlink(missing_ok=True)
                _remove_empty(path.parent, up_to=folder / "tables")
            cleaned.append(staged.name)
        shutil.rmtree(staged)
    return cleaned


def _journal(staged: Path) -> list[str]:
    path = staged / _JOURNAL
    if not path.exists():
        return []
    listed = json.loads(path.read_text(encoding="utf-8"))
    # Only files that this ingest can have written: a journal does not permit the removal of anything else.
    return [
        target
        for target in listed
        if target.startswith("tables/")
        and ".." not in target
        and target.rpartition("/")[2].startswith(f"{staged.name}-")
    ]


def _remove_empty(folder: Path, *, up_to: Path) -> None:
    while folder != up_to and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
