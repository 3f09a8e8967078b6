"""Every table this source fills: the values as printed, and the twins.

The RMF twins have the columns of the twins of RMF XML, so that one reading of facts serves both.
"""

from __future__ import annotations

from plexlens.ingest.rmf_xml import coupling, cpu, workload_columns
from plexlens.ingest.rmf_xml.columns import TableSpec, index, number, text
from plexlens.ingest.text_reports import db2_columns, db2_service_columns, db2_subsystem_columns

VALUE = TableSpec(
    "text_report_value",
    "one value of a report, as printed and as typed",
    (
        text("report", "kind of report: see the kinds"),
        text("report_title", "title as printed"),
        text("location", "Db2 location"),
        text("group_name", "Db2 data sharing group"),
        text("member", "member of the data sharing group"),
        text("block", "block of the report the value stands in, as printed: BP1 READ OPERATIONS, APPL % ..."),
        text("object", "what the block is about: pool, structure, class, partition, TCB mode, plan ..."),
        text("parent", "name that this one stands under: CP CPU TIME of NONNESTED"),
        text("name", "name of the value as printed"),
        text("column_head", "head of its column: QUANTITY, /SECOND, SYNC ..."),
        text("value", "text as printed"),
        text(
            "value_type",
            "number, duration, date, timestamp, text, no value, not applicable, not calculated or not present",
        ),
        number("number", "as number_unit", "the value in base units; null where there is none"),
        number("low", "as number_unit", "least true value that the print allows"),
        number("high", "as number_unit", "greatest true value that the print allows"),
        text("number_unit", "unit of the three where the print tells it"),
        number("number_scale", "", "what the printed number was multiplied by; null for 1"),
        index("decimals", "digits printed after the point"),
        index("page_no", "page in the file, from 1"),
        index("line", "line in the file, from 1"),
    ),
)

CPU_CONTROL = TableSpec("text_rmf_cpu_control", cpu.CONTROL.grain, cpu.CONTROL.columns)
CPU_PROCESSOR = TableSpec("text_rmf_cpu_processor", cpu.PROCESSOR.grain, cpu.PROCESSOR.columns)
CPU_PARTITION = TableSpec("text_rmf_cpu_partition", cpu.PARTITION.grain, cpu.PARTITION.columns)
WORKLOAD_PERIOD = TableSpec("text_rmf_workload_period", workload_columns.PERIOD.grain, workload_columns.PERIOD.columns)
WORKLOAD_BUCKET = TableSpec("text_rmf_workload_bucket", workload_columns.BUCKET.grain, workload_columns.BUCKET.columns)
COUPLING_FACILITY = TableSpec("text_rmf_coupling_facility", coupling.FACILITY.grain, coupling.FACILITY.columns)
COUPLING_STRUCTURE = TableSpec("text_rmf_coupling_structure", coupling.STRUCTURE.grain, coupling.STRUCTURE.columns)

CICS_STATISTICS = TableSpec(
    "text_cics_statistics",
    "one statistic of one CICS region in one interval",
    (
        text("section", "section of the report as printed: Dispatcher TCB Modes ..."),
        text("resource", "what the statistic is of: a TCB mode, a file, a connection; null for the region"),
        text("statistic", "name for queries: mvs_waits, dispatched_seconds; else the printed name in small letters"),
        text("name", "name as printed"),
        text("value", "text as printed"),
        number("number", "as unit", "the value; null for text"),
        number("low", "as unit", "least true value that the print allows"),
        number("high", "as unit", "greatest true value that the print allows"),
        text("unit", "seconds, percent; null for counts"),
        text("system_name", "SYSID of the region"),
        text("job_name", "job name of the region"),
        text("cics_version", "CICS version as printed"),
    ),
)

TWINS = (
    db2_columns.POOL,
    db2_columns.GROUP_POOL,
    db2_service_columns.SUBSYSTEM,
    *db2_subsystem_columns.TABLES,
    CPU_CONTROL,
    CPU_PROCESSOR,
    CPU_PARTITION,
    WORKLOAD_PERIOD,
    WORKLOAD_BUCKET,
    COUPLING_FACILITY,
    COUPLING_STRUCTURE,
    CICS_STATISTICS,
)
ALL = (VALUE, *TWINS)

KINDS = {
    "db2_statistics": "Db2 statistics",
    "db2_accounting": "Db2 accounting",
    "db2_display_bufferpool": "-DISPLAY BUFFERPOOL",
    "db2_display_groupbufferpool": "-DISPLAY GROUPBUFFERPOOL",
    "rmf_cpu": "RMF CPU activity and partition data",
    "rmf_workload": "RMF workload activity",
    "rmf_coupling_facility": "RMF coupling facility activity",
    "cics_statistics": "CICS interval statistics",
}
"""Kinds of report, as the column ``report`` and as messages call them."""


def known_kinds() -> str:
    """The kinds of report in words, for messages."""
    titles = list(KINDS.values())
    return ", ".join(titles[:-1]) + " or " + titles[-1]
