"""Kinds of work due to data sharing: their part of the cost, and the address space that pays."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Payer(StrEnum):
    """Payer of processor time."""

    THREAD = "transaction thread"
    DBM1 = "DBM1"
    MSTR = "MSTR"
    IRLM = "IRLM"
    XCFAS = "XCFAS"


class Part(StrEnum):
    """Parts of the cost of data sharing, in the order of the waterfall."""

    LOCKING = "Global locking"
    PAGE_LOCKS = "P-locks"
    CONTENTION = "Contention and messages"
    INVALIDATION = "Re-reads after invalidation"
    ABSENT = "Reads of pages not in the pool"
    READS = "Group buffer pool reads, cause unknown"
    WRITES = "Writes to group buffer pools"
    CASTOUT = "Castout"
    REGISTRATION = "Registration and upkeep"
    POOLS = "Group buffer pools, not distinguished"
    SIGNALLING = "Communication area and signalling"


@dataclass(frozen=True)
class Kind:
    """A kind of request or other work.

    Attributes
    ----------
    name, title
        In JSON and in tables.
    part
        What it is a part of.
    payer
        Whose time; sources are IBM's table of contributors to CPU time.
    asynchronous
        Whether Db2 asks without waiting, so that asynchronous requests of a structure are these first.
    path
        Name of the stated time of each, for work that is not a request to a coupling facility; empty for requests.
    """

    name: str
    title: str
    part: Part
    payer: Payer
    asynchronous: bool = False
    path: str = ""

    @property
    def is_request(self) -> bool:
        """Whether the request is sent to a coupling facility."""
        return not self.path


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("lock", "L-lock, lock and change", Part.LOCKING, Payer.THREAD),
        Kind("unlock", "L-lock, unlock", Part.LOCKING, Payer.THREAD),
        Kind("lock_other", "Lock structure, not distinguished", Part.LOCKING, Payer.THREAD),
        Kind("page_lock", "Page P-lock, lock", Part.PAGE_LOCKS, Payer.THREAD),
        Kind("page_unlock", "Page P-lock, unlock", Part.PAGE_LOCKS, Payer.MSTR),
        Kind("page_set_lock", "Page set and other P-locks", Part.PAGE_LOCKS, Payer.THREAD),
        Kind("contention_real", "Contention, real (IRLM)", Part.CONTENTION, Payer.IRLM, path="contention_path"),
        Kind("contention_xes", "Contention, XES", Part.CONTENTION, Payer.IRLM, path="contention_path"),
        Kind("contention_false", "Contention, false", Part.CONTENTION, Payer.IRLM, path="contention_path"),
        Kind("contention_any", "Contention, not distinguished", Part.CONTENTION, Payer.IRLM, path="contention_path"),
        Kind("contention_page", "Contention for a page P-lock", Part.CONTENTION, Payer.IRLM, path="contention_path"),
        Kind("negotiation", "P-lock negotiation", Part.CONTENTION, Payer.IRLM, path="negotiation_path"),
        Kind("notify", "Notify message", Part.CONTENTION, Payer.DBM1, path="notify_path"),
        Kind("invalid_data", "Read after invalidation, page returned", Part.INVALIDATION, Payer.THREAD),
        Kind("invalid_no_data", "Read after invalidation, no page", Part.INVALIDATION, Payer.THREAD),
        Kind("invalid_disk", "Read from disk after invalidation", Part.INVALIDATION, Payer.THREAD, path="read_path"),
        Kind("absent_data", "Read of a page not in the pool, page returned", Part.ABSENT, Payer.THREAD),
        Kind("absent_no_data", "Read of a page not in the pool, no page", Part.ABSENT, Payer.THREAD),
        Kind("read_data", "Read, page returned", Part.READS, Payer.THREAD),
        Kind("read_no_data", "Read, no page", Part.READS, Payer.THREAD),
        Kind("write_sync", "Changed page, synchronous write", Part.WRITES, Payer.MSTR),
        Kind("write_async", "Changed page, asynchronous write", Part.WRITES, Payer.DBM1, asynchronous=True),
        Kind("write_clean", "Clean page, write", Part.WRITES, Payer.DBM1, asynchronous=True),
        Kind("castout", "Castout, read of a page", Part.CASTOUT, Payer.DBM1, asynchronous=True),
        Kind("castout_upkeep", "Castout, classes and unlock", Part.CASTOUT, Payer.DBM1, asynchronous=True),
        Kind("register", "Register pages (prefetch)", Part.REGISTRATION, Payer.DBM1, asynchronous=True),
        Kind("unregister", "Unregister page", Part.REGISTRATION, Payer.THREAD),
        Kind("upkeep", "Delete name, directory and statistics requests", Part.REGISTRATION, Payer.DBM1),
        Kind("pool_other", "Group buffer pool, not distinguished", Part.POOLS, Payer.THREAD),
        Kind("sca", "Shared communication area", Part.SIGNALLING, Payer.MSTR),
        Kind("signalling", "XCF signalling of Db2 and IRLM", Part.SIGNALLING, Payer.XCFAS, asynchronous=True),
    )
}  # fmt: skip
