"""Rolling up over observers, settings, rows that lack a part: each number worked by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from plexlens.expression import needed, parse
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.evaluate import evaluate, kept_facts
from plexlens.metrics.left_out import LeftOut, left_out
from plexlens.metrics.unit import COUNT, SECONDS
from tests.metrics.raw import START, inputs, row, rows_of

_FIELDS = ("calls", "busy", "captured", "size", "limit", "level")


_LISTED = ", ".join(f'"{name}"' for name in _FIELDS)
_SQL = f"""
    select system, sysplex, interval_start, interval_end, utc_offset, pool, {_LISTED},
        date_diff('second', interval_start, interval_end)::double as interval_seconds
    from raw"""


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
        Metric("call_rate", "Calls", COUNT, "calls / interval_seconds", ""),
        Metric("captured_share", "Capture", COUNT, "captured / busy", ""),
        Metric("used", "Used", COUNT, "level / size", ""),
        Metric("busy_part", "Part", COUNT, "busy / total(busy, captured)", ""),
    ),
    sources=(Source("made", ("raw",), sql=_SQL),),
)


def _at(system: str, start: float, seconds: float, pool: str = "P", **fields: Any) -> dict[str, Any]:
    begin = START + timedelta(seconds=start)
    times = {"interval_start": begin, "interval_end": begin + timedelta(seconds=seconds)}
    return row(1, system=system, pool=pool, **times) | dict.fromkeys(_FIELDS) | fields


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


def test_an_interval_that_all_systems_lack_is_not_covered_time() -> None:
    # A counts 900 calls in the first of three intervals, B 450 in the second, the third lacks both: A does 1/s, B
    # 0.5/s, and both together cover 1,800 s: 1.5/s over 1,800 s are 2,700 calls.
    grain = replace(GRAIN, metrics=(Metric("call_seconds", "Product", COUNT, "calls * interval_seconds", ""),))
    rows = [
        *(_at("A", at, 900, busy=1.0, calls=calls) for at, calls in ((0, 900.0), (900, None), (1800, None))),
        *(_at("B", at, 900, busy=1.0, calls=calls) for at, calls in ((0, None), (900, 450.0), (1800, None))),
    ]
    (product,) = rows_of(evaluate(inputs(raw=rows), grain, by=("sysplex",), time="all"))
    assert product["call_seconds"] == pytest.approx(2_700 * 1_800)
    # Apart, each covers its own interval; with rows of a second pool nothing changes.
    apart = rows_of(evaluate(inputs(raw=rows), grain, by=("system",), time="all"))
    assert [row["call_seconds"] for row in apart] == [pytest.approx(900 * 900), pytest.approx(450 * 900)]
    more = [_at("A", 0, 900, "Q", calls=0.0), *rows]
    (product,) = rows_of(evaluate(inputs(raw=more), grain, by=("sysplex",), time="all"))
    assert product["call_seconds"] == pytest.approx(2_700 * 1_800)


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


def test_nothing_is_left_out_of_a_row_that_shows_no_number() -> None:
    # Of systems apart, B shows no share that could lack anything; A lacks one of its intervals.
    raw = inputs(
        raw=[
            _at("A", 0, 900, busy=100.0, captured=90.0),
            _at("A", 900, 900, busy=100.0),
            _at("B", 0, 900, busy=100.0),
        ]
    )
    kept = kept_facts(raw, GRAIN)
    assert left_out(raw, GRAIN, ("captured_share",), kept=kept, by=("system",)) == [
        LeftOut("captured_share", ("A",), 1, 2)
    ]
    assert [one.observer for one in left_out(raw, GRAIN, ("captured_share",), kept=kept)] == [("A",), ("B",)]


def test_an_interval_in_which_another_entity_has_the_number_is_not_left_out() -> None:
    # Pool Q reports nothing but the length of its interval, in which pool P counts calls: Q had none. In the second
    # interval no pool of A counts calls: that one is missing.
    rows = [_at("A", 0, 900, "P", calls=900.0), _at("A", 0, 900, "Q")]
    raw = inputs(raw=rows)
    assert left_out(raw, GRAIN, ("call_rate",), kept=kept_facts(raw, GRAIN)) == []
    raw = inputs(raw=[*rows, _at("A", 900, 900, "P")])
    kept = kept_facts(raw, GRAIN)
    assert left_out(raw, GRAIN, ("call_rate",), kept=kept) == [LeftOut("call_rate", ("A",), 1, 2)]
    assert left_out(raw, GRAIN, ("call_rate",), kept=kept, timed=False) == []


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


def test_a_count_that_several_systems_report_is_whole_where_one_of_them_lacks_it() -> None:
    # A pool of 1/s that both report. B's row of 0 to 1,200 s lacks the count, and so does A's of 1,200 to 2,100 s. The
    # first 900 s are known from A, 900 to 1,200 s from nobody, 1,200 to 2,100 s from B: 1,800 calls in 1,800 s.
    shared = replace(
        GRAIN, facts=tuple(replace(f, of=("sysplex", "pool")) if f.name == "calls" else f for f in GRAIN.facts)
    )
    rows = [
        _at("B", 0, 1200, busy=1.0),
        _at("A", 0, 900, calls=900.0),
        _at("B", 1200, 900, calls=900.0),
        _at("A", 1200, 900, busy=1.0),
    ]
    (found,) = rows_of(evaluate(inputs(raw=rows), shared, by=("pool",), time="all"))
    assert found["calls"] == pytest.approx(1800)
    assert found["call_rate"] == pytest.approx(1.0)


def test_intervals_that_overlap_by_moments_count_in_full() -> None:
    # Two seconds of overlap are none: 900 + 900 s. Ten are: 900 + 890 s.
    (close,) = _rolled(_at("A", 0, 900, calls=900.0), _at("A", 898, 900, calls=900.0))
    assert close["interval_seconds"] == pytest.approx(1800)
    (wide,) = _rolled(_at("A", 0, 900, calls=900.0), _at("A", 890, 900, calls=900.0))
    assert wide["interval_seconds"] == pytest.approx(1790)


def test_systems_that_were_never_measured_together_are_averaged_over_time() -> None:
    # A: 2/s in 900 s. B, a year later: 5/s in 1,800 s. Together (1,800 + 9,000) / 2,700 s = 4/s, and not 7/s.
    # Levels: (900 x 30 + 1,800 x 60) / 2,700 = 50. B2 is measured together with B: its 1/s adds to B's 5.
    year = 365 * 86_400
    rows = [_at("A", 0, 900, calls=1800.0, level=30.0), _at("B", year, 1800, calls=9000.0, level=60.0)]
    (found,) = _rolled(*rows)
    assert found["call_rate"] == pytest.approx(4.0)
    assert found["level"] == pytest.approx(50.0)
    assert found["calls"] == pytest.approx(10_800)
    (found,) = _rolled(*rows, _at("B2", year + 900, 1800, calls=1800.0))
    # B and B2 together: 6/s in 2,700 s.
    assert found["call_rate"] == pytest.approx((2 * 900 + 6 * 2700) / 3600)
    systems = {r["system"]: r["call_rate"] for r in _rolled(*rows, by=("system",))}
    assert systems == {"A": pytest.approx(2.0), "B": pytest.approx(5.0)}


def test_by_interval_a_sum_is_of_all_systems_measured_then() -> None:
    # A: 1/s from 0 to 1,800 s in two intervals. B: 2/s from 600 to 1,500 s in one.
    rows = [_at("A", 0, 900, calls=900.0), _at("A", 900, 900, calls=900.0), _at("B", 600, 900, calls=1800.0)]
    found = {(r["time"] - START).total_seconds(): r for r in _rolled(*rows, time="interval")}
    rates = {start: row["call_rate"] for start, row in found.items()}
    assert rates == {0: pytest.approx(1), 600: pytest.approx(3), 900: pytest.approx(3), 1500: pytest.approx(1)}
    assert {s: r["interval_seconds"] for s, r in found.items()} == {0: 600, 600: 300, 900: 600, 1500: 300}
    assert sum(r["calls"] for r in found.values()) == pytest.approx(3600)
    # One system alone keeps its intervals.
    own = _rolled(*rows, time="interval", by=("sysplex", "system"))
    assert len(own) == 3


def test_a_comparison_with_a_setting_is_of_the_time_with_the_value_in_force() -> None:
    # 80 calls with a limit of 100, then 40 with one of 50: 40 / 50, and not 120 of 50 or 60 of 50.
    against = Metric("of_limit", "Of limit", COUNT, "calls / limit", "")
    grain = replace(GRAIN, metrics=(*GRAIN.metrics, against))
    rows = [_at("A", 0, 900, calls=80.0, limit=100.0), _at("A", 900, 900, calls=40.0, limit=50.0)]
    (found,) = rows_of(evaluate(inputs(raw=rows), grain, by=("pool",), time="all"))
    assert found["of_limit"] == pytest.approx(0.8)
    assert (found["limit"], found["calls"]) == (50.0, 120.0)
    # A row that does not repeat the limit is under the one in force before it.
    (found,) = rows_of(evaluate(inputs(raw=[*rows, _at("A", 1800, 900, calls=10.0)]), grain, by=("pool",), time="all"))
    assert found["of_limit"] == pytest.approx(1.0)
    # Two pools under different limits have none in common.
    rows = [_at("A", 0, 900, "P", calls=1.0, limit=50.0), _at("A", 0, 900, "Q", calls=1.0, limit=60.0)]
    (found,) = rows_of(evaluate(inputs(raw=rows), grain, by=("system",), time="all"))
    assert found["of_limit"] is None


def test_hours_and_days_begin_on_the_clock_that_is_asked_for() -> None:
    # START is 08:00 UTC, 13:30 at UTC+05:30: the quarters from 08:30 UTC on are of 14:00 there.
    rows = [_at("A", 900 * n, 900, calls=float(n)) for n in range(4)]
    half = 5.5 * 3600
    found = {r["time"] - START: r["calls"] for r in _rolled(*rows, time="hour", utc_offset=half)}
    assert found == {-timedelta(minutes=30): 1.0, timedelta(minutes=30): 5.0}
    (day,) = _rolled(*rows, time="day", utc_offset=half)
    assert day["time"] == START - timedelta(hours=13, minutes=30)


def test_what_a_metric_needs_follows_from_its_expression() -> None:
    def names(formula: str) -> frozenset[frozenset[str]]:
        return needed(parse(formula))

    assert names("busy / calls") == {frozenset({"busy"}), frozenset({"calls"})}
    assert names("total(busy, captured)") == {frozenset({"busy", "captured"})}
    assert names("busy + coalesce(captured, 0)") == {frozenset({"busy"})}
