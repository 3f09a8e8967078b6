"""Db2 locking, log, address spaces and accounting: columns of their tables, and under which printed name each is found.

Source: IBM, OMEGAMON for Db2 Performance Expert, "Statistics report and trace blocks" and "Accounting report and trace
blocks"; the studies' reports.
"""

from __future__ import annotations

from collections.abc import Iterator

from plexlens.ingest.rmf_xml.columns import Column, TableSpec, flag, number, text
from plexlens.ingest.text_reports.db2_columns import IDENTITY, Field, field

LOCKING_FIELDS = (
    field("suspensions", "suspensions of all kinds", "", "SUSPENSIONS (ALL); TOTAL SUSPENSIONS"),
    field("suspensions_lock", "suspensions: lock conflict", "", "SUSPENSIONS (LOCK ONLY); SUSPENSIONS-LOCK"),
    field("suspensions_latch", "suspensions: IRLM latch", "", "SUSPENSIONS (IRLM LATCH); SUSPENSIONS (LATCH)"),
    field("suspensions_other", "suspensions: other", "", "SUSPENSIONS (OTHER)"),
    field("timeouts", "timeouts", "", "TIMEOUTS"),
    field("deadlocks", "deadlocks", "", "DEADLOCKS"),
    field("lock_requests", "lock requests", "", "LOCK REQUESTS"),
    field("unlock_requests", "unlock requests", "", "UNLOCK REQUESTS"),
    field("query_requests", "query requests", "", "QUERY REQUESTS"),
    field("change_requests", "change requests", "", "CHANGE REQUESTS"),
    field("other_requests", "other requests", "", "OTHER REQUESTS"),
    field("escalations_shared", "escalations to share mode", "", "LOCK ESCALATION (SHARED); ESCALATIONS (SHARED)"),
    field("escalations_exclusive", "escalations to exclusive mode", "",
          "LOCK ESCALATION (EXCLUSIVE); LOCK ESCALATION (EXCLUS); ESCALATIONS (EXCLUSIVE)"),
    field("drain_requests", "drain requests", "", "DRAIN REQUESTS"),
    field("drain_requests_failed", "drain requests that failed", "", "DRAIN REQUESTS FAILED"),
    field("claim_requests", "claim requests", "", "CLAIM REQUESTS"),
    field("claim_requests_failed", "claim requests that failed", "", "CLAIM REQUESTS FAILED"),
    field("global_contention_percent", "global contention as printed", "", "GLOBAL CONTENTION RATE (%)", "",
          unit="percent"),
    field("false_contention_percent", "false contention as printed", "", "FALSE CONTENTION RATE (%)", "",
          unit="percent"),
    field("xes_rate_percent", "lock requests passed to XES, as printed", "", "P/L-LOCKS XES RATE (%)", "",
          unit="percent"),
    field("plock_lock_requests", "P-lock lock requests", "", "LOCK REQUESTS (P-LOCKS)"),
    field("plock_unlock_requests", "P-lock unlock requests", "", "UNLOCK REQUESTS (P-LOCKS); UNLOCK REQUESTS (P-LCKS)"),
    field("plock_change_requests", "P-lock change requests", "", "CHANGE REQUESTS (P-LOCKS); CHANGE REQUESTS (P-LCKS)"),
    field("xes_lock_requests", "lock requests passed to XES synchronously", "", "SYNCH.XES - LOCK REQUESTS"),
    field("xes_change_requests", "change requests passed to XES synchronously", "", "SYNCH.XES - CHANGE REQUESTS"),
    field("xes_unlock_requests", "unlock requests passed to XES synchronously", "", "SYNCH.XES - UNLOCK REQUESTS"),
    field("xes_child_locks", "child locks passed to XES in the background", "", "BACKGROUND.XES -CHILD LOCKS"),
    field("xes_async_requests", "requests passed to XES asynchronously", "",
          "ASYNCH.XES -CONVERTED LOCKS; ASYNCH.XES - RESOURCES; ASYNCH.XES-RESOURCES"),
    field("suspends_irlm", "suspensions: IRLM (real) global contention", "",
          "SUSPENDS - IRLM GLOBAL CONT; SUSPENDS - IRLM GLOBAL CONT."),
    field("suspends_xes", "suspensions: XES global contention", "",
          "SUSPENDS - XES GLOBAL CONT.; SUSPENDS - XES GLOBAL CONT"),
    field("suspends_false", "suspensions: false contention", "",
          "SUSPENDS - FALSE CONTENTION; SUSPENDS - FALSE CONT. MBR; SUSPENDS - FALSE CONT."),
    field("suspends_false_lpar", "suspensions: false contention of the whole partition", "",
          "SUSPENDS - FALSE CONT. LPAR"),
    field("rejected_xes", "requests rejected by XES", "", "REJECTED - XES"),
    field("incompatible_retained", "requests that met an incompatible retained lock", "", "INCOMPATIBLE RETAINED LOCK"),
    field("notify_sent", "notify messages sent", "", "NOTIFY MESSAGES SENT"),
    field("notify_received", "notify messages received", "", "NOTIFY MESSAGES RECEIVED"),
    field("exit_engines", "engines for P-lock and notify exits", "", "P-LOCK/NOTIFY EXITS ENGINES"),
    field("exit_engine_unavailable", "times no such engine was available", "", "P-LCK/NFY EX.ENGINE UNAVAIL"),
    field("page_set_plock_negotiations", "negotiations of page set and partition P-locks", "",
          "PSET/PART P-LCK NEGOTIATION; PSET/PART P-LOCK NEGOTIATION"),
    field("page_plock_negotiations", "negotiations of page P-locks", "", "PAGE P-LOCK NEGOTIATION"),
    field("other_plock_negotiations", "negotiations of other P-locks", "", "OTHER P-LOCK NEGOTIATION"),
    field("plock_changes_negotiating", "P-lock changes during negotiation", "", "P-LOCK CHANGE DURING NEG."),
)  # fmt: skip
"""Local and data sharing locking."""

LOCKING = TableSpec(
    "text_db2_locking",
    "locking of one Db2 in one interval",
    (*IDENTITY, *(entry.column for entry in LOCKING_FIELDS)),
)

LOG_FIELDS = (
    field("reads_output_buffer", "log reads from output buffers", "QJSTRBUF", "READS SATISFIED-OUTPUT BUFF"),
    field("reads_active_log", "log reads from the active log", "QJSTRACT", "READS SATISFIED-ACTIVE LOG"),
    field("reads_archive_log", "log reads from the archive log", "QJSTRARH", "READS SATISFIED-ARCHIVE LOG"),
    field("reads_output_buffer_percent", "share of reads as printed", "", "READS SATISFIED-OUTP.BUF(%)", "",
          unit="percent"),
    field("reads_active_log_percent", "share of reads as printed", "", "READS SATISFIED-ACTV.LOG(%)", "",
          unit="percent"),
    field("reads_archive_log_percent", "share of reads as printed", "", "READS SATISFIED-ARCH.LOG(%)", "",
          unit="percent"),
    field("tape_contention_waits", "reads delayed by tape volume contention", "QJSTTVC", "TAPE VOLUME CONTENTION WAIT"),
    field("reads_delayed", "reads delayed for want of a resource", "QJSTWUR", "READ DELAYED-UNAVAIL.RESOUR"),
    field("archive_read_allocations", "archive data sets allocated to read", "QJSTALR", "ARCHIVE LOG READ ALLOCATION"),
    field("archive_write_allocations", "archive data sets allocated to write", "QJSTALW", "ARCHIVE LOG WRITE ALLOCAT."),
    field("control_intervals_offloaded", "control intervals offloaded", "QJSTCIOF", "CONTR.INTERV.OFFLOADED-ARCH"),
    field("look_ahead_mounts", "look-ahead mounts attempted", "QJSTLAMA", "LOOK-AHEAD MOUNT ATTEMPTED"),
    field("look_ahead_mounts_done", "look-ahead mounts done", "QJSTLAMS", "LOOK-AHEAD MOUNT SUCCESSFUL"),
    field("output_buffer_unavailable", "waits for an output buffer", "QJSTWTB", "UNAVAILABLE OUTPUT LOG BUFF"),
    field("output_buffer_paged_in", "buffer pages that were paged out", "QJSTBPAG", "OUTPUT LOG BUFFER PAGED IN"),
    field("records_created", "log records created", "", "LOG RECORDS CREATED"),
    field("control_intervals_created", "control intervals created", "QJSTBFFL", "LOG CI CREATED"),
    field("write_requests", "log write I/Os, both copies", "QJSTLOGW",
          "LOG WRITE I/O REQ (LOG1&2); LOG WRITE I/O REQ (COPY1&2)"),
    field("control_intervals_written", "control intervals written, both copies", "QJSTCIWR",
          "LOG CI WRITTEN (LOG1&2); LOG CI WRITTEN (COPY1&2)"),
    field("write_suspensions", "log write suspensions", "QJSTLSUS", "LOG WRITE SUSPENDED"),
)  # fmt: skip
"""The log's counters."""

LOG = TableSpec(
    "text_db2_log",
    "the log of one Db2 in one interval",
    (
        *IDENTITY,
        *(entry.column for entry in LOG_FIELDS),
        number("megabytes_per_second", "MB/second", "log rate of one copy, as printed: 1024 * 1024 bytes"),
    ),
)

ADDRESS_SPACES = {
    "SYSTEM SERVICES ADDRESS SPACE": "MSTR",
    "DATABASE SERVICES ADDRESS SPACE": "DBM1",
    "IRLM": "IRLM",
    "DDF ADDRESS SPACE": "DIST",
    "SYSTEM SRVCS ADDR SPC": "MSTR",
    "DATABASE SRVCS ADDR SPC": "DBM1",
}
"""Printed name of an address space, and the last letters of its procedure, by which SMF knows it (QWSAPROC)."""

CPU_HEADS = {
    "TCB TIME": "tcb_seconds",
    "PREEMPT SRB": "preemptable_srb_seconds",
    "NONPREEMPT SRB": "nonpreemptable_srb_seconds",
    "SRB TIME": "srb_seconds",
    "CP CPU TIME": "cp_seconds",
    "TOTAL TIME": "cp_seconds",
    "PREEMPT IIP SRB": "iip_srb_seconds",
    "IIP CPU TIME": "iip_srb_seconds",
    "ZIIP TIME": "iip_srb_seconds",
    "CP CPU /COMMIT": "cp_seconds_per_commit",
    "/COMMIT": "cp_seconds_per_commit",
}
"""Column heads of the CPU block, and columns."""

ADDRESS_SPACE_CPU = TableSpec(
    "text_db2_address_space_cpu",
    "one Db2 address space in one interval",
    (
        *IDENTITY,
        text("address_space", "MSTR, DBM1, IRLM, DIST; TOTAL is their sum", "QWSAPROC"),
        number("tcb_seconds", "seconds", "TCB time on CPs", "QWSAEJST"),
        number("preemptable_srb_seconds", "seconds", "preemptable SRB time on CPs", "QWSAPSRB"),
        number("nonpreemptable_srb_seconds", "seconds", "nonpreemptable SRB time", "QWSASRBT - QWSAPSRB"),
        number("srb_seconds", "seconds", "SRB time on CPs, where the report does not split it", "QWSASRBT"),
        number("cp_seconds", "seconds", "time on CPs", "QWSAEJST + QWSASRBT"),
        number("iip_srb_seconds", "seconds", "preemptable SRB time on zIIPs", "QWSAPSRB_ZIIP"),
        number("cp_seconds_per_commit", "seconds", "time on CPs for each commit, as printed"),
    ),
)

NESTED = ("nonnested", "stored_proc", "udf", "trigger")
"""Where a thread's time is spent, as the times block lists it below each total."""

_TIMES = (
    ("elapsed", "elapsed time"),
    ("cp_cpu", "CPU time on CPs"),
    ("se_cpu", "CPU time on specialty engines"),
)


def _times() -> Iterator[Column]:
    for number_of, where in (("1", "in application and Db2"), ("2", "in Db2")):
        for name, words in _TIMES:
            yield number(f"class{number_of}_{name}_seconds", "seconds", f"class {number_of} {words} {where}")
            for part in NESTED:
                shown = part.replace("_", " ")
                yield number(f"class{number_of}_{name}_{part}_seconds", "seconds", f"of it: {shown}")
            if name != "elapsed":
                yield number(f"class{number_of}_{name}_parallel_seconds", "seconds", "of it: parallel tasks")
        yield number(
            f"class{number_of}_secp_cpu_seconds", "seconds", f"class {number_of} time on CPs that could run on a zIIP"
        )
    yield number("class2_suspended_seconds", "seconds", "class 2 elapsed time suspended (class 3)")
    yield number("class2_not_accounted_seconds", "seconds", "class 2 elapsed time neither CPU nor suspended")
    yield number("class2_entries", "", "entries to and exits from Db2")


SUSPENSIONS: dict[str, tuple[str, ...]] = {
    "lock_latch": ("LOCK/LATCH(DB2+IRLM)", "LOCK/LATCH"),
    "irlm_lock_latch": ("IRLM LOCK+LATCH",),
    "db2_latch": ("DB2 LATCH",),
    "sync_io": ("SYNCHRON. I/O", "SYNCHRONOUS I/O"),
    "database_io": ("DATABASE I/O",),
    "log_write_io": ("LOG WRITE I/O",),
    "other_read_io": ("OTHER READ I/O",),
    "other_write_io": ("OTHER WRTE I/O", "OTHER WRITE I/O"),
    "service_task": ("SER.TASK SWTCH", "SERV.TASK SWITCH"),
    "update_commit": ("UPDATE COMMIT",),
    "open_close": ("OPEN/CLOSE",),
    "syslgrng": ("SYSLGRNG REC",),
    "extend_delete_define": ("EXT/DEL/DEF",),
    "other_service": ("OTHER SERVICE",),
    "archive_log_quiesce": ("ARC.LOG(QUIES)", "ARCH.LOG(QUIES)"),
    "archive_log_read": ("ARC.LOG READ", "LOG READ", "ARCHIVE LOG READ"),
    "drain_lock": ("DRAIN LOCK",),
    "claim_release": ("CLAIM RELEASE",),
    "page_latch": ("PAGE LATCH",),
    "notify": ("NOTIFY MSGS", "NOTIFY MESSAGES"),
    "global_contention": ("GLOBAL CONTENTION", "GLOBAL CONT."),
    "commit_phase_1_write": ("COMMIT PH1 WRITE I/O", "FORCE-AT-COMMIT"),
    "async_cf": ("ASYNCH CF REQUESTS", "ASYNCH IXL REQUESTS"),
    "lob_xml": ("TCP/IP LOB XML", "TCP/IP LOB", "TCP/IP LOB MATERIAL"),
    "accelerator": ("ACCELERATOR",),
    "autonomous_procedure": ("AUTONOMOUS PROCEDURE",),
    "parallel_synchronization": ("PQ SYNCHRONIZATION",),
    "pipe": ("LOCK/LATCH PIPE", "PIPE WAIT"),
    "fast_insert_pipe": ("FAST INSERT PIPE",),
    "total": ("TOTAL CLASS 3", "TOTAL CL8 SUSPENS.", "TOTAL CL8 SUSPENS"),
}
"""Causes of suspension, and their printed names."""

_CAUSE_WORDS = {"total": "all causes", "lock_latch": "locks and latches", "global_contention": "global contention"}

IDENTIFIERS: dict[str, tuple[str, str]] = {
    "PRIMAUTH": ("primary_auth", "primary authorization id"),
    "ORIGAUTH": ("original_auth", "original authorization id"),
    "PLANNAME": ("plan_name", "plan"),
    "CONNECT": ("connection", "connection"),
    "CONNTYPE": ("connection_type", "connection type"),
    "CORRNAME": ("correlation_name", "correlation name"),
    "CORRNMBR": ("correlation_number", "correlation number"),
    "MAINPACK": ("main_package", "main package"),
    "REQUESTER": ("requester", "requesting location"),
    "ENDUSER": ("end_user", "end user"),
    "WSNAME": ("workstation", "workstation"),
    "TRANSACT": ("transaction_name", "end user's transaction"),
}
"""Identifiers by which accounting is grouped: printed name, column and description."""

HIGHLIGHTS: dict[str, tuple[str, ...]] = {
    "occurrences": ("#OCCURRENCES", "OCCURRENCES", "#OCCURS"),
    "allieds": ("#ALLIEDS",),
    "allieds_distributed": ("#ALLIEDS DISTRIB",),
    "dbats": ("#DBATS",),
    "dbats_distributed": ("#DBATS DISTRIB.", "#DBATS DISTRIB"),
    "no_program_data": ("#NO PROGRAM DATA",),
    "normal_terminations": ("#NORMAL TERMINAT", "#NORMAL TERMIN."),
    "abnormal_terminations": ("#ABNORMAL TERMIN", "#ABNORMAL TERMIN."),
    "io_parallelism": ("#I/O PARALLELISM",),
    "parallelism_rollups": ("#DDFRRSAF ROLLUP", "#DDFRRSAF RLUP"),
    "implicit_commits": ("#IMPLICIT SIGNON", "#SIGNON"),
    "commits": ("#COMMITS", "COMMITS"),
    "rollbacks": ("#ROLLBACKS", "ROLLBACKS", "ROLLBACK"),
    "svpt_requests": ("#SVPT REQUESTS",),
    "svpt_releases": ("#SVPT RELEASE",),
    "svpt_rollbacks": ("#SVPT ROLLBACK",),
    "max_sql_cascade": ("MAX SQL CASC LVL",),
    "updates_per_commit": ("UPDATE/COMMIT",),
    "synchronous_io_average_seconds": ("SYNCH I/O AVG.", "SYNC I/O AVG."),
}
"""Counts of the highlights, and their printed names."""


ACTIVITY: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "selects": ("subsystem", "SELECT statements", ("SELECT", "SELECTS")),
    "inserts": ("subsystem", "INSERT statements", ("INSERT", "INSERTS")),
    "updates": ("subsystem", "UPDATE statements", ("UPDATE", "UPDATES")),
    "merges": ("subsystem", "MERGE statements", ("MERGE", "MERGES")),
    "deletes": ("subsystem", "DELETE statements", ("DELETE", "DELETES")),
    "prepares": ("subsystem", "PREPARE statements", ("PREPARE", "PREPARES")),
    "opens": ("subsystem", "OPEN statements", ("OPEN", "OPENS")),
    "fetches": ("subsystem", "FETCH statements", ("FETCH", "FETCHES")),
    "closes": ("subsystem", "CLOSE statements", ("CLOSE", "CLOSES")),
    "getpages": ("pool", "getpages", ("GETPAGES", "GETPAGE")),
    "sync_reads": ("pool", "synchronous reads", ("SYNCHRONOUS READ", "SYNCHRONOUS READS", "SYN.READ", "SYNC READ")),
    "buffer_updates": ("pool", "buffer updates", ("BUFFER UPDATES", "BUF.UPDT", "BUF.UPDATES")),
    "sync_writes": ("pool", "synchronous writes", ("SYNCHRONOUS WRITE", "SYNCHRONOUS WRITES")),
    "sequential_prefetch_requests": (
        "pool",
        "sequential prefetch requests",
        ("SEQ. PREFETCH REQS", "SEQ.PREFETCH REQS"),
    ),
    "list_prefetch_requests": ("pool", "list prefetch requests", ("LIST PREFETCH REQS",)),
    "dynamic_prefetch_requests": ("pool", "dynamic prefetch requests", ("DYN. PREFETCH REQS", "DYN.PREFETCH REQS")),
    "async_pages_read": ("pool", "pages read by prefetch", ("PAGES READ ASYNCHR.", "PAGES READ ASYNC")),
    "timeouts": ("locking", "timeouts", ("TIMEOUTS",)),
    "deadlocks": ("locking", "deadlocks", ("DEADLOCKS",)),
    "escalations_shared": ("locking", "lock escalations, shared", ("ESCAL.(SHARED)", "ESCAL.(SHAR)")),
    "escalations_exclusive": ("locking", "lock escalations, exclusive", ("ESCAL.(EXCLUS)", "ESCAL.(EXCL)")),
    "lock_requests": ("locking", "lock requests", ("LOCK REQUEST", "LOCK REQUESTS")),
    "unlock_requests": ("locking", "unlock requests", ("UNLOCK REQUEST", "UNLOCK REQUESTS")),
    "lock_suspensions": ("locking", "lock suspensions", ("LOCK SUSP", "LOCK SUSPENSIONS", "LOCK SUS")),
}
"""What a thread did: column, kind of the block, description, printed names in the long and the short report."""


def _suspensions() -> Iterator[Column]:
    for name in SUSPENSIONS:
        words = _CAUSE_WORDS.get(name, name.replace("_", " "))
        yield number(f"class3_{name}_seconds", "seconds", f"suspended: {words}")
        yield number(f"class3_{name}_events", "", f"suspensions: {words}")


ACCOUNTING = TableSpec(
    "text_db2_accounting",
    "threads of one group of identifiers (or one package of theirs) of one Db2 in one interval: what one occurrence of "
    "them took on average, in a trace what one thread took",
    (
        *IDENTITY,
        text("level", "plan or package"),
        flag("is_average", "values are averages of an occurrence; false in a trace, where they are the thread's own"),
        *(text(column, words) for column, words in IDENTIFIERS.values()),
        text("package_name", "program of the package; null at the level of the plan"),
        text("collection", "collection of the package"),
        *_times(),
        *_suspensions(),
        *(
            number(name, "seconds" if name.endswith("seconds") else "", f"{names[0]} as printed")
            for name, names in HIGHLIGHTS.items()
        ),
        *(number(name, "", words) for name, (_, words, _) in ACTIVITY.items()),
    ),
)

TABLES = (LOCKING, LOG, ADDRESS_SPACE_CPU, ACCOUNTING)


def known_names(fields: tuple[Field, ...]) -> set[str]:
    """Every printed name of some fields."""
    return {name for entry in fields for name in entry.names}
