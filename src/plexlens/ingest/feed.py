"""Bytes of a source for the compiled core, which reads files by their path.

A file of this machine is its own path. A source that lies elsewhere is a path-like object with the methods of `Remote`:
its bytes go to the core through a pipe while they come, and nothing of it lies on a disk. A part of a dump begins at an
offset, to which a pipe cannot be moved: so a part is put into a temporary file first, and only the part is read.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeGuard

from plexlens.errors import PlexlensError, UnreadableInputError

#: Bytes that go into the pipe at a time, and that it holds where the system permits that many.
_STEP = 1 << 20

#: Bytes that are read behind the end of a part: the walk looks at what follows a record before it judges it.
_BEHIND = 1 << 20


class Remote(Protocol):
    """A source in another place than this machine."""

    def open(self, mode: str = "rb") -> Any:
        """Its bytes, as a stream that can seek."""

    def spool(self, descriptor: int, start: int, end: int | None) -> None:
        """Write bytes of it into a file, where they lie in the source; to its end at most."""

    def hashed(self) -> AbstractContextManager[Callable[[], str]]:
        """Take the SHA-256 of its bytes while they are read in the block."""


def is_remote(path: object) -> TypeGuard[Remote]:
    """Whether a path names a source in another place than this machine."""
    return not isinstance(path, str | PurePath)


class Feed:
    """A file of this machine, which the core opens itself.

    Attributes
    ----------
    path
        The file that the core opens.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def close(self) -> None:
        """Called when the core has opened the file, or refused it."""

    def check(self) -> None:
        """Raise what kept bytes from coming; called when the core says that it has read all, or cannot read on."""


class _Piped(Feed):
    """Bytes through a pipe, which a thread fills."""

    def __init__(self, source: Remote) -> None:
        self._source = source
        self._error: Exception | None = None
        self._read_end, self._write_end = os.pipe()
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            fcntl.fcntl(self._write_end, fcntl.F_SETPIPE_SZ, _STEP)
        super().__init__(Path(f"/dev/fd/{self._read_end}"))
        self._thread = threading.Thread(target=self._fill, name="feed", daemon=True)
        self._thread.start()

    def _fill(self) -> None:
        try:
            with open(self._write_end, "wb", buffering=0) as pipe, self._source.open() as stream:  # noqa: PTH123
                while block := memoryview(stream.read(_STEP)):
                    while block:
                        block = block[pipe.write(block) :]
        except BrokenPipeError:
            # The core has read what it needs.
            pass
        except Exception as error:
            self._error = error

    def close(self) -> None:
        os.close(self._read_end)

    def check(self) -> None:
        self._thread.join()
        if isinstance(self._error, OSError):
            raise UnreadableInputError(
                file=str(self._source),
                what=f"it cannot be read: {self._error.strerror or self._error}",
                remedy="see that it is still there, and read it again",
            ) from self._error
        if self._error is not None:
            raise self._error


class _Spooled(Feed):
    """A part in a temporary file, at the offset that it has in the source."""

    def __init__(self, source: Remote, start: int, until: int | None) -> None:
        descriptor, name = tempfile.mkstemp(prefix="plexlens-part-")
        super().__init__(Path(name))
        try:
            source.spool(descriptor, start, None if until is None else until + _BEHIND)
        except OSError as error:
            self.close()
            raise UnreadableInputError(
                file=str(source),
                what=f"its part from byte {start} on cannot be put into {name}: {error.strerror or error}",
                remedy="free space there, or set TMPDIR to a folder with more",
            ) from error
        except BaseException:
            self.close()
            raise
        finally:
            os.close(descriptor)

    def close(self) -> None:
        # What is open stays readable.
        self.path.unlink(missing_ok=True)


@contextmanager
def fed(path: Path, split: Mapping[str, Any] | None = None) -> Iterator[Feed]:
    """The feed of a source or a part of it, for a block in which the core opens it.

    Parameters
    ----------
    path
        The source.
    split
        The part, as `plexlens.ingest.smf_splits` planned it.

    Raises
    ------
    PlexlensError
        The part cannot be had. What goes wrong later, `Feed.check` raises.
    """
    feed = _feed_of(path, split)
    try:
        yield feed
    finally:
        feed.close()


def _feed_of(path: Path, split: Mapping[str, Any] | None) -> Feed:
    if not is_remote(path):
        return Feed(path)
    part = split["part"] if split is not None else None
    if split is None or part is None:
        return _Piped(path)
    return _Spooled(path, part[1], split["until"])


def raised_before(feed: Feed) -> PlexlensError | None:
    """The error that kept bytes from coming, when the core ends with one of its own; None if all came."""
    try:
        feed.check()
    except PlexlensError as error:
        return error
    return None
