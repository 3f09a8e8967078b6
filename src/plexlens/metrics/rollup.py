"""Roll-up of fact rows in a single SQL statement.

Rows become one answer in four steps:

1. within one interval of one *observer* (the system, Db2, region or machine that measured), rows of its entities are
   combined, a number that several of them repeat (`Fact.of`) once;
2. over the intervals of each observer, weighted by the share of its covered time that each is;
3. across observers: counts and levels add;
4. the metrics' expressions are applied.

Intervals of different observers are never matched by name to be added up: queue managers that close their intervals at
different moments are each averaged over their own time. The time covered is that of all rows of the observer, so that
an entity without a row in an interval had no activity in it, while a row without a value leaves the interval out.
Whatever intervals overlap, a moment counts once: in the first of the intervals that know what is asked.

A metric over the length of the interval is a rate, and rates of observers add: each observer's counts are divided by
its own covered time and multiplied by the time that all of them cover together, by which the expression divides again.
Observers that are never measured at the same time (data of different years) do not add: each *epoch*, a stretch of time
in which observers overlap, is rolled up by itself, and rates and levels are the mean over the time of all epochs.

A metric counts a row only where everything that its expression needs is known (`plexlens.metrics.required`). Where that
makes a difference, it gets columns of its own: a *variant* of each fact it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plexlens.expression import Clauses
from plexlens.metrics.covered_by_sets import covered_by_sets
from plexlens.metrics.definition import Fact, Rollup
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity, epochs, joined
from plexlens.metrics.kept_steps import ROWS, Keep
from plexlens.metrics.over_time import Clock, ClockColumns, filled_column, where_known, with_fresh_shares
from plexlens.metrics.variants import Plan, Variant

#: When the rows of an interval begin and end; the interval's own names are rounded. A row that lacks one of them (the
#: first record of a counter that runs since the start) covers nothing.
ENDS = (
    "min(interval_start) filter (where interval_end is not null) as starts, "
    "max(interval_end) filter (where interval_start is not null) as ends"
)

#: The moment of a row by which what is in force is told; a row without ends is older than any other.
_STAMP = "coalesce(interval_end, interval_start, timestamptz '1900-01-01')"

#: Columns that a statement of this module makes.
OBSERVER, _EPOCH = "rolled_observer", "rolled_epoch"


def is_known(clauses: Clauses) -> str:
    """SQL condition that a row has the inputs of a metric, from the columns that flag the known facts."""

    def clause(names: Iterable[str]) -> str:
        return " or ".join(quoted(_known_column(name)) for name in sorted(names))

    return " and ".join(sorted(f"({clause(names)})" for names in clauses)) or "true"


def _known_column(name: str) -> str:
    return f"rolled_known_{name}"


@dataclass(frozen=True)
class Grouping:
    """Meaning of a row of a roll-up.

    Attributes
    ----------
    keys
        Columns to group by.
    described
        Attributes to carry along: null where those of a group differ.
    time
        SQL of the moment that names the time of a row; empty where all time is one.
    apart
        Columns that part the covered time of an observer.
    has_epochs
        Whether observers that are never measured at the same time come together.
    has_times
        Whether a table of its own tells the time.
    is_plain
        Whether no interval of an observer overlaps another of the same observer.
    has_single_rows
        Whether no entity has several rows in an interval.
    is_cell
        Whether each row of facts is the only one of its group, observer and interval.
    is_row
        Whether each row of the result is of a single row of facts.
    several
        Whether rows of several observers come together.
    """

    keys: tuple[str, ...]
    described: tuple[str, ...]
    time: str
    apart: tuple[str, ...] = ()
    has_epochs: bool = False
    has_times: bool = False
    is_plain: bool = False
    has_single_rows: bool = False
    is_cell: bool = False
    is_row: bool = False
    several: bool = False


def statement(plan: Plan, base: str, rows: str, grouping: Grouping, keep: Keep | None = None) -> str:
    """The SQL of a roll-up.

    Parameters
    ----------
    plan
        The columns to make.
    base
        Table of facts by which the covered time of observers is told; it has a column ``interval_to``.
    rows
        Table of the facts that count: the same, or a part of it.
    grouping
        What one row of the result is.
    keep
        Gives other selects for some of the steps, whose results are kept (`plexlens.metrics.kept_steps`).
    """
    return Statement(plan, grouping).text(base, rows, keep)


class Statement:
    """The steps of a roll-up as parts of a statement."""

    def __init__(self, plan: Plan, grouping: Grouping) -> None:
        keys, described, apart = grouping.keys, grouping.described, grouping.apart
        self.plan = plan
        self.grain = plan.grain
        self.keys = keys
        self.described = described
        self.bucket = grouping.time
        self.is_by_interval = grouping.time == "interval"
        self.has_epochs = grouping.has_epochs
        self.has_times = grouping.has_times
        self.is_plain = grouping.is_plain
        self.is_alone = grouping.is_plain and not grouping.several
        self.has_single_rows = grouping.has_single_rows
        self.time = ['"time"'] if self.bucket else []
        self.group = [*(quoted(key) for key in keys), *self.time]
        self.observers = tuple(dict.fromkeys((*self.grain.observers, "local_time", *apart)))
        self.entity = tuple(dict.fromkeys((*entity(self.grain), *apart)))
        self.conditions = range(len(plan.conditions))
        ways = ("rate", "covered", *(("mean", "level") if self.has_epochs else ()))
        #: Conditions of which the time matters that the observers of a group cover together.
        self.together = sorted({variant.condition for variant in plan.variants.values() if variant.how in ways})
        self.states = sorted({names for condition in plan.conditions if (names := condition.settings)})
        self.gaps = [fact for fact in self.grain.facts if fact.name in plan.gaps]
        self.timed = any(fact.rollup is Rollup.SPAN for fact in self.grain.facts)
        #: Steps that are read anew each time: to keep their rows takes longer.
        self.unkept = frozenset[str]()
        self.scopes: dict[tuple[str, ...], str] = {}
        needed = {name for condition in plan.conditions for clause in condition.needed for name in clause}
        self.needed = [fact for fact in self.grain.facts if fact.name in needed]
        if self.states:
            self.scopes[self.entity] = "rolled_scope_0"
        for variant in plan.variants.values():
            if (scope := self.scope(variant.fact)) is not None:
                self.scopes.setdefault(scope, f"rolled_scope_{len(self.scopes)}")

    def scope(self, fact: Fact) -> tuple[str, ...] | None:
        """Owner of a fact, if it is neither the row's entity nor its observer."""
        if fact.of:
            return fact.of
        return self.entity if fact.rollup.is_setting else None

    # --- text ---------------------------------------------------------------------------------------------------

    def text(self, base: str, rows: str, keep: Keep | None = None) -> str:
        """The statement."""
        parts = {"every": self._every(base), ROWS: self._rows(rows)}
        measured: dict[str, str] = {}
        for clock in self._clocks():
            measured |= self._clocked(clock)
        if self.together:
            first = ("own_cells", "own_times", "own_timed", "own_clocks") if self.is_alone else ("own_cells",)
            parts |= {name: measured.pop(name) for name in first if name in measured}
            parts |= self._together()
        parts |= measured
        for scope, name in self.scopes.items():
            parts |= self._latest(scope, name)
        parts["texts"] = self._texts()
        if keep is not None:
            kept = keep(parts)
            self.unkept |= kept.keys()
            parts.update(kept)
        return self._joined(parts, {variant.column: self._final(variant) for variant in self.plan.variants.values()})

    def _joined(self, parts: Mapping[str, str], texts: Mapping[str, str]) -> str:
        """The steps, followed by a row for each group with their results."""
        wholes = [name for name in parts if name.endswith(("_whole", "_settings"))]
        listed = ",\n".join(
            f"{name} as{' not materialized' if name in self.unkept else ''} ({sql})" for name, sql in parts.items()
        )
        joins = "".join(f"\nleft join {name} on {self._same('texts', name, self.group)}" for name in wholes)
        columns = [
            *(f"texts.{name}" for name in self.group),
            "texts.intervals",
            "texts.first_interval",
            "texts.last_interval",
            *(f"{sql} as {quoted(column)}" for column, sql in texts.items()),
            *(f"texts.{quoted(name)}" for name in self.described),
        ]
        return f"with {listed}\nselect {', '.join(columns)}\nfrom texts{joins}"

    def _length(self) -> str:
        return "interval_seconds" if self.timed else "1.0::double"

    def _every(self, base: str) -> str:
        """The intervals of each observer, with their epoch."""
        bucket = f', {self.bucket} as "time"' if self.bucket else ""
        who = joined(self.grain.observers)
        rows = (
            f"select {joined(self.observers)} as {OBSERVER}, {who} as who{bucket}, local_time, interval, interval_to, "
            f"max({self._length()}) as length, {ENDS} from {base} group by all"
        )
        if not self.has_epochs:
            return rows
        return f"select r.*, e.epoch as {_EPOCH} from ({rows}) r join ({epochs(base, self.grain)}) e on r.who = e.who"

    def _rows(self, rows: str) -> str:
        """The rows that count, with their owners and the flags of known facts."""
        columns = self._observer()
        columns += [f'{self.bucket} as "time"'] if self.bucket else []
        columns += [f"{joined(scope)} as {name}" for scope, name in self.scopes.items()]
        inner = f"select {', '.join([*self._read(), *columns])} from {rows}"
        filled = [f"{self._filled(fact)} as {quoted(filled_column(fact.name))}" for fact in self.gaps]
        if filled:
            inner = f"select *, {', '.join(filled)} from ({inner})"
        for number, names in enumerate(self.states):
            inner = self._with_state(inner, number, names)
        known = [f"{self._is_known(fact)} as {quoted(_known_column(fact.name))}" for fact in self.needed]
        if known:
            inner = f"select *, {', '.join(known)} from ({inner})"
        conditions = [f"({self._counts(i)}) as known_{i}" for i in self.conditions if i]
        return f"select *, {', '.join(conditions)} from ({inner})" if conditions else inner

    def _observer(self) -> list[str]:
        """The column that names the observer of a row."""
        return [f"{joined(self.observers)} as {OBSERVER}"]

    def _read(self) -> list[str]:
        """The columns of the rows that any step reads: the engine binds every other one at each step."""
        facts = [variant.fact.name for variant in self.plan.variants.values()]
        facts += [fact.name for fact in (*self.needed, *self.gaps)]
        facts += [name for names in self.states for name in names]
        moments = ("local_time", "interval", "interval_to", "interval_start", "interval_end")
        names = (*self.keys, *self.described, *self.entity, *moments, *facts)
        return [quoted(name) for name in dict.fromkeys((*names, *(["interval_seconds"] if self.timed else [])))]

    def _counts(self, condition: int) -> str:
        """SQL condition that a row counts: it has the inputs, and was measured under the settings in force."""
        needed, settings = self.plan.conditions[condition].needed, self.plan.conditions[condition].settings
        known = is_known(needed)
        if not settings:
            return known
        number = self.states.index(settings)
        return f"{known} and state_then_{number} is not distinct from state_{number}"

    def _filled(self, fact: Fact) -> str:
        """The amount in force in a row: its own, else the last known before, else the first known after."""
        return self._in_force(quoted(fact.name), self.scopes[self.scope(fact) or ()])

    def _in_force(self, value: str, scope: str) -> str:
        window = f"partition by {', '.join([scope, *self.time])} order by {_STAMP}, {value} nulls last"
        before = f"last_value({value} ignore nulls) over ({window} rows between unbounded preceding and current row)"
        after = f"first_value({value} ignore nulls) over ({window} rows between current row and unbounded following)"
        return f"coalesce({value}, {before}, {after})"

    def _with_state(self, inner: str, number: int, names: tuple[str, ...]) -> str:
        """Rows with the values of these settings at the time, and their final values."""
        scope = self.scopes[self.entity]
        listed = ", ".join(f"{quoted(name)} := {quoted(name)}" for name in names)
        any_known = " or ".join(f"{quoted(name)} is not null" for name in names)
        state = f"(case when {any_known} then struct_pack({listed}) end)"
        inner = f"select *, {state} as state_own from ({inner})"
        window = (
            f"partition by {', '.join([scope, *self.time])} order by {_STAMP}, state_own nulls last "
            "rows between unbounded preceding and unbounded following"
        )
        return (
            f"select * exclude (state_own), {self._in_force('state_own', scope)} as state_then_{number}, "
            f"last_value(state_own ignore nulls) over ({window}) as state_{number} from ({inner})"
        )

    def _is_known(self, fact: Fact) -> str:
        """SQL condition that a fact is known for the row's entity: in the same interval, or at any time for a
        setting.
        """
        scope = self.scope(fact) if fact.rollup.is_setting else None
        if self.has_single_rows and scope is None:
            return f"{quoted(fact.name)} is not null"
        if scope is not None:
            parts = [self.scopes[scope], *self.time]
        else:
            parts = [*(quoted(name) for name in self.entity), "interval", "interval_to"]
        return f"count({quoted(fact.name)}) over (partition by {', '.join(parts)}) > 0"

    # --- what is measured while time passes -----------------------------------------------------------------------

    def _clocks(self) -> list[Clock]:
        """The clocks: the observers for facts of single rows, and the owners of facts that several rows report."""
        measured = [v for v in self.plan.variants.values() if v.how not in ("latest", "common", "covered")]
        own = tuple(variant for variant in measured if not variant.fact.of)
        # The time that is covered together is that of the observers, whatever is measured of them.
        is_asked = bool(own or self.together)
        clocks = [Clock("own", OBSERVER, is_shared=False, variants=own)] if is_asked else []
        for scope, name in self.scopes.items():
            shared = tuple(v for v in measured if v.fact.of and self.scope(v.fact) == scope)
            if shared:
                clocks.append(Clock(name, name, is_shared=True, variants=shared))
        return clocks

    def _intervals(self, by: Sequence[str], *, merged: bool) -> str:
        """The intervals of all observers that have rows in a group.

        Merged, intervals of the same name are one, as they are for a number that several observers report of it.
        """
        own = ", ".join(dict.fromkeys([*by, OBSERVER, *self.time]))
        epoch = [f"i.{_EPOCH}"] if self.has_epochs else []
        columns = ", ".join([*(f"o.{n}" for n in by), *epoch, "i.local_time", "i.interval", "i.interval_to"])
        extra = "" if merged else f", o.{OBSERVER}, i.starts, i.ends"
        return (
            f"select {columns}{'' if merged else f', o.{OBSERVER}'}, max(i.length) as length, "
            f"min(i.starts) as starts, max(i.ends) as ends from (select distinct {own} from measured) o "
            f"join every i on {self._same('o', 'i', [OBSERVER, *self.time])} group by {columns}{extra}"
        )

    def _clocked(self, clock: Clock) -> dict[str, str]:
        """Steps from rows to intervals of a clock, to the clock, to the group."""
        name, by = clock.name, list(dict.fromkeys([*self.group, clock.column]))
        interval = [*by, "local_time", "interval", "interval_to"]
        columns = ClockColumns(clock, frozenset(fact.name for fact in self.gaps))
        flags = [f"bool_or(known_{i}) as known_{i}" for i in self.conditions if i]
        cells = ", ".join([*interval, "true as there", *flags, *columns.cells])
        rows = f"(select *, {self._length()} as length_of_row from measured)"
        parts = {f"{name}_cells": f"select {cells} from {rows} group by {', '.join(interval)}"}
        clock_of = [*by, _EPOCH] if self.has_epochs else by
        times = sorted({variant.condition for variant in clock.variants if variant.how in ("rate", "mean")})
        is_own = clock.name == "own"
        if self.is_alone and is_own:
            times = sorted({*times, *self.together})
        of_cells = f"{name}_cells"
        covered = [f"sum(length * fresh_{i}) as covered_{i}" for i in times]
        if is_own and self.is_plain and times == [0] and not columns.counted and not self.has_epochs:
            # Each interval of an observer counts in each group that has a row of it: the time is the observer's.
            parts["own_times"] = self._times()
            of_cells = f"own_cells c join own_times t on {self._same('c', 't', [OBSERVER, *self.time])}"
            by = [f"c.{column}" for column in by]
            clock_of = by
            covered = ["any_value(t.covered_0) as covered_0"]
        elif times or columns.counted or self.has_epochs:
            of_cells = f"{name}_timed"
            counted = {f"fresh_{i}": self._counted()[f"fresh_{i}"] for i in times} | columns.counted
            # Intervals of an object that several observers report may overlap.
            is_plain = self.is_plain and (is_own or self.is_alone)
            intervals = (
                f"(select i.*, c.* exclude ({', '.join(interval)}) from ({self._intervals(by, merged=True)}) i "
                f"left join {name}_cells c on {self._same('c', 'i', interval)})"
            )
            parts[of_cells] = with_fresh_shares(intervals, [*clock_of, "local_time"], counted, is_plain=is_plain)
        names = [*clock_of, *covered, *columns.per_clock]
        parts[f"{name}_clocks"] = f"select {', '.join(names)} from {of_cells} group by {', '.join(clock_of)}"
        whole = columns.direct
        if self.has_epochs:
            whole = columns.whole
            parts[f"{name}_epochs"] = (
                f"select {', '.join([*self.group, _EPOCH, *(columns.per_epoch or ['count(*) as clocks'])])} "
                f"from {name}_clocks group by {', '.join([*self.group, _EPOCH])}"
            )
        of_group = f"{name}_{'epochs' if self.has_epochs else 'clocks'} e"
        if self.together:
            epoch = [_EPOCH] if self.has_epochs else []
            of_group += f" join together t on {self._same('e', 't', [*self.group, *epoch])}"
        parts[f"{name}_whole"] = self._grouped(of_group, whole or ["count(*) as clocks"], of="e")
        return parts

    def _counted(self) -> dict[str, str]:
        """For each condition, whether an interval counts: it has no rows, or a row with the inputs."""
        return {f"fresh_{i}": f"known_{i} is distinct from false" if i else "true" for i in self.conditions}

    def _times(self) -> str:
        """The time that each observer covers."""
        by = ", ".join([OBSERVER, *self.time])
        intervals = f"select {by}, max(length) as length from every group by {by}, local_time, interval, interval_to"
        return f"select {by}, sum(length) as covered_0 from ({intervals}) group by {by}"

    def _together(self) -> dict[str, str]:
        """The time covered jointly by the observers of a group, per epoch and in total."""
        if self.together == [0] and not self.is_alone and not self.has_epochs:
            return covered_by_sets(
                self.group, self.time, OBSERVER, alike_first=self.has_times and not self.is_by_interval
            )
        by = [*self.group, _EPOCH] if self.has_epochs else [*self.group]
        by_group = f" group by {', '.join(by)}" if by else ""
        if self.is_alone:
            covered = [f"covered_{i} as together_{i}" for i in self.together]
            together = f"select {', '.join([*by, *covered])} from own_clocks"
        else:
            interval = [*self.group, OBSERVER, "interval", "interval_to"]
            flags = [f"c.known_{i}" for i in self.conditions if i]
            counted = {f"fresh_{i}": self._counted()[f"fresh_{i}"] for i in self.together}
            covered = [f"sum(length * fresh_{i}) as together_{i}" for i in self.together]
            intervals = (
                f"(select {', '.join(['i.*', *flags])} from ({self._intervals(self.group, merged=False)}) i "
                f"left join own_cells c on {self._same('c', 'i', interval)})"
            )
            shares = with_fresh_shares(intervals, [*by, "local_time"], counted)
            together = f"select {', '.join([*by, *covered])} from ({shares}){by_group}"
        of_all = [f"sum(together_{i}) as together_{i}" for i in self.together]
        return {"together": together, "together_whole": self._grouped("together", of_all)}

    def _grouped(self, table: str, columns: list[str], of: str = "") -> str:
        names = [f"{of}.{name}" if of else name for name in self.group]
        by = f" group by {', '.join(names)}" if names else ""
        return f"select {', '.join([*names, *columns])} from {table}{by}"

    # --- settings ---------------------------------------------------------------------------------------------------

    def _latest(self, scope: tuple[str, ...], name: str) -> dict[str, str]:
        """The value in force of each owner: the latest known value; the largest if several are equally late."""
        settings = [v for v in self.plan.uses("latest") if self.scope(v.fact) == scope]
        common = [v for v in self.plan.uses("common") if self.scope(v.fact) == scope]
        if not settings and not common:
            return {}
        by = [*self.group, name]
        latest, whole = [f"bool_or(known_{i}) as known_{i}" for i in self.conditions if i], []
        for fact in dict.fromkeys(variant.fact for variant in settings):
            value = quoted(fact.name)
            latest.append(f"arg_max({value}, case when {value} is not null then ({_STAMP}, {value}) end) as {value}")
        for number in sorted({self._state_of(variant) for variant in common}):
            latest.append(f"any_value(state_{number}) as state_{number}")
        for variant in settings:
            value = where_known(quoted(variant.fact.name), variant.condition)
            text = f"sum({value})"
            if variant.fact.rollup is Rollup.SETTING:
                low, high = f"min({value})", f"max({value})"
                text = f"case when {low} = {high} then {high} end"
            whole.append(f"{text} as {quoted(variant.column)}")
        states: dict[str, str] = {}
        shared = []
        for variant in common:
            state = f"state_{self._state_of(variant)}"
            least, most = (f"{how}_{state}_{variant.condition}" for how in ("least", "most"))
            counted = where_known(state, variant.condition)
            states |= {least: f"min({counted})", most: f"max({counted})"}
            value = f"({most}).{quoted(variant.fact.name)}"
            shared.append(f"case when {least} is not distinct from {most} then {value} end as {quoted(variant.column)}")
        whole_of_group = self._grouped(
            f"{name}_latest", [*whole, *(f"{sql} as {state}" for state, sql in states.items())]
        )
        if states:
            # Each state is compared once for all of the settings in it.
            dropped = ", ".join(states)
            whole_of_group = f"select * exclude ({dropped}), {', '.join(shared)} from ({whole_of_group})"
        return {
            f"{name}_latest": f"select {', '.join([*by, *latest])} from measured group by {', '.join(by)}",
            f"{name}_settings": whole_of_group,
        }

    def _state_of(self, variant: Variant) -> int:
        return self.states.index(self.plan.conditions[variant.condition].settings)

    def _texts(self, more: Iterable[str] = ()) -> str:
        """A row for each group: its intervals, and the texts common to its entities."""
        columns = [
            *self.group,
            # A row by interval is of a single one; to count distinct values costs as much as all the sums.
            f"{'(count(interval) > 0)::bigint' if self.is_by_interval else 'count(distinct interval)'} as intervals",
            "min(interval) as first_interval",
            "max(interval) as last_interval",
            *(
                f"case when min({quoted(n)}) = max({quoted(n)}) then max({quoted(n)}) end as {quoted(n)}"
                for n in self.described
            ),
            *more,
        ]
        by = f" group by {', '.join(self.group)}" if self.group else ""
        return f"select {', '.join(columns)} from measured{by}"

    def _final(self, variant: Variant) -> str:
        """A column of the result."""
        fact, i = variant.fact, variant.condition
        if variant.how == "covered":
            return f"together_whole.together_{i}"
        if variant.how in ("latest", "common"):
            return f"{self.scopes[self.scope(fact) or ()]}_settings.{quoted(variant.column)}"
        source = f"{self.scopes[fact.of]}_whole" if fact.of else "own_whole"
        return f"{source}.{quoted(variant.column)}"

    @staticmethod
    def _same(first: str, second: str, names: Iterable[str]) -> str:
        return " and ".join(f"{first}.{n} is not distinct from {second}.{n}" for n in names) or "true"
