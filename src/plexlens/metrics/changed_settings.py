"""Settings that change within the data: a roll-up shows only the value in force, so each change is listed.

The values of a setting are followed along the intervals of whose setting it is: the entity, or what `Fact.of` names
where several rows report the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from plexlens.metrics.definition import Fact, Grain, Rollup
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity
from plexlens.metrics.evaluate import rows_view
from plexlens.metrics.inputs import Inputs

SAME = 1e-6
"""Values that differ by less, as a fraction of the larger one, are one value: some settings are computed."""

SAME_BETWEEN_SOURCES = 1e-2
"""The same for values from two kinds of source: a printed report rounds what a record has in full."""


@dataclass(frozen=True)
class ChangedSetting:
    """A change of a setting.

    Attributes
    ----------
    fact
        The setting.
    whose
        Names and values of the columns that say whose setting it is: of the entity's identity columns and keys, or
        of `Fact.of`, those that have a value.
    before, after
        The two values, in the base unit of the fact.
    until
        End of the last interval with the value before; None where it is not recorded.
    since
        Start of the first interval with the value after; None where it is not recorded.
    is_local
        Whether both times are local time of unknown offset, and have no time zone; they are UTC otherwise.
    """

    fact: Fact
    whose: dict[str, str]
    before: float
    after: float
    until: datetime | None
    since: datetime | None
    is_local: bool


def changed_settings(inputs: Inputs, grain: Grain, *, kept: Any, most: int = 0) -> tuple[list[ChangedSetting], int]:
    """Every change of a setting of a grain, the latest first.

    Nulls are not values: the values before and after them are compared. An interval in which rows disagree on a value
    is passed over, so a change that falls into it lies between the intervals around it. Grains without intervals
    in common (jobs, accounting) have none: two of their records are two pieces of work. Settings that are computed from
    another one (`Fact.computed_from`) have none either: the other one has it.

    Parameters
    ----------
    inputs
        The raw tables.
    grain
        The grain; all of its facts have to be in ``kept``.
    kept
        Facts of the grain, as `plexlens.metrics.evaluate.evaluate` takes them.
    most
        Changes to return at most; 0 for all.

    Returns
    -------
    list of ChangedSetting, int
        The changes, and the number of them that there are.
    """
    settings = [fact for fact in grain.facts if fact.rollup.is_setting and not fact.computed_from]
    if not settings or not any(fact.rollup is Rollup.SPAN for fact in grain.facts):
        return [], 0
    view = rows_view(inputs, grain, kept)
    settings = _varying(inputs, grain, settings, view)
    if not settings:
        return [], 0
    columns = tuple(dict.fromkeys(name for fact in settings for name in _scope(grain, fact)))
    union = "\nunion all\n".join(_changes(grain, fact, number, columns, view) for number, fact in enumerate(settings))
    limit = f" limit {most}" if most else ""
    order = ", ".join(("since desc nulls last", *(quoted(f"of_{name}") for name in columns), "fact"))
    sql = f"select *, count(*) over () as total from (\n{union}\n) order by {order}{limit}"
    # As Arrow: the engine's own rows need a further package for times with a zone.
    rows = inputs.connection.execute(sql).to_arrow_table().to_pylist()
    changes = [
        ChangedSetting(
            settings[row["fact"]],
            {name: row[f"of_{name}"] for name in columns if row[f"of_{name}"]},
            row["before"],
            row["after"],
            _moment(row["until"], is_local=row["local_time"]),
            _moment(row["since"], is_local=row["local_time"]),
            row["local_time"],
        )
        for row in rows
    ]
    return changes, rows[0]["total"] if rows else 0


def _scope(grain: Grain, fact: Fact) -> tuple[str, ...]:
    """Columns that identify the owner of the setting."""
    if fact.of is None:
        return entity(grain)
    return fact.of or tuple(dict.fromkeys(("sysplex", "system", *grain.observers)))


def _varying(inputs: Inputs, grain: Grain, settings: Sequence[Fact], view: str) -> list[Fact]:
    """The settings of which some owner has two values; following all of them interval by interval takes far longer."""
    scopes: dict[tuple[str, ...], list[Fact]] = {}
    for fact in settings:
        scopes.setdefault(_scope(grain, fact), []).append(fact)
    varying: list[Fact] = []
    for scope, facts in scopes.items():
        values = [f"case when isfinite({quoted(fact.name)}) then {quoted(fact.name)} end" for fact in facts]
        varies = ", ".join(f"min({value}) < max({value}) as varies_{i}" for i, value in enumerate(values))
        by = ", ".join(["local_time", *(quoted(name) for name in scope)])
        any_owner = ", ".join(f"bool_or(varies_{i})" for i in range(len(facts)))
        sql = f"select {any_owner} from (select {varies} from {view} group by {by})"
        row = inputs.connection.execute(sql).fetchone()
        varying += [fact for fact, is_one in zip(facts, row or (), strict=True) if is_one]
    return [fact for fact in settings if fact in varying]


def _changes(grain: Grain, fact: Fact, number: int, columns: Sequence[str], view: str) -> str:
    """SQL of the changes of a fact: its number, clock, values, times, and the columns that identify the owner."""
    value, scope = quoted(fact.name), [quoted(name) for name in _scope(grain, fact)]
    end = "coalesce(interval_end, interval_start, interval)"
    by = ", ".join(["local_time", *scope])
    intervals = (
        f"select {by}, interval, interval_to, min({value}) as lowest, max({value}) as highest, "
        f"max({end}) as place, max(interval_end) as ends, min(interval_start) as starts, "
        f"min(source_kind) as kind, min(source_kind) = max(source_kind) as is_one_kind "
        f"from {view} where isfinite({value}) and {end} is not null group by {by}, interval, interval_to"
    )
    agreed = f"select * from ({intervals}) where not ({_differ('lowest', 'highest', 'is_one_kind')})"
    order = f"over (partition by {by} order by place, starts, interval)"
    followed = (
        f"select *, lag(highest) {order} as before, lag(ends) {order} as until, "
        f"is_one_kind and lag(is_one_kind) {order} and lag(kind) {order} = kind as is_same_kind "
        f"from ({agreed})"
    )
    own = _scope(grain, fact)
    names = [f"{quoted(name) if name in own else 'null'} as {quoted(f'of_{name}')}" for name in columns]
    return (
        f"select {number} as fact, local_time, before, highest as after, until, starts as since, {', '.join(names)} "
        f"from ({followed}) where before is not null and {_differ('before', 'highest', 'is_same_kind')}"
    )


def _differ(first: str, second: str, is_same_kind: str) -> str:
    """SQL condition that two values differ."""
    share = f"case when {is_same_kind} then {SAME} else {SAME_BETWEEN_SOURCES} end"
    return f"abs({first} - {second}) > {share} * greatest(abs({first}), abs({second}))"


def _moment(moment: datetime | None, *, is_local: bool) -> datetime | None:
    if moment is None:
        return None
    moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None) if is_local else moment
