"""A slow, obvious decode of SMF 30, 42-6 and 73, independent of the product.

It reads no layout file and imports nothing of plexlens, so that the two can disagree.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.oracle.slow_forms import Row, decode, text, whole
from tests.oracle.slow_jobs_structures import (
    CHANNEL,
    CONTROL,
    DATA_SET,
    EXTENDED,
    GROUPS,
    JOB,
    OF_A_DATA_SET,
    PRODUCT_42,
    SMF30,
    SMF30_ACCOUNTING,
)
from tests.oracle.slow_mq import read_records

Found = Iterator[tuple[str, int, Row]]


def triplet(data: bytes, at: int) -> tuple[int, int, int]:
    """Offset, length, count."""
    offset, length, count = struct.unpack_from(">IHH", data, at)
    return offset, length, count


def smf30(data: bytes) -> Found:
    """Sections of SMF 30: triplets end where the first section begins."""
    first = min(offset for offset, _, count in (triplet(data, at) for at, *_ in SMF30[:4]) if count)
    for at, table, fields, _ in SMF30:
        if at + 8 > first:
            continue
        offset, length, count = triplet(data, at)
        for number in range(count if offset else 0):
            start = offset + number * length
            yield table, number + 1, decode(fields, data[start : start + length])
    at, _, count = triplet(data, SMF30_ACCOUNTING)
    for number in range(count if at else 0):
        length = data[at]
        yield "smf30_accounting", number + 1, {"smf30acg": text(data[at + 1 : at + 1 + length])}
        at += 1 + length


def smf42_6(data: bytes) -> Found:
    """Sections of SMF 42-6: a chain of data set headers, each of which points at its sections."""
    offset, length, _ = triplet(data, 28)
    yield "smf42_product", 1, decode(PRODUCT_42, data[offset : offset + length])
    offset, length, _ = triplet(data, 36)
    job = data[offset : offset + length]
    yield "smf42_6_job", 1, decode(JOB, job)
    at, header = whole(job[24:28]), whole(job[28:30])
    number = 0
    while at:
        number += 1
        entry = data[at : at + header]
        yield "smf42_6_data_set", number, decode(DATA_SET, entry)
        said = {"smf42_6_io": whole(job[34:36]), "smf42_6_access_method": whole(job[36:38])}
        for table, fields, _, where in OF_A_DATA_SET:
            place = whole(entry[where : where + 4])
            # Lengths of the first two stand in the job header, of the others behind the place.
            size = said.get(table, whole(entry[where + 4 : where + 6]))
            if place:
                yield table, number, decode(fields, data[place : place + size])
        at = whole(entry[0:4])


def smf73(data: bytes) -> Found:
    """Sections of SMF 73: what bytes 24 to 71 of a channel are depends on its measurement group."""
    offset, length, _ = triplet(data, 36)
    yield "smf73_1_control", 1, decode(CONTROL, data[offset : offset + length])
    offset, length, count = triplet(data, 44)
    for number in range(count):
        entry = data[offset + number * length : offset + (number + 1) * length]
        channel = decode(CHANNEL, entry)
        yield "smf73_1_channel", number + 1, channel
        group = channel["smf73cmg"]
        if group in GROUPS:
            yield f"smf73_1_group{group}", number + 1, decode(GROUPS[group], entry[24:72])  # type: ignore[index]
    offset, length, count = triplet(data, 52)
    for number in range(count if offset else 0):
        start = offset + number * length
        yield "smf73_1_extended", number + 1, decode(EXTENDED, data[start : start + length])


READERS = {(30, None): smf30, (42, 6): smf42_6, (73, 1): smf73}


def tables(path: Path) -> dict[str, list[Row]]:
    """Rows of every table, with the number of the record and of the section in it."""
    found: dict[str, list[Row]] = defaultdict(list)
    for record in read_records(path):
        record_type, subtype = record.kind
        reader = READERS.get((record_type, subtype)) or READERS.get((record_type, None))
        if reader is None:
            continue
        for table, number, row in reader(record.data):
            found[table].append({"record_no": record.number, "section_no": number} | row)
    return dict(found)
