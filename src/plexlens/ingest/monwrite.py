"""Monitor data of z/VM: the records of MONWRITE files and of streams of /dev/monreader, and an account of every byte.

A MONWRITE file is a sequence of 4096-byte blocks. A control record (MWTBK) holds the message that ``*MONITOR`` sent (40
bytes) and control elements of 12 bytes; after it come the frames of storage that the elements name, whole. A stream of
``/dev/monreader`` has the same elements without the control record, and only the bytes from start to end address.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Literal

from plexlens.errors import NothingUsableError, UnknownSourceError, UnreadableInputError
from plexlens.ingest.compression import USUAL, Expansion, open_expanded

FRAME = 4096
"""Bytes of a frame of storage, of a block of the file, and of a control record."""

HEADER = 20
"""Bytes of the header of each monitor record (MRRECHDR)."""

_MESSAGE = 40
_ELEMENT = 12
_KINDS = {0xE2: "sample", 0xC5: "event"}
_MESSAGE_PENDING = (8, 9)
_END_OF_FRAME = (1, 13)
_SUSPENSION = (1, 3)
_CHUNK = 1 << 20
_EPOCH = datetime(1900, 1, 1, tzinfo=UTC)

DOMAINS = {
    0: "system",
    1: "monitor",
    2: "scheduler",
    3: "storage",
    4: "user",
    5: "processor",
    6: "I/O",
    7: "seeks",
    8: "virtual network",
    9: "ISFC",
    10: "APPLDATA",
}
"""The domains of z/VM by number."""

Form = Literal["MONWRITE", "monreader"]


@dataclass(frozen=True, slots=True)
class Element:
    """A control element: the kind of data and the addresses of the first and the last byte."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Area:
    """Frames of an element: their first record, the place of their first byte in a frame, their offset in the file."""

    data: bytes
    begin: int
    phase: int
    kind: str
    offset: int
    cut: bool


@dataclass(frozen=True, slots=True)
class MonitorRecord:
    """A monitor record: its bytes with their header, ``sample`` or ``event``, and the offset in the file."""

    data: bytes
    kind: str
    offset: int

    @property
    def key(self) -> tuple[int, int]:
        """Domain and record."""
        return self.data[4], int.from_bytes(self.data[6:8], "big")


@dataclass(slots=True)
class Tally:
    """Number, bytes, first and last time of the records of a kind; the times are None where no clock is set."""

    records: int = 0
    bytes: int = 0
    first: datetime | None = None
    last: datetime | None = None


@dataclass(slots=True)
class Account:
    """Every byte of a file of monitor data, by what it is.

    Attributes
    ----------
    file : str
        The file.
    form : str
        ``MONWRITE`` or ``monreader``.
    tallies : dict
        By domain, record, and ``sample`` or ``event``.
    control_bytes, fill_bytes : int
        Control records or elements; rests of frames without records.
    skipped : Counter of str to int
        Bytes that could not be read, by reason.
    places : dict of str to int
        Offset of the first byte skipped for that reason.
    missing_bytes : int
        Bytes between the addresses of control elements that the file does not have: it ends before them.
    lost_events : int
        Event records that CP did not write because of suspensions, as suspension records say.
    """

    file: str
    form: Form
    tallies: dict[tuple[int, int, str], Tally] = field(default_factory=dict)
    control_bytes: int = 0
    fill_bytes: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    places: dict[str, int] = field(default_factory=dict)
    missing_bytes: int = 0
    lost_events: int = 0

    @property
    def records(self) -> int:
        """Records of all domains."""
        return sum(tally.records for tally in self.tallies.values())

    @property
    def record_bytes(self) -> int:
        """Bytes of all records."""
        return sum(tally.bytes for tally in self.tallies.values())

    @property
    def suspensions(self) -> int:
        """Times that CP suspended the collection of event data: event records are missing."""
        return sum(
            tally.records for (domain, number, _), tally in self.tallies.items() if (domain, number) == _SUSPENSION
        )

    def count(self, record: bytes, kind: str) -> None:
        """Count a record."""
        length, _, domain, _, number, clock = struct.unpack(">HHBBHQ", record[:16])
        if (domain, number) == _SUSPENSION and length >= HEADER + 4:
            self.lost_events += int.from_bytes(record[HEADER : HEADER + 4], "big")  # MTRSUS_LOSTRCCT
        tally = self.tallies.setdefault((domain, number, kind), Tally())
        tally.records += 1
        tally.bytes += length
        if clock:
            moment = _EPOCH + timedelta(microseconds=clock >> 12)
            tally.first = min(tally.first or moment, moment)
            tally.last = max(tally.last or moment, moment)

    def skip(self, reason: str, length: int, offset: int) -> None:
        """Count bytes that cannot be read."""
        if length:
            self.skipped[reason] += length
            self.places.setdefault(reason, offset)


def form_of(head: bytes) -> Form | None:
    """The form of monitor data that a file begins with; None for any other file."""
    if _elements(head):
        return "MONWRITE"
    if len(head) >= _ELEMENT + HEADER and _element(head[:_ELEMENT]) and _is_header(head[_ELEMENT:]):
        return "monreader"
    return None


def read_account(path: Path, head: bytes, expansion: Expansion = USUAL) -> Account:
    """Count the records of a file of monitor data; parameters and errors are those of `read_records`."""
    account = account_of(path, head)
    for _ in read_records(account, expansion):
        pass
    return account


def account_of(path: Path, head: bytes) -> Account:
    """The account of a file of which nothing is read yet.

    Parameters
    ----------
    path
        The file.
    head
        Its first bytes, decompressed.

    Raises
    ------
    UnknownSourceError
        It is not monitor data.
    """
    form = form_of(head)
    if form is None:
        raise UnknownSourceError(
            file=str(path),
            what="the file begins with neither a MONWRITE control record nor a monreader control element",
            remedy="send the MONWRITE file in binary; count the records of an SMF dump with plexlens records",
        )
    return Account(str(path), form)


def read_records(account: Account, expansion: Expansion = USUAL) -> Iterator[MonitorRecord]:
    """The records of a file in its order; what is read is added to the account.

    Parameters
    ----------
    account
        The account of the file, as `account_of` makes it.
    expansion
        Limits of a compressed file.

    Raises
    ------
    NothingUsableError
        It has no record.
    UnreadableInputError
        It cannot be read.
    """
    path = Path(account.file)
    try:
        stream, raw = open_expanded(path, expansion)
        with raw, stream:
            yield from (_read_blocks if account.form == "MONWRITE" else _read_elements)(stream, account)
    except OSError as error:
        raise UnreadableInputError(
            file=str(path), what=f"the file cannot be read: {error}", remedy="check it, and transfer it again in binary"
        ) from error
    if not account.records:
        raise NothingUsableError(
            file=str(path),
            what="the file has control information of z/VM monitor data, and no record",
            remedy="check that the transfer is complete and that MONITOR START was issued",
        )


def _read_blocks(stream: BinaryIO, account: Account) -> Iterator[MonitorRecord]:
    offset = 0
    while block := _read(stream, FRAME):
        elements = _elements(block) if len(block) == FRAME else ()
        if not elements:
            reason = "no control record where one is due" if len(block) == FRAME else "the file ends within a block"
            account.skip(reason, len(block), offset)
            offset += len(block)
            continue
        account.control_bytes += FRAME
        offset += FRAME
        for element in elements:
            first = element.start // FRAME * FRAME
            due = (element.end // FRAME + 1) * FRAME - first
            begin, stop = element.start - first, element.end + 1 - first
            there = 0
            for data in _frames(stream, due, FRAME):
                inside = data[: max(stop - there, 0)]
                is_cut = len(data) % FRAME > 0 and there + len(data) < stop
                area = _Area(inside, min(max(begin - there, 0), len(inside)), 0, element.kind, offset, is_cut)
                yield from _records(area, account)
                there += len(data)
                offset += len(data)
            account.fill_bytes += min(begin, there) + max(there - stop, 0)
            account.missing_bytes += stop - max(begin, min(there, stop))


def _read_elements(stream: BinaryIO, account: Account) -> Iterator[MonitorRecord]:
    offset = 0
    while head := _read(stream, _ELEMENT):
        element = _element(head)
        if element is None:
            reason = "no control element where one is due" if len(head) == _ELEMENT else "the file ends within a block"
            rest = sum(map(len, iter(lambda: stream.read(_CHUNK), b"")))
            account.skip(reason, len(head) + rest, offset)
            return
        account.control_bytes += _ELEMENT
        offset += _ELEMENT
        due = element.end + 1 - element.start
        phase = element.start % FRAME
        for data in _frames(stream, due, FRAME - phase):
            due -= len(data)
            is_cut = due > 0 and (phase + len(data)) % FRAME > 0
            yield from _records(_Area(data, 0, phase, element.kind, offset, is_cut), account)
            offset += len(data)
            phase = 0
        account.missing_bytes += due


def _records(area: _Area, account: Account) -> Iterator[MonitorRecord]:
    """The records of an area, each counted.

    A record does not cross the end of a frame, so reading continues at the next frame where bytes are not a record.
    """
    data, at = area.data, area.begin
    while at < len(data):
        limit = min(len(data), at + FRAME - (at + area.phase) % FRAME)
        room = limit - at
        length = int.from_bytes(data[at : at + 2], "big")
        if not _is_header(data[at : at + HEADER]) or length > room:
            if not any(data[at:limit]):
                account.fill_bytes += room
            elif area.cut and limit == len(data):
                account.skip("the file ends within a record", room, area.offset + at)
            else:
                account.skip("no record header, to the end of the frame", room, area.offset + at)
            at = limit
            continue
        record = data[at : at + length]
        account.count(record, area.kind)
        yield MonitorRecord(record, area.kind, area.offset + at)
        ends_frame = (data[at + 4], int.from_bytes(data[at + 6 : at + 8], "big")) == _END_OF_FRAME
        at += length
        if ends_frame:
            account.fill_bytes += limit - at
            at = limit


def _is_header(data: bytes) -> bool:
    """Whether bytes can be the header of a record: at least 20 bytes long, and the two bytes after the length zero."""
    return len(data) >= HEADER and int.from_bytes(data[:2], "big") >= HEADER and data[2:4] == b"\0\0"


def _elements(block: bytes) -> tuple[Element, ...]:
    """The control elements of a control record; empty if the bytes are not a control record.

    Their number follows from the first and last address of the control area, which the message gives.
    """
    if len(block) < _MESSAGE + _ELEMENT or block[3] not in _MESSAGE_PENDING:
        return ()
    first, last = struct.unpack(">II", block[12:20])
    length = last - first + 1
    if not 0 < length <= FRAME - _MESSAGE or length % _ELEMENT or _MESSAGE + length > len(block):
        return ()
    places = range(_MESSAGE, _MESSAGE + length, _ELEMENT)
    elements = [_element(block[at : at + _ELEMENT]) for at in places]
    return tuple(element for element in elements if element) if all(elements) else ()


def _element(data: bytes) -> Element | None:
    """A control element; None if the bytes are not such an element."""
    if len(data) < _ELEMENT or data[0] not in _KINDS or not (data[1] or data[2]):
        return None
    start, end = struct.unpack(">II", data[4:12])
    return Element(_KINDS[data[0]], start, end) if start < end < 1 << 31 else None


def _frames(stream: BinaryIO, size: int, first: int) -> Iterator[bytes]:
    """The data of an element in parts that end where frames do: its addresses may name two gigabytes.

    Parameters
    ----------
    stream, size
        The data.
    first
        Bytes to the end of the first frame.
    """
    part = min(size, first)
    while part and (data := _read(stream, part)):
        yield data
        size -= len(data)
        part = min(size, _CHUNK) if len(data) == part else 0


def _read(stream: BinaryIO, size: int) -> bytes:
    """Bytes of a stream: as many as asked for, fewer only at its end."""
    return b"".join(_chunks(stream, size))


def _chunks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    while size and (chunk := stream.read(min(size, _CHUNK))):
        size -= len(chunk)
        yield chunk
