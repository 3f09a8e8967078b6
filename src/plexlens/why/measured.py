"""Numbers of one period by object, over all of it and without each group of its intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from plexlens.compare.runs.replicates import ALONE, LEFT_OUT, NOTHING, rolled_up_without, times_of, without_each_group
from plexlens.compare.runs.significance import group_lengths
from plexlens.expression import Binary, Call, Expression, Name, Number, Unary
from plexlens.expression.tree import NULL
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Fact, Grain, Metric, Rollup
from plexlens.metrics.engine_table import fresh_name
from plexlens.metrics.facts import facts, keep
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.query import Query
from plexlens.metrics.reduction import reduced, scoping
from plexlens.metrics.source_rows import available
from plexlens.metrics.source_sql import names_in

#: Names of the columns that hold the two sums of a ratio.
ABOVE, BELOW = "why_above", "why_below"

_ADDED = (Rollup.COUNT, Rollup.LEVEL, Rollup.AMOUNT)

Names = tuple[Any, ...]
"""Values of the keys of an object."""


@dataclass(frozen=True)
class Replicated:
    """A number over a period, and without each group of its intervals.

    Attributes
    ----------
    value
        Over all of it; None if it is not known.
    without
        Without each group, in the order of time; empty where the period has too few intervals.
    alone
        Of each group alone, in the same order; empty where it is not known.
    """

    value: float | None
    without: tuple[float | None, ...] = ()
    alone: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class _Tree(Metric):
    """A metric that is given as a tree."""

    tree: Expression = NULL

    @cached_property
    def expression(self) -> Expression:
        """The tree."""
        return self.tree


def ratio_of(grain: Grain, column: Fact | Metric) -> tuple[Expression, Expression | None] | None:
    """The sum that a column is, and the sum below the line.

    The second is None for a column that is itself a sum, or a sum by the length of the time.

    Returns
    -------
    tuple or None
        None where the column is neither a sum nor a ratio of sums.
    """
    if isinstance(column, Fact):
        return (Name(column.name), None) if column.rollup in _ADDED else None
    tree = column.expression
    rollups = {fact.name: fact.rollup for fact in grain.facts}
    if _is_sum(tree, rollups):
        return tree, None
    if not (isinstance(tree, Binary) and tree.operator == "/" and _is_sum(tree.left, rollups)):
        return None
    if isinstance(tree.right, Name) and rollups.get(tree.right.name) is Rollup.SPAN:
        return tree, None
    return (tree.left, tree.right) if _is_sum(tree.right, rollups) else None


def _is_sum(tree: Expression, rollups: Mapping[str, Rollup]) -> bool:
    if isinstance(tree, Name):
        return rollups.get(tree.name) in _ADDED
    if isinstance(tree, Unary):
        return tree.operator == "-" and _is_sum(tree.operand, rollups)
    if isinstance(tree, Binary) and tree.operator in "+-":
        return _is_sum(tree.left, rollups) and _is_sum(tree.right, rollups)
    if isinstance(tree, Binary) and tree.operator == "*":
        return (isinstance(tree.left, Number) and _is_sum(tree.right, rollups)) or (
            isinstance(tree.right, Number) and _is_sum(tree.left, rollups)
        )
    if isinstance(tree, Call):
        return tree.function == "total" and all(_is_sum(part, rollups) for part in tree.arguments)
    return False


def _both(first: Expression, second: Expression) -> Expression:
    """The first expression, of the rows that have the second one too."""
    return Binary("+", first, Binary("*", Number(0.0), second))


def with_sums(grain: Grain, column: Fact | Metric) -> Grain:
    """The grain with the two sums of a ratio as further metrics."""
    sums = ratio_of(grain, column)
    if sums is None or sums[1] is None:
        return grain
    above, below = sums[0], sums[1]
    parts = (
        _Tree(ABOVE, column.title, column.unit, "", "", tree=_both(above, below)),
        _Tree(BELOW, column.title, column.unit, "", "", tree=_both(below, above)),
    )
    return replace(grain, metrics=(*grain.metrics, *parts))


class Period:
    """A period of a database, of which grains are read once.

    Parameters
    ----------
    inputs
        Its tables, with the selection that is the period.
    needs
        Columns of each grain that will be asked for.
    """

    def __init__(self, inputs: Inputs, needs: Mapping[str, Collection[str]]) -> None:
        self.inputs = inputs
        self._needs = needs
        self._kept: dict[str, Query | None] = {}
        self._spread: dict[str, tuple[Query, int]] = {}
        self._answers: dict[Any, dict[Names, dict[str, Replicated]]] = {}

    def kept(self, name: str) -> Query | None:
        """The facts of a grain; None if there are none."""
        if name not in self._kept:
            grain = self._wide(name)
            table = facts(self.inputs, grain) if available(self.inputs, GRAINS[name]) else None
            self._kept[name] = None if table is None else keep(table, grain, fresh_name(f"why_{name}"))
        return self._kept[name]

    def times(self, name: str) -> list[tuple[datetime, datetime, datetime]]:
        """Name, local start and local end of each interval of a grain."""
        kept = self.kept(name)
        return [] if kept is None else times_of(self.inputs.connection, (kept.timed or kept).source)

    def rows(
        self, name: str, columns: Iterable[str], by: Sequence[str], where: str = "", sums_of: str = ""
    ) -> dict[Names, dict[str, Replicated]]:
        """Columns of a grain by object, over the period.

        Parameters
        ----------
        name
            The grain.
        columns
            Facts and metrics.
        by
            What to keep apart.
        where
            SQL of a condition on objects.
        sums_of
            Metric whose two sums are returned too, as `ABOVE` and `BELOW`.
        """
        wanted = tuple(columns)
        key = (name, wanted, tuple(by), where, sums_of)
        if key not in self._answers:
            self._answers[key] = self._rows(name, wanted, by, where, sums_of)
        return self._answers[key]

    def _wide(self, name: str) -> Grain:
        """The grain with the facts that any question to it needs."""
        whole = GRAINS[name]
        wanted = set(self._needs.get(name, ()))
        grain = reduced(whole, wanted, ())
        settings = {fact.name for fact in whole.facts if fact.rollup.is_setting}
        read = {fact.name for fact in grain.facts} | settings | wanted
        return replace(whole, facts=tuple(fact for fact in whole.facts if fact.name in read))

    def _rows(
        self, name: str, columns: tuple[str, ...], by: Sequence[str], where: str, sums_of: str
    ) -> dict[Names, dict[str, Replicated]]:
        kept = self.kept(name)
        if kept is None:
            return {}
        if name not in self._spread:
            moments = [moment for moment, _, _ in self.times(name)]
            self._spread[name] = (
                without_each_group(self.inputs, kept, moments, alone=True),
                len(group_lengths(len(moments))),
            )
        spread, groups = self._spread[name]
        whole = GRAINS[name]
        grain = reduced(whole, {*columns, sums_of} - {""}, (where,) if where else ())
        named = {*by, *scoping(grain), *(names_in(where) if where else ())}
        grain = replace(grain, attributes=tuple(each for each in whole.attributes if each.name in named))
        read = [*columns]
        if sums_of:
            wide = with_sums(grain, whole.column(sums_of))
            read += [ABOVE, BELOW] if wide is not grain else []
            grain = wide
        by_object: dict[Names, dict[str, dict[str, Any]]] = {}
        for row in rolled_up_without(self.inputs, grain, by, spread, where or None, shown=read):
            by_object.setdefault(tuple(row[key] for key in by), {})[row[LEFT_OUT]] = row
        answers: dict[Names, dict[str, Replicated]] = {}
        for names, mine in by_object.items():
            if NOTHING in mine:
                without, alone = (
                    [mine.get(f"{before}{number}", {}) for number in range(groups)] for before in ("", ALONE)
                )
                answers[names] = {
                    column: Replicated(
                        mine[NOTHING].get(column),
                        tuple(line.get(column) for line in without),
                        tuple(line.get(column) for line in alone),
                    )
                    for column in read
                }
        return answers
