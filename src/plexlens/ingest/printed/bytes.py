"""From bytes to text: byte order marks, EBCDIC."""

from __future__ import annotations

import codecs
from typing import Protocol

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and their codecs."""

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
