"""Numbers of data and directory entries of group buffer pools with the least cost.

Group buffer pools are simulated at combinations of data and directory entries over a stretch of the trace, with the
members' pools as they are to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from plexlens import _core
from plexlens.errors import UsageError
from plexlens.pools.outcome import states_of
from plexlens.pools.prediction import State
from plexlens.pools.search.case import Case
from plexlens.pools.search.sizes import Allocation, CostCurve, best_sizes
from plexlens.pools.settings import Configuration
from plexlens.pools.structures import DIRECTORY_ENTRY, GroupPoolSettings, id_of
from plexlens.pools.work import Dependents
from plexlens.progress import Progress

#: Numbers of data entries that are simulated in a round, and parts of the directory entries that are ever needed.
DATA, DIRECTORY = 6, (1.0, 0.75, 0.5, 0.25, 0.0)

#: Storage that saves less than this share of what the group buffer pools' pages cost is not spent (chosen).
LEAST_SAVING = 0.001

_WRITE = _core.TRACE_FUNCTIONS.index("set_write")


@dataclass(frozen=True)
class Stretch:
    """A part of a trace, in memory."""

    rows: pa.RecordBatch

    def batches(self, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """The references, in one batch."""
        if self.rows.num_rows:
            yield self.rows


class StructureSearch:
    """Search for the sizes of group buffer pools.

    Parameters
    ----------
    stretch
        References to simulate on.
    case
        The trace, prices and limits.
    dependent
        Data sets that are kept coherent, with the objects where they are to be.
    tell
        Told what is being done.
    """

    def __init__(
        self, stretch: Stretch, case: Case, dependent: Dependents, *, tell: Callable[[str], None] = lambda stage: None
    ) -> None:
        self.stretch = stretch
        self.case = case
        self.dependent = dependent
        self._tell = tell

    def _state(self, configuration: Configuration) -> State:
        (state,) = states_of(
            self.stretch, [configuration], work=self.case.work, cost=self.case.cost, dependent=self.dependent
        )
        return state

    def structures(self, configuration: Configuration, budget: int) -> tuple[dict[str, GroupPoolSettings], Allocation]:
        """Data and directory entries of the group buffer pools for the target pools.

        Parameters
        ----------
        configuration
            With the sizes of the members' pools.
        budget
            Bytes of the coupling facility for all of them.

        Raises
        ------
        UsageError
            The budget is too small.
        """
        pinned = self.case.limits.pinned_structures
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
                    pool: [] if pool in pinned else self._next(configuration, pool, room, settings, tries[pool])
                    for pool, settings in chosen.items()
                }
        return chosen, allocation

    def _try(
        self,
        configuration: Configuration,
        grids: Mapping[str, Sequence[GroupPoolSettings]],
        tries: Mapping[str, dict[GroupPoolSettings, float]],
    ) -> None:
        """Simulate the candidates for group buffer pools, one per pool at a time."""
        weight = self.case.limits.delay_weight
        for number in range(max(map(len, grids.values()), default=0)):
            self._tell("simulating group buffer pools")
            now = {
                pool: group_pool_settings[min(number, len(group_pool_settings) - 1)]
                for pool, group_pool_settings in grids.items()
                if group_pool_settings
            }
            state = self._state(configuration.with_structures(now))
            for pool, settings in now.items():
                names = [name for name, own in configuration.pools.items() if own.name == pool]
                tries[pool][settings] = sum(state.cost_of(name, weight) for name in [*names, settings.structure])

    def _data_range(self, configuration: Configuration, pool: str, room: int) -> tuple[float, float]:
        """Range of useful data entries: at most four times the number of changed pages."""
        changed = max(self._changed(pool), 32)
        most = room / (configuration.structures[pool].page_bytes + DIRECTORY_ENTRY)
        low = max(min(changed / 16, most), 16.0)
        return low, max(min(4.0 * changed, most), low)

    def _next(
        self,
        configuration: Configuration,
        pool: str,
        room: int,
        chosen: GroupPoolSettings,
        tried: Mapping[GroupPoolSettings, float],
    ) -> list[GroupPoolSettings]:
        """Group buffer pools between the best so far and its neighbours."""
        known = sorted({settings.data_entries for settings in tried})
        at = known.index(chosen.data_entries)
        low, high = known[max(at - 1, 0)], known[min(at + 1, len(known) - 1)]
        group_pool_settings = self._combinations(configuration, pool, room, low, high)
        return [settings for settings in group_pool_settings if settings not in tried]

    def _combinations(
        self, configuration: Configuration, pool: str, room: int, low: float, high: float
    ) -> list[GroupPoolSettings]:
        """Group buffer pools to try: data entries in geometric progression, each with fractions of the needed
        directory.
        """
        structure = configuration.structures[pool]
        pages = min(self._shared_pages(pool), configuration.buffers(pool))
        group_pool_settings = {structure}
        for data in np.geomspace(low, high, DATA).astype(np.int64).tolist():
            # What the data leaves of the storage; a tenth of an entry a page is what RATIO may add.
            most = int((room - data * structure.page_bytes) / DIRECTORY_ENTRY - 0.1 * data)
            for part in DIRECTORY:
                entries = max(min(int(part * pages) + data, most), data)
                group_pool_settings.add(replace(structure, data_entries=data, directory_entries=entries).at_ratio())
        fitting = [tried for tried in group_pool_settings if tried.bytes <= room]
        if not fitting:
            least = min(tried.bytes for tried in group_pool_settings)
            raise UsageError(
                file="",
                what=f"the budget of {max(room, 0):,} bytes is below the {least:,} that {structure.structure} needs",
                remedy="give a larger --gbp-budget",
            )
        return sorted(fitting, key=lambda tried: (tried.bytes, tried.data_entries))

    def _data_sets(self, pool: str) -> Sequence[tuple[int, int]]:
        """Dependent data sets in a pool."""
        return self.dependent.get(id_of(pool), ())

    def _shared_pages(self, pool: str) -> int:
        work = self.case.work
        return int(sum(work.distinct_pages.get(data_set, 0.0) for data_set in self._data_sets(pool)))

    def _changed(self, pool: str) -> int:
        """Changed pages of dependent data sets, estimated from the share in this part of the trace."""
        rows = self.stretch.rows
        own = {(number << 16) | partition for number, partition in self._data_sets(pool)}
        keys = (rows["object"].to_numpy().astype(np.uint64) << np.uint64(16)) | rows["partition"].to_numpy()
        mine = np.isin(keys, np.fromiter(own, np.uint64))
        written = mine & (rows["function"].to_numpy() == _WRITE)
        identity = np.stack([keys, rows["page"].to_numpy()])
        referenced, changed = (np.unique(identity[:, rows_of], axis=1).shape[1] for rows_of in (mine, written))
        return int(self._shared_pages(pool) * changed / referenced) if referenced else 0


def _cheapest(
    tries: Mapping[str, Mapping[GroupPoolSettings, float]], room: int
) -> tuple[dict[str, GroupPoolSettings], Allocation]:
    """A trial for each group buffer pool, all together within the budget; storage with almost no saving is not
    spent.
    """
    curves = []
    for values in tries.values():
        ordered = sorted((settings.bytes, cost) for settings, cost in values.items())
        sizes = np.array([size for size, _ in ordered], np.int64)
        best = np.minimum.accumulate(np.array([cost for _, cost in ordered], np.float64))
        # Of one size the last has the least cost so far.
        kept, first = np.unique(sizes[::-1], return_index=True)
        curves.append(CostCurve(kept, best[::-1][first], 1))
    allocation = best_sizes(curves, room, least=[int(curve.sizes[0]) for curve in curves])
    allowed = LEAST_SAVING * sum(float(curve.at(size)) for curve, size in zip(curves, allocation.sizes, strict=True))
    chosen: dict[str, GroupPoolSettings] = {}
    for (pool, values), curve, size in zip(tries.items(), curves, allocation.sizes, strict=True):
        limit = float(curve.at(size)) + allowed / len(curves)
        enough = next(int(size) for size, cost in zip(curve.sizes, curve.costs, strict=True) if cost <= limit)
        chosen[pool] = min(
            (settings for settings in values if settings.bytes <= enough),
            key=lambda settings: (values[settings], settings.bytes),
        )
    return chosen, allocation
