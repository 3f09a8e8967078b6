"""Percentiles over intervals, shown with tables and key figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

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
        self, held: GrainData, column: str, columns: Sequence[str], where: str | None, drawn: Callable[[], Course]
    ) -> tuple[float, ...]:
        """Percentiles of a column with everything rolled up; empty if there are too few intervals.

        Parameters
        ----------
        held
            The grain. Where its intervals overlap in part, no interval holds the value of all, and there is none.
        column, columns
            The column, and all that are asked of the same rows.
        where
            Rows that count.
        drawn
            Gives the course as charts draw it, which may be by the hour or day.
        """
        covered = held.first
        if not _enough(held) or not covered.is_even:
            return ()
        key = (held.name, where)
        if key not in self._wholes:
            self._wholes[key] = drawn() if covered.time == "interval" else self._course(held, columns, (), where)
        return _spread(self._wholes[key], covered, (), column)

    def columns(
        self,
        held: GrainData,
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
        held, spec, by
            The grain, the table and the columns that name its rows.
        drawn
            The column whose course is drawn.
        rows
            The rows of the table. Where charts are drawn by the hour or day, only its top rows get percentiles.
        course
            The course as the table draws it.
        """
        covered = held.first
        if not _enough(held):
            return []
        if covered.time != "interval":
            course = self._course(held, (spec.course,), by, both(spec.where, one_of(by, rows[: spec.top])))
        found = [_spread(course, covered, entity, spec.course) for entity in rows]
        if not any(found):
            return []
        return [
            (
                replace(drawn, name=f"{spec.course}_{name}", title=title, group=f"{drawn.title}, by interval"),
                [values[place] if values else None for values in found],
            )
            for place, (name, title) in enumerate(zip(NAMES, TITLES, strict=True))
        ]

    def _course(self, held: GrainData, columns: Sequence[str], by: Sequence[str], where: str | None) -> Course:
        """The columns interval by interval, independent of the chart's time step."""
        on_clock = held.on(held.first)
        there = where if on_clock is None else both(where, on_clock)
        found, _ = self._context.numbers.rows(held, columns, by=by, time="interval", where=there)
        return pivot(found, by, columns, is_local=held.first.is_local)


def _enough(held: GrainData) -> bool:
    return held.regular and len(held.first.times) >= LEAST_INTERVALS


def _spread(course: Course, covered: Covered, entity: Entity, column: str) -> tuple[float, ...]:
    values = course.values.get(entity, {}).get(column, ())
    return percentiles(
        (value, covered.length_of(moment) / timedelta(seconds=1))
        for value, moment in zip(values, course.times, strict=bool(values))
    )


def spread_text(found: Sequence[float], unit: Unit) -> str:
    """Percentiles in words: ``median 41.2 %, 95th percentile 88.0 %``; empty for none."""
    words = ("median", *(f"{share * 100:.0f}th percentile" for share in SHARES[1:]))
    symbol = f" {unit.symbol}" if unit.symbol else ""
    return ", ".join(f"{word} {shown(value, unit)}{symbol}" for word, value in zip(words, found, strict=False))
