"""Contents of a database (systems, times, classes), and the part covered by a selection."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class SystemExtent:
    """Contents of a system, and the selected part.

    Attributes
    ----------
    system
        Its name; None for rows that name no system.
    offsets
        Offsets of its local time from UTC in seconds; None among them where rows do not tell.
    first, last
        Local start of its first and last interval; None where no row has a time.
    taken_offsets, taken_first, taken_last
        The same of what is selected; nothing, and None, where nothing is.
    """

    system: str | None
    offsets: tuple[float | None, ...]
    first: datetime | None
    last: datetime | None
    taken_offsets: tuple[float | None, ...]
    taken_first: datetime | None
    taken_last: datetime | None

    def to_json(self) -> dict[str, Any]:
        """The extent as JSON types; times are local."""
        return {
            "system": self.system,
            "utc_offsets": list(self.taken_offsets),
            "first": minute_text(self.taken_first) or None,
            "last": minute_text(self.taken_last) or None,
        }

    @property
    def zone(self) -> str:
        """Its local time: ``UTC+02:00``, several offsets if it changed, or that records do not tell."""
        return _zones(self.offsets)

    @property
    def taken_zone(self) -> str:
        """The local time of the selected part, in the form of `zone`."""
        return _zones(self.taken_offsets)


@dataclass(frozen=True)
class Extent:
    """Contents of a database by system, and its classes."""

    systems: tuple[SystemExtent, ...]
    classes: tuple[str, ...]


def minute_text(moment: datetime | None) -> str:
    """A moment as ``2022-08-09 14:15``; empty for none."""
    return moment.strftime("%Y-%m-%d %H:%M") if moment is not None else ""


def _zones(offsets: Collection[float | None]) -> str:
    known = [_zone(offset) for offset in dict.fromkeys(offsets) if offset is not None]
    if None not in offsets:
        return " and ".join(known)
    return f"{' and '.join(known)}; some records do not tell their offset" if known else "offset from UTC unknown"


def _zone(offset: float) -> str:
    if not offset:
        return "UTC"
    minutes = round(abs(offset) / 60)
    return f"UTC{'+' if offset > 0 else '-'}{minutes // 60:02d}:{minutes % 60:02d}"
