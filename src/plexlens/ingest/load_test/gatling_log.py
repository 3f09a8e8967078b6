"""Scanner of Gatling's binary log, its ``simulation.log`` since 3.13.

Numbers are big-endian. The log begins with a record of the run; each other record begins with its kind. Times are
milliseconds since the start of the run. A text is written out once, with its number; later the number stands for it,
with the sign reversed. A text has its length, its bytes, and how they are to be read: as Latin-1, or as UTF-16 in the
byte order of the machine that Gatling ran on. Little-endian is assumed, which is wrong for a Gatling on z/Architecture
and texts beyond Latin-1.

Source: Gatling's ``LogFileDataWriter.scala`` and ``LogFileReader.scala``, 3.13.0 to 3.15.1.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from plexlens.ingest.load_test.forms import Form
from plexlens.ingest.load_test.request import BATCH, Batch, Note

#: What a place in a file is called.
PLACE = "record"

_BEGIN = re.compile("\0\0\0\0.[0-9]+[.][0-9]+", re.DOTALL)
_RUN, _REQUEST, _USER, _GROUP, _ERROR = range(5)
_INT, _LONG = struct.Struct(">i"), struct.Struct(">q")
#: Start, end, whether it is good.
_OUTCOME = struct.Struct(">ii?")
#: Bytes of a text, entries of a list: more than any log has. A damaged length would take in the whole file otherwise.
_LONGEST, _MOST = 1 << 20, 1 << 12
_CHUNK = 1 << 20


class _UnreadableError(Exception):
    """Bytes that no record of a log can have."""


_Request: TypeAlias = tuple[str, str, int, int, bool, str]
"""Groups, name, start, end, whether it is good, and message; times as the log has them."""


def starts(form: Form, head: str) -> bool:
    """Whether the beginning of a file is of this form."""
    return _BEGIN.match(head) is not None


def scan(form: Form, stream: BinaryIO, note: Note) -> Iterator[Batch]:
    """Texts of the requests by field, in batches, with the numbers of their records."""
    log = _Log(stream)
    rows: list[_Request] = []
    places: list[int] = []
    number, unmatched, first_unmatched = 0, 0, 0
    try:
        while log.has_more():
            number += 1
            row = log.next(log.run if number == 1 else log.record)
            if row is None:
                continue
            if row[3] == log.without_request:
                unmatched, first_unmatched = unmatched + 1, first_unmatched or number
                continue
            rows.append(row)
            places.append(number)
            if len(rows) >= BATCH:
                yield log.fields(rows), pa.array(places, pa.int64())
                rows, places = [], []
    except EOFError:
        note("record that is cut at the end of the file", 1, f"record {number}")
    except _UnreadableError as failure:
        note(f"rest of the file from byte {log.offset:,} on, {failure}", 1, f"record {number}")
    if unmatched:
        note("message that came without a request", unmatched, f"record {first_unmatched}")
    if rows:
        yield log.fields(rows), pa.array(places, pa.int64())


class _Log:
    """The records of a log, one after the other."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.data = b""
        self.at = 0
        self.before = 0
        self.texts: dict[int, str] = {}
        self.start = 0
        self.without_request = 0

    @property
    def offset(self) -> int:
        """Bytes of the file before the record that is read next."""
        return self.before + self.at

    def has_more(self) -> bool:
        """Whether a record follows."""
        return self.at < len(self.data) or self._fill()

    def next(self, read: Callable[[int], tuple[_Request | None, int]]) -> _Request | None:
        """The request that a reader finds in the next record; None if the record is of something else.

        Raises
        ------
        EOFError
            The file ends in it.
        _UnreadableError
            It cannot be a record.
        """
        while True:
            try:
                row, self.at = read(self.at)
            except (struct.error, IndexError):
                if not self._fill():
                    raise EOFError from None
            else:
                return row

    def _fill(self) -> bool:
        more = self.stream.read(_CHUNK)
        self.before += self.at
        self.data, self.at = self.data[self.at :] + more, 0
        return bool(more)

    def run(self, at: int) -> tuple[None, int]:
        """The first record: version, class, start, description, scenarios, assertions."""
        at = self._text(self._text(at + 1)[1])[1]
        (self.start,) = _LONG.unpack_from(self.data, at)
        # The end of a message without a request is the smallest number of 64 bits, less the start, cut to 32 bits.
        self.without_request = (-self.start + (1 << 31)) % (1 << 32) - (1 << 31)
        at = self._text(at + 8)[1]
        scenarios, at = self._count(at)
        for _ in range(scenarios):
            at = self._text(at)[1]
        assertions, at = self._count(at)
        for _ in range(assertions):
            (size,) = _INT.unpack_from(self.data, at)
            at = self._within(at + 4, size)
        return None, at

    def record(self, at: int) -> tuple[_Request | None, int]:
        """Any other record."""
        kind = self.data[at]
        if kind == _REQUEST:
            return self._request(at + 1)
        if kind == _USER:
            return None, self._within(at + 1, 9)
        if kind == _GROUP:
            return None, self._within(self._groups(at + 1)[1], 13)
        if kind == _ERROR:
            return None, self._within(self._known_text(at + 1)[1], 4)
        raise _UnreadableError(f"where a record of kind {kind} begins, which Gatling 3.13 to 3.15 do not write")

    def fields(self, rows: Sequence[_Request]) -> dict[str, pa.Array]:
        """Texts of requests by field."""
        groups, names, starts, ends, good, messages = zip(*rows, strict=True)

        def times(values: Sequence[int]) -> pa.Array:
            return pc.add(pa.array(values, pa.int64()), self.start).cast(pa.string())

        return {
            "group": pa.array(groups, pa.string()),
            "name": pa.array(names, pa.string()),
            "start": times(starts),
            "end": times(ends),
            "outcome": pc.if_else(pa.array(good, pa.bool_()), "OK", "KO"),
            "message": pa.array(messages, pa.string()),
        }

    def _request(self, at: int) -> tuple[_Request, int]:
        groups, at = self._groups(at)
        name, at = self._known_text(at)
        start, end, is_good = _OUTCOME.unpack_from(self.data, at)
        message, at = self._known_text(at + _OUTCOME.size)
        return (",".join(groups), name, start, end, is_good, message), at

    def _groups(self, at: int) -> tuple[list[str], int]:
        count, at = self._count(at)
        groups = []
        for _ in range(count):
            text, at = self._known_text(at)
            groups.append(text)
        return groups, at

    def _known_text(self, at: int) -> tuple[str, int]:
        (number,) = _INT.unpack_from(self.data, at)
        if number < 0:
            if (text := self.texts.get(-number)) is None:
                raise _UnreadableError(f"which refers to text {-number}, which was not written before")
            return text, at + 4
        self.texts[number], at = self._text(at + 4)
        return self.texts[number], at

    def _text(self, at: int) -> tuple[str, int]:
        (size,) = _INT.unpack_from(self.data, at)
        at += 4
        if not size:
            return "", at
        end = self._within(at, size)
        return self.data[at:end].decode("utf-16-le" if self.data[end] else "latin-1", "replace"), end + 1

    def _count(self, at: int) -> tuple[int, int]:
        (count,) = _INT.unpack_from(self.data, at)
        if not 0 <= count <= _MOST:
            raise _UnreadableError(f"with a list of {count:,} entries")
        return count, at + 4

    def _within(self, at: int, size: int) -> int:
        """The place after this number of bytes."""
        if not 0 <= size <= _LONGEST:
            raise _UnreadableError(f"with a text of {size:,} bytes")
        if at + size > len(self.data):
            raise IndexError
        return at + size
