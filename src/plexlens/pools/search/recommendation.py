"""Recommendations: steps with the saving and the text of each."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, field, replace
from typing import Any

from plexlens.pools.alter import Script
from plexlens.pools.headroom import Headroom
from plexlens.pools.prediction import Activity, State
from plexlens.pools.search.case import Search
from plexlens.pools.search.frontier import Frontier, Point
from plexlens.pools.search.plan import StorageCurve


@dataclass(frozen=True)
class Step:
    """A step of a recommendation.

    Attributes
    ----------
    title
        What is done.
    before, after
        The pools before and after it, simulated. Steps build on each other; for one that is not worth it, what it would
        have done.
    script
        Text for Db2.
    worth
        Whether it is recommended.
    why
        Why it is, or is not.
    objects
        Names of objects that move.
    """

    title: str
    before: State
    after: State
    script: Script
    worth: bool
    why: str
    objects: tuple[str, ...] = ()

    @property
    def saved(self) -> Activity:
        """Savings of the step over the time of the trace, CPU of requests included; negative amounts are increases."""
        before, after = self.before.total, self.after.total
        saved = before + Activity(*(-value for value in astuple(after)))
        return replace(saved, cpu_seconds=self.before.cpu_seconds - self.after.cpu_seconds)


@dataclass(frozen=True)
class Recommendation:
    """Recommended changes.

    Attributes
    ----------
    before, after
        The pools now, and after all steps that are worth it, simulated.
    steps
        Steps in their order, those that are not worth it last.
    script
        Text for Db2 from ``before`` to ``after``.
    search
        How groups were searched for.
    storage
        What more storage would save.
    gap
        How far the sizes can be from the best for these groups, as a fraction of the cost.
    curve_costs
        Cost by the curves, of the present pools and the recommended ones.
    sample
        Share of the pages that groups were chosen on.
    budget
        Bytes that were the limit.
    headroom
        Free storage of the system; None if unknown.
    notes
        What must be known to judge it.
    frontier
        What few and many moves save.
    """

    before: State
    after: State
    steps: tuple[Step, ...]
    script: Script
    search: Search
    storage: StorageCurve
    gap: float
    curve_costs: tuple[float, float]
    sample: float
    budget: int
    headroom: Headroom | None = None
    notes: tuple[str, ...] = field(default=())
    frontier: Frontier | None = None


def to_json(recommendation: Recommendation) -> dict[str, Any]:
    """The steps as one JSON object."""
    return {
        "steps": [
            {
                "title": step.title,
                "worth": step.worth,
                "why": step.why,
                "objects": list(step.objects),
                "saved": asdict(step.saved),
                "commands": list(step.script.change),
                "reverse": list(step.script.reverse),
            }
            for step in recommendation.steps
        ],
        "gap": recommendation.gap,
        "sample": recommendation.sample,
        "budget": recommendation.budget,
        "storage": {
            "knee": recommendation.storage.knee_bytes,
            "budgets": list(recommendation.storage.budgets),
            "costs": list(recommendation.storage.costs),
        },
        "frontier": None if recommendation.frontier is None else _frontier_to_json(recommendation.frontier),
    }


def _frontier_to_json(frontier: Frontier) -> dict[str, Any]:
    def point(entry: Point) -> dict[str, Any]:
        return {
            "name": entry.name,
            "moved": entry.moved,
            "sizes": dict(entry.grouping.sizes),
            "cpu_seconds": entry.state.cpu_seconds,
            "cost": entry.state.cost(frontier.delay_weight),
            "recommended": entry is frontier.chosen,
            "knee": entry is frontier.knee,
        }

    return {
        "points": [point(entry) for entry in frontier.points],
        "rules": [point(rule) for rule in frontier.rules],
        "duality_gap": frontier.gap,
        "model_error": frontier.model_error,
    }
