"""Records of SMF 30, 42-6 and 73 made byte by byte from the structures that the slow decode reads them with.

The bytes of a field are drawn at random among those that its form can have, so that no two fields of a section are
alike and a field read from the wrong place has another value.
"""

from __future__ import annotations

import datetime
import random
import struct

from tests.oracle.slow_forms import FORMS, SECONDS_1900_TO_1970, TOD_UNITS_IN_A_SECOND, Field
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
    SMF30_HEADER,
    SMF30_OLD_HEADER,
)

AT = datetime.datetime(2026, 3, 2, 8, 15, tzinfo=datetime.UTC)
#: Local time is an hour ahead of UTC.
OFFSET = datetime.timedelta(hours=1)
LENGTH = datetime.timedelta(minutes=15)


def clock(moment: datetime.datetime) -> bytes:
    """A TOD clock value."""
    seconds = int(moment.timestamp()) + SECONDS_1900_TO_1970
    return struct.pack(">Q", seconds * TOD_UNITS_IN_A_SECOND)


def packed_day(moment: datetime.datetime) -> bytes:
    """A date as 0cyydddF."""
    return bytes.fromhex(f"0{moment.year // 100 - 19}{moment.year % 100:02}{moment.timetuple().tm_yday:03}F")


def name(text: str, length: int) -> bytes:
    """EBCDIC text, blank padded."""
    return text.ljust(length).encode("cp037")


class Noise:
    """Bytes for fields, the same in every run."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def field(self, field: Field) -> bytes:
        """Bytes that the field's form can have."""
        form, length = field.form, field.length
        assert form in FORMS
        data = self.random.randbytes(length)
        if form == "text":
            data = name("".join(self.random.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=length)), length)
        elif form == "day":
            data = packed_day(datetime.datetime(1990, 1, 1) + datetime.timedelta(days=self.random.randrange(20_000)))
        elif form == "daytime":
            data = struct.pack(">I", self.random.randrange(8_640_000))
        elif form in {"utc", "local"}:
            data = clock(AT + datetime.timedelta(seconds=self.random.randrange(10_000_000)))
        elif form.startswith("float"):
            data = bytes([self.random.randrange(0x42, 0x48)]) + data[1:]
        elif form in {"mib8", "u1024_8", "i1024_8", "usec8"}:
            # Bytes are counted in 64 bits, and seconds to the last bits of a double.
            data = struct.pack(">Q", self.random.randrange(2**40))
        return data

    def section(self, fields: list[Field], length: int, **given: bytes) -> bytes:
        """A section of that length; reserved bytes are filled as well."""
        section = bytearray(self.random.randbytes(length))
        for field in fields:
            section[field.offset : field.offset + field.length] = given.get(field.name) or self.field(field)
        return bytes(section)


def record(record_type: int, subtype: int, body: bytes, *, subsystem: str = "STC") -> bytes:
    """A record: standard header with subtype, then the bytes from offset 24 on."""
    local = (AT + OFFSET).replace(tzinfo=None)
    hundredths = ((local.hour * 60 + local.minute) * 60 + local.second) * 100
    header = struct.pack(">BBI4s4s4sH", 0x5E, record_type, hundredths, packed_day(local), name("SYS1", 4),
                         name(subsystem, 4), subtype)  # fmt: skip
    data = header + body
    return struct.pack(">HH", len(data) + 4, 0) + data


def smf30(noise: Noise, subtype: int, *, counts: dict[str, int] | None = None, old: bool = False) -> bytes:
    """A record of SMF 30 with every section; ``counts`` for those that are not there once, ``old`` to EXCP only."""
    header = bytearray((SMF30_OLD_HEADER if old else SMF30_HEADER) - 24)
    sections = b""

    def place(triplet: int, entries: list[bytes], length: int) -> None:
        nonlocal sections
        at = 24 + len(header) + len(sections)
        struct.pack_into(">IHH", header, triplet - 24, at if entries else 0, length, len(entries))
        sections += b"".join(entries)

    for triplet, table, fields, length in SMF30:
        if triplet + 8 > 24 + len(header):
            continue
        given = {"smf30iss": clock(AT - LENGTH), "smf30iet": clock(AT), "smf30typ": struct.pack(">H", subtype)}
        number = (counts or {}).get(table, 1)
        place(triplet, [noise.section(fields, length, **given) for _ in range(number)], length)
    texts = [name(text, len(text)) for text in ("PAYROLL", "", "4711")]
    place(SMF30_ACCOUNTING, [bytes([len(text)]) + text for text in texts], sum(len(text) + 1 for text in texts))
    return record(30, subtype, bytes(header) + sections)


def smf42_6(noise: Noise, *data_sets: tuple[str, ...]) -> bytes:
    """A record of SMF 42-6: for each data set the sections that it has, by table."""
    product, job, header = 24 + 20, 24 + 20 + 40, 120
    lengths = {table: length for table, _, length, _ in OF_A_DATA_SET}
    places = {table: at for table, _, _, at in OF_A_DATA_SET}
    at = job + 72
    sections = b""
    # The chain of headers stands last; each points at the next.
    parts: list[dict[str, int]] = []
    for has in data_sets:
        of_this: dict[str, int] = {}
        for table, fields, length, _ in OF_A_DATA_SET:
            if table in has:
                of_this[table] = at
                sections += noise.section(fields, length)
                at += length
        parts.append(of_this)
    first = at
    lengths_after = {88: "smf42_6_sync_1", 96: "smf42_6_sync_2", 104: "smf42_6_sync_3"}
    for number, of_this in enumerate(parts):
        following = first + (number + 1) * header if number + 1 < len(parts) else 0
        entry = bytearray(noise.section(DATA_SET, header))
        struct.pack_into(">I", entry, 0, following)
        for table, where in places.items():
            struct.pack_into(">I", entry, where, of_this.get(table, 0))
        for where, table in lengths_after.items():
            struct.pack_into(">H", entry, where + 4, lengths[table])
        sections += bytes(entry)
    whole_job = bytearray(noise.section(JOB, 72))
    struct.pack_into(">I", whole_job, 24, first)
    struct.pack_into(">H", whole_job, 28, header)
    struct.pack_into(">HH", whole_job, 34, lengths["smf42_6_io"], lengths["smf42_6_access_method"])
    body = struct.pack(">HH", 2, 0) + struct.pack(">IHH", product, 40, 1) + struct.pack(">IHH", job, 72, 1)
    body += noise.section(PRODUCT_42, 40, smf42pts=clock(AT - LENGTH), smf42pte=clock(AT))
    return record(42, 6, body + bytes(whole_job) + sections)


def rmf_product() -> bytes:
    """The product section of an RMF record: what tells the interval, the offset and the sysplex."""
    start = AT - LENGTH + OFFSET
    section = bytearray(104)
    section[2:10] = name("RMF", 8)
    section[10:14] = bytes.fromhex(f"0{start.hour:02}{start.minute:02}{start.second:02}F")
    section[14:18] = packed_day(start)
    section[18:22] = bytes.fromhex("1500000F")
    struct.pack_into(">I", section, 24, 900)
    struct.pack_into(">q", section, 60, int(OFFSET.total_seconds()) * TOD_UNITS_IN_A_SECOND)
    section[80:88] = clock(AT)
    section[88:96] = name("PLEX1", 8)
    return bytes(section)


def smf73(noise: Noise, groups: list[int], extended: int) -> bytes:
    """A record of SMF 73: a channel of each measurement group, zero for a path that is not there."""
    channels = []
    for number, group in enumerate(groups):
        section = bytearray(112)
        section[0] = number
        if group:
            section = bytearray(noise.section(CHANNEL, 112, smf73cmg=bytes([group])))
            section[24:72] = noise.section(GROUPS[group], 48)
        channels.append(bytes(section))
    parts = [
        (rmf_product(), 104, 1),
        (noise.section(CONTROL, 92), 92, 1),
        (b"".join(channels), 112, len(channels)),
        (b"".join(noise.section(EXTENDED, 36) for _ in range(extended)), 36, extended),
    ]
    at = 24 + 4 + 8 * len(parts)
    triplets = struct.pack(">HH", len(parts), 0)
    for data, length, count in parts:
        triplets += struct.pack(">IHH", at if count else 0, length, count)
        at += len(data)
    return record(73, 1, triplets + b"".join(data for data, _, _ in parts), subsystem="RMF")
