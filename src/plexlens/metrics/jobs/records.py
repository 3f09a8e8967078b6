"""Records of SMF 30 with their sections side by side, and the time they speak of."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.inputs import RECORD, Inputs

#: Columns of the sections that facts are made of.
_PROCESSOR = (
    *("smf30tfl", "smf30tf2", "smf30t32", "smf30t33", "smf30cpt", "smf30cps", "smf30icu", "smf30isb", "smf30ist"),
    *("smf30iip", "smf30rct", "smf30hpt", "smf30csc", "smf30asr", "smf30enc", "smf30det", "smf30cepi", "smf30crp"),
    *("smf30_time_on_ifa", "smf30_time_ifa_on_cp", "smf30_time_on_ziip", "smf30_enclave_time_on_ziip"),
    *("smf30_depenc_time_on_ziip", "smf30_time_ziip_on_cp", "smf30_enclave_time_ziip_on_cp"),
    *("smf30_depenc_time_ziip_on_cp", "smf30_enclave_time_ziip_qual", "smf30_depenc_time_ziip_qual"),
    *("smf30_time_java_on_ziip", "smf30_time_java_on_cp", "smf30_highest_task_cpu_percent"),
)
_IDENTIFICATION = ("smf30stn", "smf30ast", "smf30pps", "smf30sit", "smf30rst", "smf30asi")
_IDENTIFICATION_TEXT = (
    *("smf30jbn", "smf30jnm", "smf30pgm", "smf30stm", "smf30psn", "smf30cls", "smf30cl8", "smf30rud", "smf30exn"),
    *("smf30std", "smf30rsd"),
)
_IO = (
    *("smf30tep", "smf30tex", "smf30dcf", "smf30tcn", "smf30tpt", "smf30tgt", "smf30aic", "smf30aid", "smf30aiw"),
    *("smf30ais", "smf30eic", "smf30eid", "smf30eiw", "smf30eis"),
)
_STORAGE = (
    *("smf30sfl", "smf30pgi", "smf30pgo", "smf30vpi", "smf30vpo", "smf30cpi", "smf30hpi", "smf30lpi", "smf30hpo"),
    *("smf30bia", "smf30boa", "smf30pai", "smf30psc", "smf30arb", "smf30ear", "smf30urb", "smf30eur", "smf30dsv"),
    *("smf30hvr", "smf30hva", "smf30hvh", "smf30hsh", "smf30mem", "smf30rgb", "smf30erg"),
)
_PERFORMANCE = (
    *("smf30srv", "smf30srv_l", "smf30tat", "smf30res", "smf30trs", "smf30eta", "smf30etc", "smf30jqt", "smf30rqt"),
    *("smf30hqt", "smf30sqt", "smf30pf2", "smf30znf", "smf30snf"),
)
_PERFORMANCE_TEXT = ("smf30wlm", "smf30scn", "smf30rcn", "smf30grn")

_HOURS = 3600.0
_DAY = 86400.0


def _with_section(
    inputs: Inputs, table: Any, name: str, columns: tuple[str, ...], text: tuple[str, ...] = (), *, keep: str = ""
) -> Any:
    """The table with columns of another section of the same record; nulls where a record lacks it."""
    named = (*columns, *text)
    if not inputs.has(name):
        nothing = {column: ibis.null("float64") for column in columns} | {c: ibis.null("string") for c in text}
        return table.mutate(**nothing)
    section = inputs.table(name, *columns, text=text)
    # A record has one section of these kinds; were there more, its values would be counted as often.
    section = section.filter(section.section_no.fill_null(1) == 1).select(*RECORD, *named)
    joined = table.left_join(section, list(RECORD))
    return joined.drop(*(name for name in ("source_id_right", "record_no_right") if name in joined.columns))


def epoch(moment: Any) -> Any:
    """A time stamp as seconds since 1970."""
    return moment.cast("timestamp").epoch_seconds().cast("float64") + moment.microsecond().cast("float64") / 1e6


def _clock(day: Any, seconds: Any) -> Any:
    """A local day and seconds since midnight as seconds since 1970."""
    return day.cast("date").cast("timestamp").epoch_seconds().cast("float64") + seconds.cast("float64")


def moment(seconds: Any) -> Any:
    """Seconds since 1970, in hundredths, as a time stamp in UTC."""
    since = (seconds * 1e3).round().cast("int64").as_interval("ms")
    return (ibis.literal("1970-01-01T00:00:00").cast("timestamp") + since).cast("timestamp('UTC')")


def records(inputs: Inputs) -> Any:
    """A row for each record of SMF 30 that says what was used.

    Returns
    -------
    ibis.expr.types.Table
        Columns of the sections, `subtype`, `local_offset` (local minus UTC in seconds; null where no record of the
        system tells), and in local time, as seconds since 1970: `written`, `initiated`, `read_in`.
    """
    table = inputs.table("smf30_processor_accounting", *_PROCESSOR, text=("smf30idt",))
    table = table.mutate(**{name: table[name].cast("timestamp('UTC')") for name in ("interval_start", "interval_end")})
    table = table.filter(table.section_no.fill_null(1) == 1)
    table = _with_section(inputs, table, "smf30_identification", _IDENTIFICATION, _IDENTIFICATION_TEXT)
    table = _with_section(inputs, table, "smf30_subsystem", ("smf30typ",), ("smf30syp",))
    table = _with_section(inputs, table, "smf30_io_activity", _IO)
    table = _with_section(inputs, table, "smf30_storage", _STORAGE)
    table = _with_section(inputs, table, "smf30_performance", _PERFORMANCE, _PERFORMANCE_TEXT)
    table = _with_section(inputs, table, "smf30_completion", ("smf30scc", "smf30sti", "smf30arc"))
    table = _with_record(inputs, table)
    table = table.mutate(
        sysplex=ibis.coalesce(table.sysplex, table.smf30syp.nullif("")),
        subtype=ibis.coalesce(table.smf30typ.cast("int64"), table.record_subtype.cast("int64")),
        written=epoch(table.written_at.cast("timestamp")),
        initiated=_clock(table.smf30std, table.smf30sit),
        read_in=_clock(table.smf30rsd, table.smf30rst),
    )
    return _with_offset(table)


def _with_record(inputs: Inputs, table: Any) -> Any:
    """Adds the time at which the record was written, its subtype in the header, and the kind of work."""
    if not inputs.has("smf_record"):
        return table.mutate(
            written_at=ibis.null("timestamp"), record_subtype=ibis.null("float64"), work_type=ibis.null("string")
        )
    inventory = inputs.table("smf_record", "record_type", "subtype", text=("written_at", "ssid"))
    inventory = inventory.filter(inventory.record_type.cast("int64") == 30)
    inventory = inventory.select(
        *RECORD, written_at=inventory.written_at, record_subtype=inventory.subtype, work_type=inventory.ssid.nullif("")
    )
    return table.left_join(inventory, list(RECORD)).drop("source_id_right", "record_no_right")


def _with_offset(table: Any) -> Any:
    """Adds what local time differs from UTC by, as interval records of the system and day show it."""
    started = _clock(table.smf30idt, table.smf30ist)
    shown = ((started - epoch(table.interval_start)) / (_HOURS / 4)).round() * (_HOURS / 4)
    # Off by more than this it is no time zone but a record whose two clocks do not speak of the same moment.
    shown = ibis.ifelse(shown.abs() <= 15 * _HOURS, shown, ibis.null("float64"))
    table = table.mutate(shown_offset=shown, local_day=(table.written / _DAY).floor())
    seen = table.filter(table.shown_offset.notnull())
    by_day = seen.group_by(shown_system=seen.system, shown_day=seen.local_day).aggregate(
        day_offset=seen.shown_offset.median()
    )
    by_system = seen.group_by(known_system=seen.system).aggregate(system_offset=seen.shown_offset.median())
    table = table.left_join(by_day, [table.system == by_day.shown_system, table.local_day == by_day.shown_day])
    table = table.left_join(by_system, table.system == by_system.known_system)
    return table.mutate(
        local_offset=ibis.coalesce(table.utc_offset, table.shown_offset, table.day_offset, table.system_offset)
    )
