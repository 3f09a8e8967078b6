"""SQL statements of Db2 (SMF 102 IFCID 316 and 401): records by hand from what public programs read, values by hand."""

from __future__ import annotations

import struct
from datetime import timedelta
from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from tests.metrics.raw import START
from tests.metrics.rmf_by_hand import Fields, lines, section, tables, text, tod, u8, u16, u32

STATEMENT = GRAINS["db2_statement"]

DYNAMIC, STATIC = 316, 401


def u64(value: int) -> bytes:
    return struct.pack(">Q", value)


def clock(seconds: float) -> bytes:
    """A time in units of 1/4096 of a microsecond."""
    return u64(round(seconds * 1e6) << 12)


def dynamic(number: int = 593, more: Fields | None = None) -> Fields:
    """1,000 executions: 40 s, 10 s CPU; 50,000 getpages, 2,000 reads, 300,000 rows examined, 6,000 processed."""
    program = text("DSNTEP2", 7)
    return {
        0: bytes(range(16)), 16: u32(number), 24: u64(3), 32: u32(1), 36: u8(0b0010_0000), 37: text(" ", 1),
        38: b"\x20\x26", 48: u64(1_000), 56: u64(2_000), 64: u64(50_000), 72: u64(300_000), 80: u64(6_000), 88: u64(7),
        96: u64(8), 104: u64(9), 112: u64(10), 120: u64(11), 128: clock(40), 198: u16(len(program)),
        200: program + b"\xff" * 4, 244: text("TX01", 32), 276: text("ANNA", 16), 292: text("DESK7", 18),
        392: clock(10), 448: u64(2), 456: u64(3), 556: text("SELECT * FROM T WHERE A = ?", 60),
    } | (more or {})  # fmt: skip


#: The same counts at the places of IFCID 401, and 20 s of waits for synchronous I/O.
FIXED: Fields = {
    0: u64(132_285), 8: u64(1_000), 16: u64(2_000), 24: u64(50_000), 32: u64(300_000), 40: u64(6_000), 48: u64(7),
    56: u64(8), 64: u64(9), 72: u64(11), 80: u64(10), 88: clock(40), 96: clock(10), 104: clock(20), 152: u64(2),
    160: u64(3), 208: bytes(range(8)), 216: u16(300), 218: u16(320),
}  # fmt: skip


def trace_record(ifcid: int, *statements: Fields, minutes: int = 5, varying: bool = False) -> bytes:
    """A record of Db2 DB1A with these statements, written so many minutes after the start.

    `varying`: each after its own length, and the length of the triplet is zero.
    """
    written = START + timedelta(minutes=minutes)
    length = {DYNAMIC: 616, STATIC: 400}[ifcid]
    entries = [section(length, fields) for fields in statements]
    data = b"".join(u16(length) + entry if varying else entry for entry in entries)
    header = section(76, {
        0: u16(76), 2: u8(1), 4: u16(ifcid), 6: u8(2), 7: u8(0xC1), 12: text("DB1A", 4), 16: tod(written),
        36: text("LOCDB1", 16),
    })  # fmt: skip
    seconds = (written - written.replace(hour=0, minute=0, second=0)).total_seconds()
    standard = bytes([0x5E, 102]) + u32(int(seconds * 100)) + bytes.fromhex(f"01{written:%y%j}F")
    standard += text("SYS1", 4) + text("DB1A", 4) + u16(0) + u32(0)
    triplets = struct.pack(">IHHIHH", 44, 76, 1, 44 + 76, 0 if varying else length, len(entries))
    body = standard + triplets + header + data
    return struct.pack(">HH", len(body) + 4, 0) + body


def test_a_dynamic_statement(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, STATEMENT, trace_record(DYNAMIC, dynamic()), time="all")
    names = (
        "subsystem",
        "kind",
        "statement",
        "statement_text",
        "program",
        "transaction_name",
        "end_user",
        "workstation",
    )
    assert [found[name] for name in names] == [
        "DB1A", "dynamic", "593", "SELECT * FROM T WHERE A = ?", "DSNTEP2", "TX01", "ANNA", "DESK7",
    ]  # fmt: skip
    assert found["left_for"] == "least recently used"
    assert found["cpu_per_execution"] == pytest.approx(0.01)
    assert found["elapsed_per_execution"] == pytest.approx(0.04)
    assert found["cpu_fraction"] == pytest.approx(0.25)
    assert (found["getpages_per_execution"], found["sync_reads_per_execution"]) == (50.0, 2.0)
    assert found["rows_examined_per_row"] == 50.0
    assert found["getpages_per_row"] == pytest.approx(50_000 / 6_000)
    counts = ("sorts", "index_scans", "table_space_scans", "parallel_groups", "sync_writes", "rid_failures")
    assert [found[name] for name in counts] == [7, 8, 9, 10, 11, 5]
    assert found["sync_wait_seconds"] is None


def test_a_static_statement(tmp_path: Path) -> None:
    (found,) = lines(tmp_path, STATEMENT, trace_record(STATIC, FIXED), time="all")
    assert (found["kind"], found["statement"], found["statement_text"]) == ("static", "132285", None)
    assert found["cpu_per_execution"] == pytest.approx(0.01)
    assert (found["elapsed_seconds"], found["sync_wait_seconds"]) == (pytest.approx(40.0), pytest.approx(20.0))
    counts = (
        "executions",
        "sync_reads",
        "getpages",
        "rows_examined",
        "rows_processed",
        "sync_writes",
        "parallel_groups",
    )
    assert [found[name] for name in counts] == [1_000, 2_000, 50_000, 300_000, 6_000, 11, 10]
    counts = ("sorts", "index_scans", "table_space_scans", "rid_failures")
    assert [found[name] for name in counts] == [7, 8, 9, 5]


def test_the_last_record_of_a_statement_counts(tmp_path: Path) -> None:
    later = dynamic(more={48: u64(1_500), 392: clock(12)})
    anew = dynamic(more={48: u64(10), 392: clock(1), 556: text("DELETE FROM T", 60)})
    records = [trace_record(DYNAMIC, fields, minutes=at) for at, fields in ((5, dynamic()), (20, later), (40, anew))]
    (found,) = lines(tmp_path, STATEMENT, *records, by=("subsystem", "kind", "statement"), time="all")
    # The second has the counts of the first; the third is another statement.
    assert (found["statements"], found["executions"]) == (2, 1_510)
    assert found["cpu_seconds"] == pytest.approx(13.0)


@pytest.mark.parametrize("varying", [False, True])
def test_several_statements_of_a_record(tmp_path: Path, varying: bool) -> None:
    whole = trace_record(DYNAMIC, dynamic(1), dynamic(2, more={48: u64(3_000)}), varying=varying)
    found = lines(tmp_path, STATEMENT, whole, time="all")
    assert {line["statement"]: line["executions"] for line in found} == {"1": 1_000, "2": 3_000}
    (whole_db2,) = lines(tmp_path, STATEMENT, whole, by=("subsystem",), time="all")
    assert (whole_db2["statements"], whole_db2["getpages"]) == (2, 100_000)


def test_every_field_has_its_place(tmp_path: Path) -> None:
    found = tables(tmp_path, trace_record(DYNAMIC, dynamic()), trace_record(STATIC, FIXED))
    (moving,), (fixed,) = (found[f"smf102_ifcid{number}"].to_pylist() for number in (DYNAMIC, STATIC))
    assert (moving["qw0316us"], moving["qw0316cp"], moving["qw0316t1l"], moving["qw0316rt"]) == (3, 1, 7, 2)
    assert (fixed["qw0401to"], fixed["qw0401cl"], fixed["qw0401pk"]) == (bytes(range(8)), 300, 320)
