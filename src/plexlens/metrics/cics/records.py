"""What the grains of the family share: keys, documents, the reading of statistics.

A collection adds up with those before and after it when it reset the counters: interval (INT), end of day (EOD),
requested with reset (RRT) and unsolicited (USS: a resource went away, and its counters with it). A requested
collection (REQ) resets nothing, so that the next one counts the same again: it is left out.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.inputs import RECORD, Inputs, identity

_PRODUCT = "smf110_2_product"
#: Tables whose rows can show how far the clock of their system is from UTC.
_SHOW_ZONES = (_PRODUCT, "smf110_1_product", "smf30_identification", "smf72_3_wlm_control", "smf70_1_cpu_control")
_QUARTER = 900
_DAY = 86_400
#: Days from the first of March of year 0 to 1970, plus the one by which the count of days in a month starts.
_DAYS_TO_1970 = 719_469


def statistics(inputs: Inputs, table: str, *columns: str, text: tuple[str, ...] = ()) -> Any:
    """A section of statistics records, without collections that reset nothing.

    Parameters
    ----------
    inputs
        The raw tables.
    table, columns, text
        As `Inputs.table` takes them.

    Returns
    -------
    ibis.expr.types.Table
        Identity columns and those named, and ``generic_applid``.
    """
    section = inputs.table(table, *columns, text=text)
    if not inputs.has(_PRODUCT):
        return section.mutate(generic_applid=ibis.null("string"))
    texts = ("smfstrqt", "smfstprn", "smfstdat", "smfstclt", "smfstlrt")
    product = inputs.table(_PRODUCT, text=texts)
    product = product.select(*RECORD, **{name: product[name].cast("string") for name in texts})
    joined = section.left_join(product, list(RECORD)).drop("source_id_right", "record_no_right")
    joined = joined.filter(joined.smfstrqt.fill_null("") != "REQ")
    return _placed(inputs, joined).mutate(generic_applid=joined.smfstprn).drop(*texts)


def _placed(inputs: Inputs, table: Any) -> Any:
    """The table with an interval where the decoder did not know yet how far the clock is from UTC.

    Other records of the system tell it, or the dispatcher, which writes in both times when it started. Where nothing
    tells it local time stands, and the offset stays unknown.
    """
    zones = _zones(inputs)
    table = table.left_join(zones, ["system", "subsystem"], rname="zone_{name}")
    offset = ibis.coalesce(table.zone, table.shown)
    end = _seconds(table.smfstdat, table.smfstclt)
    reset = _seconds(table.smfstdat, table.smfstlrt)
    # A time of day after that of the collection was on the day before.
    start = ibis.ifelse(reset > end, reset - _DAY, reset)
    utc = offset.fill_null(0.0).cast("int64")
    unplaced = table.interval_end.isnull()
    placed = table.mutate(
        interval_start=ibis.ifelse(unplaced, _moment(start - utc), table.interval_start),
        interval_end=ibis.ifelse(unplaced, _moment(end - utc), table.interval_end),
        utc_offset=ibis.ifelse(unplaced, ibis.coalesce(table.utc_offset, offset), table.utc_offset),
        local_time=unplaced & offset.isnull(),
    )
    return placed.drop("zone", "shown", *(name for name in placed.columns if name.startswith("zone_")))


def _zones(inputs: Inputs) -> Any:
    """Local minus UTC of each region in seconds: by its dispatcher, and as other records of the system show it."""
    regions = inputs.table(_PRODUCT).select("system", "subsystem").distinct()
    tables = [name for name in _SHOW_ZONES if inputs.has(name)]
    shown = plus(*(inputs.table(name).select("system", "utc_offset") for name in tables))
    shown = shown.group_by("system").aggregate(shown=shown.utc_offset.max())
    regions = regions.left_join(shown, "system", rname="shown_{name}")
    regions = regions.select("system", "subsystem", "shown")
    if not inputs.has("smf110_2_dispatcher"):
        return regions.mutate(zone=ibis.null("float64"))
    started = inputs.table("smf110_2_dispatcher", "dsgstart", "dsglstrt")
    began = started.dsgstart.cast("timestamp('UTC')").epoch_seconds()
    apart = started.dsglstrt.cast("timestamp").epoch_seconds() - began
    started = started.mutate(zone=(apart.cast("float64") / _QUARTER).round() * _QUARTER)
    told = started.group_by(["system", "subsystem"]).aggregate(zone=started.zone.max())
    regions = regions.left_join(told, ["system", "subsystem"], rname="told_{name}")
    return regions.select("system", "subsystem", "shown", "zone")


def _moment(seconds: Any) -> Any:
    return seconds.as_timestamp("s").cast("timestamp('UTC')")


def _seconds(date: Any, time: Any) -> Any:
    """Seconds since 1970 of MMDDYYYY and HHMMSS; null where they are no such digits.

    Days are counted by the rule of the Gregorian calendar, for the engine has no conversion that forgives a day that
    does not exist.
    """

    def digits(text: Any, first: int, length: int) -> Any:
        part = text.substr(first, length)
        return ibis.ifelse(part.re_search("^[0-9]+$"), part, ibis.null("string")).cast("int64")

    month, day, year = digits(date, 0, 2), digits(date, 2, 2), digits(date, 4, 4)
    # Years begin in March, so that the leap day is their last.
    since_march = (month + 9) % 12
    of_march = year - ibis.ifelse(month < 3, 1, 0)
    days = 365 * of_march + of_march // 4 - of_march // 100 + of_march // 400 + (153 * since_march + 2) // 5 + day
    of_day = digits(time, 0, 2) * 3600 + digits(time, 2, 2) * 60 + digits(time, 4, 2)
    return (days - _DAYS_TO_1970) * _DAY + of_day


def common(table: Any) -> dict[str, Any]:
    """Identity, region and length of the interval of a section of statistics."""
    return identity(table) | {"applid": table.subsystem, "interval_seconds": interval_seconds(table)}


def plus(*tables: Any) -> Any:
    """Rows of several tables, one after the other; a column that a table lacks is null in its rows."""
    kinds: dict[str, Any] = {}
    for table in tables:
        for name, kind in table.schema().items():
            kinds.setdefault(name, kind)
    aligned = [
        table.select(
            **{
                name: table[name].cast(kind) if name in table.columns else ibis.null(kind)
                for name, kind in kinds.items()
            }
        )
        for table in tables
    ]
    return aligned[0] if len(aligned) == 1 else ibis.union(*aligned)
