"""I/O queuing (SMF 78-3): records by hand from IBM's mapping, values by hand, offsets of paths from either start."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, f4, f8, lines, reading, record, section, text, u8, u16, u32

QUEUE = GRAINS["io_queue"]
PROCESSOR = GRAINS["io_processor"]

#: A path that was taken 8,000 times, 100 units of 128 us busy and 500 units until the first response.
PATH = {
    0: u8(0x50), 1: u8(0b1100_0000), 2: u16(1), 4: u16(0x8200), 12: u32(200), 16: u32(8000), 24: u32(50), 28: u32(100),
    32: u32(500), 44: u8(0b1000_0000),
}  # fmt: skip

#: 400 requests queued, 1,000 added up; 3,125 units of 128 us in the channel subsystem; HyperPAV and SuperPAV.
LCU = {
    0: u16(0x0012), 2: u8(0b0000_0111), 4: u32(1000), 8: u32(400), 44: u32(90), 48: u32(30), 52: u32(3125), 56: u16(1),
    58: u16(1),
}  # fmt: skip

#: 20,000 I/Os, of which 500 found no alias; 2,000 times one was needed.
ALIASES = {
    0: u16(0x0012), 2: u16(0x8200), 8: f4(500), 12: f4(20_000), 16: u32(24), 20: u32(9), 24: u32(40), 40: f4(2000),
    44: f4(1900), 48: f4(300), 52: f4(180), 60: u32(6), 64: f4(90), 76: f4(120), 80: f4(5000), 84: f4(30_000),
}  # fmt: skip

IOP = {
    0: u16(0), 2: u8(0x80), 4: u32(1500), 8: u32(1000), 16: f8(250), 24: f8(750), 32: f8(90_000), 40: f8(45_000),
    48: f8(900), 56: f8(450), 64: f8(90), 72: f8(9), 80: f8(5), 88: f8(6),
}  # fmt: skip


def queue_record(
    *,
    lcus: tuple[tuple[int, tuple[Fields, ...]], ...] = ((0x0012, (PATH,)),),
    data: tuple[Fields, ...] = (LCU,),
    iops: tuple[Fields, ...] = (IOP,),
    flags: int = 0b0000_0110,
    from_record: bool = False,
    shift: int = 0,
    **more: Any,
) -> bytes:
    """A record: configuration, data, global and alias sections, behind them all paths and I/O processors.

    Their offsets count from the entry that points, or from the record's start; `shift` makes them wrong.
    """
    start = 28 + 8 * 5 + 104
    configurations, paths = [], b""
    places = start + 20 * len(lcus) + 68 * len(data)
    tail_at = places + 108 + 88
    for number, (unit, own) in enumerate(lcus):
        at = tail_at + len(paths) + shift - (0 if from_record else start + 20 * number)
        paths += b"".join(section(56, path) for path in own)
        fields = {0: u16(unit), 2: u16(1), 4: u32(at), 8: u16(56), 10: u16(len(own)), 16: u32(3)}
        configurations.append(section(20, fields))
    tail = paths + b"".join(section(96, iop) for iop in iops)
    iop_at = tail_at + len(paths) + shift - (0 if from_record else places)
    common = {0: u8(flags), 1: u8(0b0110_0000), 2: u16(1), 4: u32(iop_at), 8: u16(96), 10: u16(len(iops))}
    common |= {32: text("SYS1.IODF01", 44), 76: text("01", 2)}
    return record(
        78,
        3,
        tuple(configurations),
        tuple(section(68, fields) for fields in data),
        (section(108, common),),
        (section(88, ALIASES),),
        tail=tail,
        **more,
    )


def check_unit(found: dict[str, Any]) -> None:
    assert (found["lcu"], found["control_unit"], found["alias_mode"]) == ("0012", "8200", "SuperPAV")
    assert found["alias_group"] == "3"
    assert found["io_rate"] == pytest.approx(8000 / 900)
    # 8,000 accepted, 50 met a busy port, 200 a busy control unit.
    assert found["busy_unit_fraction"] == pytest.approx(200 / 8250)
    assert found["busy_port_fraction"] == pytest.approx(50 / 8250)
    # 100, 500 and 3,125 units of 128 us for 8,000 I/Os.
    assert found["busy_unit_time"] == pytest.approx(1.6e-6)
    assert found["command_response_time"] == pytest.approx(8e-6)
    assert found["channel_wait_time"] == pytest.approx(50e-6)
    assert found["contention_rate"] == pytest.approx(400 / 900)
    assert found["queue_length"] == pytest.approx(1.5)
    assert found["alias_wait_fraction"] == pytest.approx(0.025)
    # 24 of its own and 6 borrowed.
    assert (found["most_aliases"], found["most_aliases_of_device"], found["most_queued"]) == (30, 9, 40)
    assert found["alias_use_fraction"] == pytest.approx(0.95)
    assert found["away_fraction"] == pytest.approx(0.15)
    assert found["queued_per_need"] == pytest.approx(2.5)
    assert found["aliases_per_need"] == pytest.approx(15)
    assert (found["borrow_rate"], found["loan_rate"], found["failed_borrows"]) == (0.2, 0.1, 120)


@pytest.mark.parametrize("from_record", [False, True])
def test_a_logical_control_unit(tmp_path: Path, from_record: bool) -> None:
    (found,) = lines(tmp_path, QUEUE, queue_record(from_record=from_record), by=("lcu",))
    check_unit(found)


@pytest.mark.parametrize("from_record", [False, True])
def test_each_unit_has_its_own_paths(tmp_path: Path, from_record: bool) -> None:
    other = PATH | {16: u32(90), 12: u32(0), 24: u32(10)}
    dump = queue_record(
        lcus=((0x0012, (PATH,)), (0x0013, ()), (0x0014, (other, other))),
        data=(LCU, LCU | {0: u16(0x0013), 2: u8(0)}, LCU | {0: u16(0x0014), 2: u8(0)}),
        from_record=from_record,
    )
    found = {line["lcu"]: line for line in lines(tmp_path, QUEUE, dump, by=("lcu",))}
    check_unit(found["0012"])
    assert (found["0013"]["io_rate"], found["0013"]["paths"]) == (None, None)
    assert (found["0014"]["path_requests"], found["0014"]["busy_port_fraction"]) == (180, pytest.approx(0.1))
    assert (found["0014"]["alias_mode"], found["0014"]["alias_ios"]) == (None, None)


@pytest.mark.parametrize("from_record", [False, True])
def test_many_io_processors_do_not_hide_from_where_offsets_count(tmp_path: Path, from_record: bool) -> None:
    """Paths alone would fit both starts, since what follows them is in the record; with I/O processors they do not."""
    dump = queue_record(iops=(IOP,) * 24, from_record=from_record)
    (found,) = lines(tmp_path, QUEUE, dump, by=("lcu",))
    check_unit(found)


def test_offsets_that_fit_neither_start_are_damage_and_give_no_rows(tmp_path: Path) -> None:
    opened = reading(tmp_path, queue_record(shift=4000))
    found = [table for table, _ in opened]
    assert "smf78_3_path" not in found and "smf78_3_iop" not in found
    assert "smf78_3_lcu" in found
    assert opened.summary["damage"] == {"sections_overlap": 2}


def test_measurements_marked_as_incorrect_are_left_out(tmp_path: Path) -> None:
    wrong = PATH | {1: u8(0b1100_0100), 16: u32(77)}
    dump = queue_record(lcus=((0x0012, (PATH, wrong)),), data=(LCU | {2: u8(0b1000_0110)},), flags=0)
    (found,) = lines(tmp_path, QUEUE, dump, by=("lcu",))
    assert (found["path_requests"], found["paths"], found["incorrect_paths"]) == (8000, 2, 1)
    # Without hardware measurements (bit 0) there is no queue, without global bit 6 no initial command response time.
    assert (found["queued_requests"], found["channel_wait_time"], found["command_response_time"]) == (None, None, None)
    assert found["busy_unit_time"] == pytest.approx(1.6e-6)


@pytest.mark.parametrize("from_record", [False, True])
def test_io_processors(tmp_path: Path, from_record: bool) -> None:
    absent = IOP | {0: u16(1), 2: u8(0)}
    (found,) = lines(
        tmp_path, PROCESSOR, queue_record(iops=(IOP, absent), from_record=from_record), by=("io_processor",)
    )
    assert found["io_processor"] == "00"
    assert found["utilization"] == 0.25
    assert (found["start_rate"], found["interrupt_rate"]) == (100, 50)
    assert (found["activity_rate"], found["queue_length"]) == (pytest.approx(1000 / 900), 0.5)
    assert found["retries_per_start"] == pytest.approx(1449 / 90_000)
    assert found["path_retries_per_start"] == pytest.approx(0.01)
    assert found["port_retries_per_start"] == pytest.approx(0.005)
    assert found["unit_retries_per_start"] == pytest.approx(0.001)
    assert found["device_retries_per_start"] == pytest.approx(0.0001)
    assert (found["memory_samples"], found["compression_samples"]) == (5, 6)


def test_io_processors_whose_use_is_not_measured(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, PROCESSOR, queue_record(flags=0b0000_0010), by=("io_processor",))
    assert (found["utilization"], found["starts"], found["queued_requests"]) == (None, None, 1000)


def test_the_record_by_hand_is_what_ibm_prints() -> None:
    """The helper puts paths where it says: the first path's identifier and count, read back by offset alone."""
    dump = queue_record()
    at = struct.unpack_from(">I", dump, 36)[0]
    path = at + struct.unpack_from(">I", dump, at + 4)[0]
    assert (dump[path], struct.unpack_from(">I", dump, path + 16)[0]) == (0x50, 8000)
