"""Starting points of the search for groups: clusters of objects with similar use."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment

from plexlens.pools.search.case import Case
from plexlens.pools.search.composition import Composition
from plexlens.pools.search.sizes import Floats

#: Ages, as parts of the logarithmic scale, at which objects are compared.
_AGES = (0.4, 0.55, 0.7, 0.85)


def clusterings(case: Case, composition: Mapping[str, Composition]) -> dict[str, dict[int, int]]:
    """All objects together, and clusters of objects with similar use, from two up to the allowed number of pools.

    Ward's method on how an object uses storage: the logarithm of its working set at four ages, and the share of its
    cost that is left at these ages, each scaled to unit variance.
    """
    numbers = sorted(case.home_of())
    if not numbers:
        return {}
    counts: dict[str, dict[int, int]] = {"all objects together": dict.fromkeys(numbers, 0)}
    if len(numbers) < 3:
        return counts
    rows = []
    for number in numbers:
        values, costs = _at_ages(composition, number)
        left = costs[1:] / costs[0] if costs[0] > 0 else np.zeros(len(_AGES))
        rows.append([*np.log1p(values), *left])
    features = np.asarray(rows)
    spread = features.std(axis=0)
    tree = linkage((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0), method="ward")
    for count in range(2, min(len(case.names), len(numbers)) + 1):
        labels = fcluster(tree, count, criterion="maxclust")
        counts[f"{count} clusters of like use"] = dict(zip(numbers, (int(label) for label in labels), strict=True))
    return counts


def _at_ages(composition: Mapping[str, Composition], number: int) -> tuple[Floats, Floats]:
    """Summed over all members: working sets of an object at the ages, and its cost before and at these ages."""
    values, costs = np.zeros(len(_AGES)), np.zeros(len(_AGES) + 1)
    for member in composition.values():
        if number in member.costs:
            at = [int(part * (len(member.ages) - 1)) for part in _AGES]
            values += member.working_sets[number][at]
            costs += [member.costs[number].max(), *member.costs[number][at]]
    return values, costs


def named(case: Case, labels: Mapping[int, int]) -> dict[str, frozenset[int]]:
    """The groups of a labelling, each assigned to a pool of its page size so that as few objects as possible move.

    Objects that cannot move, or bear no label, stay. Labels beyond the pools of a page size, the smallest ones, share
    the last pool.
    """
    home = case.home_of()
    groups: dict[str, set[int]] = {name: set() for name in case.names}
    free = {number: name for number, name in sorted(home.items()) if number in labels and number not in case.fixed}
    for number in home.keys() - free.keys():
        groups[home[number]].add(number)
    for size in sorted({case.page_bytes[name] for name in case.home}):
        names = [name for name in case.names if case.page_bytes[name] == size]
        sets: dict[int, set[int]] = {}
        for number, name in free.items():
            if case.page_bytes[name] == size:
                sets.setdefault(labels[number], set()).add(number)
        if not sets:
            continue
        kept = sorted(sets, key=lambda label: (-len(sets[label]), label))
        for label in kept[len(names) :]:
            sets[kept[len(names) - 1]] |= sets[label]
        kept = kept[: len(names)]
        stays = np.array([[sum(home[number] == name for number in sets[label]) for name in names] for label in kept])
        for row, column in zip(*linear_sum_assignment(stays, maximize=True), strict=True):
            groups[names[column]] |= sets[kept[row]]
    return case.kept({name: frozenset(objects) for name, objects in groups.items()})
