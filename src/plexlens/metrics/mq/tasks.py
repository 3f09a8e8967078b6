"""Tasks that used a queue manager: commits, log, latches, Db2, coupling facility (SMF 116-1 WTAS); class 1 (116-0)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import total
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.mq.application import accounting, application_type, program, with_application
from plexlens.metrics.mq.calls import queue_call_columns
from plexlens.metrics.unit import MIB, MICROSECONDS, MILLISECONDS, SECONDS

_FIELDS = (
    Field("commits", "Commits", "WTASCMN"),
    Field("commit_elapsed_seconds", "Elapsed time of commits", "WTASCMET", SECONDS),
    Field("commit_cpu_seconds", "CPU time of commits", "WTASCMCT", SECONDS),
    Field("backouts", "Backouts", "WTASBAN"),
    Field("backout_elapsed_seconds", "Elapsed time of backouts", "WTASBAET", SECONDS),
    Field("backout_cpu_seconds", "CPU time of backouts", "WTASBACT", SECONDS),
    Field("prepares", "Prepares", "WTASPRN"),
    Field("prepare_elapsed_seconds", "Elapsed time of prepares", "WTASPRET", SECONDS),
    Field("prepare_cpu_seconds", "CPU time of prepares", "WTASPRCT", SECONDS),
    Field("other_calls", "Other MQI calls", "WTASOTN"),
    Field("other_elapsed_seconds", "Elapsed time of other MQI calls", "WTASOTET", SECONDS),
    Field("other_cpu_seconds", "CPU time of other MQI calls", "WTASOTCT", SECONDS),
    Field("log_writes", "Log writes", "WTASJWN"),
    Field("log_seconds", "Time of log writes", "WTASJWET", SECONDS),
    Field("log_bytes", "Bytes logged", "WTASJWB", MIB),
    Field("forced_log_writes", "Forced log writes", "WTASJCN"),
    Field("forced_log_seconds", "Time of forced log writes", "WTASJCET", SECONDS),
    Field("suspends", "Suspends", "WTASSUSN"),
    Field("suspend_seconds", "Time suspended", "WTASSUSE", SECONDS),
    Field("longest_latch_seconds", "Longest latch wait", "WTASMLW", MICROSECONDS, Rollup.PEAK),
    Field("page_set_0_requests", "Page set 0 log requests", "WTASPSN0"),
    Field("page_set_0_seconds", "Time of page set 0 log requests", "WTASPSE0", SECONDS),
    Field("db2_requests", "Db2 requests", "WTASDBCT"),
    Field("db2_seconds", "Db2 elapsed time, thread", "WTASDBET", SECONDS),
    Field("db2_server_seconds", "Db2 elapsed time, server", "WTASDBES", SECONDS),
    Field("longest_db2_seconds", "Longest Db2 request", "WTASDBMT", MILLISECONDS, Rollup.PEAK),
    Field("structure_single_calls", "Structure calls, single entry", "WTASCSEC"),
    Field("structure_multiple_calls", "Structure calls, multiple entry", "WTASCMEC"),
    Field("structure_single_redrives", "Redrives, single entry", "WTASRSEC"),
    Field("structure_multiple_redrives", "Redrives, multiple entry", "WTASRMEC"),
    Field("structure_single_seconds", "Time in structure calls, single entry", "WTASSSTC", SECONDS),
    Field("structure_multiple_seconds", "Time in structure calls, multiple entry", "WTASMSTC", SECONDS),
    Field("shared_reads_saved", "Shared data set reads saved by buffers", "WTASSMRS"),
    Field("shared_read_bytes", "Shared data set bytes read", "WTASSMRB", MIB),
    Field("shared_write_bytes", "Shared data set bytes written", "WTASSMWB", MIB),
    Field("shared_wait_seconds", "Shared data set I/O wait", "WTASSMWT", SECONDS),
    Field("page_gets_old", "Page gets, contents wanted", "WTASGPO"),
    Field("page_gets_new", "Page gets, new page", "WTASGPN"),
    Field("pool_latch_wait_seconds", "Wait for buffer pool latches", "WTASPBHW", SECONDS),
    Field("pool_latch_held_seconds", "Buffer pool latches held", "WTASPBTT", SECONDS),
)

#: Elapsed and CPU time of further calls of the task block.
_FURTHER_CALLS = {
    "calls": ("wtassun", "wtassqn", "wtasctn", "wtasstn"),
    "elapsed_seconds": ("wtassuet", "wtassqet", "wtasctet", "wtasstet"),
    "cpu_seconds": ("wtassuct", "wtassqct", "wtasctct", "wtasstct"),
}

_LATCHES = range(1, 33)


def _longest_latch_wait(table: Any, longest: tuple[str, ...]) -> Any:
    """WTASMLW, or, where it cannot be, the greatest of the longest waits for each latch, which MQ 10.0 adds."""
    recorded = table.wtasmlw.cast("float64")
    of_latches = ibis.greatest(*(table[name].cast("float64") for name in longest))
    return ibis.ifelse(recorded.isnan() & (of_latches > 0), of_latches, recorded)


def _tasks(inputs: Inputs) -> Any:
    latch_seconds = tuple(f"wtaslwet_{number}" for number in _LATCHES)
    latch_waits = tuple(f"wtaslwn_{number}" for number in _LATCHES)
    longest = tuple(f"wtaslmax_{number}" for number in _LATCHES)
    further = tuple(name for names in _FURTHER_CALLS.values() for name in names)
    table = inputs.table("smf116_1_wtas", *names_of(_FIELDS), *latch_seconds, *latch_waits, *longest, *further)
    table = table.mutate(wtasmlw=_longest_latch_wait(table, longest))
    table = with_application(inputs, table)
    tasks = table.select(
        **accounting(table),
        **columns_of(table, _FIELDS),
        tasks=ibis.literal(1.0),
        task_seconds=table.task_end.delta(table.task_start, unit="microsecond").cast("float64") / 1e6,
        latch_waits=total(*(table[name] for name in latch_waits)),
        latch_seconds=total(*(table[name] for name in latch_seconds)),
        calls=total(
            table.wtascmn, table.wtasban, table.wtasprn, table.wtasotn, *(table[n] for n in _FURTHER_CALLS["calls"])
        ),
        elapsed_seconds=total(
            table.wtascmet,
            table.wtasbaet,
            table.wtaspret,
            table.wtasotet,
            *(table[n] for n in _FURTHER_CALLS["elapsed_seconds"]),
        ),
        cpu_seconds=total(
            table.wtascmct,
            table.wtasbact,
            table.wtasprct,
            table.wtasotct,
            *(table[n] for n in _FURTHER_CALLS["cpu_seconds"]),
        ),
    )
    if not inputs.has("smf116_1_wq"):
        return tasks
    # Calls to queues lie in blocks of their own, some of them in continuation records: rows beside the task's.
    columns = {fact: queue_call_columns(fact) for fact in ("calls", "elapsed_seconds", "cpu_seconds")}
    queues = inputs.table("smf116_1_wq", *(name for names in columns.values() for name in names))
    queues = with_application(inputs, queues)
    sums = {fact: total(*(queues[name] for name in names)) for fact, names in columns.items()}
    blocks = queues.select(
        **accounting(queues),
        **{name: ibis.null("float64") for name in tasks.columns if name not in {*accounting(queues), *sums}},
        **sums,
    )
    return tasks.union(blocks.select(*tasks.columns))


_MESSAGE_FIELDS = (
    Field("cpu_seconds", "CPU time of MQI calls", "QMACCPUT", SECONDS),
    Field("puts_to_99", "Puts of 0 to 99 bytes", "QMACPUTA"),
    Field("puts_to_999", "Puts of 100 to 999 bytes", "QMACPUTB"),
    Field("puts_to_9999", "Puts of 1,000 to 9,999 bytes", "QMACPUTC"),
    Field("puts_longer", "Puts of 10,000 bytes or more", "QMACPUTD"),
    Field("gets_to_99", "Gets of 0 to 99 bytes", "QMACGETA"),
    Field("gets_to_999", "Gets of 100 to 999 bytes", "QMACGETB"),
    Field("gets_to_9999", "Gets of 1,000 to 9,999 bytes", "QMACGETC"),
    Field("gets_longer", "Gets of 10,000 bytes or more", "QMACGETD"),
)


def _threads(inputs: Inputs) -> Any:
    message = inputs.table("smf116_0_qmac", *names_of(_MESSAGE_FIELDS))
    who = inputs.table("smf116_qwhc", "qwhcatyp", text=("qwhccn", "qwhcopid", "qwhccv"))
    who = who.select(*RECORD, "qwhcatyp", "qwhccn", "qwhcopid", "qwhccv")
    times = inputs.table(
        "smf116_0_qwac",
        "qwacbjst",
        "qwacejst",
        "qwacbsrb",
        "qwacesrb",
        "qwaccomm",
        "qwacback",
        text=("qwacbsc", "qwacesc"),
    ).drop("system", "sysplex", "subsystem", "interval_start", "interval_end", "utc_offset", "section_no")
    table = message.left_join(who, list(RECORD)).drop("source_id_right", "record_no_right")
    table = table.left_join(times, list(RECORD)).drop("source_id_right", "record_no_right")
    begin, end = table.qwacbsc.cast("timestamp('UTC')"), table.qwacesc.cast("timestamp('UTC')")
    return table.select(
        system=table.system,
        sysplex=table.sysplex,
        interval_start=begin,
        interval_end=end,
        queue_manager=table.subsystem,
        connection=table.qwhccn,
        application_type=application_type(table.qwhcatyp),
        program=program(table.qwhcatyp, table.qwhccv),
        user=table.qwhcopid,
        threads=ibis.literal(1.0),
        thread_seconds=end.delta(begin, unit="microsecond").cast("float64") / 1e6,
        tcb_seconds=table.qwacejst.cast("float64") - table.qwacbjst.cast("float64"),
        srb_seconds=table.qwacesrb.cast("float64") - table.qwacbsrb.cast("float64"),
        commits=table.qwaccomm.cast("float64"),
        backouts=table.qwacback.cast("float64"),
        **columns_of(table, _MESSAGE_FIELDS),
    )
