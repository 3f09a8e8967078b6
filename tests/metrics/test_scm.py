"""Storage class memory and the data mover (SMF 74-10): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, lines, record, section, tables, u8, u16, u32

SCM = GRAINS["io_scm"]
EADM = GRAINS["io_eadm"]


def u64(value: int) -> bytes:
    return struct.pack(">Q", value)


def units(seconds: float) -> int:
    """Seconds in units of 128 microseconds."""
    return round(seconds / 128e-6)


#: 90,000 requests started, 80,000 of them timed: 16 s pending, 8 s queued, 4 s to the first command. 1,800 compressions
#: of 3,600 MiB to 900, 900 decompressions of 450 MiB to 1,800.
MOVER: Fields = {
    0: u32(90_000), 4: u32(80_000), 8: u64(units(16)), 16: u64(units(8)), 24: u64(units(4)), 32: u8(0x80),
    40: u32(1_800), 44: u32(900), 48: u64(3_600), 56: u64(900), 64: u64(450), 72: u64(1_800),
}  # fmt: skip

#: Data units of 256 bytes. The machine: 36,000 requests in 16 s, 8 s queued, 45 % in use. The system: 9,000, 8 s, 10 %.
PART: Fields = {
    0: u16(1), 2: u16(0x0203), 4: u32(256), 8: u32(36_000), 12: u32(9_000), 16: u32(36_000_000), 20: u32(9_000_000),
    24: u32(72_000_000), 28: u32(18_000_000), 32: u32(units(16)), 36: u32(units(8)), 40: u32(units(8)),
    44: u32(45 * 900), 48: u32(10 * 900), 52: u8(0x80),
}  # fmt: skip


def memory_record(mover: Fields = MOVER, *parts: Fields, system: str = "SYS1") -> bytes:
    return record(74, 10, (section(80, mover),), tuple(section(53, fields) for fields in parts), system=system)


def test_a_part_of_storage_class_memory(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, SCM, memory_record(MOVER, PART), by=("system", "resource", "part"))
    assert (found["resource"], found["part"], found["memory_type"]) == ("0001", "0203", "virtual flash memory")
    assert found["utilization"] == pytest.approx(0.1)
    assert found["machine_utilization"] == pytest.approx(0.45)
    assert (found["request_rate"], found["machine_request_rate"]) == (10.0, 40.0)
    assert found["response_time"] == pytest.approx(8 / 9_000)
    assert found["machine_response_time"] == pytest.approx(16 / 36_000)
    assert found["machine_queue_time"] == pytest.approx(8 / 36_000)
    assert found["read_bytes_per_second"] == pytest.approx(20_000 * 256)
    assert found["write_bytes_per_second"] == pytest.approx(10_000 * 256)
    assert found["machine_read_bytes_per_second"] == pytest.approx(80_000 * 256)
    assert found["machine_write_bytes_per_second"] == pytest.approx(40_000 * 256)


def test_the_use_of_several_parts_is_their_mean(tmp_path: Path) -> None:
    other = PART | {2: u16(0x0204), 44: u32(15 * 900), 48: u32(30 * 900), 52: u8(0)}
    (found,) = lines(tmp_path, SCM, memory_record(MOVER, PART, other), by=("system",))
    assert found["utilization"] == pytest.approx(0.2)
    assert found["machine_utilization"] == pytest.approx(0.3)
    assert found["request_rate"] == pytest.approx(20.0)


def test_two_systems_of_a_machine(tmp_path: Path) -> None:
    records = [memory_record(MOVER, PART, system=name) for name in ("SYS1", "SYS2")]
    (found,) = lines(tmp_path, SCM, *records, by=("resource",))
    # Their own requests add up. Both say the same of the machine, whose share and times stay what they are.
    assert found["request_rate"] == pytest.approx(20.0)
    assert found["machine_utilization"] == pytest.approx(0.45)
    assert found["machine_response_time"] == pytest.approx(16 / 36_000)


def test_the_data_mover(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, EADM, memory_record())
    assert found["start_rate"] == pytest.approx(100.0)
    assert found["pending_time"] == pytest.approx(0.0002)
    assert found["queue_time"] == pytest.approx(0.0001)
    assert found["command_response_time"] == pytest.approx(0.00005)
    assert (found["compression_rate"], found["decompression_rate"]) == (2.0, 1.0)
    assert (found["compression_ratio"], found["decompression_ratio"]) == (4.0, 4.0)
    assert found["compression_bytes_per_second"] == pytest.approx(4 << 20)
    assert found["decompression_bytes_per_second"] == pytest.approx(2 << 20)


def test_compression_that_is_not_measured(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, EADM, memory_record(MOVER | {32: u8(0)}))
    assert (found["compression_rate"], found["decompression_ratio"]) == (None, None)
    assert found["start_rate"] == pytest.approx(100.0)


def test_every_section_has_its_rows(tmp_path: Path) -> None:
    found = tables(tmp_path, memory_record(MOVER, PART, PART))
    rows = {name: table.num_rows for name, table in found.items() if name.startswith("smf74_10")}
    assert rows == {"smf74_10_device": 1, "smf74_10_scm": 2}
