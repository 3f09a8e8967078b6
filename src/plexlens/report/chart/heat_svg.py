"""Drawing of a heat map, and its description in words."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from plexlens.metrics.unit import Unit
from plexlens.report.chart import axis
from plexlens.report.model.display import with_symbol
from plexlens.report.model.heat import HOURS, HeatMap

#: Shades of a heat map, from the lightest.
SHADES = 5


@dataclass(frozen=True)
class HeatDrawing:
    """A heat map ready for the page.

    Attributes
    ----------
    svg
        The drawing.
    days, hours
        Labels and their places in percent, from the top and from the left.
    shades
        Number of each shade and the values it stands for.
    description
        What it shows, for those who do not see it.
    """

    svg: Markup
    days: tuple[tuple[str, float], ...]
    hours: tuple[tuple[str, float], ...]
    shades: tuple[tuple[int, str], ...]
    description: str


def draw_heat(heat: HeatMap) -> HeatDrawing:
    """Draw a heat map: a cell per hour, darker for higher values; an hour without data stays empty."""
    top = axis.marks(
        max((value for row in heat.rows for value in row if value is not None), default=0.0) * heat.unit.factor
    )[-1]
    cells: list[list[str]] = [[] for _ in range(SHADES)]
    for y, row in enumerate(heat.rows):
        for x, value in enumerate(row):
            if value is not None:
                cells[shade_of(value * heat.unit.factor, top)].append(f"M{x} {y}h1v1h-1z")
    paths = [
        Markup('<path class="heat h{}" d="{}"/>').format(number, "".join(names))
        for number, names in enumerate(cells, 1)
        if names
    ]
    svg = Markup('<svg viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        HOURS, len(heat.days), Markup("").join(paths)
    )
    step = max(1, -(-len(heat.days) // 31))
    return HeatDrawing(
        svg=svg,
        days=tuple(
            (f"{day:%a %d %b}", (place + 0.5) / len(heat.days) * 100)
            for place, day in enumerate(heat.days)
            if place % step == 0
        ),
        hours=tuple((f"{hour:02d}", (hour + 0.5) / HOURS * 100) for hour in range(0, HOURS, 3)),
        shades=tuple((number + 1, _range(number, top, heat.unit)) for number in range(SHADES)),
        description=describe_heat(heat),
    )


def shade_of(value: float, top: float) -> int:
    """Index of a value's shade, from 0; ``top`` is the upper end of the last shade."""
    return min(max(int(value / top * SHADES), 0), SHADES - 1)


def _range(number: int, top: float, unit: Unit) -> str:
    low, high = (axis.labels([top * place / SHADES])[0] for place in (number, number + 1))
    return f"{low} to {high}{f' {unit.symbol}' if unit.symbol else ''}"


def describe_heat(heat: HeatMap) -> str:
    """The heat map in words: its days, its highest hour, and the place of the numbers."""
    known = [
        (value, day, hour)
        for day, row in zip(heat.days, heat.rows, strict=True)
        for hour, value in enumerate(row)
        if value is not None
    ]
    if not known:
        return f"{heat.title}: no values."
    value, day, hour = max(known, key=lambda cell: cell[0])
    return (
        f"{heat.title}, by hour for {len(heat.days)} days from {heat.days[0]:%Y-%m-%d} to {heat.days[-1]:%Y-%m-%d}. "
        f"Highest: {with_symbol(value, heat.unit)} on {day:%Y-%m-%d} from {hour:02d}:00. "
        "Tables on this page have every number."
    )
