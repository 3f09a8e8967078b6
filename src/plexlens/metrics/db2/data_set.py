"""I/O of Db2 data sets (SMF 102 IFCID 199), with the names that IFCID 105 and 107 give to their numbers.

Db2 writes the records at the statistics interval, for data sets that had at least one I/O a second since the record
before. A record tells no interval: it is the time since the record before of the same Db2. The first record of the data
is taken to cover as long an interval as the next; a single one has none, and no rates.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2.records import pool_name
from plexlens.metrics.inputs import Inputs

_WHOSE = ("system", "subsystem")
#: Tables that give names to numbers: table, database and page set number, their names.
_NAMES = (
    ("smf102_ifcid105", "qw0105db", "qw0105ob", "qw0105dn", "qw0105tn"),
    ("smf102_ifcid107", "qw0107db", "qw0107ob", "qw0107dn", "qw0107tn"),
)


def _names(inputs: Inputs) -> Any:
    """Database and page set names by system, subsystem and numbers, as told last; None where no table has any."""
    result: Any = None
    for name, database, page_set, database_name, page_set_name in _NAMES:
        if not inputs.has(name):
            continue
        table = inputs.table(name, database, page_set, text=(database_name, page_set_name))
        told = table.select(
            *_WHOSE,
            told=table.interval_end,
            number=table[database].cast("int64"),
            page_set_number=table[page_set].cast("int64"),
            database_name=table[database_name].nullif(""),
            page_set_name=table[page_set_name].nullif(""),
        )
        result = told if result is None else result.union(told)
    if result is None:
        return None
    return result.group_by([*_WHOSE, "number", "page_set_number"]).aggregate(
        database_name=result.database_name.argmax(result.told), page_set_name=result.page_set_name.argmax(result.told)
    )


def _with_intervals(table: Any) -> Any:
    """The rows with the start of their interval: when the record before of the same Db2 was written."""
    ends = table.select(*_WHOSE, "end").distinct()
    window = ibis.window(group_by=list(_WHOSE), order_by=ends.end)
    ends = ends.mutate(before=ends.end.lag().over(window), after=ends.end.lead().over(window))
    length = ends.after.epoch_seconds() - ends.end.epoch_seconds()
    like_the_next = (ends.end.epoch_seconds() - length).as_timestamp("s").cast("timestamp('UTC')")
    ends = ends.select(*_WHOSE, "end", start=ends.before.coalesce(like_the_next))
    return table.left_join(ends, [*_WHOSE, "end"]).drop("system_right", "subsystem_right", "end_right")


def _data_sets(inputs: Inputs) -> Any:
    table = inputs.table(
        "smf102_ifcid199",
        *("qw0199db", "qw0199ob", "qw0199bp", "qw0199dn"),
        *("qw0199sr", "qw0199sa", "qw0199sm", "qw0199ar", "qw0199ap", "qw0199aa", "qw0199am", "qw0199vc", "qw0199vd"),
        text=("qw0199ty",),
    )
    # The records of one interval are written one after another: the second nearest names them all.
    written = table.interval_end.cast("timestamp('UTC')")
    table = table.mutate(
        end=(written + ibis.interval(milliseconds=500)).truncate("s").cast("timestamp('UTC')"),
        number=table.qw0199db.cast("int64"),
        page_set_number=table.qw0199ob.cast("int64"),
    )
    table = _with_intervals(table)
    names = _names(inputs)
    if names is None:
        table = table.mutate(database_name=ibis.null("string"), page_set_name=ibis.null("string"))
    else:
        by = [*_WHOSE, "number", "page_set_number"]
        table = table.left_join(names, by).drop(*(f"{name}_right" for name in by))
    sync, asynchronous = (table[name].cast("float64") for name in ("qw0199sr", "qw0199ar"))
    return table.select(
        system=table.system,
        sysplex=table.sysplex,
        utc_offset=table.utc_offset,
        interval_start=table.start,
        interval_end=table.end,
        subsystem=table.subsystem,
        pool=pool_name(table.qw0199bp),
        database=table.database_name.coalesce(table.number.cast("string")),
        page_set=table.page_set_name.coalesce(table.page_set_number.cast("string")),
        partition=table.qw0199dn.cast("int64").cast("string"),
        kind=ibis.cases(
            (table.qw0199ty == "T", "table space"), (table.qw0199ty == "I", "index space"), else_=table.qw0199ty
        ),
        interval_seconds=table.end.delta(table.start, unit="second").cast("float64"),
        sync_ios=sync,
        sync_delay_seconds=sync * table.qw0199sa.cast("float64"),
        sync_delay_longest_seconds=table.qw0199sm,
        async_ios=asynchronous,
        async_pages=table.qw0199ap,
        async_delay_seconds=asynchronous * table.qw0199aa.cast("float64"),
        async_delay_longest_seconds=table.qw0199am,
        pages_cached=table.qw0199vc,
        pages_changed=table.qw0199vd,
    )
