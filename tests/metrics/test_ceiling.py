"""Shares above 100 % have no value; shares of next to nothing neither."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Metric
from plexlens.metrics.evaluate import above_whole, with_metrics
from plexlens.metrics.unit import FRACTION, PERCENTAGE
from plexlens.pdb.engine import connect
from tests.metrics.raw import query_of


def computed(grain: str, metric: str, **facts: float | None) -> Any:
    """One metric of a grain from facts, the others null."""
    definition = GRAINS[grain]
    values = {fact.name: pa.array([facts.get(fact.name)], pa.float64()) for fact in definition.facts}
    assert not set(facts) - set(values)
    table = query_of(connect(), pa.table(values))
    only = replace(definition, metrics=(definition.metric(metric),))
    return with_metrics(table, only).rows()[0][metric]


def test_random_shares_against_a_plain_check() -> None:
    chance = random.Random(3)
    share = Metric("share", "Share", FRACTION, "part / whole", "test")
    rate = Metric("rate", "Rate", PERCENTAGE, "part / whole", "test")
    grain: Any = replace(GRAINS["cpu_system"], metrics=(share, rate))
    rows = [
        {
            "part": chance.choice([None, 0.0, chance.uniform(0, 1), 1.0, 1.009, 1.011, chance.uniform(1, 1e9), -0.5]),
            "whole": chance.choice([None, 0.0, 1.0, chance.uniform(0.5, 2)]),
        }
        for _ in range(2000)
    ]
    schema = pa.schema([("part", pa.float64()), ("whole", pa.float64())])
    table = query_of(connect(), pa.Table.from_pylist(rows, schema))
    above = []
    for row, result in zip(rows, with_metrics(table, grain).rows(), strict=True):
        part, whole = row["part"], row["whole"]
        value = None if part is None or whole is None or whole == 0 else part / whole
        # One percent of the whole is let pass as rounding.
        within = value is not None and value <= 1.01
        above += [value] if value is not None and not within else []
        assert result["rate"] == (None if value is None else pytest.approx(value))
        assert result["share"] == (pytest.approx(value) if within else None)
    told = above_whole(table, grain)
    assert len(above) > 200
    assert told == {"share": (len(above), pytest.approx(max(above)))}


def test_what_its_caveat_says_may_exceed_the_whole_is_no_share() -> None:
    spoken = ("Above 100 %", "can exceed 100 %", "above 100 % where")
    exceeding = [
        (grain.name, metric.name, metric.unit.ceiling)
        for grain in GRAINS.values()
        for metric in grain.metrics
        if any(words in metric.caveat for words in spoken)
    ]
    assert exceeding
    assert [entry for entry in exceeding if entry[2] is not None] == []


@pytest.mark.parametrize(
    ("grain", "ziip", "on_cp"),
    [
        ("workload_period", "ziip_seconds", "ziip_on_cp_seconds"),
        ("address_space", "ziip_seconds", "ziip_on_cp_seconds"),
        ("job", "ziip_seconds", "ziip_on_cp_seconds"),
        ("db2_accounting", "class1_se_cpu_seconds", "class1_secp_cpu_seconds"),
    ],
)
def test_without_a_ziip_nothing_overflows(grain: str, ziip: str, on_cp: str) -> None:
    assert computed(grain, "ziip_overflow_fraction", **{ziip: 0.0, on_cp: 12.0}) is None
    assert computed(grain, "ziip_overflow_fraction", **{on_cp: 12.0}) is None
    # 1 of 4 seconds ran on a general processor.
    assert computed(grain, "ziip_overflow_fraction", **{ziip: 3.0, on_cp: 1.0}) == 0.25
    assert computed(grain, "ziip_overflow_fraction", **{ziip: 3.0, on_cp: 0.0}) == 0.0


def test_a_share_of_next_to_no_processor_time_says_nothing() -> None:
    # 0.9 s in an interval of 1,800 s are 0.0005 processors, which a report prints as 0.001; less it prints as 0.000.
    for busy, wait, expected in ((0.45, 0.45, 0.5), (0.45, 0.40, None), (0.0, 0.0, None), (900.0, 900.0, 0.5)):
        facts = {"busy_seconds": busy, "wait_seconds": wait, "interval_seconds": 1800.0}
        assert computed("coupling_facility", "utilization", **facts) == expected


def test_more_processor_time_in_calls_than_the_task_used() -> None:
    # 61.2 microseconds of calls in 41.3 of TCB time: 148 % of a whole. The sample of MQ 10.0 has such a thread.
    assert computed("mq_thread", "mq_cpu_fraction", cpu_seconds=61.2e-6, tcb_seconds=41.3e-6) is None
    assert computed("mq_thread", "mq_cpu_fraction", cpu_seconds=30e-6, tcb_seconds=40e-6) == pytest.approx(0.75)


def test_shares_above_the_whole_are_named_on_the_page() -> None:
    from plexlens.report.pages.read import _above_the_whole

    grain = GRAINS["mq_thread"]
    values = {fact.name: pa.array([None, None], pa.float64()) for fact in grain.facts}
    values |= {"cpu_seconds": pa.array([3.0, 1.0]), "tcb_seconds": pa.array([2.0, 2.0])}
    held = SimpleNamespace(grain=grain, kept=query_of(connect(), pa.table(values)))
    table = _above_the_whole(SimpleNamespace(numbers=SimpleNamespace(read=[held])))  # type: ignore[arg-type]
    assert [row[:2] + row[3:] for row in table.rows] == [(grain.title, "Application TCB time in MQI calls", 1, 1.5)]
