"""A PDB made, opened, looked at; and what is said when that cannot be."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plexlens.errors import (
    NotAPdbError,
    PdbDamagedError,
    PdbExistsError,
    PdbVersionError,
    PdbWriteError,
    UnreadableInputError,
)
from plexlens.pdb import Change, DataFile, Ingest, Outcome, Pdb, ingest
from plexlens.pdb.commit import commit
from plexlens.pdb.durable import Disk
from plexlens.pdb.engine import session_of
from plexlens.pdb.schema import columns_of
from tests.pdb.fake_source import expected, held, write

as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


def test_create_makes_what_open_opens(tmp_path: Path) -> None:
    made = Pdb.create(tmp_path / "deep" / "down.pdb")
    assert made.ingests == Pdb.open(made.path).ingests == ()


def test_sessions_remember_what_was_read_of_files(tmp_path: Path) -> None:
    """The engine would read the footer of every file for each question."""
    session = session_of(Pdb.create(tmp_path / "p").connect())
    assert session.execute("select current_setting('parquet_metadata_cache')").fetchone() == (True,)


def test_open_or_create(tmp_path: Path) -> None:
    pdb = Pdb.open_or_create(tmp_path / "p")
    ingest([write(tmp_path / "a.fake", range(10))], pdb)
    assert len(Pdb.open_or_create(tmp_path / "p").ingests) == 1
    (tmp_path / "empty").mkdir()
    assert Pdb.open_or_create(tmp_path / "empty").ingests == ()


def test_a_temporary_pdb_is_gone_afterwards(tmp_path: Path) -> None:
    with Pdb.temporary() as pdb:
        ingest([write(tmp_path / "a.fake", range(100))], pdb)
        assert held(pdb.connect()) == expected(range(100))
        folder = pdb.path.parent
    assert not folder.exists()


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda path: None, NotAPdbError, "there is no such folder; make a PDB with"),
        (lambda path: path.write_text("x"), NotAPdbError, "a PDB is a folder, and this is a file"),
        (lambda path: path.mkdir(), NotAPdbError, r"has no manifest\.json; check the path"),
    ],
)
def test_open_says_what_is_no_pdb(tmp_path: Path, make: object, error: type[Exception], said: str) -> None:
    make(tmp_path / "p")  # type: ignore[operator]
    with pytest.raises(error, match=said) as caught:
        Pdb.open(tmp_path / "p")
    assert str(tmp_path / "p") in str(caught.value)


def test_create_overwrites_nothing(tmp_path: Path, pdb: Pdb) -> None:
    with pytest.raises(PdbExistsError, match="there is a PDB already; open it"):
        Pdb.create(pdb.path)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-mother.txt").write_text("Dear mother")
    for path in (tmp_path / "letters", tmp_path / "letters" / "to-mother.txt"):
        with pytest.raises(PdbExistsError, match="the path exists and is not a PDB; give a new or empty folder"):
            Pdb.create(path)


def test_create_takes_over_what_a_creation_cut_short_has_left(tmp_path: Path) -> None:
    left = tmp_path / "p"
    (left / "staging").mkdir(parents=True)
    (left / "tables").mkdir()
    (left / "manifest.json.new").write_text('{"format"')
    assert Pdb.open_or_create(left).ingests == ()
    assert Pdb.open(left).ingests == ()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(PdbWriteError, match="file: the PDB cannot be made: File exists"):
        Pdb.create(tmp_path / "file" / "pdb")


def test_a_later_format_is_refused(pdb: Pdb) -> None:
    path = pdb.path / "manifest.json"
    path.write_text(path.read_text().replace('"version": 2', '"version": 7'))
    with pytest.raises(PdbVersionError, match=r"format version 7; Plexlens .* supports versions up to 2; open it with"):
        Pdb.open(pdb.path)


# --- a damaged manifest -------------------------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    path.write_bytes(bytes(data))


def _zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _other_json(path: Path) -> None:
    path.write_text('{"format": "something", "version": 1}')


def _lines(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("spoil", [_cut, _empty, _flip, _zero, _other_json, _lines, Path.unlink])
def test_a_damaged_manifest_is_found_and_its_remedy_works(tmp_path: Path, pdb: Pdb, spoil: object) -> None:
    first, last = write(tmp_path / "a.fake", range(100)), write(tmp_path / "b.fake", range(50, 250))
    ingest([first, last], pdb)
    spoil(pdb.path / "manifest.json")  # type: ignore[operator]
    with pytest.raises(PdbDamagedError, match="the manifest is damaged") as caught:
        Pdb.open(pdb.path)
    assert f"plexlens pdb repair {pdb.path}" in caught.value.remedy

    # The snapshot of the last commit is whole; without it the one before is.
    shutil.copy(pdb.path / "snapshots" / "00000001.json", pdb.path / "manifest.json")
    again = Pdb.open(pdb.path)
    assert held(again.connect()) == expected(range(100))
    results = ingest([first, last], again)
    assert [result.outcome for result in results] == [Outcome.ALREADY_HELD, Outcome.ADDED]
    assert held(again.connect()) == expected(range(250))


def test_an_entry_that_cannot_be_understood_is_damage(pdb: Pdb) -> None:
    # A sound checksum over nonsense: written by something else.
    body = b'"tables": {"smf_record": [[{"name": "x", "type": "quaternion", "metadata": {}}]]}, "ingests": []}'
    from hashlib import sha256

    head = {"format": "plexlens-pdb", "version": 1, "checksum": sha256(body).hexdigest()}
    (pdb.path / "manifest.json").write_bytes(json.dumps(head)[:-1].encode() + b",\n" + body)
    with pytest.raises(PdbDamagedError, match="an entry that cannot be understood"):
        Pdb.open(pdb.path)


@as_root
def test_a_manifest_that_may_not_be_read(pdb: Pdb) -> None:
    (pdb.path / "manifest.json").chmod(0)
    with pytest.raises(UnreadableInputError, match="Permission denied"):
        Pdb.open(pdb.path)


def test_missing_and_shortened_files_are_named(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(3000))], pdb)
    path = pdb.path / pdb.manifest.files["smf74_4_request"][1].path
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(PdbDamagedError, match=f"has {len(data) - 1} bytes, and {len(data)} were written") as caught:
        pdb.connect()
    assert caught.value.file == str(path)
    path.unlink()
    with pytest.raises(PdbDamagedError, match="No such file") as caught:
        pdb.connect()
    assert caught.value.file == str(path)
    path.write_bytes(bytes(len(data)))
    with pytest.raises(PdbDamagedError, match="table smf_record cannot be read"):
        spoilt = pdb.path / pdb.manifest.files["smf_record"][0].path
        spoilt.write_bytes(bytes(spoilt.stat().st_size))
        pdb.connect()


# --- reading ------------------------------------------------------------------------------------------------


def test_a_reader_keeps_its_view_while_others_write(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(100))], pdb)
    reader = Pdb.open(pdb.path)
    connection = reader.connect()
    ingest([write(tmp_path / "b.fake", range(100, 200))], pdb)
    assert held(connection) == expected(range(100))
    assert held(reader.connect()) == expected(range(100))
    reader.refresh()
    assert held(reader.connect()) == expected(range(200))


def test_a_tiny_database_is_copied_for_many_questions(
    tmp_path: Path, pdb: Pdb, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([write(tmp_path / "a.fake", range(100))], pdb)
    kind = "select table_type from information_schema.tables where table_name = 'smf74_4_request'"
    copied = pdb.connect(many_questions=True)
    assert copied.execute(kind).fetchall() == [("BASE TABLE",)]
    viewed = pdb.connect()
    assert viewed.execute(kind).fetchall() == [("VIEW",)]
    assert held(copied) == held(viewed) == expected(range(100))
    for name in pdb.manifest.columns:
        rows = f"select * from {name}"
        assert copied.execute(rows).to_arrow_table().equals(viewed.execute(rows).to_arrow_table()), name
    # Of a larger one only what is asked for is read.
    monkeypatch.setattr("plexlens.pdb.database._TINY", 0)
    assert pdb.connect(many_questions=True).execute(kind).fetchall() == [("VIEW",)]


def test_a_spoilt_page_is_named_where_tables_are_copied(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(3000))], pdb)
    path = pdb.path / pdb.manifest.files["smf74_4_request"][0].path
    data = bytearray(path.read_bytes())
    data[8:200] = bytes(192)
    path.write_bytes(data)
    with pytest.raises(PdbDamagedError, match="table smf74_4_request cannot be read"):
        pdb.connect(many_questions=True)


@pytest.mark.parametrize("name", ["it's [ab]*", "q?", "ünï", "day=1", "back\\slash", 'a "b" c', "{a,b}", "%41"])
def test_a_pdb_may_have_any_name(tmp_path: Path, name: str) -> None:
    # Folders that a careless pattern would match as well.
    for other in ("it's a", "it's a x", "qq", "a"):
        ingest([write(tmp_path / "z.fake", range(7))], Pdb.create(tmp_path / other))
    pdb = Pdb.create(tmp_path / name)
    ingest([write(tmp_path / "a.fake", range(100))], pdb)
    assert held(pdb.connect()) == expected(range(100))
    assert "day" not in pdb.connect().table("smf_record").columns


def test_limits_can_be_set(pdb: Pdb) -> None:
    connection = pdb.connect(memory_limit="300MiB", threads=1)
    ask = "SELECT current_setting('threads'), current_setting('memory_limit'), current_setting('TimeZone')"
    assert connection.execute(ask).fetchone() == (1, "300.0 MiB", "UTC")


def test_a_query_beyond_the_memory_limit_spills(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(1000))], pdb)
    connection = pdb.connect(memory_limit="80MiB", threads=1)
    # 4 million rows of 32 digits, sorted: more than the limit holds.
    ask = (
        "SELECT count(*) FROM (SELECT md5((a.requests * 2000 + b.requests)::VARCHAR) AS x FROM smf74_4_request a, "
        "smf74_4_request b ORDER BY x LIMIT 3900000)"
    )
    assert connection.execute(ask).fetchone() == (3900000,)
    spill = Path(connection.execute("SELECT current_setting('temp_directory')").fetchone()[0])
    assert spill.is_dir()
    connection.close()
    del connection
    assert not spill.exists()


def test_three_thousand_files_open_quickly(tmp_path: Path) -> None:
    """Two in three files of one table have a column less, as after a release change; all are read."""
    pdb = Pdb.create(tmp_path / "p")
    folder = pdb.path / "tables" / "smf74" / "smf74_4_request" / "2024-03-01"
    folder.mkdir(parents=True)
    plain = pa.table({"requests": pa.array([1, 2, 3], pa.uint32())})
    more = plain.append_column("delay", pa.array([0.5, 0.5, 0.5]))
    files = []
    for number in range(3000):
        rows, variant = (more, 1) if number % 3 == 0 else (plain, 0)
        path = folder / f"x-{number}.parquet"
        pq.write_table(rows, path)
        relative = str(path.relative_to(pdb.path))
        files.append(DataFile(relative, "smf74_4_request", "2024-03-01", variant, 3, path.stat().st_size))
    day = "2024-03-01T00:00:00+00:00"
    entry = Ingest(
        id="x",
        sha256="0" * 64,
        sample="0" * 64,
        file="x",
        size=0,
        kind="smf",
        started_at=day,
        finished_at=day,
        rows={},
        records={},
        span=(None, None),
        duplicates=0,
        damage={},
        notes=(),
    )
    variants = {"smf74_4_request": (columns_of(plain.schema), columns_of(more.schema))}
    pdb.disk = Disk(sync=False)
    commit(pdb, Change("ingest x", (entry,), variants=variants, files=tuple(files)))

    started = time.process_time()
    connection = Pdb.open(pdb.path).connect()
    assert connection.table("smf74_4_request").columns
    opened = time.process_time() - started
    sums = connection.execute("select sum(requests), sum(delay) from smf74_4_request").fetchone()
    assert sums == (18000, 1500.0)
    print(f"3,000 files opened in {opened:.2f} s")
    assert opened < 2.0, f"opening took {opened:.2f} s"
