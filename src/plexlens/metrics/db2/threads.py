"""Accounting records of threads (SMF 101 IFCID 3) as rows of facts, and these gathered by what a grain asks for.

A dump holds a record for each thread or transaction, millions of them. They are added up before anything else, by the
keys of the grain and the quarter of an hour in which the record was written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ibis

from plexlens.metrics.db2.identifiers import connection_type, correlation_name
from plexlens.metrics.db2.records import SHARING
from plexlens.metrics.db2.suspensions import CAUSES, columns, recorded_fields
from plexlens.metrics.expressions import total
from plexlens.metrics.inputs import RECORD, Inputs

#: Length of the intervals that records are gathered in, in seconds.
QUARTER_HOUR = 900


#: A thread that took longer than this has no clock that can be believed.
_LONGEST = 366 * 86400.0

#: SQL statements that manipulate data, with what reports call them.
SQL = {
    "qxselect": "SELECT",
    "qxinsrt": "INSERT",
    "qxupdte": "UPDATE",
    "qxdelet": "DELETE",
    "qxopen": "OPEN",
    "qxfetch": "FETCH",
    "qxprep": "PREPARE",
    "qxdesc": "DESCRIBE",
}

#: Fact to field of what the statements of a thread did.
SQL_FACTS = {
    "selects": "qxselect",
    "inserts": "qxinsrt",
    "updates": "qxupdte",
    "deletes": "qxdelet",
    "opens": "qxopen",
    "fetches": "qxfetch",
    "prepares": "qxprep",
    "short_prepares": "qxstfnd",
    "full_prepares": "qxstnfnd",
    "prepares_avoided": "qxstnprp",
}

LOCK_FACTS = {
    "deadlocks": "qtxadea",
    "timeouts": "qtxatim",
    "lock_suspensions": "qtxasloc",
    "lock_requests": "qtxalock",
    "unlock_requests": "qtxaunlk",
    "escalations_shared": "qtxales",
    "escalations_exclusive": "qtxalex",
    "most_locks_held": "qtxanpl",
}

POOL_FACTS = {
    "getpages": "qbacget",
    "sync_reads": "qbacrio",
    "buffer_updates": "qbacsws",
    "sync_writes": "qbacimw",
    "sequential_prefetch_requests": "qbacseq",
    "list_prefetch_requests": "qbaclpf",
    "dynamic_prefetch_requests": "qbacdpf",
    "async_pages_read": "qbacsio",
}

_CLASS_2_ELAPSED = ("qwacasc", "qwacspeb", "qwacudeb", "qwactret", "qwactree")
_CLASS_2_CPU = ("qwacajst", "qwacsptt", "qwacudtt", "qwactrtt", "qwactrte")

_TIMES = (
    *("qwacbjst", "qwacejst", "qwaccomm", "qwacabrt", "qwacarna", "qwacspcp", "qwacudcp"),
    *_CLASS_2_ELAPSED,
    *_CLASS_2_CPU,
    *("qwaccls1_ziip", "qwaccls2_ziip", "qwacziip_eligible", "qwaclrn", "qwaclrab"),
)


def class_1_elapsed(begin: Any, end: Any) -> Any:
    """Seconds between class 1 begin and end.

    Threads of parallel work and records that roll several threads up have no begin; their end holds the time itself,
    as a clock that started in 1900. Null where the result is none that a thread can have taken.
    """
    started = begin.cast("timestamp('UTC')").coalesce(
        ibis.timestamp("1900-01-01T00:00:00+00:00").cast("timestamp('UTC')")
    )
    seconds = end.cast("timestamp('UTC')").delta(started, unit="microsecond").cast("float64") / 1e6
    return ibis.ifelse(seconds.between(0.0, _LONGEST), seconds, ibis.null("float64"))


def _left(table: Any, other: Any) -> Any:
    """The table with the columns of the same record of another one; null where it has none."""
    drop = [f"{name}_right" for name in RECORD]
    return table.left_join(other, list(RECORD)).drop(*drop)


def _first_section(inputs: Inputs, name: str, *fields: str, text: tuple[str, ...] = ()) -> Any:
    """The named columns of the first section of each record; without rows where the table is absent."""
    table = inputs.table(name, *fields, text=text)
    return table.filter(table.section_no == 1).select(*RECORD, *fields, *text)


def _absent(table: Any, names: Iterable[str], kind: str = "float64") -> Any:
    return table.mutate(**{name: ibis.null(kind) for name in names})


def _with(inputs: Inputs, table: Any, name: str, fields: tuple[str, ...]) -> Any:
    """The table with fields of another section of its records."""
    if not inputs.has(name):
        return _absent(table, fields)
    return _left(table, _first_section(inputs, name, *fields))


def with_correlation(inputs: Inputs, table: Any) -> Any:
    """A table of sections with what its records' correlation header says of the thread.

    Adds ``connection_type``, ``connection``, ``plan``, ``correlation``, ``auth``, ``end_user``, ``workstation`` and
    ``transaction_name``.
    """
    names = ("qwhcaid", "qwhccv", "qwhccn", "qwhcplan", "qwhceuid", "qwhceutx", "qwhceuwn")
    if inputs.has("smf101_qwhc"):
        table = _left(table, _first_section(inputs, "smf101_qwhc", "qwhcatyp", text=names))
    else:
        table = _absent(_absent(table, names, "string"), ("qwhcatyp",))
    return table.mutate(
        connection_type=connection_type(table.qwhcatyp),
        connection=table.qwhccn,
        plan=table.qwhcplan,
        correlation=correlation_name(table.qwhcatyp, table.qwhccv),
        auth=table.qwhcaid,
        end_user=table.qwhceuid.nullif(""),
        workstation=table.qwhceuwn.nullif(""),
        transaction_name=table.qwhceutx.nullif(""),
    )


def _pools(inputs: Inputs) -> Any:
    """What each record's thread did to buffer pools, all pools together."""
    pools = inputs.table("smf101_ifcid3_qbac", *POOL_FACTS.values())
    return pools.group_by(list(RECORD)).aggregate(
        **{field: pools[field].cast("float64").sum() for field in POOL_FACTS.values()}
    )


def _zero(*parts: Any) -> Any:
    """Sum of the parts, null as zero."""
    return sum((part.cast("float64").fill_null(0.0) for part in parts[1:]), parts[0].cast("float64").fill_null(0.0))


#: Columns of `threads` that are added up, and of which the highest counts.
_DERIVED = ("occurrences", "class1_elapsed_seconds", "class1_task_cpu_seconds", "inconsistent", "qwacalog", "qwacalct")
_SUMMED = tuple(
    dict.fromkeys(
        (
            *_DERIVED,
            *(name for name in _TIMES if name not in {"qwacbjst", "qwacejst"}),
            *recorded_fields(CAUSES, "QW"),
            *SQL,
            *SQL_FACTS.values(),
            *(field for field in LOCK_FACTS.values() if field != "qtxanpl"),
            *POOL_FACTS.values(),
        )
    )
)
_HIGHEST = ("class1_longest_seconds", "qtxanpl")


def threads(inputs: Inputs) -> Any:
    """A row for each accounting record of a thread: identity, the names of `with_correlation`, and what it counted.

    What is a sum of several fields is left to `thread_facts`: added up first, it is computed for few rows.
    """
    waits = recorded_fields(CAUSES, "QWAC")
    overflow = recorded_fields(CAUSES, "QWAX")
    table = inputs.table("smf101_ifcid3_qwac", *_TIMES, *waits, text=("qwacbsc", "qwacesc"))
    table = with_correlation(inputs, table)
    table = _with(inputs, table, "smf101_ifcid3_qwax", overflow)
    table = _with(inputs, table, "smf101_ifcid3_qxst", tuple(dict.fromkeys((*SQL, *SQL_FACTS.values()))))
    table = _with(inputs, table, "smf101_ifcid3_qtxa", tuple(LOCK_FACTS.values()))
    has_pools = inputs.has("smf101_ifcid3_qbac")
    table = _left(table, _pools(inputs)) if has_pools else _absent(table, POOL_FACTS.values())
    # Older releases count this wait in QWAC; where QWAX has it, it is not counted twice.
    table = table.mutate(
        qwacalog=ibis.ifelse(table.qwaxalog.isnull(), table.qwacalog.cast("float64"), ibis.null("float64")),
        qwacalct=ibis.ifelse(table.qwaxalct.isnull(), table.qwacalct.cast("float64"), ibis.null("float64")),
    )
    class_1 = class_1_elapsed(table.qwacbsc, table.qwacesc)
    class_2 = _zero(*(table[name] for name in _CLASS_2_ELAPSED))
    suspended = _zero(*(table[name.lower()] for cause in CAUSES for name in cause.time), table.qwacalog)
    wrong = (class_2 > class_1 + 0.001) | (suspended > class_2 + 0.001)
    # What is not a number compares as greater than everything.
    known = ~(class_2.isnan() | suspended.isnan())
    alone = table.qwacbsc.notnull() & (table.qwacasc.cast("float64") > 0) & known
    return table.mutate(
        occurrences=ibis.literal(1.0),
        class1_elapsed_seconds=class_1,
        class1_longest_seconds=class_1,
        class1_task_cpu_seconds=table.qwacejst.cast("float64") - table.qwacbjst.cast("float64").fill_null(0.0),
        inconsistent=ibis.ifelse(alone & wrong, 1.0, 0.0),
    )


def thread_facts(inputs: Inputs, keys: Iterable[str]) -> Any:
    """The facts of thread accounting, by the keys and the quarter of an hour in which records were written."""
    f = gathered(inputs, threads(inputs), keys, summed=_SUMMED, highest=_HIGHEST)
    return f.mutate(
        commits=f.qwaccomm,
        rollbacks=f.qwacabrt,
        class1_cp_cpu_seconds=total(f.class1_task_cpu_seconds, f.qwacspcp, f.qwacudcp),
        class1_se_cpu_seconds=f.qwaccls1_ziip,
        class1_secp_cpu_seconds=f.qwacziip_eligible,
        class2_elapsed_seconds=total(*(f[name] for name in _CLASS_2_ELAPSED)),
        class2_cp_cpu_seconds=total(*(f[name] for name in _CLASS_2_CPU)),
        class2_se_cpu_seconds=f.qwaccls2_ziip,
        class2_entries=f.qwacarna,
        log_records=f.qwaclrn,
        log_bytes=f.qwaclrab,
        sql_statements=total(*(f[field] for field in SQL)),
        **{fact: f[field] for fact, field in SQL_FACTS.items()},
        **{fact: f[field] for fact, field in LOCK_FACTS.items()},
        **{fact: f[field] for fact, field in POOL_FACTS.items()},
        **columns(f, CAUSES),
    )


def _with_group(inputs: Inputs, table: Any) -> Any:
    """The table with the data sharing group and member name of its Db2, as its statistics records tell them."""
    if not inputs.has(SHARING):
        return _absent(table, ("group_name", "member"), "string")
    sharing = inputs.table(SHARING, text=("qwhadsgn", "qwhamemn"))
    names = sharing.group_by(["system", "subsystem"]).aggregate(
        group_name=sharing.qwhadsgn.nullif("").max(), member=sharing.qwhamemn.nullif("").max()
    )
    return table.left_join(names, ["system", "subsystem"]).drop("system_right", "subsystem_right")


def gathered(
    inputs: Inputs, table: Any, keys: Iterable[str], *, summed: Iterable[str], highest: Iterable[str] = ()
) -> Any:
    """Rows of records added up by system, subsystem, keys and quarter of an hour.

    Parameters
    ----------
    inputs
        The raw tables.
    table
        Rows of records: identity columns, keys, and what they counted.
    keys
        Names of the grain's keys; ``subsystem`` among them.
    summed, highest
        Columns to add up, and to take the highest of.
    """
    written = table.interval_end.cast("timestamp('UTC')")
    start = (written.epoch_seconds() // QUARTER_HOUR * QUARTER_HOUR).as_timestamp("s").cast("timestamp('UTC')")
    # The records tell of the time from the first thread's start to the last one's end, not of whole quarters. A record
    # without the start of its thread tells at least of the quarter in which it was written, up to that moment.
    began = table.qwacbsc.cast("timestamp('UTC')") if "qwacbsc" in table.columns else start
    table = table.mutate(quarter=start, thread_start=ibis.coalesce(began, start), thread_end=written)
    reach = table.group_by(["system", "subsystem"]).aggregate(
        covered_from=table.thread_start.min(), covered_to=table.thread_end.max()
    )
    by = list(dict.fromkeys(("system", *keys, "quarter")))
    result = table.group_by(by).aggregate(
        sysplex=table.sysplex.max(),
        utc_offset=table.utc_offset.max(),
        **{name: table[name].cast("float64").sum() for name in summed},
        **{name: table[name].cast("float64").max() for name in highest},
    )
    result = result.left_join(reach, ["system", "subsystem"]).drop("system_right", "subsystem_right")
    end = result.quarter + ibis.interval(seconds=QUARTER_HOUR)
    result = result.mutate(
        interval=result.quarter,
        interval_start=ibis.greatest(result.quarter, result.covered_from),
        interval_end=ibis.least(end, result.covered_to),
    ).drop("quarter", "covered_from", "covered_to")
    return _with_group(inputs, result)
