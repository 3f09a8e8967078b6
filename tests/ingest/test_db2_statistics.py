"""SMF 100 through the decoder: every value that a published reader places, against the slow decode of tests/oracle."""

from __future__ import annotations

import datetime
import struct
from pathlib import Path

import pytest

from tests.ingest.decoded import compared, decoded
from tests.oracle import db2_by_hand, slow_db2
from tests.oracle.db2_by_hand import DB2_9, DB2_12, Noise, Sections

AT = datetime.datetime(2026, 3, 2, 8, 0, tzinfo=datetime.UTC)
# Entries of the dump: six pools in three releases and two varying ones; two group pools in each; four and three spaces.
ENTRIES = {"smf100_ifcid2_qbst": 6 * 3 + 2, "smf100_ifcid2_qbgl": 6, "smf100_ifcid1_qwsa": 7}


def written(folder: Path, data: bytes) -> Path:
    path = folder / "db2.smf"
    path.write_bytes(data)
    return path


def test_every_value_equals_the_slow_decode(tmp_path: Path) -> None:
    path = written(tmp_path, db2_by_hand.dump())
    ours, summary = decoded(path)
    expected = slow_db2.tables(path)
    assert not summary["damage"]
    assert {name: len(rows) for name, rows in ours.items() if name in expected} == {
        name: len(rows) for name, rows in expected.items()
    }
    assert {name: len(expected[name]) for name in ENTRIES} == ENTRIES
    count, differences = compared(ours, expected)
    assert not differences, "\n".join(differences[:20])
    assert count > 1500


def test_who_shares_data_is_read_from_its_header(tmp_path: Path) -> None:
    rows, _ = decoded(written(tmp_path, db2_by_hand.dump()))
    assert {(row["qwhamemn"], row["qwhadsgn"]) for row in rows["smf100_qwha"]} == {("DB1A", "DBGROUP")}
    assert len(rows["smf100_qwha"]) == len(rows["smf100_qwhs"])


def short_pool(number: int, **counters: tuple[int, int]) -> bytes:
    """A Db2 9 entry of 228 bytes: 4-byte counters, each at half the place of Db2 11."""
    entry = bytearray(struct.pack(">I", number) + bytes(224))
    for at, value in counters.values():
        entry[at : at + 4] = struct.pack(">I", value)
    return bytes(entry)


def test_short_counters_of_db2_9_fill_the_same_table(tmp_path: Path) -> None:
    # Getpages at 4, synchronous reads at 8, pages written at 28, pool size at 148, sequential getpages at 168.
    old = short_pool(81, get=(4, 1001), rio=(8, 1002), pws=(28, 1003), vpl=(148, 1004), sgt=(168, 2**32 - 1))
    noise = Noise(1)
    data = db2_by_hand.record(2, {3: Sections([old])}, release=DB2_9, built=AT)
    data += db2_by_hand.record(2, {3: Sections([noise.pool(81, 520)])}, release=DB2_12, built=AT, sequence=2)
    rows, summary = decoded(written(tmp_path, data))
    first, second = rows["smf100_ifcid2_qbst"]
    wanted = {"qbstpid": 81, "qbstget": 1001, "qbstrio": 1002, "qbstpws": 1003, "qbstvpl": 1004, "qbstsgt": 2**32 - 1}
    assert {name: first[name] for name in wanted} == wanted
    assert first["qbstsmin"] is None, "a counter that Db2 9 does not have"
    assert second["qbstpid"] == 81
    assert second["qbstsmin"] is not None
    assert not summary["damage"]
    notes = {note["section"] for note in summary["notes"] if note["kind"] == "low_confidence"}
    assert "smf100_ifcid2_qbst" in notes


@pytest.mark.parametrize("length", [16, 100, 399, 400, 487, 600])
def test_an_entry_of_any_length_gives_what_it_holds(tmp_path: Path, length: int) -> None:
    entry = Noise(length).pool(3, length)
    data = db2_by_hand.record(2, {3: Sections([entry])}, built=AT)
    rows, _ = decoded(written(tmp_path, data))
    (row,) = rows["smf100_ifcid2_qbst"]
    width = 8 if length >= 400 else 4
    assert row["qbstpid"] == 3
    getpages = int.from_bytes(entry[width : 2 * width], "big") if length >= 2 * width else None
    assert row["qbstget"] == getpages
