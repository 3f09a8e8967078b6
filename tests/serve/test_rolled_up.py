"""The workbench over a database with roll-ups shows what it shows without them."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from plexlens.metrics.query import Query
from plexlens.metrics.rolled.levels import Levels
from plexlens.metrics.rolled.making import update
from plexlens.pdb import Pdb, ingest
from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.metrics import accounting_dumps as made
from tests.serve.client import ask


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rolled")
    held = Pdb.create(folder / "pdb")
    random = Random(5)
    ingest([made.write_dump(folder / "a.smf", made.tasks(random, [0, 1], 30), made.threads(random, [0, 1], 9))], held)
    return held.path


ADDRESSES = (
    "/",
    "/grain/cics_transaction?metric=response_time&by=applid",
    "/grain/cics_transaction?metric=transactions_per_second&by=transaction&where=applid=CICSA1",
    "/grain/cics_transaction?metric=cpu_time&by=transaction&from=2026-03-03T10:00&to=2026-03-03T14:00",
    "/grain/db2_accounting?metric=class1_elapsed_time&by=plan",
)


def test_pages_are_the_same_with_roll_ups_and_without(pdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pages() -> list[str]:
        app = application(Workspace(pdb, "512MiB"), Door(port=8711))
        answers = [ask(app, address) for address in ADDRESSES]
        assert [answer.status for answer in answers] == [200] * len(ADDRESSES)
        return [answer.words for answer in answers]

    raw = pages()
    update(Pdb.open(pdb), least_rows=1)
    asked: list[int] = []
    rows = Levels.rows

    def counted(self: Levels, *args: Any) -> Query:
        asked.append(1)
        return rows(self, *args)

    monkeypatch.setattr(Levels, "rows", counted)
    assert pages() == raw
    assert asked


def test_an_open_server_sees_new_roll_ups(pdb: Path) -> None:
    workspace = Workspace(pdb, "512MiB")
    before = workspace._manifest_stamp()
    shutil.rmtree(Pdb.open(pdb).rollups.folder / "cics_transaction")
    assert workspace._manifest_stamp() != before
    hash(workspace._manifest_stamp())
