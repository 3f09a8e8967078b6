"""Which metric views are made for a query: those that it names, all where it may list them, else none."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.errors import UsageError
from plexlens.metrics import GRAINS
from plexlens.metrics.user_query import run_query
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import tables_of
from tests.records import dump, record


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Pdb:
    """A database of two records that no metric view reads."""
    folder = tmp_path_factory.mktemp("query")
    (folder / "day.smf").write_bytes(dump(record(200, "SYS1", b"one"), record(201, "SYS1", b"two")))
    made = Pdb.open_or_create(folder / "pdb")
    ingest([folder / "day.smf"], made)
    return made


@pytest.fixture
def made(pdb: Pdb, monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The grains that `attach` is asked for by each query; all of them where it is not told any."""
    asked: list[set[str]] = []

    def attach(inputs: object, names: set[str] | None) -> None:
        asked.append(set(GRAINS) if names is None else names)

    monkeypatch.setattr("plexlens.metrics.user_query.attach", attach)
    return asked


@pytest.mark.parametrize(
    "query",
    [
        "select 1 a, 2 b",
        "select count(*) from smf_record",
        "select count(*) from SMF_Record",
        'select count(*) from main."smf_record"',
        "with mine as (select * from smf_record), Other as (from mine) select count(*) from other",
        "select count(*) from smf_record where exists (select 1 from source)",
        "select sum(i) from range(10) t(i)",
    ],
)
def test_a_query_of_tables_makes_no_view(pdb: Pdb, made: list[set[str]], query: str) -> None:
    assert run_query(pdb.connect(), query, "pdb").num_rows == 1
    assert made == [set()]


@pytest.mark.parametrize(
    "query",
    [
        "show tables",
        "select count(*) from duckdb_views()",
        "select count(*) from information_schema.tables",
        "select count(*) from pg_catalog.pg_views",
        "select count(*) from pragma_table_info('smf_record')",
        "select count(*) from query('select 1')",
        "select count(*) from query_table('smf_' || 'record')",
        "describe smf_record",
        "explain select count(*) from smf_record",
        "pivot smf_record on record_type using count(*)",
    ],
)
def test_a_query_that_may_list_views_makes_all(pdb: Pdb, made: list[set[str]], query: str) -> None:
    assert run_query(pdb.connect(), query, "pdb").num_rows >= 1
    assert made == [set(GRAINS)]


def test_a_query_that_names_grains_makes_these(pdb: Pdb, made: list[set[str]]) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        run_query(pdb.connect(), "select * from Coupling_Structure, smf_record, job", "pdb")
    assert made == [{"coupling_structure", "job"}]


def test_a_name_that_is_not_there_is_looked_for_among_all(tmp_path: Path) -> None:
    from tests.example_file import write_example

    write_example(tmp_path / "example.smf")
    example = Pdb.open_or_create(tmp_path / "pdb")
    ingest([tmp_path / "example.smf"], example)
    with pytest.raises(UsageError, match='Did you mean "coupling_structure"'):
        run_query(example.connect(), "select * from coupling_structures", "pdb")
    connection = example.connect()
    assert run_query(connection, "select count(*) n from smf_record", "pdb").num_rows == 1
    assert not GRAINS.keys() & set(tables_of(connection))
