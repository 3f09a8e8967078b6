"""Statements of all grains on random raw tables: no value that a record can have makes DuckDB refuse them."""

from __future__ import annotations

import pytest

from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.explained import explained
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import Connection, add_table, connect
from tests.metrics.random_tables import random_tables


@pytest.fixture(scope="module")
def connection() -> Connection:
    made = connect()
    for name, table in random_tables(1).items():
        add_table(made, name, table)
    return made


@pytest.mark.parametrize("name", sorted(GRAINS))
def test_a_grain_has_rows(connection: Connection, name: str) -> None:
    assert connection.execute(explained(Inputs(connection), name)).to_arrow_table().num_rows
