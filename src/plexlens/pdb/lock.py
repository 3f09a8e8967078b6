"""Write lock for a single writer at a time; the operating system releases it however the writer ends."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from plexlens.errors import PdbLockedError, PdbWriteError

LOCK = "lock"
"""The file in a PDB that its writer locks."""

#: Seconds between two tries for a lock that is held.
_RETRY = 0.1

#: Seconds for which a lock without a name is tried again.
_LOOK = 0.5

#: Characters of a command that are shown.
_COMMAND = 120


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds the lock, or held it last.

    Attributes
    ----------
    process : int
        Its number.
    host : str
        Where it runs.
    command : str
        What it was started as.
    since : str
        When it got the lock; UTC, ISO 8601.
    started : str
        A number that the host gives to the start of a process: another process of the same number has another one.
        Empty where the host gives none.
    """

    process: int
    host: str
    command: str
    since: str
    started: str = ""

    @classmethod
    def me(cls) -> Holder:
        """The present process, from now on."""
        since = datetime.now(UTC).isoformat(timespec="seconds")
        words = [Path(sys.argv[0]).name, *sys.argv[1:]] if sys.argv and sys.argv[0] else ["python"]
        command = shlex.join(words)
        if len(command) > _COMMAND:
            command = command[: _COMMAND - 3] + "..."
        return cls(os.getpid(), socket.gethostname(), command, since, start_of(os.getpid()))

    @property
    def lives(self) -> bool | None:
        """Whether the process still runs; None if it runs on another host, which cannot be seen from here."""
        if self.host != socket.gethostname():
            return None
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return not self.started or self.started == start_of(self.process)

    def __str__(self) -> str:
        """``process 4711 on HOST (plexlens ingest day1.smf --pdb p), since 2026-11-24T06:00:00+00:00``."""
        return f"process {self.process} on {self.host} ({self.command}), since {self.since}"


def start_of(process: int) -> str:
    """Boot and clock tick at which a process started, which no other process of its number has; empty if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # The name of the program, in brackets, may hold anything; the 20th word after it is the start.
    return f"{boot} {status.rpartition(')')[2].split()[19]}"


def unheard(text: str) -> None:
    """Ignore the message."""


@contextmanager
def writer_lock(
    path: Path, *, pdb: Path, wait: float = 0.0, tell: Callable[[str], None] = unheard
) -> Iterator[Holder | None]:
    """Hold the write lock of a PDB; readers need none.

    Parameters
    ----------
    path
        The lock file. It stays when the lock is released: removing it would let two writers lock two files.
    pdb
        The PDB, as messages name it.
    wait
        Seconds to wait for another writer.
    tell
        Told, as sentences, whom it waits for, and that a writer before ended without finishing.

    Yields
    ------
    Holder or None
        The writer before, if it ended without releasing the lock.

    Raises
    ------
    PdbLockedError
        Another process holds the lock; the message names it.
    PdbWriteError
        The lock file cannot be opened, or the file system cannot lock it.
    """
    descriptor = _opened(path, pdb)
    try:
        _acquire(descriptor, pdb, wait, tell)
        before = _read(descriptor)
        if before is not None:
            tell(f"{before} ended without finishing; what it left is removed, and what the PDB held is whole")
        try:
            _write(descriptor, json.dumps(asdict(Holder.me())))
        except OSError as error:
            raise PdbWriteError(
                file=str(pdb),
                what=f"the lock file cannot be written: {error.strerror}",
                remedy="make room, or check the disk, and run the command again",
            ) from error
        try:
            yield before
        finally:
            with suppress(OSError):
                _write(descriptor, "")
    finally:
        os.close(descriptor)


def _opened(path: Path, pdb: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise PdbWriteError(
            file=str(pdb),
            what=f"the lock file cannot be opened: {error.strerror}",
            remedy="check your permissions for this folder",
        ) from error


def _acquire(descriptor: int, pdb: Path, wait: float, tell: Callable[[str], None]) -> None:
    began = time.monotonic()
    until = began + wait
    text = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            holder = _read(descriptor)
            # One who only looks holds it for an instant, and writes no name.
            if time.monotonic() >= (until if holder else max(until, began + _LOOK)):
                raise _locked(pdb, holder, wait) from error
        except OSError as error:
            raise PdbWriteError(
                file=str(pdb),
                what=f"the PDB cannot be locked: {error.strerror}",
                remedy="keep the PDB on a file system that supports file locks",
            ) from error
        if not text and holder is not None:
            tell(f"{pdb}: waiting up to {wait:g} s for {holder}")
            text = True
        time.sleep(_RETRY if holder else _RETRY / 10)


def _locked(pdb: Path, holder: Holder | None, wait: float) -> PdbLockedError:
    waited = f"; {wait:g} s were not enough" if wait else ""
    if holder is not None and holder.lives is False:
        return PdbLockedError(
            file=str(pdb),
            what=f"{holder}, has ended, but a process that it started still holds the lock of this PDB{waited}",
            remedy="end the processes that it left (fuser names who has the file open), and run the command again",
        )
    return PdbLockedError(
        file=str(pdb),
        what=f"{holder or 'another process'} is writing into this PDB{waited}",
        remedy="wait until it is done and run the command again, or give more time with --wait SECONDS",
    )


def _read(descriptor: int) -> Holder | None:
    """The holder that the lock file names; None if it names none."""
    text = os.pread(descriptor, 4096, 0).decode("utf-8", "replace").strip()
    try:
        return Holder(**json.loads(text))
    except (ValueError, TypeError):
        return None


def _write(descriptor: int, text: str) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def holder_of(path: Path) -> Holder | None:
    """The process that holds a lock now; None if no process does, or the lock file cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _read(descriptor) if _is_locked(descriptor) else None
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether a process holds the lock of this file; a file that is not there is not held."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _is_locked(descriptor)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        # Shared: two who only look do not disturb each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def alive(path: Path) -> Iterator[None]:
    """Show, by a lock on this file, that the process which uses a folder lives.

    Raises
    ------
    OSError
        The file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
