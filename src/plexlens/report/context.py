"""Numbers of the grains as the pages ask for them.

The facts of a grain are taken from the raw tables once and kept in the engine; every table, chart and figure is a
roll-up of those, done by the engine, of which only the rows to be shown come back (as Arrow).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import pyarrow as pa

from plexlens.findings import Decision, Findings, Kept, Rule, check, load_rules
from plexlens.metrics.definition import Attribute, Fact, Grain, Key
from plexlens.metrics.evaluate import available, evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.reduction import narrowed
from plexlens.pdb.engine import literal, quoted
from plexlens.report.clock import Clock
from plexlens.report.held import Held, shown_on
from plexlens.report.model import Definition
from plexlens.report.readings import Readings

#: Titles of the identity columns that a row can be named by.
_IDENTITY_TITLES = {"system": "System", "sysplex": "Sysplex"}

#: Between the parts of a joined name, and for a part that is null: signs that no EBCDIC name holds.
_BETWEEN, _NOTHING = "\u241f", "\u2400"

#: What facts are combined by, in words.
_RULES = {
    "sum": "added",
    "max": "largest",
    "min": "smallest",
    "mean": "mean, weighted by time",
    "latest": "the latest value",
    "covered once": "time covered by any of them",
    "the same, else null": "the common value, none where they differ",
}


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
    ) -> None:
        self.inputs = inputs
        self.grains = grains
        self.readings = readings
        self.clock = clock
        self.definitions: dict[str, Definition] = {}
        self.findings: Findings | None = None
        self._rules = rules
        self._decisions = decisions
        self._held: dict[str, Held | None] = {}
        self._needs: dict[str, tuple[set[str], set[str | None]]] = {}

    def need(self, name: str, columns: Iterable[str], where: str | None) -> None:
        """Say, before the first question about a grain, which columns and conditions questions will name.

        Raises
        ------
        KeyError
            There is no such grain or column; the message names the ones there are.
        """
        columns = tuple(columns)
        grain = self.grain(name)
        described = {*self.named(grain), "system", "sysplex"}
        for column in columns:
            if column and column not in described:
                grain.column(column)
        wanted, wheres = self._needs.setdefault(name, (set(), set()))
        wanted.update(columns)
        wheres.add(where)

    @staticmethod
    def named(grain: Grain) -> tuple[str, ...]:
        """Names of the keys and attributes of a grain."""
        return (*(key.name for key in grain.keys), *(attribute.name for attribute in grain.attributes))

    def grain(self, name: str) -> Grain:
        """The definition of that name; KeyError names the ones there are."""
        if name not in self.grains:
            raise KeyError(f"no grain {name!r}; there are {', '.join(sorted(self.grains))}")
        return self.grains[name]

    def held(self, name: str) -> Held | None:
        """The grain's facts; None where no source of it is in the database, or it holds no row.

        Raises
        ------
        KeyError
            No grain has that name.
        """
        if name not in self._held:
            grain = self.grain(name)
            columns, wheres = self._needs.get(name, (set(), set()))
            found = Held(self.inputs, grain, columns, wheres) if available(self.inputs, grain) else None
            self._held[name] = found if found is not None and found.kinds else None
        return self._held[name]

    @property
    def rules(self) -> Sequence[Rule]:
        """The rules to judge by."""
        if self._rules is None:
            self._rules = load_rules()
        return self._rules

    def judge(self) -> Findings:
        """What comes of the rules; judged once, over the facts that are kept."""
        if self.findings is None:
            grains = {rule.grain for rule in self.rules if rule.grain in self.grains}
            kept = {
                name: Kept(held.grain, held.kept) for name in sorted(grains) if (held := self.held(name)) is not None
            }
            self.findings = check(
                self.inputs, rules=self.rules, grains=self.grains, kept=kept, decisions=self._decisions
            )
        return self.findings

    @property
    def read(self) -> Iterable[Held]:
        """Every grain with data that was asked for so far."""
        return (held for held in self._held.values() if held is not None)

    def title(self, grain: Grain, name: str) -> str:
        """Title of a key, an attribute or an identity column."""
        named: tuple[Key | Attribute, ...] = (*grain.keys, *grain.attributes)
        for column in named:
            if column.name == name:
                return column.title
        return _IDENTITY_TITLES[name]

    def define(self, grain: Grain, name: str) -> str:
        """Note that a number of this column is shown; returns the id of its definition."""
        key = f"{grain.name}.{name}"
        if key not in self.definitions:
            column = grain.column(name)
            if isinstance(column, Fact):
                across, over = _RULES[column.rollup.across], _RULES[column.rollup.over]
                text, rollup, caveat = "", f"across entities: {across}; over time: {over}", ""
            else:
                text, rollup, caveat = column.words, "", column.caveat
            self.definitions[key] = Definition(
                key, grain.title, grain.row, column.title, column.unit, text, column.source, caveat, rollup
            )
        return key

    def rows(
        self,
        held: Held,
        columns: Sequence[str],
        *,
        by: Sequence[str] = (),
        time: str = "all",
        where: str | None = None,
        order: str = "",
        descending: bool = True,
        limit: int = 0,
    ) -> tuple[pa.Table, int]:
        """Rolled-up rows of a grain.

        Parameters
        ----------
        held
            The grain.
        columns
            Facts, metrics and attributes to return.
        by
            What to keep apart; nothing gives one row for each time.
        time, where
            As `plexlens.metrics.evaluate.evaluate` takes them.
        order, descending
            Column to order by, nulls last; ties and no order: by the names of the rows, then time.
        limit
            Rows to return at most; 0 for all.

        Returns
        -------
        pyarrow.Table, int
            Columns ``by``, ``time`` unless it is ``all``, and ``columns``; and the number of rows there are.
        """
        wanted = {*columns, *by} | ({order} if order else set())
        grain = narrowed(held.grain, wanted, (where,))
        # The kind of source is the same in all kept rows: grouping by it rolls everything up.
        keys = tuple(by) or ("source_kind",)
        offset = self.clock.offset or 0.0
        table = evaluate(
            self.inputs, grain, by=keys, time=time, where=where, kept=held.kept, utc_offset=offset, shown=wanted
        )
        assert table is not None
        names = [*by, *(["time"] if time != "all" else [])]
        if time != "all":
            table = table.where('"time" is not null')
        table = table.select(
            *names, *(c for c in dict.fromkeys((*columns, *([order] if order else []))) if c not in names)
        )
        ordering = [f"{quoted(order)} {'desc' if descending else 'asc'} nulls last"] if order else []
        ordering += [f"{quoted(name)} asc nulls last" for name in names]
        if not limit:
            found = table.ordered(*ordering)
            return found, found.num_rows
        found = table.ordered(*ordering, limit=limit + 1)
        if found.num_rows <= limit:
            return found, found.num_rows
        return found.slice(0, limit), table.count()

    def ends(
        self, held: Held, by: Sequence[str], where: str | None, *, is_local: bool
    ) -> dict[tuple[str | None, ...], dict[datetime, datetime]]:
        """For each entity the end of each of its intervals, by the interval's name."""
        rows = held.kept.where(where).where('"interval" is not null and interval_end is not null')
        ends = rows.grouped(tuple(dict.fromkeys((*by, "interval"))), {"ends": "max(interval_end)"}).rows()
        found: dict[tuple[str | None, ...], dict[datetime, datetime]] = {}
        for row in ends:
            start, end = (shown_on(row[name], is_local=is_local) for name in ("interval", "ends"))
            if start is not None and end is not None:
                found.setdefault(tuple(row[name] for name in by), {})[start] = end
        return found


def one_of(names: Sequence[str], values: Sequence[tuple[str | None, ...]]) -> str:
    """A condition on facts: the named columns have one of these combinations of values; null equals null."""
    joined = f" || {literal(_BETWEEN)} || ".join(f"coalesce({quoted(name)}, {literal(_NOTHING)})" for name in names)
    listed = ", ".join(literal(_joined(value)) for value in dict.fromkeys(values))
    return f"{joined} in ({listed})" if listed else "false"


def _joined(value: tuple[str | None, ...]) -> str:
    return _BETWEEN.join(_NOTHING if part is None else part for part in value)


def both(first: str | None, second: str) -> str:
    """Both conditions; the first may be none."""
    return second if not first else f"({first}) and ({second})"


__all__ = ["Context", "both", "one_of"]
