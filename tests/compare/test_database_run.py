"""Runs of performance databases: values by hand, spread against a slow twin, windows, what is missing."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from plexlens.compare.comparison.comparison import Comparison, compare
from plexlens.compare.runs.database_run import database_run
from plexlens.compare.runs.deltas import Judgement
from plexlens.compare.runs.run import Run
from plexlens.compare.runs.subjects import SUBJECTS
from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, Window, resolve, window
from plexlens.pdb import Pdb, ingest
from tests.compare.db2_series import Interval, write_series

#: Pool 1: getpages, synchronous reads, sequential getpages, updates, pages written, of twelve minutes each.
READS_BEFORE = (620, 640, 580, 610, 600, 630, 590, 650, 605, 615, 625, 595)
READS_AFTER = (480, 500, 470, 510, 490, 505, 485, 495, 475, 515, 488, 492)


def minutes(reads: tuple[int, ...], getpages: int = 60_000) -> list[Interval]:
    return [{1: (getpages, number, 6_000, 1_200, 300), 2: (getpages // 2, 60, 0, 0, 0)} for number in reads]


def inputs_of(path: Path, *dumps: Path) -> Inputs:
    pdb = Pdb.create(path)
    ingest(dumps, pdb)
    return Inputs(pdb.connect())


def selected(inputs: Inputs, time: str) -> Inputs:
    return Inputs(inputs.connection, resolve(Selection((window(time),)), inputs.connection, "x"))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    folder = tmp_path_factory.mktemp("before")
    return inputs_of(folder / "pdb", write_series(folder / "d.smf", minutes(READS_BEFORE)))


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    folder = tmp_path_factory.mktemp("after")
    return inputs_of(folder / "pdb", write_series(folder / "d.smf", minutes(READS_AFTER), hours=24, size=2000))


@pytest.fixture(scope="module")
def made(before: Inputs, after: Inputs) -> Comparison:
    return compare(database_run(before, "before"), database_run(after, "after"))


def reads_of(run: Run, pool: str) -> Any:
    return run.readings["db2_pool.read_ios_per_second", f"DB1A / {pool}"]


def test_everything_that_is_compared_is_defined() -> None:
    """Each column, key, setting and fact that a subject names is of its grain."""
    for subject in SUBJECTS:
        grain = GRAINS[subject.grain]
        named = {*(one.name for one in grain.keys), *(one.name for one in grain.attributes), "system", "sysplex"}
        for name in (*(one.column for one in subject.columns), *subject.parts, subject.weight):
            grain.column(name)
        for work in subject.work:
            assert {*work.facts} <= {fact.name for fact in grain.facts}, (subject.grain, work)
        assert set(subject.by) <= named, subject.grain
        for name in subject.settings:
            assert name in named or grain.column(name)


def test_values_by_hand(made: Comparison) -> None:
    """7,360 reads in twelve minutes are 10.2222/s; with 60/min of the other pool 11.2222/s of both."""
    assert reads_of(made.base, "BP1").value == pytest.approx(sum(READS_BEFORE) / 720)
    both = made.base.readings["db2_pool.read_ios_per_second", ""]
    assert both.value == pytest.approx((sum(READS_BEFORE) + 720) / 720)
    found = {(one.measure.id, one.object_name): one for one in made.deltas}
    change = found["db2_pool.read_ios_per_second", "DB1A / BP1"]
    assert change.difference == pytest.approx((sum(READS_AFTER) - sum(READS_BEFORE)) / 720)
    assert change.judgement is Judgement.BETTER
    assert found["db2_pool.read_ios_per_second", "DB1A / BP2"].judgement is Judgement.SAME


def test_the_same_work_is_comparable_and_the_size_is_a_difference(made: Comparison) -> None:
    assert made.comparability.comparable, made.comparability.verdict
    sizes = [(one.subject, one.base, one.new) for one in made.environments.differences if one.name == "Pool size"]
    assert sizes == [
        ("Db2 buffer pools: DB1A / BP1", "1,000 pages", "2,000 pages"),
        ("Db2 buffer pools: DB1A / BP2", "1,000 pages", "2,000 pages"),
    ]


def test_the_interval_is_welch_s_of_pairs_of_minutes(made: Comparison) -> None:
    """Twelve intervals make six groups of two; of a rate over equal minutes that is a t test of the pairs' means."""
    pairs = [
        [(first + second) / 120 for first, second in zip(reads[::2], reads[1::2], strict=True)]
        for reads in (READS_BEFORE, READS_AFTER)
    ]
    (found,) = [
        one
        for one in made.deltas
        if (one.measure.id, one.object_name) == ("db2_pool.read_ios_per_second", "DB1A / BP1")
    ]
    twin = stats.ttest_ind(pairs[1], pairs[0], equal_var=False).confidence_interval(0.95)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (pytest.approx(twin.low), pytest.approx(twin.high))
    assert "Welch" in made.method


def test_the_spread_of_a_ratio_leaves_out_groups_of_facts(made: Comparison) -> None:
    """Hit ratio of both pools: 1 - reads / getpages, worked out without each pair of minutes, the slow way."""
    getpages, reads = 90_000, [number + 60 for number in READS_BEFORE]
    without = []
    for at in range(0, 12, 2):
        rest = reads[:at] + reads[at + 2 :]
        without.append(1 - sum(rest) / (getpages * 10))
    middle = sum(without) / 6
    error = (5 / 6 * sum((one - middle) ** 2 for one in without)) ** 0.5
    found = made.base.readings["db2_pool.hit_fraction", ""].estimate
    assert found is not None
    assert found.error == pytest.approx(error, rel=1e-6)
    assert (found.count, found.groups, found.freedom) == (12, 6, 5)


def test_a_database_against_itself(before: Inputs) -> None:
    run = database_run(before, "x")
    made = compare(run, run)
    assert made.comparability.comparable
    assert {one.judgement for one in made.deltas} == {Judgement.SAME}
    assert made.environments.differences == ()


def test_turned_round_ratios_are_inverse(made: Comparison) -> None:
    back = {(one.measure.id, one.object_name): one for one in compare(made.new, made.base).deltas}
    for one in made.deltas:
        if one.ratio:
            assert back[one.measure.id, one.object_name].ratio == pytest.approx(1 / one.ratio)


def test_a_single_interval_says_that_it_has_no_confidence(tmp_path: Path) -> None:
    inputs = inputs_of(tmp_path / "pdb", write_series(tmp_path / "d.smf", minutes((600,))))
    run = database_run(inputs, "x")
    made = compare(run, run)
    assert all(one.interval is None for one in made.deltas)
    assert "no confidence interval" in made.method
    assert "one interval" in run.description


def test_the_load_s_part_of_a_change(before: Inputs, tmp_path: Path) -> None:
    """Twenty percent more getpages of pool 1 with the same reads per getpage: the load is all of the change."""
    busier = [{1: (72_000, reads * 12 // 10, 7_200, 1_440, 360), 2: (30_000, 60, 0, 0, 0)} for reads in READS_BEFORE]
    inputs = inputs_of(tmp_path / "pdb", write_series(tmp_path / "d.smf", busier))
    made = compare(database_run(before, "before"), database_run(inputs, "busier"))
    assert not made.comparability.comparable
    assert "the rate of getpages is 13.3 % higher" in made.comparability.verdict
    (load,) = made.loads
    assert load.change == pytest.approx(0.2 * sum(READS_BEFORE) / 720)
    assert load.load == pytest.approx(load.change)
    assert load.rest == pytest.approx(0, abs=1e-9)
    assert "The load explains 100 % of the change." in load.text


def test_a_window_takes_local_time(before: Inputs) -> None:
    """Records begin at 08:00 UTC, an hour ahead local: minutes three to six begin at 09:02 to 09:05."""
    run = database_run(selected(before, "2026-03-02T09:02..2026-03-02T09:06"), "x")
    assert reads_of(run, "BP1").value == pytest.approx(sum(READS_BEFORE[2:6]) / 240)
    assert run.intervals["Db2 buffer pools"] == 4
    assert "2 March 2026 09:02 to 2 March 2026 09:06 local time" in run.description


def test_nothing_in_the_window(before: Inputs) -> None:
    with pytest.raises(NothingUsableError, match=r"x: nothing matches 2001-01-01 00:00 to 2001-01-02 00:00"):
        selected(before, "2001-01-01")


def test_an_empty_database(tmp_path: Path) -> None:
    with pytest.raises(NothingUsableError, match=r"x: it contains no numbers that can be compared; name a database"):
        database_run(Inputs(Pdb.create(tmp_path / "pdb").connect()), "x")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2008-09-03", (2008, 9, 3), (2008, 9, 4)),
        ("2008-09-03T17:00..2008-09-03T18:30", (2008, 9, 3, 17), (2008, 9, 3, 18, 30)),
        ("2008-09-03..2008-09-04", (2008, 9, 3), (2008, 9, 5)),
        ("..2008-09-04", None, (2008, 9, 5)),
        ("2008-09-03T12:00..", (2008, 9, 3, 12), None),
    ],
)
def test_windows(text: str, start: tuple[int, ...] | None, end: tuple[int, ...] | None) -> None:
    def moment(parts: tuple[int, ...] | None) -> datetime | None:
        return None if parts is None else datetime(*parts)  # type: ignore[misc, arg-type]

    assert window(text) == Window(moment(start), moment(end))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yesterday", r"'yesterday'.*is not a time"),
        ("2008-09-03T17:00", r"is a moment, and a range of time is needed"),
        ("2008-09-04..2008-09-01", r"ends before it starts"),
    ],
)
def test_windows_that_mean_nothing(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        window(text)
