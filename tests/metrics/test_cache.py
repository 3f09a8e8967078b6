"""Cache of control units (SMF 74-5): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, f4, lines, record, section, tables, text, u8, u16, u32

DEVICE = GRAINS["cache_device"]
SUBSYSTEM = GRAINS["cache_subsystem"]

EACH = ("control_unit", "device", "volume")


def control(serial: str = "0000000FW123", *, status: int = 0) -> bytes:
    fields = {0: u8(3), 4: u8(status), 12: u32(900), 16: text("002107", 6), 22: text("996", 3), 30: text(serial, 12)}
    return section(48, fields)


#: 9,000 reads, of which 900 sequential, with 8,100 hits; 4,500 writes with 4,500 hits; 45 more that bypass the cache.
READ_MOSTLY = {
    0: text("VOL001", 6), 12: u16(0x8201), 20: f4(8000), 24: f4(7200), 28: f4(4000), 32: f4(4000), 36: f4(900),
    40: f4(850),
    44: f4(400), 48: f4(400), 52: f4(100), 56: f4(50), 60: f4(100), 64: f4(100), 68: f4(9), 72: f4(36), 76: f4(1800),
    80: f4(900), 84: f4(450), 88: f4(45), 92: f4(4000), 96: f4(300), 106: u16(0x8200), 120: f4(5),
}  # fmt: skip

#: Physical storage: 1,000 reads of 250 units of 128 KiB and 500 units of 16 ms; 200 writes of 50 units and 25 units.
STORAGE = {
    0: u16(0x8201), 2: u8(0b0001_1000), 8: u8(2), 10: u16(0x0003), 16: f4(1000), 20: f4(200), 24: f4(250), 28: f4(50),
    44: f4(90), 52: f4(500), 56: f4(25), 60: f4(2700), 64: f4(450), 68: f4(450), 72: f4(90), 76: f4(5400), 80: f4(2700),
    88: f4(40), 92: f4(30), 96: f4(2), 100: f4(1), 104: f4(80), 108: f4(60),
}  # fmt: skip

#: Format 1: sizes in KiB. 8 GiB configured, 6 available, a quarter pinned, 1 offline; 512 MiB of non-volatile storage.
STATUS = {
    0: text("VOL001", 6), 12: u16(0x8201), 16: u8(1), 20: u8(0), 26: u32(8 << 20), 30: u32(6 << 20), 34: u32(1 << 18),
    38: u32(1 << 20), 44: u32(512 << 10), 48: u32(8 << 10), 54: u16(0x8200),
}  # fmt: skip


def cache_record(
    devices: list[Fields], storage: list[Fields], status: Fields | None = STATUS, *, code: int = 0, **more: Any
) -> bytes:
    return record(
        74,
        5,
        (control(status=code),),
        tuple(section(140, fields) for fields in devices),
        (),
        (section(60, status),) if status else (),
        tuple(section(120, fields) for fields in storage),
        **more,
    )


def test_a_device(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, DEVICE, cache_record([READ_MOSTLY], [STORAGE]), by=EACH)
    assert (found["control_unit"], found["device"], found["volume"]) == ("0000000FW123", "8201", "VOL001")
    assert (found["control_unit_type"], found["subsystem_id"], found["extent_pool"]) == ("002107", "8200", "0003")
    # 9,000 + 4,500 + 9 + 36 in 900 s.
    assert found["io_rate"] == pytest.approx(13_545 / 900)
    assert found["cache_io_fraction"] == pytest.approx(13_500 / 13_545)
    # 7,200 + 850 + 50 and 4,000 + 400 + 100.
    assert found["read_hit_fraction"] == pytest.approx(0.9)
    assert found["write_hit_fraction"] == pytest.approx(1.0)
    assert found["hit_fraction"] == pytest.approx(12_600 / 13_500)
    assert found["miss_rate"] == pytest.approx(1.0)
    # 4,000 + 300 + 100 of 4,500 writes.
    assert found["fast_write_fraction"] == pytest.approx(4400 / 4500)
    assert found["read_fraction"] == pytest.approx(2 / 3)
    assert found["sequential_read_fraction"] == pytest.approx(0.1)
    assert found["stage_rate"] == pytest.approx(3.0)
    assert found["destage_rate"] == pytest.approx(0.5)
    assert found["storage_delay_fraction"] == pytest.approx(0.01)
    # 450 units of 16 ms for 9,000 reads, 90 for 4,500 writes.
    assert found["read_time"] == pytest.approx(0.0008)
    assert found["write_time"] == pytest.approx(0.00032)
    # 2,700 units of 128 KiB in 900 s.
    assert found["read_bytes_per_second"] == 3 * 131_072
    assert found["write_bytes_per_second"] == pytest.approx(0.5 * 131_072)
    assert found["disk_read_time"] == pytest.approx(0.008)
    assert found["disk_write_time"] == pytest.approx(0.002)
    assert found["disk_read_bytes_per_second"] == pytest.approx(250 * 131_072 / 900)
    assert found["disk_write_bytes_per_second"] == pytest.approx(50 * 131_072 / 900)
    assert (found["disk_read_rate"], found["disk_write_rate"]) == (pytest.approx(1000 / 900), pytest.approx(200 / 900))
    assert found["zhpf_fraction"] == pytest.approx(0.6)
    assert found["prefetch_hit_fraction"] == 0.75
    assert found["sync_read_hit_fraction"] == 0.75
    assert found["copy_rate"] == pytest.approx(0.1)
    assert (found["cache_delayed_requests"], found["mirror_collisions"]) == (5, 3)


def test_several_systems_see_the_same_counts(tmp_path: Path) -> None:
    records = [cache_record([READ_MOSTLY], [STORAGE], system=name) for name in ("SYS1", "SYS2")]
    (found,) = lines(tmp_path, DEVICE, *records, by=EACH)
    assert (found["reads"], found["disk_reads"]) == (9000, 1000)


def test_storage_of_another_kind_or_unit_has_no_values(tmp_path: Path) -> None:
    # RAID rank data has other fields there; units other than 00 are not defined; flags without bits 3 and 4.
    rank = STORAGE | {8: u8(1), 2: u8(0b0000_0010)}
    (found,) = lines(tmp_path, DEVICE, cache_record([READ_MOSTLY], [rank]), by=EACH)
    missing = ("disk_read_time", "disk_read_rate", "read_time", "read_bytes_per_second", "zhpf_fraction")
    assert [found[name] for name in (*missing, "sync_read_hit_fraction", "extent_pool")] == [None] * 7
    assert found["read_hit_fraction"] == pytest.approx(0.9)


def test_devices_are_joined_with_their_storage_by_number_and_subchannel_set(tmp_path: Path) -> None:
    # The same number in subchannel set 1: bits 2 and 3 of the flags, a byte of its own in the storage section.
    other = READ_MOSTLY | {0: text("VOL002", 6), 6: u8(0b1001_0000)}
    storage = STORAGE | {3: u8(1), 52: f4(1000)}
    found = lines(tmp_path, DEVICE, cache_record([READ_MOSTLY, other], [storage, STORAGE]), by=EACH)
    times = {line["device"]: line["disk_read_time"] for line in found}
    assert times == {"8201": pytest.approx(0.008), "18201": pytest.approx(0.016)}


def test_the_state_of_a_subsystem(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, SUBSYSTEM, cache_record([READ_MOSTLY], []), by=("control_unit", "subsystem_id"))
    assert (found["control_unit"], found["subsystem_id"]) == ("0000000FW123", "8200")
    assert (found["cache_bytes"], found["available_bytes"]) == (8 << 30, 6 << 30)
    assert (found["pinned_bytes"], found["offline_bytes"]) == (1 << 28, 1 << 30)
    assert (found["write_storage_bytes"], found["write_storage_pinned_bytes"]) == (1 << 29, 8 << 20)
    assert found["available_fraction"] == 0.75
    assert (found["caching_inactive"], found["fast_write_inactive"], found["failed_fraction"]) == (0, 0, 0)


def test_stopped_caching_and_failed_collections_are_counted(tmp_path: Path) -> None:
    stopped = STATUS | {16: u8(0), 20: u8(0b0100_0000), 21: u8(0b0010_0000), 26: u32(1 << 20)}
    failed = cache_record([], [], None, code=8)
    (one,) = lines(tmp_path, SUBSYSTEM, cache_record([], [], stopped), by=("subsystem_id",))
    # Format 0: bytes.
    assert (one["caching_inactive"], one["fast_write_inactive"], one["cache_bytes"]) == (1, 1, 1 << 20)
    (both,) = lines(tmp_path, SUBSYSTEM, failed, by=("control_unit",))
    assert (both["failed_fraction"], both["cache_bytes"]) == (1, None)


def test_a_record_of_an_older_release_has_shorter_sections(tmp_path: Path) -> None:
    """Fields that end beyond the section are null, and the rest is read."""
    old = record(74, 5, (control(),), (section(108, {k: v for k, v in READ_MOSTLY.items() if k < 108}),))
    device = tables(tmp_path, old)["smf74_5_device"]
    assert device["r745drcr"].to_pylist() == [8000]
    assert device["r745dfwr"].to_pylist() == [None]
