"""The time that observers cover together, told once for each set of observers, against a slow and obvious account."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from plexlens.metrics.covered_by_sets import covered_by_sets
from plexlens.metrics.over_time import MOMENTS
from plexlens.pdb.engine import connect
from tests.draws import SOAK

#: Who observed, local or not, start, end and told length of an interval in seconds.
Interval = tuple[str, bool, float, float, float]


def _slow(intervals: list[Interval], observers: set[str]) -> float:
    """Each interval in the order of its start: what no earlier one has covered counts, as a share of its length."""
    total = 0.0
    for is_local in (False, True):
        until = None
        own = [each for each in intervals if each[0] in observers and each[1] is is_local]
        for _, _, start, end, length in sorted(own, key=lambda each: (each[2], each[3], -each[4])):
            # A moment's overlap is that of clocks.
            begin = start if until is None or until - start <= MOMENTS else until
            total += length * (max(0.0, end - begin) / (end - start) if end > start else 1.0)
            until = end if until is None else max(until, end)
    return total


def _in_common(chance: Random) -> list[Interval]:
    """Intervals of five observers, most of which all have: some miss one, begin later, or have a shorter one."""
    intervals: list[Interval] = []
    for name in "ABCDE":
        for start in range(0, 54_000, 900):
            late = chance.choice((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 300.0))
            if chance.random() < 0.95:
                told = 900.0 if chance.random() < 0.97 else 450.0
                intervals.append((name, False, start + late, start + 900.0, told - late))
            if chance.random() < 0.03:
                intervals.append((name, False, start + 100.0, start + 101.0, 1.0))
    return intervals


def _in_part(chance: Random) -> list[Interval]:
    """Intervals of more observers than a whole number has bits: each is idle half of the time, some begin late."""
    intervals: list[Interval] = []
    for name in (f"R{number:03}" for number in range(120)):
        for start in range(0, 9000, 900):
            late = 300.0 if chance.random() < 0.002 else 0.0
            if chance.random() < 0.5:
                intervals.append((name, False, start + late, start + 900.0, 900.0 - late))
    return intervals


def _drawn(chance: Random) -> list[Interval]:
    """Intervals of five observers: common ones, their own, short ones, overlapping ones, one without a length."""
    intervals: list[Interval] = []
    for name in "ABCDE":
        start = 0.0
        while start < 5000:
            length = chance.choice((900.0, 900.0, 900.0, 1.5, 320.0, 0.0))
            if name in "AB":
                length = 900.0
            told = length if chance.random() < 0.8 else length / 2
            intervals.append((name, name == "E", start, start + length, told))
            start += max(length, 1.0) if chance.random() < 0.9 else length / 2 + 1
    return intervals


@pytest.mark.drawn
@pytest.mark.parametrize("alike_first", [False, True])
@pytest.mark.parametrize("draw", [_drawn, _in_common, _in_part])
@pytest.mark.parametrize("seed", range(200 if SOAK else 6))
def test_each_group_has_the_time_of_its_observers(
    seed: int, draw: Callable[[Random], list[Interval]], *, alike_first: bool
) -> None:
    chance = Random(seed)
    intervals = draw(chance)
    names = sorted({name for name, *_ in intervals})
    groups = {f"T{number}": set(chance.sample(names, chance.randint(1, 5))) for number in range(12)}
    connection = connect()
    connection.execute(
        "create table every (who varchar, local_time boolean, starts timestamptz, ends timestamptz, length double, "
        "interval bigint, interval_to bigint)"
    )
    for number, (name, is_local, start, end, length) in enumerate(intervals):
        connection.execute(
            "insert into every values (?, ?, to_timestamp(?), to_timestamp(?), ?, ?, ?)",
            # Intervals are named by the quarter of an hour that they are in; of some others, by their number.
            [
                name,
                is_local,
                start,
                end,
                length,
                *((start // 900, start // 900 + 1) if end > start + 2 else (-number, 0)),
            ],
        )
    connection.execute('create table measured ("transaction" varchar, who varchar)')
    rows = [[group, name] for group, names in groups.items() for name in names]
    connection.executemany("insert into measured values (?, ?)", rows * 2)
    steps = covered_by_sets(['"transaction"'], [], "who", alike_first=alike_first)
    listed = ", ".join(f"{name} as ({sql})" for name, sql in steps.items())
    answer = dict(connection.execute(f"with {listed} select * from together_whole").fetchall())
    if alike_first and draw is not _drawn:
        row = connection.execute(
            f"with {listed} select count(*) filter (where is_of_all), count(*) filter (where not is_of_all) from alike"
        ).fetchone()
        assert row is not None
        assert 0 < row[draw is _in_part] < 60
    assert answer == pytest.approx({group: _slow(intervals, names) for group, names in groups.items()}, rel=1e-12)


@pytest.mark.parametrize("alike_first", [False, True])
def test_two_regions_that_follow_each_other(*, alike_first: bool) -> None:
    # A: 00:00 to 00:15 and 00:15 to 00:30; B: 00:15 to 00:30 and 00:30 to 00:45. Together 45 minutes, A alone 30.
    intervals = [("A", 0, 900), ("A", 900, 1800), ("B", 900, 1800), ("B", 1800, 2700)]
    connection = connect()
    values = ", ".join(
        f"('{name}', false, to_timestamp({start}), to_timestamp({end}), 900.0, {start}, {end})"
        for name, start, end in intervals
    )
    connection.execute(
        f"create table every as select * from (values {values}) "
        "t(who, local_time, starts, ends, length, interval, interval_to)"
    )
    connection.execute(
        "create table measured as select * from (values ('both', 'A'), ('both', 'B'), ('first', 'A')) t(job, who)"
    )
    steps = covered_by_sets(["job"], [], "who", alike_first=alike_first)
    listed = ", ".join(f"{name} as ({sql})" for name, sql in steps.items())
    rows = connection.execute(f"with {listed} select * from together order by job").fetchall()
    assert rows == [("both", 2700.0), ("first", 1800.0)]
