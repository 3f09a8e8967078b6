"""The Db2 data sharing groups: comparison of members, group buffer pools, global locks."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.blocks.ways import CF_TEXT, DB2_PRINTED
from plexlens.report.model import Way
from plexlens.report.model.chart import ChartKind

_MEMBER = ("group_name", "subsystem")
_GROUP_POOL = ("group_name", "group_pool")

_SHARING = "group_name is not null and (group_name != '')"


#: Structures by the names that Db2 requires: GROUP_LOCK1, GROUP_SCA, GROUP_GBPn.
_DB2_STRUCTURE = "regexp_matches(structure, '_(LOCK1|SCA|GBP[0-9K]+)$')"


_READS = (
    Shown("requests_per_second", bar=True),
    Shown("dependent_getpages_per_second"),
    Shown("reads_per_second"),
    Shown("reads_invalid_data", "With data", group="Reads for cross-invalidation"),
    Shown("reads_invalid_no_data", "Without", group="Reads for cross-invalidation"),
    Shown("reads_absent_data", "With data", group="Reads for page not found"),
    Shown("reads_absent_no_data", "Without", group="Reads for page not found"),
    Shown("read_hit_fraction", "All", group="Read hits"),
    Shown("invalid_read_hit_fraction", "Cross-invalidated", group="Read hits"),
    Shown("changed_pages_per_second"),
    Shown("reads_per_write"),
)

PAGE = Page(
    order=790,
    id="data_sharing",
    title="Db2 data sharing",
    lead="The members of each data sharing group side by side, their group buffer pools and their global locks. "
    "Run plexlens sharing for the total cost by request type, address space and transaction class.",
    what="Db2 data sharing groups",
    ways=(
        Way(
            "SMF 100",
            "-START TRACE(STAT) CLASS(1,3,4,5) DEST(SMF) in every member of the group, and TYPE(100) in SMFPRMxx.",
        ),
        *DB2_PRINTED,
        Way(
            "SMF 101",
            "-START TRACE(ACCTG) CLASS(1,2,3) DEST(SMF) in every member of the group, and TYPE(101) in SMFPRMxx: for "
            "requests of transactions to the group.",
        ),
        Way(
            "SMF 74-4",
            "Monitor III gatherer of RMF or the z/OS Data Gatherer with option CFDETAIL (the default), and TYPE(74) in "
            "SMFPRMxx: service times of the structures.",
        ),
        Way("RMF XML CF", "Postprocessor control statement SYSRPTS(CF) with output to ddname XPXSRPTS."),
        CF_TEXT,
    ),
    figures=(
        FigureSpec(
            "db2_false_contention",
            "Worst Db2 false contention",
            "db2_locking",
            "false_contention_fraction",
            by=_MEMBER,
            pick=Pick.HIGHEST,
        ),
        FigureSpec("db2_group_requests", "Group buffer pool requests", "db2_group_pool", "requests_per_second"),
        FigureSpec(
            "db2_structure_processors",
            "Processors held by requests to Db2's structures",
            "coupling_structure",
            "sync_processors",
            where=_DB2_STRUCTURE,
        ),
    ),
    charts=(
        ChartSpec(
            "db2_group_pool_requests",
            "Requests, by group buffer pool",
            "db2_group_pool",
            ("requests_per_second",),
            by=_GROUP_POOL,
            kind=ChartKind.STACK,
        ),
        ChartSpec(
            "db2_global_contention",
            "Global contention, by member",
            "db2_locking",
            ("global_contention_fraction",),
            by=_MEMBER,
        ),
    ),
    tables=(
        TableSpec(
            "db2_sharing_cost",
            "Cost of data sharing: processors held by requests to Db2's structures",
            "coupling_structure",
            (
                Shown("structure_type"),
                Shown("requests_per_second"),
                Shown("sync_fraction"),
                Shown("sync_service_time"),
                Shown("sync_processors", bar=True),
            ),
            by=("structure",),
            order="sync_processors",
            where=_DB2_STRUCTURE,
            top=6,
            note="Service time only, during which the sending processors spin. plexlens sharing adds path lengths, "
            "castout and contention, and shows the cost by work.",
        ),
        TableSpec(
            "db2_sharing_threads",
            "Group requests of transactions",
            "db2_accounting_sharing",
            (
                Shown("commits"),
                Shown("xes_requests_per_commit", "Locks", group="Requests per commit"),
                Shown("group_reads_per_commit", "Reads", group="Requests per commit"),
                Shown("invalid_reads_per_commit", "After invalidation", group="Requests per commit"),
                Shown("group_writes_per_commit", "Pages written", group="Requests per commit"),
                Shown("sharing_wait_per_commit", "All", group="Waits per commit"),
                Shown("page_lock_wait_per_commit", "Page P-locks", group="Waits per commit"),
            ),
            by=("group_name", "connection_type", "plan", "correlation"),
            order="commits",
            where=_SHARING,
            top=10,
            folded=True,
        ),
        TableSpec(
            "db2_groups",
            "Groups",
            "db2_subsystem",
            (
                Shown("commits_per_second", bar=True),
                Shown("rollback_fraction"),
                Shown("sql_per_second"),
                Shown("getpages_per_second"),
                Shown("getpages_per_commit"),
                Shown("read_ios_per_second"),
            ),
            by=("group_name",),
            order="commits_per_second",
            where=_SHARING,
            note="All members together.",
            drill="db2_members",
        ),
        TableSpec(
            "db2_members",
            "Members",
            "db2_subsystem",
            (
                Shown("member"),
                Shown("db2_version"),
                Shown("commits_per_second", bar=True),
                Shown("rollback_fraction"),
                Shown("sql_per_second"),
                Shown("getpages_per_second"),
                Shown("getpages_per_commit"),
                Shown("read_ios_per_second"),
                Shown("threads_queued"),
            ),
            by=("group_name", "subsystem", "system"),
            order="commits_per_second",
            where=_SHARING,
            course="commits_per_second",
            drill="db2_pools",
        ),
        TableSpec(
            "db2_group_pools",
            "Group buffer pools",
            "db2_group_pool",
            _READS,
            by=_GROUP_POOL,
            order="requests_per_second",
            course="requests_per_second",
            note="All members together.",
            drill="db2_group_pool_members",
        ),
        TableSpec(
            "db2_group_pool_members",
            "Group buffer pools, by member",
            "db2_group_pool",
            _READS,
            by=("group_name", "group_pool", "subsystem"),
            order="requests_per_second",
            top=20,
            folded=True,
        ),
        TableSpec(
            "db2_group_pool_writes",
            "Group buffer pools: writes and castout",
            "db2_group_pool",
            (
                Shown("changed_pages_sync", "Synchronous", group="Changed pages written"),
                Shown("changed_pages_async", "Asynchronous", group="Changed pages written"),
                Shown("clean_pages_sync", "Synchronous", group="Clean pages written"),
                Shown("clean_pages_async", "Asynchronous", group="Clean pages written"),
                Shown("write_around_pages"),
                Shown("castouts_per_second"),
                Shown("pages_per_castout"),
                Shown("castout_class_threshold", "Class", group="Castout threshold"),
                Shown("castout_pool_threshold", "Pool", group="Castout threshold"),
                Shown("castout_engine_unavailable", "Castout", group="Engine not available"),
                Shown("write_engine_unavailable", "Write", group="Engine not available"),
                Shown("write_failed_no_storage", "No storage", group="Write failed"),
                Shown("secondary_write_failed", "Secondary", group="Write failed"),
                Shown("unregister_pages"),
                Shown("explicit_invalidations"),
            ),
            by=_GROUP_POOL,
            order="castouts_per_second",
        ),
        TableSpec(
            "db2_page_locks",
            "Page P-locks",
            "db2_group_pool",
            (
                Shown("page_lock_requests", bar=True),
                Shown("page_lock_suspensions"),
                Shown("page_lock_suspension_fraction"),
                Shown("page_lock_negotiations"),
            ),
            by=_GROUP_POOL,
            order="page_lock_requests",
            folded=True,
        ),
        TableSpec(
            "db2_global_locks",
            "Global locking",
            "db2_locking",
            (
                Shown("xes_requests_per_second", bar=True),
                Shown("xes_fraction"),
                Shown("global_contention_fraction", "All", group="Contention"),
                Shown("irlm_contention_fraction", "IRLM", group="Contention"),
                Shown("xes_contention_fraction", "XES", group="Contention"),
                Shown("false_contention_fraction", "False", group="Contention"),
                Shown("suspends_irlm", "IRLM", group="Suspensions"),
                Shown("suspends_xes", "XES", group="Suspensions"),
                Shown("suspends_false", "False", group="Suspensions"),
                Shown("page_set_plock_negotiations", "Page set", group="P-lock negotiations"),
                Shown("page_plock_negotiations", "Page", group="P-lock negotiations"),
                Shown("other_plock_negotiations", "Other", group="P-lock negotiations"),
                Shown("notify_sent", "Sent", group="Notify messages"),
                Shown("notify_received", "Received", group="Notify messages"),
                Shown("exit_engine_unavailable"),
            ),
            by=_MEMBER,
            order="xes_requests_per_second",
        ),
    ),
)
