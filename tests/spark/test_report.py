"""Reports and findings from facts that Spark computes, against those of the embedded engine."""

from __future__ import annotations

import math
from typing import Any

import pytest

from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.evaluate import available
from plexlens.metrics.facts import facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, resolve
from plexlens.pdb import Pdb, ingest
from plexlens.report.of_database import report_of
from plexlens.report.pages import PAGES
from plexlens.spark.facts import facts_of
from tests.example_file import write_example
from tests.spark.test_views import differences

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Pdb:
    folder = tmp_path_factory.mktemp("report")
    write_example(folder / "example.smf")
    made = Pdb.create(folder / "pdb")
    ingest([folder / "example.smf"], made)
    return made


def unequal(one: Any, other: Any, place: str = "") -> list[str]:
    """Places at which two JSON values differ; numbers by more than 1e-9 of the larger."""
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            return [f"{place}: keys {[*one]}, {[*other]}"]
        return [text for key in one for text in unequal(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{place}: {len(one)} and {len(other)} entries"]
        return [
            text for at, (a, b) in enumerate(zip(one, other, strict=True)) for text in unequal(a, b, f"{place}[{at}]")
        ]
    if isinstance(one, float) and isinstance(other, float):
        return [] if math.isclose(one, other, rel_tol=1e-9, abs_tol=0) else [f"{place}: {one}, {other}"]
    return [] if type(one) is type(other) and one == other else [f"{place}: {one!r}, {other!r}"]


def test_unequal_values_are_found() -> None:
    assert unequal({"a": [1, 2.0, None]}, {"a": [1, 2.0 + 1e-12, None]}) == []
    assert unequal({"a": [1, 2.0]}, {"a": [1, 2.00001]}) == [".a[1]: 2.0, 2.00001"]
    assert unequal({"a": [1]}, {"a": [1.0]}) == [".a[0]: 1, 1.0"]
    assert unequal({"a": 1}, {"b": 1}) != []
    assert unequal([1], [1, 2]) == [": 1 and 2 entries"]


def test_report_is_that_of_the_embedded_engine(spark: Any, pdb: Pdb) -> None:
    """Every page and finding; sums may differ in their last digit, since the rows are added in another order."""
    asked: list[int] = []
    bring = facts_of(spark, pdb)

    def brought(inputs: Inputs, rows: Any) -> Any:
        asked.append(1)
        return bring(inputs, rows)

    expected = report_of(pdb, "pdb").to_json()
    found = report_of(pdb, "pdb", brought=brought).to_json()
    inputs = Inputs(pdb.connect())
    there = {name for page in PAGES for name in page.grains if available(inputs, GRAINS[name])}
    assert len(asked) >= len(there) > 10
    assert len(expected["findings"]) > 0
    assert unequal(expected, found) == []


@pytest.mark.parametrize("name", ["workload_period", "coupling_structure"])
def test_facts_of_a_selection(spark: Any, pdb: Pdb, name: str) -> None:
    """A service class where the grain has it, with the rows of all classes, which measure the time."""
    connection = pdb.connect()
    selection = resolve(Selection(classes=("UPDA",)), connection, "pdb")
    expected = facts(Inputs(connection, selection, reads_rollups=False), GRAINS[name])
    found = facts(Inputs(connection, selection, brought=facts_of(spark, pdb)), GRAINS[name])
    assert expected is not None and found is not None
    assert expected.count() > 0
    assert differences(expected.arrow(), found.arrow()) == []
    assert (expected.timed is None) == (found.timed is None)
    if expected.timed is not None and found.timed is not None:
        assert differences(expected.timed.arrow(), found.timed.arrow()) == []
