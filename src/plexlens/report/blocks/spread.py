"""Percentiles over intervals, shown with tables and key figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pyarrow as pa

from plexlens.metrics.evaluate import Cut
from plexlens.metrics.grain_data import Covered, GrainData
from plexlens.metrics.percentile import LEAST_INTERVALS, SHARES, percentiles
from plexlens.metrics.unit import Unit
from plexlens.report.blocks.context import Context, both, one_of
from plexlens.report.blocks.course import Course, Entity, pivot
from plexlens.report.blocks.page import TableSpec
from plexlens.report.model import Cell, Column
from plexlens.report.model.display import shown

#: Names of the percentiles of a column: ``p50``, ``p95``.
NAMES = tuple(f"p{share * 100:.0f}" for share in SHARES)
#: Their headings.
TITLES = ("Median", *(f"{share * 100:.0f} %" for share in SHARES[1:]))


#: The fact that tells the time that a row of a grain with intervals covers.
_LENGTH = "interval_seconds"


class Spreads:
    """Percentiles of the grains of a report.

    Parameters
    ----------
    context
        The grains.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._wholes: dict[tuple[str, str | None], Course] = {}

    def of_whole(
        self, grain_data: GrainData, column: str, columns: Sequence[str], where: str | None, drawn: Callable[[], Course]
    ) -> tuple[float, ...]:
        """Percentiles of a column with everything rolled up; empty if there are too few intervals.

        Parameters
        ----------
        grain_data
            The grain. Where its intervals overlap in part, no interval holds the value of all, and there is none.
        column, columns
            The column, and all that are asked of the same rows.
        where
            Rows that count.
        drawn
            Gives the course as charts draw it, which may be by the hour or day.
        """
        covered = grain_data.first
        if not _enough(grain_data) or not covered.is_even:
            return ()
        key = (grain_data.name, where)
        if key not in self._wholes:
            is_drawn = covered.time == "interval"
            self._wholes[key] = drawn() if is_drawn else self._course(grain_data, columns, where)
        course = self._wholes[key]
        return _spread(course, _lengths(course, covered), (), column)

    def columns(
        self,
        grain_data: GrainData,
        spec: TableSpec,
        drawn: Column,
        by: Sequence[str],
        *,
        rows: Sequence[Entity],
        course: Course,
    ) -> list[tuple[Column, list[Cell]]]:
        """Percentile columns for the values that a table draws over time; none if no row has enough intervals.

        Parameters
        ----------
        grain_data, spec, by
            The grain, the table and the columns that name its rows.
        drawn
            The column whose course is drawn.
        rows
            The rows of the table. Where charts are drawn by the hour or day, only its top rows get percentiles.
        course
            The course as the table draws it. Where its times are not those of each row's intervals, these are asked.
        """
        covered = grain_data.first
        if not _enough(grain_data):
            return []
        if covered.time == "interval" and covered.is_even:
            lengths = _lengths(course, covered)
            numbers = [_spread(course, lengths, entity, spec.course) for entity in rows]
        else:
            kept = rows if covered.time == "interval" else rows[: spec.top]
            columns = tuple(dict.fromkeys((spec.course, _LENGTH)))
            own = self._rows(grain_data, columns, by, both(spec.where, one_of(by, kept)))
            values = _by_entity(own, by, spec.course)
            numbers = [values.get(entity, ()) for entity in rows]
        if not any(numbers):
            return []
        return [
            (
                replace(drawn, name=f"{spec.course}_{name}", title=title, group=f"{drawn.title}, by interval"),
                [values[place] if values else None for values in numbers],
            )
            for place, (name, title) in enumerate(zip(NAMES, TITLES, strict=True))
        ]

    def _course(self, grain_data: GrainData, columns: Sequence[str], where: str | None) -> Course:
        """The columns of everything rolled up, interval by interval, independent of the chart's time step."""
        return pivot(self._rows(grain_data, columns, (), where), (), columns, is_local=grain_data.first.is_local)

    def _rows(self, grain_data: GrainData, columns: Sequence[str], by: Sequence[str], where: str | None) -> pa.Table:
        """The columns of each entity, interval by interval."""
        on_clock = grain_data.on(grain_data.first)
        there = where if on_clock is None else both(where, on_clock)
        # Each row is taken by itself: its intervals need not be those of other rows.
        result, _ = self._context.numbers.rows(grain_data, columns, by=by, time="interval", where=there, cut=Cut.WITHIN)
        return result


def _enough(grain_data: GrainData) -> bool:
    return grain_data.regular and len(grain_data.first.times) >= LEAST_INTERVALS


def _lengths(course: Course, covered: Covered) -> list[float]:
    """Seconds of each interval of a course."""
    return [covered.length_of(moment) / timedelta(seconds=1) for moment in course.times]


def _spread(course: Course, lengths: Sequence[float], entity: Entity, column: str) -> tuple[float, ...]:
    values = course.values.get(entity, {}).get(column)
    return () if values is None else percentiles(values, lengths)


def _by_entity(rows: pa.Table, by: Sequence[str], column: str) -> dict[Entity, tuple[float, ...]]:
    """Percentiles of each entity over its own intervals, from rows that are ordered by entity."""
    if not rows.num_rows:
        return {}
    values, lengths = (rows[name].to_numpy() for name in (column, _LENGTH))
    begins = np.zeros(rows.num_rows, bool)
    begins[0] = True
    for name in by:
        codes = rows[name].combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
        begins[1:] |= codes[1:] != codes[:-1]
    (starts,) = np.nonzero(begins)
    entities = zip(*(rows[name].take(starts).to_pylist() for name in by), strict=True) if by else [()]
    parts = zip(np.split(values, starts[1:]), np.split(lengths, starts[1:]), strict=True)
    return {entity: percentiles(*part) for entity, part in zip(entities, parts, strict=True)}


def spread_text(numbers: Sequence[float], unit: Unit) -> str:
    """Percentiles in words: ``median 41.2 %, 95th percentile 88.0 %``; empty for none."""
    words = ("median", *(f"{share * 100:.0f}th percentile" for share in SHARES[1:]))
    symbol = f" {unit.symbol}" if unit.symbol else ""
    return ", ".join(f"{word} {shown(value, unit)}{symbol}" for word, value in zip(words, numbers, strict=False))
