"""Channel paths (SMF 73)."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.dasd.forms import flags, hexadecimal
from plexlens.metrics.dasd.rmf_xml import channels_of_rmf_xml
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import count_if, interval_seconds, ratio, total
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import BYTES, BYTES_PER_SECOND, COUNT, FRACTION, MEAN_COUNT, MIB, PER_SECOND, SECONDS

_OVERVIEW = "z/OS RMF User's Guide, overview conditions for SMF 73"
_REPORT = "z/OS RMF Report Analysis, Channel Path Activity report"

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

_TOTALS = "Of all partitions that share the channel."


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


def _count(name: str, title: str, field: str) -> Fact:
    return Fact(name, title, COUNT, Rollup.COUNT, f"SMF 73 {field}")


def _rate(name: str, title: str, fact: str, field: str, caveat: str = "") -> Metric:
    return Metric(
        name,
        title,
        PER_SECOND,
        f"{field} / interval",
        _REPORT,
        lambda f: ratio(f[fact], f.interval_seconds),
        caveat,
    )


def _bytes_rate(name: str, title: str, fact: str, field: str, caveat: str = "") -> Metric:
    return Metric(
        name,
        title,
        BYTES_PER_SECOND,
        f"{field} x SMF73US / interval",
        _OVERVIEW,
        lambda f: ratio(f[fact], f.interval_seconds),
        caveat,
    )


def _busy(name: str, title: str, fact: str, formula: str, *, source: str, caveat: str = "") -> Metric:
    return Metric(name, title, FRACTION, formula, source, lambda f: ratio(f[fact], f.channel_seconds), caveat)


CHANNEL = Grain(
    name="channel",
    title="Channel paths",
    row="one channel path as one system saw it in one interval",
    keys=(Key("channel", "Channel path"),),
    attributes=(
        Attribute("channel_type", "Type"),
        Attribute("generation", "Generation"),
        Attribute("speed", "Speed"),
        Attribute("sharing", "Used by"),
        Attribute("channel_subsystem", "Channel subsystem"),
    ),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 73 SMF73INT"),
        Fact("channels", "Channels online", COUNT, Rollup.LEVEL, "SMF 73 SMF73STA"),
        Fact(
            "incorrect_channels",
            "Channels without valid measurements",
            COUNT,
            Rollup.COUNT,
            "SMF 73 SMF73VAC, SMF73NVL",
        ),
        Fact("channel_seconds", "Time of channels", SECONDS, Rollup.COUNT, "SMF 73 SMF73PTI"),
        Fact(
            "busy_seconds",
            "Busy time, all partitions",
            SECONDS,
            Rollup.COUNT,
            "SMF 73 SMF73TUT, or SMF73TUC / SMF73MCU, or SMF73BSY / SMF73SMP x SMF73INT",
        ),
        Fact(
            "partition_busy_seconds",
            "Busy time, this partition",
            SECONDS,
            Rollup.COUNT,
            "SMF 73 SMF73PUT, or SMF73PUC / SMF73MCU, or SMF73PBY",
        ),
        Fact("bus_busy_seconds", "Bus busy time", SECONDS, Rollup.COUNT, "SMF 73 SMF73TBC / SMF73MBC"),
        Fact("read_link_seconds", "Time reading at full speed", SECONDS, Rollup.COUNT, "SMF 73 SMF73TRU / SMF73MRU"),
        Fact("write_link_seconds", "Time writing at full speed", SECONDS, Rollup.COUNT, "SMF 73 SMF73TWU / SMF73MWU"),
        Fact("read_bytes", "Bytes read, all partitions", MIB, Rollup.COUNT, "SMF 73 SMF73TRU x SMF73US"),
        Fact("write_bytes", "Bytes written, all partitions", MIB, Rollup.COUNT, "SMF 73 SMF73TWU x SMF73US"),
        Fact("partition_read_bytes", "Bytes read, this partition", MIB, Rollup.COUNT, "SMF 73 SMF73PRU x SMF73US"),
        Fact("partition_write_bytes", "Bytes written, this partition", MIB, Rollup.COUNT, "SMF 73 SMF73PWU x SMF73US"),
        _count("ficon_operations", "FICON operations", "SMF73EOC"),
        _count("ficon_deferred", "FICON operations deferred", "SMF73EOD"),
        _count("ficon_active", "FICON operations active at each start, added up", "SMF73EOS"),
        _count("zhpf_operations", "zHPF operations", "SMF73ETC"),
        _count("zhpf_deferred", "zHPF operations deferred", "SMF73ETD"),
        _count("zhpf_active", "zHPF operations active at each start, added up", "SMF73ETS"),
        _count("messages", "Messages sent, all partitions", "SMF73TMS x SMF73TUM"),
        _count("partition_messages", "Messages sent, this partition", "SMF73PMS x SMF73PUM"),
        Fact("sent_bytes", "Bytes sent in messages, all partitions", MIB, Rollup.COUNT, "SMF 73 SMF73TDS x SMF73TDU"),
        Fact(
            "partition_sent_bytes",
            "Bytes sent in messages, this partition",
            MIB,
            Rollup.COUNT,
            "SMF 73 SMF73PDS x SMF73PDU",
        ),
        _count("send_failures", "Messages that could not be sent, this partition", "SMF73PUS"),
        _count("receive_failures", "Messages without a buffer, all partitions", "SMF73TUB"),
        _count("partition_receive_failures", "Messages without a buffer, this partition", "SMF73PUB"),
    ),
    sources=(
        Source("SMF 73", ("smf73_1_channel",), _channels),
        Source("RMF XML CHAN", ("rmf_xml_channel",), channels_of_rmf_xml),
    ),
    metrics=(
        _busy(
            "utilization",
            "Channel utilization, all partitions",
            "busy_seconds",
            "SMF73TUT / SMF73PTI, or SMF73TUC / (SMF73MCU x SMF73PTI)",
            source=_OVERVIEW + " (CHTBSY)",
            caveat="Several channels: their mean.",
        ),
        _busy(
            "partition_utilization",
            "Channel utilization, this partition",
            "partition_busy_seconds",
            "SMF73PUT / SMF73PTI, or SMF73PUC / (SMF73MCU x SMF73PTI)",
            source=_OVERVIEW + " (CHLBSY)",
            caveat="Zero for FICON on a machine in LPAR mode with a single partition.",
        ),
        _busy(
            "bus_utilization",
            "Bus utilization",
            "bus_busy_seconds",
            "SMF73TBC / (SMF73MBC x SMF73PTI)",
            source=_OVERVIEW + " (CHBTOT)",
        ),
        _busy(
            "read_link_fraction",
            "Link used for reading",
            "read_link_seconds",
            "SMF73TRU / (SMF73MRU x SMF73PTI)",
            source=_REPORT,
            caveat="Of the most data units that the channel can read.",
        ),
        _busy(
            "write_link_fraction",
            "Link used for writing",
            "write_link_seconds",
            "SMF73TWU / (SMF73MWU x SMF73PTI)",
            source=_REPORT,
            caveat="Of the most data units that the channel can write.",
        ),
        _bytes_rate("read_bytes_per_second", "Read, all partitions", "read_bytes", "SMF73TRU", _TOTALS),
        _bytes_rate("write_bytes_per_second", "Written, all partitions", "write_bytes", "SMF73TWU", _TOTALS),
        _bytes_rate("partition_read_bytes_per_second", "Read, this partition", "partition_read_bytes", "SMF73PRU"),
        _bytes_rate("partition_write_bytes_per_second", "Written, this partition", "partition_write_bytes", "SMF73PWU"),
        _rate("ficon_rate", "FICON operations", "ficon_operations", "SMF73EOC", _TOTALS),
        Metric(
            "ficon_active_operations",
            "FICON operations active",
            MEAN_COUNT,
            "SMF73EOS / SMF73EOC",
            _REPORT + " (FICON OPERATIONS ACTIVE)",
            lambda f: ratio(f.ficon_active, f.ficon_operations),
            "When an operation starts, itself included.",
        ),
        _rate("ficon_defer_rate", "FICON operations deferred", "ficon_deferred", "SMF73EOD", _TOTALS),
        _rate("zhpf_rate", "zHPF operations", "zhpf_operations", "SMF73ETC", _TOTALS),
        Metric(
            "zhpf_active_operations",
            "zHPF operations active",
            MEAN_COUNT,
            "SMF73ETS / SMF73ETC",
            _REPORT + " (ZHPF OPERATIONS ACTIVE)",
            lambda f: ratio(f.zhpf_active, f.zhpf_operations),
            "When an operation starts, itself included.",
        ),
        _rate("zhpf_defer_rate", "zHPF operations deferred", "zhpf_deferred", "SMF73ETD", _TOTALS),
        Metric(
            "zhpf_fraction",
            "zHPF share of operations",
            FRACTION,
            "SMF73ETC / (SMF73EOC + SMF73ETC)",
            _REPORT,
            lambda f: ratio(f.zhpf_operations, total(f.ficon_operations, f.zhpf_operations)),
        ),
        _rate("message_rate", "Messages sent, all partitions", "messages", "SMF73TMS x SMF73TUM", _TOTALS),
        Metric(
            "message_length",
            "Length of a message",
            BYTES,
            "SMF73TDS x SMF73TDU / (SMF73TMS x SMF73TUM)",
            _REPORT,
            lambda f: ratio(f.sent_bytes, f.messages),
        ),
        _rate("send_failure_rate", "Messages not sent, this partition", "send_failures", "SMF73PUS"),
        _rate("receive_failure_rate", "Messages without a buffer", "receive_failures", "SMF73TUB", _TOTALS),
    ),
)
