"""The change of one metric between two periods, divided among the objects of each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plexlens.compare.runs.replicates import is_repeatable
from plexlens.metrics import GRAINS
from plexlens.metrics.causes import causes
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.why.decomposition import Amount, Item, Sums, amount, difference, drift_of, items_of, log_ratio
from plexlens.why.measured import ABOVE, BELOW, Names, Period, Replicated, ratio_of

#: Objects that have a row of their own; the others are one row.
MOST_ITEMS = 12

#: The parts have to add up to the change within this share of the larger of the two numbers.
EXACT = 1e-6

#: Name of the row of all other objects.
OTHERS = "all others"


@dataclass(frozen=True)
class ByKey:
    """A change divided among the objects of a key.

    Attributes
    ----------
    keys
        The columns that tell objects apart.
    items
        The objects, the largest part first.
    is_sum
        Whether volume, mix and intensity are of a sum; of a ratio otherwise.
    has_parts
        Whether there is mix and intensity; a sum without work has volume alone.
    """

    keys: tuple[str, ...]
    items: tuple[Item, ...]
    is_sum: bool
    has_parts: bool


@dataclass(frozen=True)
class Change:
    """A metric in both periods.

    Attributes
    ----------
    grain, column
        The metric.
    before, after
        Its values; None where a period has none.
    all
        NEW less BASE.
    by_key
        The change divided among objects, by key.
    undivided
        Keys by which it cannot be divided, and why.
    drifts
        First and last value of BASE and of NEW where the metric rises or falls through all of that period.
    is_apart
        Whether the objects of ``by_key`` are compared one by one, each with itself, and make no whole.
    """

    grain: Grain
    column: Fact | Metric
    before: float | None
    after: float | None
    all: Amount | None
    by_key: tuple[ByKey, ...] = ()
    undivided: Mapping[str, str] | None = None
    drifts: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    is_apart: bool = False

    @property
    def name(self) -> str:
        """``grain.metric``."""
        return f"{self.grain.name}.{self.column.name}"

    @property
    def log_ratio(self) -> float:
        """Logarithm of NEW over BASE."""
        return log_ratio(self.before, self.after)


def change_of(base: Period, new: Period, name: str, keys: Sequence[Sequence[str]] = (), where: str = "") -> Change:
    """The change of a metric.

    Parameters
    ----------
    base, new
        The periods.
    name
        ``grain.metric``.
    keys
        Divisions: what tells objects apart in each.
    where
        SQL of a condition on objects.
    """
    grain_name, _, column_name = name.partition(".")
    grain = GRAINS[grain_name]
    column = grain.column(column_name)
    column_of = (grain, column)
    whole = [period.rows(grain_name, [column_name], (), where).get((), {}).get(column_name) for period in (base, new)]
    if not is_repeatable(grain, column):
        whole = [None if each is None else Replicated(each.value) for each in whole]
    before, after = (None if each is None else each.value for each in whole)
    total = difference(whole[0], whole[1])
    divided: list[ByKey] = []
    undivided: dict[str, str] = {}
    for by in keys:
        result = "" if total is None else _divided((base, new), column_of, tuple(by), where, total)
        if isinstance(result, str):
            if result:
                undivided[", ".join(by)] = result
        else:
            divided.append(result)
    drifts = {
        period: drift for period, number in zip(("BASE", "NEW"), whole, strict=True) if (drift := drift_of(number))
    }
    return Change(grain, column, before, after, total, tuple(divided), undivided, drifts)


def objects_apart(base: Period, new: Period, name: str, by: Sequence[str], where: str = "") -> Change:
    """The change of a metric, and that of each of its objects.

    Objects of a metric that is neither a sum nor a ratio of sums make no whole: each is compared with itself.

    Parameters
    ----------
    base, new, name, where
        As `change_of` takes them.
    by
        What tells objects apart.
    """
    change = change_of(base, new, name, [tuple(by)], where)
    if change.by_key or change.all is None:
        return change
    column = change.column.name
    tables = [period.rows(change.grain.name, [column], tuple(by), where) for period in (base, new)]
    objects = []
    for names in tables[0].keys() & tables[1].keys():
        pair = [table[names][column] for table in tables]
        if not is_repeatable(change.grain, change.column):
            pair = [Replicated(each.value) for each in pair]
        moved = difference(*pair)
        if moved is not None:
            objects.append(Item(names, pair[0].value, pair[1].value, 0.0, 0.0, 0.0, moved, moved, moved))
    objects.sort(key=lambda entry: -abs(log_ratio(entry.before, entry.after)))
    divided = (ByKey(tuple(by), tuple(objects), is_sum=False, has_parts=False),) if objects else ()
    return replace(change, by_key=divided, is_apart=True)


def _divided(
    periods: tuple[Period, Period],
    column_of: tuple[Grain, Fact | Metric],
    by: tuple[str, ...],
    where: str,
    total: Amount,
) -> ByKey | str:
    """The change by a key; the reason where it is not exact, nothing where there is no object."""
    grain, column = column_of
    sums = ratio_of(grain, column)
    if sums is None:
        return "the metric is neither a sum nor a ratio of sums"
    work = causes().work.get(f"{grain.name}.{column.name}", "").partition(".")[2]
    wanted = [column.name, *([work] if work else [])]
    tables: list[dict[Names, Sums]] = []
    for period in periods:
        table: dict[Names, Sums] = {}
        for names, row in period.rows(grain.name, wanted, by, where, column.name).items():
            if sums[1] is None:
                table[names] = (row[column.name], row[work] if work else None)
            else:
                table[names] = (row[ABOVE], row[BELOW])
        tables.append(table)
    if not {*tables[0], *tables[1]}:
        return ""
    items = items_of(*_pooled(tables), is_sum=sums[1] is None)
    if not items:
        return "nothing stands below the line of the ratio in one of the periods"
    left = sum(item.all.value for item in items) - total.value
    if abs(left) > EXACT * max(_size(tables[0]), _size(tables[1]), abs(total.value)):
        return "several objects report the same number, or the periods of objects differ: their parts do not add up"
    return ByKey(by, tuple(items), sums[1] is None, sums[1] is not None or bool(work))


def _size(table: Mapping[Names, Sums]) -> float:
    above = sum(abs(sums[0].value or 0.0) for sums in table.values())
    below = sum(abs(sums[1].value or 0.0) for sums in table.values() if sums[1] is not None)
    return above / below if below else above


def _pooled(tables: list[dict[Names, Sums]]) -> list[dict[Names, Sums]]:
    """The tables with the objects of the least weight as one."""
    weights: dict[Names, float] = {}
    for table in tables:
        total = sum(_weight(sums) for sums in table.values()) or 1.0
        for names, sums in table.items():
            weights[names] = max(weights.get(names, 0.0), _weight(sums) / total)
    if len(weights) <= MOST_ITEMS + 1:
        return tables
    large = sorted(weights, key=lambda names: -weights[names])[:MOST_ITEMS]
    others = (OTHERS, *[None] * (len(large[0]) - 1))
    results = []
    for table in tables:
        pooled = {names: table[names] for names in large if names in table}
        small = [sums for names, sums in table.items() if names not in pooled]
        if small:
            below = [sums[1] for sums in small if sums[1] is not None]
            pooled[others] = _added([sums[0] for sums in small]), _added(below) if below else None
        results.append(pooled)
    return results


def _weight(sums: Sums) -> float:
    return abs((sums[0] if sums[1] is None else sums[1]).value or 0.0)


def _added(numbers: Sequence[Replicated]) -> Replicated:
    def sums(of: Sequence[Sequence[float | None]]) -> tuple[float, ...]:
        groups = max((len(each) for each in of), default=0)
        return tuple(sum((each[group] or 0.0) for each in of if each) for group in range(groups))

    value = sum(number.value or 0.0 for number in numbers)
    return Replicated(value, sums([number.without for number in numbers]), sums([number.alone for number in numbers]))


__all__ = ["EXACT", "MOST_ITEMS", "OTHERS", "ByKey", "Change", "amount", "change_of", "objects_apart"]
