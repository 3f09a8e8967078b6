"""The channel initiator and its tasks (SMF 115-231), and channels (SMF 116-10)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import total
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import common, plain, statistics
from plexlens.metrics.unit import (
    COUNT,
    MIB,
    MILLISECONDS,
    SECONDS,
)

_CONTROL_FIELDS = (
    Field("current_channels", "Current channels", "QCCTNOCC", COUNT, Rollup.LEVEL),
    Field("current_limit", "Current channel limit (MAXCHL)", "QCCTMXCC", COUNT, Rollup.AMOUNT),
    Field("active_channels", "Active channels", "QCCTNOAC", COUNT, Rollup.LEVEL),
    Field("active_limit", "Active channel limit (ACTCHL)", "QCCTMXAC", COUNT, Rollup.AMOUNT),
    Field("tcp_limit", "TCP channel limit (TCPCHL)", "QCCTMXTP", COUNT, Rollup.AMOUNT),
    Field("lu62_limit", "LU 6.2 channel limit (LU62CHL)", "QCCTMXLU", COUNT, Rollup.AMOUNT),
    Field("storage_31_bytes", "Storage in use below 2 GiB", "QCCTSTUS", MIB, Rollup.LEVEL),
    Field("storage_64_bytes", "Storage in use above 2 GiB", "QCCTSTAB", MIB, Rollup.LEVEL),
    Field("storage_64_limit_bytes", "Storage limit above 2 GiB", "QCCTSLIM", MIB, Rollup.AMOUNT),
)


def _initiators(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf115_231_qcct", _CONTROL_FIELDS, text=("qcctjobn", "qcctqsgn"))
    return plain(table, _CONTROL_FIELDS, job=table.qcctjobn, sharing_group=table.qcctqsgn)


_TASK_FIELDS = (
    Field("requests", "Requests", "QCTREQN"),
    Field("cpu_seconds", "CPU time", "QCTCPTM", SECONDS),
    Field("elapsed_seconds", "Time in requests", "QCTELTM", SECONDS),
    Field("wait_seconds", "Time waiting", "QCTWTTM", SECONDS),
)

#: Kind of task: table, and of what only some kinds have the facts and their fields.
_TASK_TABLES = {
    "dispatcher": ("smf115_231_qct_dsp", {"channels": "qctchln"}),
    "adapter": ("smf115_231_qct_adp", {}),
    "SSL": ("smf115_231_qct_ssl", {"longest_seconds": "qctlsdu"}),
    "DNS": ("smf115_231_qct_dns", {"longest_seconds": "qctlgdu"}),
}


def _tasks(inputs: Inputs) -> Any:
    parts = []
    for kind, (name, own) in _TASK_TABLES.items():
        if not inputs.has(name):
            continue
        table = statistics(inputs, name, _TASK_FIELDS, "qcttskn", *own.values())
        parts.append(
            table.select(
                **common(table),
                task_type=ibis.literal(kind),
                task=table.qcttskn.cast("int64").cast("string"),
                task_no=table.section_no.cast("string"),
                **columns_of(table, _TASK_FIELDS),
                **{
                    fact: table[own[fact]].cast("float64") if fact in own else ibis.null("float64")
                    for fact in ("channels", "longest_seconds")
                },
                tasks=ibis.literal(1.0),
            )
        )
    return ibis.union(*parts) if len(parts) > 1 else parts[0]


_CHANNEL_FIELDS = (
    Field("messages", "Messages or MQI calls", "QCSTNMSG"),
    Field("persistent_messages", "Persistent messages", "QCSTNPMG"),
    Field("batches", "Batches", "QCSTBATC"),
    Field("full_batches", "Full batches", "QCSTFUBA"),
    Field("buffers_sent", "Transmission buffers sent", "QCSTBFST"),
    Field("buffers_received", "Transmission buffers received", "QCSTBFRC"),
    Field("conversations", "Shared conversations", "QCSTCSCV", COUNT, Rollup.LEVEL),
    Field("message_bytes", "Bytes of messages", "QCSTNBYT", MIB),
    Field("persistent_bytes", "Bytes of persistent messages", "QCSTNPBY", MIB),
    Field("bytes_sent", "Bytes sent", "QCSTBYST", MIB),
    Field("bytes_received", "Bytes received", "QCSTBYRC", MIB),
    Field("put_retries", "Put retries", "QCSTPTRC"),
    Field("queue_empty", "Times the transmission queue was empty", "QCSTQETC"),
    Field("batch_size", "Batch size (BATCHSZ)", "QCSTCBSZ", COUNT, Rollup.SETTING),
    Field("longest_net_seconds", "Longest network time", "QCSTNTMX", MILLISECONDS, Rollup.PEAK),
    Field("longest_exit_seconds", "Longest exit time", "QCSTETMX", MILLISECONDS, Rollup.PEAK),
    Field("longest_dns_seconds", "Longest name resolution", "QCSTDNRT", MILLISECONDS, Rollup.PEAK),
)

#: QCSTCHTY.
_CHANNEL_TYPES = {
    1: "sender",
    2: "server",
    3: "receiver",
    4: "requester",
    6: "client connection",
    7: "server connection",
    8: "cluster receiver",
    9: "cluster sender",
}

#: QCSTNTMN and QCSTETMN hold X'8FFFFFFF' microseconds where nothing was measured.
_NOTHING_MEASURED = 0x8FFFFFFF / 1e6


def _shortest(column: Any) -> Any:
    seconds = column.cast("float64")
    return ibis.ifelse(seconds < _NOTHING_MEASURED, seconds, ibis.null("float64"))


def _channels(inputs: Inputs) -> Any:
    table = inputs.table(
        "smf116_10_qcst",
        *names_of(_CHANNEL_FIELDS),
        "qcstchty",
        "qcstntav",
        "qcstntmn",
        "qcstetav",
        "qcstetmn",
        "qcstcpra",
        text=("qcstchnm", "qcstcnnm", "qcstrqmn", "qcststrt", "qcstludt"),
    )
    net, exits = table.qcstntav.cast("float64"), table.qcstetav.cast("float64")
    messages, batches = table.qcstnmsg.cast("float64"), table.qcstbatc.cast("float64")
    transferred = total(table.qcstbyst, table.qcstbyrc)
    # An average without the batches or messages it is of counts as one.
    net_weight = ibis.ifelse(net > 0, ibis.greatest(batches, 1.0), batches)
    exit_weight = ibis.ifelse(exits > 0, ibis.greatest(messages, 1.0), ibis.ifelse(exits.isnull(), exits, 0.0))
    started = ibis.greatest(table.qcststrt.cast("timestamp('UTC')"), table.interval_start)
    ended = ibis.least(table.qcstludt.cast("timestamp('UTC')").fill_null(table.interval_end), table.interval_end)
    run = ended.delta(started, unit="microsecond").cast("float64") / 1e6
    kind = table.qcstchty.cast("int64")
    return plain(
        table,
        _CHANNEL_FIELDS,
        channel=table.qcstchnm,
        connection=table.qcstcnnm,
        partner=table.qcstrqmn,
        channel_type=ibis.cases(*((kind == code, name) for code, name in _CHANNEL_TYPES.items()), else_="other"),
        instances=ibis.literal(1.0),
        run_seconds=ibis.greatest(run, 0.0),
        net_measured=net_weight,
        net_seconds=net * net_weight,
        shortest_net_seconds=_shortest(table.qcstntmn),
        exit_measured=exit_weight,
        exit_seconds=exits * exit_weight,
        shortest_exit_seconds=_shortest(table.qcstetmn),
        compressed_away_bytes=table.qcstcpra.cast("float64") / 100.0 * transferred,
    )
