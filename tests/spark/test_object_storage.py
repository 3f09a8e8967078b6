"""A database on object storage, read by Spark's own S3 file system from a real S3 server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plexlens.errors import UnreadableInputError
from plexlens.metrics.explained import explained
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.spark import register
from plexlens.spark.needs import reading
from plexlens.spark.views import s3a_options
from tests.example_file import write_example
from tests.spark.s3_server import s3_server
from tests.spark.test_views import differences

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

ADDRESS = "s3://data/plex.pdb"


@pytest.fixture
def server(spark: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty bucket ``data``, to which the environment leads."""
    if not os.environ.get("PLEXLENS_S3A_JARS"):
        pytest.skip("PLEXLENS_S3A_JARS names no jars of hadoop-aws")
    with s3_server(monkeypatch):
        yield


@pytest.mark.usefixtures("server")
def test_a_grain_is_that_of_duckdb(spark: Any, tmp_path: Path) -> None:
    write_example(tmp_path / "example.smf")
    made = Pdb.open_or_create(ADDRESS)
    ingest([tmp_path / "example.smf"], made)
    connection = made.connect()
    register(spark, ADDRESS)
    for name in ("coupling_structure", "db2_pool", "workload_period"):
        expected = connection.execute(explained(Inputs(connection), name)).to_arrow_table()
        assert expected.num_rows
        assert differences(expected, spark.table(name).toArrow()) == []


def test_options_come_from_the_environment() -> None:
    assert s3a_options({"AWS_REGION": ""}) == {}
    assert s3a_options({"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "t"}) == {
        "fs.s3a.access.key": "key",
        "fs.s3a.secret.key": "secret",
        "fs.s3a.session.token": "t",
    }
    assert s3a_options({"AWS_ENDPOINT_URL": "http://host:9000", "AWS_DEFAULT_REGION": "eu-central-1"}) == {
        "fs.s3a.endpoint": "http://host:9000",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.endpoint.region": "eu-central-1",
    }


def test_spark_without_s3(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("obstore")
    from plexlens.pdb.objects import object_path

    with pytest.raises(UnreadableInputError) as raised, reading(object_path(ADDRESS)):
        raise RuntimeError("java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found")
    assert str(raised.value) == (
        "s3://data/plex.pdb: Spark does not read it: java.lang.ClassNotFoundException: Class "
        "org.apache.hadoop.fs.s3a.S3AFileSystem not found; give Spark the package org.apache.hadoop:hadoop-aws of its "
        "Hadoop (spark.jars.packages), or leave out --engine spark"
    )
