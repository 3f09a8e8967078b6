"""CICS monitoring records made byte by byte, with values drawn at random."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass

#: Owner, type, number, length and short name of fields, in IBM's list of performance data; the last is a user's own.
FIELDS = (
    ("DFHTASK", "C", "001", 4, "TRAN"),
    ("DFHTERM", "C", "002", 4, "TERM"),
    ("DFHCICS", "C", "089", 8, "USERID"),
    ("DFHCICS", "T", "005", 8, "START"),
    ("DFHCICS", "T", "006", 8, "STOP"),
    ("DFHTASK", "P", "031", 4, "TRANNUM"),
    ("DFHTASK", "A", "064", 4, "TASKFLAG"),
    ("DFHPROG", "C", "114", 4, "ABCODEC"),
    ("DFHTASK", "S", "007", 12, "USRDISPT"),
    ("DFHTASK", "S", "008", 12, "USRCPUT"),
    ("DFHTASK", "S", "125", 12, "DSPDELAY"),
    ("DFHFILE", "A", "036", 4, "FCGETCT"),
    ("DFHDATA", "A", "180", 4, "DB2REQCT"),
    ("SITE", "A", "901", 4, "OWNCOUNT"),
)
SHORT_CLOCKS = tuple((*field[:3], 8 if field[1] == "S" else field[3], field[4]) for field in FIELDS)

Field = tuple[str, str, str, int, str]
HEADER = 44
PRODUCT = 80


def ebcdic(written: str, length: int) -> bytes:
    """Text, blank padded."""
    return written.ljust(length).encode("cp037")


def record(
    system: str, applid: str, monitoring_class: int, connectors: Sequence[int], entries: Sequence[bytes]
) -> bytes:
    """A record 110-1, written at 10:00 on 2026-03-01 (day 060) of the local clock."""
    listed = struct.pack(f">{len(connectors)}H", *connectors)
    data = listed + b"".join(entries)
    start = HEADER + PRODUCT
    product = bytearray(PRODUCT)
    product[2:18] = ebcdic("GENERIC", 8) + ebcdic(applid, 8)
    struct.pack_into(">H", product, 22, monitoring_class)
    if connectors:
        struct.pack_into(">IHH", product, 24, start, 2, len(connectors))
    if entries:
        struct.pack_into(">IHH", product, 32, start + len(listed), len(entries[0]), len(entries))
    header = struct.pack(
        ">BBI4s4s4sHHH", 0x5E, 110, 3_600_000, bytes.fromhex("0126060f"), ebcdic(system, 4), b"", 1, 2, 0
    )
    header = header[:14] + ebcdic("CICS", 4) + header[18:]
    header += struct.pack(">IHHIHH", HEADER, PRODUCT, 1, start, len(data), 1)
    body = header + bytes(product) + data
    return struct.pack(">HH", len(body) + 4, 0) + body


def dictionary(system: str, applid: str, fields: Sequence[Field], first: int) -> bytes:
    """A dictionary record of these fields, with connectors from `first` on."""
    entries, offset = [], 0
    for connector, (owner, kind, number, length, name) in enumerate(fields, start=first):
        numbers = struct.pack(">HHH", length, connector, offset)
        entries.append(ebcdic(owner, 8) + ebcdic(kind, 1) + ebcdic(number, 3) + numbers + ebcdic(name, 8))
        offset += length
    return record(system, applid, 1, (), entries)


def field_value(dice: random.Random, field: Field) -> bytes:
    """Random bytes that a field can hold."""
    _, kind, _, length, _ = field
    if kind == "C":
        return ebcdic("".join(dice.choices("ABCXYZ019 ", k=dice.randint(0, length))), length)
    if kind == "T":
        seconds = 2_208_988_800 + 1_772_323_200 + dice.randrange(86_400)
        return struct.pack(">Q", dice.choice((0, (seconds * 1_000_000 + dice.randrange(1_000_000)) << 12)))
    if kind == "P":
        return bytes.fromhex(f"{dice.randrange(10**7):07}c")
    if kind == "S":
        time = struct.pack(">Q", dice.randrange(2**48)) if length == 12 else struct.pack(">I", dice.randrange(2**32))
        return time + bytes([dice.choice((0, 0x80))]) + dice.randrange(2**24).to_bytes(3, "big")
    return struct.pack(">I", dice.choice((0, 0, dice.randrange(2**32))))


def compress(dice: random.Random, data: bytes) -> bytes:
    """Data as CSRCESRV could have compressed it: runs cut at random places."""
    out, at = b"\x80", 0
    while at < len(data):
        same = len(data[at : at + 127]) - len(data[at : at + 127].lstrip(data[at : at + 1]))
        if same > 1 and dice.random() < 0.9:
            count = dice.randint(2, same)
            out, at = out + bytes([0x80 + count]) + data[at : at + 1], at + count
        else:
            count = dice.randint(1, min(127, len(data) - at))
            out, at = out + bytes([count]) + data[at : at + count], at + count
    return out


def packed(dice: random.Random, plain: bytes) -> bytes:
    """The record with its data section compressed."""
    start = HEADER + PRODUCT
    data = compress(dice, plain[start:])
    out = bytearray(plain[:start] + data)
    struct.pack_into(">H", out, HEADER + 58, len(data))
    struct.pack_into(">H", out, 40, len(data))
    struct.pack_into(">H", out, 0, len(out))
    return bytes(out)


def segments(dice: random.Random, whole: bytes) -> bytes:
    """The record in up to four segments, each after its descriptor word."""
    body = whole[4:]
    cuts = sorted(dice.sample(range(20, len(body)), dice.randint(0, 3)))
    bounds = [0, *cuts, len(body)]
    out = b""
    for number, (start, end) in enumerate(itertools.pairwise(bounds)):
        first, last = number == 0, number == len(bounds) - 2
        code = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}[first, last]
        out += struct.pack(">HBB", end - start + 4, code, 0) + body[start:end]
    return out


@dataclass(frozen=True)
class Dump:
    """A dump of several regions."""

    content: bytes
    #: Rows of the user's own field, which no layout knows.
    unknown: int
    compressed: int


def dump(seed: int) -> Dump:
    """Regions of two systems, one of which writes no dictionary; dictionaries before, between and after records."""
    dice = random.Random(seed)
    out, unknown, compressed = [], 0, 0
    regions = [("SYS1", "CICSA"), ("SYS1", "CICSB"), ("SYS2", "CICSA"), ("SYS2", "CICSNONE")]
    for number, region in enumerate(regions):
        fields = list(dice.choice((FIELDS, SHORT_CLOCKS)))
        dice.shuffle(fields)
        first = dice.randint(1, 500)
        mine = []
        for _ in range(dice.randint(1, 8)):
            chosen = dice.sample(range(len(fields)), dice.randint(1, len(fields)))
            entries = [b"".join(field_value(dice, fields[n]) for n in chosen) for _ in range(dice.randint(1, 40))]
            mine.append(record(*region, 3, [first + n for n in chosen], entries))
            if number < 3 and any(fields[n][0] == "SITE" for n in chosen):
                unknown += len(entries)
        if number < 3:
            mine.insert(dice.randint(0, len(mine)), dictionary(*region, fields, first))
        out.append(mine)
    mixed = []
    while any(out):
        mixed.append(dice.choice([one for one in out if one]).pop(0))
    content = b""
    for one in mixed:
        compressing = dice.random() < 0.5
        compressed += compressing
        content += segments(dice, packed(dice, one) if compressing else one)
    return Dump(content, unknown, compressed)
