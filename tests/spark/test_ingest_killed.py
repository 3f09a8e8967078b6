"""Executors and drivers that are killed while they read dumps: nothing is there twice, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from plexlens.pdb import Outcome, Pdb, ingest
from tests.spark.test_ingest import assert_same
from tests.spark.test_views import CAPACITY, simulate

pytestmark = pytest.mark.skipif(
    find_spec("pyspark") is None or which("java") is None or sys.platform != "linux",
    reason="`make spark-test` installs PySpark; it needs Java, and processes are found in /proc",
)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Six dumps that take a second or so each; the last is the first again, without its last records."""
    folder = tmp_path_factory.mktemp("dumps")
    paths = [folder / f"{number}.smf" for number in range(6)]
    for number, path in enumerate(paths[:5]):
        simulate(CAPACITY, path, "--seed", str(number + 1), "--seconds", "60", "--transactions")
    paths[5].write_bytes(paths[0].read_bytes()[:-20_000])
    return paths


@pytest.fixture(scope="module")
def embedded(dumps: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Pdb:
    made = Pdb.create(tmp_path_factory.mktemp("embedded") / "pdb")
    ingest(dumps, made)
    return made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Spark with a folder of its own, where the workers of a cluster on this machine keep their files."""
    import pyspark

    made = tmp_path / "spark-home"
    made.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (made / entry.name).symlink_to(entry)
    monkeypatch.setenv("SPARK_HOME", str(made))
    return made


def ingesting(pdb: Path, dumps: list[Path], master: str) -> subprocess.Popen[str]:
    return started(["ingest", *map(str, dumps), "--pdb", str(pdb)], master)


def started(words: Sequence[str], master: str) -> subprocess.Popen[str]:
    """A command with the engine Spark, in a session of processes of its own."""
    program = "from plexlens.cli.__main__ import program; program()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *words, "--engine", "spark", "--master", master],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        start_new_session=True,
    )


@pytest.fixture
def ended() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes of a test; what a failed test leaves of their sessions is ended."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)


def attempts(pdb: Path) -> set[str]:
    """Folders into which tasks have begun to write."""
    return {path.name for path in (pdb / "staging").glob("*.spark*") if any(path.glob("*.parquet"))}


def descendants(process: int, text: str) -> list[int]:
    """Processes below a process whose command has a text."""
    found: list[int] = []
    numbers: list[int] = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        # A process can end while it is looked at.
        with suppress(OSError):
            numbers += map(int, children.read_text().split())
    for child in numbers:
        with suppress(OSError):
            words = Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace")
            found += [child] if text in words else []
            found += descendants(child, text)
    return found


def test_an_executor_is_killed(
    dumps: list[Path], embedded: Pdb, tmp_path: Path, home: Path, ended: list[subprocess.Popen[str]]
) -> None:
    """Of two on this machine, with a process each; its files are read by the other, or by one in its place."""
    place = tmp_path / "pdb"
    process = ingesting(place, dumps, "local-cluster[2,1,1024]")
    ended.append(process)
    wait_for(lambda: attempts(place), process)
    executors = descendants(process.pid, "CoarseGrainedExecutorBackend")
    assert len(executors) == 2
    pythons = descendants(executors[0], "pyspark")
    for number in (*pythons, executors[0]):
        os.kill(number, signal.SIGKILL)
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert [line.rpartition("/")[2].split(" (")[0] for line in output.splitlines()] == [
        *(f"{number}.smf: added" for number in range(5)),
        "5.smf: nothing new",
    ]
    assert_same(embedded, Pdb.open(place), hashed=True)


def test_the_driver_is_killed(
    dumps: list[Path], embedded: Pdb, tmp_path: Path, ended: list[subprocess.Popen[str]]
) -> None:
    """After the first commit; then the embedded engine takes the rest."""
    place = tmp_path / "pdb"
    process = ingesting(place, dumps, "local[2]")
    ended.append(process)
    wait_for(lambda: (place / "manifest.json").exists() and Pdb.open(place).ingests and attempts(place), process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    made = Pdb.open(place)
    there = len(made.ingests)
    assert 0 < there < len(dumps)
    made.connect()
    told: list[str] = []
    results = ingest(dumps, made, tell=told.append)
    assert [result.outcome for result in results] == [
        *([Outcome.ALREADY_HELD] * there),
        *([Outcome.ADDED] * (5 - there)),
        Outcome.NOTHING_NEW,
    ]
    assert "ended without finishing; what it left is removed" in told[0]
    # Executors of the dead run may have written for a moment.
    time.sleep(2)
    ingest(dumps[:1], made)
    assert_same(embedded, made, hashed=True)


def test_ctrl_c(dumps: list[Path], tmp_path: Path, ended: list[subprocess.Popen[str]]) -> None:
    """The command ends soon, and leaves nothing but what it has committed."""
    place = tmp_path / "pdb"
    process = ingesting(place, dumps, "local[2]")
    ended.append(process)
    wait_for(lambda: (place / "manifest.json").exists() and Pdb.open(place).ingests and attempts(place), process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    made = Pdb.open(place)
    assert 0 < len(made.ingests) < len(dumps)
    assert not list((place / "staging").iterdir())
