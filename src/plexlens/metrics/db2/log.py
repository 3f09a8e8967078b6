"""The log of one Db2 (SMF 100 IFCID 1: QJST)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import common, intervals
from plexlens.metrics.fields import Field, columns_of
from plexlens.metrics.inputs import Inputs

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
