"""Random rows of facts at a grain's own grain, as `plexlens.metrics.evaluate.facts` gives them.

Each case is a sysplex of its own, so that one table holds all cases of a grain.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from plexlens.metrics.definition import Fact, Grain

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Case:
    """What is unusual about a case.

    Attributes
    ----------
    name
        Name of the sysplex.
    aligned
        Whether all observers have the same intervals.
    jitter
        Seconds by which starts and ends of an observer are off those of the others at most.
    overlap
        How likely an interval begins before the one before it ends.
    epochs
        How likely an observer measured a year later than the others.
    local
        How likely an observer's times are local ones of unknown offset.
    shortest, longest
        Length of unaligned intervals in seconds.
    lost_facts, lost_values
        How likely an observer lacks a fact, and a row a value.
    lost_rows
        How likely an entity has no row in an interval.
    zeros
        How likely a value is zero.
    repeats
        How likely an entity has one more row in an interval.
    endless
        How likely a row lacks its start, its end, or both.
    edges
        How likely the first interval of an observer begins later than that of the others, and the last ends earlier.
    """

    name: str
    aligned: bool = False
    jitter: int = 0
    overlap: float = 0.0
    epochs: float = 0.0
    local: float = 0.0
    shortest: int = 300
    longest: int = 1200
    lost_facts: float = 0.0
    lost_values: float = 0.0
    lost_rows: float = 0.0
    zeros: float = 0.0
    repeats: float = 0.0
    endless: float = 0.0
    edges: float = 0.0


CASES = (
    Case("ALIGNED", aligned=True),
    Case("LOSSES", aligned=True, lost_facts=0.15, lost_values=0.05, lost_rows=0.2, zeros=0.1),
    Case("UNALIGNED"),
    Case("MOMENTS", aligned=True, jitter=3, lost_values=0.1),
    Case("OVERLAP", overlap=0.5, lost_values=0.05),
    Case("YEARS", epochs=0.5, lost_values=0.05, lost_rows=0.1),
    Case("LOCAL", aligned=True, local=0.5, lost_rows=0.1, lost_values=0.05),
    Case("SHORT", shortest=20, longest=60, lost_rows=0.2),
    Case("REPEATS", lost_rows=0.1, lost_values=0.1, zeros=0.05, repeats=0.4),
    Case("ENDLESS", lost_rows=0.1, lost_values=0.05, endless=0.3),
    Case("WORST1", lost_facts=0.1, lost_values=0.05, lost_rows=0.2, zeros=0.1),
    Case("WORST2", lost_facts=0.2, lost_rows=0.3, zeros=0.05),
    Case("HOLES", aligned=True, lost_facts=0.05, lost_values=0.5),
    Case("EDGES", aligned=True, lost_facts=0.05, lost_values=0.1, lost_rows=0.2, edges=0.6),
)


def _nearest(moment: datetime, step: int) -> datetime:
    since = (moment - START).total_seconds()
    return START + timedelta(seconds=(since + step / 2) // step * step)


class _Maker:
    def __init__(self, grain: Grain, case: Case, seed: int) -> None:
        self.grain, self.case = grain, case
        self.random = Random(f"{grain.name} {case.name} {seed}")
        self.seed = seed
        self.offset, self.is_local = 0.0, False
        self.owners = [name for name in grain.observers if name not in ("sysplex", "system")]
        self.free = [key.name for key in grain.keys if key.name not in (*self.owners, "system", "sysplex")]
        self.scoping = {name for fact in grain.facts for name in fact.of or ()}
        self.timed = any(fact.name == "interval_seconds" for fact in grain.facts)

    def rows(self) -> list[dict[str, Any]]:
        """All rows of the case."""
        random, result = self.random, []
        common = self.intervals(aligned=True)
        # Without keys of their own, several rows would be of one entity.
        entities = random.randint(1, 3) if self.free else 1
        for observer in range(random.randint(2, 4)):
            lost = {fact.name for fact in self.grain.facts if random.random() < self.case.lost_facts}
            later = timedelta(days=365) if random.random() < self.case.epochs else timedelta(0)
            self.offset = random.choice((0.0, -18_000.0, 19_800.0))
            self.is_local = random.random() < self.case.local
            own = self.cut(common) if self.case.aligned else self.intervals(aligned=False)
            off = [timedelta(seconds=random.randint(-self.case.jitter, self.case.jitter)) for _ in own]
            for number, (start, end) in enumerate(own):
                start, end = start + later + off[number - 1 if number else 0], end + later + off[number]  # noqa: PLW2901
                for entity in range(entities):
                    # An observer has a row in each of its intervals, or they would not be known.
                    if entity and random.random() < self.case.lost_rows:
                        continue
                    identity = self.identity(observer, entity, start, end)
                    result.append(self.row(identity, lost, number))
                    while random.random() < self.case.repeats:
                        result.append(self.row(identity, lost, number))
        return result

    def row(self, identity: dict[str, Any], lost: set[str], number: int) -> dict[str, Any]:
        """A row of an entity, which may lack what tells its time."""
        row = identity | self.values(identity, lost, number)
        if self.random.random() >= self.case.endless:
            return row
        gone = self.random.choice((("interval_start",), ("interval_end",), ("interval_start", "interval_end")))
        row |= dict.fromkeys(gone)
        if self.timed:
            row["interval_seconds"] = None
        known = row["interval_start"] or row["interval_end"]
        return row | {"interval": known and _nearest(known, 60)}

    def intervals(self, *, aligned: bool) -> list[tuple[datetime, datetime]]:
        """Intervals one after the other, sometimes with a gap."""
        random, case = self.random, self.case
        begin = START if aligned else START + timedelta(seconds=5 * random.randint(0, 600))
        result = []
        for _ in range(random.randint(4, 7)):
            end = begin + timedelta(seconds=900 if aligned else random.randrange(case.shortest, case.longest, 5))
            result.append((begin, end))
            begin = end if random.random() < 0.8 else end + timedelta(seconds=5 * random.randint(1, 180))
            if random.random() < case.overlap:
                begin = end - timedelta(seconds=5 * random.randint(1, 40))
        return result

    def cut(self, intervals: list[tuple[datetime, datetime]]) -> list[tuple[datetime, datetime]]:
        """The intervals of an observer that may come later and go earlier than others."""
        if not self.case.edges:
            return intervals
        (start, first_end), *between, (last_start, end) = intervals
        late, early = (
            timedelta(seconds=60 * self.random.randint(1, 10))
            if self.random.random() < self.case.edges
            else timedelta(0)
            for _ in range(2)
        )
        return [(start + late, first_end), *between, (last_start, end - early)]

    def identity(self, observer: int, entity: int, start: datetime, end: datetime) -> dict[str, Any]:
        """Who, what and when."""
        short = (end - start).total_seconds() < 60 and self.timed
        # Of several keys, the first ones are the same for neighbouring entities: structures of one facility.
        keys = {name: f"{name[:2]}{entity >> (len(self.free) - 1 - n)}" for n, name in enumerate(self.free)}
        return {
            "sysplex": self.case.name,
            "system": f"S{observer}",
            "interval_start": start,
            "interval_end": end,
            "utc_offset": None if self.is_local else self.offset,
            "local_time": self.is_local,
            "interval": _nearest(start, 10 if short else 60),
            "source_kind": f"kind {self.random.randint(0, 1)}",
            **keys,
            **{name: f"{self.case.name}{name[:2]}{observer}" for name in self.owners},
            # What says whose number a fact is (the data sharing group of a Db2) does not change.
            **{
                a.name: "a" if a.name in self.scoping else f"a{self.random.randint(0, 1)}"
                for a in self.grain.attributes
            },
        }

    def values(self, identity: dict[str, Any], lost: set[str], number: int) -> dict[str, float | None]:
        """The facts of a row."""
        result: dict[str, float | None] = {}
        for fact in self.grain.facts:
            random = self.dice(fact, identity, number)
            value = self.value(fact, identity, random)
            # The length of an interval is known from its two ends.
            gone = fact.name != "interval_seconds" and (
                fact.name in lost or self.dice(fact, identity, number, "lost").random() < self.case.lost_values
            )
            result[fact.name] = None if gone else value
        return result

    def dice(self, fact: Fact, identity: dict[str, Any], number: int, *more: str) -> Random:
        """Chance of its own for every row; the same for all rows that report one number."""
        if fact.of is None:
            return self.random
        scope = [identity[name] for name in (fact.of or self.grain.observers)]
        measured = [identity["interval_start"], identity["interval_end"]]
        # Every observer loses values of its own.
        who = [identity[name] for name in self.grain.observers] if more else []
        return Random(f"{self.seed} {fact.name} {scope} {measured} {who} {more}")

    def value(self, fact: Fact, identity: dict[str, Any], random: Random) -> float:
        """A value of a fact."""
        if fact.name == "interval_seconds":
            return float((identity["interval_end"] - identity["interval_start"]).total_seconds())
        if not fact.rollup.is_setting:
            return 0.0 if random.random() < self.case.zeros else 10.0 ** random.uniform(-1.0, 3.0)
        entity = [identity[name] for name in fact.of or [key.name for key in self.grain.keys]]
        own = Random(f"{self.seed} {fact.name} {entity}")
        # A setting is the same for all who see it, and changes once.
        value = own.choice((10.0, 20.0, 40.0))
        changes = START + timedelta(seconds=own.randint(0, 6000))
        return value * 2 if identity["interval_end"] > changes else value


def random_facts(grain: Grain, seed: int) -> list[dict[str, Any]]:
    """Rows of all cases."""
    return [row for case in CASES for row in _Maker(grain, case, seed).rows()]
