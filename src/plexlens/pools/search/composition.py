"""Curves of groups of objects, estimated from the objects' own curves without simulation.

Objects that share an LRU pool are stolen from at one age. With ``T`` that age, each holds its working set of window
``T`` and misses what it references again only after ``T``; so sizes and misses add up over objects at equal ``T``
(Denning, "The working set model for program behavior", 1968; Che and others, "Hierarchical Web caching systems", 2002;
Hu and others, "Kinetic modeling of data eviction in cache", 2016). The addition holds where references of different
objects are independent of each other. Here it only says which groups are worth simulating: nothing is decided by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from plexlens.pools.page_sample import PageSample
from plexlens.pools.search.sizes import CostCurve, Floats, Integers

#: Ages at which working sets are kept.
AGES = 192


class Composition:
    """Working sets and misses of every object of a sample by age.

    Parameters
    ----------
    sample
        The sample.
    weights
        What a page read of an object costs, by its number.
    """

    def __init__(self, sample: PageSample, weights: Mapping[int, float]) -> None:
        length = max(sample.getpages, 2)
        self.ages = np.unique(np.geomspace(1, length, AGES).astype(np.int64))
        self.working_sets: dict[int, Floats] = {}
        self.costs: dict[int, Floats] = {}
        last, following = _distances(sample.pages(), sample.position, length)
        order = np.argsort(sample.object, kind="stable")
        numbers, starts = np.unique(sample.object[order], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends, strict=True):
            rows = order[start:end]
            held = _sums_of_least(following[rows], self.ages) / length
            misses = len(rows) - np.searchsorted(np.sort(last[rows]), self.ages, side="right")
            self.working_sets[number] = np.asarray(held / sample.rate, np.float64)
            self.costs[number] = np.asarray(weights[number] * misses / sample.rate, np.float64)
        for number in sample.objects.keys() - self.costs.keys():
            # None of its pages is in the sample.
            self.working_sets[number] = self.costs[number] = np.zeros(len(self.ages))

    def curve(self, objects: Iterable[int], page_bytes: int) -> CostCurve:
        """Estimated cost at each size of a pool that holds only these objects."""
        zero = np.zeros(len(self.ages))
        held = sum((self.working_sets[number] for number in objects), start=zero)
        costs = sum((self.costs[number] for number in objects), start=zero)
        return as_curve(held, costs, page_bytes)


def as_curve(held: Floats, costs: Floats, page_bytes: int) -> CostCurve:
    """A curve from the mean number of resident pages and the cost at each age."""
    sizes = np.maximum(np.ceil(held), 1).astype(np.int64)
    kept, first = np.unique(sizes[::-1], return_index=True)
    return CostCurve(kept, np.minimum.accumulate(costs[::-1][first]), page_bytes)


def _distances(pages: Integers, positions: Integers, length: int) -> tuple[Integers, Integers]:
    """References since the last reference to the same page (beyond the end if there is none), and until the next or the
    end.
    """
    order = np.lexsort((positions, pages))
    same = pages[order][1:] == pages[order][:-1]
    between = np.diff(positions[order])
    last = np.full(len(pages), length + 1, np.int64)
    following = length - positions
    last[order[1:][same]] = between[same]
    following[order[:-1][same]] = between[same]
    return last, following


def _sums_of_least(values: Integers, ages: Integers) -> Floats:
    """The sum of min(value, age) over the values, for every age."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, ages, side="right")
    sums = np.concatenate(([0], np.cumsum(ordered)))
    return np.asarray(sums[below] + (len(ordered) - below) * ages, np.float64)
