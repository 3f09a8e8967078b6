"""Interval values of cumulative counters as Ibis, for sources that are not SQL yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ibis

from plexlens.metrics.inputs import RECORD

NO_RECORD_BEFORE = "no record before"
RESTART = "restart"
SAME_TIME = "same time as the record before"
NO_TIME = "no time"

#: Why a record makes no interval, as the column ``unused_because`` says it.
REASONS = (NO_RECORD_BEFORE, RESTART, SAME_TIME, NO_TIME)

#: Columns that `deltas` adds.
ADDED = ("interval_seconds", "restarts", "missing_records", "unused_because")

_RANGE = float(2**32)
_HALF = float(2**31)
_WIDE = 64
_NARROW = 32


def deltas(
    table: Any,
    *,
    entity: Sequence[str],
    counters: Mapping[str, int | str],
    witnesses: Sequence[str] | None = None,
    time: str = "interval_end",
    sequence: str | None = None,
    started: str | None = None,
) -> Any:
    """Interval values of cumulative counters, by one window over the records of each entity in order of time.

    Parameters
    ----------
    table
        One row for each entity and record, with `time` and the columns of `plexlens.metrics.inputs.RECORD`, which
        decide between records of the same time.
    entity
        Columns whose values together are one entity: system, sysplex, subsystem, and what is counted within it. Nulls
        are a value like others.
    counters
        Column names to the counter's width: 32 or 64 bits, or the name of a column that holds the width of each row,
        where releases differ.
    witnesses
        The counters whose fall means a restart; all by default. A counter that is no witness, because its place in the
        record is not certain, is null where it falls without having wrapped.
    time
        Column with the time of the record.
    sequence
        Column with a number that rises by one from record to record and begins anew with the subsystem.
    started
        Column with the start of the subsystem, where records tell it: the first record after it then makes an
        interval that begins there.

    Returns
    -------
    ibis.expr.types.Table
        The rows and columns of `table`, in which each counter is the interval's value (float64; null where the record
        makes no interval), ``interval_start`` the time of the record before, and beside them

        - ``interval_seconds`` (float64, s): length of the interval; null where there is none;
        - ``restarts`` (float64): 1 where the subsystem started between this record and the one before, else 0;
        - ``missing_records`` (float64): records between this one and the one before that are not there, by sequence
          number; null without;
        - ``unused_because`` (string): one of `REASONS`; null where the record makes an interval.
    """
    window = ibis.window(group_by=list(entity), order_by=[time, *_order(table, sequence)])
    before = {"_time": table[time].lag(1).over(window)}
    if sequence is not None:
        before["_sequence"] = table[sequence].cast("float64").lag(1).over(window)
    for name in counters:
        before[f"_{name}"] = table[name].cast("float64").lag(1).over(window)
    seen = table.mutate(**before)

    def wraps(table: Any, change: Any, width: int | str) -> Any:
        narrow = table[width] == _NARROW if isinstance(width, str) else ibis.literal(width == _NARROW)
        return (change < 0) & narrow.fill_null(False) & (change + _RANGE < _HALF)

    changes = {name: seen[name].cast("float64") - seen[f"_{name}"] for name in counters}
    fell = ibis.literal(False)
    for name in counters if witnesses is None else witnesses:
        fell = fell | ((changes[name] < 0) & ~wraps(seen, changes[name], counters[name])).fill_null(False)
    first = seen["_time"].isnull()
    restarted = fell
    missing = ibis.null("float64")
    if sequence is not None:
        step = seen[sequence].cast("float64") - seen["_sequence"]
        restarted = restarted | (step < 0).fill_null(False)
        missing = ibis.ifelse(step > 0, step - 1, missing)
    same_time = (seen[time] == seen["_time"]).fill_null(False)
    untimed = seen[time].isnull()
    restarted = restarted & ~first & ~same_time & ~untimed
    # Counted from the start itself where the record tells when that was.
    known = seen[started].notnull() if started is not None else ibis.literal(False)
    fresh = (first | restarted) & known & ~untimed
    # A view keeps what is decided once for the row from being written out again for each of its counters.
    told = seen.mutate(
        _first=first,
        _restarted=restarted,
        _same_time=same_time,
        _fresh=fresh,
        _untimed=untimed,
        _used=fresh | ~(first | restarted | same_time | untimed),
        _missing=missing,
        **{f"_{name}": change for name, change in changes.items()},
    ).view()

    begin = told["_time"]
    if started is not None:
        begin = ibis.ifelse(told["_fresh"], told[started], begin)
    length = told[time].delta(begin, unit="microsecond").cast("float64") / 1e6
    nothing = ibis.null("float64")

    def value(name: str) -> Any:
        change = told[f"_{name}"]
        since = ibis.cases((change >= 0, change), (wraps(told, change, counters[name]), change + _RANGE), else_=nothing)
        if started is not None:
            since = ibis.ifelse(told["_fresh"], told[name].cast("float64"), since)
        return ibis.ifelse(told["_used"], since, nothing)

    result = told.mutate(
        **{name: value(name) for name in counters},
        interval_start=ibis.ifelse(told["_used"], begin, ibis.null(told[time].type())),
        interval_seconds=ibis.ifelse(told["_used"], length, nothing),
        restarts=told["_restarted"].cast("float64"),
        missing_records=ibis.ifelse(told["_used"] & ~told["_fresh"], told["_missing"], nothing),
        unused_because=ibis.cases(
            (told["_used"], ibis.null("string")),
            (told["_untimed"], ibis.literal(NO_TIME)),
            (told["_first"], ibis.literal(NO_RECORD_BEFORE)),
            (told["_same_time"], ibis.literal(SAME_TIME)),
            else_=ibis.literal(RESTART),
        ),
    )
    return result.drop(*before, "_first", "_restarted", "_same_time", "_untimed", "_fresh", "_used", "_missing").view()


def _order(table: Any, sequence: str | None) -> list[str]:
    """What decides between records of the same time."""
    there = set(table.columns)
    return [name for name in (sequence, *RECORD) if name is not None and name in there]
