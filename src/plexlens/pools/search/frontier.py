"""The frontier of a recommendation: what can be saved with few moved objects, and what with many.

Candidates come from the placement by ages (`plexlens.pools.search.medians`), from the search by simulated curves where
there are few objects, and from simple rules; every one is scored by the simulation of the whole trace. What was
simulated corrects the costs of the objects (`plexlens.pools.search.observed`), and the placement by ages is done again
with them. So a point of the frontier is the cheapest that was simulated with as many moves or fewer, and never dearer
than a simple rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plexlens.pools.page_sample import Curves
from plexlens.pools.prediction import State
from plexlens.pools.search.case import Case, Grouping
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.medians import Medians
from plexlens.pools.search.observed import Observed
from plexlens.pools.search.rules import rules
from plexlens.pools.search.sizes import knee

#: Moved objects of the points of the frontier; the last point has any number.
MOVES = (0, 5, 25, 100, None)

#: Times that objects are placed by age and the placements simulated, each time with costs corrected by those before;
#: once less in a trace of more getpages than this.
ROUNDS, LONG = 3, 8_000_000


@dataclass(frozen=True)
class Point:
    """A placement with its sizes, simulated.

    Attributes
    ----------
    name
        How it was found.
    grouping
        Groups and sizes.
    moved
        Objects that change pools.
    state
        The pools, simulated on the whole trace.
    """

    name: str
    grouping: Grouping
    moved: int
    state: State


@dataclass(frozen=True)
class Frontier:
    """The best placement found for each number of moves.

    Attributes
    ----------
    points
        The cheapest simulated placement by number of moves, rising; each saves more than the one before.
    rules
        The simple rules, simulated.
    chosen
        The point that the recommendation is made of.
    bound
        What no placement of the objects in as many pools costs less than by the composed curves, as a share of what the
        best placement costs by them; None where no placement was looked for.
    model_error
        Largest difference between the composed cost of a placement and its simulation, as a share.
    delay_weight
        CPU seconds that a second of delay is worth.
    """

    points: tuple[Point, ...]
    rules: tuple[Point, ...]
    chosen: Point
    bound: float | None = None
    model_error: float | None = None
    delay_weight: float = 0.0

    @property
    def gap(self) -> float | None:
        """Largest further saving of any placement by the composed curves, as a share of the cost."""
        return None if self.bound is None else max(1.0 - self.bound, 0.0)

    @property
    def knee(self) -> Point | None:
        """The point past which a move saves little; None with fewer than three points."""
        if len(self.points) < 3:
            return None
        costs = [point.state.cost(self.delay_weight) for point in self.points]
        return self.points[knee([point.moved for point in self.points], costs)]


@dataclass
class Candidates:
    """Placements that are simulated once each, and the cheapest of them by number of moves.

    Parameters
    ----------
    case
        What may be done.
    simulate
        Simulates placements with their sizes on the whole trace, in one pass.
    """

    case: Case
    simulate: Callable[[Sequence[Grouping]], list[State]]
    points: list[Point] = field(default_factory=list)

    def add(self, named: Mapping[str, Grouping]) -> list[Point]:
        """Simulate groupings that were not simulated before."""
        known = {_identity(point.grouping): point for point in self.points}
        new: dict[object, tuple[str, Grouping]] = {}
        for name, grouping in named.items():
            if _identity(grouping) not in known:
                new.setdefault(_identity(grouping), (name, grouping))
        states = self.simulate([grouping for _, grouping in new.values()]) if new else []
        for (name, grouping), state in zip(new.values(), states, strict=True):
            self.points.append(Point(name, grouping, self.case.moved(grouping.groups), state))
        known = {_identity(point.grouping): point for point in self.points}
        return [replace(known[_identity(grouping)], name=name) for name, grouping in named.items()]

    def frontier(self) -> list[Point]:
        """The cheapest point by number of moves, without those that a point of fewer moves equals or beats."""
        weight = self.case.limits.delay_weight
        found: list[Point] = []
        for point in sorted(self.points, key=lambda point: (point.moved, point.state.cost(weight))):
            if not found or point.state.cost(weight) < found[-1].state.cost(weight):
                found.append(point)
        return found


def _identity(grouping: Grouping) -> object:
    return tuple(grouping.groups.items()), tuple(sorted(grouping.sizes.items()))


def search_frontier(
    case: Case,
    composition: Composition,
    curves: Curves,
    states: Sequence[State],
    simulate: Callable[[Sequence[Grouping]], list[State]],
    *,
    others: Mapping[str, Grouping],
    tell: Callable[[str], None],
) -> Frontier:
    """Look for the frontier of a Db2 alone.

    Parameters
    ----------
    case
        What may be done.
    composition
        Footprints and page reads of the objects by age.
    curves
        LRU curves of groups.
    states
        Configurations simulated so far, the present one first.
    simulate
        Simulates placements with their sizes.
    others
        Placements found otherwise, by name, which are simulated too.
    tell
        Told what is being done.
    """
    candidates = Candidates(case, simulate)
    if case.before.bytes <= case.budget:
        present = case.kept(case.home)
        sizes = {name: case.before.pools[name].size for name in present}
        candidates.points.append(Point("as it is", Grouping(present, sizes, 0.0, 0.0), 0, states[0]))
    tell("simulating simple rules")
    ruled = candidates.add(rules(case, curves))
    candidates.add(others)
    observed = Observed(case, composition)
    for state in states:
        observed.add(state)
    bound = error = None
    if any(number not in case.fixed for number in case.home_of()):
        numbers = sorted({len(case.home), len(case.home) + len(case.free)})
        long = sum(use.total for use in case.work.objects.values()) > LONG
        for _ in range(ROUNDS - long):
            tell("placing objects by age")
            medians = Medians(case, composition.priced(observed.costs()))
            placed, share = _placed(case, medians, numbers)
            tell("simulating placements")
            points = candidates.add(placed)
            weight = case.limits.delay_weight
            apart = [abs(p.grouping.cost / p.state.cost(weight) - 1) for p in points if p.state.cost(weight) > 0]
            bound, error = share, max(apart, default=0.0)
            for point in {_identity(point.grouping): point for point in points}.values():
                observed.add(point.state)
    points = candidates.frontier()
    limit = case.limits.most_moves
    possible = [point for point in candidates.points if limit is None or point.moved <= limit]
    least = case.least_of_move * states[0].cost(case.limits.delay_weight)
    chosen = min(
        possible, key=lambda point: (point.state.cost(case.limits.delay_weight) + least * point.moved, point.moved)
    )
    return Frontier(tuple(_thinned(points)), tuple(ruled), chosen, bound, error, case.limits.delay_weight)


def _placed(case: Case, medians: Medians, numbers: Sequence[int]) -> tuple[dict[str, Grouping], float]:
    """Placements by age for several numbers of pools and moves, and the bound as a share of the best one's cost."""
    targets = [medians.choose(pools) for pools in numbers]
    least = case.least_of_move * medians.present_cost
    whole = [medians.grouping(target, least_saved=least) for target in targets]
    order = sorted(range(len(numbers)), key=lambda at: whole[at].cost)
    found = {f"by age, {numbers[at]} pools": whole[at] for at in order}
    best = order[0]
    limits = {*MOVES, case.limits.most_moves}
    for moves in sorted(limit for limit in limits if limit):
        found[f"by age, {moves} moves"] = medians.grouping(targets[best], most_moves=moves, least_saved=least)
    bound = medians.bound(len(case.names), targets[best].price)
    return found, bound / whole[best].cost if whole[best].cost > 0 else 1.0


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Of the points the last one within each number of moves of the frontier."""
    found: list[Point] = []
    for most in MOVES:
        within = [point for point in points if most is None or point.moved <= most]
        if within and within[-1] not in found:
            found.append(within[-1])
    return found
