"""A metric by hour, shift, day, week or month: its value over each, and the interval with its peak."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from plexlens.errors import UsageError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.question import Answer, Question, ask

#: Lengths of time of a row, besides a shift.
EVERY = ("hour", "day", "week", "month")

_DAY, _HOUR = 86_400, 3600


@dataclass(frozen=True)
class Period:
    """A metric of an entity over a length of time.

    Attributes
    ----------
    names
        The entity: values of what the question keeps apart.
    start, end
        UTC; without a time zone for local time of unknown offset.
    value
        The metric, rolled up over the length of time by its own rule; None if it is not known.
    peak, peak_start
        Highest value of an interval that starts in it, and the start of the first such interval.
    lowest
        Lowest value of an interval.
    intervals
        Number of intervals with a value.
    """

    names: tuple[Any, ...]
    start: datetime
    end: datetime
    value: float | None
    peak: float | None
    peak_start: datetime | None
    lowest: float | None
    intervals: int

    @property
    def peak_ratio(self) -> float | None:
        """Peak over value; None if either is not known, or the value is zero."""
        return None if self.peak is None or not self.value else self.peak / self.value


def trend_by_shift(inputs: Inputs, question: Question, name: str, *, utc_offset: float = 0.0) -> list[Period]:
    """The periods of a metric by entity and shift; one that runs past midnight is a single period.

    Parameters and errors are those of `trend`; the question is by day.

    Raises
    ------
    UsageError
        The selection has no shift, or shifts of different hours.
    """
    hours = {start_and_length for shift in inputs.selection.shifts for start_and_length in shift.hours}
    if len(hours) != 1:
        what = "the shifts have different hours" if hours else "no shift is given"
        remedy = "select a single shift, such as --shift mon-fri/22:00-06:00"
        raise UsageError(file="", what=f"a row for each shift needs its hours, and {what}", remedy=remedy)
    ((start, length),) = hours
    # A day that begins in the middle of the time between two shifts has a whole shift, also of a system whose clock is
    # not that of the page.
    before = (_DAY - length) // 2 // _HOUR * _HOUR
    days = trend(inputs, question, name, utc_offset=utc_offset, day_begins=(start - before) % _DAY)
    begin, long = timedelta(seconds=before), timedelta(seconds=length)
    return [replace(day, start=day.start + begin, end=day.start + begin + long) for day in days]


def trend(
    inputs: Inputs, question: Question, name: str, *, utc_offset: float = 0.0, day_begins: float = 0.0
) -> list[Period]:
    """The periods of a metric, by entity and time.

    Parameters
    ----------
    inputs
        The selected tables.
    question
        Of a single metric or fact, with one of `EVERY`.
    name
        What the user called the database, for errors.
    utc_offset
        Seconds by which the clock on which hours and days begin is ahead of UTC.
    day_begins
        Seconds after midnight of that clock at which a day begins.

    Raises
    ------
    UsageError
        The question is of several columns, or of another length of time; or as `plexlens.metrics.question.ask`.
    NothingUsableError
        As `plexlens.metrics.question.ask`.
    """
    if question.every not in EVERY or len(question.numbers) != 1:
        raise UsageError(file="", what="a trend is of one metric", remedy=f"give one metric, every {', '.join(EVERY)}")
    column = question.numbers[0]
    whole = ask(inputs, question, name, utc_offset=utc_offset, day_begins=day_begins)
    single = ask(inputs, replace(question, every="interval"), name, utc_offset=utc_offset)
    by_entity: dict[tuple[Any, ...], list[tuple[datetime, float]]] = {}
    for names, start, value in _rows(single, column):
        if value is not None:
            by_entity.setdefault(names, []).append((start, value))
    periods = []
    for names, start, value in _rows(whole, column):
        end = whole.ends.get(start, start + timedelta(days=1))
        intervals = sorted(_same_clock(by_entity.get(names, []), start))
        begins = [begin for begin, _ in intervals]
        inside = intervals[bisect_right(begins, start - timedelta(microseconds=1)) : bisect_right(
            begins, end - timedelta(microseconds=1)
        )]  # fmt: skip
        peak = max(inside, key=lambda interval: interval[1], default=None)
        periods.append(
            Period(
                names,
                start,
                end,
                value,
                None if peak is None else peak[1],
                None if peak is None else peak[0],
                min((lowest for _, lowest in inside), default=None),
                len(inside),
            )
        )
    return sorted(periods, key=_order)


def _order(period: Period) -> tuple[tuple[str, ...], str]:
    return tuple(str(part or "") for part in period.names), period.start.isoformat()


def _same_clock(rows: list[tuple[datetime, float]], start: datetime) -> Iterator[tuple[datetime, float]]:
    return (row for row in rows if (row[0].tzinfo is None) == (start.tzinfo is None))


def _rows(answer: Answer, column: str) -> Iterator[tuple[tuple[Any, ...], datetime, float | None]]:
    """Names, start and value of each row with a time; local times of unknown offset have no zone."""
    for row in answer.table.to_pylist():
        start = row["time"]
        if start is not None:
            start = start.replace(tzinfo=None) if row.get("local_time") else start
            yield tuple(row[name] for name in answer.question.by), start, row[column]
