"""Compositions of times: the parts that explain a change of the whole.

Each composition lists the measures that are parts of a measure. The remainder is a part of its own, with a title
that says what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plexlens.compare.runs.headings import NONE, common_name


class Kind(StrEnum):
    """Kind of time in a part."""

    CPU = "processor"
    IO = "I/O"
    WAIT = "other waits"
    REST = "not distinguished"


@dataclass(frozen=True)
class Part:
    """A measure that is part of another.

    Attributes
    ----------
    factor
        From its base unit to that of the whole.
    title
        What it is called in a sentence; the measure's own title where empty.
    """

    measure: str
    kind: Kind
    factor: float = 1.0
    title: str = ""


@dataclass(frozen=True)
class Composition:
    """A measure and its parts.

    Attributes
    ----------
    rest
        What the parts leave; empty where they leave nothing, and are then only told.
    scale
        Measure by which whole and parts are divided, and what the quotient is called; empty for none.
    """

    whole: str
    parts: tuple[Part, ...]
    rest: str = ""
    rest_kind: Kind = Kind.REST
    scale: str = ""
    scaled_title: str = ""


def _accounting(name: str, kind: Kind, title: str) -> Part:
    return Part(f"db2_accounting.{name}", kind, title=title)


def _cics(name: str, kind: Kind, title: str) -> Part:
    return Part(f"cics_transaction.{name}", kind, title=title)


def _vm(heading: str, kind: Kind, title: str, factor: float = 1.0) -> Part:
    return Part(common_name(NONE, heading), kind, factor, title)


DATABASE: tuple[Composition, ...] = (
    Composition(
        "workload_period.response_time",
        (
            Part("workload_period.queue_time", Kind.WAIT, title="waiting to be started"),
            Part("workload_period.cpu_per_transaction", Kind.CPU, title="processor time"),
        ),
        "other time of execution: I/O, locks, waiting for a processor",
    ),
    Composition(
        "workload_period.cpu_per_transaction",
        (
            Part("workload_period.cp_per_transaction", Kind.CPU, title="general processors"),
            Part("workload_period.specialty_per_transaction", Kind.CPU, title="specialty engines (zIIP, zAAP)"),
        ),
    ),
    Composition(
        "cics_transaction.response_time",
        (
            _cics("cpu_time", Kind.CPU, "processor time"),
            _cics("first_dispatch_wait_time", Kind.WAIT, "waiting for the first dispatch"),
            _cics("file_io_wait_time", Kind.IO, "file I/O"),
            _cics("rls_wait_time", Kind.IO, "file I/O by way of record-level sharing"),
            _cics("journal_io_wait_time", Kind.IO, "journal I/O"),
            _cics("temporary_storage_io_wait_time", Kind.IO, "temporary storage I/O"),
            _cics("transient_data_io_wait_time", Kind.IO, "transient data I/O"),
            _cics("db2_thread_wait_time", Kind.WAIT, "waiting for a Db2 thread"),
            _cics("db2_connection_wait_time", Kind.WAIT, "waiting for a connection to Db2"),
            _cics("open_tcb_limit_wait_time", Kind.WAIT, "waiting for an open TCB"),
            _cics("terminal_wait_time", Kind.WAIT, "waiting for the terminal"),
            _cics("mro_wait_time", Kind.WAIT, "waiting for another CICS region"),
            _cics("ipic_wait_time", Kind.WAIT, "waiting for a CICS system over TCP/IP"),
            _cics("inbound_socket_wait_time", Kind.WAIT, "waiting for input from a socket"),
            _cics("outbound_socket_wait_time", Kind.WAIT, "waiting for output to a socket"),
            _cics("lock_wait_time", Kind.WAIT, "waiting for a lock"),
            _cics("enqueue_wait_time", Kind.WAIT, "waiting for an enqueue in the region"),
            _cics("sysplex_enqueue_wait_time", Kind.WAIT, "waiting for an enqueue in the sysplex"),
            _cics("interval_control_wait_time", Kind.WAIT, "waiting for a time that was asked for"),
            _cics("external_event_wait_time", Kind.WAIT, "waiting for an event outside CICS"),
        ),
        "other time: dispatched without a processor, waits not distinguished",
    ),
    Composition(
        "db2_accounting.class2_elapsed_time",
        (
            _accounting("class2_cp_time", Kind.CPU, "general processors"),
            _accounting("class2_se_time", Kind.CPU, "specialty engines (zIIP)"),
            _accounting("database_io_time", Kind.IO, "synchronous I/O to tables and indexes"),
            _accounting("log_write_io_time", Kind.IO, "synchronous writes of the log"),
            _accounting("other_read_io_time", Kind.IO, "reads under way for other threads, prefetch"),
            _accounting("other_write_io_time", Kind.IO, "writes under way for other threads"),
            _accounting("archive_log_read_time", Kind.IO, "reads of the archive log"),
            _accounting("lock_latch_time", Kind.WAIT, "locks and latches"),
            _accounting("service_task_time", Kind.WAIT, "Db2 service tasks (commit, open, extend)"),
            _accounting("archive_log_quiesce_time", Kind.WAIT, "quiesce for the archive log"),
            _accounting("drain_lock_time", Kind.WAIT, "drain locks"),
            _accounting("claim_release_time", Kind.WAIT, "drains waiting for claims"),
            _accounting("page_latch_time", Kind.WAIT, "page latches"),
            _accounting("notify_time", Kind.WAIT, "messages to other members"),
            _accounting("global_contention_time", Kind.WAIT, "locks held by other members"),
            _accounting("commit_phase_1_write_time", Kind.IO, "log write at the first phase of commit"),
            _accounting("async_cf_time", Kind.WAIT, "asynchronous coupling facility requests"),
            _accounting("lob_xml_time", Kind.WAIT, "LOB and XML values from the client"),
            _accounting("accelerator_time", Kind.WAIT, "accelerator"),
        ),
        "not accounted: waiting for a processor, paging, waits Db2 does not record",
        scale="db2_accounting.commits_per_occurrence",
        scaled_title="Elapsed time in Db2 of a commit (class 2)",
    ),
    Composition(
        "dasd_device.response_time",
        (
            Part("dasd_device.ios_queue_time", Kind.WAIT, title="waiting in z/OS for the device"),
            Part("dasd_device.pending_time", Kind.IO, title="pending in the channel subsystem"),
            Part("dasd_device.disconnect_time", Kind.IO, title="disconnected: cache misses, replication"),
            Part("dasd_device.connect_time", Kind.IO, title="transferring data"),
        ),
    ),
)

#: Tables of the VM/ESA report; (H) is the hardware monitor, (T) what the players of users measured.
VM: tuple[Composition, ...] = (
    Composition(
        common_name(NONE, "AVG LAST (T)"),
        (_vm("TOT INT ADJ", Kind.WAIT, "time within the system (internal response time)"),),
        "time outside the system: VTAM, network, line",
        Kind.WAIT,
    ),
    Composition(
        common_name(NONE, "TOT INT ADJ"),
        (_vm("PBT/CMD (H)", Kind.CPU, "processor time", 1e-3),),
        "waiting for processors, pages, disks and servers",
        Kind.WAIT,
    ),
    Composition(
        common_name(NONE, "PBT/CMD (H)"),
        (
            _vm("CP/CMD (H)", Kind.CPU, "the control program (CP)"),
            _vm("EMUL/CMD (H)", Kind.CPU, "users' own code (emulation)"),
        ),
    ),
    Composition(
        common_name(NONE, "PBT/CMD"),
        (
            _vm("CP/CMD", Kind.CPU, "the control program (CP)"),
            _vm("EMUL/CMD", Kind.CPU, "users' own code (emulation)"),
        ),
    ),
)

#: The total of the tables of the CICS study; its parts are the address spaces.
CICS_TOTAL = common_name(NONE, "TOTAL ms CPU per transaction")

#: What follows the work done: a rate, and the rate of work that causes it.
CAUSED: tuple[tuple[str, str], ...] = (
    ("db2_pool.read_ios_per_second", "db2_pool.getpages_per_second"),
    (common_name(NONE, "I/Os/s"), common_name(NONE, "getpages/s")),
    (common_name(NONE, "RI/O/Sec"), common_name(NONE, "getpages/s")),
)

#: What objects add up to, such as the processor time of a transaction over its address spaces.
ADDED: tuple[str, ...] = ("cics_class_cost.cpu_time", "cpu_system.processors_used")
