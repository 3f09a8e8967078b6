"""Channel paths (SMF 73)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.dasd.forms import flags, hexadecimal
from plexlens.metrics.expressions import count_if, interval_seconds, ratio
from plexlens.metrics.inputs import RECORD, Inputs, identity

_GROUP_1 = ("smf73tut", "smf73put")
_GROUP_2 = (
    *("smf73mbc", "smf73mcu", "smf73mwu", "smf73mru", "smf73us", "smf73tbc", "smf73tuc", "smf73puc", "smf73twu"),
    *("smf73pwu", "smf73tru", "smf73pru"),
)
_GROUP_3 = (
    *("smf73pdu", "smf73tdu", "smf73pum", "smf73tum", "smf73pms", "smf73tms", "smf73pus", "smf73pub", "smf73tub"),
    *("smf73pds", "smf73tds"),
)
_EXTENDED = ("smf73eoc", "smf73eod", "smf73eos", "smf73etc", "smf73etd", "smf73ets")

#: Bits of SMF73CFL, SMF73FG2, SMF73FG3, SMF73FG4 and SMF73FG5; bit 0 is the leftmost.
_MAY_BE_INVALID = 0x08
_VARIED = 0x02
_ONLINE = 0x01
_REAL = 0x02
_SHARED = 0x01
_NOT_MEASURED = 0x80
_WORD = {"smf73mbc": 0x80, "smf73mcu": 0x40, "smf73mwu": 0x20, "smf73mru": 0x10, "smf73us": 0x08}


def _joined(inputs: Inputs, table: Any, name: str, columns: tuple[str, ...], on: tuple[str, ...]) -> Any:
    """The table with columns of another section; ``on`` names what beside the record they have in common."""
    if not inputs.has(name):
        return table.mutate(**{column: ibis.null("float64") for column in columns})
    other = inputs.table(name, *columns, *(column for column in on if column != "section_no"))
    other = other.select(*RECORD, *on, *columns)
    joined = table.left_join(other, [*RECORD, *on])
    return joined.drop(*(column for column in joined.columns if column.endswith("_right")))


def _channels(inputs: Inputs) -> Any:
    table = inputs.table(
        "smf73_1_channel",
        *("smf73pid", "smf73fg2", "smf73fg3", "smf73fg4", "smf73fg5", "smf73bsy", "smf73pby", "smf73pti", "smf73cmg"),
        *("smf73gen", "smf73spd", "smf73msc"),
        text=("smf73acr",),
    )
    table = _joined(inputs, table, "smf73_1_control", ("smf73smp", "smf73cfl", "smf73css", "smf73cmi"), ())
    table = _joined(inputs, table, "smf73_1_group1", _GROUP_1, ("section_no",))
    table = _joined(inputs, table, "smf73_1_group2", _GROUP_2, ("section_no",))
    table = _joined(inputs, table, "smf73_1_group3", _GROUP_3, ("section_no",))
    table = _joined(inputs, table.mutate(smf73ecp=table.smf73pid), "smf73_1_extended", _EXTENDED, ("smf73ecp",))
    # There is a section for each of 256 paths; those that are not there are zeros but for their number.
    dummy = ((flags(table.smf73cfl) & _MAY_BE_INVALID) != 0) & ((flags(table.smf73fg3) & _REAL) == 0)
    table = table.filter(~dummy & (table.smf73acr.nullif("").notnull() | (table.smf73pti > 0)))
    return _facts(table)


def _facts(table: Any) -> Any:
    nothing = ibis.null("float64")
    measured = ((flags(table.smf73fg2) & _VARIED) == 0) & ((flags(table.smf73fg4) & _NOT_MEASURED) == 0)
    length = interval_seconds(table)
    seconds = ibis.coalesce(table.smf73pti.cast("float64").nullif(0.0), length)

    def valid(value: Any) -> Any:
        return ibis.ifelse(measured, value, nothing)

    def most(column: str) -> Any:
        return ibis.ifelse(
            (flags(table.smf73fg5) & _WORD[column]) != 0, table[column].cast("float64").nullif(0.0), nothing
        )

    unit_size = most("smf73us")
    sampled = ratio(table.smf73bsy, table.smf73smp) * length
    without_facility = ibis.ifelse(table.smf73cmi == 0, sampled, nothing)
    total_busy = ibis.coalesce(table.smf73tut.cast("float64"), table.smf73tuc / most("smf73mcu"), without_facility)
    # In compatibility mode the facility times this partition alone.
    timed = ibis.ifelse(table.smf73cmi == 1, table.smf73pby.cast("float64"), nothing)
    busy = ibis.coalesce(table.smf73put.cast("float64"), table.smf73puc / most("smf73mcu"), timed)
    speed = flags(table.smf73spd).cast("float64")
    power = flags(table.smf73msc) & 0x0F
    gigabits = ibis.ifelse(power == 0, speed / 10, speed * ibis.literal(10.0) ** (power - 9))
    return table.select(
        **identity(table),
        channel=hexadecimal(table.smf73pid.cast("int64"), 2),
        channel_type=table.smf73acr.nullif(""),
        generation=ibis.ifelse(flags(table.smf73gen) == 0, ibis.null("string"), flags(table.smf73gen).cast("string")),
        speed=ibis.ifelse(gigabits > 0, gigabits.round().cast("int64").cast("string") + " Gbit/s", ibis.null("string")),
        sharing=ibis.ifelse((flags(table.smf73fg3) & _SHARED) != 0, "shared", "this partition"),
        channel_subsystem=table.smf73css.cast("int64").cast("string"),
        interval_seconds=length,
        channels=count_if((flags(table.smf73fg2) & _ONLINE) != 0),
        incorrect_channels=count_if(~measured),
        channel_seconds=valid(seconds),
        busy_seconds=valid(total_busy),
        partition_busy_seconds=valid(busy),
        bus_busy_seconds=valid(table.smf73tbc / most("smf73mbc")),
        read_link_seconds=valid(table.smf73tru / most("smf73mru")),
        write_link_seconds=valid(table.smf73twu / most("smf73mwu")),
        read_bytes=valid(table.smf73tru * unit_size),
        write_bytes=valid(table.smf73twu * unit_size),
        partition_read_bytes=valid(table.smf73pru * unit_size),
        partition_write_bytes=valid(table.smf73pwu * unit_size),
        ficon_operations=valid(table.smf73eoc.cast("float64")),
        ficon_deferred=valid(table.smf73eod.cast("float64")),
        ficon_active=valid(table.smf73eos.cast("float64")),
        zhpf_operations=valid(table.smf73etc.cast("float64")),
        zhpf_deferred=valid(table.smf73etd.cast("float64")),
        zhpf_active=valid(table.smf73ets.cast("float64")),
        messages=valid(table.smf73tms * table.smf73tum),
        partition_messages=valid(table.smf73pms * table.smf73pum),
        sent_bytes=valid(table.smf73tds * table.smf73tdu),
        partition_sent_bytes=valid(table.smf73pds * table.smf73pdu),
        send_failures=valid(table.smf73pus.cast("float64")),
        receive_failures=valid(table.smf73tub.cast("float64")),
        partition_receive_failures=valid(table.smf73pub.cast("float64")),
    )
