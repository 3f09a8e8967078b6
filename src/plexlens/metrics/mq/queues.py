"""Queues: as tasks used them (SMF 116 class 3: WQ) and as they stood (SMF 115-216: QQST, MQ 9.3 and later)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.expressions import total
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.application import accounting, with_application
from plexlens.metrics.mq.calls import queue_call_columns
from plexlens.metrics.mq.records import plain, statistics
from plexlens.metrics.unit import (
    BYTES,
    COUNT,
    MIB,
    SECONDS,
)

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
