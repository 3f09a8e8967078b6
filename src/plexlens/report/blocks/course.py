"""Numbers of entities over time, as returned by the engine and as drawn in a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from plexlens.metrics.moments import TOGETHER, shown_on

Entity = tuple[str | None, ...]


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


def pivot(found: Any, by: Sequence[str], columns: Sequence[str], *, is_local: bool = False) -> Course:
    """Rows of entity, time and values (an Arrow table) as a list of values for each entity and column."""
    times = [shown_on(moment, is_local=is_local) for moment in found["time"].to_pylist()]
    axis = sorted({moment for moment in times if moment is not None})
    place = {moment: index for index, moment in enumerate(axis)}
    names = list(zip(*(found[name].to_pylist() for name in by), strict=True)) if by else [()] * len(times)
    values: dict[Entity, dict[str, list[float | None]]] = {}
    for column in columns:
        for entity, moment, value in zip(names, times, found[column].to_pylist(), strict=True):
            entry = values.setdefault(entity, {})
            if moment is not None:
                entry.setdefault(column, [None] * len(axis))[place[moment]] = value
    return Course(
        tuple(axis),
        {entity: {name: tuple(listed) for name, listed in entry.items()} for entity, entry in values.items()},
    )


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
    marks = sorted({moment for own in spans.values() for _, start, end in own for moment in (start, end)})
    cells = [
        (start, end)
        for start, end in pairwise(marks)
        if any(low <= start and end <= high for own in spans.values() for _, low, high in own)
    ]
    values: dict[Entity, dict[str, tuple[float | None, ...]]] = {}
    for entity, columns in course.values.items():
        places: list[int | None] = []
        own = iter(spans[entity])
        current = next(own, None)
        for start, end in cells:
            while current is not None and current[2] <= start:
                current = next(own, None)
            inside = current is not None and current[1] <= start and end <= current[2]
            places.append(current[0] if inside and current is not None else None)
        values[entity] = {
            name: tuple(None if place is None else listed[place] for place in places)
            for name, listed in columns.items()
        }
    return Course(tuple(start for start, _ in cells), values, tuple(end for _, end in cells))


def _own_spans(times: Sequence[datetime], ends: Mapping[datetime, datetime]) -> list[tuple[int, datetime, datetime]]:
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
