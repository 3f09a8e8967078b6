"""`plexlens changes` on six weeks of SMF 70-1 made row by row, with planted changes and a clock put back."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openpyxl import load_workbook

from tests.cli.command import run
from tests.cost.day import START, write_day

#: Load of each hour of a workday, as a share of 60 MSU.
HOURS = (*(0.3,) * 6, 0.5, 0.8, 1.0, 1.0, 1.0, 0.9, 0.9, 1.0, 1.0, 1.0, 0.9, 0.8, 0.6, 0.5, 0.5, 0.4, 0.4, 0.3)
DAYS = 42

#: From 17 November 10:00 on the clock (UTC+1 by then) SYA has half as much again.
SHIFT = datetime(2026, 11, 17, 9, 0, tzinfo=UTC)

#: On 11 November from 13:00 to 15:00 SYA has twice its load.
ODD = datetime(2026, 11, 11, 12, 0, tzinfo=UTC)

#: A gap: no records on 5 November from 00:00 to 02:00.
GAP = datetime(2026, 11, 4, 23, 0, tzinfo=UTC)


def _minutes(moment: datetime) -> int:
    return int((moment - START).total_seconds() // 60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six weeks of quarter-hours: SYA has the load and the changes, SYB is constant."""
    folder = tmp_path_factory.mktemp("changes")
    generator = np.random.default_rng(11)
    days = 1 + 0.02 * generator.normal(size=DAYS + 2)
    intervals = []
    for number in range(DAYS * 96):
        begin = START + timedelta(minutes=15 * number)
        if GAP <= begin < GAP + timedelta(hours=2):
            continue
        local = begin + timedelta(hours=2 if begin < datetime(2026, 10, 25, 1, tzinfo=UTC) else 1)
        load = 60 * HOURS[local.hour] * (0.4 if local.weekday() >= 5 else 1.0)
        load *= float(days[(local.date() - START.date()).days] * (1 + 0.04 * generator.normal()))
        load *= 1.5 if begin >= SHIFT else 1.0
        load *= 2.0 if ODD <= begin < ODD + timedelta(hours=2) else 1.0
        intervals.append((15 * number, 15, load, 30.0))
    write_day(folder / "weeks.smf", intervals, ipl=False)
    assert run("ingest", "weeks.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def answer(folder: Path) -> dict[str, Any]:
    """The changes of processors used."""
    done = run("changes", "pdb", "--metric", "cpu_system.processors_used", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_the_planted_changes_are_found_and_nothing_else(answer: dict[str, Any]) -> None:
    found = {(change["object"]["system"], change["kind"]): change for change in answer["changes"]}
    assert set(found) == {("SYA", "level shift"), ("SYA", "odd hours")}
    assert len(answer["changes"]) == 2
    shift = found["SYA", "level shift"]
    # The clock is an hour ahead of UTC in November. The place is that of the least error, within an hour.
    assert abs(datetime.fromisoformat(shift["start"]) - datetime(2026, 11, 17, 10, 0)) <= timedelta(hours=1)
    assert shift["change"] == pytest.approx(0.5, abs=0.06)
    odd = found["SYA", "odd hours"]
    assert (odd["start"], odd["end"]) == ("2026-11-11T13:00:00", "2026-11-11T15:00:00")
    # 100 MSU are a processor: at the peak 60 x 1.0 MSU are usual, and twice that is measured.
    assert odd["before"] == pytest.approx(0.60, rel=0.1)
    assert odd["after"] == pytest.approx(1.20, rel=0.15)


def test_what_was_not_tested_is_counted(answer: dict[str, Any]) -> None:
    assert answer["series"] == 2
    assert answer["not_tested"] == {"constant": 1}
    assert answer["tests"] == {"days": 1, "hours": 1, "level": 1}
    # The gap of two hours.
    assert (answer["missing_intervals"], answer["series_with_missing_intervals"]) == (8, 1)
    # The clock was put back at 01:00 UTC on 25 October: each of two systems has four quarter-hours twice.
    assert answer["clock_changes"] == ["cpu_system"]
    assert answer["repeated_slots"] == 8


def test_each_form_has_the_changes(folder: Path) -> None:
    words = ("changes", "pdb", "--metric", "cpu_system.processors_used")
    done = run(*words, cwd=folder)
    text = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert "2 changes in 1 series" in text
    assert "2026-11-17 10:00" in text
    where = "system = 'SYA' and sysplex = 'PLEX' and processor_type = 'CP'"
    assert f'why pdb --metric cpu_system.processors_used --at 2026-11-18..2026-11-24 --where "{where}"' in text
    for name in ("page.html", "tables.zip", "book.xlsx", "rows.csv"):
        assert run(*words, "-o", name, cwd=folder).returncode == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 2
    with (folder / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {(row["block"], row["column"]): row["value"] for row in csv.DictReader(file)}
    assert rows["level_shift", "start"] == "2026-11-17T10:00:00"
    assert rows["odd_hours", "end"] == "2026-11-11T15:00:00"
    assert float(rows["odd_hours", "change"]) == pytest.approx(1.0, abs=0.1)
    sheets = load_workbook(folder / "book.xlsx").sheetnames
    assert {"days", "level_shift", "odd_hours", "course_0", "course_1"} <= set(sheets)


def test_the_command_under_next_takes_the_shift_apart(folder: Path) -> None:
    where = "system = 'SYA' and sysplex = 'PLEX' and processor_type = 'CP'"
    period = ("--at", "2026-11-18..2026-11-24", "--where", where, "--no-findings", "--json")
    done = run("why", "pdb", "--metric", "cpu_system.processors_used", *period, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "2026-11-11" in json.dumps(found)


def test_wrong_use(folder: Path) -> None:
    short = run("changes", "pdb", "--from", "2026-11-01", "--to", "2026-11-10", cwd=folder)
    assert short.returncode == 4
    assert "the longest series has 10 whole days; changes need two weeks" in short.stderr
    for metric, said in (("processors_used", "GRAIN.NAME"), ("cpu_system.nothing", "no metric or fact 'nothing'")):
        wrong = run("changes", "pdb", "--metric", metric, cwd=folder)
        assert wrong.returncode == 2
        assert said in wrong.stderr
    absent = run("changes", "pdb", "--metric", "dasd_device.io_rate", cwd=folder)
    assert absent.returncode == 4
    assert "dasd_device: it has no rows" in absent.stderr
    assert run("changes", "pdb", "--rate", "0.9", cwd=folder).returncode == 2
