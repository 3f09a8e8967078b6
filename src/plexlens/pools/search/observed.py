"""Costs of objects at each age, as simulated configurations show them.

The composed curves know which pages are read again, not how: a page comes alone, or with a prefetch that brings others
too, or again and again because the pool is too small for what prefetch brings. So each simulated configuration is an
observation of every object at the age of its pool: the cost of its reads for each read that the curve tells, and the
cost of its writes. Between observed ages both are interpolated over the logarithm of the age.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plexlens.pools.members import ALONE
from plexlens.pools.outcome import PRIOR_PAGES, prior_prices
from plexlens.pools.prediction import State
from plexlens.pools.search.case import Case
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.sizes import Floats


class Observed:
    """Observations of the objects of a Db2 alone.

    Parameters
    ----------
    case
        The trace, its pools and prices.
    composition
        Footprints and page reads of the objects by age.
    """

    def __init__(self, case: Case, composition: Composition) -> None:
        self.composition = composition
        self._case = case
        row_of = {number: row for row, number in enumerate(composition.numbers)}
        work = case.work
        self._row_of = {work.names.data_set(*data_set): row_of[data_set[0]] for data_set in work.data_sets}
        self._page_bytes = np.array([case.page_bytes[name] for name in case.names], np.int64)
        priors = prior_prices(work.parts[ALONE], case.cost, case.limits.delay_weight)
        self._prior = np.array([priors.get(number, 0.0) for number in composition.numbers])
        self._ages: list[Floats] = []
        self._prices: list[Floats] = []
        self._writes: list[Floats] = []

    def add(self, state: State) -> None:
        """Add a simulated configuration."""
        case, composition = self._case, self.composition
        count = len(composition.numbers)
        column = np.zeros(count, np.int64)
        home = case.home_of()
        numbers = {case.work.object_name(number): number for number in case.work.objects}
        place = {**home, **{numbers[name]: pool for name, pool in state.configuration.placement.items()}}
        pools = np.array([place.get(number, "") for number in composition.numbers])
        for name, settings in state.configuration.pools.items():
            own = pools == name
            held = composition.held[own].sum(axis=0)
            column[own] = min(int(np.searchsorted(held, settings.size, side="right")), len(composition.ages)) - 1
        column = np.maximum(column, 0)
        spent, writes = np.zeros(count), np.zeros(count)
        sync = case.cost.sync_read.value + case.limits.delay_weight * case.cost.sync_delay.value
        other = case.cost.async_io.value
        for (_, name), activity in state.data_sets.items():
            row = self._row_of[name]
            spent[row] += activity.sync_reads * sync + activity.prefetch_reads * other
            writes[row] += activity.write_ios * other
        reads = composition.reads[np.arange(count), column]
        self._ages.append(np.log(composition.ages[column].astype(np.float64)))
        self._prices.append((spent + self._prior * PRIOR_PAGES) / (reads + PRIOR_PAGES))
        self._writes.append(writes)

    def costs(self) -> Floats:
        """Cost of each object (row) at each age (column) of the composition."""
        ages = np.log(self.composition.ages.astype(np.float64))
        seen = np.stack(self._ages, axis=1)
        order = np.argsort(seen, axis=1, kind="stable")
        seen = np.take_along_axis(seen, order, axis=1)
        prices = _interpolated(ages, seen, np.take_along_axis(np.stack(self._prices, axis=1), order, axis=1))
        writes = _interpolated(ages, seen, np.take_along_axis(np.stack(self._writes, axis=1), order, axis=1))
        return np.asarray(prices * self.composition.reads + writes, np.float64)


def _interpolated(at: Floats, seen: Floats, values: Floats) -> Floats:
    """Of each row the values at the ages seen, interpolated; the outermost ones beyond."""
    rows: Sequence[Floats] = [np.interp(at, own, value) for own, value in zip(seen, values, strict=True)]
    return np.stack(rows) if rows else np.zeros((0, len(at)))
