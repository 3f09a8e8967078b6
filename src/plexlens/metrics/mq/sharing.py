"""Queue sharing groups: coupling facility structures, shared message data sets, Db2 requests (SMF 115-2)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, facts_of, per_event, per_second
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import INTERVAL, QUEUE_MANAGER, common, document, plain, statistics
from plexlens.metrics.unit import COUNT, FRACTION, MICROSECONDS, MILLISECONDS, PAGES, PER_SECOND, PERCENTAGE, SECONDS

_COUPLING = document("Coupling facility manager data records (QEST)")
_SMDS = document("Shared message data set data records (QESD)")
_DB2 = document("Db2 manager data records (Q5ST)")

_STRUCTURE_FIELDS = (
    Field("single_calls", "Single entry calls (IXLLSTE)", "QESTCSEC"),
    Field("multiple_calls", "Multiple entry calls (IXLLSTM)", "QESTCMEC"),
    Field("single_seconds", "Time in single entry calls", "QESTSSTC", SECONDS),
    Field("multiple_seconds", "Time in multiple entry calls", "QESTMSTC", SECONDS),
    Field("single_redrives", "Redrives of single entry calls", "QESTRSEC"),
    Field("multiple_redrives", "Redrives of multiple entry calls", "QESTRMEC"),
    Field("full", "Structure full conditions", "QESTSFUL"),
    Field("most_entries", "Most entries in use", "QESTMNUS", COUNT, Rollup.PEAK),
    Field("most_elements", "Most elements in use", "QESTMLUS", COUNT, Rollup.PEAK),
)


def _structures(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf115_2_qest_structure", _STRUCTURE_FIELDS, text=("qeststr",))
    return plain(table, _STRUCTURE_FIELDS, structure=table.qeststr)


STRUCTURE = Grain(
    name="mq_structure",
    title="MQ use of coupling facility structures",
    row="one structure as one queue manager used it in one interval",
    keys=(QUEUE_MANAGER, Key("structure", "Structure")),
    facts=(INTERVAL, *facts_of("SMF 115-2", _STRUCTURE_FIELDS)),
    sources=(Source("SMF 115", ("smf115_2_qest_structure",), _structures),),
    metrics=(
        Metric(
            "calls_per_second",
            "Calls",
            PER_SECOND,
            "(QESTCSEC + QESTCMEC) / interval",
            _COUPLING,
            lambda f: ratio(total(f.single_calls, f.multiple_calls), f.interval_seconds),
        ),
        per_event(
            "single_time",
            "Time of a single entry call",
            MICROSECONDS,
            ("single_seconds", "QESTSSTC"),
            ("single_calls", "QESTCSEC"),
            source=_COUPLING,
            caveat="As the queue manager saw it, redrives included; compare with the service time of SMF 74-4.",
        ),
        per_event(
            "multiple_time",
            "Time of a multiple entry call",
            MICROSECONDS,
            ("multiple_seconds", "QESTMSTC"),
            ("multiple_calls", "QESTCMEC"),
            source=_COUPLING,
            caveat="As the queue manager saw it, redrives included.",
        ),
        Metric(
            "redrive_fraction",
            "Redrives per call",
            PERCENTAGE,
            "(QESTRSEC + QESTRMEC) / (QESTCSEC + QESTCMEC)",
            _COUPLING,
            lambda f: ratio(total(f.single_redrives, f.multiple_redrives), total(f.single_calls, f.multiple_calls)),
        ),
    ),
)

_SMDS_FIELDS = (
    Field("blocks", "Blocks for data", "QESDSMBD", COUNT, Rollup.AMOUNT),
    Field("used_blocks", "Blocks in use", "QESDSMBU", COUNT, Rollup.LEVEL),
    Field("most_blocks", "Most blocks in use", "QESDSMMU", COUNT, Rollup.PEAK),
    Field("messages", "Messages in the data set", "QESDSMMC", COUNT, Rollup.LEVEL),
    Field("most_messages", "Most messages", "QESDSMMM", COUNT, Rollup.PEAK),
    Field("allocations", "Space allocation requests", "QESDSMAR"),
    Field("full", "Allocations that failed, data set full", "QESDSMFL"),
    Field("buffers", "Buffers", "QESDBFTO", COUNT, Rollup.AMOUNT),
    Field("buffer_gets", "Buffer gets", "QESDBFGB"),
    Field("buffer_valid_gets", "Buffer gets with valid data", "QESDBFGV"),
    Field("buffer_gets_failed", "Buffer gets without a buffer", "QESDBFGN"),
    Field("read_requests", "Read requests", "QESDBFRR"),
    Field("reads_saved", "Reads satisfied from a buffer", "QESDBFRS"),
    Field("reads_partial", "Reads satisfied in part from a buffer", "QESDBFRP"),
    Field("write_requests", "Write requests", "QESDBFWR"),
    Field("pool_waits", "Waits for the pool", "QESDBFWP"),
    Field("pool_wait_seconds", "Time of waits for the pool", "QESDBFPT", SECONDS),
    Field("buffer_waits", "Waits for a buffer", "QESDBFWB"),
    Field("buffer_wait_seconds", "Time of waits for a buffer", "QESDBFBT", SECONDS),
    Field("write_ios", "Write I/Os", "QESDIOWR"),
    Field("write_pages", "Pages written", "QESDIOWP", PAGES),
    Field("write_seconds", "Time of write I/Os", "QESDIOWT", SECONDS),
    Field("write_wait_seconds", "Wait for write I/Os", "QESDIOWW", SECONDS),
    Field("read_ios", "Read I/Os, own data set", "QESDIORR"),
    Field("read_pages", "Pages read, own data set", "QESDIORP", PAGES),
    Field("read_seconds", "Time of read I/Os, own data set", "QESDIORT", SECONDS),
    Field("read_wait_seconds", "Wait for read I/Os, own data set", "QESDIORW", SECONDS),
    Field("other_read_ios", "Read I/Os, other data sets", "QESDIOOR"),
    Field("other_read_pages", "Pages read, other data sets", "QESDIOOP", PAGES),
    Field("other_read_seconds", "Time of read I/Os, other data sets", "QESDIOOT", SECONDS),
    Field("other_read_wait_seconds", "Wait for read I/Os, other data sets", "QESDIOOW", SECONDS),
)


def _shared_data_sets(inputs: Inputs) -> Any:
    table = statistics(inputs, "smf115_2_qesd", _SMDS_FIELDS, text=("qesdstr",))
    return plain(table, _SMDS_FIELDS, structure=table.qesdstr)


SHARED_DATA_SET = Grain(
    name="mq_shared_data_set",
    title="MQ shared message data sets",
    row="the shared message data sets of one structure as one queue manager used them in one interval",
    keys=(QUEUE_MANAGER, Key("structure", "Structure")),
    facts=(INTERVAL, *facts_of("SMF 115-2", _SMDS_FIELDS)),
    sources=(Source("SMF 115", ("smf115_2_qesd",), _shared_data_sets),),
    metrics=(
        per_event(
            "used_fraction",
            "Blocks in use",
            FRACTION,
            ("used_blocks", "QESDSMBU"),
            ("blocks", "QESDSMBD"),
            source=_SMDS,
        ),
        per_event(
            "reads_saved_fraction",
            "Reads satisfied from a buffer",
            FRACTION,
            ("reads_saved", "QESDBFRS"),
            ("read_requests", "QESDBFRR"),
            source=_SMDS,
        ),
        per_event(
            "buffer_wait_time",
            "Time of a wait for a buffer",
            MILLISECONDS,
            ("buffer_wait_seconds", "QESDBFBT"),
            ("buffer_waits", "QESDBFWB"),
            source=_SMDS,
        ),
        per_second("write_ios_per_second", "Write I/Os", "write_ios", "QESDIOWR", _SMDS),
        per_event(
            "write_time",
            "Time of a write I/O",
            MILLISECONDS,
            ("write_seconds", "QESDIOWT"),
            ("write_ios", "QESDIOWR"),
            source=_SMDS,
        ),
        per_second("read_ios_per_second", "Read I/Os, own data set", "read_ios", "QESDIORR", _SMDS),
        per_event(
            "read_time",
            "Time of a read I/O, own data set",
            MILLISECONDS,
            ("read_seconds", "QESDIORT"),
            ("read_ios", "QESDIORR"),
            source=_SMDS,
        ),
        per_second("other_read_ios_per_second", "Read I/Os, other data sets", "other_read_ios", "QESDIOOR", _SMDS),
        per_event(
            "other_read_time",
            "Time of a read I/O, other data sets",
            MILLISECONDS,
            ("other_read_seconds", "QESDIOOT"),
            ("other_read_ios", "QESDIOOR"),
            source=_SMDS,
        ),
    ),
)

#: What a request is called: (field that counts it, stem of the four fields of its times).
_DB2_REQUESTS = {
    "delete": ("delecnt", "dele"),
    "list": ("listcnt", "list"),
    "read": ("readcnt", "read"),
    "update": ("updtcnt", "updt"),
    "write": ("writcnt", "writ"),
    "select channel status": ("scssel", "scss"),
    "insert channel status": ("scsins", "scsi"),
    "update channel status": ("scsupd", "scsu"),
    "delete channel status": ("scsdel", "scsd"),
    "select synchronization key": ("ssksel", "ssks"),
    "insert synchronization key": ("sskins", "sski"),
    "delete synchronization key": ("sskdel", "sskd"),
    "select large message": ("lmssel", "lmss"),
    "insert large message": ("lmsins", "lmsi"),
    "update large message": ("lmsupd", "lmsu"),
    "delete large message": ("lmsdel", "lmsd"),
    "list large messages": ("lmslis", "lmsl"),
}


def _db2_requests(inputs: Inputs) -> Any:
    facts = ("requests", "thread_seconds", "sql_seconds", "longest_thread_seconds", "longest_sql_seconds")
    fields = {
        request: dict(zip(facts, (count, *(f"{stem}{end}" for end in ("tcuw", "scuw", "tmxw", "smxw"))), strict=True))
        for request, (count, stem) in _DB2_REQUESTS.items()
    }
    table = inputs.table("smf115_2_q5st", *(name for names in fields.values() for name in names.values()))
    entries = ibis.array(
        [
            ibis.struct(
                {"request": ibis.literal(request)} | {fact: table[name].cast("float64") for fact, name in names.items()}
            )
            for request, names in fields.items()
        ]
    )
    table = table.select(**common(table), entry=entries.unnest())
    table = table.mutate(**{name: table.entry[name] for name in ("request", *facts)}).drop("entry")
    return table.filter(table.requests > 0)


DB2 = Grain(
    name="mq_db2",
    title="MQ requests to Db2",
    row="one kind of request of one queue manager to Db2 in one interval",
    keys=(QUEUE_MANAGER, Key("request", "Request")),
    facts=(
        INTERVAL,
        Fact("requests", "Requests", COUNT, Rollup.COUNT, "SMF 115-2 Q5ST DELECNT, LISTCNT, READCNT ... LMSLIS"),
        Fact("thread_seconds", "Thread elapsed time", SECONDS, Rollup.COUNT, "SMF 115-2 Q5ST xxxxTCUW"),
        Fact("sql_seconds", "SQL elapsed time", SECONDS, Rollup.COUNT, "SMF 115-2 Q5ST xxxxSCUW"),
        Fact("longest_thread_seconds", "Longest thread time", MILLISECONDS, Rollup.PEAK, "SMF 115-2 Q5ST xxxxTMXW"),
        Fact("longest_sql_seconds", "Longest SQL time", MILLISECONDS, Rollup.PEAK, "SMF 115-2 Q5ST xxxxSMXW"),
    ),
    sources=(Source("SMF 115", ("smf115_2_q5st",), _db2_requests),),
    metrics=(
        per_second("requests_per_second", "Requests", "requests", "requests", _DB2),
        per_event(
            "thread_time",
            "Thread time of a request",
            MILLISECONDS,
            ("thread_seconds", "xxxxTCUW"),
            ("requests", "requests"),
            source=_DB2,
        ),
        per_event(
            "sql_time",
            "SQL time of a request",
            MILLISECONDS,
            ("sql_seconds", "xxxxSCUW"),
            ("requests", "requests"),
            source=_DB2,
        ),
        Metric(
            "queue_time",
            "Thread time outside SQL",
            MILLISECONDS,
            "(xxxxTCUW - xxxxSCUW) / requests",
            _DB2,
            lambda f: ratio(f.thread_seconds - f.sql_seconds, f.requests),
            "Waiting for a server task, and hand-over.",
        ),
    ),
)
