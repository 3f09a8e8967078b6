"""The first bytes of a file, and a description of files that no ingest module accepts."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

import pyarrow as pa

from plexlens.errors import EmptyInputError, UnreadableInputError
from plexlens.ingest.compression import compression_of
from plexlens.ingest.feed import is_remote
from plexlens.ingest.monwrite import form_of
from plexlens.ingest.printed.text_kinds import known_kinds
from plexlens.ingest.vm_account import is_text

HEAD_BYTES = 64 << 10
"""How much of a file, after decompression, the modules see when they are asked whether it is theirs."""

_READ_AS_TEXT = f"a dump must be sent in binary; reports read as text are {known_kinds()}, headings included"

_UNPACK = "unpack it and give the file inside"

_UNPACK_ONCE = "unpack it once, and give the file inside"

_MAGIC: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x1f\x8b", "a gzip file in a compressed file", _UNPACK_ONCE),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file in a compressed file", _UNPACK_ONCE),
    (0, b"PK\x03\x04", "a ZIP archive", _UNPACK),
    (0, b"PK\x05\x06", "an empty ZIP archive", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (0, b"BZh", "a bzip2 file", _UNPACK),
    (0, b"\xfd7zXZ\x00", "an xz file", _UNPACK),
    (0, b"\x1f\x9d", "a file packed by compress", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"%PDF-", "a PDF document", "give the original data"),
    (0, b"PAR1", "a Parquet file", "to query a performance database: plexlens sql DIR"),
    (0, b"SQLite format 3\x00", "an SQLite database", "give the original data"),
    (0, b"\xd0\xcf\x11\xe0", "an old Microsoft Office document", "give the original data"),
)
"""Place, bytes, what begins so, what to do."""

_XML_ELEMENT = re.compile(rb"<([A-Za-z_][\w.:-]*)")
_TEXT = re.compile(rb"[\t\n\f\r\x20-\x7e\x80-\xff]*\Z")
# The printable characters of EBCDIC 037 and its line ends: no byte of a record descriptor word is among them.
_EBCDIC_TEXT = re.compile(
    rb"[\x0d\x15\x25\x40\x4a-\x50\x5a-\x61\x6a-\x6f\x79-\x7f\x81-\x89\x91-\x99\xa1-\xa9\xc0-\xc9\xd0-\xd9\xe0\xe2-\xe9"
    rb"\xf0-\xf9]+\Z"
)


def begins_as_record(head: bytes) -> bool:
    """Whether a file begins with a record descriptor word, so that it cannot be text in any encoding.

    The last two bytes of the word are the segment code, 0 to 3, and zero. Text has no such bytes there: in ASCII and
    EBCDIC they are control characters, in UTF-16 the character would be a control character.
    """
    return len(head) >= 4 and head[2] <= 3 and head[3] == 0


def read_head(path: Path) -> bytes:
    """The first `HEAD_BYTES` of a file, decompressed where it is gzip or Zstandard.

    Raises
    ------
    UnreadableInputError
        The file is not there, is not a file, or cannot be read or decompressed.
    EmptyInputError
        The file is empty.
    """
    if path.exists() and not path.is_file():
        raise UnreadableInputError(
            file=str(path), what="this is not a file", remedy="give a dump, an XML file, or a folder of them"
        )
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError as error:
        raise UnreadableInputError(
            file=str(path),
            what=error.strerror or str(error),
            remedy="check the path and your permissions",
        ) from error
    if not head:
        raise EmptyInputError(file=str(path), what="the file is empty", remedy="transfer it again")
    kind = compression_of(head)
    if kind is None:
        return head
    try:
        packed = pa.PythonFile(path.open("rb"), mode="r") if is_remote(path) else pa.OSFile(str(path))
        with pa.CompressedInputStream(packed, kind) as stream:
            inside: bytes = stream.read(HEAD_BYTES)
    except OSError as error:
        raise UnreadableInputError(
            file=str(path),
            what=f"{kind} data that cannot be expanded: {error}",
            remedy=f"transfer it again in binary and test it with: {kind} -t",
        ) from error
    if not inside:
        raise EmptyInputError(
            file=str(path), what=f"the {kind} file is empty inside", remedy="compress and transfer it again"
        )
    return inside


def describe(head: bytes) -> tuple[str, str] | None:
    """Description of a text, markup or otherwise recognisable file, and what to do with it.

    Parameters
    ----------
    head
        The beginning of the file, decompressed; not empty.

    Returns
    -------
    tuple of str, or None
        What it looks like (``a ZIP archive``), and the remedy. None for binary data of no known make: that may be a
        dump, whole or damaged.
    """
    if known := _describe_binary(head) or _describe_converted(head):
        return known
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # Reports in this encoding are recognised before; any other text comes here.
        line = head[: len(head) & ~1].decode("utf-16", "replace").encode("ascii", "replace")
        return f"UTF-16 text that begins {_quoted(line)}", _READ_AS_TEXT
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] == b"<":
        return _describe_markup(text)
    if _EBCDIC_TEXT.match(head):
        line = head.decode("cp037").replace("\x85", "\n").encode("ascii", "replace")
        return f"EBCDIC text that begins {_quoted(line)}", _READ_AS_TEXT
    if _TEXT.match(text):
        return f"text that begins {_quoted(text)}", _READ_AS_TEXT
    return None


def _describe_binary(head: bytes) -> tuple[str, str] | None:
    if not begins_as_record(head):
        for place, magic, what, remedy in _MAGIC:
            if head[place : place + len(magic)] == magic:
                return what, remedy
    form = form_of(head)
    return (f"z/VM monitor data ({form})", "count its records with plexlens monwrite") if form else None


def _describe_converted(head: bytes) -> tuple[str, str] | None:
    if not is_text(head):
        return None
    return "z/VM accounting records converted to ASCII", "transfer them in binary, with records of 80 bytes"


def _describe_markup(text: bytes) -> tuple[str, str]:
    element = _XML_ELEMENT.search(text)
    name = element[1].decode("ascii") if element else "?"
    if name.lower() == "html":
        return "a web page", "save the report itself, as XML"
    return f"XML with the element <{name}>", "give RMF Postprocessor or Monitor III XML"


def _quoted(text: bytes) -> str:
    lines = text.strip().splitlines()
    return repr(lines[0].decode("utf-8", "replace").strip()[:40]) if lines else "with blank lines"
