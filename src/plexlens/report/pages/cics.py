"""CICS: regions, transactions by CPU and by response, TCB modes, Db2, TCP/IP, storage, cost per transaction."""

from __future__ import annotations

from plexlens.report.blocks.page import ChartSpec, FigureSpec, Page, Pick, Shown, TableSpec
from plexlens.report.blocks.ways import WLMGL
from plexlens.report.model import Way
from plexlens.report.model.chart import Reference

_REGION = ("applid",)
_TRANSACTION = ("applid", "transaction")
_MODE = ("applid", "mode")

_DISPATCHED = "dispatch_seconds > 0"

#: Modes with one TCB: what it used of its time says how near the region is to its end.
_SINGLE = "(mode = 'QR') and (dispatch_seconds > 0)"

_ENDED = "transactions > 0"

_CONNECTED = "(calls > 0) or (peak_threads > 0)"

_ATTACHED = "(transactions > 0) or (peak_connections > 0) or (peak_inbound_sockets > 0)"

_USED_POOL = "peak_tcbs > 0"

_USED_AREA = "peak_size > 0"

_KNOWN = "role != 'other'"

_COSTS = "cp_seconds > 0"


_COST = (
    Shown("cpu_time", bar=True),
    Shown("cp_time", "General processors", group="Per transaction"),
    Shown("specialty_time", "Specialty engines", group="Per transaction"),
    Shown("cp_fraction", "General processors", group="Share of one processor"),
    Shown("specialty_fraction", "Specialty engines", group="Share of one processor"),
    Shown("transactions_per_second"),
)

_COST_NOTE = (
    "Each address space with CPU time is related to all CICS transactions of its system. Add the address spaces that "
    "work for CICS (its regions, network, TCP/IP, XCF, Db2, MQ) to get the cost of a transaction."
)

PAGE = Page(
    order=850,
    id="cics",
    title="CICS",
    lead="Regions with their TCBs, connections and storage from statistics; transactions from monitoring; cost of a "
    "transaction in each address space.",
    what="CICS regions and transactions",
    ways=(
        Way(
            "SMF 110-2",
            "STATRCD=ON and STATINT=001500 in the system initialization table of the region (or CEMT SET STATISTICS), "
            "and TYPE(110) in SMFPRMxx.",
        ),
        Way(
            "SMF 110-1",
            "MN=ON, MNPER=ON and MNRES=NO, without compression (MCT with COMPRESS=NO), in the system initialization "
            "table of the region (or CEMT SET MONITOR), and TYPE(110) in SMFPRMxx. CICS writes the dictionary of its "
            "records when monitoring starts: give the dump that contains it, or a dictionary record from DFHMNDUP.",
        ),
        Way(
            "CICS statistics report",
            "Output of DFHSTUP from SMF 110-2, or of the sample transaction STAT (DFH0STAT), as text.",
        ),
        Way(
            "SMF 30 and 110",
            "SMF 30 interval records (INTERVAL(SMF,SYNC) in SMFPRMxx), for the same time and system as SMF 110.",
        ),
        Way(
            "SMF 72-3",
            "Monitor I option WKLD of RMF or the z/OS Data Gatherer, and TYPE(72) in SMFPRMxx; report classes for the "
            "transactions of CICS and for each address space that works for them.",
        ),
        *WLMGL,
    ),
    figures=(
        FigureSpec("cics_rate", "CICS transactions", "cics_region", "transactions_per_second"),
        FigureSpec(
            "cics_busiest_qr",
            "Busiest QR TCB",
            "cics_tcb",
            "busy_fraction",
            by=_MODE,
            pick=Pick.HIGHEST,
            where=_SINGLE,
        ),
        FigureSpec(
            "cics_lowest_ratio",
            "Lowest QR CPU to dispatch ratio",
            "cics_region",
            "qr_cpu_dispatch_ratio",
            by=_REGION,
            pick=Pick.LOWEST,
        ),
        FigureSpec("cics_response", "Response time of CICS", "cics_transaction", "response_time"),
        FigureSpec(
            "cics_whole_cost",
            "CPU time per CICS transaction, all address spaces with a known role",
            "cics_cost",
            "cpu_time",
            by=("system",),
            pick=Pick.HIGHEST,
            where=_KNOWN,
        ),
    ),
    charts=(
        ChartSpec(
            "cics_course",
            "CICS transactions, by region",
            "cics_region",
            ("transactions_per_second",),
            by=_REGION,
            timeline=True,
        ),
        ChartSpec(
            "cics_qr_course",
            "QR TCB busy, by region",
            "cics_region",
            ("qr_cpu_fraction",),
            by=_REGION,
            references=(Reference("70 %: near what the region can do", 0.7),),
        ),
        ChartSpec(
            "cics_response_course",
            "Response time, by transaction",
            "cics_transaction",
            ("response_time",),
            by=_TRANSACTION,
            where=_ENDED,
        ),
    ),
    tables=(
        TableSpec(
            "cics_regions",
            "Regions",
            "cics_region",
            (
                Shown("transactions_per_second", bar=True),
                Shown("processors"),
                Shown("cpu_per_transaction"),
                Shown("qr_cpu_fraction", "Busy", group="QR TCB"),
                Shown("qr_dispatch_fraction", "Dispatched", group="QR TCB"),
                Shown("qr_cpu_dispatch_ratio", "CPU to dispatch", group="QR TCB"),
                Shown("qr_share_of_cpu", "Share of the CPU time", group="QR TCB"),
                Shown("task_limit", "Limit", group="Tasks (MXT)"),
                Shown("peak_tasks", "Most", group="Tasks (MXT)"),
                Shown("times_at_limit", "Times reached", group="Tasks (MXT)"),
            ),
            by=("system", *_REGION),
            order="transactions_per_second",
            course="transactions_per_second",
            drill="cics_transactions_cpu",
        ),
        TableSpec(
            "cics_transactions_cpu",
            "Transactions, by CPU time",
            "cics_transaction",
            (
                Shown("transactions"),
                Shown("cpu_seconds", bar=True),
                Shown("cpu_time", "CPU", group="Per transaction"),
                Shown("qr_cpu_time", "On QR", group="Per transaction"),
                Shown("l8_cpu_time", "On L8", group="Per transaction"),
                Shown("dispatch_time", "Dispatched", group="Per transaction"),
                Shown("cpu_dispatch_ratio"),
                Shown("specialty_fraction"),
                Shown("spilled_fraction"),
                Shown("db2_requests_per_task"),
                Shown("abends"),
            ),
            by=_TRANSACTION,
            order="cpu_seconds",
            drill="cics_transactions_waits",
            where=_ENDED,
        ),
        TableSpec(
            "cics_transactions_response",
            "Transactions, by response time",
            "cics_transaction",
            (
                Shown("transactions"),
                Shown("response_time", "Mean", group="Response", bar=True),
                Shown("response_p50", "Median", group="Response"),
                Shown("response_p95", "95th", group="Response"),
                Shown("response_deviation", "Deviation", group="Response"),
                Shown("longest_response", "Longest", group="Response"),
                Shown("dispatch_fraction", "Dispatched", group="Share of the response"),
                Shown("suspend_fraction", "Suspended", group="Share of the response"),
                Shown("first_dispatch_wait_time", "First dispatch", group="Waits per transaction"),
                Shown("redispatch_wait_time", "Next dispatch", group="Waits per transaction"),
                Shown("db2_time", "In Db2", group="Per transaction"),
            ),
            by=_TRANSACTION,
            order="response_time",
            where=_ENDED,
            course="response_time",
        ),
        TableSpec(
            "cics_transactions_waits",
            "Transaction wait times",
            "cics_transaction",
            (
                Shown("suspend_time", bar=True),
                Shown("first_dispatch_wait_time", "First dispatch", group="Time per transaction"),
                Shown("redispatch_wait_time", "Next dispatch", group="Time per transaction"),
                Shown("mode_change_wait_time", "TCB mode", group="Time per transaction"),
                Shown("open_tcb_limit_wait_time", "Open TCB", group="Time per transaction"),
                Shown("file_io_wait_time", "File I/O", group="Time per transaction"),
                Shown("rls_wait_time", "RLS", group="Time per transaction"),
                Shown("resource_manager_suspend_wait_time", "Db2, MQ, IMS", group="Time per transaction"),
                Shown("mro_wait_time", "Region", group="Time per transaction"),
                Shown("enqueue_wait_time", "Enqueue", group="Time per transaction"),
                Shown("lock_wait_time", "Lock", group="Time per transaction"),
                Shown("temporary_storage_io_wait_time", "TS I/O", group="Time per transaction"),
                Shown("terminal_wait_time", "Terminal", group="Time per transaction"),
                Shown("unknown_wait_time", "Other", group="Time per transaction"),
            ),
            by=_TRANSACTION,
            order="suspend_time",
            where=_ENDED,
            note="Other is wait time that no column explains; the definitions list further causes.",
        ),
        TableSpec(
            "cics_tcb_modes",
            "TCB modes",
            "cics_tcb",
            (
                Shown("cpu_seconds", "CPU", group="Time", bar=True),
                Shown("dispatch_seconds", "Dispatched", group="Time"),
                Shown("wait_seconds", "In MVS waits", group="Time"),
                Shown("cpu_dispatch_ratio"),
                Shown("busy_fraction"),
                Shown("peak_tcbs"),
                Shown("waits"),
                Shown("mean_queue", "Mean", group="Tasks waiting"),
                Shown("peak_queue", "Most", group="Tasks waiting"),
            ),
            by=_MODE,
            order="cpu_seconds",
            where=_DISPATCHED,
            note="A QR TCB that is dispatched without CPU waits for a processor, a lock or a page.",
        ),
        TableSpec(
            "cics_tcb_pools",
            "Pools of open TCBs",
            "cics_tcb_pool",
            (
                Shown("limit"),
                Shown("peak_tcbs"),
                Shown("peak_fraction", bar=True),
                Shown("times_at_limit"),
                Shown("limit_waits"),
                Shown("limit_wait_time"),
                Shown("mismatch_waits"),
            ),
            by=("applid", "pool"),
            order="peak_fraction",
            where=_USED_POOL,
        ),
        TableSpec(
            "cics_db2_threads",
            "Db2 connection",
            "cics_db2",
            (
                Shown("calls_per_second", bar=True),
                Shown("calls_per_task"),
                Shown("thread_limit", "Limit", group="Threads"),
                Shown("peak_threads", "Most", group="Threads"),
                Shown("reuse_fraction", "Used again", group="Threads"),
                Shown("thread_waits", "Waits, overflows", group="Threads"),
                Shown("wait_fraction", "Tasks that waited", group="Threads"),
                Shown("tcb_limit", "Limit", group="TCBs of the connection"),
                Shown("peak_tcbs", "Most", group="TCBs of the connection"),
                Shown("rollbacks"),
            ),
            by=("applid", "db2_entry"),
            order="calls_per_second",
            where=_CONNECTED,
        ),
        TableSpec(
            "cics_tcpip_services",
            "TCP/IP services",
            "cics_tcpip",
            (
                Shown("transactions_per_second", bar=True),
                Shown("connections", "At the end", group="Connections"),
                Shown("peak_connections", "Most", group="Connections"),
                Shown("backlog_limit", "Backlog", group="Connections"),
                Shown("received_bytes_per_second", "In", group="Data"),
                Shown("sent_bytes_per_second", "Out", group="Data"),
                Shown("receive_length", "Per receive", group="Data"),
                Shown("send_length", "Per send", group="Data"),
                Shown("socket_limit", "Limit", group="Sockets"),
                Shown("peak_inbound_sockets", "Most inbound", group="Sockets"),
            ),
            by=("applid", "service"),
            order="transactions_per_second",
            where=_ATTACHED,
        ),
        TableSpec(
            "cics_storage_areas",
            "Dynamic storage areas",
            "cics_storage",
            (
                Shown("peak_size", bar=True),
                Shown("size"),
                Shown("lowest_free"),
                Shown("times_short"),
                Shown("short_seconds"),
                Shown("suspended_requests"),
                Shown("cushion_releases"),
                Shown("violations"),
            ),
            by=("applid", "area"),
            order="peak_size",
            where=_USED_AREA,
            folded=True,
        ),
        TableSpec(
            "cics_cost_kinds",
            "Cost of a transaction, by kind of address space",
            "cics_cost",
            _COST,
            by=("system", "role"),
            order="cpu_time",
            where=_KNOWN,
            drill="cics_cost_spaces",
        ),
        TableSpec(
            "cics_cost_spaces",
            "Cost of a transaction, by address space",
            "cics_cost",
            _COST,
            by=("system", "job", "role"),
            order="cpu_time",
            where=_COSTS,
            note=_COST_NOTE,
        ),
        TableSpec(
            "cics_cost_classes",
            "Cost of a transaction, by report class",
            "cics_class_cost",
            _COST,
            by=("system", "class_name"),
            order="cpu_time",
            where=_COSTS,
            note=_COST_NOTE,
        ),
    ),
)
