"""Rolling up over observers, settings, rows that lack a part: each number worked by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.evaluate import evaluate, kept_facts
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.left_out import LeftOut, left_out
from plexlens.metrics.required import needed, shape
from plexlens.metrics.unit import COUNT, SECONDS
from tests.metrics.raw import START, inputs, row, rows_of

_FIELDS = ("calls", "busy", "captured", "size", "limit", "level")


def _facts(inputs: Any) -> Any:
    table = inputs.table("raw", *_FIELDS, text=("pool",))
    seconds = table.interval_end.delta(table.interval_start, unit="second").cast("float64")
    return table.mutate(interval_seconds=seconds)


GRAIN = Grain(
    name="made_up",
    title="Made up",
    row="one pool",
    keys=(Key("pool", "Pool"),),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "I"),
        Fact("calls", "Calls", COUNT, Rollup.COUNT, "C"),
        Fact("busy", "Busy", SECONDS, Rollup.COUNT, "B"),
        Fact("captured", "Captured", SECONDS, Rollup.COUNT, "K"),
        Fact("size", "Size", COUNT, Rollup.AMOUNT, "S"),
        Fact("limit", "Limit", COUNT, Rollup.SETTING, "L"),
        Fact("level", "Level", COUNT, Rollup.LEVEL, "V"),
    ),
    metrics=(
        Metric("call_rate", "Calls", COUNT, "C / I", "", lambda f: ratio(f.calls, f.interval_seconds)),
        Metric("captured_share", "Capture", COUNT, "K / B", "", lambda f: ratio(f.captured, f.busy)),
        Metric("used", "Used", COUNT, "V / S", "", lambda f: ratio(f.level, f["size"])),
        Metric("busy_part", "Part", COUNT, "B / (B + K)", "", lambda f: ratio(f.busy, total(f.busy, f.captured))),
    ),
    sources=(Source("made", ("raw",), _facts),),
)


def _at(system: str, start: float, seconds: float, pool: str = "P", **fields: Any) -> dict[str, Any]:
    begin = START + timedelta(seconds=start)
    return (
        row(1, system=system, interval_start=begin, interval_end=begin + timedelta(seconds=seconds), pool=pool) | fields
    )


def _rolled(*rows: dict[str, Any], **how: Any) -> list[dict[str, Any]]:
    return rows_of(evaluate(inputs(raw=list(rows)), GRAIN, **({"time": "all", "by": ("sysplex",)} | how)))


def test_rates_of_systems_with_unaligned_intervals_add() -> None:
    # A: 1,800 calls from 0 to 1,800 s, 1/s. B: 2,400 calls from 600 to 1,800 s, 2/s. Together they cover 1,800 s.
    rows = [
        _at("A", 0, 900, calls=900.0),
        _at("A", 900, 900, calls=900.0),
        _at("B", 600, 600, calls=1200.0),
        _at("B", 1200, 600, calls=1200.0),
    ]
    (found,) = _rolled(*rows)
    assert found["call_rate"] == pytest.approx(3.0)
    assert found["interval_seconds"] == pytest.approx(1800)
    assert found["calls"] == pytest.approx(4200)


def test_a_ratio_counts_rows_alone_that_know_both_of_its_facts() -> None:
    # A captures 90 of 100 s. B lacks what it captured: its 100 busy seconds are not in the ratio, and are in the sum.
    (found,) = _rolled(_at("A", 0, 900, busy=100.0, captured=90.0), _at("B", 0, 900, busy=100.0))
    assert found["captured_share"] == pytest.approx(0.9)
    assert found["busy"] == pytest.approx(200)


def test_what_a_ratio_leaves_out_can_be_asked() -> None:
    # B lacks what it captured in both of its intervals, A in one of three. In another of A's both facts are missing.
    raw = inputs(
        raw=[
            _at("A", 0, 900, busy=100.0, captured=90.0),
            _at("A", 900, 900, busy=100.0),
            _at("A", 1800, 900, calls=1.0),
            _at("B", 0, 900, busy=100.0),
            _at("B", 900, 900, busy=100.0),
        ]
    )
    names = ("captured_share", "busy", "used")
    assert left_out(raw, GRAIN, names, kept=kept_facts(raw, GRAIN)) == [
        LeftOut("captured_share", ("A",), 1, 3),
        LeftOut("captured_share", ("B",), 2, 2),
    ]


def test_an_interval_without_the_numerator_of_a_share_is_named_as_left_out() -> None:
    # B / (B + K) needs B alone, K counts as zero where it is missing. A row that knows K and lacks B is left out.
    raw = inputs(raw=[_at("A", 0, 900, busy=30.0, captured=10.0), _at("B", 0, 900, captured=60.0)])
    assert left_out(raw, GRAIN, ("busy_part",), kept=kept_facts(raw, GRAIN)) == [LeftOut("busy_part", ("B",), 1, 1)]


def test_a_ratio_of_a_zero_denominator_loses_no_row() -> None:
    (found,) = _rolled(_at("A", 0, 900, busy=100.0, captured=90.0), _at("B", 0, 900, busy=0.0, captured=10.0))
    assert found["captured_share"] == pytest.approx(1.0)


def test_a_setting_is_the_latest_value() -> None:
    # Pool P is doubled between two intervals; pool Q keeps its size.
    rows = [
        _at("A", 0, 900, "P", size=20_000.0, limit=50.0, level=18_000.0),
        _at("A", 900, 900, "P", size=40_000.0, limit=60.0, level=36_000.0),
        _at("A", 0, 900, "Q", size=1_000.0, limit=60.0, level=500.0),
        _at("A", 900, 900, "Q", size=1_000.0, limit=60.0, level=500.0),
    ]
    pools = {r["pool"]: r for r in _rolled(*rows, by=("pool",))}
    assert pools["P"]["size"] == 40_000
    assert pools["P"]["limit"] == 60
    # In use: 27,000 of 30,000 on average, not of the 40,000 that are in force at the end.
    assert pools["P"]["used"] == pytest.approx(0.9)
    (both,) = _rolled(*rows)
    assert both["size"] == 41_000
    assert both["limit"] == 60


def test_a_limit_that_differs_between_entities_is_null() -> None:
    (found,) = _rolled(_at("A", 0, 900, "P", limit=50.0), _at("B", 0, 900, "P", limit=60.0))
    assert found["limit"] is None


def test_an_entity_without_a_row_had_no_activity() -> None:
    # Pool Q has a row in one interval of four: 900 calls in 3,600 s, and the pools add up to the system.
    rows = [_at("A", 900 * n, 900, "P", calls=90.0) for n in range(4)] + [_at("A", 900, 900, "Q", calls=900.0)]
    pools = {r["pool"]: r["call_rate"] for r in _rolled(*rows, by=("pool",))}
    assert pools == {"P": pytest.approx(0.1), "Q": pytest.approx(0.25)}
    (whole,) = _rolled(*rows)
    assert whole["call_rate"] == pytest.approx(0.35)


def test_an_interval_with_a_row_that_lacks_the_count_is_left_out() -> None:
    (found,) = _rolled(_at("A", 0, 900, calls=900.0), _at("A", 900, 900, busy=1.0))
    assert found["call_rate"] == pytest.approx(1.0)
    assert found["interval_seconds"] == pytest.approx(1800)


def test_a_level_is_averaged_over_the_time_in_which_it_is_known() -> None:
    # 80 in one interval of two; the row of the other does not know it. It is not 40.
    (found,) = _rolled(_at("A", 0, 900, level=80.0), _at("A", 900, 900, calls=1.0))
    assert found["level"] == pytest.approx(80)


def test_a_total_counts_no_row_that_lacks_the_numerator() -> None:
    # A: 30 / (30 + 10). B knows nothing of the numerator: its 60 are not in the denominator either.
    (found,) = _rolled(_at("A", 0, 900, busy=30.0, captured=10.0), _at("B", 0, 900, captured=60.0))
    assert found["busy_part"] == pytest.approx(0.75)


def test_an_amount_that_a_row_lacks_is_the_one_in_force() -> None:
    # 40 and 20 in use of 100, which the second row does not repeat: 30 of 100, not of 50.
    (found,) = _rolled(_at("A", 0, 900, level=40.0, size=100.0), _at("A", 900, 900, level=20.0))
    assert found["used"] == pytest.approx(0.3)


def test_systems_cover_together_the_time_from_their_own_starts_and_ends() -> None:
    # 0 to 300 s and 20 to 310 s: 310 s, though both start in the same minute by name and one ends in another.
    (found,) = _rolled(_at("A", 0, 300, calls=1.0), _at("B", 20, 290, calls=1.0))
    assert found["interval_seconds"] == pytest.approx(310)


def test_structures_add_up_to_their_facility() -> None:
    # S1 sends 900 requests in the first of two intervals, S2 900 in each: 0.5 and 1 per second.
    def structure(number: int, name: str, interval: int) -> dict[str, Any]:
        return row(interval + 1, number, interval=interval, r744snam=name, r744ssrc=900.0, r744crhc=90.0)

    raw = inputs(
        smf74_4_local_cf=[row(1, r744fnam="CF1"), row(2, interval=1, r744fnam="CF1")],
        smf74_4_request=[structure(1, "S1", 0), structure(2, "S2", 0), structure(1, "S2", 1)],
    )
    grain = GRAINS["coupling_structure"]
    found = {r["structure"]: r["sync_per_second"] for r in rows_of(evaluate(raw, grain, time="all"))}
    assert found == {"S1": pytest.approx(0.5), "S2": pytest.approx(1.0)}
    (whole,) = rows_of(evaluate(raw, grain, by=("facility",), time="all"))
    assert whole["sync_per_second"] == pytest.approx(1.5)


def test_what_a_metric_needs_follows_from_its_expression() -> None:
    f = shape(GRAIN)

    def names(expression: Any) -> set[frozenset[str]]:
        return set(needed(expression.op()))

    assert names(ratio(f.busy, f.calls)) == {frozenset({"busy"}), frozenset({"calls"})}
    assert names(total(f.busy, f.captured)) == {frozenset({"busy", "captured"})}
    assert names(f.busy + f.captured.fill_null(0.0)) == {frozenset({"busy"})}
