"""Dumps in object storage: ``s3://BUCKET/KEY``, read by ranges; folders and patterns of them.

An object is read as it was when it was listed: each range is asked for on condition that its tag is the same.
"""

from __future__ import annotations

import io
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from plexlens.errors import SourceChangedError, StorageError, UnreadableInputError
from plexlens.pdb.content import hash_of
from plexlens.pdb.durable import SCHEME, SCHEMES, OvertakenError
from plexlens.pdb.object_store import AGAIN, Bucket, Found, bucket_of
from plexlens.pdb.objects import ObjectPath, not_an_address, parts_of

#: Bytes of a request where an object is read on, and of such requests those that are under way.
BLOCK, UNDER_WAY = 8 << 20, 3

_SPECIAL = re.compile(r"[*?\[]")


class DumpObject(ObjectPath):
    """A dump in object storage.

    Parameters
    ----------
    bucket
        The bucket.
    key
        Its name there.
    scheme
        Begin of its address, as the user wrote it.
    state
        The object as it is to be read; None: as it is when it is looked at first.
    """

    __slots__ = ("_state", "digest", "scheme", "wants_digest")

    _state: Found | None
    scheme: str
    digest: str
    wants_digest: bool

    def __new__(cls, bucket: Bucket, key: str, scheme: str = SCHEME, state: Found | None = None) -> DumpObject:  # noqa: D102
        self: DumpObject = object.__new__(cls)
        self.bucket, self.key, self.scheme = bucket, key, scheme
        self._state, self.digest, self.wants_digest = state, "", False
        return self

    def __init__(self, bucket: Bucket, key: str, scheme: str = SCHEME, state: Found | None = None) -> None:
        del bucket, key, scheme, state

    def __reduce__(self) -> Any:
        """The parts for pickle: another process reaches the bucket by itself."""
        return _restored, (str(self), self._state)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket.name}/{self.key}"

    def __hash__(self) -> int:
        return hash(str(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DumpObject) and str(self) == str(other)

    def in_state(self, state: Found) -> DumpObject:
        """The object of this address as it was once: if it is another now, it is not read."""
        return DumpObject(self.bucket, self.key, self.scheme, state)

    @property
    def state(self) -> Found:
        """The listing of the object, whose tag all that is read has to have.

        Raises
        ------
        UnreadableInputError
            It cannot be looked at, or is not there.
        """
        state: Found = self._state or self.request(lambda: self.bucket.meta(self.key))
        self._state = state
        return state

    def request(self, ask: Callable[[], Any]) -> Any:
        """The answer to a request; an error says what it means for a dump."""
        try:
            return ask()
        except FileNotFoundError:
            raise UnreadableInputError(
                file=str(self), what="there is no such object", remedy="check the address, and AWS_ENDPOINT_URL"
            ) from None
        except OvertakenError:
            raise SourceChangedError(
                file=str(self),
                what="the object changed while it was read; nothing was stored",
                remedy="read it again when the program that writes it has ended",
            ) from None
        except StorageError as error:
            remedy = error.remedy.replace(AGAIN, "try again").replace("list, read and write", "list and read")
            raise UnreadableInputError(file=str(self), what=error.what, remedy=remedy) from None

    def exists(self, **named: Any) -> bool:
        """Whether there is such an object; an error says why it is not to be seen."""
        del named
        return bool(self.state)

    def is_file(self, **named: Any) -> bool:
        """The same: an object has bytes."""
        return self.exists(**named)

    def is_dir(self, **named: Any) -> bool:
        """False: `sources_of` finds the objects of a folder."""
        del named
        return False

    def stat(self, **named: Any) -> Any:
        """Size, time and tag of the object as it is now."""
        del named
        entry: Found = self.request(lambda: self.bucket.meta(self.key))
        times = entry.modified.timestamp(), int(entry.modified.timestamp() * 1e9)
        return _Status(entry.bytes, entry.tag, *times)

    lstat = stat

    def open(self, mode: str = "rb", *words: Any, **named: Any) -> Any:
        """The object for reading."""
        del mode, words, named
        return DumpStream(self)

    def span(self, start: int, end: int) -> bytes:
        """Bytes of the object.

        Raises
        ------
        UnreadableInputError
            They cannot be had, or the object has changed.
        """
        content: bytes = self.request(lambda: self.bucket.span_as(self.key, start, end, self.state.tag))
        return content

    def spool(self, descriptor: int, start: int, end: int | None) -> None:
        """Write bytes of the object into a file, at the place that they have in the object."""
        end = self.state.bytes if end is None else min(end, self.state.bytes)
        places = range(start, end, BLOCK)

        def put(at: int) -> None:
            block = memoryview(self.span(at, min(at + BLOCK, end)))
            while block:
                written = os.pwrite(descriptor, block, at)
                block, at = block[written:], at + written

        with ThreadPoolExecutor(UNDER_WAY, thread_name_prefix="spool") as pool:
            for _ in pool.map(put, places):
                pass

    @contextmanager
    def hashed(self) -> Iterator[Callable[[], str]]:
        """Take the hash of the bytes that are read in the block, so that they are not read twice for it."""
        self.wants_digest = True
        try:
            yield lambda: self.digest or hash_of(self)
        finally:
            self.wants_digest = False


def _restored(address: str, state: Found | None) -> DumpObject:
    dump = dump_object(address)
    return dump if state is None else dump.in_state(state)


class _Status:
    """Attributes of an object that a PDB asks of the status of a file."""

    __slots__ = ("st_dev", "st_ino", "st_mtime", "st_mtime_ns", "st_size")

    def __init__(self, size: int, tag: str, seconds: float, nanoseconds: int) -> None:
        self.st_dev, self.st_ino, self.st_size = 0, tag, size
        self.st_mtime, self.st_mtime_ns = seconds, nanoseconds


class DumpStream(io.RawIOBase):
    """The bytes of an object in order, with requests ahead of the reader; a seek begins anew elsewhere.

    Parameters
    ----------
    dump
        The object.
    """

    def __init__(self, dump: DumpObject) -> None:
        self._dump = dump
        self._size = dump.state.bytes
        self._at = 0
        self._block: tuple[int, bytes] = (0, b"")
        self._ahead: deque[tuple[int, Future[bytes]]] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._hash = sha256() if dump.wants_digest else None
        self._hashed = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the position."""
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Bytes from the position on; fewer only at the end."""
        end = self._size if size is None or size < 0 else min(self._size, self._at + size)
        pieces = []
        while self._at < end:
            begin, content = self._block
            if not begin <= self._at < begin + len(content):
                self._block = begin, content = self._at, self._next(end)
            piece = content[self._at - begin : end - begin]
            pieces.append(piece)
            self._digest(piece)
            self._at += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Ask for nothing more."""
        self._ahead.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _next(self, end: int) -> bytes:
        """The block at the position; those behind it are asked for, if the reader goes on where it was."""
        begin, content = self._block
        goes_on = self._at > 0 and self._at == begin + len(content)
        if self._ahead and self._ahead[0][0] == self._at:
            block = self._ahead.popleft()[1].result()
        else:
            self._ahead.clear()
            block = self._dump.span(self._at, min(self._size, max(end, self._at + BLOCK) if goes_on else end))
        if goes_on:
            self._ask(self._at + len(block))
        return block

    def _ask(self, start: int) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(UNDER_WAY, thread_name_prefix="ahead")
        if self._ahead:
            start = self._ahead[-1][0] + BLOCK
        while len(self._ahead) < UNDER_WAY and start < self._size:
            self._ahead.append((start, self._pool.submit(self._dump.span, start, min(start + BLOCK, self._size))))
            start += BLOCK

    def _digest(self, piece: bytes) -> None:
        """Add bytes to the hash if they are those that follow."""
        new = self._at + len(piece) - self._hashed
        if self._hash is None or not 0 < new <= len(piece):
            return
        self._hash.update(memoryview(piece)[len(piece) - new :])
        self._hashed += new
        if self._hashed == self._size:
            self._dump.digest = self._hash.hexdigest()


def dump_object(place: str | Path) -> DumpObject:
    """The dump at an address, whether or not there is one.

    Raises
    ------
    UsageError
        The address has no bucket, a pattern for one, or credentials in it; or the packages are missing.
    """
    if isinstance(place, DumpObject):
        return place
    scheme, bucket, key = parts_of(str(place), "a dump")
    if scheme not in SCHEMES or _SPECIAL.search(bucket):
        raise not_an_address(str(place), "a dump")
    return DumpObject(bucket_of(bucket), key, scheme)


def sources_of(place: str | Path) -> list[tuple[Path, bool]]:
    """The objects of an address: one object, all below a folder, or those whose names match a pattern.

    In a pattern ``*`` and ``?`` stand for signs other than ``/``, ``**`` for any, ``[abc]`` for one of them.

    Parameters
    ----------
    place
        The address.

    Returns
    -------
    list of (DumpObject, bool)
        The objects by name, and whether they were named: those of a folder were not.

    Raises
    ------
    UnreadableInputError
        There are none, or the bucket cannot be listed.
    UsageError
        As `dump_object`.
    """
    whole = dump_object(place)
    key, special = whole.key, _SPECIAL.search(whole.key)
    names_one = bool(key) and not key.endswith("/")
    if names_one and _is_there(whole):
        return [(whole, True)]
    folder = key[: special.start()].rpartition("/")[0] if special else key.rstrip("/")
    match = re.compile(_expression(key)).fullmatch if special else None
    entries: list[Found] = whole.request(lambda: list(whole.bucket.below(folder)))
    objects = [
        DumpObject(whole.bucket, entry.key, whole.scheme, entry)
        for entry in sorted(_without_folders(entries, folder), key=lambda entry: entry.key)
        if match is None or match(entry.key)
    ]
    if objects:
        return [(path, special is not None) for path in objects]
    if names_one and special is None:
        # Who reads it is told that there is none.
        return [(whole, True)]
    what = "no object matches this pattern" if special else "there is no object below this address"
    raise UnreadableInputError(file=str(whole), what=what, remedy="check the address")


def _is_there(dump: DumpObject) -> bool:
    """Whether there is an object of this very name."""
    try:
        dump.bucket.meta(dump.key)
    except FileNotFoundError:
        return False
    except StorageError:
        # Who reads it, or the list of what matches the pattern, is told why.
        return _SPECIAL.search(dump.key) is None
    return True


def _without_folders(entries: list[Found], folder: str) -> Iterator[Found]:
    """The objects but those that only stand for a folder: they are empty, and others lie below them."""
    above = {folder}
    for entry in entries:
        parts = entry.key.split("/")
        above.update("/".join(parts[:count]) for count in range(1, len(parts)))
    return (entry for entry in entries if entry.bytes or entry.key not in above)


def _expression(pattern: str) -> str:
    """A pattern as a regular expression."""
    done, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            done, at = done + "(?:.*/)?", at + 3
        elif pattern.startswith("**", at):
            done, at = done + ".*", at + 2
        elif pattern[at] == "*":
            done, at = done + "[^/]*", at + 1
        elif pattern[at] == "?":
            done, at = done + "[^/]", at + 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : end].replace("\\", r"\\").replace("[", r"\[")
            done, at = f"{done}[{'^' + inside[1:] if inside.startswith('!') else inside}]", end + 1
        else:
            done, at = done + re.escape(pattern[at]), at + 1
    return done
