"""Placement of any number of objects as a choice of ages, with a lower bound on the cost of every placement.

A pool steals at one age (`plexlens.pools.search.composition`), so which objects are in it and how large it is follow
from the age: an object costs ``c(T)`` in a pool of age ``T`` and needs ``w(T)`` bytes there. With a price on a byte
(the Lagrange multiplier of the budget) the objects do not depend on each other any more: each goes to the pool whose
age makes ``c(T) + price * w(T)`` least, and what is left to choose are as many ages as there are pools: the k-median
problem. It is solved by greedy choice and interchange (Teitz and Bart, 1968); the price is found by bisection.

In a data-sharing group an object is in the same pool at every member, and each member has its own budget, price and
ages. Ages are chosen as shares of the trace, the same for all members; the ages of the pools that come of it are then
chosen by member.

The bound is the dual value of the relaxation of both the budget and the assignment (Cornuejols, Fisher and Nemhauser,
"Location of bank accounts to optimize float", 1977), raised by subgradients (Held, Wolfe and Crowder, 1974). No
placement of these objects into as many pools costs less by the composed curves. For a group it is the sum of the bounds
of the members, as if each could place the objects for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plexlens.pools.members import full_name
from plexlens.pools.search.beginnings import named
from plexlens.pools.search.case import Case, Grouping, Groups
from plexlens.pools.search.composition import Composition, as_curve
from plexlens.pools.search.placement import divided_among
from plexlens.pools.search.sizes import CostCurve, Floats, Integers

#: Halvings of the range of the price, and rounds of moving and ageing at each price.
_HALVINGS, _ROUNDS = 60, 6
#: Steps of the subgradient method.
_SUBGRADIENTS = 80


#: Prices of a byte by member.
Prices = Mapping[str, float]


@dataclass(frozen=True)
class Priced:
    """Ages chosen at prices of storage.

    Attributes
    ----------
    price
        Cost of a byte, by member.
    labels
        The age (its index) of each object, by its number.
    """

    price: Prices
    labels: Mapping[int, int]


@dataclass(frozen=True)
class _Member:
    """Costs and bytes of the objects (row) at each age (column) at a member, and where its pools begin.

    ``used`` are the rows of objects that it refers to, ``least`` the least bytes of each pool, ``has`` whether the
    member has the pool now.
    """

    cost: Floats
    bytes: Floats
    used: Integers
    least: Floats
    has: Sequence[bool]


class Medians:
    """Placement by ages.

    Parameters
    ----------
    case
        What may be done.
    composition
        Footprints and costs of the objects by age, by member.
    """

    def __init__(self, case: Case, composition: Mapping[str, Composition]) -> None:
        self.case = case
        home = case.home_of()
        self.numbers = sorted({number for own in composition.values() for number in own.numbers} & home.keys())
        self.names = case.names
        self._home = np.array([self.names.index(home[number]) for number in self.numbers], np.int64)
        self._page_bytes = np.array([case.page_bytes[name] for name in self.names], np.int64)
        bytes_of = self._page_bytes[self._home].astype(np.float64)
        shares = _shares(case, composition, dict(zip(self.numbers, bytes_of, strict=True)))
        self._members = {member: self._member(member, composition[member], shares, bytes_of) for member in case.members}
        self._priced: dict[tuple[int, int], list[int]] = {}
        self._fixed = np.array([number in case.fixed for number in self.numbers], bool)
        self._of_size = {int(size): np.flatnonzero(bytes_of == size) for size in np.unique(bytes_of)}
        self.budget = case.budget

    def _member(self, member: str, own: Composition, shares: Floats, bytes_of: Floats) -> _Member:
        case = self.case
        columns = own.columns_at(shares)
        shape = len(self.numbers), len(columns)
        cost, content = np.zeros(shape), np.zeros(shape)
        used = np.flatnonzero(np.isin(self.numbers, own.numbers))
        rows = np.searchsorted(own.numbers, np.asarray(self.numbers, np.int64)[used])
        cost[used] = own.cost[rows][:, columns]
        content[used] = own.held[rows][:, columns] * bytes_of[used, None]
        names = [full_name(member, name) for name in self.names]
        least = np.array([case.least[name] for name in names], np.float64) * self._page_bytes
        has = [name in case.before.pools if case.work.members else name in case.home for name in names]
        return _Member(cost, content, used, least, has)

    @property
    def present_cost(self) -> float:
        """Cost of the present groups with the best sizes, by the composed curves."""
        return self.sized(self._home).cost

    def choose(self, pools: int) -> Priced:
        """Ages of this number of pools of each page size within the budget; where objects are now does not count."""

        def choose(prices: Prices) -> tuple[Integers, float]:
            ages = np.zeros(len(self.numbers), np.int64)
            for size, rows in self._of_size.items():
                weighed = self._weighed(prices)[rows]
                # The ages at the price before are a good beginning.
                known = self._priced.get((size, pools))
                chosen = np.asarray(k_medians(weighed, pools, known), np.int64)
                self._priced[size, pools] = chosen.tolist()
                ages[rows] = chosen[np.argmin(weighed[:, chosen], axis=1)]
            every = np.arange(len(ages))
            return ages, sum(float(own.bytes[every, ages].sum()) for own in self._members.values())

        low, high = self._prices()
        price = high
        best = choose(high)[0]
        for _ in range(_HALVINGS):
            middle = _between(low, high)
            ages, value = choose(middle)
            if value > self.budget:
                low = middle
            else:
                high, best, price = middle, ages, middle
            if all(high[member] < 1.05 * low[member] for member in high):
                break
        return Priced(price, dict(zip(self.numbers, best.tolist(), strict=True)))

    def _weighed(self, prices: Prices) -> Floats:
        """Cost and priced storage of the objects at each age, of all members together."""
        members = iter(self._members.items())
        member, own = next(members)
        weighed = own.cost + prices[member] * own.bytes
        for member, own in members:
            weighed = weighed + own.cost + prices[member] * own.bytes
        return weighed

    def _prices(self) -> tuple[Prices, Prices]:
        """Prices of a byte between which the best one lies: around the one at which every object has its own pool."""
        lows, highs = {}, {}
        for member, own in self._members.items():
            budget = self.case.budgets[member]
            most = float(own.cost.max(initial=0.0)) or 1.0
            low, high = 1e-9 * most / max(budget, 1), most
            rows = np.arange(len(self.numbers))
            for _ in range(_HALVINGS):
                price = float(np.sqrt(low * high))
                ages = np.argmin(own.cost + price * own.bytes, axis=1)
                if own.bytes[rows, ages].sum() > budget:
                    low = price
                else:
                    high = price
                if high < 1.1 * low:
                    break
            lows[member], highs[member] = low / 2, high * 4
        return lows, highs

    def bound(self, pools: int, price: Prices) -> float:
        """Lower bound of the cost of any placement into this number of pools of each page size, by the composed curves.

        Any price gives a bound; that of a good placement gives a good one.
        """
        bound = 0.0
        for member, own in self._members.items():
            total = -price[member] * self.case.budgets[member]
            for rows in self._of_size.values():
                used = np.intersect1d(rows, own.used)
                if len(used):
                    total += _dual(own.cost[used] + price[member] * own.bytes[used], pools)
            bound += max(total, float(own.cost.min(axis=1).sum()))
        return bound

    def grouping(self, target: Priced, *, most_moves: int | None = None, least_saved: float = 0.0) -> Grouping:
        """The target as groups of named pools, within the limit of moves and without moves that save too little.

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
        """The grouping at the price of storage that meets the budget, by bisection of the price."""
        wished = np.fromiter((target.labels[number] for number in self.numbers), np.int64, len(self.numbers))
        ages = np.zeros(len(self.names), np.int64)
        for pool in range(len(self.names)):
            own = wished[begun == pool]
            ages[pool] = np.bincount(own).argmax() if len(own) else -1
        low: Prices = {member: price / 10 for member, price in target.price.items()}
        high: Prices = {member: price * 10 for member, price in target.price.items()}
        best = self._home
        for _ in range(_HALVINGS):
            price = _between(low, high)
            place, spent = self._at_price(price, begun, ages, most_moves, least_saved)
            if spent > self.budget or not self._fits(place):
                low = price
            else:
                high, best = price, place
            if all(high[member] < 1.05 * low[member] for member in high):
                break
        return self.sized(best)

    def _at_price(
        self, prices: Prices, begun: Integers, begun_ages: Integers, most_moves: int | None, least_saved: float
    ) -> tuple[Integers, float]:
        place, ages = begun, {member: begun_ages.copy() for member in self._members}
        rows = np.arange(len(self.numbers))
        spent = 0.0
        for _ in range(_ROUNDS):
            spent = 0.0
            for pool in range(len(self.names)):
                mine = place == pool
                for member, own in self._members.items():
                    if not mine.any():
                        spent += own.least[pool] if own.has[pool] else 0.0
                        continue
                    maximum = np.maximum(own.bytes[mine].sum(axis=0), own.least[pool])
                    ages[member][pool] = int(np.argmin(own.cost[mine].sum(axis=0) + prices[member] * maximum))
                    spent += float(maximum[ages[member][pool]])
            usable = next(iter(ages.values())) >= 0
            weighed = np.full((len(rows), len(self.names)), np.inf)
            weighed[:, usable] = sum(
                own.cost[:, ages[member][usable]] + prices[member] * own.bytes[:, ages[member][usable]]
                for member, own in self._members.items()
            )
            weighed[self._page_bytes[None, :] != self._page_bytes[self._home][:, None]] = np.inf
            at_home = weighed[rows, self._home]
            at_home = np.where(np.isfinite(at_home), at_home, sum(own.cost[:, 0] for own in self._members.values()))
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

    def _groups(self, place: Integers) -> dict[str, frozenset[int]]:
        return self.case.kept(
            {
                name: frozenset(self.numbers[row] for row in np.flatnonzero(place == pool))
                for pool, name in enumerate(self.names)
            }
        )

    def _fits(self, place: Integers) -> bool:
        """Whether every member's budget holds the least sizes of its pools."""
        return self.case.fits(self._groups(place), self.case.budgets)

    def sized(self, place: Integers) -> Grouping:
        """Groups with the best sizes by the composed curves."""

        def curve(name: str, member: str) -> CostCurve:
            own, mine = self._members[member], place == self.names.index(name)
            size = self.case.page_bytes[name]
            return as_curve(own.bytes[mine].sum(axis=0) / size, own.cost[mine].sum(axis=0), size)

        return divided_among(self.case, self._groups(place), curve)


def _between(low: Prices, high: Prices) -> Prices:
    return {member: float(np.sqrt(low[member] * high[member])) for member in low}


#: Ages that are looked at.
_MOST_AGES = 120


def _shares(case: Case, composition: Mapping[str, Composition], bytes_of: Mapping[int, float]) -> Floats:
    """Ages that matter, as shares of the length of the trace."""
    shares = []
    for member in case.members:
        own = composition[member]
        rows = [row for row, number in enumerate(own.numbers) if number in bytes_of]
        sizes = np.array([bytes_of[own.numbers[row]] for row in rows])
        least = min(case.least[full_name(member, name)] for name in case.names) * 4096
        columns = _columns(own.held[rows] * sizes[:, None], least)
        shares.append(own.ages[columns] / own.ages[-1])
    every = np.unique(np.concatenate(shares))
    thinned = np.linspace(0, len(every) - 1, min(len(every), _MOST_AGES + 1)).round().astype(np.int64)
    return np.asarray(every[thinned], np.float64)


def _columns(content: Floats, least: int) -> Integers:
    """Ages that matter: the shortest, and those at which all objects together hold a quarter of a smallest pool."""
    from_ = max(int(np.searchsorted(content.sum(axis=0), least / 4)), 1)
    later = np.linspace(from_, content.shape[1] - 1, min(_MOST_AGES, max(content.shape[1] - from_, 1)))
    return np.unique(np.append(0, later.astype(np.int64)).clip(0, content.shape[1] - 1))


def k_medians(costs: Floats, count: int, begin: Sequence[int] | None = None) -> list[int]:
    """Columns chosen so that the sum of the smallest chosen value of each row is small.

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
