"""The bytes of the example dump, taken apart by hand with offsets from IBM's record descriptions."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from plexlens.errors import UsageError
from plexlens.example import ExampleError, write_example
from tests.example.paths import STUDIES


@dataclass(frozen=True)
class Raw:
    """A record with its descriptor word."""

    data: bytes

    @property
    def kind(self) -> tuple[int, int]:
        """Type and subtype; the dump's own records have none."""
        return self.data[5], self.number(22, 2) if self.data[5] > 3 else 0

    @property
    def system(self) -> str:
        return self.data[14:18].decode("cp037").rstrip()

    def number(self, offset: int, length: int) -> int:
        return int.from_bytes(self.data[offset : offset + length], "big")

    def entries(self, triplet: int) -> list[bytes]:
        """Entries of the section whose triplet (offset, length, count) begins there."""
        start, length, count = struct.unpack_from(">IHH", self.data, triplet)
        return [self.data[start + n * length : start + (n + 1) * length] for n in range(count)]


def _rmf(path: Path) -> list[Raw]:
    return [record for record in _records(path) if 70 <= record.kind[0] <= 79]


def _hex_float(raw: bytes) -> float:
    """IBM long floating point: exponent of 16, excess 64, and a fraction of 56 bits."""
    (bits,) = struct.unpack(">Q", raw)
    assert bits >> 63 == 0
    return (bits & (1 << 56) - 1) / (1 << 56) * 16.0 ** ((bits >> 56) - 64)


def _records(path: Path) -> list[Raw]:
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        length, segment = struct.unpack_from(">HH", data, at)
        assert segment == 0, "no record needs more than one segment"
        found.append(Raw(data[at : at + length]))
        at += length
    return found


def _one(records: list[Raw], kind: tuple[int, int], system: str, minute: bytes, **contains: str) -> Raw:
    """The record of a system whose interval began then (packed 0hhmmssF) and which holds these texts."""
    texts = [text.encode("cp037") for text in contains.values()]
    found = [
        r
        for r in records
        if r.kind == kind and r.system == system and r.entries(28)[0][10:14] == minute
        if all(text in r.data for text in texts)
    ]
    assert len(found) == 1
    return found[0]


A3 = bytes.fromhex("0140000f")
CASE_1_2 = bytes.fromhex("0100810f")


def test_two_writes_give_the_same_bytes(dump: Path, tmp_path: Path) -> None:
    # Another process with another hash seed, so that no order of a set or of memory can hide.
    again = tmp_path / "again.smf"
    code = "import sys; from plexlens.example import write_example; write_example(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", code, str(again)],
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo"},
    )
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (dump, again)}
    assert len(digests) == 1


def test_the_dump_begins_with_a_header_ends_with_a_trailer_and_holds_what_the_readme_says(dump: Path) -> None:
    records = _records(dump)
    assert [records[0].kind[0], records[-1].kind[0]] == [2, 3]
    assert [len(records[0].data), len(records[-1].data)] == [18, 18]
    # 70-1: B1, B3 of two systems, two cases. 74-4: five pairs of run and facility, two systems. 72-3: 6 classes of two
    # systems in A1 and A3, 7 of the profile, two cases, 4 in nine runs of 2012. 100: begin and end of seven runs
    # with pools (IFCID 2, which is subtype 1), one of them with services and log (IFCID 1, which is 0). 101: 40 threads
    # in two cases. 110-1: the dictionary and five times 200 tasks.
    assert Counter(r.kind for r in records[1:-1]) == {
        (70, 1): 6,
        (74, 4): 10,
        (72, 3): 69,
        (100, 0): 2,
        (100, 1): 14,
        (101, 0): 80,
        (110, 1): 6,
        (110, 2): 1,
    }


def test_records_are_in_the_order_of_time(dump: Path) -> None:
    ends = [r.entries(28)[0][80:88] for r in _rmf(dump)]
    assert ends == sorted(ends)


def test_intervals_follow_each_other_without_gap_or_overlap(dump: Path) -> None:
    spans: dict[str, set[tuple[int, int]]] = {}
    for record in _rmf(dump):
        product = record.entries(28)[0]
        digits = product[18:22].hex()
        minutes, seconds, thousandths = int(digits[:2]), int(digits[2:4]), int(digits[4:7])
        # The end is a TOD clock: 4096 units a microsecond.
        end = int.from_bytes(product[80:88], "big") // 4096
        spans.setdefault(record.system[:3], set()).add(
            (end - ((minutes * 60 + seconds) * 1000 + thousandths) * 1000, end)
        )
    for of_site in spans.values():
        ordered = sorted(of_site)
        assert [end for _, end in ordered[:-1]] == [start for start, _ in ordered[1:]]


def test_header_and_product_section_of_a3(dump: Path) -> None:
    record = _one(_records(dump), (74, 4), "SYS1", A3)
    # 14:02:00 local in hundredths of a second; 29 May 1996 is day 150.
    assert record.number(6, 4) == (14 * 60 + 2) * 60 * 100
    assert record.data[10:14] == bytes.fromhex("0096150f")
    assert record.data[18:22].decode("cp037") == "RMF "
    product = record.entries(28)[0]
    # Digits, then a sign.
    assert product[0:2].hex()[:3] == "520"
    assert product[14:18] == bytes.fromhex("0096150f")
    assert product[18:22] == bytes.fromhex("0200000f")
    assert int.from_bytes(product[24:28], "big") == 119
    assert product[36:40].hex()[:7] == "0001000"
    assert product[40:48].decode("cp037") == "SP5.2.2 "
    # Local time was four hours behind; the clock counts 2^-12 microseconds.
    assert int.from_bytes(product[60:68], "big", signed=True) == -4 * 3600 * 1_000_000 * 4096
    # 18:02 UTC on 29 May 1996, 35,212 days after the clock's epoch.
    assert int.from_bytes(product[80:88], "big") == (35_212 * 86_400 + 18 * 3600 + 120) * 1_000_000 * 4096
    assert product[88:104].decode("cp037") == "CPLEX1  SYS1    "


def test_requests_of_a_group_buffer_pool_in_a3(dump: Path) -> None:
    record = _one(_records(dump), (74, 4), "SYS1", A3)
    entry = next(e for e in record.entries(68) if e[:16].decode("cp037") == "DSNDB2T_GBP6    ")
    assert len(entry) == 272
    assert entry[24] == 4
    # Table 12: 4.67/s over 120 s, 294.5 and 138.6 microseconds.
    assert _hex_float(entry[92:100]) == 560.0
    assert int.from_bytes(entry[100:108], "big") == 164_920
    assert int.from_bytes(entry[108:116], "big") == 59_326_518
    # 146.75 MiB in blocks of 4 KiB.
    assert int.from_bytes(entry[236:240], "big") == 37_568
    # Its cache section: 13 % of 238 reads, (560 + 600) x 429 / 2091.
    (index, count) = struct.unpack_from(">HH", entry, 268)
    assert count == 1
    cache = record.entries(84)[index - 1]
    assert len(cache) == 152
    assert (_hex_float(cache[0:8]), _hex_float(cache[24:32])) == (31.0, 207.0)


def test_cpu_and_transactions_of_case_1_2(dump: Path) -> None:
    record = _one(_records(dump), (72, 3), "XML1", CASE_1_2)
    (control,) = record.entries(36)
    assert control[80:88].decode("cp037") == "DB2     "
    assert control[120:128].decode("cp037") == "DB2DDF  "
    assert int.from_bytes(control[52:56], "big") == 100_000
    assert int.from_bytes(control[172:176], "big") == 564
    (period,) = record.entries(60)
    assert len(period) == 576
    assert int.from_bytes(period[184:188], "big") == 869_793
    assert _hex_float(period[32:40]) == 327_320_210.0
    # 651.003 s at 10 x 16,000,000 / 564 units a second.
    assert _hex_float(period[544:552]) == 184_681_702.0
    # 869,793 responses of 18 ms in units of 1024 microseconds.
    assert _hex_float(period[200:208]) == pytest.approx(869_793 * 18_000 / 1024, rel=1e-12)


def test_processors_of_case_1_2(dump: Path) -> None:
    record = _one(_records(dump), (70, 1), "XML1", CASE_1_2)
    waits = [int.from_bytes(cpu[0:8], "big") / 4096e6 for cpu in record.entries(44)]
    # 490.312 s, busy for 72.25 and 68.83 %.
    assert waits == pytest.approx([136.06158] * 2 + [152.8302504] * 2, abs=1e-6)
    assert [cpu[15] for cpu in record.entries(44)] == [0, 0, 2, 2]
    assert [p[10:12] for p in record.entries(68)] == [b"\xff\xff"] * 4
    assert [p[:16].decode("cp037").rstrip() for p in record.entries(76)] == ["CP", "IIP"]


def test_threads_of_case_1_2_are_rolled_up(dump: Path) -> None:
    threads = [
        r for r in _records(dump) if r.kind == (101, 0) and r.number(6, 4) == ((10 * 60 + 16) * 60 + 20) * 100 + 31
    ]
    # 869,793 transactions of 40 threads: 33 x 21,745 + 7 x 21,744.
    sections = [r.entries(36)[0] for r in threads]
    assert [int.from_bytes(s[68:72], "big") for s in sections] == [21_745] * 33 + [21_744] * 7
    first = sections[0]
    # No begin, and 21,745 x 19.216 ms, in microseconds and 4096 parts.
    assert int.from_bytes(first[0:8], "big") == 0
    assert int.from_bytes(first[8:16], "big") == 417_851_920 * 4096
    # 17.801 ms in Db2 and 0.536 ms of CPU.
    assert int.from_bytes(first[76:84], "big") / 4096e6 == pytest.approx(387.082745, abs=1e-6)
    assert int.from_bytes(first[84:92], "big") / 4096e6 == pytest.approx(11.65532, abs=1e-6)


def test_qr_tcb_of_the_one_minute_statistics(dump: Path) -> None:
    (record,) = [r for r in _records(dump) if r.kind == (110, 2)]
    assert record.data[18:22].decode("cp037") == "CICS"
    (product,) = record.entries(28)
    assert product[10:18].decode("cp037") == "IYWAYS1 "
    assert [product[at : at + 6].decode("cp037") for at in (44, 50, 68)] == ["101800", "000100", "101659"]
    (data,) = record.entries(36)
    # The dispatcher's entry: 18 TCB modes of 160 bytes behind 160; the next one is the transaction manager's.
    length = int.from_bytes(data[0:2], "big")
    assert (int.from_bytes(data[2:4], "big"), int.from_bytes(data[10:12], "big")) == (62, 18)
    mode = data[160:320]
    assert mode[0:2].decode("cp037") == "QR"
    assert int.from_bytes(mode[80:84], "big") == 0
    clocks = [int.from_bytes(mode[at : at + 8], "big") / 4096e6 for at in (112, 120, 136)]
    assert clocks == pytest.approx([0.0, 60.982635, 34.217026], abs=1e-9)
    manager = data[length:]
    # 10160.81/s for 61 s are 619,809.4.
    assert (int.from_bytes(manager[2:4], "big"), int.from_bytes(manager[8:12], "big")) == (10, 619_809)


def test_what_is_there_is_replaced_only_by_a_complete_dump(tmp_path: Path) -> None:
    target = tmp_path / "example.smf"
    target.write_bytes(b"kept")
    with pytest.raises(ExampleError, match="cannot be read"):
        write_example(target, studies=tmp_path)
    assert target.read_bytes() == b"kept"
    write_example(target, studies=STUDIES)
    assert len(_records(target)) == 190
    assert [p.name for p in tmp_path.iterdir()] == ["example.smf"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"example\.smf: it cannot be written: No such file"):
        write_example(tmp_path / "nowhere" / "example.smf")
