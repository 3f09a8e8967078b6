"""The facts of a grain, read from the raw tables once and kept in the engine, and the times they cover."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Any

import pyarrow as pa

from plexlens.metrics.definition import Grain
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.epochs import epochs, joined
from plexlens.metrics.evaluate import known_in, rows_view
from plexlens.metrics.facts import facts, keep
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.moments import TOGETHER, on_axis, shown_on
from plexlens.metrics.query import Query, Summed
from plexlens.metrics.reduction import narrowed
from plexlens.metrics.rolled.levels import Levels
from plexlens.metrics.source_sql import names_in
from plexlens.pdb.engine import Connection, arrow, quoted

#: More intervals than this are drawn by the hour, more hours by the day.
MOST_TIMES = 400

_LENGTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}


class Covered:
    """The intervals of a grain on one kind of clock.

    Attributes
    ----------
    is_local
        Whether its moments are local time of unknown offset; they have no time zone then, and are UTC otherwise.
    times
        Names of the intervals: their starts, to the minute.
    start, end
        First start and last end; None where no row has an interval.
    spans
        Start and end of each interval that has both.
    interval_range
        Shortest and longest length of an interval.
    interval_seconds
        Usual length of an interval; 0 where the rows do not tell.
    is_even
        Whether intervals of all rows begin and end together, so that none overlaps another.
    gaps
        Places where the next interval starts later than one length after the one before.
    time
        Length of time of one point in charts: ``interval``, ``hour`` or ``day``.
    """

    def __init__(self, rows: Sequence[Mapping[str, datetime | None]], *, is_local: bool, regular: bool) -> None:
        self.is_local = is_local
        self.times: list[datetime] = [moment for row in rows if (moment := row["interval"]) is not None]
        starts, ends = [row["starts"] for row in rows], [row["ends"] for row in rows]
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
        apart = [(row["first_ends"], row["ends"]) for row in rows]
        apart += [(start, end) for (_, end), (start, _) in pairwise(sorted(self.spans))]
        self.is_even = not any(low is not None and high is not None and high - low > TOGETHER for low, high in apart)
        gap = 1.5 * self.interval_seconds if regular else 0.0
        self.gaps = sum((b - a).total_seconds() > gap for a, b in pairwise(self.times) if gap)
        self.time = self._resolution()

    def end_of(self, moment: datetime) -> datetime:
        """End of the point in time that starts at ``moment``."""
        if self.time == "interval":
            return self._ends.get(moment, moment + timedelta(seconds=self.interval_seconds))
        return moment + _LENGTHS[self.time]

    def length_of(self, moment: datetime) -> timedelta:
        """Length of the interval that starts at ``moment``."""
        return self._ends.get(moment, moment + timedelta(seconds=self.interval_seconds)) - moment

    def _resolution(self) -> str:
        if len(self.times) <= MOST_TIMES:
            return "interval"
        hours = len({int(on_axis(moment).timestamp() // 3600) for moment in self.times})
        return "hour" if hours <= MOST_TIMES else "day"


class GrainData:
    """The facts of a grain in the engine, with the times they cover.

    Attributes
    ----------
    grain
        The grain, reduced to what was asked for.
    kept
        Its facts; ``source_kind`` is the same in all rows.
    recorded
        The same with the ``source_kind`` of each row.
    kinds, systems, sysplexes
        Kinds of source its rows came from, and the names in them.
    named
        Pairs of system and sysplex in its rows.
    levels
        Its rows by longer times; None where the database has no roll-ups of it.
    regular
        Whether all rows share the same intervals; accounting has an interval for each task instead.
    clocks
        The intervals by kind of clock: those of known time first, those in local time of unknown offset after them.
        At least one.
    """

    def __init__(self, inputs: Inputs, whole: Grain, columns: Iterable[str], wheres: Iterable[str | None]) -> None:
        grain = narrowed(whole, columns, wheres)
        self.name = grain.name
        self._inputs = inputs
        self.grain = grain
        self.levels = Levels.of(inputs, grain)
        table = fresh_name(f"data_{grain.name}")
        if self.levels is not None:
            self.recorded = self.kept = self.levels.by_interval
            # The intervals alone say as much, of rows that are too many to be counted.
            timed, self._named_in = self.levels.cover, self.levels.named
            names = timed if self._named_in is timed else self.levels.entities()
        else:
            query = facts(inputs, grain)
            assert query is not None, f"{grain.name} has no source in the database"
            self.recorded = self.kept = keep(query, grain, table)
            timed = self.recorded.timed or self.recorded
            self._named_in = names = self.recorded
        named = _asked(inputs.connection, f"select distinct source_kind, system, sysplex from {names.source}")
        self.named: frozenset[tuple[str | None, str | None]] = frozenset(
            zip(named["system"].to_pylist(), named["sysplex"].to_pylist(), strict=True)
        )
        self.kinds: tuple[str, ...] = _names(named["source_kind"])
        self.systems: tuple[str, ...] = _names(named["system"])
        self.sysplexes: tuple[str, ...] = _names(named["sysplex"])
        if len(self.kinds) > 1:
            # One kind for all kept rows: the roll-up of everything to a single row groups by it.
            self.kept = self.recorded.over(
                lambda source: f"select * replace ('kept' as source_kind) from {source}", self.recorded.columns
            ).as_view(f"{table}_as_one")
        if self.levels is None:
            # Every roll-up asks which facts are known together: those of all of them are asked at once.
            known_in(inputs, grain, self.recorded)
            inputs.patterns[self.kept.source, ()] = inputs.patterns.setdefault((self.recorded.source, ()), [])
        self.regular = any(fact.name == "interval_seconds" for fact in grain.facts)
        rows = _asked(
            inputs.connection,
            'select local_time, "interval", min(interval_start) as starts, min(interval_end) as first_ends,'
            f" max(interval_end) as ends from {timed.source}"
            ' where "interval" is not null group by all order by "interval"',
        ).to_pylist()
        clocks = []
        for is_local in (False, True):
            own = [
                {name: shown_on(row[name], is_local=is_local) for name in ("interval", "starts", "first_ends", "ends")}
                for row in rows
                if row["local_time"] == is_local
            ]
            if own:
                clocks.append(Covered(own, is_local=is_local, regular=self.regular))
        self.clocks: tuple[Covered, ...] = tuple(clocks) or (Covered((), is_local=False, regular=self.regular),)

    @cached_property
    def epochs(self) -> tuple[tuple[str, ...], ...]:
        """Names of the observers by the time at which they were measured: those of two parts were never measured
        together.
        """
        return _observed_apart(self._inputs, self.grain, self._named_in) if self.regular else ()

    def rows_for(self, columns: Collection[str], time: str, where: str | None, utc_offset: float) -> Query:
        """The rows that answer a question: those by interval, or longer ones that give the same answer.

        Parameters
        ----------
        columns
            Facts and metrics that are asked for.
        time, where, utc_offset
            As `plexlens.metrics.evaluate.evaluate` takes them.
        """
        return self.kept if self.levels is None else self.levels.rows(columns, time, where, utc_offset)

    @property
    def entities(self) -> Callable[[], Query] | None:
        """Gives the names in its rows, in fewer rows than its facts have; None where there are no fewer."""
        return None if self.levels is None else self.levels.entities

    def summed_for(
        self, by: Sequence[str], columns: Collection[str], time: str, where: str | None, utc_offset: float
    ) -> Summed | None:
        """Rows that are added up over all keys that a question does not name; None where there are none.

        Parameters
        ----------
        by
            What the question keeps apart.
        columns, time, where, utc_offset
            As `rows_for` takes them.
        """
        if self.levels is None:
            return None
        names = {*by, *(names_in(where) if where else ())}
        return self.levels.summed(names, columns, time, where, utc_offset)

    @property
    def first(self) -> Covered:
        """The intervals of known time; if there are none, those in local time."""
        return self.clocks[0]

    def on(self, covered: Covered) -> str | None:
        """SQL condition for rows on that clock; None if all rows are on it."""
        if len(self.clocks) == 1:
            return None
        return "local_time" if covered.is_local else "not local_time"

    @property
    def intervals(self) -> int:
        """Number of intervals, on any clock."""
        return sum(len(covered.times) for covered in self.clocks)


def _observed_apart(inputs: Inputs, grain: Grain, kept: Query) -> tuple[tuple[str, ...], ...]:
    """Names of the observers of kept facts by measurement epoch, the earliest first.

    An observer's name is the last of its columns that has a value: the Db2 or region, or the system.
    """
    view = rows_view(inputs, grain, kept)
    name = f"coalesce({', '.join(f'{quoted(column)}' for column in reversed(grain.observers))}, '')"
    rows = inputs.connection.execute(
        f"select e.epoch, list(distinct r.name order by r.name) from ({epochs(view, grain)}) e "
        f"join (select distinct {joined(grain.observers)} as who, {name} as name from {view}) r on r.who = e.who "
        "group by e.epoch order by e.epoch"
    ).fetchall()
    return tuple(tuple(name for name in names if name) for _, names in rows)


def _asked(connection: Connection, sql: str) -> pa.Table:
    return arrow(connection, sql)


def _names(column: Any) -> tuple[str, ...]:
    return tuple(sorted({name for name in column.to_pylist() if name}))
