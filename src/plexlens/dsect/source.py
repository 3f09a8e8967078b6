"""The lines of an assembler source; EBCDIC is recognised and converted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from plexlens.dsect.fault import DsectError
from plexlens.dsect.monitor_page import NOTE, is_page, statements_of_page
from plexlens.errors import EmptyInputError, UsageError

#: Length of a card image.
CARD = 80
#: The largest source that is read: far above any mapping, far below what memory holds.
MOST_BYTES = 32 << 20

_TEXT = bytes([9, 10, 12, 13, *range(32, 127)])
_EBCDIC = bytes(
    byte for byte in range(256) if bytes([byte]).decode("cp037") in {chr(code) for code in range(32, 127)}
) + bytes([0x15, 0x25, 0x0D, 0x5F, 0xAD, 0xBD])
# The characters that stand elsewhere in code page 1047 than in 037, which is the one that Python has.
_TO_1047 = str.maketrans("\u00ac^[]\u00dd\u00a8", "^\u00ac\u00dd\u00a8[]")
_CONTROL = dict.fromkeys(range(32), " ") | {0x7F: " ", 0x85: " "}


@dataclass(frozen=True)
class Source:
    """An assembler source.

    Attributes
    ----------
    file : str
        The file as the user named it, for messages.
    name : str
        Its base name, for the ``source`` column of layouts.
    lines : tuple of str
        Its lines, without line ends.
    notes : tuple of str
        What had to be done to get them.
    """

    file: str
    name: str
    lines: tuple[str, ...]
    notes: tuple[str, ...]


def read_source(path: Path, codepage: str = "1047") -> Source:
    """Read a source file.

    Parameters
    ----------
    path
        Text with line ends; or EBCDIC with line ends or as card images of 80 bytes.
    codepage
        EBCDIC code page: ``037`` or ``1047``. They differ in brackets and a few signs that only remarks hold.

    Raises
    ------
    UsageError
        There is no such code page.
    DsectError
        The file cannot be read, is empty, too large, or neither text nor EBCDIC.
    """
    if codepage not in ("037", "1047"):
        raise UsageError(file="", what=f"code page {codepage!r} is not supported", remedy="give 037 or 1047")
    file = str(path)
    try:
        with path.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise DsectError(
            file=file,
            what=f"it cannot be read: {error.strerror or error}",
            remedy="name an assembler source file that exists and that you may read",
        ) from error
    if len(data) > MOST_BYTES:
        raise DsectError(
            file=file,
            what=f"the file is larger than {MOST_BYTES >> 20} MiB",
            remedy="give only the macro or the DSECTs",
        )
    if not data.strip(b"\x00 \x40"):
        raise EmptyInputError(file=file, what="it is empty", remedy="give an assembler source that holds a DSECT")
    notes: list[str] = []
    lines = _lines(file, data, codepage, notes)
    if any("\t" in line for line in lines):
        lines = [line.expandtabs(8) for line in lines]
        notes.append("tab characters were expanded to every eighth column")
    if is_page(lines):
        lines = statements_of_page(file, lines)
        notes.append(NOTE)
    return Source(file, path.name, tuple(line.translate(_CONTROL).rstrip() for line in lines), tuple(notes))


def _lines(file: str, data: bytes, codepage: str, notes: list[str]) -> list[str]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        notes.append("the file is UTF-16 and was converted")
        try:
            return _split(file, data.decode("utf-16"))
        except UnicodeDecodeError as error:
            raise _not_text(file) from error
    if data.count(0x40) > data.count(0x20):
        return _ebcdic_lines(file, data, codepage, notes)
    if len(data.translate(None, _TEXT)) > len(data) // 8:
        raise _not_text(file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
        notes.append("the file is not UTF-8; it was read as Latin-1, which matters for remarks only")
    return _split(file, text.rstrip("\x1a"))


def _split(file: str, text: str) -> list[str]:
    """Lines of a text; card images without line ends are cut into lines."""
    if "\n" in text or "\r" in text:
        return re.split(r"\r\n|\n|\r", text)
    if len(text) <= CARD:
        return [text]
    if len(text) % CARD:
        raise DsectError(
            file=file,
            what=f"it has no line ends, and its {len(text)} characters are not a multiple of {CARD}",
            remedy="transfer it as text, or as card images of 80 columns",
        )
    return [text[at : at + CARD] for at in range(0, len(text), CARD)]


def _ebcdic_lines(file: str, data: bytes, codepage: str, notes: list[str]) -> list[str]:
    if len(data.translate(None, _EBCDIC)) > len(data) // 20:
        raise _not_text(file)
    if b"\x15" in data or b"\x25" in data:
        cards = re.split(rb"\x0d\x25|\x0d\x15|\x15|\x25", data)
        form = "with line ends"
    elif len(data) % CARD == 0:
        cards = [data[at : at + CARD] for at in range(0, len(data), CARD)]
        form = f"as card images of {CARD} bytes"
    else:
        raise DsectError(
            file=file,
            what=f"it is EBCDIC without line ends, and its {len(data)} bytes are not a multiple of {CARD}",
            remedy="transfer it as text, or in binary from a data set with fixed records of 80 bytes",
        )
    notes.append(f"the file is EBCDIC {form}; it was converted from code page {codepage}")
    lines = [card.decode("cp037") for card in cards]
    return [line.translate(_TO_1047) for line in lines] if codepage == "1047" else lines


def _not_text(file: str) -> DsectError:
    return DsectError(
        file=file,
        what="it is neither text nor EBCDIC card images",
        remedy="give the assembler source, transferred as text, and not a load module or a compressed file",
    )
