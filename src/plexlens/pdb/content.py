"""Identity of files: two files are the same if the SHA-256 of their bytes is.

To take the hash before reading would cost the first quarter of a fast ingest with one core at work. So a *sample*
(the size, the first and the last MiB) tells whether the PDB can hold the file at all; if it cannot, the hash is taken
while the file is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from plexlens.errors import UnreadableInputError
from plexlens.ingest.feed import is_remote

_SAMPLE_BYTES = 1 << 20
_BLOCK_BYTES = 4 << 20


def sample_of(path: Path, size: int) -> str:
    """A hash of a file's size, first and last MiB: files with different samples are different.

    Parameters
    ----------
    path
        The file.
    size
        Its size in bytes.

    Raises
    ------
    UnreadableInputError
        The file cannot be read.
    """
    digest = hashlib.sha256(f"{size}:".encode())
    try:
        with path.open("rb") as stream:
            digest.update(stream.read(_SAMPLE_BYTES))
            stream.seek(max(0, size - _SAMPLE_BYTES))
            digest.update(stream.read(_SAMPLE_BYTES))
    except OSError as error:
        raise _unreadable(path, error, 0) from error
    return digest.hexdigest()


def hash_of(path: Path, function: Callable[[int], None] | None = None, stop: Event | None = None) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal.

    Parameters
    ----------
    path
        The file.
    function
        Called with the bytes read so far.
    stop
        Ends the reading early when set; the result then means nothing.

    Raises
    ------
    UnreadableInputError
        The file cannot be read; the message says up to where.
    """
    digest = hashlib.sha256()
    done = 0
    try:
        with path.open("rb", buffering=0) as stream:
            while (block := stream.read(_BLOCK_BYTES)) and not (stop and stop.is_set()):
                digest.update(block)
                done += len(block)
                if function is not None:
                    function(done)
    except OSError as error:
        raise _unreadable(path, error, done) from error
    return digest.hexdigest()


@contextmanager
def hash_meanwhile(path: Path) -> Iterator[Callable[[], str]]:
    """Take the hash of a file in a thread while the block runs.

    Yields
    ------
    callable
        Waits for the hash; raises as `hash_of`.
    """
    if is_remote(path):
        with path.hashed() as sha256:
            yield sha256
        return
    stop = Event()
    with ThreadPoolExecutor(1, thread_name_prefix="hash") as pool:
        future = pool.submit(hash_of, path, None, stop)
        try:
            yield future.result
        finally:
            stop.set()


def _unreadable(path: Path, error: OSError, offset: int) -> UnreadableInputError:
    return UnreadableInputError(
        file=str(path),
        what=f"the file cannot be read: {error.strerror}",
        remedy="check the device, and copy the file again",
        offset=offset,
    )
