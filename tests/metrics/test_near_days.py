"""Files that cannot have selected rows are left out, and no selected row with them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from plexlens.metrics.selection import Selection, resolve
from plexlens.metrics.selection.raw import of_near_days, selected_sql
from plexlens.metrics.selection.shift import shift
from plexlens.metrics.selection.window import between
from plexlens.pdb import Pdb, ingest
from tests.metrics import accounting_dumps as made

_TABLES = ("smf110_1_performance", "smf101_ifcid3_qwac", "smf_record")

_SELECTIONS = {
    "a day of each system's clock": (Selection(windows=(between("2026-03-04", "2026-03-04"),)), True),
    "hours of UTC": (Selection(windows=(between("2026-03-05T09:00+00:00", "2026-03-05T11:07+00:00"),)), True),
    "minutes around midnight": (
        Selection(windows=(between("2026-03-04T23:40+01:00", "2026-03-05T01:20+01:00"),)),
        True,
    ),
    "from a moment on": (Selection(windows=(between("2026-03-05T12:00", ""),)), True),
    "two windows": (
        Selection(
            windows=(between("2026-03-03", "2026-03-06"), between("2026-03-05T01:00+01:00", "2026-03-05T02:00+01:00"))
        ),
        True,
    ),
    "a shift": (Selection(shifts=(shift("08:00-17:00"),)), False),
    "all days": (Selection(windows=(between("2026-03-01", "2026-03-20"),)), False),
}


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Pdb:
    folder = tmp_path_factory.mktemp("near")
    random = Random(20261130)
    database = Pdb.create(folder / "pdb")
    for day in range(6):
        tasks, threads = made.tasks(random, [day], 60), made.threads(random, [day], 30)
        ingest([made.write_dump(folder / f"day{day}.smf", tasks, threads)], database)
    return database


@pytest.mark.parametrize("name", _SELECTIONS)
def test_the_rows_are_those_of_the_whole_table(pdb: Pdb, name: str) -> None:
    selection, leaves_out = _SELECTIONS[name]
    connection = pdb.connect()
    resolved = resolve(selection, connection, str(Path("pdb")))
    for table in _TABLES:
        near = of_near_days(connection, resolved, table, "memory")
        rows = [
            connection.execute(
                f"select source_id, record_no, count(*) from ({select}) group by all order by all"
            ).fetchall()
            for select in (
                selected_sql(connection, resolved, table, "memory"),
                selected_sql(connection, resolved, table, "memory", whole=near),
            )
        ]
        assert rows[0] == rows[1]
        if table != "smf_record":
            assert rows[0]
            counts = [connection.execute(f"select count(*) from {source}").fetchone() for source in (near, table)]
            assert (counts[0] != counts[1]) is leaves_out
