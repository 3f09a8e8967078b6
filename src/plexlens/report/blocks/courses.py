"""Numbers of the entities of a page, over time and as a whole, each asked once.

A chart draws a few of its entities. Where there are many, the whole of each tells which, and the course is asked of
these alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from plexlens.metrics.definition import Grain
from plexlens.metrics.grain_data import Covered, GrainData
from plexlens.report.blocks.context import Context, both, none_of, one_of
from plexlens.report.blocks.course import Course, Entity, pivot, stepped, with_times
from plexlens.report.blocks.page import Page, Pick, Shown, TableSpec

#: Rows of a table that get a sparkline.
SPARK_ROWS = 60

#: Keys that say who was measured where that is not a system.
_OBSERVERS = ("queue_manager", "subsystem", "applid")

#: A grain, the columns that tell entities apart, and a condition.
_Rows = tuple[str, tuple[str, ...], str | None]

#: Numbers of entities by column.
Wholes = Mapping[Entity, Mapping[str, float | None]]


@dataclass(frozen=True)
class Entities:
    """Entities of a grain on one kind of clock.

    Attributes
    ----------
    data
        The grain.
    columns
        What is asked of each.
    names
        Columns that distinguish them.
    where
        The rows that count, which includes the clock.
    covered
        The intervals.
    """

    data: GrainData
    columns: tuple[str, ...]
    names: tuple[str, ...]
    where: str | None
    covered: Covered

    def only(self, kept: Iterable[Entity]) -> Entities:
        """Some of them."""
        return replace(self, where=both(self.where, one_of(self.names, list(kept))))

    def without(self, kept: Iterable[Entity]) -> Entities:
        """All but some of them."""
        return replace(self, where=both(self.where, none_of(self.names, list(kept))))


class Courses:
    """Courses and wholes for the blocks of a report.

    Parameters
    ----------
    context
        The grains.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self._wanted: dict[_Rows, dict[str, None]] = {}
        self._sparked: set[_Rows] = set()
        self._courses: dict[Entities, Course] = {}
        self._stepped: dict[Entities, Course] = {}
        self._few: dict[Entities, list[tuple[frozenset[Entity], Course]]] = {}
        self._wholes: dict[tuple[str, str | None], Mapping[str, float | None]] = {}
        self._wholes_by: dict[Entities, Wholes] = {}

    def plan(self, page: Page) -> None:
        """Announce every course of the page, so that courses that differ only in columns share a query."""
        numbers = self.context.numbers
        for chart in page.charts:
            numbers.need(chart.grain, (*chart.columns, *chart.by), chart.where, by=chart.by)
            self._wanted.setdefault((chart.grain, chart.by, chart.where), {}).update(dict.fromkeys(chart.columns))
        for figure in page.figures:
            numbers.need(figure.grain, (figure.column, *figure.by), figure.where, by=figure.by)
            if figure.pick is Pick.WHOLE:
                self._wanted.setdefault((figure.grain, (), figure.where), {})[figure.column] = None
        for heat in page.heat_maps:
            numbers.need(heat.grain, (heat.column, *heat.by), heat.where)
        for table in page.tables:
            shown = [column.column if isinstance(column, Shown) else column for column in table.columns]
            columns = (*shown, *table.profile, table.order, table.course)
            by = row_names(self.context.grain(table.grain), table)
            numbers.need(table.grain, (*columns, *by), table.where, by=by)
            if table.course:
                self._wanted.setdefault((table.grain, by, table.where), {})[table.course] = None
                self._sparked.add((table.grain, by, table.where))

    def columns(self, grain_data: GrainData, by: tuple[str, ...], where: str | None) -> tuple[str, ...]:
        """The planned columns of a course."""
        return tuple(self._wanted[grain_data.name, by, where])

    def are_sparked(self, grain_data: GrainData, by: tuple[str, ...], where: str | None) -> bool:
        """Whether a table draws the course of its rows, which are these entities."""
        return (grain_data.name, by, where) in self._sparked

    # --- as a whole -----------------------------------------------------------------------------------------------

    def whole(self, grain_data: GrainData, where: str | None) -> Mapping[str, float | None]:
        """The planned columns of a grain, everything rolled up."""
        key = (grain_data.name, where)
        if key not in self._wholes:
            result, _ = self.context.numbers.rows(grain_data, self.columns(grain_data, (), where), where=where)
            rows = result.to_pylist()
            self._wholes[key] = rows[0] if rows else {}
        return self._wholes[key]

    def wholes(self, those: Entities) -> Wholes:
        """The columns of each entity, rolled up like a table."""
        data, names, where = those.data, those.names, those.where
        if not names and (data.name, (), where) in self._wanted:
            return {(): self.whole(data, where)}
        if those not in self._wholes_by:
            result, _ = self.context.numbers.rows(data, those.columns, by=names, where=where)
            self._wholes_by[those] = {tuple(row[name] for name in names): row for row in result.to_pylist()}
        return self._wholes_by[those]

    # --- over time ------------------------------------------------------------------------------------------------

    def course(
        self, grain_data: GrainData, by: tuple[str, ...], where: str | None, covered: Covered | None = None
    ) -> Course:
        """The planned columns of all entities over time, as named by `apart`; by default over intervals of known
        time.
        """
        covered = covered or grain_data.first
        names, columns = apart(grain_data, by), self.columns(grain_data, by, where)
        return self._asked(Entities(grain_data, columns, names, also(where, grain_data.on(covered)), covered))

    def by_own_intervals(self, those: Entities) -> Course:
        """A course in which each entity's values apply to its own intervals, since other entities' intervals begin at
        other times.
        """
        if those not in self._stepped:
            local = those.covered.is_local
            ends = self.context.numbers.ends(those.data, those.names, those.where, is_local=local)
            self._stepped[those] = stepped(self._asked(those), ends)
        return self._stepped[those]

    def of_few(self, those: Entities, kept: Collection[Entity]) -> Course:
        """The columns of some of the entities over time, at all times at which any of the entities has rows."""
        known = self._few.setdefault(those, [])
        for there, course in known:
            if there.issuperset(kept):
                return course
        course = self._asked(those.only(kept))
        if _lacks_times(course, those.covered):
            course = with_times(course, self._asked(replace(those, columns=(), names=())).times)
        known.append((frozenset(kept), course))
        return course

    def together(self, those: Entities) -> Course:
        """The columns of the entities as one, over time."""
        return self._asked(replace(those, names=()))

    def _asked(self, those: Entities) -> Course:
        if those not in self._courses:
            result, _ = self.context.numbers.rows(
                those.data, those.columns, by=those.names, time=those.covered.time, where=those.where
            )
            is_local = those.covered.is_local
            self._courses[those] = pivot(result, those.names, those.columns, is_local=is_local)
        return self._courses[those]


def _lacks_times(course: Course, covered: Covered) -> bool:
    """Whether some interval of the grain is at none of the times of a course."""
    if covered.time == "interval":
        return not set(covered.times) <= set(course.times)
    for moment in covered.times:
        place = bisect_right(course.times, moment) - 1
        if place < 0 or covered.end_of(course.times[place]) <= moment:
            return True
    return False


def row_names(grain: Grain, spec: TableSpec) -> tuple[str, ...]:
    """The columns that name a row of a table."""
    if spec.by is not None:
        return spec.by
    return tuple(dict.fromkeys(("system", *(key.name for key in grain.keys))))


def apart(grain_data: GrainData, by: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that distinguish entities, including the sysplex if there are several, since names repeat across
    sysplexes.
    """
    return ("sysplex", *by) if by and len(grain_data.sysplexes) > 1 and "sysplex" not in by else by


def observed(grain_data: GrainData, by: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that identify observers with intervals of their own: systems, or subsystems that run on them."""
    observer = observer_of(grain_data)
    return by if observer in by else (observer, *by)


def observer_of(grain_data: GrainData) -> str:
    """The column that names who was measured."""
    keys = [key.name for key in grain_data.grain.keys]
    return next((name for name in _OBSERVERS if name in keys), "system")


def also(first: str | None, second: str | None) -> str | None:
    """The conjunction of two conditions, either of which may be missing."""
    return first if second is None else both(first, second)


__all__ = ["SPARK_ROWS", "Courses", "Entities", "Wholes", "also", "apart", "observed", "observer_of", "row_names"]
