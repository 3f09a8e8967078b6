"""A slow and obvious roll-up of facts: plain Python over lists of dicts, written from docs/extending.md.

A row is a dict of identity columns, keys, attributes and facts; a missing value is None. Nothing is read from the
program but data: the facts' rules, whose number each fact is, and who measured.

The rules, in the order of the functions below:

- A group's rows are those of equal keys that start in the same time. Every observer covers the time of its own
  intervals. A row without a start or an end covers none; it has the time of the end that it has, and without both none.
  Intervals are one where start and end are named by the same minute (ten seconds, if shorter than a minute).
- By interval, rows of several observers are cut where any interval begins or ends; counts are shared by length.
- Where intervals overlap, a moment counts in the first of them; an overlap of two seconds or less is none. Times on
  local clocks and times in UTC do not overlap.
- Observers that are never there at the same time, from their first start to their last end, are of different epochs.
- A row counts for a metric where all that the metric needs is known of its entity in that interval; a setting is known
  where it is known in any row of the group's time. A metric that compares what was measured with settings that do not
  add up counts the rows alone in which these settings were what they are in the end. An interval in which the group has
  rows, and none of them counts, is left out of the covered time. An interval without a row had no activity in it.
- A count is added up. In a rate, the counts of each observer are divided by its own covered time, and the sum of that
  is multiplied by the time that all of them cover together, epoch by epoch.
- A level is added up over the entities of an observer, averaged over its covered time, added over the observers of an
  epoch, and averaged over the time of the epochs.
- What several rows report of one thing counts once: at each moment the first interval that knows it.
- A setting is the last value known of each entity; a row without ends is older than any other. Amounts add up, other
  settings are the common value, else None. In a metric of things measured, an amount is the mean over time of the value
  in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.oracle.slow_intervals import (
    MOMENTS,
    Name,
    Row,
    Span,
    covered,
    has_ends,
    known_of,
    named_moment,
    shares,
    stamp,
)


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

    @property
    def timed(self) -> bool:
        """Whether intervals have a length that counts."""
        return any(fact.rule == "SPAN" for fact in self.facts.values())


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
    time
        ``interval``, ``hour``, ``day`` or ``all``.
    where
        Which rows count; the others still tell what time their observer covers.
    apart
        Columns that part the covered time of an observer.
    utc_offset
        Seconds by which the clock of hours and days is ahead of UTC.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        shape: Shape,
        keys: Sequence[str],
        *,
        time: str = "all",
        where: Callable[[Row], bool] = lambda row: True,
        apart: Sequence[str] = (),
        utc_offset: float = 0.0,
    ) -> None:
        self.shape = shape
        self.owner = shape.observer
        self.observers = (*shape.observer, "local_time", *apart)
        self.entity = (*shape.entity, *(name for name in apart if name not in shape.entity))
        parted = [name for name in (*shape.observer, *apart) if name not in keys]
        several = len({tuple(row[name] for name in parted) for row in rows if where(row)}) > 1
        base = [dict(row, to=named_moment(row["interval_end"], row, timed=shape.timed)) for row in rows]
        if time == "interval" and several and shape.timed:
            base = list(self._cut(base))
        for row in base:
            row["bucket"] = self._bucket(row, time, utc_offset)
        self.rows = [row for row in base if where(row)]
        self.groups: dict[tuple[Any, ...], list[int]] = {}
        for i, row in enumerate(self.rows):
            self.groups.setdefault((*(row[key] for key in keys), row["bucket"]), []).append(i)
        self.spans: dict[Name, dict[Name, Span]] = {}
        for row in base:
            self._add_span(self.spans.setdefault(self.observer(row), {}), row)
        self.epochs = self._epochs(base) if several else {}
        # Of each row once: who measured it, what its interval is called, and its epoch.
        self.who = [self.observer(row) for row in self.rows]
        self.when = [self.interval(row) for row in self.rows]
        self.era = [self.epoch(row) for row in self.rows]
        self._known = self._all_known()
        self._values: dict[Any, float | None] = {}
        self._together: dict[Any, dict[int, float | None]] = {}
        self._clocks: dict[Any, dict[tuple[int, Name], tuple[int, ...]]] = {}
        self._times: dict[Any, tuple[dict[Name, Span], float | None]] = {}
        self._states: dict[tuple[str, ...], list[tuple[Any, Any]]] = {}

    # --- whose and when ------------------------------------------------------------------------------------------

    @staticmethod
    def _bucket(row: Row, time: str, utc_offset: float) -> datetime | None:
        if time == "all" or row["interval"] is None:
            return None
        if time == "interval":
            moment: datetime = row["interval"]
            return moment
        shift = timedelta(seconds=0 if row["local_time"] else utc_offset)
        local = row["interval"] + shift
        hour = 0 if time == "day" else local.hour
        start: datetime = local.replace(hour=hour, minute=0, second=0, microsecond=0) - shift
        return start

    def _cut(self, rows: Sequence[Row]) -> Iterable[dict[str, Any]]:
        """Rows cut where an interval on the same clock begins or ends."""
        marks = {(row["local_time"], row[name]) for row in rows for name in ("interval", "to") if row[name] is not None}
        for row in rows:
            if not has_ends(row):
                yield dict(row)
                continue
            local = row["local_time"]
            first, last = max(row["interval"], row["interval_start"]), min(row["to"], row["interval_end"])
            inside = sorted(mark for clock, mark in marks if clock == local and first < mark < last)
            names = [row["interval"], *inside, row["to"]]
            edges = [row["interval_start"], *inside, row["interval_end"]]
            whole = (row["interval_end"] - row["interval_start"]).total_seconds()
            for n in range(len(names) - 1):
                share = (edges[n + 1] - edges[n]).total_seconds() / whole
                part = dict(row, interval=names[n], to=names[n + 1], interval_start=edges[n], interval_end=edges[n + 1])
                for fact in self.shape.facts.values():
                    if fact.rule in ("COUNT", "SPAN") and row[fact.name] is not None:
                        part[fact.name] = row[fact.name] * share
                yield part

    def interval(self, row: Row) -> Name:
        """What an interval is called."""
        return row["local_time"], row["interval"], row["to"]

    def observer(self, row: Row) -> Name:
        """Who measured a row, in its time."""
        return (*(row[name] for name in self.observers), row["bucket"])

    def scope(self, row: Row, fact: FactRule) -> Name:
        """Whose setting, or whose shared number, a fact is in a row."""
        return (*(row[name] for name in fact.of or self.entity), row["bucket"])

    def _add_span(self, spans: dict[Name, Span], row: Row) -> None:
        name = self.interval(row)
        length = row["interval_seconds"] if self.shape.timed else 1.0
        ends = (row["interval_start"], row["interval_end"]) if has_ends(row) else (None, None)
        new = Span(row["local_time"], *ends, length)
        spans[name] = spans[name].with_(new) if name in spans else new

    def _epochs(self, rows: Sequence[Row]) -> dict[Name, int]:
        """A number for each observer; of those that are never there at the same time, different ones."""
        there: dict[Name, tuple[datetime, datetime]] = {}
        for row in rows:
            who = tuple(row[name] for name in self.owner)
            start, end = there.get(who, (None, None))
            there[who] = known_of(min, start, row["interval_start"]), known_of(max, end, row["interval_end"])
        result, number, reached = {}, 0, None
        for who, (start, end) in sorted(there.items(), key=lambda item: item[1]):
            if reached is not None and start > reached - timedelta(seconds=MOMENTS):
                number += 1
            reached = end if reached is None else max(reached, end)
            result[who] = number
        return result

    def epoch(self, row: Row) -> int:
        """The epoch of a row."""
        return self.epochs.get(tuple(row[name] for name in self.owner), 0)

    # --- what counts -----------------------------------------------------------------------------------------------

    def known(self, i: int) -> frozenset[str]:
        """The facts that are known of a row's entity in its interval; settings, in its time."""
        return self._known[i]

    def _all_known(self) -> list[frozenset[str]]:
        known: list[set[str]] = [set() for _ in self.rows]
        # Most facts have the same places: the entity in its interval.
        places: dict[Any, list[Name]] = {}
        for fact in self.shape.facts.values():
            is_setting = fact.rule in ("AMOUNT", "SETTING")
            kind = (is_setting, fact.of if is_setting else None)
            if kind not in places:
                places[kind] = [self._place(row, fact) for row in self.rows]
            there = {place for row, place in zip(self.rows, places[kind], strict=True) if row[fact.name] is not None}
            for names, place in zip(known, places[kind], strict=True):
                if place in there:
                    names.add(fact.name)
        return [frozenset(names) for names in known]

    def _place(self, row: Row, fact: FactRule) -> Name:
        if fact.rule in ("AMOUNT", "SETTING"):
            return self.scope(row, fact)
        return (*(row[name] for name in self.entity), row["bucket"], *self.interval(row))

    def state(self, i: int, settings: tuple[str, ...]) -> tuple[Any, Any]:
        """What the settings of a row's entity were at the time, and what they are in the end."""
        if settings not in self._states:
            entities: dict[Name, list[tuple[Any, tuple[Any, ...]]]] = {}
            places = [(*(row[name] for name in self.entity), row["bucket"]) for row in self.rows]
            for row, place in zip(self.rows, places, strict=True):
                values = tuple(row[name] for name in settings)
                if any(value is not None for value in values):
                    entities.setdefault(place, []).append((stamp(row), values))
            self._states[settings] = []
            for row, place in zip(self.rows, places, strict=True):
                then = last = None
                if place in entities:
                    # Of several as late, the greatest counts; what is not known is greater than any value.
                    history = sorted(
                        entities[place], key=lambda item: (item[0], [(v is None, v or 0) for v in item[1]])
                    )
                    own = tuple(row[name] for name in settings)
                    before = [values for end, values in history if end <= stamp(row)]
                    then, last = (before[-1] if before else history[0][1]), history[-1][1]
                    then = own if any(value is not None for value in own) else then
                self._states[settings].append((then, last))
        return self._states[settings][i]

    def counting(
        self, members: Sequence[int], patterns: set[frozenset[str]], settings: tuple[str, ...]
    ) -> frozenset[int]:
        """The rows of a group that know enough, and were measured under the settings that are in force in the end."""
        return frozenset(
            i
            for i in members
            if self.known(i) in patterns and (not settings or self.state(i, settings)[0] == self.state(i, settings)[1])
        )

    # --- covered time ----------------------------------------------------------------------------------------------

    def _counted(self, observers: Iterable[Name], own: Sequence[int], counts: frozenset[int]) -> dict[Name, Span]:
        """The intervals of observers, less those in which the rows are and none counts."""
        there: dict[Name, bool] = {}
        for i in own:
            there[self.when[i]] = there.get(self.when[i], False) or i in counts
        spans: dict[Name, Span] = {}
        for observer in observers:
            for name, span in self.spans[observer].items():
                if there.get(name, True):
                    spans[name] = spans[name].with_(span) if name in spans else span
        return spans

    def together(self, members: tuple[int, ...], counts: frozenset[int]) -> dict[int, float | None]:
        """The time that the observers of a group cover together, by epoch."""
        if (members, counts) not in self._together:
            observers: dict[Name, list[int]] = {}
            for i in members:
                observers.setdefault(self.who[i], []).append(i)
            spans: dict[int, dict[Name, Span]] = {}
            for observer, own in observers.items():
                counted = self._counted([observer], own, counts)
                of_epoch = spans.setdefault(self.era[own[0]], {})
                of_epoch |= {(observer, name): span for name, span in counted.items()}
            self._together[members, counts] = {epoch: covered(each) for epoch, each in spans.items()}
        return self._together[members, counts]

    # --- values ----------------------------------------------------------------------------------------------------

    def value(
        self,
        members: tuple[int, ...],
        name: str,
        counts: frozenset[int],
        *,
        rate: bool = False,
        measured: bool = False,
        alone: bool = True,
        settings: tuple[str, ...] = (),
    ) -> float | None:
        """A fact of a group.

        Parameters
        ----------
        members
            The rows of the group.
        name
            The fact.
        counts
            Which of the rows count.
        rate
            Whether it is read together with the length of the interval.
        measured
            Whether it is read together with something that is measured while time passes.
        alone
            Whether it is read without other facts: epochs weigh by all of the time that they cover.
        settings
            Settings that what is measured is compared with.
        """
        key = (members, name, counts, rate, measured, alone, settings if name in settings else ())
        if key not in self._values:
            if name in settings:
                self._values[key] = self._common(members, settings.index(name), counts, settings)
            elif self.shape.facts[name].rule == "SETTING" or (self.shape.facts[name].rule == "AMOUNT" and not measured):
                self._values[key] = self._in_force(members, self.shape.facts[name], counts)
            else:
                weighed = frozenset(members) if alone else counts
                self._values[key] = self._measured(members, name, counts, weighed, rate=rate)
        return self._values[key]

    def _common(
        self, members: Sequence[int], place: int, counts: frozenset[int], settings: tuple[str, ...]
    ) -> float | None:
        """A setting of all rows that count; None where they differ in any of the settings."""
        states = {self.state(i, settings)[1] for i in members if i in counts}
        state = states.pop() if len(states) == 1 else None
        return None if state is None else state[place]

    def _measured(
        self, members: tuple[int, ...], name: str, counts: frozenset[int], weighed: frozenset[int], *, rate: bool
    ) -> float | None:
        """What is measured while time passes."""
        fact = self.shape.facts[name]
        known = [self.rows[i] for i in members if i in counts and self.rows[i][name] is not None]
        values = [row[name] for row in known]
        if fact.rule == "SPAN":
            lengths = self.together(members, counts).values()
            return added(lengths) if lengths else 0.0
        if fact.rule in ("PEAK", "FLOOR"):
            return (max if fact.rule == "PEAK" else min)(values) if values else None
        if fact.rule == "MEAN":
            lengths = [(row["interval_seconds"] or 0.0) if self.shape.timed else 1.0 for row in known]
            whole = sum(lengths)
            return sum(v * t for v, t in zip(values, lengths, strict=True)) / whole if whole else None
        together = self.together(members, weighed)
        return self._over_clocks(self._clocks_of(members, fact), together, fact, counts, rate=rate)

    def _clocks_of(self, members: tuple[int, ...], fact: FactRule) -> dict[tuple[int, Name], tuple[int, ...]]:
        """The rows of each observer, or of each whose number the fact is, epoch by epoch."""
        if (members, fact.of) not in self._clocks:
            clocks: dict[tuple[int, Name], list[int]] = {}
            for i in members:
                whose = self.scope(self.rows[i], fact) if fact.of else self.who[i]
                clocks.setdefault((self.era[i], whose), []).append(i)
            self._clocks[members, fact.of] = {clock: tuple(own) for clock, own in clocks.items()}
        return self._clocks[members, fact.of]

    def _time(self, own: tuple[int, ...], counts: frozenset[int]) -> tuple[dict[Name, Span], float | None]:
        """The intervals that count of the observers of rows, and the time that they cover."""
        if (own, counts) not in self._times:
            spans = self._counted({self.who[i] for i in own}, own, counts)
            self._times[own, counts] = spans, covered(spans)
        return self._times[own, counts]

    def _over_clocks(
        self,
        clocks: Mapping[tuple[int, Name], tuple[int, ...]],
        together: Mapping[int, float | None],
        fact: FactRule,
        counts: frozenset[int],
        *,
        rate: bool,
    ) -> float | None:
        """Counts and levels: of each clock over its covered time, added, and averaged over epochs."""
        results: dict[int, list[float]] = {}
        for (epoch, _), own in clocks.items():
            spans, length = self._time(own, counts)
            cells = self._cells(own, fact, counts)
            if not cells:
                continue
            mine = shares({name: spans[name] for name in cells})
            if fact.rule == "COUNT":
                # Rows of its own are all there is of what they count, also where intervals overlap.
                total = sum(value * (mine[name] if fact.of else 1.0) for name, value in cells.items())
                if not rate:
                    results.setdefault(epoch, []).append(total)
                elif length:
                    results.setdefault(epoch, []).append(total / length)
            else:
                whole = sum(value * mine[name] * (spans[name].length or 0.0) for name, value in cells.items())
                # Where no interval has a length, all count alike.
                timed = any(spans[name].length for name in cells)
                results.setdefault(epoch, []).append(whole / length if timed else sum(cells.values()) / len(cells))
        if not results:
            return None
        sums = {epoch: sum(values) for epoch, values in results.items()}
        if fact.rule == "COUNT" and not rate:
            return sum(sums.values())
        if fact.rule == "COUNT":
            return sum(value * (together[epoch] or 0.0) for epoch, value in sums.items())
        if len(sums) == 1:
            return next(iter(sums.values()))
        weights = {epoch: together[epoch] or 0.0 for epoch in sums}
        whole = sum(weights.values())
        return sum(value * weights[epoch] for epoch, value in sums.items()) / whole if whole else None

    def _cells(self, own: Sequence[int], fact: FactRule, counts: frozenset[int]) -> dict[Name, float]:
        """The value of each interval: rows added up, or the one number that they share."""
        cells: dict[Name, float] = {}
        for i in own:
            row = self.rows[i]
            value = self._value_then(row, fact) if fact.rule == "AMOUNT" else row[fact.name]
            if value is None or i not in counts:
                continue
            name = self.when[i]
            if name not in cells:
                cells[name] = value
            elif fact.of is None:
                cells[name] += value
            else:
                cells[name] = max(value, cells[name])
        return cells

    def _value_then(self, row: Row, fact: FactRule) -> float | None:
        """The amount in force in a row's interval: its own, else the last known before, else the first known after."""
        if row[fact.name] is not None:
            return float(row[fact.name])
        known = [
            (stamp(other), other[fact.name])
            for other in self.rows
            if other[fact.name] is not None and self.scope(other, fact) == self.scope(row, fact)
        ]
        before = [each for each in known if each[0] <= stamp(row)]
        if before:
            return float(max(before)[1])
        return float(min(known)[1]) if known else None

    def _in_force(self, members: Sequence[int], fact: FactRule, counts: frozenset[int]) -> float | None:
        """The last known value of each entity that counts: added up, or the common one."""
        parts: dict[Name, list[int]] = {}
        for i in members:
            parts.setdefault(self.scope(self.rows[i], fact), []).append(i)
        values = []
        for own in parts.values():
            known = [(stamp(self.rows[i]), self.rows[i][fact.name]) for i in own]
            known = [each for each in known if each[1] is not None]
            if known and any(i in counts for i in own):
                values.append(max(known)[1])
        if fact.rule == "AMOUNT":
            return added(values)
        return values[0] if values and len(set(values)) == 1 else None
