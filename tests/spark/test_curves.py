"""Curves of a trace computed by executors, against those of this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plexlens.pools.curves import curves_of
from plexlens.pools.divided import divided_curves
from plexlens.pools.opening import Opening
from plexlens.spark.tasks import executors
from tests.cli.command import run
from tests.in_any_order import in_any_order
from tests.pools.test_divided import HEADS, three_pools, traces, written

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def test_by_pool_they_are_those_of_this_process(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trace is named relative to a folder that executors do not run in."""
    written(tmp_path / "t.csv", HEADS, three_pools(1, 6000))
    monkeypatch.chdir(tmp_path)
    opening = Opening((Path("t.csv"),))
    assert divided_curves(opening, opening.open(), executors(spark)) == curves_of([Path("t.csv")])


def test_shards_are_joined_as_in_this_process(spark: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "pool,object,page", [("BP1", 7, page) for page in traces(1)["mixed"].tolist()])
    opening = Opening((path,))
    (found,) = divided_curves(opening, opening.open(), executors(spark), shards=4)
    assert [found] == divided_curves(opening, opening.open(), in_any_order, shards=4)
    (exact,) = curves_of([path], sizes=[size for size, _, _ in found.points])
    for (_, misses, error), (_, true, _) in zip(found.points, exact.points, strict=True):
        assert abs(misses - true) <= 1.96 * error


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_answer_is_that_of_the_embedded_engine(spark: Any, tmp_path: Path, form: str) -> None:
    """Byte for byte, of a trace of a group of two members in a dump."""
    del spark
    two = Path(__file__).parent.parent / "simulate" / "two-members.toml"
    done = run("simulate", two, "--seconds", "5", "--page-trace", "-o", "trace.smf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answers = []
    for engine in ((), ("--engine", "spark", "--master", "local[2]")):
        done = run("pools", "trace.smf", "--format", form, *engine, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout)
    assert answers[0] == answers[1]
    assert "DB2.BP1" in answers[0]


def test_a_page_says_that_it_has_curves_only(spark: Any, tmp_path: Path) -> None:
    """Of a trace without the sizes of its pools this is all that is different."""
    del spark
    written(tmp_path / "t.csv", HEADS, three_pools(1, 3000))
    answers = []
    for engine in ((), ("--engine", "spark", "--master", "local[2]")):
        done = run("pools", "t.csv", "-o", "pools.txt", *engine, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answers.append(" ".join((tmp_path / "pools.txt").read_text(encoding="utf-8").split()))
    note = "Curves only: --engine spark does not look for the sizes of the present pools."
    assert note not in answers[0]
    assert answers[1].count(note) == 1
    assert "Read misses" in answers[0]


def test_shards_on_the_command_line(spark: Any, tmp_path: Path) -> None:
    del spark
    pages = np.tile(np.arange(3000), 3).tolist()
    written(tmp_path / "t.csv", "pool,object,page", [("BP1", 7, page) for page in pages] + [("BP2", 8, 1)])
    words = ("pools", "t.csv", "--engine", "spark", "--master", "local[2]", "--shards", "3")
    done = run(*words, "--json", "--sizes", "100,6000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["shards"] == 3
    first, last = answer["pools"]["BP1"]["curve"]
    assert (first["pages"], first["read_misses"]) == (100, 9000)
    assert (last["pages"], last["read_misses"], last["standard_error"] > 0) == (6000, 3000, True)
    assert answer["pools"]["BP2"]["curve"][0] == {"pages": 100, "read_misses": 1, "standard_error": 0.0}
    assert "note: BP1: the curve is joined from 3 shards of its pages, and estimated." in done.stderr
    done = run(*words, cwd=tmp_path)
    assert "from a sample of its pages or from shards of them; the band is" in " ".join(done.stdout.split())
    assert "BP1: the curve is joined from 3 shards of its pages, and estimated." in done.stdout
