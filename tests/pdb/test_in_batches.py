"""Results that wait for their reader, which DuckDB before 2.0 can do for ever, and results that do not wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from plexlens.metrics.user_query import run_query
from plexlens.pdb.engine import Connection, arrow, connect, in_batches, let_wait

FILES, PER_FILE = 4, {"many": 681, "few": 249}


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    """Two views of several files each."""
    result = connect(threads=1)
    for name, rows in PER_FILE.items():
        for n in range(FILES):
            numbers = f"select i % 996 as i, i % 3 as g, i * 1.5 as v from range({n * rows}, {n * rows + rows}) t(i)"
            result.execute(f"copy ({numbers}) to '{tmp_path}/{name}{n}.parquet'")
        result.execute(f"create view {name} as from '{tmp_path}/{name}*.parquet'")
    return result


def united() -> str:
    """A union whose parts join what is grouped from another union: two parts fill what their reader has to empty."""
    maximum = "select g, max(o) as o from (select g, v as o from few union all select g, v as o from few) group by g"
    joined = f"select p.i, m.o from few p left join ({maximum}) m on m.g = p.g"
    wide = ", ".join(f"s.v + {n} as c{n}" for n in range(38))
    return " union all ".join(f"select {wide}, c.o from {t} s left join ({joined}) c on c.i = s.i" for t in PER_FILE)


def ended(work: Callable[[], Any]) -> Any:
    """The result of work that could never end."""
    results: list[Any] = []
    thread = Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(60)
    assert results, "it has not ended after a minute"
    return results[0]


ROWS = FILES * sum(PER_FILE.values())


def test_a_result_taken_whole_ends(connection: Connection) -> None:
    assert ended(lambda: arrow(connection, united())).num_rows == ROWS
    assert len(ended(lambda: connection.execute(united()).fetchall())) == ROWS


def test_a_result_in_batches_ends(connection: Connection) -> None:
    expected = sorted(arrow(connection, united()).to_pylist(), key=str)
    reader = ended(lambda: in_batches(let_wait(connection), united(), 500))
    batches = ended(lambda: list(reader))
    assert max(batch.num_rows for batch in batches) <= 500
    assert sorted((row for batch in batches for row in batch.to_pylist()), key=str) == expected


def test_a_query_of_a_user_ends(connection: Connection) -> None:
    assert ended(lambda: run_query(connection, united(), "pdb")).num_rows == ROWS


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 as a, 2 as a union all select 3, 4",
        "select * from range(4) a(i) full join range(2, 7) b(i) on a.i = b.i",
        "select i, i as i from range(9) t(i) order by i desc",
    ],
)
def test_columns_keep_their_names(sql: str) -> None:
    expected = connect().execute(sql).to_arrow_table()
    found = in_batches(let_wait(connect()), sql, 3).read_all()
    assert found.schema.equals(expected.schema)
    assert sorted(map(str, zip(*found.columns, strict=True))) == sorted(map(str, zip(*expected.columns, strict=True)))


def test_rows_of_one_pipeline_are_made_as_they_are_read() -> None:
    rows = 5_000_000
    connection = connect(threads=2)
    connection.execute("create sequence made")
    reader = in_batches(let_wait(connection.cursor()), f"select nextval('made') as n from range({rows})", 1000)
    assert reader.read_next_batch().num_rows == 1000
    (made,) = connection.execute("select last_value from duckdb_sequences()").fetchone() or (0,)
    assert 1000 <= made < rows / 4
    assert 1000 + sum(batch.num_rows for batch in reader) == rows
