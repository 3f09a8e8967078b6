"""SMF 100, IFCID 1 and 2: cumulative counters of a Db2 since its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from plexlens import _core
from plexlens.smf_rows.db2 import DB2_12, header_row, sharing_row
from plexlens.smf_rows.record import Record, Row, Sections, given

#: Levels and what identifies a section: in the record as they stand, not counted up.
_LEVELS = frozenset({"qbstvpl", "qbstcba", "qbstpid", "qbglgn", "qwsaproc"})

#: High-water marks.
_MARKS = frozenset({"q3sthwct", "q3sthwib", "q3sthwif", "qbstxis"})

#: Counter of a pool, as the simulations name it, to its field of QBST.
_POOL = {name: place.lower() for name, place, _ in _core.PoolSimulation.fields() if place} | {
    "castout_pages": "qbstpco",
    "castout_ios": "qbstcio",
    "fewest_sequential": "qbstsmin",
    "most_sequential": "qbstsmax",
}

#: Counter of a member's use of a group buffer pool to its field of QBGL.
_GROUP_POOL = {name: place.lower() for name, place, _ in _core.GroupSimulation.member_fields() if place} | {
    "clean_sync_writes": "qbglwc",
    "clean_async_writes": "qbglac",
    "dependent_getpages": "qbglgg",
    "page_lock_requests": "qbglp1",
    "page_lock_suspensions": "qbgls1",
    "page_lock_negotiations": "qbgln1",
    "page_lock_unlocks": "qbglu1",
}


def is_counter(field: str) -> bool:
    """Whether a field is cumulative from the start of Db2, rather than a level, a high-water mark or a name."""
    return field not in _LEVELS and field not in _MARKS


def before(row: Row, *, marks: bool = False) -> Row:
    """The same section with zero counters; levels are unchanged, and so are high-water marks if ``marks`` is set."""
    kept = _LEVELS | _MARKS if marks else _LEVELS
    return {field: value if field in kept else 0 for field, value in row.items()}


def pool_row(number: int, size: int | None, counters: Mapping[str, Any]) -> Row:
    """QBST.

    Parameters
    ----------
    number, size
        Pool id and buffers.
    counters
        By the names of `plexlens._core.PoolSimulation.fields`, and ``castout_pages``, ``castout_ios``,
        ``fewest_sequential``, ``most_sequential``; what is not there is not in the row.
    """
    row = given(qbstpid=number, qbstvpl=size)
    row |= {field: counters[name] for name, field in _POOL.items() if name in counters}
    kinds = [counters[name] for name in ("sync_reads_random", "sync_reads_sequential") if name in counters]
    # QBSTRIO counts all synchronous reads, QBSTSIO those of sequential access among them.
    return row | ({"qbstrio": sum(kinds)} if kinds else {})


def group_pool_row(number: int, counters: Mapping[str, Any]) -> Row:
    """QBGL.

    Parameters
    ----------
    number
        Pool id.
    counters
        By the names of `plexlens._core.GroupSimulation.member_fields`, and ``clean_sync_writes``,
        ``clean_async_writes``, ``dependent_getpages``, ``page_lock_requests``, ``page_lock_suspensions``,
        ``page_lock_negotiations``, ``page_lock_unlocks``; what is not there is not in the row.
    """
    return {"qbglgn": number} | {field: counters[name] for name, field in _GROUP_POOL.items() if name in counters}


def checkpoint_row(checkpoints: int) -> Row:
    """QWSD: system checkpoints."""
    return {"qwsdckpt": checkpoints}


def address_space_row(name: str, *, srb: float, ziip: float, preemptable: float) -> Row:
    """QWSA: seconds under SRBs of an address space, on zIIPs, and under preemptable SRBs."""
    return {"qwsaproc": name, "qwsasrbt": srb, "qwsapsrb_ziip": ziip, "qwsapsrb": preemptable}


def services_row(*, threads: int, thread_waits: int, commits: int, rollbacks: int, most_threads: int) -> Row:
    """Q3ST for threads that serve a single unit of work, which signs on.

    Parameters
    ----------
    threads, thread_waits
        Threads created, and waits for one.
    commits, rollbacks
        Units of work by their end.
    most_threads
        Most threads at a time.
    """
    return {
        "q3stcthd": threads,
        "q3stterm": threads,
        "q3stsign": threads,
        "q3stcthw": thread_waits,
        "q3stcomm": commits,
        "q3stabrt": rollbacks,
        "q3sthwct": most_threads,
    }


def log_row(*, records: int, forces: int, filled: int, writes: int, written: int) -> Row:
    """QJST: log records, forced records, control intervals filled, write I/Os and control intervals written."""
    return {"qjstwrnw": records, "qjstwrf": forces, "qjstbffl": filled, "qjstlogw": writes, "qjstciwr": written}


def locking_row(*, locks: int, unlocks: int, suspensions: int, deadlocks: int, timeouts: int) -> Row:
    """QTXA: lock and unlock requests, suspensions for locks, deadlocks, timeouts."""
    return {
        "qtxalock": locks,
        "qtxaunlk": unlocks,
        "qtxasloc": suspensions,
        "qtxadea": deadlocks,
        "qtxatim": timeouts,
    }


def group_locking_row(
    *,
    physical_locks: int,
    physical_unlocks: int,
    lock_structure_locks: int,
    lock_structure_unlocks: int,
    negotiations: int,
    real_contentions: int,
    xes_contentions: int,
    false_contentions: int,
) -> Row:
    """QTGS of a member.

    Parameters
    ----------
    physical_locks, physical_unlocks
        Requests for physical locks, and their releases.
    lock_structure_locks, lock_structure_unlocks
        Requests that went to the lock structure, physical locks among them.
    negotiations
        P-locks of pages that another member asked for.
    real_contentions, xes_contentions, false_contentions
        Suspensions by cause.
    """
    return {
        "qtgslplk": physical_locks,
        "qtgsuplk": physical_unlocks,
        "qtgslslm": lock_structure_locks,
        "qtgsuslm": lock_structure_unlocks,
        "qtgspgpe": negotiations,
        "qtgsiglo": real_contentions,
        "qtgssglo": xes_contentions,
        "qtgsflse": false_contentions,
        "qtgsflmg": false_contentions,
    }


def statistics(
    *,
    pools: Sequence[Row] = (),
    group_pools: Sequence[Row] = (),
    spaces: Sequence[Row] = (),
    services: Row | None = None,
    checkpoints: Row | None = None,
    log: Row | None = None,
    locking: Row | None = None,
    group_locking: Row | None = None,
) -> dict[str, Sections]:
    """Sections by record map, with the counts of a Db2; a section that is not given is not in the record."""

    def single(row: Row | None) -> list[Row]:
        return [row] if row else []

    return {
        "smf100_ifcid1": {
            "smf100_ifcid1_qwsa": list(spaces),
            "smf100_ifcid1_q3st": single(services),
            "smf100_ifcid1_qwsd": single(checkpoints),
            "smf100_ifcid1_qjst": single(log),
        },
        "smf100_ifcid2": {
            "smf100_ifcid2_qbst": list(pools),
            "smf100_ifcid2_qtxa": single(locking),
            "smf100_ifcid2_qbgl": list(group_pools),
            "smf100_ifcid2_qtgs": single(group_locking),
        },
    }


def record(
    map_name: str,
    sections: Sections,
    *,
    system: str,
    subsystem: str,
    at: datetime,
    sequence: int,
    group: str = "",
    release: int = DB2_12,
    utc_offset: timedelta = timedelta(0),
) -> Record:
    """A record of a Db2: its headers before the sections.

    Parameters
    ----------
    map_name, sections
        From `statistics`.
    system, subsystem, group
        Who counted; no group, no data-sharing header.
    at
        When it was written, in UTC.
    sequence
        Number of the record of its kind, which begins anew with each start of Db2.
    release
        QWHSRN.
    utc_offset
        Local time less UTC.
    """
    headers: Sections = {"smf100_qwhs": [header_row(subsystem, at, sequence, release=release)]}
    if group:
        headers["smf100_qwha"] = [sharing_row(subsystem, group)]
    contents = {name: rows for name, rows in sections.items() if rows}
    return Record(map_name, system, at, headers | contents, subsystem, utc_offset)
