"""The log of a queue manager: requests, buffers, writes, archive (SMF 115-1 QJST)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import INTERVAL, PAGE_BYTES, QUEUE_MANAGER, common, document, plain, statistics
from plexlens.metrics.unit import (
    BYTES_PER_SECOND,
    COUNT,
    FRACTION,
    MEAN_COUNT,
    MIB,
    MILLISECONDS,
    PER_SECOND,
    RATIO,
    SECONDS,
)

_LOG = document("Log manager data records (QJST)")
_MACRO = "IBM MQ mapping macro CSQDQJST (SCSQMACS)"

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


LOG = Grain(
    name="mq_log",
    title="MQ log",
    row="the log of one queue manager in one interval",
    keys=(QUEUE_MANAGER,),
    facts=(
        INTERVAL,
        *facts_of("SMF 115-1", _FIELDS),
        Fact("log_bytes", "Bytes logged", MIB, Rollup.COUNT, "SMF 115-1 QJSTBFFL x 4096"),
    ),
    sources=(Source("SMF 115", ("smf115_1_qjst",), _logs),),
    metrics=(
        Metric(
            "write_requests_per_second",
            "Log write requests",
            PER_SECOND,
            "(QJSTWRW + QJSTWRNW + QJSTWRF) / interval",
            _LOG + ", N logwrite",
            lambda f: ratio(total(f.wait_requests, f.nowait_requests, f.force_requests), f.interval_seconds),
            "QJSTWRW is zero in current releases.",
        ),
        per_second("force_requests_per_second", "Forced log writes requested", "force_requests", "QJSTWRF", _LOG),
        Metric(
            "log_bytes_per_second",
            "Data logged",
            BYTES_PER_SECOND,
            "QJSTBFFL x 4096 / interval",
            _LOG,
            lambda f: ratio(f.log_bytes, f.interval_seconds),
            "Full control intervals, each counted once however many copies are kept or rewrites were needed.",
        ),
        Metric(
            "written_bytes_per_second",
            "Data written to log data sets",
            BYTES_PER_SECOND,
            "QJSTCIWR x 4096 / interval",
            _LOG,
            lambda f: ratio(f.intervals_written * float(PAGE_BYTES), f.interval_seconds),
            "Both copies, and each rewrite of a partly filled control interval.",
        ),
        per_second(
            "write_ios_per_second", "Log write I/Os", "write_ios", "QJSTLOGW", _LOG, caveat="Both copies together."
        ),
        per_event(
            "intervals_per_write",
            "Control intervals per write I/O",
            MEAN_COUNT,
            ("intervals_written", "QJSTCIWR"),
            ("write_ios", "QJSTLOGW"),
            source=_LOG,
        ),
        per_event(
            "writes_per_interval",
            "Writes of a control interval",
            MEAN_COUNT,
            ("intervals_written", "QJSTCIWR"),
            ("intervals_created", "QJSTBFFL"),
            source=_LOG,
            caveat="Two copies count as two. What exceeds the number of copies is rewriting of partly filled control "
            "intervals by frequent commits.",
        ),
        per_second(
            "buffer_waits_per_second",
            "Waits for a log buffer",
            "buffer_waits",
            "QJSTWTB",
            _LOG,
            caveat="Should be zero: else OUTBUFF is too small or the active log too slow.",
        ),
        per_second("buffers_paged_in_per_second", "Log buffers paged in", "buffers_paged_in", "QJSTBPAG", _LOG),
        Metric(
            "writer_busy_fraction",
            "Log writer busy",
            FRACTION,
            "1 - QJSTSLPTU / interval",
            _MACRO,
            lambda f: 1.0 - ratio(f.idle_seconds, f.interval_seconds),
            "One task writes the log: near 100 % it is the limit of the queue manager's persistent message rate.",
        ),
        Metric(
            "reads_per_write_request",
            "Log reads per write request",
            RATIO,
            "(QJSTRBUF + QJSTRACT + QJSTRARH) / (QJSTWRW + QJSTWRNW + QJSTWRF)",
            _LOG + ", N logread / N logwrite",
            lambda f: ratio(
                total(f.reads_from_buffer, f.reads_from_active, f.reads_from_archive),
                total(f.wait_requests, f.nowait_requests, f.force_requests),
            ),
            "How much work had to be backed out.",
        ),
        Metric(
            "archive_read_fraction",
            "Log reads from archive logs",
            FRACTION,
            "QJSTRARH / (QJSTRBUF + QJSTRACT + QJSTRARH)",
            _LOG + ", symptom 3",
            lambda f: ratio(
                f.reads_from_archive, total(f.reads_from_buffer, f.reads_from_active, f.reads_from_archive)
            ),
        ),
        Metric(
            "delayed_read_fraction",
            "Log reads delayed by tape contention",
            FRACTION,
            "QJSTTVC / (QJSTRBUF + QJSTRACT + QJSTRARH)",
            _LOG + ", symptom 2",
            lambda f: ratio(
                f.reads_delayed_tape, total(f.reads_from_buffer, f.reads_from_active, f.reads_from_archive)
            ),
            "Above 1 %: increase MAXRTU.",
        ),
        Metric(
            "checkpoint_gap",
            "Time between checkpoints",
            SECONDS,
            "interval / QJSTLLCP",
            _LOG + ", symptom 4",
            lambda f: ratio(f.interval_seconds, f.checkpoints),
            "Checkpoints that LOGLOAD caused; log switches cause others. Many in an interval: increase LOGLOAD.",
        ),
        Metric(
            "compression_ratio",
            "Compressed to",
            FRACTION,
            "QJSTCMPCOMP / QJSTCMPUNCMP",
            _LOG,
            lambda f: ratio(f.bytes_after_compression, f.bytes_before_compression),
        ),
        Metric(
            "zhyperlink_fraction",
            "zHyperLink writes that were done",
            FRACTION,
            "(QJSTHLSCIS + QJSTHLMCIS) / (QJSTHLSCIW + QJSTHLMCIW)",
            _LOG,
            lambda f: ratio(
                total(f.zhyperlink_single_writes, f.zhyperlink_multi_writes),
                total(f.zhyperlink_single_tries, f.zhyperlink_multi_tries),
            ),
        ),
    ),
)


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


LOG_WRITE = Grain(
    name="mq_log_write",
    title="MQ log writes",
    row="writes of one kind to one copy of the log of one queue manager in one interval",
    keys=(QUEUE_MANAGER, Key("log_copy", "Log copy"), Key("kind", "Control intervals per write")),
    facts=(
        INTERVAL,
        Fact("writes", "Writes", COUNT, Rollup.COUNT, "SMF 115-1 QJSTIOCOUNT"),
        Fact("control_intervals", "Control intervals written", COUNT, Rollup.COUNT, "SMF 115-1 QJSTIOCI"),
        Fact("io_seconds", "I/O time", SECONDS, Rollup.COUNT, "SMF 115-1 QJSTIOTOTIO"),
        Fact("suspend_seconds", "Suspend time", SECONDS, Rollup.COUNT, "SMF 115-1 QJSTIOTOTSUS"),
        Fact("longest_io_seconds", "Longest I/O", MILLISECONDS, Rollup.PEAK, "SMF 115-1 QJSTIOMAXIO"),
        Fact("longest_suspend_seconds", "Longest suspend", MILLISECONDS, Rollup.PEAK, "SMF 115-1 QJSTIOMAXSUS"),
    ),
    sources=(Source("SMF 115", ("smf115_1_qjst",), _log_writes),),
    metrics=(
        per_second("writes_per_second", "Writes", "writes", "QJSTIOCOUNT", _LOG),
        per_event(
            "intervals_per_write",
            "Control intervals per write",
            MEAN_COUNT,
            ("control_intervals", "QJSTIOCI"),
            ("writes", "QJSTIOCOUNT"),
            source=_LOG,
        ),
        per_event(
            "io_time",
            "I/O time of a write",
            MILLISECONDS,
            ("io_seconds", "QJSTIOTOTIO"),
            ("writes", "QJSTIOCOUNT"),
            source=_MACRO,
            caveat="From the start of the I/O to its end.",
        ),
        per_event(
            "suspend_time",
            "Suspend time of a write",
            MILLISECONDS,
            ("suspend_seconds", "QJSTIOTOTSUS"),
            ("writes", "QJSTIOCOUNT"),
            source=_MACRO,
            caveat="I/O time and what the log writer lost until it ran again; far above the I/O time: shortage of CPU.",
        ),
        Metric(
            "written_bytes_per_second",
            "Data written",
            BYTES_PER_SECOND,
            "QJSTIOCI x 4096 / interval",
            _LOG,
            lambda f: ratio(f.control_intervals * float(PAGE_BYTES), f.interval_seconds),
        ),
    ),
)
