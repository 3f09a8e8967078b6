"""A report of several days of two systems in two time zones: percentiles and heat maps, worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, resolve, window
from plexlens.report import render_html, render_text, to_json
from plexlens.report.blocks.page import FigureSpec, HeatSpec, Page, Shown, TableSpec
from plexlens.report.blocks.readings import Readings
from plexlens.report.build import build
from plexlens.report.chart.heat_svg import draw_heat, shade_of
from plexlens.report.model import KeyFigures, Report, Table
from plexlens.report.model.heat import HeatMap
from tests.metrics.raw import inputs as raw_inputs
from tests.metrics.raw import row

#: Berlin leaves summer time at 01:00 UTC on 27 October 2024.
CHANGE = datetime(2024, 10, 27, 1, 0, tzinfo=UTC)
FIRST = datetime(2024, 10, 25, 22, 0, tzinfo=UTC)
PAGE = Page(
    order=600,
    id="work",
    title="Work",
    lead="",
    what="work",
    figures=(FigureSpec("rate", "Transactions", "workload_period", "transactions_per_second"),),
    tables=(
        TableSpec(
            "systems", "Systems", "workload_period", (Shown("transactions_per_second"),),
            order="transactions_per_second", by=("system",), course="transactions_per_second",
        ),
    ),
    heat_maps=(
        HeatSpec("hours", "Transactions", "workload_period", "transactions_per_second"),
        HeatSpec("response", "Response time", "workload_period", "response_time"),
    ),
)  # fmt: skip


def _rate(hour: int) -> int:
    """Transactions of Berlin in each half of an hour, by number of the hour; New York has twice as many."""
    return 1800 * (hour % 30 + 1)


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    periods: list[dict[str, Any]] = []
    control: list[dict[str, Any]] = []
    for half in range(2 * 60):
        start = FIRST + timedelta(minutes=30 * half)
        for place, system in enumerate(("BERL", "NEWY")):
            berlin = 7200.0 if start < CHANGE else 3600.0
            base = row(
                2 * half + place + 1, system=system, interval_start=start, interval_end=start + timedelta(minutes=30),
                utc_offset=berlin if system == "BERL" else -14400.0,
            )  # fmt: skip
            ended = _rate(half // 2) * (place + 1)
            # The first half of an hour takes 1 s for each transaction, the second 2 s.
            seconds = ended * (1 + half % 2)
            periods.append(base | {"r723cper": 1, "r723crcp": float(ended), "r723ctet": float(seconds)})
            control.append(base | {"r723mcnm": "ONLINE", "r723mwnm": "WORK", "r723mscf": 0})
    return raw_inputs(smf72_3_period=periods, smf72_3_wlm_control=control)


@pytest.fixture(scope="module")
def report(inputs: Inputs) -> Report:
    return build(inputs, Readings(), pages=(PAGE,), grains={"workload_period": GRAINS["workload_period"]})


def _maps(report: Report) -> dict[str, HeatMap]:
    return {one.title: one for one in report.section("work").blocks if isinstance(one, HeatMap)}


def test_hours_are_local_time_of_each_system(report: Report) -> None:
    """The first hour, 22:00 UTC on 25 October, is midnight of 26 October in Berlin and 18:00 in New York."""
    maps = _maps(report)
    berlin, new_york = maps["Transactions, BERL"], maps["Transactions, NEWY"]
    assert berlin.days[:2] == (date(2024, 10, 26), date(2024, 10, 27))
    assert berlin.rows[0][0] == pytest.approx(1.0)
    assert new_york.days[0] == date(2024, 10, 25)
    assert new_york.rows[0][:18] == (None,) * 18
    assert new_york.rows[0][18] == pytest.approx(2.0)


def test_an_hour_that_a_clock_passes_twice_is_one_hour(report: Report) -> None:
    """02:00 on 27 October in Berlin is 00:00 and 01:00 UTC: hours 26 and 27 since the first, 27 and 28 a second."""
    berlin = _maps(report)["Transactions, BERL"]
    assert berlin.rows[1][1] == pytest.approx(26.0)
    assert berlin.rows[1][2] == pytest.approx((27 + 28) / 2)
    assert berlin.rows[1][3] == pytest.approx(29.0)


def test_a_ratio_is_formed_over_the_hour(report: Report) -> None:
    """As many transactions of 1 s as of 2 s make 1.5 s."""
    heat = _maps(report)["Response time, BERL"]
    assert {round(value, 9) for line in heat.rows for value in line if value is not None} == {1.5}


def test_the_tables_have_the_same_numbers(report: Report) -> None:
    """A table of the hours before noon and one of those from noon on, so that each fits beside the contents."""
    heat = _maps(report)["Transactions, NEWY"]
    tables = [one for one in report.section("work").blocks if isinstance(one, Table)]
    first = next(number for number, one in enumerate(tables) if one.name == heat.table)
    morning, afternoon = tables[first], tables[first + 1]
    assert [a[1:] + b[1:] for a, b in zip(morning.rows, afternoon.rows, strict=True)] == list(heat.rows)
    assert morning.rows[0][0] == afternoon.rows[0][0] == "2024-10-25 Fri"
    assert [afternoon.columns[place].title for place in (1, 12)] == ["12", "23"]
    assert morning.folded and afternoon.folded


def test_percentiles_of_a_figure_and_of_rows(report: Report) -> None:
    """60 hours go twice through 1 to 30 in Berlin, twice as much in New York: half of them are at most 15 and 30,
    95 percent (57 of 60) at most 29 and 58; both systems together 45 and 87."""
    (block,) = [one for one in report.section("summary").blocks if isinstance(one, KeyFigures)]
    assert dict(block.figures[0].percentiles) == {"p50": pytest.approx(45.0), "p95": pytest.approx(87.0)}
    assert "median 45" in block.figures[0].detail and "95th percentile 87" in block.figures[0].detail
    table = next(one for one in report.section("work").blocks if isinstance(one, Table) and one.name == "systems")
    names = [column.name for column in table.columns]
    places = [names.index(f"transactions_per_second_{name}") for name in ("p50", "p95")]
    found = {line[0]: tuple(line[place] for place in places) for line in table.rows}
    assert found == {"NEWY": pytest.approx((30.0, 58.0)), "BERL": pytest.approx((15.0, 29.0))}


def _percentiles(intervals: list[tuple[str, datetime, float, int]], by: str) -> dict[Any, tuple[Any, ...]]:
    """Percentiles of transactions per second, by row of a table: of systems, starts, minutes and rates."""
    periods: list[dict[str, Any]] = []
    for system, start, minutes, rate in intervals:
        end = start + timedelta(minutes=minutes)
        base = row(len(periods) + 1, system=system, interval_start=start, interval_end=end, utc_offset=0.0)
        ended = rate * (end - start).total_seconds()
        periods.append(base | {"r723cper": 1, "r723crcp": ended, "r723ctet": ended})
    control = {"r723mcnm": "ONLINE", "r723mwnm": "WORK", "r723mscf": 0}
    named = [{name: one[name] for name in one if not name.startswith("r723c")} | control for one in periods]
    raw = raw_inputs(smf72_3_period=periods, smf72_3_wlm_control=named)
    page = replace(PAGE, tables=(replace(PAGE.tables[0], by=(by,)),))
    report = build(raw, Readings(), pages=(page,), grains={"workload_period": GRAINS["workload_period"]})
    table = next(one for one in report.section("work").blocks if isinstance(one, Table) and one.name == "systems")
    names = [column.name for column in table.columns]
    places = [names.index(f"transactions_per_second_{name}") for name in ("p50", "p95")]
    return {line[0]: tuple(line[place] for place in places) for line in table.rows}


def _following(system: str, minutes: tuple[float, ...], rates: Sequence[int]) -> list[tuple[str, datetime, float, int]]:
    """Intervals that follow one another, whose lengths repeat."""
    start = FIRST
    made: list[tuple[str, datetime, float, int]] = []
    for number, rate in enumerate(rates):
        length = minutes[number % len(minutes)]
        made.append((system, start, length, rate))
        start += timedelta(minutes=length)
    return made


#: Rates of ten minutes and half an hour in turns: 1 to 12 in the short ones, 101 to 112 in the long ones.
SHORT_AND_LONG = tuple(rate for number in range(1, 13) for rate in (number, 100 + number))


def test_percentiles_of_systems_with_intervals_of_their_own() -> None:
    """ABEL has 24 quarters of an hour with 1 to 24 transactions a second. BAKE has 12 times ten minutes with 1 to 12,
    and, between them, half an hour with 101 to 112: the short ones are a quarter of its eight hours, so that half of
    the time is at most 104, and 95 percent at most 112. Nothing counts twice where intervals of both overlap."""
    intervals = _following("ABEL", (15,), range(1, 25)) + _following("BAKE", (10, 30), SHORT_AND_LONG)
    found = _percentiles(intervals, "system")
    assert found == {"ABEL": pytest.approx((12.0, 23.0)), "BAKE": pytest.approx((104.0, 112.0))}


def test_percentiles_over_systems_that_end_their_intervals_apart() -> None:
    """BAKE as above; CARE does no work and ends each interval five minutes earlier. An interval of the class counts by
    its whole length, so that its percentiles are those of BAKE."""
    intervals = _following("BAKE", (10, 30), SHORT_AND_LONG)
    intervals += [("CARE", start, minutes - 5, 0) for _, start, minutes, _ in intervals]
    assert _percentiles(intervals, "class_name") == {"ONLINE": pytest.approx((104.0, 112.0))}


def test_a_day_has_no_heat_map_and_few_intervals_no_percentiles(inputs: Inputs) -> None:
    half_day = Selection((window("2024-10-26T00:00..2024-10-26T09:00"),), systems=("BERL",))
    chosen = Inputs(inputs.connection, resolve(half_day, inputs.connection, "x"))
    report = build(chosen, Readings(), pages=(PAGE,), grains={"workload_period": GRAINS["workload_period"]})
    assert not _maps(report)
    (block,) = [one for one in report.section("summary").blocks if isinstance(one, KeyFigures)]
    assert block.figures[0].percentiles == ()
    assert block.figures[0].value == pytest.approx(sum(range(1, 10)) / 9)
    assert report.utc_offset == 7200.0


def test_every_form_has_the_heat_map(report: Report) -> None:
    page, text, values = render_html(report), render_text(report), to_json(report)
    assert page.count('class="plot by-hour"') == 4
    assert 'href="#table-hours_1_table"' in page and 'id="table-hours_1_table"' in page
    assert "Highest: 60" in page and "Highest: 60" in text
    section = next(one for one in values["sections"] if one["id"] == "work")
    heat = section["heat_maps"][0]
    assert heat["days"][0] == "2024-10-25" and heat["values"][0][18] == pytest.approx(2.0)


def test_shades_cover_the_scale() -> None:
    assert [shade_of(value, 10.0) for value in (0.0, 1.9, 2.0, 9.9, 10.0)] == [0, 0, 1, 4, 4]


def test_a_heat_map_of_nothing_is_drawn(report: Report) -> None:
    heat = _maps(report)["Transactions, BERL"]
    empty = HeatMap("x", "X", heat.unit, heat.days[:1], ((None,) * 24,), "t")
    assert draw_heat(empty).description == "X: no values."
    zero = HeatMap("x", "X", heat.unit, heat.days[:1], ((0.0,) * 24,), "t")
    assert 'class="heat h1"' in draw_heat(zero).svg
