"""Intervals left out of a number, because some input of its metric is unknown.

A metric counts an entity's interval only where everything its expression needs is known
(`plexlens.metrics.required`). This module lists the other intervals, so that they can be named next to the number.
Where a row shows no number at all, nothing is missing from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plexlens.metrics.definition import Grain, Rollup
from plexlens.metrics.engine_table import quoted
from plexlens.metrics.epochs import entity
from plexlens.metrics.evaluate import are_single_rows, known_in, rows_view
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.required import Read, read_by
from plexlens.metrics.variants import Combinations


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
    combinations = Combinations(known_in(inputs, grain, kept).combinations)
    reads = {
        name: read
        for name, read in read_by(grain, grain.metrics).items()
        if name in wanted and combinations.mixed(read.needed, read.facts)
    }
    if not reads:
        return []
    view, single = rows_view(inputs, grain, kept, where), are_single_rows(inputs, grain, kept)
    sql = _statement(grain, reads, view, tuple(by), single=single, timed=timed)
    observers = len(_observers(grain))
    result = []
    for row in inputs.connection.execute(sql).fetchall():
        observer, numbers = row[:observers], row[observers:]
        for metric, lacking_intervals in zip(reads, numbers[:-1], strict=True):
            if lacking_intervals:
                named = tuple(name for name in observer if name)
                result.append(LeftOut(metric, named, lacking_intervals, numbers[-1]))
    return result


def _statement(
    grain: Grain, reads: Mapping[str, Read], view: str, by: Sequence[str], *, single: bool, timed: bool
) -> str:
    """SQL of each observer, the intervals left out of each metric, and all of its intervals.

    ``single`` says whether no entity has several rows in an interval. What is known of each entity in each interval
    comes first. Then only the different rows that lack something are kept, which are few: many entities know and lack
    the same, and nothing that follows counts entities.
    """
    settings = {fact.name for fact in grain.facts if fact.rollup.is_setting}
    lengths = {fact.name for fact in grain.facts if fact.rollup is Rollup.SPAN}
    columns = ", ".join(quoted(name) for name in dict.fromkeys((*entity(grain), *by)))
    of_entity = ", ".join(quoted(name) for name in entity(grain))
    read_of = {name: sorted(read.facts & {fact.name for fact in grain.facts}) for name, read in reads.items()}
    facts = sorted({fact for names in read_of.values() for fact in names})
    is_known = "{0} is not null as {1}" if single else "count({0}) > 0 as {1}"
    counts = ", ".join(is_known.format(quoted(name), quoted(f"known_{name}")) for name in facts)
    grouped = "" if single else f" group by {columns}, interval, interval_to"
    cells = f"select {columns}, interval, interval_to, {counts} from {view}{grouped}"

    def known(name: str) -> str:
        column = quoted(f"known_{name}")
        return f"bool_or({column}) over (partition by {of_entity})" if name in settings else column

    marks, shown, present, may_lack, lacking = [], [], [], [], []
    for number, (metric, read) in enumerate(reads.items()):
        clauses = [" or ".join(known(name) for name in sorted(clause)) for clause in read.needed]
        every = " and ".join(f"({clause})" for clause in clauses)
        some = " or ".join(known(name) for name in read_of[metric] if name not in lengths) or "false"
        length = " or ".join(known(name) for name in read_of[metric] if timed and name in lengths) or "false"
        marks.append(f"({every}) as every_{number}, ({some}) as some_{number}, ({length}) as length_{number}")
        shown.append(f"bool_or(every_{number}) as shown_{number}")
        present.append(f"bool_or(every_{number}) as present_{number}")
        may_lack.append(f"(not every_{number} and (some_{number} or length_{number}))")
        lacks = f"shown_{number} and not every_{number} and some_{number}"
        if length != "false":
            lacks = f"shown_{number} and not every_{number} and (some_{number} or not present_{number})"
        lacking.append(f"count(distinct (m.interval, m.interval_to)) filter (where {lacks}) as lacking_{number}")
    observers = [quoted(name) for name in _observers(grain)]
    listed = ", ".join(f"m.{name}" for name in observers)
    named = ", ".join(dict.fromkeys((*observers, *map(quoted, by), "interval", "interval_to")))
    of_interval = [*observers, "interval", "interval_to"]
    groups = [quoted(name) for name in by]
    # Rows without gaps are many: they are read again for each step, and only the others are kept.
    kept = "materialized" if settings.intersection(facts) else "not materialized"
    moments = f"moments as (select {', '.join([*of_interval, *present])} from marked{_group(of_interval)}), "
    timely = f" join moments i on {_same('m', 'i', of_interval)}"
    if not (timed and lengths.intersection(facts)):
        moments = timely = ""
    return (
        f"with marked as {kept} (select {named}, {', '.join(marks)} from ({cells})), "
        f"lacking as materialized (select distinct * from marked where {' or '.join(may_lack)}), "
        f"numbers as (select {', '.join([*groups, *shown])} from marked{_group(groups)}), {moments}"
        f"gaps as (select {', '.join([listed, *lacking])} from lacking m join numbers n on {_same('m', 'n', groups)}"
        f"{timely} group by {listed}), "
        # Pairs of moments counted as such take three times as long.
        f"wholes as (select {', '.join(observers)}, count(*) as intervals "
        f"from (select distinct {', '.join(of_interval)} from {view}){_group(observers)}) "
        f"select m.*, w.intervals from gaps m join wholes w on {_same('m', 'w', observers)} order by {listed}"
    )


def _observers(grain: Grain) -> list[str]:
    return [name for name in grain.observers if name != "sysplex"]


def _group(columns: Sequence[str]) -> str:
    return f" group by {', '.join(columns)}" if columns else ""


def _same(left: str, right: str, columns: Sequence[str]) -> str:
    return " and ".join(f"{left}.{name} is not distinct from {right}.{name}" for name in columns) or "true"
