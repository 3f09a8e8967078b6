"""The present state of a PDB: its head, and the manifest that the log of the head gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plexlens.errors import UnreadableInputError
from plexlens.pdb import format_1, head
from plexlens.pdb.durable import Disk
from plexlens.pdb.head import Head
from plexlens.pdb.manifest import NAME, Manifest, damaged
from plexlens.pdb.place import disk_of, is_object

#: How often a manifest is read again because a writer has replaced it meanwhile.
_TRIES = 5


def read_state(
    path: Path, known: tuple[Head, Manifest] | None = None, disk: Disk | None = None
) -> tuple[Head, Manifest]:
    """Present contents of a PDB; `known` if nothing was committed since.

    In object storage a PDB without a manifest is empty, and has no tag: nobody has committed yet.

    Raises
    ------
    PdbDamagedError
        The manifest is not as written.
    PdbVersionError
        A later Plexlens wrote it.
    UnreadableInputError
        The system does not let it be read.
    """
    for _ in range(_TRIES):
        try:
            content, tag = head.read_tagged(path / NAME, disk or disk_of(path))
        except UnreadableInputError as error:
            if is_object(path) and isinstance(error.__cause__, FileNotFoundError):
                return _uncommitted(path)
            raise
        if head.version_of(path / NAME, content) == 1:
            return Head(version=1), format_1.manifest_of(path / NAME, content)
        result = replace(head.head_of(path / NAME, content), tag=tag)
        if known is not None and known[0] == result:
            return result, known[1]
        try:
            return result, head.read_log(path, result)
        except FileNotFoundError as error:
            # Writers replace the head and remove the log of former ones.
            missing = error.filename
    raise damaged(path / NAME, f"it names a part of the log that is missing: {missing}")


def _uncommitted(path: Path) -> tuple[Head, Manifest]:
    """The state of a PDB in object storage that has no manifest."""
    # The state before the first commit is kept before that commit is made.
    if any(head.snapshots(path)):
        raise damaged(path / NAME, "it is missing, but there are states of former commits")
    return Head(), Manifest(folder=path)
