"""The facts of one grain, kept in the engine for the time a report is made, and the times they cover."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

import ibis
import pyarrow as pa
from ibis.expr.operations import InMemoryTable

from plexlens.metrics.definition import Grain
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.reduction import Where, fields_of, reduced

#: More intervals than this are drawn by the hour, more hours by the day.
MOST_TIMES = 400

_LENGTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}


class Held:
    """A grain whose facts are in the engine, with the times it covers.

    Attributes
    ----------
    grain
        The grain, reduced to what was asked for.
    kept
        Its facts; ``source_kind`` is the same in all rows.
    kinds, systems, sysplexes
        Kinds of source its rows came from, and the names in them.
    start, end
        First start and last end of its intervals; None where its rows have no interval.
    spans
        Start and end of each interval that has both.
    interval_range
        Shortest and longest length of an interval.
    interval_seconds
        Usual length of an interval; 0 where the rows do not tell.
    regular
        Whether all rows share the same intervals; accounting has an interval for each task instead.
    gaps
        Places where the next interval starts later than one length after the one before.
    time
        Length of time of one point in charts: ``interval``, ``hour`` or ``day``.
    """

    def __init__(self, inputs: Inputs, whole: Grain, columns: Iterable[str], wheres: Iterable[Where | None]) -> None:
        grain = narrowed(whole, columns, wheres)
        self.name = grain.name
        table = f"report_{grain.name}"
        _keep(inputs.backend, table, facts(inputs, grain))
        kept = inputs.backend.table(table)
        # One kind for all kept rows: the roll-up of everything to a single row groups by it.
        self.kept = kept.mutate(source_kind=ibis.literal("kept"))
        self.grain = grain
        named = _asked(inputs.backend, f"select distinct source_kind, system, sysplex from {table}")
        self.kinds: tuple[str, ...] = _names(named["source_kind"])
        self.systems: tuple[str, ...] = _names(named["system"])
        self.sysplexes: tuple[str, ...] = _names(named["sysplex"])
        spans = _asked(
            inputs.backend,
            f'select "interval", min(interval_start) as starts, max(interval_end) as ends from {table}'
            ' where "interval" is not null group by all order by "interval"',
        )
        self.times: list[datetime] = [moment for moment in _moments(spans["interval"]) if moment is not None]
        starts, ends = _moments(spans["starts"]), _moments(spans["ends"])
        self._ends = {time: end for time, end in zip(self.times, ends, strict=True) if end is not None and end > time}
        self.start = min([*(moment for moment in starts if moment is not None), *self.times], default=None)
        self.end = max([*(moment for moment in ends if moment is not None), *self.times], default=None)
        self.spans: tuple[tuple[datetime, datetime], ...] = tuple(
            (start, end)
            for start, end in zip(starts, ends, strict=True)
            if start is not None and end is not None and end > start
        )
        lengths = [(end - start).total_seconds() for start, end in self.spans]
        self.interval_seconds = median(lengths) if lengths else 0.0
        self.interval_range = (min(lengths), max(lengths)) if lengths else (0.0, 0.0)
        self.regular = any(fact.name == "interval_seconds" for fact in grain.facts)
        gap = 1.5 * self.interval_seconds if self.regular else 0.0
        self.gaps = sum((b - a).total_seconds() > gap for a, b in pairwise(self.times) if gap)
        self.time = self._resolution()

    def end_of(self, moment: datetime) -> datetime:
        """End of the point in time that starts at ``moment``."""
        if self.time == "interval":
            return self._ends.get(moment, moment + timedelta(seconds=self.interval_seconds))
        return moment + _LENGTHS[self.time]

    def _resolution(self) -> str:
        if len(self.times) <= MOST_TIMES:
            return "interval"
        hours = len({int(moment.timestamp() // 3600) for moment in self.times})
        return "hour" if hours <= MOST_TIMES else "day"


def _keep(backend: Any, name: str, table: Any) -> None:
    """Make a temporary table of an expression."""
    if table.op().find(InMemoryTable):
        backend.create_table(name, table, temp=True, overwrite=True)
    else:
        # What `create_table` does beyond this statement, such as casts to the expression's own types, is costly.
        backend.raw_sql(f"create or replace temp table {name} as {backend.compile(table)}")
        # A literal such as 1.0, and sums of it, are decimals for DuckDB; facts are floating point numbers.
        columns = backend.raw_sql(f"select column_name, column_type from (describe {name})").fetchall()
        for column, kind in columns:
            if kind.startswith("DECIMAL"):
                backend.raw_sql(f'alter table {name} alter column "{column}" type double')


def _asked(backend: Any, sql: str) -> pa.Table:
    return backend.raw_sql(sql).to_arrow_table()


def _names(column: Any) -> tuple[str, ...]:
    return tuple(sorted({name for name in column.to_pylist() if name}))


def _moments(column: Any) -> list[datetime | None]:
    return [None if value is None else value.astimezone(UTC) for value in column.to_pylist()]


def narrowed(grain: Grain, columns: Iterable[str], wheres: Iterable[Where | None]) -> Grain:
    """The grain reduced to the columns, without the attributes that neither they nor the conditions name.

    A roll-up carries every attribute along as its smallest and largest text, which costs more than all the numbers.
    """
    wanted, conditions = set(columns), [where for where in wheres if where is not None]
    shape = ibis.table(
        {
            **dict.fromkeys(("system", "sysplex", *(key.name for key in grain.keys)), "string"),
            **{attribute.name: "string" for attribute in grain.attributes},
            **{fact.name: "float64" for fact in grain.facts},
        },
        name=grain.name,
    )
    wanted.update(*(fields_of(where(shape)) for where in conditions))
    kept = tuple(attribute for attribute in grain.attributes if attribute.name in wanted)
    return replace(reduced(grain, wanted, conditions), attributes=kept)
