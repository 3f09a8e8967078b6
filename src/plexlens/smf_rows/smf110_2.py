"""SMF 110-2: statistics of a CICS region over an interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from plexlens.smf_rows.record import Row, Sections, given

#: TCB modes in the order of the dispatcher statistics.
TCB_MODES = ("QR", "RO", "CO", "SZ", "RP", "FO", "SL", "SO", "SP", "EP", "TP", "D2", "S8", "L8", "L9", "X8", "X9", "T8")

#: STID of the entries of the dispatcher, of the transaction manager and of the Db2 connection.
_DISPATCHER, _TRANSACTION_MANAGER, _DB2 = 62, 10, 102

#: DSGGLEN: bytes from that field to the first TCB mode.
_GLOBAL_LENGTH = 152

#: DSGTCBMD: other modes, open modes; DSGTCBMP, DSGTCBPN: the pool of L8 and L9.
_NOT_OPEN, _OPEN, _OPEN_POOL = 1, 2, 1


@dataclass(frozen=True)
class Region:
    """A region and its interval.

    Parameters
    ----------
    applid
        Name of the region.
    start, end
        The interval by local time; statistics are collected at its end.
    number
        Number of the interval, from 1.
    length
        Seconds after which statistics are collected, as the region was told.
    """

    applid: str
    start: datetime
    end: datetime
    number: int
    length: int

    def row(self) -> Row:
        """The product section's data part."""
        length = self.length
        return {
            "smfstprn": self.applid,
            "smfstspn": self.applid,
            "smfstjbn": self.applid,
            "smfstdid": "ST",
            "smfstrqt": "INT",
            "smfsticd": "NO",
            "smfstdat": f"{self.end:%m%d%Y}",
            "smfstclt": f"{self.end:%H%M%S}",
            "smfstint": f"{length // 3600:02d}{length // 60 % 60:02d}{length % 60:02d}",
            "smfstlrt": f"{self.start:%H%M%S}",
            "smfstino": self.number,
        }


@dataclass(frozen=True)
class Tcbs:
    """TCBs of a mode; times in seconds.

    Parameters
    ----------
    attached
        TCBs at the end of the interval, also the most.
    waiting, dispatched, cpu
        Sums over the TCBs.
    waits
        MVS waits.
    most_queued, mean_queued
        Dispatchable tasks that waited for one.
    used
        TCBs in use, of a mode that tells.
    allocations
        Times that an open TCB was allocated to a task.
    """

    attached: int
    waiting: float
    dispatched: float | None = None
    cpu: float | None = None
    waits: int | None = None
    most_queued: int | None = None
    mean_queued: float | None = None
    used: int | None = None
    allocations: int | None = None

    def row(self) -> Row:
        """Cells of the mode."""
        return given(
            dsgtcbca=self.attached,
            dsgtcbpa=self.attached,
            dsgtcbpu=self.used,
            dsgtcbal=self.allocations,
            dsgsysw=self.waits,
            dsgtmpdq=self.most_queued,
            dsgtmadq=self.mean_queued,
            dsgtwt=self.waiting,
            dsgtdt=self.dispatched,
            dsgact=self.cpu,
        )


@dataclass(frozen=True)
class OpenTcbs:
    """The pool of open TCBs: limit (MAXOPENTCBS), TCBs and their maximum.

    ``reached`` counts the times that the limit was reached, ``waits`` and ``waited`` the waits at the limit and their
    seconds; ``most_waiting`` is the most tasks that waited at a time.
    """

    limit: int
    attached: int
    waits: int = 0
    waited: float = 0.0
    reached: int = 0
    most_waiting: int = 0


@dataclass(frozen=True)
class Dispatcher:
    """The dispatcher of a region.

    Parameters
    ----------
    cpu, srb
        Processor time of the address space, TCB and SRB, in seconds.
    modes
        Mode to its TCBs; the modes that are not there are taken to have none.
    open
        Its open TCBs, where they are told.
    most_tasks
        Most tasks at a time.
    started
        When the region started.
    """

    cpu: float
    modes: Mapping[str, Tcbs]
    srb: float | None = None
    open: OpenTcbs | None = None
    most_tasks: int | None = None
    started: datetime | None = None


@dataclass(frozen=True)
class Transactions:
    """Transactions of a region: attached, MXT, peak, and active at the end."""

    attached: int
    limit: int
    most: int
    current: int | None = None


@dataclass(frozen=True)
class Db2Connection:
    """A region's connection to Db2; all its threads are pool threads for a single unit of work.

    Parameters
    ----------
    name, member, group
        DB2CONN, and the Db2 that it is connected to.
    connected
        When, in UTC.
    limit
        Most TCBs, and most pool threads.
    calls, threads
        SQL calls, and threads created.
    waits
        Waits for a thread.
    most
        Most threads at a time.
    """

    name: str
    member: str
    group: str
    connected: datetime
    limit: int
    calls: int
    threads: int
    waits: int
    most: int

    def row(self) -> Row:
        """The statistics of the connection."""
        return {
            "d2gid": _DB2,
            "d2gdvers": 1,
            "d2g_db2conn_name": self.name,
            "d2g_db2_id": self.member,
            "d2g_db2_group_id": self.group,
            "d2g_connect_time_gmt": self.connected,
            "d2g_connect_time_local": self.connected.replace(tzinfo=None),
            "d2g_tcb_limit": self.limit,
            "d2g_tcb_current": self.most,
            "d2g_tcb_hwm": self.most,
            "d2g_pool_calls": self.calls,
            "d2g_pool_commits": self.threads,
            "d2g_pool_thread_create": self.threads,
            "d2g_pool_thread_term": self.threads,
            "d2g_pool_thread_waits": self.waits,
            "d2g_pool_thread_limit": self.limit,
            "d2g_pool_thread_current": self.most,
            "d2g_pool_thread_hwm": self.most,
            "d2g_pool_task_total": self.threads,
            "d2g_pool_task_hwm": self.most,
        }


def sections(
    region: Region, dispatcher: Dispatcher, transactions: Transactions, connection: Db2Connection | None = None
) -> Sections:
    """The sections of a record, as in a collection of type INT."""
    return {
        "smf110_2_product": [region.row()],
        "smf110_2_dispatcher": [_dispatcher(dispatcher)],
        "smf110_2_dispatcher_tcb_mode": [_mode(mode, dispatcher) for mode in TCB_MODES],
        "smf110_2_dispatcher_tcb_pool": [_pool(dispatcher.open)] if dispatcher.open is not None else [],
        "smf110_2_transaction_manager": [_transactions(transactions)],
        "smf110_2_db2_connection": [connection.row()] if connection is not None else [],
    }


def _dispatcher(dispatcher: Dispatcher) -> Row:
    started = dispatcher.started
    return given(
        dsgid=_DISPATCHER,
        dsgdvers=1,
        dsgglen=_GLOBAL_LENGTH,
        dsgasize=len(TCB_MODES),
        dsgpsize=None if dispatcher.open is None else 1,
        dsgpnt=dispatcher.most_tasks,
        dsgstart=started,
        dsglstrt=started and started.replace(tzinfo=None),
        dsgejst=dispatcher.cpu,
        dsgsrbt=dispatcher.srb,
    )


def _mode(mode: str, dispatcher: Dispatcher) -> Row:
    row: Row = {"dsgtcbnm": mode}
    if dispatcher.open is not None:
        row |= {"dsgtcbmd": _OPEN, "dsgtcbmp": _OPEN_POOL} if mode == "L8" else {"dsgtcbmd": _NOT_OPEN}
    return row | (dispatcher.modes[mode].row() if mode in dispatcher.modes else {})


def _pool(pool: OpenTcbs) -> Row:
    return {
        "dsgtcbpn": _OPEN_POOL,
        "dsgmxtcb": pool.limit,
        "dsgcnuat": pool.attached,
        "dsgpnuat": pool.attached,
        "dsgpnuus": pool.attached,
        "dsgtotnw": pool.waits,
        "dsgtotwl": pool.waited,
        "dsgntcbl": pool.reached,
        "dsgpeanw": pool.most_waiting,
    }


def _transactions(transactions: Transactions) -> Row:
    return given(
        xmgid=_TRANSACTION_MANAGER,
        xmgdvers=1,
        xmgnum=transactions.attached,
        xmgtat=transactions.attached,
        xmgmxt=transactions.limit,
        xmgcat=transactions.current,
        xmgpat=transactions.most,
    )
