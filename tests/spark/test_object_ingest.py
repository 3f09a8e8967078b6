"""Dumps that executors read into a database in a bucket, against the embedded ingest: rows, losses, two at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import UsageError
from plexlens.pdb import Outcome, Pdb, ingest
from plexlens.pdb.reading import Staged
from plexlens.spark import loading, staging_task
from plexlens.spark.loading import loaded_by
from tests.example_file import write_example
from tests.report.test_records_by_hand import RECORDS
from tests.spark.s3_server import s3_server
from tests.spark.test_ingest import Answer, patched, put, rows, timeless, told
from tests.spark.test_ingest_killed import started, wait_for

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

ADDRESS = "s3://data/plex.pdb"


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with s3_server(monkeypatch):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps that overlap, a damaged dump, and a file that is not a dump."""
    made = tmp_path_factory.mktemp("dumps")
    write_example(made / "a.smf")
    data = (made / "a.smf").read_bytes()
    (made / "b.smf").write_bytes(data[:-10])
    # Three records are in both.
    (made / "d.smf").write_bytes(b"".join(RECORDS[:6]))
    (made / "e.smf").write_bytes(b"".join(RECORDS[3:]))
    (made / "notes.txt").write_text("no dump\n" * 100)
    return made


def keys(below: str = "") -> set[str]:
    """Objects of the database, without its address."""
    from plexlens.pdb.object_store import bucket_of

    listed = {entry.key.removeprefix("plex.pdb/") for entry in bucket_of("data").below("plex.pdb")}
    return {key for key in listed if key.startswith(below)}


def assert_whole(pdb: Pdb) -> None:
    """Nothing is staged, and there is no file of a table that the database does not name."""
    pdb.refresh()
    assert keys("staging/") == set()
    assert keys("tables/") == {file.path for file in pdb.manifest.every_file()}


def once(pdb: Pdb) -> tuple[int, int]:
    """Records that measure, and how many different ones they are."""
    statement = "select count(*), count(distinct hash) from smf_record where record_type not in (2, 3)"
    found: tuple[int, int] = pdb.connect().execute(statement).fetchall()[0]
    return found


def test_a_database_is_that_of_the_embedded_engine(spark: Any, folder: Path, tmp_path: Path) -> None:
    embedded, other = Pdb.create(tmp_path / "embedded"), Pdb.open_or_create(ADDRESS)
    paths = [folder / "a.smf", folder, folder / "missing.smf"]
    expected, found = put(paths, embedded), put(paths, other, spark)
    assert told(found[0]) == told(expected[0])
    assert found[1] == expected[1] != []
    other.refresh()
    assert list(map(timeless, other.ingests)) == list(map(timeless, embedded.ingests))
    assert rows(other) == rows(embedded)
    assert_whole(other)
    again = put([folder], other, spark)
    assert {result.outcome for result in again[0]} == {Outcome.ALREADY_HELD, Outcome.SKIPPED}
    assert_whole(other)


def test_two_at_once_lose_and_double_nothing(spark: Any, folder: Path, tmp_path: Path) -> None:
    """The same dumps in opposite orders, each by a writer of its own with its own executors."""
    embedded = Pdb.create(tmp_path / "embedded")
    paths = [folder / name for name in ("a.smf", "d.smf", "e.smf")]
    put(paths, embedded)
    answers: dict[int, Answer] = {}

    def write(number: int) -> None:
        ordered = paths if number else paths[::-1]
        answers[number] = put(ordered, Pdb.open_or_create(ADDRESS), spark)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [failures for _, failures in answers.values()] == [[], []]
    made = Pdb.open(ADDRESS)
    assert sorted(entry.file for entry in made.ingests) == sorted(map(str, paths))
    outcomes = [result.outcome for results, _ in answers.values() for result in results]
    assert outcomes.count(Outcome.ALREADY_HELD) == len(paths)
    assert once(made) == once(embedded)
    assert once(made)[0] == once(made)[1] > 0
    assert_whole(made)


def test_a_writer_that_was_overtaken_reads_again(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedded engine commits records of the dump between the reading and the commit."""
    embedded = Pdb.create(tmp_path / "embedded")
    put([folder / "d.smf", folder / "e.smf"], embedded)
    done: list[Staged] = []

    def overtake(staged: Staged) -> None:
        if not done:
            done.append(staged)
            ingest([folder / "d.smf"], Pdb.open_or_create(ADDRESS))

    with patched(monkeypatch, overtake) as names:
        put([folder / "e.smf"], made := Pdb.open_or_create(ADDRESS), spark)
    assert names == ["e.smf", "e.smf"]
    assert rows(made) == rows(embedded)
    assert_whole(made)


def test_a_staged_object_that_is_lost_is_read_again(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = Pdb.create(tmp_path / "embedded")
    put([folder / "d.smf"], embedded)
    lost: list[Path] = []

    def lose(staged: Staged) -> None:
        if not lost:
            lost.append(staged.files[0].staged)
            assert str(lost[0]).startswith(f"{ADDRESS}/staging/spark")
            lost[0].unlink()

    with patched(monkeypatch, lose) as names:
        put([folder / "d.smf"], made := Pdb.open_or_create(ADDRESS), spark)
    assert names == ["d.smf"] * 2
    assert rows(made) == rows(embedded)
    assert_whole(made)


def test_a_task_that_is_killed_leaves_nothing(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of putting its files; Spark on one machine does not try again."""
    embedded = Pdb.create(tmp_path / "embedded")
    paths = [folder / "a.smf", folder / "d.smf"]
    put(paths, embedded)
    made = Pdb.open_or_create(ADDRESS)
    with monkeypatch.context() as patching:
        patching.setattr(loading, "stage", _killed_at_d)
        results, failures = put(paths, made, spark)
    assert [Path(result.file).name for result in results] == ["a.smf"]
    assert len(failures) == 1
    assert failures[0].startswith(f"{folder / 'd.smf'}: Spark does not read it: ")
    assert_whole(made)
    put(paths, made, spark)
    assert rows(made) == rows(embedded)
    assert_whole(made)


def _killed_at_d(task: staging_task.Task) -> staging_task.Answer:
    from plexlens.pdb.objects import ObjectDisk

    if task.path.endswith("/d.smf"):

        def half(self: ObjectDisk, pairs: Any) -> None:
            source, target = next(iter(pairs))
            self.move(source, target)
            os.kill(os.getpid(), signal.SIGKILL)

        ObjectDisk.move_all = half  # type: ignore[method-assign]
    return staging_task.stage(task)


def test_a_driver_that_is_killed_leaves_what_a_repair_sets_aside(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plexlens.pdb import objects
    from plexlens.pdb.upkeep.repair import repair

    embedded = Pdb.create(tmp_path / "embedded")
    paths = [folder / "a.smf", folder / "d.smf"]
    put(paths, embedded)
    process = started(["ingest", *map(str, paths), "--pdb", ADDRESS], "local[2]")
    try:
        wait_for(lambda: any(key.endswith(".parquet") for key in keys("staging/")), process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    made = Pdb.open_or_create(ADDRESS)
    put(paths, made)
    assert rows(made) == rows(embedded)
    left = keys("staging/")
    assert left
    repair(made.path)
    assert keys("staging/") == left
    monkeypatch.setattr(objects, "GRACE", timedelta(0))
    repair(made.path)
    assert_whole(made)
    assert rows(made) == rows(embedded)


def test_an_executor_without_access_is_named(spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "look", _refused)
    with pytest.raises(UsageError, match=r"executor .*: it does not reach the database: refused; see that every"):
        ingest([folder / "d.smf"], Pdb.open_or_create(ADDRESS), loaded_by=partial(loaded_by, spark))
    assert keys("staging/") == set()


def _refused(asked: Any, access: Any) -> staging_task.Answer:
    del asked, access
    return staging_task.Answer("host", error=UsageError(file="", what="refused", remedy=""))


def test_a_task_whose_run_has_ended_stages_nothing(folder: Path) -> None:
    from plexlens.ingest.compression import USUAL

    path = str(folder / "d.smf")
    task = staging_task.Task(path, path, ADDRESS, "spark-gone", (), "1047", False, 1 << 20, USUAL, 1)
    answer = staging_task.stage(task)
    assert answer.unseen == f"{ADDRESS}/staging/spark-gone/running"
    assert answer.result is None
    assert keys("staging/") == set()
