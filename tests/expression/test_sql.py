"""The SQL of formulas: as a person would write it, against plain Python on random rows, and in another dialect."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pytest
import sqlglot
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from plexlens.expression import Expression, ExpressionError, parse, sql_of, value
from tests.draws import draws
from tests.expression.trees import NUMBERS, TEXTS, conditions, numbers


def quoted(name: str) -> str:
    return f'"{name}"'


def sql(text: str) -> str:
    return sql_of(parse(text), lambda name: name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a / b", "a / nullif(b, 0)"),
        ("a / (b + c)", "a / nullif(b + c, 0)"),
        ("a / b / c", "a / nullif(b, 0) / nullif(c, 0)"),
        ("a / 2", "a / 2::double"),
        ("a / 0", "a / nullif(0::double, 0)"),
        ("(a + b) * 33 us", "(a + b) * 3.3e-05::double"),
        ("5 % * a", "0.05::double * a"),
        ("a * 0.12345678901234566", "a * 0.12345678901234566e0::double"),
        ("a - (b - c)", "a - (b - c)"),
        ("a - -b", "a - -b"),
        ("-(-a)", "-(-a)"),
        ("total(a)", "a"),
        ("total(a, b)", "case when coalesce(a, b) is not null then coalesce(a, 0) + coalesce(b, 0) end"),
        (
            "total(total(a, b), c)",
            "case when coalesce(a, b, c) is not null then coalesce(a, 0) + coalesce(b, 0) + coalesce(c, 0) end",
        ),
        (
            "total(a, total(b, c))",
            "case when coalesce(a, b, c) is not null then coalesce(a, 0) + (coalesce(b, 0) + coalesce(c, 0)) end",
        ),
        (
            "deviation(a, b, c)",
            "sqrt(case when a / nullif(c, 0) - b / nullif(c, 0) * (b / nullif(c, 0)) < 0 then 0 "
            "else a / nullif(c, 0) - b / nullif(c, 0) * (b / nullif(c, 0)) end)",
        ),
        ("sqrt(a + b)", "sqrt(case when a + b >= 0 then a + b end)"),
        ("if(a > b, a, b)", "case when a > b then a else b end"),
        ("if(a > b, a)", "case when a > b then a end"),
        (
            "if(a > 1, 1, if(b != 1, null, 3))",
            "case when a > 1::double then 1::double when b <> 1::double then null::double else 3::double end",
        ),
        ("known(a) and not known(b)", "a is not null and b is null"),
        ("not (a > 1 or b > 1)", "not (a > 1::double or b > 1::double)"),
        ("a > 1 and (b > 1 and c > 1)", "a > 1::double and b > 1::double and c > 1::double"),
        ("t in ('it''s', 'b')", "t in ('it''s', 'b')"),
        ("starts(t, 'x') or contains(t, '%')", "starts_with(t, 'x') or contains(t, '%')"),
        ("greatest(a, 0)", "greatest(a, 0::double)"),
        ("ceiling(a / b)", "ceil(a / nullif(b, 0))"),
    ],
)
def test_sql_is_what_a_person_writes(text: str, expected: str) -> None:
    assert sql(text) == expected


@pytest.mark.parametrize("text", ["a + sum(b)", "count(a)", "sum_of_products(a, b)"])
def test_a_row_has_no_lists(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"needs a list, and a row has no list.*total\(x, y"):
        sql(text)


def test_names_are_written_as_the_caller_says() -> None:
    assert sql_of(parse("a / b"), quoted) == '"a" / nullif("b", 0)'


@pytest.mark.parametrize("outer", ["sqrt({})", "deviation({}, a, a)", "deviation(a, {}, a)", "total({} + 1, a)"])
def test_what_is_written_twice_does_not_grow_without_bounds(outer: str) -> None:
    text = "a"
    for _ in range(25):
        text = outer.format(text)
    with pytest.raises(ExpressionError, match="too long after expansion"):
        sql(text)


# --- the database and plain Python agree ------------------------------------------------------------------------------

VALUES = st.sampled_from([None, 0.0, 1.0, -1.0, 2.5, 1e-9, 7e12, 33e-6, -0.0, math.nan])
ROWS = st.fixed_dictionaries(
    dict.fromkeys(NUMBERS, VALUES) | {name: st.sampled_from([None, "", "a", "ab", "_%'", "\\"]) for name in TEXTS}
)
CONNECTION = duckdb.connect()


def asked(tree: Expression, row: dict[str, Any]) -> tuple[Any, str]:
    """Value and type that DuckDB gives."""
    columns = ", ".join(f"?::{'double' if name in NUMBERS else 'varchar'} as {quoted(name)}" for name in row)
    try:
        made = sql_of(tree, quoted)
    except ExpressionError as error:
        # Deviations and percentiles write their inputs several times: nested, they pass the limit, as tested above.
        assert "too long after expansion" in str(error)
        reject()
    found = CONNECTION.execute(f"select {made}, typeof({made}) from (select {columns})", list(row.values())).fetchone()
    assert found is not None
    return found


def same(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return first == second or (math.isnan(first) and math.isnan(second))
    return bool(first == second) and type(first) is type(second)


@given(numbers(4), ROWS)
@settings(max_examples=draws(300, soak=10_000), deadline=None)
def test_duckdb_gives_the_number_that_python_gives(tree: Expression, row: dict[str, Any]) -> None:
    found, kind = asked(tree, row)
    assert kind == "DOUBLE"
    assert same(found, value(tree, row)), (found, value(tree, row))


@given(conditions(3), ROWS)
@settings(max_examples=draws(500), deadline=None)
def test_duckdb_finds_conditions_as_python_does(tree: Expression, row: dict[str, Any]) -> None:
    found, kind = asked(tree, row)
    assert kind == "BOOLEAN"
    assert same(found, value(tree, row)), (found, value(tree, row))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a / zero", None),
        ("a / (zero * b)", None),
        ("a + none", None),
        ("none * zero", None),
        ("total(a, none, b)", 10.0),
        ("total(none, none)", None),
        ("total(none, none) + a", None),
        ("coalesce(none, b, a)", 4.0),
        ("greatest(none, b, a)", 6.0),
        ("least(none, none)", None),
        ("if(none > 1, 1, 2)", 2.0),
        ("if(a > 1, null, 2)", None),
        ("if(a > 10, 1)", None),
        ("sqrt(b)", 2.0),
        ("sqrt(-b)", None),
        # Four values of sum 6 and squares 17: 17 / 4 - 1.5².
        ("deviation(17, a, b)", math.sqrt(2.0)),
        # 9 / 4 - 1.5² is 0; 8.999 / 4 - 1.5² would be below it.
        ("deviation(8.999, a, b)", 0.0),
        ("deviation(17, a, zero)", None),
        ("deviation(17, none, b)", None),
        ("50 % * a", 3.0),
        ("250 us * b", 0.001),
        ("2 KiB", 2048.0),
        ("known(none) or known(a)", True),
        ("none > 1 and a = 1", False),
        ("none > 1 and a = 6", None),
        ("none > 1 or a = 6", True),
        ("not none > 1", None),
    ],
)
def test_values_by_hand(text: str, expected: Any) -> None:
    row = {"a": 6.0, "b": 4.0, "zero": 0.0, "none": None}
    assert value(parse(text), row) == expected
    columns = ", ".join(f"?::double as {quoted(name)}" for name in row)
    made = sql_of(parse(text), quoted)
    assert CONNECTION.execute(f"select {made} from (select {columns})", list(row.values())).fetchone() == (expected,)


# --- another dialect --------------------------------------------------------------------------------------------------


@given(st.one_of(numbers(4), conditions(3)))
@settings(max_examples=draws(60, soak=2_000), deadline=None)
def test_the_sql_can_be_said_in_another_dialect(tree: Expression) -> None:
    read = sqlglot.parse_one(sql_of(tree, quoted), dialect="duckdb")
    spark = read.sql(dialect="spark")
    again = sqlglot.parse_one(spark, dialect="spark")
    assert again.sql(dialect="spark") == spark
