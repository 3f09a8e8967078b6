"""Facts rolled up beforehand give the answers of the raw rows: whatever is ingested in whatever order, and selected.

What raw rows give is the slow way (`tests.oracle.slow_rollup` checks it in `test_rollup_properties.py`); sums over the
tasks that went in are added up in plain Python as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from plexlens.metrics import GRAINS, even_intervals
from plexlens.metrics import evaluate as evaluation
from plexlens.metrics.rolled import levels, making
from plexlens.metrics.rolled.making import update
from plexlens.metrics.selection import EVERYTHING, Selection
from plexlens.metrics.selection.shift import shift
from plexlens.metrics.selection.window import between
from plexlens.metrics.variants import Plan
from plexlens.pdb import Pdb, ingest
from tests.draws import SOAK
from tests.metrics import accounting_dumps as made
from tests.metrics.rolled.answers import ROLLED, TIMES, differences, readers, same

# `differences` asks more in a soak.
pytestmark = pytest.mark.drawn

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
    used = differences(rolled, name, wheres=(None, "system = 'SYSA'"))
    # Some questions by interval are answered by rows that are added up over the other keys.
    assert answered or "interval by interval" not in used
    if name == "cics_transaction":
        assert used["all by day"] and used["day by day"] and used["hour by hour"] and used["interval by interval"]
        assert not any("raw" in way for way in used)


@pytest.mark.parametrize("selected", SELECTIONS)
@pytest.mark.parametrize("name", ["cics_transaction", "db2_accounting"])
def test_a_part_is_that_of_the_raw_rows(rolled: Path, name: str, selected: str) -> None:
    used = differences(rolled, name, SELECTIONS[selected])
    if selected in ("whole hours", "a shift"):
        assert used["all by hour"]
    if selected == "quarters":
        assert used["all by interval"]
    if selected == "minutes":
        # The days of the bounds are read from raw rows, the others are not.
        assert not any("raw" in way for way in used)


@pytest.mark.parametrize("selected", ["everything", "a class", "quarters"])
def test_names_that_are_too_many_to_be_kept_are_read(
    rolled: Path, monkeypatch: pytest.MonkeyPatch, selected: str
) -> None:
    """Which observers come together is asked of the names of the entities."""
    monkeypatch.setattr(levels, "MOST_ROWS_OF_NAMES", 0)
    conditions = (None, "transaction = 'T001'", "transactions > 2", "not local_time")
    assert differences(rolled, "cics_transaction", SELECTIONS[selected], wheres=conditions)


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
    used = differences(pdb.path, "cics_transaction")
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
                assert all(same(value, expected) for value, expected in zip(one, other, strict=True))


def test_conditions_on_facts_are_asked_of_intervals(rolled: Path) -> None:
    used = differences(rolled, "cics_transaction", wheres=("transactions > 1",))
    assert set(used) == {f"{time} by interval" for time in TIMES}


def test_sums_are_those_of_the_tasks(rolled: Path, dumps: dict[str, Any]) -> None:
    reader, _ = readers(rolled, EVERYTHING)
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
    used = differences(pdb.path, "cics_transaction")
    assert used["hour by interval"] and used["day by interval"]
    assert used["all by day"]


@pytest.mark.parametrize("selected", ["everything", "a class", "a system"])
def test_attributes_are_those_of_the_raw_rows(rolled: Path, selected: str) -> None:
    """Rows that are added up have none, so that the rows by interval give them."""
    grain = GRAINS["cics_transaction"]
    columns = [*(attribute.name for attribute in grain.attributes), "response_time", "transactions_per_second"]
    pair = readers(rolled, SELECTIONS[selected])
    for reader in pair:
        reader.need(grain.name, columns, None)
    data = [reader.data(grain.name) for reader in pair]
    for number, by in enumerate(((), ("system",), ("applid",), ("transaction",), ("applid", "transaction"))):
        for place, time in enumerate(TIMES):
            # In turn, outside of the soak: every grouping and every time is asked with and without a condition.
            for turn, where in enumerate((None, "transaction = 'T001'")):
                if not SOAK and (number + place + turn) % 2:
                    continue
                ours, raw = (
                    reader.rows(one, columns, by=by, time=time, where=where)[0].to_pylist()
                    for reader, one in zip(pair, data, strict=True)
                    if one is not None
                )
                assert len(ours) == len(raw) > 0
                for row, other in zip(ours, raw, strict=True):
                    assert all(same(row[name], value) for name, value in other.items()), (by, time, where)
