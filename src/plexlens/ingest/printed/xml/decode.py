"""From bytes to text: compression, byte order marks, declared encodings, EBCDIC and its mislabelled transfers.

An XML file made on z/OS may reach us as UTF-8, in EBCDIC (a binary transfer of ``XPRPTS``), or in ASCII with a
declaration that still names EBCDIC (a text transfer, which translates the bytes and not the declaration). The first
bytes tell which; the parser is then given UTF-8 and told to ignore the declaration.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from plexlens.ingest.printed.bytes import CP1047, MARKS, Decoder, decoder_of

_DECLARED = re.compile(r"""^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']""")
_EBCDIC_XML = "<?xm".encode("cp037")
_EBCDIC_PAGES = "37|037|1047|114[0-9]|27[378]|28[0457]|297|500|924"
_EBCDIC_NAME = re.compile(rf"(?:ibm|cp|ebcdic|ccsid)[-_]?(?:cp)?[-_]?0*(?:{_EBCDIC_PAGES})", re.IGNORECASE)
_MARKS = (
    *MARKS,
    ("<?".encode("utf-16-le"), "utf-16-le"),
    ("<?".encode("utf-16-be"), "utf-16-be"),
)
# With the escapes of codecs that are not encodings of text.
_MARKUP = bytes(range(0x20, 0x5C)) + bytes(range(0x5D, 0x7F)) + rb"\x41\u0041"


@dataclass(frozen=True, slots=True)
class Encoding:
    """Text encoding of a file."""

    name: str
    """A Python codec, or ``ebcdic`` (1047, which equals 037 in all letters, digits and markup)."""
    declared: str | None
    """The name in the XML declaration."""
    mislabelled: bool
    """The declaration names another kind of encoding than the bytes have."""

    @property
    def is_identity(self) -> bool:
        """Whether byte offsets in the text, encoded as UTF-8, equal byte offsets in the file."""
        return self.name in {"utf-8", "ascii"}


def detect(head: bytes) -> Encoding:
    """The encoding of a file from its first bytes."""
    if head.startswith(_EBCDIC_XML):
        declared = _declared(codecs.charmap_decode(head, "strict", CP1047)[0])
        return Encoding("ebcdic", declared, declared is not None and not _EBCDIC_NAME.fullmatch(declared))
    for mark, marked in _MARKS:
        if head.startswith(mark):
            return Encoding(marked, _declared(head.decode(marked, "replace").lstrip("\ufeff")), False)
    declared = _declared(head.decode("latin-1"))
    if declared is None:
        return Encoding("utf-8", None, False)
    codec = _ascii_codec(declared)
    return Encoding(codec or "utf-8", declared, codec is None)


def decoder(encoding: Encoding) -> Decoder:
    """A decoder that starts at the file's beginning."""
    return decoder_of(encoding.name)


def _declared(text: str) -> str | None:
    match = _DECLARED.match(text[:1024])
    return match[1] if match else None


def _ascii_codec(name: str) -> str | None:
    """The codec with this name if it encodes markup as ASCII bytes; None for EBCDIC, UTF-16 and unknown names."""
    try:
        codec = codecs.lookup(name).name
        same = _MARKUP.decode(codec) == _MARKUP.decode("ascii")
    except (LookupError, ValueError):
        return None
    return codec if same else None


def as_text(head: bytes) -> str:
    """The first bytes of a file as text, for recognition."""
    return decoder(detect(head)).decode(head)
