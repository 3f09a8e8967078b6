"""Facts that are known together in the rows of a grain, on which the columns of a roll-up depend.

A metric counts a row only where all that it needs is known. Where every row knows the same, nothing has to be kept
apart, and the statement of a roll-up is a fraction of the other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from plexlens.metrics.definition import Grain
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.required import read_by
from plexlens.metrics.rollup import entity


@dataclass(frozen=True)
class KnownFacts:
    """Combinations of known facts among the rows of a table.

    Attributes
    ----------
    combinations
        Each combination that occurs: whether a fact is known for an entity in an interval, by the fact's name. Only
        facts of metrics that read several facts are in it.
    has_single_rows
        Whether no entity has several rows in an interval; then no part of the rows has any other combination. None if
        no metric reads several facts: then it was not asked.
    """

    combinations: Sequence[Mapping[str, bool]]
    has_single_rows: bool | None = None


def known_facts(inputs: Inputs, rows: str, view: str, grain: Grain, apart: Sequence[str] = ()) -> KnownFacts:
    """The combinations of known facts, among those that the grain's metrics need, per entity and interval.

    Parameters
    ----------
    inputs
        The raw tables.
    rows
        The rows, as SQL; the answer is kept under this text.
    view
        A view of them with ``interval_to``.
    grain
        The metrics.
    apart
        Columns that part an entity.
    """
    needed = read_by(grain, grain.metrics).values()
    there = {fact.name for fact in grain.facts}
    names = tuple(sorted({name for read in needed if len(read.facts & there) > 1 for name in read.facts & there}))
    if not names:
        return KnownFacts(())
    asked: list[tuple[frozenset[str], KnownFacts]] = inputs.patterns.setdefault((rows, tuple(apart)), [])
    for among, known in asked:
        if among.issuperset(names):
            return KnownFacts(_projected(known.combinations, names), known.has_single_rows)
    made = ", ".join(f"count({quoted(name)}) > 0 as {quoted(name)}" for name in names)
    by = ", ".join(quoted(name) for name in (*entity(grain), *apart, "interval", "interval_to"))
    listed = ", ".join(quoted(name) for name in names)
    of_entity = f"select {made}, count(*) as rolled_rows from {view} group by {by}"
    sql = f"select max(rolled_rows), {listed} from ({of_entity}) group by {listed}"
    found = inputs.connection.execute(sql).fetchall()
    combinations = [dict(zip(names, row[1:], strict=True)) for row in found]
    asked.append((frozenset(names), KnownFacts(combinations, all(row[0] == 1 for row in found))))
    return asked[-1][1]


def _projected(combinations: Iterable[Mapping[str, bool]], names: Sequence[str]) -> list[dict[str, bool]]:
    """The combinations restricted to fewer facts, without duplicates."""
    distinct = {tuple(known[name] for name in names) for known in combinations}
    return [dict(zip(names, row, strict=True)) for row in sorted(distinct)]
