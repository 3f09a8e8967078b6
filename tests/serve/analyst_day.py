"""Tasks of an analyst's day: questions, clicks from the overview that lead to the answer, and SQL that gives the same.

A step is ``KIND TEXT``; each is a click, but ``find``, which is two (typing counts as one, choosing as the other), and
``type``. The SQL runs over the same database, most of it over facts of metric views, added up here by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Conditions for the last interval and the last day of the simulated sysplex.
AT, DAY = "interval = '2026-01-18 14:10:00+00'", "interval >= '2026-01-18' and interval < '2026-01-19'"
WEEK_BEFORE = "interval >= '2026-01-11' and interval < '2026-01-12'"


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes
    ----------
    question
        As the analyst asks it.
    steps
        Clicks, from the overview.
    answer
        Its place: ``cell TABLE | ROW | COLUMN`` (an empty row is the first one), ``first TABLE`` or ``last
        TABLE`` (name of a row), ``figure TITLE``, ``detail TITLE``, ``css SELECTOR``, or ``sheet ROW`` of a workbook.
    sql
        Gives the answer in one row of one column.
    factor
        From the unit of the SQL to the one shown.
    """

    question: str
    steps: tuple[str, ...]
    answer: str
    sql: str
    factor: float = 1.0


_GOALS = "class_name in ('PAY', 'INQUIRE', 'LIST')"
_LOCK = "structure = 'DSNB_LOCK1'"
_FALSE = "sum(false_contention_requests) / sum(external_requests)"

TASKS = (
    Task(
        "Which class missed its goal at 14:10?",
        ("find performance index | workload_period.performance_index", "time last interval", "split Class"),
        "first rows",
        f"select class_name from workload_period where {AT} order by performance_index desc nulls last limit 1",
    ),
    Task(
        "By how much?",
        ("nav Service classes", "time last interval"),
        "figure Worst performance index",
        "select sum(elapsed_seconds) / sum(transactions) / max(goal_seconds) from workload_period"
        f" where {AT} and class_name = 'PAY'",
    ),
    Task(
        "Why: which structure caused it?",
        ("nav Findings", "time last day"),
        "css #advice-coupling\\.db2_false_contention tbody a.lead",
        f"select structure from coupling_structure where {DAY} and external_requests > 0 group by 1"
        f" order by {_FALSE} desc limit 1",
    ),
    Task(
        "How many of its requests met false contention at 14:10?",
        ("nav Coupling facilities", "time last interval"),
        "cell coupling_locks | DSNB_LOCK1 | Contention: False",
        f"select {_FALSE} from coupling_structure where {AT} and {_LOCK}",
        100,
    ),
    Task(
        "Did last week have it?",
        (
            "find false_contention_fraction coupling_structure | coupling_structure.false_contention_fraction",
            "time last day",
            "split Structure",
        ),
        "cell rows | DSNB_LOCK1 | A week before",
        f"select {_FALSE} from coupling_structure where {WEEK_BEFORE} and {_LOCK}",
        100,
    ),
    Task(
        "Which job used most CPU on the last day?",
        ("nav Jobs and address spaces", "time last day"),
        "first jobs_address_spaces",
        f"select job from address_space where {DAY} group by 1 order by sum(cp_seconds) desc limit 1",
    ),
    Task(
        "Which Db2 pool reads most?",
        ("nav Db2", "time last day"),
        "detail Pool with most read I/O",
        f"select subsystem || ' / ' || pool from db2_pool where {DAY} group by 1 order by"
        " sum(read_ios_per_second * interval_seconds) desc limit 1",
    ),
    Task(
        "What is this number made of?",
        ("find R744SSTM sync_service_time coupling_structure | coupling_structure.sync_service_time",),
        "figure Synchronous service time",
        "select sum(r744sstm) / sum(r744ssrc) from smf74_4_request",
        1e6,
    ),
    Task(
        "Which system sends most requests to GBP1?",
        ("nav Coupling facilities", "time last interval", "row coupling_structures | DSNB_GBP1"),
        "first rows",
        f"select system from coupling_structure where {AT} and structure = 'DSNB_GBP1' group by 1 order by"
        " sum(sync_requests + coalesce(async_requests, 0)) desc limit 1",
    ),
    Task(
        "Which records are behind it?",
        (
            "nav Coupling facilities",
            "time last interval",
            "row coupling_structures | DSNB_GBP1",
            "link The records behind it",
        ),
        "css .period",
        "select count(*) || ' rows' from smf74_4_request where trim(r744snam) = 'DSNB_GBP1' and"
        " interval_start >= '2026-01-18 14:10:00+00'",
    ),
    Task(
        "Which coupling facility is busiest?",
        ("nav Coupling facilities", "time last interval"),
        "detail Busiest coupling facility",
        f"select facility from coupling_facility where {AT} group by 1"
        " order by max(busy_seconds / (busy_seconds + wait_seconds)) desc limit 1",
    ),
    Task(
        "How busy is SYSA at 14:10?",
        ("nav Processors", "time last interval"),
        "cell cpu_systems | SYSA | Busy: PR/SM",
        f"select sum(dispatch_seconds) / sum(online_seconds) from cpu_system where {AT} and system = 'SYSA' and"
        " processor_type = 'CP'",
        100,
    ),
    Task(
        "And the same hour a week before?",
        ("nav Processors", "time last interval", "number cpu_systems | SYSA | Busy: PR/SM"),
        "figure A week before",
        "select sum(dispatch_seconds) / sum(online_seconds) from cpu_system where interval = '2026-01-11 14:10:00+00'"
        " and system = 'SYSA' and processor_type = 'CP'",
        100,
    ),
    Task(
        "How many transactions per second?",
        ("nav Service classes", "time last interval"),
        "figure Transactions",
        f"select sum(transactions) / 300 from workload_period where {AT} and {_GOALS}",
    ),
    Task(
        "How many the day before?",
        ("nav Service classes", "time last interval", "value Transactions"),
        "figure A day before",
        f"select sum(transactions) / 300 from workload_period where interval = '2026-01-17 14:10:00+00' and {_GOALS}",
    ),
    Task(
        "How long does a payment take?",
        ("nav Service classes", "time last interval"),
        "cell workload_goals | PAY | Response time: Mean",
        f"select sum(elapsed_seconds) / sum(transactions) from workload_period where {AT} and class_name = 'PAY'",
        1000,
    ),
    Task(
        "Which pool has the worst hit ratio?",
        ("find hit_fraction db2_pool | db2_pool.hit_fraction", "time last day", "split Buffer pool"),
        "last rows",
        f"select pool from db2_pool where {DAY} group by 1 order by sum(sync_reads) / sum(getpages) desc limit 1",
    ),
    Task(
        "Which CICS region runs most transactions?",
        ("nav CICS", "time last day"),
        "cell cics_regions | | Region (applid)",
        f"select applid from cics_region where {DAY} group by 1 order by sum(transactions) desc limit 1",
    ),
    Task(
        "How busy is its QR TCB?",
        ("nav CICS", "time last interval"),
        "figure Busiest QR TCB",
        f"select max(qr_cpu_seconds / interval_seconds) from cics_region where {AT}",
        100,
    ),
    Task(
        "Which volume has most to do?",
        ("nav DASD", "time last interval"),
        "cell dasd_volumes | | Volume",
        f"select volume from dasd_device where {AT} group by 1 order by sum(connect_seconds + disconnect_seconds +"
        " pending_seconds) desc limit 1",
    ),
    Task(
        "Which plan uses most CPU in Db2?",
        ("nav Db2 accounting", "time last day"),
        "detail Plan with most CPU",
        "select subsystem || ' / ' || connection_type || ' / ' || plan from db2_accounting where interval >="
        " '2026-01-18' group by 1 order by sum(class1_cp_cpu_seconds + class1_se_cpu_seconds) desc limit 1",
    ),
    Task(
        "How many commits does Db2 do?",
        ("nav Db2", "time last interval"),
        "figure Db2 commits",
        "select sum(commits_phase_2 + commits_single_phase + commits_read_only) / 300 from db2_subsystem"
        f" where {AT}",
    ),
    Task(
        "How large is the lock table?",
        ("nav Coupling facilities", "time last day"),
        "cell coupling_locks | DSNB_LOCK1 | Lock table: Entries",
        f"select max(lock_entries) from coupling_structure where {DAY} and {_LOCK}",
    ),
    Task(
        "How many requests do the structures get?",
        ("nav Coupling facilities", "time last interval"),
        "figure Coupling facility requests",
        f"select sum(sync_requests + coalesce(async_requests, 0)) / 300 from coupling_structure where {AT}",
    ),
    Task(
        "How many processors wait for the coupling facility?",
        ("nav Coupling facilities", "time last interval"),
        "figure Processors held by synchronous requests",
        f"select sum(sync_seconds) / 300 from coupling_structure where {AT}",
    ),
    Task(
        "Which service class uses most CPU?",
        ("nav Service classes", "time last interval"),
        "cell workload_cpu | | Class",
        f"select class_name from workload_period where {AT} and workload is not null group by 1"
        " order by sum(cp_processors) desc nulls last limit 1",
    ),
    Task(
        "Until when does the data reach?",
        (),
        "cell systems | SYSA | Last interval",
        "select strftime(max(interval_end) at time zone 'UTC', '%Y-%m-%d %H:%M') from smf70_1_cpu_control"
        " where system = 'SYSA'",
    ),
    Task(
        "How many SMF 74-4 records did SYSB write?",
        ("nav What was read",),
        "cell read_records | SMF 74-4, SYSB | Records",
        "select count(*) from smf_record where record_type = 74 and subtype = 4 and system = 'SYSB'",
    ),
    Task(
        "A question that no page answers",
        ("nav Ask in SQL", "type #query | select count(distinct structure) as n from coupling_structure", "run"),
        "css #table-answer tbody td",
        "select count(distinct structure) from coupling_structure",
    ),
    Task(
        "Give me this as Excel",
        ("nav Coupling facilities", "time last interval", "file Excel"),
        "sheet DSNB_GBP1",
        f"select sum(sync_requests + coalesce(async_requests, 0)) / 300 from coupling_structure where {AT} and"
        " structure = 'DSNB_GBP1'",
    ),
)  # fmt: skip
