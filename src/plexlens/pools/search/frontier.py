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

from plexlens.pools.members import full_name
from plexlens.pools.page_sample import Curves
from plexlens.pools.prediction import State
from plexlens.pools.search.case import Case, Grouping
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.exchange import exchanged
from plexlens.pools.search.medians import Medians
from plexlens.pools.search.observed import Observed
from plexlens.pools.search.rules import rules
from plexlens.pools.search.sizes import knee

#: Moved objects of the points of the frontier; the last point has any number.
MOVES = (0, 5, 25, 100, None)

#: Times that objects are placed by age and the placements simulated, each time with costs corrected by those before;
#: once less in a trace of more getpages than this, and only those of any number of moves but for the last time.
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
        Largest difference between the composed cost of a placement and its simulation, as a share; None where none was
        composed that had not been simulated before.
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

    def with_chosen(self, chosen: Point) -> Frontier:
        """The same with another point recommended, or the same point simulated again."""
        before = next((p for p in self.points if p.grouping == chosen.grouping), None)
        points = tuple(chosen if point is before else point for point in self.points)
        return replace(self, points=points, chosen=chosen)


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
        cheapest: list[Point] = []
        for point in sorted(self.points, key=lambda point: (point.moved, point.state.cost(weight))):
            if not cheapest or point.state.cost(weight) < cheapest[-1].state.cost(weight):
                cheapest.append(point)
        return cheapest


def _identity(grouping: Grouping) -> object:
    return tuple(grouping.groups.items()), tuple(sorted(grouping.sizes.items()))


def search_frontier(
    case: Case,
    composition: Mapping[str, Composition],
    curves: Curves,
    states: Sequence[State],
    simulate: Callable[[Sequence[Grouping]], list[State]],
    *,
    others: Mapping[str, Grouping],
    tell: Callable[[str], None],
) -> Frontier:
    """Look for the frontier.

    Parameters
    ----------
    case
        What may be done.
    composition
        Footprints and page reads of the objects by age, by member.
    curves
        LRU curves of groups.
    states
        Configurations simulated so far, the present one first.
    simulate
        Simulates placements with their sizes; of a group with group buffer pools that may be others than now.
    others
        Placements found otherwise, by name, which are simulated too.
    tell
        Told what is being done.
    """
    candidates = Candidates(case, simulate)
    if all(case.before.of(member).bytes <= budget for member, budget in case.budgets.items()):
        present = case.kept(case.home)
        sizes = {
            full: case.before.pools[full].size
            for member in case.members
            for full in (full_name(member, name) for name in case.pools_of(member, present))
        }
        now = {"as it is": Grouping(present, sizes, 0.0, 0.0)}
        if case.work.members and case.limits.structures is not None:
            candidates.add(now)
        else:
            candidates.points += [Point(name, grouping, 0, states[0]) for name, grouping in now.items()]
    tell("simulating simple rules")
    simple = rules(case, curves)
    # In one call, so that they are simulated in as few passes as possible.
    ruled = candidates.add({**simple, **others})[: len(simple)]
    observed = Observed(case, composition)
    for state in states:
        observed.add(state)
    bound = error = None
    # Placements composed before they were simulated, which the present one and simple rules are not.
    predicted: set[object] = set()
    if any(number not in case.fixed for number in case.home_of()):
        numbers = sorted({len(case.home), len(case.home) + len(case.free)})
        long = sum(use.total for use in case.work.objects.values()) > LONG
        rounds = ROUNDS - long
        for number in range(1, rounds + 1):
            tell("placing objects by age")
            medians = Medians(case, observed.priced())
            placed, share = _placed(case, medians, numbers, few=long and number < rounds)
            tell("simulating placements")
            known = {_identity(point.grouping) for point in candidates.points}
            points = candidates.add(placed)
            weight = case.limits.delay_weight
            predicted |= {_identity(point.grouping) for point in points} - known
            apart = [
                abs(p.grouping.cost / p.state.cost(weight) - 1)
                for p in points
                if _identity(p.grouping) in predicted and p.state.cost(weight) > 0
            ]
            bound, error = share, max(apart, default=error)
            for point in {_identity(point.grouping): point for point in points}.values():
                observed.add(point.state)
    limit = case.limits.most_moves
    tell("exchanging storage between pools")
    for start in _starts(candidates.frontier(), limit):
        cost, moves = start.state.cost(case.limits.delay_weight), limit is None and case.limits.moves
        exchanged(case, start.grouping, cost, curves, _costs(candidates), moves=moves)
    points = candidates.frontier()
    possible = [point for point in candidates.points if limit is None or point.moved <= limit]
    least = case.least_of_move * states[0].cost(case.limits.delay_weight)
    chosen = min(
        possible, key=lambda point: (point.state.cost(case.limits.delay_weight) + least * point.moved, point.moved)
    )
    return Frontier(tuple(_thinned(points)), tuple(ruled), chosen, bound, error, case.limits.delay_weight)


def _starts(points: Sequence[Point], limit: int | None) -> list[Point]:
    """Points whose sizes are searched: the one without moves, and the cheapest that may be recommended."""
    allowed = [point for point in points if limit is None or point.moved <= limit]
    return [point for point in allowed if point is allowed[-1] or not point.moved]


def _costs(candidates: Candidates) -> Callable[[Mapping[str, Grouping]], list[tuple[Grouping, float]]]:
    weight = candidates.case.limits.delay_weight
    return lambda named: [(point.grouping, point.state.cost(weight)) for point in candidates.add(named)]


def _placed(case: Case, medians: Medians, numbers: Sequence[int], *, few: bool) -> tuple[dict[str, Grouping], float]:
    """Placements by age for several numbers of pools and moves, and the bound as a share of the best one's cost.

    With ``few`` only those whose simulation says most about the costs: of any number of moves.
    """
    targets = [medians.choose(pools) for pools in numbers]
    least = case.least_of_move * medians.present_cost
    whole = [medians.grouping(target, least_saved=least) for target in targets]
    order = sorted(range(len(numbers)), key=lambda at: whole[at].cost)
    placements = {f"by age, {numbers[at]} pools": whole[at] for at in order}
    best = order[0]
    limits = {*MOVES, case.limits.most_moves}
    for moves in sorted(limit for limit in limits if limit and not few):
        placements[f"by age, {moves} moves"] = medians.grouping(targets[best], most_moves=moves, least_saved=least)
    bound = medians.bound(len(case.names), targets[best].price)
    return placements, bound / whole[best].cost if whole[best].cost > 0 else 1.0


def _thinned(points: Sequence[Point]) -> list[Point]:
    """The last point within each limit of moves (`MOVES`)."""
    chosen: list[Point] = []
    for most in MOVES:
        within = [point for point in points if most is None or point.moved <= most]
        if within and within[-1] not in chosen:
            chosen.append(within[-1])
    return chosen
