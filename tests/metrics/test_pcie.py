"""PCIE functions and hardware accelerators (SMF 74-9): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, lines, record, section, tables, text, u8, u16, u32

FUNCTION = GRAINS["io_function"]
ACCELERATOR = GRAINS["io_accelerator"]

MIB = 1 << 20


def u64(value: int) -> bytes:
    return struct.pack(">Q", value)


def function(
    number: int, kind: int, *, types: tuple[int, int] = (0, 0), flags: int = 0b0100_0000, more: Fields | None = None
) -> Fields:
    """A function with a type, allocated for 600 s to CICSA; `types`: sections before its own, and its own."""
    head = {
        0: u32(number), 4: u16(0x8000), 12: u32(0x1014_044B), 16: text(f"DEVICE {kind}", 24), 40: text("CICSA", 8),
        48: u16(0x51), 50: u16(0x01C0), 60: u32(600_000), 72: u64(1_200), 80: u64(2_400), 88: u64(3_600),
        96: u64(4_800), 104: u16(types[0]), 106: u16(types[1]), 116: u8(flags), 119: u8(kind),
    }  # fmt: skip
    return head | (more or {})


def done(*counts: int) -> Fields:
    """A section of a function's type: counts at 0, 8, and from 24 on."""
    return {at: u64(count) for at, count in zip((0, 8, *range(24, 104, 8)), counts, strict=False)}


def pcie_record(
    functions: list[Fields],
    types: tuple[Fields, ...] = (),
    *,
    accelerators: tuple[Fields, ...] = (),
    compressions: tuple[Fields, ...] = (),
    links: tuple[Fields, ...] = (),
    responses: tuple[Fields, ...] = (),
    length: int = 170,
    system: str = "SYS1",
) -> bytes:
    fitting = [{at: value for at, value in fields.items() if at < length} for fields in functions]
    return record(
        74,
        9,
        tuple(section(length, fields) for fields in fitting),
        tuple(section(104, fields) for fields in types),
        tuple(section(112, fields) for fields in accelerators),
        tuple(section(124, fields) for fields in compressions),
        tuple(section(26, fields) for fields in links),
        tuple(section(12, fields) for fields in responses),
        system=system,
    )


#: 60,000 requests in 60 s, queued for 30 s; 600 times the queue was full, 6 failed; DMA read 1,200 MiB, wrote 600 MiB.
ZEDC: Fields = {
    0: u32(1), 4: text("zEDC", 32), 36: u32(60_000), 40: u32(6), 44: u32(600), 48: u64(60_000_000),
    72: u64(30_000_000), 96: u64(1_200 * MIB // 256), 104: u64(600 * MIB // 256),
}  # fmt: skip

#: 45,000 times 2,400 MiB to 600, 15,000 times 300 MiB to 1,500; a pool of 16 MiB, of which each request saw 4 in use.
COMPRESSED: Fields = {
    0: u64(2_400 * MIB), 24: u64(600 * MIB), 48: u32(45_000), 56: u64(300 * MIB), 80: u64(1_500 * MIB),
    104: u32(15_000), 112: u32(16), 116: u64(4 * 60_000),
}  # fmt: skip


def test_operations_of_a_function(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, FUNCTION, pcie_record([function(0x1A, 0)]), by=("system", "function"))
    names = ("function", "device", "job", "channel", "network", "control_unit")
    assert [found[name] for name in names] == ["001A", "DEVICE 0", "CICSA", "01C0", None, None]
    # Over the 600 s of its allocation, not the 900 s of the interval.
    rates = ("load_rate", "store_rate", "block_store_rate", "refresh_rate")
    assert [found[name] for name in rates] == [2.0, 4.0, 6.0, 8.0]
    assert found["error_intervals"] == 0


def test_what_a_function_did_depends_on_its_type(tmp_path: Path) -> None:
    functions = [
        function(0, 0, types=(0, 2)), function(1, 1, types=(2, 1)), function(2, 2, types=(3, 1)),
        function(3, 3, types=(4, 1)), function(4, 4, types=(5, 1)), function(5, 1, types=(0, 1), flags=0),
    ]  # fmt: skip
    types = (
        done(600 * MIB, 300 * MIB), done(600 * MIB, 900 * MIB),
        done(1_800 * MIB, 2_400 * MIB, 600, 1_200),
        done(3_000, 77),
        done(88, 600 * MIB),
        done(300 * MIB, 900 * MIB, 5_400, 360, 240, 108_000),
    )  # fmt: skip
    found = {
        line["function"]: line for line in lines(tmp_path, FUNCTION, pcie_record(functions, types), by=("function",))
    }
    # The first has two sections.
    assert found["0000"]["dma_read_bytes_per_second"] == pytest.approx(2 * MIB)
    assert found["0000"]["dma_write_bytes_per_second"] == pytest.approx(2 * MIB)
    assert found["0001"]["received_bytes_per_second"] == pytest.approx(3 * MIB)
    assert found["0001"]["transmitted_bytes_per_second"] == pytest.approx(4 * MIB)
    assert (found["0001"]["received_packet_rate"], found["0001"]["transmitted_packet_rate"]) == (1.0, 2.0)
    assert found["0002"]["work_unit_rate"] == pytest.approx(5.0)
    assert found["0003"]["transmitted_bytes_per_second"] == pytest.approx(MIB)
    sync = found["0004"]
    assert (sync["sync_rate"], sync["sync_time"]) == (9.0, pytest.approx(0.00002))
    assert sync["sync_bytes_per_second"] == pytest.approx(2 * MIB)
    assert sync["sync_reject_fraction"] == pytest.approx(0.1)
    # Of the last the type is not valid: whose counts they are is not known.
    names = ("dma_read_bytes", "received_bytes", "transmitted_bytes", "work_units", "sync_requests")
    assert [found["0005"][name] for name in names] == [None] * 5
    assert [found["0003"][name] for name in names] == [None, None, 600 * MIB, None, None]


def test_a_function_of_an_older_release_moves_data_by_dma(tmp_path: Path) -> None:
    whole = pcie_record([function(7, 9, types=(0, 1))], (done(600 * MIB, 1_200 * MIB),), length=116)
    (found,) = lines(tmp_path, FUNCTION, whole, by=("function",))
    assert found["dma_read_bytes_per_second"] == pytest.approx(MIB)
    assert found["dma_write_bytes_per_second"] == pytest.approx(2 * MIB)
    assert found["load_rate"] == 2.0


def test_operations_that_are_not_valid_and_a_function_in_error(tmp_path: Path) -> None:
    faulty = function(8, 4, flags=0b0110_0000, more={4: u16(0xA000), 8: u32(30_000)})
    (found,) = lines(tmp_path, FUNCTION, pcie_record([faulty]), by=("function",))
    assert (found["load_rate"], found["refresh_rate"]) == (None, None)
    assert (found["error_intervals"], found["invalid_seconds"]) == (1, 30.0)


def test_the_control_unit_of_a_synchronous_link_and_the_network(tmp_path: Path) -> None:
    functions = [
        function(1, 1, flags=0b1100_0000, more={120: text("NETA", 16)}),
        function(4, 4, more={160: u16(0), 162: u16(1)}),
        function(5, 4, more={160: u16(1), 162: u16(1)}),
    ]
    links = tuple({0: text("002107", 6), 14: text(serial, 12)} for serial in ("0000000FW123", "0000000FW456"))
    found = lines(tmp_path, FUNCTION, pcie_record(functions, links=links), by=("function",))
    units = {line["function"]: (line["network"], line["control_unit"]) for line in found}
    assert units == {"0001": ("NETA", None), "0004": (None, "0000000FW123"), "0005": (None, "0000000FW456")}


def test_an_accelerator(tmp_path: Path) -> None:
    functions = [
        function(1, 1),
        function(2, 2, more={108: u16(0), 110: u16(1), 112: u16(0), 114: u16(0)}),
        function(3, 2, more={108: u16(1), 110: u16(1), 112: u16(0), 114: u16(1)}),
    ]
    whole = pcie_record(functions, accelerators=({4: text("OTHER", 32), 36: u32(6)}, ZEDC), compressions=(COMPRESSED,))
    other, found = sorted(
        lines(tmp_path, ACCELERATOR, whole, by=("system", "function")), key=lambda line: line["function"]
    )
    assert (other["function"], other["application"], other["compressions"]) == ("0002", "OTHER", None)
    assert (found["function"], found["application"], found["job"]) == ("0003", "zEDC", "CICSA")
    assert found["utilization"] == pytest.approx(0.1)
    assert (found["request_rate"], found["failed_requests"]) == (100.0, 6)
    assert found["execution_time"] == pytest.approx(0.001)
    assert found["queue_time"] == pytest.approx(0.0005)
    assert found["full_queue_percentage"] == pytest.approx(0.01)
    assert found["bytes_per_second"] == pytest.approx(3 * MIB)
    assert found["bytes_per_request"] == pytest.approx(1_800 * MIB / 60_000)
    assert (found["compression_ratio"], found["decompression_ratio"]) == (4.0, 5.0)
    assert found["compression_bytes_per_second"] == pytest.approx(4 * MIB)
    assert found["decompression_bytes_per_second"] == pytest.approx(2.5 * MIB)
    assert found["pool_used_fraction"] == pytest.approx(0.25)


def test_every_section_has_its_rows(tmp_path: Path) -> None:
    bucket = {0: u8(0x80), 4: u32(20), 8: u32(300)}
    link = {14: text("0000000FW123", 12)}
    whole = pcie_record(
        [function(1, 0)], (done(1),), accelerators=(ZEDC,), compressions=(COMPRESSED,), links=(link,),
        responses=(bucket, bucket),
    )  # fmt: skip
    found = tables(tmp_path, whole)
    rows = {name: table.num_rows for name, table in found.items() if name.startswith("smf74_9")}
    assert rows == {
        "smf74_9_function": 1,
        "smf74_9_function_type": 1,
        "smf74_9_accelerator": 1,
        "smf74_9_compression": 1,
        "smf74_9_sync_link": 1,
        "smf74_9_sync_response": 2,
    }
    (response, _) = found["smf74_9_sync_response"].to_pylist()
    assert (response["r749rtrv"], response["r749rtsc"]) == (pytest.approx(20e-6), 300)
