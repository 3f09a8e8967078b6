"""Counters that accumulate from the start of their subsystem, converted to activity per interval.

A record tells a counter's value since the start; two successive records of one entity make one interval, from the time
of the first to the time of the second. A record that is missing makes the interval longer, never the rate wrong.

What tells a restart, in this order: the record's sequence number falls; or a counter falls and cannot have wrapped. A
counter of 32 bits that falls has wrapped if it rose by less than half its range on the way, which no Db2 counter does
within a statistics interval; one of 64 bits does not wrap. Without a sequence number, a restart after which every
counter is already above its last value goes unseen. A counter with a low-confidence offset does not detect restarts:
should a level stand there, it would make a restart of every fall.

High-water marks and levels are not differenced: leave them out of ``counters``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plexlens.metrics.definition import Differences
from plexlens.metrics.raw_tables import RECORD
from plexlens.pdb.engine import literal, quoted

#: Why a record makes no interval, as the column ``unused_because`` says it.
NO_RECORD_BEFORE = "no earlier record"
RESTART = "restart"
SAME_TIME = "same time as the previous record"
NO_TIME = "no time"

_RANGE = "4294967296::double"
_HALF = "2147483648::double"
_NARROW = 32


def differenced(rows: str, differences: Differences, needed: Iterable[str] | None = None) -> str:
    """SQL of interval values of cumulative counters, using a window over the records of each entity in time order.

    Parameters
    ----------
    rows
        One row for each entity and record: a table, or a select in brackets. It has the time, the columns of
        `plexlens.metrics.raw_tables.RECORD`, which decide between records of the same time, and the counters.
    differences
        The counters, their owners, and the indication of a restart. A counter that does not detect restarts, because
        its place in the record is not certain, is null where it falls without having wrapped.
    needed
        The counters that are requested; None for all. The others are left unchanged.

    Returns
    -------
    str
        The rows, in which each counter is the interval's value (null where the record makes no interval),
        ``interval_start`` the time of the previous record, and additionally

        - ``interval_seconds`` (s): length of the interval; null where there is none;
        - ``restarts``: 1 where the subsystem started between this record and the one before, else 0;
        - ``missing_records``: records between this one and the one before that are not there, by sequence number; null
          without;
        - ``unused_because``: one of the four reasons above; null where the record makes an interval.

        Rows that make no interval are left out unless `Differences.keep_unused`.
    """
    wanted = None if needed is None else {*needed, *differences.witnesses}
    counters = {name: width for name, width in differences.counters.items() if wanted is None or name in wanted}
    judged = _judged(f"({_seen(rows, differences, counters)})", differences, counters)
    return _valued(f"({judged})", differences, counters)


def _seen(rows: str, differences: Differences, counters: Mapping[str, int | str]) -> str:
    """The rows with the change of each counter since the previous record, and the time of that record."""
    entity = ", ".join(quoted(name) for name in differences.entity)
    order = [differences.time, *([differences.sequence] if differences.sequence else []), *RECORD]
    before = [f"lag({quoted(differences.time)}) over records as d_time"]
    if differences.sequence:
        sequence = f"{quoted(differences.sequence)}::double"
        before.append(f"{sequence} - lag({sequence}) over records as d_step")
    else:
        before.append("null::double as d_step")
    for name in counters:
        value = f"{quoted(name)}::double"
        before.append(f"{value} - lag({value}) over records as {quoted(f'd_{name}')}")
    ordered = ", ".join(quoted(name) for name in order)
    return f"select *, {', '.join(before)} from {rows} window records as (partition by {entity} order by {ordered})"


def _judged(rows: str, differences: Differences, counters: Mapping[str, int | str]) -> str:
    """The rows with the status of the record: first, same time as the previous, after a restart, or usable."""
    witnesses = differences.witnesses or tuple(counters)
    fell = [
        f"coalesce({quoted(f'd_{name}')} < 0 and not ({_wraps(name, counters[name])}), false)" for name in witnesses
    ]
    fallen = " or ".join([*fell, "coalesce(d_step < 0, false)"])
    time = quoted(differences.time)
    text = f"{quoted(differences.started)} is not null" if differences.started else "false"
    basic = (
        f"select *, d_time is null as d_first, {time} is null as d_untimed, "
        f"coalesce({time} = d_time, false) as d_same, ({fallen}) as d_fallen from {rows}"
    )
    # Each reads the columns before it; a select for each would hand on all counters three times more.
    marks = [
        "d_fallen and not d_first and not d_same and not d_untimed as d_restarted",
        # Counted from the start itself where the record tells when that was.
        f"(d_first or d_restarted) and {text} and not d_untimed as d_fresh",
        "d_fresh or not (d_first or d_restarted or d_same or d_untimed) as d_used",
    ]
    return f"select *, {', '.join(marks)} from ({basic})"


def _valued(rows: str, differences: Differences, counters: Mapping[str, int | str]) -> str:
    """The rows with their interval values; a row without an interval is dropped, or kept with nulls and the reason."""
    keeps = differences.keep_unused

    def used(value: str) -> str:
        return f"case when d_used then {value} end" if keeps else value

    time = quoted(differences.time)
    begin = f"case when d_fresh then {quoted(differences.started)} else d_time end" if differences.started else "d_time"
    values = {}
    for name, width in counters.items():
        change = quoted(f"d_{name}")
        wrapped = _wraps(name, width)
        wrapped = "" if wrapped == "false" else f" when {wrapped} then {change} + {_RANGE}"
        since = f"case when {change} >= 0 then {change}{wrapped} end"
        if differences.started:
            since = f"case when d_fresh then {quoted(name)}::double else {since} end"
        values[name] = used(since)
    values["interval_start"] = used(begin)
    replaced = ", ".join(f"{sql} as {quoted(name)}" for name, sql in values.items())
    because = " ".join(
        f"when {flag} then {literal(text)}"
        for flag, text in (("d_untimed", NO_TIME), ("d_first", NO_RECORD_BEFORE), ("d_same", SAME_TIME))
    )
    length = f"date_diff('microsecond', {begin}, {time})::double / 1e6"
    added = [
        f"{used(length)} as interval_seconds",
        "d_restarted::double as restarts",
        "case when d_used and not d_fresh and d_step > 0 then d_step - 1 end as missing_records",
        f"case when d_used then null {because} else {literal(RESTART)} end as unused_because",
    ]
    own = ["d_time", "d_step", "d_first", "d_untimed", "d_same", "d_fallen", "d_restarted", "d_fresh", "d_used"]
    dropped = ", ".join([*own, *(quoted(f"d_{name}") for name in counters)])
    where = "" if keeps else " where d_used"
    return f"select * exclude ({dropped}) replace ({replaced}), {', '.join(added)} from {rows}{where}"


def _wraps(name: str, width: int | str) -> str:
    """SQL condition that a counter that fell has wrapped: its 32 bits rose by less than half their range."""
    if isinstance(width, int) and width != _NARROW:
        return "false"
    wrapped = f"{quoted(f'd_{name}')} + {_RANGE} < {_HALF}"
    return wrapped if isinstance(width, int) else f"{wrapped} and coalesce({quoted(width)} = {_NARROW}, false)"
