"""Files written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plexlens.errors import UsageError


def cannot_write(path: Path, why: str) -> UsageError:
    """The error for a file that cannot be written, and the reason."""
    return UsageError(
        file=str(path),
        what=f"it cannot be written: {why}",
        remedy="name a file in an existing folder that you may write to",
    )


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file next to the target; it replaces the target on success and is removed otherwise.

    A device or a pipe (``/dev/null``) is written to as it is, and a link keeps leading where it leads.

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
    UsageError
        It cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        whole = path.resolve()
    except OSError as error:
        raise cannot_write(path, error.strerror or str(error)) from error
    part = whole.with_name(f".{whole.name}.part")
    try:
        yield part
        part.replace(whole)
    except OSError as error:
        raise cannot_write(path, error.strerror or str(error)) from error
    finally:
        part.unlink(missing_ok=True)


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
