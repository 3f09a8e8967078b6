"""Queue managers: MQI calls, objects, locks, topics (SMF 115-2), storage (SMF 115-1 QSST)."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.definition import Grain, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of, per_event, per_second
from plexlens.metrics.inputs import RECORD, Inputs
from plexlens.metrics.mq.records import INTERVAL, QUEUE_MANAGER, common, document, plain, statistics
from plexlens.metrics.unit import (
    BYTES,
    BYTES_PER_SECOND,
    COUNT,
    FRACTION,
    MEAN_COUNT,
    MIB,
    MILLISECONDS,
    PER_SECOND,
    PERCENTAGE,
    SECONDS,
)

_MESSAGES = document("Message manager data records (QMST)")
_DATA = document("Data manager data records (QIST)")
_LOCKS = document("Lock manager data records (QLST)")
_TOPICS = document("Topic manager data records (QTST)")
_STORAGE = document("Storage manager data records (QSST)")

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


def _all_calls(f: Any) -> Any:
    return total(*(f[field.name] for field in _CALLS))


def _all_puts(f: Any) -> Any:
    return total(f.puts, f.put1s)


def _publications(f: Any) -> Any:
    return total(f.publications_api, f.publications_admin, f.publications_proxy)


QUEUE_MANAGER_GRAIN = Grain(
    name="mq_queue_manager",
    title="MQ queue managers",
    row="one queue manager in one interval",
    keys=(QUEUE_MANAGER,),
    facts=(
        INTERVAL,
        *facts_of("SMF 115-2", _MESSAGE_FIELDS),
        *(fact for fields in _BESIDE.values() for fact in facts_of("SMF 115-2", fields)),
    ),
    sources=(Source("SMF 115", ("smf115_2_qmst",), _queue_managers),),
    metrics=(
        Metric(
            "calls_per_second",
            "MQI calls",
            PER_SECOND,
            "(" + " + ".join(field.field for field in _CALLS) + ") / interval",
            _MESSAGES,
            lambda f: ratio(_all_calls(f), f.interval_seconds),
            "Calls, whether they succeed or not; MQCONN, MQDISC, commits and backouts are not counted here.",
        ),
        *(
            per_second(f"{field.name}_per_second", field.title, field.name, field.field, _MESSAGES)
            for field in (*_CALLS, _MESSAGE_FIELDS[len(_CALLS)])
        ),
        Metric(
            "all_puts_per_second",
            "MQPUT and MQPUT1 calls",
            PER_SECOND,
            "(QMSTPUT + QMSTPUT1) / interval",
            _MESSAGES,
            lambda f: ratio(_all_puts(f), f.interval_seconds),
        ),
        Metric(
            "gets_per_put",
            "MQGET calls per MQPUT or MQPUT1",
            MEAN_COUNT,
            "QMSTGET / (QMSTPUT + QMSTPUT1)",
            _MESSAGES,
            lambda f: ratio(f.gets, _all_puts(f)),
            "Browses and gets that found nothing count as gets.",
        ),
        Metric(
            "opens_per_put",
            "MQOPEN calls per MQPUT",
            MEAN_COUNT,
            "QMSTOPEN / QMSTPUT",
            _MESSAGES,
            lambda f: ratio(f.opens, f.puts),
            "Near or above one: queues are opened for single messages, for which MQPUT1 or keeping the queue open is "
            "cheaper. Opens for MQGET count as well.",
        ),
        Metric(
            "persistent_fraction",
            "Persistent messages of those put",
            FRACTION,
            "QMSTSPP / (QMSTSPP + QMSTSNP)",
            _MESSAGES,
            lambda f: ratio(f.persistent_puts, total(f.persistent_puts, f.nonpersistent_puts)),
            "Recorded from MQ 9.3 on.",
        ),
        Metric(
            "put_bytes_per_second",
            "Bytes put",
            BYTES_PER_SECOND,
            "(QMSTPBP + QMSTNBP) / interval",
            _MESSAGES,
            lambda f: ratio(total(f.persistent_bytes, f.nonpersistent_bytes), f.interval_seconds),
            "Recorded from MQ 9.3 on.",
        ),
        Metric(
            "mean_put_length",
            "Mean length of a message put",
            BYTES,
            "(QMSTPBP + QMSTNBP) / (QMSTSPP + QMSTSNP)",
            _MESSAGES,
            lambda f: ratio(
                total(f.persistent_bytes, f.nonpersistent_bytes), total(f.persistent_puts, f.nonpersistent_puts)
            ),
            "Recorded from MQ 9.3 on.",
        ),
        per_second("message_gets_per_second", "Messages got by the data manager", "message_gets", "QISTMGET", _DATA),
        per_second("message_puts_per_second", "Messages put by the data manager", "message_puts", "QISTMPUT", _DATA),
        per_second("object_creates_per_second", "Objects created", "object_creates", "QISTDCRE", _DATA),
        per_second("object_locates_per_second", "Objects located", "object_locates", "QISTDLOC", _DATA),
        Metric(
            "gets_from_pool_fraction",
            "Gets whose message was in the buffer pool",
            FRACTION,
            "QISTGETB / (QISTGETB + QISTGETD)",
            _DATA,
            lambda f: ratio(f.gets_from_pool, total(f.gets_from_pool, f.gets_from_disk)),
            "Only gets that had to look at a page are in either count.",
        ),
        per_second("lock_gets_per_second", "Lock requests", "lock_gets", "QLSTGETL", _LOCKS),
        Metric(
            "publish_time",
            "Elapsed time of a publish",
            MILLISECONDS,
            "QTSTETTO / ΣQTSTPTOT",
            _TOPICS,
            lambda f: ratio(f.publish_seconds, _publications(f)),
        ),
        Metric(
            "publications_unsubscribed_fraction",
            "Publishes without a subscriber",
            FRACTION,
            "QTSTPNOS / ΣQTSTPTOT",
            _TOPICS,
            lambda f: ratio(f.publications_unsubscribed, _publications(f)),
        ),
    ),
)

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


STORAGE = Grain(
    name="mq_storage",
    title="MQ storage manager",
    row="one queue manager in one interval",
    keys=(QUEUE_MANAGER,),
    facts=(
        INTERVAL,
        *facts_of("SMF 115-1", _STORAGE_FIELDS),
    ),
    sources=(Source("SMF 115", ("smf115_1_qsst",), _storage),),
    metrics=(
        per_second("getmains_per_second", "GETMAIN requests", "getmains", "QSSTGETM", _STORAGE),
        Metric(
            "expansions_per_second",
            "Pool expansions",
            PER_SECOND,
            "(QSSTEXPF + QSSTEXPV) / interval",
            _STORAGE,
            lambda f: ratio(total(f.fixed_expansions, f.variable_expansions), f.interval_seconds),
        ),
        per_event(
            "failed_fraction",
            "Storage requests that failed",
            PERCENTAGE,
            ("failed_requests", "QSSTRCNZ"),
            ("getmains", "QSSTGETM"),
            source=_STORAGE,
            caveat="QSSTRCNZ counts failures of every kind of request; the denominator holds the GETMAINs alone.",
        ),
    ),
)
