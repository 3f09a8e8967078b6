"""Each form that is replaced for Spark gives DuckDB's value there, on values that show whether it was replaced."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot

from plexlens.metrics.spark_dialect import printed
from plexlens.pdb.engine import connect

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

MOMENT = "timestamptz '2026-03-02 10:00:00.250000+00'"

FORMS = {
    "fractions of a second": f"select epoch({MOMENT}) as a",
    "microseconds": f"select epoch_us({MOMENT}) as a",
    "a moment from seconds": "select epoch_us(to_timestamp(1772442000.25)) as a",
    "microseconds between moments": f"select date_diff('microsecond', {MOMENT}, {MOMENT} + interval 3 second) as a",
    "not a number of null": "select isnan(null::double) as a, isnan('nan'::double) as b, isnan(1.0::double) as c",
    "numbers with a point are doubles": "select 1.0 / 3 as a, 1e6 as b",
    "sum of a list with nulls": "select list_sum([1.5, null, 2.0]) as a, list_sum([null::double, null]) as b",
    "sum of a list of any length": "select list_sum(list_transform([1, 2, 9], lambda n: map_extract_value(m, n))) as a,"
    " list_sum(list_transform([9], lambda n: map_extract_value(m, n))) as b"
    " from (select map_from_entries(list((k, v))) as m from (values (1, 1.5), (2, 2.0)) t(k, v))",
    "a null to be printed": "select printf('%04X', null::bigint) as a, printf('%s', null::varchar) as b,"
    " printf('%d', 7) as c",
    "the value at the last row that has one": "select arg_max(v, t) as a, arg_min(v, t) as b"
    " from (values (1, null), (2, 'x'), (3, 'y'), (4, null)) r(t, v)",
    "dates": "select epoch_us(try_strptime('2026-03-02', '%Y-%m-%d')) as a, try_strptime('x', '%Y') is null as b",
    "an empty range": "select n, unnest(range(0, n)) as a from (values (0), (3)) t(n)",
    "a union by name": "select 1 as a, 2 as b union all by name select 3 as b, 4 as a order by a",
    "a union by name without a column": "select 1 as a union all by name select 2 as a, 5 as b order by a",
    "a column replaced": "select a, b from (select * replace (b + 10 as b) from (select 1 as a, 2 as b))",
    "the last row of each": "select k, v from (values (1, 2), (1, 5), (2, 3)) t(k, v)"
    " qualify row_number() over (partition by k order by v desc) = 1 order by k",
    "a named window with a frame": "select v, sum(v) over (w rows between 1 preceding and current row) as s"
    " from (values (1, 1), (2, 5), (3, 7)) t(k, v) window w as (order by k) order by k",
    "a filter of a window": "select k, count(*) filter (where v > 2) over (order by k) as n"
    " from (values (1, 1), (2, 5), (3, 7)) t(k, v) order by k",
    "two lists side by side": "select unnest([1, 2]) as a, unnest([3.5, 4.5]) as b order by a",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_has_the_same_value(spark: Any, form: str) -> None:
    connection = connect()

    def columns_of(query: str) -> list[str]:
        return [column[0] for column in connection.execute(f"describe {query}").fetchall()]

    expected = connection.execute(FORMS[form]).fetchall()
    table = spark.sql(printed(sqlglot.parse_one(FORMS[form], read="duckdb"), columns_of)).toArrow()
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert len(rows) == len(expected)
    for row, wanted in zip(sorted(rows, key=str), sorted(expected, key=str), strict=True):
        assert [str(value) for value in row] == [str(value) for value in wanted]
