"""Charts as stretchable SVG with their labels in HTML.

The drawing fills its box whatever the box's shape (``preserveAspectRatio="none"``) and its strokes keep their width
(``non-scaling-stroke``), while every label is page text placed by percentages. One chart therefore serves a phone, a
wide screen and paper, follows the page's colours by style sheet alone, and needs no script to be seen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from markupsafe import Markup

from plexlens.metrics.moments import TOGETHER, on_axis
from plexlens.report.chart import axis
from plexlens.report.chart.time_axis import Mark, TimeAxis
from plexlens.report.model.chart import Chart, ChartKind
from plexlens.report.model.clock import LOCAL, Clock
from plexlens.report.model.display import shown, with_symbol

#: The drawing's own coordinates run from 0 to SIZE both ways.
SIZE = 1000

#: The next interval starting later than this share of the one before after its end leaves a gap.
GAP = 0.05


@dataclass(frozen=True)
class Key:
    """A legend entry."""

    number: int
    name: str
    mean: str


@dataclass(frozen=True)
class Drawing:
    """A chart ready for the page.

    Attributes
    ----------
    svg
        The drawing.
    description
        What it shows, for those who do not see it.
    y
        Labels of the value axis and their places in percent.
    data
        Times and values for the reading line, as JSON.
    """

    svg: Markup
    x: tuple[Mark, ...]
    y: tuple[tuple[str, float], ...]
    keys: tuple[Key, ...]
    description: str
    data: str


def draw(chart: Chart, clock: Clock, start: datetime, end: datetime) -> Drawing:
    """Draw a chart over the time from start to end.

    Values are drawn as steps: each holds for its whole interval. Where an interval is missing, the line is broken.
    """
    begins, ends = [on_axis(moment) for moment in chart.times], [on_axis(moment) for moment in chart.ends]
    times = TimeAxis.over(begins, ends, on_axis(start), on_axis(end))
    lefts = [times.place(moment.timestamp()) * SIZE for moment in begins]
    rights = [
        times.end_place(moment.timestamp(), until.timestamp()) * SIZE
        for moment, until in zip(begins, ends, strict=True)
    ]
    # An interval ends where the next one starts; only a missing one leaves room between them.
    for index in range(len(lefts) - 1):
        if lefts[index + 1] < rights[index] or _close(chart, index):
            rights[index] = lefts[index + 1]
    factor = chart.unit.factor
    layers = _stacked(chart) if chart.kind is ChartKind.STACK else []
    tops = [value for _, upper in layers for value in upper]
    if not layers:
        tops += [value for series in chart.series for value in series.values if value is not None]
    tops += [reference.value for reference in chart.references]
    scale = axis.marks(max(tops, default=0.0) * factor)
    height = scale[-1]

    def y(value: float) -> float:
        return SIZE - value * factor / height * SIZE

    grid = "".join(f"M0 {coordinate(SIZE - mark / height * SIZE)}H{SIZE}" for mark in scale)
    parts = [Markup('<path class="grid" d="{}"/>').format(grid)]
    for number, (lower, upper) in enumerate(layers, 1):
        parts.append(Markup('<path class="fill c{}" d="{}"/>').format(number, _area(lefts, rights, lower, upper, y)))
    if not layers:
        for number, series in enumerate(chart.series, 1):
            path = _steps(lefts, rights, series.values, y)
            parts.append(Markup('<path class="line c{}" d="{}"/>').format(number, path))
    for reference in chart.references:
        height_of = coordinate(y(reference.value))
        parts.append(Markup('<path class="reference" d="M0 {}H{}"/>').format(height_of, SIZE))
    parts += [
        Markup('<path class="break" d="M{} 0V{}"/>').format(coordinate(place * SIZE), SIZE) for place in times.breaks
    ]
    svg = Markup('<svg viewBox="0 0 {0} {0}" preserveAspectRatio="none" aria-hidden="true">{1}</svg>').format(
        SIZE, Markup("").join(parts)
    )
    return Drawing(
        svg=svg,
        x=times.marks(clock.unplaced() if chart.is_local else clock),
        y=tuple((text, value / height * 100) for text, value in zip(axis.labels(scale), scale, strict=True)),
        keys=tuple(
            Key(number + 1, series.name, shown(chart.mean_of(series), chart.unit))
            for number, series in enumerate(chart.series)
        ),
        description=describe(chart, clock),
        data=_data(chart, clock, lefts, rights),
    )


def _close(chart: Chart, index: int) -> bool:
    """Whether the next interval starts where this interval ends; a report shows no time between them."""
    own = chart.ends[index] - chart.times[index]
    return chart.times[index + 1] - chart.ends[index] <= max(TOGETHER, GAP * own)


def coordinate(number: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{number:.1f}".removesuffix(".0")


def _stacked(chart: Chart) -> list[tuple[list[float], list[float]]]:
    """Lower and upper edge of each layer; a null adds nothing to the stack."""
    columns = [
        list(accumulate((series.values[index] or 0.0 for series in chart.series), initial=0.0))
        for index in range(len(chart.times))
    ]
    return [
        ([column[number] for column in columns], [column[number + 1] for column in columns])
        for number in range(len(chart.series))
    ]


def _steps(
    lefts: Sequence[float], rights: Sequence[float], values: Sequence[float | None], y: Callable[[float], float]
) -> str:
    path: list[str] = []
    reached: float | None = None
    for left, right, value in zip(lefts, rights, values, strict=True):
        if value is None:
            reached = None
            continue
        height = coordinate(y(value))
        joined = reached is not None and abs(reached - left) < 0.05
        path.append(f"V{height}H{coordinate(right)}" if joined else f"M{coordinate(left)} {height}H{coordinate(right)}")
        reached = right
    return "".join(path)


def _area(
    lefts: Sequence[float],
    rights: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    y: Callable[[float], float],
) -> str:
    """A closed outline for each run of neighbouring intervals: along the top, back along the bottom."""
    runs: list[list[int]] = []
    for index in range(len(lefts)):
        if runs and abs(rights[index - 1] - lefts[index]) < 0.05:
            runs[-1].append(index)
        else:
            runs.append([index])
    path: list[str] = []
    for run in runs:
        path.append(f"M{coordinate(lefts[run[0]])} {coordinate(y(lower[run[0]]))}")
        path += [f"V{coordinate(y(upper[i]))}H{coordinate(rights[i])}" for i in run]
        path += [f"V{coordinate(y(lower[i]))}H{coordinate(lefts[i])}" for i in reversed(run)]
        path.append("Z")
    return "".join(path)


def describe(chart: Chart, clock: Clock) -> str:
    """The chart in words: mean of each series, its peak and the time of the peak."""
    sentences = [f"{chart.title}, {len(chart.times)} points."]
    for series in chart.series:
        known = [(v, t) for v, t in zip(series.values, chart.times, strict=True) if v is not None]
        if not known:
            continue
        peak, moment = max(known, key=lambda point: point[0])
        sentences.append(
            f"{series.name}: mean {with_symbol(chart.mean_of(series), chart.unit)}, "
            f"peak {with_symbol(peak, chart.unit)} at {clock.minute(moment)}."
        )
    return " ".join(sentences)


def _rounded(value: float | None, chart: Chart) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value * chart.unit.factor:.{chart.unit.digits}f}")


def _data(chart: Chart, clock: Clock, lefts: Sequence[float], rights: Sequence[float]) -> str:
    """Data for the reading line: position and start of each interval, and the displayed values."""
    # The page adds the offset of its clock to every time.
    shift = (clock.offset or 0.0) if chart.is_local else 0.0
    content: dict[str, object] = {
        "t": [round(on_axis(moment).timestamp() - shift) for moment in chart.times],
        "x": [float(coordinate(left)) for left in lefts],
        "w": [float(coordinate(right)) for right in rights],
        "v": [[_rounded(value, chart) for value in series.values] for series in chart.series],
        "e": [round(on_axis(moment).timestamp() - shift) for moment in chart.ends],
        "d": chart.unit.digits,
        "u": chart.unit.symbol,
    }
    if chart.is_local:
        content["z"] = LOCAL
    return script_json(content)


def script_json(content: object) -> str:
    """JSON that is safe in a script element: it can neither end the element nor start a comment."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def spark(values: Sequence[float | None], title: str, *, gap: bool = False) -> Markup:
    """A sparkline from zero: steps of equal width, or bars with gaps."""
    known = [value for value in values if value is not None]
    if not known:
        return Markup("")
    height = max(known) or 1.0
    width = 100 / len(values)

    def y(value: float) -> float:
        return 20 - max(value, 0.0) / height * 18

    lefts = [place * width for place in range(len(values))]
    rights = [left + width * (0.8 if gap else 1) for left in lefts]
    filled = _area(lefts, rights, [0.0] * len(values), [value or 0.0 for value in values], y)
    line = "" if gap else _steps(lefts, rights, values, y)
    return Markup(
        '<svg class="spark{}" viewBox="0 0 100 21" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<path class="area-under" d="{}"/><path class="over" d="{}"/></svg>'
    ).format(" bars" if gap else "", title, filled, line)
