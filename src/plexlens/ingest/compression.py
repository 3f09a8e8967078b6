"""Compressed files: which they are, and how far they may expand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from plexlens.errors import UnreadableInputError

# A record of 8,075 bytes begins with the same two bytes; its segment code, 0 to 3, and a zero follow.
_GZIP = re.compile(rb"\x1f\x8b(?![\x00-\x03]\x00)")
_ZSTD = b"\x28\xb5\x2f\xfd"
# Frames that Zstandard passes over; some programs put one before the data.
_ZSTD_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))

#: Bytes that any compressed file may expand to, whatever its own size; how many times its own size beyond that; bytes
#: that it may expand to at most. As in `crates/smf/src/stream/options.rs`.
FREE_BYTES = 256 << 20
MOST_TIMES = 1000
MOST_BYTES = 1 << 40


@dataclass(frozen=True, slots=True)
class Expansion:
    """The limits to which a compressed file may expand; what comes after is left unread and is damage.

    Attributes
    ----------
    times : int
        How many times its own size, once that is more than `FREE_BYTES`.
    most : int
        How many bytes at most.
    """

    times: int = MOST_TIMES
    most: int = MOST_BYTES

    def noted(self) -> dict[str, int]:
        """Limits other than the usual ones, which a database notes so that the file is read again by them."""
        usual = Expansion()
        given = {"max_expansion": (self.times, usual.times), "max_expanded": (self.most, usual.most)}
        return {name: value for name, (value, other) in given.items() if value != other}

    @classmethod
    def of(cls, noted: Mapping[str, Any]) -> Expansion:
        """The limits that `noted` gave."""
        return cls(int(noted.get("max_expansion", MOST_TIMES)), int(noted.get("max_expanded", MOST_BYTES)))

    def beyond(self, packed: int, given: int) -> str:
        """The limit that ``given`` bytes from ``packed`` ones are beyond, in words; empty within it."""
        if given > self.most:
            return f"more than {self.most:,}"
        if given > max(FREE_BYTES, packed * self.times):
            return f"more than {self.times:,} times as many"
        return ""


USUAL = Expansion()


class ExpansionError(OSError):
    """A compressed file expands beyond the limit.

    Attributes
    ----------
    what, remedy : str
        The limit that the file is beyond, and what its user does next.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what, self.remedy = what, remedy


def unreadable(path: Path, error: OSError) -> UnreadableInputError:
    """The error of a file whose reading ended with another: what is wrong, and what its user does next."""
    what, remedy = str(error), "transfer it again"
    if isinstance(error, ExpansionError):
        what, remedy = error.what, error.remedy
    return UnreadableInputError(file=str(path), what=f"it cannot be read: {what}", remedy=remedy)


def compression_of(head: bytes) -> str | None:
    """``gzip`` or ``zstd`` by the first four bytes of a file; None for any other file."""
    if _GZIP.match(head):
        return "gzip"
    return "zstd" if head.startswith((_ZSTD, *_ZSTD_SKIPPABLE)) else None


class _Expanding:
    """The expanded bytes of a compressed file, up to the limit."""

    def __init__(self, raw: BinaryIO, kind: str, expansion: Expansion | None) -> None:
        self._raw = raw
        self._inner = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), kind)
        self._kind = kind
        self._bytes = 0
        self._expansion = expansion or USUAL
        self._options = "" if expansion is None else "raise --max-expansion or --max-expanded, or "

    def read(self, size: int) -> bytes:
        data: bytes = self._inner.read(size)
        self._bytes += len(data)
        packed = self._raw.tell()
        if limit := self._expansion.beyond(packed, self._bytes):
            raise ExpansionError(
                f"{packed:,} bytes of {self._kind} data gave {self._bytes:,} bytes, {limit}",
                f"if the file is genuine, {self._options}expand it with {self._kind} -d and give the expanded file",
            )
        return data

    def __enter__(self) -> _Expanding:
        return self

    def __exit__(self, *_: object) -> None:
        self._inner.close()


def open_expanded(path: Path, expansion: Expansion | None = None) -> tuple[BinaryIO, BinaryIO]:
    """A file as a stream of expanded bytes, and the underlying stream whose position shows the progress.

    The two are the same stream for a file that is not compressed. Reading raises `OSError` where the compression is
    broken, and `ExpansionError` where the file expands beyond the limit.

    Parameters
    ----------
    path
        The file.
    expansion
        The limits that the user can set; None for the usual ones in a command that has no option for them.

    Raises
    ------
    OSError
        The file cannot be opened.
    """
    raw = path.open("rb")
    kind = compression_of(raw.read(4))
    raw.seek(0)
    return (raw if kind is None else _Expanding(raw, kind, expansion)), raw  # type: ignore[return-value]
