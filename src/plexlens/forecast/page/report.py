"""Forecasts as a report: a table of each kind of series, and a chart of each series."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from plexlens import __version__
from plexlens.forecast.daily import BETTER, COVERAGE
from plexlens.forecast.forecasted import Forecasted, OfSeries
from plexlens.forecast.series import KINDS, Kind
from plexlens.metrics import GRAINS
from plexlens.metrics.page_numbers import page_numbers
from plexlens.report.model import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Level,
    Note,
    Report,
    Section,
    Table,
    text_column,
)
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.model.display import counted
from plexlens.report.model.page_definitions import definition_of, definitions_of

_DEFINITIONS = definitions_of(page_numbers("forecast"))

#: Series drawn of each kind: those that are highest.
_DRAWN = 4

#: Days of the past in a chart.
_PAST = 84


def forecast_report(result: Forecasted) -> Report:
    """The whole report of a forecast."""
    sections: list[Section] = []
    definitions = dict(_DEFINITIONS)
    for kind in KINDS:
        results = [entry for entry in result.series if entry.series.kind is kind]
        if results:
            sections.append(_section(result, kind, results))
            definition = definition_of(GRAINS[kind.grain], kind.metric)
            definitions[definition.id] = definition
    sections.append(_method())
    alerts = []
    if result.short:
        names = tuple(
            f"{short.kind.title}, {short.name}: {counted(len(short.values), 'day')}" for short in result.short
        )
        alerts.append(Note("Series of less than a week have no forecast.", Level.WARNING, names))
    left_out = [
        f"{entry.series.kind.title}, {entry.series.name}: {counted(entry.series.left_out, 'day')}"
        for entry in result.series
        if entry.series.left_out
    ]
    if left_out:
        alerts.append(Note("Days with data in too few hours are left out.", Level.INFO, tuple(left_out)))
    firsts = [entry.series.first for entry in result.series]
    lasts = [entry.series.day(len(entry.series.values)) for entry in result.series]
    return Report(
        title="Forecast",
        start=_midnight(min(firsts).isoformat()),
        end=_midnight(max(lasts).isoformat()),
        time_note=_time_note(result),
        alerts=tuple(alerts),
        sections=tuple(sections),
        definitions=definitions,
        generator=f"Plexlens {__version__}",
        kind="Forecast",
        subject=f"{counted(len(result.series), 'series', 'series')} of {result.name}, {result.days} days ahead",
    )


def _time_note(result: Forecasted) -> str:
    if result.has_clock:
        return "Days are those of the systems' clock."
    return (
        "The clock of the systems changes within the data: days are those of UTC; days of MSU are those of that clock."
    )


def _midnight(day: str) -> datetime:
    return datetime.fromisoformat(day)


def _section(result: Forecasted, kind: Kind, results: list[OfSeries]) -> Section:
    column = GRAINS[kind.grain].column(kind.metric)
    definition = f"{kind.grain}.{kind.metric}"

    def value(name: str, title: str) -> Column:
        return Column(name, title, ColumnKind.NUMBER, column.unit, definition)

    def plain(name: str) -> Column:
        of_page = _DEFINITIONS[f"forecast.{name}"]
        return Column(name, of_page.title, ColumnKind.NUMBER, of_page.unit, of_page.id)

    columns = (
        text_column("name", "Name", key=True),
        value("highest", "Highest so far"),
        value("peak", f"Highest in {result.days} days"),
        value("low", "From"),
        value("high", "To"),
        Column("day", "On", ColumnKind.TIME),
        text_column("model", "By"),
        plain("error_share"),
        plain("naive_share"),
        plain("days"),
        plain("weeks"),
    )
    ordered = sorted(results, key=lambda entry: -_highest(entry))
    blocks: list[Block] = [
        Table(f"forecast_{kind.name}", kind.title, columns, tuple(_row(entry) for entry in ordered), top=30)
    ]
    worse = [entry.series.name for entry in ordered if entry.forecast.tests and not entry.forecast.is_better]
    if worse:
        blocks.append(
            Note(
                "On the held-out weeks weekday and trend did no better than last week's value, which is used.",
                details=tuple(worse[:20]) + ((f"and {len(worse) - 20} more",) if len(worse) > 20 else ()),
            )
        )
    untested = [entry.series.name for entry in ordered if not entry.forecast.tests]
    if untested:
        blocks.append(
            Note(
                "There are too few weeks for a back-test: last week's value is used, and its error is not known. "
                "Four weeks allow one.",
                Level.WARNING,
                tuple(untested[:20]) + ((f"and {len(untested) - 20} more",) if len(untested) > 20 else ()),
            )
        )
    blocks += [_chart(kind, entry, place) for place, entry in enumerate(ordered[:_DRAWN])]
    lead = f"The highest hour of each day. The interval holds {COVERAGE:.0%} of the days if errors stay as they were."
    return Section(f"forecast-{kind.name}", kind.title, tuple(blocks), lead)


def _highest(entry: OfSeries) -> float:
    known = [value for value in entry.series.values.tolist() if not math.isnan(value)]
    return max(known, default=0.0)


def _row(entry: OfSeries) -> tuple[Cell, ...]:
    outlook, place = entry.forecast, entry.peak
    known = [value for value in entry.series.values.tolist() if not math.isnan(value)]
    mean = sum(known) / len(known) if known else 0.0
    shares = [
        outlook.tests[name].error / mean
        if name in outlook.tests and mean and not math.isnan(outlook.tests[name].error)
        else None
        for name in (outlook.model, "last week")
    ]
    return (
        entry.series.name,
        _highest(entry),
        *(None if place is None else _cell(values[place]) for values in (outlook.values, outlook.low, outlook.high)),
        None if place is None else _midnight(entry.series.day(len(entry.series.values) + place).isoformat()),
        outlook.model,
        *shares,
        len(known),
        outlook.weeks,
    )


def _cell(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _chart(kind: Kind, entry: OfSeries, place: int) -> Chart:
    column = GRAINS[kind.grain].column(kind.metric)
    count = len(entry.series.values)
    past, ahead = min(count, _PAST), len(entry.forecast.values)
    times = tuple(_midnight(entry.series.day(count - past + day).isoformat()) for day in range(past + ahead))
    before: tuple[None, ...] = (None,) * past
    series = [
        Series("measured", (*(_cell(value) for value in entry.series.values[-past:]), *(None,) * ahead)),
        *(
            Series(name, (*before, *(_cell(value) for value in values)))
            for name, values in (
                ("forecast", entry.forecast.values),
                ("from", entry.forecast.low),
                ("to", entry.forecast.high),
            )
        ),
    ]
    return Chart(
        f"forecast_{kind.name}_{place}",
        f"{entry.series.name}: highest hour of the day",
        column.unit,
        ChartKind.LINES,
        times,
        tuple(time + timedelta(days=1) for time in times),
        tuple(series),
        f"{kind.grain}.{kind.metric}",
    )


def _method() -> Section:
    notes = (
        "Last week's value (seasonal naive) is the latest known value of the same weekday.",
        "Weekday and trend is the median of each weekday over the last four weeks, on a line whose slope is the median "
        "of all pairs of days that are whole weeks apart, over at most 26 weeks, and zero where the seasonal Kendall "
        "test does not reject it at 5 % (Hirsch, Slack and Smith, 1982).",
        f"Both forecast each of the held-out weeks from the days before it. Weekday and trend is used if its error is "
        f"below {BETTER:.0%} of that of last week's value.",
        f"The interval is the {COVERAGE:.0%} quantile of the errors of the back-test for that number of weeks ahead. "
        f"Beyond the weeks that the back-test reaches it widens by the square root of the distance. Errors of the "
        "days of a week are not independent, so with few held-out weeks it is rough.",
        "A change that has not happened yet, such as a migration or a new release, is in no forecast.",
    )
    return Section("method", "How it is worked out", tuple(Note(text) for text in notes))
