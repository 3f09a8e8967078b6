"""The coarsest rows of a grain that answer a question as its rows by interval do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from plexlens.metrics.definition import END, Grain
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.epochs import entity
from plexlens.metrics.facts import columns_of, missing_facts, rolled_facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.known_facts import KnownFacts, note_single_rows
from plexlens.metrics.query import Query, Summed
from plexlens.metrics.reduction import narrowed
from plexlens.metrics.rolled.merging import (
    LEVELS,
    MOMENTS,
    columns_of_facts,
    cover,
    cover_columns,
    known_in,
    patterns,
    summed_levels,
)
from plexlens.metrics.rolled.reading import Rolled, rolled_of
from plexlens.metrics.selection.selection import Selection
from plexlens.metrics.source_sql import names_in
from plexlens.metrics.variants import Plan
from plexlens.pdb.engine import quoted
from plexlens.pdb.rollup_store import COVER, DAY, INTERVAL

_WEEK = 7 * 86_400

#: Rows of which the different names are kept, at most; as many names would take some 200 MB. More rows stay in files.
MOST_ROWS_OF_NAMES = 2_000_000

_LONGEST_FIRST = sorted(LEVELS, key=LEVELS.__getitem__, reverse=True)

#: Columns that all levels keep apart.
_OF_ALL = frozenset({"source_kind", "local_time", "interval"})


class Levels:
    """The rolled-up rows of a grain for a selection.

    Attributes
    ----------
    cover
        The intervals of each observer, whatever entities had rows in them: the columns that tell the time and the
        observer alone.
    """

    def __init__(self, inputs: Inputs, grain: Grain, rolled: Rolled) -> None:
        self._inputs = inputs
        self._grain = grain
        self._rolled = rolled
        self._sources: dict[tuple[str, tuple[str, ...] | None], Query] = {}
        self._noted: set[str] = set()
        self._entities: Query | None = None
        self._patterns = self._known()
        self.cover = self._covered()
        # Where hours have expired, the time of those days does not count in an answer by the hour.
        self._cover_of_hours = self._covered(fine=True) if rolled.whole else self.cover

    @classmethod
    def of(cls, inputs: Inputs, grain: Grain) -> Levels | None:
        """The levels of a grain; None where its facts come from raw rows."""
        rolled = rolled_of(inputs, grain)
        return None if rolled is None else cls(inputs, grain, rolled)

    @property
    def alone(self) -> tuple[str, ...]:
        """Days (UTC) of which the raw rows have expired."""
        return self._rolled.alone

    @property
    def whole(self) -> tuple[str, ...]:
        """Days without raw rows of which the hours have expired too: they count in questions by day alone."""
        return self._rolled.whole

    @property
    def earlier(self) -> tuple[str, ...]:
        """Days without raw rows that were made by an earlier definition of the grain."""
        return tuple(day.day for day in self._rolled.days if "shape" in day.told)

    def rows(self, columns: Collection[str], time: str, where: str | None, utc_offset: float) -> Query:
        """The rows that answer a question, as kept facts.

        Parameters
        ----------
        columns
            Facts and metrics that are asked for.
        time, where, utc_offset
            As `plexlens.metrics.evaluate.evaluate` takes them.
        """
        return self._timed(self.level(columns, time, where, utc_offset), self._needed(columns, where))

    def level(self, columns: Collection[str], time: str, where: str | None, utc_offset: float) -> str:
        """The level of the rows that answer a question; parameters are those of `rows`."""
        for level in _LONGEST_FIRST:
            if self._answers(level, columns, time, where, utc_offset):
                return level
        return INTERVAL

    @property
    def by_interval(self) -> Query:
        """The rows by interval."""
        return self._timed(INTERVAL)

    def summed(
        self, names: Collection[str], columns: Collection[str], time: str, where: str | None, utc_offset: float
    ) -> Summed | None:
        """Rows by interval, added up over all keys that a question does not name; None where there are none.

        Rows of all observers together answer only by interval. Days need none: they have as few rows.

        Parameters
        ----------
        names
            Columns that the question keeps apart or sets conditions on, and other words of these conditions.
        columns, time, where, utc_offset
            As `rows` takes them.
        """
        selection = self._inputs.selection
        if not self._are_merged or self._rolled.missing or selection.classes:
            return None
        named = {*names, *(["system"] if selection.systems else [])}
        named = named.intersection(columns_of_facts(self._rolled.grain)) - _OF_ALL
        for level, kept in summed_levels(self._rolled.grain).items():
            if named <= set(kept):
                is_enough = time == "interval" or (
                    set(kept).issuperset(self._grain.observers) and self.level(columns, time, where, utc_offset) != DAY
                )
                needed = self._needed(columns, where)
                return Summed(self._rows_of(level, needed), frozenset(kept)) if is_enough else None
        return None

    @property
    def named(self) -> Query:
        """The rows that name the observers in the selection, as few as there are."""
        rows = self._view(INTERVAL)
        return self.cover if rows.timed is None else rows

    def entities(self) -> Query:
        """The names in the rows by interval: keys, attributes, observers, and the kind of source and clock.

        The different ones are kept for the questions that a page asks, unless there are many rows to find them in.
        """
        if self._entities is None:
            selection, offsets = self._inputs.selection, self._rolled.offsets
            level = next((level for level in _LONGEST_FIRST if _is_whole(selection, LEVELS[level], offsets)), INTERVAL)
            rows = self._rows_of(level, columns_of(replace(self._grain, facts=())))
            named = rows.select(*(name for name in rows.columns if name not in (*MOMENTS, "utc_offset")))
            # A view of different names would look through all rows for each question.
            are_few = self._rolled.rows(level) <= MOST_ROWS_OF_NAMES
            name = fresh_name(f"entities_{self._grain.name}")
            self._entities = named.distinct().kept(name) if are_few else named.as_view(name)
        return self._entities

    def _needed(self, columns: Collection[str], where: str | None) -> tuple[str, ...]:
        """The columns that a question reads: what it costs to compile a statement grows with those of its views."""
        return (*columns_of(narrowed(self._grain, columns, (where,))), END)

    def _timed(self, level: str, only: tuple[str, ...] | None = None) -> Query:
        """Rows of a level, with the intervals that tell the time: they are far fewer than rows of entities."""
        return replace(self._view(level, only), timed=self.cover if level == DAY else self._cover_of_hours)

    def _answers(self, level: str, columns: Collection[str], time: str, where: str | None, utc_offset: float) -> bool:
        """Whether rows of a level answer as rows by interval do: no bound of time parts one, all are known alike."""
        seconds, offsets = LEVELS[level], self._rolled.offsets
        lengths = {"hour": 3600, "day": 86_400, "week": 7 * 86_400, "month": 28 * 86_400, "all": 0}
        if time not in lengths or (lengths[time] and seconds > lengths[time]):
            return False
        if lengths[time] and any((utc_offset - offset) % seconds for offset in offsets):
            return False
        if not _is_whole(self._inputs.selection, seconds, offsets) or self._patterns is None:
            return False
        facts = {fact.name for fact in self._grain.facts}
        if where and not facts.isdisjoint(names_in(where)):
            return False
        # Where time is left out because nothing is known of it, the intervals have to tell.
        grain = narrowed(self._grain, columns, (where,))
        return not Plan.of(grain, self._patterns, several=True, shown=frozenset(columns)).timed_conditions

    def _known(self) -> list[dict[str, bool]] | None:
        """Combinations of known facts in the rows; None if there are too many to be kept."""
        names = [fact.name for fact in self._grain.facts]
        results: dict[tuple[bool, ...], dict[str, bool]] = {}
        whole = [fact.name for fact in self._rolled.grain.facts]
        of_days = [
            (list(day.told["shape"]["facts"]) if "shape" in day.told else whole, day.told["patterns"])
            for day in self._rolled.days
        ]
        if (raw := missing_facts(self._inputs, self._grain, self._rolled)) is not None:
            of_days.append((names, patterns(self._inputs.connection, raw.source, self._grain)))
        for facts, combinations in of_days:
            if combinations is None:
                return None
            for known in known_in(facts, combinations):
                # A fact that an earlier definition did not have is not known.
                results[tuple(known.get(name, False) for name in names)] = {
                    name: known.get(name, False) for name in {*whole, *names}
                }
        return list(results.values())

    def _view(self, level: str, only: tuple[str, ...] | None = None) -> Query:
        """Rows of a level, with what is known of them; all columns, or some."""
        view = self._rows_of(level, only)
        if view.source not in self._noted:
            self._noted.add(view.source)
            # Of days that were merged each entity is known to have one row in an interval.
            if is_single := self._are_merged and not self._rolled.missing:
                note_single_rows(self._inputs, view.source, entity(self._grain))
            if self._patterns is not None:
                # Which facts are known together was noted when the rows were made.
                every = frozenset(fact.name for fact in self._grain.facts)
                known = KnownFacts(self._patterns, is_single)
                self._inputs.patterns[view.source, ()] = [(every, known)]
        return view

    @property
    def _are_merged(self) -> bool:
        """Whether all days have merged rows."""
        return all(LEVELS.keys() <= day.files.keys() or not day.has_hours for day in self._rolled.days)

    def _rows_of(self, level: str, only: tuple[str, ...] | None = None) -> Query:
        """Rows of a level as a view over the files, of which the engine reads the columns that a statement names."""
        key = level, only
        if key not in self._sources:
            columns = only or (*columns_of(self._grain), END)
            query = rolled_facts(self._inputs, self._grain, self._rolled, level, columns)
            self._sources[key] = query.as_view(fresh_name(f"rolled_{self._grain.name}"))
        return self._sources[key]

    def _covered(self, *, fine: bool = False) -> Query:
        inputs, grain = self._inputs, self._grain
        there = cover_columns(self._rolled.grain)
        columns = tuple(name for name in (*columns_of(grain), END) if name in there)
        # Of each day they are distinct, and an interval is of one day.
        select = f"select * from ({self._rolled.stored(COVER, there, fine=fine)})"
        selected = inputs.selection.rows(there)
        if selected:
            select += f" where {selected}"
        if self._rolled.missing:
            # Rows of the missing days have intervals, too.
            select += f"\nunion\n{cover(self._view(INTERVAL).source, self._rolled.grain)}"
        query = Query.of(inputs.connection, f"select {', '.join(map(quoted, columns))} from ({select})", columns)
        return query.kept(fresh_name(f"cover_{grain.name}"))


def _is_whole(selection: Selection, seconds: int, offsets: Collection[float]) -> bool:
    """Whether every bound of a selection is the beginning of a length of time by the local clock."""
    for window in selection.windows:
        for bound in (window.start, window.end):
            if bound is None:
                continue
            if bound.tzinfo is None:
                if (bound.hour * 3600 + bound.minute * 60 + bound.second + bound.microsecond / 1e6) % seconds:
                    return False
            elif any((bound.timestamp() + offset) % seconds for offset in offsets):
                return False
    return not any(
        second % seconds for shift in selection.shifts for span in shift.spans for second in span if second != _WEEK
    )
