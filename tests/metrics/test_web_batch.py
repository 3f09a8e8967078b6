"""Java batch of Liberty (SMF 120-12): records by hand from published sources, values by hand."""

from __future__ import annotations

import datetime
import struct
from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import lines, section, tables, text, u32
from tests.metrics.test_tcp import plain
from tests.metrics.test_web_requests import CLOCK

BATCH = GRAINS["web_batch"]
STEP, JOB = 1, 2
FAILED, COMPLETED = 4, 5


def u64(value: int) -> bytes:
    return struct.pack(">Q", value)


def clock_units(seconds: float) -> bytes:
    """Seconds in units of the TOD clock."""
    return u64(round(seconds * 4_096_000_000))


def java(moment: datetime.datetime) -> bytes:
    """Milliseconds since 1970."""
    return u64(round(moment.timestamp() * 1000))


def batch_record(
    ended: datetime.datetime,
    seconds: float = 90.0,
    *,
    unit: int = STEP,
    job: str = "billing",
    step: str = "post",
    status: int = COMPLETED,
    used: tuple[float, float] | None = (20.0, 15.0),
    items: tuple[int, ...] = (1000, 980, 10, 1, 3, 4, 20, 5),
) -> bytes:
    """Eight triplets of three times four bytes from 48 on. `used`: processor time, and that on zIIP.

    `items`: read, written, commits, rollbacks, skipped at read, in processing, filtered, skipped at write.
    """
    server = section(
        268,
        {
            0: u32(3), 4: u32(unit), 8: text("SYS1", 8), 16: text("PLEX", 8), 24: CLOCK, 32: text("CET", 32),
            64: text("STC00099", 8), 72: text("BBGZSRV1", 8), 88: u32(0x51), 92: text("/var/servers/b1", 128),
            220: text("24.0.0.12", 16), 236: u32(500), 240: u32(800), 244: text("JPA", 4), 248: text("store", 16),
            264: bytes.fromhex("80000000"),
        },
    )  # fmt: skip
    of = section(
        360,
        {
            0: u32(1), 4: u64(7), 12: u64(8), 20: u64(1), 28: u64(9), 36: u64(0), 44: text(job, 32),
            76: text("BillingApp", 32), 108: text("billing.xml", 32), 140: text(step, 32),
            236: java(ended - timedelta(seconds=seconds + 1)), 244: java(ended - timedelta(seconds=seconds)),
            252: java(ended), 260: text("FRED", 32), 292: text("JESJOB", 8), 300: text("JOB01234", 8), 344: u32(100),
        },
    )  # fmt: skip
    completion = section(
        216,
        {0: u32(1), 4: u32(status), 8: b"COMPLETED".ljust(128)} | {152 + 8 * n: u64(v) for n, v in enumerate(items)},
    )
    times = [] if used is None else [
        section(
            68,
            {
                0: u32(1), 4: clock_units(100), 12: clock_units(100 + used[0]), 20: clock_units(50),
                28: clock_units(50 + used[0] - used[1]), 36: clock_units(10), 44: clock_units(10 + used[1]),
                52: clock_units(1), 60: clock_units(1.5),
            },
        )
    ]  # fmt: skip
    names = [
        section(140, {0: u32(1), 4: u32(kind), 8: u32(len(name)), 12: name.encode().ljust(128)})
        for kind, name in ((1, "reader"), (3, "writer"))
    ]
    parts = ([server], [of], [completion], times, [bytes(20)], [bytes(40)], names, [])
    behind = u32(3) + u32(8) + u32(1) + u32(1) + bytes(8)
    at = 48 + 12 * 8
    for entries in parts:
        behind += u32(at if entries else 0) + u32(len(entries[0]) if entries else 0) + u32(len(entries))
        at += sum(map(len, entries))
    return plain(120, 12, ended, behind + b"".join(b"".join(entries) for entries in parts))


def test_a_record_is_read_as_byte_by_byte(tmp_path: Path) -> None:
    data = batch_record(START)
    found = {table: rows.to_pylist() for table, rows in tables(tmp_path, data).items()}

    def begin(triplet: int) -> int:
        return int.from_bytes(data[48 + 12 * triplet :][:4], "big")

    def at(triplet: int, place: int, width: int = 4) -> int:
        return int.from_bytes(data[begin(triplet) + place :][:width], "big")

    def words(triplet: int, place: int, width: int) -> str:
        return data[begin(triplet) + place :][:width].decode("cp037").rstrip()

    (server,) = found["smf120_12_server"]
    assert (server["sm120c_unit"], server["sm120c_asid"]) == (at(0, 4), at(0, 88))
    assert server["sm120c_gmt_offset"] == at(0, 24, 8) / 4_096e6
    assert (server["sm120c_jobname"], server["sm120c_product_version"]) == (words(0, 72, 8), words(0, 220, 16))
    assert (server["sm120c_job_store"], server["sm120c_rmctadjc"]) == (words(0, 248, 16), at(0, 240))
    (job,) = found["smf120_12_job"]
    assert [job[f"sm120c_{name}"] for name in ("batch_job", "application", "xml_name", "batch_step")] == [
        words(1, 44 + 32 * n, 32) for n in range(4)
    ]
    assert [job[f"sm120c_{name}"] for name in ("created", "started", "ended")] == [
        at(1, 236 + 8 * n, 8) / 1e3 for n in range(3)
    ]
    assert (job["sm120c_execution"], job["sm120c_item_count"]) == (at(1, 12, 8), at(1, 344))
    assert (job["sm120c_submitter"], job["sm120c_jes_jobid"]) == (words(1, 260, 32), words(1, 300, 8))
    (completion,) = found["smf120_12_completion"]
    counts = (
        "reads", "writes", "commits", "rollbacks", "read_skips", "process_skips", "filtered", "write_skips",
    )  # fmt: skip
    assert [completion[f"sm120c_{name}"] for name in counts] == [at(2, 152 + 8 * n, 8) for n in range(8)]
    assert completion["sm120c_batch_status"] == at(2, 4)
    (used,) = found["smf120_12_cpu"]
    clocks = ("cpu_start", "cpu_end", "cp_start", "cp_end", "offload_start", "offload_end")
    assert [used[f"sm120c_{name}"] for name in clocks] == [at(3, 4 + 8 * n, 8) / 4_096e6 for n in range(6)]
    assert [row["sm120c_reference_type"] for row in found["smf120_12_reference"]] == [1, 3]


def test_jobs_and_steps(tmp_path: Path) -> None:
    begin = START + timedelta(minutes=2)
    records = [
        batch_record(begin),
        batch_record(
            begin + timedelta(minutes=4), 30.0, status=FAILED, used=(10.0, 3.0), items=(500, 100, 5, *[0] * 5)
        ),
        # Without a processor section, and its clock went backward.
        batch_record(begin + timedelta(minutes=5), -2.0, used=None, items=(700, 0, 7, *[0] * 5)),
        batch_record(begin + timedelta(minutes=6), 400.0, unit=JOB, step="", used=(31.0, 18.0), items=(0,) * 8),
    ]
    found = lines(tmp_path, BATCH, *records, by=("web_server", "batch_unit", "batch_job", "batch_step"), time="all")
    units = {line["batch_unit"]: line for line in found}
    assert set(units) == {"step", "job"}
    step = units["step"]
    assert (step["web_server"], step["batch_job"], step["batch_step"]) == ("BBGZSRV1", "billing", "post")
    assert (step["units_ended"], step["failed_fraction"]) == (3, pytest.approx(1 / 3))
    # 90 and 30 s; 20 and 10 s of processor time, of which 15 and 3 s on zIIP.
    assert (step["timed_units"], step["longest_seconds"]) == (2, pytest.approx(90))
    assert step["elapsed_time"] == pytest.approx(60)
    assert (step["cpu_units"], step["cpu_per_unit"]) == (2, pytest.approx(15))
    assert step["ziip_fraction"] == pytest.approx(18 / 30)
    # 2,200 items read with 22 commits, and 3 skipped at their read; 3 + 4 + 5 skipped in all.
    assert (step["items_read"], step["items_written"], step["items_filtered"]) == (2200, 1080, 20)
    assert (step["items_per_commit"], step["skipped_fraction"]) == (pytest.approx(100), pytest.approx(12 / 2203))
    # 30 s for the 1,500 items of the units whose processor time is known.
    assert (step["cpu_per_item"], step["rollbacks"]) == (pytest.approx(30 / 1500), 1)
    job = units["job"]
    assert (job["batch_step"], job["items_per_commit"], job["failed_fraction"]) == (None, None, 0)
    assert (job["elapsed_time"], job["cpu_per_unit"]) == (pytest.approx(400), pytest.approx(31))
