"""Facts that are known together in the rows of a grain, on which the columns of a roll-up depend.

A metric counts a row only where all that it needs is known. Where every row knows the same, nothing has to be kept
apart, and the statement of a roll-up is a fraction of the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from plexlens.metrics.definition import Grain
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.required import read_by


@dataclass(frozen=True)
class KnownFacts:
    """Combinations of known facts among the rows of a table.

    Attributes
    ----------
    combinations
        Each combination that occurs: whether a fact is known for an entity in an interval, by the fact's name. Only
        facts of metrics that read several facts are in it.
    is_one
        Whether all rows know the same facts, as then all their parts do.
    """

    combinations: Sequence[Mapping[str, bool]]
    is_one: bool = True


def known_facts(
    inputs: Inputs, rows: str, view: str, grain: Grain, *, apart: Sequence[str] = (), single: Callable[[], bool]
) -> KnownFacts:
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
    single
        Says whether no entity has several rows in an interval. It is asked only if rows know different facts.
    """
    needed = read_by(grain, grain.metrics).values()
    there = {fact.name for fact in grain.facts}
    names = tuple(sorted({name for read in needed if len(read.facts & there) > 1 for name in read.facts & there}))
    if not names:
        return KnownFacts(())
    pattern: list[tuple[frozenset[str], KnownFacts]] = inputs.patterns.setdefault((rows, tuple(apart)), [])
    for among, known in pattern:
        if among.issuperset(names):
            return KnownFacts(_projected(known.combinations, names), known.is_one)
    # To tell entities apart takes a hundred times as long as to look at each row, and hardly ever changes the answer.
    of_row = ", ".join(f"{quoted(name)} is not null as {quoted(name)}" for name in names)
    result = inputs.connection.execute(f"select distinct {of_row} from {rows}").fetchall()
    is_one = len(result) <= 1
    if not is_one and not single():
        text = ", ".join(f"count({quoted(name)}) > 0 as {quoted(name)}" for name in names)
        by = ", ".join(quoted(name) for name in (*entity(grain), *apart, "interval", "interval_to"))
        of_entity = f"select {text} from {view} group by {by}"
        result = inputs.connection.execute(f"select distinct * from ({of_entity})").fetchall()
    combinations = [dict(zip(names, row, strict=True)) for row in sorted(result)]
    pattern.append((frozenset(names), KnownFacts(combinations, is_one)))
    return pattern[-1][1]


def have_single_rows(inputs: Inputs, view: str, entities: Sequence[str], *, ask: bool = True) -> bool:
    """Whether no entity has several rows in an interval; then no part of the rows has, either.

    The rows are asked only if ``ask``; otherwise what nobody has asked or noted is taken as false. Of two entities with
    the same hash, one looks like a second row of the other: the longer way is right, too.
    """
    key = ("single rows", view, tuple(entities))
    if ask and key not in inputs.kept:
        listed = ", ".join(quoted(name) for name in (*entities, "interval", "interval_to"))
        sql = f"select count(*) = count(distinct hash({listed})) from {view}"
        row = inputs.connection.execute(sql).fetchone()
        inputs.kept[key] = bool(row and row[0])
    return bool(inputs.kept.get(key))


def note_single_rows(inputs: Inputs, view: str, entities: Sequence[str]) -> None:
    """Note that no entity has several rows in an interval of a view, as whoever made its rows knows."""
    inputs.kept["single rows", view, tuple(entities)] = True


def _projected(combinations: Iterable[Mapping[str, bool]], names: Sequence[str]) -> list[dict[str, bool]]:
    """The combinations restricted to fewer facts, without duplicates."""
    distinct = {tuple(known[name] for name in names) for known in combinations}
    return [dict(zip(names, row, strict=True)) for row in sorted(distinct)]
