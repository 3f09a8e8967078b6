"""The stream of a file's elements, attributes and texts, with lines, as far as the file is well-formed.

expat parses it: nothing is built in memory, lines are exact in files of any length, and nothing outside the file is
ever read. Entity declarations are refused, since the format has none and they are how XML explodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol
from xml.parsers import expat

from plexlens.ingest.compression import USUAL, Expansion, open_expanded
from plexlens.ingest.printed.errors import RmfXmlError
from plexlens.ingest.printed.xml.decode import Encoding, decoder, detect
from plexlens.ingest.printed.xml.output import DamageTo
from plexlens.ingest.source import Severity

CHUNK = 1 << 16
DEEPEST = 256
"""Deeper nesting is not a report."""
LONGEST = 1 << 20
"""Characters a tag or a text may have."""

_AFTER_DOCUMENT = frozenset(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT,
        expat.errors.XML_ERROR_MISPLACED_XML_PI,
        expat.errors.XML_ERROR_INVALID_TOKEN,
    )
)
_HTML = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_PADDING = b"\x00\x1a \t\r\n"
_ASK_AGAIN = "request or transfer the report again"


class Handler(Protocol):
    """Receiver of the elements."""

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        """An element begins; `tag` has no namespace prefix."""

    def text(self, text: str, line: int) -> None:
        """Some characters of the open element; a text may arrive in several pieces."""

    def end(self, line: int) -> None:
        """The element begun last ends."""

    def broken(self, what: str, line: int, offset: int | None) -> None:
        """The file is not well-formed from here on; open elements will not end."""


class Walker:
    """Walks a file.

    Parameters
    ----------
    path
        The file.
    handler
        Told of every element.
    damage
        Told of damage that does not end the walk: reason, severity, detail, remedy, byte offset.
    expansion
        How far the file may expand, if it is compressed.

    Attributes
    ----------
    position : int
        Bytes of the file read so far.
    """

    def __init__(self, path: Path, handler: Handler, damage: DamageTo, expansion: Expansion = USUAL) -> None:
        self.path = path
        self.position = 0
        self._handler = handler
        self._damage = damage
        self._expansion = expansion
        self._encoding = Encoding("utf-8", None, False)
        self._parser = self._new_parser()
        self._given = 0
        self._previous = b""
        self._lines_before = 0
        self._shifted = False
        self._compressed = False
        self._depth = 0
        self._documents = 0
        self._fed = 0
        self._fed_at_event = 0
        self._replaced = 0
        self._first_replaced = 0

    def chunks(self) -> Iterator[None]:
        """Walk the file; yields after each piece so that the caller can take rows meanwhile.

        Raises
        ------
        RmfXmlError
            The file cannot be read, is not XML at all, or holds what no report holds.
        """
        try:
            stream, raw = open_expanded(self.path, self._expansion)
        except OSError as error:
            raise self._unreadable(error) from error
        self._compressed = stream is not raw
        with raw, stream:
            yield from self._walk(stream, raw)

    def _walk(self, stream: BinaryIO, raw: BinaryIO) -> Iterator[None]:
        data = self._read(stream)
        self._begin(data)
        text = decoder(self._encoding)
        while data:
            if not self._feed(text.decode(data), final=False):
                break
            self.position = raw.tell()
            yield
            data = self._read(stream)
        else:
            self._feed(text.decode(b"", True), final=True)
        if self._replaced:
            self._damage(
                "undecodable bytes",
                Severity.ERROR,
                f"line {self._first_replaced}: the first of {self._replaced} characters that are not valid "
                f"{self._encoding.name}, read as U+FFFD",
                "transfer the file in binary, or as text with the right code page",
                None,
            )
        yield

    def _begin(self, head: bytes) -> None:
        """Inspect the first bytes: the encoding, and files that are not XML."""
        if not head.strip(_PADDING):
            raise self._refused("the file is empty" if not head else "the file contains only blanks and zero bytes")
        self._encoding = detect(head)
        if self._encoding.mislabelled:
            self._damage(
                "encoding mislabelled",
                Severity.INFO,
                f"line 1: the declaration says {self._encoding.declared}, the bytes are "
                f"{'EBCDIC' if self._encoding.name == 'ebcdic' else 'ASCII'}; read as {self._encoding.name}",
                "no action, unless names look wrong; a binary transfer keeps the declaration and the bytes consistent",
                None,
            )
        text = decoder(self._encoding).decode(head).lstrip("\ufeff \t\r\n")
        if _HTML.match(text):
            title = _TITLE.search(text)
            words = f" titled {' '.join(title[1].split())[:80]!r}" if title else ""
            raise self._refused(f"it is a web page{words}, not a report", line=1)
        if not text.startswith("<"):
            what = "JSON" if text[:1] in {"{", "["} else f"text that begins {text[:24]!r}"
            raise self._refused(f"it is {what}, not XML", line=1)

    def _refused(self, what: str, line: int | None = None) -> RmfXmlError:
        return RmfXmlError(
            file=str(self.path),
            what=what,
            line=line,
            remedy="save the report itself as XML: /gpm/rmfpp.xml or /gpm/rmfm3.xml of the Distributed Data Server",
        )

    def _read(self, stream: BinaryIO) -> bytes:
        try:
            data: bytes = stream.read(CHUNK)
        except (OSError, ValueError) as error:
            if not self._fed:
                raise self._unreadable(error) from error
            self._damage(
                "compression broken",
                Severity.DATA_LOSS,
                f"line {self._line()}: the compressed file ends early: {error}",
                "compress and transfer the file again in binary",
                None,
            )
            return b""
        return data

    def _unreadable(self, error: Exception) -> RmfXmlError:
        what = getattr(error, "strerror", None) or str(error)
        return RmfXmlError(
            file=str(self.path), what=f"it cannot be read: {what}", remedy="check the path and your permissions"
        )

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        # An entity that is not defined is then told of and skipped, not the end of the file. No handler for
        # external entities is set, so none is read.
        parser.UseForeignDTD(True)
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._skipped
        return parser

    def _feed(self, text: str, *, final: bool) -> bool:
        """Parse the next text; False if the file is broken here and the walk ends."""
        if "\ufffd" in text:
            if not self._replaced:
                self._first_replaced = self._line() + text.count("\n", 0, text.index("\ufffd"))
            self._replaced += text.count("\ufffd")
        data = text.encode("utf-8", "replace")
        if not self._fed:
            data = self._without_leading_blanks(data)
        self._fed += len(data)
        while True:
            if self._documents and not self._given:
                data = data.lstrip(_PADDING)
                if not data:
                    return True
            try:
                self._parser.Parse(data, final)
            except expat.ExpatError as error:
                rest = self._after_document(error, data)
                if rest is None:
                    self._broken(error)
                    return False
                data = rest
                continue
            self._given += len(data)
            self._previous = data
            if self._fed - self._fed_at_event > LONGEST:
                raise RmfXmlError(
                    file=str(self.path),
                    what=f"a tag is longer than {LONGEST:,} bytes",
                    line=self._line(),
                    remedy="no report has such a tag: check the file",
                )
            return True

    def _without_leading_blanks(self, data: bytes) -> bytes:
        """The data without blank lines before the XML declaration, which XML forbids and editors add."""
        rest = data.lstrip(b" \t\r\n")
        self._shifted = len(rest) != len(data)
        self._lines_before = data[: len(data) - len(rest)].count(b"\n")
        return rest

    def _after_document(self, error: expat.ExpatError, data: bytes) -> bytes | None:
        """Data after a complete document: another document (files may be concatenated), or padding.

        Returns the bytes with which a new parser begins, none for padding alone; None when no document is complete
        or something else follows.
        """
        if error.code not in _AFTER_DOCUMENT or self._depth or not self._documents:
            return None
        rest = (self._previous + data)[self._parser.ErrorByteIndex - self._given + len(self._previous) :]
        line = self._lines_before + error.lineno
        after_document = rest.lstrip(_PADDING)
        if len(after_document) != len(rest):
            self._damage(
                "padding after document",
                Severity.INFO,
                f"line {line}: zero bytes or end-of-file marks follow the report",
                "nothing",
                None,
            )
        if after_document and not after_document.startswith(b"<"):
            return None
        self._lines_before = line - 1 + rest[: len(rest) - len(after_document)].count(b"\n")
        self._shifted = True
        self._parser = self._new_parser()
        self._given = 0
        self._previous = b""
        return after_document

    def _line(self) -> int:
        return self._lines_before + self._parser.CurrentLineNumber

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._fed_at_event = self._fed
        self._depth += 1
        if self._depth > DEEPEST:
            raise RmfXmlError(
                file=str(self.path),
                what=f"elements are nested deeper than {DEEPEST}",
                line=self._line(),
                remedy="no report is nested that deeply: check the file",
            )
        self._handler.start(tag.rpartition(":")[2], attributes, self._line())

    def _end(self, _tag: str) -> None:
        self._fed_at_event = self._fed
        self._depth -= 1
        if not self._depth:
            self._documents += 1
        self._handler.end(self._line())

    def _text(self, text: str) -> None:
        self._fed_at_event = self._fed
        self._handler.text(text, self._line())

    def _entity(self, name: str, *_rest: object) -> None:
        raise RmfXmlError(
            file=str(self.path),
            what=f"the file declares an entity, {name!r}; RMF XML declares none",
            line=self._line(),
            remedy="do not trust the file: get the report from the Distributed Data Server again",
        )

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._damage(
                "entity not expanded",
                Severity.DATA_LOSS,
                f"line {self._line()}: &{name}; is not defined in the file",
                _ASK_AGAIN,
                None,
            )

    def _broken(self, error: expat.ExpatError) -> None:
        as_in_file = self._encoding.is_identity and not (self._shifted or self._compressed or self._replaced)
        offset = self._parser.ErrorByteIndex if as_in_file else None
        self._handler.broken(expat.errors.messages[error.code], self._lines_before + error.lineno, offset)
