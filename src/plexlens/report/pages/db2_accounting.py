"""Db2 accounting: CPU users, their waits, packages, SQL statements."""

from __future__ import annotations

from plexlens.report.blocks.page import FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.model import Way

_PLAN = ("subsystem", "connection_type", "plan")
_CONNECTION = ("subsystem", "connection_type", "connection", "plan")

_USE = (
    Shown("occurrences"),
    Shown("commits"),
    Shown("cpu_seconds", bar=True),
    Shown("cpu_per_commit", "CPU", group="Per commit"),
    Shown("class2_elapsed_per_commit", "In Db2", group="Per commit"),
    Shown("class1_elapsed_time", "Elapsed", group="Class 1, per record"),
    Shown("class1_elapsed_p95", "95th", group="Class 1, per record"),
    Shown("class1_cp_time", "CP", group="Class 1, per record"),
    Shown("class1_se_time", "SE", group="Class 1, per record"),
    Shown("class2_elapsed_time", "Elapsed", group="Class 2, per record"),
    Shown("class2_cp_time", "CP", group="Class 2, per record"),
    Shown("class2_se_time", "SE", group="Class 2, per record"),
    Shown("suspended_time", "Suspended", group="Class 3, per record"),
    Shown("not_accounted_time"),
)

_STATEMENT = ("subsystem", "kind", "statement")

#: Columns of statements: what they are, and what an execution costs.
_STATEMENT_USE = (
    Shown("statement_text"),
    Shown("program"),
    Shown("executions"),
    Shown("cpu_seconds", "CPU", group="All executions"),
    Shown("elapsed_seconds", "Elapsed", group="All executions"),
    Shown("getpages", "Getpages", group="All executions"),
    Shown("cpu_per_execution", "CPU", group="Per execution"),
    Shown("elapsed_per_execution", "Elapsed", group="Per execution"),
    Shown("getpages_per_execution", "Getpages", group="Per execution"),
    Shown("sync_reads_per_execution", "Synchronous reads", group="Per execution"),
    Shown("rows_examined_per_row"),
    Shown("table_space_scans"),
    Shown("rid_failures"),
)

#: Columns for the many users: identification, without the parts of class 1. All of them have to fit into a page.
_USE_IN_SHORT = tuple(
    shown
    for shown in _USE
    if shown.column
    not in ("class1_elapsed_p95", "class1_cp_time", "class1_se_time", "suspended_time", "not_accounted_time")
)

_CAUSES = (
    Shown("suspended_fraction"),
    Shown("sync_io_fraction", "Synchronous I/O", group="Share of class 2"),
    Shown("lock_latch_fraction", "Lock, latch", group="Share of class 2"),
    Shown("other_read_io_fraction", "Other read I/O", group="Share of class 2"),
    Shown("other_write_io_fraction", "Other write I/O", group="Share of class 2"),
    Shown("service_task_fraction", "Service task", group="Share of class 2"),
    Shown("page_latch_fraction", "Page latch", group="Share of class 2"),
    Shown("global_contention_fraction", "Global contention", group="Share of class 2"),
)

PAGE = Page(
    order=810,
    id="db2_accounting",
    title="Db2 accounting",
    lead="CPU use and wait times of Db2 work.",
    what="Db2 threads and packages",
    ways=(
        Way(
            "SMF 101",
            "-START TRACE(ACCTG) CLASS(1,2,3,7,8) DEST(SMF), and TYPE(101) in SMFPRMxx; classes 7 and 8 record "
            "packages. "
            "ACCUMACC in DSNZPARM rolls many threads into one record.",
        ),
        Way(
            "Db2 accounting report",
            "OMEGAMON or DB2 PM, as text: ACCOUNTING REPORT LAYOUT(LONG).",
        ),
        Way(
            "SMF 102 IFCID 316 and 401",
            "Statements as they leave the cache: -START TRACE(PERFM) CLASS(30) IFCID(316,318,400,401) DEST(SMF), and "
            "TYPE(102) in SMFPRMxx.",
        ),
    ),
    figures=(
        FigureSpec("db2_thread_cpu", "CPU of Db2 threads", "db2_accounting", "cpu_seconds"),
        FigureSpec(
            "db2_largest_plan",
            "Plan with most CPU",
            "db2_accounting",
            "cpu_seconds",
            by=_PLAN,
            pick=Pick.HIGHEST,
        ),
        FigureSpec("db2_suspended", "Db2 threads suspended", "db2_accounting", "suspended_fraction"),
        FigureSpec(
            "db2_ziip_overflow", "zIIP work of Db2 on general engines", "db2_accounting", "ziip_overflow_fraction"
        ),
    ),
    tables=(
        TableSpec(
            "db2_plans",
            "CPU use, by plan",
            "db2_accounting",
            _USE,
            by=_PLAN,
            order="cpu_seconds",
            note="A record that Db2 rolled up (ACCUMACC, parallel tasks) contains the time of all its transactions: "
            "compare times per commit, not times per record.",
            drill="db2_packages",
        ),
        TableSpec(
            "db2_waits",
            "Wait times, by plan",
            "db2_accounting",
            (
                Shown("class2_elapsed_seconds", "Class 2 elapsed", bar=True),
                Shown("class2_cpu_fraction"),
                *_CAUSES,
                Shown("database_io_fraction", "Database I/O", group="Share of class 2"),
                Shown("log_write_io_fraction", "Log write", group="Share of class 2"),
                Shown("drain_lock_fraction", "Drain lock", group="Share of class 2"),
                Shown("claim_release_fraction", "Claim release", group="Share of class 2"),
                Shown("archive_log_read_fraction", "Archive log read", group="Share of class 2"),
                Shown("commit_phase_1_write_fraction", "Phase 1 write", group="Share of class 2"),
                Shown("lob_xml_fraction", "LOB, XML", group="Share of class 2"),
                Shown("not_accounted_fraction"),
            ),
            by=_PLAN,
            order="class2_elapsed_seconds",
        ),
        TableSpec(
            "db2_wait_events",
            "Time per wait, by plan",
            "db2_accounting",
            (
                Shown("class3_total_seconds", "Suspended", bar=True),
                Shown("class3_total_events", "Suspensions"),
                Shown("sync_io_event_time", "Synchronous I/O", group="Per suspension"),
                Shown("lock_latch_event_time", "Lock, latch", group="Per suspension"),
                Shown("other_read_io_event_time", "Other read I/O", group="Per suspension"),
                Shown("other_write_io_event_time", "Other write I/O", group="Per suspension"),
                Shown("service_task_event_time", "Service task", group="Per suspension"),
                Shown("page_latch_event_time", "Page latch", group="Per suspension"),
                Shown("global_contention_event_time", "Global contention", group="Per suspension"),
                Shown("lob_xml_event_time", "LOB, XML", group="Per suspension"),
            ),
            by=_PLAN,
            order="class3_total_seconds",
            folded=True,
        ),
        TableSpec(
            "db2_specialty_engines",
            "Specialty engines, by plan",
            "db2_accounting",
            (
                Shown("class1_cp_cpu_seconds", "CP", group="Class 1 CPU"),
                Shown("class1_se_cpu_seconds", "SE", group="Class 1 CPU"),
                Shown("class1_secp_cpu_seconds", "SECP", group="Class 1 CPU", bar=True),
                Shown("secp_time"),
                Shown("ziip_share"),
                Shown("ziip_eligible_fraction"),
                Shown("ziip_overflow_fraction"),
            ),
            by=_PLAN,
            order="class1_secp_cpu_seconds",
            note="SECP is zIIP-eligible work that ran on a general engine; it is included in CP.",
        ),
        TableSpec(
            "db2_plan_work",
            "Work per commit, by plan",
            "db2_accounting",
            (
                Shown("commits", bar=True),
                Shown("rollback_fraction"),
                Shown("class2_elapsed_per_commit"),
                Shown("sql_per_commit"),
                Shown("getpages_per_commit"),
                Shown("getpages_per_sql"),
                Shown("cpu_per_getpage"),
                Shown("sync_reads_per_commit"),
                Shown("updates_per_commit"),
                Shown("lock_requests_per_commit"),
                Shown("log_bytes_per_commit"),
                Shown("deadlocks"),
                Shown("timeouts"),
                Shown("escalations_exclusive"),
                Shown("most_locks_held"),
                Shown("inconsistent"),
            ),
            by=_PLAN,
            order="commits",
            folded=True,
        ),
        TableSpec(
            "db2_connections",
            "Connections",
            "db2_accounting",
            _USE,
            by=_CONNECTION,
            order="cpu_seconds",
            folded=True,
        ),
        TableSpec(
            "db2_correlations",
            "Correlation ids with most CPU",
            "db2_accounting_correlation",
            (*_USE_IN_SHORT, *_CAUSES[:3]),
            order="cpu_seconds",
            folded=True,
        ),
        TableSpec(
            "db2_users",
            "End users, workstations and transactions with most CPU",
            "db2_accounting_user",
            (*_USE_IN_SHORT, *_CAUSES[:3]),
            order="cpu_seconds",
            folded=True,
        ),
        TableSpec(
            "db2_packages",
            "Packages with most CPU",
            "db2_package",
            (
                Shown("cpu_seconds", bar=True),
                Shown("sql_statements"),
                Shown("cpu_per_sql"),
                Shown("elapsed_time", "Elapsed", group="Class 7, per record"),
                Shown("cp_time", "CP", group="Class 7, per record"),
                Shown("se_time", "SE", group="Class 7, per record"),
                Shown("suspended_time", "Suspended", group="Class 8, per record"),
                Shown("suspended_fraction"),
                Shown("sync_io_fraction", "Synchronous I/O", group="Share of class 7"),
                Shown("lock_latch_fraction", "Lock, latch", group="Share of class 7"),
            ),
            order="cpu_seconds",
            top=20,
        ),
        TableSpec(
            "db2_statements",
            "SQL statements with most CPU",
            "db2_statement",
            _STATEMENT_USE,
            by=_STATEMENT,
            order="cpu_seconds",
            top=20,
            note="Counts of a statement since it came into the cache or its statistics began, by its last record. "
            "Statements that are still in the cache have no record. For a static statement look up STMT_ID in "
            "SYSIBM.SYSPACKSTMT.",
        ),
        TableSpec(
            "db2_statements_getpages",
            "SQL statements with most getpages",
            "db2_statement",
            _STATEMENT_USE,
            by=_STATEMENT,
            order="getpages",
            top=20,
            folded=True,
        ),
        TableSpec(
            "db2_statements_elapsed",
            "SQL statements with most elapsed time",
            "db2_statement",
            _STATEMENT_USE,
            by=_STATEMENT,
            order="elapsed_seconds",
            top=20,
            folded=True,
        ),
        TableSpec(
            "db2_plan_pools",
            "Buffer pools used by plans",
            "db2_accounting_pool",
            (
                Shown("getpages", bar=True),
                Shown("sync_reads"),
                Shown("getpages_per_sync_read"),
                Shown("hit_ratio"),
                Shown("async_pages_read"),
                Shown("buffer_updates"),
                Shown("sequential_prefetch_requests", "Sequential", group="Prefetch requests"),
                Shown("list_prefetch_requests", "List", group="Prefetch requests"),
                Shown("dynamic_prefetch_requests", "Dynamic", group="Prefetch requests"),
            ),
            order="sync_reads",
            folded=True,
        ),
    ),
)
