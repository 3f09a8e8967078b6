"""Columns that a roll-up computes from the facts, and the columns that each metric reads.

A metric counts a row only where everything that its expression needs is known (`plexlens.metrics.required`). Where that
makes a difference, it gets columns of its own: a *variant* of each fact it reads.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from plexlens.expression import Clauses
from plexlens.metrics.definition import Fact, Grain, Rollup
from plexlens.metrics.required import Read, read_by


@dataclass(frozen=True)
class Condition:
    """Condition for a row to count.

    Attributes
    ----------
    needed
        What has to be known of its entity.
    settings
        Settings that have to be what they are in the end, all of them: what was measured under others is of no use
        for a comparison with the value in force.
    """

    needed: Clauses = frozenset()
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """A number computed from a fact.

    Attributes
    ----------
    fact
        The fact.
    condition
        Number of the condition on rows; 0 for none.
    how
        ``sum``, ``rate`` (a count scaled to the time covered by all), ``mean`` (over the time that counts), ``level``
        (mean over the time in which the fact itself is known), ``max``, ``min``, ``latest``, ``common`` (a
        setting of all rows that count), ``covered`` (the time covered).
    """

    fact: Fact
    condition: int
    how: str

    @property
    def column(self) -> str:
        """Name of the column."""
        plain = self.condition == 0 and self.how == _PLAIN[self.fact.rollup]
        return self.fact.name if plain else f"{self.fact.name}__{self.how}_{self.condition}"


_PLAIN = {
    Rollup.COUNT: "sum",
    Rollup.SPAN: "covered",
    Rollup.LEVEL: "level",
    Rollup.MEAN: "typical",
    Rollup.PEAK: "max",
    Rollup.FLOOR: "min",
    Rollup.AMOUNT: "latest",
    Rollup.SETTING: "latest",
}

#: What is measured while time passes: with it a setting counts as it was on average.
_MEASURED = (Rollup.COUNT, Rollup.LEVEL, Rollup.SPAN)


@dataclass
class Plan:
    """Columns that a roll-up computes, and the columns that each metric reads.

    Attributes
    ----------
    grain
        The grain, with the facts and metrics wanted.
    conditions
        What rows have to know, by number; number 0 is not a condition.
    variants
        Every column, by name.
    columns
        For each metric, the column that stands for each of its facts where it is not the plain one.
    gaps
        Amounts that are averaged over time, and that some rows lack: there the value in force counts.
    is_mixed
        Whether fewer combinations of known facts could give fewer columns.
    """

    grain: Grain
    conditions: list[Condition] = field(default_factory=lambda: [Condition()])
    variants: dict[str, Variant] = field(default_factory=dict)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    gaps: set[str] = field(default_factory=set)
    is_mixed: bool = False
    _alike: dict[tuple[object, ...], int] = field(default_factory=dict)
    _known: Combinations = field(default_factory=lambda: Combinations([]))

    @property
    def timed_conditions(self) -> frozenset[int]:
        """Conditions that leave out part of the time that observers cover together."""
        timed = ("rate", "covered")
        return frozenset(
            variant.condition for variant in self.variants.values() if variant.condition and variant.how in timed
        )

    @classmethod
    def of(
        cls,
        grain: Grain,
        patterns: Iterable[Mapping[str, bool]],
        *,
        several: bool,
        shown: Container[str] | None = None,
        is_cut: bool = False,
    ) -> Plan:
        """The columns for a grain.

        Parameters
        ----------
        grain
            The facts and metrics wanted.
        patterns
            Which combinations of facts are known there are among the rows.
        several
            Whether rows of several observers come together.
        shown
            Facts that are asked for themselves, not for a metric alone; all by default.
        is_cut
            Whether the rows are slices of those with the combinations; rows of several may meet in a slice.
        """
        plan = cls(grain, _known=Combinations(patterns))
        for fact in grain.facts:
            if shown is None or fact.name in shown:
                plan._add(Variant(fact, 0, _PLAIN[fact.rollup]))
        facts = {fact.name: fact for fact in grain.facts}
        for name, read in read_by(grain, grain.metrics).items():
            there = [facts[fact] for fact in sorted(read.facts) if fact in facts]
            condition = plan._condition(read, there, is_cut=is_cut)
            clocks = several or any(fact.of for fact in there)
            timed = clocks and any(fact.rollup is Rollup.SPAN for fact in there)
            measured = any(fact.rollup in _MEASURED for fact in there)
            plan.columns[name] = {}
            for fact in there:
                how = _PLAIN[fact.rollup]
                if fact.name in plan.conditions[condition].settings:
                    how = "common"
                elif fact.rollup is Rollup.COUNT and timed:
                    how = "rate"
                elif fact.rollup is Rollup.AMOUNT and measured:
                    how = "mean"
                    if plan._lacks(fact):
                        plan.gaps.add(fact.name)
                elif fact.rollup is Rollup.LEVEL and (condition or (len(there) > 1 and plan._lacks(fact))):
                    how = "mean"
                plan.columns[name][fact.name] = plan._add(Variant(fact, condition, how))
        return plan

    def _add(self, variant: Variant) -> str:
        self.variants[variant.column] = variant
        return variant.column

    def _lacks(self, fact: Fact) -> bool:
        """Whether some row lacks a fact."""
        lacks = fact.name in self._known.lacking
        self.is_mixed = self.is_mixed or lacks
        return lacks

    def _condition(self, read: Read, there: Sequence[Fact], *, is_cut: bool) -> int:
        # A mean over time is over the time that counts, so that a row without values makes a difference too.
        averaged = len(there) > 1 and any(fact.rollup in (Rollup.LEVEL, Rollup.AMOUNT) for fact in there)
        settings = compared_settings(there)
        is_mixed = self._known.mixed(read.needed, None if averaged else read.facts)
        self.is_mixed = self.is_mixed or is_mixed
        if not settings and not is_mixed:
            return 0
        key = (settings, read.needed) if is_cut else (settings, *self._met(read))
        if key not in self._alike:
            self._alike[key] = len(self.conditions)
            self.conditions.append(Condition(read.needed, settings))
        return self._alike[key]

    def _met(self, read: Read) -> tuple[object, ...]:
        """Key that conditions share among these rows: the combinations that meet them.

        A setting is known where it was known at any time, which combinations do not tell: such clauses are compared as
        they are.
        """
        at_any_time = {fact.name for fact in self.grain.facts if fact.rollup.is_setting}
        names = [clause for clause in read.needed if at_any_time.isdisjoint(clause)]
        return self._known.meeting(names), read.needed.difference(names)

    @property
    def takes_time(self) -> bool:
        """Whether any column depends on interval lengths, or on the choice among several rows with a number."""
        timed = ("rate", "mean", "level", "covered")
        return any(variant.how in timed or variant.fact.of is not None for variant in self.variants.values())

    def uses(self, *how: str) -> list[Variant]:
        """The columns computed in one of these ways."""
        return [variant for variant in self.variants.values() if variant.how in how]


def compared_settings(facts: Sequence[Fact]) -> tuple[str, ...]:
    """Settings among the facts of a metric that it compares with measurements."""
    settings = tuple(sorted(fact.name for fact in facts if fact.rollup is Rollup.SETTING))
    return settings if len(settings) < len(facts) else ()


class Combinations:
    """Facts that are known together among rows: a set of combinations is a number, with a bit for each of them.

    Parameters
    ----------
    patterns
        For each combination, which facts are known.

    Attributes
    ----------
    lacking
        Facts that some combination lacks.
    """

    def __init__(self, patterns: Iterable[Mapping[str, bool]]) -> None:
        self.lacking: set[str] = set()
        self._with: dict[str, int] = {}
        self._all = 0
        for number, known in enumerate(patterns):
            bit = 1 << number
            self._all |= bit
            for fact, is_known in known.items():
                if is_known:
                    self._with[fact] = self._with.get(fact, 0) | bit
                else:
                    self.lacking.add(fact)

    def _with_any(self, facts: Iterable[str]) -> int:
        """The combinations in which any of the facts is known."""
        some = 0
        for fact in facts:
            some |= self._with.get(fact, 0)
        return some

    def meeting(self, needed: Iterable[Iterable[str]]) -> int:
        """The combinations in which a fact of every clause is known."""
        met = self._all
        for clause in needed:
            met &= self._with_any(clause)
        return met

    def mixed(self, needed: Clauses, facts: Iterable[str] | None = frozenset()) -> bool:
        """Whether rows that lack a required input must be separated from the others.

        Parameters
        ----------
        needed
            What a metric needs.
        facts
            Other inputs: a row without any of them makes no difference. None: every row makes a difference.
        """
        lacking = self._all & ~self.meeting(needed)
        return bool(lacking if facts is None else lacking & self._with_any(set(facts).union(*needed)))
