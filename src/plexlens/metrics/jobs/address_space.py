"""Address spaces by interval (SMF 30 subtypes 2, 3 and 6)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.jobs.records import epoch, moment, records
from plexlens.metrics.jobs.usage import (
    COUNTED,
    attribute_columns,
    usage_columns,
)

#: An interval can end this much later than the moment it is set to, in seconds.
_LATE = 30.0
_MINUTE = 60.0

_DIGITS = "0123456789ABCDEF"


def _hexadecimal(number: Any) -> Any:
    text = ibis.literal("")
    for place in (3, 2, 1, 0):
        text = text + ibis.literal(_DIGITS).substr((number // 16**place) % 16, 1)
    return text


def _columns(table: Any) -> Any:
    """Identity, keys, attributes and facts of records, without the length of their interval."""
    return table.select(
        system=table.system,
        sysplex=table.sysplex,
        interval_start=table.interval_start,
        interval_end=table.interval_end,
        utc_offset=table.local_offset,
        subtype=table.subtype,
        record_no=table.record_no,
        job=table.smf30jbn,
        job_id=table.smf30jnm.nullif(""),
        asid=_hexadecimal(table.smf30asi.cast("int64")),
        program=table.smf30pgm.nullif(""),
        step=table.smf30stm.nullif(""),
        **attribute_columns(table),
        **usage_columns(table),
    )


def _address_spaces(inputs: Inputs) -> Any:
    every = records(inputs)
    table = _columns(every.filter(every.subtype.isin([2, 3])))
    table = table.drop("record_no").union(_system_address_spaces(every))
    table = _in_smf_intervals(table.mutate(address_space_seconds=interval_seconds(table)))
    return table.mutate(interval_seconds=interval_seconds(table))


def _in_smf_intervals(table: Any) -> Any:
    """Gives each row the SMF interval of its system in which its own ended.

    How long SMF intervals are and when they end is what most interval records of the system (subtype 2) show, to the
    minute. Where no record shows it, rows keep their own intervals.
    """
    ends = epoch(table.interval_end)
    whole = table.filter((table.subtype == 2) & (table.address_space_seconds >= _MINUTE))
    length = (whole.address_space_seconds / _MINUTE).round() * _MINUTE
    lengths = whole.group_by(length_system=whole.system).aggregate(length=length.mode())
    whole = whole.left_join(lengths, whole.system == lengths.length_system)
    past = ((epoch(whole.interval_end) / _MINUTE).round() * _MINUTE) % whole.length
    grid = whole.group_by(grid_system=whole.system).aggregate(length=whole.length.max(), past=past.mode())
    table = table.mutate(ends=ends).left_join(grid, table.system == grid.grid_system)
    end = ((table.ends - table.past - _LATE) / table.length).ceil() * table.length + table.past
    known = table.length.notnull()
    return table.mutate(
        interval_start=ibis.ifelse(known, moment(end - table.length), table.interval_start),
        interval_end=ibis.ifelse(known, moment(end), table.interval_end),
    ).drop("subtype", "ends", "grid_system", "length", "past")


def _system_address_spaces(every: Any) -> Any:
    """Differences of successive records of subtype 6, by address space."""
    table = every.filter(every.subtype == 6)
    # The end of the interval where the record has it; else when it was written.
    written = moment(table.written - table.local_offset.fill_null(0.0))
    table = _columns(table.mutate(interval_end=ibis.coalesce(table.interval_end, written)))
    window = ibis.window(group_by=[table.system, table.job, table.asid], order_by=[table.interval_end, table.record_no])
    before = {name: table[name].lag().over(window) for name in COUNTED}
    since = table.interval_end.lag().over(window)
    table = table.mutate(interval_start=since, **{f"before_{name}": column for name, column in before.items()})
    table = table.filter(table.interval_start.notnull() & (table.interval_end > table.interval_start))
    # A value below the one before: the address space started anew, and counts from nothing.
    anew = ibis.literal(False)
    for name in ("tcb_seconds", "srb_seconds", "excps"):
        anew = anew | (table[name] < table[f"before_{name}"]).fill_null(False)
    table = table.mutate(
        **{
            name: ibis.ifelse(anew, table[name], table[name] - table[f"before_{name}"].fill_null(0.0))
            for name in COUNTED
        }
    )
    return table.drop("record_no", *(f"before_{name}" for name in COUNTED))
