"""Costs of objects at each age, as simulated configurations show them.

The composed curves know which pages are read again, not how: a page comes alone, or with a prefetch that brings others
too, or again and again because the pool is too small for what prefetch brings. So each simulated configuration is an
observation of every object at the age of its pool: the cost of its reads for each read that the curve tells, and the
cost of its writes. Between observed ages both are interpolated over the logarithm of the age.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plexlens.pools.members import full_name, member_and_pool
from plexlens.pools.outcome import PRIOR_PAGES, prior_prices
from plexlens.pools.prediction import GroupPoolActivity, State
from plexlens.pools.search.case import Case
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.sizes import Floats


class Observed:
    """Observations of the objects at every member.

    Parameters
    ----------
    case
        The trace, its pools and prices.
    composition
        Footprints and page reads of the objects by age, by member.
    """

    def __init__(self, case: Case, composition: Mapping[str, Composition]) -> None:
        self._members = {member: _Member(case, member, own) for member, own in composition.items()}

    def add(self, state: State) -> None:
        """Add a simulated configuration."""
        for own in self._members.values():
            own.add(state)

    def priced(self) -> dict[str, Composition]:
        """The compositions with the cost of each object (row) at each age (column) as observed."""
        return {member: own.composition.priced(own.costs()) for member, own in self._members.items()}


class _Member:
    def __init__(self, case: Case, member: str, composition: Composition) -> None:
        self.composition = composition
        self._case = case
        self._member = member
        work = case.work.parts[member]
        row_of = {number: row for row, number in enumerate(composition.numbers)}
        self._row_of = {case.work.names.data_set(*data_set): row_of[data_set[0]] for data_set in work.data_sets}
        priors = prior_prices(work, case.cost, case.limits.delay_weight)
        self._prior = np.array([priors.get(number, 0.0) for number in composition.numbers])
        self._ages: list[Floats] = []
        self._prices: list[Floats] = []
        self._writes: list[Floats] = []

    def add(self, state: State) -> None:
        case, composition = self._case, self.composition
        count = len(composition.numbers)
        column = np.zeros(count, np.int64)
        numbers = {case.work.object_name(number): number for number in case.work.objects}
        place = {**case.home_of(), **{numbers[name]: pool for name, pool in state.configuration.placement.items()}}
        pools = np.array([place.get(number, "") for number in composition.numbers])
        for name, settings in state.configuration.of(self._member).pools.items():
            own = pools == name
            content = composition.held[own].sum(axis=0)
            column[own] = min(int(np.searchsorted(content, settings.size, side="right")), len(composition.ages)) - 1
        column = np.maximum(column, 0)
        sync = case.cost.sync_read.value + case.limits.delay_weight * case.cost.sync_delay.value
        other = case.cost.async_io.value
        spent, writes = self._requests(state)
        for (pool, name), activity in state.data_sets.items():
            if member_and_pool(pool)[0] != self._member:
                continue
            row = self._row_of[name]
            spent[row] += activity.sync_reads * sync + activity.prefetch_reads * other
            writes[row] += activity.write_ios * other
        reads = composition.reads[np.arange(count), column]
        self._ages.append(np.log(composition.ages[column].astype(np.float64)))
        self._prices.append((spent + self._prior * PRIOR_PAGES) / (reads + PRIOR_PAGES))
        self._writes.append(writes)

    def _requests(self, state: State) -> tuple[Floats, Floats]:
        """CPU of requests to group buffer pools of each object (row): those of reads, and of writes with castout.

        They are counted by pool; those of reads are divided among the shared objects of a pool by the pages that these
        read, those of writes by their updates.
        """
        spent, writes = np.zeros(len(self.composition.numbers)), np.zeros(len(self.composition.numbers))
        for pool, names in state.dependent.items():
            shared = set(names)
            every = {
                key: activity
                for key, activity in state.data_sets.items()
                if member_and_pool(key[0])[1] == pool and key[1] in shared
            }
            own = {name: activity for (full, name), activity in every.items() if full == full_name(self._member, pool)}
            read = {name: activity.pages_read for name, activity in own.items()}
            updates = {name: activity.updates for name, activity in own.items()}
            use = state.uses.get(full_name(self._member, pool), GroupPoolActivity())
            of_writes = (use.writes + use.castout_pages) / use.requests if use.requests else 0.0
            self._divide(spent, (1 - of_writes) * use.cpu_seconds, read, sum(read.values()))
            self._divide(writes, of_writes * use.cpu_seconds, updates, sum(updates.values()))
            castout = state.uses.get(f"G{pool}", GroupPoolActivity()).cpu_seconds
            self._divide(writes, castout, updates, sum(activity.updates for activity in every.values()))
        return spent, writes

    def _divide(self, rows: Floats, amount: float, shares: Mapping[str, float], whole: float) -> None:
        for name, share in shares.items():
            if share > 0:
                rows[self._row_of[name]] += amount * share / whole

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
    """Values of each row interpolated at the observed ages; constant beyond the first and last age."""
    rows: Sequence[Floats] = [np.interp(at, own, value) for own, value in zip(seen, values, strict=True)]
    return np.stack(rows) if rows else np.zeros((0, len(at)))
