"""CICS transactions, from the performance records of CICS monitoring (SMF 110-1): response, CPU by TCB, waits.

A record is one task, or a part of a long one: the kind of record (RTYPE) says which, and only the record that ends a
task counts it. Records are far too many to be kept one by one, so they are added up by quarter of an hour of their end.
The first and the last quarter are as long as the records reach.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.cics.records import APPLID, document
from plexlens.metrics.cics.waits import CAUSES, DISPATCH, WAITS, Wait
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, standard_deviation, total
from plexlens.metrics.fields import Field, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import (
    COUNT,
    FRACTION,
    MEAN_COUNT,
    MIB,
    MILLISECONDS,
    PROCESSORS,
    SECONDS,
    SQUARE_SECONDS,
    Unit,
)

_TABLE = "smf110_1_performance"
_DATA = document("Performance data: {}")
_RESPONSE = document("Transaction response time")
_CPU = document("Transaction dispatch time and CPU time")
_OFFLOAD = document("Performance data in group DFHTASK") + " (CPUTONCP, OFFLCPUT)"
_WAITS = document("Transaction wait (suspend) times")

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


def _wait_facts(wait: Wait) -> tuple[Fact, Fact]:
    part = f" (part of {wait.within})" if wait.within else ""
    return (
        Fact(
            f"{wait.name}_seconds", f"Wait: {wait.title}{part}", SECONDS, Rollup.COUNT, f"SMF 110-1 {wait.field}, time"
        ),
        Fact(f"{wait.name}_waits", f"Waits: {wait.title}", COUNT, Rollup.COUNT, f"SMF 110-1 {wait.field}, count"),
    )


def _wait_metric(wait: Wait) -> Metric:
    within = f"Part of {wait.within}." if wait.within else ""
    return per_event(
        f"{wait.name}_wait_time",
        f"Wait per transaction: {wait.title}",
        MILLISECONDS,
        (f"{wait.name}_seconds", wait.field),
        ("transactions", "tasks"),
        source=_WAITS,
        caveat=within,
    )


def _per_task(name: str, title: str, unit: Unit, amount: tuple[str, str], source: str, *, caveat: str = "") -> Metric:
    return per_event(name, title, unit, amount, ("transactions", "tasks"), source=source, caveat=caveat)


#: Waits that do not overlap one another: what they leave of the suspended time has no cause of its own here.
_KNOWN = tuple(w for w in (*DISPATCH, *CAUSES) if not w.within)


def _specialty(f: Any) -> Any:
    """CPU time on specialty engines, as it is in USRCPUT."""
    return f.cpu_seconds - f.cp_cpu_seconds


TRANSACTION = Grain(
    name="cics_transaction",
    title="CICS transactions",
    row="the tasks of one transaction in one region that ended in one quarter of an hour",
    keys=(APPLID, Key("transaction", "Transaction")),
    attributes=(
        Attribute("program", "Program"),
        Attribute("service_class", "Service class"),
        Attribute("report_class", "Report class"),
    ),
    facts=(
        Fact(
            "interval_seconds",
            "Time covered",
            SECONDS,
            Rollup.SPAN,
            "SMF 110-1 START, STOP: the quarter of an hour, cut at the first and last record",
        ),
        Fact("transactions", "Transactions ended", COUNT, Rollup.COUNT, "SMF 110-1, records of RTYPE T"),
        Fact("records", "Performance records", COUNT, Rollup.COUNT, "SMF 110-1"),
        Fact("abends", "Transactions abended", COUNT, Rollup.COUNT, "SMF 110-1 ABCODEC, ABCODEO"),
        Fact("response_seconds", "Response time", SECONDS, Rollup.COUNT, "SMF 110-1 STOP - START"),
        Fact("response_squares", "Squared response time", SQUARE_SECONDS, Rollup.COUNT, "SMF 110-1 STOP - START"),
        Fact("longest_seconds", "Longest response time", SECONDS, Rollup.PEAK, "SMF 110-1 STOP - START"),
        *facts_of("SMF 110-1", _CLOCKS),
        *(fact for wait in WAITS for fact in _wait_facts(wait)),
        *facts_of("SMF 110-1", _COUNTS),
        *facts_of("SMF 110-1", _PEAKS),
    ),
    sources=(Source("SMF 110-1", (_TABLE,), _transactions),),
    metrics=(
        per_second(
            "transactions_per_second",
            "Transactions",
            "transactions",
            "tasks",
            _RESPONSE,
            caveat="Over the time from the first to the last record of the region.",
        ),
        _per_task(
            "response_time",
            "Response time",
            MILLISECONDS,
            ("response_seconds", "Σ (STOP - START)"),
            _RESPONSE,
            caveat="Of a conversation or a long task, all its records together.",
        ),
        Metric(
            "longest_response",
            "Longest response time",
            MILLISECONDS,
            "max (STOP - START)",
            _RESPONSE,
            lambda f: f.longest_seconds,
            "Of one record: long tasks can have several.",
        ),
        Metric(
            "response_deviation",
            "Response time, standard deviation",
            MILLISECONDS,
            "√(Σ(STOP - START)² / records - (Σ(STOP - START) / records)²)",
            _RESPONSE,
            lambda f: standard_deviation(f.response_squares, f.response_seconds, f.records),
        ),
        _per_task(
            "dispatch_time", "Dispatched time per transaction", MILLISECONDS, ("dispatch_seconds", "USRDISPT"), _CPU
        ),
        _per_task("cpu_time", "CPU time per transaction", MILLISECONDS, ("cpu_seconds", "USRCPUT"), _CPU),
        _per_task("suspend_time", "Suspended per transaction", MILLISECONDS, ("suspend_seconds", "SUSPTIME"), _WAITS),
        per_event(
            "processors",
            "Processors used",
            PROCESSORS,
            ("cpu_seconds", "USRCPUT"),
            ("interval_seconds", "time covered"),
            source=_CPU,
        ),
        per_event(
            "cpu_dispatch_ratio",
            "CPU to dispatch ratio",
            FRACTION,
            ("cpu_seconds", "USRCPUT"),
            ("dispatch_seconds", "USRDISPT"),
            source=_CPU,
        ),
        per_event(
            "qr_cpu_dispatch_ratio",
            "QR CPU to dispatch ratio",
            FRACTION,
            ("qr_cpu_seconds", "QRCPUT"),
            ("qr_dispatch_seconds", "QRDISPT"),
            source=_CPU,
            caveat="Dispatched without CPU: waiting for a processor, a lock or a page. Of value when it stays low.",
        ),
        _per_task("qr_cpu_time", "CPU time on the QR TCB", MILLISECONDS, ("qr_cpu_seconds", "QRCPUT"), _CPU),
        _per_task("l8_cpu_time", "CPU time on L8 TCBs", MILLISECONDS, ("l8_cpu_seconds", "L8CPUT"), _CPU),
        Metric(
            "open_cpu_time",
            "CPU time on open TCBs",
            MILLISECONDS,
            "(KY8CPUT + KY9CPUT) / tasks",
            _CPU,
            lambda f: ratio(total(f.key8_cpu_seconds, f.key9_cpu_seconds), f.transactions),
        ),
        _per_task("other_cpu_time", "CPU time on other TCBs", MILLISECONDS, ("other_cpu_seconds", "MSCPUT"), _CPU),
        _per_task("rls_cpu_time", "SRB time of RLS", MILLISECONDS, ("rls_cpu_seconds", "RLSCPUT"), _CPU),
        per_event(
            "qr_cpu_fraction",
            "CPU time on the QR TCB",
            FRACTION,
            ("qr_cpu_seconds", "QRCPUT"),
            ("cpu_seconds", "USRCPUT"),
            source=_CPU,
            caveat="What is not on the QR TCB can run on other processors at the same time.",
        ),
        Metric(
            "specialty_seconds",
            "CPU time on specialty engines",
            SECONDS,
            "USRCPUT - CPUTONCP",
            _OFFLOAD,
            _specialty,
            "Normalized to the speed of a standard processor.",
        ),
        Metric(
            "specialty_fraction",
            "CPU time on specialty engines",
            FRACTION,
            "(USRCPUT - CPUTONCP) / USRCPUT",
            _OFFLOAD,
            lambda f: ratio(_specialty(f), f.cpu_seconds),
        ),
        Metric(
            "eligible_fraction",
            "CPU time that a specialty engine could do",
            FRACTION,
            "(USRCPUT - CPUTONCP + OFFLCPUT) / USRCPUT",
            _OFFLOAD,
            lambda f: ratio(_specialty(f) + f.eligible_cpu_seconds, f.cpu_seconds),
        ),
        Metric(
            "spilled_fraction",
            "Eligible time that ran on standard processors",
            FRACTION,
            "OFFLCPUT / (USRCPUT - CPUTONCP + OFFLCPUT)",
            _OFFLOAD,
            lambda f: ratio(f.eligible_cpu_seconds, _specialty(f) + f.eligible_cpu_seconds),
        ),
        per_event(
            "suspend_fraction",
            "Response time suspended",
            FRACTION,
            ("suspend_seconds", "SUSPTIME"),
            ("response_seconds", "Σ (STOP - START)"),
            source=_WAITS,
        ),
        per_event(
            "dispatch_fraction",
            "Response time dispatched",
            FRACTION,
            ("dispatch_seconds", "USRDISPT"),
            ("response_seconds", "Σ (STOP - START)"),
            source=_CPU,
        ),
        *(_wait_metric(wait) for wait in WAITS),
        Metric(
            "unknown_wait_time",
            "Wait per transaction: other causes",
            MILLISECONDS,
            "(SUSPTIME - first dispatch - the waits with a clock of their own) / tasks",
            _WAITS,
            lambda f: ratio(
                ibis.greatest(
                    f.suspend_seconds
                    - total(f.first_dispatch_seconds, *(f[f"{wait.name}_seconds"] for wait in _KNOWN)).fill_null(0.0),
                    0.0,
                ),
                f.transactions,
            ),
            "Waits can overlap: then nothing is left, and it shows zero.",
        ),
        _per_task(
            "db2_requests_per_task", "Db2 requests", MEAN_COUNT, ("db2_requests", "DB2REQCT"), _DATA.format("DFHDATA")
        ),
        _per_task("db2_time", "Time in Db2", MILLISECONDS, ("db2_seconds", "RMIDB2"), _DATA.format("DFHRMI")),
        _per_task(
            "mq_requests_per_task", "MQ requests", MEAN_COUNT, ("mq_requests", "WMQREQCT"), _DATA.format("DFHDATA")
        ),
        _per_task(
            "file_requests_per_task", "File requests", MEAN_COUNT, ("file_requests", "FCTOTCT"), _DATA.format("DFHFILE")
        ),
        _per_task(
            "commands_per_task", "EXEC CICS commands", MEAN_COUNT, ("commands", "EICTOTCT"), _DATA.format("DFHCICS")
        ),
        _per_task(
            "sync_point_time",
            "Time in sync points",
            MILLISECONDS,
            ("sync_point_seconds", "SYNCTIME"),
            _DATA.format("DFHSYNC"),
        ),
        per_event(
            "abend_fraction",
            "Transactions abended",
            FRACTION,
            ("abends", "tasks with ABCODEC or ABCODEO"),
            ("transactions", "tasks"),
            source=_DATA.format("DFHPROG"),
        ),
    ),
)

__all__ = ["TRANSACTION", "tasks"]
