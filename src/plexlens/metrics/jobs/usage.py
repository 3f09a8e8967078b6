"""What an address space, step or job used: facts and metrics that all grains of the family share."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Attribute, Fact, Rollup
from plexlens.metrics.expressions import count_if, total
from plexlens.metrics.fields import Field, columns_of, facts_of
from plexlens.metrics.unit import (
    COUNT,
    FRACTION,
    FRAMES,
    MIB,
    PAGES,
    SECONDS,
    SERVICE_UNITS,
    SLOTS,
)

#: Attributes that all grains have.
ATTRIBUTES = (
    Attribute("work_type", "Kind of work"),
    Attribute("service_class", "Service class"),
    Attribute("report_class", "Report class"),
    Attribute("workload", "Workload"),
    Attribute("user", "User"),
)

#: Times of the processor accounting section: field, then the flag byte and bit that say it is invalid.
_TIMES = (
    (Field("tcb_seconds", "TCB time, with enclaves", "SMF30CPT", SECONDS), "smf30tfl", 0x4000),
    (Field("srb_seconds", "SRB time", "SMF30CPS", SECONDS), "smf30tfl", 0x2000),
    (Field("initiator_tcb_seconds", "Initiator TCB time", "SMF30ICU", SECONDS), "smf30tfl", 0x0200),
    (Field("initiator_srb_seconds", "Initiator SRB time", "SMF30ISB", SECONDS), "smf30tfl", 0x0400),
    (Field("io_interrupt_seconds", "I/O interrupt time", "SMF30IIP", SECONDS), "smf30tfl", 0x0040),
    (Field("region_control_seconds", "Region control task time", "SMF30RCT", SECONDS), "smf30tfl", 0x0010),
    (Field("hiperspace_seconds", "Hiperspace time", "SMF30HPT", SECONDS), "smf30tfl", 0x0020),
    (
        Field("preemptable_srb_seconds", "Preemptable and client SRB time, part of TCB time", "SMF30ASR", SECONDS),
        "smf30tfl",
        0x0008,
    ),
    (Field("enclave_seconds", "Independent enclave time, part of TCB time", "SMF30ENC", SECONDS), "smf30tfl", 0x0004),
    (
        Field("dependent_enclave_seconds", "Dependent enclave time, part of TCB time", "SMF30DET", SECONDS),
        "smf30tfl",
        0x0002,
    ),
    (Field("enqueue_promoted_seconds", "CPU time while enqueue-promoted", "SMF30CEPI", SECONDS), "smf30tf2", 0x02),
    (
        Field("contention_promoted_seconds", "CPU time while promoted by contention", "SMF30CRP", SECONDS),
        "smf30tf2",
        0x01,
    ),
    (Field("ziip_engine_seconds", "zIIP time, as run", "SMF30_TIME_ON_ZIIP", SECONDS), "smf30t32", 0x80),
    (
        Field("ziip_enclave_seconds", "zIIP time of enclaves, as run", "SMF30_ENCLAVE_TIME_ON_ZIIP", SECONDS),
        "smf30t32",
        0x40,
    ),
    (
        Field(
            "ziip_on_cp_seconds",
            "zIIP-eligible time on general processors, part of TCB time",
            "SMF30_TIME_ZIIP_ON_CP",
            SECONDS,
        ),
        "smf30t32",
        0x10,
    ),
    (Field("zaap_engine_seconds", "zAAP time, as run", "SMF30_TIME_ON_IFA", SECONDS), "smf30tf2", 0x80),
    (
        Field("java_ziip_seconds", "Java time on zIIP, as run", "SMF30_TIME_JAVA_ON_ZIIP", SECONDS),
        "smf30t32",
        0x02,
    ),
    (
        Field("java_on_cp_seconds", "Java time on general processors, zIIP-eligible", "SMF30_TIME_JAVA_ON_CP", SECONDS),
        "smf30t33",
        0x04,
    ),
)
_TIME_FIELDS = tuple(field for field, _, _ in _TIMES)

_IO_FIELDS = (
    Field("connect_seconds", "Device connect time", "SMF30TCN", SECONDS),
    Field("dasd_ios", "DASD I/Os", "SMF30AIS"),
    Field("dasd_connect_seconds", "DASD connect time", "SMF30AIC", SECONDS),
    Field("dasd_disconnect_seconds", "DASD disconnect time", "SMF30AID", SECONDS),
    Field("dasd_pending_seconds", "DASD pending and control unit queue time", "SMF30AIW", SECONDS),
    Field("enclave_dasd_ios", "DASD I/Os of independent enclaves", "SMF30EIS"),
    Field("enclave_dasd_connect_seconds", "DASD connect time of independent enclaves", "SMF30EIC", SECONDS),
    Field("enclave_dasd_disconnect_seconds", "DASD disconnect time of independent enclaves", "SMF30EID", SECONDS),
    Field("enclave_dasd_pending_seconds", "DASD pending time of independent enclaves", "SMF30EIW", SECONDS),
    Field("terminal_writes", "Terminal writes", "SMF30TPT"),
    Field("terminal_reads", "Terminal reads", "SMF30TGT"),
)

_PAGING_FIELDS = (
    Field("page_ins", "Page-ins", "SMF30PGI", PAGES),
    Field("page_outs", "Page-outs", "SMF30PGO", PAGES),
    Field("blocked_page_ins", "Blocked page-ins", "SMF30BIA", PAGES),
    Field("vio_page_ins", "VIO page-ins", "SMF30VPI", PAGES),
    Field("vio_page_outs", "VIO page-outs", "SMF30VPO", PAGES),
    Field("common_page_ins", "Common area page-ins", "SMF30CPI", PAGES),
    Field("lpa_page_ins", "LPA page-ins", "SMF30LPI", PAGES),
    Field("hiperspace_page_ins", "Hiperspace page-ins", "SMF30HPI", PAGES),
    Field("shared_page_ins", "Shared page-ins", "SMF30PAI", PAGES),
)

_HIGH_WATER_FIELDS = (
    Field("user_below_bytes", "User storage below 16 MiB, most", "SMF30URB", MIB, Rollup.PEAK),
    Field("user_above_bytes", "User storage above 16 MiB, most", "SMF30EUR", MIB, Rollup.PEAK),
    Field("system_below_bytes", "LSQA and SWA below 16 MiB, most", "SMF30ARB", MIB, Rollup.PEAK),
    Field("system_above_bytes", "LSQA and SWA above 16 MiB, most", "SMF30EAR", MIB, Rollup.PEAK),
    Field("data_space_bytes", "Data spaces, most", "SMF30DSV", MIB, Rollup.PEAK),
    Field("above_bar_bytes", "Private storage above the bar, most", "SMF30HVH", MIB, Rollup.PEAK),
    Field("shared_above_bar_bytes", "Shared storage above the bar, most", "SMF30HSH", MIB, Rollup.PEAK),
    Field("above_bar_frames", "Frames behind storage above the bar, most", "SMF30HVR", FRAMES, Rollup.PEAK),
    Field("above_bar_slots", "Slots behind storage above the bar, most", "SMF30HVA", SLOTS, Rollup.PEAK),
)

_WORK_FIELDS = (
    Field("transactions", "Transactions", "SMF30TRS"),
    Field("active_seconds", "Transactions active", "SMF30TAT", SECONDS),
    Field("resident_seconds", "Transactions resident", "SMF30RES", SECONDS),
    Field("enclave_transactions", "Independent enclave transactions", "SMF30ETC"),
    Field("enclave_active_seconds", "Independent enclaves active", "SMF30ETA", SECONDS),
)

#: A MEMLIMIT of this many MiB or more is none.
_NO_LIMIT = float(0x00000FFFFFFFF000 * 2**20)

#: Facts that are counts since some moment, and are differences in subtype 6.
COUNTED = (
    *(field.name for field in (*_TIME_FIELDS, *_IO_FIELDS, *_PAGING_FIELDS, *_WORK_FIELDS)),
    *("ziip_seconds", "zaap_seconds", "excps", "service_units", "crypto_services"),
)

FACTS = (
    *facts_of("SMF 30", _TIME_FIELDS),
    Fact(
        "ziip_seconds",
        "zIIP time, as general processor",
        SECONDS,
        Rollup.COUNT,
        "SMF 30 SMF30_TIME_ON_ZIIP x SMF30SNF / 256",
    ),
    Fact(
        "zaap_seconds",
        "zAAP time, as general processor",
        SECONDS,
        Rollup.COUNT,
        "SMF 30 SMF30_TIME_ON_IFA x SMF30ZNF / 256",
    ),
    Fact("crypto_services", "ICSF services", COUNT, Rollup.COUNT, "SMF 30 SMF30CSC"),
    Fact(
        "highest_task_fraction",
        "Busiest task, of one processor",
        FRACTION,
        Rollup.PEAK,
        "SMF 30 SMF30_HIGHEST_TASK_CPU_PERCENT",
    ),
    Fact("excps", "Blocks transferred (EXCPs)", COUNT, Rollup.COUNT, "SMF 30 SMF30TEX, else SMF30TEP"),
    *facts_of("SMF 30", _IO_FIELDS),
    *facts_of("SMF 30", _PAGING_FIELDS),
    *facts_of("SMF 30", _HIGH_WATER_FIELDS),
    Fact("region_below_bytes", "Largest private area below 16 MiB", MIB, Rollup.SETTING, "SMF 30 SMF30RGB"),
    Fact("memory_limit_bytes", "MEMLIMIT", MIB, Rollup.SETTING, "SMF 30 SMF30MEM; null where there is none"),
    *facts_of("SMF 30", _WORK_FIELDS),
    Fact("service_units", "Service units", SERVICE_UNITS, Rollup.COUNT, "SMF 30 SMF30SRV_L, else SMF30SRV"),
    Fact(
        "incomplete",
        "Records with incomplete data",
        COUNT,
        Rollup.COUNT,
        "SMF 30 SMF30PIN, SMF30IIN, SMF30SIN",
    ),
)


def _flags(column: Any) -> Any:
    return column.cast("int64").fill_null(0)


def _time_columns(table: Any) -> dict[str, Any]:
    """Times, null where their flag says that they are invalid."""
    used = (_flags(table.smf30tfl) & 0x8000) != 0
    nothing = ibis.null("float64")
    values = columns_of(table, _TIME_FIELDS)
    return {
        field.name: ibis.ifelse(used & ((_flags(table[byte]) & bit) != 0), nothing, values[field.name])
        for field, byte, bit in _TIMES
    }


def usage_columns(table: Any) -> dict[str, Any]:
    """The facts of `FACTS` from a table of records."""
    times = _time_columns(table)
    one = ibis.literal(1.0)
    ziip_factor = ibis.coalesce(table.smf30snf.cast("float64").nullif(0.0), one)
    zaap_factor = ibis.coalesce(table.smf30znf.cast("float64").nullif(0.0), one)
    limit = table.smf30mem.cast("float64")
    few = ibis.ifelse((_flags(table.smf30dcf) & 0x20000000) != 0, ibis.null("float64"), table.smf30tep.cast("float64"))
    missing = ((_flags(table.smf30pf2) & 0x08) != 0) | ((_flags(table.smf30dcf) & 0x40000000) != 0)
    missing = missing | ((_flags(table.smf30sfl) & 0x10) != 0)
    return {
        **times,
        "ziip_seconds": times["ziip_engine_seconds"] * ziip_factor,
        "zaap_seconds": times["zaap_engine_seconds"] * zaap_factor,
        "crypto_services": table.smf30csc.cast("float64"),
        "highest_task_fraction": table.smf30_highest_task_cpu_percent.cast("float64") / 100,
        "excps": ibis.coalesce(table.smf30tex.cast("float64"), few),
        **columns_of(table, _IO_FIELDS),
        **columns_of(table, _PAGING_FIELDS),
        **columns_of(table, _HIGH_WATER_FIELDS),
        "region_below_bytes": table.smf30rgb.cast("float64"),
        "memory_limit_bytes": ibis.ifelse(limit < _NO_LIMIT, limit, ibis.null("float64")),
        **columns_of(table, _WORK_FIELDS),
        "service_units": ibis.coalesce(table.smf30srv_l.cast("float64"), table.smf30srv.cast("float64")),
        "incomplete": count_if(missing),
    }


def attribute_columns(table: Any) -> dict[str, Any]:
    """The attributes of `ATTRIBUTES` from a table of records."""
    return {
        "work_type": table.work_type,
        "service_class": table.smf30scn.nullif(""),
        "report_class": table.smf30rcn.nullif(""),
        "workload": table.smf30wlm.nullif(""),
        "user": table.smf30rud.nullif(""),
    }


def general(f: Any) -> Any:
    """CPU seconds on general processors."""
    return total(
        f.tcb_seconds,
        f.srb_seconds,
        f.initiator_tcb_seconds,
        f.initiator_srb_seconds,
        f.io_interrupt_seconds,
        f.region_control_seconds,
        f.hiperspace_seconds,
    )
