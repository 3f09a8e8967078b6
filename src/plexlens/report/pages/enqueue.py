"""Resources of ENQ with contention, waits for locks and latches."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_RESOURCE = ("major", "minor", "resource_scope")

_FROM = "enqueue_resource"

PAGE = Page(
    order=1010,
    id="enqueue",
    title="Enqueue contention",
    lead="Resources for which requests waited, for how long, who held them and who waited; waits for locks, latches.",
    what="resources with contention",
    ways=(
        Way("SMF 77", "Monitor I option ENQ(DETAIL) of RMF or the z/OS Data Gatherer, and TYPE(77) in SMFPRMxx."),
        Way(
            "SMF 72-5",
            "Monitor III of RMF or the z/OS Data Gatherer with SMF recording, serialization data, and TYPE(72) in "
            "SMFPRMxx.",
        ),
    ),
    figures=(
        FigureSpec("enqueue_events", "Contention events", _FROM, "event_rate"),
        FigureSpec(
            "enqueue_worst",
            "Most time in contention of a resource",
            _FROM,
            "contention_fraction",
            by=_RESOURCE,
            pick=Pick.HIGHEST,
        ),
    ),
    charts=(
        ChartSpec(
            "enqueue_course",
            "Time in contention, by major name",
            _FROM,
            ("contention_fraction",),
            by=("system", "major"),
        ),
    ),
    tables=(
        TableSpec(
            "enqueue_resources",
            "Resources with the most time in contention",
            _FROM,
            (
                Shown("contention_seconds", bar=True),
                Shown("contention_fraction"),
                Shown("contention_events"),
                Shown("contention_time"),
                Shown("longest_seconds"),
                Shown("long_queue_fraction"),
                Shown("most_exclusive", "Exclusive", group="Most requests waiting"),
                Shown("most_shared", "Shared", group="Most requests waiting"),
                Shown("owner", "Job", group="Owner"),
                Shown("owner_system", "System", group="Owner"),
                Shown("waiter", "Job", group="First to wait"),
                Shown("waiter_system", "System", group="First to wait"),
                Shown("detail_missing_fraction"),
            ),
            by=("system", *_RESOURCE),
            order="contention_seconds",
            course="contention_fraction",
            top=30,
            note="Each system reports what it saw: a resource of several systems can be in the records of each. "
            "Option ENQ(DETAIL) records owners and waiting jobs.",
        ),
        TableSpec(
            "enqueue_majors",
            "Major names",
            _FROM,
            (
                Shown("contention_seconds", bar=True),
                Shown("contention_events"),
                Shown("contention_time"),
                Shown("longest_seconds"),
            ),
            by=("system", "major"),
            order="contention_seconds",
            folded=True,
        ),
        TableSpec(
            "enqueue_kinds",
            "Waits for locks, latches and ENQ",
            "enqueue_serialization",
            (
                Shown("waiting", bar=True),
                Shown("wait_rate"),
                Shown("wait_time"),
                Shown("behind_fraction"),
                Shown("request_rate"),
                Shown("contention_fraction"),
            ),
            by=("system", "kind"),
            order="waiting",
            course="waiting",
        ),
        TableSpec(
            "enqueue_waiters",
            "Waits of address spaces for locks, latches and ENQ",
            "enqueue_waiter",
            (
                Shown("service_class"),
                Shown("waiting", bar=True),
                Shown("wait_rate"),
                Shown("wait_time"),
                Shown("behind_fraction"),
                Shown("contention_fraction"),
            ),
            by=("system", "kind", "job", "address_space"),
            order="waiting",
            top=30,
            note="Of owners of locks and creators of latch sets: the waits of others for them.",
        ),
        TableSpec(
            "enqueue_scans",
            "Scans of the queues of GRS",
            "enqueue_scan",
            (
                Shown("service_class"),
                Shown("request_rate"),
                Shown("executing", bar=True),
                Shown("execution_time"),
                Shown("resources_per_request"),
                Shown("specific_fraction"),
            ),
            by=("system", "job", "address_space"),
            order="executing",
            top=20,
            folded=True,
        ),
    ),
)
