"""Values over time for display on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from plexlens.metrics.unit import Unit


class ChartKind(StrEnum):
    """Drawing style of a chart's series."""

    LINES = "lines"
    """Each series on its own from zero."""
    STACK = "stack"
    """Series on top of each other; only for values that add up."""


@dataclass(frozen=True)
class Series:
    """A line or layer of a chart: a name and a value (base unit, or null) for each time of the chart.

    `mean` is the number of its legend: what a table shows for the whole time; None to take the mean of the values.
    """

    name: str
    values: tuple[float | None, ...]
    mean: float | None = None


def mean(values: Sequence[float | None], times: Sequence[datetime], ends: Sequence[datetime]) -> float | None:
    """Mean of the known values, each weighted by the length of its interval."""
    known = [
        (value, (end - start).total_seconds())
        for value, start, end in zip(values, times, ends, strict=True)
        if value is not None
    ]
    weight = sum(seconds for _, seconds in known)
    if not known:
        return None
    if weight <= 0:
        return sum(value for value, _ in known) / len(known)
    return sum(value * seconds for value, seconds in known) / weight


@dataclass(frozen=True)
class Reference:
    """A level drawn across a chart, such as a goal; the value is in the base unit."""

    label: str
    value: float


@dataclass(frozen=True)
class Chart:
    """Values over time.

    Attributes
    ----------
    times, ends
        Start and end of each interval; a value holds from one to the other. UTC, or without a time zone: then all of
        them are local time of unknown offset.
    left_out
        Number of series that exist and are not drawn.
    note, origin
        As in `Table`.
    """

    name: str
    title: str
    unit: Unit
    kind: ChartKind
    times: tuple[datetime, ...]
    ends: tuple[datetime, ...]
    series: tuple[Series, ...]
    definition: str = ""
    references: tuple[Reference, ...] = ()
    left_out: int = 0
    note: str = ""
    origin: str = ""

    @property
    def is_local(self) -> bool:
        """Whether its times are local with unknown offset."""
        return bool(self.times) and self.times[0].tzinfo is None

    def mean_of(self, series: Series) -> float | None:
        """The number in the legend: the series' own number, else the mean of its values weighted by time."""
        return series.mean if series.mean is not None else mean(series.values, self.times, self.ends)

    def __post_init__(self) -> None:
        if len(self.ends) != len(self.times):
            raise ValueError(f"chart {self.name}: {len(self.ends)} ends for {len(self.times)} times")
        for series in self.series:
            if len(series.values) != len(self.times):
                raise ValueError(
                    f"chart {self.name}: series {series.name!r} has {len(series.values)} values "
                    f"for {len(self.times)} times"
                )
