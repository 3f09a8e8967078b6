"""Statements of views and roll-ups are printed for another engine, and read back as what they were."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.applied_metrics import view_select
from plexlens.metrics.definition import Grain
from plexlens.metrics.evaluate import available, evaluate, facts
from plexlens.metrics.explained import explained, laid_out
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import resolve, selected
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import Connection, add_table, connect, rows_of
from tests.draws import SOAK
from tests.ingest.test_impossible_values import CASES, dump_of
from tests.metrics import test_local_time as local
from tests.metrics.raw import inputs, row
from tests.metrics.test_reference import every_grain, every_table


@pytest.fixture(scope="module")
def empty() -> Inputs:
    """Every raw table, without rows."""
    connection = connect()
    for name, schema in every_table().items():
        add_table(connection, name, schema.empty_table())
    return Inputs(connection)


@pytest.mark.drawn
@every_grain
def test_each_statement_goes_through_both_printers(empty: Inputs, grain: Grain) -> None:
    rows = facts(empty, grain)
    rolled = evaluate(empty, grain, by=("system",), time="all")
    assert rows is not None and rolled is not None
    for number, statement in enumerate((view_select(rows, grain), rolled.sql), start=list(GRAINS).index(grain.name)):
        read = sqlglot.parse_one(statement, read="duckdb")
        # Outside of the soak one printer has the view and the other the roll-up, of the next grain the other way round:
        # the statements of neighbours are made by the same code, and each printer meets dozens of each kind.
        for dialect in ("duckdb", "spark") if SOAK else (("duckdb", "spark")[number % 2],):
            printed = read.sql(dialect, comments=False)
            # Nothing else prints the tree that is read again, so that printing may change it.
            assert sqlglot.parse_one(printed, read=dialect).sql(dialect, copy=False) == printed


def test_what_is_printed_gives_the_rows_of_the_view() -> None:
    raw = inputs(
        smf74_4_local_cf=[row(1, r744fnam="CF01")],
        smf74_4_request=[row(1, r744snam="DSNDB0A_LOCK1", r744styp=3.0, r744ssrc=900.0, r744sstm=0.018)],
    )
    (found,) = rows_of(raw.connection, explained(raw, "coupling_structure"))
    assert found["structure_type"] == "lock"
    assert found["sync_per_second"] == pytest.approx(1.0)
    assert found["sync_service_time"] == pytest.approx(20e-6)


def bare(files: Mapping[str, str]) -> Connection:
    """A DuckDB that knows nothing but Parquet files, a view for the files of each table."""
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    for table, path in files.items():
        connection.execute(
            f"create view {table} as select * from read_parquet('{path}', union_by_name = true, "
            "hive_partitioning = false)"
        )
    return connection


def of_view(there: Inputs, name: str) -> list[str]:
    """The rows of a metric view, as a connection of Plexlens gives them."""
    rows = facts(there, GRAINS[name])
    assert rows is not None
    return sorted(map(repr, rows_of(there.connection, view_select(rows, GRAINS[name]))))


def test_values_that_cannot_be_are_left_out_by_a_statement_pasted_elsewhere(tmp_path: Path) -> None:
    cases = [case for case in CASES if case.table.startswith(("smf74_4_", "smf70_1_", "smf71_"))]
    pdb = Pdb.create(tmp_path / "pdb")
    ingest(dump_of(tmp_path / "d.smf", cases, impossible=True), pdb)
    connection = pdb.connect()
    there = Inputs(connection)
    files = {
        file.parents[1].name: f"{file.parents[1]}/*/*.parquet" for file in tmp_path.glob("pdb/tables/**/*.parquet")
    }
    elsewhere = bare(files)
    marked = 0
    for name, grain in GRAINS.items():
        if available(there, grain):
            text = explained(there, name)
            assert "plausible." not in text
            marked += "plausible_smf" in text
            assert sorted(map(repr, rows_of(elsewhere, text))) == of_view(there, name)
    assert marked


def test_reports_are_placed_in_time_by_a_statement_pasted_elsewhere(tmp_path: Path) -> None:
    """The hour of SYSA is matched by its dump, at UTC-04:00; that of SYSB by nothing."""
    reports = [local.interval("xml", "SYSA", 13.5, None), local.interval("xml", "SYSB", 12.5, None)]
    dumps = [local.interval("dump", "SYSA", 16.5, -4.0), local.interval("dump", "SYSA", 17.5, -4.0)]
    tables = local.raw(dumps[:1], reports, [])
    tables["smf74_4_processor"] += local.raw(dumps[1:], [], [])["smf74_4_processor"]
    tables["smf70_1_cpu_control"] = [local.raw_row(9, dumps[1])]
    there = inputs(**tables)
    for name in tables:
        there.connection.execute(f"copy {name} to '{tmp_path}/{name}.parquet'")
    elsewhere = bare({name: f"{tmp_path}/{name}.parquet" for name in tables})
    text = explained(there, "coupling_facility")
    rows = rows_of(elsewhere, text)
    assert {row["system"]: row["utc_offset"] for row in rows} == {"SYSA": -14400.0, "SYSB": None}
    assert sorted(map(repr, rows)) == of_view(there, "coupling_facility")
    part = Inputs(there.connection, resolve(selected(systems=("SYSB",)), there.connection, "database"))
    text = explained(part, "coupling_facility")
    assert part.catalog not in text
    assert sqlglot.parse_one(explained(part, "coupling_facility", "spark"), read="spark")
    assert [row["system"] for row in rows_of(elsewhere, text)] == ["SYSB"]


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
