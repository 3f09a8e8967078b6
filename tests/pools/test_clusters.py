"""Clusters of objects: published clusters, silhouettes worked by hand and the slow way, degenerate objects."""

from __future__ import annotations

import csv
import random

import numpy as np
import pytest

from plexlens.pools import clusters
from plexlens.pools.clusters import Access, PoolClusters, clusters_of, group, silhouette
from plexlens.pools.objects import Io
from plexlens.pools.working_set import WorkingSet
from tests.conftest import REPOSITORY


def made(*objects: tuple[str, int, float], pool: str = "BP2", pages: int = 10_000) -> tuple[list[Io], list[WorkingSet]]:
    """Objects with a maximum working set and a share of random getpages."""
    ios = [
        Io(pool, name, seconds=10.0, getpages=1000, random_getpages=round(1000 * random_share), sync_reads=5)
        for name, _, random_share in objects
    ]
    sets = [
        WorkingSet(pool, name, "", largest * 0.8, largest, pages, 1.0, 1, (largest,), since_full=True)
        for name, largest, _ in objects
    ]
    return ios, sets


def told(found: PoolClusters) -> list[tuple[str, list[str]]]:
    return [(str(one.access), [member.io.name for member in one.members]) for one in found.clusters]


def test_access_comes_before_size() -> None:
    ios, sets = made(("R1", 4000, 1.0), ("R2", 3900, 0.5), ("S1", 4100, 0.49), ("R3", 10, 0.9), ("S2", 5, 0.0))
    (found,) = clusters_of(ios, sets)
    assert told(found) == [("Ramos", ["R1", "R2"]), ("Ramos", ["R3"]), ("Samos", ["S1", "S2"])]
    assert [one.number for one in found.clusters] == [1, 2, 3]
    assert "mixed" in found.advice


def _published(pool: str) -> list[tuple[int, int]]:
    with (REPOSITORY / "studies" / "pools-2014" / "clusters.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["pool"] == pool]
    return [(int(row["Smallest Max"]), int(row["Largest Max"])) for row in rows]


@pytest.mark.parametrize(
    ("pool", "members", "number"),
    [
        # The study says that BP9 has four objects in each cluster.
        ("BP9", (4, 4), None),
        # And that BP11 has ten in all.
        ("BP11", (4, 2, 4), 3),
    ],
)
def test_published_clusters(pool: str, members: tuple[int, ...], number: int | None) -> None:
    """Objects spread evenly between the printed ends of each cluster are clustered as printed.

    The study prints no more of them than these ends. Of BP2 it does not tell how many objects there are; its two lower
    clusters are only 104 pages apart, so that where they part depends on what lies within.
    """
    printed = _published(pool)
    sizes = [
        round(size)
        for (low, high), count in zip(printed, members, strict=True)
        for size in np.linspace(high, low, count)
    ]
    ios, sets = made(*((f"O{size}", size, 1.0) for size in sizes), pool=pool, pages=40_000)
    (found,) = clusters_of(ios, sets, number=number)
    assert [(one.smallest, one.largest) for one in found.clusters] == printed
    assert [len(one.members) for one in found.clusters] == list(members)
    assert found.silhouettes[Access.RANDOM] > clusters.STRUCTURE
    # 10 % of 40,000 buffers are 4,000.
    large = sum(size >= 4000 for size in sizes)
    assert f"{large} objects hold 10% of the pool or more, each" in found.advice


def test_silhouettes_by_hand() -> None:
    # 0 and 1 against 10: a = 1, b = 10 and 9, so 9/10 and 8/9; the last is alone.
    found = silhouette(np.array([0.0, 1.0, 10.0]), np.array([0, 0, 1]))
    assert found.tolist() == pytest.approx([0.9, 8 / 9, 0.0])


def test_silhouettes_the_slow_way() -> None:
    generator = random.Random(4)
    values = [generator.choice([0.0, 0.1, 0.5]) + generator.random() / 10 for _ in range(40)]
    labels = [generator.randrange(4) for _ in values]
    slow = []
    for at, value in enumerate(values):
        own = [abs(value - other) for j, other in enumerate(values) if labels[j] == labels[at] and j != at]
        if not own:
            slow.append(0.0)
            continue
        a = sum(own) / len(own)
        means = []
        for label in set(labels) - {labels[at]}:
            there = [abs(value - other) for j, other in enumerate(values) if labels[j] == label]
            means.append(sum(there) / len(there))
        slow.append((min(means) - a) / max(a, min(means)))
    assert silhouette(np.array(values), np.array(labels)).tolist() == pytest.approx(slow)


def test_evenly_spread_sizes_are_no_clusters_beyond_reason() -> None:
    """Of every cut, the best is kept; the silhouettes of the others are no greater."""
    shares = np.sort(np.random.default_rng(3).random(30))[::-1]
    _, _, mean = group(shares)
    assert mean is not None
    for count in range(2, clusters.MOST + 1):
        _, _, other = group(shares, count)
        assert other is not None
        assert other <= mean + 1e-12


def test_without_structure_there_is_one_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "STRUCTURE", 0.9)
    labels, each, mean = group(np.array([0.5, 0.4, 0.3, 0.2, 0.1]))
    assert labels.tolist() == [0] * 5
    assert each is None
    assert mean is not None
    assert mean < 0.9


@pytest.mark.parametrize("sizes", [[100], [100, 100], [100] * 50, [0, 0, 0]])
def test_one_object_and_equal_objects_are_one_cluster(sizes: list[int]) -> None:
    ios, sets = made(*((f"O{at}", size, 1.0) for at, size in enumerate(sizes)))
    (found,) = clusters_of(ios, sets)
    (only,) = found.clusters
    assert len(only.members) == len(sizes)
    assert [one.silhouette for one in only.members] == [None] * len(sizes)
    assert found.silhouettes == {}
    assert found.advice


def test_the_order_of_the_objects_does_not_matter() -> None:
    generator = random.Random(8)
    objects = [(f"O{at}", generator.choice([10, 500, 4000]) + generator.randrange(9), 1.0) for at in range(60)]
    expected = told(clusters_of(*made(*objects))[0])
    for _ in range(5):
        generator.shuffle(objects)
        assert told(clusters_of(*made(*objects))[0]) == expected


def test_more_objects_than_are_clustered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "CLUSTERED", 10)
    objects = [(f"O{at:02}", 5000 + at if at < 3 else 100 + at, 1.0) for at in range(40)]
    (found,) = clusters_of(*made(*objects))
    assert [len(one.members) for one in found.clusters] == [3, 37]
    assert sum(len(one.members) for one in found.clusters) == 40


def test_pools_are_clustered_by_themselves() -> None:
    ios, sets = made(("A", 9000, 1.0), ("B", 10, 1.0))
    more_ios, more_sets = made(("A", 10, 0.0), pool="BP3")
    found = clusters_of([*ios, *more_ios, Io("BP3", "WITHOUT", getpages=5)], [*sets, *more_sets])
    assert [(one.pool, len(one.clusters)) for one in found] == [("BP2", 1), ("BP3", 1)]
    assert found[1].advice == "One object: there is nothing to split."
    assert found[0].clusters[0].total("sync_reads") == 10
    assert found[0].clusters[0].share == pytest.approx((7200 + 8) / 10_000)
