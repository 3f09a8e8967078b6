"""Queue managers: MQI calls, objects, locks, topics (SMF 115-2), storage (SMF 115-1 QSST)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field, columns_of
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.mq.records import common, plain, statistics
from plexlens.metrics.unit import (
    COUNT,
    MIB,
    SECONDS,
)

_CALLS = (
    Field("opens", "MQOPEN calls", "QMSTOPEN"),
    Field("closes", "MQCLOSE calls", "QMSTCLOS"),
    Field("gets", "MQGET calls", "QMSTGET"),
    Field("puts", "MQPUT calls", "QMSTPUT"),
    Field("put1s", "MQPUT1 calls", "QMSTPUT1"),
    Field("inquires", "MQINQ calls", "QMSTINQ"),
    Field("sets", "MQSET calls", "QMSTSET"),
    Field("subscribes", "MQSUB calls", "QMSTSUB"),
    Field("subscription_requests", "MQSUBRQ calls", "QMSTSUBR"),
    Field("callbacks", "MQCB calls", "QMSTCB"),
    Field("controls", "MQCTL calls", "QMSTCTL"),
    Field("statuses", "MQSTAT calls", "QMSTSTUS"),
)

_MESSAGE_FIELDS = (
    *_CALLS,
    Field("publishes", "Publish requests", "QMSTPUBS"),
    Field("internal_inquiries", "Internal inquiries on groups of objects", "QMSTINQL"),
    Field("threads_ended", "Threads ended by the connection", "QMSTENDW"),
    Field("close_all_handles", "Calls to close all handles", "QMSTCALH"),
    Field("persistent_puts", "Persistent messages put", "QMSTSPP"),
    Field("nonpersistent_puts", "Nonpersistent messages put", "QMSTSNP"),
    Field("persistent_bytes", "Bytes of persistent messages put", "QMSTPBP", MIB),
    Field("nonpersistent_bytes", "Bytes of nonpersistent messages put", "QMSTNBP", MIB),
)

#: Sections of the same record, with their fields.
_BESIDE = {
    "smf115_2_qist": (
        Field("message_gets", "Message gets", "QISTMGET"),
        Field("message_puts", "Message puts", "QISTMPUT"),
        Field("browse_lock_releases", "Releases of browse locks", "QISTMBLR"),
        Field("object_creates", "Objects created", "QISTDCRE"),
        Field("object_puts", "Object puts", "QISTDPUT"),
        Field("object_deletes", "Objects deleted", "QISTDDEL"),
        Field("object_gets", "Object gets", "QISTDGET"),
        Field("object_locates", "Object locates", "QISTDLOC"),
        Field("storage_class_changes", "Storage class changes", "QISTALST"),
        Field("enumerations", "Enumerations of objects", "QISTENUM"),
        Field("gets_from_disk", "Gets whose message came from disk", "QISTGETD"),
        Field("gets_from_pool", "Gets whose message came from the buffer pool", "QISTGETB"),
    ),
    "smf115_2_qlst": (
        Field("lock_gets", "Lock requests", "QLSTGETL"),
        Field("lock_gets_held", "Lock requests for a lock already held", "QLSTHLDL"),
        Field("lock_releases", "Lock releases", "QLSTRELL"),
    ),
    "smf115_2_qtst": (
        Field("subscription_calls", "Subscription requests", "QTSTSTOT"),
        Field("durable_subscription_calls", "Durable subscription requests", "QTSTSDUR"),
        Field("subscriptions_expired", "Subscriptions expired", "QTSTSEXP"),
        Field("most_subscriptions", "Most subscriptions, API", "QTSTSHIG_1", COUNT, Rollup.PEAK),
        Field("publications_api", "Publish requests, API", "QTSTPTOT_1"),
        Field("publications_admin", "Publish requests, administrative", "QTSTPTOT_2"),
        Field("publications_proxy", "Publish requests, proxy", "QTSTPTOT_3"),
        Field("publication_messages", "Messages put to subscribers", "QTSTTMSG"),
        Field("publications_unsubscribed", "Publishes without a subscriber", "QTSTPNOS"),
        Field("publish_seconds", "Elapsed time of publishes", "QTSTETTO", SECONDS),
        Field("longest_publish_seconds", "Longest publish", "QTSTETHW", SECONDS, Rollup.PEAK),
    ),
    "smf115_2_q5st": (
        Field("db2_servers", "Db2 server tasks", "NUMTASK", COUNT, Rollup.AMOUNT),
        Field("db2_most_queued", "Longest queue of Db2 requests", "DHIGMAX", COUNT, Rollup.PEAK),
        Field("db2_abends", "Db2 server task abends", "ABNDCNT"),
        Field("db2_requeues", "Db2 requests queued again", "REQUCNT"),
        Field("db2_deadlocks", "Db2 deadlock timeouts", "DEADCNT"),
    ),
}


def _queue_managers(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf115_2_qmst", _MESSAGE_FIELDS)
    result = table.select(*RECORD, **common(table), **columns_of(table, _MESSAGE_FIELDS))
    for name, fields in _BESIDE.items():
        if inputs.has(name):
            part = statistics(inputs, name, fields)
            part = part.select(*RECORD, **columns_of(part, fields))
            result = result.left_join(part, list(RECORD)).drop("source_id_right", "record_no_right")
    return result.drop(*RECORD)


_STORAGE_FIELDS = (
    Field("fixed_pools_created", "Fixed pools created", "QSSTGPLF"),
    Field("fixed_pools_deleted", "Fixed pools deleted", "QSSTFPLF"),
    Field("fixed_segments_freed", "Fixed pool segments freed", "QSSTFREF"),
    Field("fixed_expansions", "Fixed pool expansions", "QSSTEXPF"),
    Field("fixed_contractions", "Fixed pool contractions", "QSSTCONF"),
    Field("variable_pools_created", "Variable pools created", "QSSTGPLV"),
    Field("variable_pools_deleted", "Variable pools deleted", "QSSTFPLV"),
    Field("variable_segments_freed", "Variable pool segments freed", "QSSTFREV"),
    Field("variable_expansions", "Variable pool expansions", "QSSTEXPV"),
    Field("variable_contractions", "Variable pool contractions", "QSSTCONV"),
    Field("getmains", "GETMAIN requests", "QSSTGETM"),
    Field("freemains", "FREEMAIN requests", "QSSTFREM"),
    Field("failed_requests", "Storage requests that failed", "QSSTRCNZ"),
    Field("short_contractions", "Contractions because storage was short", "QSSTCONT"),
    Field("critically_short", "Times storage was critically short", "QSSTCRIT"),
    Field("short_abends", "Abends because storage was short", "QSSTABND"),
)


def _storage(inputs: Inputs) -> Any:
    return plain(statistics(inputs, "smf115_1_qsst", _STORAGE_FIELDS), _STORAGE_FIELDS)
