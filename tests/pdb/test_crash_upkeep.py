"""Killed, or refused by the disk, at any step of any upkeep: the PDB holds what it held before, or what comes after."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from plexlens.pdb import Pdb, ingest
from plexlens.pdb.commit import listed
from plexlens.pdb.durable import Disk
from plexlens.pdb.upkeep.compact import compact
from tests.draws import SOAK
from tests.pdb.crash import Run, crash_server
from tests.pdb.fake_source import Record, expected, held_in_files, write

# Eight dumps over three days, each of which shares records with the one before.
RANGES = [range(start, start + 420) for start in range(0, 2800, 350)]
EVERY = sorted(set().union(*RANGES))

# The third day of the dumps is 2024-03-03: the requests of the first go, and no record, since these go two days later.
TODAY = "2024-03-03"
KEPT = "1 day"

#: Kills per writer, and as many refusals, spread over its steps; every step in `make soak`.
TRIALS = 100_000 if SOAK else 8

Figures = dict[str, int]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with crash_server() as ask:
        yield ask


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
        self.arrived = folder / "arrived"
        self.arrived.mkdir()
        shutil.copy(self.dumps[7], self.arrived)
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
        of = dict.fromkeys(("ingest", "watch"), self.seven) | dict.fromkeys(("rebuild", "purge"), self.merged)
        of["repair"] = self.spoilt
        shutil.copytree(of.get(verb, self.eight), copy)
        return {
            "verb": verb,
            "pdb": str(copy),
            "paths": [str(self.dumps[7])],
            "folder": str(self.arrived),
            "today": TODAY,
        }

    def ways(self, verb: str) -> tuple[Figures, Figures]:
        """What the PDB holds before and after a verb."""
        seven = expected(*RANGES[:7])
        return {
            "ingest": (seven, WHOLE),
            "watch": (seven, WHOLE),
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


VERBS = ("ingest", "compact", "expire", "rebuild", "repair", "undo", "purge", "watch")

#: Kills at random moments, and the seed of these.
KILLS = 1000 if SOAK else 8
RANDOM_STATE = int(os.environ.get("PLEXLENS_FUZZ_SEED", "20261124"))


def apart(steps: int) -> int:
    """Steps from one trial to the next."""
    return -(-steps // TRIALS)


@pytest.mark.parametrize("verb", VERBS)
def test_killed_before_every_step(scene: Scene, run: Run, verb: str) -> None:
    command = scene.command(verb)
    whole = run(**command)
    assert whole["ending"] == "done"
    assert whole["steps"] > 10
    scene.check(command, run, verb)
    steps = range(1, whole["steps"] + 1, apart(whole["steps"]))
    for step in steps:
        command = scene.command(verb)
        assert run(**command, step=step)["ending"] == "killed"
        scene.check(command, run, f"{verb}, killed at step {step}")
    print(f"{verb}: killed at {len(steps)} of {whole['steps']} system calls")


@pytest.mark.parametrize("verb", VERBS)
def test_refused_at_every_step(scene: Scene, run: Run, verb: str) -> None:
    command = scene.command(verb)
    steps = run(**command)["steps"]
    shutil.rmtree(command["pdb"])
    tried, refused = 0, 0
    # Between the steps at which the other test kills.
    for trial, step in enumerate(range(1 + apart(steps) // 2, steps + 1, apart(steps))):
        for number in (errno.EIO, errno.ENOSPC) if SOAK else [(errno.EIO, errno.ENOSPC)[trial % 2]]:
            command = scene.command(verb)
            ending = run(**command, step=step, errno=number)["ending"]
            # What is left undone after the moment of a commit does not fail it.
            assert ending in ("refused", "done"), f"{verb}, step {step}: {ending}"
            tried += 1
            refused += ending == "refused"
            scene.check(command, run, f"{verb}, {errno.errorcode[number]} at step {step}")
    assert refused
    print(f"{verb}: {tried} refusals at {steps} system calls; {refused} failed the writer")


def test_killed_at_random_moments(scene: Scene, run: Run) -> None:
    """Every writer in turn; how long it takes is measured anew now and then, since other work comes and goes."""
    moments = random.Random(RANDOM_STATE)
    duration: dict[str, float] = {}
    killed = dict.fromkeys(VERBS, 0)
    trials = 0
    while sum(killed.values()) < KILLS:
        verb = VERBS[trials % len(VERBS)]
        if trials // len(VERBS) % 20 == 0:
            command = scene.command(verb)
            duration[verb] = run(**command, after=None)["seconds"]
            scene.check(command, run, verb)
        command = scene.command(verb)
        after = moments.uniform(0, duration[verb])
        killed[verb] += run(**command, after=after)["ending"] == "killed"
        scene.check(command, run, f"{verb}, killed after {after:.4f} s; trial {trials} of seed {RANDOM_STATE}")
        trials += 1
        # Enough must hit, or the test shows nothing.
        assert trials < 4 * KILLS, killed
    print(f"{sum(killed.values())} kills in {trials} trials, seed {RANDOM_STATE}: {killed}")
