"""Tables of a page, built from their specs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from plexlens.metrics.definition import Attribute, Grain
from plexlens.metrics.grain_data import GrainData
from plexlens.report.blocks.course import Course, Entity, thinned
from plexlens.report.blocks.courses import SPARK_ROWS, Courses, Entities, also, apart, row_names
from plexlens.report.blocks.omissions import apart_in_time, omissions
from plexlens.report.blocks.origin import origin
from plexlens.report.blocks.page import Shown, TableSpec
from plexlens.report.blocks.spread import Spreads
from plexlens.report.model import Cell, Column, ColumnKind, Table

#: Column names that SQL takes for something else unless they are quoted.
_RESERVED = frozenset({"all", "column", "end", "from", "group", "order", "table", "to", "user", "where"})


@dataclass(frozen=True)
class Tables:
    """Maker of tables.

    Parameters
    ----------
    courses, spreads
        The numbers.
    max_rows
        Rows of a table at most.
    """

    courses: Courses
    spreads: Spreads
    max_rows: int

    def table(self, spec: TableSpec) -> Table | None:
        """The table; None if it has no data or no number."""
        context = self.courses.context
        grain_data = context.data(spec.grain)
        if grain_data is None or (spec.across_systems and len(grain_data.systems) < 2):
            return None
        grain = grain_data.grain
        by = apart(grain_data, row_names(grain, spec))
        shown = [column if isinstance(column, Shown) else Shown(column) for column in spec.columns]
        names = [*(column.column for column in shown), *spec.profile]
        result, total = context.numbers.rows(
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
                columns.append(Column(name, context.title(grain, name), ColumnKind.TEXT, key=True))
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
                    Column(series.column, series.title or context.title(grain, series.column), ColumnKind.TEXT)
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
                    context.define(grain, spec.profile[0]),
                )
            )
            data.append([profile if any(profile) else None for profile in profiles])
        note = spec.note
        shown_names = [column.name for column in columns if column.kind is ColumnKind.NUMBER]
        if empty:
            note = f"{note} No values in this data: {', '.join(empty)}.".strip()
        without = omissions(context.inputs, grain_data, shown_names, spec.where, timed=False, by=by)
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
            self.courses.context.define(grain, column.column),
            group=column.group,
            bar=column.bar,
        )

    def _over_time(
        self, grain_data: GrainData, spec: TableSpec, by: tuple[str, ...], entities: Sequence[Entity]
    ) -> list[tuple[Column, list[Cell]]]:
        """The course of a table's rows as sparklines, and its percentiles over the intervals."""
        if not (spec.course and grain_data.regular and len(grain_data.first.times) > 2):
            return []
        course = self._table_course(grain_data, spec, by, entities)
        drawn = self._number_column(grain_data.grain, Shown(spec.course))
        sparks: list[Cell] = []
        for number, entity in enumerate(entities):
            values = course.values.get(entity) if number < SPARK_ROWS else None
            sparks.append(thinned(values[spec.course]) if values is not None else None)
        picture = replace(drawn, name=f"{spec.course}_course", title=f"{drawn.title} over time", kind=ColumnKind.SPARK)
        return [(picture, sparks), *self.spreads.columns(grain_data, spec, drawn, by, rows=entities, course=course)]

    def _table_course(
        self, grain_data: GrainData, spec: TableSpec, by: tuple[str, ...], entities: Sequence[Entity]
    ) -> Course:
        named, covered = row_names(grain_data.grain, spec), grain_data.first
        if len(entities) <= SPARK_ROWS:
            return self.courses.course(grain_data, named, spec.where)
        columns = self.courses.columns(grain_data, named, spec.where)
        those = Entities(grain_data, columns, by, also(spec.where, grain_data.on(covered)), covered)
        return self.courses.of_few(those, entities[:SPARK_ROWS])


def _identifier(name: str) -> str:
    return f'"{name}"' if name in _RESERVED else name
