"""MQI calls of tasks: CPU, elapsed time and waits per call, by kind of call and queue (SMF 116 class 3: WQ, WTAS)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.inputs import Inputs
from plexlens.metrics.mq.application import accounting, with_application

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
