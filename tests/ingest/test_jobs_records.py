"""SMF 30, 42-6 and 73 through the decoder: every value of records made by hand against the slow decode."""

from __future__ import annotations

import datetime
import struct
from pathlib import Path

import pytest

from tests.ingest.decoded import compared, decoded
from tests.oracle import jobs_by_hand, slow_jobs
from tests.oracle.jobs_by_hand import AT, LENGTH, Noise
from tests.oracle.slow_jobs_structures import OF_A_DATA_SET, SMF30

ALL_OF_A_DATA_SET = tuple(table for table, *_ in OF_A_DATA_SET)
SEVERAL = {"smf30_excp": 5, "smf30_usage": 3, "smf30_unix_process": 2, "smf30_crypto_counters": 4, "smf30_container": 0}


def records() -> list[bytes]:
    noise = Noise(30)
    return [
        *(jobs_by_hand.smf30(noise, subtype) for subtype in (1, 2, 3, 4, 5, 6)),
        jobs_by_hand.smf30(noise, 4, counts=SEVERAL),
        jobs_by_hand.smf30(noise, 5, old=True),
        jobs_by_hand.smf42_6(noise, ALL_OF_A_DATA_SET),
        jobs_by_hand.smf42_6(
            noise, ("smf42_6_io",), (), ALL_OF_A_DATA_SET, ("smf42_6_access_method", "smf42_6_sync_1")
        ),
        jobs_by_hand.smf73(noise, [1, 0, 2, 3, 2, 0], 2),
        jobs_by_hand.smf73(noise, [2], 0),
    ]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "jobs.smf"
    path.write_bytes(b"".join(records()))
    return path


def test_every_value_equals_the_slow_decode(dump: Path) -> None:
    ours, summary = decoded(dump)
    expected = slow_jobs.tables(dump)
    assert not summary["damage"]
    assert {name: len(rows) for name, rows in ours.items() if name.startswith(("smf30", "smf42", "smf73"))} == {
        name: len(rows) for name, rows in expected.items()
    }
    # Every section of SMF 30 is in some record, with every field that the structure has.
    assert {table for _, table, _, _ in SMF30} <= set(expected)
    for table, rows in expected.items():
        named = {column for row in ours[table] for column in row}
        identity = {"system", "sysplex", "subsystem", "interval_start", "interval_end", "utc_offset", "source_id"}
        assert named - identity == {column for row in rows for column in row}, table
    count, differences = compared(ours, expected)
    assert not differences, "\n".join(differences[:20])
    assert count > 3500


def test_whose_interval_it_is(dump: Path) -> None:
    ours, _ = decoded(dump)
    for table in ("smf30_identification", "smf42_6_io", "smf73_1_channel"):
        for row in ours[table]:
            assert row["system"] == "SYS1"
            assert (row["interval_start"], row["interval_end"]) == (AT - LENGTH, AT), table
    assert {row["sysplex"] for row in ours["smf73_1_channel"]} == {"PLEX1"}
    assert {row["utc_offset"] for row in ours["smf73_1_channel"]} == {3600.0}


def test_sections_of_a_data_set_bear_its_number(dump: Path) -> None:
    """The second record has four data sets: I/O statistics of the first and third, access method of the last two."""
    ours, _ = decoded(dump)
    numbers = {
        table: [row["section_no"] for row in ours[table] if row["record_no"] == 10]
        for table in ("smf42_6_data_set", "smf42_6_io", "smf42_6_access_method", "smf42_6_sync_2")
    }
    assert numbers == {
        "smf42_6_data_set": [1, 2, 3, 4],
        "smf42_6_io": [1, 3],
        "smf42_6_access_method": [3, 4],
        "smf42_6_sync_2": [3],
    }


def test_measurement_groups_bear_the_number_of_their_channel(dump: Path) -> None:
    ours, _ = decoded(dump)
    numbers = {
        table: [row["section_no"] for row in ours[table] if row["record_no"] == 11]
        for table in ("smf73_1_channel", "smf73_1_group1", "smf73_1_group2", "smf73_1_group3")
    }
    assert numbers == {
        "smf73_1_channel": [1, 2, 3, 4, 5, 6],
        "smf73_1_group1": [1],
        "smf73_1_group2": [3, 5],
        "smf73_1_group3": [4],
    }


def test_a_chain_of_data_sets_that_leads_back_is_damage(tmp_path: Path) -> None:
    record = bytearray(jobs_by_hand.smf42_6(Noise(1), ("smf42_6_io",), ("smf42_6_io",)))
    first = struct.unpack_from(">I", record, 24 + 20 + 40 + 24)[0]
    struct.pack_into(">I", record, first + 120, first)
    path = tmp_path / "back.smf"
    path.write_bytes(bytes(record))
    ours, summary = decoded(path)
    assert len(ours["smf42_6_data_set"]) == 2
    assert [damage["reason"] for damage in summary["damage"]] == ["header_chain_broken"]


def test_an_accounting_field_that_leads_outside_is_damage(tmp_path: Path) -> None:
    record = bytearray(jobs_by_hand.smf30(Noise(1), 5))
    place = struct.unpack_from(">I", record, 64)[0]
    record[place] = 255
    path = tmp_path / "outside.smf"
    path.write_bytes(bytes(record))
    ours, summary = decoded(path)
    assert ours.get("smf30_accounting", []) == []
    assert "header_chain_broken" in {damage["reason"] for damage in summary["damage"]}
    assert ours["smf30_processor_accounting"][0]["record_no"] == 1


def test_dates_and_times_are_those_of_the_packed_digits(dump: Path) -> None:
    """The forms are worked out once more, on bytes typed here."""
    header = bytearray(jobs_by_hand.smf30(Noise(2), 4))
    place = struct.unpack_from(">I", header, 32)[0]
    struct.pack_into(">I", header, place + 56, 8_639_999)
    header[place + 60 : place + 64] = bytes.fromhex("0124366F")
    path = dump.with_name("dates.smf")
    path.write_bytes(bytes(header))
    (row,) = decoded(path)[0]["smf30_identification"]
    assert row["smf30sit"] == 86399.99
    assert row["smf30std"] == datetime.date(2024, 12, 31)
