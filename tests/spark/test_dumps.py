"""Dumps read by Spark's tasks against the same dumps in a performance database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plexlens.pdb import Pdb, ingest
from tests.example_file import write_example
from tests.spark.test_views import differences

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

TABLES = ("smf74_4_request", "smf110_1_performance", "smf100_ifcid1_q3st", "smf_record")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two dumps that overlap: the second is the first with a byte of damage, under another name."""
    made = tmp_path_factory.mktemp("dumps")
    write_example(made / "a.smf")
    data = (made / "a.smf").read_bytes()
    # The length in the last record's descriptor word: the record is cut, everything before it came in a.smf.
    (made / "b.smf").write_bytes(data[:-10])
    return made


def read(spark: Any, table: str, place: Path) -> Any:
    from plexlens.spark import add_source

    add_source(spark)
    return spark.read.format("plexlens").option("table", table).load(str(place))


@pytest.mark.parametrize("table", TABLES)
def test_rows_are_those_of_ingest(spark: Any, folder: Path, tmp_path: Path, table: str) -> None:
    """One of both dumps keeps each record, as when they are ingested in the order of their names."""
    pdb = Pdb.open_or_create(tmp_path / "pdb")
    ingest([folder / "a.smf", folder / "b.smf"], pdb)
    expected = pdb.connect().table(table).to_arrow_table().drop(["source_id"])
    found = read(spark, table, folder).drop("source_id").toArrow()
    assert expected.num_rows > 0
    if table == "smf_record":
        # Headers and trailers of dumps (types 2 and 3) measure nothing, and each dump has its own.
        hashes = [
            sorted(int(row["hash"]) for row in rows.to_pylist() if row["record_type"] not in (2, 3))
            for rows in (found, expected)
        ]
        assert hashes[0] == hashes[1]
        return
    found = found.select(expected.column_names)
    as_text = [name for name in found.column_names if str(found.schema.field(name).type).startswith("decimal")]
    for name in as_text:
        found = found.set_column(found.column_names.index(name), name, found[name].cast(expected[name].type))
    assert differences(expected, found) == []


@pytest.mark.parametrize("table", [*TABLES, "damage", "records"])
def test_rows_of_parts_are_those_of_whole_files(spark: Any, folder: Path, table: str) -> None:
    """Parts of 20,000 bytes; the hand-over itself is tested in tests/ingest/test_smf_splits.py."""
    from plexlens.spark import add_source
    from plexlens.spark.dumps import files_of, plan

    add_source(spark)
    source = spark.read.format("plexlens").option("table", table)
    whole = source.option("split_bytes", "1GiB").load(str(folder)).toArrow()
    parts = source.option("split_bytes", "20 kB").load(str(folder))
    planned = plan(files_of(str(folder)), table, split_bytes=20_000)
    assert parts.rdd.getNumPartitions() == len(planned)
    assert len(planned) == 2 if table == "records" else len(planned) > 10
    assert whole.num_rows > 0
    assert sorted(map(repr, parts.toArrow().to_pylist())) == sorted(map(repr, whole.to_pylist()))


def test_damage_and_counts(spark: Any, folder: Path) -> None:
    damage = read(spark, "damage", folder).toArrow().to_pylist()
    # The example is sound; the other dump ends ten bytes early.
    assert [(Path(row["file"]).name, row["reason"]) for row in damage] == [("b.smf", "cut_record")]
    counts = read(spark, "records", folder).toArrow().to_pylist()
    whole = {Path(row["file"]).name: row for row in counts if row["record"] is None}
    listed = [row["records"] for row in counts if row["record"] and row["file"].endswith("a.smf")]
    assert whole["a.smf"]["records"] == sum(listed)
    assert whole["a.smf"]["left_out"] == 0
    assert whole["b.smf"]["left_out"] > 0


def test_wrong_use(spark: Any, folder: Path) -> None:
    for table, place, said in (
        ("smf74_4_requests", str(folder), "there is no table smf74_4_requests; set option table to one of smf74_4_req"),
        ("", str(folder), "no table is named"),
        ("damage", str(folder / "*.none"), "there is no such file"),
        ("damage", "hdfs://host/day.smf", "dumps are read from paths of a file system, and from s3:// and s3a://"),
    ):
        with pytest.raises(Exception, match=said):
            read(spark, table, Path(place) if "://" not in place else place).toArrow()  # type: ignore[arg-type]
