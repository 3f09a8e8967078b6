"""Activities of the data sets of a simulated configuration, in columns.

A recommendation for ten thousand data sets keeps dozens of configurations. As objects their activities take half a
gigabyte, in columns a tenth of it.
"""

from __future__ import annotations

import sys
from collections.abc import ItemsView, Iterator, Mapping
from dataclasses import dataclass, fields

import numpy as np

from plexlens.pools.cost import IoCost
from plexlens.pools.engine import Columns
from plexlens.pools.prediction import Activity
from plexlens.pools.search.sizes import Floats, Integers
from plexlens.pools.work import Work

#: Counters of `plexlens._core.PoolSimulation.data_sets` that an activity is made of.
_COUNTERS = ("getpages", "updates", "sync_reads", "prefetch_reads", "prefetch_pages", "writes", "pages_written")

_FIELDS = tuple(attribute.name for attribute in fields(Activity))


@dataclass(frozen=True)
class _Pool:
    """Columns of a pool: names of its data sets, and each field of `Activity`."""

    names: tuple[str, ...]
    columns: Mapping[str, Integers | Floats]

    def items(self) -> Iterator[tuple[str, Activity]]:
        rows = zip(*(self.columns[name].tolist() for name in _FIELDS), strict=True)
        return zip(self.names, (Activity(*row) for row in rows), strict=True)

    def total(self) -> Activity:
        """The sum of all, added one after the other."""
        return Activity(*(float(np.cumsum(self.columns[name])[-1]) if self.names else 0.0 for name in _FIELDS))


class Activities(Mapping[tuple[str, str], Activity]):
    """Activities by pool and name of the data set."""

    def __init__(self) -> None:
        self._pools: dict[str, _Pool] = {}
        self._rows: dict[str, dict[str, int]] = {}

    def add(self, pool: str, counted: Columns, work: Work, cost: IoCost, *, page_fixed: bool) -> Activity:
        """Add the data sets of a pool with the cost of their I/O.

        Parameters
        ----------
        pool
            Full name.
        counted
            Data sets and their counters; without columns, none.
        work
            What the trace, or a member, is.
        cost
            Prices of I/O.
        page_fixed
            Whether the pool is.

        Returns
        -------
        Activity
            The sum of all.
        """
        table = work.table
        rows = table.rows(counted.get("object", _NONE), counted.get("partition", _NONE))
        counters = {name: counted.get(name, _NONE) for name in _COUNTERS}
        getpages = table.getpages[rows]
        share = np.divide(counters["getpages"], getpages, out=np.zeros(len(rows)), where=getpages > 0)
        sync, other = counters["sync_reads"], counters["prefetch_reads"] + counters["writes"]
        columns: dict[str, Integers | Floats] = {
            "getpages": counters["getpages"],
            "random_getpages": share * table.random[rows],
            "updates": counters["updates"],
            "distinct_pages": table.pages[rows],
            "sync_reads": sync,
            "prefetch_reads": counters["prefetch_reads"],
            "pages_read": sync + counters["prefetch_pages"],
            "write_ios": counters["writes"],
            "pages_written": counters["pages_written"],
            "cpu_seconds": cost.cpu_seconds(sync.astype(np.float64), other.astype(np.float64), page_fixed=page_fixed),
            "delay_seconds": np.asarray(sync * cost.sync_delay.value, np.float64),
        }
        # Configurations share the text of their names.
        names = table.names[rows]
        for at in np.flatnonzero(rows == len(table.keys)).tolist():
            names[at] = sys.intern(work.names.data_set(int(counted["object"][at]), int(counted["partition"][at])))
        own = self._pools[pool] = _Pool(tuple(names.tolist()), columns)
        return own.total()

    def share(self, pool: str, others: Activities, other: str) -> Activity:
        """Add the data sets of a pool of another configuration, which are the same; the sum of all."""
        own = self._pools[pool] = others._pools[other]
        return own.total()

    def __len__(self) -> int:
        """Data sets of all pools."""
        return sum(len(own.names) for own in self._pools.values())

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Pool and name of each data set."""
        return ((pool, name) for pool, own in self._pools.items() for name in own.names)

    def __getitem__(self, key: tuple[str, str]) -> Activity:
        """The activity of a data set."""
        pool, name = key
        own = self._pools[pool]
        if pool not in self._rows:
            self._rows[pool] = {known: row for row, known in enumerate(own.names)}
        row = self._rows[pool][name]
        return Activity(*(own.columns[field][row].item() for field in _FIELDS))

    def items(self) -> ItemsView[tuple[str, str], Activity]:
        """Keys and activities, a column at a time."""
        return _Items(self)


class _Items(ItemsView[tuple[str, str], Activity]):
    _mapping: Activities

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Activity]]:
        for pool, own in self._mapping._pools.items():
            for name, activity in own.items():
                yield (pool, name), activity


_NONE = np.zeros(0, np.int64)
