"""From files to bytes and from bytes to text: compression, byte order marks, EBCDIC."""

from __future__ import annotations

import codecs
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol

import pyarrow as pa

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and their codecs."""
_COMPRESSIONS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_GZIP_WINDOW = 31

# EBCDIC 1047 differs from 037 in these characters, and z/OS ends lines with X'15'.
_SWAPPED = {0x5F: "^", 0xB0: "\u00ac", 0xAD: "[", 0xBD: "]", 0xBA: "\u00dd", 0xBB: "\u00a8", 0x15: "\n", 0x25: "\n"}
CP1047 = "".join(_SWAPPED.get(code, bytes([code]).decode("cp037")) for code in range(256))


class Decoder(Protocol):
    """Decodes a stream piece by piece; undecodable bytes become U+FFFD."""

    def decode(self, data: bytes, final: bool = False) -> str:
        """The text of the next bytes."""


class _Ebcdic:
    def decode(self, data: bytes, final: bool = False) -> str:
        return codecs.charmap_decode(data, "strict", CP1047)[0]


def decoder_of(encoding: str) -> Decoder:
    """A decoder of a Python codec, or of ``ebcdic``, that starts at the file's beginning."""
    return _Ebcdic() if encoding == "ebcdic" else codecs.getincrementaldecoder(encoding)("replace")


def open_stream(path: Path) -> tuple[BinaryIO, BinaryIO]:
    """A file as a stream of decompressed bytes, and the underlying stream whose position shows the progress.

    Raises
    ------
    OSError
        The file cannot be opened, or its compression is broken.
    """
    raw = path.open("rb")
    magic = raw.read(4)
    raw.seek(0)
    kind = next((name for start, name in _COMPRESSIONS if magic.startswith(start)), None)
    if kind is None:
        return raw, raw
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), kind), raw


def decompressed_head(head: bytes) -> bytes:
    """The first decompressed bytes of a gzip file, as far as its head allows; other bytes unchanged."""
    if not head.startswith(_COMPRESSIONS[0][0]):
        return head
    try:
        return zlib.decompressobj(_GZIP_WINDOW).decompress(head, 1 << 16)
    except zlib.error:
        return head
