"""Write lock for a single writer at a time; the operating system releases it however the writer ends."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from plexlens.errors import PdbLockedError, PdbWriteError


@contextmanager
def writer_lock(path: Path, *, pdb: Path) -> Iterator[None]:
    """Hold the write lock of a PDB; readers need none.

    Parameters
    ----------
    path
        The lock file. It stays when the lock is released: removing it would let two writers lock two files.
    pdb
        The PDB, as messages name it.

    Raises
    ------
    PdbLockedError
        Another process holds the lock; the message names it.
    PdbWriteError
        The lock file cannot be opened, or the file system cannot lock it.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise PdbWriteError(
            file=str(pdb),
            what=f"the lock file cannot be opened: {error.strerror}",
            remedy="check that you may write in this folder",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process"
            raise PdbLockedError(
                file=str(pdb),
                what=f"{holder} is writing into this PDB",
                remedy="wait until it is done, then run the command again",
            ) from error
        except OSError as error:
            raise PdbWriteError(
                file=str(pdb),
                what=f"the PDB cannot be locked: {error.strerror}",
                remedy="keep it on a file system that can lock files",
            ) from error
        since = datetime.now(UTC).isoformat(timespec="seconds")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}, since {since},\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
