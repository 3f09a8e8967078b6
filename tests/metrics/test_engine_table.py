"""What the engine keeps of a grain: numbers, not the decimals that DuckDB makes of literals."""

import ibis

from plexlens.metrics.engine_table import keep


def test_sums_of_literals_are_floating_point_numbers() -> None:
    backend = ibis.duckdb.connect()
    backend.raw_sql("create table threads as select * from (values ('A'), ('A'), ('B')) as t(plan)")
    threads = backend.table("threads").mutate(one=ibis.literal(1.0))
    keep(backend, "kept", threads.group_by("plan").aggregate(records=threads.one.sum()))
    assert {row["plan"]: row["records"] for row in backend.table("kept").to_pyarrow().to_pylist()} == {
        "A": 2.0,
        "B": 1.0,
    }
    assert backend.table("kept").schema()["records"].is_float64()
