"""Heat maps: a number by day and hour of the day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from plexlens.metrics.unit import Unit

HOURS = 24


@dataclass(frozen=True)
class HeatMap:
    """A number by day (rows) and hour (columns), in local time.

    Attributes
    ----------
    days
        The days with data, in order.
    rows
        For each day a value, or null, for each of the 24 hours; base unit.
    table
        Name of the first table with the same numbers.
    note, origin
        As in `plexlens.report.model.Table`.
    """

    name: str
    title: str
    unit: Unit
    days: tuple[date, ...]
    rows: tuple[tuple[float | None, ...], ...]
    table: str
    definition: str = ""
    note: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.days) or any(len(row) != HOURS for row in self.rows):
            raise ValueError(f"heat map {self.name}: not {HOURS} values for each of {len(self.days)} days")
