"""Queue sharing groups: coupling facility structures, shared message data sets, Db2 requests (SMF 115-2)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.records import common, plain, statistics
from plexlens.metrics.unit import COUNT, PAGES, SECONDS

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
