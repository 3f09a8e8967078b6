"""Storage of service class periods (SMF 72-4): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, f8, lines, record, section, tables, text, u8, u32

CLASS = GRAINS["paging_class"]

#: Over 900 samples 4 address spaces, 2 of them active; 51,200 frames active, 25,600 idle, 12,800 logically swapped,
#: 6,400 fixed, and 1,280 slots; 450 transactions of 2 s, and 0.5 s before.
ONLINE: Fields = {
    0: text("WEEKDAY", 8), 16: text("ONLINE", 8), 24: u8(1), 28: u32(3_600), 32: u32(1_800), 36: u32(1_700),
    40: u32(400), 44: u32(60), 48: u32(20), 52: u32(40), 56: u32(2_700), 72: u32(900), 76: u32(300), 80: u32(200),
    84: u32(100), 88: u32(120), 92: u32(5), 96: u32(10), 100: u32(15), 104: u32(25), 108: u32(6), 112: u32(4),
    116: u32(80), 120: u32(2_000), 124: u32(7), 132: u32(3), 136: f8(51_200 * 900), 144: f8(25_600 * 900),
    152: f8(1_280 * 900), 160: f8(640 * 900), 168: f8(6_400 * 900), 176: f8(12_800 * 900), 208: f8(900e6 / 1024),
    216: f8(225e6 / 1024), 224: f8(450), 256: f8(1_800), 264: f8(900e6), 272: f8(225e6),
}  # fmt: skip

BATCH: Fields = {0: text("WEEKDAY", 8), 16: text("BATCH", 8), 24: u8(2), 120: u32(1_000)}

#: Reason n has n samples, so that each place shows which it is; reason 7 stands last.
REASONS: Fields = {4 * (reason - 1): u32(reason) for reason in range(1, 19) if reason != 7} | {72: u32(7)}


def storage_record(
    *periods: Fields, reasons: tuple[Fields, ...] = (), length: int = 280, system: str = "SYS1"
) -> bytes:
    fitting = [{at: value for at, value in fields.items() if at < length} for fields in periods]
    return record(
        72,
        4,
        tuple(section(length, fields) for fields in fitting),
        tuple(section(76, fields) for fields in reasons),
        system=system,
    )


def test_storage_of_a_period(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, CLASS, storage_record(ONLINE), by=("system", "class_name", "period"))
    assert (found["class_name"], found["period"], found["policy"]) == ("ONLINE", "1", "WEEKDAY")
    assert (found["address_spaces"], found["active_address_spaces"]) == (4.0, 2.0)
    mib = 1 << 20
    assert found["active_bytes"] == pytest.approx(200 * mib)
    assert found["idle_bytes"] == pytest.approx(150 * mib)
    assert found["fixed_bytes"] == pytest.approx(25 * mib)
    assert found["slot_bytes"] == pytest.approx(5 * mib)
    assert found["bytes_per_active"] == pytest.approx(100 * mib)
    assert found["div_frames"] == pytest.approx(640)
    assert found["page_ins_per_second"] == pytest.approx(3.0)
    assert found["shared_page_ins_per_second"] == pytest.approx(2.0)
    assert found["execution_time"] == pytest.approx(2.0)
    assert found["queue_time"] == pytest.approx(0.5)


def test_states_of_a_period(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, CLASS, storage_record(ONLINE), by=("class_name",))
    # Of 2,000 valid samples.
    shares = {
        "processor_fraction": 0.45, "device_fraction": 0.15, "processor_delay_fraction": 0.1,
        "device_delay_fraction": 0.05, "storage_delay_fraction": 0.06, "paging_delay_fraction": 0.03,
        "swap_delay_fraction": 0.01, "out_fraction": 0.02, "subsystem_delay_fraction": 0.015,
        "enqueue_delay_fraction": 0.0125, "operator_delay_fraction": 0.005, "idle_fraction": 0.2,
    }  # fmt: skip
    assert {name: found[name] for name in shares} == pytest.approx(shares)
    assert (found["unknown_samples"], found["long_logical_swaps"], found["long_physical_swaps"]) == (80, 7, 3)


def test_swap_reasons_of_a_period(tmp_path: Path) -> None:
    twice = {at: u32(2 * int.from_bytes(value)) for at, value in REASONS.items()}
    whole = storage_record(ONLINE, BATCH, reasons=(REASONS, twice))
    online, batch = sorted(lines(tmp_path, CLASS, whole, by=("class_name",)), key=lambda line: -line["valid_samples"])
    names = [
        f"out_{name}_samples" for name in ("auxiliary", "real", "pool", "exchange", "unilateral", "improve", "wait")
    ]
    # 4, 5, 7; 8 + 9; 10; 12 + 13 + 14; 1 + 2 + 3 + 6 + 11 + 15 + 16 + 17 + 18.
    assert [online[name] for name in names] == [4, 5, 7, 17, 10, 39, 89]
    assert [batch[name] for name in names] == [8, 10, 14, 34, 20, 78, 178]
    # All reasons of IBM's list, 1 to 18.
    assert sum(online[name] for name in names) == 18 * 19 // 2
    assert online["out_shortage_fraction"] == pytest.approx(16 / 2_000)


def test_swap_reasons_that_do_not_pair_with_periods_are_left_out(tmp_path: Path) -> None:
    found = lines(tmp_path, CLASS, storage_record(ONLINE, BATCH, reasons=(REASONS,)), by=("class_name",))
    assert [line["out_real_samples"] for line in found] == [None, None]
    assert all(line["out_shortage_fraction"] is None for line in found)


def test_an_older_record_has_times_in_units_of_1024_microseconds(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, CLASS, storage_record(ONLINE, length=264), by=("class_name",))
    assert found["execution_time"] == pytest.approx(2.0)
    assert found["queue_time"] == pytest.approx(0.5)
    assert found["storage_delay_fraction"] == pytest.approx(0.06)


def test_two_systems_add_up(tmp_path: Path) -> None:
    records = [storage_record(ONLINE, system=name) for name in ("SYS1", "SYS2")]
    (found,) = lines(tmp_path, CLASS, *records, by=("class_name",))
    assert found["active_bytes"] == pytest.approx(400 << 20)
    assert found["page_ins_per_second"] == pytest.approx(6.0)
    assert found["storage_delay_fraction"] == pytest.approx(0.06)


def test_every_section_has_its_rows(tmp_path: Path) -> None:
    found = tables(tmp_path, storage_record(ONLINE, BATCH, reasons=(REASONS, REASONS)))
    rows = {name: table.num_rows for name, table in found.items() if name.startswith("smf72_4")}
    assert rows == {"smf72_4_period": 2, "smf72_4_swap_reason": 2}
    first, second = found["smf72_4_swap_reason"].to_pylist()
    assert [first[f"r724or{reason}"] for reason in (1, 6, 8, 18)] == [1, 6, 8, 18]
    assert (second["r724or7a"], first["section_no"], second["section_no"]) == (7, 1, 2)
