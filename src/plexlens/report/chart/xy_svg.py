"""Drawings of charts over a number, in the style of `time_svg`: a stretchable drawing, labels as page text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from markupsafe import Markup

from plexlens.report.chart import axis
from plexlens.report.chart.time_svg import SIZE, coordinate, script_json
from plexlens.report.model.display import shown, with_symbol
from plexlens.report.model.xy import Point, XYChart, XYStyle

#: Width of a mark's letters in parts of the narrowest plot there is, a phone's: 6.4 of 266 pixels.
LETTER = 6.4 / 266

#: Room between two marks' labels in one row, in the same parts.
APART = 0.03


@dataclass(frozen=True)
class MarkLabel:
    """A mark's label: its position in percent, its row from the top, and whether it is to the left of its line."""

    text: str
    place: float
    row: int
    leftward: bool
    strong: bool


@dataclass(frozen=True)
class XYDrawing:
    """A chart over a number, ready for the page.

    Attributes
    ----------
    x, y
        Labels of the axes and their places in percent.
    marks
        Labels of the marks.
    rows
        Rows that the marks' labels take.
    description, data
        As in `plexlens.report.chart.time_svg.Drawing`.
    """

    svg: Markup
    x: tuple[tuple[str, float], ...]
    y: tuple[tuple[str, float], ...]
    marks: tuple[MarkLabel, ...]
    rows: int
    description: str
    data: str


@dataclass(frozen=True)
class _XAxis:
    """The x axis in display units: position of a value, from 0 to 1."""

    low: float
    high: float
    factor: float
    log: bool

    @classmethod
    def of(cls, chart: XYChart) -> _XAxis:
        factor = chart.x_unit.factor
        every = [x * factor for x in (*chart.places, *(mark.x for mark in chart.marks))]
        low, high = min(every), max(every)
        if not chart.log_x and 0 < low < high / 4:
            low = 0.0
        if low == high:
            low, high = (low / 2, high * 2) if chart.log_x else (low - 1, high + 1)
        return cls(low, high, factor, chart.log_x)

    def place(self, x: float) -> float:
        shown_x = x * self.factor
        if self.log:
            return math.log(shown_x / self.low) / math.log(self.high / self.low)
        return (shown_x - self.low) / (self.high - self.low)

    def labels(self) -> tuple[tuple[str, float], ...]:
        values = axis.log_marks(self.low, self.high) if self.log else axis.marks_within(self.low, self.high)
        # On a logarithmic axis 100 and 100 000 have no decimals in common: each is spelt for itself.
        texts = [axis.labels((value,))[0] for value in values] if self.log else axis.labels(values)
        return tuple((text, self.place(value / self.factor) * 100) for text, value in zip(texts, values, strict=True))


@dataclass(frozen=True)
class _YAxis:
    """The y axis in display units: its marks, and the position of a value, from 0 to 1."""

    scale: tuple[float, ...]
    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, chart: XYChart, low: float, high: float) -> _YAxis:
        if not chart.log_y:
            scale = axis.marks_around(low, high)
            return cls(scale, scale[0], scale[-1], False)
        # From the round number below to the round number above.
        low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))
        high = high if high > low else low * 10
        return cls(axis.log_marks(low, high), low, high, True)

    def place(self, value: float) -> float:
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def labels(self) -> tuple[tuple[str, float], ...]:
        texts = [axis.labels((value,))[0] for value in self.scale] if self.log else axis.labels(self.scale)
        return tuple((text, self.place(value) * 100) for text, value in zip(texts, self.scale, strict=True))


def draw_xy(chart: XYChart) -> XYDrawing:
    """Draw a chart over a number: straight lines from point to point, layers if the series add up."""
    across = _XAxis.of(chart)
    layers = layers_of(chart) if chart.stacked else []
    values = [value for layer in layers for edge in layer for value in edge] or [
        value
        for series in chart.series
        for value in (*(y for _, y in series.points), *(v for _, low, high in series.band for v in (low, high)))
        if value is not None
    ]
    factor = chart.y_unit.factor
    up = _YAxis.of(chart, min(values, default=0.0) * factor, max(values, default=0.0) * factor)

    def x(value: float) -> float:
        return across.place(value) * SIZE

    def y(value: float) -> float:
        return SIZE - up.place(value * factor) * SIZE

    lines = "".join(f"M0 {coordinate(SIZE - up.place(mark) * SIZE)}H{SIZE}" for mark in up.scale)
    parts = [Markup('<path class="grid" d="{}"/>').format(lines)]
    if up.scale[0] < 0:
        parts.append(Markup('<path class="zero" d="M0 {}H{}"/>').format(coordinate(y(0.0)), SIZE))
    if chart.stacked:
        xs = [x(number) for number, _ in chart.series[0].points]
        for number, (lower, upper) in enumerate(layers, 1):
            path = _outline(xs, [y(number) for number in lower], [y(number) for number in upper])
            parts.append(Markup('<path class="fill c{}" d="{}"/>').format(number, path))
    else:
        parts += _paths(chart, x, y)
    for mark in chart.marks:
        shape = Markup('<path class="mark{}" d="M{} 0V{}"/>')
        parts.append(shape.format(" strong" if mark.strong else "", coordinate(x(mark.x)), SIZE))
    labels = mark_labels(chart, across.place)
    return XYDrawing(
        svg=Markup('<svg viewBox="0 0 {0} {0}" preserveAspectRatio="none" aria-hidden="true">{1}</svg>').format(
            SIZE, Markup("").join(parts)
        ),
        x=across.labels(),
        y=up.labels(),
        marks=labels,
        rows=max((label.row + 1 for label in labels), default=0),
        description=describe_xy(chart),
        data=_data(chart, x),
    )


def layers_of(chart: XYChart) -> list[tuple[list[float], list[float]]]:
    """Lower and upper edge of each layer of a stacked chart; a null adds nothing to its stack."""
    columns = [
        list(accumulate((series.points[index][1] or 0.0 for series in chart.series), initial=0.0))
        for index in range(len(chart.series[0].points))
    ]
    return [
        ([column[number] for column in columns], [column[number + 1] for column in columns])
        for number in range(len(chart.series))
    ]


def _outline(xs: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> str:
    """A closed outline: along the top, back along the bottom."""
    there = [f"{coordinate(a)} {coordinate(b)}" for a, b in zip(xs, upper, strict=True)]
    back = [f"{coordinate(a)} {coordinate(b)}" for a, b in zip(reversed(xs), reversed(lower), strict=True)]
    return f"M{'L'.join([*there, *back])}Z"


def _paths(chart: XYChart, x: Callable[[float], float], y: Callable[[float], float]) -> list[Markup]:
    """Bands below lines below dots, so that nothing is hidden."""
    bands, lines, dots = [], [], []
    for number, series in enumerate(chart.series, 1):
        if series.band:
            xs = [x(number) for number, _, _ in series.band]
            path = _outline(
                xs, [y(number) for _, number, _ in series.band], [y(number) for _, _, number in series.band]
            )
            bands.append(Markup('<path class="band fill c{}" d="{}"/>').format(number, path))
        if series.style is not XYStyle.POINTS:
            lines.append(Markup('<path class="line c{}" d="{}"/>').format(number, _line(series.points, x, y)))
        if series.style is not XYStyle.LINE:
            # A stroke of no length with round ends: a dot that the stretched drawing does not stretch.
            path = "".join(f"M{coordinate(x(a))} {coordinate(y(b))}h0" for a, b in series.points if b is not None)
            dots.append(Markup('<path class="dots c{}" d="{}"/>').format(number, path))
    return [*bands, *lines, *dots]


def _line(points: Sequence[Point], x: Callable[[float], float], y: Callable[[float], float]) -> str:
    path: list[str] = []
    joined = False
    for place, value in points:
        if value is not None:
            path.append(f"{'L' if joined else 'M'}{coordinate(x(place))} {coordinate(y(value))}")
        joined = value is not None
    return "".join(path)


def mark_labels(chart: XYChart, place: Callable[[float], float]) -> tuple[MarkLabel, ...]:
    """Positions of the marks' labels.

    On the side with more room, in the first row where no label hides another and no line crosses one; where there is
    no such row, where no label hides another. Lines go down from their label's row, so the marks farther out, over
    which the others' labels reach, come first.
    """
    placed: list[_Placed] = []
    labels: list[MarkLabel] = []
    outward = sorted(((place(mark.x), mark) for mark in chart.marks), key=lambda mark: -abs(mark[0] - 0.5))
    for at, mark in outward:
        width = (len(mark.label) + 1) * LETTER
        start, end = (at - width, at) if at > 0.5 else (at, at + width)
        rows = [
            _Placed(row, at, start, end)
            for row in range(len(placed) + 1)
            if not any(_Placed(row, at, start, end).hides(other) for other in placed)
        ]
        clear = [row for row in rows if not any(row.crosses(other) or other.crosses(row) for other in placed)]
        chosen = (clear or rows)[0]
        placed.append(chosen)
        labels.append(MarkLabel(mark.label, at * 100, chosen.row, at > 0.5, mark.strong))
    return tuple(sorted(labels, key=lambda label: label.place))


@dataclass(frozen=True)
class _Placed:
    """A label in its row, from ``start`` to ``end``, with a line down from it at ``at``."""

    row: int
    at: float
    start: float
    end: float

    def hides(self, other: _Placed) -> bool:
        """Whether the two labels overlap."""
        return self.row == other.row and self.start < other.end + APART and other.start < self.end + APART

    def crosses(self, other: _Placed) -> bool:
        """Whether its line crosses the other's label."""
        return self.row < other.row and other.start < self.at < other.end


def describe_xy(chart: XYChart) -> str:
    """The chart in words: start and end of each series, and its marks."""
    sentences = [f"{chart.title}: {chart.y_title} over {chart.x_title}."]
    for series in chart.series:
        known = [(x, y) for x, y in series.points if y is not None]
        if known:
            sentences.append(
                f"{series.name}: "
                + ", ".join(
                    f"{with_symbol(y, chart.y_unit)} at {with_symbol(x, chart.x_unit)}"
                    for x, y in dict.fromkeys((known[0], known[-1]))
                )
                + "."
            )
    sentences += [f"{mark.label}: {with_symbol(mark.x, chart.x_unit)}." for mark in chart.marks]
    return " ".join(sentences)


def _data(chart: XYChart, x: Callable[[float], float]) -> str:
    """Data for the reading line: positions, their labels, and the displayed values."""
    digits, factor = chart.y_unit.digits, chart.y_unit.factor
    rows = chart.rows()

    def rounded(value: float | None) -> float | None:
        return None if value is None or not math.isfinite(value) else float(f"{value * factor:.{digits}f}")

    places = [float(coordinate(x(number))) for number, _ in rows]
    symbol = f" {chart.x_unit.symbol}" if chart.x_unit.symbol else ""
    return script_json(
        {
            "l": [f"{chart.x_title} {shown(number, chart.x_unit)}{symbol}" for number, _ in rows],
            "x": places,
            "w": places,
            "v": [[rounded(values[number]) for _, values in rows] for number in range(len(chart.series))],
            "d": digits,
            "u": chart.y_unit.symbol,
        }
    )
