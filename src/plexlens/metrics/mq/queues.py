"""Queues: as tasks used them (SMF 116 class 3: WQ) and as they stood (SMF 115-216: QQST, MQ 9.3 and later)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, names_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.application import APPLICATION_KEYS, accounting, with_application
from plexlens.metrics.mq.calls import queue_call_columns
from plexlens.metrics.mq.records import INTERVAL, QUEUE_MANAGER, document, plain, statistics
from plexlens.metrics.unit import (
    BYTES,
    BYTES_PER_SECOND,
    COUNT,
    FRACTION,
    MEAN_COUNT,
    MIB,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PERCENTAGE,
    SECONDS,
)

_ACCOUNTING = document("Thread-level and queue-level data records (WQ)")
_QUEUES = document("Queue data records (QQST)")

_FIELDS = (
    Field("opens", "MQOPEN calls", "OPENN"),
    Field("closes", "MQCLOSE calls", "CLOSEN"),
    Field("puts", "MQPUT calls", "PUTN"),
    Field("put1s", "MQPUT1 calls", "PUT1N"),
    Field("gets", "MQGET calls", "GETN"),
    Field("inquires", "MQINQ calls", "INQN"),
    Field("sets", "MQSET calls", "SETN"),
    Field("callbacks", "MQCB calls", "CBN"),
    Field("valid_puts", "Puts that moved data", "VALIDPUT"),
    Field("valid_gets", "Gets that moved data, browses included", "VALIDGET"),
    Field("valid_destructive_gets", "Destructive gets that moved data", "GETDVAL"),
    Field("failed_gets", "Gets that failed", "GETERR"),
    Field("browses_any", "Browses of any message", "GETBRWA"),
    Field("browses_specific", "Browses of a chosen message", "GETBRWS"),
    Field("gets_any", "Destructive gets of any message", "GETA"),
    Field("gets_specific", "Destructive gets of a chosen message", "GETS"),
    Field("pages_skipped", "Empty pages skipped by gets", "GETEPAGE"),
    Field("messages_skipped", "Messages skipped by gets", "GETSMSG"),
    Field("messages_expired", "Messages found expired by gets", "GETEXMSG"),
    Field("put_bytes", "Bytes put", "PUTBYTES", MIB),
    Field("get_bytes", "Bytes got", "GETBYTES", MIB),
    Field("persistent_puts", "Persistent messages put by MQPUT", "PUTPMSG"),
    Field("persistent_put1s", "Persistent messages put by MQPUT1", "PUT1PMSG"),
    Field("persistent_gets", "Persistent messages got", "GETPMSG"),
    Field("put_waiting_getters", "MQPUTs straight to a waiting getter", "PUTPWG"),
    Field("put1_waiting_getters", "MQPUT1s straight to a waiting getter", "PUT1PWG"),
    Field("intra_group_puts", "MQPUTs by intra-group queuing", "PUTIGQ"),
    Field("selector_calls", "Calls with a selector", "SELCOUNT"),
    Field("published", "Messages published", "PUBLISHEDN"),
    Field("streamed", "Messages streamed to a second queue", "STREAMEDN"),
    Field("queue_seconds", "Time of messages on the queue", "TOTLATNT", SECONDS),
    Field("put_elapsed_seconds", "Elapsed time of MQPUT", "PUTET", SECONDS),
    Field("put_cpu_seconds", "CPU time of MQPUT", "PUTCT", SECONDS),
    Field("put1_elapsed_seconds", "Elapsed time of MQPUT1", "PUT1ET", SECONDS),
    Field("put1_cpu_seconds", "CPU time of MQPUT1", "PUT1CT", SECONDS),
    Field("get_elapsed_seconds", "Elapsed time of MQGET", "GETET", SECONDS),
    Field("get_cpu_seconds", "CPU time of MQGET", "GETCT", SECONDS),
    Field("most_messages", "Highest depth seen", "MAXQDPTH", COUNT, Rollup.PEAK),
    Field("longest_put_bytes", "Longest message put", "PUTMAXMS", BYTES, Rollup.PEAK),
    Field("longest_get_bytes", "Longest message got", "GETMAXMS", BYTES, Rollup.PEAK),
    Field("longest_queue_seconds", "Longest time on the queue", "MAXLATNT", SECONDS, Rollup.PEAK),
)

#: QTYPE, INDXTYPE, QSGDISP of a queue block.
_QUEUE_TYPES = {1: "local", 2: "model", 3: "alias", 6: "remote", 7: "cluster"}
_DISPOSITIONS = {0: "queue manager", 1: "copy", 2: "shared", 3: "group"}

#: GETMINMS and PUTMINMS hold X'0FFFFFFF' where no message moved.
_NO_MESSAGE = 0x0FFFFFFF

#: Sums over every kind of call: fact, title and which fact of a call it adds up.
_TOTALS = {
    "elapsed_seconds": "Elapsed time, all calls",
    "cpu_seconds": "CPU time, all calls",
    "suspend_seconds": "Time suspended, all calls",
    "forced_log_seconds": "Time of forced log writes, all calls",
    "page_set_seconds": "Time of page set reads, all calls",
    "page_set_reads": "Page set reads, all calls",
}


def _words(code: Any, names: dict[int, str]) -> Any:
    number = code.cast("int64")
    return ibis.cases(*((number == key, name) for key, name in names.items()), else_=number.cast("string"))


def _shortest(column: Any) -> Any:
    length = column.cast("float64")
    return ibis.ifelse(length < _NO_MESSAGE, length, ibis.null("float64"))


def _queues_used(inputs: Inputs) -> Any:
    further = ("qtype", "qsgdisp", "nps", "nbuffpool", "getminms", "putminms", "minlatnt")
    summed = {fact: queue_call_columns(fact) for fact in _TOTALS}
    columns = dict.fromkeys((*names_of(_FIELDS), *further, *(c for parts in summed.values() for c in parts)))
    table = inputs.table("smf116_1_wq", *columns, text=("basename", "objname", "cfstrucname"))
    table = with_application(inputs, table)
    got = table.getdval.cast("float64") > 0
    shared = table.qsgdisp.cast("int64") == 2
    return table.select(
        **accounting(table),
        queue=ibis.coalesce(table.basename.nullif(""), table.objname.nullif("")),
        opened_as=table.objname,
        queue_type=_words(table.qtype, _QUEUE_TYPES),
        disposition=_words(table.qsgdisp, _DISPOSITIONS),
        # A shared queue lies in a structure, any other in a page set and its buffer pool.
        page_set=ibis.ifelse(shared, ibis.null("string"), table.nps.cast("int64").cast("string")),
        pool=ibis.ifelse(shared, ibis.null("string"), table.nbuffpool.cast("int64").cast("string")),
        structure=table.cfstrucname.nullif(""),
        **columns_of(table, _FIELDS),
        **{fact: total(*(table[column] for column in columns)) for fact, columns in summed.items()},
        shortest_put_bytes=_shortest(table.putminms),
        shortest_get_bytes=_shortest(table.getminms),
        shortest_queue_seconds=ibis.ifelse(got, table.minlatnt.cast("float64"), ibis.null("float64")),
    )


def _all_puts(f: Any) -> Any:
    return total(f.puts, f.put1s)


QUEUE = Grain(
    name="mq_queue",
    title="MQ queues, as used",
    row="one queue as one connection used it in one accounting interval",
    keys=(*APPLICATION_KEYS, Key("queue", "Queue"), Key("opened_as", "Opened as")),
    attributes=(
        Attribute("queue_type", "Type opened"),
        Attribute("disposition", "Disposition"),
        Attribute("page_set", "Page set"),
        Attribute("pool", "Buffer pool"),
        Attribute("structure", "Structure"),
    ),
    facts=(
        *facts_of("SMF 116-1 and 116-2", _FIELDS),
        *(
            Fact(
                name,
                title,
                COUNT if name == "page_set_reads" else SECONDS,
                Rollup.COUNT,
                f"SMF 116-1 and 116-2 {' + '.join(column.upper() for column in queue_call_columns(name))}",
            )
            for name, title in _TOTALS.items()
        ),
        Fact("shortest_put_bytes", "Shortest message put", BYTES, Rollup.FLOOR, "SMF 116-1 and 116-2 PUTMINMS"),
        Fact("shortest_get_bytes", "Shortest message got", BYTES, Rollup.FLOOR, "SMF 116-1 and 116-2 GETMINMS"),
        Fact(
            "shortest_queue_seconds",
            "Shortest time on the queue",
            SECONDS,
            Rollup.FLOOR,
            "SMF 116-1 and 116-2 MINLATNT",
        ),
    ),
    sources=(Source("SMF 116", ("smf116_1_wq", "smf116_1_wtid", "smf115_qwhs"), _queues_used),),
    metrics=(
        per_event(
            "put_elapsed_time",
            "Elapsed time of an MQPUT",
            MICROSECONDS,
            ("put_elapsed_seconds", "PUTET"),
            ("puts", "PUTN"),
            source=_ACCOUNTING,
        ),
        per_event(
            "put_cpu_time",
            "CPU time of an MQPUT",
            MICROSECONDS,
            ("put_cpu_seconds", "PUTCT"),
            ("puts", "PUTN"),
            source=_ACCOUNTING,
        ),
        per_event(
            "put1_elapsed_time",
            "Elapsed time of an MQPUT1",
            MICROSECONDS,
            ("put1_elapsed_seconds", "PUT1ET"),
            ("put1s", "PUT1N"),
            source=_ACCOUNTING,
        ),
        per_event(
            "put1_cpu_time",
            "CPU time of an MQPUT1",
            MICROSECONDS,
            ("put1_cpu_seconds", "PUT1CT"),
            ("put1s", "PUT1N"),
            source=_ACCOUNTING,
        ),
        per_event(
            "get_elapsed_time",
            "Elapsed time of an MQGET",
            MICROSECONDS,
            ("get_elapsed_seconds", "GETET"),
            ("gets", "GETN"),
            source=_ACCOUNTING,
            caveat="The wait for a message of a get with wait is within it.",
        ),
        per_event(
            "get_cpu_time",
            "CPU time of an MQGET",
            MICROSECONDS,
            ("get_cpu_seconds", "GETCT"),
            ("gets", "GETN"),
            source=_ACCOUNTING,
        ),
        per_event(
            "valid_get_fraction",
            "Gets that moved data",
            PERCENTAGE,
            ("valid_gets", "VALIDGET"),
            ("gets", "GETN"),
            source=_ACCOUNTING,
            caveat="The rest found no message, or failed.",
        ),
        Metric(
            "valid_put_fraction",
            "Puts that moved data",
            PERCENTAGE,
            "VALIDPUT / (PUTN + PUT1N)",
            _ACCOUNTING,
            lambda f: ratio(f.valid_puts, _all_puts(f)),
        ),
        per_event(
            "mean_put_length",
            "Mean length of a message put",
            BYTES,
            ("put_bytes", "PUTBYTES"),
            ("valid_puts", "VALIDPUT"),
            source=_ACCOUNTING,
        ),
        per_event(
            "mean_get_length",
            "Mean length of a message got",
            BYTES,
            ("get_bytes", "GETBYTES"),
            ("valid_gets", "VALIDGET"),
            source=_ACCOUNTING,
        ),
        Metric(
            "persistent_put_fraction",
            "Persistent messages of those put",
            FRACTION,
            "(PUTPMSG + PUT1PMSG) / VALIDPUT",
            _ACCOUNTING,
            lambda f: ratio(total(f.persistent_puts, f.persistent_put1s), f.valid_puts),
        ),
        Metric(
            "waiting_getter_fraction",
            "Puts straight to a waiting getter",
            FRACTION,
            "(PUTPWG + PUT1PWG) / (PUTN + PUT1N)",
            _ACCOUNTING,
            lambda f: ratio(total(f.put_waiting_getters, f.put1_waiting_getters), _all_puts(f)),
        ),
        per_event(
            "time_on_queue",
            "Time of a message on the queue",
            MILLISECONDS,
            ("queue_seconds", "TOTLATNT"),
            ("valid_destructive_gets", "GETDVAL"),
            source=_ACCOUNTING,
            caveat="From the put to the destructive get, of messages got.",
        ),
        per_event(
            "messages_skipped_per_get",
            "Messages skipped per get",
            MEAN_COUNT,
            ("messages_skipped", "GETSMSG"),
            ("gets", "GETN"),
            source=_ACCOUNTING,
            caveat="Above zero: gets by id from a queue without the index for it, or messages locked by others.",
        ),
        Metric(
            "cpu_per_message",
            "CPU time per message moved",
            MICROSECONDS,
            "Σ xxxCT / (VALIDPUT + VALIDGET)",
            _ACCOUNTING,
            lambda f: ratio(f.cpu_seconds, total(f.valid_puts, f.valid_gets)),
            "CPU of every kind of call to the queue.",
        ),
        per_event(
            "opens_per_put",
            "Opens per put",
            MEAN_COUNT,
            ("opens", "OPENN"),
            ("valid_puts", "VALIDPUT"),
            source=_ACCOUNTING,
        ),
    ),
)

_STATISTICS_FIELDS = (
    Field("depth", "Depth at the interval's end", "QQSTDPTH", COUNT, Rollup.LEVEL),
    Field("highest_depth", "Highest depth", "QQSTDPHI", COUNT, Rollup.PEAK),
    Field("lowest_depth", "Lowest depth", "QQSTDPLO", COUNT, Rollup.FLOOR),
    Field("oldest_message_seconds", "Age of the oldest message", "QQSTMAGE", SECONDS, Rollup.PEAK),
    Field("input_handles", "Input handles open", "QQSTIPCT", COUNT, Rollup.LEVEL),
    Field("output_handles", "Output handles open", "QQSTOPCT", COUNT, Rollup.LEVEL),
    Field("most_input_handles", "Most input handles", "QQSTIPHI", COUNT, Rollup.PEAK),
    Field("most_output_handles", "Most output handles", "QQSTOPHI", COUNT, Rollup.PEAK),
    Field("puts", "MQPUT calls", "QQSTPUTS"),
    Field("put1s", "MQPUT1 calls", "QQSTPUT1"),
    Field("persistent_puts", "Persistent messages put by MQPUT", "QQSTPPT"),
    Field("persistent_put1s", "Persistent messages put by MQPUT1", "QQSTPP1"),
    Field("put_bytes", "Bytes put by MQPUT", "QQSTPUTB", MIB),
    Field("put1_bytes", "Bytes put by MQPUT1", "QQSTPT1B", MIB),
    Field("failed_puts", "MQPUT calls that failed", "QQSTFLPT"),
    Field("failed_put1s", "MQPUT1 calls that failed", "QQSTFLP1"),
    Field("fast_puts", "Messages put straight to a waiting getter", "QQSTFPTC"),
    Field("gets", "Destructive gets", "QQSTGETS"),
    Field("get_bytes", "Bytes got", "QQSTGETB", MIB),
    Field("failed_gets", "Destructive gets that failed", "QQSTFLGT"),
    Field("empty_gets", "Destructive gets without a message", "QQSTNMAG"),
    Field("browses", "Browses", "QQSTBRWS"),
    Field("browse_bytes", "Bytes browsed", "QQSTBRWB", MIB),
    Field("failed_browses", "Browses that failed", "QQSTFLBR"),
    Field("opens", "MQOPEN calls", "QQSTOPEN"),
    Field("closes", "MQCLOSE calls", "QQSTCLOS"),
    Field("expired", "Messages expired", "QQSTEXPR"),
    Field("rolled_back_puts", "Puts rolled back", "QQSTRBPT"),
    Field("rolled_back_gets", "Gets rolled back", "QQSTRBGT"),
    Field("streamed", "Messages streamed to a second queue", "QQSTSTRM"),
)


def _queues_standing(inputs: Inputs) -> Any:
    table = statistics(
        inputs,
        "smf115_216_qqst",
        _STATISTICS_FIELDS,
        "qqstpsid",
        "qqstbpid",
        "qqstqtst",
        text=("qqstqnam", "qqstcfst"),
    )
    return plain(
        table,
        _STATISTICS_FIELDS,
        queue=table.qqstqnam,
        page_set=table.qqstpsid.cast("int64").nullif(-1),
        pool=table.qqstbpid.cast("int64").nullif(-1),
        structure=table.qqstcfst.nullif(""),
        queue_seconds=table.qqstqtst.cast("float64") * table.qqstgets.cast("float64"),
    )


QUEUE_STATISTICS = Grain(
    name="mq_queue_statistics",
    title="MQ queues, as they stood",
    row="one queue of one queue manager in one interval",
    keys=(QUEUE_MANAGER, Key("queue", "Queue")),
    attributes=(
        Attribute("page_set", "Page set"),
        Attribute("pool", "Buffer pool"),
        Attribute("structure", "Structure"),
    ),
    facts=(
        INTERVAL,
        *facts_of("SMF 115-216", _STATISTICS_FIELDS),
        Fact("queue_seconds", "Time on the queue", SECONDS, Rollup.COUNT, "SMF 115-216 QQSTQTST x QQSTGETS"),
    ),
    sources=(Source("SMF 115", ("smf115_216_qqst",), _queues_standing),),
    metrics=(
        Metric(
            "puts_per_second",
            "MQPUT and MQPUT1 calls",
            PER_SECOND,
            "(QQSTPUTS + QQSTPUT1) / interval",
            _QUEUES,
            lambda f: ratio(_all_puts(f), f.interval_seconds),
        ),
        per_second("gets_per_second", "Destructive gets", "gets", "QQSTGETS", _QUEUES),
        Metric(
            "put_bytes_per_second",
            "Bytes put",
            BYTES_PER_SECOND,
            "(QQSTPUTB + QQSTPT1B) / interval",
            _QUEUES,
            lambda f: ratio(total(f.put_bytes, f.put1_bytes), f.interval_seconds),
        ),
        Metric(
            "mean_put_length",
            "Mean length of a message put",
            BYTES,
            "(QQSTPUTB + QQSTPT1B) / (QQSTPUTS + QQSTPUT1)",
            _QUEUES,
            lambda f: ratio(total(f.put_bytes, f.put1_bytes), _all_puts(f)),
        ),
        Metric(
            "fast_put_fraction",
            "Puts straight to a waiting getter",
            FRACTION,
            "QQSTFPTC / (QQSTPUTS + QQSTPUT1)",
            _QUEUES,
            lambda f: ratio(f.fast_puts, _all_puts(f)),
        ),
        per_event(
            "time_on_queue",
            "Time of a message on the queue",
            MILLISECONDS,
            ("queue_seconds", "QQSTQTST x QQSTGETS"),
            ("gets", "QQSTGETS"),
            source=_QUEUES,
            caveat="The queue manager's indicator over the last few messages, weighted by the gets of each interval; "
            "queue monitoring (MONQ) must be on.",
        ),
        Metric(
            "growth_per_second",
            "Messages left on the queue",
            PER_SECOND,
            "(QQSTPUTS + QQSTPUT1 - QQSTGETS - QQSTEXPR) / interval",
            _QUEUES,
            lambda f: ratio(_all_puts(f) - f.gets - f.expired, f.interval_seconds),
            "Negative while the queue empties. Rolled back calls and failed calls are not taken off.",
        ),
    ),
)
