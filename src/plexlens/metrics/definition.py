"""Definitions of metrics: grains, keys, facts and expressions over facts.

A *grain* says what one row is. Its *facts* are additive base columns in base units, taken from whichever sources hold
them. A *metric* is an expression over facts alone, so one definition serves an interval, an hour, a system or the whole
sysplex: facts are rolled up first, each by its own rule, and the expression is applied after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from plexlens.expression import Expression, Scope, expand, parse, words_of
from plexlens.metrics.unit import Unit

if TYPE_CHECKING:
    pass

#: Columns that every grain has in addition to its keys.
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

#: Column of kept facts that names the end of their interval.
END = "interval_to"

#: Keys that say who measured where that is not a system: a Db2, a queue manager, a CICS region.
OWNERS = ("subsystem", "applid", "queue_manager")


class Rollup(Enum):
    """Roll-up rule of a fact: across entities, and over time.

    Rows are added up within each interval of an observer (the system, Db2, region or machine that measured), then over
    its intervals, then across observers (`plexlens.metrics.rollup`).
    """

    COUNT = ("sum", "sum")
    """Events, seconds of work, bytes moved: add everywhere."""
    SPAN = ("covered once", "sum")
    """Length of the interval; of several rows, the length of the time that their intervals cover."""
    LEVEL = ("sum", "mean")
    """Something in use (storage, engines, tasks): add across entities, mean over the time covered."""
    MEAN = ("mean", "mean")
    """A mean that nothing in the record weighs (a path's recent transfer time): mean of the rows, by their length."""
    PEAK = ("max", "max")
    """A high-water mark."""
    FLOOR = ("min", "min")
    """A low-water mark."""
    AMOUNT = ("sum", "latest")
    """A setting that adds up (size of a pool, weight, defined capacity): the value in force of each entity."""
    SETTING = ("the same, else null", "latest")
    """A setting that does not add up (threshold, goal, limit, level): null for entities that differ in it."""

    @property
    def across(self) -> str:
        """Rule across entities."""
        return str(self.value[0])

    @property
    def over(self) -> str:
        """Rule over time."""
        return str(self.value[1])

    @property
    def is_setting(self) -> bool:
        """Whether the value in force counts rather than a measured amount."""
        return self in (Rollup.AMOUNT, Rollup.SETTING)


@dataclass(frozen=True)
class Key:
    """A column that identifies the entity of a row."""

    name: str
    title: str


@dataclass(frozen=True)
class Attribute:
    """A descriptive text of an entity; null for a roll-up of entities that differ in it."""

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
    of
        Whose number it is where several rows report the same one, so that it counts once: names of identity columns,
        keys or attributes (a facility that every system reports: ``("sysplex", "facility")``), or nothing for a number
        that all rows of an observer share. None: each row has its own.
    computed_from
        The setting, as ``grain.fact``, of which this one is the sum or a multiple: a change is listed of that one
        alone. The sum also changes where a row is missing from an interval.
    word
        What formulas call it for the reader, where that is neither its field nor its title.
    """

    name: str
    title: str
    unit: Unit
    rollup: Rollup
    source: str
    of: tuple[str, ...] | None = None
    computed_from: str = ""
    word: str = ""


@dataclass(frozen=True)
class Vocabulary:
    """Meanings of the names in a grain's formulas.

    Attributes
    ----------
    terms
        Parts that formulas share, by name.
    words
        What the reader is shown for a fact: its field, or arithmetic of fields; and for those terms that are not shown
        as what they are made of.
    """

    terms: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def trees(self) -> dict[str, Expression]:
        """The terms as trees."""
        return {name: parse(text) for name, text in self.terms.items()}

    def words_of(self, formula: str) -> str:
        """The formula in words and symbols."""
        shown = {name: tree for name, tree in self.trees.items() if name not in self.words}
        return words_of(expand(parse(formula), shown), lambda name: self.words.get(name, name))


@dataclass(frozen=True)
class Metric:
    """A named expression over the facts of a grain.

    Attributes
    ----------
    name, title
        Column name and what a report calls it.
    unit
        Base unit of the value and the unit it is shown in.
    formula
        The formula, in the language of `plexlens.expression`.
    source
        Study and table, or document, that defines it.
    caveat
        What a reader has to know before trusting the number; empty if nothing.
    given_words
        The formula as the reader is shown it, where fields in place of facts would say less than a person.
    vocabulary
        What the names in the formula stand for.
    """

    name: str
    title: str
    unit: Unit
    formula: str
    source: str
    caveat: str = ""
    given_words: str = ""
    vocabulary: Vocabulary = field(default_factory=Vocabulary, repr=False, compare=False)

    @cached_property
    def expression(self) -> Expression:
        """The formula as a tree, with terms expanded."""
        return expand(parse(self.formula), self.vocabulary.trees)

    @cached_property
    def words(self) -> str:
        """The formula in words and symbols, for the reader."""
        return self.given_words or self.vocabulary.words_of(self.formula)


@dataclass(frozen=True)
class Differences:
    """Cumulative counters of a source that run from the start of their subsystem, and their conversion to intervals.

    Attributes
    ----------
    entity
        Columns whose values together are one entity: system, sysplex, subsystem, and what is counted within it. Nulls
        are a value like others.
    counters
        Columns to the counter's width: 32 or 64 bits, or the name of a column that holds the width of each row, where
        releases differ.
    witnesses
        The counters whose fall means a restart; all where none is named.
    time
        Column with the time of the record.
    sequence
        Column with a number that rises by one from record to record and begins anew with the subsystem; empty for none.
    started
        Column with the start of the subsystem, if records contain it: the first record after it then makes an
        interval that begins there.
    keep_unused
        Whether rows that make no interval are kept; their counters are null.
    of
        The relation that is differenced, which the source's SQL then reads as ``intervals``; empty where it is the rows
        of that SQL themselves.
    """

    entity: tuple[str, ...]
    counters: Mapping[str, int | str]
    witnesses: tuple[str, ...] = ()
    time: str = "interval_end"
    sequence: str = ""
    started: str = ""
    keep_unused: bool = False
    of: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Every column that is read."""
        widths = {width for width in self.counters.values() if isinstance(width, str)}
        named = {self.time, self.sequence, self.started, *self.entity, *self.counters, *self.witnesses, *widths}
        return frozenset(named - {""})


@dataclass(frozen=True)
class Source:
    """A source for the facts of a grain.

    Attributes
    ----------
    kind
        What a reader calls it: ``SMF 74-4``, ``RMF XML CF``.
    needs
        Raw tables that must be there.
    any_of
        Raw tables of which one must be there; nothing where `needs` is all.
    sql, table
        A select over raw tables, or the one raw table whose rows are taken.
    tables
        Names that the SQL uses for raw tables, where it serves several.
    values
        What stands in the SQL for a name in braces.
    plain
        Fact to the column of the rows that it is.
    columns
        Key, attribute, fact or identity column to SQL over the rows.
    differences
        What of the rows counts since the start of a subsystem.
    dated_by
        Columns of the first raw table that date a record, the first that has a value wins: facts of a UTC day follow
        from the records of that day and the days next to it. Empty where records farther away have a say, or nobody
        looked: such facts are not rolled up beforehand (`plexlens.metrics.rolled`).
    wrong
        Makes the error that the source's file is wrong, of what is and what to do; None for one that no file tells.
    """

    kind: str
    needs: tuple[str, ...]
    any_of: tuple[str, ...] = ()
    sql: str = ""
    table: str = ""
    tables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    plain: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    differences: Differences | None = None
    dated_by: tuple[str, ...] = ()
    wrong: Callable[[str, str], Exception] | None = field(default=None, repr=False, compare=False)

    @property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """Sets of raw tables, each sufficient: `needs` with each table of `any_of`."""
        return tuple((*self.needs, text) for text in self.any_of) or (self.needs,)


@dataclass(frozen=True)
class Grain:
    """Meaning of a row, and all definitions that apply to it.

    Sources stand in order of preference: where two hold the same system and time, the first one is used, so that
    a dump and a report of the same hour are not counted twice.

    ``observer`` names the columns that say who measured, which is whose intervals a row belongs to; by default the
    system, and the Db2, queue manager or CICS region where there is such a key. ``family`` is the folder of the
    catalogue that the grain stands in.
    """

    name: str
    title: str
    row: str
    keys: tuple[Key, ...]
    facts: tuple[Fact, ...]
    metrics: tuple[Metric, ...]
    sources: tuple[Source, ...]
    attributes: tuple[Attribute, ...] = ()
    observer: tuple[str, ...] = ()
    family: str = ""

    @property
    def observers(self) -> tuple[str, ...]:
        """Columns that identify the observer."""
        owners = tuple(key.name for key in self.keys if key.name in OWNERS)
        return self.observer or ("sysplex", "system", *owners)

    @cached_property
    def numbers(self) -> Scope:
        """Facts and metrics with their units: what formulas over its rolled-up rows may name."""
        columns: tuple[Fact | Metric, ...] = (*self.facts, *self.metrics)
        return Scope.of(f"a fact or metric of {self.name}", {column.name: column.unit.base for column in columns})

    @cached_property
    def row_names(self) -> Scope:
        """Keys, attributes and facts: what conditions over its rows may name before they are rolled up."""
        named = (*(key.name for key in self.keys), *(attribute.name for attribute in self.attributes))
        bases = {fact.name: fact.unit.base for fact in self.facts}
        return Scope.of(f"a key, attribute or fact of {self.name}", bases, ("system", "sysplex", *named))

    def metric(self, name: str) -> Metric:
        """A metric by name; the KeyError lists the valid names."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise KeyError(f"{self.name} has no metric {name!r}; it has {', '.join(m.name for m in self.metrics)}")

    def column(self, name: str) -> Fact | Metric:
        """A fact or metric by name; the KeyError lists the valid names."""
        for fact in self.facts:
            if fact.name == name:
                return fact
        return self.metric(name)
