"""SMF 100 records put together byte by byte: header, self-defining section, sections of noise, product section."""

from __future__ import annotations

import datetime
import random
import struct
from dataclasses import dataclass, field

from tests.oracle.slow_forms import SECONDS_1900_TO_1970, TOD_UNITS_IN_A_SECOND

DB2_9, DB2_11, DB2_12, DB2_13 = 0x91, 0xB1, 0xC1, 0xD1

#: Triplets of the self-defining section by IFCID, the product section's included.
TRIPLETS = {1: 14, 2: 13, 225: 4}


@dataclass(frozen=True)
class Sections:
    """Entries of one triplet. With `varying` the triplet has no length and each entry follows its own."""

    entries: list[bytes]
    varying: bool = False

    def data(self) -> bytes:
        if self.varying:
            return b"".join(struct.pack(">H", len(entry)) + entry for entry in self.entries)
        return b"".join(self.entries)

    def length(self) -> int:
        return 0 if self.varying else len(self.entries[0])


@dataclass
class Noise:
    """Bytes that no two fields share by chance; the first bit of each is off, so that counters stay small."""

    seed: int
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def bytes(self, length: int, **text: tuple[int, str]) -> bytes:
        """So many bytes; `text` puts EBCDIC words at offsets."""
        data = bytearray(self.chance.randrange(0, 0x80) if n % 4 else 0 for n in range(length))
        for at, word in text.values():
            data[at : at + len(word)] = word.encode("cp037")
        return bytes(data)

    def pool(self, number: int, length: int) -> bytes:
        """An entry whose first four bytes are the number of a buffer pool."""
        return struct.pack(">I", number) + self.bytes(length)[4:]


def record(
    ifcid: int,
    parts: dict[int, Sections],
    *,
    release: int = DB2_12,
    sequence: int = 1,
    built: datetime.datetime,
    offset_hours: int = 2,
) -> bytes:
    """A statistics record with its descriptor word; `parts` by triplet number, from 1."""
    local = built + datetime.timedelta(hours=offset_hours)
    hundredths = ((local.hour * 60 + local.minute) * 60 + local.second) * 100
    day = f"01{local.year % 100:02}{local.timetuple().tm_yday:03}F"
    head = struct.pack(">BBI4s", 0x5E, 100, hundredths, bytes.fromhex(day))
    head += "SYS1DB1A".encode("cp037") + struct.pack(">HI", 0, 0)
    at = 28 + 8 * TRIPLETS[ifcid]
    triplets = {}
    body = b""
    for number, part in sorted(parts.items()):
        triplets[number] = struct.pack(">IHH", at + len(body), part.length(), len(part.entries))
        body += part.data()
    tod = (int(built.timestamp()) + SECONDS_1900_TO_1970) * TOD_UNITS_IN_A_SECOND
    product = struct.pack(">HBBHBBI", 76, 1, 0, ifcid, TRIPLETS[ifcid], release, 0)
    product += "DB1A".encode("cp037") + struct.pack(">QII", tod, sequence, 7) + bytes(44)
    product += struct.pack(">HBB", 20, 32, 0) + "DB1A    DBGROUP ".encode("cp037")
    triplets[0] = struct.pack(">IHH", at + len(body), len(product), 1)
    body += product
    triplets_data = b"".join(triplets.get(number, bytes(8)) for number in range(TRIPLETS[ifcid]))
    data = head + triplets_data + body
    return struct.pack(">HH", len(data) + 4, 0) + data


def dump() -> bytes:
    """Statistics of Db2 9, 11, 12 and 13; sections as long as each release writes them, and as varying entries."""
    noise = Noise(20260302)
    at = datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.UTC)
    minute = datetime.timedelta(minutes=1)
    spaces = [noise.bytes(52, name=(0, word)) for word in ("MSTR", "DBM1", "IRLM", "DIST")]
    log = Sections([noise.bytes(104, eye=(4, "QJST"))])
    first = {
        1: Sections(spaces),
        4: Sections([noise.bytes(76)]),
        6: Sections([noise.bytes(16)]),
        7: Sections([noise.bytes(128)]),
        11: log,
    }
    records = [
        record(1, first, built=at),
        record(1, first | {1: Sections(spaces[:3], varying=True)}, built=at + minute, sequence=2),
    ]
    for number, (release, pool_length, group_length) in enumerate(
        ((DB2_11, 488, 392), (DB2_12, 520, 424), (DB2_13, 560, 440)), start=3
    ):
        second = {
            1: Sections([noise.bytes(1480, eye=(4, "QXST"))]),
            3: Sections([noise.pool(pool, pool_length) for pool in (0, 7, 80, 81, 100, 120)]),
            5: Sections([noise.bytes(96)]),
            7: Sections([noise.pool(0, group_length), noise.pool(2, group_length)]),
            8: Sections([noise.bytes(88)]),
            12: Sections([noise.pool(7, 104)]),
        }
        records.append(record(2, second, built=at + number * minute, release=release, sequence=number))
    varying = {3: Sections([noise.pool(1, 488), noise.pool(2, 520)], varying=True)}
    records.append(record(2, varying, built=at + 9 * minute, sequence=9))
    storage = {
        1: Sections([noise.bytes(200, name=(0, "DBM1")), noise.bytes(200, name=(0, "DIST"))]),
        2: Sections([noise.bytes(40)]),
        3: Sections([noise.bytes(320)]),
    }
    records.append(record(225, storage, built=at + 10 * minute, sequence=4))
    return b"".join(records)
