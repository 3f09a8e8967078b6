"""Placement of any number of objects as a choice of ages, with a bound that no placement beats.

A pool steals at one age (`plexlens.pools.search.composition`), so which objects are in it and how large it is follow
from the age: an object costs ``c(T)`` in a pool of age ``T`` and needs ``w(T)`` bytes there. With a price on a byte
(the Lagrange multiplier of the budget) the objects do not depend on each other any more: each goes to the pool whose
age makes ``c(T) + price * w(T)`` least, and what is left to choose are as many ages as there are pools: the k-median
problem. It is solved by greedy choice and interchange (Teitz and Bart, 1968); the price is found by bisection.

The bound is the dual value of the relaxation of both the budget and the assignment (Cornuejols, Fisher and Nemhauser,
"Location of bank accounts to optimize float", 1977), raised by subgradients (Held, Wolfe and Crowder, 1974). No
placement of these objects into as many pools costs less by the composed curves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plexlens.pools.members import ALONE
from plexlens.pools.search.beginnings import named
from plexlens.pools.search.case import Case, Grouping, Groups
from plexlens.pools.search.composition import Composition, as_curve
from plexlens.pools.search.sizes import Floats, Integers, best_sizes

#: Halvings of the range of the price, and rounds of moving and ageing at each price.
_HALVINGS, _ROUNDS = 60, 6
#: Steps of the subgradient method.
_SUBGRADIENTS = 80


@dataclass(frozen=True)
class Priced:
    """Ages chosen at a price of storage.

    Attributes
    ----------
    price
        Cost of a byte.
    labels
        The age (its index) of each object, by its number.
    """

    price: float
    labels: Mapping[int, int]


class Medians:
    """Placement by ages, of a Db2 alone.

    Parameters
    ----------
    case
        What may be done.
    composition
        Footprints and costs of the objects by age.
    """

    def __init__(self, case: Case, composition: Composition) -> None:
        self.case = case
        self.composition = composition
        home = case.home_of()
        self.numbers = [number for number in composition.numbers if number in home]
        rows = np.searchsorted(composition.numbers, self.numbers)
        self.names = case.names
        self._home = np.array([self.names.index(home[number]) for number in self.numbers], np.int64)
        self._page_bytes = np.array([case.page_bytes[name] for name in self.names], np.int64)
        bytes_of = self._page_bytes[self._home].astype(np.float64)
        columns = _columns(composition.held[rows] * bytes_of[:, None], min(case.least.values()) * 4096)
        self._cost: Floats = composition.cost[rows][:, columns]
        self._bytes: Floats = composition.held[rows][:, columns] * bytes_of[:, None]
        self._priced: dict[tuple[int, int], list[int]] = {}
        self._fixed = np.array([number in case.fixed for number in self.numbers], bool)
        self._of_size = {int(size): np.flatnonzero(bytes_of == size) for size in np.unique(bytes_of)}
        self._least = np.array([case.least[name] for name in self.names], np.float64) * self._page_bytes
        self.budget = case.budgets[ALONE]

    @property
    def present_cost(self) -> float:
        """Cost of the present groups with the best sizes, by the composed curves."""
        return self.sized(self._home).cost

    def choose(self, pools: int) -> Priced:
        """Ages of this number of pools of each page size within the budget; where objects are now does not count."""

        def choose(price: float) -> tuple[Integers, float]:
            ages = np.zeros(len(self.numbers), np.int64)
            for size, rows in self._of_size.items():
                weighed = self._cost[rows] + price * self._bytes[rows]
                # The ages at the price before are a good beginning.
                known = self._priced.get((size, pools))
                chosen = np.asarray(k_medians(weighed, pools, known), np.int64)
                self._priced[size, pools] = chosen.tolist()
                ages[rows] = chosen[np.argmin(weighed[:, chosen], axis=1)]
            return ages, float(self._bytes[np.arange(len(ages)), ages].sum())

        low, high = self._prices()
        price = high
        best = choose(high)[0]
        for _ in range(_HALVINGS):
            middle = float(np.sqrt(low * high))
            ages, held = choose(middle)
            if held > self.budget:
                low = middle
            else:
                high, best, price = middle, ages, middle
            if high < 1.05 * low:
                break
        return Priced(price, dict(zip(self.numbers, best.tolist(), strict=True)))

    def _prices(self) -> tuple[float, float]:
        """Prices of a byte between which the best one lies: around the one at which every object has its own pool."""
        most = float(self._cost.max(initial=0.0)) or 1.0
        low, high = 1e-9 * most / max(self.budget, 1), most
        rows = np.arange(len(self.numbers))
        for _ in range(_HALVINGS):
            price = float(np.sqrt(low * high))
            ages = np.argmin(self._cost + price * self._bytes, axis=1)
            if self._bytes[rows, ages].sum() > self.budget:
                low = price
            else:
                high = price
            if high < 1.1 * low:
                break
        return low / 2, high * 4

    def bound(self, pools: int, price: float) -> float:
        """Lower bound of the cost of any placement into this number of pools of each page size, by the composed curves.

        Any price gives a bound; that of a good placement gives a good one.
        """
        total = -price * self.budget
        for rows in self._of_size.values():
            total += _dual(self._cost[rows] + price * self._bytes[rows], pools)
        return max(total, float(self._cost.min(axis=1).sum()))

    def grouping(self, target: Priced, *, most_moves: int | None = None, least_saved: float = 0.0) -> Grouping:
        """The target as groups of named pools, with no more moves than may be and none that saves too little.

        Parameters
        ----------
        target
            Ages that are wished for.
        most_moves
            Objects that change pools at most; None: any number.
        least_saved
            What a moved object has to save.
        """
        groups = named(self.case, target.labels)
        beginnings = [self._assigned(groups), self._home.copy()]
        tried = [self._settled(begun, target, most_moves, least_saved) for begun in beginnings]
        return min(tried, key=lambda grouping: grouping.cost + least_saved * self.case.moved(grouping.groups))

    def _assigned(self, groups: Groups) -> Integers:
        place = {number: self.names.index(name) for name, objects in groups.items() for number in objects}
        return np.array([place[number] for number in self.numbers], np.int64)

    def _settled(self, begun: Integers, target: Priced, most_moves: int | None, least_saved: float) -> Grouping:
        """Moves and ages in turn, at prices that lead to the budget."""
        wished = np.fromiter((target.labels[number] for number in self.numbers), np.int64, len(self.numbers))
        ages = np.zeros(len(self.names), np.int64)
        for pool in range(len(self.names)):
            own = wished[begun == pool]
            ages[pool] = np.bincount(own).argmax() if len(own) else -1
        low, high = target.price / 10, target.price * 10
        best = self._home
        for _ in range(_HALVINGS):
            price = float(np.sqrt(low * high))
            place, spent = self._at_price(price, begun, ages, most_moves, least_saved)
            if spent > self.budget:
                low = price
            else:
                high, best = price, place
            if high < 1.05 * low:
                break
        return self.sized(best)

    def _at_price(
        self, price: float, begun: Integers, ages: Integers, most_moves: int | None, least_saved: float
    ) -> tuple[Integers, float]:
        place, ages = begun, ages.copy()
        rows = np.arange(len(self.numbers))
        spent = 0.0
        for _ in range(_ROUNDS):
            spent = 0.0
            for pool, name in enumerate(self.names):
                own = place == pool
                if not own.any():
                    spent += self._least[pool] if name in self.case.home else 0.0
                    continue
                held = np.maximum(self._bytes[own].sum(axis=0), self._least[pool])
                ages[pool] = int(np.argmin(self._cost[own].sum(axis=0) + price * held))
                spent += float(held[ages[pool]])
            usable = ages >= 0
            weighed = np.full((len(rows), len(self.names)), np.inf)
            weighed[:, usable] = self._cost[:, ages[usable]] + price * self._bytes[:, ages[usable]]
            weighed[self._page_bytes[None, :] != self._page_bytes[self._home][:, None]] = np.inf
            at_home = weighed[rows, self._home]
            at_home = np.where(np.isfinite(at_home), at_home, self._cost[:, 0])
            wished = np.argmin(weighed, axis=1)
            gain = np.where(self._fixed | (wished == self._home), 0.0, at_home - weighed[rows, wished])
            moves = gain > least_saved
            if most_moves is not None and np.count_nonzero(moves) > most_moves:
                order = np.argsort(-gain, kind="stable")
                moves = np.zeros(len(rows), bool)
                moves[order[:most_moves]] = True
            moved = np.where(moves, wished, self._home)
            if np.array_equal(moved, place):
                break
            place = moved
        return place, spent

    def sized(self, place: Integers) -> Grouping:
        """Groups with the best sizes by the composed curves."""
        groups = self.case.kept(
            {
                name: frozenset(self.numbers[row] for row in np.flatnonzero(place == pool))
                for pool, name in enumerate(self.names)
            }
        )
        curves, least = [], []
        for name in groups:
            own = place == self.names.index(name)
            size = self.case.page_bytes[name]
            curve = as_curve(self._bytes[own].sum(axis=0) / size, self._cost[own].sum(axis=0), size)
            pinned = name in self.case.pinned
            curves.append(curve.pinned(self.case.least[name]) if pinned else curve)
            least.append(self.case.least[name])
        found = best_sizes(curves, self.budget, least=least)
        return Grouping(groups, dict(zip(groups, found.sizes, strict=True)), found.cost, found.bound)


#: Ages that are looked at.
_MOST_AGES = 120


def _columns(held: Floats, least: int) -> Integers:
    """Ages that matter: the shortest, and those at which all objects together hold a quarter of a smallest pool."""
    from_ = max(int(np.searchsorted(held.sum(axis=0), least / 4)), 1)
    later = np.linspace(from_, held.shape[1] - 1, min(_MOST_AGES, max(held.shape[1] - from_, 1)))
    return np.unique(np.append(0, later.astype(np.int64)).clip(0, held.shape[1] - 1))


def k_medians(costs: Floats, count: int, begin: Sequence[int] | None = None) -> list[int]:
    """Columns of which each row takes its least: so many that the sum is small.

    Greedy choice, or those to begin with; then interchange of single columns until none helps.
    """
    chosen: list[int] = list(begin or [])
    least = costs[:, chosen].min(axis=1) if chosen else np.full(len(costs), np.inf)
    for _ in range(min(count, costs.shape[1]) - len(chosen)):
        column = int(np.argmin(np.minimum(costs, least[:, None]).sum(axis=0)))
        if column in chosen:
            break
        chosen.append(column)
        least = np.minimum(least, costs[:, column])
    for _ in range(5):
        before = list(chosen)
        for at in range(len(chosen)):
            others = costs[:, chosen[:at] + chosen[at + 1 :]]
            rest = others.min(axis=1) if others.shape[1] else np.full(len(costs), np.inf)
            totals = np.minimum(costs, rest[:, None]).sum(axis=0)
            column = int(np.argmin(totals))
            if totals[column] < totals[chosen[at]] * (1 - 1e-12):
                chosen[at] = column
        if chosen == before:
            break
    return sorted(chosen)


def _dual(costs: Floats, count: int) -> float:
    """Lower bound of the k-median cost: the dual of the assignment of rows, by subgradients."""
    chosen = k_medians(costs, count)
    upper = float(costs[:, chosen].min(axis=1).sum())
    # What a row may cost: between its least and what it costs in the solution.
    least = costs.min(axis=1)
    paid = 0.5 * (least + costs[:, chosen].min(axis=1))
    best, scale, stale = float(least.sum()), 1.0, 0
    for _ in range(_SUBGRADIENTS):
        under = costs - paid[:, None]
        np.minimum(under, 0.0, out=under)
        values = under.sum(axis=0)
        taken = np.argpartition(values, min(count, len(values)) - 1)[:count]
        value = float(paid.sum() + values[taken].sum())
        if value > best:
            best, stale = value, 0
        else:
            stale += 1
            if stale == 8:
                scale, stale = scale / 2, 0
        slope = 1.0 - (costs[:, taken] < paid[:, None]).sum(axis=1)
        norm = float((slope**2).sum())
        if norm == 0 or upper - best <= 1e-4 * abs(upper):
            break
        paid = paid + scale * max(upper - value, 0.0) / norm * slope
    return best
