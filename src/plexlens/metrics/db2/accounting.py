"""Db2 accounting of threads (SMF 101 IFCID 3): who uses the CPU, and what does the work wait for.

The same facts at three levels: by plan and connection, by correlation name (transaction, job), by user. A finer level
has as many rows as there are users; a page shows the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plexlens.metrics.db2 import text_accounting
from plexlens.metrics.db2.records import SUBSYSTEM
from plexlens.metrics.db2.suspensions import CAUSES
from plexlens.metrics.db2.suspensions import facts as suspension_facts
from plexlens.metrics.db2.suspensions import metrics as suspension_metrics
from plexlens.metrics.db2.threads import (
    LOCK_FACTS,
    POOL_FACTS,
    SHARING_ATTRIBUTES,
    SQL,
    SQL_FACTS,
    thread_facts,
)
from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT, FRACTION, KIB, MEAN_COUNT, MILLISECONDS, PERCENTAGE, SECONDS, Unit

_RECORD = "SMF 101 IFCID 3"
_TIMES_BLOCK = "IBM OMEGAMON for Db2 documentation, Accounting times"
_SUSPENSIONS = "IBM OMEGAMON for Db2 documentation, Accounting - Times - Class 3 - Suspensions"
_THUMB = "IBM OMEGAMON for Db2 documentation, Class 3 suspensions (rules of thumb)"
_ZIIP = "DB2 9 for z/OS XML and zIIP (2008)"
_LAYOUT = "Fields whose place IBM does not publish are part of it; see docs/dsect.md for the way to the exact layout."

_SQL_TITLES = {
    "short_prepares": "PREPAREs answered from the cache",
    "full_prepares": "PREPAREs in full",
    "prepares_avoided": "PREPAREs avoided",
}
_LOCK_TITLES = {
    "deadlocks": "Deadlocks",
    "timeouts": "Timeouts",
    "lock_suspensions": "Lock suspensions",
    "lock_requests": "Lock requests",
    "unlock_requests": "Unlock requests",
    "escalations_shared": "Lock escalations, shared",
    "escalations_exclusive": "Lock escalations, exclusive",
    "most_locks_held": "Most page and row locks held",
}
_POOL_TITLES = {
    "getpages": "Getpages",
    "sync_reads": "Synchronous reads",
    "buffer_updates": "Buffer updates",
    "sync_writes": "Synchronous writes",
    "sequential_prefetch_requests": "Sequential prefetch requests",
    "list_prefetch_requests": "List prefetch requests",
    "dynamic_prefetch_requests": "Dynamic prefetch requests",
    "async_pages_read": "Pages read by prefetch",
}


def _of(name: str, title: str, unit: Unit, fields: str, rollup: Rollup = Rollup.COUNT) -> Fact:
    return Fact(name, title, unit, rollup, f"{_RECORD} {fields}")


FACTS: tuple[Fact, ...] = (
    _of("occurrences", "Accounting records", COUNT, "QWAC, one each"),
    _of("commits", "Commits", COUNT, "QWACCOMM"),
    _of("rollbacks", "Rollbacks", COUNT, "QWACABRT"),
    _of("class1_elapsed_seconds", "Elapsed time, class 1", SECONDS, "QWACESC - QWACBSC"),
    _of("class1_longest_seconds", "Longest elapsed time, class 1", SECONDS, "QWACESC - QWACBSC", Rollup.PEAK),
    _of("class1_cp_cpu_seconds", "CP CPU time, class 1", SECONDS, "QWACEJST - QWACBJST + QWACSPCP + QWACUDCP"),
    _of("class1_se_cpu_seconds", "Specialty engine CPU time, class 1", SECONDS, "QWACCLS1_ZIIP"),
    _of("class1_secp_cpu_seconds", "CP CPU time eligible for zIIP", SECONDS, "QWACZIIP_ELIGIBLE"),
    _of(
        "class2_elapsed_seconds",
        "Elapsed time in Db2, class 2",
        SECONDS,
        "QWACASC + QWACSPEB + QWACUDEB + QWACTRET + QWACTREE",
    ),
    _of(
        "class2_cp_cpu_seconds",
        "CP CPU time in Db2, class 2",
        SECONDS,
        "QWACAJST + QWACSPTT + QWACUDTT + QWACTRTT + QWACTRTE",
    ),
    _of("class2_se_cpu_seconds", "Specialty engine CPU time in Db2, class 2", SECONDS, "QWACCLS2_ZIIP"),
    _of("class2_entries", "Entries to and exits from Db2", COUNT, "QWACARNA"),
    _of("log_records", "Log records written", COUNT, "QWACLRN"),
    _of("log_bytes", "Bytes logged", KIB, "QWACLRAB"),
    _of(
        "inconsistent",
        "Records that contradict themselves",
        COUNT,
        "class 2 elapsed longer than class 1, or class 3 longer than class 2",
    ),
    *suspension_facts(CAUSES, _RECORD),
    _of("sql_statements", "SQL statements that manipulate data", COUNT, " + ".join(field.upper() for field in SQL)),
    *(
        _of(fact, _SQL_TITLES.get(fact, f"{SQL.get(field, fact)} statements"), COUNT, field.upper())
        for fact, field in SQL_FACTS.items()
    ),
    *(
        _of(fact, title, COUNT, LOCK_FACTS[fact].upper(), Rollup.PEAK if fact == "most_locks_held" else Rollup.COUNT)
        for fact, title in _LOCK_TITLES.items()
    ),
    *(_of(fact, title, COUNT, POOL_FACTS[fact].upper()) for fact, title in _POOL_TITLES.items()),
)


def class_1_cpu(f: Any) -> Any:
    """Class 1 CPU seconds on all engines."""
    return total(f.class1_cp_cpu_seconds, f.class1_se_cpu_seconds)


def class_2_cpu(f: Any) -> Any:
    """Class 2 CPU seconds on all engines."""
    return total(f.class2_cp_cpu_seconds, f.class2_se_cpu_seconds)


def not_accounted(f: Any) -> Any:
    """Class 2 elapsed seconds that are neither CPU nor suspensions; null without class 2 or class 3."""
    return f.class2_elapsed_seconds - class_2_cpu(f).fill_null(0.0) - f.class3_total_seconds


def _each(
    name: str, title: str, above: Callable[[Any], Any], formula: str, *, source: str = _TIMES_BLOCK, caveat: str = ""
) -> Metric:
    """A time of one occurrence."""
    return Metric(
        name,
        title,
        MILLISECONDS,
        f"{formula} / occurrences",
        source,
        lambda f: ratio(above(f), f.occurrences),
        caveat,
    )


def _per(
    name: str,
    title: str,
    above: str,
    below: str,
    *,
    source: str = _TIMES_BLOCK,
    unit: Unit = MEAN_COUNT,
    caveat: str = "",
) -> Metric:
    return Metric(name, title, unit, f"{above} / {below}", source, lambda f: ratio(f[above], f[below]), caveat)


_NOT_ACCOUNTED = (
    "Waits for a processor, paging and waits that Db2 does not time. Negative where parallel tasks add CPU time and "
    "waits to one elapsed time. All of class 2 where accounting class 3 is off."
)
_ROLLED_UP = "A record that Db2 rolled up (ACCUMACC, parallel tasks) counts as one occurrence."

METRICS: tuple[Metric, ...] = (
    Metric(
        "cpu_seconds",
        "CPU time",
        SECONDS,
        "class1_cp_cpu_seconds + class1_se_cpu_seconds",
        _TIMES_BLOCK,
        class_1_cpu,
        "Class 1: Db2 and the application on its task. " + _LAYOUT,
    ),
    _each(
        "class1_elapsed_time",
        "Elapsed time, class 1",
        lambda f: f.class1_elapsed_seconds,
        "class1_elapsed_seconds",
        caveat=_ROLLED_UP,
    ),
    _each(
        "class1_cp_time",
        "CP CPU time, class 1",
        lambda f: f.class1_cp_cpu_seconds,
        "class1_cp_cpu_seconds",
        caveat=_LAYOUT,
    ),
    _each(
        "class1_se_time",
        "SE CPU time, class 1",
        lambda f: f.class1_se_cpu_seconds,
        "class1_se_cpu_seconds",
        caveat=_LAYOUT,
    ),
    _each(
        "secp_time",
        "SECP CPU time",
        lambda f: f.class1_secp_cpu_seconds,
        "class1_secp_cpu_seconds",
        caveat="Could have run on a zIIP, but ran on a CP; within CP CPU time. " + _LAYOUT,
    ),
    _each(
        "class2_elapsed_time",
        "Elapsed time in Db2",
        lambda f: f.class2_elapsed_seconds,
        "class2_elapsed_seconds",
    ),
    _each(
        "class2_cp_time",
        "CP CPU time in Db2",
        lambda f: f.class2_cp_cpu_seconds,
        "class2_cp_cpu_seconds",
    ),
    _each(
        "class2_se_time",
        "SE CPU time in Db2",
        lambda f: f.class2_se_cpu_seconds,
        "class2_se_cpu_seconds",
        caveat=_LAYOUT,
    ),
    _each(
        "application_time",
        "Elapsed time outside Db2",
        lambda f: f.class1_elapsed_seconds - f.class2_elapsed_seconds,
        "(class1_elapsed_seconds - class2_elapsed_seconds)",
        caveat="Of a thread that is kept for reuse it includes the time between transactions.",
    ),
    _each(
        "suspended_time",
        "Suspended",
        lambda f: f.class3_total_seconds,
        "class3_total_seconds",
        source=_SUSPENSIONS,
    ),
    _each(
        "not_accounted_time",
        "Not accounted",
        not_accounted,
        "(class2_elapsed_seconds - class2_cp_cpu_seconds - class2_se_cpu_seconds - class3_total_seconds)",
        caveat=_NOT_ACCOUNTED,
    ),
    Metric(
        "class2_cpu_fraction",
        "Time in Db2 on a processor",
        PERCENTAGE,
        "(class2_cp_cpu_seconds + class2_se_cpu_seconds) / class2_elapsed_seconds",
        _TIMES_BLOCK,
        lambda f: ratio(class_2_cpu(f), f.class2_elapsed_seconds),
    ),
    _per(
        "suspended_fraction",
        "Time in Db2 suspended",
        "class3_total_seconds",
        "class2_elapsed_seconds",
        source=_SUSPENSIONS,
        unit=PERCENTAGE,
    ),
    Metric(
        "not_accounted_fraction",
        "Time in Db2 not accounted",
        FRACTION,
        "(class2_elapsed_seconds - class2_cp_cpu_seconds - class2_se_cpu_seconds - class3_total_seconds) / "
        "class2_elapsed_seconds",
        _THUMB,
        lambda f: ratio(not_accounted(f), f.class2_elapsed_seconds),
        _NOT_ACCOUNTED,
    ),
    Metric(
        "io_wait_fraction",
        "Elapsed time in I/O waits",
        PERCENTAGE,
        "(class3_sync_io_seconds + class3_other_read_io_seconds + class3_other_write_io_seconds) / "
        "class1_elapsed_seconds",
        "DB2 Buffer Pool Tuning (2014)",
        lambda f: ratio(
            total(f.class3_sync_io_seconds, f.class3_other_read_io_seconds, f.class3_other_write_io_seconds),
            f.class1_elapsed_seconds,
        ),
    ),
    Metric(
        "ziip_share",
        "Redirected to zIIP",
        FRACTION,
        "class1_se_cpu_seconds / (class1_cp_cpu_seconds + class1_se_cpu_seconds)",
        _ZIIP + ": SE actual redirection",
        lambda f: ratio(f.class1_se_cpu_seconds, class_1_cpu(f)),
        "Counted by Db2; RMF counts the service class (IIP / (CP + IIP)) and differs by what else runs in it. "
        + _LAYOUT,
    ),
    Metric(
        "ziip_eligible_fraction",
        "zIIP-eligible",
        FRACTION,
        "(class1_se_cpu_seconds + class1_secp_cpu_seconds) / (class1_cp_cpu_seconds + class1_se_cpu_seconds)",
        _ZIIP + ": SE eligible",
        lambda f: ratio(total(f.class1_se_cpu_seconds, f.class1_secp_cpu_seconds), class_1_cpu(f)),
        _LAYOUT,
    ),
    Metric(
        "ziip_overflow_fraction",
        "zIIP overflow to general processors",
        FRACTION,
        "class1_secp_cpu_seconds / (class1_se_cpu_seconds + class1_secp_cpu_seconds)",
        _ZIIP + ": SECP CPU over all eligible",
        lambda f: ratio(f.class1_secp_cpu_seconds, f.class1_se_cpu_seconds.nullif(0.0) + f.class1_secp_cpu_seconds),
        "Null where no zIIP ran anything: without zIIPs the eligible time is a projection, no overflow. " + _LAYOUT,
    ),
    _per("commits_per_occurrence", "Commits per record", "commits", "occurrences", caveat=_ROLLED_UP),
    Metric(
        "rollback_fraction",
        "Units of recovery rolled back",
        FRACTION,
        "rollbacks / (commits + rollbacks)",
        _TIMES_BLOCK,
        lambda f: ratio(f.rollbacks, total(f.commits, f.rollbacks)),
    ),
    Metric(
        "cpu_per_commit",
        "CPU time per commit",
        MILLISECONDS,
        "(class1_cp_cpu_seconds + class1_se_cpu_seconds) / commits",
        _TIMES_BLOCK,
        lambda f: ratio(class_1_cpu(f), f.commits),
    ),
    _per(
        "class2_elapsed_per_commit",
        "Elapsed time in Db2 per commit",
        "class2_elapsed_seconds",
        "commits",
        unit=MILLISECONDS,
    ),
    Metric(
        "commit_interval",
        "Time in Db2 between commits",
        SECONDS,
        "class2_elapsed_seconds / (commits + rollbacks)",
        _THUMB,
        lambda f: ratio(f.class2_elapsed_seconds, total(f.commits, f.rollbacks)),
    ),
    _per(
        "sql_per_commit",
        "SQL statements per commit",
        "sql_statements",
        "commits",
        caveat="Without CLOSE and CALL, whose counters have no published place.",
    ),
    _per("getpages_per_commit", "Getpages per commit", "getpages", "commits"),
    _per("getpages_per_sql", "Getpages per SQL statement", "getpages", "sql_statements"),
    _per("sync_reads_per_commit", "Synchronous reads per commit", "sync_reads", "commits"),
    _per("getpages_per_sync_read", "Getpages per synchronous read", "getpages", "sync_reads"),
    _per("updates_per_commit", "Buffer updates per commit", "buffer_updates", "commits"),
    _per("lock_requests_per_commit", "Lock requests per commit", "lock_requests", "commits"),
    _per("log_bytes_per_commit", "Bytes logged per commit", "log_bytes", "commits", unit=KIB, caveat=_LAYOUT),
    Metric(
        "cpu_per_getpage",
        "CPU time in Db2 per getpage",
        MILLISECONDS,
        "(class2_cp_cpu_seconds + class2_se_cpu_seconds) / getpages",
        _TIMES_BLOCK,
        lambda f: ratio(class_2_cpu(f), f.getpages),
    ),
    Metric(
        "statement_cache_hit_fraction",
        "PREPAREs answered from the cache",
        FRACTION,
        "short_prepares / (short_prepares + full_prepares)",
        _TIMES_BLOCK,
        lambda f: ratio(f.short_prepares, total(f.short_prepares, f.full_prepares)),
    ),
    _per(
        "inconsistent_fraction",
        "Records that contradict themselves",
        "inconsistent",
        "occurrences",
        unit=FRACTION,
        caveat="Well above zero it says that the layout is not the one of this Db2 release: waits and specialty engine "
        "times are then wrong, and `plexlens layouts import` of the site's own DSNDQWAC is the remedy.",
    ),
    *suspension_metrics(CAUSES, elapsed="class2_elapsed_seconds", source=_SUSPENSIONS),
)


def _grain(name: str, title: str, row: str, keys: tuple[Key, ...]) -> Grain:
    names = tuple(key.name for key in keys)

    def rows(inputs: Inputs) -> Any:
        return thread_facts(inputs, names)

    def printed(inputs: Inputs) -> Any:
        return text_accounting.threads(inputs, names)

    return Grain(
        name=name,
        title=title,
        row=row,
        keys=keys,
        attributes=SHARING_ATTRIBUTES,
        facts=FACTS,
        metrics=METRICS,
        sources=(
            Source("SMF 101", ("smf101_ifcid3_qwac",), rows),
            Source(text_accounting.REPORT, ("text_db2_accounting",), printed),
        ),
    )


_CONNECTION_TYPE = Key("connection_type", "Connection type")
_PLAN = Key("plan", "Plan")

ACCOUNTING = _grain(
    "db2_accounting",
    "Db2 accounting by plan and connection",
    "the threads of one plan and connection whose accounting was written in one quarter of an hour",
    (SUBSYSTEM, _CONNECTION_TYPE, Key("connection", "Connection"), _PLAN),
)

CORRELATION = _grain(
    "db2_accounting_correlation",
    "Db2 accounting by correlation name",
    "the threads of one transaction, job or other correlation name whose accounting was written in one quarter of an "
    "hour",
    (SUBSYSTEM, _CONNECTION_TYPE, _PLAN, Key("correlation", "Correlation name")),
)

USER = _grain(
    "db2_accounting_user",
    "Db2 accounting by user",
    "the threads of one authorization id, end user, workstation and transaction whose accounting was written in one "
    "quarter of an hour",
    (
        SUBSYSTEM,
        _CONNECTION_TYPE,
        Key("auth", "Authorization id"),
        Key("end_user", "End user"),
        Key("workstation", "Workstation"),
        Key("transaction_name", "Transaction of the end user"),
    ),
)
