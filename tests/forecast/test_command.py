"""`plexlens forecast` on six weeks of SMF 70-1 made row by row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.cost.day import write_day

#: Peak of each weekday in MSU, from Saturday on; the first day is a Sunday.
PEAKS = (30.0, 20.0, 80.0, 90.0, 85.0, 95.0, 100.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six weeks of intervals of an hour, with the peak of the day at one of them."""
    folder = tmp_path_factory.mktemp("forecast")
    # Minutes from 20:00 UTC, 22:00 on the clock: the first day begins 120 minutes later.
    intervals = [
        (120 + day * 1440 + hour * 60, 60, PEAKS[(day + 1) % 7] if hour == 10 else 10.0, 10.0)
        for day in range(42)
        for hour in range(24)
    ]
    write_day(folder / "weeks.smf", intervals, ipl=False)
    assert run("ingest", "weeks.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder


def test_weeks_that_repeat_are_forecast_by_last_week(folder: Path) -> None:
    done = run("forecast", "pdb", "--days", "14", "--what", "cpu", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    series = {one["name"]: one for one in json.loads(done.stdout)["series"]}
    sya = series["SYA"]
    # A processor has 100 MSU, so the highest hour of a day keeps PEAKS / 100 processors busy.
    assert sya["values"][6:34] == pytest.approx([peak / 100 for peak in PEAKS] * 4)
    assert (sya["model"], sya["better_than_last_week"]) == ("last week", False)
    assert sya["errors"]["last week"] == pytest.approx(0.0, abs=1e-9)
    order = [PEAKS[(len(sya["values"]) + 1 + day) % 7] / 100 for day in range(14)]
    assert sya["forecast"] == pytest.approx(order)
    assert sya["low"] == pytest.approx(order)


def test_msu_are_the_four_hour_average(folder: Path) -> None:
    done = run("forecast", "pdb", "--what", "msu", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (machine,) = json.loads(done.stdout)["series"]
    # In the hour after the peak all of its 12 periods are in the four hours, and 36 of 10 MSU; SYB has 10.
    third = PEAKS[3]
    assert machine["values"][2] == pytest.approx((12 * third + 36 * 10) / 48 + 10)


def test_the_page_says_what_did_no_better(folder: Path) -> None:
    done = run("forecast", "pdb", "--days", "7", cwd=folder)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "weekday and trend did no better than last week's value, which is used" in text
    assert run("forecast", "pdb", "-o", "forecast.html", cwd=folder).returncode == 0


def test_wrong_use(folder: Path) -> None:
    done = run("forecast", "pdb", "--from", "2026-10-26", "--to", "2026-10-28", cwd=folder)
    assert done.returncode == 4
    assert "a forecast needs a week" in done.stderr
    assert run("forecast", "pdb", "--days", "0", cwd=folder).returncode == 2
    assert run("forecast", "pdb", "--what", "tape", cwd=folder).returncode == 2
    assert run("forecast", "pdb", "--what", "dasd", cwd=folder).returncode == 4
