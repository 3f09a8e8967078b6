"""Blocks with numbers, built from the specs of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from plexlens.metrics.grain_data import GrainData
from plexlens.metrics.unit import Unit
from plexlens.report.blocks.charts import Charts
from plexlens.report.blocks.context import Context
from plexlens.report.blocks.course import thinned
from plexlens.report.blocks.courses import Courses, apart
from plexlens.report.blocks.omissions import apart_in_time, omissions
from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, TableSpec
from plexlens.report.blocks.spread import NAMES, Spreads, spread_text
from plexlens.report.blocks.tables import Tables
from plexlens.report.model import Figure, Table
from plexlens.report.model.chart import Chart
from plexlens.report.model.clock import Clock
from plexlens.report.model.display import shown


@dataclass
class Builder:
    """Builder of the blocks of a report.

    Parameters
    ----------
    context
        The grains.
    clock
        How a peak's time is told.
    max_rows
        Rows of a table that the report holds at most.
    start, end
        Time of the report.
    """

    context: Context
    clock: Clock
    max_rows: int
    start: datetime | None = None
    end: datetime | None = None
    spreads: Spreads = field(init=False)
    courses: Courses = field(init=False)

    def __post_init__(self) -> None:
        self.spreads = Spreads(self.context)
        self.courses = Courses(self.context)

    def plan(self, page: Page) -> None:
        """Announce every course of the page, so that courses that differ only in columns share a query."""
        self.courses.plan(page)

    def charts(self, spec: ChartSpec) -> Sequence[Chart]:
        """The chart; two charts if some intervals are in local time of unknown offset; none if there is no course."""
        return Charts(self.courses).charts(spec)

    def table(self, spec: TableSpec) -> Table | None:
        """The table; None if it has no data or no number."""
        return Tables(self.courses, self.spreads, self.max_rows).table(spec)

    def moment(self, moment: datetime) -> str:
        """A point in time, without the date if the report covers a single date."""
        if self.start is not None and self.end is not None and self.clock.date(self.start) == self.clock.date(self.end):
            same_kind = (moment.tzinfo is None) == (self.start.tzinfo is None)
            if same_kind and self.clock.date(moment) == self.clock.date(self.start):
                return self.clock.local(moment).strftime("%H:%M")
        return self.clock.minute(moment)

    def figure(self, spec: FigureSpec) -> Figure | None:
        """The key figure; None if it has no value."""
        grain_data = self.context.data(spec.grain)
        if grain_data is None:
            return None
        unit = grain_data.grain.column(spec.column).unit
        if spec.pick is Pick.WHOLE:
            return self._whole(spec, grain_data, unit)
        by = apart(grain_data, spec.by)
        result, _ = self.context.numbers.rows(
            grain_data,
            (spec.column,),
            by=by,
            where=spec.where,
            order=spec.column,
            descending=spec.pick is Pick.HIGHEST,
            limit=1,
        )
        value = result[spec.column][0].as_py() if result.num_rows else None
        if value is None:
            return None
        entity = tuple(result[name][0].as_py() for name in by)
        return Figure(
            name=spec.name,
            title=spec.title,
            value=value,
            unit=unit,
            definition=self.context.define(grain_data.grain, spec.column),
            detail=" / ".join(part for part in entity if part),
        )

    def _whole(self, spec: FigureSpec, grain_data: GrainData, unit: Unit) -> Figure | None:
        value = self.courses.whole(grain_data, spec.where).get(spec.column)
        if value is None:
            return None
        detail = ""
        trend: tuple[float | None, ...] = ()
        peaks: list[tuple[float, datetime]] = []
        # Where intervals of several systems overlap in part, no point in time holds the sum of them.
        for covered in (clock for clock in grain_data.clocks if clock.is_even or clock.time != "interval"):
            course = self.courses.course(grain_data, (), spec.where, covered)
            values = next(iter(course.values.values()), {}).get(spec.column, ())
            known = [(v, t) for v, t in zip(values, course.times, strict=True) if v is not None] if values else []
            if len(known) > 1:
                trend = trend or thinned(values)
                peaks.append(max(known, key=lambda column: column[0]))
        if spec.peak and peaks:
            peak, moment = max(peaks, key=lambda peak: peak[0])
            detail = f"peak {shown(peak, unit)} at {self.moment(moment)}"
        columns = self.courses.columns(grain_data, (), spec.where)
        numbers = self.spreads.of_whole(
            grain_data, spec.column, columns, spec.where, lambda: self.courses.course(grain_data, (), spec.where)
        )
        without = omissions(self.context.inputs, grain_data, (spec.column,), spec.where, timed=True).partition(": ")[2]
        times = "mean of values measured at different times" if apart_in_time(grain_data, (), (spec.column,)) else ""
        detail = "; ".join(part for part in (detail, spread_text(numbers, unit), times, without.rstrip(".")) if part)
        return Figure(
            name=spec.name,
            title=spec.title,
            value=value,
            unit=unit,
            definition=self.context.define(grain_data.grain, spec.column),
            detail=detail,
            trend=trend,
            percentiles=tuple(zip(NAMES, numbers, strict=False)),
        )
