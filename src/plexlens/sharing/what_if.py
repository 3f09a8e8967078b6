"""What a change would give: the twin run again with it, and a closed form beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from plexlens.progress import Progress, silent
from plexlens.sharing.twin import PATH, run_length
from plexlens.sharing.twin_calibrate import Twin
from plexlens.sharing.twin_group import lock_structure, pool_structure
from plexlens.sharing.twin_numbers import TITLES, Key, Numbers, of_results
from plexlens.sharing.what_if_changes import Change, apply_changes
from plexlens.sharing.what_if_closed import Basis, closed_numbers
from plexlens.simulate import Scenario, resource_text, run_scenarios
from plexlens.simulate.estimates import Estimate, estimate

#: By how much twin and closed form may differ and still be said to agree: of the number, and of its change.
_AGREE, _AGREE_CHANGE = 0.01, 0.25

#: Part of a number that is no change: runs of few seconds differ by as much.
_NOISE = 0.02

#: Shares that can be anything from none to all: changes of them are added, not multiplied.
_ADDED = frozenset({"hit", "async"})

#: Numbers of a lock structure that page P-locks have a part in.
_OF_LOCKS = frozenset({"contention", "false_contention"})

#: A number below which a ratio to it is not taken, by unit.
_LEAST = {"/s": 0.05, "%": 1e-6, "us": 1e-9, "ms": 1e-9, "engines": 1e-9}

#: What a change is judged by, in this order.
SHOWN = (
    "overhead", "coupling_cpu", "busy", "lock_requests", "pool_requests", "false_contention", "contention", "hit",
    "absent", "invalid", "xi_write", "xi_reclaim", "directory_reclaims", "sync_reads", "service", "async", "cf_busy",
    "db2_time",
)  # fmt: skip


class Trust(StrEnum):
    """Which of the two to go by."""

    BOTH = "both agree"
    TWIN = "the twin"
    CLOSED = "the closed form"
    NEITHER = "neither: the twin is off"
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
    predicted
        After, as the twin's change makes it of the measured number.
    closed
        The same by the closed form; None where it has none.
    off
        Relative error of the twin before, where it is beyond the tolerance; else None.
    """

    key: Key
    measured: float | None
    before: Estimate
    after: Estimate
    predicted: Estimate
    closed: float | None
    off: float | None
    trust: Trust
    why: str


@dataclass(frozen=True)
class WhatIf:
    """A change, or several together, and what it gives."""

    title: str
    changes: tuple[Change, ...]
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...]
    scenario: Scenario

    def of(self, what: str, of: str = "") -> Outcome | None:
        """The outcome of a number; None where it is not there."""
        return next((one for one in self.outcomes if one.key == Key(what, of)), None)


def basis_of(twin: Twin) -> Basis:
    """What the closed form takes from the measurement."""
    measured = twin.measured
    times = {one.name: one.work.db2_elapsed for one in twin.classes}
    castouts = {}
    for group in measured.groups:
        for pool in group.pools:
            used = [member.group_pools[pool] for member in group.members if pool in member.group_pools]
            writes, pages = sum(one.writes for one in used), sum(one.castouts for one in used)
            if writes and pages:
                castouts[f"{group.name}_G{pool}"] = min(pages / writes, 1.0)
    kept = {name: about.kept for name, about in measured.allocated.items() if about.kept is not None}
    return Basis(times, twin.labels, castouts, kept)


def what_if(
    twin: Twin,
    changes: Sequence[Change],
    *,
    tolerance: float = 0.15,
    progress: Progress = silent,
) -> tuple[WhatIf, ...]:
    """What each change would give alone, and, where there are several, all of them together.

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
    made = [apply_changes(twin.values, held) for _, held in sets]
    basis = basis_of(twin)
    closed_before = closed_numbers(twin.values, basis)
    total, done = len(sets) * len(twin.seeds), 0
    found = []
    for (title, held), changed in zip(sets, made, strict=True):
        labels = twin.labels | {name: twin.labels.get(old, old) for name, old in changed.labels.items()}
        # A larger group buffer pool takes longer to fill.
        run = twin.values["run"]
        longer = run | {"warm_up": max(run["warm_up"], run_length(changed.values)["warm_up"])}
        scenario = Scenario("", changed.values | {"run": longer})
        runs, notes = [], []
        progress(done, total, f"running {title}")
        for simulated in run_scenarios([scenario.with_run(seed=seed) for seed in twin.seeds]):
            results = simulated.results
            runs.append(of_results(changed.values, results, labels))
            notes += [
                f"The {resource_text(one)} is saturated: queues there grow with the length of the run."
                for one in results["saturated"]
            ]
            done += 1
        closed_after = closed_numbers(changed.values, basis)
        outcomes = tuple(_outcomes(twin, runs, closed_before, closed_after, tolerance))
        found.append(WhatIf(title, held, outcomes, tuple(dict.fromkeys(notes)), scenario))
    return tuple(found)


def _outcomes(
    twin: Twin, runs: Sequence[Numbers], closed_before: Numbers, closed_after: Numbers, tolerance: float
) -> Iterable[Outcome]:
    keys = sorted({key for run in (*twin.runs, *runs) for key in run if key.what in SHOWN}, key=_order)
    for key in keys:
        # What a changed group no longer has is none of it: no reads, no reclaims.
        before, after = ([run.get(key) for run in held] for held in (twin.runs, runs))
        if None in before or (None in after and key.what in ("hit", "service", "db2_time")):
            continue
        pairs = [(one or 0.0, other or 0.0) for one, other in zip(before, after, strict=True)]
        check = twin.check(key)
        measured = check.measured if check else None
        base = measured if measured is not None else sum(one for one, _ in pairs) / len(pairs)
        predicted = estimate([_moved(key, base, one, other) for one, other in pairs])
        closed = _closed(twin, key, base, closed_before, closed_after)
        off = _off(twin, key, tolerance)
        mean = sum(one for one, _ in pairs) / len(pairs)
        trust, why = _trust(key, _Found(base, mean, predicted, closed, closed_before.get(key), off))
        yield Outcome(
            key,
            measured,
            estimate([one for one, _ in pairs]),
            estimate([other for _, other in pairs]),
            predicted,
            closed,
            off,
            trust,
            why,
        )


def _off(twin: Twin, key: Key, tolerance: float) -> float | None:
    """Relative error of the twin before, where it is beyond the tolerance; of contention also that of its parts."""
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


def _moved(key: Key, base: float, before: float, after: float) -> float:
    """A measured number after a change that a model tells: moved in proportion, or by the difference."""
    if key.what in _ADDED:
        return min(max(base + after - before, 0.0), 1.0)
    if before > _LEAST[TITLES[key.what][1]] and base > 0:
        moved = base * after / before
        return min(moved, 1.0) if key.what in _OF_LOCKS else moved
    return max(base + after - before, 0.0)


def _closed(twin: Twin, key: Key, base: float, before: Numbers, after: Numbers) -> float | None:
    """The measured number moved as the closed form has it."""
    if key.what in ("busy", "overhead"):
        return _processors(twin, key, base, before, after)
    if key.what == "db2_time":
        part = Key("coupling_time", key.of)
        return max(base + after[part] - before[part], 0.0) if part in before and part in after else None
    return _moved(key, base, before[key], after.get(key, 0.0)) if key in before else None


def _processors(twin: Twin, key: Key, base: float, before: Numbers, after: Numbers) -> float:
    """Engines busy, or the increase: what is saved or added at the coupling facility and by reads from disk."""
    cpu = Key("coupling_cpu")
    check = twin.check(cpu)
    coupling = check.measured if check else before[cpu]
    new = _moved(cpu, coupling, before[cpu], after[cpu])
    systems = {one.system for one in twin.classes}
    busy = sum(twin.measured.systems[name].busy for name in systems)
    reads = sum(after[one] - before[one] for one in before if one.what == "sync_reads")
    disk = reads * PATH["read_us"] / 1e6
    whole = busy + new - coupling + disk
    if key.what == "overhead":
        return new / (whole - new) if whole > new else 0.0
    return max(base * whole / busy, 0.0)


@dataclass(frozen=True)
class _Found:
    """Numbers that a judgement is made of; ``formula`` is the closed form before the change."""

    base: float
    before: float
    predicted: Estimate
    closed: float | None
    formula: float | None
    off: float | None


def _trust(key: Key, found: _Found) -> tuple[Trust, str]:
    """Which number to go by, and why."""
    base, closed, predicted = found.base, found.closed, found.predicted
    scale = max(abs(base), abs(predicted.mean), _LEAST[TITLES[key.what][1]])
    half = 0.0 if math.isnan(predicted.half_width) else predicted.half_width
    moved = abs(predicted.mean - base) > max(half, _NOISE * scale)
    closed_moved = closed is not None and abs(closed - base) > 0.01 * scale
    if not moved and not closed_moved:
        return Trust.NO_CHANGE, ""
    if found.off is not None:
        said = f"before the change the twin is off by {found.off:+.0%}"
        # Both have their page P-locks of one fit: where it is off, the closed form is no better.
        known = key.what not in _OF_LOCKS and closed is not None and found.formula is not None and base > 0
        if known and abs((found.formula or 0.0) / base - 1.0) <= abs(found.off) / 2.0:
            return Trust.CLOSED, f"{said}, the closed form by less"
        return Trust.NEITHER, said
    if closed is not None:
        largest = max(abs(predicted.mean - base), abs(closed - base))
        if abs(closed - predicted.mean) <= max(half, _AGREE * scale, _AGREE_CHANGE * largest):
            return Trust.BOTH, ""
    if half > 0.5 * scale and closed is not None:
        return Trust.CLOSED, "events are too rare in the runs: the confidence interval is wide"
    return Trust.TWIN, _why_twin(found)


def _why_twin(found: _Found) -> str:
    if found.closed is None:
        return "the closed form has no such number"
    if found.formula is None or not found.before:
        return ""
    return f"before the change the closed form differs from the twin by {found.formula / found.before - 1.0:+.0%}"
