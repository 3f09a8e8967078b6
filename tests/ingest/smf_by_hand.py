"""SMF records made byte by byte, of a type that no product writes, and the layouts of it that a site could have."""

from __future__ import annotations

import struct
from datetime import datetime
from pathlib import Path

TYPE = 200

HEADER = """field,offset,length,format,unit,description,since,source,confidence
SMF200TO,24,4,u32,,offset of things,,made up,high
SMF200TL,28,2,u16,,length of a thing,,made up,high
SMF200TN,30,2,u16,,count of things,,made up,high
"""
THING = """field,offset,length,format,unit,description,since,source,confidence
COUNT,0,8,u64,,how many,,made up,high
"""
DELAY = "DELAY,8,4,u32,ms,how long,,made up,high\n"
NAME = "NAME,12,4,ebcdic,,what,,made up,high\n"
MAP = """# identity: standard
layout,triplet,rule,description,source,confidence
smf_header_with_subtype,,header,standard header,made up,high
smf200_1_header,,header,self-defining section,made up,high
smf200_1_thing,SMF200TO,entries,a thing,made up,high
"""


def layouts(folder: Path, *fields: str) -> Path:
    """A site's layouts of type 200, subtype 1, with these fields of a thing after the first."""
    (folder / "records").mkdir(parents=True)
    (folder / "smf200_1_header.csv").write_text(HEADER)
    (folder / "smf200_1_thing.csv").write_text(THING + "".join(fields))
    (folder / "records" / "smf200_1.csv").write_text(MAP)
    return folder


def record(
    at: datetime, *, subtype: int = 1, system: str = "SYS1", things: tuple[bytes, ...] = (), record_type: int = TYPE
) -> bytes:
    """A record written `at` (local time), with its descriptor word; all things are of one length."""
    hundredths = ((at.hour * 60 + at.minute) * 60 + at.second) * 100 + at.microsecond // 10_000
    day = f"0{at.year // 100 - 19}{at.year % 100:02}{at.timetuple().tm_yday:03}F"
    data = b"".join(things)
    length = len(things[0]) if things else 0
    body = struct.pack(
        ">BBI4s4s4sH", 0x5E, record_type, hundredths, bytes.fromhex(day), *_text(system, "SUBS"), subtype
    )
    body += struct.pack(">IHH", 32, length, len(things)) + data
    return struct.pack(">HH", len(body) + 4, 0) + body


def marker(at: datetime, record_type: int) -> bytes:
    """A record of 18 bytes, as the dump program writes before (2) and after (3) the others."""
    return struct.pack(">HH", 18, 0) + record(at, record_type=record_type)[4:18]


def thing(count: int, delay: int | None = None, name: str | None = None, codepage: str = "cp037") -> bytes:
    """One section: 8, 12 or 16 bytes."""
    data = struct.pack(">Q", count)
    if delay is not None:
        data += struct.pack(">I", delay)
    if name is not None:
        data += name.ljust(4).encode(codepage)
    return data


def _text(*words: str) -> list[bytes]:
    return [word.ljust(4).encode("cp037") for word in words]
