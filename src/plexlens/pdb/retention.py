"""Retention of a PDB: `retention.toml` in its folder says how long tables are kept.

    raw = "14 days"          # tables of records and reports
    hour = "13 months"       # roll-ups by hour
    day = "forever"          # roll-ups by day

    [families]               # families of raw tables that have a time of their own
    smf70 = "13 months"
    smf110 = "3 days"

    [undo]
    keep = "24 hours"        # how long an ingest, a compaction or an expiry can be undone

Without the file, or without a key, nothing expires. A time is whole days, weeks, months (calendar months) or years;
that of `keep` may be hours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import tomli

from plexlens.errors import UnreadableInputError

FILE = "retention.toml"

FOREVER = "forever"

KEEP = timedelta(hours=24)
"""Time for which a state can be brought back after the commit that changed it, where the file does not say."""

_AGE = re.compile(r"(\d+) ?(hour|day|week|month|year)s?")

_KEYS = ("raw", "hour", "day", "families", "undo")


@dataclass(frozen=True, slots=True)
class Age:
    """A time for which something is kept.

    Attributes
    ----------
    count : int
        How many.
    unit : str
        Of what: hour, day, week, month, year.
    """

    count: int
    unit: str

    def __str__(self) -> str:
        return f"{self.count} {self.unit}{'' if self.count == 1 else 's'}"

    def before(self, today: date) -> date:
        """The first day that is kept: this time before a day."""
        if self.unit in ("month", "year"):
            months = today.year * 12 + today.month - 1 - self.count * (12 if self.unit == "year" else 1)
            year, month = divmod(months, 12)
            if year < 1:
                return date.min
            return date(year, month + 1, min(today.day, _days_of(year, month + 1)))
        return today - self.duration

    @property
    def duration(self) -> timedelta:
        """The time, where it is a fixed one."""
        return (
            self.count * {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}[self.unit]
        )


def _days_of(year: int, month: int) -> int:
    following = date(year + month // 12, month % 12 + 1, 1)
    return (following - timedelta(days=1)).day


@dataclass(frozen=True)
class Retention:
    """Ages up to which tables are kept; None is for ever.

    Attributes
    ----------
    raw : Age or None
        Raw tables without a time of their own.
    hour, day : Age or None
        Roll-ups.
    families : dict
        Families of raw tables with a time of their own.
    keep : Age or None
        How long a commit can be undone; None for the time that applies without a statement.
    is_stated : bool
        Whether the PDB has the file.
    """

    raw: Age | None = None
    hour: Age | None = None
    day: Age | None = None
    families: dict[str, Age | None] = field(default_factory=dict)
    keep: Age | None = None
    is_stated: bool = False

    def of_family(self, family: str) -> Age | None:
        """Age up to which the raw tables of a family are kept."""
        return self.families.get(family, self.raw)


def read(folder: Path) -> Retention:
    """The retention of a PDB.

    Raises
    ------
    UnreadableInputError
        The file says something else than what can be kept how long; the message names the key.
    """
    path = folder / FILE
    try:
        content = tomli.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Retention()
    except OSError as error:
        raise _wrong(path, f"it cannot be read: {error.strerror}", "check that you may read it") from error
    except (tomli.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(path, f"it is not TOML: {error}", "write it as docs/pdb.md shows") from error
    for key in content:
        if key not in _KEYS:
            raise _wrong(path, f"there is no key {key!r}", f"use one of {', '.join(_KEYS)}")
    families, undo = content.get("families", {}), content.get("undo", {})
    for key, value in (("families", families), ("undo", undo)):
        if not isinstance(value, dict):
            raise _wrong(path, f"{key} is not a table", f"write [{key}] on a line of its own")
    for key in undo:
        if key != "keep":
            raise _wrong(path, f"there is no key undo.{key}", "use undo.keep")
    keep = _age(path, "undo.keep", undo["keep"], ("hour", "day", "week")) if "keep" in undo else None
    if "keep" in undo and keep is None:
        raise _wrong(path, "undo.keep is for ever", "give hours, days or weeks: files that went are kept so long")
    return Retention(
        **{key: _age(path, key, content[key]) for key in ("raw", "hour", "day") if key in content},
        families={family: _age(path, f"families.{family}", value) for family, value in families.items()},
        keep=keep,
        is_stated=True,
    )


def _age(path: Path, key: str, value: Any, units: tuple[str, ...] = ("day", "week", "month", "year")) -> Age | None:
    if value == FOREVER:
        return None
    match = _AGE.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] not in units or not 0 < int(match[1]) <= 100_000:
        listed = ", ".join(f"{unit}s" for unit in units)
        raise _wrong(path, f"{key} = {value!r} is not a time", f'give a whole number of {listed}, such as "14 days"')
    return Age(int(match[1]), match[2])


def _wrong(path: Path, what: str, remedy: str) -> UnreadableInputError:
    return UnreadableInputError(file=str(path), what=what, remedy=remedy)
