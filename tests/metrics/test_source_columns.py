"""SQL of sources without the columns that nobody reads: the others are as they were."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.source_columns import columns_given, pruned


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
