"""A database of accounting records with roll-ups, for tests that copy what they change."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from plexlens.metrics.definition import Grain
from plexlens.metrics.rolled import making
from plexlens.metrics.rolled.making import update
from plexlens.metrics.rolled.rule import reason
from plexlens.pdb import Pdb, ingest
from tests.metrics import accounting_dumps as made


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package")
def rolled(dumps: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose roll-ups followed every ingest."""
    pdb = Pdb.create(tmp_path_factory.mktemp("rolled") / "pdb")
    with pytest.MonkeyPatch.context() as patch:
        # Of so few tasks, rows that are added up over keys are hardly fewer.
        patch.setattr(making, "MOST_SUMMED", 1.0)
        # The last day, days before it, late records of days that are there, records that are there.
        first, second, third = dumps["paths"]
        for paths in ([third], [first, second], [dumps["late"]], [dumps["both"]]):
            ingest(paths, pdb)
            update(pdb, least_rows=1)
    return pdb.path


#: The grains that `two_grains` leaves.
TWO = ("cics_transaction", "db2_accounting")


@pytest.fixture
def two_grains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates make the roll-ups of transactions and of Db2's accounting alone: the other grains take the same steps."""

    def reason_here(grain: Grain) -> str:
        return reason(grain) or ("" if grain.name in TWO else "not asked here")

    monkeypatch.setattr(making, "reason", reason_here)
