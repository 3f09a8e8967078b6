"""Days whose raw rows have expired, and files that are missing."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest

from plexlens.catalogue_path import catalogue_folders
from plexlens.errors import UnreadableInputError
from plexlens.metrics import GRAINS
from plexlens.metrics.rolled.making import update
from plexlens.metrics.selection import Selection
from plexlens.metrics.selection.window import between
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.rollup_store import LISTS
from plexlens.pdb.upkeep.expire import expire, purge
from plexlens.pdb.upkeep.expire_rollups import expire_rollups
from plexlens.pdb.upkeep.undo import undo
from tests.metrics import accounting_dumps as made
from tests.metrics.rolled.answers import answer_of, are_same, by_hour, counted, days_of, readers


def test_days_whose_raw_rows_expired_are_answered_by_roll_ups_or_missing(
    rolled: Path, dumps: dict[str, Any], tmp_path: Path
) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    (path / "retention.toml").write_text('raw = "2 days"', encoding="utf-8")
    gone = {one.table: one.days for one in expire(pdb, today=date(2026, 3, 5))}
    assert gone["smf110_1_performance"] == ("2026-03-02",)
    found, said = by_hour(path)
    assert found == counted(dumps["tasks"])
    assert said.endswith("; raw records of 1 day have expired, roll-ups answer: 2026-03-02")
    # Of each day that raw rows answer there is all, of the others nothing.
    kept = [task for task in dumps["tasks"] if task.stop.date() > date(2026, 3, 2)]
    assert by_hour(path, reads=False)[0] == counted(kept)
    # Records that come later are added, before they are rolled up and afterwards.
    new = made.tasks(Random(23), [1, 2], 15)
    ingest([made.write_dump(tmp_path / "new.smf", new)], pdb)
    for _ in range(2):
        assert by_hour(path)[0] == counted([*dumps["tasks"], *new])
        update(pdb, least_rows=1)
    assert days_of(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    shutil.rmtree(path / "rollups")
    left, said = by_hour(path)
    assert left == counted([*kept, *new])
    assert "expired" not in said


def test_hours_expire_and_days_stay_then_days_expire(
    rolled: Path, dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    columns = ["transactions", "transactions_per_second", "longest_seconds", "interval_seconds"]
    whole, _ = answer_of(path, columns, time="all")
    by_day, _ = answer_of(path, columns, time="day", by=("transaction",))
    (path / "retention.toml").write_text('raw = "2 days"\nhour = "3 days"\nday = "4 days"', encoding="utf-8")
    # 2026-03-02 loses its hours, which 2026-03-03 keeps; the raw rows of both go.
    gone = {one.table: one.days for one in expire(Pdb.open(path), today=date(2026, 3, 6))}
    assert gone["smf110_1_performance"] == ("2026-03-02", "2026-03-03")
    rollups = expire_rollups(Pdb.open(path), today=date(2026, 3, 6))
    assert {(one.grain, one.level, one.days) for one in rollups} == {
        (name, "hour", ("2026-03-02",)) for name in Pdb.open(path).rollups.grains if name != LISTS
    }
    assert not expire_rollups(Pdb.open(path), today=date(2026, 3, 6))
    # Whole days and all time are answered as before, rates too.
    again, _ = answer_of(path, columns, time="all")
    assert are_same(again, whole)
    again, said = answer_of(path, columns, time="day", by=("transaction",))
    assert are_same(again, by_day)
    assert said.endswith(
        "; raw records of 2 days have expired, roll-ups answer: 2026-03-02 to 2026-03-03"
        "; hours of 1 day have expired too, so that these count only in answers by whole days: 2026-03-02"
    )
    # An answer by the hour, and one about intervals, has nothing of that day: neither its tasks nor its time.
    kept = [task for task in dumps["tasks"] if task.stop.date() > date(2026, 3, 2)]
    assert by_hour(path)[0] == counted(kept)
    rows, _ = answer_of(
        path, ["transactions", "interval_seconds"], time="all", where="transactions > 0", by=("applid",)
    )
    for row in rows:
        listed = [task for task in dumps["tasks"] if task.region == row["applid"]]
        after = [task for task in listed if task.stop.date() > date(2026, 3, 2)]
        assert row["transactions"] == len(after)
        assert row["interval_seconds"] < made.covered(listed, row["applid"])
    # The files stay for those who are reading, until a command writes some time later.
    day = (path / Pdb.open(path).rollups.read("cics_transaction").days["2026-03-02"].files["day"].path).parent
    assert {one.name for one in day.iterdir()} >= {f"{one}.parquet" for one in ("interval", "hour", "day", "cover")}
    purge(Pdb.open(path))
    assert {one.name for one in day.iterdir()} == {"day.parquet", "cover.parquet"}
    # Records that come later leave the day alone.
    new = made.tasks(Random(23), [1, 2], 15)
    ingest([made.write_dump(tmp_path / "new.smf", new)], Pdb.open(path))
    update(Pdb.open(path), least_rows=1)
    assert by_hour(path)[0] == counted([*kept, *(task for task in new if task.stop.date() > date(2026, 3, 3))])
    # A day later the day itself goes.
    rollups = expire_rollups(Pdb.open(path), today=date(2026, 3, 7))
    assert {(one.level, one.days) for one in rollups} == {("day", ("2026-03-02",)), ("hour", ("2026-03-03",))}
    rows, said = answer_of(path, ["transactions"], time="all")
    assert rows[0]["transactions"] == len(kept) + sum(task.stop.date() > date(2026, 3, 3) for task in new)
    assert "2026-03-02" not in said


def test_raw_rows_that_come_back_are_read(rolled: Path, dumps: dict[str, Any], tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    (path / "retention.toml").write_text('raw = "2 days"\nhour = "3 days"', encoding="utf-8")
    expire(Pdb.open(path), today=date(2026, 3, 6))
    expire_rollups(Pdb.open(path), today=date(2026, 3, 6))
    undo(Pdb.open(path))
    assert days_of(path) == (["2026-03-03", "2026-03-04"], ["2026-03-02"])
    assert by_hour(path)[0] == counted(dumps["tasks"])
    update(Pdb.open(path), least_rows=1)
    assert days_of(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    assert by_hour(path) == (counted(dumps["tasks"]), by_hour(rolled)[1])


def test_a_day_that_expired_is_selected(rolled: Path, dumps: dict[str, Any], tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    (path / "retention.toml").write_text('raw = "2 days"', encoding="utf-8")
    expire(Pdb.open(path), today=date(2026, 3, 5))
    part = Selection(windows=(between("2026-03-02T10:00+00:00", "2026-03-02T13:00+00:00"),), systems=("SYSA",))
    reader = readers(path, part)[0]
    reader.need("cics_transaction", ["transactions"], None)
    data = reader.data("cics_transaction")
    assert data is not None
    wanted = [
        task
        for task in dumps["tasks"]
        if task.system == "SYSA" and task.stop.date() == date(2026, 3, 2) and 10 <= task.stop.hour < 13
    ]
    assert reader.rows(data, ["transactions"], by=(), time="all")[0].to_pylist()[0]["transactions"] == len(wanted)


def _with_catalogue(folder: Path, text: str) -> None:
    (folder / "cics").mkdir(parents=True)
    sql = (catalogue_folders(())[0] / "cics" / "transaction.sql").read_text(encoding="utf-8")
    failures = "as abends,\n        count(*) filter (is_ended and nullif(abcodec, '') is not null) as failures,"
    (folder / "cics" / "transaction.sql").write_text(sql.replace("as abends,", failures), encoding="utf-8")
    (folder / "cics" / "transaction.toml").write_text(f'grain = "cics_transaction"\n{text}', encoding="utf-8")
    GRAINS.load([folder])


@pytest.mark.parametrize("fits", [True, False])
def test_days_of_an_earlier_definition_stand_if_they_fit(
    rolled: Path, dumps: dict[str, Any], tmp_path: Path, *, fits: bool
) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    (path / "retention.toml").write_text('raw = "2 days"', encoding="utf-8")
    expire(Pdb.open(path), today=date(2026, 3, 5))
    new = '[facts]\nfailures = {title = "Failures", unit = "count", rollup = "count", field = "SMF 110-1 ABCODEC"}\n'
    new += '[[source]]\nkind = "SMF 110-1"\nneeds = ["smf110_1_performance"]\nsql = "transaction.sql"\n'
    new += 'dated_by = ["stop", "interval_end"]\n'
    try:
        _with_catalogue(tmp_path / "site", new if fits else '[facts]\nabends = {rollup = "peak"}')
        for number in range(2):
            pdb = Pdb.open(path)
            rows, said = answer_of(path, ["transactions", *(["failures"] if fits else [])], time="all")
            kept = [task for task in dumps["tasks"] if fits or task.stop.date() > date(2026, 3, 2)]
            assert rows[0]["transactions"] == len(kept)
            if fits:
                # What the day does not know is of the others.
                later = [task for task in kept if task.stop.date() > date(2026, 3, 2)]
                assert rows[0]["failures"] == sum(task.abended for task in later)
                assert said.endswith("; 1 day follow an earlier definition: 2026-03-02")
            lost = [done.lost for done in update(pdb, least_rows=1) if done.lost]
            if fits or number:
                assert not lost
            else:
                assert "does not fit the present one" in lost[0]
                assert (path / "set-aside" / "rollups" / "cics_transaction-1" / "index.json").is_file()
    finally:
        GRAINS.load()


@pytest.mark.parametrize("how", ["missing", "cut"])
def test_files_that_are_missing_or_cut(rolled: Path, dumps: dict[str, Any], tmp_path: Path, how: str) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    file = path / pdb.rollups.read("cics_transaction").days["2026-03-02"].files["hour"].path
    content = file.read_bytes()
    if how == "missing":
        file.unlink()
    else:
        file.write_bytes(content[:-100])
    # While the raw rows are there, they answer.
    assert by_hour(path)[0] == counted(dumps["tasks"])
    assert days_of(path)[1] == ["2026-03-02"]
    (path / "retention.toml").write_text('raw = "2 days"', encoding="utf-8")
    expire(pdb, today=date(2026, 3, 5))
    with pytest.raises(UnreadableInputError, match=r"2026-03-02 are missing or cut, and its raw rows have expired"):
        by_hour(path)
    file.write_bytes(content)
    assert by_hour(path)[0] == counted(dumps["tasks"])
