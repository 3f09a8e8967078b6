"""Selections that begin or end within a quarter of an hour: tasks and threads one by one, added up by a slow loop."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, Window, resolve, shift
from tests.metrics.raw import inputs, row

START = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
QUARTER = timedelta(minutes=15)
OFFSETS = {"SYS1": 3600.0, "SYS2": -18_000.0, "SYS3": 20_700.0}


def moments(chance: Random) -> list[tuple[str, datetime, datetime]]:
    """System, begin and end of some pieces of work within two hours; one system is idle for the first half hour."""
    made = []
    for system in OFFSETS:
        idle = 1800 if system == "SYS2" else 0
        for _ in range(chance.randint(5, 80)):
            end = START + timedelta(seconds=chance.randint(idle, 7199))
            made.append((system, end - timedelta(seconds=chance.choice([0, 1, 30, 2000])), end))
    return made


def selections(chance: Random, work: list[tuple[str, datetime, datetime]]) -> Selection:
    """A selection of some of the work."""
    while True:
        made = selection_of(chance)
        if any(inside(made, end, OFFSETS[system]) for system, _, end in work):
            return made


def selection_of(chance: Random) -> Selection:
    """Bounds at whole seconds, minutes apart, on local clocks or by an offset; or a shift."""
    first = chance.randrange(6900)
    last = first + chance.randint(180, 5000)
    if chance.random() < 0.3:
        hours = sorted(chance.sample(range(24 * 60), 2))
        return Selection(shifts=(shift("-".join(f"{minute // 60:02}:{minute % 60:02}" for minute in hours)),))
    if chance.random() < 0.5:
        zone = timezone(timedelta(hours=2))
        return Selection((Window(*((START + timedelta(seconds=at)).astimezone(zone) for at in (first, last))),))
    wall = START.replace(tzinfo=None) + timedelta(hours=1)
    return Selection((Window(*(wall + timedelta(seconds=at) for at in (first, last))),))


def inside(selection: Selection, moment: datetime, offset: float) -> bool:
    """Whether a moment is selected, by the clock of its system."""
    local = moment.replace(tzinfo=None) + timedelta(seconds=offset)
    for one in selection.windows:
        for bound, is_start in ((one.start, True), (one.end, False)):
            assert bound is not None
            at = moment if bound.tzinfo is not None else local
            if at < bound if is_start else at >= bound:
                return False
    week = (local.weekday() * 24 + local.hour) * 3600 + local.minute * 60 + local.second
    return not selection.shifts or any(a <= week < b for one in selection.shifts for a, b in one.spans)


def covered(selection: Selection, ends: list[datetime], reach: tuple[datetime, datetime], offset: float) -> float:
    """Seconds of those parts of quarters in which work ended: second by second, as far as the records reach.

    A part ends where the quarter does, or where the selection begins or ends.
    """
    seconds, part, worked = 0.0, 0, False
    at, stop = START, START + timedelta(hours=2)
    finished = set(ends)
    was = None
    while at <= stop:
        now = inside(selection, at, offset)
        if now is not was or (at - START) % QUARTER == timedelta():
            seconds += part if worked else 0
            part, worked, was = 0, False, now
        if now:
            part += reach[0] <= at < reach[1]
            worked |= at in finished
        at += timedelta(seconds=1)
    return seconds + (part if worked else 0)


@pytest.mark.parametrize("seed", range(12))
def test_tasks_of_a_part_of_a_quarter(seed: int) -> None:
    chance = Random(seed)
    work = moments(chance)
    selection = selections(chance, work)
    made: list[dict[str, Any]] = [
        row(number, system=system, subsystem="CICSA", utc_offset=OFFSETS[system], interval_start=None, interval_end=end)
        | {"start": begin, "stop": end, "tran": "PAY1", "rtype": "T", "usrcput_seconds": 0.5}
        for number, (system, begin, end) in enumerate(work, 1)
    ]
    raw = inputs(smf110_1_performance=made)
    chosen = Inputs(raw.connection, resolve(selection, raw.connection, "x"))
    found = {line["system"]: line for line in rolled_up(chosen, GRAINS["cics_transaction"], by=["system"], time="all")}
    expected = {}
    for system, offset in OFFSETS.items():
        ends = [end for name, _, end in work if name == system]
        reach = min(begin for name, begin, _ in work if name == system), max(ends)
        selected = [end for end in ends if inside(selection, end, offset)]
        if selected:
            expected[system] = len(selected), covered(selection, selected, reach, offset)
    assert found.keys() == expected.keys()
    for system, (count, seconds) in expected.items():
        assert found[system]["transactions"] == count
        assert found[system]["cpu_seconds"] == pytest.approx(0.5 * count)
        assert found[system]["interval_seconds"] == pytest.approx(seconds)


@pytest.mark.parametrize("seed", range(12, 20))
@pytest.mark.parametrize("grain", ["db2_accounting", "db2_accounting_sharing", "db2_accounting_pool", "db2_package"])
def test_threads_of_a_part_of_a_quarter(grain: str, seed: int) -> None:
    chance = Random(seed)
    work = moments(chance)
    selection = selections(chance, work)
    table, fields, count = {
        "db2_accounting": ("smf101_ifcid3_qwac", {"qwaccomm": 1.0}, "commits"),
        "db2_accounting_sharing": ("smf101_ifcid3_qwac", {"qwaccomm": 1.0}, "commits"),
        "db2_accounting_pool": ("smf101_ifcid3_qbac", {"qbacpid": 1.0, "qbacget": 1.0}, "getpages"),
        "db2_package": ("smf101_ifcid239_qpac", {"qpacpkid": "P", "qpacsqlc": 1.0}, "sql_statements"),
    }[grain]
    made = [
        row(number, system=system, subsystem="DB2A", utc_offset=OFFSETS[system], interval_start=None, interval_end=end)
        | fields
        for number, (system, _, end) in enumerate(work, 1)
    ]
    raw = inputs(**{table: made})
    chosen = Inputs(raw.connection, resolve(selection, raw.connection, "x"))
    found = {line["system"]: line[count] for line in rolled_up(chosen, GRAINS[grain], by=["system"], time="all")}
    expected = {
        system: number
        for system, offset in OFFSETS.items()
        if (number := sum(name == system and inside(selection, end, offset) for name, _, end in work))
    }
    assert found == expected
