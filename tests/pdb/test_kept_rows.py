"""Rows kept in a file, compared with the same rows in a temporary table; where the file goes, and when it goes away."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import duckdb
import pytest

from plexlens.errors import UsageError
from plexlens.example import write_example
from plexlens.metrics.user_query import confine
from plexlens.pdb import Pdb, ingest, kept_rows
from plexlens.pdb.engine import Connection, arrow, connect, session_of
from plexlens.report.of_database import report_of

#: Rows with every type that facts have, and nulls of each.
ROWS = """
select 'S' || i::varchar as system, null::varchar as class_name, i % 2 = 0 as local_time,
    to_timestamp(1700000000 + i) as "interval", i / 7.0::double as seconds, null::double as nothing,
    if(i = 3, 'nan'::double, -0.0::double) as odd, if(i % 3 = 0, null, 'ä%1'::varchar) as text
from range(1000) r(i)
"""


@pytest.fixture
def pdb(tmp_path: Path) -> Pdb:
    write_example(tmp_path / "example.smf")
    result = Pdb.create(tmp_path / "pdb")
    ingest([tmp_path / "example.smf"], result)
    return result


def folder_of(connection: Connection) -> Path:
    return Path(str(arrow(connection, "select current_setting('temp_directory') as folder")["folder"][0].as_py()))


def files(connection: Connection) -> list[str]:
    return sorted(path.name for path in folder_of(connection).glob("*.parquet"))


def test_rows_in_a_file_are_those_of_a_table(pdb: Pdb) -> None:
    connection = pdb.connect()
    kept_rows.keep(connection, "as_table", ROWS)
    kept_rows.keep(connection, "as_file", ROWS, in_file=True)
    table, file = (arrow(connection, f"from {name}") for name in ("as_table", "as_file"))
    assert file.schema == table.schema
    assert repr(file.to_pylist()) == repr(table.to_pylist())  # repr, since NaN differs from itself
    assert files(connection) == ["as_file.parquet"]


def test_a_file_goes_with_its_view_its_session_and_its_connection(pdb: Pdb) -> None:
    connection = pdb.connect()
    folder = folder_of(connection)
    session = session_of(connection)
    kept_rows.keep(connection, "own", ROWS, in_file=True)
    kept_rows.keep(session, "of_session", ROWS, in_file=True)
    kept_rows.keep(session, "dropped", ROWS, in_file=True)
    kept_rows.keep(session, "table_dropped", ROWS)
    kept_rows.drop(session, "dropped", in_file=True)
    kept_rows.drop(session, "table_dropped", in_file=False)
    assert files(connection) == ["of_session.parquet", "own.parquet"]
    del session
    gc.collect()
    assert files(connection) == ["own.parquet"]
    del connection
    gc.collect()
    assert not folder.exists()


def test_a_folder_without_room_is_named(pdb: Pdb) -> None:
    connection = pdb.connect()
    folder = folder_of(connection)
    shutil.rmtree(folder)
    with pytest.raises(UsageError) as raised:
        kept_rows.keep(connection, "rows", ROWS, in_file=True)
    assert raised.value.file == str(folder)
    assert "TMPDIR" in str(raised.value)


def test_rows_that_cannot_be_read_are_not_blamed_on_the_folder(pdb: Pdb, tmp_path: Path) -> None:
    select = f"from read_parquet('{tmp_path / 'missing.parquet'}')"
    with pytest.raises(duckdb.IOException, match=r"missing\.parquet"):
        kept_rows.keep(pdb.connect(), "rows", select, in_file=True)


def test_rows_are_many_by_the_largest_raw_table(pdb: Pdb, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = pdb.connect()
    rows = {name: info.rows for name, info in pdb.tables().items()}
    names = ("smf74_4_request", "smf72_3_period")
    monkeypatch.setattr(kept_rows, "MANY", max(rows[name] for name in names) * 10)
    assert kept_rows.are_many(connection, names, 10)
    assert not kept_rows.are_many(connection, names, 9)
    assert not kept_rows.are_many(connection, ("no_such_table",), 1000)
    assert not kept_rows.are_many(connect(), names, 1000)  # shows no database
    confine(connection, pdb.path)
    assert not kept_rows.are_many(connection, names, 10)


def test_a_report_says_the_same_from_files(pdb: Pdb, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = report_of(pdb, "pdb", threads=1).to_json()
    kept: list[str] = []
    real = kept_rows.keep

    def keep(connection: Connection, name: str, select: str, *, in_file: bool = False) -> None:
        kept.extend([name] if in_file else [])
        real(connection, name, select, in_file=in_file)

    monkeypatch.setattr(kept_rows, "keep", keep)
    monkeypatch.setattr(kept_rows, "MANY", 0)
    assert report_of(pdb, "pdb", threads=1).to_json() == tables
    assert any(name.startswith("data_") for name in kept)
    assert any(name.startswith("findings_rows") for name in kept)
