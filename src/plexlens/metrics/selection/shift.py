"""Shifts: hours of the week in local time, which may extend past midnight."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import tomli

from plexlens.errors import UnreadableInputError, UsageError

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = 86_400
_WEEK = 7 * _DAY
#: 1 January 1970 was a Thursday.
_FIRST_DAY = 3 * _DAY
_SPAN = re.compile(r"(?:(?P<days>[a-z,\- ]+)/)?(?P<start>\d{1,2}:\d{2})-(?P<end>\d{1,2}:\d{2})")

#: What a user can write for a shift.
FORMS = "write DAYS/HH:MM-HH:MM, as in mon-fri/08:00-17:00 or fri,sat/22:00-06:00; without DAYS it is every day"


@dataclass(frozen=True)
class Shift:
    """Hours of the week, local time.

    Attributes
    ----------
    text
        What the user wrote.
    spans
        Seconds since Monday 00:00, start and first second after; no span runs past the end of the week.
    """

    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def hours(self) -> frozenset[tuple[int, int]]:
        """The different hours of it: seconds after midnight at which they start, and their length."""
        spans = list(self.spans)
        if len(spans) > 1 and spans[0][0] == 0 and spans[-1][1] == _WEEK:
            rest, last = spans[0][1], spans[-1][0]
            if _WEEK - last + rest <= _DAY:
                spans[-1:] = [(last, _WEEK + rest)]
                del spans[0]
        return frozenset((start % _DAY, end - start) for start, end in spans)

    def condition(self, local: str) -> str:
        """SQL condition for rows within the shift, given SQL of local seconds since 1970."""
        second = f"((floor({local})::bigint + {_FIRST_DAY}) % {_WEEK})"
        return " or ".join(f"({second} >= {start} and {second} < {end})" for start, end in self.spans) or "false"


def shift(text: str, named: Mapping[str, str] | None = None) -> Shift:
    """A shift from its hours, or from the name that the site gave it.

    A shift that ends at or before its start runs into the next day, and belongs to the day on which it starts:
    ``fri/22:00-06:00`` ends on Saturday at 06:00.

    Parameters
    ----------
    text
        Hours as `FORMS` says, or a name.
    named
        Hours by name, from `read_shifts`; several hours stand apart by ``;``.

    Raises
    ------
    UsageError
        It is neither; the message says which names there are.

    Examples
    --------
    >>> shift("mon/08:00-17:00").spans
    ((28800, 61200),)
    >>> shift("sun/22:00-06:00").spans
    ((0, 21600), (597600, 604800))
    """
    named = named or {}
    known = {name.casefold(): hours for name, hours in named.items()}
    hours = known.get(text.strip().casefold())
    label = text.strip() if hours is None else f"{text.strip()} ({hours})"
    spans: list[tuple[int, int]] = []
    for part in (text if hours is None else hours).split(";"):
        match = _SPAN.fullmatch(part.strip().lower())
        if match is None:
            raise _unknown(text, hours, named)
        start, end = _seconds(match["start"], text), _seconds(match["end"], text)
        if start in (end, _DAY):
            raise UsageError(
                file="",
                what=f"the shift {part.strip()!r} has no length",
                remedy="write 00:00-24:00 for a whole day",
            )
        length = end - start if end > start else end - start + _DAY
        for day in _days(match["days"], text):
            first = day * _DAY + start
            spans.append((first, min(first + length, _WEEK)))
            if first + length > _WEEK:
                spans.append((0, first + length - _WEEK))
    return Shift(label, tuple(sorted(set(spans))))


def _unknown(text: str, hours: str | None, named: Mapping[str, str]) -> UsageError:
    if hours is not None:
        return UsageError(file="", what=f"{hours!r} in the shift {text!r} is not a range of hours", remedy=FORMS)
    near = get_close_matches(text, named, n=3)
    if near or named:
        listed = ", ".join(near or named)
        return UsageError(file="", what=f"there is no shift {text!r}", remedy=f"name one of {listed}, or {FORMS}")
    return UsageError(
        file="",
        what=f"{text!r} is not a shift",
        remedy=f"{FORMS}; shift names come from the table [shifts] in the site file (--site)",
    )


def _seconds(clock: str, text: str) -> int:
    hour, minute = (int(part) for part in clock.split(":"))
    if minute > 59 or hour * 60 + minute > 24 * 60:
        raise UsageError(file="", what=f"{clock} in the shift {text!r} is not a time of day", remedy=FORMS)
    return hour * 3600 + minute * 60


def _days(text: str | None, shift_text: str) -> list[int]:
    if text is None:
        return list(range(7))
    days: list[int] = []
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        try:
            start = _DAYS.index(first[:3])
            end = _DAYS.index(last[:3]) if dash else start
        except ValueError:
            raise UsageError(
                file="", what=f"{part!r} in the shift {shift_text!r} is not a day", remedy=f"name {', '.join(_DAYS)}"
            ) from None
        days += [(start + step) % 7 for step in range((end - start) % 7 + 1)]
    return sorted(set(days))


def read_shifts(path: Path) -> dict[str, str]:
    """Hours by name from the table ``[shifts]`` of a site's TOML file.

    Raises
    ------
    UnreadableInputError
        The file cannot be read.
    UsageError
        It is not valid TOML, or a shift in it is not a text or not a range of hours.
    """
    try:
        document = tomli.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableInputError(
            file=str(path), what=f"the file cannot be read: {error.strerror}", remedy="check the path"
        ) from error
    except (tomli.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            file=str(path), what=f"it is not valid TOML: {error}", remedy="correct it at that place"
        ) from error
    shifts = document.get("shifts", {})
    if not isinstance(shifts, dict):
        raise UsageError(
            file=str(path), what="shifts is not a table", remedy='write [shifts] and NAME = "HOURS" below it'
        )
    for name, hours in shifts.items():
        if not isinstance(hours, str):
            raise UsageError(file=str(path), what=f"[shifts] {name} is not a text", remedy=FORMS)
        try:
            shift(name, {name: hours})
        except UsageError as error:
            raise UsageError(file=str(path), what=f"[shifts] {name}: {error.what}", remedy=error.remedy) from error
    return shifts
