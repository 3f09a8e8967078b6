"""A value of RMF XML and its type: the context that determines how it is read.

Beyond the forms of `plexlens.ingest.printed.values` XML prints ``29:59:997`` (minutes, seconds, thousandths),
``04/06/2022-12.30.00`` in the language that the report names, and fourteen digits for a point in time. A time of day
has the form of a duration and is read as one: seconds since midnight. ``MM:SS`` alone stays text.

Reports declare whether a column holds numbers (``N``), scaled numbers (``S``), mixed (``M``) or text (``T``); of
a variable they say nothing. Digits with a leading zero in text (device ``05000``, suffix ``00``), and any text under
a head that names an identifier (address, serial, device number), stay text.

Source: IBM, z/OS RMF Programmer's Guide, "Column-Headers" (the four types) and report headings (``mm.ss.ttt``).
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from plexlens.ingest.printed.values import (
    DATE,
    EMPTY,
    TEXT,
    TIMESTAMP,
    Printed,
    duration_of,
    point_of,
    read_duration,
    read_number,
)
from plexlens.ingest.printed.values import read_point as read_date

TIME_DATA = "time-data"
"""Column type of a value in a report's ``<time-data>``, where fourteen digits are a point in time."""

_DURATION = re.compile(r"\d{2,4}(?:\.[0-5]\d){2}(?:\.\d{3,6})?|\d{1,4}(?::[0-5]\d){2}(?:\.\d{1,6})?", re.ASCII)
_THOUSANDTHS = re.compile(r"(\d{1,5}):([0-5]\d):(\d{3}|[0-5]\d)", re.ASCII)
_POINT = re.compile(
    r"(\d{1,2}([/.])\d{1,2}\2\d{4}|\d{4}-\d\d-\d\d)(?:[- T]((?:[01]\d|2[0-4])[.:][0-5]\d[.:][0-5]\d(?:[.:]\d{1,6})?))?",
    re.ASCII,
)
_DIGITS_14 = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)", re.ASCII)
_DIGIT = re.compile(r"\d", re.ASCII)
_LEADING_ZERO = re.compile(r"0\d+", re.ASCII)
_IDENTIFIER = re.compile(
    r"\b(?:addr(?:ess)?|serial|device number|dev(?:ice)? (?:type|num)|volume|volser|lcu|ssid|token|sequence code|"
    r"cu number|chpid|channel path|ip)\b",
    re.IGNORECASE,
)
_SIZE = re.compile(
    r"\b(?:size|storage|stor|alloc(?:ated)?|bytes|b/sec|lfarea|memory|nvs|capacity|cache|dump|space)\b", re.IGNORECASE
)
_COUNT = re.compile(r"\b(?:requests?|req|count|frames|slots|pages|entries|elements|objects|rate)\b|#", re.IGNORECASE)
_SIZE_REPORTS = frozenset({"VSTOR", "CACHE", "HFS", "EADM"})
_LARGEST_TEXT = 64
"""No printed number is longer; a longer text is not looked at."""


@lru_cache(maxsize=65536)
def read_value(
    text: str,
    *,
    column_type: str | None = None,
    unit: str | None = None,
    name: str = "",
    part: str = "",
    report: str = "",
    locale: str | None = None,
) -> Printed:
    """Read one printed value.

    Parameters
    ----------
    text : str
        The value, white space at its ends already off.
    column_type : str, optional
        ``N``, ``S``, ``M`` or ``T`` as the column's head says.
    unit : str, optional
        The element's own ``unit`` attribute.
    name, part, report : str
        Column head or variable, part, and metric id: they tell identifiers from numbers and storage sizes from counts.
    locale : str, optional
        Language of the report's dates; ``en-us`` (month first) unless stated otherwise.
    """
    if not text or len(text) > _LARGEST_TEXT or not _DIGIT.search(text):
        return Printed(text, TEXT if text else EMPTY)
    if column_type == TIME_DATA and _DIGITS_14.fullmatch(text):
        return _point(text, locale)
    if column_type not in {"N", "S", "M"} and (_IDENTIFIER.search(name) or _LEADING_ZERO.fullmatch(text)):
        return Printed(text, TEXT)
    unit = unit.casefold() if unit is not None else "percent" if "%" in name else None
    number = read_number(text, unit=unit, size=is_storage_size(name, part, report))
    if number is not None:
        # A head with a percent sign says nothing about a count in thousands.
        is_scaled_count = number.unit == "percent" and text[-1] in "KMGTPB"
        return number._replace(unit=None) if is_scaled_count else number
    match = _THOUSANDTHS.fullmatch(text)
    if match and (len(match[3]) == 3 or unit == "minutes"):
        return duration_of(text, 0, match[1], match[2], match[3].zfill(3))
    return (_DURATION.fullmatch(text) and read_duration(text)) or _point(text, locale)


def _point(text: str, locale: str | None) -> Printed:
    point = read_point(text, locale)
    return Printed(text, TEXT) if point is None else point_of(text, TIMESTAMP if len(text) > 10 else DATE, point)


def is_storage_size(name: str, part: str, report: str) -> bool:
    """Whether ``K`` and ``M`` under this name mean 1024 and 1024**2 bytes rather than factors of 1000.

    RMF prints storage sizes in powers of 1024 and counts in powers of 1000: the paging report's ``136902.1M`` frames
    of a 510 TiB area are 136,902,082,560.
    """
    if report.upper() in _SIZE_REPORTS or "lfarea" in part.casefold():
        return True
    return bool(_SIZE.search(name)) and not _COUNT.search(name)


def read_point(text: str, locale: str | None = None) -> datetime | None:
    """A date, or a date and a time, as printed; None if the text is neither.

    ``MM/DD/YYYY`` is month first in ``en-us``, the default; day first in any other language, and always when the
    parts are separated by periods. The result has no time zone.
    """
    compact = _DIGITS_14.fullmatch(text)
    if compact:
        year, month, day, *clock = compact.groups()
        return read_date(f"{year}-{month}-{day}", ":".join(clock))
    match = _POINT.fullmatch(text)
    if not match:
        return None
    day_first = match[2] == "." or (locale or "en-us").casefold() != "en-us"
    return read_date(match[1], match[3] or "", day_first=day_first)
