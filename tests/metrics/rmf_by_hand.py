"""RMF records made byte by byte from the offsets that IBM prints, without layouts, and what metrics make of them."""

from __future__ import annotations

import datetime
import struct
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from plexlens.ingest import smf
from plexlens.metrics.definition import Grain
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect
from tests.metrics.raw import START, rows_of

#: Values by their offset in a section.
Fields = dict[int, bytes]


def text(words: str, length: int) -> bytes:
    """EBCDIC, padded with blanks."""
    return words.encode("cp037").ljust(length, b"\x40")


def u8(value: int) -> bytes:
    return struct.pack(">B", value)


def u16(value: int) -> bytes:
    return struct.pack(">H", value)


def u32(value: int) -> bytes:
    return struct.pack(">I", value)


def hexadecimal(value: float, digits: int) -> bytes:
    """IBM hexadecimal floating point of a positive number: excess-64 power of 16, and a fraction of so many digits."""
    exponent = 64
    while value >= 1:
        value, exponent = value / 16, exponent + 1
    while 0 < value < 1 / 16:
        value, exponent = value * 16, exponent - 1
    return bytes([exponent if value else 0]) + round(value * 16**digits).to_bytes(digits // 2, "big")


def f4(value: float) -> bytes:
    return hexadecimal(value, 6)


def f8(value: float) -> bytes:
    return hexadecimal(value, 14)


def section(length: int, fields: Fields) -> bytes:
    """A section of that length, zeros where no field is."""
    data = bytearray(length)
    for offset, value in fields.items():
        assert offset + len(value) <= length
        data[offset : offset + len(value)] = value
    return bytes(data)


def tod(moment: datetime.datetime) -> bytes:
    units = ((moment - datetime.datetime(1900, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)) << 12
    return struct.pack(">Q", units)


def product(starts: datetime.datetime, *, level: int = 98, system: str = "SYS1") -> bytes:
    """The RMF product section of an interval of 15 minutes of a system on UTC."""
    fields = {
        2: text("RMF", 8),
        10: bytes.fromhex(f"0{starts:%H%M%S}F"),
        14: bytes.fromhex(f"01{starts:%y%j}F"),
        18: bytes.fromhex("1500000F"),
        24: u32(900),
        51: u8(level),
        80: tod(starts + timedelta(minutes=15)),
        88: text("PLEX", 8),
        96: text(system, 8),
    }
    return section(104, fields)


def record(
    kind: int,
    subtype: int,
    *sections: tuple[bytes, ...],
    starts: datetime.datetime = START,
    system: str = "SYS1",
    level: int = 98,
    tail: bytes = b"",
) -> bytes:
    """A record with the triplets of its product section and of these sections, from 28 on; `tail` follows them all."""
    every = ((product(starts, level=level, system=system),), *sections)
    at = 28 + 8 * len(every)
    triplets, data = b"", b""
    for entries in every:
        length = len(entries[0]) if entries else 0
        triplets += struct.pack(">IHH", at + len(data) if entries else 0, length, len(entries))
        data += b"".join(entries)
    ends = starts + timedelta(minutes=15)
    midnight = ends.replace(hour=0, minute=0)
    header = bytes([0xDE, kind]) + struct.pack(">I", int((ends - midnight).total_seconds() * 100))
    header += bytes.fromhex(f"01{ends:%y%j}F") + text(system, 4) + text("RMF", 4)
    body = header + struct.pack(">HHH", subtype, len(every), 0) + triplets + data + tail
    return struct.pack(">HH", len(body) + 4, 0) + body


def reading(folder: Path, *records: bytes) -> smf.SmfReading:
    """A dump with these records, opened."""
    (folder / "hand.smf").write_bytes(b"".join(records))
    return smf.read(folder / "hand.smf", source_id="s")


def tables(folder: Path, *records: bytes) -> dict[str, pa.Table]:
    """The raw tables of a dump with these records."""
    batches: dict[str, list[pa.RecordBatch]] = {}
    for table, batch in reading(folder, *records):
        batches.setdefault(table, []).append(batch)
    return {table: pa.Table.from_batches(parts) for table, parts in batches.items()}


def lines(folder: Path, grain: Grain, *records: bytes, **question: Any) -> list[dict[str, Any]]:
    """Rows of a grain over a dump with these records."""
    connection = connect()
    for table, contents in tables(folder, *records).items():
        add_table(connection, table, contents)
    return rows_of(evaluate(Inputs(connection), grain, **question))
