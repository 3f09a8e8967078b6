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

WORKING_SET = Subject("pool_working_set", "Working sets", "one object in one pool, looked at over the trace")
CLUSTER = Subject("pool_cluster", "Clusters of objects", "objects of one pool that are alike")
RESIDENCY = Subject("pool_residency", "Residency", "stolen pages of one pool or object")

#: What the columns of working sets stand under.
_SET_GROUPS = {
    **dict.fromkeys(("average", "maximum", "delta"), "Pages in the pool"),
    **dict.fromkeys(("average_share", "maximum_share", "delta_share"), "Share of the pool"),
    **dict.fromkeys(("referenced_average", "referenced_maximum"), "Pages referenced between looks"),
}

_HELD = "The simulated pool, at equal stretches of the trace"

#: The x of the courses: seconds since the first reference, or references.
_SINCE = Unit("s", "s", 1.0, 0)


def working_sets_section(observation: Observation, definitions: Definitions) -> Section:
    """Average, maximum and delta of every object's working set, and its course."""
    sets = working_sets(observation)
    fields = _set_fields()
    held = definitions.add(fields["average"])
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
    never = sorted({one.pool for one in sets if not one.since_full})
    if never:
        blocks.append(
            Note(
                f"{', '.join(never)} never filled during the trace: every object still holds all it ever read, which "
                "says how much it read and not how much it would keep."
            )
        )
    if len(observation.looks) > 1:
        blocks += [
            _course(pool, [one for one in sets if one.pool == pool], observation, held)
            for pool in dict.fromkeys(one.pool for one in sets)
        ]
    return Section(
        "working-sets",
        "Working sets",
        tuple(blocks),
        "How much of its pool each object holds. In a larger pool everything holds more; the share tells who takes it "
        "from whom.",
    )


def _set_fields() -> dict[str, Field[WorkingSet]]:
    numbers = page_numbers("working_set").numbers
    made: list[Field[WorkingSet]] = [
        Field(WORKING_SET, "pool", "Pool", lambda one: one.pool, key=True),
        Field(WORKING_SET, "object", "Object", lambda one: one.name, key=True),
        Field(WORKING_SET, "kind", "Kind", lambda one: one.kind or None),
        *(
            of_number(WORKING_SET, name, one, attrgetter(name), group=_SET_GROUPS[name], bar=name == "maximum_share")
            for name, one in numbers.items()
        ),
        Field(WORKING_SET, "course", "Course", lambda one: one.course, PAGES, kind=ColumnKind.SPARK),
    ]
    return {one.name: one for one in made}


def _course(pool: str, sets: Sequence[WorkingSet], observation: Observation, definition: str) -> XYChart:
    kept = sets if len(sets) <= MOST_SERIES else sets[: MOST_SERIES - 1]
    series = [XYSeries(working_set.name, _points(observation, working_set.course)) for working_set in kept]
    if len(sets) > len(kept):
        rest = [sum(one.course[at] for one in sets[len(kept) :]) for at in range(len(observation.looks))]
        series.append(XYSeries(f"{len(sets) - len(kept)} other objects", _points(observation, rest)))
    return XYChart(
        f"working_sets_{pool}",
        f"{pool}: who holds its buffers",
        "Time since the first reference" if observation.timed else "References",
        "Pages in the pool",
        tuple(series),
        x_unit=_SINCE if observation.timed else COUNT,
        y_unit=PAGES,
        definition=definition,
        stacked=True,
    )


def _points(observation: Observation, course: Sequence[int]) -> tuple[tuple[float, float], ...]:
    return tuple((float(at), float(held)) for at, held in zip(observation.looks, course, strict=True))


def clusters_section(observation: Observation, cost: IoCost, definitions: Definitions) -> Section:
    """Clusters of every pool, and their objects."""
    found = clusters_of(objects_of(observation), working_sets(observation))
    every = [cluster for pool in found for cluster in pool.clusters]
    members = [(cluster, member) for cluster in every for member in cluster.members]
    blocks: list[Block] = [Note(f"{pool.pool}: {_said(pool)}") for pool in found]
    tables = [
        definitions.table(
            "clusters", "Clusters", _cluster_fields(observation.timed), every, top=25, drill="cluster_members",
            note="Clusters of a pool by access first (Ramos: random, mostly; Samos: sequential, mostly; by getpages), "
            "then by the maximum working set as a share of the pool.",
        ),
        definitions.table(
            "cluster_members", "Objects of the clusters", _member_fields(observation.timed, cost), members, folded=True,
        ),
    ]  # fmt: skip
    blocks += [one for one in tables if one is not None]
    blocks.append(
        Note(
            "How: feature of an object is its maximum working set as a share of its pool, unscaled; distance the "
            "difference of two shares; hierarchical clustering after Ward (scipy.cluster.hierarchy); of the cuts into "
            f"2 to {method.MOST} clusters the one with the greatest mean silhouette, and one cluster where that is "
            f"below {method.STRUCTURE} (Kaufman and Rousseeuw, 1990: no reasonable structure)."
        )
    )
    return Section(
        "clusters",
        "Clusters",
        tuple(blocks),
        "Objects that take a pool from the others stand by themselves: candidates for a pool of their own.",
    )


def _said(pool: PoolClusters) -> str:
    means = ", ".join(f"{access} {mean:.2f}" for access, mean in pool.silhouettes.items())
    return pool.advice + (f" Mean silhouette of the best cut: {means}." if means else "")


def _cluster_fields(timed: bool) -> list[Field[Cluster]]:
    made: list[Field[Cluster]] = [
        Field(CLUSTER, "pool", "Pool", lambda one: one.pool, key=True),
        Field(CLUSTER, "cluster", "Cluster", lambda one: f"{one.pool}-{one.number}", key=True),
        Field(CLUSTER, "access", "Access", lambda one: f"{one.access} ({one.access.words})"),
        Field(CLUSTER, "objects", "Objects", lambda one: len(one.members), COUNT, "", "The clustering"),
        Field(
            CLUSTER, "smallest", "Smallest", lambda one: one.smallest, PAGES,
            "least maximum working set of its objects", f"{STUDY}, Smallest Max", group="Maximum working set",
        ),
        Field(
            CLUSTER, "largest", "Largest", lambda one: one.largest, PAGES,
            "greatest maximum working set of its objects", f"{STUDY}, Largest Max", group="Maximum working set",
        ),
        Field(
            CLUSTER, "pages", "Pages", lambda one: one.pages, PAGES, "Σ average working sets of its objects", _HELD,
            group="Held together",
        ),
        Field(
            CLUSTER, "share", "Share of the pool", lambda one: one.share, FRACTION,
            "Σ average working sets of its objects / buffers", _HELD, group="Held together", bar=True,
        ),
    ]  # fmt: skip
    if timed:
        made.append(
            Field(
                CLUSTER, "read_ios_per_second", "Read I/O", lambda one: one.total("read_ios_per_second"), PER_SECOND,
                "Σ read I/Os of its objects / seconds of the trace", "The trace, and a simulation of the pools over it",
            )
        )  # fmt: skip
    return made


def _member_fields(timed: bool, cost: IoCost) -> list[Field[tuple[Cluster, Member]]]:
    of_object, of_set = object_fields(OBJECT, cost), _set_fields()
    made: list[Field[tuple[Cluster, Member]]] = [
        Field(CLUSTER, "pool", "Pool", lambda one: one[0].pool, key=True),
        Field(CLUSTER, "cluster", "Cluster", lambda one: f"{one[0].pool}-{one[0].number}", key=True),
        Field(CLUSTER, "object", "Object", lambda one: one[1].io.name, key=True),
        of_object["random_share"].through(lambda one: one[1].io),
        of_set["maximum"].within("Maximum working set", "Pages").through(lambda one: one[1].working_set),
        of_set["maximum_share"].within("Maximum working set", "Share").through(lambda one: one[1].working_set),
        Field(
            CLUSTER, "silhouette", "Silhouette", lambda one: one[1].silhouette, RATIO,
            "(b - a) / max(a, b): a mean distance within its cluster, b to the nearest other cluster",
            "Rousseeuw, Silhouettes (1987)", "1: clearly of its cluster; 0: between two; below 0: nearer to another.",
        ),
    ]  # fmt: skip
    if timed:
        made.append(of_object["read_ios_per_second"].through(lambda one: one[1].io))
    return made


def residency_section(observation: Observation, definitions: Definitions) -> Section:
    """Residency of stolen pages in their pool."""
    found = residencies(observation)
    if not observation.timed:
        unknown = Note("The trace has no times, so how long pages stayed is not known.")
        return Section("residency", "Residency", (unknown,))
    fields = _residency_fields()
    tables = [
        definitions.table(
            "residency_pools", "Pools", [one for one in fields if one.name != "object"],
            [one for one in found if not one.name],
        ),
        definitions.table(
            "residency_objects", "Objects", fields, [one for one in found if one.name and one.stolen], folded=True,
            sorted_by=None,
        ),
    ]  # fmt: skip
    span = timedelta(seconds=round(observation.seconds))
    return Section(
        "residency",
        "Residency",
        (
            *(one for one in tables if one is not None),
            Note(
                f"Only stolen pages count, and the trace covers {span}: a page that outlasts it is not among them. Of "
                "a pool of mixed access the mean over all says little; the study of 2014 calls it useless there."
            ),
        ),
        "How long a page stays, from being read to being stolen.",
    )


def _residency_fields() -> list[Field[Residency]]:
    source = "The simulation: times of stolen pages from read to steal"
    return [
        Field(RESIDENCY, "pool", "Pool", lambda one: one.pool, key=True),
        Field(RESIDENCY, "object", "Object", lambda one: one.name, key=True),
        Field(
            RESIDENCY, "seconds", "All", lambda one: one.seconds, SECONDS, "Σ time in the pool / stolen pages", source,
            group="Mean residency",
        ),
        Field(
            RESIDENCY, "random_seconds", "Random", lambda one: one.random_seconds, SECONDS,
            "the same of pages stolen from the random chain", source, group="Mean residency",
        ),
        Field(
            RESIDENCY, "sequential_seconds", "Sequential", lambda one: one.sequential_seconds, SECONDS,
            "the same of pages stolen from the sequential chain", source, group="Mean residency",
        ),
        Field(
            RESIDENCY, "stolen_random", "Random", lambda one: one.stolen_random, COUNT, "", source,
            group="Stolen pages",
        ),
        Field(
            RESIDENCY, "stolen_sequential", "Sequential", lambda one: one.stolen_sequential, COUNT, "", source,
            group="Stolen pages",
        ),
    ]  # fmt: skip
