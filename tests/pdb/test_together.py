"""Several processes at one PDB: writers wait for each other, readers are not disturbed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plexlens.errors import PdbLockedError
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.lock import LOCK, Holder, holder_of, start_of, writer_lock
from tests.draws import SOAK
from tests.pdb.fake_source import expected, held, write

ROOT = Path(__file__).parents[2]

#: Seconds of writing and reading.
SECONDS = 600 if SOAK else 6

#: What each process does until its time is over: `pdb`, seconds, and its part.
PART = """
import sys, time
from datetime import date
from pathlib import Path
from plexlens.ingest import kinds
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.upkeep.compact import compact
from plexlens.pdb.upkeep.undo import states
from plexlens.pdb.upkeep.verify import verify
from tests.pdb import fake_source
kinds.SOURCES = (fake_source.KIND,)
path, part, until, done = Path(sys.argv[1]), sys.argv[2], time.monotonic() + float(sys.argv[3]), 0
while time.monotonic() < until:
    if part in ("1", "2"):
        first = int(part) * 1_000_000 + done * 100
        ingest([fake_source.write(path.parent / f"{first}.fake", range(first, first + 50))], Pdb.open(path), wait=60)
    elif part == "compact":
        compact(Pdb.open(path), wait=60)
    else:
        pdb = Pdb.open(path)
        names = [int(Path(one.file).stem) for one in pdb.ingests]
        connection = pdb.connect(threads=1)
        for _ in range(3):
            found = fake_source.held(connection)
            assert found == fake_source.expected(*(range(name, name + 50) for name in names)), names
    done += 1
print(done)
"""


def test_three_writers_and_two_readers(tmp_path: Path, pdb: Pdb) -> None:
    ingest([write(tmp_path / "0.fake", range(50))], pdb)
    parts = ["1", "2", "compact", "read", "read"]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PART, str(pdb.path), part, str(SECONDS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for part in parts
    ]
    counts = []
    for one in running:
        out, err = one.communicate(timeout=SECONDS + 120)
        assert one.returncode == 0, err
        counts.append(int(out))
    assert min(counts) > 0, counts
    print(f"{SECONDS} s: ingests {counts[:2]}, compactions {counts[2]}, readings {counts[3:]}")
    pdb.refresh()
    assert len(pdb.ingests) == 1 + counts[0] + counts[1]
    ranges = [range(first, first + 50) for first in (int(Path(one.file).stem) for one in pdb.ingests)]
    assert held(pdb.connect()) == expected(*ranges)
    assert list((pdb.path / "staging").iterdir()) == []


HOLDER = """
import sys
from pathlib import Path
from plexlens.pdb.lock import writer_lock
with writer_lock(Path(sys.argv[1]) / "lock", pdb=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding(pdb: Pdb) -> subprocess.Popen[str]:
    """A process that holds the lock until its input ends."""
    made = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(pdb.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert made.stdout is not None
    assert made.stdout.readline() == "held\n"
    return made


def test_a_writer_waits_and_says_for_whom(tmp_path: Path, pdb: Pdb) -> None:
    told: list[str] = []
    with holding(pdb) as holder:
        began = time.monotonic()
        with pytest.raises(PdbLockedError, match=r"is writing into this PDB; 0\.3 s were not enough; wait until"):
            ingest([write(tmp_path / "a.fake", range(9))], pdb, wait=0.3, tell=told.append)
        assert 0.3 <= time.monotonic() - began < 10
        assert told == [f"{pdb.path}: waiting up to 0.3 s for {holder_of(pdb.path / LOCK)}"]
        assert f"process {holder.pid} on " in told[0]

        def release(text: str) -> None:
            told.append(text)
            assert holder.stdin is not None
            holder.stdin.close()

        ingest([tmp_path / "a.fake"], pdb, wait=60, tell=release)
        assert len(told) == 2
    assert held(pdb.connect()) == expected(range(9))
    assert holder_of(pdb.path / LOCK) is None


def test_a_holder_that_died_is_named_and_what_it_left_goes(tmp_path: Path, pdb: Pdb) -> None:
    told: list[str] = []
    with holding(pdb) as holder:
        (pdb.path / "staging" / "left.1").mkdir()
        os.kill(holder.pid, signal.SIGKILL)
    ingest([write(tmp_path / "a.fake", range(9))], pdb, tell=told.append)
    (said,) = told
    assert said.startswith(f"process {holder.pid} on ")
    assert "ended without finishing; what it left is removed" in said
    assert not (pdb.path / "staging" / "left.1").exists()
    told.clear()
    ingest([write(tmp_path / "b.fake", range(9, 19))], pdb, tell=told.append)
    assert told == []


def test_a_writer_that_fails_is_not_taken_for_dead(tmp_path: Path, pdb: Pdb) -> None:
    with pytest.raises(RuntimeError), writer_lock(pdb.path / LOCK, pdb=pdb.path):
        raise RuntimeError
    told: list[str] = []
    ingest([write(tmp_path / "a.fake", range(9))], pdb, tell=told.append)
    assert told == []


def test_a_process_number_that_was_given_again_is_recognised() -> None:
    me = Holder.me()
    assert me.lives is True
    assert me.started == start_of(os.getpid()) != ""
    assert Holder(me.process, me.host, "x", me.since, "another boot 1").lives is False
    assert Holder(2**22 + 1, me.host, "x", me.since).lives is False
    assert Holder(me.process, "elsewhere", "x", me.since).lives is None


def test_a_lock_that_a_child_of_a_dead_holder_keeps_is_explained(pdb: Pdb) -> None:
    with holding(pdb) as holder:
        # As if the holder had died and its child had the lock: the file names a process that is not there.
        named = json.loads((pdb.path / LOCK).read_text())
        (pdb.path / LOCK).write_text(json.dumps({**named, "process": 2**22 + 1}))
        with pytest.raises(PdbLockedError, match="has ended, but a process that it started still holds the lock"):
            _locked(pdb)
        assert holder.stdin is not None
        holder.stdin.close()


def _locked(pdb: Pdb) -> None:
    with writer_lock(pdb.path / LOCK, pdb=pdb.path):
        pass
