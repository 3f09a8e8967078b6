"""The metrics give every published number back that the example's records determine, to its printed precision."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from tests.example.evaluation import Metrics, disagreement
from tests.example.paths import EXPECTED


def _expected() -> list[dict[str, str]]:
    with EXPECTED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def pdb(dump: Path) -> Iterator[Pdb]:
    with Pdb.temporary() as pdb:
        ingest([dump], pdb)
        yield pdb


@pytest.fixture(scope="module")
def metrics(pdb: Pdb) -> Metrics:
    return Metrics(Inputs(pdb.connect()))


@pytest.mark.parametrize(
    "line",
    _expected(),
    ids=lambda line: f"{line['study']}/{line['table']}/{line['row']}/{line['column']}/{line['run']}",
)
def test_published_number(metrics: Metrics, line: dict[str, str]) -> None:
    assert disagreement(line, metrics.value(line["value"], line["run"])) is None


def test_a_number_that_is_off_in_the_last_digit_is_noticed(metrics: Metrics) -> None:
    line = next(line for line in _expected() if line["printed"] == "220.6")
    value = metrics.value(line["value"], line["run"])
    assert value is not None
    assert disagreement(line, value) is None
    assert disagreement(line | {"printed": "220.7"}, value) is not None
    assert disagreement(line | {"printed": "220.5"}, value) is not None
    assert disagreement(line, None) == "the metric is null"


def test_the_dump_is_whole(pdb: Pdb) -> None:
    connection = pdb.connect()
    damage = connection.table("damage").to_arrow_table().to_pylist()
    assert [row["reason"] for row in damage if row["severity"] != "info"] == []
    inventory = connection.table("smf_record").to_arrow_table().to_pylist()
    assert Counter(row["record_type"] for row in inventory if row["decoded"]) == {
        70: 6,
        72: 69,
        74: 10,
        100: 16,
        101: 80,
        110: 7,
    }
    assert {row["record_type"] for row in inventory if not row["decoded"]} == {2, 3}


def test_castouts_of_a_pool_are_counted_once_however_many_systems_report_them(metrics: Metrics) -> None:
    apart = [
        metrics.value(f"coupling_structure.castouts_per_second[system={system},structure=DSNDB2D_GBP1]", "A3")
        for system in ("SYS1", "SYS2")
    ]
    together = metrics.value("coupling_structure.castouts_per_second[structure=DSNDB2D_GBP1]", "A3")
    assert apart == [together, together]
