"""Rules over the facts of their grain: where they hold, for whom, how long, how badly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import ibis

from plexlens.expression.tree import Expression, names_of
from plexlens.findings.rule import Formula, Rule, Severity
from plexlens.findings.translation import translate
from plexlens.metrics import local_time
from plexlens.metrics.definition import Fact, Grain, Key
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.reduction import fields_of, reduced

Entity = tuple[str | None, ...]

#: The temporary table of rolled-up rows.
_ROWS = "findings_rows"

#: Columns of settings: as they are in force, and as they were in the intervals in which a rule holds.
_FORCE, _THEN = "in_force_", "then_"

#: The column that keeps the facts of several rules apart.
_RULE = "findings_rule"


@dataclass(frozen=True)
class Judged:
    """What a rule says of one object.

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
    """The facts of a grain, kept as a table for all its rules.

    Attributes
    ----------
    grain
        The grain with what the rules read.
    facts
        What `plexlens.metrics.evaluate.facts` gave for it, as an Ibis table.
    """

    grain: Grain
    facts: Any


class Evaluation:
    """Rules that read the same rows: of one grain, by the same columns and time, of the same systems.

    What a statement costs is for the most part its making; so all of them are judged by one, and what it gives is kept
    as a temporary table, from which the intervals of each rule's numbers are taken. `close` drops it.

    Parameters
    ----------
    inputs
        The raw tables.
    kept
        The facts they read.
    rules
        The rules; they agree in what `together` tells of them.
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
        self.applicable = kept.facts.filter(self._applies(kept.facts))
        self.facts = self._judgeable(self.applicable)
        self.rows: Any = None

    def _applies(self, table: Any) -> Any:
        """The rows of facts that the rules are about."""
        kept = ibis.literal(True)
        formula = self.rules[0].where
        if formula is not None:
            kept = translate(formula.expression, lambda name: table[name])
        if self.outside:
            kept = kept & ~table.system.isin(self.outside).fill_null(False)
        return kept

    def _judgeable(self, table: Any) -> Any:
        """The rows that belong to a time of the rules' length.

        A row that tells no time (an excerpt of a printed report) is an interval of its own. Where an object has several
        of them nothing tells whether they are of one interval, and adding them up would make up a load.
        """
        if self.time == "all" or not self.undated:
            return table
        if self.time != "interval":
            return table.filter(table.interval.notnull())
        names = list(dict.fromkeys(("system", "sysplex", *(key.name for key in self.whole.keys))))
        same = table.interval.isnull().sum().over(ibis.window(group_by=names))
        return table.mutate(undated_rows=same).filter(lambda t: t.interval.notnull() | (t.undated_rows == 1))

    def grain(self, rules: Sequence[Rule], named: Iterable[str] = ()) -> Grain:
        """The grain with what these rules read, and the attributes that are named: each of them costs."""
        columns = frozenset[str]().union(*(rule.numbers for rule in rules))
        wanted = {*self.by, *named}
        attributes = tuple(one for one in self.whole.attributes if one.name in wanted)
        return replace(reduced(self.whole, columns, ()), attributes=attributes)

    # --- who ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Drop what was kept."""
        self.inputs.backend.raw_sql(f"drop table if exists {_ROWS}")

    def judged(self) -> list[tuple[Rule, list[Judged]]]:
        """What each rule says of every object it applies to."""
        backend = self.inputs.backend
        backend.raw_sql(f"create or replace temp table {_ROWS} as {backend.compile(self._rows())}")
        table = self.rows = backend.table(_ROWS)
        time, seconds = table.first_interval, table.interval_seconds
        length = (seconds / table.intervals).fill_null(0.0)
        ends = table.last_interval.epoch_seconds().cast("float64") + length
        columns: dict[str, Any] = {"hours": (seconds.sum() / 3600.0).fill_null(0.0)}
        spanned = self._spanned_hours() if any(rule.cost is not None for rule in self.rules) else 0.0
        for n, rule in enumerate(self.rules):
            holds = table[f"holds_{n}"].fill_null(False)
            measure = table[f"measure_{n}"]
            extreme, at_extreme = (measure.min, time.argmin) if rule.lowest else (measure.max, time.argmax)
            columns |= {
                f"known_{n}": table[f"holds_{n}"].notnull().sum(),
                f"holding_{n}": holds.sum(),
                f"worst_{n}": extreme(where=holds),
                f"worst_time_{n}": at_extreme(measure, where=holds),
                f"start_{n}": time.min(where=holds),
                f"end_{n}": ends.max(where=holds),
            }
            for severity, _ in rule.grades:
                columns[f"{severity}_{n}"] = table[f"holds_{n}_{severity}"].fill_null(False).sum()
        found = table.group_by(list(self.by)).aggregate(**columns).to_pyarrow().to_pylist()
        local = self._in_local_time()
        for row in found:
            row["hours"] = row["hours"] or spanned
            row["is_local"] = tuple(row[name] for name in self.by) in local
        return [(rule, [self._one(rule, n, row) for row in found]) for n, rule in enumerate(self.rules)]

    def _in_local_time(self) -> frozenset[Entity]:
        """Objects of which every row is in local time of unknown offset."""
        if not any(report.utc_offset is None for report in local_time.listed(self.inputs.backend)):
            return frozenset()
        rows = self.facts.group_by(list(self.by)).aggregate(is_local=self.facts.local_time.all())
        rows = rows.filter(rows.is_local).to_pyarrow().to_pylist()
        return frozenset(tuple(row[name] for name in self.by) for row in rows)

    def _spanned_hours(self) -> float:
        """Hours that the rows cover where they have no intervals in common: from first to last."""
        if any(fact.name == "interval_seconds" for fact in self.whole.facts):
            return 0.0
        facts = self.facts
        first = ibis.coalesce(facts.interval_start, facts.interval_end).min()
        last = ibis.coalesce(facts.interval_end, facts.interval_start).max()
        (row,) = facts.aggregate(first=first, last=last).to_pyarrow().to_pylist()
        if row["first"] is None:
            return 0.0
        return float((row["last"] - row["first"]).total_seconds()) / 3600.0

    def _rows(self) -> Any:
        """Rolled-up rows by object and time: conditions, grades and measures of the rules."""
        # Intervals as they are: the evidence is looked up by their starts.
        table = evaluate(self.inputs, self.grain(self.rules), by=self.by, time=self.time, kept=self.facts, cut=False)
        if "interval_seconds" not in table.columns:
            table = table.mutate(interval_seconds=ibis.null("float64"))
        made = {name: table[name] for name in ("first_interval", "last_interval", "intervals", "interval_seconds")}
        for n, rule in enumerate(self.rules):
            holds = self._meant(rule, rule.condition, table)
            made |= {f"holds_{n}": holds, f"measure_{n}": table[rule.measure]}
            for severity, formula in rule.grades:
                # A grade raises what holds already.
                made[f"holds_{n}_{severity}"] = holds & self._meant(rule, formula, table)
        return table.select(*self.by, *(["time"] if self.time != "all" else []), **made)

    def _meant(self, rule: Rule, formula: Formula, table: Any) -> Any:
        """A formula over the rows; over percentiles of an object's rows where the rule says so."""
        if rule.percentile is None:
            return translate(formula.expression, lambda name: table[name])
        part, window = rule.percentile / 100.0, ibis.window(group_by=list(self.by))
        return translate(formula.expression, lambda name: table[name].quantile(part).over(window))

    def _one(self, rule: Rule, n: int, row: Mapping[str, Any]) -> Judged:
        known, holding = int(row[f"known_{n}"] or 0), int(row[f"holding_{n}"] or 0)

        def enough(count: int | None) -> bool:
            return bool(count and count >= rule.min_share * known)

        severity = None
        if enough(holding):
            raised = [grade for grade, _ in rule.grades if enough(row[f"{grade}_{n}"])]
            severity = raised[-1] if raised else rule.severity
        end = row[f"end_{n}"]

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
            start=shown(_utc(row[f"start_{n}"])),
            end=shown(datetime.fromtimestamp(end, UTC) if end is not None else None),
        )

    # --- how much -----------------------------------------------------------------------------------------------

    def values(self, wanted: Mapping[str, Sequence[Entity]]) -> dict[str, dict[Entity, Values]]:
        """Numbers of the objects that are named for each rule, over the intervals in which its condition holds."""
        rules = [(n, rule) for n, rule in enumerate(self.rules) if wanted.get(rule.id)]
        if not rules:
            return {}
        grain = self.grain([rule for _, rule in rules], frozenset[str]().union(*(rule.named for _, rule in rules)))
        attributes = [one.name for one in grain.attributes if one.name not in self.by]
        # One statement for all of them: the number of the rule keeps them apart.
        apart = replace(grain, keys=(*grain.keys, Key(_RULE, "Rule")))
        by = (_RULE, *self.by)
        table = evaluate(self.inputs, apart, by=by, time="all", kept=self._held([n for n, _ in rules]), apart=by)
        settings = self._settings([rule for _, rule in rules], grain)
        table = self._with_settings(table, grain, settings)
        made: dict[str, Any] = {f"{_FORCE}{name}": table[f"{_FORCE}{name}"] for name in settings}
        made |= {f"{_THEN}{name}": table[name].cast("float64") for name in settings}

        def in_force(column: str) -> Any:
            return table[f"{_FORCE}{column}"] if column in settings else table[column]

        for n, rule in rules:
            for k, expression in enumerate(rule.written):
                made[f"written_{n}_{k}"] = translate(expression, lambda column: table[column]).cast("float64")
            for k, expression in enumerate(rule.commanded):
                made[f"commanded_{n}_{k}"] = translate(expression, in_force).cast("float64")
            if rule.cost is not None:
                cost = translate(rule.cost.seconds.expression, lambda column: table[column])
                made[f"cost_{n}"] = cost.cast("float64")
        shown = dict.fromkeys(name for _, rule in rules for name in rule.evidence)
        found: dict[str, dict[Entity, Values]] = {rule.id: {} for _, rule in rules}
        known = {str(n): (n, rule, frozenset(wanted[rule.id])) for n, rule in rules}
        for row in table.mutate(**made).select(*by, *attributes, *shown, *made).to_pyarrow().to_pylist():
            n, rule, objects = known[row[_RULE]]
            entity = tuple(row[name] for name in self.by)
            if entity in objects:
                found[rule.id][entity] = Values(
                    columns={name: _finite(row[name]) for name in rule.evidence},
                    attributes={name: row[name] for name in attributes},
                    written={one: _finite(row[f"written_{n}_{k}"]) for k, one in enumerate(rule.written)},
                    commanded={one: _finite(row[f"commanded_{n}_{k}"]) for k, one in enumerate(rule.commanded)},
                    settings={
                        name: (_finite(row[f"{_THEN}{name}"]), _finite(row[f"{_FORCE}{name}"]))
                        for name in settings
                        if name in rule.numbers and is_setting_name(self.whole, name)
                    },
                    cost_seconds=_finite(row.get(f"cost_{n}")),
                )
        return found

    def _settings(self, rules: Sequence[Rule], grain: Grain) -> tuple[str, ...]:
        """Settings, and metrics made of settings alone, that the numbers of these rules name."""
        # What takes a command back is the value in force, whatever its roll-up.
        undone = {name for rule in rules for one in rule.undo.expressions for name in names_of(one)}
        settings = {fact.name for fact in self.whole.facts if is_setting(fact) or fact.name in undone}
        table = ibis.table({fact.name: "float64" for fact in self.whole.facts}, name=self.whole.name)
        read = {metric.name: fields_of(metric.expression(table)) for metric in grain.metrics}
        settings |= {name for name, fields in read.items() if fields and fields <= settings}
        named = frozenset[str]().union(*(rule.numbers for rule in rules))
        return tuple(sorted(named & settings))

    def _latest_alone(self, name: str) -> bool:
        """Whether the latest row of an object holds the setting: it is a fact, and no other row adds to it."""
        fact = next((fact for fact in self.whole.facts if fact.name == name), None)
        keys = {key.name for key in self.whole.keys}
        return fact is not None and (fact.rollup.across != "sum" or keys <= set(self.by))

    def _with_settings(self, table: Any, grain: Grain, settings: Sequence[str]) -> Any:
        """The rows with the settings in force at the end of the data beside them: of all intervals, not of some."""
        if not settings:
            return table
        facts = self.facts
        by = {f"force_by_{name}": facts[name] for name in self.by}
        direct = [name for name in settings if self._latest_alone(name)]
        force = facts.group_by(**by).aggregate(
            **{f"{_FORCE}{name}": _latest(facts, name).cast("float64") for name in direct}
        )
        if others := [name for name in settings if name not in direct]:
            named = tuple(one for one in grain.attributes if one.name in self.by)
            rows = evaluate(
                self.inputs,
                replace(reduced(grain, others, ()), attributes=named),
                by=self.by,
                time="all",
                kept=facts,
            )
            rolled = rows.select(
                **{f"rolled_by_{name}": rows[name] for name in self.by},
                **{f"{_FORCE}{name}": rows[name].cast("float64") for name in others},
            )
            force = force.left_join(
                rolled, [force[f"force_by_{name}"].identical_to(rolled[f"rolled_by_{name}"]) for name in self.by]
            )
        same = [table[name].identical_to(force[f"force_by_{name}"]) for name in self.by]
        return table.left_join(force, same)

    def _held(self, numbers: Sequence[int]) -> Any:
        """The facts of those intervals and objects alone in which a rule holds, with its number: once for each rule."""
        facts, rows = self.facts, self.rows
        parts = []
        for n in numbers:
            one = rows.filter(rows[f"holds_{n}"].fill_null(False))
            columns = {_RULE: ibis.literal(str(n))} | {f"held_{name}": one[name] for name in self.by}
            if self.time != "all":
                columns["held_time"] = one.time
            parts.append(one.select(**columns).distinct())
        held = parts[0] if len(parts) == 1 else ibis.union(*parts)
        same = [facts[name].identical_to(held[f"held_{name}"]) for name in self.by]
        if self.time != "all":
            time = facts.interval if self.time == "interval" else facts.interval.truncate("hour")
            same.append(time.identical_to(held.held_time))
        return facts.inner_join(held, same)

    # --- what is missing ----------------------------------------------------------------------------------------

    def only_undated(self) -> bool:
        """Whether there are rows that the rules apply to, and none of them can be judged for want of a time."""
        return self.time != "all" and self.undated and bool(self.applicable.count().to_pyarrow().as_py())

    def rows_and_gaps(self, rule: Rule) -> tuple[int, tuple[str, ...]]:
        """Rows of facts the rule applies to, and which of the facts its condition reads have no value in any."""
        facts, read = self.facts, _read(self.whole, rule)
        names = [fact.name for fact in self.whole.facts if fact.name in read]
        counts = facts.aggregate(rows=facts.count(), **{f"known_{name}": facts[name].count() for name in names})
        row = counts.to_pyarrow().to_pylist()[0]
        return int(row["rows"]), tuple(name for name in names if not row[f"known_{name}"])


def together(rule: Rule) -> tuple[Any, ...]:
    """What rules must agree in to be judged by one statement."""
    return rule.grain, rule.by, rule.time, rule.where and rule.where.text, rule.releases


def _read(grain: Grain, rule: Rule) -> frozenset[str]:
    """Facts that the condition of a rule reads."""
    table = ibis.table({fact.name: "float64" for fact in grain.facts}, name=grain.name)
    metrics = {metric.name: metric for metric in grain.metrics}
    read: set[str] = set()
    for name in rule.condition.names:
        read |= fields_of(metrics[name].expression(table)) if name in metrics else {name}
    return frozenset(read)


def _latest(facts: Any, name: str) -> Any:
    """The value of the latest row that has one; of rows that tell no time, the largest."""
    known = facts[name].notnull()
    dated = facts[name].argmax(facts.interval_start, where=known & facts.interval_start.notnull())
    return ibis.coalesce(dated, facts[name].max(where=known))


def is_setting(fact: Fact) -> bool:
    """Whether a fact is a value that somebody set, and which is in force until it is set again."""
    return fact.rollup.over in ("latest", "last")


def is_setting_name(grain: Grain, name: str) -> bool:
    """Whether a column is a fact that keeps its latest value when it is rolled up."""
    return any(fact.name == name and is_setting(fact) for fact in grain.facts)


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
