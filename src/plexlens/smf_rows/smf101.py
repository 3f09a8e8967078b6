"""SMF 101, IFCID 3: accounting of threads, one by one or rolled up.

Quantities have one name, be they of one record or columns of many: `plexlens.smf_rows.record.named` puts them into the
fields of a section.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: A record that is rolled up has no begin; its end holds elapsed time as a clock that started then.
_CLOCK_ZERO = datetime(1900, 1, 1, tzinfo=UTC)

#: QWAC: seconds of the thread, class 1 and class 2, and its waits of class 3; counts.
QWAC = {
    "begin": "qwacbsc",
    "end": "qwacesc",
    "cpu": "qwacejst",
    "ziip": "qwaccls1_ziip",
    "ziip_on_cp": "qwacziip_eligible",
    "db2_elapsed": "qwacasc",
    "db2_cpu": "qwacajst",
    "db2_ziip": "qwaccls2_ziip",
    "wait_sync_read": "qwacawti",
    "wait_other_read": "qwacawtr",
    "wait_log": "qwacawlg",
    "wait_lock": "qwacawtl",
    "wait_commit": "qwacawte",
    "wait_contention": "qwacawtk",
    "wait_page_lock": "qwacawto",
    "wait_lob": "qwacalbw",
    "waits_sync_read": "qwacarne",
    "waits_other_read": "qwacarnr",
    "waits_log": "qwacarlg",
    "waits_lock": "qwacarnl",
    "waits_commit": "qwacarns",
    "waits_contention": "qwacarnk",
    "waits_page_lock": "qwacarno",
    "waits_lob": "qwacalbc",
    "entries": "qwacarna",
    "commits": "qwaccomm",
    "rollbacks": "qwacabrt",
    "service_class": "qwacwlme",
}

#: QWAX: waits for asynchronous requests to a coupling facility.
QWAX = {"wait_coupling": "qwaxixlt", "waits_coupling": "qwaxixle"}

#: QTXA, and QTGA of a data-sharing group.
QTXA = {"locks": "qtxalock", "unlocks": "qtxaunlk", "waits_lock": "qtxasloc"}
QTGA = {
    "lock_structure_locks": "qtgalslm",
    "coupling_unlocks": "qtgauslm",
    "false_contentions": "qtgaflse",
    "xes_contentions": "qtgasglo",
    "real_contentions": "qtgaiglo",
}

#: QBAC and QBGA, of a pool.
QBAC = {
    "number": "qbacpid",
    "getpages": "qbacget",
    "sync_reads": "qbacrio",
    "updates": "qbacsws",
    "sequential_requests": "qbacseq",
    "dynamic_requests": "qbacdpf",
    "prefetch_pages": "qbacsio",
}
QBGA = {
    "number": "qbgagn",
    "dependent_getpages": "qbgagg",
    "invalid_with_data": "qbgaxd",
    "invalid_without_data": "qbgaxr",
    "misses_with_data": "qbgamd",
    "misses_without_data": "qbgamr",
    "sync_writes": "qbgasw",
    "async_writes": "qbgaaw",
}

#: QXST: statements.
QXST = {"inserts": "qxinsrt"}


def rolled_up(elapsed: float) -> datetime:
    """End of a rolled-up record whose threads spent this many seconds in class 1 together."""
    return _CLOCK_ZERO + timedelta(seconds=elapsed)
