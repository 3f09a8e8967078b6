"""The log of a queue manager: requests, buffers, writes, archive (SMF 115-1 QJST)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.fields import Field
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import PAGE_BYTES, common, plain, statistics
from plexlens.metrics.unit import (
    MIB,
    SECONDS,
)

_FIELDS = (
    Field("wait_requests", "Log write requests that wait", "QJSTWRW"),
    Field("nowait_requests", "Log write requests that do not wait", "QJSTWRNW"),
    Field("force_requests", "Log write requests that force", "QJSTWRF"),
    Field("buffer_waits", "Waits for a log buffer", "QJSTWTB"),
    Field("reads_from_buffer", "Log reads from the output buffer", "QJSTRBUF"),
    Field("reads_from_active", "Log reads from an active log", "QJSTRACT"),
    Field("reads_from_archive", "Log reads from an archive log", "QJSTRARH"),
    Field("reads_delayed_tape", "Log reads delayed by tape volume contention", "QJSTTVC"),
    Field("reads_delayed_units", "Log reads delayed by the unit limit (MAXRTU)", "QJSTWUR"),
    Field("bsds_accesses", "BSDS accesses", "QJSTBSDS"),
    Field("intervals_created", "Control intervals filled", "QJSTBFFL"),
    Field("buffer_writes", "Calls that wrote log buffers", "QJSTBFWR"),
    Field("archive_reads", "Archive logs allocated for read", "QJSTALR"),
    Field("archive_writes", "Archive logs allocated for write", "QJSTALW"),
    Field("intervals_offloaded", "Control intervals offloaded", "QJSTCIOF"),
    Field("checkpoints", "Checkpoints by LOGLOAD", "QJSTLLCP"),
    Field("suspended_requests", "Log write requests suspended", "QJSTLSUS"),
    Field("write_ios", "Log write I/Os, both copies", "QJSTLOGW"),
    Field("intervals_written", "Control intervals written, both copies", "QJSTCIWR"),
    Field("serial_writes", "Serial rewrites of control intervals", "QJSTSERW"),
    Field("threshold_writes", "Writes because the buffer threshold was reached", "QJSTTHRW"),
    Field("buffers_paged_in", "Log buffers paged in before a write", "QJSTBPAG"),
    Field("compressions", "Compression requests", "QJSTCMPREQ"),
    Field("failed_compressions", "Compression requests that failed", "QJSTCMPFAIL"),
    Field("bytes_before_compression", "Bytes before compression", "QJSTCMPUNCMP", MIB),
    Field("bytes_after_compression", "Bytes after compression", "QJSTCMPCOMP", MIB),
    Field("idle_seconds", "Log writer idle", "QJSTSLPTU", SECONDS),
    Field("zhyperlink_single_tries", "zHyperLink single writes tried", "QJSTHLSCIW"),
    Field("zhyperlink_multi_tries", "zHyperLink multiple writes tried", "QJSTHLMCIW"),
    Field("zhyperlink_single_writes", "zHyperLink single writes done", "QJSTHLSCIS"),
    Field("zhyperlink_multi_writes", "zHyperLink multiple writes done", "QJSTHLMCIS"),
)

#: Elements of the array QJSTIO: log copy, control intervals per write, second subscript.
_ELEMENTS = ((1, "single", 1), (1, "multiple", 2), (2, "single", 1), (2, "multiple", 2))


def _log_bytes(table: Any) -> Any:
    return table.qjstbffl.cast("float64") * PAGE_BYTES


def _logs(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf115_1_qjst", _FIELDS)
    return plain(table, _FIELDS, log_bytes=_log_bytes(table))


def _log_writes(inputs: Inputs) -> Any:
    facts = {
        "writes": "count",
        "control_intervals": "ci",
        "io_seconds": "totio",
        "suspend_seconds": "totsus",
        "longest_io_seconds": "maxio",
        "longest_suspend_seconds": "maxsus",
    }
    elements = [
        (copy, kind, {fact: f"qjstio{stem}_{copy}_{number}" for fact, stem in facts.items()})
        for copy, kind, number in _ELEMENTS
    ]
    table = inputs.table("smf115_1_qjst", *(field for _, _, fields in elements for field in fields.values()))
    entries = ibis.array(
        [
            ibis.struct(
                {"log_copy": ibis.literal(str(copy)), "kind": ibis.literal(kind)}
                | {fact: table[field].cast("float64") for fact, field in fields.items()}
            )
            for copy, kind, fields in elements
        ]
    )
    table = table.select(**common(table), entry=entries.unnest())
    table = table.mutate(**{name: table.entry[name] for name in ("log_copy", "kind", *facts)}).drop("entry")
    # A record of a release before the fields, and a copy that is not kept, give no row.
    return table.filter(table.writes.notnull() & ((table.writes > 0) | (table.log_copy == "1")))
