"""Replications of a scenario on executors: the results of this process, each seed again the same."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from plexlens.errors import PlexlensError, UsageError
from plexlens.simulate import ScenarioFileError, parse_scenario, read_scenario, replications, run_scenarios
from plexlens.spark import tasks
from plexlens.spark.tasks import executors
from tests.cli.command import run
from tests.simulate.conftest import TWO_MEMBERS
from tests.spark.test_ingest_killed import descendants, ended, home, started, wait_for

__all__ = ["ended", "home"]

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def test_runs_are_those_of_this_process_in_the_order_of_seeds(spark: Any) -> None:
    scenarios = replications(read_scenario(TWO_MEMBERS).with_run(seconds=5.0), 5)
    told: list[tuple[float, float]] = []
    found = run_scenarios(scenarios, executors=executors(spark), tell=lambda done, total: told.append((done, total)))
    expected = run_scenarios(scenarios, jobs=1)
    assert found == expected
    # Also the numbers that are equal but not the same, such as 1 and 1.0, and the order of keys.
    assert [json.dumps(run.results) for run in found] == [json.dumps(run.results) for run in expected]
    assert told[-1] == (5, 5)
    assert all(0 <= done <= total == 5 for done, total in told)
    assert run_scenarios(scenarios[3:4], executors=executors(spark)) == expected[3:4]


@pytest.mark.parametrize("form", ["json", "text", "csv"])
def test_the_answer_is_that_of_the_embedded_engine(spark: Any, tmp_path: Path, form: str) -> None:
    """Byte for byte: what is printed, dump and truth."""
    (tmp_path / "two.toml").write_bytes(TWO_MEMBERS.read_bytes())
    words = ("simulate", "two.toml", "--seconds", "5", "--seed", "7", "--replications", "4", "--format", form)
    files = ("-o", "two.smf", "--truth", "truth.json")
    answers = []
    for engine in (("--jobs", "1"), ("--engine", "spark", "--master", "local[2]")):
        done = run(*words, *files, *engine, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answers.append(
            (done.stdout, *((tmp_path / name).read_bytes() for name in ("two.smf", "truth.json")), done.stderr)
        )
        for name in ("two.smf", "truth.json"):
            (tmp_path / name).unlink()
    embedded, other = answers
    assert other[:-1] == embedded[:-1]
    assert embedded[0]
    assert other[-1] == f"starting Spark (local[2])\n{embedded[-1]}"


def test_a_refused_scenario_has_its_place(spark: Any) -> None:
    """The first in the order of the scenarios; Spark does not try again."""
    text = TWO_MEMBERS.read_text(encoding="utf-8")
    good = read_scenario(TWO_MEMBERS).with_run(seconds=1.0)
    bad = [parse_scenario(text.replace("rate = 100.0", f"rate = -{n}.0"), file="s.toml") for n in (1, 2)]
    with pytest.raises(ScenarioFileError, match=r"^s.toml: line \d+: .*rate: -1 is not possible") as raised:
        run_scenarios([good, *bad], executors=executors(spark))
    with pytest.raises(ScenarioFileError) as embedded:
        run_scenarios([good, bad[0]], jobs=1)
    assert str(raised.value) == str(embedded.value)


def kill_once(argument: tuple[str, int]) -> int:
    """The square; the first attempt at one argument kills its Python."""
    folder, number = argument
    if number == 2 and not (mark := Path(folder, "killed")).exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def wrong(argument: int) -> float:
    """A defect: an exception that is not of Plexlens."""
    return 1 / argument


def another(argument: str) -> str:
    return argument


def test_a_defect_has_its_message_and_no_traceback(spark: Any) -> None:
    with pytest.raises(PlexlensError) as raised:
        executors(spark, "plexlens simulate s.toml")(wrong, [1, 0])
    assert "Traceback" not in str(raised.value)
    assert str(raised.value).startswith("plexlens simulate s.toml: Spark does not finish it: ZeroDivisionError: ")


def test_a_killed_python_without_another_attempt(spark: Any, tmp_path: Path) -> None:
    """``local[2]`` makes no second attempt; the session goes on."""
    with pytest.raises(PlexlensError, match="Python worker exited unexpectedly"):
        executors(spark)(kill_once, [(str(tmp_path), number) for number in range(4)])
    assert executors(spark)(kill_once, [(str(tmp_path), number) for number in range(4)]) == [0, 1, 4, 9]


def test_no_pieces_are_no_work(spark: Any) -> None:
    assert executors(spark)(wrong, []) == []


def test_another_version_does_no_work(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "__version__", "0.0.1")
    with pytest.raises(UsageError, match=r"executor .*: it has Plexlens .*, and this is 0.0.1; install the same"):
        executors(spark)(another, ["a"])


def test_an_interrupt_ends_the_tasks(spark: Any) -> None:
    """A run of days; after it the session is free for other work."""

    class _InterruptedError(Exception):
        pass

    began = time.monotonic()

    def tell(done: float, total: float) -> None:
        if time.monotonic() - began > 3:
            raise _InterruptedError

    scenarios = replications(read_scenario(TWO_MEMBERS).with_run(seconds=300_000.0), 3)
    with pytest.raises(_InterruptedError):
        run_scenarios(scenarios, executors=executors(spark), tell=tell)
    assert executors(spark)(another, ["a", "b"]) == ["a", "b"]
    assert time.monotonic() - began < 40


#: Commands in processes of their own, which need no session here.
commands = pytest.mark.skipif(
    find_spec("pyspark") is None or which("java") is None or sys.platform != "linux",
    reason="`make spark-test` installs PySpark; it needs Java, and processes are found in /proc",
)

SIMULATE = ("--seconds", "60", "--replications", "8", "--json")


@pytest.fixture(scope="module")
def embedded() -> str:
    """Output of the command without Spark."""
    done = run("simulate", str(TWO_MEMBERS), *SIMULATE, "--jobs", "2", cwd=TWO_MEMBERS.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout


@commands
@pytest.mark.parametrize("killed", ["executor", "python"])
def test_what_is_killed_is_done_again(embedded: str, home: Path, ended: list[Any], killed: str) -> None:
    """Of two executors with a process each, one is killed with its Pythons, or its Pythons alone."""
    process = started(["simulate", str(TWO_MEMBERS), *SIMULATE], "local-cluster[2,1,1024]")
    ended.append(process)
    executor, workers = 0, []

    def are_at_work() -> bool:
        nonlocal executor, workers
        for executor in descendants(process.pid, "CoarseGrainedExecutorBackend"):
            # A daemon, and the Python of each task below it.
            workers = descendants(executor, "pyspark")
            if len(workers) > 1:
                return True
        return False

    wait_for(are_at_work, process)
    for number in (*workers, *([executor] if killed == "executor" else [])):
        os.kill(number, signal.SIGKILL)
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert output == embedded


@commands
def test_ctrl_c(tmp_path: Path, ended: list[Any]) -> None:
    dump = tmp_path / "two.smf"
    words = ["simulate", str(TWO_MEMBERS), "--seconds", "300000", "--replications", "3", "-o", str(dump)]
    process = started(words, "local[2]")
    ended.append(process)
    wait_for(lambda: len(descendants(process.pid, "pyspark.daemon")) > 1, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert not list(tmp_path.iterdir())
