"""Killed at any point, a PDB opens and holds all of a dump or none of it."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plexlens.pdb import Pdb, ingest
from plexlens.pdb.durable import Disk
from tests.pdb.fake_source import expected, held, held_in_files, write

SEED = 20261121
KILLS = 50

# Three dumps over three days; each shares records with the one before.
HELD = range(700, 1100)
DUMPS = (range(1000, 2100), range(2000, 3050))

Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.pdb.crash_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(**command: Any) -> dict[str, Any]:
            server.stdin.write(json.dumps(command) + "\n")
            server.stdin.flush()
            answer: dict[str, Any] = json.loads(server.stdout.readline())
            return answer

        yield ask
        server.stdin.close()


class Scene:
    """A PDB with one dump in it and two on their way, as often as it is wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = Pdb.create(folder / "base.pdb").path
        self.dumps = [write(folder / f"{index}.fake", records) for index, records in enumerate(DUMPS)]
        ingest([write(folder / "held.fake", HELD)], Pdb.open(self.base))
        self._count = 0

    def command(self, dumps: int = 2) -> dict[str, Any]:
        """A fresh copy of the PDB, and what is to go in."""
        self._count += 1
        copy = self.folder / f"{self._count}.pdb"
        shutil.copytree(self.base, copy)
        return {"pdb": str(copy), "paths": [str(path) for path in self.dumps[:dumps]]}

    def check(self, path: str) -> int:
        """Check a PDB that was left; return how many of the dumps it holds. It takes the rest, and is removed."""
        pdb = Pdb.open(path)
        count = len(pdb.ingests) - 1
        assert held(pdb.connect(threads=1)) == expected(HELD, *DUMPS[:count])
        pdb.disk = Disk(sync=False)
        ingest(self.dumps, pdb)
        assert held_in_files(Pdb.open(path)) == expected(HELD, *DUMPS)
        there = {str(file.relative_to(pdb.path)) for file in (pdb.path / "tables").rglob("*.parquet")}
        assert there == {file.path for files in pdb.manifest.files.values() for file in files}
        assert list((pdb.path / "staging").iterdir()) == []
        shutil.rmtree(path)
        return count


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_killed_before_every_single_step(scene: Scene, run: Run) -> None:
    command = scene.command(dumps=1)
    whole = run(**command)
    assert whole["ending"] == "done"
    assert scene.check(command["pdb"]) == 1
    # More than the steps of one commit: journal, two manifests, and for each file write, sync, move.
    assert whole["steps"] > 30
    seen = set()
    for step in range(1, whole["steps"] + 1):
        command = scene.command(dumps=1)
        assert run(**command, step=step)["ending"] == "killed"
        seen.add(scene.check(command["pdb"]))
    assert seen == {0, 1}


def test_killed_at_random_moments(scene: Scene, run: Run) -> None:
    def timed() -> float:
        command = scene.command()
        answer = run(**command)
        assert scene.check(command["pdb"]) == 2
        return float(answer["seconds"])

    duration = min(timed() for _ in range(3))
    moments = random.Random(SEED)
    found = [0, 0, 0]
    killed = 0
    for _ in range(KILLS):
        command = scene.command()
        killed += run(**command, after=moments.uniform(0, duration))["ending"] == "killed"
        found[scene.check(command["pdb"])] += 1
    # Most must have hit, and before and between the commits, or the test shows nothing.
    assert killed >= KILLS * 3 // 4
    assert found[0] and found[1], found


def test_killed_again_and_again(scene: Scene, run: Run) -> None:
    """Each attempt finds what the last one left, and is killed a little later, until one gets through."""
    command = scene.command()
    for step in range(5, 1000, 11):
        if run(**command, step=step)["ending"] == "done":
            break
        pdb = Pdb.open(command["pdb"])
        assert held(pdb.connect(threads=1)) == expected(HELD, *DUMPS[: len(pdb.ingests) - 1])
    assert scene.check(command["pdb"]) == 2
