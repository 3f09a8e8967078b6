"""The options of the engine: what is refused, with which message, and what the embedded engine loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.pdb import Pdb, ingest
from plexlens.spark.needs import reading, said
from tests.cli.command import run
from tests.example_file import write_example
from tests.simulate.conftest import TWO_MEMBERS


@pytest.fixture
def pdb(tmp_path: Path) -> Path:
    write_example(tmp_path / "example.smf")
    ingest([tmp_path / "example.smf"], Pdb.create(tmp_path / "pdb"))
    return tmp_path / "pdb"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("example.smf", "--engine", "spark"),
            "plexlens: example.smf: --engine spark reads a performance database, and this is not a database; "
            "add the files to a database first: plexlens ingest FILE... --pdb PDB\n",
        ),
        (
            ("pdb", "--master", "local[2]"),
            "plexlens: --master: the embedded engine has no cluster; give --engine spark with --master\n",
        ),
        (
            ("pdb", "--engine", "spark", "--bundle", "x.zip"),
            "plexlens: --bundle: the numbers of a bundle are computed by the embedded engine; "
            "leave out --engine spark\n",
        ),
    ],
)
def test_wrong_use(pdb: Path, words: tuple[str, ...], message: str) -> None:
    done = run("report", *words, cwd=pdb.parent)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert not (pdb.parent / "report.html").exists()


def test_without_pyspark(pdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.spark.needs.find_spec", lambda name: None)
    done = run("report", "pdb", "--engine", "spark", cwd=pdb.parent)
    assert done.returncode == 2
    assert done.stderr == "plexlens: PySpark is not installed; install it with `pip install 'plexlens[spark]'`\n"


def test_without_java(pdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.spark.needs.find_spec", lambda name: object())
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    done = run("report", "pdb", "--engine", "spark", cwd=pdb.parent)
    assert done.returncode == 2
    assert done.stderr.startswith("plexlens: Spark needs Java: JAVA_HOME is /nowhere, where there is no bin/java; ")


def test_what_spark_raises_has_a_place_and_a_next_step() -> None:
    """The text is that of the Java gateway where a file is missing on an executor, shortened."""
    java = (
        "An error occurred while calling o61.collectToPython.\n: org.apache.spark.SparkException: Job aborted due to "
        "stage failure\n\tat org.apache.spark.scheduler.DAGScheduler.abortStage(DAGScheduler.scala:2898)"
    )
    with pytest.raises(UnreadableInputError) as raised, reading("/data/pdb"):
        raise RuntimeError(java)
    assert str(raised.value) == (
        "/data/pdb: Spark does not read it: org.apache.spark.SparkException: Job aborted due to stage failure; see "
        "that every executor has this folder at the same path, run plexlens pdb verify, or leave out --engine spark"
    )
    with pytest.raises(UsageError, match="of ours"), reading("/data/pdb"):
        raise UsageError(file="", what="of ours", remedy="")


def test_wrong_use_of_ingest(pdb: Path) -> None:
    done = run("ingest", "example.smf", "--pdb", "new", "--master", "local[2]", cwd=pdb.parent)
    message = "plexlens: --master: the embedded engine has no cluster; give --engine spark with --master\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert not (pdb.parent / "new").exists()


def test_ingest_without_pyspark_or_java(pdb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No database is made."""
    words = ("ingest", "example.smf", "--pdb", "new", "--engine", "spark", "--master", "spark://cluster.example:7077")
    with monkeypatch.context() as without:
        without.setattr("plexlens.spark.needs.find_spec", lambda name: None)
        done = run(*words, cwd=pdb.parent)
    assert done.returncode == 2
    assert done.stderr == "plexlens: PySpark is not installed; install it with `pip install 'plexlens[spark]'`\n"
    monkeypatch.setattr("plexlens.spark.needs.find_spec", lambda name: object())
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    done = run(*words, cwd=pdb.parent)
    assert done.returncode == 2
    assert done.stderr.startswith("plexlens: Spark needs Java: JAVA_HOME is /nowhere, where there is no bin/java; ")
    assert not (pdb.parent / "new").exists()


def test_what_spark_says_of_a_lost_task_is_its_end_and_its_place() -> None:
    """Texts of PySpark 4.0.5: a Python that was killed, an executor that was, and an exception of Python."""
    stage = (
        "An error occurred while calling o1.collectAndServe.\n: org.apache.spark.SparkException: Job aborted due to "
        "stage failure: Task 0 in stage 3.0 failed 4 times, most recent failure: Lost task 0.3 in stage 3.0 (TID 3) "
    )
    python = (
        "(192.0.2.2 executor 1): org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). "
        "Consider setting 'spark.python.worker.faulthandler.enabled' to 'true' for the better Python traceback.\n\tat x"
    )
    executor = "(192.0.2.2 executor 0): ExecutorLostFailure (executor 0 exited) Reason: Command exited with code 137"
    raised = (
        "(192.0.2.2 executor 1): org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
        '  File "/x/pyspark.zip/pyspark/worker.py", line 2044, in main\n    process()\n'
        "ZeroDivisionError: division by zero\n\n\tat org.apache.spark.api.python.BasePythonRunner"
    )
    assert said(RuntimeError(stage + raised)) == "ZeroDivisionError: division by zero (192.0.2.2 executor 1)"
    assert said(RuntimeError(stage + python)) == "Python worker exited unexpectedly (crashed) (192.0.2.2 executor 1)"
    assert said(RuntimeError(stage + executor)) == (
        "ExecutorLostFailure (executor 0 exited) Reason: Command exited with code 137 (192.0.2.2 executor 0)"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--master", "local[2]"), "--master: the embedded engine has no cluster; give --engine spark with --master"),
        (
            ("--engine", "spark", "--jobs", "2"),
            "--jobs: the cluster decides how many runs there are at the same time; leave --jobs out, or --engine spark",
        ),
        (
            ("--engine", "spark", "--transactions"),
            "s.toml: --transactions and --page-trace write records during the run, which is on an executor; "
            "leave out --engine spark",
        ),
    ],
)
def test_wrong_use_of_simulate(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run("simulate", "s.toml", "-o", "s.smf", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"plexlens: {message}\n")


def test_simulate_without_pyspark_or_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_bytes(TWO_MEMBERS.read_bytes())
    words = ("simulate", "s.toml", "-o", "s.smf", "--replications", "2", "--engine", "spark")
    with monkeypatch.context() as without:
        without.setattr("plexlens.spark.needs.find_spec", lambda name: None)
        done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "plexlens: PySpark is not installed; install it with `pip install 'plexlens[spark]'`\n"
    monkeypatch.setattr("plexlens.spark.needs.find_spec", lambda name: object())
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("plexlens: Spark needs Java: JAVA_HOME is /nowhere, where there is no bin/java; ")
    assert not (tmp_path / "s.smf").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--master", "local[2]"), "--master: the embedded engine has no cluster; give --engine spark with --master"),
        (
            ("--shards", "4"),
            "--shards: shards are computed by executors; give --engine spark, or --sample in place of --shards",
        ),
        (
            ("--engine", "spark", "--sample", "0.1"),
            "--sample: executors look at all pages; divide them with --shards, or leave out --engine spark",
        ),
        *(
            (
                ("--engine", "spark", *option),
                f"{option[0]}: executors compute curves only, without settings, changes and recommendations; "
                "leave the option out, or --engine spark",
            )
            for option in (
                ("--budget", "4GiB"),
                ("--pool", "BP1=100"),
                ("--gbp", "GBP2=20000:100000"),
                ("--settings", "pools.toml"),
                ("--save", "prediction.json"),
                ("--simulate-to", "after.smf"),
                ("--jcl", "change.jcl"),
            )
        ),
    ],
)
def test_wrong_use_of_pools(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "t.csv").write_text("pool,page\nBP1,1\n")
    (tmp_path / "pools.toml").write_text("[BP1]\nsize = 100\n")
    done = run("pools", "t.csv", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"plexlens: {message}\n")


def test_pools_without_pyspark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("pool,page\nBP1,1\n")
    monkeypatch.setattr("plexlens.spark.needs.find_spec", lambda name: None)
    done = run("pools", "t.csv", "--engine", "spark", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "plexlens: PySpark is not installed; install it with `pip install 'plexlens[spark]'`\n"


@pytest.mark.parametrize(
    "words",
    [
        ("report", "pdb", "-o", "report.html"),
        ("ingest", "example.smf", "--pdb", "new", "-o", "outcomes.csv"),
        ("simulate", str(TWO_MEMBERS), "-o", "two.smf", "--seconds", "1", "--replications", "2", "--json"),
    ],
)
def test_the_embedded_engine_loads_nothing_of_spark(pdb: Path, words: tuple[str, ...]) -> None:
    program = (
        f"import atexit, sys; sys.argv = ['plexlens', *{words!r}];"
        "from plexlens.cli.__main__ import program;"
        "atexit.register(lambda: print(*[name for name in sys.modules if 'spark' in name.split('.')])); program()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=pdb.parent, capture_output=True, text=True, check=False, timeout=120
    )
    # The modules are the last line; before it stands the answer of the command.
    assert (done.returncode, done.stdout.split("\n")[-2]) == (0, ""), done.stderr
