"""Selection: the part of a database that a question concerns, by time, system, shift and class.

One `Selection` restricts everything that is computed from a database. The facts of every grain pass through it in
`plexlens.metrics.evaluate.facts`, and raw tables in `plexlens.metrics.selection.raw`. The start of an interval decides:
an interval that straddles a bound belongs to the side on which it starts.
"""

from __future__ import annotations

from plexlens.metrics.selection.extent import Extent
from plexlens.metrics.selection.resolution import intervals_there, resolve, whole_extent
from plexlens.metrics.selection.selected import selected
from plexlens.metrics.selection.selection import CLASS_COLUMNS, EVERYTHING, Selection
from plexlens.metrics.selection.shift import Shift, read_shifts, shift
from plexlens.metrics.selection.window import Window, between, window

__all__ = [
    "CLASS_COLUMNS",
    "EVERYTHING",
    "Extent",
    "Selection",
    "Shift",
    "Window",
    "between",
    "intervals_there",
    "read_shifts",
    "resolve",
    "selected",
    "shift",
    "whole_extent",
    "window",
]
