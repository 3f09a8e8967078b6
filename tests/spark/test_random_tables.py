"""Metric views on Spark against those of DuckDB, on random tables of every source of the catalogue."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.explained import explained
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import Connection, add_table, connect
from plexlens.spark import register
from plexlens.spark.widening import spark_schema, widened
from tests.metrics.random_tables import random_tables
from tests.spark.test_views import differences

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return random_tables(1)


@pytest.fixture(scope="module")
def connection(tables: dict[str, pa.Table]) -> Connection:
    made = connect()
    for name, table in tables.items():
        add_table(made, name, table)
    return made


@pytest.fixture(scope="module")
def views(spark: Any, tables: dict[str, pa.Table]) -> Any:
    """Views of Spark; of the same names as those of other modules, which registered theirs before."""
    frames = {
        name: spark.createDataFrame(table.cast(widened(table.schema)), schema=spark_schema(table.schema))
        for name, table in tables.items()
    }
    registered = register(spark, frames)
    assert registered.without_source == {}
    return registered


@pytest.mark.parametrize("name", sorted(GRAINS))
def test_grain_is_that_of_duckdb(spark: Any, connection: Connection, views: Any, name: str) -> None:
    expected = connection.execute(explained(Inputs(connection), name)).to_arrow_table()
    assert expected.num_rows
    assert differences(expected, spark.table(name).toArrow()) == []
