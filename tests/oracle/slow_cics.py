"""A slow, obvious decode of CICS performance records (SMF 110-1, class 3), independent of the product.

It reads no layout file and imports nothing of plexlens, so that the two can disagree. Offsets are those of IBM's
description of DFHSMFDS, DFHMNSMF and DFHMCTDR; they count from the record's descriptor word. Compressed data is
expanded by the description in a public post on CSRCESRV.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.slow_forms import Row, Value, text, utc_clock, whole
from tests.oracle.slow_mq import Record, read_records

#: What dictionary entries mean, as IBM's list of performance data numbers them: owner, type and number.
FIELDS = {
    ("DFHTASK", "C001"): "tran",
    ("DFHTERM", "C002"): "term",
    ("DFHCICS", "C089"): "userid",
    ("DFHCICS", "T005"): "start",
    ("DFHCICS", "T006"): "stop",
    ("DFHTASK", "P031"): "trannum",
    ("DFHTASK", "A064"): "taskflag",
    ("DFHPROG", "C114"): "abcodec",
    ("DFHTASK", "S007"): "usrdispt",
    ("DFHTASK", "S008"): "usrcput",
    ("DFHTASK", "S125"): "dspdelay",
    ("DFHFILE", "A036"): "fcgetct",
    ("DFHDATA", "A180"): "db2reqct",
}

TRIPLET = struct.Struct(">IHH")


@dataclass(frozen=True)
class Entry:
    """What a dictionary says of a connector."""

    owner: str
    kind: str
    number: str
    length: int


Region = tuple[str, str]
Dictionary = dict[int, Entry]


@dataclass(frozen=True)
class Monitoring:
    """A monitoring record in plain form."""

    number: int
    region: Region
    monitoring_class: int
    data: bytes

    def entries(self, at: int) -> list[bytes]:
        """Bytes of each entry behind a triplet of the product section."""
        (product,) = struct.unpack_from(">I", self.data, 28)
        offset, length, count = TRIPLET.unpack_from(self.data, product + at)
        return [self.data[offset + n * length : offset + (n + 1) * length] for n in range(count)]


def expand(packed: bytes) -> bytes:
    """Data in plain form: after X'80' come runs, whose first byte tells their kind and length."""
    assert packed[0] == 0x80
    out, at = b"", 1
    while at < len(packed):
        count = packed[at] % 128
        if packed[at] < 128:
            out, at = out + packed[at + 1 : at + 1 + count], at + 1 + count
        else:
            out, at = out + packed[at + 1 : at + 2] * count, at + 2
    return out


def monitoring(record: Record) -> Monitoring | None:
    """The record, if it is one of CICS monitoring."""
    if record.kind != (110, 1):
        return None
    data = record.data
    (product,) = struct.unpack_from(">I", data, 28)
    (packed,) = struct.unpack_from(">H", data, product + 58)
    if packed:
        (section,) = struct.unpack_from(">I", data, 36)
        data = data[:section] + expand(data[section : section + packed])
    region = text(data[14:18]), text(data[product + 10 : product + 18])
    (monitoring_class,) = struct.unpack_from(">H", data, product + 22)
    return Monitoring(record.number, region, monitoring_class, data)


def dictionary(record: Monitoring) -> Dictionary:
    """The entries of a dictionary record by connector."""
    found: Dictionary = {}
    for entry in record.entries(32):
        length, connector = struct.unpack_from(">HH", entry, 12)
        found[connector] = Entry(text(entry[:8]), text(entry[8:9]), text(entry[9:12]), length)
    return found


def value(entry: Entry, raw: bytes) -> dict[str, Value]:
    """The columns of one field; none where the field is not listed above."""
    name = FIELDS.get((entry.owner, entry.kind + entry.number))
    if name is None:
        return {}
    if entry.kind == "S":
        seconds = whole(raw[:8]) / 4096e6 if len(raw) == 12 else whole(raw[:4]) * 16 / 1e6
        return {f"{name}_seconds": seconds, f"{name}_count": whole(raw[-3:])}
    if entry.kind == "P":
        return {name: int(raw.hex()[:-1])}
    forms = {"A": whole, "C": text, "T": lambda raw: utc_clock(whole(raw))}
    return {name: forms[entry.kind](raw)}


def rows(record: Monitoring, known: Dictionary) -> Iterator[Row]:
    """The rows of a performance record."""
    connectors = [whole(raw) for raw in record.entries(24)]
    for number, data in enumerate(record.entries(32), start=1):
        row: Row = {"record_no": record.number, "section_no": number}
        row["system"], row["subsystem"] = record.region
        at = 0
        for connector in connectors:
            entry = known[connector]
            row |= value(entry, data[at : at + entry.length])
            at += entry.length
        yield row


def tables(path: Path) -> tuple[list[Row], list[int]]:
    """Rows of all performance records of a dump, and the numbers of those whose region has no dictionary.

    A record is described by the last dictionary of its region before it, else by the first after it.
    """
    records = [found for record in read_records(path) if (found := monitoring(record))]
    found: list[Row] = []
    missing: list[int] = []
    for at, record in enumerate(records):
        if record.monitoring_class != 3:
            continue
        order = [*reversed(records[:at]), *records[at:]]
        dictionaries = [one for one in order if one.monitoring_class == 1 and one.region == record.region]
        if dictionaries:
            found += rows(record, dictionary(dictionaries[0]))
        else:
            missing.append(record.number)
    return found, missing
