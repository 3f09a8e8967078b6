"""SMF recording (SMF 23, 7): records by hand from the offsets of IBM's pages, values by hand."""

from __future__ import annotations

import datetime
import struct
from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import lines, record, section, tables, text, u16, u32

RECORDING = GRAINS["smf_recording"]

MIB = 1 << 20


def written(kind: int, at: datetime.datetime, behind: bytes, *, system: str = "SYS1") -> bytes:
    """A record without subtype: the standard header of 18 bytes, and what follows it."""
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    header = bytes([0x1E, kind]) + u32(int((at - midnight).total_seconds() * 100))
    header += bytes.fromhex(f"01{at:%y%j}F") + text(system, 4)
    body = header + behind
    return struct.pack(">HH", len(body) + 4, 0) + body


def status_record(
    at: datetime.datetime, records: int, *, most: int = 32 * MIB, streams: tuple[bytes, ...] = ()
) -> bytes:
    """A status record: a tenth as many buffers as records, 128 MiB of buffers allowed, a warning at 25 %."""
    statistics = section(
        40,
        {
            0: u32(records // 10), 4: u32(7), 12: u32(records), 16: u32(8 * MIB), 20: u32(16 * MIB), 24: u32(most),
            28: u32(128 * MIB), 32: u32(25),
        },
    )  # fmt: skip
    # Triplets of the product, system, statistics and log stream sections, from 20 to 52; then two sections of 8 bytes.
    ends = 52 + 8 + 8
    triplets = struct.pack(">IHH", 52, 8, 1) + struct.pack(">IHH", 60, 8, 1) + struct.pack(">IHH", ends, 40, 1)
    length = len(streams[0]) if streams else 0
    triplets += struct.pack(">IHH", ends + 40 if streams else 0, length, len(streams))
    return written(23, at, bytes(2) + triplets + bytes(16) + statistics + b"".join(streams))


def loss_record(at: datetime.datetime, *, system: str = "SYS1") -> bytes:
    """A record of data lost; what it says after its header is not read."""
    return written(7, at, bytes(30), system=system)


def behind_utc(hours: int) -> bytes:
    """An RMF record of an interval from `START` without data: the product section has the offset from UTC at 60."""
    data = bytearray(record(74, 10, starts=START - timedelta(hours=hours)))
    data[36 + 60 : 36 + 68] = struct.pack(">q", -hours * 3_600_000_000 * 4_096)
    return bytes(data)


def minutes(count: float) -> datetime.datetime:
    return START + timedelta(minutes=count)


def stream(name: str) -> bytes:
    fields = {0: u16(len(name)), 2: text(name, 26), 28: u32(MIB), 32: u32(2 * MIB), 36: u32(512 * MIB)}
    return section(52, fields | {40: u32(1024 * MIB), 44: u32(70), 48: u32(0x4000_0000)})


def test_records_and_buffers(tmp_path: Path) -> None:
    # 36,000 and 72,000 records in an hour each: 15 a second, a tenth as many buffers.
    dump = [status_record(minutes(60), 36_000), status_record(minutes(120), 72_000, most=96 * MIB)]
    (found,) = lines(tmp_path, RECORDING, *dump, by=("system",), time="all")
    # The first record has no record before: its interval is as long as that of the second.
    assert found["interval_seconds"] == 7_200
    assert found["records"] == 108_000
    assert found["record_rate"] == pytest.approx(15)
    assert found["buffer_rate"] == pytest.approx(1.5)
    assert found["most_buffers"] == 7
    assert found["most_storage_bytes"] == 96 * MIB
    assert found["most_storage_fraction"] == 0.75
    assert found["warning_level"] == 0.25
    assert found["losses"] == 0


def test_an_interval_after_a_pause_is_as_long_as_usual(tmp_path: Path) -> None:
    dump = [status_record(minutes(at), 36_000) for at in (0, 60, 120, 600)]
    (found,) = lines(tmp_path, RECORDING, *dump, by=("system",), time="all")
    assert found["interval_seconds"] == 4 * 3_600


def test_losses_count_in_their_interval_and_outside_of_all(tmp_path: Path) -> None:
    dump = [
        *(status_record(minutes(at), 36_000) for at in (0, 60, 120)),
        *(loss_record(minutes(at)) for at in (61, 120, 130)),
        loss_record(minutes(5), system="SYS2"),
    ]
    found = {(line["system"], line["time"]): line for line in lines(tmp_path, RECORDING, *dump)}
    assert {key: line["losses"] for key, line in found.items()} == {
        ("SYS1", minutes(-60)): 0,
        ("SYS1", minutes(0)): 0,
        ("SYS1", minutes(60)): 2,
        ("SYS1", minutes(130)): 1,
        ("SYS2", minutes(5)): 1,
    }
    assert sum(line["records"] or 0 for line in found.values()) == 3 * 36_000


def test_the_offset_from_utc_is_that_of_rmf(tmp_path: Path) -> None:
    # The clock of the system is five hours behind UTC, as the offset in RMF's product section says.
    dump = [behind_utc(5), *(status_record(minutes(at) - timedelta(hours=5), 36_000) for at in (0, 15))]
    found = lines(tmp_path, RECORDING, *dump)
    assert [line["time"] for line in found] == [minutes(-15), minutes(0)]


def test_log_streams_are_a_raw_table(tmp_path: Path) -> None:
    dump = status_record(minutes(60), 36_000, streams=(stream("IFASMF.SYS1.RMF"), stream("IFASMF.SYS1.JOBS")))
    found = tables(tmp_path, dump)["smf23_log_stream"].to_pylist()
    assert [line["smf23lsn"] for line in found] == ["IFASMF.SYS1.RMF", "IFASMF.SYS1.JOBS"]
    assert [line["smf23lfh"] for line in found] == [512 * MIB] * 2
    assert [line["smf23lfl"] for line in found] == [70] * 2


def test_losses_without_status_records(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, RECORDING, *(loss_record(minutes(at)) for at in (5, 7)), time="all")
    assert (found["losses"], found["records"], found["record_rate"]) == (2, None, None)


def test_no_data_no_rows(tmp_path: Path) -> None:
    assert lines(tmp_path, RECORDING, record(74, 10)) == []
