"""Compaction, expiry, rebuild, undo, verification and repair, against what the fake dumps are known to hold."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from plexlens.errors import NotAPdbError, PdbDamagedError, UnreadableInputError, UsageError
from plexlens.pdb import Outcome, Pdb, ingest, retention
from plexlens.pdb.engine import columns_of
from plexlens.pdb.retention import Age
from plexlens.pdb.upkeep.compact import compact, plan
from plexlens.pdb.upkeep.expire import expire, purge
from plexlens.pdb.upkeep.rebuild import find, rebuild
from plexlens.pdb.upkeep.repair import examine, orphans, repair
from plexlens.pdb.upkeep.status import status_of
from plexlens.pdb.upkeep.undo import states, undo
from plexlens.pdb.upkeep.verify import verify
from tests.pdb.fake_source import Record, expected, held, held_in_files, write
from tests.pdb.test_crash_upkeep import figures

ROWS = "SELECT * EXCLUDE (source_id), source_id FROM smf74_4_request ORDER BY ALL"


def filled(tmp_path: Path, pdb: Pdb, dumps: int = 4) -> list[Path]:
    """Dumps of 300 records of one day each; the days change every 1000 records."""
    paths = [write(tmp_path / f"{n}.fake", range(n * 300, n * 300 + 300)) for n in range(dumps)]
    ingest(paths, pdb)
    return paths


# --- compaction ---------------------------------------------------------------------------------------------


def test_a_compaction_keeps_rows_columns_types_units_and_sources(tmp_path: Path, pdb: Pdb) -> None:
    more: list[dict[str, object]] = [
        {"request_type": "uint16"},
        {"columns": [["delay", "float64", "seconds", 0.25]]},
        {"request_type": "int64"},
        {"columns": [["size", "uint64", "bytes", 2**63 + 1]]},
        {"columns": [["size", "int64", "bytes", -1]]},
    ]
    ingest([write(tmp_path / f"{n}.fake", range(n * 60, n * 60 + 60), **one) for n, one in enumerate(more)], pdb)
    connection = pdb.connect()
    before = connection.execute(ROWS).to_arrow_table().to_pylist()
    types = columns_of(connection, "smf74_4_request")
    columns = {one.name: (one.type, one.unit) for one in pdb.tables()["smf74_4_request"].columns}
    done = compact(pdb)
    # Five files each of records and requests; an unsigned and a signed number of 64 bits do not go into one column.
    assert (done.files, done.into_files, done.rows) == (5 + 4, 2, expected(range(300))["records"] + 480)
    again = Pdb.open(pdb.path)
    assert again.connect().execute(ROWS).to_arrow_table().to_pylist() == before
    assert columns_of(again.connect(), "smf74_4_request") == types
    assert {one.name: (one.type, one.unit) for one in again.tables()["smf74_4_request"].columns} == columns
    (merged,) = [file for file in again.manifest.files["smf74_4_request"] if len(file.sources) > 1]
    schema = pq.read_schema(pdb.path / merged.path)
    assert schema.field("delay").metadata[b"unit"] == b"seconds"
    assert held(again.connect()) == expected(range(300))
    assert verify(again).problems == []
    # There is nothing more to merge, and no commit without need.
    commit = again.head.commit
    assert compact(again).files == 0
    assert Pdb.open(pdb.path).head.commit == commit


def test_a_reader_keeps_what_it_reads_while_files_are_merged(tmp_path: Path, pdb: Pdb) -> None:
    filled(tmp_path, pdb)
    reader = Pdb.open(pdb.path)
    connection = reader.connect()
    compact(pdb)
    assert held(connection) == expected(range(1200))
    assert held(reader.connect()) == expected(range(1200))
    reader.refresh()
    assert held(reader.connect()) == expected(range(1200))


def test_what_another_writer_replaced_meanwhile_is_left(
    tmp_path: Path, pdb: Pdb, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = filled(tmp_path, pdb)
    merged: list[int] = []

    def meanwhile(done: int, total: int, stage: str) -> None:
        # Between two groups another process reads a source again: its files are not those that were planned.
        if not merged:
            other = Pdb.open(pdb.path)
            rebuild(other, find(other, paths[:1]))
        merged.append(done)

    done = compact(pdb, progress=meanwhile)
    assert done.left > 0
    assert held(Pdb.open(pdb.path).connect()) == expected(range(1200))
    assert list((pdb.path / "staging").iterdir()) == []
    assert compact(pdb).left == 0
    assert held(pdb.connect()) == expected(range(1200))


def test_files_that_are_kept_go_when_their_time_is_over(tmp_path: Path, pdb: Pdb) -> None:
    filled(tmp_path, pdb)
    compact(pdb)
    there = len(list((pdb.path / "tables").rglob("*.parquet")))
    held_files = sum(1 for _ in pdb.manifest.every_file())
    assert there > held_files
    # Nothing is removed by what comes within the time ...
    ingest([write(tmp_path / "x.fake", [5000])], pdb)
    assert len(list((pdb.path / "tables").rglob("*.parquet"))) == there + 2
    # ... and all of it after.
    purge(pdb)
    assert len(list((pdb.path / "tables").rglob("*.parquet"))) == held_files + 2
    assert held(pdb.connect()) == expected(range(1200), [5000])
    with pytest.raises(UsageError, match=r"nothing to undo|is not kept"):
        undo(pdb, to=1)


# --- expiry -------------------------------------------------------------------------------------------------


def policy(pdb: Pdb, text: str) -> None:
    (pdb.path / "retention.toml").write_text(text)


def test_expiry_removes_days_and_what_was_there_does_not_come_back(tmp_path: Path, pdb: Pdb) -> None:
    dump = write(tmp_path / "a.fake", range(5500))
    ingest([dump], pdb)
    policy(pdb, 'raw = "2 days"')
    # 1000 records a day from 2024-03-01, so days 1 to 6. On the 6th two days are the 4th and 5th: requests before go.
    # The inventory of records goes two days later: before the 2nd.
    gone = expire(pdb, today=date(2024, 3, 6))
    assert {one.table: one.days for one in gone} == {
        "smf74_4_request": ("2024-03-01", "2024-03-02", "2024-03-03"),
        "smf_record": ("2024-03-01",),
    }
    kept = figures(list(range(1000, 5500)), list(range(3000, 5500)))
    assert held(pdb.connect()) == kept
    # The same dump is known by its hash; another with the same records, and new ones, brings only days that are kept.
    assert [one.outcome for one in ingest([dump], pdb)] == [Outcome.ALREADY_HELD]
    (other,) = ingest([write(tmp_path / "b.fake", range(5600))], pdb)
    assert other.outcome is Outcome.ADDED
    assert held(pdb.connect()) == figures(list(range(1000, 5600)), list(range(3000, 5600)))
    assert other.ingest is not None
    left_out = {note.section: note.count for note in other.ingest.notes if note.note == "rows_expired"}
    # 1000 records of the first day, of each three in a row one has 1 request, one 2, one 3.
    assert left_out == {"smf_record": 1000, "smf74_4_request": sum(1 + n % 3 for n in range(1000))}
    (old,) = ingest([write(tmp_path / "c.fake", range(900))], pdb)
    assert old.outcome is Outcome.NOTHING_NEW
    assert expire(pdb, today=date(2024, 3, 6)) == []
    # Unless it is asked for.
    rebuild(pdb, find(pdb, [dump]), with_expired=True)
    assert held(pdb.connect()) == expected(range(5600))
    expire(pdb, today=date(2024, 3, 6))
    assert held(pdb.connect()) == figures(list(range(1000, 5600)), list(range(3000, 5600)))


def test_rows_without_a_date_and_families_without_a_time_stay(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "a.fake", range(3000))], pdb)
    policy(pdb, '[families]\nsmf = "1 day"\nsmf74 = "forever"\n')
    # As long as requests are kept, so is the inventory by which a record is held once.
    assert expire(pdb, today=date(2026, 1, 1)) == []
    assert held(pdb.connect()) == expected(range(3000))
    policy(pdb, "# nothing\n")
    assert expire(pdb, today=date(2026, 1, 1)) == []


@pytest.mark.parametrize(
    ("text", "first"),
    [("14 days", date(2024, 3, 17)), ("2 weeks", date(2024, 3, 17)), ("1 month", date(2024, 2, 29)),
     ("13 months", date(2023, 2, 28)), ("1 year", date(2023, 3, 31)), ("4 months", date(2023, 11, 30))],
)  # fmt: skip
def test_ages_count_days_and_months_of_the_calendar(tmp_path: Path, text: str, first: date) -> None:
    (tmp_path / "retention.toml").write_text(f'raw = "{text}"')
    age = retention.read(tmp_path).raw
    assert age is not None
    assert age.before(date(2024, 3, 31)) == first
    assert str(age) == text


def test_an_age_may_reach_before_the_calendar() -> None:
    assert Age(100_000, "month").before(date(2024, 3, 31)) == date.min


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raw = 14", 'raw = 14 is not a time; give a whole number of days, weeks, months, years, such as "14 days"'),
        ('raw = "14 dys"', "raw = '14 dys' is not a time"),
        ('raw = "0 days"', "is not a time"),
        ('hours = "1 day"', "there is no key 'hours'; use one of raw, hour, day, families, undo"),
        ('[families]\nsmf70 = "x"', "families.smf70 = 'x' is not a time"),
        ("families = 3", "families is not a table"),
        ('[undo]\nkeep = "forever"', "undo.keep is for ever"),
        ('[undo]\nfor = "1 day"', "there is no key undo.for"),
        ("raw = ", "it is not TOML"),
    ],
)
def test_a_wrong_retention_is_named(tmp_path: Path, pdb: Pdb, text: str, said: str) -> None:
    policy(pdb, text)
    with pytest.raises(
        UnreadableInputError, match=said.replace("(", r"\(").replace("'", ".").replace('"', ".")
    ) as caught:
        expire(pdb)
    assert caught.value.file == str(pdb.path / "retention.toml")
    # It does not stand in the way of reading.
    assert status_of(pdb).policy_error


# --- rebuild ------------------------------------------------------------------------------------------------


def test_a_rebuild_replaces_the_rows_of_a_source_and_of_no_other(tmp_path: Path, pdb: Pdb) -> None:
    first, second = write(tmp_path / "a.fake", range(600)), write(tmp_path / "b.fake", range(400, 900))
    ingest([first, second], pdb)
    compact(pdb)
    ids = [one.id for one in pdb.ingests]
    done = rebuild(pdb, find(pdb))
    assert [(one.done, one.source.revision) for one in done] == [(True, 1), (True, 1)]
    assert held(pdb.connect()) == expected(range(900))
    assert [one.id for one in pdb.ingests] == ids
    by_source = "SELECT source_id, count(*) FROM smf_record GROUP BY ALL"
    assert dict(pdb.connect().execute(by_source).fetchall()) == {ids[0]: 600, ids[1]: 300}
    assert pdb.manifest.parts("smf_record") == {"2024-03-01": frozenset({f"{ids[0]}@1", f"{ids[1]}@1"})}
    assert verify(pdb).problems == []


def test_a_rebuild_reads_with_todays_layouts(tmp_path: Path, pdb: Pdb, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.pdb import fake_source

    ingest([write(tmp_path / f"{n}.fake", range(n * 100, n * 100 + 100)) for n in range(2)], pdb)
    compact(pdb)
    original = fake_source.Reading._requests

    def better(self: fake_source.Reading, fresh: list[tuple[int, Record]]) -> object:
        # The layout has got a column, and another unit for one that it had.
        self._content["columns"] = [["delay", "float64", "seconds", 0.5]]
        return original(self, fresh)

    monkeypatch.setattr(fake_source.Reading, "_requests", better)
    rebuild(pdb, find(pdb))
    assert held(pdb.connect()) == expected(range(200))
    ask = "SELECT count(*), sum(delay) FROM smf74_4_request"
    rows = expected(range(200))["requests"]
    assert pdb.connect().execute(ask).fetchone() == (rows, rows / 2)


def test_a_source_that_is_not_at_hand_keeps_its_rows(tmp_path: Path, pdb: Pdb) -> None:
    first, second = write(tmp_path / "a.fake", range(100)), write(tmp_path / "b.fake", range(100, 200))
    third = write(tmp_path / "c.fake", range(200, 300))
    ingest([first, second, third], pdb)
    first.unlink()
    write(second, range(150))
    done = rebuild(pdb, find(pdb))
    assert [(one.done, one.reason) for one in done] == [
        (False, "its file is not at hand"),
        (False, "its file is not at hand"),
        (True, ""),
    ]
    assert held(pdb.connect()) == expected(range(300))
    # It may be somewhere else by now.
    moved = write(tmp_path / "moved.fake", range(100))
    (one,) = rebuild(pdb, find(pdb, [moved]))
    assert (one.done, one.source.file) == (True, str(moved))
    with pytest.raises(UsageError, match="the PDB holds no source with these contents; add it with plexlens ingest"):
        find(pdb, [second])


def test_a_source_that_fails_now_keeps_its_rows(tmp_path: Path, pdb: Pdb, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.pdb import fake_source

    filled(tmp_path, pdb, 2)
    before = pdb.head.commit
    monkeypatch.setattr(fake_source.Reading, "_fresh", lambda *_: iter(()))
    done = rebuild(pdb, find(pdb))
    assert [one.done for one in done] == [False, False]
    assert "the file contains nothing usable" in done[0].reason
    assert Pdb.open(pdb.path).head.commit == before
    assert held(pdb.connect()) == expected(range(600))


# --- undo ---------------------------------------------------------------------------------------------------


def test_undo_steps_back_and_goes_forward_again(tmp_path: Path, pdb: Pdb) -> None:
    paths = filled(tmp_path, pdb, 3)
    compact(pdb)
    policy(pdb, 'raw = "1 day"')
    expire(pdb, today=date(2024, 4, 1))
    assert held(pdb.connect()) == expected()
    done = [one.what.partition(" ")[0] for one in states(pdb)]
    assert done == ["", "ingest", "ingest", "ingest", "compact", "expire"]
    before, after = undo(pdb)
    assert (before.commit, after.commit) == (5, 4)
    assert held(pdb.connect()) == expected(range(900))
    assert undo(pdb)[1].commit == 3
    assert undo(pdb)[1].commit == 2
    assert held(pdb.connect()) == expected(range(600))
    assert verify(pdb).problems == []
    # What was undone can be ingested again, and an undo does not hinder going forward.
    assert ingest([paths[2]], pdb)[0].outcome is Outcome.ADDED
    assert held(pdb.connect()) == expected(range(900))
    undo(pdb, to=5)
    assert held(pdb.connect()) == expected()
    undo(pdb, to=0)
    assert pdb.ingests == ()
    with pytest.raises(UsageError, match="the state after commit 77 is not kept; give one of these with --to: 0, 1"):
        undo(pdb, to=77)
    purge(pdb)
    assert list((pdb.path / "tables").rglob("*.parquet")) == []


def test_an_undo_needs_its_files(tmp_path: Path, pdb: Pdb) -> None:
    filled(tmp_path, pdb, 2)
    compact(pdb)
    for one in (pdb.path / "tables").rglob("*.parquet"):
        if "compact" not in one.name:
            one.unlink()
    with pytest.raises(UsageError, match=r"after commit 2 cannot be brought back: .*parquet is gone"):
        undo(pdb)
    assert held(Pdb.open(pdb.path).connect()) == expected(range(600))


# --- verify and repair --------------------------------------------------------------------------------------


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(bytes(data))


def _other(path: Path) -> None:
    """Another table of the same size, though not of the same bytes."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (Path.unlink, "it is missing"),
        (_cut, "bytes where"),
        (_flip, "not those that were written"),
        (_other, "not those"),
    ],
)
@pytest.mark.parametrize("of", ["smf_record", "smf74_4_request", "smf_record merged", "smf74_4_request merged"])
def test_a_spoilt_file_is_named_with_its_sources_and_they_bring_it_back(
    tmp_path: Path, pdb: Pdb, spoil: Callable[[Path], None], said: str, of: str
) -> None:
    table, _, merged = of.partition(" ")
    paths = filled(tmp_path, pdb, 3)
    if merged:
        compact(pdb)
    file = pdb.manifest.files[table][0]
    spoil(pdb.path / file.path)
    (problem,) = [one for one in verify(pdb).problems if one.file]
    assert problem.path == file.path
    assert said in problem.what
    origins = {one.file: one.at_hand for one in problem.origins}
    assert origins == {str(path): str(path) for path in (paths if merged else paths[:1])}

    found = repair(pdb.path)
    assert {one.file for one in found.sources} == set(origins)
    again = Pdb.open(pdb.path)
    # What is good stays; what is lost is not there in silence.
    assert held_in_files(again) != expected(range(900))
    assert status_of(again).incomplete == len(origins)
    assert [one for one in verify(again).problems if one.file] == []
    aside = (
        [one.name for one in (pdb.path / "set-aside").rglob("*.parquet")] if (pdb.path / "set-aside").exists() else []
    )
    assert aside == ([] if spoil is Path.unlink else [Path(file.path).name])
    results = ingest(paths, again)
    assert {one.outcome for one in results[: len(origins)]} == {Outcome.READ_AGAIN}
    assert held(again.connect()) == expected(range(900))
    assert status_of(again).incomplete == 0


def test_a_cut_manifest_gives_way_to_the_last_good_one(tmp_path: Path, pdb: Pdb) -> None:
    filled(tmp_path, pdb, 3)
    _cut(pdb.path / "manifest.json")
    found = examine(pdb.path)
    assert "the manifest is damaged" in found.manifest
    # The last commit is kept as a snapshot too: nothing is lost.
    assert (found.falls_back_to, found.lost) == ("snapshots/00000003.json", "")
    repair(pdb.path)
    assert held(Pdb.open(pdb.path).connect()) == expected(range(900))

    (pdb.path / "manifest.json").unlink()
    (pdb.path / "snapshots" / "00000003.json").write_bytes(b"")
    found = repair(pdb.path)
    assert (found.falls_back_to, found.lost) == ("snapshots/00000002.json", "commits 3 to 3")
    again = Pdb.open(pdb.path)
    assert held(again.connect()) == expected(range(600))
    # The files of the lost commit may be all that there is of it: they are not destroyed.
    assert len(list((pdb.path / "set-aside").rglob("*.parquet"))) == 2
    assert orphans(again) == []
    ingest([tmp_path / "2.fake"], again)
    assert held(again.connect()) == expected(range(900))


def test_a_pdb_without_a_good_state_is_said_to_be_lost(tmp_path: Path, pdb: Pdb) -> None:
    filled(tmp_path, pdb, 1)
    for path in [pdb.path / "manifest.json", *(pdb.path / "snapshots").iterdir()]:
        path.write_bytes(b"{}")
    with pytest.raises(PdbDamagedError, match="no state before it can be read either; restore the PDB from a copy"):
        examine(pdb.path)
    with pytest.raises(NotAPdbError, match="there is no PDB"):
        repair(tmp_path / "nowhere")


def test_what_lies_about_is_found_and_put_away(tmp_path: Path, pdb: Pdb) -> None:
    filled(tmp_path, pdb, 1)
    file = next(pdb.manifest.every_file())
    stray = (pdb.path / file.path).with_name("stray-1.parquet")
    shutil.copy(pdb.path / file.path, stray)
    (pdb.path / "staging" / "dead.7").mkdir()
    (pdb.path / "log" / "00000099.log").write_text("")
    found = status_of(pdb)
    assert found.orphans == [str(stray.relative_to(pdb.path))]
    assert found.staging == ["dead.7"]
    told = repair(pdb.path)
    assert (told.orphans, told.staging, told.strays) == (tuple(found.orphans), ("dead.7",), ("00000099.log",))
    assert not stray.exists()
    assert len(list((pdb.path / "set-aside").rglob("stray-1.parquet"))) == 1
    assert examine(pdb.path).is_well
    assert held(Pdb.open(pdb.path).connect()) == expected(range(300))


# --- status -------------------------------------------------------------------------------------------------


def test_status_says_what_there_is(tmp_path: Path, pdb: Pdb) -> None:
    filled(tmp_path, pdb)
    policy(pdb, 'raw = "10 days"')
    found = status_of(pdb, date(2024, 3, 12))
    assert [(one.name, one.rows, one.files, one.days, one.oldest, one.newest) for one in found.tables] == [
        ("smf74_4_request", 2400, 5, 2, "2024-03-01", "2024-03-02"),
        ("smf_record", 1200, 5, 2, "2024-03-01", "2024-03-02"),
    ]
    assert (found.sources, found.small.files, found.small.into_files) == (4, 8, 2)
    assert [(one.table, one.days) for one in found.expiring] == [("smf74_4_request", ("2024-03-01",))]
    assert found.to_json("p")["retention"] == {
        "raw": "10 days", "hour": "forever", "day": "forever", "families": {}, "undo": "24 hours",
    }  # fmt: skip
    assert plan(pdb.manifest)
    assert found.holder is None
    assert datetime.fromisoformat(found.at).tzinfo == UTC
    assert datetime.now(UTC) - datetime.fromisoformat(found.at) < timedelta(minutes=5)
    assert os.path.isdir(pdb.path)  # noqa: PTH112
