"""Blocks with numbers, built from the specs of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from plexlens.metrics.definition import Attribute, Fact, Grain, Metric
from plexlens.metrics.grain_data import Covered, GrainData
from plexlens.metrics.unit import Unit
from plexlens.report.blocks.context import Context, both, one_of
from plexlens.report.blocks.course import Course, Entity, pivot, stepped
from plexlens.report.blocks.omissions import apart_in_time, omissions
from plexlens.report.blocks.origin import origin
from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.blocks.spread import NAMES, Spreads, spread_text
from plexlens.report.model import Cell, Column, ColumnKind, Figure, Table
from plexlens.report.model.chart import Chart, ChartKind, Series, mean
from plexlens.report.model.clock import Clock
from plexlens.report.model.display import shown

#: Points of a sparkline at most; longer courses are averaged.
SPARK_POINTS = 32

#: Rows of a table that get a sparkline.
SPARK_ROWS = 60

#: Column names that SQL takes for something else unless they are quoted.
_RESERVED = frozenset({"all", "column", "end", "from", "group", "order", "table", "to", "user", "where"})

#: Keys that say who was measured where that is not a system.
_OBSERVERS = ("queue_manager", "subsystem", "applid")

#: Name of the layer that holds what a stack does not draw one by one.
OTHERS = "all others"


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
    _wanted: dict[tuple[str, tuple[str, ...], str | None], dict[str, None]] = field(default_factory=dict)
    _courses: dict[tuple[str, tuple[str, ...], str | None, bool], Course] = field(default_factory=dict)
    _stepped: dict[tuple[Any, ...], Course] = field(default_factory=dict)
    _means: dict[tuple[Any, ...], Mapping[tuple[str | None, ...], Mapping[str, float | None]]] = field(
        default_factory=dict
    )
    _wholes: dict[tuple[str, str | None], Mapping[str, float | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.spreads = Spreads(self.context)

    def plan(self, page: Page) -> None:
        """Announce every course of the page, so that courses that differ only in columns share a query."""
        for chart in page.charts:
            self.context.numbers.need(chart.grain, (*chart.columns, *chart.by), chart.where, by=chart.by)
            self._wanted.setdefault((chart.grain, chart.by, chart.where), {}).update(dict.fromkeys(chart.columns))
        for figure in page.figures:
            self.context.numbers.need(figure.grain, (figure.column, *figure.by), figure.where, by=figure.by)
            if figure.pick is Pick.WHOLE:
                self._wanted.setdefault((figure.grain, (), figure.where), {})[figure.column] = None
        for heat in page.heat_maps:
            self.context.numbers.need(heat.grain, (heat.column, *heat.by), heat.where)
        for table in page.tables:
            shown = [column.column if isinstance(column, Shown) else column for column in table.columns]
            columns = (*shown, *table.profile, table.order, table.course)
            by = self._names(self.context.grain(table.grain), table)
            self.context.numbers.need(table.grain, (*columns, *by), table.where, by=by)
            if table.course:
                self._wanted.setdefault((table.grain, by, table.where), {})[table.course] = None

    @staticmethod
    def _names(grain: Grain, spec: TableSpec) -> tuple[str, ...]:
        """The columns that name a row of a table."""
        if spec.by is not None:
            return spec.by
        return tuple(dict.fromkeys(("system", *(key.name for key in grain.keys))))

    def whole(self, grain_data: GrainData, where: str | None) -> Mapping[str, float | None]:
        """The planned columns of a grain, everything rolled up."""
        key = (grain_data.name, where)
        if key not in self._wholes:
            result, _ = self.context.numbers.rows(
                grain_data, tuple(self._wanted[grain_data.name, (), where]), where=where
            )
            rows = result.to_pylist()
            self._wholes[key] = rows[0] if rows else {}
        return self._wholes[key]

    def course(
        self, grain_data: GrainData, by: tuple[str, ...], where: str | None, covered: Covered | None = None
    ) -> Course:
        """The planned columns of a grain over time, by entity as named by `apart`; by default over intervals of known
        time.
        """
        covered = covered or grain_data.first
        key = (grain_data.name, by, where, covered.is_local)
        if key not in self._courses:
            columns = tuple(self._wanted[grain_data.name, by, where])
            names = apart(grain_data, by)
            result, _ = self.context.numbers.rows(
                grain_data, columns, by=names, time=covered.time, where=also(where, grain_data.on(covered))
            )
            self._courses[key] = pivot(result, names, columns, is_local=covered.is_local)
        return self._courses[key]

    def moment(self, moment: datetime) -> str:
        """A point in time, without the date if the report covers a single date."""
        if self.start is not None and self.end is not None and self.clock.date(self.start) == self.clock.date(self.end):
            same_kind = (moment.tzinfo is None) == (self.start.tzinfo is None)
            if same_kind and self.clock.date(moment) == self.clock.date(self.start):
                return self.clock.local(moment).strftime("%H:%M")
        return self.clock.minute(moment)

    # --- charts -------------------------------------------------------------------------------------------------

    def charts(self, spec: ChartSpec) -> Sequence[Chart]:
        """The chart; two charts if some intervals are in local time of unknown offset; none if there is no course."""
        grain_data = self.context.data(spec.grain)
        if grain_data is None or not grain_data.regular:
            return ()
        result = (self._chart(spec, grain_data, covered) for covered in grain_data.clocks if len(covered.times) > 1)
        return [chart for chart in result if chart is not None]

    def _chart(self, spec: ChartSpec, grain_data: GrainData, covered: Covered) -> Chart | None:
        where = also(spec.where, grain_data.on(covered))
        names = apart(grain_data, spec.by)
        columns = tuple(self._wanted[grain_data.name, spec.by, spec.where])
        course = self.course(grain_data, spec.by, spec.where, covered)
        if covered.time == "interval" and not covered.is_even:
            names = apart(grain_data, observed(grain_data, spec.by))
            course = self._by_own_intervals(grain_data, columns, names, covered, where)
        if len(course.times) < 2:
            return None
        grain = grain_data.grain
        units = {grain.column(name).unit for name in spec.columns}
        if len(units) != 1:
            raise ValueError(f"chart {spec.name}: {', '.join(spec.columns)} are not all in one unit")
        # A part of the name that is the same in every series says nothing.
        numbers = [place for place in range(len(names)) if len({entity[place] for entity in course.values}) > 1]
        numbers = numbers or list(range(len(names) - len(spec.by), len(names)))
        ends = course.ends or tuple(covered.end_of(moment) for moment in course.times)
        wholes = self._whole_by(grain_data, columns, names, where)
        series = [
            Series(
                self._series_name(grain, tuple(entity[place] for place in numbers), name, spec),
                values[name],
                _legend(grain.column(name), wholes.get(entity, {}).get(name), values[name], course.times, ends),
            )
            for entity, values in course.values.items()
            for name in spec.columns
            if any(value is not None for value in values.get(name, ()))
        ]
        if not series:
            return None
        if spec.by:
            sign = 1 if spec.lowest else -1
            series.sort(key=lambda line: (sign * (line.mean or 0.0), line.name))
        kept, rest = series[: spec.most], series[spec.most :]
        left_out = len(rest)
        if rest and spec.kind is ChartKind.STACK:
            sums = _sums([column.values for column in rest], len(course.times))
            means = [column.mean for column in rest if column.mean is not None]
            kept.append(Series(f"{OTHERS} ({len(rest)})", sums, sum(means) if means else None))
            left_out = 0
        definitions = [self.context.define(grain, name) for name in spec.columns]
        second = covered is not grain_data.first
        return Chart(
            name=f"{spec.name}_local" if second else spec.name,
            title=f"{spec.title}, in local time" if second else spec.title,
            unit=units.pop(),
            kind=spec.kind,
            times=course.times,
            ends=ends,
            series=tuple(kept),
            definition=definitions[0],
            references=spec.references,
            left_out=left_out,
            note=spec.note,
            origin=origin(grain_data, covered),
        )

    def _by_own_intervals(
        self,
        grain_data: GrainData,
        columns: tuple[str, ...],
        names: tuple[str, ...],
        covered: Covered,
        where: str | None,
    ) -> Course:
        """A course in which each entity's values apply to its own intervals, since other entities' intervals begin at
        other times.
        """
        key = (grain_data.name, columns, names, where, covered.is_local)
        if key not in self._stepped:
            result, _ = self.context.numbers.rows(grain_data, columns, by=names, time="interval", where=where)
            course = pivot(result, names, columns, is_local=covered.is_local)
            self._stepped[key] = stepped(
                course, self.context.numbers.ends(grain_data, names, where, is_local=covered.is_local)
            )
        return self._stepped[key]

    def _whole_by(
        self, grain_data: GrainData, columns: tuple[str, ...], names: tuple[str, ...], where: str | None
    ) -> Mapping[Entity, Mapping[str, float | None]]:
        """The planned columns of each entity of a chart, rolled up like a table."""
        if not names and (grain_data.name, (), where) in self._wanted:
            return {(): self.whole(grain_data, where)}
        key = (grain_data.name, columns, names, where)
        if key not in self._means:
            result, _ = self.context.numbers.rows(grain_data, columns, by=names, where=where)
            self._means[key] = {tuple(row[name] for name in names): row for row in result.to_pylist()}
        return self._means[key]

    @staticmethod
    def _series_name(grain: Grain, entity: tuple[str | None, ...], column: str, spec: ChartSpec) -> str:
        name = " / ".join(part for part in entity if part)
        if len(spec.columns) == 1:
            return name or grain.column(column).title
        return f"{name}: {grain.column(column).title}" if name else grain.column(column).title

    # --- figures ------------------------------------------------------------------------------------------------

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
        value = self.whole(grain_data, spec.where).get(spec.column)
        if value is None:
            return None
        detail = ""
        trend: tuple[float | None, ...] = ()
        peaks: list[tuple[float, datetime]] = []
        # Where intervals of several systems overlap in part, no point in time holds the sum of them.
        for covered in (clock for clock in grain_data.clocks if clock.is_even or clock.time != "interval"):
            course = self.course(grain_data, (), spec.where, covered)
            values = next(iter(course.values.values()), {}).get(spec.column, ())
            known = [(v, t) for v, t in zip(values, course.times, strict=True) if v is not None] if values else []
            if len(known) > 1:
                trend = trend or _thinned(values)
                peaks.append(max(known, key=lambda column: column[0]))
        if spec.peak and peaks:
            peak, moment = max(peaks, key=lambda peak: peak[0])
            detail = f"peak {shown(peak, unit)} at {self.moment(moment)}"
        columns = tuple(self._wanted[grain_data.name, (), spec.where])
        numbers = self.spreads.of_whole(
            grain_data, spec.column, columns, spec.where, lambda: self.course(grain_data, (), spec.where)
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

    # --- tables -------------------------------------------------------------------------------------------------

    def table(self, spec: TableSpec) -> Table | None:
        """The table; None if it has no data or no number."""
        grain_data = self.context.data(spec.grain)
        if grain_data is None or (spec.across_systems and len(grain_data.systems) < 2):
            return None
        grain = grain_data.grain
        by = apart(grain_data, self._names(grain, spec))
        shown = [column if isinstance(column, Shown) else Shown(column) for column in spec.columns]
        names = [*(column.column for column in shown), *spec.profile]
        result, total = self.context.numbers.rows(
            grain_data,
            names,
            by=by,
            where=spec.where,
            order=spec.order,
            descending=spec.descending,
            limit=self.max_rows,
        )
        attributes = {attribute.name for attribute in grain.attributes}
        cells: dict[str, list[Any]] = {name: result[name].to_pylist() for name in result.column_names}
        columns: list[Column] = []
        data: list[list[Cell]] = []
        for name in by:
            if any(cells[name]):
                columns.append(Column(name, self.context.title(grain, name), ColumnKind.TEXT, key=True))
                data.append(cells[name])
        empty: list[str] = []
        numbers = 0
        for series in shown:
            values = cells[series.column]
            if all(value is None for value in values):
                title = series.title or self._heading(grain, series.column)
                empty.append(f"{series.group} ({title})" if series.group else title)
                continue
            if series.column in attributes:
                columns.append(
                    Column(series.column, series.title or self.context.title(grain, series.column), ColumnKind.TEXT)
                )
            else:
                numbers += 1
                columns.append(self._number_column(grain, series))
            data.append(values)
        if not numbers:
            return None
        entities = [tuple(cells[n][i] for n in by) for i in range(result.num_rows)]
        for column, values in self._over_time(grain_data, spec, by, entities):
            columns.append(column)
            data.append(values)
        profiles = list(zip(*(cells[name] for name in spec.profile), strict=True))
        if any(any(profile) for profile in profiles):
            first = grain.column(spec.profile[0])
            columns.append(
                Column(
                    "profile",
                    spec.profile_title,
                    ColumnKind.PROFILE,
                    first.unit,
                    self.context.define(grain, spec.profile[0]),
                )
            )
            data.append([profile if any(profile) else None for profile in profiles])
        note = spec.note
        shown_names = [column.name for column in columns if column.kind is ColumnKind.NUMBER]
        if empty:
            note = f"{note} No values in this data: {', '.join(empty)}.".strip()
        without = omissions(self.context.inputs, grain_data, shown_names, spec.where, timed=False, by=by)
        note = f"{note} {without}".strip()
        note = f"{note} {apart_in_time(grain_data, by, shown_names)}".strip()
        query = ""
        if total > result.num_rows:
            listed = ", ".join(_identifier(name) for name in (*by, "interval", *names))
            direction = " desc" if spec.descending else ""
            query = f"select {listed} from {grain.name} order by {_identifier(spec.order)}{direction}"
        return Table(
            name=spec.name,
            title=spec.title,
            columns=tuple(columns),
            rows=tuple(zip(*data, strict=True)),
            top=spec.top,
            sorted_by=(spec.order, spec.descending) if spec.order in {c.name for c in columns} else None,
            total_rows=total,
            query=query,
            note=note,
            origin=origin(grain_data),
            folded=spec.folded,
            drill=spec.drill,
        )

    def _heading(self, grain: Grain, name: str) -> str:
        named: dict[str, Attribute] = {attribute.name: attribute for attribute in grain.attributes}
        return named[name].title if name in named else grain.column(name).title

    def _number_column(self, grain: Grain, column: Shown) -> Column:
        definition = grain.column(column.column)
        return Column(
            column.column,
            column.title or definition.title,
            ColumnKind.NUMBER,
            definition.unit,
            self.context.define(grain, column.column),
            group=column.group,
            bar=column.bar,
        )

    def _over_time(
        self, grain_data: GrainData, spec: TableSpec, by: Sequence[str], entities: Sequence[Entity]
    ) -> list[tuple[Column, list[Cell]]]:
        """The course of a table's rows as sparklines, and its percentiles over the intervals."""
        if not (spec.course and grain_data.regular and len(grain_data.first.times) > 2):
            return []
        course = self._table_course(grain_data, spec, by, entities)
        drawn = self._number_column(grain_data.grain, Shown(spec.course))
        sparks: list[Cell] = []
        for number, entity in enumerate(entities):
            values = course.values.get(entity) if number < SPARK_ROWS else None
            sparks.append(_thinned(values[spec.course]) if values is not None else None)
        picture = replace(drawn, name=f"{spec.course}_course", title=f"{drawn.title} over time", kind=ColumnKind.SPARK)
        return [(picture, sparks), *self.spreads.columns(grain_data, spec, drawn, by, rows=entities, course=course)]

    def _table_course(
        self, grain_data: GrainData, spec: TableSpec, by: Sequence[str], entities: Sequence[Entity]
    ) -> Course:
        if len(entities) <= SPARK_ROWS:
            return self.course(grain_data, self._names(grain_data.grain, spec), spec.where)
        covered = grain_data.first
        there = also(both(spec.where, one_of(by, entities[:SPARK_ROWS])), grain_data.on(covered))
        result, _ = self.context.numbers.rows(grain_data, (spec.course,), by=by, time=covered.time, where=there)
        return pivot(result, by, (spec.course,), is_local=covered.is_local)


def apart(grain_data: GrainData, by: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that distinguish entities, including the sysplex if there are several, since names repeat across
    sysplexes.
    """
    return ("sysplex", *by) if by and len(grain_data.sysplexes) > 1 and "sysplex" not in by else by


def _identifier(name: str) -> str:
    return f'"{name}"' if name in _RESERVED else name


def observed(grain_data: GrainData, by: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that identify observers with intervals of their own: systems, or subsystems that run on them."""
    keys = [key.name for key in grain_data.grain.keys]
    observer = next((name for name in _OBSERVERS if name in keys), "system")
    return by if observer in by else (observer, *by)


def _legend(
    column: Fact | Metric,
    whole: float | None,
    values: Sequence[float | None],
    times: Sequence[datetime],
    ends: Sequence[datetime],
) -> float | None:
    """The number in a legend, as in a table; the mean over time if a table adds up, or takes the largest."""
    adds_up = isinstance(column, Fact) and column.rollup.over != "mean"
    return mean(values, times, ends) if adds_up or whole is None else whole


def also(first: str | None, second: str | None) -> str | None:
    """The conjunction of two conditions, either of which may be missing."""
    return first if second is None else both(first, second)


def _sums(layers: Sequence[Sequence[float | None]], width: int) -> tuple[float | None, ...]:
    sums: list[float | None] = []
    for index in range(width):
        known = [value for layer in layers if (value := layer[index]) is not None]
        sums.append(sum(known) if known else None)
    return tuple(sums)


def _thinned(values: Sequence[float | None]) -> tuple[float | None, ...]:
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
