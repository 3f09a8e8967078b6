"""From bytes to text: compression, byte order marks, EBCDIC, and files of fixed records without line ends.

Reports leave z/OS as text (ASCII or UTF-8 by then), in EBCDIC with line ends (from z/OS UNIX), or in EBCDIC as the bare
records of a listing data set (a binary transfer). Mail programs add UTF-16 and byte order marks.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from plexlens.ingest.compression import USUAL, Expansion, open_expanded
from plexlens.ingest.printed.bytes import MARKS, Decoder, decoder_of
from plexlens.ingest.printed.errors import TextReportError

HEAD = 1 << 16
"""How many bytes tell the encoding and the form of the lines."""

_CHUNK = 1 << 18
# Lengths of print records: 133 and 121 with carriage control, 132, 137 and 80 without or with descriptor words cut off.
_RECORD_LENGTHS = (133, 121, 137, 132, 125, 141, 255, 256, 80)
_EBCDIC_BLANK = 0x40
_EBCDIC_TEXT = bytes(
    [0x05, 0x0C, 0x0D, 0x15, 0x25, 0x40, *range(0x4A, 0x51), *range(0x5A, 0x62), *range(0x6A, 0x70), *range(0x79, 0x80),
     *range(0x81, 0x8A), *range(0x91, 0x9A), *range(0xA1, 0xAA), *range(0xC0, 0xCA), *range(0xD0, 0xDA), 0xAD, 0xBD,
     *range(0xE0, 0xEA), *range(0xF0, 0xFA)]
)  # fmt: skip


def encoding_of(head: bytes) -> str:
    """Name of the encoding that a file's first bytes show: a Python codec, or ``ebcdic``."""
    for mark, name in MARKS:
        if head.startswith(mark):
            return name
    if len(head) >= 8:
        if head[1::2].count(0) * 10 > 8 * len(head[1::2]):
            return "utf-16-le"
        if head[::2].count(0) * 10 > 8 * len(head[::2]):
            return "utf-16-be"
    # Blanks fill reports, and an at sign hardly occurs in them.
    blanks = head.count(_EBCDIC_BLANK)
    foreign = len(head.translate(None, delete=_EBCDIC_TEXT))
    if blanks * 20 > len(head) and blanks > 3 * head.count(0x20) and foreign * 20 < len(head):
        return "ebcdic"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def as_text(head: bytes) -> str:
    """A file's first bytes (decompressed) as text, split into lines like `text_of`."""
    text = decoder_of(encoding_of(head)).decode(head)
    length = fixed_length(text)
    return "\n".join(text[at : at + length] for at in range(0, len(text), length)) if length else text


def fixed_length(text: str) -> int | None:
    """Length of records that follow each other without line ends; None if there are line ends, or no records.

    Records of a listing begin with a carriage control character; of a few records that may be chance, so they must
    end in blanks too.
    """
    if any(mark in text for mark in "\n\r\f\x85") or len(text) < 240:
        return None
    for length in _RECORD_LENGTHS:
        records = [text[at : at + length] for at in range(0, len(text) - length + 1, length)]
        if len(records) < 3:
            continue
        if not all(record[0] in " 01-+" for record in records):
            continue
        if len(records) >= 12 or all(record[-1] == " " for record in records):
            return length
    return None


class TextStream:
    """The text of a file in pieces, and the position of the reader.

    Parameters
    ----------
    path : Path
        The file, plain or compressed with gzip or Zstandard.
    expansion : Expansion
        How far it may expand, if it is compressed.
    """

    def __init__(self, path: Path, expansion: Expansion = USUAL) -> None:
        self._path = path
        self._expansion = expansion
        self.position = 0
        """Bytes of the file read so far."""
        self.encoding = "utf-8"
        self.fixed_records: int | None = None
        """Length of the records, where they have no line ends."""
        self.undecodable = 0
        """Bytes, or runs of them, that the encoding does not have; read as U+FFFD."""
        self.broken: str | None = None
        """Why the file could not be read to its end, once some of it had been."""

    def pieces(self) -> Iterator[str]:
        """The decoded text; line ends are added to fixed-length records without them.

        Raises
        ------
        TextReportError
            The file cannot be opened, or its first bytes cannot be decompressed.
        """
        try:
            stream, raw = open_expanded(self._path, self._expansion)
        except OSError as error:
            raise self._error(error) from error
        with raw, stream:
            decode: Decoder | None = None
            rest = ""
            while True:
                try:
                    data = stream.read(_CHUNK)
                except (OSError, EOFError) as error:
                    if decode is None:
                        raise self._error(error) from error
                    self.broken = str(error)
                    data = b""
                if decode is None:
                    self.encoding = encoding_of(data[:HEAD])
                    decode = decoder_of(self.encoding)
                text = decode.decode(data, not data)
                self.undecodable += text.count("\ufffd")
                if self.position == 0:
                    self.fixed_records = fixed_length(text[:HEAD])
                self.position = raw.tell()
                if self.fixed_records is not None:
                    text, rest = self._records(rest + text, at_end=not data)
                if text:
                    yield text
                if not data:
                    return

    def _records(self, text: str, *, at_end: bool) -> tuple[str, str]:
        length = self.fixed_records or 1
        whole = len(text) if at_end else len(text) - len(text) % length
        lines = [text[at : at + length] + "\n" for at in range(0, whole, length)]
        return "".join(lines), text[whole:]

    def _error(self, error: Exception) -> TextReportError:
        return TextReportError(
            file=str(self._path),
            what=getattr(error, "strerror", None) or f"the file cannot be read or expanded: {error}",
            remedy="check the path and your permissions, and that the file is complete",
        )
