"""Intervals left out of a number, because some input of its metric is unknown.

A metric counts an entity's interval only where everything its expression needs is known
(`plexlens.metrics.required`). This module lists the other intervals, so that they can be named next to the number.
Where a row shows no number at all, nothing is missing from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plexlens.metrics.definition import Grain, Rollup
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity
from plexlens.metrics.evaluate import known_in, rows_view
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.required import read_by
from plexlens.metrics.variants import mixed


@dataclass(frozen=True)
class LeftOut:
    """Intervals of an observer that a metric leaves out.

    Attributes
    ----------
    metric
        Name of the metric.
    observer
        Values of the grain's `observers` without the sysplex: the system, and the Db2 or region.
    intervals
        Intervals of which an entity is left out.
    of
        Intervals of the observer.
    """

    metric: str
    observer: tuple[str, ...]
    intervals: int
    of: int


def left_out(
    inputs: Inputs,
    grain: Grain,
    metrics: Iterable[str],
    *,
    kept: Any,
    by: Iterable[str] = (),
    where: Any = None,
    timed: bool = True,
) -> list[LeftOut]:
    """The intervals left out of the metrics over some rows of facts.

    Parameters
    ----------
    inputs
        The raw tables.
    grain
        The grain of the metrics.
    metrics
        Names of metrics; names of facts are passed over, they count every row.
    kept
        Facts of the grain, as `plexlens.metrics.evaluate.evaluate` takes them.
    by
        Columns that distinguish the numbers shown; without any, one number is shown. An interval counts as left out of
        a number only if other intervals give that number a value.
    where
        Which of them count.
    timed
        Whether an interval also counts as left out if only its length is known, and no other entity of its observer
        has the number in it.
    """
    wanted = set(metrics)
    patterns = known_in(inputs, grain, kept).combinations
    reads = {
        name: read
        for name, read in read_by(grain, grain.metrics).items()
        if name in wanted and mixed(read.needed, patterns, read.facts)
    }
    if not reads:
        return []
    settings = {fact.name for fact in grain.facts if fact.rollup.is_setting}
    lengths = {fact.name for fact in grain.facts if fact.rollup is Rollup.SPAN}
    columns = ", ".join(quoted(name) for name in dict.fromkeys((*entity(grain), *by)))
    of_entity = ", ".join(quoted(name) for name in entity(grain))
    shown = f"over ({_partition(by)})"
    observers = [name for name in grain.observers if name != "sysplex"]
    interval = f"over ({_partition((*observers, 'interval', 'interval_to'))})"
    read_of = {name: sorted(read.facts & {fact.name for fact in grain.facts}) for name, read in reads.items()}
    facts = sorted({fact for names in read_of.values() for fact in names})
    counts = ", ".join(f"count({quoted(name)}) > 0 as {quoted(f'known_{name}')}" for name in facts)
    cells = (
        f"select {columns}, interval, interval_to, {counts} from {rows_view(inputs, grain, kept, where)} "
        f"group by {columns}, interval, interval_to"
    )

    def known(name: str) -> str:
        column = quoted(f"known_{name}")
        return f"bool_or({column}) over (partition by {of_entity})" if name in settings else column

    marks, lacks = [], []
    for number, (metric, read) in enumerate(reads.items()):
        clauses = [" or ".join(known(name) for name in sorted(clause)) for clause in read.needed]
        every = " and ".join(f"({clause})" for clause in clauses)
        some = " or ".join(known(name) for name in read_of[metric] if name not in lengths) or "false"
        length = " or ".join(known(name) for name in read_of[metric] if timed and name in lengths) or "false"
        marks.append(f"({every}) as every_{number}, ({some}) as some_{number}, ({length}) as length_{number}")
        lacks.append(
            f"(some_{number} or (length_{number} and not bool_or(every_{number}) {interval})) "
            f"and not every_{number} and bool_or(every_{number}) {shown} as lacks_{number}"
        )
    listed = ", ".join(quoted(name) for name in observers)
    lacking = ", ".join(
        f"count(distinct (interval, interval_to)) filter (where lacks_{number}) as lacking_{number}"
        for number in range(len(reads))
    )
    marked = f"select *, {', '.join(marks)} from ({cells})"
    sql = (
        f"select {listed}, {lacking}, count(distinct (interval, interval_to)) as intervals "
        f"from (select *, {', '.join(lacks)} from ({marked})) group by {listed} order by {listed}"
    )
    result = []
    for row in inputs.connection.execute(sql).fetchall():
        observer, numbers = row[: len(observers)], row[len(observers) :]
        for metric, lacking_intervals in zip(reads, numbers[:-1], strict=True):
            if lacking_intervals:
                named = tuple(name for name in observer if name)
                result.append(LeftOut(metric, named, lacking_intervals, numbers[-1]))
    return result


def _partition(names: Iterable[str]) -> str:
    columns = ", ".join(quoted(name) for name in names)
    return f"partition by {columns}" if columns else ""
