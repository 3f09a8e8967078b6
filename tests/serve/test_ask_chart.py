"""Charts of an answer: which there are, their values by hand, and why there are none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from starlette.types import ASGIApp

from plexlens.metrics.unit import MICROSECONDS
from plexlens.serve.ask_chart import CHARTS, LINES, drawn
from tests.serve.client import ask
from tests.serve.test_ask import post

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
QUARTER = timedelta(minutes=15)


def table(**columns: Any) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def test_a_line_for_each_name_and_a_chart_for_each_number() -> None:
    found = drawn(
        table(
            at=[NINE, NINE, NINE + QUARTER, NINE + 3 * QUARTER, None],
            who=["A", "B", "A", "A", "A"],
            first=[1.0, 5.0, 2.0, float("nan"), 9.0],
            second=[1, None, 3, 4, 9],
        ),
        {"first": MICROSECONDS},
    )
    first, second = found.charts
    assert (first.title, first.unit, second.title) == ("first", MICROSECONDS, "second")
    assert first.times == (NINE, NINE + QUARTER, NINE + 3 * QUARTER)
    # Starts are 15 and 30 minutes apart, usually 22.5: the second interval ends before the hole.
    assert first.ends == (NINE + QUARTER, NINE + timedelta(minutes=37.5), NINE + timedelta(minutes=67.5))
    # The highest line comes first; a null time and a value that is no number are not drawn.
    assert [(one.name, one.values) for one in first.series] == [("B", (5.0, None, None)), ("A", (1.0, 2.0, None))]
    assert [(one.name, one.values) for one in second.series] == [("A", (1.0, 3.0, 4.0))]
    assert found.reason == ""


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"x": [1, 2]}, "needs a column of times and one of numbers"),
        ({"at": [NINE, NINE + QUARTER], "who": ["A", "B"]}, "needs a column of times and one of numbers"),
        ({"at": [NINE, NINE], "x": [1, 2]}, "at has fewer than two times"),
        ({"at": [NINE, NINE, NINE + QUARTER], "x": [1, 2, 3]}, "several rows have the same at."),
        (
            {"at": [NINE, NINE, NINE + QUARTER], "who": ["A", "A", "A"], "x": [1, 2, 3]},
            "several rows have the same at and names",
        ),
    ],
)
def test_why_there_is_none(columns: dict[str, Any], reason: str) -> None:
    found = drawn(table(**columns), {})
    assert not found.charts
    assert reason in found.reason


def test_too_much_for_charts_is_counted() -> None:
    names = [f"N{number:02d}" for number in range(LINES + 3)]
    many = {f"x{number}": [1.0] * (2 * len(names)) for number in range(CHARTS + 2)}
    found = drawn(table(at=[NINE] * len(names) + [NINE + QUARTER] * len(names), who=names * 2, **many), {})
    assert len(found.charts) == CHARTS
    assert found.reason == f"Not drawn: x{CHARTS}, x{CHARTS + 1}."
    assert (len(found.charts[0].series), found.charts[0].left_out) == (LINES, 3)


@pytest.mark.parametrize(
    ("largest", "symbol", "shown"),
    [(0.000012, "10⁻⁶", 12.0), (3.5e9, "10⁹", 3.5), (250.0, "", 250.0), (0.0, "", 0.0)],
)
def test_small_and_large_numbers_have_a_power_of_ten(largest: float, symbol: str, shown: float) -> None:
    (chart,) = drawn(table(at=[NINE, NINE + QUARTER], x=[0.0, largest]), {}).charts
    assert (chart.unit.symbol, largest * chart.unit.factor) == (symbol, pytest.approx(shown))


def test_the_page_draws_what_was_asked(app: ASGIApp) -> None:
    query = "select interval, system, avg(sync_service_time) as sync_service_time from coupling_structure group by all"
    answer = post(app, query)
    assert answer.status == 200
    assert answer.page.xpath("//figure")
    assert "µs" in answer.words
    assert answer.page.xpath("//*[@id='table-answer']//tbody/tr")
    assert "No chart: it needs" in post(app, "select 7").words


def test_tables_stand_beside_with_units_and_meanings(app: ASGIApp) -> None:
    page = ask(app, "/ask").page
    (view,) = page.xpath("//details[.//button[@data-name='coupling_structure']]")
    told = {one.xpath("string(.//button)"): one for one in view.xpath(".//li")}
    service = told["sync_service_time"]
    assert service.xpath("string(.//*[@class='unit'])") == "s"
    assert service.xpath("string(.//*[@class='about'])") == "Synchronous service time"
    assert told["structure"].xpath("string(.//*[@class='about'])") == "Structure"
    (raw,) = page.xpath("//details[.//button[@data-name='smf74_4_request']]")
    told = {one.xpath("string(.//button)"): one for one in raw.xpath(".//li")}
    assert told["r744sstm"].xpath("string(.//*[@class='unit'])") == "seconds"
    assert told["r744sstm"].xpath("string(.//*[@class='about'])")
