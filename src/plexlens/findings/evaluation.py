"""Evaluation of rules over the facts of their grain: which objects, which intervals, how long, how badly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from plexlens.expression.sql import sql_of
from plexlens.expression.tree import Expression, names_of
from plexlens.findings.rule import Formula, Rule, Severity
from plexlens.metrics import local_time
from plexlens.metrics.definition import Fact, Grain, Key
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.evaluate import Cut, cut_together, evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.moments import start_of
from plexlens.metrics.query import Query
from plexlens.metrics.reduction import reduced
from plexlens.metrics.required import read_by
from plexlens.pdb.engine import literal, quoted

Entity = tuple[str | None, ...]

#: Columns of settings: as they are in force, and as they were in the intervals in which a rule holds.
_FORCE, _THEN = "in_force_", "then_"

#: The column that keeps the facts of several rules apart.
_RULE = "findings_rule"


@dataclass(frozen=True)
class Judged:
    """Result of a rule for an object.

    Attributes
    ----------
    entity
        Values of the rule's ``by`` columns.
    severity
        None where it does not fire.
    known, holding
        Intervals in which the condition has a value, and in which it is true.
    hours
        Hours that the object's intervals cover.
    worst, worst_time, start, end
        As in `plexlens.findings.finding.Finding`.
    """

    entity: Entity
    severity: Severity | None
    known: int
    holding: int
    hours: float
    worst: float | None
    worst_time: datetime | None
    start: datetime | None
    end: datetime | None


@dataclass(frozen=True)
class Values:
    """Numbers and attributes of one object over the intervals in which a rule holds.

    Attributes
    ----------
    columns
        The rule's evidence.
    attributes
        What the rule's texts name.
    written, commanded
        Numbers of its texts, and of its commands; in the latter settings are those in force at the end of the data.
    settings
        By name of each setting that the rule's numbers read: its value in those intervals, and the one in force.
    cost_seconds
        None where the rule derives none.
    """

    columns: Mapping[str, float | None]
    attributes: Mapping[str, str | None]
    written: Mapping[Expression, float | None]
    commanded: Mapping[Expression, float | None]
    settings: Mapping[str, tuple[float | None, float | None]]
    cost_seconds: float | None


@dataclass(frozen=True)
class Kept:
    """The facts of a grain, stored in a table for all its rules.

    Attributes
    ----------
    grain
        The grain with what the rules read.
    facts
        What `plexlens.metrics.evaluate.facts` gave for it.
    """

    grain: Grain
    facts: Query


class Evaluation:
    """Rules that read the same rows: the same grain, columns, time and systems.

    What a statement costs is for the most part its making; so all of them are judged by one, and what it gives is kept
    as a temporary table, from which the intervals of each rule's numbers are taken. `close` drops it.

    Parameters
    ----------
    inputs
        The raw tables.
    kept
        The facts they read.
    rules
        The rules; they have the same key by `together`.
    outside
        Systems whose release the rules are not for.
    undated
        Whether any of the facts lack a time.
    """

    def __init__(
        self, inputs: Inputs, kept: Kept, rules: Sequence[Rule], outside: Sequence[str] = (), *, undated: bool = False
    ) -> None:
        self.inputs = inputs
        self.whole = kept.grain
        self.rules = tuple(rules)
        self.outside = tuple(outside)
        self.undated = undated
        self.by, self.time = rules[0].by, rules[0].time
        self.applicable = kept.facts.where(self._applies())
        self.facts = self._judgeable(self.applicable)
        if self.time == "interval":
            # What several systems do to one thing is judged at moments that all of them cover.
            self.facts = cut_together(inputs, self.whole, self.facts, self.by)
        # There are as many of them as facts at most.
        self.in_file = kept.facts.in_file
        self.rows: Query | None = None

    def _applies(self) -> str:
        """SQL condition for the fact rows that the rules apply to; empty for all."""
        conditions = []
        formula = self.rules[0].where
        if formula is not None:
            conditions.append(f"({sql_of(formula.expression, quoted)})")
        if self.outside:
            conditions.append(
                f"not coalesce(system in ({', '.join(literal(system) for system in self.outside)}), false)"
            )
        return " and ".join(conditions)

    def _judgeable(self, rows: Query) -> Query:
        """The rows whose interval matches the rules' interval length.

        A row that has no time (an excerpt of a printed report) is an interval of its own. Where an object has several
        of them nothing tells whether they are of one interval, and adding them up would make up a load.
        """
        if self.time == "all" or not self.undated:
            return rows
        if self.time != "interval":
            return rows.where('"interval" is not null')
        names = dict.fromkeys(("system", "sysplex", *(key.name for key in self.whole.keys)))
        same = f'count(*) filter (where "interval" is null) over (partition by {", ".join(quoted(n) for n in names)})'
        return rows.over(
            lambda source: f'select * from {source} qualify "interval" is not null or {same} = 1', rows.columns
        )

    def grain(self, rules: Sequence[Rule], named: Iterable[str] = ()) -> Grain:
        """The grain reduced to the columns that these rules read and the named attributes, since each attribute costs
        time.
        """
        columns = frozenset[str]().union(*(rule.numbers for rule in rules))
        wanted = {*self.by, *named}
        attributes = tuple(attribute for attribute in self.whole.attributes if attribute.name in wanted)
        return replace(reduced(self.whole, columns, ()), attributes=attributes)

    # --- who ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Drop the rows that were kept."""
        if self.rows is not None:
            self.rows.drop()

    def judged(self) -> list[tuple[Rule, list[Judged]]]:
        """Results of each rule for every object it applies to."""
        self.rows = self._rows().kept(fresh_name("findings_rows"), in_file=self.in_file)
        time = "first_interval"
        length = "coalesce(interval_seconds / nullif(intervals, 0), 0)"
        texts = {"hours": "coalesce(sum(interval_seconds) / 3600.0::double, 0)"}
        spans = self._spans()
        spanned = _hours(spans.values())
        for n, rule in enumerate(self.rules):
            # Nulls and no filters of aggregates: DuckDB gives each filter buffers for the inputs of all of them.
            measure = f"case when holds_{n} then measure_{n} end"
            # Of intervals as bad as each other, the first.
            extreme, place = ("min", f"epoch({time})") if rule.lowest else ("max", f"-epoch({time})")
            texts |= {
                f"known_{n}": f"count(holds_{n})",
                f"holding_{n}": f"count(case when holds_{n} then 1 end)",
                f"worst_{n}": f"{extreme}({measure})",
                f"worst_time_{n}": f"arg_{extreme}({time}, case when holds_{n} then (measure_{n}, {place}) end)",
                f"start_{n}": f"min(case when holds_{n} then {time} end)",
                f"end_{n}": f"max(case when holds_{n} then epoch(last_interval) + {length} end)",
            }
            for severity, _ in rule.grades:
                texts[f"{severity}_{n}"] = f"count(case when holds_{n}_{severity} then 1 end)"
        rows = self.rows.grouped(self.by, texts).rows()
        local = self._in_local_time()
        for row in rows:
            row["hours"] = row["hours"] or spanned
            entity = tuple(row[name] for name in self.by)
            row["is_local"] = entity in local
            row["span"] = spans.get(entity)
        return [(rule, [self._one(rule, n, row) for row in rows]) for n, rule in enumerate(self.rules)]

    def _in_local_time(self) -> frozenset[Entity]:
        """Objects whose rows are all in local time of unknown offset."""
        if not any(report.utc_offset is None for report in local_time.listed(self.inputs.connection)):
            return frozenset()
        rows = self.facts.grouped(self.by, {"is_local": "bool_and(local_time)"}).where("is_local").rows()
        return frozenset(tuple(row[name] for name in self.by) for row in rows)

    def _spans(self) -> dict[Entity, tuple[datetime, datetime]]:
        """First and last moment of each object in rows that have no intervals in common; none for other rows."""
        if any(fact.name == "interval_seconds" for fact in self.whole.facts):
            return {}
        first = "min(coalesce(interval_start, interval_end))"
        last = "max(coalesce(interval_end, interval_start))"
        rows = self.facts.grouped(self.by, {"first": first, "last": last}).where("first is not null").rows()
        return {tuple(row[name] for name in self.by): (row["first"], row["last"]) for row in rows}

    def _rows(self) -> Query:
        """Rolled-up rows by object and time: conditions, grades and measures of the rules."""
        # Intervals as they are: the evidence is looked up by their starts.
        grain = self.grain(self.rules)
        shown = frozenset({"interval_seconds"}).union(*(rule.numbers for rule in self.rules))
        table = evaluate(self.inputs, grain, by=self.by, time=self.time, kept=self.facts, cut=Cut.NEVER, shown=shown)
        assert table is not None
        texts = {name: quoted(name) for name in ("first_interval", "last_interval", "intervals", "interval_seconds")}
        if "interval_seconds" not in table.columns:
            texts["interval_seconds"] = "null::double"
        for n, rule in enumerate(self.rules):
            holds = self._meant(rule, rule.condition)
            texts |= {f"holds_{n}": holds, f"measure_{n}": quoted(rule.measure)}
            for severity, formula in rule.grades:
                # A grade raises what holds already.
                texts[f"holds_{n}_{severity}"] = f"({holds}) and ({self._meant(rule, formula)})"
        return table.select(*self.by, *(["time"] if self.time != "all" else []), **texts)

    def _meant(self, rule: Rule, formula: Formula) -> str:
        """SQL of a formula over the rows, or over percentiles of an object's rows if the rule asks for them."""
        if rule.percentile is None:
            return sql_of(formula.expression, quoted)
        by = ", ".join(quoted(name) for name in self.by)
        part = rule.percentile / 100.0
        window = f"over (partition by {by})" if by else "over ()"
        return sql_of(formula.expression, lambda name: f"quantile_cont({quoted(name)}, {part!r}) {window}")

    def _one(self, rule: Rule, n: int, row: Mapping[str, Any]) -> Judged:
        known, holding = int(row[f"known_{n}"] or 0), int(row[f"holding_{n}"] or 0)

        def enough(count: int | None) -> bool:
            return bool(count and count >= rule.min_share * known)

        severity = None
        if enough(holding):
            raised = [grade for grade, _ in rule.grades if enough(row[f"{grade}_{n}"])]
            severity = raised[-1] if raised else rule.severity
        seconds = row[f"end_{n}"]
        start = _utc(row[f"start_{n}"])
        end = datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
        if self.time == "all" and holding and row["span"] is not None:
            # Without intervals in common, a row lasts as long as its records do.
            start, end = (_utc(moment) for moment in row["span"])

        def shown(moment: datetime | None) -> datetime | None:
            return moment.replace(tzinfo=None) if moment is not None and row["is_local"] else moment

        return Judged(
            entity=tuple(row[name] for name in self.by),
            severity=severity,
            known=known,
            holding=holding,
            hours=float(row["hours"] or 0.0),
            worst=row[f"worst_{n}"],
            worst_time=shown(_utc(row[f"worst_time_{n}"])) if self.time != "all" else None,
            start=shown(start),
            end=shown(end),
        )

    # --- how much -----------------------------------------------------------------------------------------------

    def values(self, wanted: Mapping[str, Sequence[Entity]]) -> dict[str, dict[Entity, Values]]:
        """Numbers of the objects named for each rule, over the intervals in which its condition holds."""
        rules = [(n, rule) for n, rule in enumerate(self.rules) if wanted.get(rule.id)]
        if not rules:
            return {}
        grain = self.grain([rule for _, rule in rules], frozenset[str]().union(*(rule.named for _, rule in rules)))
        attributes = [attribute.name for attribute in grain.attributes if attribute.name not in self.by]
        # One statement for all of them: the number of the rule keeps them apart.
        apart = replace(grain, keys=(*grain.keys, Key(_RULE, "Rule")))
        by = (_RULE, *self.by)
        query = self._held([n for n, _ in rules])
        shown = frozenset[str]().union(*(rule.numbers for _, rule in rules))
        table = evaluate(self.inputs, apart, by=by, time="all", kept=query, apart=by, shown=shown)
        assert table is not None
        settings = self._settings([rule for _, rule in rules], grain)
        table = self._with_settings(table, grain, settings)
        texts = {f"{_THEN}{name}": f"{quoted(name)}::double" for name in settings}

        def in_force(column: str) -> str:
            return quoted(f"{_FORCE}{column}" if column in settings else column)

        for n, rule in rules:
            for k, expression in enumerate(rule.written):
                texts[f"written_{n}_{k}"] = f"({sql_of(expression, quoted)})::double"
            for k, expression in enumerate(rule.commanded):
                texts[f"commanded_{n}_{k}"] = f"({sql_of(expression, in_force)})::double"
            if rule.cost is not None:
                texts[f"cost_{n}"] = f"({sql_of(rule.cost.seconds.expression, quoted)})::double"
        evidence = dict.fromkeys(name for _, rule in rules for name in rule.evidence)
        results: dict[str, dict[Entity, Values]] = {rule.id: {} for _, rule in rules}
        known = {str(n): (n, rule, frozenset(wanted[rule.id])) for n, rule in rules}
        names = dict.fromkeys((*by, *attributes, *evidence, *(f"{_FORCE}{name}" for name in settings)))
        for row in table.select(*names, **texts).rows():
            n, rule, objects = known[row[_RULE]]
            entity = tuple(row[name] for name in self.by)
            if entity in objects:
                results[rule.id][entity] = Values(
                    columns={name: _finite(row[name]) for name in rule.evidence},
                    attributes={name: row[name] for name in attributes},
                    written={expression: _finite(row[f"written_{n}_{k}"]) for k, expression in enumerate(rule.written)},
                    commanded={
                        expression: _finite(row[f"commanded_{n}_{k}"]) for k, expression in enumerate(rule.commanded)
                    },
                    settings={
                        name: (_finite(row[f"{_THEN}{name}"]), _finite(row[f"{_FORCE}{name}"]))
                        for name in settings
                        if name in rule.numbers and is_setting_name(self.whole, name)
                    },
                    cost_seconds=_finite(row.get(f"cost_{n}")),
                )
        return results

    def _settings(self, rules: Sequence[Rule], grain: Grain) -> tuple[str, ...]:
        """Settings, and metrics computed from settings alone, that these rules print."""
        # What takes a command back is the value in force, whatever its roll-up; conditions are of what held.
        taken_back = [place.expression for rule in rules for place in rule.undo.places if place.expression is not None]
        undone = {name for expression in taken_back for name in names_of(expression)}
        settings = {fact.name for fact in self.whole.facts if is_setting(fact) or fact.name in undone}
        read = {name: metric.facts for name, metric in read_by(grain, grain.metrics).items()}
        settings |= {name for name, fields in read.items() if fields and fields <= settings}
        named = frozenset[str]().union(*(rule.numbers for rule in rules))
        return tuple(sorted(named & settings))

    def _latest_alone(self, name: str) -> bool:
        """Whether the latest row of an object determines the setting: it is a fact to which no other row adds."""
        fact = next((fact for fact in self.whole.facts if fact.name == name), None)
        keys = {key.name for key in self.whole.keys}
        return fact is not None and (fact.rollup.across != "sum" or keys <= set(self.by))

    def _with_settings(self, table: Query, grain: Grain, settings: Sequence[str]) -> Query:
        """The rows joined with the settings in force at the end of the data, taken from all intervals."""
        if not settings:
            return table
        direct = [name for name in settings if self._latest_alone(name)]
        force = self.facts.grouped(self.by, {f"{_FORCE}{name}": f"({_latest(name)})::double" for name in direct})
        joins = f"left join {force.source} f on {_same('t', 'f', self.by)}"
        columns = [f"f.{quoted(f'{_FORCE}{name}')}" for name in direct]
        # A level is that of the last interval; the roll-up of a setting is its latest value.
        measured = {fact.name for fact in self.whole.facts if not is_setting(fact)}
        others = sorted((name for name in settings if name not in direct), key=lambda name: name in measured)
        for time in ("all", "interval"):
            names = [name for name in others if (name in measured) == (time == "interval")]
            if not names:
                continue
            named = tuple(attribute for attribute in grain.attributes if attribute.name in self.by)
            reduced_grain = replace(reduced(grain, names, ()), attributes=named)
            rows = evaluate(self.inputs, reduced_grain, by=self.by, time=time, kept=self.facts, shown=names)
            assert rows is not None
            if time == "interval":
                last = {name: f'arg_max({quoted(name)}, "time")' for name in names}
                rows = rows.grouped(self.by, last)
            joins += f" left join {rows.source} {time}_rows on {_same('t', f'{time}_rows', self.by)}"
            columns += [f"{time}_rows.{quoted(name)}::double as {quoted(f'{_FORCE}{name}')}" for name in names]
        select = f"select t.*, {', '.join(columns)} from {table.source} t {joins}"
        return Query.of(table.connection, select, (*table.columns, *(f"{_FORCE}{name}" for name in (*direct, *others))))

    def _held(self, numbers: Sequence[int]) -> Query:
        """The facts of only those intervals and objects in which a rule holds, with the rule's number; repeated for
        each rule.
        """
        assert self.rows is not None
        names = [f"{quoted(name)} as {quoted(f'held_{name}')}" for name in self.by]
        if self.time != "all":
            names.append('"time" as held_time')
        text = " union all ".join(
            f"select distinct {', '.join([f'{literal(str(n))} as {quoted(_RULE)}', *names])} from {self.rows.source} "
            f"where holds_{n}"
            for n in numbers
        )
        same = [f"k.{quoted(name)} is not distinct from h.{quoted(f'held_{name}')}" for name in self.by]
        if self.time != "all":
            time = 'k."interval"' if self.time == "interval" else start_of("hour", 'k."interval"')
            same.append(f"{time} is not distinct from h.held_time")
        on = " and ".join(same) or "true"
        select = f"select k.*, h.{quoted(_RULE)} from {self.facts.source} k join ({text}) h on {on}"
        held_facts = Query.of(self.facts.connection, select, (*self.facts.columns, _RULE))
        return replace(held_facts, part_of=self.facts.part_of or self.facts)

    # --- what is missing ----------------------------------------------------------------------------------------

    def only_undated(self) -> bool:
        """Whether the rules apply to rows, but all of these lack the time that evaluation needs."""
        return self.time != "all" and self.undated and self.applicable.count() > 0

    def rows_and_gaps(self, rule: Rule) -> tuple[int, tuple[str, ...]]:
        """Number of fact rows the rule applies to, and the facts in its condition that are null in all of them."""
        read = _read(self.whole, rule)
        names = [fact.name for fact in self.whole.facts if fact.name in read]
        counts = {"rows": "count(*)"} | {f"known_{name}": f"count({quoted(name)})" for name in names}
        (row,) = self.facts.grouped((), counts).rows()
        return int(row["rows"]), tuple(name for name in names if not row[f"known_{name}"])


def _same(first: str, second: str, names: Iterable[str]) -> str:
    return " and ".join(f"{first}.{quoted(n)} is not distinct from {second}.{quoted(n)}" for n in names) or "true"


def together(rule: Rule) -> tuple[Any, ...]:
    """Key that rules must share to be evaluated by one statement."""
    return rule.grain, rule.by, rule.time, rule.where and rule.where.text, rule.releases


def _read(grain: Grain, rule: Rule) -> frozenset[str]:
    """Facts read by the condition of a rule."""
    metrics = {metric.name: metric for metric in grain.metrics}
    reads = read_by(grain, [metrics[name] for name in rule.condition.names if name in metrics])
    read: set[str] = set()
    for name in rule.condition.names:
        read |= reads[name].facts if name in metrics else {name}
    return frozenset(read)


def _latest(name: str) -> str:
    """SQL of the latest known value; the largest if several rows are equally late or have no time."""
    value = quoted(name)
    known = f"{value} is not null and interval_start is not null"
    dated = f"arg_max({value}, case when {known} then (interval_start, {value}) end)"
    return f"coalesce({dated}, max({value}))"


def is_setting(fact: Fact) -> bool:
    """Whether a fact is a setting, in force until it is changed."""
    return fact.rollup.over in ("latest", "last")


def is_setting_name(grain: Grain, name: str) -> bool:
    """Whether a column is a fact whose roll-up keeps the latest value."""
    return any(fact.name == name and is_setting(fact) for fact in grain.facts)


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)


def _hours(spans: Iterable[tuple[datetime, datetime]]) -> float:
    """Hours from the first moment to the last."""
    known = list(spans)
    if not known:
        return 0.0
    return (max(last for _, last in known) - min(first for first, _ in known)).total_seconds() / 3600.0


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
