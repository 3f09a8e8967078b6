"""What is selected, as one object, and the conditions it puts on facts and raw tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import ibis

from plexlens.metrics.selection.shift import Shift
from plexlens.metrics.selection.window import Window

if TYPE_CHECKING:
    from plexlens.metrics.selection.extent import Extent

#: Keys and attributes of grains that name a class; a grain with none of them is not restricted by class.
CLASS_COLUMNS = ("class_name", "service_class", "report_class", "workload")

_MINUTE = 60.0

#: Farther than this from a bound nothing is on its other side: offsets from UTC are of hours.
_FAR = timedelta(days=2)


@dataclass(frozen=True)
class Selection:
    """A part of a database. Every kind of condition must hold; of several shifts, systems or classes, one.

    Attributes
    ----------
    windows
        Stretches of time; all of them must hold.
    shifts
        Hours of the week.
    systems
        Names of systems; patterns (``SYS*``) until `plexlens.metrics.selection.resolve` has found the names.
    classes
        Names of service classes, report classes or workloads; patterns as for systems.
    extent
        What the database holds and what of it is selected, once resolved.
    """

    windows: tuple[Window, ...] = ()
    shifts: tuple[Shift, ...] = ()
    systems: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    extent: Extent | None = None

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return bool(self.windows or self.shifts or self.systems or self.classes)

    def and_window(self, window: Window | None) -> Selection:
        """The part of the selection that lies in a window too; not resolved."""
        if window is None:
            return self
        return Selection((*self.windows, window), self.shifts, self.systems, self.classes)

    def rows(self, table: Any) -> Any:
        """The rows of facts, or of a raw table, that are of the selected systems and times.

        Parameters
        ----------
        table
            An Ibis table with ``system``, ``utc_offset`` and either ``interval``, by which metrics name an interval, or
            ``interval_start`` and ``interval_end``.
        """
        wanted = self._place_and_time(table)
        if wanted is None:
            return table
        near = self._near(table["interval" if "interval" in table.columns else "interval_start"])
        return table.filter([*near, wanted.fill_null(False)])

    def _place_and_time(self, table: Any) -> Any:
        wanted: Any = None
        if self.systems:
            wanted = table.system.isin(self.systems)
        if self.windows or self.shifts:
            inside = self._times(table)
            wanted = inside if wanted is None else wanted & inside
        return wanted

    def _times(self, table: Any) -> Any:
        if "interval" in table.columns:
            moment = table.interval
            seconds = moment.epoch_seconds().cast("float64")
        else:
            # Systems close their intervals within moments of each other: a start is taken to the nearest minute, as
            # metrics take it. A record with an end alone is a thing that happened at that moment.
            start = table.interval_start.epoch_seconds().cast("float64")
            end = table.interval_end.epoch_seconds().cast("float64")
            seconds = ibis.coalesce(((start + _MINUTE / 2) / _MINUTE).floor() * _MINUTE, end)
        # Offsets are recorded as clock values a hair off the minute; the minute is what they mean.
        offset = (table.utc_offset / _MINUTE).round().cast("float64") * _MINUTE
        inside = ibis.literal(True)
        for window in self.windows:
            inside = inside & window.condition(seconds, offset)
        if self.shifts:
            on_shift = ibis.literal(False)
            for shift in self.shifts:
                on_shift = on_shift | shift.condition(seconds + offset.fill_null(0.0))
            inside = inside & on_shift
        return inside

    def _near(self, moment: Any) -> list[Any]:
        """Conditions that a moment is unknown or within two days of every window, whatever its offset from UTC.

        The engine compares these with the statistics of the files that it reads, and leaves out what is far away; the
        exact conditions are computed from several columns, so it would read and compute every row.
        """
        near: list[Any] = []
        for window in self.windows if moment.type().is_timestamp() else ():
            first, last = window.around(_FAR)
            if first is not None:
                near.append(moment.isnull() | (moment >= ibis.literal(first)))
            if last is not None:
                near.append(moment.isnull() | (moment < ibis.literal(last)))
        return near

    def class_condition(self, table: Any, columns: tuple[str, ...] = CLASS_COLUMNS) -> Any:
        """Which rows are of the selected classes; None where the table has no class, or no class is selected."""
        there = [name for name in columns if name in table.columns]
        if not self.classes or not there:
            return None
        wanted = ibis.literal(False)
        for name in there:
            wanted = wanted | table[name].cast("string").isin(self.classes).fill_null(False)
        return wanted

    @property
    def parts(self) -> tuple[str, ...]:
        """What is selected, one phrase for each kind of condition."""
        parts = []
        for window in self.windows:
            parts.append(f"{window.text}{', local time of each system' if window.is_local else ''}")
        if self.shifts:
            noun = "shift" if len(self.shifts) == 1 else "shifts"
            parts.append(f"{noun} {', '.join(shift.text for shift in self.shifts)}, local time of each system")
        if self.systems:
            parts.append(f"{'system' if len(self.systems) == 1 else 'systems'} {', '.join(self.systems)}")
        if self.classes:
            parts.append(f"{'class' if len(self.classes) == 1 else 'classes'} {', '.join(self.classes)}")
        return tuple(parts)

    @property
    def text(self) -> str:
        """What is selected, in words; empty where everything is."""
        return "; ".join(self.parts)

    def to_json(self) -> dict[str, Any] | None:
        """The selection as JSON types; None where everything is selected."""
        if not self:
            return None
        return {
            "text": self.text,
            "times": [window.text for window in self.windows],
            "shifts": [shift.text for shift in self.shifts],
            "systems": list(self.systems) or None,
            "classes": list(self.classes) or None,
            "selected": [one.to_json() for one in self.extent.systems] if self.extent is not None else None,
        }


#: Nothing is left out.
EVERYTHING = Selection()
