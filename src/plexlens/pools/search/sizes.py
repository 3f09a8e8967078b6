"""Pool sizes with the least total cost within a storage limit.

The cost of a pool falls with its size, but not by ever smaller steps: a set of pages that is gone through again and
again gains nothing until all of it fits. So two methods work together. *Marginal gain*: on the lower convex hull of
each curve, storage goes where a byte saves most (Fox, "Discrete optimization via marginal analysis", Management
Science 13, 1966). *Dynamic programming* over a grid of storage finds what no hull shows. The better of the two is
filled up with what storage is left. A bound that no allocation can beat comes from the linear relaxation:
so the gap is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from plexlens.errors import UsageError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Parts that storage is divided into for the dynamic programming.
UNITS = 1024


@dataclass(frozen=True)
class CostCurve:
    """Cost of a pool at each size.

    Attributes
    ----------
    sizes
        Buffers, rising.
    costs
        The cost from each of these sizes up to the next; never rising.
    page_bytes
        Bytes of a buffer.
    """

    sizes: Integers
    costs: Floats
    page_bytes: int = 4096

    def at(self, sizes: npt.ArrayLike) -> Floats:
        """Costs at the given sizes; below the first size, a lower bound of the cost."""
        index = np.searchsorted(self.sizes, np.asarray(sizes), side="right") - 1
        return np.asarray(self.costs[np.maximum(index, 0)], np.float64)

    def pinned(self, size: int) -> CostCurve:
        """The curve of a pool whose size is fixed."""
        return CostCurve(np.array([size], np.int64), self.at([size]), self.page_bytes)

    def least_size(self, size: int) -> int:
        """The smallest known size that costs no more than this size."""
        cost = float(self.at(size))
        first = int(np.searchsorted(-self.costs, -cost, side="left"))
        return min(int(self.sizes[first]), size)


@dataclass(frozen=True)
class Allocation:
    """Sizes of several pools.

    Attributes
    ----------
    sizes
        Buffers of each pool.
    cost
        What all of them cost together.
    bound
        What no allocation within the limit can cost less than.
    spent
        Bytes.
    """

    sizes: tuple[int, ...]
    cost: float
    bound: float
    spent: int

    @property
    def gap(self) -> float:
        """Upper bound on the improvement of the best allocation over this one, as a fraction of this one's cost."""
        return 0.0 if self.cost <= 0 else max(self.cost - self.bound, 0.0) / self.cost


def lower_hull(x: Floats, y: Floats) -> Integers:
    """Indices of the points of the lower convex hull; ``x`` ascends.

    After A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions" (1979).
    """
    hull: list[int] = []
    for point in range(len(x)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (y[b] - y[a]) * (x[point] - x[a]) < (y[point] - y[a]) * (x[b] - x[a]):
                break
            hull.pop()
        hull.append(point)
    return np.asarray(hull, np.int64)


def knee(x: npt.ArrayLike, y: npt.ArrayLike) -> int:
    """Index of the knee of a falling curve: the point of its lower hull farthest below the chord.

    Both axes are scaled to the span of the curve, as in Satopaa and others, "Finding a 'kneedle' in a haystack" (2011).
    The last point where the curve falls evenly or not at all.
    """
    across, down = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(across) < 3 or down[0] <= down[-1]:
        return 0 if len(across) and down[0] <= down[-1] else len(across) - 1
    below = 1 - (across - across[0]) / (across[-1] - across[0]) - (down - down[-1]) / (down[0] - down[-1])
    hull = lower_hull(across, down)
    best = int(hull[np.argmax(below[hull])])
    return best if below[best] > 1e-9 else len(across) - 1


def best_sizes(
    curves: Sequence[CostCurve], budget: int, *, least: Sequence[int], units: int = UNITS, bounded: bool = True
) -> Allocation:
    """Sizes with the least total cost.

    Parameters
    ----------
    curves
        A curve for each pool.
    budget
        Bytes that all of them may have.
    least
        Buffers that each pool has at least.
    units
        Parts that the storage is divided into for the dynamic programming.
    bounded
        Whether the bound is wanted; without, it is minus infinity.

    Raises
    ------
    UsageError
        The least sizes exceed the budget.
    """
    floor = sum(size * curve.page_bytes for curve, size in zip(curves, least, strict=True))
    if floor > budget:
        raise UsageError(
            file="",
            what=f"the budget of {budget:,} bytes is below the minimum of {floor:,} bytes: {len(curves)} pools of "
            f"{', '.join(f'{size:,}' for size in least[:6])}{' ...' * (len(least) > 6)} buffers",
            remedy="give a larger budget, or fewer pools",
        )
    if not curves:
        return Allocation((), 0.0, 0.0, 0)
    tables = [_tail(curve, size) for curve, size in zip(curves, least, strict=True)]
    room = budget - floor
    starts = [_by_marginal_gain(tables, room), _by_dynamic_programming(tables, room, units)]
    filled = [_fill(tables, taken, room) for taken in starts]
    taken = min(filled, key=lambda chosen: _cost(tables, chosen))
    sizes = tuple(size + int(table.extra[i]) for size, table, i in zip(least, tables, taken, strict=True))
    spent = sum(size * curve.page_bytes for curve, size in zip(curves, sizes, strict=True))
    bound = _bound(tables, room) if bounded else -np.inf
    return Allocation(sizes, _cost(tables, taken), bound, spent)


def marginal_sizes(curves: Sequence[CostCurve], budget: int, *, least: Sequence[int]) -> tuple[int, ...]:
    """Sizes by marginal gain on the lower hulls of the curves: the simple rule, without search.

    Parameters
    ----------
    curves
        A curve for each pool.
    budget
        Bytes that all of them may have; at least what the least sizes need.
    least
        Buffers that each pool has at least.
    """
    tables = [_tail(curve, size) for curve, size in zip(curves, least, strict=True)]
    floor = sum(size * curve.page_bytes for curve, size in zip(curves, least, strict=True))
    taken = _by_marginal_gain(tables, budget - floor)
    return tuple(size + int(table.extra[i]) for size, table, i in zip(least, tables, taken, strict=True))


@dataclass(frozen=True)
class _Tail:
    """A curve from its minimum size on: buffers and bytes above the minimum, and cost; only points that reduce the
    cost.
    """

    extra: Integers
    bytes: Integers
    costs: Floats


def _tail(curve: CostCurve, least: int) -> _Tail:
    inside = curve.sizes > least
    extra = np.concatenate(([0], curve.sizes[inside] - least)).astype(np.int64)
    costs = np.concatenate((curve.at([least]), curve.costs[inside]))
    gains = np.concatenate(([True], costs[1:] < np.minimum.accumulate(costs)[:-1]))
    return _Tail(extra[gains], extra[gains] * curve.page_bytes, costs[gains])


def _cost(tables: Sequence[_Tail], taken: Sequence[int]) -> float:
    return float(sum(table.costs[i] for table, i in zip(tables, taken, strict=True)))


def _by_marginal_gain(tables: Sequence[_Tail], room: int) -> list[int]:
    """Points on the hulls, taken in the order of saving per byte while they fit."""
    steps: list[tuple[float, int, int, int]] = []
    for number, table in enumerate(tables):
        hull = lower_hull(table.bytes.astype(np.float64), table.costs)
        for a, b in pairwise(hull):
            more = int(table.bytes[b] - table.bytes[a])
            steps.append(((table.costs[b] - table.costs[a]) / more, number, int(b), more))
    taken = [0] * len(tables)
    closed: set[int] = set()
    for _, number, point, more in sorted(steps):
        if number in closed:
            continue
        if more > room:
            closed.add(number)
            continue
        taken[number] = point
        room -= more
    return taken


def _by_dynamic_programming(tables: Sequence[_Tail], room: int, units: int) -> list[int]:
    """The best points on a grid of equal parts of the storage."""
    grid = np.arange(units + 1, dtype=np.int64) * room // units
    # The point of each pool that a number of parts pays for.
    points = [np.searchsorted(table.bytes, grid, side="right") - 1 for table in tables]
    best = np.zeros(units + 1)
    choices: list[Integers] = []
    index = np.arange(units + 1)
    impossible = np.full(units, np.inf)
    for table, at in zip(tables, points, strict=True):
        own = table.costs[at]
        # A row for each number of parts: what the others cost with the parts that this pool leaves.
        others = np.lib.stride_tricks.sliding_window_view(np.concatenate((impossible, best)), units + 1)[:, ::-1]
        both = others + own[None, :]
        choice = np.argmin(both, axis=1)
        choices.append(choice)
        best = both[index, choice]
    taken = [0] * len(tables)
    left = units
    for number in range(len(tables) - 1, -1, -1):
        parts = int(choices[number][left])
        taken[number] = int(points[number][parts])
        left -= parts
    return taken


def _fill(tables: Sequence[_Tail], taken: Sequence[int], room: int) -> list[int]:
    """Spend the remaining storage on the change with the largest saving per byte that fits."""
    chosen = list(taken)
    left = room - sum(int(table.bytes[i]) for table, i in zip(tables, chosen, strict=True))
    while True:
        best: tuple[float, int, int] | None = None
        for number, table in enumerate(tables):
            at = chosen[number]
            last = int(np.searchsorted(table.bytes, table.bytes[at] + left, side="right"))
            if last <= at + 1:
                continue
            rate = (table.costs[at + 1 : last] - table.costs[at]) / (table.bytes[at + 1 : last] - table.bytes[at])
            point = int(np.argmin(rate))
            if best is None or rate[point] < best[0]:
                best = (float(rate[point]), number, at + 1 + point)
        if best is None or best[0] >= 0:
            return chosen
        _, number, point = best
        left -= int(tables[number].bytes[point] - tables[number].bytes[chosen[number]])
        chosen[number] = point


def _bound(tables: Sequence[_Tail], room: int) -> float:
    """Lower bound of the cost of any allocation: storage divided arbitrarily, mixtures of sizes allowed.

    Between two known sizes a pool costs what it does at the smaller one, so every allocation has an equal one at known
    sizes, and the hulls lie below all of these.
    """
    cost = 0.0
    slopes: list[tuple[float, float]] = []
    for table in tables:
        hull = lower_hull(table.bytes.astype(np.float64), table.costs)
        cost += float(table.costs[0])
        widths = np.diff(table.bytes[hull])
        falls = np.diff(table.costs[hull])
        slopes += [(float(fall / width), float(width)) for fall, width in zip(falls, widths, strict=True)]
    left = float(room)
    for slope, width in sorted(slopes):
        used = min(width, left)
        cost += slope * used
        left -= used
        if left <= 0:
            break
    return cost
