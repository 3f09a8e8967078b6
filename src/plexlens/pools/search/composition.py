"""Curves of groups of objects, composed from the objects' own curves without simulation.

Objects that share an LRU pool are stolen from at one age. With ``T`` that age, in getpages, each holds on average its
footprint of ``T``, the distinct pages of ``T`` successive getpages, and reads what it references again only after
``T``; so sizes and reads add up over objects at equal ``T`` (Denning, "The working set model for program behavior",
1968; Xiang and others, "HOTL: a higher order theory of locality", 2013; Hu and others, "Kinetic modeling of data
eviction in cache", 2016). What is assumed: the age of a pool hardly changes while the trace runs. It changes where one
object floods a pool in bursts; where a single object's pages are gone through again and again, the sum is still exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property

import numpy as np

from plexlens import _core
from plexlens.pools.search.sizes import CostCurve, Floats, Integers


class Composition:
    """Footprints, page reads and costs of every object by age.

    Parameters
    ----------
    rests
        Rests of all data sets of the trace.
    weights
        What a page read of an object costs, by its number. Objects without a getpage have no cost and no footprint.

    Attributes
    ----------
    ages
        In getpages, rising; the last is the length of the trace.
    numbers
        Objects, rising; the order of the rows.
    held, reads, cost
        Pages, page reads and their cost of each object (row) at each age (column).
    """

    def __init__(self, rests: _core.DataSetAges, weights: Mapping[int, float]) -> None:
        length = max(rests.getpages, 1)
        table = rests.rests()
        steps = np.unique(table["longest"].to_numpy())
        self.ages = np.unique(np.append(steps[steps < length], length)).astype(np.int64)
        data_sets = rests.data_sets()
        self.numbers = sorted(weights.keys() | {row[0] for row in data_sets})
        row_of = {number: row for row, number in enumerate(self.numbers)}
        shape = len(self.numbers), len(self.ages)
        rows = np.searchsorted(self.numbers, table["object"].to_numpy())
        # What rests longer than the trace is as long as it.
        columns = np.minimum(np.searchsorted(self.ages, table["longest"].to_numpy()), len(self.ages) - 1)
        again, count, total = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        reads = (table["random"].to_numpy() + table["sequential"].to_numpy()).astype(np.float64)
        np.add.at(again, (rows, columns), reads)
        np.add.at(count, (rows, columns), reads + table["ends"].to_numpy())
        np.add.at(total, (rows, columns), table["sum"].to_numpy().astype(np.float64))
        pages = np.zeros(len(self.numbers))
        for number, _, _, _, random, others in data_sets:
            pages[row_of[number]] += random + others
        beyond = _beyond(total) - self.ages * _beyond(count)
        self.held: Floats = np.maximum(pages[:, None] - beyond / (length - self.ages + 1), 0.0) / rests.rate
        self.reads: Floats = (pages[:, None] + _beyond(again)) / rests.rate
        self.cost: Floats = self._prices(weights) * self.reads

    @cached_property
    def working_sets(self) -> Mapping[int, Floats]:
        """Pages of each object by age, by its number."""
        return dict(zip(self.numbers, self.held, strict=True))

    @cached_property
    def costs(self) -> Mapping[int, Floats]:
        """Cost of each object by age, by its number."""
        return dict(zip(self.numbers, self.cost, strict=True))

    def _prices(self, weights: Mapping[int, float]) -> Floats:
        return np.array([weights.get(number, 0.0) for number in self.numbers])[:, None]

    def weighted(self, weights: Mapping[int, float]) -> Composition:
        """The same with other costs of a page read, by the object's number."""
        return self.priced(self._prices(weights) * self.reads)

    def priced(self, cost: Floats) -> Composition:
        """The same with another cost of each object (row) at each age (column)."""
        composition = copy(self)
        for name in ("working_sets", "costs"):
            composition.__dict__.pop(name, None)
        composition.cost = cost
        return composition

    def curve(self, objects: Iterable[int], page_bytes: int) -> CostCurve:
        """Composed cost at each size of a pool that holds only these objects."""
        rows = self.rows(objects)
        return as_curve(self.held[rows].sum(axis=0), self.cost[rows].sum(axis=0), page_bytes)

    def columns_at(self, shares: Floats) -> Integers:
        """Columns of the last ages that are not above these shares of the length of the trace."""
        columns = np.searchsorted(self.ages / self.ages[-1], shares, side="right") - 1
        return np.asarray(columns.clip(0), np.int64)

    def rows(self, objects: Iterable[int]) -> list[int]:
        """Row numbers of the objects that have a row."""
        wanted = set(objects)
        return [row for row, number in enumerate(self.numbers) if number in wanted]


def as_curve(content: Floats, costs: Floats, page_bytes: int) -> CostCurve:
    """A curve from the mean number of resident pages and the cost at each age."""
    sizes = np.maximum(np.ceil(content), 1).astype(np.int64)
    kept, first = np.unique(sizes[::-1], return_index=True)
    return CostCurve(kept, np.minimum.accumulate(costs[::-1][first]), page_bytes)


def _beyond(counts: Floats) -> Floats:
    """Sum of the values to the right of each column, for each row."""
    return np.asarray(counts.sum(axis=1)[:, None] - np.cumsum(counts, axis=1), np.float64)
