"""The options of the engine: what is refused, with which message, and what the embedded engine loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.pdb import Pdb, ingest
from plexlens.spark.needs import reading
from tests.cli.command import run
from tests.example_file import write_example


@pytest.fixture
def pdb(tmp_path: Path) -> Path:
    write_example(tmp_path / "example.smf")
    ingest([tmp_path / "example.smf"], Pdb.create(tmp_path / "pdb"))
    return tmp_path / "pdb"


@pytest.mark.parametrize(
    ("words", "said"),
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
def test_wrong_use(pdb: Path, words: tuple[str, ...], said: str) -> None:
    done = run("report", *words, cwd=pdb.parent)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
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


def test_the_embedded_engine_loads_nothing_of_spark(pdb: Path) -> None:
    program = (
        "import atexit, sys; sys.argv = ['plexlens', 'report', 'pdb', '-o', 'report.html'];"
        "from plexlens.cli.__main__ import program;"
        "atexit.register(lambda: print(*[name for name in sys.modules if 'spark' in name.split('.')])); program()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=pdb.parent, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
