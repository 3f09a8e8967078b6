"""Grouping of objects in pools: a search over groups whose curves are simulated.

From several beginnings (where objects are now, all together, clusters of objects that are used alike) objects are moved
one by one to the pool where they cost least, as long as that saves anything by a guess. What comes out of each
beginning is simulated; the best is improved further by moves of which every one is simulated; and objects go back to
where they are where a move saves less than it is worth. Nothing is random: the same trace gives the same groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from plexlens.errors import UsageError
from plexlens.pools.members import full_name
from plexlens.pools.page_sample import Curves
from plexlens.pools.search.beginnings import clusterings, named
from plexlens.pools.search.case import Beginning, Case, Grouping, Groups, Search
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.guess import Guess, Move
from plexlens.pools.search.sizes import Allocation, CostCurve, best_sizes

#: Moves that are simulated in a round of the search by simulation, and rounds of it.
_TRIED, _ROUNDS = 6, 8
#: Outcomes of beginnings among which the exact curves choose.
_CHOSEN = 3


def simulate(case: Case, groups: Groups, curves: Curves, budgets: Mapping[str, int] | None = None) -> Grouping:
    """Groups with the best sizes at every member, from simulated curves.

    Parameters
    ----------
    case
        What may be done.
    groups
        Objects by pool.
    curves
        Simulated curves of groups.
    budgets
        Bytes for all pools of each member, where they are not the case's.

    Raises
    ------
    UsageError
        A budget is below the least sizes.
    """
    kept = case.kept(groups)

    def curve(name: str, member: str) -> CostCurve:
        return curves.of(kept[name], case.page_bytes[name], member)

    return divided_among(case, kept, curve, budgets)


def divided_among(
    case: Case, groups: Groups, curve: Callable[[str, str], CostCurve], budgets: Mapping[str, int] | None = None
) -> Grouping:
    """Groups with the best sizes at every member.

    Parameters
    ----------
    case
        What may be done.
    groups
        Objects by pool, in the order of the pools.
    curve
        The curve of a pool, by its name, at a member.
    budgets
        Bytes for all pools of each member, where they are not the case's.

    Raises
    ------
    UsageError
        A budget is below the least sizes.
    """
    sizes: dict[str, int] = {}
    cost = bound = 0.0
    for member, budget in (case.budgets if budgets is None else budgets).items():
        names = case.pools_of(member, groups)
        allocation = _allocated(case, names, [curve(name, member) for name in names], member, budget)
        sizes |= {full_name(member, name): size for name, size in zip(names, allocation.sizes, strict=True)}
        cost += allocation.cost
        bound += allocation.bound
    return Grouping(groups, sizes, cost, bound)


def divided(case: Case, groups: Groups, curves: Curves, member: str, budget: int) -> Allocation:
    """The best sizes of a member's pools, in the order of `Case.pools_of`.

    Raises
    ------
    UsageError
        The budget is below the least sizes.
    """
    names = case.pools_of(member, groups)
    own = [curves.of(groups[name], case.page_bytes[name], member) for name in names]
    return _allocated(case, names, own, member, budget)


def pinned_where_fixed(case: Case, names: Sequence[str], curves: Sequence[CostCurve], member: str) -> list[CostCurve]:
    """The curves of a member's pools, those of pools whose size is fixed with that size only."""
    full = [full_name(member, name) for name in names]
    return [
        curve.pinned(case.least[name]) if name in case.pinned else curve
        for name, curve in zip(full, curves, strict=True)
    ]


def _allocated(case: Case, names: Sequence[str], curves: Sequence[CostCurve], member: str, budget: int) -> Allocation:
    least = [case.least[full_name(member, name)] for name in names]
    try:
        return best_sizes(pinned_where_fixed(case, names, curves, member), budget, least=least)
    except UsageError as error:
        if not member:
            raise
        raise UsageError(file="", what=f"{member}: {error.what}", remedy=error.remedy) from error


class PlacementSearch:
    """A search for groups of objects that cost less than the present groups.

    Parameters
    ----------
    case
        What may be done.
    curves
        Simulated curves of groups.
    composition
        Guessed curves of groups, by member.
    exact
        Curves by which the best of what was found is chosen, where these are others: dearer and better ones.
    progress
        Told what is being done.
    """

    def __init__(
        self,
        case: Case,
        curves: Curves,
        composition: Mapping[str, Composition],
        *,
        exact: Curves | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.case = case
        self.curves = curves
        self.composition = composition
        self.exact = exact or curves
        self._tell = progress or (lambda stage: None)
        self._home_of = case.home_of()
        self._threshold = 0.0

    def run(self, groupings: Mapping[str, Mapping[int, int]] | None = None) -> Search:
        """Run the search.

        Parameters
        ----------
        groupings
            Further beginnings: a label for each object, by the name of the grouping.

        Raises
        ------
        UsageError
            The budget is below the least sizes of the pools there are.
        """
        case = self.case
        home = simulate(case, case.home, self.exact)
        self._threshold = case.limits.least_gain * home.cost
        labellings = {**clusterings(case, self.composition), **(groupings or {})}
        beginnings: dict[str, Groups] = {"where objects are": case.home}
        beginnings |= {name: named(case, labels) for name, labels in labellings.items()}
        results = self._from(beginnings)
        # With equal costs the earlier starting point wins: the present groups come first.
        ordered = sorted(results.items(), key=lambda item: self._worth(item[1]))
        best = home
        if ordered:
            candidates = [self._improve(ordered[0][1]), *(grouping for _, grouping in ordered[1:_CHOSEN])]
            fewer = [self._take_back(grouping) for grouping in candidates]
            best = min((simulate(case, grouping.groups, self.exact) for grouping in fewer), key=self._worth)
        if self._worth(best) >= home.cost:
            best = home
        text = (
            Beginning(name, grouping.cost, case.moved(grouping.groups), len(grouping.groups))
            for name, grouping in ordered
        )
        return Search(home, best, tuple(text))

    def _from(self, beginnings: Mapping[str, Groups]) -> dict[str, Grouping]:
        """Each starting point improved by estimates, then simulated; groupings met before are left out."""
        groupings: dict[str, Grouping] = {}
        seen: set[tuple[tuple[str, frozenset[int]], ...]] = set()
        for name, groups in beginnings.items():
            self._tell("grouping objects")
            guess = Guess(self.case, self.composition, groups)
            guess.improve(self._threshold)
            improved = guess.groups()
            identity = tuple(improved.items())
            if identity in seen or not self.case.fits(improved, self.case.budgets):
                continue
            seen.add(identity)
            self._tell("simulating groups of objects")
            groupings[name] = simulate(self.case, improved, self.curves)
        return groupings

    def _worth(self, grouping: Grouping) -> float:
        """Cost, plus the required saving for every moved object and new pool."""
        changes = self.case.moved(grouping.groups) + self.case.new_pools(grouping.groups)
        return grouping.cost + self._threshold * changes

    def _improve(self, best: Grouping) -> Grouping:
        """Apply the most promising moves, each simulated, until none saves enough."""
        for _ in range(_ROUNDS):
            self._tell("simulating moves of objects")
            before = best
            for move in self._promising(best.groups):
                if move.number in best.groups.get(move.source, frozenset()):
                    tried = simulate(self.case, move.applied(best.groups), self.curves)
                    best = tried if self._worth(tried) < self._worth(best) else best
            if best is before:
                break
        return best

    def _promising(self, groups: Groups) -> list[Move]:
        guess = Guess(self.case, self.composition, groups)
        moves = [move for number in guess.movable for move in guess.moves_of(number)]
        costs = {move: guess.after(move) for move in moves}
        possible = [move for move in moves if costs[move] < float("inf")]
        return sorted(possible, key=lambda move: (costs[move], move.number, move.target))[:_TRIED]

    def _take_back(self, best: Grouping) -> Grouping:
        """Undo new pools, then single moves, that save less than required."""
        self._tell("removing changes that save little")
        for name in self.case.free:
            objects = best.groups.get(name, frozenset())
            if objects:
                back = dict(best.groups)
                back.pop(name)
                for number in objects:
                    back[self._home_of[number]] |= {number}
                best = self._unless_dearer(best, back)
        guess = Guess(self.case, self.composition, best.groups)
        moves = [
            Move(number, name, self._home_of[number])
            for name, objects in best.groups.items()
            for number in sorted(objects)
            if self._home_of[number] != name
        ]
        for move in sorted(moves, key=lambda move: (guess.after(move), move.number)):
            if move.number in best.groups.get(move.source, frozenset()):
                best = self._unless_dearer(best, move.applied(best.groups))
        return best

    def _unless_dearer(self, best: Grouping, groups: Groups) -> Grouping:
        tried = simulate(self.case, groups, self.curves)
        return tried if self._worth(tried) <= self._worth(best) else best
