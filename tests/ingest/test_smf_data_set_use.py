"""Data sets that jobs read and wrote (SMF 14, 15): records by hand from the published offsets."""

from __future__ import annotations

import datetime
import struct
from pathlib import Path

import pytest

from tests.metrics.rmf_by_hand import section, tables, text, u8, u16, u32
from tests.metrics.test_smf_recording import minutes, written

WRITTEN, READ_IN = minutes(1), minutes(-60)


def device(number: int, volume: str, excps: int) -> bytes:
    return section(
        24, {0: u16(number), 2: text(volume, 6), 8: u32(0x3010_200F), 13: u8(3), 16: u32(excps), 20: u32(150)}
    )


def use_record(
    kind: int,
    *devices: bytes,
    at: datetime.datetime = WRITTEN,
    job: str = "JOB1",
    read_in: datetime.datetime = READ_IN,
    opened: datetime.datetime | None = None,
    dd: str = "SYSUT1",
    data_set: str = "PROD.MASTER",
    dcb: int = 28,
    behind: bytes = b"",
) -> bytes:
    """From 18 to 244 job, sizes, DD entry and data set; a section of `dcb` bytes; devices; the rest is not read."""
    opened = opened or at
    fields = {
        18: text(job, 8), 26: hundredths(read_in), 30: day(read_in), 34: text("USER1", 8), 42: u16(0x4000),
        44: u8(dcb), 45: u8(len(devices)), 46: u8(len(devices[0]) if devices else 0), 48: hundredths(opened),
        52: u8(20), 54: u8(1), 56: text(dd, 8), 68: text(data_set, 44), 112: text("MEMBER", 8), 170: u16(27_920),
        172: u16(80), 185: u8(1), 186: text("VOL001", 6),
    }  # fmt: skip
    extension = section(dcb, {0: u16(0x4000), **({24: day(opened)} if dcb >= 28 else {})})
    body = section(244, fields)[18:] + extension + b"".join(devices) + behind
    return written(kind, at, body)


def hundredths(at: datetime.datetime) -> bytes:
    return u32(int((at - at.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds() * 100))


def day(at: datetime.datetime) -> bytes:
    return bytes.fromhex(f"01{at:%y%j}F")


@pytest.mark.parametrize("kind", [14, 15])
def test_a_data_set_and_its_devices(tmp_path: Path, kind: int) -> None:
    opened = datetime.datetime(2026, 3, 1, 2)
    devices = (device(0x1A2B, "VOL001", 4_711), device(0x1A2C, "VOL002", 12))
    data = use_record(kind, *devices, opened=opened, behind=u16(40) + bytes(38))
    found = tables(tmp_path, data)
    (use,) = found["smf14_activity"].to_pylist()
    assert (use["smf14jbn"], use["smf14tioe5"], use["jfcbdsnm"]) == ("JOB1", "SYSUT1", "PROD.MASTER")
    assert (use["jfcbelnm"], use["jfcblksi"], use["jfclrecl"], use["jfcbvols"]) == ("MEMBER", 27_920, 80, "VOL001")
    assert (use["smf14ope"], use["smf14opd"].isoformat()) == (7_200, "2026-03-01")
    # By hand: devices begin 244 bytes and the byte at 44 into the record, as many and as long as 45 and 46 say.
    first, many, size = 244 + data[44], data[45], data[46]
    by_hand = [struct.unpack_from(">H6s8xI", data, first + number * size) for number in range(many)]
    devices = [(d["smf14ucbdv"], d["smf14fsrtev"], d["smf14excp"]) for d in found["smf14_device"].to_pylist()]
    assert devices == [(number, volume.decode("cp037"), excps) for number, volume, excps in by_hand]
    assert devices == [(0x1A2B, "VOL001", 4_711), (0x1A2C, "VOL002", 12)]


def test_a_short_section_before_the_devices_has_no_open_date(tmp_path: Path) -> None:
    found = tables(tmp_path, use_record(14, device(1, "VOL001", 5), dcb=12))
    (use,) = found["smf14_activity"].to_pylist()
    assert (use["smf14dcbor"], use["smf14opd"]) == (0x4000, None)
    assert [line["smf14excp"] for line in found["smf14_device"].to_pylist()] == [5]


def test_a_data_set_without_devices(tmp_path: Path) -> None:
    found = tables(tmp_path, use_record(15))
    assert found["smf14_activity"].num_rows == 1
    assert "smf14_device" not in found
