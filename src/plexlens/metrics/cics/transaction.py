"""CICS transactions, from the performance records of CICS monitoring (SMF 110-1): response, CPU by TCB, waits.

A record is one task, or a part of a long one: the kind of record (RTYPE) says which, and only the record that ends a
task counts it. Records are far too many to be kept one by one, so they are added up by quarter of an hour of their end.
The first and the last quarter are as long as the records reach.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.waits import WAITS
from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import (
    MIB,
    SECONDS,
)

_TABLE = "smf110_1_performance"

#: Length of the intervals that tasks are added up by, seconds.
_QUARTER = 900

#: Clocks that are no waits: the time of the clock is the fact.
_CLOCKS = (
    Field("dispatch_seconds", "Dispatched time", "USRDISPT", SECONDS),
    Field("cpu_seconds", "CPU time", "USRCPUT", SECONDS),
    Field("cp_cpu_seconds", "CPU time on standard processors", "CPUTONCP", SECONDS),
    Field("eligible_cpu_seconds", "CPU time on standard processors, could be offloaded", "OFFLCPUT", SECONDS),
    Field("qr_dispatch_seconds", "Dispatched on the QR TCB", "QRDISPT", SECONDS),
    Field("qr_cpu_seconds", "CPU time on the QR TCB", "QRCPUT", SECONDS),
    Field("ro_dispatch_seconds", "Dispatched on the RO TCB", "RODISPT", SECONDS),
    Field("ro_cpu_seconds", "CPU time on the RO TCB", "ROCPUT", SECONDS),
    Field("key8_dispatch_seconds", "Dispatched on open TCBs, key 8", "KY8DISPT", SECONDS),
    Field("key8_cpu_seconds", "CPU time on open TCBs, key 8", "KY8CPUT", SECONDS),
    Field("key9_dispatch_seconds", "Dispatched on open TCBs, key 9", "KY9DISPT", SECONDS),
    Field("key9_cpu_seconds", "CPU time on open TCBs, key 9", "KY9CPUT", SECONDS),
    Field("other_dispatch_seconds", "Dispatched on other TCBs", "MSDISPT", SECONDS),
    Field("other_cpu_seconds", "CPU time on other TCBs", "MSCPUT", SECONDS),
    Field("l8_cpu_seconds", "CPU time on L8 TCBs", "L8CPUT", SECONDS),
    Field("l9_cpu_seconds", "CPU time on L9 TCBs", "L9CPUT", SECONDS),
    Field("s8_cpu_seconds", "CPU time on S8 TCBs", "S8CPUT", SECONDS),
    Field("t8_cpu_seconds", "CPU time on T8 TCBs", "T8CPUT", SECONDS),
    Field("rls_cpu_seconds", "SRB time of RLS", "RLSCPUT", SECONDS),
    Field("mq_srb_seconds", "SRB time of MQ", "WMQASRBT", SECONDS),
    Field("suspend_seconds", "Suspended", "SUSPTIME", SECONDS),
    Field("resource_manager_seconds", "In resource managers", "RMITIME", SECONDS),
    Field("db2_seconds", "In Db2", "RMIDB2", SECONDS),
    Field("mq_seconds", "In MQ", "RMIMQM", SECONDS),
    Field("sync_point_seconds", "In sync points", "SYNCTIME", SECONDS),
    Field("exception_seconds", "In exception conditions", "EXWTTIME", SECONDS),
)

_COUNTS = (
    Field("commands", "EXEC CICS commands", "EICTOTCT"),
    Field("program_links", "Links to programs", "PCLINKCT"),
    Field("distributed_links", "Distributed program links", "PCDPLCT"),
    Field("db2_requests", "Db2 requests", "DB2REQCT"),
    Field("ims_requests", "IMS requests", "IMSREQCT"),
    Field("mq_requests", "MQ requests", "WMQREQCT"),
    Field("file_requests", "File requests", "FCTOTCT"),
    Field("temporary_storage_requests", "Temporary storage requests", "TSTOTCT"),
    Field("transient_data_requests", "Transient data requests", "TDTOTCT"),
    Field("sync_points", "Sync points", "SPSYNCCT"),
    Field("log_writes", "Log stream writes", "LOGWRTCT"),
    Field("web_requests", "Web requests", "WBTOTCT"),
    Field("container_requests", "Container requests", "PGTOTCCT"),
    Field("tcb_attaches", "TCBs attached", "TCBATTCT"),
)

_PEAKS = (
    Field("peak_storage_below", "Most user storage of a task below 16 MiB", "SCUSRHWM", MIB, Rollup.PEAK),
    Field("peak_storage_above", "Most user storage of a task above 16 MiB", "SCUSRHWMA", MIB, Rollup.PEAK),
    Field("peak_program_storage", "Most program storage of a task", "PCSTGHWM", MIB, Rollup.PEAK),
    Field("peak_container_storage", "Most container storage of a task", "PGCSTHWM", MIB, Rollup.PEAK),
    Field("peak_open_tcbs", "Most open TCBs of a task", "DSTCBHWM", rollup=Rollup.PEAK),
)


def _clock(field: str) -> str:
    return f"{field.lower()}_seconds"


def _events(field: str) -> str:
    return f"{field.lower()}_count"


def _same(column: Any) -> Any:
    """The text that all rows of a group share; null where they differ."""
    return ibis.ifelse(column.min() == column.max(), column.min(), ibis.null("string"))


def tasks(inputs: Inputs, *columns: str, text: tuple[str, ...] = ()) -> Any:
    """Performance records: when the task began and ended, and the quarter of an hour it ended in."""
    table = inputs.table(_TABLE, *columns, "start", "stop", text=("tran", "rtype", *text))
    began, ended = (table[name].cast("timestamp('UTC')") for name in ("start", "stop"))
    end = ibis.coalesce(ended, table.interval_end)
    quarter = (end.epoch_seconds() // _QUARTER * _QUARTER).as_timestamp("s").cast("timestamp('UTC')")
    return table.mutate(task_start=began, task_stop=end, quarter=quarter)


def _transactions(inputs: Inputs) -> Any:
    wanted = [
        *(_clock(f.field) for f in _CLOCKS),
        *(name for wait in WAITS for name in (_clock(wait.field), _events(wait.field))),
        *(f.column for f in (*_COUNTS, *_PEAKS)),
    ]
    table = tasks(inputs, *wanted, text=("abcodec", "abcodeo", "pgmname", "srvclsnm", "rptclsnm"))
    whole = table.group_by(["system", "subsystem"]).aggregate(
        covered_from=table.task_start.min(), covered_to=table.task_stop.max()
    )
    response = table.task_stop.delta(table.task_start, unit="microsecond").cast("float64") / 1e6
    # A record of another kind is a part of a task: its times count, the task does not yet.
    ended = table.rtype.fill_null("").isin(["", "T"])
    abended = ended & (ibis.coalesce(table.abcodec.nullif(""), table.abcodeo.nullif("")).notnull())

    def time(column: str) -> Any:
        return table[column].cast("float64").sum()

    found = table.group_by(["system", "sysplex", "subsystem", "tran", "quarter"]).aggregate(
        utc_offset=table.utc_offset.max(),
        records=table.count().cast("float64"),
        transactions=ended.cast("int64").sum().cast("float64"),
        abends=abended.cast("int64").sum().cast("float64"),
        response_seconds=response.sum(),
        response_squares=(response * response).sum(),
        longest_seconds=response.max(),
        program=_same(table.pgmname),
        service_class=_same(table.srvclsnm),
        report_class=_same(table.rptclsnm),
        **{f.name: time(_clock(f.field)) for f in _CLOCKS},
        **{f"{wait.name}_seconds": time(_clock(wait.field)) for wait in WAITS},
        **{f"{wait.name}_waits": time(_events(wait.field)) for wait in WAITS},
        **{f.name: time(f.column) for f in _COUNTS},
        **{f.name: table[f.column].cast("float64").max() for f in _PEAKS},
    )
    found = found.left_join(whole, ["system", "subsystem"], rname="{name}_whole")
    end = found.quarter + ibis.interval(seconds=_QUARTER)
    first = ibis.greatest(found.quarter, ibis.coalesce(found.covered_from, found.quarter))
    last = ibis.least(end, ibis.coalesce(found.covered_to, end))
    return found.mutate(
        interval=found.quarter,
        interval_start=first,
        interval_end=last,
        interval_seconds=last.delta(first, unit="microsecond").cast("float64") / 1e6,
        applid=found.subsystem,
        transaction=found.tran,
    )
