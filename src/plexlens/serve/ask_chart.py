"""Charts of an answer to a query: its numbers over its times, a line for each name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from statistics import median
from typing import Any

import pyarrow as pa

from plexlens.metrics.unit import Unit
from plexlens.report.model.chart import Chart, ChartKind, Series

#: Charts of an answer, and lines of a chart, at most.
CHARTS, LINES = 4, 8

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)


@dataclass(frozen=True)
class Drawn:
    """Charts of an answer.

    Attributes
    ----------
    charts
        One for each column of numbers.
    reason
        Why there is none, or what is not drawn, as sentences; may be empty.
    """

    charts: tuple[Chart, ...]
    reason: str = ""


def drawn(table: pa.Table, units: Mapping[str, Unit]) -> Drawn:
    """The charts of an answer.

    Parameters
    ----------
    table
        The answer.
    units
        Unit in which columns are shown, by name, where it is known.
    """
    columns = [(name, column) for name, column in zip(table.column_names, table.columns, strict=True)]
    times = [(name, column) for name, column in columns if pa.types.is_timestamp(column.type)]
    numbers = [(name, column) for name, column in columns if any(is_kind(column.type) for is_kind in _NUMBERS)]
    texts = [
        column for _, column in columns if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ]
    if not times or not numbers:
        return Drawn((), "No chart: it needs a column of times and one of numbers.")
    time_name, moments = times[0][0], times[0][1].to_pylist()
    names = [_named(row) for row in zip(*(column.to_pylist() for column in texts), strict=True)] if texts else []
    names = names or [""] * len(moments)
    known = sorted({moment for moment in moments if moment is not None})
    if len(known) < 2:
        return Drawn((), f"No chart: {time_name} has fewer than two times.")
    places = {moment: place for place, moment in enumerate(known)}
    cells = [(name, places[moment]) for name, moment in zip(names, moments, strict=True) if moment is not None]
    if len(set(cells)) < len(cells):
        what = f"the same {time_name} and names" if texts else f"the same {time_name}"
        return Drawn((), f"No chart: several rows have {what}. Add a column in which they differ, or add them up.")
    ends = tuple(_ends(known))
    charts = tuple(
        _chart(name, _lines(column.to_pylist(), moments, names, places), (tuple(known), ends), units.get(name))
        for name, column in numbers[:CHARTS]
    )
    left = [name for name, _ in numbers[CHARTS:]]
    return Drawn(charts, f"Not drawn: {', '.join(left)}." if left else "")


def _named(row: Sequence[str | None]) -> str:
    return " / ".join(value if value else "without a name" for value in row)


def _lines(
    values: Sequence[Any], moments: Sequence[datetime | None], names: Sequence[str], places: Mapping[datetime, int]
) -> dict[str, list[float | None]]:
    lines: dict[str, list[float | None]] = {}
    for value, moment, name in zip(values, moments, names, strict=True):
        if moment is not None:
            lines.setdefault(name, [None] * len(places))[places[moment]] = _number(value)
    return lines


def _number(value: int | float | Decimal | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _ends(times: Sequence[datetime]) -> Iterator[datetime]:
    """End of each interval: the next start, but no later than is usual, so that gaps stay gaps."""
    gaps = [after - before for before, after in pairwise(times)]
    usual = timedelta(seconds=median(gap.total_seconds() for gap in gaps))
    yield from (start + min(gap, usual) for start, gap in zip(times, gaps, strict=False))
    yield times[-1] + usual


def _scale(largest: float) -> Unit:
    """A unit for numbers of which nothing is known: a power of ten, if they are very small or very large."""
    power = 0 if largest == 0 or 0.01 <= largest < 1e7 else 3 * math.floor(math.log10(largest) / 3)
    shown = largest / 10.0**power
    digits = 1 if shown >= 100 else 3
    return Unit(f"10{str(power).translate(_RAISED)}" if power else "", "value", 10.0**-power, digits)


def _chart(
    name: str,
    lines: dict[str, list[float | None]],
    span: tuple[tuple[datetime, ...], tuple[datetime, ...]],
    unit: Unit | None,
) -> Chart:
    series = [
        Series(line or name, tuple(values))
        for line, values in lines.items()
        if any(value is not None for value in values)
    ]
    series.sort(key=lambda entry: (-max(abs(value) for value in entry.values if value is not None), entry.name))
    largest = max((abs(value) for entry in series for value in entry.values if value is not None), default=0.0)
    return Chart(
        name=f"answer_{name}",
        title=name,
        unit=unit or _scale(largest),
        kind=ChartKind.LINES,
        times=span[0],
        ends=span[1],
        series=tuple(series[:LINES]),
        left_out=max(0, len(series) - LINES),
    )
