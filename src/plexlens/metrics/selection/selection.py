"""A selection as an object, and the conditions it imposes on facts and raw tables."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from plexlens.metrics.selection.extent import Extent
from plexlens.metrics.selection.shift import Shift
from plexlens.metrics.selection.window import Window
from plexlens.pdb.engine import literal, quoted

#: Keys and attributes of grains that name a class; a grain with none of them is not restricted by class.
CLASS_COLUMNS = ("class_name", "service_class", "report_class", "workload")

_MINUTE = 60.0

#: Farther than this from a bound nothing is on its other side: offsets from UTC are of hours.
_FAR = timedelta(days=2)


@dataclass(frozen=True)
class Selection:
    """A part of a database. All kinds of condition must hold; among several shifts, systems or classes, any one
    suffices.

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
        """Whether it leaves anything out."""
        return bool(self.windows or self.shifts or self.systems or self.classes)

    def and_window(self, window: Window | None) -> Selection:
        """The intersection of the selection with a window; not resolved."""
        if window is None:
            return self
        return Selection((*self.windows, window), self.shifts, self.systems, self.classes)

    def rows(self, columns: Container[str], *, has_times: bool = True) -> str:
        """SQL condition for rows of facts, or of a raw table, in the selected systems and times; empty for all.

        Parameters
        ----------
        columns
            Columns that are there: ``system``, ``utc_offset`` and either ``interval``, by which metrics name an
            interval, or ``interval_start`` and ``interval_end``.
        has_times
            Whether the times are times: a column that is null throughout may have no type of its own.
        """
        wanted = []
        if self.systems:
            wanted.append(among("system", self.systems))
        if self.windows or self.shifts:
            wanted.append(self._times(columns))
        if not wanted:
            return ""
        near = self._near("interval" if "interval" in columns else "interval_start") if has_times else []
        return " and ".join([*near, f"coalesce({' and '.join(f'({text})' for text in wanted)}, false)"])

    def _times(self, columns: Container[str]) -> str:
        if "interval" in columns:
            seconds = 'epoch("interval")'
        else:
            # Systems close their intervals within moments of each other: a start is taken to the nearest minute, as
            # metrics take it. A record with an end alone is a thing that happened at that moment.
            start = f"floor((epoch(interval_start::timestamptz) + {_MINUTE / 2}) / {_MINUTE}) * {_MINUTE}"
            seconds = f"coalesce({start}, epoch(interval_end::timestamptz))"
        # Offsets are recorded as clock values a hair off the minute; the minute is what they mean.
        offset = f"round(utc_offset::double / {_MINUTE}) * {_MINUTE}"
        inside = [f"({window.condition(seconds, offset)})" for window in self.windows]
        if self.shifts:
            local = f"{seconds} + coalesce({offset}, 0)"
            inside.append(f"({' or '.join(f'({shift.condition(local)})' for shift in self.shifts)})")
        return " and ".join(inside)

    def _near(self, moment: str) -> list[str]:
        """Conditions that a moment is unknown or within two days of every window, whatever its offset from UTC.

        The engine compares these with the statistics of the files that it reads, and leaves out what is far away; the
        exact conditions are computed from several columns, so it would read and compute every row.
        """
        near = []
        for window in self.windows:
            first, last = window.around(_FAR)
            if first is not None:
                near.append(
                    f"({quoted(moment)} is null or {quoted(moment)} >= timestamptz '{first.isoformat(sep=' ')}')"
                )
            if last is not None:
                near.append(f"({quoted(moment)} is null or {quoted(moment)} < timestamptz '{last.isoformat(sep=' ')}')")
        return near

    def class_condition(self, columns: Container[str], named: tuple[str, ...] = CLASS_COLUMNS) -> str:
        """SQL condition for rows of the selected classes; empty if no column names a class, or none is selected."""
        there = [name for name in named if name in columns]
        if not self.classes or not there:
            return ""
        return " or ".join(f"coalesce({among(f'{quoted(name)}::varchar', self.classes)}, false)" for name in there)

    @property
    def parts(self) -> tuple[str, ...]:
        """The conditions in words, a phrase for each kind."""
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
        """The selection in words; empty if it covers everything."""
        return "; ".join(self.parts)

    def to_json(self) -> dict[str, Any] | None:
        """The selection as JSON types; None if it covers everything."""
        if not self:
            return None
        return {
            "text": self.text,
            "times": [window.text for window in self.windows],
            "shifts": [shift.text for shift in self.shifts],
            "systems": list(self.systems) or None,
            "classes": list(self.classes) or None,
            "selected": [system.to_json() for system in self.extent.systems] if self.extent is not None else None,
        }


def among(column: str, values: Iterable[str]) -> str:
    """SQL condition that a column has one of the values."""
    return f"{column} in ({', '.join(literal(value) for value in values)})"


#: Nothing is left out.
EVERYTHING = Selection()
