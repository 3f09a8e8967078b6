"""The log of one Db2 (SMF 100 IFCID 1: QJST)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2 import text_reports
from plexlens.metrics.db2.records import ATTRIBUTES, INTERVAL, SUBSYSTEM, common, document, intervals, report
from plexlens.metrics.definition import Grain, Metric, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import BYTES_PER_SECOND, FRACTION, MEAN_COUNT, PER_SECOND

_BLOCK = report("log activity")
_TUNING = document("Improving log performance")

#: A control interval of the log.
_INTERVAL_BYTES = 4096

# Counters that two published readers place alike: a fall of one means that Db2 started.
_WITNESSES = ("qjstwrw", "qjstwrnw", "qjstbffl", "qjstrbuf", "qjstract")

FIELDS = (
    Field("reads_output_buffer", "Log reads from output buffers", "QJSTRBUF"),
    Field("reads_active_log", "Log reads from the active log", "QJSTRACT"),
    Field("reads_archive_log", "Log reads from archive logs", "QJSTRARH"),
    Field("tape_contention_waits", "Reads delayed by tape contention", "QJSTTVC"),
    Field("reads_delayed", "Reads delayed, resource unavailable", "QJSTWUR"),
    Field("archive_read_allocations", "Archive logs allocated to read", "QJSTALR"),
    Field("archive_write_allocations", "Archive logs allocated to write", "QJSTALW"),
    Field("control_intervals_offloaded", "Control intervals offloaded", "QJSTCIOF"),
    Field("look_ahead_mounts", "Look-ahead mounts tried", "QJSTLAMA"),
    Field("look_ahead_mounts_done", "Look-ahead mounts done", "QJSTLAMS"),
    Field("output_buffer_unavailable", "Waits for an output buffer", "QJSTWTB"),
    Field("output_buffer_paged_in", "Output buffers paged in", "QJSTBPAG"),
    Field("writes_wait", "Write requests that wait", "QJSTWRW"),
    Field("records_created", "Log records created", "QJSTWRNW"),
    Field("writes_force", "Write requests that force", "QJSTWRF"),
    Field("control_intervals_created", "Control intervals created", "QJSTBFFL"),
    Field("write_requests", "Log write I/Os, both copies", "QJSTLOGW"),
    Field("control_intervals_written", "Control intervals written, both copies", "QJSTCIWR"),
    Field("serial_writes", "Serial write requests", "QJSTSERW"),
    Field("write_threshold", "Write threshold reached", "QJSTTHRW"),
    Field("write_suspensions", "Log write suspensions", "QJSTLSUS"),
    Field("bsds_accesses", "BSDS accesses", "QJSTBSDS"),
    Field("checkpoints_by_log", "Checkpoints triggered by the log", "QJSTLLCP"),
)


def _logs(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid1_qjst", FIELDS, witnesses=_WITNESSES)
    return table.select(**common(table), **columns_of(table, FIELDS))


def _reads(f: Any) -> Any:
    return total(f.reads_output_buffer, f.reads_active_log, f.reads_archive_log)


LOG = Grain(
    name="db2_log",
    title="Db2 log",
    row="the log of one Db2 in one interval",
    keys=(SUBSYSTEM,),
    attributes=ATTRIBUTES,
    facts=(INTERVAL, *facts_of("SMF 100 IFCID 1", FIELDS)),
    sources=(
        Source("SMF 100", ("smf100_ifcid1_qjst",), _logs),
        Source(text_reports.STATISTICS, ("text_db2_log",), text_reports.log),
    ),
    metrics=(
        Metric(
            "reads_per_second",
            "Log reads",
            PER_SECOND,
            "(QJSTRBUF + QJSTRACT + QJSTRARH) / interval",
            _BLOCK,
            lambda f: ratio(_reads(f), f.interval_seconds),
            "Many mean backouts or recovery.",
        ),
        per_second(
            "active_log_reads_per_second", "Log reads from the active log", "reads_active_log", "QJSTRACT", _BLOCK
        ),
        per_second(
            "archive_log_reads_per_second", "Log reads from archive logs", "reads_archive_log", "QJSTRARH", _BLOCK
        ),
        Metric(
            "output_buffer_read_fraction",
            "Log reads from output buffers",
            FRACTION,
            "QJSTRBUF / (QJSTRBUF + QJSTRACT + QJSTRARH)",
            f"{_BLOCK} (READS SATISFIED-OUTP.BUF)",
            lambda f: ratio(f.reads_output_buffer, _reads(f)),
        ),
        Metric(
            "active_log_read_fraction",
            "Log reads from the active log",
            FRACTION,
            "QJSTRACT / (QJSTRBUF + QJSTRACT + QJSTRARH)",
            f"{_BLOCK} (READS SATISFIED-ACTV.LOG)",
            lambda f: ratio(f.reads_active_log, _reads(f)),
        ),
        Metric(
            "archive_log_read_fraction",
            "Log reads from archive logs",
            FRACTION,
            "QJSTRARH / (QJSTRBUF + QJSTRACT + QJSTRARH)",
            f"{_BLOCK} (READS SATISFIED-ARCH.LOG)",
            lambda f: ratio(f.reads_archive_log, _reads(f)),
        ),
        per_second("records_per_second", "Log records created", "records_created", "QJSTWRNW", _BLOCK),
        per_second("write_ios_per_second", "Log write I/Os", "write_requests", "QJSTLOGW", _BLOCK),
        per_event(
            "control_intervals_per_write",
            "Control intervals per write I/O",
            MEAN_COUNT,
            ("control_intervals_written", "QJSTCIWR"),
            ("write_requests", "QJSTLOGW"),
            source=_BLOCK,
        ),
        Metric(
            "log_rate",
            "Log rate of one copy",
            BYTES_PER_SECOND,
            "QJSTCIWR x 4096 / 2 / interval",
            f"{_BLOCK} (LOG RATE FOR 1 LOG)",
            lambda f: ratio(f.control_intervals_written * (_INTERVAL_BYTES / 2), f.interval_seconds),
            "Takes dual logging for granted: with one log it is twice as much.",
        ),
        per_second("write_suspensions_per_second", "Log write suspensions", "write_suspensions", "QJSTLSUS", _BLOCK),
        per_second(
            "buffer_waits_per_second",
            "Waits for an output buffer",
            "output_buffer_unavailable",
            "QJSTWTB",
            f"{_TUNING}: output log buffers",
            caveat="More than a few mean that the output buffer (OUTBUFF) is too small.",
        ),
        per_second(
            "buffer_page_ins_per_second",
            "Output buffers paged in",
            "output_buffer_paged_in",
            "QJSTBPAG",
            f"{_TUNING}: output log buffers",
        ),
        per_second(
            "checkpoints_per_second", "Checkpoints triggered by the log", "checkpoints_by_log", "QJSTLLCP", _BLOCK
        ),
    ),
)
