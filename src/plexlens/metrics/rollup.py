"""Rolling rows of facts up, as one SQL statement.

Rows become one answer in four steps:

1. within one interval of one *observer* (the system, Db2, region or machine that measured), rows of its entities are
   combined, a number that several of them repeat (`Fact.of`) once;
2. over the intervals of each observer, weighted by the share of its covered time that each is;
3. across observers: counts and levels add;
4. the metrics' expressions are applied.

Intervals of different observers are never matched by name to be added up: queue managers that close their intervals at
different moments are each averaged over their own time. The time covered is that of all rows of the observer, so that
an entity without a row in an interval had no activity in it, while a row without a value leaves the interval out.

A metric over the length of the interval is a rate, and rates of observers add: each observer's counts are divided by
its own covered time and multiplied by the time that all of them cover together, by which the expression divides again.

A metric counts a row only where everything that its expression needs is known (`plexlens.metrics.required`). Where that
makes a difference, it gets columns of its own: a *variant* of each fact it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plexlens.metrics.definition import Fact, Grain, Rollup
from plexlens.metrics.required import Clauses
from plexlens.metrics.variants import Plan, Variant

#: Between the parts of a joined name, and for a part that is null: signs that no EBCDIC name holds.
_BETWEEN, _NOTHING = "\u241f", "\u2400"

#: When the rows of an interval begin and end; the interval's own names are rounded. A row that lacks one of them (the
#: first record of a counter that runs since the start) covers nothing.
_ENDS = (
    "min(interval_start) filter (where interval_end is not null) as starts, "
    "max(interval_end) filter (where interval_start is not null) as ends"
)

#: Seconds by which intervals that follow each other may overlap: systems close theirs within moments of each other.
_MOMENTS = 2.0

#: Columns that a statement of this module makes.
_OBSERVER = "rolled_observer"

_TIMES = {"interval": "interval", "hour": "date_trunc('hour', interval)", "day": "date_trunc('day', interval)"}


def entity(grain: Grain) -> tuple[str, ...]:
    """Columns that say which entity a row is about."""
    return tuple(dict.fromkeys(("sysplex", "system", *grain.observers, *(key.name for key in grain.keys))))


def quoted(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def joined(names: Iterable[str]) -> str:
    """SQL of one text that names columns give together; nulls are a value of their own."""
    parts = [f"coalesce({quoted(name)}::varchar, '{_NOTHING}')" for name in names]
    return f" || '{_BETWEEN}' || ".join(parts) or "''"


def is_known(clauses: Clauses) -> str:
    """SQL of whether a row has what a metric needs, from the columns that say what is known of each fact."""

    def clause(names: Iterable[str]) -> str:
        return " or ".join(quoted(_known_column(name)) for name in sorted(names))

    return " and ".join(sorted(f"({clause(names)})" for names in clauses)) or "true"


def _known_column(name: str) -> str:
    return f"rolled_known_{name}"


def _filled_column(name: str) -> str:
    return f"rolled_filled_{name}"


@dataclass(frozen=True)
class Grouping:
    """What one row of a roll-up is.

    Attributes
    ----------
    keys
        Columns to group by.
    described
        Attributes to carry along: null where those of a group differ.
    time
        ``interval``, ``hour``, ``day`` or ``all``.
    apart
        Columns that part the covered time of an observer.
    """

    keys: tuple[str, ...]
    described: tuple[str, ...]
    time: str
    apart: tuple[str, ...] = ()


def statement(plan: Plan, base: str, rows: str, grouping: Grouping) -> str:
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
    """
    return _Statement(plan, grouping).text(base, rows)


@dataclass(frozen=True)
class _Clock:
    """Whose intervals rows are averaged over: an observer's, or those of what several observers report."""

    name: str
    column: str
    intervals: str


class _Statement:
    def __init__(self, plan: Plan, grouping: Grouping) -> None:
        keys, described, time, apart = grouping.keys, grouping.described, grouping.time, grouping.apart
        self.plan = plan
        self.grain = plan.grain
        self.described = described
        self.bucket = _TIMES.get(time)
        self.time = ['"time"'] if self.bucket else []
        self.group = [*(quoted(key) for key in keys), *self.time]
        self.observers = tuple(dict.fromkeys((*self.grain.observers, "local_time", *apart)))
        self.entity = tuple(dict.fromkeys((*entity(self.grain), *apart)))
        self.conditions = range(len(plan.conditions))
        self.gaps = [fact for fact in self.grain.facts if fact.name in plan.gaps]
        self.timed = any(fact.rollup is Rollup.SPAN for fact in self.grain.facts)
        self.scopes: dict[tuple[str, ...], str] = {}
        needed = {name for clauses in plan.conditions for clause in clauses for name in clause}
        self.needed = [fact for fact in self.grain.facts if fact.name in needed]
        for variant in plan.variants.values():
            if (scope := self.scope(variant.fact)) is not None:
                self.scopes.setdefault(scope, f"rolled_scope_{len(self.scopes)}")

    def scope(self, fact: Fact) -> tuple[str, ...] | None:
        """Whose number a fact is, where that is not the row's or its observer's."""
        if fact.of:
            return fact.of
        return self.entity if fact.rollup.is_setting else None

    # --- text ---------------------------------------------------------------------------------------------------

    def text(self, base: str, rows: str) -> str:
        """The statement."""
        parts = {"every": self._every(base), "measured": self._rows(rows)}
        parts |= self._covered()
        parts |= self._own()
        wholes = ["own_whole"]
        for scope, name in self.scopes.items():
            parts |= self._shared(scope, name)
            wholes += [part for part in (f"{name}_whole", f"{name}_settings") if part in parts]
        if any(variant.how in ("covered", "rate") for variant in self.plan.variants.values()):
            parts |= self._together()
            wholes += [f"together_{i}" for i in self._timed_conditions()]
        parts["texts"] = self._texts()
        listed = ",\n".join(f"{name} as ({sql})" for name, sql in parts.items())
        joins = "".join(f"\nleft join {name} on {self._same('texts', name, self.group)}" for name in wholes)
        columns = [
            *(f"texts.{name}" for name in self.group),
            "texts.intervals",
            "texts.first_interval",
            "texts.last_interval",
            *(f"{self._final(variant)} as {quoted(variant.column)}" for variant in self.plan.variants.values()),
            *(f"texts.{quoted(name)}" for name in self.described),
        ]
        return f"with {listed}\nselect {', '.join(columns)}\nfrom texts{joins}"

    def _length(self) -> str:
        return "interval_seconds" if self.timed else "1.0::double"

    def _every(self, base: str) -> str:
        """The intervals of each observer: length, and the share of it that no earlier interval covers."""
        bucket = f', {self.bucket} as "time"' if self.bucket else ""
        rows = (
            f"select {joined(self.observers)} as {_OBSERVER}{bucket}, interval, interval_to, "
            f"max({self._length()}) as length, {_ENDS} from {base} group by all"
        )
        return f"select *, {_fresh([_OBSERVER, *self.time])} as fresh from ({rows})"

    def _rows(self, rows: str) -> str:
        """The rows that count, with whose they are and what they know."""
        columns = [f"{joined(self.observers)} as {_OBSERVER}"]
        columns += [f'{self.bucket} as "time"'] if self.bucket else []
        columns += [f"{joined(scope)} as {name}" for scope, name in self.scopes.items()]
        inner = f"select *, {', '.join(columns)} from {rows}"
        filled = [f"{self._filled(fact)} as {quoted(_filled_column(fact.name))}" for fact in self.gaps]
        if filled:
            inner = f"select *, {', '.join(filled)} from ({inner})"
        known = [f"{self._is_known(fact)} as {quoted(_known_column(fact.name))}" for fact in self.needed]
        if known:
            inner = f"select *, {', '.join(known)} from ({inner})"
        conditions = [f"({is_known(self.plan.conditions[i])}) as known_{i}" for i in self.conditions if i]
        return f"select *, {', '.join(conditions)} from ({inner})" if conditions else inner

    def _measured(self, fact: Fact) -> str:
        """The column of a fact that is averaged over time."""
        return quoted(_filled_column(fact.name) if fact in self.gaps else fact.name)

    def _filled(self, fact: Fact) -> str:
        """The amount in force in a row: its own, else the last one known before, else the first one known after."""
        value = quoted(fact.name)
        parts = ", ".join([self.scopes[self.scope(fact) or ()], *self.time])
        window = f"partition by {parts} order by coalesce(interval_end, interval_start), {value} nulls last"
        before = f"last_value({value} ignore nulls) over ({window} rows between unbounded preceding and current row)"
        after = f"first_value({value} ignore nulls) over ({window} rows between current row and unbounded following)"
        return f"coalesce({value}, {before}, {after})"

    def _is_known(self, fact: Fact) -> str:
        """Whether a fact is known of the row's entity: in the same interval, or, a setting, at all."""
        scope = self.scope(fact) if fact.rollup.is_setting else None
        if scope is not None:
            parts = [self.scopes[scope], *self.time]
        else:
            parts = [*(quoted(name) for name in self.entity), "interval", "interval_to"]
        return f"count({quoted(fact.name)}) over (partition by {', '.join(parts)}) > 0"

    def _covered(self) -> dict[str, str]:
        by = ", ".join([_OBSERVER, *self.time])
        return {"covered": f"select {by}, sum(length * fresh) as covered from every group by {by}"}

    def _where(self, condition: int) -> str:
        return f" filter (where known_{condition})" if condition else ""

    def _known_flags(self) -> list[str]:
        return [f"bool_or(known_{i}) as known_{i}" for i in self.conditions if i]

    def _covered_known(self) -> list[str]:
        """The covered time less the intervals of which there are rows, and none knows what is needed."""
        return [
            "any_value(covered) as covered_0",
            *(
                f"any_value(covered) - coalesce(sum(length * fresh) filter (where not known_{i}), 0) as covered_{i}"
                for i in self.conditions
                if i
            ),
        ]

    def _own(self) -> dict[str, str]:
        """Facts that each row, or each observer, has of its own."""
        mine = [
            variant
            for variant in self.plan.variants.values()
            if not variant.fact.of and not (variant.fact.rollup.is_setting and variant.how == "latest")
        ]
        cells = ["max(length_of_row) as length_of_rows", *self._known_flags()]
        per_observer = self._covered_known()
        whole = []
        for fact, condition in dict.fromkeys((v.fact, v.condition) for v in mine if v.how != "covered"):
            cell, where = quoted(f"{fact.name}__{condition}"), self._where(condition)
            once = fact.of is not None
            hows = {v.how: quoted(v.column) for v in mine if v.fact == fact and v.condition == condition}
            if "typical" in hows:
                cells += [
                    f"sum({quoted(fact.name)} * length_of_row){where} as {cell}",
                    f'sum(case when {quoted(fact.name)} is not null then length_of_row end){where} as {cell[:-1]}_l"',
                ]
                per_observer += [f"sum({cell}) as {cell}", f'sum({cell[:-1]}_l") as {cell[:-1]}_l"']
                whole.append(f'sum({cell}) / nullif(sum({cell[:-1]}_l"), 0) as {hows["typical"]}')
                continue
            how = {"max": "max", "min": "min"}.get(next(iter(hows)), "max" if once else "sum")
            cells.append(f"{how}({self._measured(fact)}){where} as {cell}")
            if "max" in hows or "min" in hows:
                per_observer.append(f"{how}({cell}) as {cell}")
                whole.append(f"{how}({cell}) as {quoted(how_column(hows))}")
                continue
            if "sum" in hows or "rate" in hows:
                per_observer.append(f"sum({cell}) as {cell}")
            if averaged := _averaged(cell, condition, hows):
                per_observer += averaged.per_clock
                whole += averaged.whole
            if "sum" in hows:
                whole.append(f"sum({cell}) as {hows['sum']}")
            if "rate" in hows:
                whole.append(f"sum({cell} / nullif(covered_{condition}, 0)) as {hows['rate']}")
        return self._clocked(_Clock("own", _OBSERVER, "every"), cells, per_observer, whole)

    def _clocked(self, clock_of: _Clock, cells: list[str], per_clock: list[str], whole: list[str]) -> dict[str, str]:
        """Rows to intervals of a clock (an observer, or what several report), to the clock, to the group."""
        name, clock, intervals = clock_of.name, clock_of.column, clock_of.intervals
        by = [*self.group, clock]
        of_group = intervals != "every"
        same = [*(by if of_group else [clock, *self.time]), "interval", "interval_to"]
        total = [*(by if of_group else [clock, *self.time])]
        covers = "covered" if not of_group else f"{name}_covered"
        rows = f"(select *, {self._length()} as length_of_row from measured)"
        result = {
            f"{name}_cells": (
                f"select {', '.join([*by, 'interval', 'interval_to', *cells])} from {rows} "
                f"group by {', '.join([*by, 'interval', 'interval_to'])}"
            ),
            f"{name}_clocks": (
                f"select {', '.join([*(f'c.{n}' for n in by), *per_clock])} from {name}_cells c "
                f"join {intervals} i on {self._same('c', 'i', same)} "
                f"join {covers} t on {self._same('c', 't', total)} "
                f"group by {', '.join(f'c.{n}' for n in by)}"
            ),
        }
        result[f"{name}_whole"] = self._grouped(f"{name}_clocks", whole or ["count(*) as clocks"])
        return result

    def _grouped(self, table: str, columns: list[str]) -> str:
        by = f" group by {', '.join(self.group)}" if self.group else ""
        return f"select {', '.join([*self.group, *columns])} from {table}{by}"

    def _shared(self, scope: tuple[str, ...], name: str) -> dict[str, str]:
        """Facts that several rows, or several observers, report alike: each scope is a clock of its own."""
        result: dict[str, str] = {}
        mine = [
            variant
            for variant in self.plan.variants.values()
            if variant.fact.of and self.scope(variant.fact) == scope and variant.how != "latest"
        ]
        if mine:
            result |= self._intervals_of(name, [*self.group, name])
            cells = [*self._known_flags()]
            per_clock = self._covered_known()
            whole = []
            for fact, condition in dict.fromkeys((v.fact, v.condition) for v in mine):
                cell, where = quoted(f"{fact.name}__{condition}"), self._where(condition)
                hows = {v.how: quoted(v.column) for v in mine if v.fact == fact and v.condition == condition}
                cells.append(f"max({self._measured(fact)}){where} as {cell}")
                if "sum" in hows or "rate" in hows:
                    per_clock.append(f"sum({cell} * fresh) as {cell}")
                if averaged := _averaged(cell, condition, hows):
                    per_clock += averaged.per_clock
                    whole += averaged.whole
                if "sum" in hows:
                    whole.append(f"sum({cell}) as {hows['sum']}")
                if "rate" in hows:
                    whole.append(f"sum({cell} / nullif(covered_{condition}, 0)) as {hows['rate']}")
            result |= self._clocked(_Clock(name, name, f"{name}_intervals"), cells, per_clock, whole)
        settings = [
            variant
            for variant in self.plan.variants.values()
            if variant.how == "latest" and self.scope(variant.fact) == scope
        ]
        if settings:
            result |= self._latest(name, settings)
        return result

    def _intervals_of(self, name: str, by: list[str], condition: int = 0, *, merged: bool = True) -> dict[str, str]:
        """The intervals of all observers that have rows of a group, and the time that they cover together.

        Merged, intervals of the same name are one, as they are for a number that several observers report of it.
        """
        known = ""
        if condition:
            # Left out: intervals of which the group has rows, and none knows what is needed.
            same = self._same("c", "i", [_OBSERVER, *self.time, "interval", "interval_to"])
            known = (
                f" where not exists (select 1 from own_cells c where not c.known_{condition} and {same}"
                f" and {self._same('c', 'o', by)})"
                if by
                else f" where not exists (select 1 from own_cells c where not c.known_{condition} and {same})"
            )
        own = ", ".join([*by, _OBSERVER, *(t for t in self.time if t not in by)])
        columns = ", ".join([*(f"o.{n}" for n in by), "i.interval", "i.interval_to"])
        intervals = (
            f"select {columns}, max(i.length) as length, min(i.starts) as starts, max(i.ends) as ends "
            f"from (select distinct {own} from measured) o "
            f"join every i on {self._same('o', 'i', [_OBSERVER, *self.time])}{known} "
            f"group by {columns}{'' if merged else ', i.starts, i.ends'}"
        )
        grouped = f" group by {', '.join(by)}" if by else ""
        total = ", ".join([*by, "sum(length * fresh) as covered"])
        return {
            f"{name}_intervals": f"select *, {_fresh(by)} as fresh from ({intervals})",
            f"{name}_covered": f"select {total} from {name}_intervals{grouped}",
        }

    def _timed_conditions(self) -> list[int]:
        used = {variant.condition for variant in self.plan.uses("covered", "rate")}
        return [i for i in self.conditions if i in used]

    def _together(self) -> dict[str, str]:
        """The time that the observers of a group cover together."""
        result: dict[str, str] = {}
        for i in self._timed_conditions():
            parts = self._intervals_of(f"together_{i}", self.group, i, merged=False)
            result[f"together_{i}_intervals"] = parts[f"together_{i}_intervals"]
            result[f"together_{i}"] = parts[f"together_{i}_covered"]
        return result

    def _latest(self, name: str, settings: Sequence[Variant]) -> dict[str, str]:
        """The value in force of each scope: of the rows that know it, the last; of several as late, the largest."""
        by = [*self.group, name]
        stamp = "coalesce(interval_end, interval_start, timestamptz '1900-01-01')"
        latest, whole = list(self._known_flags()), []
        for fact in dict.fromkeys(variant.fact for variant in settings):
            value = quoted(fact.name)
            latest.append(f"arg_max({value}, ({stamp}, {value})) filter (where {value} is not null) as {value}")
        for variant in settings:
            value, where = quoted(variant.fact.name), self._where(variant.condition)
            text = f"sum({value}){where}"
            if variant.fact.rollup is Rollup.SETTING:
                low, high = f"min({value}){where}", f"max({value}){where}"
                text = f"case when {low} = {high} then {high} end"
            whole.append(f"{text} as {quoted(variant.column)}")
        return {
            f"{name}_latest": f"select {', '.join([*by, *latest])} from measured group by {', '.join(by)}",
            f"{name}_settings": self._grouped(f"{name}_latest", whole),
        }

    def _texts(self) -> str:
        """One row for each group: its intervals, and what the entities in it have in common."""
        columns = [
            *self.group,
            "count(distinct interval) as intervals",
            "min(interval) as first_interval",
            "max(interval) as last_interval",
            *(
                f"case when min({quoted(n)}) = max({quoted(n)}) then max({quoted(n)}) end as {quoted(n)}"
                for n in self.described
            ),
        ]
        by = f" group by {', '.join(self.group)}" if self.group else ""
        return f"select {', '.join(columns)} from measured{by}"

    def _final(self, variant: Variant) -> str:
        """A column of the result."""
        fact, i = variant.fact, variant.condition
        if variant.how == "covered":
            return f"together_{i}.covered"
        if variant.how == "latest":
            name = self.scopes[self.scope(fact) or ()]
            return f"{name}_settings.{quoted(variant.column)}"
        source = f"{self.scopes[fact.of]}_whole" if fact.of else "own_whole"
        value = f"{source}.{quoted(variant.column)}"
        return f"{value} * together_{i}.covered" if variant.how == "rate" else value

    @staticmethod
    def _same(first: str, second: str, names: Iterable[str]) -> str:
        return " and ".join(f"{first}.{n} is not distinct from {second}.{n}" for n in names) or "true"


@dataclass(frozen=True)
class _Averaged:
    """Columns of a mean over time: of each clock, and of the group."""

    per_clock: list[str]
    whole: list[str]


def _averaged(cell: str, condition: int, hows: Mapping[str, str]) -> _Averaged | None:
    """A mean over the time that counts, or over that in which the fact is known; plain mean where times have no length.

    An interval without a row is of neither kind: there was nothing, which counts.
    """
    if "mean" not in hows and "level" not in hows:
        return None
    stem = cell[:-1]
    per_clock = [f'sum({cell} * length * fresh) as {stem}_t"', f'avg({cell}) as {stem}_a"']
    whole = []
    lengths = {"mean": f"covered_{condition}", "level": f'{stem}_k"'}
    if "level" in hows:
        unknown = f"coalesce(sum(length * fresh) filter (where {cell} is null), 0)"
        per_clock.append(f'any_value(covered) - {unknown} as {stem}_k"')
    for how in ("mean", "level"):
        if how in hows:
            whole.append(f'sum(coalesce({stem}_t" / nullif({lengths[how]}, 0), {stem}_a")) as {hows[how]}')
    return _Averaged(per_clock, whole)


def how_column(hows: Mapping[str, str]) -> str:
    """The only column of a fact that is rolled up in one way."""
    (name,) = hows.values()
    return name.strip('"')


def _fresh(by: Sequence[str]) -> str:
    """SQL of the share of an interval that no interval before it covers; 1 where that cannot be told."""
    parted = f"partition by {', '.join(by)} " if by else ""
    window = f"({parted}order by starts, ends rows between unbounded preceding and 1 preceding)"
    before = f"coalesce(max(epoch(ends)) over {window}, epoch(starts))"
    start = f"case when {before} - epoch(starts) <= {_MOMENTS} then epoch(starts) else {before} end"
    return (
        f"coalesce(case when ends > starts then greatest(0, epoch(ends) - ({start})) / (epoch(ends) - epoch(starts)) "
        "end, 1)"
    )
