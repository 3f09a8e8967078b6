"""Numbers of entities over time, as returned by the engine and as drawn in a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa

from plexlens.metrics.moments import TOGETHER, shown_on

Entity = tuple[str | None, ...]

#: Points of a sparkline at most; longer courses are averaged.
SPARK_POINTS = 32

#: Index, start and end of an interval of an entity.
_Span = tuple[int, datetime, datetime]


@dataclass(frozen=True)
class Course:
    """Columns of a grain over time, by entity.

    Attributes
    ----------
    times
        Start of each interval.
    values
        For each entity and column a value, or null, for each time.
    ends
        End of each interval; empty if `plexlens.metrics.grain_data.Covered.end_of` gives it.
    """

    times: tuple[datetime, ...]
    values: Mapping[Entity, Mapping[str, tuple[float | None, ...]]]
    ends: tuple[datetime, ...] = ()


def pivot(result: Any, by: Sequence[str], columns: Sequence[str], *, is_local: bool = False) -> Course:
    """Rows of entity, time and values (an Arrow table) as a list of values for each entity and column."""
    # There are far fewer points in time than rows: each is converted and looked up once.
    times = result["time"].combine_chunks()
    numbers = times.view(pa.int64()).to_pylist()
    first = {number: row for row, number in reversed(list(enumerate(numbers)))}
    moments = {number: shown_on(times[row].as_py(), is_local=is_local) for number, row in first.items()}
    axis = sorted({moment for moment in moments.values() if moment is not None})
    at = {moment: index for index, moment in enumerate(axis)}
    place_of = {number: None if moment is None else at[moment] for number, moment in moments.items()}
    places = [place_of[number] for number in numbers]
    names = list(zip(*(result[name].to_pylist() for name in by), strict=True)) if by else [()] * len(places)
    values: dict[Entity, dict[str, list[float | None]]] = {}
    for column in columns:
        for entity, place, value in zip(names, places, result[column].to_pylist(), strict=True):
            entry = values.setdefault(entity, {})
            if place is not None:
                if column not in entry:
                    entry[column] = [None] * len(axis)
                entry[column][place] = value
    return Course(
        tuple(axis),
        {entity: {name: tuple(listed) for name, listed in entry.items()} for entity, entry in values.items()},
    )


def with_times(course: Course, times: Iterable[datetime]) -> Course:
    """The course with further times, at which it has no values; without ``ends``."""
    axis = tuple(sorted({*course.times, *times}))
    place = {moment: number for number, moment in enumerate(course.times)}
    places = [place.get(moment) for moment in axis]
    values = {
        entity: {
            name: tuple(None if number is None else listed[number] for number in places)
            for name, listed in columns.items()
        }
        for entity, columns in course.values.items()
    }
    return Course(axis, values)


def thinned(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """At most `SPARK_POINTS` values: means of neighbours."""
    count = len(values)
    if count <= SPARK_POINTS:
        return tuple(values)
    edges = [round(i * count / SPARK_POINTS) for i in range(SPARK_POINTS + 1)]
    thinned: list[float | None] = []
    for low, high in pairwise(edges):
        known = [value for value in values[low:high] if value is not None]
        thinned.append(sum(known) / len(known) if known else None)
    return tuple(thinned)


def stepped(course: Course, ends: Mapping[Entity, Mapping[datetime, datetime]]) -> Course:
    """The course over the segments between all starts and ends, with each entity's value held for its own interval.

    Parameters
    ----------
    course
        Intervals of different entities may overlap in part.
    ends
        For each entity the end of the interval that starts at a time of the course.

    Returns
    -------
    Course
        With ``ends``. Stretches in which no entity has an interval are left out.
    """
    spans = {entity: _own_spans(course.times, ends.get(entity, {})) for entity in course.values}
    cells = _cells(span for own in spans.values() for span in own)
    values = {
        entity: {name: _held(listed, spans[entity], cells) for name, listed in columns.items()}
        for entity, columns in course.values.items()
    }
    return Course(tuple(start for start, _ in cells), values, tuple(end for _, end in cells))


def _cells(spans: Iterable[_Span]) -> list[tuple[datetime, datetime]]:
    """The segments between all starts and ends in which some interval lies."""
    changes: dict[datetime, int] = {}
    for _, start, end in spans:
        changes[start] = changes.get(start, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    marks = sorted(changes)
    running = accumulate(changes[mark] for mark in marks)
    return [cell for cell, count in zip(pairwise(marks), running, strict=False) if count]


def _held(
    listed: Sequence[float | None], own: Sequence[_Span], cells: Sequence[tuple[datetime, datetime]]
) -> tuple[float | None, ...]:
    """The value of an entity in each segment: that of the interval in which the segment lies."""
    values: list[float | None] = []
    rest = iter(own)
    current = next(rest, None)
    for start, end in cells:
        while current is not None and current[2] <= start:
            current = next(rest, None)
        inside = current is not None and current[1] <= start and end <= current[2]
        values.append(listed[current[0]] if inside and current is not None else None)
    return tuple(values)


def _own_spans(times: Sequence[datetime], ends: Mapping[datetime, datetime]) -> list[_Span]:
    """Index, start and end of an entity's intervals; an interval ends at the latest where the next begins."""
    own = [(place, start, _mark(start, ends[start])) for place, start in enumerate(times) if start in ends]
    after: list[datetime | None] = [start for _, start, _ in own[1:]]
    return [
        (place, start, end if following is None else min(end, following))
        for (place, start, end), following in zip(own, [*after, None], strict=True)
        if end > start
    ]


def _mark(start: datetime, end: datetime) -> datetime:
    """The end to the minute, like the start, so that an interval ends where the next starts."""
    if end - start < TOGETHER:
        return end
    return (end + timedelta(seconds=30)).replace(second=0, microsecond=0)
