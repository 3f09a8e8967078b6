"""What threads asked of the data sharing group (SMF 101 IFCID 3: QTGA, QBGA), beside what they used and waited for."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2.records import SUBSYSTEM
from plexlens.metrics.db2.threads import LOCK_FACTS, POOL_FACTS, gathered, threads
from plexlens.metrics.definition import Key
from plexlens.metrics.expressions import total
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import RECORD, Inputs

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


_KEYS = (
    SUBSYSTEM,
    Key("connection_type", "Connection type"),
    Key("connection", "Connection"),
    Key("plan", "Plan"),
    Key("correlation", "Correlation name"),
)
