"""Workload activity: the columns of its two tables."""

from __future__ import annotations

from plexlens.ingest.rmf_xml.columns import INTERVAL, Column, TableSpec, derived, flag, index, number, text

_KEYS = (
    INTERVAL,
    text("policy", "service policy", "R723MNSP"),
    text(
        "class_kind",
        "service class, report class, workload, policy, or the report's own word for another kind",
        "R723MSCF",
    ),
    text("class_name", "service class, report class, workload or policy", "R723MCNM"),
    index("period", "period; null in a row of the whole class or workload", "R723CPER"),
)


def _appl(category: str, words: str, smf: str) -> tuple[Column, ...]:
    return (
        number(f"{category}_cp_appl_percent", "percent of one CP", f"{words}: CP time", f"R723{smf}SUCP"),
        number(
            f"{category}_specialty_on_cp_appl_percent",
            "percent of one CP",
            f"{words}: specialty-eligible time on CPs",
            f"R723{smf}SUOCP",
        ),
        number(
            f"{category}_specialty_appl_percent",
            "percent of one processor",
            f"{words}: time on specialty processors",
            f"R723{smf}SUSP",
        ),
    )


PERIOD = TableSpec(
    "rmf_xml_workload_period",
    "one service class, report class or workload, or one of its periods, as one system or the sysplex saw it in one "
    "interval",
    (
        *_KEYS,
        text("workload", "workload the class belongs to", "R723MWNM"),
        text("description", "description of the class or workload", "R723MCDE"),
        text("resource_group", "resource group; *NONE is none", "R723GGNM"),
        text("critical", "CPU or storage critical, as printed", "R723CADF"),
        text("honor_priority", "honor priority, as printed"),
        flag("all_zero", "the report says only that all data is zero: every additive column is 0"),
        # goal and achievement
        index("importance", "importance, 1 to 5; null for SYSTEM and DISCRETIONARY", "R723CIMP"),
        text(
            "goal_type",
            "velocity, average, percentile, discretionary or system",
            "R723CRGF",
        ),
        number("goal_velocity", "percent", "velocity goal", "R723CVAL"),
        number("goal_response_seconds", "seconds", "response time goal", "R723CVAL"),
        number("goal_percentile", "percent", "share of transactions that must meet the response goal", "R723CPCT"),
        number("goal_transactions", "", "ended transactions of the period as the goal summary counts them", "R723CRCP"),
        number("goal_transactions_percent", "percent", "the period's share of the class's transactions"),
        number("actual_response_seconds", "seconds", "response time achieved", "R723CTETX / R723CRCP"),
        number("actual_response_percent", "percent", "share of transactions that met the response goal"),
        number("actual_velocity", "percent", "velocity achieved", "100 * R723CTOU / (R723CTOU + R723CTOT)"),
        number("performance_index", "", "performance index"),
        number("using_percent", "percent", "using samples of all samples", "R723CTOU"),
        number("delay_percent", "percent", "execution delay samples of all samples", "R723CTOT"),
        # transactions
        number("transactions_average", "", "average transactions", "R723CTAT"),
        number("multiprogramming_level", "", "average resident transactions", "R723CTRR"),
        number("ended_transactions", "", "ended transactions", "R723CRCP"),
        number("ended_per_second", "per second", "ended transactions a second"),
        number("swaps", "", "swap sequences", "R723CSWC"),
        derived("active_seconds", "seconds", "transaction active time: average transactions * interval", "R723CTAT"),
        derived("resident_seconds", "seconds", "transaction resident time: level * interval", "R723CTRR"),
        number("executed_transactions", "", "transactions whose execution phase ended here", "R723CNCP"),
        number("average_enclaves", "", "average independent enclaves", "R723CIEA"),
        number("remote_enclaves", "", "average foreign enclaves", "R723CFEA"),
        number("multisystem_enclaves", "", "average enclaves exported to other systems", "R723CXEA"),
        # times per transaction, and their totals
        number("response_seconds", "seconds", "average response time", "R723CTETX / R723CRCP"),
        number("execution_seconds", "seconds", "average execution time", "R723CXETX / R723CRCP"),
        number("queued_seconds", "seconds", "average queue delay", "R723CQDTX / R723CRCP"),
        number("affinity_seconds", "seconds", "average resource or system affinity delay", "R723CADTX / R723CRCP"),
        number("ineligible_seconds", "seconds", "average ineligible queue time", "R723CIQTX / R723CRCP"),
        number("conversion_seconds", "seconds", "average conversion time", "R723CCVTX / R723CRCP"),
        number("response_deviation_seconds", "seconds", "standard deviation of the response time", "R723CETSX"),
        derived("response_total_seconds", "seconds", "response time of all ended transactions", "R723CTETX"),
        derived("execution_total_seconds", "seconds", "execution time of all ended transactions", "R723CXETX"),
        derived("queued_total_seconds", "seconds", "queue delay of all ended transactions", "R723CQDTX"),
        derived("affinity_total_seconds", "seconds", "affinity delay of all ended transactions", "R723CADTX"),
        derived("ineligible_total_seconds", "seconds", "ineligible time of all ended transactions", "R723CIQTX"),
        derived("conversion_total_seconds", "seconds", "conversion time of all ended transactions", "R723CCVTX"),
        derived(
            "response_square_seconds",
            "seconds^2",
            "sum of squared response times: ended * (average^2 + deviation^2)",
            "R723CETSX",
        ),
        # service and processor time
        number("io_service", "SU", "I/O service", "R723CIOC"),
        number("cpu_service", "SU", "CPU (TCB) service", "R723CCPU"),
        number("storage_service", "SU", "main storage service", "R723CMSO"),
        number("srb_service", "SU", "SRB service", "R723CSRB"),
        number("total_service", "SU", "total service", "R723CSRV"),
        number("service_per_second", "SU/second", "total service a second"),
        number("absorption_rate", "SU/second", "service of a resident transaction", "R723CSRV / R723CTRR"),
        number("transaction_service_rate", "SU/second", "service of an active transaction", "R723CSRV / R723CTAT"),
        number("cpu_seconds", "seconds", "TCB and preemptible SRB time", "R723CCPU"),
        number("srb_seconds", "seconds", "non-preemptible SRB time", "R723CSRB"),
        number("rct_seconds", "seconds", "region control task time", "R723CRCT"),
        number("io_interrupt_seconds", "seconds", "I/O interrupt time", "R723CIIT"),
        number("hiperspace_seconds", "seconds", "hiperspace service time", "R723CHST"),
        number("iip_seconds", "seconds", "time on zIIPs, as service time counts it", "R723CSUP"),
        number("aap_seconds", "seconds", "time on zAAPs, as service time counts it", "R723CIFA"),
        number("cp_appl_percent", "percent of one CP", "time on CPs"),
        number("iip_on_cp_appl_percent", "percent of one CP", "zIIP-eligible time on CPs"),
        number("iip_appl_percent", "percent of one zIIP", "time on zIIPs"),
        number("aap_on_cp_appl_percent", "percent of one CP", "zAAP-eligible time on CPs"),
        number("aap_appl_percent", "percent of one zAAP", "time on zAAPs"),
        derived(
            "cp_seconds",
            "seconds",
            "time on CPs: service times where the percentage confirms them, else the percentage of the interval",
            "R723CCPU + R723CSRB + R723CRCT + R723CIIT + R723CHST - R723CSUP - R723CIFA",
        ),
        derived(
            "iip_engine_seconds",
            "seconds",
            "time on zIIPs at their own speed: service time where the percentage confirms it, else the percentage",
            "R723CSUP",
        ),
        derived(
            "aap_engine_seconds",
            "seconds",
            "time on zAAPs at their own speed: service time where the percentage confirms it, else the percentage",
            "R723CIFA",
        ),
        derived("iip_on_cp_seconds", "seconds", "zIIP-eligible time on CPs", "R723CSUC"),
        derived("aap_on_cp_seconds", "seconds", "zAAP-eligible time on CPs", "R723CIFC"),
        *_appl("transaction", "reported transactions, all", "T"),
        *_appl("mobile", "mobile transactions", "M"),
        *_appl("category_a", "transactions of category A", "A"),
        *_appl("category_b", "transactions of category B", "B"),
        number("promoted_blocked_seconds", "seconds", "CPU time promoted to help blocked work", "R723TPDP"),
        number("promoted_enqueue_seconds", "seconds", "CPU time at enqueue promoted priority", "R723ECTC"),
        number("promoted_contention_seconds", "seconds", "CPU time promoted for chronic contention", "R723CPDP"),
        number("promoted_lock_seconds", "seconds", "CPU time promoted for lock holders", "R723LPDP"),
        number("promoted_supervisor_seconds", "seconds", "CPU time promoted by the supervisor", "R723SPDP"),
        # I/O and storage
        number("io_per_second", "per second", "DASD I/O operations", "R723CIRC"),
        number("io_response_seconds", "seconds", "average DASD response time"),
        number("io_connect_seconds", "seconds", "average DASD connect time", "R723CICT / R723CIRC"),
        number("io_disconnect_seconds", "seconds", "average DASD disconnect time", "R723CIDT / R723CIRC"),
        number("io_queue_pending_seconds", "seconds", "average DASD queue and pending time", "R723CIWT / R723CIRC"),
        number("io_ios_queue_seconds", "seconds", "average DASD IOS queue time", "R723CIOT / R723CIRC"),
        derived("io_operations", "", "DASD I/O operations of the interval", "R723CIRC"),
        derived("io_connect_total_seconds", "seconds", "DASD connect time", "R723CICT"),
        derived("io_disconnect_total_seconds", "seconds", "DASD disconnect time", "R723CIDT"),
        derived("io_queue_pending_total_seconds", "seconds", "DASD queue and pending time", "R723CIWT"),
        derived("io_ios_queue_total_seconds", "seconds", "DASD IOS queue time", "R723CIOT"),
        number("storage_average_frames", "frames", "average frames of a resident transaction", "R723CPRS / R723CTRR"),
        number("storage_total_frames", "frames", "average frames of the class", "R723CPRS"),
        number("storage_shared_frames", "frames", "average shared frames", "R723CSRS"),
        derived("storage_frame_seconds", "frame seconds", "storage residency: total frames * interval", "R723CPRS"),
        number("pagein_single_per_second", "per second", "single page-ins of a resident transaction", "R723CPIR"),
        number("pagein_blocked_per_second", "per second", "blocked page-ins of a resident transaction", "R723CBPI"),
        number("pagein_shared_per_second", "per second", "shared page-ins of a resident transaction", "R723CSPA"),
        number(
            "pagein_hiperspace_per_second", "per second", "hiperspace page-ins of a resident transaction", "R723CHPI"
        ),
    ),
)

BUCKET = TableSpec(
    "rmf_xml_workload_bucket",
    "one bucket of the response time distribution of one period in one interval",
    (
        *_KEYS,
        index("bucket_no", "bucket, from 1"),
        text("relation", "< or <= or > or >=, as printed"),
        number("bound_seconds", "seconds", "response time the bucket is bounded by", "R723TRDB * R723RTDM / 100"),
        number("bound_percent", "percent", "the bound in percent of the goal, where the report prints it", "R723TRDB"),
        number("transactions", "", "transactions in the bucket", "R723TRDB"),
        number("transactions_cumulative", "", "transactions in this bucket and those before it"),
        number("transactions_percent", "percent", "transactions in the bucket of all"),
        number("transactions_cumulative_percent", "percent", "transactions in this bucket and those before it of all"),
    ),
)

ADDITIVE = frozenset(
    column.name
    for column in PERIOD.columns
    if column.kind == "number"
    and (
        column.derived
        or column.name
        in {
            "ended_transactions", "swaps", "executed_transactions", "io_service", "cpu_service", "storage_service",
            "srb_service", "total_service", "cpu_seconds", "srb_seconds", "rct_seconds", "io_interrupt_seconds",
            "hiperspace_seconds", "iip_seconds", "aap_seconds", "promoted_blocked_seconds",
            "promoted_enqueue_seconds", "promoted_contention_seconds", "promoted_lock_seconds",
            "promoted_supervisor_seconds",
        }
    )
)  # fmt: skip
"""Columns that add up over classes and intervals: what "all data zero" makes zero."""

TABLES = (PERIOD, BUCKET)
