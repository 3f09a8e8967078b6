"""A slow, obvious decode of SMF 115 and 116, independent of the product.

It reads no layout file and imports nothing of plexlens, so that the two can disagree.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.slow_forms import UTC, Row, decode, text, whole
from tests.oracle.slow_mq_structures import (
    CHANNEL_INITIATOR,
    PARTS,
    QWHC,
    QWHS,
    QWHS_CHINIT,
    QWHX,
    WITHOUT_QWHS,
)


@dataclass(frozen=True)
class Record:
    """A whole record, its first segment's place in the file, and how many segments it took."""

    number: int
    offset: int
    segments: int
    data: bytes

    @property
    def kind(self) -> tuple[int, int | None]:
        """Record type, and subtype where the header says that it has one."""
        has_subtype = bool(self.data[4] & 0x40)
        return self.data[5], struct.unpack_from(">H", self.data, 22)[0] if has_subtype else None

    def local_time(self) -> datetime.datetime:
        """When the record was written, by the system's local clock."""
        hundredths = whole(self.data[6:10])
        digits = self.data[10:14].hex()
        first_of_january = datetime.datetime(1900 + 100 * int(digits[1]) + int(digits[2:4]), 1, 1)
        return first_of_january + datetime.timedelta(days=int(digits[4:7]) - 1, milliseconds=10 * hundredths)

    def triplets(self) -> dict[int, tuple[int, int, int]]:
        """Offset, length, count by triplet number; the first section ends the triplets."""
        found: dict[int, tuple[int, int, int]] = {}
        end = len(self.data)
        for number in range(20):
            at = 28 + 8 * number
            if at + 8 > end:
                break
            offset, length, count = struct.unpack_from(">IHH", self.data, at)
            if offset:
                end = min(end, offset)
            if at + 8 <= end and offset and count:
                found[number] = (offset, length, count)
        return found


def read_records(path: Path) -> Iterator[Record]:
    """Records of a file with record descriptor words, segments of spanned records joined."""
    content = path.read_bytes()
    at = number = 0
    while at < len(content):
        length, control = struct.unpack_from(">HB", content, at)
        first, last = control in (0, 1), control in (0, 2)
        segment = content[at : at + length]
        if first:
            start, segments, data = at, 0, segment[:4]
        data, segments, at = data + segment[4:], segments + 1, at + length
        if last:
            number += 1
            yield Record(number, start, segments, data)


def chained(section: bytes) -> dict[int, bytes]:
    """The headers of a product section, each with its own length, by type."""
    headers: dict[int, bytes] = {}
    while len(section) >= 4 and whole(section[:2]) >= 4:
        headers[section[2]] = section[: whole(section[:2])]
        section = section[whole(section[:2]) :]
    return headers


def product_headers(record: Record) -> dict[int, bytes]:
    """Headers of the product section by type: 1 QWHS, 2 QWHC, 16 QWHX."""
    if record.kind in WITHOUT_QWHS or 0 not in record.triplets():
        return {}
    offset, length, _ = record.triplets()[0]
    section = record.data[offset : offset + length]
    return chained(section)


def identity(record: Record, qwhs: Row) -> Row:
    """System, queue manager, interval in UTC and the local time offset."""
    row: Row = {"system": text(record.data[14:18]), "subsystem": text(record.data[18:22]), "sysplex": None}
    row |= {"interval_start": None, "interval_end": None, "utc_offset": None, "record_no": record.number}
    built = qwhs.get("qwhsstck")
    if isinstance(built, datetime.datetime):
        quarters = round((record.local_time() - built.replace(tzinfo=None)).total_seconds() / 900)
        offset = datetime.timedelta(seconds=900 * quarters)
        row |= {"utc_offset": offset.total_seconds(), "interval_end": built}
        start, duration = qwhs["qwhstime"], qwhs["qwhsdurn"]
        if isinstance(start, datetime.datetime) and isinstance(duration, float):
            row["interval_start"] = (start - offset).replace(tzinfo=UTC)
            # Whole microseconds: a part of one is cut, as in the clock itself.
            length = datetime.timedelta(microseconds=int(duration * 1_000_000 + 1e-4))
            row["interval_end"] = (start - offset + length).replace(tzinfo=UTC)
    return row


def sections(record: Record) -> Iterator[tuple[str, Row]]:
    """Every section of a record, as table name and row."""
    record_type, subtype = record.kind
    if record_type not in (115, 116) or subtype is None or (record_type, subtype) not in PARTS:
        return
    kind = (record_type, subtype)
    headers = product_headers(record)
    standard = QWHS_CHINIT if kind in CHANNEL_INITIATOR else QWHS
    qwhs = decode(standard, headers[1]) if 1 in headers else {}
    common = identity(record, qwhs)
    if qwhs:
        yield "smf115_231_qwhs" if standard is QWHS_CHINIT else "smf115_qwhs", common | {"section_no": 1} | qwhs
    for number, table, fields in ((2, "smf116_qwhc", QWHC), (16, "smf115_qwhx", QWHX)):
        if number in headers:
            yield table, common | {"section_no": 1} | decode(fields, headers[number])
    triplets = record.triplets()
    for part in PARTS[kind]:
        offset, length, count = triplets.get(part.triplet, (0, 0, 0))
        for entry in range(count):
            start = offset + entry * length
            section = record.data[start : start + length]
            if not part.element:
                yield part.table, common | {"section_no": entry + 1} | decode(part.fields, section)
                continue
            for element in range(part.elements):
                at = part.start + element * part.element
                raw = section[at : at + part.element]
                if len(raw) == part.element and any(raw):
                    place = {"section_no": entry * part.elements + element + 1}
                    yield part.table, common | place | decode(part.fields, raw)


def by_table(path: Path, sections_of: Callable[[Record], Iterable[tuple[str, Row]]]) -> dict[str, list[Row]]:
    """The rows of all records of a file by table, in file order."""
    result: dict[str, list[Row]] = {}
    for record in read_records(path):
        for table, row in sections_of(record):
            result.setdefault(table, []).append(row)
    return result


def tables(path: Path) -> dict[str, list[Row]]:
    """All rows of a file by table, in file order."""
    return by_table(path, sections)
