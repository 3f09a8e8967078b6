"""Sizes of a group's pools and group buffer pools that cost least, chosen on simulated curves.

A pool of one member touches no other pool of it, but its own counterparts at the other members through the group buffer
pool. So one pass over a stretch of the trace simulates every pool of every member at one of its sizes; a few such
passes make a curve for each pool of each member that has prefetch, write thresholds and cross-invalidation in it, and
each member's storage is divided by these. Group buffer pools are then simulated at combinations of data and directory
entries, with the pools as chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.pools.group.cost import GroupCost
from plexlens.pools.group.settings import DIRECTORY_ENTRY, GroupConfiguration, GroupPoolSettings, id_of
from plexlens.pools.group.states import GroupState, group_states
from plexlens.pools.group.work import Dependents, GroupWork
from plexlens.pools.search.sizes import Allocation, CostCurve, best_sizes
from plexlens.progress import Progress

#: Sizes of a pool that are simulated at first, and in each round between the neighbours of the best so far; rounds.
SIZES, BETWEEN, ROUNDS = 14, 8, 2

#: Numbers of data entries that are simulated in a round, and parts of the directory entries that are ever needed.
DATA, DIRECTORY = 6, (1.0, 0.75, 0.5, 0.25, 0.0)

#: Storage that saves less than this share of what the group buffer pools' pages cost is not spent (chosen).
LEAST_SAVING = 0.001

_WRITE = _core.TRACE_FUNCTIONS.index("set_write")

#: A pool of a member: its name and the pool's.
Key = tuple[str, str]


@dataclass(frozen=True)
class Stretch:
    """A part of a trace, in memory."""

    rows: pa.RecordBatch

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """The references, in one batch."""
        if self.rows.num_rows:
            yield self.rows


@dataclass(frozen=True)
class MemberSizes:
    """Sizes chosen for one member.

    Attributes
    ----------
    sizes
        Buffers by pool.
    allocation
        Their cost on the stretch, and its bound.
    """

    sizes: Mapping[str, int]
    allocation: Allocation


class SizeSearch:
    """The search for sizes.

    Parameters
    ----------
    stretch
        References to simulate on.
    before
        The pools now.
    work
        What the whole trace is.
    cost
        Prices.
    objective
        What a member's pool costs: of a state, the member and the pool.
    least
        Buffers that each pool of each member has at least.
    dependent
        Data sets that are kept coherent, with the objects where they are now.
    pinned
        Pools of members whose size stays.
    tell
        Told what is being done.
    """

    def __init__(
        self,
        stretch: Stretch,
        before: GroupConfiguration,
        *,
        work: GroupWork,
        cost: GroupCost,
        objective: Callable[[GroupState, str, str], float],
        least: Mapping[Key, int],
        dependent: Dependents,
        pinned: frozenset[Key] = frozenset(),
        tell: Callable[[str], None] = lambda stage: None,
    ) -> None:
        self.stretch = stretch
        self.before = before
        self.work = work
        self.cost = cost
        self.least = least
        self.dependent = dependent
        self.pinned = pinned
        self._objective = objective
        self._tell = tell
        self._points: dict[Key, dict[int, float]] = {}

    @property
    def _keys(self) -> list[Key]:
        return [(member, pool) for member, own in self.before.members.items() for pool in own.pools]

    def members(
        self,
        budgets: Mapping[str, int],
        *,
        ample: bool,
        structures: Mapping[str, GroupPoolSettings] | None = None,
        around: Mapping[str, MemberSizes] | None = None,
    ) -> dict[str, MemberSizes]:
        """Sizes for every member that has a budget.

        Parameters
        ----------
        budgets
            Bytes for the pools of each member; members without keep their sizes.
        ample
            Whether the directories of the group buffer pools hold whatever the pools hold: where these are sized after
            the pools. Otherwise they are as they are.
        structures
            Group buffer pools in place of the present ones.
        around
            Sizes to begin with, found with other group buffer pools.

        Raises
        ------
        UsageError
            A budget is below the least sizes of the member's pools.
        """
        self._points = {}
        base = self.before.with_structures(structures or {})
        grids = {key: self._first(key, budgets) for key in self._keys}
        rounds = ROUNDS
        if around is not None:
            rounds -= 1
            for (member, pool), sizes in grids.items():
                if member in around and len(sizes) > 1:
                    grids[member, pool] = _near(sizes, around[member].sizes[pool])
        chosen: dict[str, MemberSizes] = {}
        for again in range(rounds + 1):
            self._simulate(base, grids, ample=ample)
            chosen = {member: self._allocate(member, budget) for member, budget in budgets.items()}
            if again < rounds:
                grids = {
                    (member, pool): self._between((member, pool), size)
                    for member, found in chosen.items()
                    for pool, size in found.sizes.items()
                }
        return chosen

    def _first(self, key: Key, budgets: Mapping[str, int]) -> list[int]:
        """Sizes by equal factors from the least to the largest that can be of use, and the present one."""
        member, pool = key
        own = self.before.members[member].pools[pool]
        if member not in budgets or key in self.pinned:
            return [own.size]
        others = sum(
            self.least[member, name] * one.page_bytes
            for name, one in self.before.members[member].pools.items()
            if name != pool
        )
        # All its pages, and a tenth for pages that come and go.
        pages = 1.1 * sum(
            count
            for data_set, count in self.work.members[member].distinct_pages.items()
            if id_of(pool) in self.work.members[member].data_sets[data_set].getpages
        )
        most = min((budgets[member] - others) // own.page_bytes, max(int(pages) + 64, own.size))
        low, high = self.least[key], max(most, self.least[key])
        sizes = {int(size) for size in np.geomspace(low, high, SIZES)} | {low, high}
        return sorted(sizes | ({own.size} if low <= own.size <= high else set()))

    def _between(self, key: Key, size: int) -> list[int]:
        """Sizes between the known ones on both sides of a size."""
        known = sorted(self._points[key])
        at = known.index(size)
        low, high = known[max(at - 1, 0)], known[min(at + 1, len(known) - 1)]
        new = {int(one) for one in np.geomspace(low, high, BETWEEN + 2)} - set(known)
        return sorted(new) or [size]

    def _simulate(self, base: GroupConfiguration, grids: Mapping[Key, Sequence[int]], *, ample: bool) -> None:
        longest = max(map(len, grids.values()), default=0)
        for number in range(longest):
            self._tell("simulating pools of all members")
            configuration = base
            for (member, pool), sizes in grids.items():
                one = self.before.members[member].pools[pool]
                size = sizes[min(number, len(sizes) - 1)]
                configuration = configuration.with_pool(member, replace(one, size=size))
            if ample:
                configuration = configuration.with_structures(
                    {
                        pool: replace(
                            one,
                            directory_entries=max(
                                one.directory_entries, one.data_entries + configuration.buffers(pool)
                            ),
                        )
                        for pool, one in configuration.structures.items()
                    }
                )
            (state,) = group_states(
                self.stretch, [configuration], work=self.work, cost=self.cost, dependent=self.dependent
            )
            for (member, pool), sizes in grids.items():
                if number < len(sizes):
                    points = self._points.setdefault((member, pool), {})
                    points[sizes[number]] = self._objective(state, member, pool)

    def _state(self, configuration: GroupConfiguration) -> GroupState:
        (state,) = group_states(self.stretch, [configuration], work=self.work, cost=self.cost, dependent=self.dependent)
        return state

    def _allocate(self, member: str, budget: int) -> MemberSizes:
        own = self.before.members[member].pools
        curves, least = [], []
        for pool, one in own.items():
            points = sorted(self._points[member, pool].items())
            sizes, costs = (np.array(column) for column in zip(*points, strict=True))
            curve = CostCurve(sizes.astype(np.int64), np.minimum.accumulate(costs.astype(np.float64)), one.page_bytes)
            pinned = (member, pool) in self.pinned
            curves.append(curve.pinned(one.size) if pinned else curve)
            least.append(one.size if pinned else self.least[member, pool])
        try:
            found = best_sizes(curves, budget, least=least)
        except UsageError as error:
            raise UsageError(file="", what=f"{member}: {error.what}", remedy=error.remedy) from error
        chosen = {pool: curve.least_size(size) for pool, curve, size in zip(own, curves, found.sizes, strict=True)}
        return MemberSizes(chosen, found)

    def structures(
        self, configuration: GroupConfiguration, budget: int, *, pinned: frozenset[str] = frozenset()
    ) -> tuple[dict[str, GroupPoolSettings], Allocation]:
        """Data and directory entries of the group buffer pools, with the pools as they are to be.

        Parameters
        ----------
        configuration
            With the sizes of the members' pools.
        budget
            Bytes of the coupling facility for all of them.
        pinned
            Group buffer pools, by their pool, that stay as they are.

        Raises
        ------
        UsageError
            The budget is too small.
        """
        shared = [pool for pool in configuration.structures if self._data_sets(pool)]
        others = [pool for pool in configuration.structures if pool not in shared]
        room = budget - sum(configuration.structures[pool].bytes for pool in others)
        tries: dict[str, dict[GroupPoolSettings, float]] = {pool: {} for pool in shared}
        grids = {
            pool: [configuration.structures[pool]]
            if pool in pinned
            else self._combinations(configuration, pool, room, *self._data_range(configuration, pool, room))
            for pool in shared
        }
        chosen, allocation = dict[str, GroupPoolSettings](), Allocation((), 0.0, 0.0, 0)
        for again in (True, False):
            self._try(configuration, grids, tries)
            chosen, allocation = _cheapest(tries, room)
            if again:
                grids = {
                    pool: [] if pool in pinned else self._next(configuration, pool, room, one, tries[pool])
                    for pool, one in chosen.items()
                }
        return chosen, allocation

    def _try(
        self,
        configuration: GroupConfiguration,
        grids: Mapping[str, Sequence[GroupPoolSettings]],
        tries: Mapping[str, dict[GroupPoolSettings, float]],
    ) -> None:
        """Simulate group buffer pools of the grids, one of each pool at a time."""
        for number in range(max(map(len, grids.values()), default=0)):
            self._tell("simulating group buffer pools")
            now = {pool: found[min(number, len(found) - 1)] for pool, found in grids.items() if found}
            state = self._state(configuration.with_structures(now))
            for pool, one in now.items():
                own = sum(
                    self._objective(state, member, pool)
                    for member in configuration.members
                    if pool in configuration.members[member].pools
                )
                tries[pool][one] = own + self._objective(state, "", pool)

    def _data_range(self, configuration: GroupConfiguration, pool: str, room: int) -> tuple[float, float]:
        """Fewest and most data entries that may be of use: up to four times the pages that are changed."""
        changed = max(self._changed(pool), 32)
        most = room / (configuration.structures[pool].page_bytes + DIRECTORY_ENTRY)
        low = max(min(changed / 16, most), 16.0)
        return low, max(min(4.0 * changed, most), low)

    def _next(
        self,
        configuration: GroupConfiguration,
        pool: str,
        room: int,
        chosen: GroupPoolSettings,
        tried: Mapping[GroupPoolSettings, float],
    ) -> list[GroupPoolSettings]:
        """Group buffer pools between the neighbours of the best so far."""
        known = sorted({one.data_entries for one in tried})
        at = known.index(chosen.data_entries)
        low, high = known[max(at - 1, 0)], known[min(at + 1, len(known) - 1)]
        found = self._combinations(configuration, pool, room, low, high)
        return [one for one in found if one not in tried]

    def _combinations(
        self, configuration: GroupConfiguration, pool: str, room: int, low: float, high: float
    ) -> list[GroupPoolSettings]:
        """Group buffer pools to try: data entries by equal factors, each with parts of the directory it may need."""
        one = configuration.structures[pool]
        pages = min(self._shared_pages(pool), configuration.buffers(pool))
        found = {one}
        for data in np.geomspace(low, high, DATA).astype(np.int64).tolist():
            # What the data leaves of the storage; a tenth of an entry a page is what RATIO may add.
            most = int((room - data * one.page_bytes) / DIRECTORY_ENTRY - 0.1 * data)
            for part in DIRECTORY:
                entries = max(min(int(part * pages) + data, most), data)
                found.add(replace(one, data_entries=data, directory_entries=entries).at_ratio())
        fitting = [tried for tried in found if tried.bytes <= room]
        if not fitting:
            least = min(tried.bytes for tried in found)
            raise UsageError(
                file="",
                what=f"the budget of {max(room, 0):,} bytes is below the {least:,} that {one.structure} needs",
                remedy="give a larger --gbp-budget",
            )
        return sorted(fitting, key=lambda tried: (tried.bytes, tried.data_entries))

    def _data_sets(self, pool: str) -> Sequence[tuple[int, int]]:
        """Dependent data sets in a pool."""
        return self.dependent.get(id_of(pool), ())

    def _shared_pages(self, pool: str) -> int:
        whole = self.work.whole
        return int(sum(whole.distinct_pages.get(one, 0.0) for one in self._data_sets(pool)))

    def _changed(self, pool: str) -> int:
        """Pages of dependent data sets that are changed: of the stretch, as a share of the pages referenced there."""
        rows = self.stretch.rows
        own = {(number << 16) | partition for number, partition in self._data_sets(pool)}
        keys = (rows["object"].to_numpy().astype(np.uint64) << np.uint64(16)) | rows["partition"].to_numpy()
        mine = np.isin(keys, np.fromiter(own, np.uint64))
        written = mine & (rows["function"].to_numpy() == _WRITE)
        identity = np.stack([keys, rows["page"].to_numpy()])
        referenced, changed = (np.unique(identity[:, rows_of], axis=1).shape[1] for rows_of in (mine, written))
        return int(self._shared_pages(pool) * changed / referenced) if referenced else 0


def _near(sizes: Sequence[int], size: int) -> list[int]:
    """Sizes up to twice and down to half of one, within what was thought of before; and the least."""
    low, high = max(size // 2, sizes[0]), min(2 * size, sizes[-1])
    return sorted({*np.geomspace(low, max(high, low), BETWEEN).astype(np.int64).tolist(), size, sizes[0]})


def _cheapest(
    tries: Mapping[str, Mapping[GroupPoolSettings, float]], room: int
) -> tuple[dict[str, GroupPoolSettings], Allocation]:
    """One of the tries for each, all together within the budget; storage that saves next to nothing is not spent."""
    curves = []
    for found in tries.values():
        ordered = sorted((one.bytes, cost) for one, cost in found.items())
        sizes = np.array([size for size, _ in ordered], np.int64)
        best = np.minimum.accumulate(np.array([cost for _, cost in ordered], np.float64))
        # Of one size the last has the least cost so far.
        kept, first = np.unique(sizes[::-1], return_index=True)
        curves.append(CostCurve(kept, best[::-1][first], 1))
    allocation = best_sizes(curves, room, least=[int(curve.sizes[0]) for curve in curves])
    allowed = LEAST_SAVING * sum(float(curve.at(size)) for curve, size in zip(curves, allocation.sizes, strict=True))
    chosen: dict[str, GroupPoolSettings] = {}
    for (pool, found), curve, size in zip(tries.items(), curves, allocation.sizes, strict=True):
        limit = float(curve.at(size)) + allowed / len(curves)
        enough = next(int(one) for one, cost in zip(curve.sizes, curve.costs, strict=True) if cost <= limit)
        chosen[pool] = min((one for one in found if one.bytes <= enough), key=lambda one: (found[one], one.bytes))
    return chosen, allocation
