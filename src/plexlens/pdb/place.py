"""The place of a PDB: a folder, or a path of object storage, whose modules are loaded only for one that is there."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, cast

from plexlens.errors import StorageError
from plexlens.pdb.durable import SCHEME, SCHEMES, Disk

if TYPE_CHECKING:
    from plexlens.pdb.objects import ObjectPath


def is_object(place: object) -> TypeGuard[ObjectPath]:
    """Whether a place is in object storage; pathlib makes ``s3:/`` of the two slashes of an address."""
    return str(place).startswith(f"{SCHEME}:/")


def is_dump_object(place: object) -> bool:
    """Whether a place is that of dumps in object storage."""
    return str(place).startswith(tuple(f"{scheme}:/" for scheme in SCHEMES))


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


def files_at(places: str | Path | Iterable[str | Path]) -> list[tuple[Path, bool]]:
    """The files of places as `plexlens.ingest.kinds.expand`, among them objects as `plexlens.pdb.dump_objects`.

    Raises
    ------
    PlexlensError
        As those.
    """
    results: dict[Path, bool] = {}
    listed = [places] if isinstance(places, str | Path) or is_dump_object(places) else places
    for place in cast("Iterable[str | Path]", listed):
        for path, named in _files_at(place):
            results[path] = named or results.get(path, False)
    return list(results.items())


def _files_at(place: str | Path) -> list[tuple[Path, bool]]:
    # A question to a database needs neither.
    if not is_dump_object(place):
        from plexlens.ingest.kinds import expand

        return expand(place)
    from plexlens.pdb.dump_objects import sources_of

    return sources_of(place)


def source_at(place: str | Path) -> Path:
    """A file by its path, or a dump in object storage by its address.

    Raises
    ------
    UsageError
        As `plexlens.pdb.dump_objects.dump_object`.
    """
    if not is_dump_object(place):
        return Path(place)
    from plexlens.pdb.dump_objects import dump_object

    return dump_object(place)


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
