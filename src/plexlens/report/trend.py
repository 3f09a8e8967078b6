"""Page of `plexlens trend`: a metric by hour, shift, day, week or month, with its peaks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from plexlens import __version__
from plexlens.metrics.definition import Fact, Metric
from plexlens.metrics.question import Question
from plexlens.metrics.trend import Period
from plexlens.metrics.unit import COUNT, RATIO
from plexlens.report.model import Block, Cell, Column, ColumnKind, Report, Section, Table, text_column
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.model.clock import Clock
from plexlens.report.model.page_definitions import definition_of

#: Entities that a chart draws: the data colours.
DRAWN = 8


def trend_report(name: str, question: Question, periods: Sequence[Period], clock: Clock, every: str) -> Report:
    """The report of a trend.

    Parameters
    ----------
    name
        What the user called the database.
    question, periods
        As `plexlens.metrics.trend.trend` takes and gives them.
    clock
        The clock on which times are shown.
    every
        What a row is of: ``shift``, or the question's length of time.
    """
    column = question.column(question.numbers[0])
    definition = f"{question.grain.name}.{column.name}"
    value = f"Value over the {every}"
    entities = list(dict.fromkeys(period.names for period in periods))
    highest = {
        names: max((period.peak or 0.0 for period in periods if period.names == names), default=0.0)
        for names in entities
    }
    drawn = sorted(entities, key=lambda names: -highest[names])[:DRAWN]
    blocks: list[Block] = []
    for place, is_local in enumerate((False, True)):
        shown = [period for period in periods if (period.start.tzinfo is None) == is_local]
        if len({period.start for period in shown}) > 1:
            blocks.append(_chart(f"trend_course_{place}", column, definition, shown, drawn))
    numbers = (
        Column("value", value, ColumnKind.NUMBER, column.unit, definition, bar=True),
        Column("peak", "Highest interval", ColumnKind.NUMBER, column.unit, definition),
        Column("peak_start", "at", ColumnKind.TIME),
        Column("lowest", "Lowest interval", ColumnKind.NUMBER, column.unit, definition),
        Column("peak_ratio", "Highest / value", ColumnKind.NUMBER, RATIO),
        Column("intervals", "Intervals", ColumnKind.NUMBER, COUNT),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*(None if part is None else str(part) for part in period.names), period.start, *_numbers(period))
        for period in periods
    )
    titles = _titles(question)
    columns = (
        *(text_column(key, titles[key], key=True) for key in question.by),
        Column("start", every.capitalize(), ColumnKind.TIME, key=True),
        *numbers,
    )
    blocks.append(Table("trend", f"{column.title} by {every}", columns, rows, top=60))
    utc = [period for period in periods if period.start.tzinfo is not None]
    lead = (
        f"The value over the {every} follows from its sums, as the metric is defined, not from the values "
        "of single intervals. The highest and the lowest value are of single intervals as the source recorded them."
    )
    return Report(
        title=f"{question.grain.title}: {column.title}",
        start=min((period.start for period in utc), default=None),
        end=max((period.end for period in utc), default=None),
        utc_offset=clock.offset,
        time_note="Times are those of the systems' clock." if clock.offset else "Times are UTC.",
        sections=(Section("trend", f"By {every}", tuple(blocks), lead),),
        definitions={definition: definition_of(question.grain, column.name)},
        generator=f"Plexlens {__version__}",
        kind="Trend",
        subject=name,
    )


def _titles(question: Question) -> dict[str, str]:
    grain = question.grain
    return (
        {"system": "System", "sysplex": "Sysplex"}
        | {key.name: key.title for key in grain.keys}
        | {attribute.name: attribute.title for attribute in grain.attributes}
    )


def _numbers(period: Period) -> tuple[Cell, ...]:
    return (period.value, period.peak, period.peak_start, period.lowest, period.peak_ratio, period.intervals)


def _chart(
    name: str, column: Fact | Metric, definition: str, periods: list[Period], drawn: list[tuple[Any, ...]]
) -> Chart:
    ends: dict[datetime, datetime] = {period.start: period.end for period in periods}
    times = tuple(sorted(ends))
    values = {(period.names, period.start): period for period in periods}
    series = []
    for names in drawn:
        label = " ".join(str(part) for part in names if part is not None) or "value"
        of_names = [values.get((names, start)) for start in times]
        series.append(Series(label, tuple(None if period is None else period.value for period in of_names)))
    if len(drawn) == 1:
        of_names = [values.get((drawn[0], start)) for start in times]
        series.append(Series("highest interval", tuple(None if period is None else period.peak for period in of_names)))
    left_out = len({period.names for period in periods}.difference(drawn))
    return Chart(
        name, column.title, column.unit, ChartKind.LINES, times, tuple(ends[start] for start in times), tuple(series),
        definition, left_out=left_out,
    )  # fmt: skip


def to_object(question: Question, periods: Sequence[Period], every: str) -> dict[str, Any]:
    """A trend as plain values for JSON, in base units; parameters are those of `trend_report`."""
    column = question.column(question.numbers[0])
    return {
        "metric": f"{question.grain.name}.{column.name}",
        "title": column.title,
        "unit": column.unit.base,
        "every": every,
        "periods": [
            {
                **dict(zip(question.by, period.names, strict=True)),
                "start": period.start.isoformat(),
                "end": period.end.isoformat(),
                "value": period.value,
                "peak": period.peak,
                "peak_start": None if period.peak_start is None else period.peak_start.isoformat(),
                "lowest": period.lowest,
                "intervals": period.intervals,
            }
            for period in periods
        ],
    }
