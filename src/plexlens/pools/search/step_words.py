"""Titles and reasons of the steps of a recommendation, and its limitations."""

from __future__ import annotations

from plexlens.metrics.display import significant, storage_size
from plexlens.pools.prediction import State
from plexlens.pools.search.case import Case, Limits
from plexlens.pools.search.plan import PAST_KNEE, PlannedStep, StorageCurve

#: Parts of a group that a recommendation leaves as they are.
NOT_OPTIMISED = "Not optimised in a group: CLASST, GBPOOLT, GBPCACHE"


def title_and_why(case: Case, planned: PlannedStep, storage: StorageCurve) -> tuple[str, str]:
    """Title of a step, and the reason for it.

    Parameters
    ----------
    case
        The pools now, and the whole budget.
    planned
        The step.
    storage
        The curve of the wished groups by storage.
    """
    if planned.kind == "sizes":
        whose = f" of {planned.member}" if planned.member else ""
        spent = planned.budgets.get(planned.member, planned.budget)
        title = f"Divide {storage_size(spent)} among the pools{whose} by the saving per buffer"
        why = "storage goes where it saves most I/O cost"
        if is_over(case, planned):
            why = f"the budget is below the present {storage_size(_held(case, planned)[0])}; {why}"
        return title, why
    if planned.kind == "move":
        count = len(planned.objects)
        to = ", ".join(f"new {name}" if name not in case.home else name for name in planned.targets)
        title = f"Move {count} object{'s' * (count != 1)} to {to}"
        return title, "objects that displace each other's pages are separated"
    title = f"Enlarge the pools to {storage_size(planned.budget)}"
    if not planned.past_knee:
        return title, f"up to the knee of the curve of storage, {storage_size(storage.knee_bytes)}"
    here = storage.saved_per_byte(storage.knee_bytes, storage.budgets[-1]) * (1 << 30)
    there = storage.saved_per_byte(storage.budgets[0], storage.knee_bytes) * (1 << 30)
    share = f"{'less than' if storage.is_flat_past_knee else 'at least'} {PAST_KNEE:.0%} of it"
    why = (
        f"beyond the knee at {storage_size(storage.knee_bytes)} a GiB saves {_rate(case, here)}, before it "
        f"{_rate(case, there)}: {share}"
    )
    return title, why


def why_refused(limits: Limits, planned: float, saved: float, least: float, objects: int) -> str:
    """Why a step is not worth it.

    Parameters
    ----------
    limits
        What a change must save.
    planned, saved
        What the step saves by the curves, and simulated.
    least
        What a change must save at least.
    objects
        Objects that move.
    """
    share = saved / least * limits.least_gain if least > 0 else 0.0
    if planned > 0 >= saved:
        return (
            f"the curves predict a saving, but simulation with prefetch and write thresholds costs {-share:.2%} "
            "more I/O CPU"
        )
    if saved <= 0:
        return f"it costs {-share:.2%} more I/O CPU" if saved < 0 else "it saves no I/O CPU"
    return f"it saves {share:.2%} of the I/O CPU; the minimum for a change is {limits.least_gain:.2%}" + (
        f", for each of {objects} objects" * (objects > 1)
    )


def is_over(case: Case, planned: PlannedStep) -> bool:
    """Whether the pools that a step divides storage among exceed their allowed storage now."""
    have, allowed = _held(case, planned)
    return have > allowed


def _held(case: Case, planned: PlannedStep) -> tuple[int, int]:
    """Present and allowed bytes of the pools of the step's member, or of all members if the step belongs to none."""
    if planned.member in case.budgets:
        return case.before.of(planned.member).bytes, case.budgets[planned.member]
    return case.before.bytes, case.budget


def _rate(case: Case, cost: float) -> str:
    seconds = case.work.seconds
    if seconds > 0:
        return f"{significant(3600 * cost / seconds, 3)} CPU seconds per hour"
    return f"{significant(cost, 3)} CPU seconds in the trace"


def limitations(case: Case, after: State) -> list[str]:
    """Limitations of a recommendation for a group."""
    if not case.work.members:
        return []
    notes = [NOT_OPTIMISED]
    if case.limits.moves and case.limits.budgets.keys() != case.work.members.keys():
        notes.append("Objects are not moved: a move applies to all members, so every member needs a budget (--budget)")
    if case.limits.structures is None:
        reclaimed = [pool for pool, structure in after.structures.items() if structure.invalidated_by_reclaim]
        text = f" ({', '.join(f'G{pool}' for pool in reclaimed)} take directory entries from pages in use)"
        notes.append(
            "Group buffer pools are not changed" + (text if reclaimed else "") + ": --gbp-budget sizes them too"
        )
    return notes
