"""Lines of a stream of bytes as text."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

_PIECE = 1 << 20
#: Characters of the longest line: no tool writes longer ones; a longer one is cut into lines of this length.
LONGEST = 1 << 20


def text_lines(stream: BinaryIO) -> Iterator[str]:
    """Lines with their ends; bytes that are not UTF-8 become U+FFFD, and so do zeros."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    rest = ""
    while True:
        data = stream.read(_PIECE)
        text = rest + decoder.decode(data, not data).replace("\0", "\ufffd")
        *whole, rest = text.split("\n")
        for line in whole:
            yield f"{line}\n"
        while len(rest) > LONGEST:
            yield rest[:LONGEST]
            rest = rest[LONGEST:]
        if not data:
            break
    if rest:
        yield rest
