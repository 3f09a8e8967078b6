"""Links, ranks and extent pools of disk systems (SMF 74-8): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, f4, f8, lines, record, section, tables, text, u8, u16, u32

LINK = GRAINS["ess_link"]
RANK = GRAINS["ess_rank"]
POOL = GRAINS["ess_extent_pool"]

#: 90,000 ECKD reads of 45,000 units of 128 KiB in 18 s, 9,000 writes of 9,000 units in 9 s, 4,500 PPRC sends in 9 s.
BUSY = {
    0: u16(0x0030), 2: u8(5), 8: f8(45_000), 16: f8(9_000), 24: f8(90_000), 32: f8(9_000), 40: f8(18_000),
    48: f8(9_000), 56: f8(6_000), 72: f8(4_500), 88: f8(9_000),
}  # fmt: skip

#: One of each kind of error, and three retrains that are not errors (link recovery sent and received).
FAULTY = {0: u16(0x0131), 2: u8(6), 24: f8(10)} | {at: f4(1) for at in range(152, 176, 4)} | {
    176: f4(2), 180: f4(1)} | {at: f4(1) for at in range(184, 208, 4)}  # fmt: skip

#: 18,000 reads of 9,000 units of 128 KiB in 4,500 units of 16 ms, 9,000 writes of 4,500 units in 1,125.
READS = {
    0: u16(2), 2: u16(1), 4: u16(2), 6: u16(1), 8: f8(9_000), 16: f8(4_500), 24: f8(18_000), 32: f8(9_000),
    40: f8(4_500), 48: f8(1_125), 58: u16(7),
}  # fmt: skip


def array(number: int, rank: int, *, kind: int = 3, status: int = 0b1100_0000) -> Fields:
    return {
        0: u16(number),
        2: u16(rank),
        4: text("RAID-6", 16),
        20: u8(kind),
        22: u16(7),
        24: u32(3_600),
        28: u8(status),
    }


#: 1,000 GB as 1,000 extents, 950 of them allocated; 200 virtual ones, 12 converted, 3 moved out and 5 in.
NEARLY_FULL = {
    0: u16(1), 2: u8(132), 4: u32(1_000), 8: u32(1_000), 12: u32(950), 16: u32(12), 20: u32(200), 24: u32(200),
    28: u32(4), 32: u32(3), 36: u32(5),
}  # fmt: skip


def ess_record(
    *,
    links: list[Fields] | None = None,
    pools: list[Fields] | None = None,
    ranks: list[Fields] | None = None,
    arrays: list[Fields] | None = None,
    flags: int = 0x80,
    system: str = "SYS1",
) -> bytes:
    control = {
        0: u8(2), 1: text("002107", 6), 7: text("996", 3), 10: text("75FW123", 10), 20: u8(1), 30: text("VOL001", 6),
        36: u16(0x8201), 38: u8(flags), 40: u32(900),
    }  # fmt: skip
    return record(
        74,
        8,
        (section(57, control),),
        tuple(section(212, fields) for fields in links or ()),
        tuple(section(40, fields) for fields in pools or ()),
        tuple(section(60, fields) for fields in ranks or ()),
        tuple(section(29, fields) for fields in arrays or ()),
        (),
        system=system,
    )


def test_a_link(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, LINK, ess_record(links=[BUSY]), by=("control_unit", "adapter"))
    assert (found["control_unit"], found["control_unit_type"]) == ("75FW123", "002107")
    assert (found["adapter"], found["link_type"]) == ("0030", "Fibre 8 Gb/s")
    # 90,000 + 9,000 + 4,500 operations, 60,000 units of 128 KiB, 36 s, in 900 s.
    assert found["operation_rate"] == pytest.approx(115.0)
    assert found["bytes_per_second"] == pytest.approx(60_000 * 131_072 / 900)
    assert found["bytes_per_operation"] == pytest.approx(60_000 * 131_072 / 103_500)
    assert found["time_per_operation"] == pytest.approx(36 / 103_500)
    assert found["intensity"] == pytest.approx(0.04)
    assert found["eckd_read_time"] == pytest.approx(0.0002)
    assert found["eckd_write_time"] == pytest.approx(0.001)
    assert found["mirror_send_time"] == pytest.approx(0.002)
    assert found["mirror_fraction"] == pytest.approx(0.1)
    assert found["link_errors"] == 0


def test_errors_of_a_link(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, LINK, ess_record(links=[FAULTY]), by=("adapter",))
    # Twelve counters: six before the link recoveries, six after them.
    assert found["link_errors"] == 12
    assert (found["sequence_errors"], found["frame_errors"]) == (2, 5)


def test_units_that_the_disk_system_does_not_know(tmp_path: Path) -> None:
    records = [ess_record(links=[BUSY | {3: u8(flag), 0: u16(flag)}]) for flag in (0x80, 0x40)]
    bytes_unknown, times_unknown = (lines(tmp_path, LINK, each, by=("adapter",))[0] for each in records)
    assert bytes_unknown["bytes_per_second"] is None
    assert bytes_unknown["eckd_read_time"] == pytest.approx(0.0002)
    assert times_unknown["eckd_read_time"] is None
    assert times_unknown["bytes_per_second"] == pytest.approx(60_000 * 131_072 / 900)


def test_a_rank(tmp_path: Path) -> None:
    arrays = [array(1, 2), array(2, 2, status=0b1110_0000), array(3, 9, kind=1)]
    (found,) = lines(tmp_path, RANK, ess_record(ranks=[READS], arrays=arrays), by=("control_unit", "rank"))
    assert (found["rank"], found["extent_pool"], found["raid"]) == ("0002", "0001", "RAID-6")
    assert found["device_class"] == "solid state"
    assert (found["read_rate"], found["write_rate"]) == (pytest.approx(20.0), pytest.approx(10.0))
    # 4,500 x 16 ms for 18,000 reads, 1,125 x 16 ms for 9,000 writes.
    assert found["read_time"] == pytest.approx(0.004)
    assert found["write_time"] == pytest.approx(0.002)
    assert found["intensity"] == pytest.approx((72 + 18) / 900)
    assert found["read_bytes_per_second"] == pytest.approx(10 * 131_072)
    assert found["write_bytes_per_second"] == pytest.approx(5 * 131_072)
    assert found["bytes_per_read"] == 65_536
    assert (found["arrays"], found["degraded_arrays"], found["throttled_arrays"]) == (2, 1, 0)
    assert found["capacity_bytes"] == 7.2e12


def test_arrays_of_different_kinds_leave_a_rank_without_one(tmp_path: Path) -> None:
    arrays = [array(1, 2), array(2, 2, kind=2, status=0)]
    (found,) = lines(tmp_path, RANK, ess_record(ranks=[READS], arrays=arrays), by=("rank",))
    assert (found["raid"], found["device_class"]) == (None, None)


def test_an_extent_pool(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, POOL, ess_record(pools=[NEARLY_FULL]), by=("control_unit", "extent_pool"))
    assert (found["extent_pool"], found["pool_type"], found["capacity_bytes"]) == ("0001", "CKD", 1e12)
    assert found["allocated_fraction"] == pytest.approx(0.95)
    counts = ("extents", "allocated_extents", "virtual_extents", "conversions", "relocations_out", "relocations_in")
    assert [found[name] for name in counts] == [1000, 950, 200, 12, 3, 5]


def test_what_the_control_section_does_not_vouch_for_is_left_out(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, POOL, ess_record(pools=[NEARLY_FULL], flags=0), by=("extent_pool",))
    assert found["allocated_fraction"] == pytest.approx(0.95)
    assert (found["virtual_extents"], found["conversions"], found["relocations_in"]) == (None, None, None)


def test_several_systems_see_the_same_counts(tmp_path: Path) -> None:
    records = [ess_record(links=[BUSY], ranks=[READS], system=name) for name in ("SYS1", "SYS2")]
    (link,) = lines(tmp_path, LINK, *records, by=("control_unit",))
    (rank,) = lines(tmp_path, RANK, *records, by=("control_unit",))
    assert (link["eckd_reads"], rank["reads"]) == (90_000, 18_000)


def test_every_section_has_its_rows(tmp_path: Path) -> None:
    found = tables(tmp_path, ess_record(links=[BUSY, FAULTY], pools=[NEARLY_FULL], ranks=[READS], arrays=[array(1, 2)]))
    rows = {name: table.num_rows for name, table in found.items() if name.startswith("smf74_8")}
    assert rows == {
        "smf74_8_control": 1,
        "smf74_8_link": 2,
        "smf74_8_extent_pool": 1,
        "smf74_8_rank": 1,
        "smf74_8_array": 1,
    }
    (control,) = found["smf74_8_control"].to_pylist()
    assert (control["r748cser"], control["r748cvol"], control["r748cdev"]) == ("75FW123", "VOL001", 0x8201)
