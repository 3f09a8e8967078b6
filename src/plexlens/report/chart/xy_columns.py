"""Charts over a number as text columns: x, each series, and the marks at their x."""

from __future__ import annotations

from plexlens.report.model import Cell, Column, ColumnKind
from plexlens.report.model.xy import XYChart


def xy_columns(chart: XYChart) -> tuple[Column, ...]:
    """Heads of the text: the x, the series under the title of the y axis, the marks if there are any."""
    number = ColumnKind.NUMBER
    return (
        Column("x", chart.x_title, number, chart.x_unit, key=True),
        *(
            Column(f"y{index}", series.name, number, chart.y_unit, group=chart.y_title)
            for index, series in enumerate(chart.series)
        ),
        *((Column("marks", "Mark", ColumnKind.TEXT),) if chart.marks else ()),
    )


def xy_rows(chart: XYChart, most: int) -> list[tuple[Cell, ...]]:
    """At most ``most`` rows in order of x, evenly sampled; they include the first, the last and every marked x.

    A mark between two points has a row of its own, without values.
    """
    values = dict(chart.rows())
    marks: dict[float, list[str]] = {}
    for mark in chart.marks:
        marks.setdefault(mark.x, []).append(mark.label)
    plain = [x for x in values if x not in marks]
    room = max(most - len(marks), 2)
    if len(plain) > room:
        plain = [plain[round(index * (len(plain) - 1) / (room - 1))] for index in range(room)]
    none: list[float | None] = [None] * len(chart.series)
    return [
        (x, *values.get(x, none), *((", ".join(marks.get(x, ())),) if chart.marks else ()))
        for x in sorted({*plain, *marks})
    ]
