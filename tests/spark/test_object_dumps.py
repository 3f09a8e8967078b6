"""Dumps in a bucket read by Spark's tasks against the same dumps on a disk."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.example_file import write_example
from tests.spark.s3_server import s3_server

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with dumps that overlap, one of them cut and one packed; the bucket ``data`` has the same in ``day``."""
    write_example(tmp_path / "a.smf")
    data = (tmp_path / "a.smf").read_bytes()
    (tmp_path / "b.smf").write_bytes(data[:-10])
    (tmp_path / "c.smf.gz").write_bytes(gzip.compress(data))
    with s3_server(monkeypatch):
        from plexlens.pdb.object_store import bucket_of

        for path in tmp_path.iterdir():
            bucket_of("data").put(f"day/{path.name}", path.read_bytes())
        yield tmp_path


def read(spark: Any, table: str, place: str, split_bytes: str = "128MiB") -> Any:
    from plexlens.spark import add_source

    # The server of this test is another than that of the test before.
    add_source(spark)
    return spark.read.format("plexlens").option("table", table).option("split_bytes", split_bytes).load(place)


def rows(frame: Any, place: str) -> list[str]:
    return sorted(repr(row).replace(place, "PLACE") for row in frame.toArrow().to_pylist())


@pytest.mark.parametrize("table", ["smf74_4_request", "smf110_1_performance", "smf_record", "damage", "records"])
def test_rows_are_those_of_the_same_files(spark: Any, folder: Path, table: str) -> None:
    expected = rows(read(spark, table, str(folder)), str(folder))
    assert expected
    assert rows(read(spark, table, "s3a://data/day"), "s3a://data/day") == expected
    parts = read(spark, table, "s3://data/day", "30 kB")
    assert parts.rdd.getNumPartitions() > (2 if table == "records" else 10)
    assert rows(parts, "s3://data/day") == expected


def test_patterns_and_damage_bear_the_address(spark: Any, folder: Path) -> None:
    del folder
    damage = read(spark, "damage", "s3a://data/day/*.smf").toArrow().to_pylist()
    assert [(row["file"], row["reason"]) for row in damage] == [("s3a://data/day/b.smf", "cut_record")]
    counts = read(spark, "records", "s3a://data/day/*.smf").toArrow().to_pylist()
    assert {row["file"] for row in counts} == {"s3a://data/day/a.smf", "s3a://data/day/b.smf"}


def test_what_cannot_be_read_is_named(spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    for place, said in (
        ("s3a://data/none.smf", "s3a://data/none.smf: there is no such object; check the address"),
        ("s3a://data/none/*", "s3a://data/none/[*]: no object matches this pattern"),
        ("s3a://none/day/", "s3a://none/day/: the object cannot be listed: the server answers 404 NoSuchBucket"),
    ):
        with pytest.raises(Exception, match=said):
            read(spark, "damage", place).toArrow()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PLEXLENS_S3_TRIES", "1")
    with pytest.raises(Exception, match=r"s3a://data/day/a\.smf: .* the server does not answer"):
        read(spark, "damage", "s3a://data/day/a.smf").toArrow()


def test_an_object_that_changed_since_the_plan_is_not_read(folder: Path) -> None:
    from plexlens.errors import SourceChangedError
    from plexlens.pdb.object_store import bucket_of
    from plexlens.spark.dumps import DumpReader, files_of, plan

    planned = plan(files_of("s3a://data/day"), "damage", split_bytes=30_000)
    bucket_of("data").put("day/a.smf", (folder / "b.smf").read_bytes())
    reader = DumpReader({"path": "s3a://data/day", "table": "damage"}, {})
    of_a, of_b = ([part for part in planned if part.path.endswith(name)] for name in ("a.smf", "b.smf"))
    assert len(of_a) > 2
    for part in of_a:
        with pytest.raises(SourceChangedError, match=r"s3a://data/day/a\.smf: the object changed"):
            list(reader.read(part))
    assert sum(batch.num_rows for part in of_b for batch in reader.read(part)) == 1


def test_ingest_on_spark_reads_a_bucket(spark: Any, folder: Path, tmp_path: Path) -> None:
    """Rows, outcomes and damage are those of the embedded engine with the same files."""
    from functools import partial

    from plexlens.errors import IngestFailuresError
    from plexlens.pdb import Pdb, ingest
    from plexlens.spark.loading import loaded_by
    from tests.storage.test_dumps import everything

    there, here = Pdb.create(tmp_path / "there"), Pdb.create(tmp_path / "here")
    with pytest.raises(IngestFailuresError) as raised:
        ingest(["s3a://data/day/*", "s3a://data/none.smf"], there, loaded_by=partial(loaded_by, spark))
    assert [str(error) for error in raised.value.failures] == [
        "s3a://data/none.smf: there is no such object; check the address, and AWS_ENDPOINT_URL"
    ]
    expected = ingest(sorted(folder.glob("*.smf*")), here)
    assert [(one.file.rpartition("/")[2], one.outcome) for one in raised.value.results] == [
        (one.file.rpartition("/")[2], one.outcome) for one in expected
    ]
    assert everything(there, "s3a://data/day") == everything(here, str(folder))


def test_no_secret_is_printed() -> None:
    from plexlens.pdb.object_store import Access

    assert "secret" not in repr(Access({"AWS_SECRET_ACCESS_KEY": "secret"}))
