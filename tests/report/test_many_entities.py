"""Charts and sparklines of many entities ask the course of those that are drawn, and draw what the slow way draws.

The slow way asks the course of every entity and draws the largest: `Charts.all_ranked`, and tables of few rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import product
from random import Random

import duckdb
import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, resolve, window
from plexlens.pdb import Pdb, ingest
from plexlens.report.blocks import charts, tables
from plexlens.report.blocks.context import Context, none_of, one_of
from plexlens.report.blocks.courses import Courses
from plexlens.report.blocks.evaluated import Builder
from plexlens.report.blocks.page import ChartSpec, Page, TableSpec
from plexlens.report.blocks.readings import readings_of
from plexlens.report.build import clock_of
from plexlens.report.model.chart import Chart, ChartKind
from tests.metrics import accounting_dumps as made

LINES = ChartSpec(
    "lines", "Response time", "cics_transaction", ("response_time",), by=("applid", "transaction"), most=3
)
STACK = replace(LINES, name="stack", columns=("transactions",), kind=ChartKind.STACK)
LOWEST = replace(LINES, name="lowest", lowest=True)
ROWS = TableSpec(
    "rows", "Tasks", "cics_transaction", ("response_time",), "response_time", by=LINES.by, course="response_time", top=3
)


#: Regions begin and end at different times, so that each has intervals of its own; those of a part of a day are even.
PARTS = {"own intervals": Selection(), "even": Selection(windows=(window("2026-03-03T14:00..2026-03-03T18:00"),))}


@pytest.fixture(scope="module", params=PARTS)
def context(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    folder = tmp_path_factory.mktemp("many")
    pdb = Pdb.create(folder / "pdb")
    ingest([made.write_dump(folder / "a.smf", made.tasks(Random(7), range(2), 200), [])], pdb)
    connection = pdb.connect()
    inputs = Inputs(connection, resolve(PARTS[request.param], connection, "made up"))
    readings = readings_of(connection)
    yield Context(inputs, GRAINS, readings=readings, clock=clock_of(inputs, readings))
    connection.close()


def held(chart: Chart, name: str, moment: datetime) -> float | None:
    """The value that a series has at a moment."""
    (series,) = (line for line in chart.series if line.name == name)
    spans = zip(chart.times, chart.ends, series.values, strict=True)
    return next((value for start, end, value in spans if start <= moment < end), None)


def drawn(context: Context, spec: ChartSpec, few: int, monkeypatch: pytest.MonkeyPatch) -> Chart:
    """The chart, with a table of the same rows next to it, where more than ``few`` series are many."""
    monkeypatch.setattr(charts, "FEW", few)
    builder = built(context, spec)
    (chart,) = builder.charts(spec)
    return chart


def built(context: Context, spec: ChartSpec) -> Builder:
    fresh = Context(context.inputs, GRAINS, readings=context.readings, clock=context.clock)
    builder = Builder(fresh, context.clock, 500)
    builder.plan(Page(0, "page", "Page", "", charts=(spec,), tables=(ROWS,)))
    data = fresh.data("cics_transaction")
    assert data is not None
    assert data.first.is_even == bool(context.inputs.selection)
    return builder


@pytest.mark.parametrize("spec", [LINES, LOWEST], ids=["largest", "smallest"])
def test_a_chart_of_many_is_that_of_all(context: Context, spec: ChartSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = (drawn(context, spec, few, monkeypatch) for few in (10**9, 0))
    assert slow.left_out > 0
    assert fast.left_out == slow.left_out
    assert [(line.name, line.mean) for line in fast.series] == [(line.name, line.mean) for line in slow.series]
    # Where entities have intervals of their own, times at which others alone begin or end are not in the fast chart.
    for line in slow.series:
        values = [held(fast, line.name, moment) for moment in slow.times]
        assert values == list(line.values)
        assert any(value is not None for value in values)
    assert set(fast.times) <= set(slow.times)


def test_a_stack_of_many_keeps_the_sum_of_the_rest(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = (drawn(context, STACK, few, monkeypatch) for few in (10**9, 0))
    assert fast.times == slow.times
    assert fast.series[-1].name == slow.series[-1].name
    assert fast.series[-1].name.startswith(charts.OTHERS)

    def at(chart: Chart, place: int) -> float:
        return sum(series.values[place] or 0.0 for series in chart.series)

    # Which entities are drawn may differ (a sum here, a mean over the known times there); all layers together do not.
    for place in range(len(slow.times)):
        assert at(fast, place) == pytest.approx(at(slow, place))


def test_the_course_is_asked_of_those_that_are_drawn(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "FEW", 0)

    def refuse(*_: object) -> None:
        raise AssertionError("the course of every entity was asked")

    monkeypatch.setattr(Courses, "course", refuse)
    assert built(context, LINES).charts(LINES)


def test_sparklines_of_many_rows_are_those_of_all(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = built(context, LINES).table(ROWS)
    monkeypatch.setattr(tables, "SPARK_ROWS", 2)
    fast = built(context, LINES).table(ROWS)
    assert slow is not None and fast is not None
    place = [column.name for column in slow.columns].index("response_time_course")
    assert [row[place] for row in fast.rows[:2]] == [row[place] for row in slow.rows[:2]]
    assert not any(row[place] for row in fast.rows[2:])


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
@pytest.mark.parametrize("places", [(), (0,), (1, 2), (0, 2)])
def test_some_entities_and_all_others_are_all(names: tuple[str, ...], places: tuple[int, ...]) -> None:
    """A name that is missing is a name of its own."""
    every = list(product((None, "x", "y"), repeat=len(names)))
    some = [every[place] for place in places]
    connection = duckdb.connect()
    connection.execute(f"create table t ({', '.join(f'{name} varchar' for name in names)})")
    connection.executemany(f"insert into t values ({', '.join('?' for _ in names)})", every)
    assert connection.execute(f"from t where {one_of(names, some)}").fetchall() == some
    others = connection.execute(f"from t where {none_of(names, some)}").fetchall()
    assert others == [values for values in every if values not in some]
