"""Which days are rolled up, and when again: late records, kills, damage, compaction."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.facts import facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.rolled import making
from plexlens.metrics.rolled.making import update
from plexlens.metrics.selection import EVERYTHING
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.upkeep.compact import compact
from tests.metrics import accounting_dumps as made
from tests.metrics.rolled.answers import TIMES, days_of, differences, readers, same

# All days of all grains are made in `test_numbers.py`.
pytestmark = [pytest.mark.drawn, pytest.mark.usefixtures("two_grains")]


def test_rows_that_are_hardly_fewer_are_not_kept(dumps: dict[str, Any], tmp_path: Path) -> None:
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([dumps["paths"][0]], pdb)
    update(pdb, least_rows=1)
    (day,) = pdb.rollups.read("cics_transaction").days.values()
    assert "interval_transaction" not in day.files
    # What was left out is not missing: the day is not made again.
    assert not [made_anew for made_anew in update(pdb, least_rows=1) if made_anew.days]


def test_days_without_todays_levels_are_made_anew(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    index = pdb.rollups.read("cics_transaction")
    day = index.days["2026-03-03"]
    before = replace(
        day,
        files={level: file for level, file in day.files.items() if level in ("interval", "hour", "day", "cover")},
        told={name: told for name, told in day.told.items() if name != "summed"},
    )
    pdb.rollups.write("cics_transaction", replace(index, days={**index.days, "2026-03-03": before}))
    differences(path, "cics_transaction")
    updated = {each.grain: each.days for each in update(Pdb.open(path), least_rows=1)}
    assert updated["cics_transaction"] == ("2026-03-03",)


def test_only_touched_days_are_made_anew(dumps: dict[str, Any], tmp_path: Path) -> None:
    pdb = Pdb.create(tmp_path / "pdb")
    far = made.write_dump(tmp_path / "far.smf", made.tasks(Random(3), [9], 30))
    ingest([*dumps["paths"], far], pdb)
    first = {one.grain: one.days for one in update(pdb, least_rows=1)}
    assert first["cics_transaction"] == ("2026-03-02", "2026-03-03", "2026-03-04", "2026-03-11")
    assert all(not one.days for one in update(pdb, least_rows=1))
    ingest([dumps["late"]], pdb)
    # Late records of the first two days: those days and the one next to them, and nothing of Db2.
    again = {one.grain: one.days for one in update(pdb, least_rows=1)}
    assert again["cics_transaction"] == ("2026-03-02", "2026-03-03", "2026-03-04")
    assert not again["db2_accounting"]
    assert days_of(pdb.path) == (["2026-03-02", "2026-03-03", "2026-03-04", "2026-03-11"], [])


def test_stale_and_missing_days_come_from_raw_rows(rolled: Path, dumps: dict[str, Any], tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    ingest([made.write_dump(tmp_path / "new.smf", made.tasks(Random(11), [2], 20))], pdb)
    assert days_of(path) == (["2026-03-02"], ["2026-03-03", "2026-03-04"])
    assert set(differences(path, "cics_transaction")) >= {"all by day"}
    # A server that opened the database before goes on with what it saw.
    update(pdb, least_rows=1)
    assert days_of(path)[1] == []
    differences(path, "cics_transaction")
    shutil.rmtree(path / "rollups")
    assert days_of(path) == ([], [])
    assert set(differences(path, "cics_transaction")) == {f"{t} by raw" for t in TIMES}
    update(pdb, least_rows=1)
    assert len(days_of(path)[0]) == 3


def test_another_catalogue_has_roll_ups_of_its_own_or_none(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    site = tmp_path / "site" / "cics"
    site.mkdir(parents=True)
    (site / "transaction.toml").write_text(
        'grain = "cics_transaction"\n[facts]\nabends = {rollup = "peak"}\n', encoding="utf-8"
    )
    try:
        GRAINS.load([site.parent])
        assert days_of(path) == ([], [])
        assert days_of(path, "db2_accounting")[0]
        update(Pdb.open(path), least_rows=1)
        assert len(days_of(path)[0]) == 3
        differences(path, "cics_transaction")
    finally:
        GRAINS.load()
    assert days_of(path) == ([], [])


def test_a_damaged_index_is_none(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    index = path / "rollups" / "cics_transaction" / "index.json"
    content = index.read_bytes()
    for damaged in (b"", content[: len(content) // 2], content.replace(b'"rows": 1', b'"rows": 2', 1), b"{}\n{}"):
        index.write_bytes(damaged)
        assert days_of(path) == ([], [])
    update(Pdb.open(path), least_rows=1)
    assert len(days_of(path)[0]) == 3


class _KilledError(Exception):
    pass


@pytest.mark.parametrize("step", range(0, 42, 5))
def test_killed_at_any_step_the_answers_are_right(
    rolled: Path, dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    ingest([made.write_dump(tmp_path / "new.smf", made.tasks(Random(step), [2], 10))], pdb)
    steps = iter(range(1000))

    def cut(before: Any) -> Any:
        def act(*args: Any, **more: Any) -> Any:
            if next(steps) >= step:
                raise _KilledError
            return before(*args, **more)

        return act

    with monkeypatch.context() as patch:
        for name in ("write", "move", "sync_file", "sync_folder", "make_folder"):
            patch.setattr(pdb.disk, name, cut(getattr(pdb.disk, name)))
        with pytest.raises(_KilledError):
            update(pdb, least_rows=1)
    reader, raw = readers(path, EVERYTHING)
    asked = ["transactions", "cpu_seconds", "interval_seconds"]
    rows = []
    for one in (reader, raw):
        one.need("cics_transaction", asked, None)
        data = one.data("cics_transaction")
        assert data is not None
        rows.append(one.rows(data, asked, by=("applid", "transaction"), time="hour")[0].to_pylist())
    for one, other in zip(*rows, strict=True):
        assert all(same(one[column], value) for column, value in other.items())
    update(Pdb.open(path), least_rows=1)
    assert days_of(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])


def test_replaced_files_stay_for_a_while(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    connection = pdb.connect()
    before = facts(Inputs(connection), GRAINS["cics_transaction"])
    assert before is not None
    count = before.count()
    ingest([made.write_dump(tmp_path / "new.smf", made.tasks(Random(5), [2], 20))], pdb)
    update(pdb, least_rows=1)
    assert before.count() == count


def test_small_tables_are_not_rolled_up(dumps: dict[str, Any], tmp_path: Path) -> None:
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([dumps["paths"][0]], pdb)
    assert update(pdb) == []
    assert not (pdb.path / "rollups").exists()
    assert making.LEAST_ROWS > 10_000


def test_compaction_leaves_roll_ups_valid(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    before = days_of(path)
    assert compact(Pdb.open(path)).files
    assert days_of(path) == before == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    assert set(differences(path, "cics_transaction")) >= {"all by day"}


def test_a_damaged_index_is_said_and_kept(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    index = path / "rollups" / "cics_transaction" / "index.json"
    index.write_bytes(index.read_bytes()[:-40])
    lost = [done.lost for done in update(Pdb.open(path), least_rows=1) if done.lost]
    assert len(lost) == 1 and "their index is damaged" in lost[0]
    assert list((path / "set-aside" / "rollups" / "cics_transaction-1").glob("2026-03-02-*/day.parquet"))
    assert days_of(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])


def test_files_of_yesterday_stay_for_a_while_when_they_are_replaced(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    folder = path / "rollups" / "cics_transaction"
    before = (path / Pdb.open(path).rollups.read("cics_transaction").days["2026-03-04"].files["day"].path).parent
    long_ago = before.stat().st_mtime - 90_000
    for old in [*folder.glob("*"), *folder.glob("*/*")]:
        os.utime(old, (long_ago, long_ago))
    for number in range(2):
        ingest([made.write_dump(tmp_path / f"new{number}.smf", made.tasks(Random(number), [2], 5))], Pdb.open(path))
        update(Pdb.open(path), least_rows=1)
        assert before.is_dir()
    os.utime(folder / "index.json", (long_ago, long_ago))
    update(Pdb.open(path), least_rows=1)
    assert not before.exists()
