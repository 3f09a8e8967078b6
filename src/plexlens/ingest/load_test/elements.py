"""Scanner of XML forms: the attributes of elements that are requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.parsers import expat

import pyarrow as pa

from plexlens.ingest.load_test.forms import Form
from plexlens.ingest.load_test.request import BATCH, Batch, Note, texts_of

#: What a place in a file is called.
PLACE = "line"

_PIECE = 1 << 20


def starts(form: Form, head: str) -> bool:
    """Whether the beginning of a file is of this form."""
    return f"<{form.heads[0]}" in head


class _DocumentTypeError(Exception):
    pass


class _Requests:
    """Rows of a document: the requests directly below its root; requests inside others are parts of them."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.rows: list[dict[str, str]] = []
        self.places: list[int] = []
        self.inner = 0
        self._depth = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: Any) -> None:
        raise _DocumentTypeError

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if name in self.form.heads[1:]:
            if self._depth == 2:
                self.rows.append(attributes)
                self.places.append(self.parser.CurrentLineNumber)
            else:
                self.inner += 1

    def _end(self, name: str) -> None:
        self._depth -= 1

    def gathered(self) -> Batch:
        """The rows so far."""
        batch = texts_of(self.rows, self.form.named), pa.array(self.places, pa.int64())
        self.rows, self.places = [], []
        return batch


def scan(form: Form, stream: BinaryIO, note: Note) -> Iterator[Batch]:
    """Texts of the requests by attribute, in batches, with their line numbers."""
    document = _Requests(form)
    try:
        while piece := stream.read(_PIECE):
            document.parser.Parse(piece, False)
            if len(document.rows) >= BATCH:
                yield document.gathered()
        document.parser.Parse(b"", True)
    except expat.ExpatError as error:
        note(f"not well-formed ({expat.errors.messages[error.code]}), and all after it", 1, f"line {error.lineno}")
    except _DocumentTypeError:
        note("document type declaration, and all after it", 1, f"line {document.parser.CurrentLineNumber}")
    if document.inner:
        note("request inside another request, which is counted as a whole", document.inner, "")
    if document.rows:
        yield document.gathered()
