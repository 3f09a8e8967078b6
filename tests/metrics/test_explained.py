"""Statements of views and roll-ups are printed for another engine, and read back as what they were."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Grain
from plexlens.metrics.evaluate import evaluate, facts, view_select
from plexlens.metrics.explained import explained, laid_out
from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import add_table, connect, rows_of
from tests.metrics.raw import inputs, row
from tests.metrics.test_reference import every_grain, every_table


@pytest.fixture(scope="module")
def empty() -> Inputs:
    """Every raw table, without rows."""
    connection = connect()
    for name, schema in every_table().items():
        add_table(connection, name, schema.empty_table())
    return Inputs(connection)


@every_grain
def test_each_statement_goes_through_both_printers(empty: Inputs, grain: Grain) -> None:
    rows = facts(empty, grain)
    rolled = evaluate(empty, grain, by=("system",), time="all")
    assert rows is not None and rolled is not None
    for statement in (view_select(rows, grain), rolled.sql):
        read = sqlglot.parse_one(statement, read="duckdb")
        for dialect in ("duckdb", "spark"):
            printed = read.sql(dialect, comments=False)
            assert sqlglot.parse_one(printed, read=dialect).sql(dialect) == printed


def test_what_is_printed_gives_the_rows_of_the_view() -> None:
    raw = inputs(
        smf74_4_local_cf=[row(1, r744fnam="CF01")],
        smf74_4_request=[row(1, r744snam="DSNDB0A_LOCK1", r744styp=3.0, r744ssrc=900.0, r744sstm=0.018)],
    )
    (found,) = rows_of(raw.connection, explained(raw, "coupling_structure"))
    assert found["structure_type"] == "lock"
    assert found["sync_per_second"] == pytest.approx(1.0)
    assert found["sync_service_time"] == pytest.approx(20e-6)


def test_a_view_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no metric view coupling_structur;"):
        explained(inputs(), "coupling_structur")
    with pytest.raises(NothingUsableError, match="no source of mq_log"):
        explained(inputs(), "mq_log")


def test_layout_keeps_what_a_statement_says() -> None:
    text: Any = laid_out("select 1 as a, 'x' as b")
    assert text.count("\n") > 2
    assert sqlglot.parse_one(text, read="duckdb") == sqlglot.parse_one("select 1 as a, 'x' as b", read="duckdb")
    assert set(GRAINS)
