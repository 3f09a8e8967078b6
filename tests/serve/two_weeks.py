"""A database of two weeks: the example, and fifteen minutes of each of fourteen days of a simulated sysplex.

The days are those of `scenarios/three-members.toml` at a sixth of its load. On the last one, 22 times as many payments
come in from 14:10 to 14:15, and wait for each other: what an analyst is asked to explain.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import tomli

import plexlens as px
from plexlens.pdb import Pdb, ingest
from plexlens.simulate.dump import write_smf
from plexlens.simulate.scenario import Scenario, Simulated, beginning, run_scenario
from tests.conftest import REPOSITORY
from tests.example_file import write_example

#: Start of the first day's intervals, days, and the length of an interval in seconds.
FIRST, DAYS, INTERVAL = datetime(2026, 1, 5, 14, tzinfo=UTC), 14, 300

#: The last day, on which there is trouble from 14:10 on.
LAST = FIRST + timedelta(days=DAYS - 1)


def write_two_weeks(folder: Path) -> Path:
    """Write the dumps into a folder, and a database of them.

    Parameters
    ----------
    folder
        An empty folder.

    Returns
    -------
    Path
        The database.
    """
    write_example(folder / "example.smf")
    for number in range(DAYS):
        run = run_scenario(_scenario(number, is_last=number == DAYS - 1))
        write_smf(_on_day(run, number), folder / f"day-{number + 1:02d}.smf")
    list(ingest(sorted(folder.glob("*.smf")), Pdb.create(folder / "pdb")))
    _check_days(folder / "pdb")
    return folder / "pdb"


def _check_days(pdb: Path) -> None:
    """Each system of the sysplex has the three intervals of each day, and no others."""
    query = "select system, epoch(interval_start) as at from smf70_1_cpu_control where interval_start >= '2026-01-01'"
    with px.open(pdb) as database:
        rows = database.sql(query).arrow().to_pylist()
    wanted = {
        (FIRST + timedelta(days=day, seconds=INTERVAL * number)).timestamp()
        for day in range(DAYS)
        for number in range(3)
    }
    assert {row["system"] for row in rows} == {"SYSA", "SYSB", "SYSC"}
    for system in ("SYSA", "SYSB", "SYSC"):
        assert sorted(row["at"] for row in rows if row["system"] == system) == sorted(wanted)


def _on_day(run: Simulated, number: int) -> Simulated:
    """A run as if on a later day: the simulator itself begins on the first one."""
    values = run.scenario.values
    begin = values["run"]["begin"] + number * 86_400.0
    moved = replace(run, scenario=replace(run.scenario, values=values | {"run": values["run"] | {"begin": begin}}))
    assert beginning(moved.scenario.values) == FIRST + timedelta(days=number)
    return moved


def _scenario(number: int, *, is_last: bool) -> Scenario:
    values: dict[str, Any] = tomli.loads((REPOSITORY / "scenarios" / "three-members.toml").read_text())
    values["run"] = {
        "seed": number + 1,
        "warm_up": 30.0,
        "begin": FIRST.hour * 3600.0,
        "seconds": 3.0 * INTERVAL,
        "interval": float(INTERVAL),
    }
    for one in values["class"]:
        if "rate" in one:
            one["rate"] /= 6
        if one["name"] == "PAY":
            # A longer program in its region: the queue for the QR TCB is felt.
            one |= {"goal": 0.013, "cpu": 0.007}
            if is_last:
                one["profile"] = [{"from": 0.0, "factor": 1.0}, {"from": 2.0 * INTERVAL, "factor": 22.0}]
        elif one["name"] == "INQUIRE":
            one["goal"] = 0.05
    return Scenario("", values)
