"""From the selected tables of a database to the changes of all its series."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plexlens.changes.detected import FEWEST_WHOLE, TEST_OF, Detected, Event, Why
from plexlens.changes.judged import RATE, Judged, judged
from plexlens.changes.many import detected
from plexlens.changes.series import Grid, Named, Read, metrics_of, read_series
from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.opening import explained
from plexlens.metrics.question import Question
from plexlens.progress import Progress, silent


@dataclass(frozen=True)
class Change:
    """A change that is reported.

    Attributes
    ----------
    series
        The series.
    detected
        Its tests.
    event
        The change.
    """

    series: Named
    detected: Detected
    event: Event

    @property
    def start(self) -> datetime:
        """Its beginning on the systems' clock."""
        return self.series.grid.moment(self.event.start)

    @property
    def end(self) -> datetime:
        """Its end on the systems' clock."""
        return self.series.grid.moment(self.event.end)

    @property
    def share(self) -> float | None:
        """Difference of the levels as a share of the level before; None where that is zero."""
        before, after = self.event.before, self.event.after
        return (after - before) / abs(before) if before and math.isfinite(before) else None


@dataclass(frozen=True)
class Changes:
    """Changes of a database.

    Attributes
    ----------
    name
        What the user called the database.
    changes
        Every change that is reported, the least probable first.
    judged
        Tests made and passed.
    series
        Number of series read.
    notes
        Series by what could not be tested.
    by_test
        Tests made, by test.
    missing, with_missing
        Missing intervals of the tested series, and the number of series that miss any.
    grids
        First and last moment of the data of each length of a slot.
    read
        What was left out in reading.
    rate
        False discovery rate.
    """

    name: str
    changes: tuple[Change, ...]
    judged: Judged
    series: int
    notes: Counter[Why]
    by_test: Counter[str]
    missing: int
    with_missing: int
    grids: tuple[Grid, ...]
    read: Read
    rate: float


def changed(
    inputs: Inputs,
    name: str,
    *,
    metrics: Sequence[str] = (),
    rate: float = RATE,
    processes: int = 1,
    progress: Progress = silent,
) -> Changes:
    """Find the changes of every metric of a database.

    Parameters
    ----------
    inputs
        The selected tables.
    name
        What the user called the database.
    metrics
        ``grain.metric``; empty for every metric.
    rate
        False discovery rate.
    processes
        Processes that judge series (`plexlens.changes.many.detected`).
    progress
        Told how far it is.

    Raises
    ------
    UsageError
        A metric that does not exist.
    NothingUsableError
        No series has two weeks of whole days.
    """
    wanted = _wanted(metrics) or metrics_of(inputs)
    read = Read()
    named: list[Named] = []
    results: list[Detected] = []
    with explained(inputs.selection):
        each = read_series(inputs, wanted, read, progress)
        of_weekday = ((series, series.grid.first.weekday(), values) for series, values in each)
        for series, result in detected(of_weekday, processes):
            results.append(result)
            named.append(series)
        longest = max((result.whole for result in results), default=0)
        if longest < FEWEST_WHOLE:
            raise NothingUsableError(
                file=name,
                what=_too_short(longest, metrics, read),
                remedy=f"ingest at least {FEWEST_WHOLE} whole days; four weeks give each weekday a profile of its own",
            )
    progress(0, 0, "judging all series together")
    decided = judged(results, rate)
    changes = [
        Change(named[place], results[place], event) for place, events in decided.reported.items() for event in events
    ]
    changes.sort(key=lambda change: (change.event.p or 0.0, change.start, change.series.metric, change.series.label))
    return Changes(
        name,
        tuple(changes),
        decided,
        len(results),
        Counter(note for result in results for note in result.notes),
        Counter(test for result in results for test in result.chances),
        sum(result.missing for result in results if result.chances),
        sum(bool(result.chances and result.missing) for result in results),
        tuple(dict.fromkeys(series.grid for series in named)),
        read,
        rate,
    )


def _too_short(longest: int, metrics: Sequence[str], read: Read) -> str:
    if not longest and metrics:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in read.left_out.items())
        return f"there is no series of {', '.join(metrics)}" + (f" ({reasons})" if reasons else "")
    return f"the longest series has {longest} whole {'day' if longest == 1 else 'days'}; changes need two weeks"


def _wanted(metrics: Sequence[str]) -> dict[str, tuple[str, ...]]:
    wanted: dict[str, list[str]] = {}
    for metric in metrics:
        grain, dot, column = metric.partition(".")
        if not (grain and dot and column):
            raise UsageError(
                file="",
                what=f"--metric {metric!r} is not of the form GRAIN.NAME",
                remedy="give a grain and a metric of it, such as cpu_system.processors_used",
            )
        if column not in Question.of(grain, by=(), columns=[column]).numbers:
            raise UsageError(
                file="", what=f"{metric} is a name, not a number", remedy=f"plexlens metrics {grain} lists its metrics"
            )
        wanted.setdefault(grain, []).append(column)
    return {grain: tuple(dict.fromkeys(columns)) for grain, columns in wanted.items()}


def to_object(result: Changes) -> dict[str, Any]:
    """Changes as plain values, in base units; times are those of the systems' clock."""
    return {
        "source": result.name,
        "false_discovery_rate": result.rate,
        "series": result.series,
        "tests": dict(sorted(result.by_test.items())),
        "tests_passed": result.judged.passed,
        "not_tested": {str(why): count for why, count in sorted(result.notes.items())},
        "missing_intervals": result.missing,
        "series_with_missing_intervals": result.with_missing,
        "left_out": dict(sorted(result.read.left_out.items())),
        "clock_changes": result.read.clock_changes,
        "days_of_utc": result.read.two_clocks,
        "in_local_time": result.read.in_local_time,
        "repeated_slots": result.read.repeated,
        "changes": [
            {
                "kind": change.event.kind,
                "test": TEST_OF[change.event.kind],
                "metric": change.series.metric,
                "unit": change.series.column.unit.base,
                "object": {
                    key: name for key, name in zip(change.series.keys, change.series.names, strict=True)
                    if name is not None
                },
                "start": change.start.isoformat(),
                "end": change.end.isoformat(),
                "before": _known(change.event.before),
                "after": _known(change.event.after),
                "change": change.share,
                "probability": change.event.p,
                "whole_days": change.detected.whole,
                "missing_intervals": change.detected.missing,
                "carried_over": change.detected.carried,
            }
            for change in result.changes
        ],
    }  # fmt: skip


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
