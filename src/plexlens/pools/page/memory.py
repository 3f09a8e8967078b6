"""Use of buffers: working sets of objects over time, their clusters, and page residency."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from operator import attrgetter

from plexlens.metrics.page_numbers import page_numbers
from plexlens.metrics.unit import COUNT, FRACTION, PAGES, PER_SECOND, RATIO, SECONDS, Unit
from plexlens.pools import clusters as method
from plexlens.pools.clusters import Cluster, Member, PoolClusters, clusters_of
from plexlens.pools.cost import STUDY, IoCost
from plexlens.pools.objects import objects_of
from plexlens.pools.observation import Observation
from plexlens.pools.page.objects import OBJECT
from plexlens.pools.page.objects import fields as object_fields
from plexlens.pools.residency import Residency, residencies
from plexlens.pools.working_set import WorkingSet, working_sets
from plexlens.report.model import Block, ColumnKind, Note, Section
from plexlens.report.model.fields import Definitions, Field, Subject, of_number
from plexlens.report.model.xy import MOST_SERIES, XYChart, XYSeries

WORKING_SET = Subject("pool_working_set", "Working sets", "one object in one pool, observed over the trace")
CLUSTER = Subject("pool_cluster", "Clusters of objects", "objects of one pool that are alike")
RESIDENCY = Subject("pool_residency", "Residency", "stolen pages of one pool or object")

#: What the columns of working sets stand under.
_SET_GROUPS = {
    **dict.fromkeys(("average", "maximum", "delta"), "Pages in the pool"),
    **dict.fromkeys(("average_share", "maximum_share", "delta_share"), "Share of the pool"),
    **dict.fromkeys(("referenced_average", "referenced_maximum"), "Pages referenced between observations"),
}

_HELD = "The simulated pool, observed at equal steps of the trace"

#: The x of the courses: seconds since the first reference, or references.
_SINCE = Unit("s", "s", 1.0, 0)


def working_sets_section(observation: Observation, definitions: Definitions) -> Section:
    """Average, maximum and delta of every object's working set, and its course."""
    sets = working_sets(observation)
    fields = _set_fields()
    text = definitions.add(fields["average"])
    blocks: list[Block] = []
    table = definitions.table(
        "working_sets",
        "Working sets of objects",
        list(fields.values()),
        sets,
        sorted_by=("maximum_share", True),
        top=25,
    )
    if table is not None:
        blocks.append(table)
    never = sorted({data_set.pool for data_set in sets if not data_set.since_full})
    if never:
        blocks.append(
            Note(
                f"{', '.join(never)} never filled during the trace: every object still holds all pages that it read, "
                "so the numbers show what it read, not what it would keep."
            )
        )
    if len(observation.looks) > 1:
        blocks += [
            _course(pool, [data_set for data_set in sets if data_set.pool == pool], observation, text)
            for pool in dict.fromkeys(data_set.pool for data_set in sets)
        ]
    return Section(
        "working-sets",
        "Working sets",
        tuple(blocks),
        "Share of its pool that each object holds. In a larger pool all objects hold more pages; the share shows "
        "which objects displace others.",
    )


def _set_fields() -> dict[str, Field[WorkingSet]]:
    numbers = page_numbers("working_set").numbers
    fields: list[Field[WorkingSet]] = [
        Field(WORKING_SET, "pool", "Pool", lambda row: row.pool, key=True),
        Field(WORKING_SET, "object", "Object", lambda row: row.name, key=True),
        Field(WORKING_SET, "kind", "Kind", lambda row: row.kind or None),
        *(
            of_number(WORKING_SET, name, number, attrgetter(name), group=_SET_GROUPS[name], bar=name == "maximum_share")
            for name, number in numbers.items()
        ),
        Field(WORKING_SET, "course", "Course", lambda row: row.course, PAGES, kind=ColumnKind.SPARK),
    ]
    return {field.name: field for field in fields}


def _course(pool: str, sets: Sequence[WorkingSet], observation: Observation, definition: str) -> XYChart:
    kept = sets if len(sets) <= MOST_SERIES else sets[: MOST_SERIES - 1]
    series = [XYSeries(working_set.name, _points(observation, working_set.course)) for working_set in kept]
    if len(sets) > len(kept):
        rest = [sum(data_set.course[at] for data_set in sets[len(kept) :]) for at in range(len(observation.looks))]
        series.append(XYSeries(f"{len(sets) - len(kept)} other objects", _points(observation, rest)))
    return XYChart(
        f"working_sets_{pool}",
        f"{pool}: buffers by object",
        "Time since the first reference" if observation.timed else "References",
        "Pages in the pool",
        tuple(series),
        x_unit=_SINCE if observation.timed else COUNT,
        y_unit=PAGES,
        definition=definition,
        stacked=True,
    )


def _points(observation: Observation, course: Sequence[int]) -> tuple[tuple[float, float], ...]:
    return tuple((float(at), float(count)) for at, count in zip(observation.looks, course, strict=True))


def clusters_section(observation: Observation, cost: IoCost, definitions: Definitions) -> Section:
    """Clusters of every pool, and their objects."""
    pool_clusters = clusters_of(objects_of(observation), working_sets(observation))
    every = [cluster for pool in pool_clusters for cluster in pool.clusters]
    members = [(cluster, member) for cluster in every for member in cluster.members]
    blocks: list[Block] = [Note(f"{pool.pool}: {_said(pool)}") for pool in pool_clusters]
    tables = [
        definitions.table(
            "clusters", "Clusters", _cluster_fields(observation.timed), every, top=25, drill="cluster_members",
            note="Objects of a pool are divided by access (Ramos: mostly random; Samos: mostly sequential; by "
                 "getpages), then clustered by maximum working set as a share of the pool.",
        ),
        definitions.table(
            "cluster_members", "Objects of the clusters", _member_fields(observation.timed, cost), members, folded=True,
        ),
    ]  # fmt: skip
    blocks += [table for table in tables if table is not None]
    blocks.append(
        Note(
            "Method: the feature of an object is its maximum working set as a share of its pool, unscaled; the "
            "distance is the difference of two shares; clustering is hierarchical by Ward's method "
            f"(scipy.cluster.hierarchy). Of the cuts into 2 to {method.MOST} clusters, the cut with the greatest mean "
            f"silhouette is used, and a single cluster if that is below {method.STRUCTURE} (Kaufman and Rousseeuw, "
            "1990: no reasonable structure)."
        )
    )
    return Section(
        "clusters",
        "Clusters",
        tuple(blocks),
        "Objects that displace others form their own cluster and are candidates for a separate pool.",
    )


def _said(pool: PoolClusters) -> str:
    means = ", ".join(f"{access} {mean:.2f}" for access, mean in pool.silhouettes.items())
    return pool.advice + (f" Mean silhouette of the best cut: {means}." if means else "")


def _cluster_fields(timed: bool) -> list[Field[Cluster]]:
    fields: list[Field[Cluster]] = [
        Field(CLUSTER, "pool", "Pool", lambda row: row.pool, key=True),
        Field(CLUSTER, "cluster", "Cluster", lambda row: f"{row.pool}-{row.number}", key=True),
        Field(CLUSTER, "access", "Access", lambda row: f"{row.access} ({row.access.words})"),
        Field(CLUSTER, "objects", "Objects", lambda row: len(row.members), COUNT, "", "The clustering"),
        Field(
            CLUSTER, "smallest", "Smallest", lambda row: row.smallest, PAGES,
            "smallest maximum working set of its objects", f"{STUDY}, Smallest Max", group="Maximum working set",
        ),
        Field(
            CLUSTER, "largest", "Largest", lambda row: row.largest, PAGES,
            "largest maximum working set of its objects", f"{STUDY}, Largest Max", group="Maximum working set",
        ),
        Field(
            CLUSTER, "pages", "Pages", lambda row: row.pages, PAGES, "Σ average working sets of its objects", _HELD,
            group="Held together",
        ),
        Field(
            CLUSTER, "share", "Share of the pool", lambda row: row.share, FRACTION,
            "Σ average working sets of its objects / buffers", _HELD, group="Held together", bar=True,
        ),
    ]  # fmt: skip
    if timed:
        fields.append(
            Field(
                CLUSTER, "read_ios_per_second", "Read I/O", lambda row: row.total("read_ios_per_second"), PER_SECOND,
                "Σ read I/Os of its objects / seconds of the trace", "The trace, and a simulation of the pools over it",
            )
        )  # fmt: skip
    return fields


def _member_fields(timed: bool, cost: IoCost) -> list[Field[tuple[Cluster, Member]]]:
    of_object, of_set = object_fields(OBJECT, cost), _set_fields()
    fields: list[Field[tuple[Cluster, Member]]] = [
        Field(CLUSTER, "pool", "Pool", lambda row: row[0].pool, key=True),
        Field(CLUSTER, "cluster", "Cluster", lambda row: f"{row[0].pool}-{row[0].number}", key=True),
        Field(CLUSTER, "object", "Object", lambda row: row[1].io.name, key=True),
        of_object["random_share"].through(lambda row: row[1].io),
        of_set["maximum"].within("Maximum working set", "Pages").through(lambda row: row[1].working_set),
        of_set["maximum_share"].within("Maximum working set", "Share").through(lambda row: row[1].working_set),
        Field(
            CLUSTER, "silhouette", "Silhouette", lambda row: row[1].silhouette, RATIO,
            "(b - a) / max(a, b): a mean distance within its cluster, b to the nearest other cluster",
            "Rousseeuw, Silhouettes (1987)", "1: clearly in its cluster; 0: between two clusters; below 0: nearer to "
                                             "another cluster.",
        ),
    ]  # fmt: skip
    if timed:
        fields.append(of_object["read_ios_per_second"].through(lambda row: row[1].io))
    return fields


def residency_section(observation: Observation, definitions: Definitions) -> Section:
    """Residency of stolen pages in their pool."""
    results = residencies(observation)
    if not observation.timed:
        unknown = Note("The trace has no times, so residency times are not known.")
        return Section("residency", "Residency", (unknown,))
    fields = _residency_fields()
    tables = [
        definitions.table(
            "residency_pools", "Pools", [field for field in fields if field.name != "object"],
            [residency for residency in results if not residency.name],
        ),
        definitions.table(
            "residency_objects", "Objects", [field for field in fields if field.name != "by_reads"],
            [residency for residency in results if residency.name and residency.stolen], folded=True, sorted_by=None,
        ),
    ]  # fmt: skip
    span = timedelta(seconds=round(observation.seconds))
    return Section(
        "residency",
        "Residency",
        (
            *(table for table in tables if table is not None),
            Note(
                f"Only stolen pages count. The trace covers {span}; a page that stays longer is not counted. Of all "
                "pages, and as Db2's statistics have it, the mean is the one by reads. For a pool with mixed access, "
                "the mean over all pages means little; the study of 2014 calls it useless."
            ),
        ),
        "Time that a page stays, from its read to its steal.",
    )


def _residency_fields() -> list[Field[Residency]]:
    source = "The simulation: times of stolen pages from read to steal"
    return [
        Field(RESIDENCY, "pool", "Pool", lambda row: row.pool, key=True),
        Field(RESIDENCY, "object", "Object", lambda row: row.name, key=True),
        Field(
            RESIDENCY, "seconds", "All", lambda row: row.seconds, SECONDS, "Σ time in the pool / stolen pages", source,
            group="Mean residency",
        ),
        Field(
            RESIDENCY, "random_seconds", "Random", lambda row: row.random_seconds, SECONDS,
            "the same for pages stolen from the random chain", source, group="Mean residency",
        ),
        Field(
            RESIDENCY, "sequential_seconds", "Sequential", lambda row: row.sequential_seconds, SECONDS,
            "the same for pages stolen from the sequential chain", source, group="Mean residency",
        ),
        Field(
            RESIDENCY, "by_reads", "By reads", lambda row: row.by_reads, SECONDS,
            "buffers x time / pages read, as the metric db2_pool.residency", "The simulation; Little's law",
            group="Mean residency",
        ),
        Field(
            RESIDENCY, "stolen_random", "Random", lambda row: row.stolen_random, COUNT, "", source,
            group="Stolen pages",
        ),
        Field(
            RESIDENCY, "stolen_sequential", "Sequential", lambda row: row.stolen_sequential, COUNT, "", source,
            group="Stolen pages",
        ),
    ]  # fmt: skip
