"""The records behind a number of some hours of a database of several days, against the tasks that went in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from starlette.types import ASGIApp

from plexlens.pdb import Pdb, ingest
from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.metrics import accounting_dumps as made
from tests.serve.client import ask

#: A region that works on the last day alone.
_LATE = (("SYSB", 3600.0, "CICSLATE", (0, 24)),)


@pytest.fixture(scope="module")
def tasks() -> list[list[made.Task]]:
    random = Random(16)
    days = [made.tasks(random, [day], 60) for day in range(6)]
    return [*days[:5], [*days[5], *made.tasks(random, [5], 20, _LATE)]]


@pytest.fixture(scope="module")
def app(tasks: list[list[made.Task]], tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    folder = tmp_path_factory.mktemp("days")
    database = Pdb.create(folder / "pdb")
    for day, listed in enumerate(tasks):
        ingest([made.write_dump(folder / f"day{day}.smf", listed)], database)
    return application(Workspace(Path(database.path), "512MiB"), Door(port=8711))


def _ended(tasks: Sequence[made.Task], first: str, last: str, region: str) -> int:
    """Tasks of a region that ended between two moments of its clock."""
    start, end = datetime.fromisoformat(first), datetime.fromisoformat(last)
    ends = [task.stop.replace(tzinfo=None) + timedelta(seconds=task.offset) for task in tasks if task.region == region]
    return sum(start <= moment < end for moment in ends)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-03-04T10:00", "2026-03-04T14:00"),
        ("2026-03-04T23:00", "2026-03-05T02:00"),
        ("2026-03-03T00:00", "2026-03-06T00:00"),
    ],
)
def test_the_records_are_those_of_the_tasks(app: ASGIApp, tasks: list[list[made.Task]], first: str, last: str) -> None:
    whole = [task for day in tasks for task in day]
    answer = ask(app, f"/records/cics_transaction?where=applid=CICSA1&from={first}&to={last}")
    assert answer.status == 200
    count = _ended(whole, first, last, "CICSA1")
    assert count > 5
    assert answer.page.xpath("string(//p[@class='period'])") == f"{count:,} rows"
    assert "Only rows with applid CICSA1." in answer.words
    assert len(answer.page.xpath("//*[@id='table-records']//tbody/tr")) == min(count, 50)
    # Each row has the place of its record in the dump.
    assert "Byte offset" in answer.words


def test_a_value_of_another_day_restricts_the_records(app: ASGIApp) -> None:
    answer = ask(app, "/records/cics_transaction?where=applid=CICSLATE&from=2026-03-03T10:00&to=2026-03-03T12:00")
    assert answer.page.xpath("string(//p[@class='period'])") == "0 rows"
    assert "Only rows with applid CICSLATE." in answer.words


def test_a_value_of_no_record_does_not(app: ASGIApp) -> None:
    answer = ask(app, "/records/cics_transaction?where=applid=NOBODY&from=2026-03-03T10:00&to=2026-03-03T12:00")
    assert "Not restricted by applid NOBODY" in answer.words
