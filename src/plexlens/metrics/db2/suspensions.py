"""What Db2 work waits for: the causes of class 3 and class 8 suspensions, each a time and a number of events.

A cause is named as accounting reports name it. Some causes are sums of finer ones (locks and latches: IRLM and Db2
latches), which are facts of their own, so that a report without the finer ones still has the sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from plexlens.metrics.expressions import total


@dataclass(frozen=True)
class Cause:
    """A cause of suspensions.

    Parameters
    ----------
    name, words
        As accounting reports name it, and in words.
    time, events
        Fields of its time and its events; of several the sum.
    parts
        Names of the finer causes that it is the sum of; it has no fields then.
    within
        The cause that it is part of; empty for one that stands by itself.
    otherwise
        Time and events field that records have instead of ``time`` and ``events``; never both of one record.
    """

    name: str
    words: str
    time: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    within: str = ""
    otherwise: tuple[str, str] | None = None

    @property
    def seconds_fact(self) -> str:
        """Name of the fact that holds its time."""
        return f"class3_{self.name}_seconds"

    @property
    def events_fact(self) -> str:
        """Name of the fact that holds its events."""
        return f"class3_{self.name}_events"


def _cause(name: str, words: str, time: str, events: str, within: str = "") -> Cause:
    return Cause(name, words, (time,), (events,), within=within)


#: Letters that end the fields of global contention: parent, child and other L-locks, page set, page, other P-locks.
_GLOBAL = "JKMNOQ"

#: Causes of class 3 suspensions (threads).
CAUSES: tuple[Cause, ...] = (
    Cause("lock_latch", "locks and latches", parts=("irlm_lock_latch", "db2_latch")),
    _cause("irlm_lock_latch", "IRLM locks and latches", "QWACAWTL", "QWACARNL", "lock_latch"),
    _cause("db2_latch", "Db2 latches", "QWACAWLH", "QWACARLH", "lock_latch"),
    Cause("sync_io", "synchronous I/O", parts=("database_io", "log_write_io")),
    _cause("database_io", "database I/O", "QWACAWTI", "QWACARNE", "sync_io"),
    _cause("log_write_io", "log write I/O", "QWACAWLG", "QWACARLG", "sync_io"),
    _cause("other_read_io", "reads of other threads", "QWACAWTR", "QWACARNR"),
    _cause("other_write_io", "writes of other threads", "QWACAWTW", "QWACARNW"),
    Cause(
        "service_task",
        "service tasks",
        parts=("update_commit", "open_close", "syslgrng", "extend_delete_define", "other_service"),
    ),
    _cause("update_commit", "commit of updates", "QWACAWTE", "QWACARNS", "service_task"),
    _cause("open_close", "open and close of data sets", "QWAXOCSE", "QWAXOCNE", "service_task"),
    _cause("syslgrng", "SYSLGRNX updates", "QWAXSLSE", "QWAXSLNE", "service_task"),
    _cause("extend_delete_define", "define, extend, delete of data sets", "QWAXDSSE", "QWAXDSNE", "service_task"),
    _cause("other_service", "other service tasks", "QWAXOTSE", "QWAXOTNE", "service_task"),
    Cause(
        "archive_log_quiesce", "archive log quiesce", ("QWAXALOG",), ("QWAXALCT",), otherwise=("QWACALOG", "QWACALCT")
    ),
    _cause("archive_log_read", "archive log reads", "QWAXAWAR", "QWAXANAR"),
    _cause("drain_lock", "drain locks", "QWAXAWDR", "QWAXARND"),
    _cause("claim_release", "claims to be released", "QWAXAWCL", "QWAXARNC"),
    _cause("page_latch", "page latches", "QWACAWTP", "QWACARNH"),
    _cause("notify", "notify messages", "QWACAWTG", "QWACARNG"),
    Cause(
        "global_contention",
        "global contention",
        tuple(f"QWACAWT{letter}" for letter in _GLOBAL),
        tuple(f"QWACARN{letter}" for letter in _GLOBAL),
    ),
    _cause("commit_phase_1_write", "writes forced at commit", "QWAXAWFC", "QWAXFCCT"),
    _cause("async_cf", "asynchronous coupling facility requests", "QWAXIXLT", "QWAXIXLE"),
    _cause("lob_xml", "LOB and XML over TCP/IP", "QWACALBW", "QWACALBC"),
    _cause("accelerator", "accelerator", "QWACAACW", "QWACAACC"),
    _cause("fast_insert_pipe", "fast insert pipe", "QWAC_PIPE_WAIT", "QWAC_PIPEWAIT_COUNT"),
)

#: Causes of class 8 suspensions (packages).
PACKAGE_CAUSES: tuple[Cause, ...] = (
    Cause("lock_latch", "locks and latches", parts=("irlm_lock_latch", "db2_latch")),
    _cause("irlm_lock_latch", "IRLM locks and latches", "QPACAWTL", "QPACARNL", "lock_latch"),
    _cause("db2_latch", "Db2 latches", "QPACAWLH", "QPACARLH", "lock_latch"),
    _cause("sync_io", "synchronous I/O", "QPACAWTI", "QPACARNE"),
    _cause("other_read_io", "reads of other threads", "QPACAWTR", "QPACARNR"),
    _cause("other_write_io", "writes of other threads", "QPACAWTW", "QPACARNW"),
    _cause("service_task", "service tasks", "QPACAWTE", "QPACARNS"),
    _cause("archive_log_quiesce", "archive log quiesce", "QPACALOG", "QPACALCT"),
    _cause("archive_log_read", "archive log reads", "QPACAWAR", "QPACANAR"),
    _cause("drain_lock", "drain locks", "QPACAWDR", "QPACARND"),
    _cause("claim_release", "claims to be released", "QPACAWCL", "QPACARNC"),
    _cause("page_latch", "page latches", "QPACAWTP", "QPACARNH"),
    _cause("notify", "notify messages", "QPACAWTG", "QPACARNG"),
    _cause("global_contention", "global contention", "QPACAWTJ", "QPACARNJ"),
    _cause("lob_xml", "LOB and XML over TCP/IP", "QPACALBW", "QPACALBC"),
)


def recorded_fields(causes: Iterable[Cause], prefix: str) -> tuple[str, ...]:
    """Columns that the causes are read from whose field begins with ``prefix``: those of one section."""
    names = [name for cause in causes for name in (*cause.time, *cause.events, *(cause.otherwise or ()))]
    return tuple(name.lower() for name in names if name.startswith(prefix))


def columns(table: Any, causes: tuple[Cause, ...]) -> dict[str, Any]:
    """Fact name to column: time and events of every cause, and of all together.

    Parameters
    ----------
    table
        A table with the columns of `recorded_fields`.
    causes
        `CAUSES` or `PACKAGE_CAUSES`.
    """
    result: dict[str, Any] = {}
    for cause in causes:
        if cause.parts:
            continue
        seconds, events = (total(*(table[name.lower()] for name in names)) for names in (cause.time, cause.events))
        if cause.otherwise is not None:
            seconds, events = (
                total(value, table[name.lower()])
                for value, name in zip((seconds, events), cause.otherwise, strict=True)
            )
        result |= {cause.seconds_fact: seconds, cause.events_fact: events}
    known = {cause.name: cause for cause in causes}
    for cause in causes:
        if cause.parts:
            result[cause.seconds_fact] = total(*(result[known[part].seconds_fact] for part in cause.parts))
            result[cause.events_fact] = total(*(result[known[part].events_fact] for part in cause.parts))
    alone = [cause for cause in causes if not cause.within]
    result["class3_total_seconds"] = total(*(result[cause.seconds_fact] for cause in alone))
    result["class3_total_events"] = total(*(result[cause.events_fact] for cause in alone))
    return result
