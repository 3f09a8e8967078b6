"""Charts over time of a page, built from their specs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.grain_data import Covered, GrainData
from plexlens.report.blocks.course import Course, Entity
from plexlens.report.blocks.courses import SPARK_ROWS, Courses, Entities, Wholes, also, apart, observed
from plexlens.report.blocks.origin import origin
from plexlens.report.blocks.page import ChartSpec
from plexlens.report.model.chart import Chart, ChartKind, Series, mean

#: Name of the layer that holds what a stack does not draw one by one.
OTHERS = "all others"

#: Series up to which the course is asked of all, of which the largest are drawn. Of more, the whole of each tells which
#: are drawn, and the course is asked of these.
FEW = 30


@dataclass(frozen=True)
class _Lines:
    """The series of a chart on one kind of clock.

    Attributes
    ----------
    spec, those
        The chart and its entities.
    has_own
        Whether each entity has intervals of its own.
    wholes
        The columns of each entity over the whole time.
    """

    spec: ChartSpec
    those: Entities
    has_own: bool
    wholes: Wholes

    @property
    def grain(self) -> Grain:
        """The grain."""
        return self.those.data.grain

    def ends(self, course: Course) -> tuple[datetime, ...]:
        """End of each time of a course."""
        return course.ends or tuple(self.those.covered.end_of(moment) for moment in course.times)

    def series(self, course: Course, entities: Collection[Entity]) -> list[Series]:
        """The series of a course that have values, the first to be drawn first; ``entities`` are all, drawn or not."""
        # A part of the name that is the same in every series says nothing.
        names, spec, grain = self.those.names, self.spec, self.grain
        numbers = [place for place in range(len(names)) if len({entity[place] for entity in entities}) > 1]
        numbers = numbers or list(range(len(names) - len(spec.by), len(names)))
        ends = self.ends(course)
        series = [
            Series(
                _series_name(grain, tuple(entity[place] for place in numbers), name, spec),
                values[name],
                _legend(grain.column(name), self.wholes.get(entity, {}).get(name), values[name], course.times, ends),
            )
            for entity, values in course.values.items()
            for name in spec.columns
            if any(value is not None for value in values.get(name, ()))
        ]
        if spec.by:
            sign = 1 if spec.lowest else -1
            series.sort(key=lambda line: (sign * (line.mean or 0.0), line.name))
        return series


@dataclass(frozen=True)
class _Drawn:
    """The drawn series, and the number of others."""

    course: Course
    series: Sequence[Series]
    left_out: int


@dataclass(frozen=True)
class Charts:
    """Maker of charts over time."""

    courses: Courses

    def charts(self, spec: ChartSpec) -> Sequence[Chart]:
        """The chart; two charts if some intervals are in local time of unknown offset; none if there is no course."""
        grain_data = self.courses.context.data(spec.grain)
        if grain_data is None or not grain_data.regular:
            return ()
        result = (self._chart(spec, grain_data, covered) for covered in grain_data.clocks if len(covered.times) > 1)
        return [chart for chart in result if chart is not None]

    def _chart(self, spec: ChartSpec, grain_data: GrainData, covered: Covered) -> Chart | None:
        grain = grain_data.grain
        units = {grain.column(name).unit for name in spec.columns}
        if len(units) != 1:
            raise ValueError(f"chart {spec.name}: {', '.join(spec.columns)} are not all in one unit")
        has_own = covered.time == "interval" and not covered.is_even
        those = Entities(
            grain_data,
            self.courses.columns(grain_data, spec.by, spec.where),
            apart(grain_data, observed(grain_data, spec.by) if has_own else spec.by),
            also(spec.where, grain_data.on(covered)),
            covered,
        )
        lines = _Lines(spec, those, has_own, self.courses.wholes(those))
        drawn = self.largest(lines) or self.all_ranked(lines)
        if len(drawn.course.times) < 2 or not drawn.series:
            return None
        definitions = [self.courses.context.define(grain, name) for name in spec.columns]
        second = covered is not grain_data.first
        return Chart(
            name=f"{spec.name}_local" if second else spec.name,
            title=f"{spec.title}, in local time" if second else spec.title,
            unit=units.pop(),
            kind=spec.kind,
            times=drawn.course.times,
            ends=lines.ends(drawn.course),
            series=tuple(drawn.series),
            definition=definitions[0],
            references=spec.references,
            left_out=drawn.left_out,
            note=spec.note,
            origin=origin(grain_data, covered),
        )

    def all_ranked(self, lines: _Lines) -> _Drawn:
        """The course of every entity, of which the largest are drawn."""
        spec = lines.spec
        if lines.has_own:
            course = self.courses.by_own_intervals(lines.those)
        else:
            course = self.courses.course(lines.those.data, spec.by, spec.where, lines.those.covered)
        series = lines.series(course, course.values)
        kept, rest = series[: spec.most], series[spec.most :]
        if not rest or spec.kind is not ChartKind.STACK:
            return _Drawn(course, kept, len(rest))
        sums = _sums([line.values for line in rest], len(course.times))
        means = [line.mean for line in rest if line.mean is not None]
        return _Drawn(course, [*kept, _others(len(rest), sums, sum(means) if means else None)], 0)

    def largest(self, lines: _Lines) -> _Drawn | None:
        """The course of the entities with the largest wholes; None if there are few, or the course of all is needed.

        A stack draws the sum of the rest, which is asked as one entity where the column adds up across entities.
        """
        spec, grain = lines.spec, lines.grain
        ranked = [
            (entity, name, value)
            for entity, columns in lines.wholes.items()
            for name in spec.columns
            if (value := columns.get(name)) is not None
        ]
        is_stack = spec.kind is ChartKind.STACK
        if len(ranked) <= max(FEW, spec.most) or (is_stack and not (_adds_up(grain, spec) and not lines.has_own)):
            return None
        sign = 1 if spec.lowest else -1
        ranked.sort(key=lambda entry: (sign * entry[2], [part or "" for part in entry[0]], entry[1]))
        kept = tuple(dict.fromkeys(entity for entity, _, _ in ranked[: spec.most]))
        course = self._of_few(lines, kept, [entity for entity, _, _ in ranked])
        if len(course.times) < 2:
            return None
        drawn = {(entity, name) for entity, name, _ in ranked[: spec.most]}
        own = {
            entity: {name: values for name, values in course.values[entity].items() if (entity, name) in drawn}
            for entity in kept
            if entity in course.values
        }
        series = lines.series(Course(course.times, own, course.ends), lines.wholes)
        left_out = len(ranked) - len(drawn)
        if is_stack:
            return _Drawn(course, [*series, self._rest(lines, course, kept, left_out)], 0)
        return _Drawn(course, series, left_out)

    def _of_few(self, lines: _Lines, kept: Sequence[Entity], ranked: Sequence[Entity]) -> Course:
        """The course of the kept entities, and of more if a table draws them."""
        spec, those = lines.spec, lines.those
        if lines.has_own:
            return self.courses.by_own_intervals(those.only(kept))
        if self.courses.are_sparked(those.data, spec.by, spec.where) and not spec.lowest:
            kept = tuple(dict.fromkeys((*kept, *ranked[:SPARK_ROWS])))
        return self.courses.of_few(those, kept)

    def _rest(self, lines: _Lines, course: Course, kept: Sequence[Entity], count: int) -> Series:
        """The sum of all other entities."""
        (name,) = lines.spec.columns
        rest = self.courses.together(lines.those.without(kept))
        values = next(iter(rest.values.values()), {}).get(name, ())
        at = dict(zip(rest.times, values, strict=False))
        sums = tuple(at.get(moment) for moment in course.times)
        whole = None
        if not _is_mean_of_times(lines.grain.column(name)):
            known = [columns.get(name) for entity, columns in lines.wholes.items() if entity not in kept]
            whole = sum(value for value in known if value is not None)
        return _others(count, sums, mean(sums, course.times, lines.ends(course)) if whole is None else whole)


def _series_name(grain: Grain, entity: tuple[str | None, ...], column: str, spec: ChartSpec) -> str:
    name = " / ".join(part for part in entity if part)
    if len(spec.columns) == 1:
        return name or grain.column(column).title
    return f"{name}: {grain.column(column).title}" if name else grain.column(column).title


def _adds_up(grain: Grain, spec: ChartSpec) -> bool:
    """Whether a chart is of a single fact whose values add up across entities."""
    columns = [grain.column(name) for name in spec.columns]
    return len(columns) == 1 and all(isinstance(column, Fact) and column.rollup.across == "sum" for column in columns)


def _is_mean_of_times(column: Fact | Metric) -> bool:
    """Whether the number in a legend is the mean over time, since a table adds up, or takes the largest."""
    return isinstance(column, Fact) and column.rollup.over != "mean"


def _legend(
    column: Fact | Metric,
    whole: float | None,
    values: Sequence[float | None],
    times: Sequence[datetime],
    ends: Sequence[datetime],
) -> float | None:
    """The number in a legend, as in a table, or the mean over time."""
    return mean(values, times, ends) if _is_mean_of_times(column) or whole is None else whole


def _others(count: int, values: tuple[float | None, ...], whole: float | None) -> Series:
    return Series(f"{OTHERS} ({count})", values, whole)


def _sums(layers: Sequence[Sequence[float | None]], width: int) -> tuple[float | None, ...]:
    sums: list[float | None] = []
    for index in range(width):
        known = [value for layer in layers if (value := layer[index]) is not None]
        sums.append(sum(known) if known else None)
    return tuple(sums)
