"""Compressed files: which they are, and how far they may expand."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
# Frames that Zstandard passes over; some programs put one before the data.
_ZSTD_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))

#: Bytes that any compressed file may expand to, and how many times its own size beyond that: as in
#: `crates/smf/src/stream/options.rs`.
FREE_BYTES = 256 << 20
MOST_TIMES = 1000


def compression_of(head: bytes) -> str | None:
    """``gzip`` or ``zstd`` by the first four bytes of a file; None for any other file."""
    if head.startswith(_GZIP):
        return "gzip"
    return "zstd" if head.startswith((_ZSTD, *_ZSTD_SKIPPABLE)) else None


class _Expanding:
    """The expanded bytes of a compressed file, up to the limit."""

    def __init__(self, raw: BinaryIO, kind: str) -> None:
        self._raw = raw
        self._inner = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), kind)
        self._kind = kind
        self._bytes = 0

    def read(self, size: int) -> bytes:
        data: bytes = self._inner.read(size)
        self._bytes += len(data)
        packed = self._raw.tell()
        if self._bytes > max(FREE_BYTES, packed * MOST_TIMES):
            raise OSError(
                f"{packed:,} bytes of {self._kind} data gave {self._bytes:,} bytes, more than {MOST_TIMES:,} times as "
                f"many; if the file is genuine, expand it with {self._kind} -d and give the expanded file"
            )
        return data

    def __enter__(self) -> _Expanding:
        return self

    def __exit__(self, *_: object) -> None:
        self._inner.close()


def open_expanded(path: Path) -> tuple[BinaryIO, BinaryIO]:
    """A file as a stream of expanded bytes, and the underlying stream whose position shows the progress.

    The two are the same stream for a file that is not compressed. Reading raises `OSError` where the compression is
    broken, or the file expands beyond the limit.

    Raises
    ------
    OSError
        The file cannot be opened.
    """
    raw = path.open("rb")
    kind = compression_of(raw.read(4))
    raw.seek(0)
    return (raw if kind is None else _Expanding(raw, kind)), raw  # type: ignore[return-value]
