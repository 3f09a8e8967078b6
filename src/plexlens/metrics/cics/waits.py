"""What a task waits for: the causes that performance records of CICS monitoring tell apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wait:
    """One cause of waiting.

    Parameters
    ----------
    name
        Of its facts: ``<name>_seconds``, ``<name>_waits``.
    title
        What a report calls it.
    field
        The clock of the performance record.
    within
        What it is a part of where that is recorded too; empty for a part of the suspended time alone.
    """

    name: str
    title: str
    field: str
    within: str = ""


_RMI = "the time suspended in a resource manager"

#: Before the first dispatch.
BEFORE = (
    Wait("first_dispatch", "First dispatch", "DSPDELAY"),
    Wait("class_limit", "Transaction class limit", "TCLDELAY", "the first dispatch"),
    Wait("task_limit", "MXT limit", "MXTDELAY", "the first dispatch"),
)

#: Waits to run on, once what was waited for is there.
DISPATCH = (
    Wait("redispatch", "Next dispatch", "DISPWTT"),
    Wait("qr_redispatch", "Next dispatch on the QR TCB", "QRMODDLY", "the next dispatch"),
    Wait("mode_change", "Change of TCB mode", "DSCHMDLY"),
    Wait("open_tcb_limit", "Open TCB, limit reached", "MAXOTDLY"),
    Wait("ssl_tcb_limit", "SSL TCB, limit reached", "MAXSTDLY"),
    Wait("threaded_tcb_limit", "T8 TCB, limit reached", "MAXTTDLY"),
    Wait("tcb_mismatch", "TCB mismatch", "DSTCBMWT"),
    Wait("mvs_storage", "MVS storage", "SMMVSSWT"),
)

#: What the task itself asked for.
CAUSES = (
    Wait("file_io", "File I/O", "FCIOWTT"),
    Wait("file_control_interval", "Exclusive control of a control interval", "FCXCWTT"),
    Wait("file_string", "VSAM string", "FCVSWTT"),
    Wait("rls", "RLS file I/O", "RLSWAIT"),
    Wait("cf_data_table", "Coupling facility data tables", "CFDTWAIT"),
    Wait("temporary_storage_io", "Temporary storage I/O", "TSIOWTT"),
    Wait("shared_temporary_storage", "Shared temporary storage", "TSSHWAIT"),
    Wait("transient_data_io", "Transient data I/O", "TDIOWTT"),
    Wait("journal_io", "Journal I/O", "JCIOWTT"),
    Wait("program_load", "Program load", "PCLOADTM"),
    Wait("db2_thread", "Db2 thread", "DB2RDYQW", _RMI),
    Wait("db2_connection", "Db2 connection", "DB2CONWT", _RMI),
    Wait("ims", "IMS", "IMSWAIT", _RMI),
    Wait("mq_get", "MQGET", "WMQGETWT", _RMI),
    Wait("resource_manager_suspend", "Suspended in a resource manager", "RMISUSP"),
    Wait("terminal", "Terminal input", "TCIOWTT"),
    Wait("mro", "Another region, MRO", "IRIOWTT"),
    Wait("ipic", "Another region, IPIC", "ISIOWTT"),
    Wait("lu62", "Another region, LU 6.2", "LU62WTT"),
    Wait("session", "Session", "TCALWTT"),
    Wait("ipic_session", "IPIC session", "ISALWTT"),
    Wait("inbound_socket", "Inbound socket", "SOIOWTT"),
    Wait("outbound_socket", "Outbound socket", "SOOIOWTT"),
    Wait("lock", "Lock in the region", "LMDELAY"),
    Wait("enqueue", "Local enqueue", "ENQDELAY"),
    Wait("sysplex_enqueue", "Sysplex enqueue", "GNQDELAY"),
    Wait("interval_control", "DELAY, RETRIEVE", "ICDELAY"),
    Wait("external_event", "WAIT EXTERNAL", "WTEXWAIT"),
    Wait("cics_event", "WAITCICS, WAIT EVENT", "WTCEWAIT"),
    Wait("gave_up_control", "Gave up control", "GVUPWAIT"),
    Wait("child_task", "Child task", "ASFTCHWT"),
    Wait("bts", "BTS process or activity", "RUNTRWTT"),
    Wait("parent_sync_point", "Sync point of the parent", "SYNCDLY"),
    Wait("indoubt", "Indoubt, RRMS", "RRMSWAIT"),
    Wait("jvm_thread", "Thread of a JVM server", "JVMTHDWT"),
)

WAITS = (*BEFORE, *DISPATCH, *CAUSES)
