"""What a metric is: grains, keys, facts and expressions over facts.

A *grain* says what one row is. Its *facts* are additive base columns in base units, taken from whichever sources hold
them. A *metric* is an expression over facts alone, so one definition serves an interval, an hour, a system or the whole
sysplex: facts are rolled up first, each by its own rule, and the expression is applied after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from plexlens.metrics.unit import Unit

if TYPE_CHECKING:
    from plexlens.metrics.inputs import Inputs

#: Columns that every grain carries beside its keys.
#: `local_time` is true where the interval is in local time of unknown offset, and `utc_offset` then null.
IDENTITY = (
    "system",
    "sysplex",
    "interval_start",
    "interval_end",
    "utc_offset",
    "local_time",
    "interval",
    "source_kind",
)


class Rollup(Enum):
    """How a fact is combined: first across entities within one interval, then over time."""

    COUNT = ("sum", "sum")
    """Events, seconds of work, bytes moved: add everywhere."""
    SPAN = ("max", "sum")
    """Length of the interval: the same for all entities, so taken once, then added over time."""
    LEVEL = ("sum", "mean")
    """Something held (storage, engines): add across entities, mean over time."""
    SHARED = ("max", "mean")
    """A level that every entity reports alike (engines of the machine): once, then mean over time."""
    PEAK = ("max", "max")
    """A high-water mark."""
    FLOOR = ("min", "min")
    """A low-water mark."""
    CONSTANT = ("max", "max")
    """A setting (goal, limit): the same value wherever it is looked at."""

    @property
    def across(self) -> str:
        """Rule within one interval, across entities."""
        return str(self.value[0])

    @property
    def over(self) -> str:
        """Rule over time."""
        return str(self.value[1])


@dataclass(frozen=True)
class Key:
    """A column that says which entity a row is about."""

    name: str
    title: str


@dataclass(frozen=True)
class Attribute:
    """A descriptive text of an entity; null once entities that differ in it are rolled up together."""

    name: str
    title: str


@dataclass(frozen=True)
class Fact:
    """An additive base column.

    Parameters
    ----------
    name, title
        Column name and what a report calls it.
    unit
        Base unit inside, unit at display.
    rollup
        How values are combined.
    source
        The fields it is made of, such as ``SMF 74-4 R744SSRC``.
    """

    name: str
    title: str
    unit: Unit
    rollup: Rollup
    source: str


@dataclass(frozen=True)
class Metric:
    """A named expression over the facts of a grain.

    Parameters
    ----------
    name, title
        Column name and what a report calls it.
    unit
        Base unit of the value and the unit it is shown in.
    formula
        The formula in words and symbols.
    source
        Study and table, or document, that defines it.
    expression
        From the rolled-up facts (an Ibis table) to a column.
    caveat
        What a reader has to know before trusting the number; empty if nothing.
    """

    name: str
    title: str
    unit: Unit
    formula: str
    source: str
    expression: Callable[[Any], Any] = field(repr=False)
    caveat: str = ""


@dataclass(frozen=True)
class Source:
    """One place the facts of a grain can come from.

    Parameters
    ----------
    kind
        What a reader calls it: ``SMF 74-4``, ``RMF XML CF``.
    needs
        Raw tables that must be there.
    facts
        From the raw tables to a table with the grain's identity, keys, attributes and any subset of its facts.
    """

    kind: str
    needs: tuple[str, ...]
    facts: Callable[[Inputs], Any] = field(repr=False)


@dataclass(frozen=True)
class Grain:
    """What one row is, and everything known about it.

    Sources stand in order of preference: where two hold the same system and interval, the first one is used, so that
    a dump and a report of the same hour are not counted twice.
    """

    name: str
    title: str
    row: str
    keys: tuple[Key, ...]
    facts: tuple[Fact, ...]
    metrics: tuple[Metric, ...]
    sources: tuple[Source, ...]
    attributes: tuple[Attribute, ...] = ()

    def metric(self, name: str) -> Metric:
        """The metric of that name; KeyError names the ones there are."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise KeyError(f"{self.name} has no metric {name!r}; it has {', '.join(m.name for m in self.metrics)}")

    def column(self, name: str) -> Fact | Metric:
        """The fact or metric of that name; KeyError names the ones there are."""
        for fact in self.facts:
            if fact.name == name:
                return fact
        return self.metric(name)
