"""Predictions for a change: the twin rerun with the change, and the error bar of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from plexlens.progress import Progress, silent
from plexlens.sharing.error_bar import Answer, Moves, answer_of
from plexlens.sharing.twin_calibrate import Twin
from plexlens.sharing.twin_group import lock_structure, pool_structure
from plexlens.sharing.twin_length import run_length
from plexlens.sharing.twin_numbers import Key, Numbers, of_results
from plexlens.sharing.what_if_changes import Change, Kind, apply_changes
from plexlens.simulate import Scenario, resource_text, run_scenarios
from plexlens.simulate.estimates import Estimate, estimate

#: Part of a number that is not a change: runs of few seconds differ by as much.
_NOISE = 0.01

#: Numbers of a lock structure that page P-locks have a part in.
_OF_LOCKS = frozenset({"contention", "false_contention"})

#: Numbers that mean nothing where there are no requests, or no transactions.
_OF_SOMETHING = frozenset({"hit", "service", "db2_time"})

#: Changes that take service times across the threshold of conversion, or move it.
_OF_SERVICE = frozenset({Kind.SPEED, Kind.DISTANCE, Kind.LINK, Kind.ENGINE_SPEED})

#: Runs with each other threshold that the measurement allows.
_THRESHOLD_RUNS = 2

#: What a change is judged by, in this order.
SHOWN = (
    "overhead", "coupling_cpu", "busy", "lock_requests", "pool_requests", "false_contention", "contention", "hit",
    "absent", "invalid", "xi_write", "xi_reclaim", "directory_reclaims", "sync_reads", "service", "async", "cf_busy",
    "db2_time",
)  # fmt: skip


class Verdict(StrEnum):
    """Judgement of a number after a change."""

    CHANGES = "changes"
    WITHIN = "change within the error bar"
    OFF = "no conclusion: the twin does not match"
    NO_CHANGE = "no change"


@dataclass(frozen=True)
class Outcome:
    """A number before and after a change.

    Attributes
    ----------
    measured
        Before; None where it was not measured, and then the twin's stands for it.
    before, after
        Of the twin.
    answer
        After, as the twin's change makes it of the measured number, with its error bar.
    off
        Relative error of the twin before, where it is beyond the tolerance; else None.
    why
        What the verdict, or a wide error bar, rests on.
    """

    key: Key
    measured: float | None
    before: Estimate
    after: Estimate
    answer: Answer
    off: float | None
    verdict: Verdict
    why: str


@dataclass(frozen=True)
class WhatIf:
    """A change, or several together, and the result."""

    title: str
    changes: tuple[Change, ...]
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    scenario: Scenario

    def of(self, what: str, of: str = "") -> Outcome | None:
        """The outcome of a number; None if it is missing."""
        return next((outcome for outcome in self.outcomes if outcome.key == Key(what, of)), None)


@dataclass(frozen=True)
class _Runs:
    """Numbers of a changed twin by run, total seconds of the runs, and its numbers with other thresholds."""

    numbers: list[Numbers]
    seconds: float
    others: list[Numbers]


def what_if(
    twin: Twin,
    changes: Sequence[Change],
    *,
    tolerance: float = 0.15,
    progress: Progress = silent,
) -> tuple[WhatIf, ...]:
    """The effect of each change alone and, if there are several, of all together.

    Parameters
    ----------
    twin
        A calibrated twin.
    changes
        What to change.
    tolerance
        By how much of a measured number the twin may be off for conclusions to be drawn from it.
    progress
        Told what is done, of how much, and the stage.

    Raises
    ------
    UsageError
        What a change names is not there, or cannot be changed.
    """
    sets: list[tuple[str, tuple[Change, ...]]] = [(change.title, (change,)) for change in changes]
    if len(changes) > 1:
        sets.append(("All together", tuple(changes)))
    # Whether all can be made comes before the first run.
    for _, contents in sets:
        apply_changes(twin.values, contents)
    results = []
    for done, (title, contents) in enumerate(sets):
        progress(done * len(twin.seeds), len(sets) * len(twin.seeds), f"running {title}")
        scenarios, labels = _changed(twin, contents)
        numbers, notes = [], []
        for scenario, simulated in zip(scenarios, run_scenarios(scenarios), strict=True):
            numbers.append(of_results(scenario.values, simulated.results, labels))
            notes += [
                f"The {resource_text(saturated)} is saturated, so its queues grow with the length of the run."
                for saturated in simulated.results["saturated"]
            ]
        seconds = sum(float(scenario.values["run"]["seconds"]) for scenario in scenarios)
        runs = _Runs(numbers, seconds, _other_thresholds(twin, contents, scenarios, labels))
        outcomes = tuple(_outcomes(twin, runs, tolerance))
        results.append(WhatIf(title, contents, outcomes, tuple(dict.fromkeys(notes)), scenarios[0]))
    return tuple(results)


def _changed(twin: Twin, changes: tuple[Change, ...]) -> tuple[list[Scenario], dict[str, str]]:
    """The scenarios of the twin with changes, and the class names by scenario name."""
    scenarios = []
    labels = dict(twin.labels)
    for scenario in twin.scenarios:
        changed = apply_changes(scenario.values, changes)
        labels |= {name: twin.labels.get(old, old) for name, old in changed.labels.items()}
        # A larger group buffer pool takes longer to fill.
        run = scenario.values["run"]
        longer = run | {"warm_up": max(run["warm_up"], run_length(changed.values)["warm_up"])}
        scenarios.append(Scenario("", changed.values | {"run": longer}))
    return scenarios, labels


def _other_thresholds(
    twin: Twin, changes: tuple[Change, ...], scenarios: Sequence[Scenario], labels: dict[str, str]
) -> list[Numbers]:
    """Numbers with the thresholds at the ends of the measured range, if a change may cross them."""
    kinds = {change.kind for change in changes}
    if Kind.THRESHOLD in kinds or not kinds & _OF_SERVICE:
        return []
    others = []
    for seconds in twin.fit.threshold.others():
        for scenario in scenarios[:_THRESHOLD_RUNS]:
            coupling = scenario.values["coupling"] | {"convert_above_us": seconds * 1e6}
            others.append(Scenario("", scenario.values | {"coupling": coupling}))
    runs = zip(others, run_scenarios(others) if others else (), strict=True)
    return [of_results(scenario.values, simulated.results, labels) for scenario, simulated in runs]


def _outcomes(twin: Twin, runs: _Runs, tolerance: float) -> Iterable[Outcome]:
    moves = Moves(
        {check.key: check.measured for check in twin.checks},
        twin.measured.seconds,
        list(twin.runs),
        twin.seconds,
        runs.numbers,
        runs.seconds,
        runs.others,
    )
    keys = sorted({key for run in (*twin.runs, *runs.numbers) for key in run if key.what in SHOWN}, key=_order)
    for key in keys:
        # What a changed group no longer has is none of it: no reads, no reclaims.
        if any(key not in run for run in twin.runs):
            continue
        if key.what in _OF_SOMETHING and any(key not in run for run in runs.numbers):
            continue
        answer = answer_of(key, moves)
        off = _off(twin, key, tolerance)
        verdict, why = _verdict(moves, key, answer, off)
        yield Outcome(
            key,
            moves.measured.get(key),
            estimate([run[key] for run in twin.runs]),
            estimate([run.get(key, 0.0) for run in runs.numbers]),
            answer,
            off,
            verdict,
            why,
        )


def _off(twin: Twin, key: Key, tolerance: float) -> float | None:
    """Relative error of the initial twin, if beyond the tolerance; for contention, also that of its parts."""
    checks = [twin.check(key)]
    if key.what in _OF_LOCKS:
        # Contention for page P-locks, and the locks held, follow from pages that are fitted to these counters.
        for group in twin.measured.groups:
            if key.of == lock_structure(group.name):
                checks += [
                    twin.check(Key(what, pool_structure(group.name, pool)))
                    for pool in group.pools
                    for what in ("page_lock_waits", "page_lock_requests")
                ]
    return next((check.error for check in checks if check and check.is_off(tolerance)), None)


def _order(key: Key) -> tuple[int, str]:
    return SHOWN.index(key.what), key.of


def _verdict(moves: Moves, key: Key, answer: Answer, off: float | None) -> tuple[Verdict, str]:
    """The judgement of a number, and the reason."""
    base = moves.base(key)
    scale = max(abs(base), abs(answer.value))
    changed = abs(answer.value - base) > _NOISE * scale
    if not changed and answer.low >= base * (1.0 - 2 * _NOISE) and answer.high <= base * (1.0 + 2 * _NOISE):
        return Verdict.NO_CHANGE, ""
    if off is not None and changed:
        return Verdict.OFF, f"before the change, the twin differs by {off:+.0%}"
    if answer.low <= base <= answer.high:
        return (Verdict.WITHIN if scale > 0 else Verdict.NO_CHANGE), answer.why
    return Verdict.CHANGES, answer.why
