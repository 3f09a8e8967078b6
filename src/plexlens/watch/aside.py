"""Files that cannot be ingested: the reason stands in a file next to each, which also survives a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from plexlens.errors import PlexlensError
from plexlens.pdb.content import hash_of
from plexlens.watch.settling import REASON
from plexlens.whole_file import write

_HASH = "sha256: "


def reason_file(path: Path) -> Path:
    """The file that says why a file was set aside."""
    return path.with_name(path.name + REASON)


def set_aside(path: Path, error: PlexlensError, tell: Callable[[str], None]) -> None:
    """Write the reason next to a file, which stays where it is.

    Parameters
    ----------
    path
        The file.
    error
        Why it cannot be ingested.
    tell
        Told where no reason can be written: then the file is tried again after a restart.
    """
    text = (
        f"{path.name} was not ingested: {error.what}\n"
        f"what to do: {error.remedy}\n"
        f"It is tried again when its contents change, or when this file is deleted.\n"
        f"{_HASH}{_hash(path)}\n"
    )
    try:
        write(reason_file(path), text)
    except PlexlensError as failure:
        tell(str(failure))


def is_set_aside(path: Path) -> bool:
    """Whether a reason for the same contents stands next to the file."""
    try:
        lines = reason_file(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    stated = next((line.removeprefix(_HASH) for line in lines if line.startswith(_HASH)), "")
    return bool(stated) and stated == _hash(path)


def forget(path: Path) -> None:
    """Remove the reason next to a file that is ingested after all."""
    reason_file(path).unlink(missing_ok=True)


def _hash(path: Path) -> str:
    """Hash of the contents; empty for a file that cannot be read."""
    try:
        return str(hash_of(path))
    except (OSError, PlexlensError):
        return ""
