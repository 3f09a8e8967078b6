"""MQI calls of tasks: CPU, elapsed time and waits per call, by kind of call and queue (SMF 116 class 3: WQ, WTAS)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio
from plexlens.metrics.fields import per_event
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.application import APPLICATION_KEYS, accounting, with_application
from plexlens.metrics.mq.records import document
from plexlens.metrics.unit import COUNT, FRACTION, MEAN_COUNT, MICROSECONDS, SECONDS

_ACCOUNTING = document("Thread-level and queue-level data records (WTAS, WQ)")

#: Facts of a call: fact, what the queue block's field ends in.
_QUEUE_FACTS = {
    "calls": "n",
    "elapsed_seconds": "et",
    "cpu_seconds": "ct",
    "suspends": "susn",
    "suspend_seconds": "suset",
    "forced_log_writes": "jcn",
    "forced_log_seconds": "jcet",
    "log_writes": "jwn",
    "log_seconds": "jwet",
    "page_set_reads": "psn",
    "page_set_seconds": "pset",
}

_BASE = ("calls", "elapsed_seconds", "cpu_seconds")
_WAITS = tuple(name for name in _QUEUE_FACTS if name not in _BASE)

#: Call: stem of its fields in the queue block, and which waits it has.
_QUEUE_CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "MQOPEN": ("open", ("suspends", "suspend_seconds")),
    "MQCLOSE": ("close", ("suspends", "suspend_seconds")),
    "MQGET": ("get", _WAITS),
    "MQPUT": ("put", _WAITS),
    "MQPUT1": ("put1", _WAITS),
    "MQINQ": ("inq", ()),
    "MQSET": ("set", ("forced_log_writes", "forced_log_seconds", "log_writes", "log_seconds")),
    "MQCB": ("cb", ()),
}

#: Fields whose names do not follow the pattern.
_IRREGULAR = {
    ("open", "suspends"): "opensun",
    ("open", "suspend_seconds"): "opensuet",
    ("close", "suspends"): "closesun",
    ("close", "suspend_seconds"): "closesuet",
}

#: Call without a queue: fields of its number, elapsed and CPU time in the task block.
_TASK_CALLS = {
    "commit": ("wtascmn", "wtascmet", "wtascmct"),
    "backout": ("wtasban", "wtasbaet", "wtasbact"),
    "prepare": ("wtasprn", "wtaspret", "wtasprct"),
    "MQSUB": ("wtassun", "wtassuet", "wtassuct"),
    "MQSUBRQ": ("wtassqn", "wtassqet", "wtassqct"),
    "MQCTL": ("wtasctn", "wtasctet", "wtasctct"),
    "MQSTAT": ("wtasstn", "wtasstet", "wtasstct"),
    "other": ("wtasotn", "wtasotet", "wtasotct"),
}


def _field(stem: str, fact: str) -> str:
    return _IRREGULAR.get((stem, fact), stem + _QUEUE_FACTS[fact])


def queue_call_columns(fact: str) -> tuple[str, ...]:
    """The queue block's fields of one fact for every kind of call that has it."""
    return tuple(_field(stem, fact) for stem, waits in _QUEUE_CALLS.values() if fact in _BASE or fact in waits)


def _unfolded(table: Any, queue: Any, calls: dict[str, dict[str, str]]) -> Any:
    """One row for each kind of call that a block counted; ``calls`` maps call to fact to field."""
    entries = [
        ibis.struct(
            {"call": ibis.literal(call)}
            | {
                fact: table[fields[fact]].cast("float64") if fact in fields else ibis.null("float64")
                for fact in _QUEUE_FACTS
            }
        )
        for call, fields in calls.items()
    ]
    table = table.select(**accounting(table), queue=queue, entry=ibis.array(entries).unnest())
    table = table.mutate(**{name: table.entry[name] for name in ("call", *_QUEUE_FACTS)}).drop("entry")
    return table.filter(table.calls > 0)


def _queue_calls(inputs: Inputs) -> Any:
    calls = {
        call: {fact: _field(stem, fact) for fact in (*_BASE, *waits)} for call, (stem, waits) in _QUEUE_CALLS.items()
    }
    columns = [column for fields in calls.values() for column in fields.values()]
    table = with_application(inputs, inputs.table("smf116_1_wq", *columns, text=("basename", "objname")))
    return _unfolded(table, ibis.coalesce(table.basename.nullif(""), table.objname.nullif("")), calls)


def _task_calls(inputs: Inputs) -> Any:
    calls = {call: dict(zip(_BASE, fields, strict=True)) for call, fields in _TASK_CALLS.items()}
    columns = [column for fields in calls.values() for column in fields.values()]
    table = with_application(inputs, inputs.table("smf116_1_wtas", *columns))
    return _unfolded(table, ibis.null("string"), calls)


def _calls(inputs: Inputs) -> Any:
    tasks = _task_calls(inputs)
    return tasks.union(_queue_calls(inputs)) if inputs.has("smf116_1_wq") else tasks


def _source(fact: str) -> str:
    fields = ", ".join(name.upper() for name in queue_call_columns(fact))
    task = {"calls": "; WTASCMN ... WTASOTN", "elapsed_seconds": "; WTASCMET ...", "cpu_seconds": "; WTASCMCT ..."}
    return f"SMF 116-1 and 116-2 {fields}{task.get(fact, '')}"


_TITLES = {
    "calls": ("Calls", COUNT),
    "elapsed_seconds": ("Elapsed time", SECONDS),
    "cpu_seconds": ("CPU time", SECONDS),
    "suspends": ("Suspends", COUNT),
    "suspend_seconds": ("Time suspended", SECONDS),
    "forced_log_writes": ("Forced log writes", COUNT),
    "forced_log_seconds": ("Time of forced log writes", SECONDS),
    "log_writes": ("Log writes", COUNT),
    "log_seconds": ("Time of log writes", SECONDS),
    "page_set_reads": ("Page set reads", COUNT),
    "page_set_seconds": ("Time of page set reads", SECONDS),
}

_LOG_CAVEAT = (
    "Log writes and forced log writes can be the same writes, and time suspended holds waits for either: the parts do "
    "not add up to the elapsed time."
)

CALL = Grain(
    name="mq_call",
    title="MQ calls",
    row="one kind of call of one connection to one queue in one accounting interval; calls without a queue beside",
    keys=(*APPLICATION_KEYS, Key("queue", "Queue"), Key("call", "Call")),
    facts=tuple(Fact(name, title, unit, Rollup.COUNT, _source(name)) for name, (title, unit) in _TITLES.items()),
    sources=(Source("SMF 116", ("smf116_1_wtid", "smf116_1_wtas", "smf115_qwhs"), _calls),),
    metrics=(
        per_event(
            "elapsed_time",
            "Elapsed time of a call",
            MICROSECONDS,
            ("elapsed_seconds", "xxxET"),
            ("calls", "xxxN"),
            source=_ACCOUNTING,
            caveat="An MQGET that waits for a message does so within its elapsed time.",
        ),
        per_event(
            "cpu_time",
            "CPU time of a call",
            MICROSECONDS,
            ("cpu_seconds", "xxxCT"),
            ("calls", "xxxN"),
            source=_ACCOUNTING,
        ),
        Metric(
            "cpu_fraction",
            "CPU of the elapsed time",
            FRACTION,
            "xxxCT / xxxET",
            _ACCOUNTING,
            lambda f: ratio(f.cpu_seconds, f.elapsed_seconds),
            "What is left is waiting: for a message, the log, a page set, a latch, or for CPU.",
        ),
        per_event(
            "suspend_time",
            "Time suspended per call",
            MICROSECONDS,
            ("suspend_seconds", "xxxSUSET"),
            ("calls", "xxxN"),
            source=_ACCOUNTING,
            caveat=_LOG_CAVEAT,
        ),
        per_event(
            "forced_log_time",
            "Time of forced log writes per call",
            MICROSECONDS,
            ("forced_log_seconds", "xxxJCET"),
            ("calls", "xxxN"),
            source=_ACCOUNTING,
            caveat=_LOG_CAVEAT,
        ),
        per_event(
            "log_time",
            "Time of log writes per call",
            MICROSECONDS,
            ("log_seconds", "xxxJWET"),
            ("calls", "xxxN"),
            source=_ACCOUNTING,
            caveat=_LOG_CAVEAT,
        ),
        per_event(
            "page_set_time",
            "Time of page set reads per call",
            MICROSECONDS,
            ("page_set_seconds", "xxxPSET"),
            ("calls", "xxxN"),
            source=_ACCOUNTING,
        ),
        per_event(
            "time_per_page_set_read",
            "Time of a page set read",
            MICROSECONDS,
            ("page_set_seconds", "xxxPSET"),
            ("page_set_reads", "xxxPSN"),
            source=_ACCOUNTING,
        ),
        per_event(
            "time_per_forced_log_write",
            "Time of a forced log write",
            MICROSECONDS,
            ("forced_log_seconds", "xxxJCET"),
            ("forced_log_writes", "xxxJCN"),
            source=_ACCOUNTING,
        ),
        per_event(
            "suspends_per_call",
            "Suspends per call",
            MEAN_COUNT,
            ("suspends", "xxxSUSN"),
            ("calls", "xxxN"),
            source=_ACCOUNTING,
        ),
    ),
)
