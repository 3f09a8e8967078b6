"""Settings, attributes and names that differ between two periods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from plexlens.metrics import GRAINS
from plexlens.metrics.causes import causes
from plexlens.metrics.changed_settings import SAME
from plexlens.metrics.definition import Attribute, Fact, Grain
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity
from plexlens.why.measured import Names, Period

#: Keys that name a run of work, not something that stays: their names come and go.
_PASSING = frozenset({"job_id", "asid", "step_number", "correlation", "end_user", "workstation"})


@dataclass(frozen=True)
class Setting:
    """A setting or attribute with another value.

    Attributes
    ----------
    grain, column
        The setting.
    whose
        Column and value of each name of its owner.
    before, after
        The values: numbers in the base unit of a fact, texts of an attribute.
    """

    grain: Grain
    column: Fact | Attribute
    whose: tuple[tuple[str, str], ...]
    before: Any
    after: Any

    @property
    def name(self) -> str:
        """``grain.column``."""
        return f"{self.grain.name}.{self.column.name}"

    @property
    def owner(self) -> str:
        """The owner in one line."""
        return " / ".join(value for _, value in self.whose)


@dataclass(frozen=True)
class NameChange:
    """A name that only one of the periods has."""

    grain: Grain
    key: str
    name: str
    is_new: bool


def changed_settings(base: Period, new: Period, grains: Iterable[str]) -> list[Setting]:
    """The settings of grains whose values in the two periods have nothing in common.

    A setting that changes within a period, so that both periods have seen the same value, is not one of them.
    """
    known = causes()
    changed: dict[tuple[str, tuple[tuple[str, str], ...]], Setting] = {}
    for name in grains:
        grain = GRAINS[name]
        facts = [
            fact
            for fact in grain.facts
            if (fact.rollup.is_setting or f"{name}.{fact.name}" in known.levels)
            and not fact.computed_from
            and f"{name}.{fact.name}" not in known.adjusted
        ]
        columns: tuple[Fact | Attribute, ...] = (*facts, *grain.attributes)
        for column in columns:
            scope = entity(grain)
            if isinstance(column, Fact) and column.of is not None:
                scope = column.of or scope
            values = [_values(period, name, column, scope) for period in (base, new)]
            for whose in values[0].keys() & values[1].keys():
                first, second = values[0][whose], values[1][whose]
                if _differ(first, second):
                    shown = tuple((key, str(value)) for key, value in zip(scope, whose, strict=True) if value)
                    setting = Setting(grain, column, shown, first[-1], second[-1])
                    title = column.title if isinstance(column, Attribute) else column.source
                    changed.setdefault((title, shown), setting)
    return sorted(changed.values(), key=lambda setting: (setting.name, setting.whose))


def _values(
    period: Period, name: str, column: Fact | Attribute, scope: tuple[str, ...]
) -> dict[Names, tuple[Any, ...]]:
    """Lowest, highest and latest value of each owner."""
    kept = period.kept(name)
    if kept is None or column.name not in kept.columns:
        return {}
    value = quoted(column.name)
    by = ", ".join(quoted(each) for each in scope)
    known = f"{value} is not null and {value} <> ''" if isinstance(column, Attribute) else f"isfinite({value})"
    sql = (
        f"select {by}, min({value}) as low, max({value}) as high, max_by({value}, interval) as latest "
        f"from {kept.source} where {known} group by {by}"
    )
    rows = period.inputs.connection.execute(sql).to_arrow_table().to_pylist()
    return {tuple(row[each] for each in scope): (row["low"], row["high"], row["latest"]) for row in rows}


def _differ(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    if isinstance(first[0], str):
        return bool(first[1] < second[0] or second[1] < first[0])
    numbers = [float(each) for each in (*first[:2], *second[:2])]
    if not all(isfinite(each) for each in numbers):
        return False
    near = SAME * max(abs(each) for each in numbers)
    return numbers[1] + near < numbers[2] or numbers[3] + near < numbers[0]


def changed_names(base: Period, new: Period, grains: Iterable[str]) -> list[NameChange]:
    """Names of keys that only one of the periods has, by grain."""
    results: dict[tuple[str, str], NameChange] = {}
    for name in grains:
        grain = GRAINS[name]
        for key in grain.keys:
            if key.name in _PASSING:
                continue
            first, second = (_names(period, name, key.name) for period in (base, new))
            if not first or not second:
                continue
            for value in sorted(first ^ second):
                results.setdefault((key.title, value), NameChange(grain, key.name, value, value in second))
    return list(results.values())


def _names(period: Period, grain: str, key: str) -> set[str]:
    kept = period.kept(grain)
    if kept is None:
        return set()
    sql = f"select distinct {quoted(key)} as name from {kept.source} where {quoted(key)} is not null"
    return {str(row["name"]) for row in period.inputs.connection.execute(sql).to_arrow_table().to_pylist()}


def by_name(settings: Iterable[Setting]) -> Mapping[str, list[Setting]]:
    """Settings by ``grain.column``."""
    results: dict[str, list[Setting]] = {}
    for setting in settings:
        results.setdefault(setting.name, []).append(setting)
    return results
