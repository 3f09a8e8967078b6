"""The compared contents of a performance database: grains, their columns by group, and the work that must agree.

Only names stand here. Titles, units, formulas and sources are those of the metric definitions, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.compare.runs.run import Better, Group

_HIGHER, _LOWER, _NEITHER = Better.HIGHER, Better.LOWER, Better.NEITHER


@dataclass(frozen=True)
class Watched:
    """A compared column.

    Attributes
    ----------
    summed
        Whether the numbers of the objects add up to that of them all.
    """

    column: str
    group: Group
    better: Better = _NEITHER
    summed: bool = False


@dataclass(frozen=True)
class Work:
    """A fact that measures the amount of work.

    Attributes
    ----------
    facts
        The facts, added; several objects where `kinds` names them one by one.
    title
        The work, in the plural.
    kinds
        Names of the facts as kinds of access; empty where the objects of the subject divide the work.
    """

    facts: tuple[str, ...]
    title: str
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Subject:
    """A compared grain.

    Attributes
    ----------
    by
        Keys that tell its objects apart.
    weight
        Fact by which objects stand in order, the largest first; the first `most` are compared.
    columns
        What is compared.
    work
        What must be alike for the runs to be comparable.
    settings
        Facts and attributes that belong to the environment.
    parts
        Metrics that serve to explain the columns (`plexlens.compare.runs.compositions`) and are not shown next to them.
    together
        Whether all its objects together mean something: pools of a system do, classes that overlap do not.
    """

    grain: str
    by: tuple[str, ...]
    weight: str
    columns: tuple[Watched, ...]
    work: tuple[Work, ...] = ()
    settings: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    together: bool = False


SUBJECTS: tuple[Subject, ...] = (
    Subject(
        "workload_period",
        ("class_kind", "class_name", "period"),
        "tcb_seconds",
        (
            Watched("response_time", Group.RESPONSE, _LOWER),
            Watched("execution_time", Group.RESPONSE, _LOWER),
            Watched("queue_time", Group.RESPONSE, _LOWER),
            Watched("velocity", Group.RESPONSE, _HIGHER),
            Watched("performance_index", Group.RESPONSE, _LOWER),
            Watched("transactions_per_second", Group.THROUGHPUT, summed=True),
            Watched("cpu_per_transaction", Group.PROCESSOR, _LOWER),
            Watched("cp_per_transaction", Group.PROCESSOR, _LOWER),
            Watched("specialty_per_transaction", Group.PROCESSOR),
            Watched("ziip_eligible_fraction", Group.PROCESSOR),
            Watched("ziip_overflow_fraction", Group.PROCESSOR, _LOWER),
            Watched("cp_processors", Group.UTILISATION, _LOWER, summed=True),
            Watched("ziip_processors", Group.UTILISATION),
            Watched("dasd_response_time", Group.IO, _LOWER),
            Watched("dasd_per_second", Group.IO),
        ),
        (Work(("transactions",), "ended transactions"),),
        ("goal", "policy", "importance"),
    ),
    Subject(
        "cics_transaction",
        ("applid", "transaction"),
        "transactions",
        (
            Watched("response_time", Group.RESPONSE, _LOWER),
            Watched("dispatch_time", Group.RESPONSE, _LOWER),
            Watched("suspend_time", Group.RESPONSE, _LOWER),
            Watched("transactions_per_second", Group.THROUGHPUT, summed=True),
            Watched("cpu_time", Group.PROCESSOR, _LOWER),
            Watched("qr_cpu_time", Group.PROCESSOR, _LOWER),
            Watched("l8_cpu_time", Group.PROCESSOR, _LOWER),
            Watched("db2_time", Group.SERVERS, _LOWER),
            Watched("db2_requests_per_task", Group.SERVERS),
            Watched("file_requests_per_task", Group.IO),
        ),
        (Work(("transactions",), "CICS transactions"),),
        parts=(
            "first_dispatch_wait_time",
            "class_limit_wait_time",
            "task_limit_wait_time",
            "file_io_wait_time",
            "rls_wait_time",
            "journal_io_wait_time",
            "temporary_storage_io_wait_time",
            "transient_data_io_wait_time",
            "resource_manager_suspend_wait_time",
            "db2_thread_wait_time",
            "db2_connection_wait_time",
            "open_tcb_limit_wait_time",
            "terminal_wait_time",
            "mro_wait_time",
            "ipic_wait_time",
            "inbound_socket_wait_time",
            "outbound_socket_wait_time",
            "lock_wait_time",
            "enqueue_wait_time",
            "sysplex_enqueue_wait_time",
            "interval_control_wait_time",
            "external_event_wait_time",
        ),
        together=True,
    ),
    Subject(
        "cics_class_cost",
        ("class_name",),
        "cp_seconds",
        (
            Watched("cpu_time", Group.PROCESSOR, _LOWER, summed=True),
            Watched("cp_time", Group.PROCESSOR, _LOWER, summed=True),
            Watched("specialty_time", Group.PROCESSOR, summed=True),
        ),
    ),
    Subject(
        "cics_region",
        ("applid",),
        "transactions",
        (
            Watched("transactions_per_second", Group.THROUGHPUT, summed=True),
            Watched("cpu_per_transaction", Group.PROCESSOR, _LOWER),
            Watched("qr_cpu_fraction", Group.SERVERS, _LOWER),
            Watched("qr_cpu_dispatch_ratio", Group.SERVERS, _HIGHER),
            Watched("peak_task_fraction", Group.SERVERS, _LOWER),
        ),
    ),
    Subject(
        "db2_accounting",
        ("subsystem", "connection_type", "plan"),
        "commits",
        (
            Watched("class2_elapsed_per_commit", Group.RESPONSE, _LOWER),
            Watched("cpu_per_commit", Group.PROCESSOR, _LOWER),
            Watched("ziip_share", Group.PROCESSOR),
            Watched("ziip_overflow_fraction", Group.PROCESSOR, _LOWER),
            Watched("sync_reads_per_commit", Group.IO, _LOWER),
            Watched("getpages_per_commit", Group.IO, _LOWER),
            Watched("io_wait_fraction", Group.IO, _LOWER),
            Watched("lock_requests_per_commit", Group.COUPLING),
            Watched("rollback_fraction", Group.SERVERS, _LOWER),
        ),
        (Work(("commits",), "commits"),),
        parts=(
            "commits_per_occurrence",
            "class2_elapsed_time",
            "class2_cp_time",
            "class2_se_time",
            "suspended_time",
            "not_accounted_time",
            "lock_latch_time",
            "database_io_time",
            "log_write_io_time",
            "other_read_io_time",
            "other_write_io_time",
            "service_task_time",
            "archive_log_quiesce_time",
            "archive_log_read_time",
            "drain_lock_time",
            "claim_release_time",
            "page_latch_time",
            "notify_time",
            "global_contention_time",
            "commit_phase_1_write_time",
            "async_cf_time",
            "lob_xml_time",
            "accelerator_time",
        ),
        together=True,
    ),
    Subject(
        "db2_subsystem",
        ("subsystem",),
        "getpages",
        (
            Watched("commits_per_second", Group.THROUGHPUT, summed=True),
            Watched("getpages_per_second", Group.THROUGHPUT, summed=True),
            Watched("sql_per_second", Group.THROUGHPUT, summed=True),
            Watched("getpages_per_commit", Group.IO, _LOWER),
            Watched("read_ios_per_second", Group.IO, _LOWER, summed=True),
            Watched("statement_cache_hit_fraction", Group.SERVERS, _HIGHER),
        ),
        (),
        ("db2_version", "group_name"),
    ),
    Subject(
        "db2_pool",
        ("subsystem", "pool"),
        "getpages",
        (
            Watched("getpages_per_second", Group.THROUGHPUT, summed=True),
            Watched("read_ios_per_second", Group.IO, _LOWER, summed=True),
            Watched("sync_read_ios_per_second", Group.IO, _LOWER, summed=True),
            Watched("async_read_ios_per_second", Group.IO, _LOWER, summed=True),
            Watched("pages_read_per_second", Group.IO, _LOWER, summed=True),
            Watched("write_ios_per_second", Group.IO, _LOWER, summed=True),
            Watched("pages_per_write", Group.IO, _HIGHER),
            Watched("hit_fraction", Group.IO),
            Watched("residency", Group.STORAGE),
            Watched("page_ins_per_second", Group.PAGING, _LOWER, summed=True),
        ),
        (
            Work(("getpages",), "getpages"),
            Work(("getpages_random", "getpages_sequential"), "getpages by access", ("random", "sequential")),
            Work(("buffer_updates",), "buffer updates"),
            Work(("pages_written",), "pages written"),
        ),
        ("buffers", "vpseqt", "dwqt", "vdwqt", "page_fix", "page_steal"),
        together=True,
    ),
    Subject(
        "db2_data_set",
        ("subsystem", "pool", "database", "page_set"),
        "sync_ios",
        (
            Watched("ios_per_second", Group.IO, _LOWER, summed=True),
            Watched("sync_delay", Group.IO, _LOWER),
            Watched("async_delay", Group.IO, _LOWER),
        ),
        (Work(("sync_ios", "async_ios"), "I/Os to Db2 data sets"),),
    ),
    Subject(
        "db2_locking",
        ("subsystem",),
        "lock_requests",
        (
            Watched("lock_requests_per_second", Group.COUPLING),
            Watched("suspensions_per_second", Group.COUPLING, _LOWER),
            Watched("timeouts_per_second", Group.COUPLING, _LOWER),
            Watched("deadlocks_per_second", Group.COUPLING, _LOWER),
            Watched("global_contention_fraction", Group.COUPLING, _LOWER),
            Watched("false_contention_fraction", Group.COUPLING, _LOWER),
        ),
    ),
    Subject(
        "db2_log",
        ("subsystem",),
        "interval_seconds",
        (
            Watched("log_rate", Group.IO),
            Watched("write_suspensions_per_second", Group.IO, _LOWER),
        ),
    ),
    Subject(
        "db2_address_space",
        ("subsystem", "address_space"),
        "interval_seconds",
        (Watched("cp_processors", Group.SERVERS, _LOWER, summed=True), Watched("iip_processors", Group.SERVERS)),
    ),
    Subject(
        "db2_group_pool",
        ("subsystem", "group_pool"),
        "interval_seconds",
        (
            Watched("requests_per_second", Group.COUPLING),
            Watched("read_hit_fraction", Group.COUPLING, _HIGHER),
        ),
    ),
    Subject(
        "coupling_structure",
        ("facility", "structure"),
        "sync_seconds",
        (
            Watched("requests_per_second", Group.COUPLING),
            Watched("sync_service_time", Group.COUPLING, _LOWER),
            Watched("async_service_time", Group.COUPLING, _LOWER),
            Watched("contention_fraction", Group.COUPLING, _LOWER),
            Watched("false_contention_fraction", Group.COUPLING, _LOWER),
            Watched("read_hit_fraction", Group.COUPLING, _HIGHER),
        ),
        (Work(("sync_requests", "async_requests"), "coupling facility requests"),),
        ("structure_bytes",),
    ),
    Subject(
        "coupling_facility",
        ("facility",),
        "interval_seconds",
        (
            Watched("utilization", Group.COUPLING, _LOWER),
            Watched("storage_fraction", Group.STORAGE),
        ),
    ),
    Subject(
        "cpu_system",
        ("system", "processor_type"),
        "dispatch_seconds",
        (
            Watched("mvs_busy", Group.UTILISATION, _LOWER),
            Watched("lpar_busy", Group.UTILISATION, _LOWER),
            Watched("processors_used", Group.UTILISATION, _LOWER, summed=True),
            Watched("capture_ratio", Group.UTILISATION, _HIGHER),
            Watched("io_interrupts_per_second", Group.PRIVILEGED),
        ),
        (),
        ("machine", "partition", "engines", "capacity_msu"),
    ),
    Subject(
        "paging_storage",
        ("system",),
        "interval_seconds",
        (
            Watched("available_bytes", Group.STORAGE, _HIGHER),
            Watched("fixed_fraction", Group.STORAGE),
            Watched("demand_paging_per_second", Group.PAGING, _LOWER),
            Watched("page_faults_per_second", Group.PAGING, _LOWER),
            Watched("slots_used_fraction", Group.PAGING, _LOWER),
        ),
        (),
        ("storage_bytes",),
    ),
    Subject(
        "dasd_device",
        ("device", "volume"),
        "ios",
        (
            Watched("io_rate", Group.IO, summed=True),
            Watched("response_time", Group.IO, _LOWER),
            Watched("ios_queue_time", Group.IO, _LOWER),
            Watched("pending_time", Group.IO, _LOWER),
            Watched("disconnect_time", Group.IO, _LOWER),
            Watched("connect_time", Group.IO, _LOWER),
        ),
        (Work(("ios",), "DASD I/Os"),),
        together=True,
    ),
    Subject(
        "mq_queue_manager",
        ("queue_manager",),
        "interval_seconds",
        (
            Watched("all_puts_per_second", Group.THROUGHPUT, summed=True),
            Watched("gets_per_second", Group.THROUGHPUT, summed=True),
            Watched("put_bytes_per_second", Group.THROUGHPUT),
        ),
        (Work(("puts", "put1s"), "MQ puts"),),
    ),
    Subject(
        "mq_buffer_pool",
        ("queue_manager", "pool"),
        "interval_seconds",
        (
            Watched("reads_per_second", Group.IO, _LOWER),
            Watched("write_ios_per_second", Group.IO, _LOWER),
        ),
    ),
    Subject(
        "mq_log",
        ("queue_manager",),
        "interval_seconds",
        (
            Watched("log_bytes_per_second", Group.IO),
            Watched("write_ios_per_second", Group.IO, _LOWER),
            Watched("buffer_waits_per_second", Group.IO, _LOWER),
        ),
    ),
)
