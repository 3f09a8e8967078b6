"""Sources into a PDB: each once, each whole or not at all."""

from __future__ import annotations

import gzip
import shutil
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plexlens.errors import (
    EmptyInputError,
    IngestFailuresError,
    NothingUsableError,
    SchemaConflictError,
    SourceChangedError,
    UnknownSourceError,
    UnreadableInputError,
)
from plexlens.ingest.source import SourceError
from plexlens.pdb import Outcome, Pdb, ingest
from plexlens.pdb.engine import columns_of, tables_of
from plexlens.pdb.schema import TypeConflictError
from plexlens.pdb.staging import StagedTables
from tests.pdb.fake_source import expected, held, write


def outcomes(paths: list[Path], pdb: Pdb) -> list[Outcome]:
    return [result.outcome for result in ingest(paths, pdb)]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a PDB but the lock, which names whoever held it last."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def test_what_goes_in_is_there(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(2500))
    (result,) = ingest([dump], pdb)
    assert result.outcome is Outcome.ADDED
    # 2500 records; of each three in a row one gives 1 row, one 2, one 3; 2500 = 833 * 3 + 1 and the last gives 1.
    assert result.ingest is not None
    assert result.ingest.rows == {"smf_record": 2500, "smf74_4_request": 833 * 6 + 1}
    assert held(pdb.connect()) == expected(range(2500))
    assert held(Pdb.open(pdb.path).connect()) == expected(range(2500))


def test_the_same_dump_twice_changes_nothing(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(300))
    ingest([dump], pdb)
    before = contents(pdb.path)
    renamed = shutil.copy(dump, tmp_path / "renamed.fake")
    results = ingest([dump, renamed], pdb)
    assert [result.outcome for result in results] == [Outcome.ALREADY_HELD] * 2
    assert all(result.ingest == pdb.ingests[0] for result in results)
    assert contents(pdb.path) == before


def test_a_copy_with_other_bytes_brings_nothing_new(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(300))], pdb)
    before = {name: data for name, data in contents(pdb.path).items() if name.endswith(".parquet")}
    other = write(tmp_path / "b.fake", range(300), padding=1)
    (result,) = ingest([other], pdb)
    assert result.outcome is Outcome.NOTHING_NEW
    assert result.ingest is not None
    assert (result.ingest.duplicates, result.ingest.rows) == (300, {})
    assert pdb.manifest.files_of(result.ingest.id) == []
    assert held(pdb.connect()) == expected(range(300))
    assert {name: data for name, data in contents(pdb.path).items() if name.endswith(".parquet")} == before
    # And it is known from now on.
    assert outcomes([other], pdb) == [Outcome.ALREADY_HELD]


def test_files_alike_at_both_ends_are_told_apart(tmp_path: Path, pdb: Pdb) -> None:
    first = write(tmp_path / "a.fake", range(300), padding=3 << 20)
    second = Path(shutil.copy(first, tmp_path / "b.fake"))
    with second.open("r+b") as stream:
        stream.seek(3 << 19)
        stream.write(b"\t")
    assert outcomes([first, second], pdb) == [Outcome.ADDED, Outcome.NOTHING_NEW]
    assert pdb.ingests[0].sample == pdb.ingests[1].sample
    assert pdb.ingests[1].id == f"{pdb.ingests[0].id}x2"
    assert pdb.ingests[0].sha256 == sha256(first.read_bytes()).hexdigest()
    assert outcomes([first, second], pdb) == [Outcome.ALREADY_HELD] * 2


def test_the_damage_of_a_copy_is_kept_though_its_records_are_not(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(30))], pdb)
    (result,) = ingest([write(tmp_path / "b.fake", range(30), damage=2)], pdb)
    assert result.outcome is Outcome.NOTHING_NEW
    assert pdb.connect().execute("SELECT count(*), any_value(reason) FROM damage").fetchone() == (2, "truncated record")


def test_overlapping_dumps_keep_each_record_once(tmp_path: Path, pdb: Pdb) -> None:
    first = write(tmp_path / "a.fake", range(2000))
    second = write(tmp_path / "b.fake", range(1000, 3000))
    assert outcomes([first, second], pdb) == [Outcome.ADDED, Outcome.ADDED]
    assert [one.duplicates for one in pdb.ingests] == [0, 1000]
    assert held(pdb.connect()) == expected(range(2000), range(1000, 3000))


def test_duplicates_inside_one_dump_are_kept_once(tmp_path: Path, pdb: Pdb) -> None:
    numbers = [*range(500), *range(250, 750), 3, 3]
    ingest([write(tmp_path / "a.fake", numbers)], pdb)
    assert pdb.ingests[0].duplicates == 252
    assert held(pdb.connect()) == expected(numbers)


def test_rows_lie_by_family_table_and_day(tmp_path: Path, pdb: Pdb) -> None:
    # 1000 records a day from 2024-03-01; records out of order, so that days alternate within a batch.
    numbers = [number + shift for number in range(600) for shift in (0, 2000)]
    ingest([write(tmp_path / "a.fake", numbers)], pdb)
    folder = pdb.path / "tables" / "smf74" / "smf74_4_request"
    assert sorted(path.name for path in folder.iterdir()) == ["2024-03-01", "2024-03-03"]
    third = pq.read_table(folder / "2024-03-03", partitioning=None)
    assert sorted(third.column("requests").to_pylist()) == sorted(
        number * 10 + row for number in range(2000, 2600) for row in range(1 + number % 3)
    )
    info = pdb.tables()["smf74_4_request"]
    assert (info.family, info.days, info.rows) == ("smf74", ("2024-03-01", "2024-03-03"), 2 * 1200)


def test_rows_without_an_interval_take_the_day_of_their_record(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(900, 1100), undated=True)], pdb)
    assert pdb.tables()["smf74_4_request"].days == ("2024-03-01", "2024-03-02")
    assert held(pdb.connect()) == expected(range(900, 1100))


def test_little_memory_gives_more_files_and_the_same_rows(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(6000), batch=50)
    ingest([dump], pdb, memory=64 << 10)
    many = pdb.tables()["smf74_4_request"].files
    assert many > 12
    assert held(pdb.connect()) == expected(range(6000))
    roomy = Pdb.create(tmp_path / "roomy.pdb")
    ingest([dump], roomy)
    assert roomy.tables()["smf74_4_request"].files == 6  # one a day


def test_units_and_descriptions_are_in_the_parquet_files(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(10), columns=[["delay", "float64", "seconds", 0.5]])], pdb)
    (file,) = [one for one in pdb.manifest.files_of(pdb.ingests[0].id) if one.table == "smf74_4_request"]
    schema = pq.read_schema(pdb.path / file.path)
    assert schema.field("delay").metadata[b"unit"] == b"seconds"
    assert schema.field("requests").metadata[b"description"] == b"requests"
    columns = {column.name: column for column in pdb.tables()["smf74_4_request"].columns}
    assert (columns["delay"].unit, columns["delay"].type) == ("seconds", "double")
    assert columns["requests"].description == "requests"


def test_the_system_tables_tell_of_each_source(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", [*range(1200), 5], damage=3)
    ingest([dump], pdb)
    connection = pdb.connect()
    (source,) = connection.table("source").to_arrow_table().to_pylist()
    entry = pdb.ingests[0]
    assert (source["file"], source["kind"], source["size"]) == (str(dump), "fake", dump.stat().st_size)
    assert (source["records"], source["duplicates"], source["damage"]) == (1201, 1, 3)
    # 1200 records: 400 times 1 + 2 + 3 requests, and the rows of the inventory and of damage.
    assert source["rows"] == 1200 + 2400 + 3
    assert (source["span_start"], source["span_end"]) == ("2024-03-01", "2024-03-02")
    assert entry.damage == {"truncated record": 3}
    notes = connection.table("note").to_arrow_table().to_pylist()
    assert [(note["note"], note["section"], note["count"]) for note in notes] == [
        ("section_longer", "smf74_4_request", 1201)
    ]
    damage = connection.table("damage").to_arrow_table().to_pylist()
    assert [(row["source_id"], row["record_no"], row["severity"]) for row in damage] == [
        (entry.id, number, "data loss") for number in (1, 2, 3)
    ]


def test_a_clean_pdb_has_empty_system_tables_and_no_others(pdb: Pdb) -> None:
    connection = pdb.connect()
    assert sorted(tables_of(connection)) == ["damage", "implausible", "note", "source"]
    assert connection.execute("select count(*) from damage").fetchone() == (0,)
    assert {name: info.rows for name, info in pdb.tables().items()} == {
        "damage": 0,
        "implausible": 0,
        "note": 0,
        "source": 0,
    }


# --- schema growth ------------------------------------------------------------------------------------------


def test_later_columns_are_null_in_earlier_rows(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(100))], pdb)
    ingest([write(tmp_path / "b.fake", range(100, 200), columns=[["delay", "float64", "seconds", 0.25]])], pdb)
    ingest([write(tmp_path / "c.fake", range(200, 300))], pdb)
    connection = pdb.connect()
    assert held(connection) == expected(range(300))
    rows = connection.execute(
        "SELECT requests // 1000 AS dump, count(*), count(delay), sum(delay) FROM smf74_4_request GROUP BY 1 ORDER BY 1"
    ).fetchall()
    # 100..199 gives 33 times 2 + 3 + 1 and one more with 100 % 3 = 1, so 2: 200; 0..99 and 200..299 likewise 199, 201.
    assert rows == [(0, 199, 0, None), (1, 200, 200, 50.0), (2, 201, 0, None)]
    assert connection.table("smf74_4_request").columns[-2:] == ["requests", "delay"]


def test_types_widen_over_files(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(100), request_type="uint16")], pdb)
    ingest([write(tmp_path / "b.fake", range(100, 200), request_type="int64")], pdb)
    assert columns_of(pdb.connect(), "smf74_4_request")["requests"] == "BIGINT"
    ingest([write(tmp_path / "c.fake", range(200, 300), request_type="float64")], pdb)
    connection = pdb.connect()
    assert columns_of(connection, "smf74_4_request")["requests"] == "DOUBLE"
    assert held(connection) == expected(range(300))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (["delay", "float64", "seconds", 1.0], ["delay", "string", "seconds", "x"], "delay is double there and string"),
        (["delay", "float64", "seconds", 1.0], ["delay", "float64", "bytes", 1.0], "seconds there and in bytes here"),
    ],
)
def test_a_column_that_does_not_fit_is_refused_before_anything_changes(
    tmp_path: Path, pdb: Pdb, first: list[object], second: list[object], said: str
) -> None:
    ingest([write(tmp_path / "a.fake", range(100), columns=[first])], pdb)
    before = contents(pdb.path)
    with pytest.raises(SchemaConflictError, match=said):
        ingest([write(tmp_path / "b.fake", range(100, 200), columns=[second])], pdb)
    assert contents(pdb.path) == before
    assert held(pdb.connect()) == expected(range(100))


def test_a_type_without_a_place_in_a_pdb_is_refused(tmp_path: Path, pdb: Pdb) -> None:
    with pytest.raises(SchemaConflictError, match=r"column when: a PDB cannot store values of type time32\[s\]"):
        ingest([write(tmp_path / "a.fake", range(10), columns=[["when", "time32[s]", "", None]])], pdb)
    assert list((pdb.path / "staging").iterdir()) == []


# --- what goes wrong ----------------------------------------------------------------------------------------


def test_a_source_that_fails_leaves_nothing_and_the_others_are_in(tmp_path: Path, pdb: Pdb) -> None:
    good = write(tmp_path / "a.fake", range(100))
    bad = write(tmp_path / "b.fake", range(100, 900), fail_after=400)
    more = write(tmp_path / "c.fake", range(900, 1000))
    with pytest.raises(IngestFailuresError) as caught:
        ingest([good, bad, more], pdb)
    (failure,) = caught.value.failures
    assert isinstance(failure, SourceError)
    assert (failure.file, failure.record_no, caught.value.exit_code) == (str(bad), 401, 3)
    assert [result.outcome for result in caught.value.results] == [Outcome.ADDED] * 2
    assert "1 of 3 inputs failed" in str(caught.value)
    assert held(pdb.connect()) == expected(range(100), range(900, 1000))
    assert list((pdb.path / "staging").iterdir()) == []


def test_a_single_bad_source_raises_its_own_error(tmp_path: Path, pdb: Pdb) -> None:
    with pytest.raises(SourceError, match="record 1: it ends here; transfer it again"):
        ingest([write(tmp_path / "b.fake", range(100), fail_after=0)], pdb)


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (b"", EmptyInputError, "the file is empty"),
        (gzip.compress(b""), EmptyInputError, "the gzip file is empty inside"),
        (gzip.compress(b"x" * 1000)[:20], UnreadableInputError, "gzip data that cannot be expanded"),
        (b"PK\x03\x04rest", UnknownSourceError, "the file is a ZIP archive, not a fake dump"),
        (b"Dear colleague,\nthe dump is attached", UnknownSourceError, "text that begins 'Dear colleague,'"),
        (b"<html><body>", UnknownSourceError, "a web page"),
        (b"<?xml version='1.0'?><invoice/>", UnknownSourceError, "XML with the element <invoice>"),
        ("REPORT OF THE DAY".encode("cp037"), UnknownSourceError, "EBCDIC text that begins 'REPORT OF THE DAY'"),
        ("FAKE: {}".encode("utf-8-sig"), UnknownSourceError, "text that begins 'FAKE: {}'"),
    ],
)
def test_what_is_no_source_is_named(tmp_path: Path, pdb: Pdb, data: bytes, error: type[Exception], said: str) -> None:
    path = tmp_path / "thing"
    path.write_bytes(data)
    with pytest.raises(error, match=said) as caught:
        ingest([path], pdb)
    assert str(path) in str(caught.value)
    assert pdb.ingests == ()


def test_a_missing_file_is_named(tmp_path: Path, pdb: Pdb) -> None:
    with pytest.raises(UnreadableInputError, match=r"nowhere\.smf: No such file"):
        ingest([tmp_path / "nowhere.smf"], pdb)


def test_a_source_without_a_row_is_no_success(tmp_path: Path, pdb: Pdb) -> None:
    with pytest.raises(NothingUsableError, match="truncated record, 4 bytes of 100; transfer it again") as caught:
        ingest([write(tmp_path / "a.fake", [], damage=5)], pdb)
    assert caught.value.exit_code == 4
    assert Pdb.open(pdb.path).ingests == ()


def test_folders_give_their_sources_and_say_what_they_passed_over(tmp_path: Path, pdb: Pdb) -> None:
    dumps = tmp_path / "dumps"
    (dumps / "deep").mkdir(parents=True)
    write(dumps / "deep" / "b.fake", range(100, 200))
    write(dumps / "a.fake", range(100))
    (dumps / "README").write_text("see the manual")
    (dumps / "empty.smf").touch()
    results = ingest([dumps], pdb)
    assert [(Path(result.file).name, result.outcome) for result in results] == [
        ("README", Outcome.SKIPPED),
        ("a.fake", Outcome.ADDED),
        ("b.fake", Outcome.ADDED),
        ("empty.smf", Outcome.SKIPPED),
    ]
    assert results[-1].reason == "the file is empty"
    assert "text that begins 'see the manual'" in results[0].reason
    assert held(pdb.connect()) == expected(range(200))


@pytest.mark.parametrize("name", ["source", "note", "smf-200", "SMF200", "smf200_"])
def test_table_names_that_cannot_be_are_refused(tmp_path: Path, pdb: Pdb, name: str) -> None:
    """A site may call a layout anything."""
    staged = StagedTables(pdb.path / "staging" / "x", "x", pdb.disk)
    with pytest.raises(TypeConflictError, match="table"):
        staged.add(name, pa.record_batch({"a": [1]}))
    staged.abandon()


def test_one_path_need_not_be_a_list(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(10))
    assert outcomes(str(dump), pdb) == [Outcome.ADDED]  # type: ignore[arg-type]
    assert outcomes(dump, pdb) == [Outcome.ALREADY_HELD]  # type: ignore[arg-type]


def test_folders_without_a_source_are_an_error(tmp_path: Path, pdb: Pdb) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableInputError, match="there is no file in this folder"):
        ingest([tmp_path / "empty"], pdb)
    (tmp_path / "empty" / "README").write_text("nothing here")
    with pytest.raises(NothingUsableError, match="none of 1 files is a known source; give a fake dump"):
        ingest([tmp_path / "empty"], pdb)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(100))

    def append(done: int, total: int, stage: str) -> None:
        if stage == "reading a.fake" and done == total:
            with dump.open("ab") as stream:
                stream.write(b" ")

    with pytest.raises(SourceChangedError, match="changed while it was read"):
        ingest([dump], pdb, progress=append)
    assert Pdb.open(pdb.path).ingests == ()
    assert list((pdb.path / "staging").iterdir()) == []


def test_a_file_that_vanishes_while_it_is_read_is_refused(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(100))

    def remove(done: int, total: int, stage: str) -> None:
        if stage == "reading a.fake":
            dump.unlink(missing_ok=True)

    with pytest.raises(SourceChangedError, match="disappeared while it was read"):
        ingest([dump], pdb, progress=remove)
    assert Pdb.open(pdb.path).ingests == ()


def test_progress_tells_bytes_and_stages(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(100))
    size = dump.stat().st_size
    told: list[tuple[int, int, str]] = []
    ingest([dump], pdb, progress=lambda *step: told.append(step))
    stages = list(dict.fromkeys(stage for _, _, stage in told))
    assert stages == ["reading a.fake", "storing a.fake"]
    assert (size, size, "reading a.fake") in told
    told.clear()
    ingest([dump], pdb, progress=lambda *step: told.append(step))
    assert told == [(size, size, "checking a.fake")]
