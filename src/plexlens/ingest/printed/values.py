"""A printed value with its precision: the number, and the interval that contains the true value.

The forms, and nothing beyond them; what RMF XML prints besides is in `plexlens.ingest.printed.xml.cell_values`:

==============================  ================  ==========================================================
printed                         value type        number
==============================  ================  ==========================================================
``8562`` ``-41.0`` ``.50``      number            the number; ``1,234,567`` without its separators
``1.5E+06``                     number            only with a signed exponent: ``5E10`` is an identifier
``7270.9K`` ``109.1M``          number            scaled by powers of 1000, of 1024 for storage sizes
``12.5%``                       number            12.5, unit ``percent``
``3:01.768843`` ``1:02:03.5``   duration          seconds: minutes or hours first
``00.03.37.095`` ``00.12.30``   duration          seconds: RMF's points between hours, minutes and seconds
``01-02:03:04.5``               duration          seconds: days first
``07/26/10`` ``29/05/1996``     date              seconds since 1970-01-01; month first unless it cannot be one
``07/26/10 19:32:45.57``        timestamp         seconds since 1970-01-01
``N/A`` ``N/C`` ``N/P``         see `MISSING`     none
``****`` ``---``, nothing       no value          none: a filler for a value too wide, or for none
anything else                   text              none
==============================  ================  ==========================================================

A number printed to d decimals and scaled by s stands for any true value within half a unit of its last place:
``[number - s/2 * 10**-d, number + s/2 * 10**-d]``. A whole number that the caller knows to be a count printed in full
stands for itself.

Source: IBM, OMEGAMON for Db2 Performance Expert, "Statistics report and trace blocks" (N/A, N/C, N/P); z/OS RMF Report
Analysis (headings with ``HHH.MM.SS.TTT``). That K is 1000: the 2014 study's ``67691.3K`` at 817.53 a second and
``447.0M`` at 5398.69 a second are of one interval only if it is.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

NUMBER = "number"
DURATION = "duration"
DATE = "date"
TIMESTAMP = "timestamp"
TEXT = "text"
EMPTY = "empty"
NO_VALUE = "no value"
MISSING = {"N/A": "not applicable", "N/C": "not calculated", "N/P": "not present"}
"""Notations for a missing value, and their value types."""

SECONDS = "seconds"
EPOCH_UNIT = "seconds since 1970-01-01"

_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<decimals>\d*))?|[+-]?\.(?P<fraction>\d+))"
    r"(?P<exponent>E[+-]\d{1,3})?(?:(?P<suffix>[KMGTP])B?)?(?P<percent> ?%)?",
    re.ASCII,
)
_COLONS = re.compile(r"(?:(\d{1,3})[- ])?(?:(\d{1,4}):)?(\d{1,4}):([0-5]\d)(?:\.(\d{1,9}))?", re.ASCII)
_POINTS = re.compile(r"(\d{1,4})\.([0-5]\d)\.([0-5]\d)(?:\.(\d{3,6}))?", re.ASCII)
_UNITS = re.compile(r"(?:\d{1,3}\.){1,2}\d{2}\.(?:\d{3}|\d{6})|\d{1,3}\.\d{2}\.(?:\d{3}|\d{6})", re.ASCII)
_DATE = re.compile(
    r"(?P<a>\d{1,2})[/.](?P<b>\d{1,2})[/.](?P<y>\d{4}|\d{2})|(?P<iy>\d{4})-(?P<im>\d{2})-(?P<id>\d{2})", re.ASCII
)
_TIME = re.compile(r"(\d{1,2})[:.]([0-5]\d)(?:[:.]([0-5]\d)(?:[.:](\d{1,6}))?)?", re.ASCII)
_POINT = re.compile(r"(\S+?)(?:[- ]+| +AT +)(\d{1,2}[:.]\d\d[:.]\d\d(?:[.:]\d{1,6})?)", re.ASCII)
_FILLER = re.compile(r"\*+|-{2,}|-+/-+.*")
_POWER = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_LARGEST_TEXT = 64
"""No printed number is longer; a longer text is not looked at."""


class Printed(NamedTuple):
    """A value as printed and as read."""

    text: str
    """As printed, without white space at the ends."""
    type: str
    """``number``, ``duration``, ``date``, ``timestamp``, ``text``, ``empty``, ``no value`` or one of `MISSING`."""
    number: float | None = None
    """In base units; None where there is no number."""
    unit: str | None = None
    """Unit of the number and its bounds, as far as the printed form or the context determines it."""
    scale: float | None = None
    """What the printed number was multiplied by (1000 for ``7270.9K``); None for 1."""
    low: float | None = None
    high: float | None = None
    """Ends of the interval that the print allows."""
    decimals: int | None = None
    """Digits printed after the point."""


@lru_cache(maxsize=65536)
def read_value(text: str, *, unit: str | None = None, exact: bool = False, size: bool = False) -> Printed:
    """Read one printed value.

    Parameters
    ----------
    text : str
        The value, white space at its ends already off.
    unit : str, optional
        Unit of plain numbers in this place. ``milliseconds`` and ``microseconds`` are converted to seconds.
    exact : bool
        Whole numbers here are counts printed in full.
    size : bool
        ``K`` and ``M`` are powers of 1024 here, and the unit bytes.
    """
    if text in MISSING:
        return Printed(text, MISSING[text])
    if len(text) > _LARGEST_TEXT:
        return Printed(text, TEXT)
    number = read_number(text, unit=unit, exact=exact, size=size)
    if number is not None:
        return number
    if not text or _FILLER.fullmatch(text):
        return Printed(text, NO_VALUE)
    return read_duration(text) or _read_point(text) or Printed(text, TEXT)


_UNIT_FACTOR = {
    "seconds": (Decimal(1), SECONDS),
    "milliseconds": (Decimal("1e-3"), SECONDS),
    "microseconds": (Decimal("1e-6"), SECONDS),
    "minutes": (Decimal(60), SECONDS),
    "hours": (Decimal(3600), SECONDS),
    "megabytes": (Decimal(1 << 20), "bytes"),
    "kilobytes": (Decimal(1 << 10), "bytes"),
}


def read_number(text: str, *, unit: str | None = None, exact: bool = False, size: bool = False) -> Printed | None:
    """A number as `read_value` reads it; None for anything else."""
    match = _NUMBER.fullmatch(text)
    if not match:
        return None
    digits = Decimal(match["number"].replace(",", "") + (match["exponent"] or ""))
    decimals = len(match["decimals"] or match["fraction"] or "")
    scale = Decimal(1)
    if match["suffix"]:
        scale = Decimal(1024 if size else 1000) ** _POWER[match["suffix"]]
        unit = "bytes" if size else unit
    if match["percent"]:
        unit = "percent"
    elif unit in _UNIT_FACTOR:
        factor, unit = _UNIT_FACTOR[unit]
        scale *= factor
    is_count = exact and not (decimals or match["suffix"] or match["percent"])
    half = Decimal(0) if is_count else Decimal(5).scaleb(digits.as_tuple().exponent - 1)  # type: ignore[operator]
    low, high, number = (digits - half) * scale, (digits + half) * scale, float(digits * scale)
    if math.isinf(number):
        return None
    low = max(low, Decimal(0)) if digits >= 0 else low
    shown = None if scale == 1 else float(scale)
    return Printed(text, NUMBER, number, unit, shown, float(low), float(high), decimals)


def read_duration(text: str) -> Printed | None:
    """A duration with colons or points between its parts; None for anything else."""
    match = _COLONS.fullmatch(text)
    if match:
        days, hours, minutes, seconds, fraction = match.groups()
        if (hours and int(minutes) > 59) or (days and not hours):
            return None
        return duration_of(text, int(days or 0) * 24 + int(hours or 0), minutes, seconds, fraction)
    match = _POINTS.fullmatch(text)
    if match:
        hours, minutes, seconds, fraction = match.groups()
        return duration_of(text, int(hours), minutes, seconds, fraction)
    return None


def duration_of(text: str, hours: int, minutes: str, seconds: str, fraction: str | None) -> Printed:
    """A duration from its printed parts."""
    decimals = len(fraction or "")
    whole = Decimal(hours * 3600 + int(minutes) * 60 + int(seconds)) + Decimal(int(fraction or 0)).scaleb(-decimals)
    half = Decimal(5).scaleb(-decimals - 1)
    low = max(whole - half, Decimal(0))
    return Printed(text, DURATION, float(whole), SECONDS, None, float(low), float(whole + half), decimals)


def read_units(text: str, decimals: int) -> Printed | None:
    """A time below a heading such as ``HHH.MM.SS.TTT``, printed without leading zeros and their points.

    ``18`` under ``TTT`` is 18 ms; ``1.27`` under ``FFFFFF`` is not valid (its last part must have all digits).

    Parameters
    ----------
    text : str
        As printed.
    decimals : int
        Digits of the heading's last part: 3 for ``TTT``, 6 for ``FFFFFF``.
    """
    parts = text.split(".")
    if not all(part.isdecimal() and part.isascii() for part in parts) or len(parts) > 4:
        return None
    last = parts[-1]
    if len(last) > decimals or (len(parts) > 1 and len(last) != decimals):
        return None
    seconds = Decimal(int(last)).scaleb(-decimals)
    for part, length in zip(reversed(parts[:-1]), (1, 60, 3600), strict=False):
        seconds += int(part) * length
    half = Decimal(5).scaleb(-decimals - 1)
    low = max(seconds - half, Decimal(0))
    return Printed(text, DURATION, float(seconds), SECONDS, None, float(low), float(seconds + half), decimals)


def _read_point(text: str) -> Printed | None:
    whole = _POINT.fullmatch(text)
    moment = read_point(whole[1], whole[2]) if whole else read_point(text)
    if moment is None:
        return None
    return point_of(text, TIMESTAMP if whole else DATE, moment)


def point_of(text: str, kind: str, moment: datetime) -> Printed:
    """A point in time as a value, in seconds as if it were UTC."""
    seconds = moment.replace(tzinfo=UTC).timestamp()
    return Printed(text, kind, seconds, EPOCH_UNIT, None, seconds, seconds)


def read_point(date: str, time: str = "", *, day_first: bool | None = None) -> datetime | None:
    """A date and a time of day as printed, without zone; None if the text is not a date and time.

    ``a/b/y`` is day first or month first as told; else month first, unless that cannot be. Years of two digits are
    those from 1960 on. ``24.00.00`` is the following midnight.
    """
    match = _DATE.fullmatch(date.strip())
    clock = _TIME.fullmatch(time.strip()) if time.strip() else None
    if not match or (time.strip() and not clock):
        return None
    if match["iy"]:
        year, month, day = int(match["iy"]), int(match["im"]), int(match["id"])
    else:
        year, month, day = int(match["y"]), int(match["a"]), int(match["b"])
        if day_first or (day_first is None and month > 12):
            month, day = day, month
    if year < 100:
        year += 1900 if year >= 60 else 2000
    hour, minute, second, fraction = clock.groups() if clock else ("0", "0", "0", "0")
    try:
        midnight = datetime(year, month, day)
        return midnight + timedelta(
            hours=int(hour),
            minutes=int(minute),
            seconds=int(second or 0),
            microseconds=int((fraction or "0").ljust(6, "0")),
        )
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=65536)
def is_value(text: str) -> bool:
    """Whether a word can be a value: a number, a duration, a notation for a missing value, a filler."""
    return (
        text in MISSING
        or _NUMBER.fullmatch(text) is not None
        or read_duration(text) is not None
        or _UNITS.fullmatch(text) is not None
        or (_FILLER.fullmatch(text) is not None and len(text) <= 12)
    )
