"""Quarters of an hour, in which records of accounting are added up, parted where a selection begins or ends.

A quarter that a bound parts is two rows, each of the records that were written in its part; the selection then takes
one of them and leaves the other out, so that a selection of five minutes has the records of five minutes.
"""

from __future__ import annotations

from plexlens.metrics.selection.selection import Selection

_QUARTER = 900
_DAY = 86_400

#: Local minus UTC of a row in seconds: offsets are recorded as clock values a hair off the minute.
_OFFSET = "round(utc_offset::double / 60) * 60"


def quarter_functions(selection: Selection) -> dict[str, tuple[tuple[str, ...], str]]:
    """Functions of the catalogue, extended by the bounds of a selection; none where no bound parts a quarter.

    Every offset from UTC is taken for a multiple of a quarter of an hour: other bounds part none.

    Returns
    -------
    dict
        Parameters and SQL of ``quarter_of`` and ``quarter_end``, by name.
    """
    begun, ends = _bounds(selection, "moment"), _bounds(selection, "quarter")
    if not begun:
        return {}
    start = "floor(epoch(moment) / 900) * 900"
    starts = [f"case when epoch(moment) >= {bound} then {bound} end" for bound in begun]
    stop = "floor(epoch(quarter) / 900) * 900 + 900"
    stops = [f"case when {bound} > epoch(quarter) then {bound} end" for bound in ends]
    return {
        "quarter_of": (("moment",), f"to_timestamp(greatest({', '.join([start, *starts])}))"),
        "quarter_end": (("quarter",), f"to_timestamp(least({', '.join([stop, *stops])}))"),
    }


def _bounds(selection: Selection, moment: str) -> list[str]:
    """SQL of the bounds within a quarter, in seconds since 1970; those of shifts on the day of the moment."""
    names = [f"({second})" for window in selection.windows for second in window.bounds_within(_QUARTER, _OFFSET)]
    times = {second % _DAY for shift in selection.shifts for span in shift.spans for second in span}
    offset = f"coalesce({_OFFSET}, 0)"
    local_day = f"floor((epoch({moment}) + {offset}) / {_DAY}) * {_DAY}"
    return names + [f"({local_day} + {second} - {offset})" for second in sorted(times) if second % _QUARTER]
