"""Sentences on omissions, shown next to the affected numbers."""

from __future__ import annotations

from collections.abc import Sequence

from plexlens.metrics.definition import Rollup
from plexlens.metrics.grain_data import GrainData
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.left_out import LeftOut, left_out
from plexlens.metrics.required import read_by

#: Systems named in one sentence; of more, their number is given.
_MOST_NAMED = 4


def omissions(
    inputs: Inputs,
    grain_data: GrainData,
    columns: Sequence[str],
    where: str | None,
    *,
    timed: bool,
    by: Sequence[str] = (),
) -> str:
    """Intervals omitted by the metrics among the columns because a field is missing; empty if nothing is omitted.

    Metrics that leave out the same intervals share a sentence. ``by`` and ``timed`` are as `left_out` takes them.
    """
    wanted = [metric for metric in grain_data.grain.metrics if metric.name in columns]
    parts: dict[tuple[tuple[tuple[str, ...], int, int], ...], list[str]] = {}
    missing: dict[str, list[LeftOut]] = {}
    for part in left_out(
        inputs,
        grain_data.grain,
        [metric.name for metric in wanted],
        kept=grain_data.kept,
        by=by,
        where=where,
        timed=timed,
    ):
        missing.setdefault(part.metric, []).append(part)
    for metric in wanted:
        if listed := missing.get(metric.name):
            parts.setdefault(tuple((p.observer, p.intervals, p.of) for p in listed), []).append(metric.title)
    return " ".join(
        f"{', '.join(titles)}: without {_whose(systems)}, because a part of the formula is not recorded there."
        for systems, titles in parts.items()
    )


def apart_in_time(grain_data: GrainData, by: Sequence[str], columns: Sequence[str]) -> str:
    """Explanation of numbers over observers that were never measured together; empty if no such numbers are shown."""
    if grain_data.grain.observers[-1] in by:
        return ""
    rules = {fact.name: fact.rollup for fact in grain_data.grain.facts}
    over_time = (Rollup.LEVEL, Rollup.SPAN)
    reads = read_by(grain_data.grain, [metric for metric in grain_data.grain.metrics if metric.name in columns])
    read = {fact for each in reads.values() for fact in each.facts} | set(columns)
    if not any(rules.get(name) in over_time for name in read):
        return ""
    together = [names for names in grain_data.epochs if names]
    if len(together) < 2:
        return ""
    named = [" and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more" for names in together]
    listed = "; ".join(named[:_MOST_NAMED]) + ("; …" if len(named) > _MOST_NAMED else "")
    return (
        f"Not measured at the same time: {listed}. Rates and levels over several of them are means over the whole "
        "time, not sums."
    )


def _whose(systems: Sequence[tuple[tuple[str, ...], int, int]]) -> str:
    def words(observer: tuple[str, ...], intervals: int, of: int) -> str:
        name = " ".join(observer) or "rows without a system"
        return name if intervals == of else f"{intervals:,} of {of:,} intervals of {name}"

    named = [words(*system) for system in systems[:_MOST_NAMED]]
    more = len(systems) - len(named)
    if more:
        named.append(f"{more} more")
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
