"""Clusters of objects, to find those that would monopolise a pool.

The way of the 2014 study: objects are first distinguished by access (Ramos: random, mostly; Samos: sequential, mostly),
then, within each, by the size of their working set, so that objects that monopolise a pool stand by themselves.

Feature of an object: its maximum working set as a share of its pool, not scaled further, since what matters is the
share itself. Distance: the difference of two shares. Method: hierarchical clustering after Ward (scipy.cluster), which
has no random start and so always gives the same. Number of clusters: the cut, into two to `MOST` clusters, with the
greatest mean silhouette; one cluster where that is below `STRUCTURE`, the least that Kaufman and Rousseeuw ("Finding
Groups in Data", 1990) call a reasonable structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy.cluster import hierarchy

from plexlens.pools.objects import Io
from plexlens.pools.working_set import WorkingSet

#: Clusters of one access at most.
MOST = 5

#: Least mean silhouette of more than one cluster.
STRUCTURE = 0.5

#: From this share of random getpages on, an object is accessed randomly, mostly.
RANDOM = 0.5

#: Objects that are clustered; smaller ones beyond go to the nearest cluster. Memory grows with its square.
CLUSTERED = 2000

#: A cluster is large where each of its objects holds at least this share of its pool (chosen).
LARGE = 0.10

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Access(StrEnum):
    """Predominant access of an object."""

    RANDOM = "Ramos"
    SEQUENTIAL = "Samos"

    @property
    def words(self) -> str:
        """``random, mostly``."""
        return "random, mostly" if self is Access.RANDOM else "sequential, mostly"


@dataclass(frozen=True)
class Member:
    """An object in a cluster.

    Attributes
    ----------
    silhouette
        How much nearer it is to its own cluster than to the next: 1 all, 0 as near; None where there is one cluster.
    """

    io: Io
    working_set: WorkingSet
    silhouette: float | None


@dataclass(frozen=True)
class Cluster:
    """Similar objects of a pool.

    Attributes
    ----------
    number
        From 1, the largest working sets first; unique in its pool.
    members
        The largest working set first.
    """

    pool: str
    number: int
    access: Access
    members: tuple[Member, ...]

    @property
    def smallest(self) -> int:
        """Smallest maximum working set."""
        return min(member.working_set.maximum for member in self.members)

    @property
    def largest(self) -> int:
        """Largest maximum working set."""
        return max(member.working_set.maximum for member in self.members)

    @property
    def pages(self) -> float:
        """Sum of the members' average working sets."""
        return sum(member.working_set.average for member in self.members)

    @property
    def share(self) -> float:
        """The same sum as a share of the pool."""
        return self.pages / self.members[0].working_set.pool_pages

    @property
    def is_large(self) -> bool:
        """Whether each of its objects takes a large part of the pool."""
        return all(member.working_set.maximum_share >= LARGE for member in self.members)

    def total(self, name: str) -> float:
        """Sum of an attribute over the members' I/O; unknown values count as zero."""
        return sum(getattr(member.io, name) or 0.0 for member in self.members)


@dataclass(frozen=True)
class PoolClusters:
    """The clusters of a pool.

    Attributes
    ----------
    clusters
        Random ones first, in each access the largest working sets first.
    silhouettes
        Mean silhouette of the cut that was considered best, by access; no entry where there was nothing to cut.
    """

    pool: str
    clusters: tuple[Cluster, ...]
    silhouettes: dict[Access, float]

    @property
    def advice(self) -> str:
        """Advice on splitting the pool that follows from the clusters, as a sentence."""
        if sum(len(cluster.members) for cluster in self.clusters) < 2:
            return "One object: there is nothing to split."
        accesses = {cluster.access for cluster in self.clusters}
        large = [cluster for cluster in self.clusters if cluster.is_large]
        others = [cluster for cluster in self.clusters if not cluster.is_large]
        if len(accesses) > 1:
            return "Random and sequential objects are mixed: simulate separate pools."
        if large and others:
            count = sum(len(cluster.members) for cluster in large)
            who = "1 object holds" if count == 1 else f"{count} objects hold"
            return f"{who} {LARGE:.0%} of the pool or more, each: simulate a separate pool for them."
        return "All objects have the same kind of access, and none stands out by size: a split gains little."


def clusters_of(ios: Sequence[Io], sets: Sequence[WorkingSet], *, number: int | None = None) -> list[PoolClusters]:
    """Cluster the objects of each pool.

    Parameters
    ----------
    ios, sets
        Getpages and working sets of the objects; those with both, and with getpages, are clustered.
    number
        Clusters of each access, instead of as many as the silhouette says; fewer where there are fewer objects.

    Returns
    -------
    list of PoolClusters
        In the order of the pools' first objects.
    """
    working_sets = {(data_set.pool, data_set.name): data_set for data_set in sets}
    pools: dict[str, list[tuple[Io, WorkingSet]]] = {}
    for io in ios:
        data_set = working_sets.get((io.pool, io.name))
        if data_set is not None and io.getpages:
            pools.setdefault(io.pool, []).append((io, data_set))
    return [_pool(name, objects, number) for name, objects in pools.items()]


def _pool(pool: str, objects: list[tuple[Io, WorkingSet]], number: int | None) -> PoolClusters:
    clusters: list[Cluster] = []
    silhouettes: dict[Access, float] = {}
    for access in Access:
        members = [pair for pair in objects if _access(pair[0]) is access]
        if not members:
            continue
        members.sort(key=lambda member: (-member[1].maximum, member[1].name))
        labels, each, mean = group(np.array([member[1].maximum_share for member in members]), number)
        if mean is not None:
            silhouettes[access] = mean
        for label in range(int(labels.max()) + 1):
            own = np.flatnonzero(labels == label).tolist()
            texts = tuple(Member(*members[at], None if each is None else float(each[at])) for at in own)
            clusters.append(Cluster(pool, len(clusters) + 1, access, texts))
    return PoolClusters(pool, tuple(clusters), silhouettes)


def _access(io: Io) -> Access:
    return Access.RANDOM if (io.random_share or 0.0) >= RANDOM else Access.SEQUENTIAL


def group(shares: Floats, number: int | None = None) -> tuple[Integers, Floats | None, float | None]:
    """Cluster similar shares.

    Parameters
    ----------
    shares
        At least one, falling.
    number
        How many clusters; None for as many as the silhouette says.

    Returns
    -------
    tuple
        The cluster of each, from 0 with the largest; the silhouette of each, or None of a single cluster; the mean
        silhouette of the best cut into several, None where none is possible.
    """
    core = shares[:CLUSTERED]
    different = len(np.unique(core))
    most = min(MOST if number is None else number, different)
    single = np.zeros(len(shares), np.int64)
    if most < 2:
        return single, None, None
    tree = hierarchy.linkage(core.reshape(-1, 1), method="ward")
    cuts = {}
    for count in range(2, most + 1) if number is None else (most,):
        labels = _in_order(hierarchy.fcluster(tree, count, "maxclust"))
        cuts[count] = labels, silhouette(core, labels)
    best = max(cuts, key=lambda count: (float(np.mean(cuts[count][1])), -count))
    labels, each = cuts[best]
    mean = float(np.mean(each))
    if number is None and mean < STRUCTURE:
        return single, None, mean
    if len(shares) > len(core):
        labels, each = _with_rest(shares, core, labels, each)
    return labels, each, mean


def _in_order(labels: npt.NDArray[np.int32]) -> Integers:
    """Cluster labels renumbered from 0 in order of appearance, which is the order of size."""
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    ordered: Integers = order[which]
    return ordered


def _with_rest(shares: Floats, core: Floats, labels: Integers, each: Floats) -> tuple[Integers, Floats]:
    """Extend the clusters to the smaller objects that were not clustered: each joins the cluster with the nearest
    mean.
    """
    rest = shares[len(core) :]
    means = np.array([core[labels == label].mean() for label in range(int(labels.max()) + 1)])
    nearest = np.argmin(np.abs(rest[:, None] - means[None, :]), axis=1)
    return np.concatenate([labels, nearest]), np.concatenate([each, np.full(len(rest), np.nan)])


def silhouette(values: Floats, labels: Integers) -> Floats:
    """Silhouette of each value in its cluster: (b - a) / max(a, b), where a is the mean distance to the other values of
    its own cluster and b to those of the nearest other cluster; 0 for a value that is alone, and where all are equal.

    Source: Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", 1987.
    """
    distances = np.abs(values[:, None] - values[None, :])
    counts = np.bincount(labels)
    sums = np.column_stack([distances[:, labels == label].sum(axis=1) for label in range(len(counts))])
    own = counts[labels]
    rows = np.arange(len(values))
    within = sums[rows, labels] / np.maximum(own - 1, 1)
    means = sums / counts
    means[rows, labels] = np.inf
    nearest = means.min(axis=1)
    larger = np.maximum(within, nearest)
    result = np.zeros(len(values))
    some = (own > 1) & (larger > 0)
    result[some] = ((nearest - within) / np.where(larger > 0, larger, 1.0))[some]
    return result
