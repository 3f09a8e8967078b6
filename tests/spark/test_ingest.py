"""Dumps that executors read into a database, against the embedded ingest: each table, value by value."""

from __future__ import annotations

import gzip
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import IngestFailuresError, PdbLockedError, PlexlensError, UnreadableInputError, UsageError
from plexlens.ingest.compression import USUAL
from plexlens.pdb import IngestResult, Outcome, Pdb, ingest
from plexlens.pdb.engine import tables_of
from plexlens.pdb.reading import Staged
from plexlens.spark import loading, staging_task
from plexlens.spark.loading import loaded_by
from tests.example_file import write_example
from tests.ingest.smf_by_hand import DELAY, layouts
from tests.ingest.test_smf import minutes
from tests.report.test_records_by_hand import RECORDS

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps that overlap in several ways, a damaged dump, and files that are not dumps."""
    made = tmp_path_factory.mktemp("dumps")
    write_example(made / "a.smf")
    data = (made / "a.smf").read_bytes()
    # The same but for the last record: nothing new, and damage.
    (made / "b.smf").write_bytes(data[:-10])
    (made / "c-again.smf").write_bytes(data)
    # The first six records by hand, the last six, and all of them: three are in both, and the last brings nothing.
    (made / "d.smf").write_bytes(b"".join(RECORDS[:6]))
    (made / "e.smf.gz").write_bytes(gzip.compress(b"".join(RECORDS[3:])))
    (made / "f.smf").write_bytes(b"".join(RECORDS))
    # A hole in the middle.
    hole = len(data) // 2
    (made / "g-damaged.smf").write_bytes(data[:hole] + b"\xff" * 3000 + data[hole + 3000 :])
    (made / "notes.txt").write_text("no dump\n" * 100)
    (made / "x-empty.smf").write_bytes(b"")
    return made


Answer = tuple[list[IngestResult], list[str]]


def put(paths: Sequence[Path], pdb: Pdb, spark: Any = None, **more: Any) -> Answer:
    """Outcomes and the texts of failures."""
    if spark is not None:
        more["loaded_by"] = partial(loaded_by, spark)
    try:
        return ingest(paths, pdb, **more), []
    except IngestFailuresError as error:
        return error.results, list(map(str, error.failures))
    except PlexlensError as error:
        return [], [str(error)]


def told(results: Sequence[IngestResult]) -> list[dict[str, Any]]:
    """All facts about files in the answer of an ingest, without times."""
    return [asdict(result) | {"ingest": result.ingest and timeless(result.ingest)} for result in results]


def timeless(entry: Any) -> dict[str, Any]:
    return asdict(replace(entry, started_at="", finished_at=""))


def rows(pdb: Pdb, *, hashed: bool = False) -> dict[str, list[str]]:
    """The rows of each table, without order, or sums of their hashes; the times of an ingest are left out."""
    connection = pdb.connect()
    listed = {}
    for table in (*tables_of(connection), "source", "note"):
        columns = connection.table(table).columns
        kept = [name for name in columns if name not in ("started_at", "finished_at", "ingested_at")]
        listed_columns = ", ".join(f'"{name}"' for name in kept)
        statement = f'select {listed_columns} from "{table}"'
        if hashed:
            statement = f"select count(*), sum(hash(t)::hugeint), bit_xor(hash(t)) from ({statement}) t"
        found = connection.execute(statement).to_arrow_table()
        listed[table] = sorted(map(repr, found.to_pylist()))
    return listed


def assert_same(expected: Pdb, found: Pdb, *, hashed: bool = False) -> None:
    found.refresh()
    assert list(map(timeless, found.ingests)) == list(map(timeless, expected.ingests))
    one, other = rows(expected, hashed=hashed), rows(found, hashed=hashed)
    assert set(one) == set(other)
    for table in one:
        assert one[table] == other[table], table
    assert found.head.commit == expected.head.commit
    assert not list((found.path / "staging").iterdir())
    named = {file.path for file in found.manifest.every_file()}
    assert {str(path.relative_to(found.path)) for path in found.path.glob("tables/**/*.parquet")} == named


def both(tmp_path: Path) -> tuple[Pdb, Pdb]:
    return Pdb.create(tmp_path / "embedded"), Pdb.create(tmp_path / "spark")


def test_a_database_is_that_of_the_embedded_engine(spark: Any, folder: Path, tmp_path: Path) -> None:
    """Outcomes, texts of failures, sources, damage, notes and all rows, also where dumps overlap."""
    embedded, other = both(tmp_path)
    paths = [folder / "a.smf", folder, folder / "missing.smf", folder / "x-empty.smf"]
    expected = put(paths, embedded)
    stages: list[tuple[int, int, str]] = []
    found = put(paths, other, spark, progress=lambda *stage: stages.append(stage))
    assert told(found[0]) == told(expected[0])
    assert found[1] == expected[1] != []
    outcomes = {Path(result.file).name: result.outcome for result in found[0]}
    assert outcomes == {
        "a.smf": Outcome.ADDED,
        "b.smf": Outcome.NOTHING_NEW,
        "c-again.smf": Outcome.ALREADY_HELD,
        "d.smf": Outcome.ADDED,
        "e.smf.gz": Outcome.ADDED,
        "f.smf": Outcome.NOTHING_NEW,
        "g-damaged.smf": outcomes["g-damaged.smf"],
        "notes.txt": Outcome.SKIPPED,
    }
    assert_same(embedded, other)
    # Records of d.smf are not in e.smf.gz once more: three are in both; f.smf has them all.
    duplicates = {Path(entry.file).name: entry.duplicates for entry in other.ingests}
    assert (duplicates["d.smf"], duplicates["e.smf.gz"], duplicates["f.smf"]) == (0, 3, len(RECORDS))
    assert any(entry.damage for entry in other.ingests)
    total = sum(path.stat().st_size for path in folder.iterdir())
    assert stages[-1][1:] == (total, "reading 10 files on Spark")
    assert [done for done, *_ in stages] == sorted(done for done, *_ in stages)


def test_a_second_run_changes_nothing(spark: Any, folder: Path, tmp_path: Path) -> None:
    made = Pdb.create(tmp_path / "pdb")
    put([folder / "d.smf"], made, spark)
    before = made.head.commit, rows(made)
    results, failures = put([folder / "d.smf"], made, spark)
    assert [result.outcome for result in results] == [Outcome.ALREADY_HELD]
    assert (made.head.commit, rows(made), failures) == (*before, [])


def test_a_single_file_that_fails_is_the_error(spark: Any, folder: Path, tmp_path: Path) -> None:
    for name in ("notes.txt", "missing.smf", "x-empty.smf"):
        embedded, other = Pdb.create(tmp_path / f"{name}-1"), Pdb.create(tmp_path / f"{name}-2")
        expected = put([folder / name], embedded)
        assert put([folder / name], other, spark) == expected
        assert expected[1][0].startswith(str(folder / name))
        assert not list((other.path / "staging").iterdir())


def test_a_relative_path_is_told_as_it_was_given(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Executors work in another folder, and open the file from the root."""
    monkeypatch.chdir(folder)
    embedded, other = both(tmp_path)
    paths = [Path("b.smf"), Path("notes.txt")]
    expected, found = put(paths, embedded), put(paths, other, spark)
    assert (told(found[0]), found[1]) == (told(expected[0]), expected[1])
    assert found[0][0].file == "b.smf"
    assert_same(embedded, other)


def test_a_layout_of_the_site_with_another_unit_is_refused_as_here(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third file has the same columns as the first, and goes in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.smf").write_bytes(b"".join(minutes(0, 10)))
    (tmp_path / "b.smf").write_bytes(b"".join(minutes(10, 20)))
    (tmp_path / "c.smf").write_bytes(b"".join(minutes(20, 30)))
    first = layouts(tmp_path / "v1", DELAY)
    layouts(tmp_path / "v2", DELAY.replace(",ms,", ",KiB,"))
    embedded, other = both(tmp_path)
    for pdb in (embedded, other):
        put([Path("a.smf")], pdb, layouts=[first])
    later = [Path("b.smf"), Path("c.smf")]
    # A folder that is given from where the command runs.
    expected = put(later, embedded, layouts=[Path("v2")])
    found = put(later, other, spark, layouts=[Path("v2")])
    assert len(found[1]) == 2
    assert found == expected
    assert told(put(later, other, spark, layouts=[first])[0]) == told(put(later, embedded, layouts=[first])[0])
    assert_same(embedded, other)


@contextmanager
def patched(monkeypatch: pytest.MonkeyPatch, step: Callable[[Staged], None]) -> Iterator[list[str]]:
    """Do something with each file that executors have staged, before it is committed; lists the names."""
    names: list[str] = []
    result = loading._Run._result

    def patch(run: Any, path: Path) -> Any:
        staged = result(run, path)
        names.append(path.name)
        if isinstance(staged, Staged):
            step(staged)
        return staged

    with monkeypatch.context() as patching:
        patching.setattr(loading._Run, "_result", patch)
        yield names


def test_files_that_overlap_are_read_once_more(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are read before either is committed."""
    embedded, other = both(tmp_path)
    paths = [folder / "d.smf", folder / "e.smf.gz"]
    put(paths, embedded)
    waited = threading.Event()

    def wait_for_both(staged: Staged) -> None:
        if not waited.is_set():
            waited.set()
            until = time.monotonic() + 60
            while len(list((other.path / "staging").glob("*/smf_record@*.parquet"))) < 2:
                assert time.monotonic() < until
                time.sleep(0.05)

    with patched(monkeypatch, wait_for_both) as names:
        put(paths, other, spark)
    assert names == ["d.smf", "e.smf.gz", "e.smf.gz"]
    assert_same(embedded, other)


def test_a_staged_file_that_is_lost_is_read_again(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded, other = both(tmp_path)
    paths = [folder / "a.smf", folder / "d.smf"]
    put(paths, embedded)
    lost: list[Path] = []

    def lose(staged: Staged) -> None:
        if not lost:
            lost.append(staged.files[0].staged)
            lost[0].unlink()

    with patched(monkeypatch, lose) as names:
        put(paths, other, spark)
    assert names == ["a.smf", "a.smf", "d.smf"]
    assert_same(embedded, other)


def test_a_staged_file_that_is_always_lost_is_read_by_this_process(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded, other = both(tmp_path)
    put([folder / "d.smf"], embedded)
    with patched(monkeypatch, lambda staged: staged.files[0].staged.unlink()) as names:
        put([folder / "d.smf"], other, spark)
    assert names == ["d.smf"] * 3
    assert_same(embedded, other)


def test_one_writer_at_a_time(spark: Any, folder: Path, tmp_path: Path) -> None:
    """While executors read, another ingest of the same dump is refused, or waits, and then finds it there."""
    embedded, other = both(tmp_path)
    paths = [folder / "a.smf", folder / "d.smf"]
    put(paths, embedded)
    refused: list[str] = []
    later: list[Answer] = []

    def second() -> None:
        later.append(put(paths, Pdb.open(other.path), spark, wait=120))

    thread = threading.Thread(target=second)

    def meanwhile(done: int, total: int, stage: str) -> None:
        del done, total, stage
        if not refused:
            with pytest.raises(PdbLockedError) as raised:
                ingest(paths, Pdb.open(other.path))
            refused.append(str(raised.value))
            thread.start()

    put(paths, other, spark, progress=meanwhile)
    thread.join()
    assert "is writing into this PDB" in refused[0]
    assert [result.outcome for result in later[0][0]] == [Outcome.ALREADY_HELD] * 2
    assert_same(embedded, other)


def test_a_task_that_dies_is_a_failure_of_its_file(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that reads the second file is killed; Spark on one machine does not try again."""
    embedded, other = both(tmp_path)
    paths = [folder / "a.smf", folder / "d.smf", folder / "g-damaged.smf"]
    put(paths, embedded)
    with monkeypatch.context() as patching:
        patching.setattr(loading, "stage", _killed_at_d)
        results, failures = put(paths, other, spark)
    assert [Path(result.file).name for result in results] == ["a.smf", "g-damaged.smf"]
    assert len(failures) == 1
    assert failures[0].startswith(f"{folder / 'd.smf'}: Spark does not read it: ")
    assert failures[0].endswith("see the log of the executor, and run the command again; or leave out --engine spark")
    assert not list((other.path / "staging").iterdir())
    # Run again, the database has all, each record once.
    put(paths, other, spark)
    expected, found = rows(embedded), rows(other)
    for table in expected:
        assert expected[table] == found[table] or table == "source", table
    assert len(expected["source"]) == len(found["source"])


def _killed_at_d(task: staging_task.Task) -> staging_task.Answer:
    if task.path.endswith("/d.smf"):
        os.kill(os.getpid(), signal.SIGKILL)
    return staging_task.stage(task)


def test_an_executor_that_sees_another_file_system(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Pdb.create(tmp_path / "pdb")
    host = staging_task.look([]).host
    monkeypatch.setattr(loading, "stage", partial(_without, str(folder / "a.smf")))
    with pytest.raises(UnreadableInputError) as raised:
        ingest([folder / "a.smf"], made, loaded_by=partial(loaded_by, spark))
    remedy = "put dumps, layouts and database where this machine and every executor see them at the same path"
    assert str(raised.value) == f"{folder / 'a.smf'}: executor {host} does not see it; {remedy}"
    monkeypatch.setattr(loading, "stage", partial(_without, ""))
    with pytest.raises(UnreadableInputError, match=f"does not see the database \\({made.path}\\)"):
        ingest([folder / "a.smf"], made, loaded_by=partial(loaded_by, spark))
    monkeypatch.setattr(loading, "look", partial(_without, "x"))
    with pytest.raises(UsageError) as refused:
        ingest([folder / "a.smf"], made, loaded_by=partial(loaded_by, spark))
    assert str(refused.value) == f"{made.path}: executor {host} does not see this folder; {remedy}"
    monkeypatch.setattr(loading, "look", _older)
    with pytest.raises(UsageError, match=r"it has Plexlens 0\.0\.1, and this is "):
        ingest([folder / "a.smf"], made, loaded_by=partial(loaded_by, spark))
    assert not list((made.path / "staging").iterdir())


def _without(path: str, asked: Any, access: Any = None) -> staging_task.Answer:
    del asked, access
    return replace(staging_task.look([]), unseen=path or "/elsewhere")


def _older(asked: Any, access: Any = None) -> staging_task.Answer:
    del asked, access
    return replace(staging_task.look([]), version="0.0.1")


def test_a_task_whose_run_has_ended_stages_nothing(folder: Path, tmp_path: Path) -> None:
    """Tasks may still start after their driver was killed."""
    made = Pdb.create(tmp_path / "pdb")
    path = str(folder / "d.smf")
    task = staging_task.Task(path, path, str(made.path), "spark-gone", (), "1047", False, 1 << 20, USUAL, 1)
    answer = staging_task.stage(task)
    assert answer.unseen == str(made.path / "staging" / "spark-gone")
    assert answer.result is None
    assert not list((made.path / "staging").iterdir())


def test_errors_go_from_a_process_to_another() -> None:
    """Their arguments have names, which pickle does not keep by itself."""
    error = UnreadableInputError(file="day1.smf", what="it ends", remedy="send it again", record_no=3, offset=0)
    several = IngestFailuresError([error], ["result"])
    for one in (error, several):
        found = pickle.loads(pickle.dumps(one))
        assert type(found) is type(one)
        assert str(found) == str(one)
        assert found.exit_code == one.exit_code
    assert pickle.loads(pickle.dumps(error)).offset == 0


def test_executors_without_plexlens() -> None:
    """The text is that of Spark where the package is missing."""
    error = loading._unusable(RuntimeError("Traceback\nModuleNotFoundError: No module named 'plexlens'"))
    assert str(error) == (
        "executors have no Plexlens, or not this version; install it on each of them, in the Python that the variable "
        "PYSPARK_PYTHON names"
    )
