"""Resources with contention (SMF 77): records by hand from IBM's mapping, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.rmf_by_hand import Fields, lines, record, section, text, u8, u16, u32

RESOURCE = GRAINS["enqueue_resource"]

EACH = ("major", "minor", "resource_scope")

#: Ten contention events, in all 87,890 units of 1,024 microseconds, the longest 8,789.
SYSDSN = {
    0: text("SYSDSN", 8), 8: text("PROD.MASTER.FILE", 44), 52: u32(976), 56: u32(8789), 60: u32(87_890), 66: u16(60),
    68: u16(20), 70: u16(10), 72: u16(10), 76: u16(1), 78: u16(5), 80: u16(0), 82: u16(2), 84: u16(10), 86: u8(16),
    87: u8(0b0111_0000), 88: u16(1), 90: u16(4), 92: text("OWNERJOB", 8), 108: text("WAITJOB1", 8),
    116: text("WAITJOB2", 8), 124: text("SYS2", 8), 140: text("SYS1", 8), 148: text("SYS3", 8),
    156: u32(170), 160: u32(100), 164: u32(25),
}  # fmt: skip


def enqueue_record(*resources: Fields, system: str = "SYS1", length: int = 168) -> bytes:
    data = tuple(section(168, resource)[:length] for resource in resources)
    return record(77, 1, (section(2, {0: u8(0b0000_1001)}),), data, system=system)


def test_a_resource(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, RESOURCE, enqueue_record(SYSDSN), by=EACH)
    assert (found["major"], found["minor"], found["resource_scope"]) == ("SYSDSN", "PROD.MASTER.FILE", "SYSTEMS")
    assert (found["owner"], found["owner_system"], found["waiter"]) == ("OWNERJOB", "SYS2", "WAITJOB1")
    assert found["waiter_system"] == "SYS1"
    # 87,890 x 1,024 us = 89.99936 s in 10 events of an interval of 900 s.
    assert found["contention_seconds"] == pytest.approx(89.99936)
    assert found["contention_time"] == pytest.approx(8.999936)
    assert found["longest_seconds"] == pytest.approx(8.999936)
    assert found["contention_fraction"] == pytest.approx(0.09999929, rel=1e-6)
    assert found["event_rate"] == pytest.approx(10 / 900)
    assert found["long_queue_fraction"] == pytest.approx(0.1)
    assert found["detail_missing_fraction"] == 0.25
    assert (found["most_exclusive"], found["most_shared"]) == (5, 2)


def test_resources_together(tmp_path: Path) -> None:
    other = SYSDSN | {8: text("PROD.OTHER.FILE", 44), 56: u32(20_000), 84: u16(30)}
    (found,) = lines(tmp_path, RESOURCE, enqueue_record(SYSDSN, other), by=("major",))
    assert (found["contention_events"], found["longest_seconds"]) == (40, pytest.approx(20.48))
    assert found["contention_time"] == pytest.approx(2 * 89.99936 / 40)


def test_a_long_name_is_marked_and_scope_system(tmp_path: Path) -> None:
    long = SYSDSN | {8: text("X" * 44, 44), 86: u8(60), 87: u8(0), 92: text("", 8), 124: text("", 8)}
    (found,) = lines(tmp_path, RESOURCE, enqueue_record(long), by=EACH)
    assert (found["minor"], found["resource_scope"], found["owner"]) == ("X" * 44 + "...", "SYSTEM", None)


def test_a_record_without_the_later_fields(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, RESOURCE, enqueue_record(SYSDSN, length=156), by=EACH)
    assert (found["status_changes"], found["detail_missing_fraction"]) == (None, None)
    assert found["contention_events"] == 10
