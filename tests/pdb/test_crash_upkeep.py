"""Killed, or refused by the disk, at any step of any upkeep: the PDB holds what it held before, or what comes after."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from plexlens.pdb import Pdb, ingest
from plexlens.pdb.commit import listed
from plexlens.pdb.durable import Disk
from plexlens.pdb.upkeep.compact import compact
from tests.draws import SOAK
from tests.pdb.fake_source import Record, expected, held_in_files, write

ROOT = Path(__file__).parents[2]

# Eight dumps over three days, each of which shares records with the one before.
RANGES = [range(start, start + 420) for start in range(0, 2800, 350)]
EVERY = sorted(set().union(*RANGES))

# The third day of the dumps is 2024-03-03: the requests of the first go, and no record, since these go two days later.
TODAY = "2024-03-03"
KEPT = "1 day"

#: Steps from one trial to the next; every step in `make soak`.
EACH = 1 if SOAK else 11

Run = Callable[..., dict[str, Any]]
Figures = dict[str, int]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.pdb.crash_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
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


def figures(records: list[int], requests: list[int]) -> Figures:
    """The figures of `held_in_files` where some records have no requests any more."""
    return {
        **expected(records),
        **{name: value for name, value in expected(requests).items() if name.startswith("request")},
    }


WHOLE = expected(EVERY)
LATER = figures(EVERY, [number for number in EVERY if Record(number).day >= date(2024, 3, 2)])


class Scene:
    """A PDB as each writer finds it, as often as it is wanted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        self.dumps = [write(folder / f"{number}.fake", records) for number, records in enumerate(RANGES)]
        base = Pdb.create(folder / "base.pdb")
        base.disk = Disk(sync=False)
        # Seven commits: the next one joins parts of the log.
        ingest(self.dumps[:7], base)
        self.seven = base.path
        self.eight = Path(shutil.copytree(base.path, folder / "eight.pdb"))
        (self.eight / "retention.toml").write_text(f'raw = "{KEPT}"\n')
        whole = Pdb.open(self.eight)
        whole.disk = Disk(sync=False)
        ingest(self.dumps, whole)
        self.merged = Path(shutil.copytree(self.eight, folder / "merged.pdb"))
        merged = Pdb.open(self.merged)
        merged.disk = Disk(sync=False)
        compact(merged)
        self.spoilt = Path(shutil.copytree(self.eight, folder / "spoilt.pdb"))
        self._spoil(self.spoilt)

    @staticmethod
    def _spoil(path: Path) -> None:
        """A manifest cut short, a folder of a dead writer, and a file that nothing names; every row can be saved."""
        manifest = path / "manifest.json"
        manifest.write_bytes(manifest.read_bytes()[:-30])
        (path / "staging" / "dead.9").mkdir()
        (path / "staging" / "dead.9" / "x.parquet").write_bytes(b"PAR1")
        other = path / "tables" / "smf74" / "smf74_4_request" / "2024-03-09"
        other.mkdir()
        (other / "stray-1.parquet").write_bytes(b"PAR1")

    def command(self, verb: str) -> dict[str, Any]:
        """A fresh copy of the PDB that a verb gets, and the command."""
        self.count += 1
        copy = self.folder / f"{self.count}.pdb"
        of = {"ingest": self.seven, "repair": self.spoilt, "rebuild": self.merged, "purge": self.merged}
        shutil.copytree(of.get(verb, self.eight), copy)
        return {"verb": verb, "pdb": str(copy), "paths": [str(self.dumps[7])], "today": TODAY}

    def ways(self, verb: str) -> tuple[Figures, Figures]:
        """What the PDB holds before and after a verb."""
        seven = expected(*RANGES[:7])
        return {
            "ingest": (seven, WHOLE),
            "expire": (WHOLE, LATER),
            "undo": (WHOLE, seven),
        }.get(verb, (WHOLE, WHOLE))

    def check(self, command: dict[str, Any], run: Run, where: str) -> None:
        """The PDB is whole; the verb gets through when it is tried again, and nothing is left lying about."""
        path, verb = Path(command["pdb"]), command["verb"]
        before, after = self.ways(verb)
        try:
            found = held_in_files(Pdb.open(path))
        except Exception:
            # Before a repair is done, the PDB cannot be opened.
            assert verb == "repair", where
            found = before
        assert found in (before, after), where
        if verb != "undo" or found == before:
            assert run(**command)["ending"] == "done", where
        else:
            # The next writer cleans up.
            assert run(**{**command, "verb": "purge"})["ending"] == "done", where
        pdb = Pdb.open(path)
        assert held_in_files(pdb) == after, where
        self.check_files(pdb, where)
        shutil.rmtree(path)

    @staticmethod
    def check_files(pdb: Pdb, where: str) -> None:
        """Nothing lies about but what the manifest names, and what an undo needs."""
        there = {str(file.relative_to(pdb.path)) for file in (pdb.path / "tables").rglob("*.parquet")}
        named = {file.path for file in pdb.manifest.every_file()}
        assert named <= there, where
        kept = {path for one in pdb.head.dropped for path in listed(pdb.path, one)}
        assert there - named <= kept, where
        assert list((pdb.path / "staging").iterdir()) == [], where
        parts = {part.name for part in pdb.head.parts}
        parts |= {name for one in pdb.head.dropped for name in (*one.parts, one.listing) if name}
        assert {one.name for one in (pdb.path / "log").iterdir()} == parts, where


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    from plexlens.ingest import kinds
    from tests.pdb import fake_source

    before = kinds.SOURCES
    kinds.SOURCES = (fake_source.KIND, *before)
    yield Scene(tmp_path_factory.mktemp("crash"))
    kinds.SOURCES = before


VERBS = ("ingest", "compact", "expire", "rebuild", "repair", "undo", "purge")


@pytest.mark.parametrize("verb", VERBS)
def test_killed_before_every_step(scene: Scene, run: Run, verb: str) -> None:
    command = scene.command(verb)
    whole = run(**command)
    assert whole["ending"] == "done"
    assert whole["steps"] > 10
    scene.check(command, run, verb)
    for step in range(1, whole["steps"] + 1, EACH):
        command = scene.command(verb)
        assert run(**command, step=step)["ending"] == "killed"
        scene.check(command, run, f"{verb}, killed at step {step}")


@pytest.mark.parametrize("verb", VERBS)
def test_refused_at_every_step(scene: Scene, run: Run, verb: str) -> None:
    command = scene.command(verb)
    steps = run(**command)["steps"]
    shutil.rmtree(command["pdb"])
    refused = 0
    for step in range(1, steps + 1, EACH):
        command = scene.command(verb)
        number = (errno.EIO, errno.ENOSPC)[step // 2 % 2]
        ending = run(**command, step=step, errno=number)["ending"]
        # What is left undone after the moment of a commit does not fail it.
        assert ending in ("refused", "done"), f"{verb}, step {step}: {ending}"
        refused += ending == "refused"
        scene.check(command, run, f"{verb}, {errno.errorcode[number]} at step {step}")
    assert refused
