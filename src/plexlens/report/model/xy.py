"""Charts over a number: I/O over pool size, response time over load.

What `plexlens.report.model.Chart` is over time. x and y stand in base units; each axis names the unit it is shown in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from plexlens.metrics.unit import COUNT, MEAN_COUNT, Unit

#: Maximum number of series in a chart: the number of data colours in the style sheet.
MOST_SERIES = 8

Point = tuple[float, float | None]
"""x and y; None as y interrupts the line."""


class XYStyle(StrEnum):
    """Drawing style of a series in a chart without layers."""

    LINE = "line"
    POINTS = "points"
    BOTH = "both"
    """A line with its points marked."""


@dataclass(frozen=True)
class XYSeries:
    """Points in ascending order of x.

    Attributes
    ----------
    band
        Lower and upper bound around the series, as (x, low, high) in rising order of x; empty for none.
    """

    name: str
    points: tuple[Point, ...]
    style: XYStyle = XYStyle.LINE
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class XYMark:
    """A named position on the x axis, drawn as a vertical line.

    Attributes
    ----------
    label
        What stands at it; short, since it stands in the drawing.
    strong
        Whether it is the one to look at.
    """

    x: float
    label: str
    strong: bool = False


@dataclass(frozen=True)
class XYChart:
    """Values over a number.

    Attributes
    ----------
    name
        Key of the chart in JSON; unique in the report.
    x_title, y_title
        What the axes show, without the unit.
    series
        At most `MOST_SERIES`.
    marks
        Places on the x axis; they widen it where they lie outside.
    x_unit, y_unit
        Base units of the points, and the units they are shown in.
    definition, x_definition
        Ids of the definitions of y and of x.
    log_x, log_y
        Whether equal ratios of x, or of y, have equal distances; every x, or y, is then above zero.
    stacked
        Whether the series lie on top of each other; they then have the same x, and y that add up.
    left_out
        Number of series that exist and are not drawn.
    note, origin
        As in `plexlens.report.model.Table`.

    Raises
    ------
    ValueError
        No point, too many series, x not rising or not finite, x not above zero on a logarithmic axis, or stacked
        series that differ in x.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    series: tuple[XYSeries, ...]
    marks: tuple[XYMark, ...] = ()
    x_unit: Unit = COUNT
    y_unit: Unit = MEAN_COUNT
    definition: str = ""
    x_definition: str = ""
    log_x: bool = False
    log_y: bool = False
    stacked: bool = False
    left_out: int = 0
    note: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        if not any(series.points for series in self.series):
            raise ValueError(f"chart {self.name}: no points")
        if len(self.series) > MOST_SERIES:
            raise ValueError(f"chart {self.name}: {len(self.series)} series; the maximum is {MOST_SERIES}")
        for series in self.series:
            for what, places in (("points", [x for x, _ in series.points]), ("band", [x for x, _, _ in series.band])):
                if any(left >= right for left, right in pairwise(places)):
                    raise ValueError(f"chart {self.name}: x of the {what} of {series.name!r} do not rise")
            if self.stacked and [x for x, _ in series.points] != [x for x, _ in self.series[0].points]:
                raise ValueError(f"chart {self.name}: {series.name!r} has other x than {self.series[0].name!r}")
        heights = [y for series in self.series for _, y in series.points if y is not None]
        if self.log_y and (self.stacked or min([*heights, *(low for s in self.series for _, low, _ in s.band)]) <= 0):
            raise ValueError(f"chart {self.name}: y that add up, or are not above zero, have no logarithmic axis")
        for x in (*self.places, *(mark.x for mark in self.marks)):
            if not math.isfinite(x) or (self.log_x and x <= 0):
                raise ValueError(
                    f"chart {self.name}: x {x:g} has no place on a {'logarithmic' if self.log_x else 'linear'} axis"
                )

    @property
    def places(self) -> tuple[float, ...]:
        """Every x of a point or band, in ascending order."""
        return tuple(
            sorted({place[0] for series in self.series for places in (series.points, series.band) for place in places})
        )

    def rows(self) -> list[tuple[float, list[float | None]]]:
        """For every x of a point, the value of each series; None if it has no point there."""
        tables = [dict(series.points) for series in self.series]
        return [(x, [table.get(x) for table in tables]) for x in sorted({x for table in tables for x in table})]
