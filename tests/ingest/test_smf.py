"""SMF dumps as sources: found, read, put into a PDB; records made by hand, and dumps of real systems."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard

from plexlens.errors import (
    NothingUsableError,
    PlexlensError,
    SchemaConflictError,
    UnknownSourceError,
    UnreadableInputError,
)
from plexlens.ingest import kinds as sources
from plexlens.ingest import smf
from plexlens.ingest.source import Reading
from plexlens.pdb import Outcome, Pdb, ingest
from tests.ingest.smf_by_hand import DELAY, NAME, layouts, marker, record, thing

NOON = datetime(2024, 3, 1, 12)


@pytest.fixture
def pdb(tmp_path: Path) -> Pdb:
    return Pdb.create(tmp_path / "plex.pdb")


def dump(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(records))
    return path


def minutes(first: int, past: int, **options: Any) -> list[bytes]:
    """A record a minute, with one thing that counts the minutes."""
    return [record(NOON + timedelta(minutes=m), things=(thing(m, 1000 * m),), **options) for m in range(first, past)]


def rows(pdb: Pdb, sql: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = pdb.connect().execute(sql).to_arrow_table().to_pylist()
    return listed


# --- the module ---------------------------------------------------------------------------------------------


def test_a_reading_gives_tables_and_then_what_it_was(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "a.smf",
        marker(NOON, 2),
        record(NOON, things=(thing(7, 1500), thing(8, 2500))),
        record(NOON + timedelta(days=1), record_type=123, subtype=9),
        marker(NOON, 3),
    )
    reading = smf.read(path, source_id="me", layouts=[layouts(tmp_path / "site", DELAY)])
    assert isinstance(reading, Reading)
    tables = dict(reading)
    things = tables["smf200_1_thing"].to_pylist()
    assert [(row["count"], row["delay"], row["record_no"], row["section_no"]) for row in things] == [
        (7, 1.5, 2, 1),
        (8, 2.5, 2, 2),
    ]
    assert {row["source_id"] for row in things} == {"me"}
    listed = tables["smf_record"].to_pylist()
    assert [(row["record_type"], row["decoded"]) for row in listed] == [
        (2, False),
        (200, True),
        (123, False),
        (3, False),
    ]
    found = reading.summary
    assert found["records"] == {"2": 1, "3": 1, "123.9": 1, "200.1": 1}
    assert (found["measurements"], found["duplicates"]) == (2, 0)
    assert found["span"] == ["2024-03-01T12:00:00.00", "2024-03-02T12:00:00.00"]
    assert reading.damage == []
    assert reading.position == path.stat().st_size


def test_the_inventory_comes_before_the_sections_of_its_records(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.smf", *(one for batch in range(60) for one in minutes(batch * 20, batch * 20 + 20)))
    # Records of 44 bytes in batches of 8 MiB would be one batch: long things make several.
    long = [record(NOON + timedelta(seconds=s), things=(thing(s, s) + bytes(30_000),)) for s in range(1000)]
    path = dump(tmp_path / "long.smf", *long)
    known: set[int] = set()
    batches = 0
    for table, batch in smf.read(path, source_id="x", layouts=[layouts(tmp_path / "site", DELAY)]):
        numbers = set(batch.column("record_no").to_pylist())
        if table == "smf_record":
            batches += 1
            known |= numbers
        assert numbers <= known
    assert (batches > 1, len(known)) == (True, 1000)


def test_the_question_for_held_records_is_asked_by_day(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.smf", *minutes(0, 3), record(NOON + timedelta(days=2), things=(thing(9),)))
    first = smf.read(path, source_id="x")
    hashes = {row["record_no"]: row["hash"] for row in pa.table(dict(first)["smf_record"]).to_pylist()}
    asked: list[date | None] = []

    def seen(day: date | None) -> np.ndarray[Any, np.dtype[np.uint64]]:
        asked.append(day)
        return np.array([hashes[2]] if day == NOON.date() else [], np.uint64)

    second = smf.read(path, source_id="x", seen=seen)
    assert dict(second)["smf_record"].column("record_no").to_pylist() == [1, 3, 4]
    assert asked == [date(2024, 3, 1), date(2024, 3, 3)]
    assert second.summary["duplicates"] == 1


def test_only_the_tables_asked_for_are_filled(tmp_path: Path) -> None:
    site = layouts(tmp_path / "site")
    path = dump(tmp_path / "a.smf", *minutes(0, 3))
    assert set(dict(smf.read(path, source_id="x", layouts=[site]))) == {"smf_record", "smf200_1_thing"}
    assert set(dict(smf.read(path, source_id="x", layouts=[site], tables=["smf_record"]))) == {"smf_record"}


@pytest.mark.parametrize(("codepage", "text"), [("037", "[]"), ("1047", "[]")])
def test_the_code_page_can_be_chosen(tmp_path: Path, codepage: str, text: str) -> None:
    # Brackets are X'BA' X'BB' in 037 and X'AD' X'BD' in 1047.
    brackets = {"037": b"\xba\xbb\x40\x40", "1047": b"\xad\xbd\x40\x40"}[codepage]
    path = dump(tmp_path / "a.smf", record(NOON, things=(thing(1, 2) + brackets,)))
    site = layouts(tmp_path / "site", DELAY, NAME)
    (named,) = dict(smf.read(path, source_id="x", layouts=[site], codepage=codepage))["smf200_1_thing"].to_pylist()
    assert named["name"] == text


def test_damage_is_told_with_place_and_remedy(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.smf", *minutes(0, 5), minutes(5, 6)[0][:20])
    reading = smf.read(path, source_id="me")
    assert sum(batch.num_rows for table, batch in reading if table == "smf_record") == 5
    (damage,) = reading.damage
    assert (damage.source_id, damage.file, damage.record_no, damage.offset) == ("me", str(path), 6, 5 * 44)
    assert reading.summary["damage"] == {damage.reason: 1}
    assert damage.severity == "data loss"
    assert damage.remedy


# --- what is not a dump ----------------------------------------------------------------------------------------


def _as_text(data: bytes) -> bytes:
    """What a transfer in text mode makes of a dump: every byte translated."""
    return data.decode("cp037").encode("latin-1", "replace")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF" + bytes(range(256)) * 100, "no SMF record"),
        (_as_text(b"".join(minutes(0, 500))), "transferred in text mode"),
        (bytes(100_000), "nothing but zero bytes"),
    ],
)
def test_what_is_no_dump_is_named(tmp_path: Path, pdb: Pdb, data: bytes, said: str) -> None:
    path = tmp_path / "thing"
    path.write_bytes(data)
    with pytest.raises(UnknownSourceError, match=said) as caught:
        ingest([path], pdb)
    assert caught.value.file == str(path)
    assert not caught.value.what.startswith(str(path))
    assert caught.value.remedy and caught.value.remedy not in caught.value.what
    assert caught.value.exit_code == 3
    # In a folder it is passed over, not an error.
    folder = tmp_path / "folder"
    folder.mkdir()
    path.rename(folder / "thing")
    dump(folder / "a.smf", *minutes(0, 3))
    results = {Path(result.file).name: result for result in ingest([folder], pdb)}
    assert (results["a.smf"].outcome, results["thing"].outcome) == (Outcome.ADDED, Outcome.SKIPPED)
    assert said in results["thing"].reason


def test_a_layout_that_cannot_be_used_is_named(tmp_path: Path, pdb: Pdb) -> None:
    site = layouts(tmp_path / "site", "DELAY,8,4,u33,ms,how long,,made up,high\n")
    with pytest.raises(UnreadableInputError) as caught:
        ingest([dump(tmp_path / "a.smf", *minutes(0, 3))], pdb, layouts=[site])
    assert not isinstance(caught.value, UnknownSourceError)
    assert caught.value.file.endswith("smf200_1_thing.csv")
    assert caught.value.line == 3


def test_a_folder_of_layouts_that_is_not_there(tmp_path: Path, pdb: Pdb) -> None:
    with pytest.raises(PlexlensError, match="no such folder of layouts") as caught:
        ingest([dump(tmp_path / "a.smf", *minutes(0, 3))], pdb, layouts=[tmp_path / "nowhere"])
    assert caught.value.exit_code == 2


def test_damaged_compression_is_named(tmp_path: Path, pdb: Pdb) -> None:
    path = tmp_path / "a.smf.gz"
    path.write_bytes(gzip.compress(b"".join(minutes(0, 100)))[:30])
    with pytest.raises(PlexlensError) as caught:
        ingest([path], pdb)
    assert isinstance(caught.value, (UnreadableInputError, NothingUsableError))
    assert "gzip" in str(caught.value)


def test_a_first_record_whose_length_looks_like_gzip(tmp_path: Path, pdb: Pdb) -> None:
    # 8,075 is X'1F8B', with which gzip begins; the next byte of a gzip file is 8, of a record 0 to 3.
    first = record(NOON, things=(thing(0),))
    long = struct.pack(">HH", 8075, 0) + first[4:] + bytes(8075 - len(first))
    path = dump(tmp_path / "a.smf", long, *minutes(1, 10))
    assert path.read_bytes()[:4] == b"\x1f\x8b\x00\x00"
    ingest([path], pdb, layouts=[layouts(tmp_path / "site")])
    assert pdb.tables()["smf_record"].rows == 10
    assert pdb.tables()["smf200_1_thing"].rows == 10


# --- into a PDB ---------------------------------------------------------------------------------------------


def test_overlapping_dumps_keep_each_record_once(tmp_path: Path, pdb: Pdb) -> None:
    site = layouts(tmp_path / "site", DELAY)
    # Over midnight: 12:00 and 720 minutes.
    first = dump(tmp_path / "a.smf", marker(NOON, 2), *minutes(0, 900), marker(NOON, 3))
    second = dump(tmp_path / "b.smf", marker(NOON, 2), *minutes(450, 1350), *minutes(1340, 1350), marker(NOON, 3))
    ingest([first, second], pdb, layouts=[site])
    assert [one.duplicates for one in pdb.ingests] == [0, 450 + 10]
    (found,) = rows(pdb, 'SELECT count(*) AS n, sum("count")::BIGINT AS s, sum(delay) AS d FROM smf200_1_thing')
    assert found == {"n": 1350, "s": 1349 * 1350 // 2, "d": 1349 * 1350 / 2}
    assert pdb.tables()["smf_record"].days == ("2024-03-01", "2024-03-02")
    # Sections of a record without an interval lie with their record: 720 minutes of the first day.
    assert {
        file.day: file.rows for file in pdb.manifest.files_of(pdb.ingests[0].id) if file.table == "smf200_1_thing"
    } == {
        "2024-03-01": 720,
        "2024-03-02": 180,
    }


def test_copies_packed_otherwise_bring_nothing_new(tmp_path: Path, pdb: Pdb) -> None:
    data = b"".join([marker(NOON, 2), *minutes(0, 300), marker(NOON, 3)])
    plain, packed, other = tmp_path / "a.smf", tmp_path / "a.smf.gz", tmp_path / "a.smf.zst"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    other.write_bytes(zstandard.compress(data))
    results = ingest([packed, plain, other], pdb)
    assert [result.outcome for result in results] == [Outcome.ADDED, Outcome.NOTHING_NEW, Outcome.NOTHING_NEW]
    # Dump headers and trailers of the copies are not kept either.
    assert pdb.tables()["smf_record"].rows == 302
    assert [result.outcome for result in ingest([packed, plain, other], pdb)] == [Outcome.ALREADY_HELD] * 3


def test_longer_sections_and_newer_layouts_grow_the_table(tmp_path: Path, pdb: Pdb) -> None:
    old = dump(tmp_path / "old.smf", *(record(NOON + timedelta(minutes=m), things=(thing(m),)) for m in range(10)))
    ingest([old], pdb, layouts=[layouts(tmp_path / "v1")])
    new = dump(tmp_path / "new.smf", *minutes(10, 30))
    ingest([new], pdb, layouts=[layouts(tmp_path / "v2", DELAY)])
    # With the new layout an old dump's sections are shorter: null, and noted.
    more = [record(NOON + timedelta(minutes=m), things=(thing(m),)) for m in range(30, 35)]
    ingest([dump(tmp_path / "older.smf", *more)], pdb, layouts=[tmp_path / "v2"])
    (found,) = rows(pdb, 'SELECT count(*) AS n, count(delay) AS k, sum("count")::BIGINT AS s FROM smf200_1_thing')
    assert found == {"n": 35, "k": 20, "s": 34 * 35 // 2}
    notes = rows(pdb, "SELECT note, section, count, max_bytes FROM note ORDER BY file")
    assert {(row["note"], row["section"], row["count"], row["max_bytes"]) for row in notes} == {
        ("section_shorter", "smf200_1_thing", 5, 4)
    }


def test_a_layout_with_another_unit_is_refused(tmp_path: Path, pdb: Pdb) -> None:
    ingest([dump(tmp_path / "a.smf", *minutes(0, 10))], pdb, layouts=[layouts(tmp_path / "v1", DELAY)])
    other = layouts(tmp_path / "v2", DELAY.replace(",ms,", ",KiB,"))
    with pytest.raises(SchemaConflictError, match="table smf200_1_thing: column delay is in seconds there and in"):
        ingest([dump(tmp_path / "b.smf", *minutes(10, 20))], pdb, layouts=[other])
    assert len(Pdb.open(pdb.path).ingests) == 1


def test_damage_goes_into_the_pdb(tmp_path: Path, pdb: Pdb) -> None:
    records = minutes(0, 20)
    records[7] = struct.pack(">HH", 9999, 0) + records[7][4:]
    ingest([dump(tmp_path / "a.smf", *records)], pdb)
    found = rows(pdb, "SELECT * FROM damage")
    assert found
    assert sum(pdb.ingests[0].damage.values()) == len(found)
    assert all(row["source_id"] == pdb.ingests[0].id and row["remedy"] and row["offset"] is not None for row in found)
    assert pdb.tables()["smf_record"].rows == 19


# --- real dumps ---------------------------------------------------------------------------------------------


def walk(data: bytes) -> Counter[tuple[int, str]]:
    """Records by type and day: the slow twin, for records after descriptor words."""
    found: Counter[tuple[int, str]] = Counter()
    place = 0
    while place < len(data):
        length, segment = struct.unpack_from(">HB", data, place)
        if segment & 3 in (0, 1):  # whole, or the first segment
            day = data[place + 10 : place + 14].hex()
            year = 1900 + 100 * int(day[1]) + int(day[2:4])
            written = date(year, 1, 1) + timedelta(days=int(day[4:7]) - 1)
            found[data[place + 5], written.isoformat()] += 1
        place += length
    return found


@pytest.mark.parametrize("name", ["TEST115.dat", "TEST116.dat", "TESTCHL.dat"])
def test_every_record_of_a_real_dump_is_in_the_pdb(shared_data: Path, pdb: Pdb, name: str) -> None:
    path = shared_data / "mq" / name
    expected = walk(path.read_bytes())
    (result,) = ingest([path], pdb)
    assert (result.outcome, result.ingest and result.ingest.duplicates) == (Outcome.ADDED, 0)
    counted = rows(pdb, "SELECT record_type, written_at::DATE AS day, count(*) AS n FROM smf_record GROUP BY ALL")
    assert {(row["record_type"], row["day"].isoformat()): row["n"] for row in counted} == expected
    days: Counter[str] = Counter()
    for file in pdb.manifest.files["smf_record"]:
        days[file.day] += file.rows
    assert days == {day: sum(n for (_, other), n in expected.items() if other == day) for _, day in expected}


def test_tables_of_a_real_dump_equal_the_decoder_s(shared_data: Path, tmp_path: Path, pdb: Pdb) -> None:
    """Every value of every table, after partitioning, Parquet and views, is what the reader gave."""
    path = shared_data / "mq" / "TESTCHL.dat"
    ingest([path], pdb, memory=1 << 20)
    given: dict[str, list[pa.RecordBatch]] = {}
    for table, batch in smf.read(path, source_id=pdb.ingests[0].id):
        given.setdefault(table, []).append(batch)
    connection = pdb.connect()
    assert set(given) == set(pdb.manifest.files)
    for table, batches in given.items():
        keys = [name for name in ("record_no", "section_no") if name in batches[0].schema.names]
        wanted = pa.Table.from_batches(batches).sort_by([(key, "ascending") for key in keys])
        stored = connection.execute(f"SELECT * FROM {table} ORDER BY {', '.join(keys)}").to_arrow_table()
        assert stored.column_names == wanted.column_names
        for name in wanted.column_names:
            assert stored.column(name).cast(wanted.schema.field(name).type).equals(wanted.column(name)), (table, name)


def test_the_kinds_of_the_real_files_are_told(shared_data: Path) -> None:
    kinds = {
        path.name: sources.recognise(path).name for path, _ in sources.expand([shared_data / "mq", shared_data / "rmf"])
    }
    assert kinds == dict.fromkeys(("TEST115.dat", "TEST116.dat", "TESTCHL.dat"), "smf") | {
        f"{name}.xml": "rmf_xml" for name in ("cf", "cpu", "paging", "wlmgl", "xcf")
    }


def test_a_gigantic_day_number_does_not_hurt(tmp_path: Path, pdb: Pdb) -> None:
    """Dates that no system has: 1900 and day 366 of a year without one."""
    odd = [record(datetime(1900, 1, 1), things=(thing(1),)), record(datetime(1900, 1, 1, 1), things=(thing(2),))]
    ingest([dump(tmp_path / "a.smf", *odd, *minutes(0, 5))], pdb)
    again = dump(tmp_path / "b.smf", *odd, *minutes(5, 9))
    ingest([again], pdb)
    assert pdb.ingests[1].duplicates == 2
    assert pdb.tables()["smf_record"].days == ("2024-03-01", "undated")
    assert rows(pdb, "SELECT max(written_at) AS t FROM smf_record")[0]["t"] == datetime(
        2024, 3, 1, 12, 8, tzinfo=UTC
    ).replace(tzinfo=None)
