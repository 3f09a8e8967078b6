"""The place of a PDB: a folder, or a path of object storage, whose modules are loaded only for one that is there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from plexlens.errors import StorageError
from plexlens.pdb.durable import SCHEME, Disk

if TYPE_CHECKING:
    from plexlens.pdb.objects import ObjectPath


def is_object(place: object) -> TypeGuard[ObjectPath]:
    """Whether a place is in object storage; pathlib makes ``s3:/`` of the two slashes of an address."""
    return str(place).startswith(f"{SCHEME}:/")


def location(place: str | Path) -> Path:
    """The place of a PDB as its address says: an `ObjectPath` for ``s3://BUCKET/PATH``, otherwise a path of files.

    Raises
    ------
    UsageError
        As `plexlens.pdb.objects.object_path`.
    """
    if not is_object(place):
        return Path(place)
    from plexlens.pdb.objects import object_path

    return object_path(str(place))


def disk_of(path: Path) -> Disk:
    """The disk, or the object storage, of a PDB."""
    if not is_object(path):
        return Disk()
    from plexlens.pdb.objects import ObjectDisk

    return ObjectDisk(path)


def cause_of(error: BaseException) -> StorageError | None:
    """The failure of object storage behind an error of an engine that reads objects; None if there is none."""
    objects = sys.modules.get("plexlens.pdb.object_store")
    text = str(error)
    failures: list[StorageError] = objects.FAILURES if objects is not None else []
    return next((failure for failure in reversed(failures) if failure.what in text), None)
