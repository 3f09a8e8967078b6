"""From a target configuration to an ordered list of steps, each useful by itself after the steps before it.

The first step only divides the storage that there is anew among the pools. Then at each turn comes what saves most by
the simulated curves: the objects that go to one pool, or more storage; sizes are chosen anew each time. Storage grows
to the knee of its curve first; what lies beyond comes last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from plexlens.pools.members import ALONE, full_name, member_and_pool
from plexlens.pools.page_sample import Curves
from plexlens.pools.search.case import Case, Grouping, Groups
from plexlens.pools.search.placement import divided, simulate
from plexlens.pools.search.sizes import CostCurve, knee

#: Amounts of storage that the curve of the whole is drawn through.
LEVELS = 24

#: Factor up to which storage counts as the same.
NOTHING_MORE = 1.001

#: What a byte past the knee must save, as a share of what one before it saves, to be worth it (chosen).
PAST_KNEE = 0.1


@dataclass(frozen=True)
class StorageCurve:
    """Total cost of all pools with the best sizes, by storage.

    Attributes
    ----------
    budgets
        Bytes, rising; of all members together.
    costs
        Cost of the trace at each.
    knee
        Index of the knee: of the points of the lower hull the one farthest below the chord.
    levels
        The same bytes by member.
    """

    budgets: tuple[int, ...]
    costs: tuple[float, ...]
    knee: int
    levels: tuple[Mapping[str, int], ...] = ()

    @property
    def knee_levels(self) -> Mapping[str, int]:
        """Storage at the knee, by member."""
        return self.levels[self.knee]

    @property
    def knee_bytes(self) -> int:
        """Storage at the knee."""
        return self.budgets[self.knee]

    @property
    def is_flat_past_knee(self) -> bool:
        """Whether a byte past the knee saves less than a tenth of what a byte before it saves."""
        before = self.saved_per_byte(self.budgets[0], self.knee_bytes)
        return self.saved_per_byte(self.knee_bytes, self.budgets[-1]) < PAST_KNEE * before

    def saved_per_byte(self, low: int, high: int) -> float:
        """Average saving per byte between two amounts of storage."""
        costs = np.interp([low, high], self.budgets, self.costs)
        return float(costs[0] - costs[1]) / (high - low) if high > low else 0.0


def storage_curve(case: Case, groups: Groups, curves: Curves) -> StorageCurve:
    """The best cost of groups for amounts of storage in geometric progression from the minimum to the budget."""
    least = {member: max(size, 1) for member, size in case.least_bytes(groups).items()}
    by_member = {
        member: np.geomspace(min(least[member], budget), budget, LEVELS) for member, budget in case.budgets.items()
    }
    tries = [{member: int(sizes[at]) for member, sizes in by_member.items()} for at in range(LEVELS)]
    every = {sum(budgets.values()): budgets for budgets in [*tries, dict(case.budgets)]}
    levels = [every[size] for size in sorted(every) if case.fits(groups, every[size])]
    costs = [simulate(case, groups, curves, level).cost for level in levels]
    budgets = [sum(level.values()) for level in levels]
    return StorageCurve(tuple(budgets), tuple(costs), knee(budgets, costs), tuple(levels))


@dataclass(frozen=True)
class PlannedStep:
    """A step of a plan.

    Attributes
    ----------
    kind
        ``sizes`` (storage of a member divided anew), ``move`` (objects to pools), ``storage`` (more of it).
    targets
        Pools that objects go to.
    objects
        Objects that move.
    budgets
        Bytes for all pools of each member after the step.
    grouping
        Groups and sizes after the step.
    saved
        What the step saves by the curves.
    past_knee
        Whether it is storage beyond the knee.
    member
        Whose storage is divided anew.
    """

    kind: str
    targets: tuple[str, ...]
    objects: frozenset[int]
    budgets: Mapping[str, int]
    grouping: Grouping
    saved: float
    past_knee: bool = False
    member: str = ALONE

    @property
    def budget(self) -> int:
        """Bytes for all pools of all members after the step."""
        return sum(self.budgets.values())


@dataclass(frozen=True)
class Without:
    """Steps left out of a plan.

    Attributes
    ----------
    targets
        Pools that no object goes to.
    sizes
        Members whose sizes within the present storage stay.
    storage
        Whether storage stays as it is.
    """

    targets: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    storage: bool = False

    def and_step(self, step: PlannedStep) -> Without:
        """The same with another step left out."""
        if step.kind == "move":
            return replace(self, targets=self.targets | set(step.targets))
        if step.kind == "sizes":
            return replace(self, sizes=self.sizes | {step.member})
        return replace(self, storage=True)


class Planner:
    """Plans the steps from the present groups to the target groups.

    Parameters
    ----------
    case
        What may be done.
    curves
        Simulated curves of groups.
    present
        Buffers of each pool now, by full name.
    storage
        The curve of the wished groups by storage.
    in_turn
        Whether what each pool's moves save is looked at anew after every step; else the order is that of the first
        look, which is enough where many small objects move.
    glance
        Curves for the first look where that decides the order; None: those of the plan.
    """

    def __init__(
        self,
        case: Case,
        curves: Curves,
        *,
        present: Mapping[str, int],
        storage: StorageCurve,
        in_turn: bool = True,
        glance: Curves | None = None,
    ) -> None:
        self.case = case
        self.curves = curves
        self.present = present
        self.storage = storage
        self.in_turn = in_turn
        self.glance = glance or curves

    def plan(self, wished: Groups, without: Without) -> list[PlannedStep]:
        """Steps in their order."""
        case = self.case
        groups = case.kept(case.home)
        least = case.least_bytes(groups)
        sums = {
            member: sum(size * case.page_bytes[name] for name, size in self._sizes_of(member).items())
            for member in case.members
        }
        level = {member: max(min(sums[member], case.budgets[member]), least[member]) for member in case.members}
        cost = cost_at(groups, self.present, self.curves, case)
        steps: list[PlannedStep] = []

        def take(step: PlannedStep) -> None:
            nonlocal groups, level, cost
            steps.append(step)
            groups, level, cost = dict(step.grouping.groups), dict(step.budgets), step.grouping.cost

        sizes = dict(self.present)
        for member in case.members:
            own = {full_name(member, name) for name in case.pools_of(member, groups)}
            if member in without.sizes or (member and own <= case.pinned):
                continue
            grouping = self._divided(groups, sizes, level, member)
            take(PlannedStep("sizes", (), frozenset(), level, grouping, cost - grouping.cost, member=member))
            sizes = dict(grouping.sizes)
        bundles = {name: objects - case.home.get(name, frozenset()) for name, objects in wished.items()}
        left = {name: objects for name, objects in bundles.items() if objects and name not in without.targets}
        amounts = (
            {} if without.storage else {self.storage.knee_bytes: self.storage.knee_levels, case.budget: case.budgets}
        )
        # Less than a thousandth more is what division into pools leaves over.
        levels = [size for size in sorted(amounts) if size > sum(level.values()) * NOTHING_MORE]
        order = sorted(left)
        if not self.in_turn:
            first = {name: self._move(groups, left, (name,), level, 0.0, curves=self.glance) for name in order}
            saved = {name: -np.inf if step is None else step.saved for name, step in first.items()}
            order.sort(key=lambda name: -saved[name])
        while left or levels:
            tries: list[PlannedStep | None]
            next_ = [name for name in order if name in left]
            tries = [self._move(groups, left, (name,), level, cost) for name in (next_ if self.in_turn else next_[:1])]
            if levels and (levels[0] <= self.storage.knee_bytes or not left):
                tries.append(self._grow(groups, amounts[levels[0]], cost))
            best = max((step for step in tries if step is not None), key=lambda step: step.saved, default=None)
            if best is None or best.saved <= 0:
                # None is of use now: perhaps with more storage, or all objects that are left together.
                if levels:
                    best = self._grow(groups, amounts[levels[0]], cost)
                elif left:
                    best = self._move(groups, left, tuple(sorted(left)), level, cost)
            if best is None:
                break
            take(best)
            left = {name: objects for name, objects in left.items() if name not in best.targets}
            levels = [size for size in levels if size > sum(level.values())]
        return steps

    def _move(
        self,
        groups: Groups,
        left: Mapping[str, frozenset[int]],
        targets: tuple[str, ...],
        level: Mapping[str, int],
        cost: float,
        *,
        curves: Curves | None = None,
    ) -> PlannedStep | None:
        moved = dict(groups)
        objects = frozenset[int]()
        for target in targets:
            objects |= left[target]
            moved = {name: numbers - left[target] for name, numbers in moved.items()}
            moved[target] = moved.get(target, frozenset()) | left[target]
        if not self.case.fits(moved, level):
            return None
        grouping = simulate(self.case, moved, curves or self.curves, level)
        return PlannedStep("move", targets, objects, level, grouping, cost - grouping.cost)

    def _grow(self, groups: Groups, budgets: Mapping[str, int], cost: float) -> PlannedStep:
        grouping = simulate(self.case, groups, self.curves, budgets)
        past = sum(budgets.values()) > self.storage.knee_bytes
        return PlannedStep("storage", (), frozenset(), budgets, grouping, cost - grouping.cost, past)

    def _sizes_of(self, member: str) -> dict[str, int]:
        """Present buffers of a member's pools."""
        split = {name: member_and_pool(name) for name in self.present}
        return {pool: self.present[name] for name, (own, pool) in split.items() if own == member}

    def _divided(self, groups: Groups, sizes: Mapping[str, int], level: Mapping[str, int], member: str) -> Grouping:
        """The groups with the storage of a member divided again."""
        case = self.case
        if case.members == [member]:
            return simulate(case, groups, self.curves, level)
        allocation = divided(case, groups, self.curves, member, level[member])
        names = [full_name(member, name) for name in case.pools_of(member, groups)]
        every = {**sizes, **dict(zip(names, allocation.sizes, strict=True))}
        cost = cost_at(groups, every, self.curves, case)
        return Grouping(groups, every, cost, cost)


def cost_at(groups: Groups, sizes: Mapping[str, int], curves: Curves, case: Case) -> float:
    """Cost of groups with given sizes, from their simulated curves."""
    total = 0.0
    for member in case.members:
        for name in case.pools_of(member, groups):
            curve: CostCurve = curves.of(groups[name], case.page_bytes[name], member)
            total += float(curve.at([sizes[full_name(member, name)]])[0])
    return total
