"""Files written completely or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plexlens.errors import OutputError, PlexlensError, UsageError

#: Errors of a device that has no space left, and of one that fails.
FULL = (errno.ENOSPC, errno.EDQUOT)
FAILING = (errno.EIO,)

PART = ".part"
"""Ending of the file that is written before it replaces its target; its name begins with a dot."""


def cannot_write(path: Path, why: str) -> UsageError:
    """The error for a file that cannot be written, and the reason."""
    return UsageError(
        file=str(path),
        what=f"it cannot be written: {why}",
        remedy="name a file in an existing folder that you may write to",
    )


def refused(path: Path, error: OSError, *, kept: str = "") -> PlexlensError:
    """The error for a file or folder that the system does not write, with what to do about it.

    Parameters
    ----------
    path
        The file or folder, as the user named it.
    error
        What the system says.
    kept
        What has become of what was there before, where that is known.
    """
    if not of_device(error):
        return cannot_write(path, error.strerror or str(error))
    why = error.strerror or os.strerror(of_device(error))
    return OutputError(file=str(path), what=f"it cannot be written: {why}{kept}", remedy=remedy_of(error, path.parent))


def remedy_of(error: OSError, folder: Path) -> str:
    """Remedy for a device that refuses to write into a folder; empty where the device is not to blame."""
    if of_device(error) in FULL:
        return f"free space in {folder.absolute()} or write to another disk, and run the command again"
    if of_device(error) in FAILING:
        return f"the disk of {folder.absolute()} fails: look into the system log, or write to another disk"
    return ""


def of_device(error: OSError) -> int:
    """Error number of a full or failing device, else 0; for errors of the compiled core it is read from the text."""
    return next(
        (code for code in (*FULL, *FAILING) if code == error.errno or str(error).endswith(f"(os error {code})")), 0
    )


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it; one that is there stays.

    Raises
    ------
    PlexlensError
        It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refused(folder, error) from error


def is_part(path: Path) -> bool:
    """Whether a file is the partial output of a command that was killed."""
    return path.name.startswith(".") and path.name.endswith(PART)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file next to the target; it replaces the target on success and is removed otherwise.

    A device or a pipe (``/dev/null``) is written to as it is, and a link keeps leading where it leads. The contents are
    on the device before they replace anything. The temporary file of a command that was killed is overwritten by the
    next one that writes the same file.

    Parameters
    ----------
    path
        The file to write.

    Yields
    ------
    Path
        What to write to.

    Raises
    ------
    PlexlensError
        It cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        whole = path.resolve()
    except OSError as error:
        raise refused(path, error) from error
    part = whole.with_name(f".{whole.name}{PART}")
    try:
        yield part
        _sync(part)
        part.replace(whole)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        kept = "; what was there before is unchanged" if whole.exists() else "; no part of it is left"
        raise refused(path, error, kept=kept) from error


def _sync(path: Path) -> None:
    """Have the device take what was written; a system that delays writing tells only now that it cannot."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def check_writable(path: Path | None) -> None:
    """Refuse, before any work is done, a file that cannot be written.

    Raises
    ------
    UsageError
        It is a folder, its folder does not exist, or the user may not write there.
    """
    if path is None:
        return
    if path.is_dir():
        raise cannot_write(path, "it is a folder")
    if path.exists() and not path.is_file():
        # A device or a pipe, which is written to as it is.
        if not os.access(path, os.W_OK):
            raise cannot_write(path, "you have no permission to write it")
        return
    if not path.parent.is_dir():
        raise cannot_write(path, f"there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise cannot_write(path, f"you have no permission to write to {path.parent}")


def write(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a binary file completely or not at all."""
    with whole_file(path) as part:
        part.write_bytes(data)


def check_file(path: Path | None, inputs: Iterable[Path] = ()) -> None:
    """Refuse, before any work is done, a file that cannot be written or must not be replaced.

    Parameters
    ----------
    path
        The file to write; None for none.
    inputs
        What the command reads.

    Raises
    ------
    UsageError
        The file cannot be written, the command reads it, or it is in the folder of a performance database.
    """
    check_writable(path)
    if path is None:
        return
    if path.exists() and any(source.exists() and source.samefile(path) for source in inputs):
        raise UsageError(
            file=str(path),
            what="this command reads the file, so it cannot write to it",
            remedy="name another file for the output",
        )
    if (path.parent / "manifest.json").is_file():
        raise cannot_write(path, f"{path.parent} is a performance database, which holds only its own files")
