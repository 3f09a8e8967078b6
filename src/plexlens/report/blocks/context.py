"""Numbers of the grains for the pages.

The metric layer computes them (`plexlens.metrics.roll_ups`), of which only the rows to be shown come back, as Arrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from plexlens.findings import Decision, Findings, Kept, Rule, check, load_rules
from plexlens.metrics.definition import Attribute, Grain, Key
from plexlens.metrics.grain_data import GrainData
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.roll_ups import RollUps
from plexlens.pdb.engine import literal, quoted
from plexlens.report.blocks.readings import Readings
from plexlens.report.model import Definition
from plexlens.report.model.clock import Clock
from plexlens.report.model.page_definitions import definition_of

#: Titles of the identity columns that a row can be named by.
_IDENTITY_TITLES = {"system": "System", "sysplex": "Sysplex"}

#: Between the parts of a joined name, and for a part that is null: signs that no EBCDIC name holds.
_BETWEEN, _NOTHING = "\u241f", "\u2400"


class Context:
    """The grains of a database, evaluated for pages.

    Parameters
    ----------
    inputs
        The raw tables.
    grains
        Definitions by name.
    readings
        What was read to fill the tables.
    clock
        How times are told.
    rules
        Rules to judge the database by; the ones that come with Plexlens by default.
    decisions
        What the site has decided about findings.
    today
        Day by which decisions expire; the present one by default.
    numbers
        Reader of the facts; one of its own by default.
    """

    def __init__(
        self,
        inputs: Inputs,
        grains: Mapping[str, Grain],
        *,
        readings: Readings,
        clock: Clock,
        rules: Sequence[Rule] | None = None,
        decisions: Sequence[Decision] = (),
        today: date | None = None,
        numbers: RollUps | None = None,
    ) -> None:
        self.inputs = inputs
        self.grains = grains
        self.readings = readings
        self.clock = clock
        self.numbers = numbers or RollUps(inputs, grains, clock.offset or 0.0)
        self.definitions: dict[str, Definition] = {}
        self.findings: Findings | None = None
        self._rules = rules
        self._decisions = decisions
        self._today = today

    def grain(self, name: str) -> Grain:
        """A grain definition by name; the KeyError lists the valid names."""
        return self.numbers.grain(name)

    def data(self, name: str) -> GrainData | None:
        """The facts of a grain; None if the database has no source of it, or the grain has no rows."""
        return self.numbers.data(name)

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules to evaluate."""
        if self._rules is None:
            self._rules = load_rules()
        return self._rules

    def judge(self) -> Findings:
        """Results of the rules, evaluated once over the stored facts."""
        if self.findings is None:
            grains = {rule.grain for rule in self.rules if rule.grain in self.grains}
            kept = {
                name: Kept(data.grain, data.kept) for name in sorted(grains) if (data := self.data(name)) is not None
            }
            self.findings = check(
                self.inputs,
                rules=self.rules,
                grains=self.grains,
                kept=kept,
                decisions=self._decisions,
                today=self._today,
            )
        return self.findings

    def title(self, grain: Grain, name: str) -> str:
        """Title of a key, an attribute or an identity column."""
        named: tuple[Key | Attribute, ...] = (*grain.keys, *grain.attributes)
        for column in named:
            if column.name == name:
                return column.title
        return _IDENTITY_TITLES[name]

    def define(self, grain: Grain, name: str) -> str:
        """Record that a number of this column is shown; return the id of its definition."""
        key = f"{grain.name}.{name}"
        if key not in self.definitions:
            self.definitions[key] = definition_of(grain, name)
        return key


def one_of(names: Sequence[str], values: Sequence[tuple[str | None, ...]]) -> str:
    """A condition on facts: the named columns have one of these combinations of values; null equals null.

    It is not true of all other rows, and may be null for some of them: `none_of` is true of them.
    """
    if not values:
        return "false"
    single = [_single(name, [value[place] for value in values]) for place, name in enumerate(names)]
    if len(single) == 1:
        return single[0]
    # The engine skips rows of a file by the values of single columns, which it is given in addition.
    joined = f" || {literal(_BETWEEN)} || ".join(f"coalesce({quoted(name)}, {literal(_NOTHING)})" for name in names)
    listed = ", ".join(literal(_joined(value)) for value in dict.fromkeys(values))
    return " and ".join([*single, f"{joined} in ({listed})"])


def none_of(names: Sequence[str], values: Sequence[tuple[str | None, ...]]) -> str:
    """A condition on facts: the named columns have none of these combinations of values; null equals null."""
    return f"not coalesce({one_of(names, values)}, false)"


def _single(name: str, values: Sequence[str | None]) -> str:
    """The condition that a column has one of the values."""
    listed = ", ".join(literal(value) for value in dict.fromkeys(values) if value is not None)
    conditions = [f"{quoted(name)} in ({listed})"] if listed else []
    conditions += [f"{quoted(name)} is null"] if None in values else []
    return conditions[0] if len(conditions) == 1 else f"({' or '.join(conditions)})"


def _joined(value: tuple[str | None, ...]) -> str:
    return _BETWEEN.join(_NOTHING if part is None else part for part in value)


def both(first: str | None, second: str) -> str:
    """The conjunction of two conditions; the first may be missing."""
    return second if not first else f"({first}) and ({second})"


__all__ = ["Context", "both", "one_of"]
