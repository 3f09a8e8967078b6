"""Figures of a study redrawn from its tables: curves over a number, and bars by name."""

from __future__ import annotations

from dataclasses import dataclass

from plexlens.compare.analysis.entries import Entry
from plexlens.compare.numbers.quantity import UndefinedError


@dataclass(frozen=True)
class CurveSeries:
    """A named series of x and y, in ascending order of x."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class CurveFigure:
    """Curves over a number."""

    id: str
    title: str
    x_title: str
    x_unit: str
    y_title: str
    y_unit: str
    series: tuple[CurveSeries, ...]
    log_x: bool
    note: str


@dataclass(frozen=True)
class BarFigure:
    """Bars by name, all with the same parts.

    Attributes
    ----------
    parts
        What the values of a bar are.
    bars
        Name and a value for each part; None where the study has none.
    stacked
        Whether the parts add up, and their sum is shown.
    """

    id: str
    title: str
    unit: str
    parts: tuple[str, ...]
    bars: tuple[tuple[str, tuple[float | None, ...]], ...]
    stacked: bool
    note: str


Figure = CurveFigure | BarFigure


def read_figure(entry: Entry) -> Figure:
    """A figure from its ``[[figures]]`` entry."""
    if entry.one_of("kind", ("curves", "bars")) == "curves":
        return _curves(entry)
    entry.only("id", "kind", "title", "unit", "parts", "bars", "stacked", "note")
    parts = entry.texts("parts")
    bars = []
    for bar in entry.entries("bars"):
        bar.only("name", "values")
        specs = bar.content.get("values")
        if not isinstance(specs, list) or len(specs) != len(parts):
            raise bar.wrong("values", f"the number of values is not {len(parts)}", "give one value per part, or ''")
        values: list[float | None] = []
        for number, spec in enumerate(specs, 1):
            try:
                value = None if spec == "" else bar.numbers.value(spec, f"{bar.where}, value {number}")
            except UndefinedError as error:
                raise bar.wrong("values", str(error), "leave the value empty: ''") from error
            values.append(None if value is None else float(value.quantity.value))
        bars.append((bar.text("name"), tuple(values)))
    if not parts or not bars:
        raise entry.wrong("bars", "there is none", "give parts = [...] and bars = [{name, values}]")
    stacked = entry.content.get("stacked", False) is True
    return BarFigure(
        entry.text("id"), entry.text("title"), entry.text("unit"), parts, tuple(bars), stacked, entry.text("note", "")
    )


def _curves(entry: Entry) -> CurveFigure:
    entry.only("id", "kind", "title", "x_title", "x_unit", "y_title", "y_unit", "series", "log_x", "note")
    results = []
    for series in entry.entries("series"):
        series.only("name", "table", "rows", "but", "x", "y", "x_divisor")
        table = series.table()
        rows = series.rows(table)
        divisor = series.number("x_divisor", 1.0)
        x = [total / divisor for total in series.sums("x", table, rows)]
        points = sorted(zip(x, series.sums("y", table, rows), strict=True))
        if len({point[0] for point in points}) != len(points):
            raise series.wrong("x", "two rows have the same x", "leave one of them out with 'but'")
        results.append(CurveSeries(series.text("name"), tuple(points)))
    if not results:
        raise entry.wrong("series", "there is none", "give series = [{name, table, x, y}]")
    return CurveFigure(
        entry.text("id"), entry.text("title"), entry.text("x_title"), entry.text("x_unit"), entry.text("y_title"),
        entry.text("y_unit"), tuple(results), entry.content.get("log_x", False) is True, entry.text("note", ""),
    )  # fmt: skip
