"""Evaluation of rules over a database: which fired, which passed, which could not be checked and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from plexlens.expression.sql import sql_of
from plexlens.expression.tree import names_of
from plexlens.findings.cause import joined, shortened, withheld
from plexlens.findings.evaluation import Evaluation, Judged, Kept, Values, together
from plexlens.findings.finding import Entity, Evidence, Finding, Findings, Lack, NotChecked, Passed
from plexlens.findings.ranking import ranked
from plexlens.findings.release import releases_of, zos_releases
from plexlens.findings.rule import Rule
from plexlens.findings.site import Decision, decided
from plexlens.findings.template import Filling, Place
from plexlens.metrics.definition import Attribute, Grain, Key
from plexlens.metrics.display import with_symbol
from plexlens.metrics.engine_table import drop_made, fresh_name
from plexlens.metrics.facts import facts, keep
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.metrics.reduction import reduced
from plexlens.metrics.source_rows import available
from plexlens.pdb.engine import quoted

#: Fields that a reason names at most.
_MOST_FIELDS = 4

_IDENTITY_TITLES = {"system": "System", "sysplex": "Sysplex"}


def check(
    inputs: Inputs,
    *,
    rules: Sequence[Rule] | None = None,
    grains: Mapping[str, Grain] | None = None,
    kept: Mapping[str, Kept] | None = None,
    decisions: Sequence[Decision] = (),
    today: date | None = None,
) -> Findings:
    """Evaluate rules over a database.

    Parameters
    ----------
    inputs
        The raw tables. The engine behind them must allow temporary tables.
    rules
        From `plexlens.findings.load_rules`; the shipped rules by default.
    grains
        What the rules read; all of `plexlens.metrics.GRAINS` by default. A rule of another grain is not checked.
    kept
        Facts of grains that the caller keeps already, with all that the rules need (`needs`).
    decisions
        What the site has decided about findings.
    today
        Day by which decisions expire; the present one by default.

    Returns
    -------
    Findings
        Every rule is in it once or more: it fired, passed, or was not checked for a stated reason.
    """
    if grains is None:
        from plexlens.metrics import GRAINS

        grains = GRAINS
    if rules is None:
        from plexlens.findings.reading import load_rules

        rules = load_rules()
    releases = zos_releases(inputs)
    outcomes: list[Findings] = []
    by_grain: dict[str, list[Rule]] = {}
    for rule in rules:
        by_grain.setdefault(rule.grain, []).append(rule)
    for name, members in by_grain.items():
        grain = grains.get(name)
        earlier = len(inputs.made)
        if kept is not None and name in kept:
            outcomes += _of_grain(inputs, kept[name], members, releases)
        elif grain is None or not available(inputs, grain):
            outcomes += [_without_source(inputs, rule, grain) for rule in members]
        else:
            table = fresh_name(f"findings_{name}")
            own = _kept(inputs, grain, members, table)
            outcomes += _of_grain(inputs, own, members, releases)
            own.facts.drop()
        drop_made(inputs, earlier)
    every = withheld([finding for outcome in outcomes for finding in outcome.fired])
    wanted, suppressed, notes = decided(every, decisions, today or date.today())
    fired, left_out = shortened(joined(wanted))
    return Findings(
        fired=ranked(fired),
        passed=tuple(sorted((passed for o in outcomes for passed in o.passed), key=lambda passed: passed.rule.id)),
        not_checked=tuple(
            sorted(
                (unchecked for o in outcomes for unchecked in o.not_checked), key=lambda unchecked: unchecked.rule.id
            )
        ),
        left_out=left_out,
        suppressed=tuple(suppressed),
        decisions=tuple(notes),
    )


def needs(rule: Rule, grain: Grain) -> tuple[tuple[str, ...], str | None]:
    """Columns of the grain, and the row condition, that cached facts must cover for a rule."""
    attributes = sorted(rule.named & {attribute.name for attribute in grain.attributes})
    formula = rule.where
    where = None if formula is None else sql_of(formula.expression, quoted)
    return tuple(dict.fromkeys((*sorted(rule.numbers), *rule.by, *attributes))), where


def _without_source(inputs: Inputs, rule: Rule, grain: Grain | None) -> Findings:
    lacking: tuple[str, ...] = ()
    reason = f"this report does not cover {rule.grain}"
    if grain is not None:
        # The table tells which of a record's subtypes or sections it is.
        lacking = tuple(
            f"{source.kind} ({next(name for name in needed if not inputs.has(name))})"
            for source in grain.sources
            for needed in source.alternatives
        )
        reason = f"no {' or '.join(lacking)} in the data"
    return Findings(not_checked=(NotChecked(rule, Lack.SOURCE, reason, lacking),))


def _kept(inputs: Inputs, grain: Grain, rules: Sequence[Rule], table: str) -> Kept:
    """The facts that the rules need, computed once."""
    needed = [needs(rule, grain) for rule in rules]
    smaller = reduced(grain, {name for columns, _ in needed for name in columns}, [where for _, where in needed])
    query = facts(inputs, smaller)
    assert query is not None
    return Kept(smaller, keep(query, smaller, table))


def _of_grain(
    inputs: Inputs, kept: Kept, rules: Sequence[Rule], releases: Mapping[str, tuple[int, int]]
) -> list[Findings]:
    groups: dict[tuple[Any, ...], list[Rule]] = {}
    for rule in rules:
        groups.setdefault(together(rule), []).append(rule)
    undated = any(rule.time != "all" for rule in rules) and _undated(kept.facts)
    outcomes = []
    for members in groups.values():
        span = members[0].releases
        outside = sorted(system for system, release in releases.items() if span and not span.include(release))
        evaluation = Evaluation(inputs, kept, members, outside, undated=undated)
        judged = evaluation.judged()
        values = evaluation.values(
            {rule.id: [finding.entity for finding in _fired(objects)] for rule, objects in judged}
        )
        outcomes += [_of_rule(evaluation, rule, objects, values.get(rule.id, {}), releases) for rule, objects in judged]
        evaluation.close()
    return outcomes


def _undated(facts: Query) -> bool:
    """Whether any row lacks a time, as in excerpts of printed reports."""
    return facts.where('"interval" is null').count() > 0


def _fired(judged: Sequence[Judged]) -> list[Judged]:
    return [candidate for candidate in judged if candidate.severity is not None]


def _of_rule(
    evaluation: Evaluation,
    rule: Rule,
    judged: Sequence[Judged],
    values: Mapping[tuple[str | None, ...], Values],
    releases: Mapping[str, tuple[int, int]],
) -> Findings:
    known = sum(candidate.known for candidate in judged)
    if not known:
        return Findings(not_checked=(_nothing_known(evaluation, rule, releases),))
    fired = _fired(judged)
    if not fired:
        return Findings(passed=(Passed(rule, sum(candidate.known > 0 for candidate in judged), known),))
    return Findings(
        fired=tuple(_finding(rule, evaluation.whole, finding, values[finding.entity], releases) for finding in fired)
    )


def _nothing_known(evaluation: Evaluation, rule: Rule, releases: Mapping[str, tuple[int, int]]) -> NotChecked:
    """Reason why the condition has no value in any row."""
    grain = evaluation.whole
    rows, gaps = evaluation.rows_and_gaps(rule)
    if rows and gaps:
        fields = tuple(dict.fromkeys(fact.source for fact in grain.facts if fact.name in gaps))
        more = f" and {len(fields) - _MOST_FIELDS} more" if len(fields) > _MOST_FIELDS else ""
        return NotChecked(rule, Lack.FIELDS, f"not recorded: {'; '.join(fields[:_MOST_FIELDS])}{more}", fields)
    if rows:
        named = ", ".join(grain.column(name).title for name in sorted(rule.condition.names))
        return NotChecked(rule, Lack.NOTHING, f"no activity: no interval has values for all of {named}")
    if evaluation.outside and rule.releases is not None:
        text = ", ".join(f"{s} {releases[s][0]}.{releases[s][1]}" for s in evaluation.outside)
        return NotChecked(rule, Lack.RELEASE, f"the rule is for {rule.releases}; the data is from {text}")
    if evaluation.only_undated():
        return NotChecked(
            rule,
            Lack.TIME,
            f"{grain.title}: rows have no time, so rows of the same {rule.time} cannot be matched",
        )
    where = f" with {rule.where.text}" if rule.where is not None else ""
    return NotChecked(rule, Lack.NOTHING, f"{grain.title}: none{where}")


def _finding(
    rule: Rule, grain: Grain, candidate: Judged, values: Values, releases: Mapping[str, tuple[int, int]]
) -> Finding:
    named: tuple[Key | Attribute, ...] = (*grain.keys, *grain.attributes)
    titles = _IDENTITY_TITLES | {part.name: part.title for part in named}
    names = dict(values.attributes) | dict(zip(rule.by, candidate.entity, strict=True))
    columns = [grain.column(name) for name in rule.evidence]
    cost = None
    if values.cost_seconds is not None and values.cost_seconds > 0 and candidate.hours > 0:
        cost = values.cost_seconds / candidate.hours
    known = releases_of(names, releases)
    prose = Filling(names, values.written, known)
    orders = Filling(names, values.commanded, known)
    entity = tuple(
        Entity(name, titles[name], value) for name, value in zip(rule.by, candidate.entity, strict=True) if value
    )
    named_object = " / ".join(part.value for part in entity if part.value)
    command, missing = rule.command.commands(orders)
    undo, not_undone = rule.undo.commands(orders) if command else ("", ())
    return Finding(
        rule=rule,
        severity=candidate.severity or rule.severity,
        entity=entity,
        sentence=rule.sentence.sentences(
            prose, f"{named_object}: {rule.title}." if named_object else f"{rule.title}.", is_grouped=True
        ),
        action=rule.action.sentences(prose, ""),
        command=command,
        undo=undo,
        remarks=(
            *_unrecorded(rule, grain, missing, not_undone, commanded=bool(command)),
            *_changed(grain, values),
        ),
        evidence=tuple(Evidence(c.name, c.title, c.unit, values.columns[c.name]) for c in columns),
        worst=candidate.worst,
        worst_time=candidate.worst_time,
        holding=candidate.holding,
        intervals=candidate.known,
        start=candidate.start,
        end=candidate.end,
        cost=cost,
        thing=rule.cause.thing.key(prose) if rule.cause is not None else "",
    )


def _unrecorded(
    rule: Rule, grain: Grain, missing: Sequence[Place], not_undone: Sequence[Place], *, commanded: bool
) -> list[str]:
    """Values that a command needs but the data does not hold."""

    def titles(places: Sequence[Place]) -> list[str]:
        names = [names_of(place.expression) if place.expression is not None else {place.name} for place in places]
        known = {fact.name: fact.title for fact in grain.facts} | {
            metric.name: metric.title for metric in grain.metrics
        }
        known |= {key.name: key.title for key in grain.keys} | {
            attribute.name: attribute.title for attribute in grain.attributes
        }
        return list(dict.fromkeys(known.get(name, name) for group in names for name in sorted(group)))

    remarks = []
    if missing:
        remarks.append(
            f"Commands that need it are left out, because the data does not contain {', '.join(titles(missing))}."
        )
    if commanded and (wanted := [*titles(not_undone), *rule.unrecorded]):
        remarks.append(
            f"The data does not contain {' and '.join(dict.fromkeys(wanted))}: note the value in force before the "
            "change."
        )
    return remarks


def _changed(grain: Grain, values: Values) -> list[str]:
    """Settings whose current value differs from that in the intervals of the finding."""
    remarks = []
    for name, (then, force) in values.settings.items():
        if then is not None and force is not None and then != force:
            column = grain.column(name)
            remarks.append(
                f"{column.title} has been changed since: it was {with_symbol(then, column.unit)} in the last of these "
                f"intervals and is {with_symbol(force, column.unit)} at the end of the data."
            )
    return remarks
