"""Facts rolled up beforehand give the answers of the raw rows: whatever is ingested in whatever order, and selected.

What raw rows give is the slow way (`tests.oracle.slow_rollup` checks it in `test_rollup_properties.py`); sums over the
tasks that went in are added up in plain Python as well.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from plexlens.catalogue_path import catalogue_folders
from plexlens.errors import UnreadableInputError
from plexlens.metrics import GRAINS, even_intervals
from plexlens.metrics import evaluate as evaluation
from plexlens.metrics.facts import facts, from_sources, parts_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.roll_ups import RollUps
from plexlens.metrics.rolled import making
from plexlens.metrics.rolled.making import update
from plexlens.metrics.rolled.reading import rolled_of
from plexlens.metrics.rolled.rule import reason
from plexlens.metrics.selection import EVERYTHING, Selection, resolve
from plexlens.metrics.selection.shift import shift
from plexlens.metrics.selection.window import between
from plexlens.metrics.variants import Plan
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.rollup_store import LISTS
from plexlens.pdb.upkeep.compact import compact
from plexlens.pdb.upkeep.expire import expire, purge
from plexlens.pdb.upkeep.expire_rollups import expire_rollups
from plexlens.pdb.upkeep.undo import undo
from plexlens.report.blocks.origin import origin
from tests.draws import SOAK
from tests.metrics import accounting_dumps as made

_TIMES = ("all", "month", "week", "day", "hour", "interval")

#: Columns of a question.
_AT_ONCE = 25

ROLLED = tuple(name for name in GRAINS if not reason(GRAINS[name]))

SELECTIONS = {
    "everything": EVERYTHING,
    "a day": Selection(windows=(between("2026-03-03", "2026-03-03"),)),
    "whole hours": Selection(windows=(between("2026-03-03T10:00", "2026-03-03T13:00"),)),
    "hours of UTC": Selection(windows=(between("2026-03-03T23:00+00:00", "2026-03-04T02:00+00:00"),)),
    "quarters": Selection(windows=(between("2026-03-02T22:15", "2026-03-03T00:45"),)),
    "minutes": Selection(windows=(between("2026-03-03T10:07+01:00", "2026-03-04T12:22+01:00"),)),
    "a shift": Selection(shifts=(shift("mon-fri/08:00-17:00"),)),
    "a shift of minutes": Selection(shifts=(shift("08:07-17:40"),)),
    "a system": Selection(systems=("SYSA",)),
    "a class": Selection(classes=("RT001", "RT002")),
    "a class in hours": Selection(classes=("RT003",), windows=(between("2026-03-03T08:00", "2026-03-03T12:00"),)),
}


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A dump for each of three days; one of late records of the first two; and the tasks of all."""
    folder = tmp_path_factory.mktemp("dumps")
    random = Random(20260302)
    days = [made.tasks(random, [day], 60) for day in range(3)]
    of_db2 = [made.threads(random, [day], 25) for day in range(3)]
    late = made.tasks(random, [0, 1], 12)
    paths = [made.write_dump(folder / f"day{n}.smf", days[n], of_db2[n]) for n in range(3)]
    more = made.write_dump(folder / "late.smf", late)
    # The second day once more, with the records of the third: each record counts once.
    both = made.write_dump(folder / "both.smf", [*days[1], *days[2]], [*of_db2[1], *of_db2[2]])
    return {"paths": paths, "late": more, "both": both, "tasks": [*days[0], *days[1], *days[2], *late], "days": days}


@pytest.fixture(scope="module")
def rolled(dumps: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose roll-ups followed every ingest."""
    pdb = Pdb.create(tmp_path_factory.mktemp("rolled") / "pdb")
    with pytest.MonkeyPatch.context() as patch:
        # Of so few tasks, rows that are added up over keys are hardly fewer.
        patch.setattr(making, "MOST_SUMMED", 1.0)
        for path in (dumps["paths"][2], dumps["paths"][0], dumps["paths"][1], dumps["late"], dumps["both"]):
            ingest([path], pdb)
            update(pdb, least_rows=1)
    return pdb.path


def _readers(path: Path, selection: Selection) -> tuple[RollUps, RollUps]:
    """Readers of roll-ups and of raw rows."""
    found = []
    for reads in (True, False):
        connection = Pdb.open(path).connect()
        inputs = Inputs(connection, resolve(selection, connection, "pdb"), reads_rollups=reads)
        found.append(RollUps(inputs, GRAINS, 3600.0))
    return found[0], found[1]


def _differences(
    path: Path, name: str, selection: Selection = EVERYTHING, *, wheres: tuple[Any, ...] = (None,)
) -> Counter[str]:
    """Compare facts and metrics of a grain, rolled up in many ways; count the answers by the rows that gave them.

    Over all ways each fact and metric is asked several times.
    """
    grain = GRAINS[name]
    columns = [*(fact.name for fact in grain.facts), *(metric.name for metric in grain.metrics)]
    pair = _readers(path, selection)
    for reader in pair:
        reader.need(name, [*columns, *(one.name for one in grain.attributes)], None)
    ours, raw = (reader.data(name) for reader in pair)
    if raw is None or ours is None:
        assert ours is raw
        return Counter()
    assert [(c.times, c.spans, c.time) for c in ours.clocks] == [(c.times, c.spans, c.time) for c in raw.clocks]
    assert (ours.systems, ours.kinds, ours.epochs) == (raw.systems, raw.kinds, raw.epochs)
    used: Counter[str] = Counter()
    last = grain.keys[-1].name
    waiting: list[str] = []
    random = Random(len(columns))
    for by in ((), ("system",), (grain.keys[0].name,), (last,), tuple(key.name for key in grain.keys)):
        for time in _TIMES:
            for where in wheres:
                if len(waiting) < _AT_ONCE:
                    waiting = random.sample(columns, len(columns))
                asked, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
                rows = [
                    reader.rows(data, asked, by=by, time=time, where=where)[0].to_pylist()
                    for reader, data in zip(pair, (ours, raw), strict=True)
                ]
                assert len(rows[0]) == len(rows[1]), (by, time, where)
                for one, other in zip(*rows, strict=True):
                    for column, value in other.items():
                        assert _same(one[column], value), (name, by, time, where, column, one[column], value)
                level = "raw"
                if ours.levels is not None:
                    level = ours.levels.level(frozenset(asked), time, where, 3600.0)
                used[f"{time} by {level}"] += 1
    return used


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        # Roots of differences of nearly equal sums lose more than the sums do.
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def test_grains_are_rolled_up_by_the_rules_of_their_facts() -> None:
    assert {"cics_transaction", "db2_accounting", "db2_accounting_user", "db2_package"} <= set(ROLLED)
    for grain in GRAINS.values():
        rules = {fact.rollup.name for fact in grain.facts}
        is_plain = rules <= {"COUNT", "SPAN", "PEAK", "FLOOR"} and all(fact.of is None for fact in grain.facts)
        assert (grain.name in ROLLED) == (is_plain and any(source.dated_by for source in grain.sources)), grain.name


@pytest.mark.parametrize("name", ROLLED)
def test_every_number_is_that_of_the_raw_rows(rolled: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = 0
    answer = evaluation._answer_when_added_up

    def noted(plan: Plan, described: Sequence[str]) -> bool:
        nonlocal answered
        result = answer(plan, described)
        answered += result
        return result

    monkeypatch.setattr(evaluation, "_answer_when_added_up", noted)
    # Intervals of few tasks are often uneven.
    monkeypatch.setattr(even_intervals, "MOST_UNEVEN_SHARE", 1.0)
    used = _differences(rolled, name, wheres=(None, "system = 'SYSA'"))
    # Some questions by interval are answered by rows that are added up over the other keys.
    assert answered or "interval by interval" not in used
    if name == "cics_transaction":
        assert used["all by day"] and used["day by day"] and used["hour by hour"] and used["interval by interval"]
        assert not any("raw" in way for way in used)


@pytest.mark.parametrize("selected", SELECTIONS)
@pytest.mark.parametrize("name", ["cics_transaction", "db2_accounting"])
def test_a_part_is_that_of_the_raw_rows(rolled: Path, name: str, selected: str) -> None:
    used = _differences(rolled, name, SELECTIONS[selected])
    if selected in ("whole hours", "a shift"):
        assert used["all by hour"]
    if selected == "quarters":
        assert used["all by interval"]
    if selected == "minutes":
        # The days of the bounds are read from raw rows, the others are not.
        assert not any("raw" in way for way in used)


@pytest.mark.parametrize("most_summed", [0.0, 1.0])
def test_where_something_is_unknown_intervals_tell_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_summed: float
) -> None:
    monkeypatch.setattr(making, "MOST_SUMMED", most_summed)
    monkeypatch.setattr(even_intervals, "MOST_UNEVEN_SHARE", 1.0)
    pdb = Pdb.create(tmp_path / "pdb")
    # CPU times that cannot be are not known, so that rates leave out the intervals without any.
    ingest([made.write_dump(tmp_path / "a.smf", made.tasks(Random(8), [0, 1], 40, most_cpu=5000))], pdb)
    update(pdb, least_rows=1)
    used = _differences(pdb.path, "cics_transaction")
    assert used["all by interval"] and used["all by day"]


def test_rows_added_up_over_keys_are_those_of_the_keys(rolled: Path) -> None:
    """Sums, extremes and the number of rows of each level, in SQL on the rows by interval."""
    index = Pdb.open(rolled).rollups.read("cics_transaction")
    connection = duckdb.connect()
    for day in index.days.values():
        assert {"interval_observer", "interval_transaction"} <= day.files.keys()
        for level, keys in (("interval_observer", "system, applid"), ("interval_transaction", "transaction")):
            columns = (
                f"{keys}, epoch_us(interval), sum(transactions), sum(cpu_seconds), max(longest_seconds), sum(abends), "
                "max(interval_seconds), epoch_us(min(interval_start)), epoch_us(max(interval_end))"
            )
            ours, whole = (
                connection.execute(
                    f"select {columns} from read_parquet('{rolled / day.files[name].path}') group by all order by all"
                ).fetchall()
                for name in (level, "interval")
            )
            assert [row[:-5] for row in ours] == [row[:-5] for row in whole]
            for one, other in zip(ours, whole, strict=True):
                assert all(_same(value, expected) for value, expected in zip(one, other, strict=True))


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
    _differences(path, "cics_transaction")
    updated = {each.grain: each.days for each in update(Pdb.open(path), least_rows=1)}
    assert updated["cics_transaction"] == ("2026-03-03",)


def test_conditions_on_facts_are_asked_of_intervals(rolled: Path) -> None:
    used = _differences(rolled, "cics_transaction", wheres=("transactions > 1",))
    assert set(used) == {f"{time} by interval" for time in _TIMES}


def test_sums_are_those_of_the_tasks(rolled: Path, dumps: dict[str, Any]) -> None:
    reader, _ = _readers(rolled, EVERYTHING)
    asked = ["transactions", "cpu_seconds", "longest_seconds", "abends", "db2_requests", "interval_seconds"]
    reader.need("cics_transaction", asked, None)
    data = reader.data("cics_transaction")
    assert data is not None
    rows, _ = reader.rows(data, asked, by=("applid",), time="all")
    by_region: dict[str, list[made.Task]] = defaultdict(list)
    for task in dumps["tasks"]:
        by_region[task.region].append(task)
    found = {row["applid"]: row for row in rows.to_pylist()}
    assert found.keys() == by_region.keys()
    for region, listed in by_region.items():
        row = found[region]
        assert row["transactions"] == len(listed)
        assert row["abends"] == sum(task.abended for task in listed)
        assert row["db2_requests"] == sum(task.requests for task in listed)
        assert row["cpu_seconds"] == pytest.approx(sum(task.cpu for task in listed) * 16e-6, rel=1e-12)
        assert row["longest_seconds"] == max((t.stop - t.start).total_seconds() for t in listed)
        assert row["interval_seconds"] == pytest.approx(made.covered(listed, region), rel=1e-9)
    hours = Counter((task.transaction, task.stop.replace(minute=0, second=0, microsecond=0)) for task in dumps["tasks"])
    rows, _ = reader.rows(data, ["transactions"], by=("transaction",), time="hour")
    assert {(row["transaction"], row["time"]): row["transactions"] for row in rows.to_pylist()} == hours


def test_systems_half_an_hour_apart_are_asked_by_interval(tmp_path: Path) -> None:
    random = Random(7)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([made.write_dump(tmp_path / "a.smf", made.tasks(random, [0, 1], 40, made.UNEVEN))], pdb)
    update(pdb, least_rows=1)
    used = _differences(pdb.path, "cics_transaction")
    assert used["hour by interval"] and used["day by interval"]
    assert used["all by day"]


def _days(path: Path, name: str = "cics_transaction") -> tuple[list[str], list[str]]:
    """Days whose facts come from roll-ups, and from raw rows."""
    inputs = Inputs(Pdb.open(path).connect())
    found = rolled_of(inputs, GRAINS[name])
    return ([], []) if found is None else ([day.day for day in found.days], list(found.missing))


@pytest.mark.parametrize("fits", [4, 16, 64] if SOAK else [4])
def test_where_memory_runs_out_days_are_made_in_parts(
    dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: int
) -> None:
    """Fewer parts run out of memory; those that fit give the numbers of the raw rows."""
    begun: list[tuple[str, int]] = []
    before = making._levels

    def limited(part: Pdb, grain: Any, store: Any, run: list[str], parts: int) -> Any:
        begun.append((grain.name, parts))
        if parts < fits:
            raise duckdb.OutOfMemoryException("no memory")
        return before(part, grain, store, run, parts)

    monkeypatch.setattr(making, "_levels", limited)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([*dumps["paths"], dumps["late"]], pdb)
    update(pdb, least_rows=1)
    # What fits serves for the days that follow: nothing is tried twice for a grain.
    tried = [parts for name, parts in begun if name == "cics_transaction"]
    before_it = [parts for _, parts in making._PASSES if parts < fits]
    assert tried == [*before_it, fits, fits, fits]
    assert _days(pdb.path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    for name in ("cics_transaction", "db2_accounting"):
        assert not any("raw" in way for way in _differences(pdb.path, name))


@pytest.mark.parametrize("name", ROLLED)
def test_parts_are_chosen_before_rows_are_added_up(rolled: Path, name: str) -> None:
    """Otherwise each part takes the memory of the whole: no filter by the hash stands above the engine's grouping."""
    connection = Pdb.open(rolled).connect()
    grain = GRAINS[name]
    rows = from_sources(Inputs(connection, reads_rollups=False), grain)
    if rows is None:
        pytest.skip(f"{name} has no rows in these dumps")
    plan = connection.execute(f"explain (format json) {rows.where(parts_of(grain, 4)[1]).sql}").fetchall()[0][1]
    grouped, hashed = [], []

    def walk(node: dict[str, Any], depth: int) -> None:
        if "GROUP_BY" in node["name"]:
            grouped.append(depth)
        if "hash(" in json.dumps(node["extra_info"]):
            hashed.append(depth)
        for child in node["children"]:
            walk(child, depth + 1)

    walk(json.loads(plan)[0], 0)
    assert hashed
    assert min(hashed) > min(grouped)


def test_parts_hold_every_entity_once() -> None:
    bounds = [text.partition(" between ")[2].split(" and ") for text in parts_of(GRAINS["cics_transaction"], 16)]
    numbers = [int(number) for bound in bounds for number in bound]
    assert (numbers[0], numbers[-1]) == (0, 2**64 - 1)
    assert all(numbers[at] + 1 == numbers[at + 1] for at in range(1, 31, 2))


def test_where_nothing_fits_it_is_an_error(
    dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> Any:
        raise duckdb.OutOfMemoryException("no memory")

    monkeypatch.setattr(making, "_levels", full)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest(dumps["paths"][:1], pdb)
    with pytest.raises(duckdb.OutOfMemoryException):
        update(pdb, least_rows=1)


def test_a_grain_that_does_not_fit_leaves_the_others_rolled_up(
    dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = making._levels

    def limited(part: Pdb, grain: Any, store: Any, run: list[str], parts: int) -> Any:
        if grain.name == "cics_transaction":
            raise duckdb.OutOfMemoryException("no memory")
        return before(part, grain, store, run, parts)

    monkeypatch.setattr(making, "_levels", limited)
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([*dumps["paths"], dumps["late"]], pdb)
    with pytest.raises(duckdb.OutOfMemoryException, match="cics_transaction does not fit in 2GiB"):
        update(pdb, least_rows=1)
    assert not any("raw" in way for way in _differences(pdb.path, "db2_accounting"))
    assert all("raw" in way for way in _differences(pdb.path, "cics_transaction"))


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
    assert _days(pdb.path) == (["2026-03-02", "2026-03-03", "2026-03-04", "2026-03-11"], [])


def test_stale_and_missing_days_come_from_raw_rows(rolled: Path, dumps: dict[str, Any], tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    ingest([made.write_dump(tmp_path / "new.smf", made.tasks(Random(11), [2], 20))], pdb)
    assert _days(path) == (["2026-03-02"], ["2026-03-03", "2026-03-04"])
    assert set(_differences(path, "cics_transaction")) >= {"all by day"}
    # A server that opened the database before goes on with what it saw.
    update(pdb, least_rows=1)
    assert _days(path)[1] == []
    _differences(path, "cics_transaction")
    shutil.rmtree(path / "rollups")
    assert _days(path) == ([], [])
    assert set(_differences(path, "cics_transaction")) == {f"{t} by raw" for t in _TIMES}
    update(pdb, least_rows=1)
    assert len(_days(path)[0]) == 3


def test_another_catalogue_has_roll_ups_of_its_own_or_none(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    site = tmp_path / "site" / "cics"
    site.mkdir(parents=True)
    (site / "transaction.toml").write_text(
        'grain = "cics_transaction"\n[facts]\nabends = {rollup = "peak"}\n', encoding="utf-8"
    )
    try:
        GRAINS.load([site.parent])
        assert _days(path) == ([], [])
        assert _days(path, "db2_accounting")[0]
        update(Pdb.open(path), least_rows=1)
        assert len(_days(path)[0]) == 3
        _differences(path, "cics_transaction")
    finally:
        GRAINS.load()
    assert _days(path) == ([], [])


def test_a_damaged_index_is_none(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    index = path / "rollups" / "cics_transaction" / "index.json"
    content = index.read_bytes()
    for damaged in (b"", content[: len(content) // 2], content.replace(b'"rows": 1', b'"rows": 2', 1), b"{}\n{}"):
        index.write_bytes(damaged)
        assert _days(path) == ([], [])
    update(Pdb.open(path), least_rows=1)
    assert len(_days(path)[0]) == 3


class _KilledError(Exception):
    pass


@pytest.mark.parametrize("step", range(0, 63, 7))
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
        with contextlib.suppress(_KilledError):
            update(pdb, least_rows=1)
    reader, raw = _readers(path, EVERYTHING)
    asked = ["transactions", "cpu_seconds", "interval_seconds"]
    rows = []
    for one in (reader, raw):
        one.need("cics_transaction", asked, None)
        data = one.data("cics_transaction")
        assert data is not None
        rows.append(one.rows(data, asked, by=("applid", "transaction"), time="hour")[0].to_pylist())
    for one, other in zip(*rows, strict=True):
        assert all(_same(one[column], value) for column, value in other.items())
    update(Pdb.open(path), least_rows=1)
    assert _days(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])


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
    before = _days(path)
    assert compact(Pdb.open(path)).files
    assert _days(path) == before == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    assert set(_differences(path, "cics_transaction")) >= {"all by day"}


def _by_hour(path: Path, *, reads: bool = True) -> tuple[Counter[tuple[str, datetime]], str]:
    """Transactions by name and hour, and what a table says of its source."""
    reader = _readers(path, EVERYTHING)[0 if reads else 1]
    reader.need("cics_transaction", ["transactions"], None)
    data = reader.data("cics_transaction")
    assert data is not None
    rows, _ = reader.rows(data, ["transactions"], by=("transaction",), time="hour")
    return Counter({(row["transaction"], row["time"]): row["transactions"] for row in rows.to_pylist()}), origin(data)


def _counted(tasks: Iterable[made.Task]) -> Counter[tuple[str, datetime]]:
    return Counter((task.transaction, task.stop.replace(minute=0, second=0, microsecond=0)) for task in tasks)


def test_days_whose_raw_rows_expired_are_answered_by_roll_ups_or_missing(
    rolled: Path, dumps: dict[str, Any], tmp_path: Path
) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    pdb = Pdb.open(path)
    (path / "retention.toml").write_text('raw = "2 days"', encoding="utf-8")
    gone = {one.table: one.days for one in expire(pdb, today=date(2026, 3, 5))}
    assert gone["smf110_1_performance"] == ("2026-03-02",)
    found, said = _by_hour(path)
    assert found == _counted(dumps["tasks"])
    assert said.endswith("; raw records of 1 day have expired, roll-ups answer: 2026-03-02")
    # Of each day that raw rows answer there is all, of the others nothing.
    kept = [task for task in dumps["tasks"] if task.stop.date() > date(2026, 3, 2)]
    assert _by_hour(path, reads=False)[0] == _counted(kept)
    # Records that come later are added, before they are rolled up and afterwards.
    new = made.tasks(Random(23), [1, 2], 15)
    ingest([made.write_dump(tmp_path / "new.smf", new)], pdb)
    for _ in range(2):
        assert _by_hour(path)[0] == _counted([*dumps["tasks"], *new])
        update(pdb, least_rows=1)
    assert _days(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    shutil.rmtree(path / "rollups")
    left, said = _by_hour(path)
    assert left == _counted([*kept, *new])
    assert "expired" not in said


def _asked(
    path: Path, columns: list[str], *, time: str, where: str | None = None, by: tuple[str, ...] = ()
) -> tuple[list[dict[str, Any]], str]:
    """Rows of transactions, and what a table says of its source."""
    reader = _readers(path, EVERYTHING)[0]
    reader.need("cics_transaction", columns, where)
    data = reader.data("cics_transaction")
    assert data is not None
    return reader.rows(data, columns, by=by, time=time, where=where)[0].to_pylist(), origin(data)


def _are_same(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    return len(rows) == len(others) and all(
        _same(one[name], value) for one, other in zip(rows, others, strict=True) for name, value in other.items()
    )


def test_hours_expire_and_days_stay_then_days_expire(
    rolled: Path, dumps: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    columns = ["transactions", "transactions_per_second", "longest_seconds", "interval_seconds"]
    whole, _ = _asked(path, columns, time="all")
    by_day, _ = _asked(path, columns, time="day", by=("transaction",))
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
    again, _ = _asked(path, columns, time="all")
    assert _are_same(again, whole)
    again, said = _asked(path, columns, time="day", by=("transaction",))
    assert _are_same(again, by_day)
    assert said.endswith(
        "; raw records of 2 days have expired, roll-ups answer: 2026-03-02 to 2026-03-03"
        "; hours of 1 day have expired too, so that these count only in answers by whole days: 2026-03-02"
    )
    # An answer by the hour, and one about intervals, has nothing of that day: neither its tasks nor its time.
    kept = [task for task in dumps["tasks"] if task.stop.date() > date(2026, 3, 2)]
    assert _by_hour(path)[0] == _counted(kept)
    rows, _ = _asked(path, ["transactions", "interval_seconds"], time="all", where="transactions > 0", by=("applid",))
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
    assert _by_hour(path)[0] == _counted([*kept, *(task for task in new if task.stop.date() > date(2026, 3, 3))])
    # A day later the day itself goes.
    rollups = expire_rollups(Pdb.open(path), today=date(2026, 3, 7))
    assert {(one.level, one.days) for one in rollups} == {("day", ("2026-03-02",)), ("hour", ("2026-03-03",))}
    rows, said = _asked(path, ["transactions"], time="all")
    assert rows[0]["transactions"] == len(kept) + sum(task.stop.date() > date(2026, 3, 3) for task in new)
    assert "2026-03-02" not in said


def test_raw_rows_that_come_back_are_read(rolled: Path, dumps: dict[str, Any], tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    (path / "retention.toml").write_text('raw = "2 days"\nhour = "3 days"', encoding="utf-8")
    expire(Pdb.open(path), today=date(2026, 3, 6))
    expire_rollups(Pdb.open(path), today=date(2026, 3, 6))
    undo(Pdb.open(path))
    assert _days(path) == (["2026-03-03", "2026-03-04"], ["2026-03-02"])
    assert _by_hour(path)[0] == _counted(dumps["tasks"])
    update(Pdb.open(path), least_rows=1)
    assert _days(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])
    assert _by_hour(path) == (_counted(dumps["tasks"]), _by_hour(rolled)[1])


def test_a_day_that_expired_is_selected(rolled: Path, dumps: dict[str, Any], tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    (path / "retention.toml").write_text('raw = "2 days"', encoding="utf-8")
    expire(Pdb.open(path), today=date(2026, 3, 5))
    part = Selection(windows=(between("2026-03-02T10:00+00:00", "2026-03-02T13:00+00:00"),), systems=("SYSA",))
    reader = _readers(path, part)[0]
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
            rows, said = _asked(path, ["transactions", *(["failures"] if fits else [])], time="all")
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


def test_a_damaged_index_is_said_and_kept(rolled: Path, tmp_path: Path) -> None:
    path = shutil.copytree(rolled, tmp_path / "pdb")
    index = path / "rollups" / "cics_transaction" / "index.json"
    index.write_bytes(index.read_bytes()[:-40])
    lost = [done.lost for done in update(Pdb.open(path), least_rows=1) if done.lost]
    assert len(lost) == 1 and "their index is damaged" in lost[0]
    assert list((path / "set-aside" / "rollups" / "cics_transaction-1").glob("2026-03-02-*/day.parquet"))
    assert _days(path) == (["2026-03-02", "2026-03-03", "2026-03-04"], [])


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
    assert _by_hour(path)[0] == _counted(dumps["tasks"])
    assert _days(path)[1] == ["2026-03-02"]
    (path / "retention.toml").write_text('raw = "2 days"', encoding="utf-8")
    expire(pdb, today=date(2026, 3, 5))
    with pytest.raises(UnreadableInputError, match=r"2026-03-02 are missing or cut, and its raw rows have expired"):
        _by_hour(path)
    file.write_bytes(content)
    assert _by_hour(path)[0] == _counted(dumps["tasks"])
