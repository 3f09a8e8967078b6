"""A slow and obvious roll-up of facts: plain Python over lists of dicts, written from docs/extending.md.

A row is a dict of identity columns, keys, attributes and facts; a missing value is None. Nothing is read from the
program but data: the facts' rules, whose number each fact is, and who measured.

The rules, in the order of the functions below:

- A group's rows are those of equal keys that start in the same hour. Every observer covers the time of its own
  intervals.
- A row counts for a metric where all that the metric needs is known of its entity in that interval; a setting is known
  where it is known in any row of the hour. An interval in which the group has rows, and none of them counts, is left
  out of the covered time. An interval without a row had no activity in it.
- A count is added up. In a rate, the counts of each observer are divided by its own covered time, and the sum of that
  is multiplied by the time that all of them cover together.
- A level is added up over the entities of an observer, averaged over its covered time, and added over observers.
- What several rows report of one thing counts once: at each moment the first interval that knows it.
- A setting is the last value known of each entity. Amounts add up, other settings are the common value, else None. In a
  metric of things measured, an amount is the mean over time of the value in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Row = Mapping[str, Any]
Interval = tuple[datetime, datetime]
Counts = Callable[[int], bool]


@dataclass(frozen=True)
class FactRule:
    """Name of a fact, its rule as docs/extending.md calls it, and whose number it is."""

    name: str
    rule: str
    of: tuple[str, ...] | None


@dataclass(frozen=True)
class Shape:
    """What a roll-up has to know of a grain: who measured, what an entity is, the facts."""

    observer: tuple[str, ...]
    entity: tuple[str, ...]
    facts: Mapping[str, FactRule]


def seconds(interval: Interval) -> float:
    """Length of an interval."""
    return (interval[1] - interval[0]).total_seconds()


def covered(intervals: Iterable[Interval]) -> float:
    """Length of the time that intervals cover together."""
    length, reached = 0.0, None
    for start, end in sorted(intervals):
        begin = start if reached is None or start > reached else reached
        if end > begin:
            length += (end - begin).total_seconds()
        reached = end if reached is None or end > reached else reached
    return length


def own_time(intervals: Iterable[Interval]) -> dict[Interval, float]:
    """For each interval, the part of its time that no interval before it covers."""
    result: dict[Interval, float] = {}
    before: list[Interval] = []
    for interval in sorted(set(intervals)):
        result[interval] = covered([*before, interval]) - covered(before)
        before.append(interval)
    return result


def added(values: Iterable[float | None]) -> float | None:
    """Sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


class Slow:
    """Rows of facts of one grain, to be rolled up.

    Parameters
    ----------
    rows
        The facts, with ``interval_start`` and ``interval_end``.
    shape
        The grain.
    keys
        Columns to group by.
    hour
        Whether each hour is a group of its own; else all time is one.
    """

    def __init__(self, rows: Sequence[Row], shape: Shape, keys: Sequence[str], *, hour: bool) -> None:
        self.rows = rows
        self.shape = shape
        self.buckets = [row["interval"].replace(minute=0, second=0, microsecond=0) if hour else None for row in rows]
        self.groups: dict[tuple[Any, ...], list[int]] = {}
        for i, row in enumerate(rows):
            self.groups.setdefault((*(row[key] for key in keys), self.buckets[i]), []).append(i)
        self.times: dict[Any, set[Interval]] = {}
        for i in range(len(rows)):
            self.times.setdefault(self.observer(i), set()).add(self.interval(i))
        self._known = self._all_known()

    def interval(self, i: int) -> Interval:
        """Start and end of a row's interval."""
        return self.rows[i]["interval_start"], self.rows[i]["interval_end"]

    def observer(self, i: int) -> tuple[Any, ...]:
        """Who measured a row, in its hour."""
        return (*(self.rows[i][name] for name in self.shape.observer), self.buckets[i])

    def scope(self, i: int, fact: FactRule) -> tuple[Any, ...]:
        """Whose setting, or whose shared number, a fact is in a row."""
        return (*(self.rows[i][name] for name in fact.of or self.shape.entity), self.buckets[i])

    def cell(self, i: int) -> tuple[Any, ...]:
        """The entity of a row, in its interval."""
        return (*(self.rows[i][name] for name in self.shape.entity), *self.interval(i))

    # --- what is known ---------------------------------------------------------------------------------------------

    def known(self, i: int) -> frozenset[str]:
        """The facts that are known of a row's entity in its interval; settings, in its hour."""
        return self._known[i]

    def _all_known(self) -> list[frozenset[str]]:
        places: dict[tuple[str, Any], set[int]] = {}
        for i, row in enumerate(self.rows):
            for fact in self.shape.facts.values():
                if row[fact.name] is not None:
                    places.setdefault((fact.name, self._place(i, fact)), set()).add(i)
        return [
            frozenset(f.name for f in self.shape.facts.values() if (f.name, self._place(i, f)) in places)
            for i in range(len(self.rows))
        ]

    def _place(self, i: int, fact: FactRule) -> tuple[Any, ...]:
        return self.scope(i, fact) if fact.rule in ("AMOUNT", "SETTING") else self.cell(i)

    # --- covered time ----------------------------------------------------------------------------------------------

    def counted_time(self, members: Sequence[int], observer: Any, counts: Counts) -> set[Interval]:
        """The intervals of an observer less those in which rows are there and none counts."""
        there: dict[Interval, bool] = {}
        for i in members:
            if self.observer(i) == observer:
                there[self.interval(i)] = there.get(self.interval(i), False) or counts(i)
        return {interval for interval in self.times[observer] if there.get(interval, True)}

    def clock_time(self, own: Sequence[int], counts: Counts) -> set[Interval]:
        """The intervals of all who report a number, less those in which rows are there and none counts."""
        there: dict[Interval, bool] = {}
        for i in own:
            there[self.interval(i)] = there.get(self.interval(i), False) or counts(i)
        return {t for each in {self.observer(i) for i in own} for t in self.times[each] if there.get(t, True)}

    def together(self, members: Sequence[int], counts: Counts) -> float | None:
        """The time that the observers of a group cover together; None where no row counts."""
        if not any(counts(i) for i in members):
            return None
        observers = {self.observer(i) for i in members}
        return covered(interval for each in observers for interval in self.counted_time(members, each, counts))

    # --- values ----------------------------------------------------------------------------------------------------

    def value(self, members: Sequence[int], name: str, counts: Counts, *, rate: bool, measured: bool) -> float | None:
        """A fact of a group.

        Parameters
        ----------
        members
            The rows of the group.
        name
            The fact.
        counts
            Which rows count.
        rate
            Whether it is read together with the length of the interval.
        measured
            Whether it is read together with something that is measured while time passes.
        """
        fact = self.shape.facts[name]
        counting = [i for i in members if counts(i)]
        known = [i for i in counting if self.rows[i][name] is not None]
        values = [self.rows[i][name] for i in known]
        if fact.rule == "SPAN":
            return self.together(members, counts)
        if fact.rule in ("PEAK", "FLOOR"):
            return (max if fact.rule == "PEAK" else min)(values) if values else None
        if fact.rule == "MEAN":
            lengths = [seconds(self.interval(i)) for i in known]
            return sum(v * t for v, t in zip(values, lengths, strict=True)) / sum(lengths) if values else None
        if fact.rule == "SETTING" or (fact.rule == "AMOUNT" and not measured):
            return self._in_force(members, fact, counts)
        whose = (lambda i: self.scope(i, fact)) if fact.of else self.observer
        clocks: dict[Any, list[int]] = {}
        for i in members:
            clocks.setdefault(whose(i), []).append(i)
        return self._over_clocks(list(clocks.values()), members, fact, counts, rate=rate)

    def _over_clocks(
        self, clocks: list[list[int]], members: Sequence[int], fact: FactRule, counts: Counts, *, rate: bool
    ) -> float | None:
        """Counts and levels: of each clock over its covered time, then added."""
        results: list[float | None] = []
        for own in clocks:
            length = covered(self.clock_time(own, counts))
            cells = self._cells(own, fact, counts)
            if not cells:
                continue
            mine = own_time(cells)
            if fact.rule == "COUNT":
                # Rows of its own are all there is of what they count, also where intervals overlap.
                shares = {t: mine[t] / seconds(t) for t in cells} if fact.of else dict.fromkeys(cells, 1.0)
                total = sum(value * shares[t] for t, value in cells.items())
                results.append(total / length if rate else total)
            else:
                results.append(sum(value * mine[t] for t, value in cells.items()) / length)
        whole = added(results)
        if whole is None or not (rate and fact.rule == "COUNT"):
            return whole
        together = self.together(members, counts)
        return None if together is None else whole * together

    def _cells(self, own: Sequence[int], fact: FactRule, counts: Counts) -> dict[Interval, float]:
        """The value of each interval: rows added up, or the one number that they share."""
        cells: dict[Interval, float] = {}
        for i in own:
            value = self._value_then(i, fact) if fact.rule == "AMOUNT" else self.rows[i][fact.name]
            if value is None or not counts(i):
                continue
            if self.interval(i) not in cells:
                cells[self.interval(i)] = value
            elif fact.of is None:
                cells[self.interval(i)] += value
            else:
                cells[self.interval(i)] = max(value, cells[self.interval(i)])
        return cells

    def _value_then(self, i: int, fact: FactRule) -> float | None:
        """The amount in force in a row's interval: its own, else the last known before, else the first known after."""
        value = self.rows[i][fact.name]
        if value is not None:
            return float(value)
        known = [
            (self.rows[j]["interval_end"], self.rows[j][fact.name])
            for j in range(len(self.rows))
            if self.scope(j, fact) == self.scope(i, fact) and self.rows[j][fact.name] is not None
        ]
        before = [each for each in known if each[0] <= self.rows[i]["interval_end"]]
        if before:
            return float(max(before)[1])
        return float(min(known)[1]) if known else None

    def _in_force(self, members: Sequence[int], fact: FactRule, counts: Counts) -> float | None:
        """The last known value of each entity that counts: added up, or the common one."""
        values = []
        for part in {self.scope(i, fact) for i in members}:
            rows = [i for i in members if self.scope(i, fact) == part]
            known = [
                (self.rows[i]["interval_end"], self.rows[i][fact.name])
                for i in rows
                if self.rows[i][fact.name] is not None
            ]
            if known and any(counts(i) for i in rows):
                values.append(max(known)[1])
        if fact.rule == "AMOUNT":
            return added(values)
        return values[0] if values and len(set(values)) == 1 else None
