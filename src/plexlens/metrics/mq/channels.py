"""The channel initiator and its tasks (SMF 115-231), and channels (SMF 116-10)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import INTERVAL, QUEUE_MANAGER, common, document, plain, statistics
from plexlens.metrics.unit import (
    BYTES,
    BYTES_PER_SECOND,
    COUNT,
    FRACTION,
    MEAN_COUNT,
    MIB,
    MICROSECONDS,
    MILLISECONDS,
    PERCENTAGE,
    RATIO,
    SECONDS,
)

_CONTROL = document("Channel initiator control information block (QCCT)")
_TASKS = document("Channel initiator statistics data records; Dispatcher tasks; Adapter tasks (QCT)")
_CHANNELS = document("Channel accounting data records (QCST)")

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


INITIATOR = Grain(
    name="mq_channel_initiator",
    title="MQ channel initiators",
    row="the channel initiator of one queue manager in one interval",
    keys=(QUEUE_MANAGER,),
    attributes=(Attribute("job", "Job"), Attribute("sharing_group", "Queue sharing group")),
    facts=(INTERVAL, *facts_of("SMF 115-231", _CONTROL_FIELDS)),
    sources=(Source("SMF 115", ("smf115_231_qcct",), _initiators),),
    metrics=(
        per_event(
            "current_fraction",
            "Current channels of the limit",
            FRACTION,
            ("current_channels", "QCCTNOCC"),
            ("current_limit", "QCCTMXCC"),
            source=_CONTROL,
            caveat="The number when the record was made: there may have been more between.",
        ),
        per_event(
            "active_fraction",
            "Active channels of the limit",
            FRACTION,
            ("active_channels", "QCCTNOAC"),
            ("active_limit", "QCCTMXAC"),
            source=_CONTROL,
            caveat="The number when the record was made: there may have been more between.",
        ),
        per_event(
            "storage_64_fraction",
            "Storage above 2 GiB of the limit",
            FRACTION,
            ("storage_64_bytes", "QCCTSTAB"),
            ("storage_64_limit_bytes", "QCCTSLIM"),
            source=_CONTROL,
        ),
    ),
)

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


def _busy(f: Any, seconds: Any) -> Any:
    return ratio(seconds, f.interval_seconds * f.tasks)


TASK = Grain(
    name="mq_channel_initiator_task",
    title="MQ channel initiator tasks",
    row="one dispatcher, adapter, SSL or DNS task of one channel initiator in one interval",
    keys=(QUEUE_MANAGER, Key("task_type", "Kind of task"), Key("task", "Task (TCB address)")),
    attributes=(Attribute("task_no", "Number in the record"),),
    facts=(
        INTERVAL,
        *facts_of("SMF 115-231", _TASK_FIELDS),
        Fact("channels", "Channels of the dispatcher", COUNT, Rollup.LEVEL, "SMF 115-231 QCTCHLN"),
        Fact("longest_seconds", "Longest request", MILLISECONDS, Rollup.PEAK, "SMF 115-231 QCTLSDU, QCTLGDU"),
        Fact("tasks", "Tasks", COUNT, Rollup.LEVEL, "SMF 115-231 QCT, one each"),
    ),
    # Every channel initiator has dispatchers; the other kinds may be absent.
    sources=(Source("SMF 115", ("smf115_231_qct_dsp",), _tasks),),
    metrics=(
        Metric(
            "busy_fraction",
            "Busy",
            FRACTION,
            "QCTELTM / (interval x tasks)",
            _TASKS + ", Busy %",
            lambda f: _busy(f, f.elapsed_seconds),
            "Time in requests, waits for the queue manager within them included. Several tasks: their mean.",
        ),
        Metric(
            "cpu_fraction",
            "CPU",
            FRACTION,
            "QCTCPTM / (interval x tasks)",
            _TASKS + ", CPU %",
            lambda f: _busy(f, f.cpu_seconds),
            "CPU time between requests included, so that an idle task can show more CPU than busy time.",
        ),
        Metric(
            "wait_fraction",
            "Waiting",
            FRACTION,
            "QCTWTTM / (interval x tasks)",
            _TASKS,
            lambda f: _busy(f, f.wait_seconds),
        ),
        per_second("requests_per_second", "Requests", "requests", "QCTREQN", _TASKS),
        per_event(
            "cpu_time",
            "CPU time of a request",
            MICROSECONDS,
            ("cpu_seconds", "QCTCPTM"),
            ("requests", "QCTREQN"),
            source=_TASKS + ", avg CPU",
        ),
        per_event(
            "elapsed_time",
            "Elapsed time of a request",
            MICROSECONDS,
            ("elapsed_seconds", "QCTELTM"),
            ("requests", "QCTREQN"),
            source=_TASKS + ", avg ET",
        ),
        Metric(
            "elapsed_per_cpu",
            "Elapsed time per CPU time",
            RATIO,
            "QCTELTM / QCTCPTM",
            _TASKS,
            lambda f: ratio(f.elapsed_seconds, f.cpu_seconds),
            "A dispatcher does not depend on outside events: far above one it lacks CPU. An adapter waits for log and "
            "page set I/O besides.",
        ),
    ),
)

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


CHANNEL = Grain(
    name="mq_channel",
    title="MQ channels",
    row="one channel of one queue manager to one partner address in one interval",
    keys=(QUEUE_MANAGER, Key("channel", "Channel"), Key("connection", "Connection name")),
    attributes=(Attribute("channel_type", "Type"), Attribute("partner", "Remote queue manager or application")),
    facts=(
        INTERVAL,
        *facts_of("SMF 116-10", _CHANNEL_FIELDS),
        Fact("instances", "Channel instances", COUNT, Rollup.COUNT, "SMF 116-10 QCST, one each"),
        Fact("run_seconds", "Time running", SECONDS, Rollup.COUNT, "SMF 116-10 QCSTSTRT, QCSTLUDT within the interval"),
        Fact("net_measured", "Batches with a network time", COUNT, Rollup.COUNT, "SMF 116-10 QCSTBATC"),
        Fact("net_seconds", "Network time", SECONDS, Rollup.COUNT, "SMF 116-10 QCSTNTAV x QCSTBATC"),
        Fact("shortest_net_seconds", "Shortest network time", MILLISECONDS, Rollup.FLOOR, "SMF 116-10 QCSTNTMN"),
        Fact(
            "exit_measured", "Messages with an exit time", COUNT, Rollup.COUNT, "SMF 116-10 QCSTNMSG where QCSTETAV > 0"
        ),
        Fact("exit_seconds", "Exit time", SECONDS, Rollup.COUNT, "SMF 116-10 QCSTETAV x QCSTNMSG"),
        Fact("shortest_exit_seconds", "Shortest exit time", MILLISECONDS, Rollup.FLOOR, "SMF 116-10 QCSTETMN"),
        Fact(
            "compressed_away_bytes",
            "Bytes saved by compression",
            MIB,
            Rollup.COUNT,
            "SMF 116-10 QCSTCPRA x (QCSTBYST + QCSTBYRC)",
        ),
    ),
    sources=(Source("SMF 116", ("smf116_10_qcst",), _channels),),
    metrics=(
        per_second(
            "messages_per_second",
            "Messages",
            "messages",
            "QCSTNMSG",
            _CHANNELS,
            caveat="MQI calls for a server connection channel.",
        ),
        Metric(
            "bytes_per_second",
            "Bytes sent and received",
            BYTES_PER_SECOND,
            "(QCSTBYST + QCSTBYRC) / interval",
            _CHANNELS,
            lambda f: ratio(total(f.bytes_sent, f.bytes_received), f.interval_seconds),
            "Message data and control information.",
        ),
        per_event(
            "mean_length",
            "Mean length of a message",
            BYTES,
            ("message_bytes", "QCSTNBYT"),
            ("messages", "QCSTNMSG"),
            source=_CHANNELS,
            caveat="Zero for a server connection channel, which records no message bytes.",
        ),
        per_event(
            "persistent_fraction",
            "Persistent messages",
            FRACTION,
            ("persistent_messages", "QCSTNPMG"),
            ("messages", "QCSTNMSG"),
            source=_CHANNELS,
        ),
        per_event(
            "messages_per_batch",
            "Messages per batch",
            MEAN_COUNT,
            ("messages", "QCSTNMSG"),
            ("batches", "QCSTBATC"),
            source=_CHANNELS,
        ),
        Metric(
            "batch_fill",
            "Batch size reached",
            PERCENTAGE,
            "QCSTNMSG / QCSTBATC / QCSTCBSZ",
            _CHANNELS,
            lambda f: ratio(ratio(f.messages, f.batches), f.batch_size),
            "Over channels with different batch sizes: of the largest.",
        ),
        per_event(
            "full_batch_fraction",
            "Full batches",
            FRACTION,
            ("full_batches", "QCSTFUBA"),
            ("batches", "QCSTBATC"),
            source=_CHANNELS,
        ),
        per_event(
            "net_time",
            "Network time",
            MILLISECONDS,
            ("net_seconds", "QCSTNTAV x QCSTBATC"),
            ("net_measured", "QCSTBATC"),
            source=_CHANNELS,
            caveat="Time to send the request that ends a batch and to receive the answer; averages of several channels "
            "or intervals are weighted by their batches.",
        ),
        per_event(
            "exit_time",
            "Exit time of a message",
            MILLISECONDS,
            ("exit_seconds", "QCSTETAV x QCSTNMSG"),
            ("exit_measured", "QCSTNMSG"),
            source=_CHANNELS,
            caveat="Averages of several channels or intervals are weighted by their messages.",
        ),
        Metric(
            "compression_fraction",
            "Compressed away",
            FRACTION,
            "QCSTCPRA, weighted by QCSTBYST + QCSTBYRC",
            _CHANNELS,
            lambda f: ratio(f.compressed_away_bytes, total(f.bytes_sent, f.bytes_received)),
        ),
        per_second("queue_empty_per_second", "Transmission queue empty", "queue_empty", "QCSTQETC", _CHANNELS),
        Metric(
            "running_channels",
            "Channel instances running",
            MEAN_COUNT,
            "Σ run time / interval",
            _CHANNELS,
            lambda f: ratio(f.run_seconds, f.interval_seconds),
        ),
    ),
)
