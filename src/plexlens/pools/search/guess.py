"""Improvement of groups by estimates: many moves are tried, each costing only an addition.

What a group costs is composed from its objects (`plexlens.pools.search.composition`); the sizes of all pools are
chosen anew for every try, by dynamic programming on a coarse grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plexlens.pools.members import full_name
from plexlens.pools.search.case import Case, Groups
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.sizes import Floats

#: Parts that storage is divided into.
_UNITS = 96
#: Rounds through all objects.
_SWEEPS = 12

_AT = np.arange(_UNITS + 1)
_REST = np.maximum(_AT[:, None] - _AT[None, :], 0)
_IMPOSSIBLE = _AT[:, None] < _AT[None, :]

#: Working sets and costs by age of the objects of a pool, by its full name, added up.
Sums = Mapping[str, tuple[Floats, Floats]]


@dataclass(frozen=True)
class Move:
    """Move of an object from one pool to another."""

    number: int
    source: str
    target: str

    def applied(self, groups: Groups) -> dict[str, frozenset[int]]:
        """The groups after the move."""
        moved = dict(groups)
        moved[self.source] = moved[self.source] - {self.number}
        moved[self.target] = moved.get(self.target, frozenset()) | {self.number}
        return moved


class Guess:
    """Groups with an estimated cost, updated as objects move.

    Parameters
    ----------
    case
        What may be done.
    composition
        What objects do alone, by member.
    groups
        The groups to begin with.
    """

    def __init__(self, case: Case, composition: Mapping[str, Composition], groups: Groups) -> None:
        self.case = case
        self.composition = composition
        self.home = case.home_of()
        self.members = {name: set(groups.get(name, frozenset())) for name in case.names}
        self.place = {number: name for name, objects in self.members.items() for number in objects}
        self._sums = {
            full_name(member, name): self._sum(member, objects)
            for member in case.members
            for name, objects in self.members.items()
        }
        self.movable = sorted(
            (number for number in self.home if number not in case.fixed),
            key=lambda number: (-self._most(number), number),
        )

    def groups(self) -> dict[str, frozenset[int]]:
        """The present groups."""
        return self.case.kept({name: frozenset(objects) for name, objects in self.members.items()})

    def cost(self) -> float:
        """The estimated cost of the groups."""
        return self._cost(self._sums, self._used())

    def after(self, move: Move) -> float:
        """The estimated cost after a move."""
        tried = {**self._sums}
        for member, own in self.composition.items():
            if move.number not in own.costs:
                continue
            values, costs = own.working_sets[move.number], own.costs[move.number]
            source, target = full_name(member, move.source), full_name(member, move.target)
            tried[source] = (tried[source][0] - values, tried[source][1] - costs)
            tried[target] = (tried[target][0] + values, tried[target][1] + costs)
        leaves_none = len(self.members[move.source]) == 1 and move.source not in self.case.home
        used = [name for name in self._used(move.target) if not (leaves_none and name == move.source)]
        return self._cost(tried, used)

    def moves_of(self, number: int) -> Iterator[Move]:
        """Possible moves of an object. New pools without objects are equivalent, so only one is considered."""
        source = self.place[number]
        size = self.case.page_bytes[source]
        new_seen = False
        for target in self.case.names:
            if target == source or self.case.page_bytes[target] != size:
                continue
            if not self.members[target] and target not in self.case.home:
                if new_seen:
                    continue
                new_seen = True
            yield Move(number, source, target)

    def move(self, move: Move) -> None:
        """Apply a move."""
        self.members[move.source].discard(move.number)
        self.members[move.target].add(move.number)
        self.place[move.number] = move.target
        self._renew(move.source, move.target)

    def improve(self, threshold: float) -> None:
        """Move single objects, and dissolve new pools, while each change saves more than the threshold."""
        now = self.cost()
        for _ in range(_SWEEPS):
            before = now
            for number in self.movable:
                tries = []
                for move in self.moves_of(number):
                    cost = self.after(move)
                    # To go home is free; any other move must pay.
                    least = 0.0 if self.home[number] == move.target else threshold
                    if cost < now - least:
                        tries.append((cost, move.target, move))
                if tries:
                    now, _, chosen = min(tries)
                    self.move(chosen)
            now = self._merge(now)
            if before - now <= threshold:
                return

    def _merge(self, now: float) -> float:
        """Dissolve new pools whose objects cost no more in another pool."""
        for name in self.case.free:
            if not self.members[name]:
                continue
            tries = []
            for target in self._used():
                if target == name or self.case.page_bytes[target] != self.case.page_bytes[name]:
                    continue
                tried = {**self._sums}
                for member in self.case.members:
                    own, other = tried[full_name(member, name)], tried[full_name(member, target)]
                    tried[full_name(member, target)] = (other[0] + own[0], other[1] + own[1])
                tries.append((self._cost(tried, [part for part in self._used() if part != name]), target))
            if tries and min(tries)[0] <= now:
                now, target = min(tries)
                for number in self.members[name]:
                    self.place[number] = target
                self.members[target] |= self.members[name]
                self.members[name] = set()
                self._renew(name, target)
        return now

    def _used(self, also: str = "") -> list[str]:
        case = self.case
        return [name for name in case.names if name in case.home or self.members[name] or name == also]

    def _renew(self, *names: str) -> None:
        # Added up anew: differences would leave rounding behind.
        for member in self.case.members:
            for name in names:
                self._sums[full_name(member, name)] = self._sum(member, self.members[name])

    def _most(self, number: int) -> float:
        """Maximum cost of an object, over all members."""
        return sum(float(part.costs[number].max()) for part in self.composition.values() if number in part.costs)

    def _sum(self, member: str, objects: set[int]) -> tuple[Floats, Floats]:
        own = self.composition[member]
        values, costs = np.zeros(len(own.ages)), np.zeros(len(own.ages))
        for number in sorted(objects & own.costs.keys()):
            values += own.working_sets[number]
            costs += own.costs[number]
        return values, costs

    def _cost(self, sums: Sums, used: Sequence[str]) -> float:
        """Cost of these pools with the best sizes, over all members."""
        return sum(self._cost_of(member, sums, used) for member in self.case.members)

    def _cost_of(self, member: str, sums: Sums, used: Sequence[str]) -> float:
        case = self.case
        if case.work.members:
            # A pool that the member has, or that something it uses is in.
            used = [
                name
                for name in used
                if full_name(member, name) in case.before.pools or sums[full_name(member, name)][1].any()
            ]
        least = [case.least[full_name(member, name)] * case.page_bytes[name] for name in used]
        room = case.budgets[member] - sum(least)
        if room < 0:
            return float("inf")
        best = np.zeros(_UNITS + 1)
        for name, floor in zip(used, least, strict=True):
            values, costs = sums[full_name(member, name)]
            more = 0.0 if full_name(member, name) in case.pinned else room / _UNITS
            sizes = (floor + _AT * more) / case.page_bytes[name]
            age = np.searchsorted(values, sizes, side="right") - 1
            both = best[_REST] + costs[np.maximum(age, 0)]
            both[_IMPOSSIBLE] = np.inf
            best = both.min(axis=1)
        return float(best[-1])
