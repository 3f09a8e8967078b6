"""A printed value and its type: what a report shows as text, read as a number in base units where it is one.

The forms, and nothing beyond them:

========================  ==============  ===============================================================
printed                   value type      number
========================  ==============  ===============================================================
``8562`` ``-1.5`` ``.5``  ``number``      the number; ``1,234,567`` without its separators
``1.5E+06``               ``number``      only with a signed exponent: ``5E10`` is an identifier
``12.5%``                 ``number``      12.5, unit ``percent``
``262K`` ``136902.1M``    ``number``      scaled: 1000 for counts, 1024 for storage sizes (`scale`)
``00.00.25.534``          ``duration``    seconds; also ``HHH.MM.SS.FFFFFF``, ``HH.MM.SS``, ``HH:MM:SS``
``29:59:997``             ``duration``    seconds; minutes, seconds, thousandths
``04/06/2022``            ``date``        seconds since 1970-01-01 of midnight
``04/06/2022-12.30.00``   ``timestamp``   seconds since 1970-01-01; also with a blank, and ``YYYY-MM-DD``
anything else             ``text``        none
nothing                   ``empty``       none
========================  ==============  ===============================================================

A time of day has the form of a duration and is read as one: seconds since midnight.

Reports say of a column whether it holds numbers (``N``), scaled numbers (``S``), mixed (``M``) or text (``T``); of
a variable they say nothing. Digits with a leading zero in text (device ``05000``, suffix ``00``), and any text under
a head that names an identifier (address, serial, device number), stay text.

Source: IBM, z/OS RMF Programmer's Guide, "Column-Headers" (the four types) and report headings (``mm.ss.ttt``).
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

NUMBER = "number"
DURATION = "duration"
DATE = "date"
TIMESTAMP = "timestamp"
TEXT = "text"
EMPTY = "empty"

EPOCH_UNIT = "seconds since 1970-01-01"
TIME_DATA = "time-data"
"""Column type of a value in a report's ``<time-data>``, where fourteen digits are a point in time."""

_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|[+-]?\.\d+)"
    r"(?P<exponent>E[+-]\d{1,3})?"
    r"(?: ?(?P<percent>%)|(?P<suffix>[KMGTP])B?)?",
    re.ASCII,
)
_DURATION_DOTS = re.compile(r"(\d{2,4})\.([0-5]\d)\.([0-5]\d)(?:\.(\d{3,6}))?", re.ASCII)
_DURATION_COLONS = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?", re.ASCII)
_MINUTES_THOUSANDTHS = re.compile(r"(\d{1,5}):([0-5]\d):(\d{3})", re.ASCII)
_DATE = r"(?:(?P<a>\d{1,2})(?P<mark>[/.])(?P<b>\d{1,2})(?P=mark)(?P<y>\d{4})|(?P<iy>\d{4})-(?P<im>\d{2})-(?P<id>\d{2}))"
_POINT = re.compile(
    _DATE + r"(?:[- T](?P<h>[0-2]\d)[.:](?P<m>[0-5]\d)[.:](?P<s>[0-5]\d)(?:[.:](?P<f>\d{1,6}))?)?", re.ASCII
)
_DIGITS_14 = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})", re.ASCII)
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
_POWER = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_UNIT_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "minutes": 60.0, "hours": 3600.0}
_LARGEST_TEXT = 64
"""No printed number is longer; a longer text is not looked at."""


class Printed(NamedTuple):
    """A value as printed and as read.

    Attributes
    ----------
    text : str
        As printed, without white space at the ends.
    type : str
        ``number``, ``duration``, ``date``, ``timestamp``, ``text`` or ``empty``.
    number : float or None
        In base units; None for text and nothing.
    unit : str or None
        Unit of `number` as far as the printed form tells it: ``seconds``, ``percent``, ``bytes``,
        ``seconds since 1970-01-01``.
    scale : float or None
        What the printed number was multiplied by to give `number` (1024 for ``8K`` of storage).
    line : int
        Line in the file.
    """

    text: str
    type: str
    number: float | None
    unit: str | None
    scale: float | None
    line: int


def read_value(
    text: str,
    line: int,
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
    line : int
        Its line, carried along.
    column_type : str, optional
        ``N``, ``S``, ``M`` or ``T`` as the column's head says.
    unit : str, optional
        The element's own ``unit`` attribute.
    name, part, report : str
        Column head or variable, part, and metric id: they tell identifiers from numbers and storage sizes from counts.
    locale : str, optional
        Language of the report's dates; ``en-us`` (month first) unless told otherwise.
    """
    if not text:
        return Printed(text, EMPTY, None, None, None, line)
    if len(text) > _LARGEST_TEXT or not _DIGIT.search(text):
        return Printed(text, TEXT, None, None, None, line)
    head = _Head(column_type, unit, name, part, report, (locale or "en-us").casefold())
    return Printed(text, *_read(text, head), line)


class _Head(NamedTuple):
    """What tells how a text is to be read."""

    column_type: str | None
    unit: str | None
    name: str
    part: str
    report: str
    locale: str


_Typed = tuple[str, float | None, str | None, float | None]
_TEXT_READ: _Typed = (TEXT, None, None, None)


@lru_cache(maxsize=65536)
def _read(text: str, head: _Head) -> _Typed:
    if head.column_type == TIME_DATA and _DIGITS_14.fullmatch(text):
        return _point(text, head.locale)
    says_number = head.column_type in {"N", "S", "M"}
    if not says_number and (_IDENTIFIER.search(head.name) or _LEADING_ZERO.fullmatch(text)):
        return _TEXT_READ
    found = _NUMBER.fullmatch(text)
    if found:
        return _number(found, head)
    seconds = _seconds(text, head.unit)
    if seconds is not None:
        return DURATION, seconds, "seconds", None
    return _point(text, head.locale)


def _point(text: str, locale: str) -> _Typed:
    point = read_point(text, locale)
    if point is None:
        return _TEXT_READ
    return TIMESTAMP if len(text) > 10 else DATE, point.replace(tzinfo=UTC).timestamp(), EPOCH_UNIT, None


def _number(found: re.Match[str], head: _Head) -> _Typed:
    digits = float(found["number"].replace(",", "") + (found["exponent"] or ""))
    if math.isinf(digits):
        return _TEXT_READ
    if found["suffix"]:
        size = is_storage_size(head.name, head.part, head.report)
        scale = float((1024 if size else 1000) ** _POWER[found["suffix"]])
        return NUMBER, digits * scale, "bytes" if size else None, scale
    if found["percent"]:
        return NUMBER, digits, "percent", None
    if head.unit is not None:
        factor = _UNIT_SECONDS.get(head.unit.casefold(), 1.0)
        own_unit = "seconds" if head.unit.casefold() in _UNIT_SECONDS else head.unit
        return NUMBER, digits * factor, own_unit, None if factor == 1.0 else factor
    return NUMBER, digits, "percent" if "%" in head.name else None, None


def is_storage_size(name: str, part: str, report: str) -> bool:
    """Whether ``K`` and ``M`` under this name mean 1024 and 1024**2 bytes, not 1000 and 1000**2 of something.

    RMF prints storage sizes in powers of 1024 and counts in powers of 1000: the paging report's ``136902.1M`` frames
    of a 510 TiB area are 136,902,082,560.
    """
    if report.upper() in _SIZE_REPORTS or "lfarea" in part.casefold():
        return True
    return bool(_SIZE.search(name)) and not _COUNT.search(name)


def _seconds(text: str, unit: str | None) -> float | None:
    found = _MINUTES_THOUSANDTHS.fullmatch(text)
    if found:
        return int(found[1]) * 60 + int(found[2]) + int(found[3]) / 1000
    found = _DURATION_COLONS.fullmatch(text)
    if found and unit == "minutes":
        return int(found[1]) * 60 + int(found[2]) + int(found[3]) / 1000
    found = found or _DURATION_DOTS.fullmatch(text)
    if not found:
        return None
    fraction = found[4] or ""
    whole = int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])
    return whole + (int(fraction) / 10 ** len(fraction) if fraction else 0)


def read_point(text: str, locale: str | None = None) -> datetime | None:
    """A date, or a date and a time, as printed; None when the text is neither.

    ``MM/DD/YYYY`` is month first in ``en-us``, the default; day first in any other language, and always when the
    parts are separated by periods. The result has no time zone.
    """
    compact = _DIGITS_14.fullmatch(text)
    found = None if compact else _POINT.fullmatch(text)
    try:
        if compact:
            year, month, day, hour, minute, second = (int(group) for group in compact.groups())
            return datetime(year, month, day, hour, minute, second)
        if not found:
            return None
        if found["iy"]:
            date = (int(found["iy"]), int(found["im"]), int(found["id"]))
        elif found["mark"] == "/" and (locale or "en-us").casefold() == "en-us":
            date = (int(found["y"]), int(found["a"]), int(found["b"]))
        else:
            date = (int(found["y"]), int(found["b"]), int(found["a"]))
        micros = int((found["f"] or "0").ljust(6, "0"))
        hms = (int(found["h"] or 0), int(found["m"] or 0), int(found["s"] or 0))
        return datetime(*date, *hms, micros)
    except ValueError:
        return None
