"""What threads asked of the data sharing group (SMF 101 IFCID 3: QTGA, QBGA), beside what they used and waited for."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2.records import SUBSYSTEM
from plexlens.metrics.db2.threads import LOCK_FACTS, POOL_FACTS, SHARING_ATTRIBUTES, gathered, threads
from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.unit import COUNT, MEAN_COUNT, MILLISECONDS, SECONDS

_RECORD = "SMF 101 IFCID 3"
_LOCKING = "IBM OMEGAMON for Db2 documentation, Accounting - Data Sharing Locking"
_GROUP_POOLS = "IBM OMEGAMON for Db2 documentation, IFCID 003 - Group Buffer Pools Activity Data"
_SUSPENSIONS = "IBM OMEGAMON for Db2 documentation, Accounting - Times - Class 3 - Suspensions"
_LAYOUT = "IBM does not publish the places of these fields; see docs/dsect.md for the way to the exact layout."

#: Requests to the lock structure and contention met (QTGA).
LOCK_FIELDS = (
    Field("plock_lock_requests", "P-lock lock requests", "QTGALPLK"),
    Field("plock_change_requests", "P-lock change requests", "QTGACPLK"),
    Field("plock_unlock_requests", "P-lock unlock requests", "QTGAUPLK"),
    Field("xes_lock_requests", "Lock requests to XES", "QTGALSLM"),
    Field("xes_change_requests", "Change requests to XES", "QTGACSLM"),
    Field("xes_unlock_requests", "Unlock requests to XES", "QTGAUSLM"),
    Field("suspends_irlm", "Suspensions, IRLM contention", "QTGAIGLO"),
    Field("suspends_xes", "Suspensions, XES contention", "QTGASGLO"),
    Field("suspends_false", "Suspensions, false contention", "QTGAFLSE"),
    Field("notify_sent", "Notify messages sent", "QTGANTFY"),
)

#: Requests to group buffer pools (QBGA), all pools of a thread together.
PAGE_FIELDS = (
    Field("dependent_getpages", "Getpages of GBP-dependent pages", "QBGAGG"),
    Field("reads_invalid_data", "Reads after cross-invalidation, data returned", "QBGAXD"),
    Field("reads_invalid_no_data", "Reads after cross-invalidation, no data", "QBGAXR"),
    Field("reads_absent_data", "Reads of pages not in the pool, data returned", "QBGAMD"),
    Field("reads_absent_no_data", "Reads of pages not in the pool, no data", "QBGAMR"),
    Field("changed_pages_sync", "Changed pages written synchronously", "QBGASW"),
    Field("changed_pages_async", "Changed pages written asynchronously", "QBGAAW"),
    Field("clean_pages_sync", "Clean pages written synchronously", "QBGAWC"),
)

#: Class 3 times that data sharing causes: fact, title, time fields.
_WAITS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("l_lock_wait_seconds", "Waits for global L-locks", ("QWACAWTJ", "QWACAWTK", "QWACAWTM")),
    ("page_set_lock_wait_seconds", "Waits for page set P-locks", ("QWACAWTN",)),
    ("page_lock_wait_seconds", "Waits for page P-locks", ("QWACAWTO",)),
    ("other_lock_wait_seconds", "Waits for other P-locks", ("QWACAWTQ",)),
    ("notify_wait_seconds", "Waits for notify messages", ("QWACAWTG",)),
    ("async_cf_wait_seconds", "Waits for asynchronous coupling facility requests", ("QWAXIXLT",)),
    ("commit_write_wait_seconds", "Waits for writes forced at commit", ("QWAXAWFC",)),
)

_COPIES: tuple[tuple[str, str, str, str], ...] = (
    ("commits", "Commits", "qwaccomm", "QWACCOMM"),
    ("rollbacks", "Rollbacks", "qwacabrt", "QWACABRT"),
    ("lock_requests", "Lock requests", LOCK_FACTS["lock_requests"], "QTXALOCK"),
    ("getpages", "Getpages", POOL_FACTS["getpages"], "QBACGET"),
    ("sync_reads", "Synchronous reads", POOL_FACTS["sync_reads"], "QBACRIO"),
    ("async_pages_read", "Pages read by prefetch", POOL_FACTS["async_pages_read"], "QBACSIO"),
    ("buffer_updates", "Buffer updates", POOL_FACTS["buffer_updates"], "QBACSWS"),
)
_CLASS_2_ELAPSED = ("qwacasc", "qwacspeb", "qwacudeb", "qwactret", "qwactree")
_CLASS_2_CPU = ("qwacajst", "qwacsptt", "qwacudtt", "qwactrtt", "qwactrte")
_READ_TIME = ("qwacawti",)
_READ_EVENTS = ("qwacarne",)


def _fields_of(inputs: Inputs, name: str, fields: tuple[Field, ...]) -> Any:
    """Sections of each record added up: a record has one QTGA, and a QBGA for each group buffer pool."""
    table = inputs.table(name, *names_of(fields))
    return table.group_by(list(RECORD)).aggregate(
        **{field.column: table[field.column].cast("float64").sum() for field in fields}
    )


def _with(inputs: Inputs, table: Any, name: str, fields: tuple[Field, ...]) -> Any:
    if not inputs.has(name):
        return table.mutate(**{field.column: ibis.null("float64") for field in fields})
    return table.left_join(_fields_of(inputs, name, fields), list(RECORD)).drop(*(f"{one}_right" for one in RECORD))


def _facts(inputs: Inputs) -> Any:
    table = threads(inputs)
    table = _with(inputs, table, "smf101_ifcid3_qtga", LOCK_FIELDS)
    table = _with(inputs, table, "smf101_ifcid3_qbga", PAGE_FIELDS)
    waits = [field.lower() for _, _, fields in _WAITS for field in fields]
    summed = (
        "occurrences", "class1_task_cpu_seconds", "qwacspcp", "qwacudcp", "qwaccls1_ziip", "qwaccls2_ziip",
        "class1_elapsed_seconds", *_CLASS_2_ELAPSED, *_CLASS_2_CPU, *_READ_TIME, *_READ_EVENTS,
        *(field for _, _, field, _ in _COPIES), *waits, *names_of(LOCK_FIELDS), *names_of(PAGE_FIELDS),
    )  # fmt: skip
    f = gathered(inputs, table, (key.name for key in _KEYS), summed=dict.fromkeys(summed))
    return f.mutate(
        class1_cpu_seconds=total(f.class1_task_cpu_seconds, f.qwacspcp, f.qwacudcp, f.qwaccls1_ziip),
        class2_cpu_seconds=total(*(f[name] for name in _CLASS_2_CPU), f.qwaccls2_ziip),
        class2_elapsed_seconds=total(*(f[name] for name in _CLASS_2_ELAPSED)),
        read_wait_seconds=f.qwacawti,
        read_waits=f.qwacarne,
        **{name: f[field] for name, _, field, _ in _COPIES},
        **{name: total(*(f[field.lower()] for field in fields)) for name, _, fields in _WAITS},
        **columns_of(f, LOCK_FIELDS),
        **columns_of(f, PAGE_FIELDS),
    )


def _of(name: str, title: str, fields: str, unit: Any = SECONDS) -> Fact:
    return Fact(name, title, unit, Rollup.COUNT, f"{_RECORD} {fields}")


def _to_xes(f: Any) -> Any:
    return total(f.xes_lock_requests, f.xes_change_requests, f.xes_unlock_requests)


def _reads(f: Any) -> Any:
    return total(f.reads_invalid_data, f.reads_invalid_no_data, f.reads_absent_data, f.reads_absent_no_data)


def _waits(f: Any) -> Any:
    return total(*(f[name] for name, _, _ in _WAITS))


_KEYS = (
    SUBSYSTEM,
    Key("connection_type", "Connection type"),
    Key("connection", "Connection"),
    Key("plan", "Plan"),
    Key("correlation", "Correlation name"),
)

SHARING_USE = Grain(
    name="db2_accounting_sharing",
    title="Db2 accounting: data sharing",
    row="the threads of one transaction, job or other correlation name of one connection whose accounting was written "
    "in one quarter of an hour",
    keys=_KEYS,
    attributes=SHARING_ATTRIBUTES,
    facts=(
        _of("occurrences", "Accounting records", "QWAC, one each", COUNT),
        *(_of(name, title, field, COUNT) for name, title, _, field in _COPIES),
        _of("class1_elapsed_seconds", "Elapsed time, class 1", "QWACESC - QWACBSC"),
        _of(
            "class1_cpu_seconds",
            "CPU time of all engines, class 1",
            "QWACEJST - QWACBJST + QWACSPCP + QWACUDCP + QWACCLS1_ZIIP",
        ),
        _of("class2_elapsed_seconds", "Elapsed time in Db2, class 2", " + ".join(_CLASS_2_ELAPSED).upper()),
        _of(
            "class2_cpu_seconds",
            "CPU time of all engines in Db2, class 2",
            " + ".join((*_CLASS_2_CPU, "qwaccls2_ziip")).upper(),
        ),
        _of("read_wait_seconds", "Waits for synchronous database I/O", "QWACAWTI"),
        _of("read_waits", "Synchronous database I/Os waited for", "QWACARNE", COUNT),
        *(_of(name, title, " + ".join(fields)) for name, title, fields in _WAITS),
        *facts_of(_RECORD, LOCK_FIELDS),
        *facts_of(_RECORD, PAGE_FIELDS),
    ),
    sources=(Source("SMF 101", ("smf101_ifcid3_qwac",), _facts),),
    metrics=(
        Metric(
            "xes_requests_per_commit",
            "Requests to XES per commit",
            MEAN_COUNT,
            "(QTGALSLM + QTGACSLM + QTGAUSLM) / QWACCOMM",
            _LOCKING,
            lambda f: ratio(_to_xes(f), f.commits),
            _LAYOUT,
        ),
        Metric(
            "group_reads_per_commit",
            "Reads of group buffer pools per commit",
            MEAN_COUNT,
            "(QBGAXD + QBGAXR + QBGAMD + QBGAMR) / QWACCOMM",
            _GROUP_POOLS,
            lambda f: ratio(_reads(f), f.commits),
            _LAYOUT,
        ),
        Metric(
            "group_writes_per_commit",
            "Pages written to group buffer pools per commit",
            MEAN_COUNT,
            "(QBGASW + QBGAAW + QBGAWC) / QWACCOMM",
            _GROUP_POOLS,
            lambda f: ratio(total(f.changed_pages_sync, f.changed_pages_async, f.clean_pages_sync), f.commits),
            _LAYOUT,
        ),
        Metric(
            "invalid_reads_per_commit",
            "Reads after cross-invalidation per commit",
            MEAN_COUNT,
            "(QBGAXD + QBGAXR) / QWACCOMM",
            _GROUP_POOLS,
            lambda f: ratio(total(f.reads_invalid_data, f.reads_invalid_no_data), f.commits),
            _LAYOUT,
        ),
        Metric(
            "sharing_wait_per_commit",
            "Waits that data sharing causes, per commit",
            MILLISECONDS,
            "(global L-locks and P-locks + notify + asynchronous coupling facility requests + writes forced at commit) "
            "/ QWACCOMM",
            _SUSPENSIONS,
            lambda f: ratio(_waits(f), f.commits),
            "Synchronous requests are no wait: the processor spins, and their time is CPU time of class 2.",
        ),
        Metric(
            "page_lock_wait_per_commit",
            "Waits for page P-locks, per commit",
            MILLISECONDS,
            "QWACAWTO / QWACCOMM",
            _SUSPENSIONS,
            lambda f: ratio(f.page_lock_wait_seconds, f.commits),
        ),
    ),
)
