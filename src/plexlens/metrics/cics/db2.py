"""The Db2 connection of a region: the pool, the entries and the command threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis

from plexlens.metrics.cics.records import common, plus, statistics
from plexlens.metrics.definition import Rollup
from plexlens.metrics.inputs import Inputs


@dataclass(frozen=True)
class _Thread:
    """A number of threads: its field behind D2G_POOL_, D2R_ and D2G_COMD_; empty where there is none."""

    name: str
    title: str
    pool: str
    entry: str
    command: str = ""
    rollup: Rollup = Rollup.COUNT


#: What names of fields begin with, by kind of threads.
_PREFIXES = {"pool": "D2G_POOL_", "entry": "D2R_", "command": "D2G_COMD_"}

_THREADS = (
    _Thread("calls", "SQL calls", "CALLS", "CALLS", "CALLS"),
    _Thread("signons", "Signons", "SIGNONS", "SIGNONS", "SIGNONS"),
    _Thread("partial_signons", "Partial signons", "PARTIAL_SIGNONS", "PARTIAL_SIGNONS"),
    _Thread("commits", "Two-phase commits", "COMMITS", "COMMITS"),
    _Thread("single_phase_commits", "Single-phase commits", "SINGLE_PHASE", "SINGLE_PHASE"),
    _Thread("rollbacks", "Rollbacks", "ABORTS", "ABORTS"),
    _Thread("thread_creations", "Threads created", "THREAD_CREATE", "THREAD_CREATE", "THREAD_CREATE"),
    _Thread("thread_reuses", "Threads used again", "THREAD_REUSE", "THREAD_REUSE"),
    _Thread("thread_terminations", "Threads ended", "THREAD_TERM", "THREAD_TERM", "THREAD_TERM"),
    _Thread(
        "thread_waits", "Waits for a thread, or overflows", "THREAD_WAITS", "THREAD_WAIT_OR_OVERFL", "THREAD_OVERF"
    ),
    _Thread("thread_limit", "Limit of threads", "THREAD_LIMIT", "THREAD_LIMIT", "THREAD_LIMIT", Rollup.SETTING),
    _Thread("threads", "Threads at the end", "THREAD_CURRENT", "THREAD_CURRENT", "THREAD_CURRENT", rollup=Rollup.LEVEL),
    _Thread("peak_threads", "Most threads", "THREAD_HWM", "THREAD_HWM", "THREAD_HWM", rollup=Rollup.PEAK),
    _Thread("protected_limit", "Limit of protected threads", "", "PTHREAD_LIMIT", rollup=Rollup.SETTING),
    _Thread("peak_protected", "Most protected threads", "", "PTHREAD_HWM", rollup=Rollup.PEAK),
    _Thread("tasks", "Tasks", "TASK_TOTAL", "TASK_TOTAL"),
    _Thread("peak_tasks", "Most tasks at a time", "TASK_HWM", "TASK_HWM", rollup=Rollup.PEAK),
    _Thread("peak_waiting", "Most tasks waiting for a thread", "READYQ_HWM", "READYQ_HWM", rollup=Rollup.PEAK),
    _Thread("reuse_limit_hits", "Reuse limit reached", "REUSELIMIT_COUNT", "REUSELIMIT_COUNT"),
)

#: Of the connection as a whole; they stand in the row of the pool.
_CONNECTION = (
    ("tcb_limit", "Limit of TCBs for Db2", Rollup.SETTING, "D2G_TCB_LIMIT"),
    ("tcbs", "TCBs for Db2 at the end", Rollup.LEVEL, "D2G_TCB_CURRENT"),
    ("peak_tcbs", "Most TCBs for Db2", Rollup.PEAK, "D2G_TCB_HWM"),
    ("peak_tcb_waiting", "Most tasks waiting for a TCB", Rollup.PEAK, "D2G_TCB_READYQ_HWM"),
)


def _fields(kind: str) -> dict[str, str]:
    """Fact to field for the threads of one kind."""
    return {row.name: _PREFIXES[kind] + getattr(row, kind) for row in _THREADS if getattr(row, kind)}


def _columns(kind: str) -> dict[str, str]:
    """Fact to column for the threads of one kind."""
    return {name: field.lower() for name, field in _fields(kind).items()}


def _rows(table: Any, columns: dict[str, str], kind: str, entry: Any, db2: Any, **more: Any) -> Any:
    return table.select(
        **common(table),
        db2_entry=entry,
        thread_kind=ibis.literal(kind),
        db2_subsystem=db2,
        **{fact: table[column].cast("float64") for fact, column in columns.items()},
        **more,
    )


def _db2(inputs: Inputs) -> Any:
    parts = []
    if inputs.has("smf110_2_db2_connection"):
        pool, commands = _columns("pool"), _columns("command")
        connection = {name: field.lower() for name, _, _, field in _CONNECTION}
        table = statistics(
            inputs,
            "smf110_2_db2_connection",
            *pool.values(),
            *commands.values(),
            *connection.values(),
            text=("d2g_db2_id", "d2g_db2_group_id"),
        )
        db2 = ibis.coalesce(table.d2g_db2_id.nullif(""), table.d2g_db2_group_id.nullif(""))
        whole = {fact: table[column].cast("float64") for fact, column in connection.items()}
        parts.append(_rows(table, pool, "pool", ibis.literal("(pool)"), db2, **whole))
        parts.append(_rows(table, commands, "commands", ibis.literal("(commands)"), db2))
    if inputs.has("smf110_2_db2_entry"):
        entry = _columns("entry")
        table = statistics(inputs, "smf110_2_db2_entry", *entry.values(), text=("d2r_db2entry_name",))
        parts.append(_rows(table, entry, "entry", table.d2r_db2entry_name, ibis.null("string")))
    return plus(*parts)
