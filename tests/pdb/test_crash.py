"""Killed at any point, a PDB opens and holds all of a dump or none of it."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plexlens.pdb import Pdb, ingest
from plexlens.pdb.durable import Disk
from tests.draws import SOAK
from tests.ingest.smf_by_hand import record
from tests.pdb.crash import Run, crash_server
from tests.pdb.fake_source import expected, held, held_in_files, write

RANDOM_STATE = 20261121
KILLS = 50 if SOAK else 20

# Three dumps over three days; each shares records with the one before.
HELD = range(700, 1100)
DUMPS = (range(1000, 2100), range(2000, 3050))


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with crash_server() as ask:
        yield ask


class Scene:
    """A PDB with one dump in it and two on their way, as often as it is wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = Pdb.create(folder / "base.pdb").path
        self.dumps = [write(folder / f"{index}.fake", records) for index, records in enumerate(DUMPS)]
        ingest([write(folder / "held.fake", HELD)], Pdb.open(self.base))
        self._other = write(folder / "other.fake", range(5000, 5010))
        self._count = 0

    def command(self, dumps: int = 2) -> dict[str, Any]:
        """A fresh copy of the PDB, and what is to go in."""
        self._count += 1
        copy = self.folder / f"{self._count}.pdb"
        shutil.copytree(self.base, copy)
        return {"pdb": str(copy), "paths": [str(path) for path in self.dumps[:dumps]]}

    def check(self, path: str, *, leftovers: bool = False) -> int:
        """Check a PDB that was left; return how many of the dumps it holds. It takes the rest, and is removed.

        With `leftovers`, another dump goes in first: its ingest cleans up what was left, where the dumps themselves
        would happen to write over it.
        """
        pdb = Pdb.open(path)
        count = len(pdb.ingests) - 1
        assert held(pdb.connect(threads=1)) == expected(HELD, *DUMPS[:count])
        pdb.disk = Disk(sync=False)
        if leftovers:
            ingest([self._other], pdb)
            self._check_files(pdb)
        ingest(self.dumps, pdb)
        self._check_files(pdb)
        others = [range(5000, 5010)] if leftovers else []
        assert held_in_files(Pdb.open(path)) == expected(HELD, *DUMPS, *others)
        shutil.rmtree(path)
        return count

    @staticmethod
    def _check_files(pdb: Pdb) -> None:
        """Nothing lies about that the manifest does not name."""
        there = {str(file.relative_to(pdb.path)) for file in (pdb.path / "tables").rglob("*.parquet")}
        assert there == {file.path for files in pdb.manifest.files.values() for file in files}
        assert list((pdb.path / "staging").iterdir()) == []


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_killed_before_a_step(scene: Scene, run: Run) -> None:
    command = scene.command(dumps=1)
    whole = run(**command)
    assert whole["ending"] == "done"
    assert scene.check(command["pdb"]) == 1
    # More than the steps of one commit: journal, two manifests, and for each file write, sync, move.
    assert whole["steps"] > 30
    seen = set()
    for step in range(1, whole["steps"] + 1, 1 if SOAK else 5):
        command = scene.command(dumps=1)
        assert run(**command, step=step)["ending"] == "killed"
        seen.add(scene.check(command["pdb"], leftovers=True))
    assert seen == {0, 1}


def test_killed_at_random_moments(scene: Scene, run: Run) -> None:
    def timed() -> float:
        command = scene.command()
        answer = run(**command, after=None)
        assert scene.check(command["pdb"]) == 2
        return float(answer["seconds"])

    moments = random.Random(RANDOM_STATE)
    found = [0, 0, 0]
    killed = 0
    for trial in range(KILLS):
        # Taken anew now and then, since other work on the machine comes and goes.
        if trial % 10 == 0:
            duration = timed()
        command = scene.command()
        killed += run(**command, after=moments.uniform(0, duration))["ending"] == "killed"
        found[scene.check(command["pdb"])] += 1
    # Enough must have hit, and both before and after a commit, or the test shows nothing.
    assert killed >= 0.3 * KILLS, (killed, found)
    assert found[0], found
    assert found[1] + found[2], found


def test_killed_again_and_again(scene: Scene, run: Run) -> None:
    """Each attempt finds what the last one left, and is killed a little later, until one gets through."""
    command = scene.command()
    for step in range(5, 1000, 11):
        if run(**command, step=step)["ending"] == "done":
            break
        pdb = Pdb.open(command["pdb"])
        assert held(pdb.connect(threads=1)) == expected(HELD, *DUMPS[: len(pdb.ingests) - 1])
    assert scene.check(command["pdb"]) == 2


def test_killed_while_a_dump_is_decoded(tmp_path: Path, run: Run) -> None:
    """The same with the real reader and its threads: two SMF dumps that overlap, 5 kills (10 in a soak)."""

    def dump(name: str, first: int, past: int) -> Path:
        start = datetime(2024, 3, 1)
        made = [record(start + timedelta(seconds=second), subtype=second % 7) for second in range(first, past)]
        path = tmp_path / name
        path.write_bytes(b"".join(made))
        return path

    def count(path: Path) -> int:
        (found,) = (
            Pdb.open(path)
            .connect(threads=1)
            .execute("SELECT count(*), count(DISTINCT hash) FROM smf_record")
            .fetchall()
        )
        assert found[0] == found[1]
        return int(found[0])

    first, second = dump("a.smf", 0, 60_000), dump("b.smf", 40_000, 150_000)
    base = Pdb.create(tmp_path / "base.pdb")
    ingest([first], base)
    moments = random.Random(RANDOM_STATE)
    duration = 0.0
    for trial in range(11 if SOAK else 6):
        copy = tmp_path / f"{trial}.pdb"
        shutil.copytree(base.path, copy)
        after = None if trial == 0 else moments.uniform(0, duration)
        answer = run(pdb=str(copy), paths=[str(second)], after=after)
        duration = duration or answer["seconds"]
        assert count(copy) in ({150_000} if answer["ending"] == "done" else {60_000, 150_000})
        ingest([second], Pdb.open(copy))
        assert count(copy) == 150_000
