"""SQL of sources without the columns that nobody reads: the others are as they were."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.source_columns import columns_given, pruned, pruned_throughout
from plexlens.metrics.source_sql import select_of_source, with_parts
from plexlens.pdb.engine import columns_of


@pytest.mark.parametrize("name", GRAINS)
def test_facts_of_a_smaller_grain_are_those_of_the_whole(example: Inputs, name: str) -> None:
    grain = GRAINS[name]
    if not available(example, grain):
        pytest.skip("the example has no source of it")
    made = facts(example, grain)
    assert made is not None
    whole = made.ordered("all")
    chance = random.Random(name)
    # The name of an interval shorter than a minute depends on whether lengths are told, so that fact stays.
    some = tuple(one for one in grain.facts if one.name == "interval_seconds" or chance.random() < 0.3)
    few = facts(example, replace(grain, facts=some, attributes=grain.attributes[::2]))
    assert few is not None
    assert (
        few.arrow()
        .sort_by([(key, "ascending") for key in few.columns])
        .equals(whole.select(few.columns).sort_by([(key, "ascending") for key in few.columns]))
    )


def test_identity_columns_have_their_types_whatever_a_database_stores(example: Inputs) -> None:
    # As the example was decoded: a text and a moment, and a number of 64 bits without sign.
    there = example.columns("smf74_4_request")
    assert [there[name] for name in ("system", "interval_start", "record_no")] == [
        "VARCHAR",
        "TIMESTAMP WITH TIME ZONE",
        "UBIGINT",
    ]
    select = example.raw("smf74_4_request", ["r744snam"])
    # The text is the same for columns of other types: it tells whether stored roll-ups are those of the catalogue.
    assert [text in select for text in ("system::", "interval_start::", "record_no::bigint")] == [True, True, True]
    types = columns_of(example.connection, f"({select})")
    assert [types[name] for name in ("system", "interval_start", "record_no")] == [
        "VARCHAR",
        "TIMESTAMP WITH TIME ZONE",
        "BIGINT",
    ]


def test_a_column_that_nobody_reads_goes() -> None:
    assert pruned("select a.x as one, y as two, z from t a", {"one", "z"}) == "select a.x as one,\nz\nfrom t a"


@pytest.mark.parametrize(
    "sql",
    [
        "select distinct x as one, y as two from t",
        "select x as one, y as two from t union all select 1, 2",
        "select x as one, count(*) as two from t group by all",
        "select x as one, row_number() over () as two from t qualify two = 1",
        "select x as one, y as two from t order by two",
        "select x as one, y as two, two + 1 as one from t",
        "select 1 as one, 2 as two",
    ],
)
def test_a_column_stays_where_leaving_it_out_would_change_the_others(sql: str) -> None:
    assert pruned(sql, {"one"}) == sql


def test_columns_are_told_where_each_has_a_name() -> None:
    sql = "with a as (select 1 as x) select a.x, -- the last\n case when x = ',' then 1 end as y from a"
    assert columns_given(sql) == {"x", "y"}
    assert columns_given("select *, 1 as x from t") is None
    assert columns_given("select x from t union select y from u") is None


@pytest.mark.parametrize("name", GRAINS)
def test_the_engine_sees_the_columns_that_the_text_shows(example: Inputs, name: str) -> None:
    # Raw tables that the example lacks are empty ones, so that the engine can read the SQL of every source.
    catalogue, grain = GRAINS.catalogue, GRAINS[name]
    few = replace(grain, facts=grain.facts[::3], attributes=grain.attributes[::2])
    for smaller in (grain, few):
        for source in smaller.sources:
            made = select_of_source(smaller, source, example.raw, catalogue.relations, catalogue.functions)
            if made.columns is not None:
                seen = columns_of(example.connection, f"(\n{with_parts(made.parts, made.select)}\n)")
                assert made.columns == {column.lower() for column in seen}


def test_a_star_stands_for_the_columns_of_what_is_read() -> None:
    sql = "with a as (select x, y as why from t), b as (select * exclude (x), 1 as z from a) select * from b join c"
    assert columns_given(sql, {"c": "select k.w from k"}) == {"why", "z", "w"}
    assert columns_given(sql) is None
    assert columns_given("with a as (select x from t) select * from a, t") is None
    assert columns_given("with a as (select x from t) select * from (select 1 as y) b join a on true") is None
    assert columns_given("with a as (select x from t) select a.* from a") is None


def test_parts_lose_the_columns_that_nothing_behind_them_reads() -> None:
    sql = "with a as (select x, y, z from t), b as (select x, y from a) select * from b"
    assert columns_given(pruned_throughout(sql, {"y"})) == {"y"}
    assert "z" not in pruned_throughout(sql, {"y"}).split("from t")[0].replace(",", " ").split()
    assert pruned_throughout(f"{sql} group by all", {"y"}) == f"{sql} group by all"
