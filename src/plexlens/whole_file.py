"""Files written completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plexlens.errors import UsageError


def cannot_write(path: Path, why: str) -> UsageError:
    """The error for a file that cannot be written, and the reason."""
    return UsageError(
        file=str(path),
        what=f"it cannot be written: {why}",
        remedy="name a file in a folder that exists and that you may write to",
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
