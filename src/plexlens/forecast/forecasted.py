"""From the selected tables of a database to its forecasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plexlens.errors import NothingUsableError
from plexlens.forecast.daily import WEEK, Forecast, Values, forecast
from plexlens.forecast.series import KINDS, Daily, read_series
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.opening import explained
from plexlens.progress import Progress, silent


@dataclass(frozen=True)
class OfSeries:
    """A series and its forecast."""

    series: Daily
    forecast: Forecast

    @property
    def peak(self) -> int | None:
        """Place of the highest day ahead; None if no day has a value."""
        values = self.forecast.values
        return None if np.all(np.isnan(values)) else int(np.nanargmax(values))


@dataclass(frozen=True)
class Forecasted:
    """All of an answer.

    Attributes
    ----------
    name
        What the user called the data.
    days
        Days ahead.
    series
        Each series with its forecast.
    short
        Series with less than a week of days, which have no forecast.
    has_clock
        Whether all days begin on the systems' clock; days of UTC where that clock changes within the data.
    """

    name: str
    days: int
    series: tuple[OfSeries, ...]
    short: tuple[Daily, ...]
    has_clock: bool


def forecasted(
    inputs: Inputs,
    name: str,
    *,
    days: int = 28,
    kinds: Sequence[str] = (),
    utc_offset: float | None = 0.0,
    progress: Progress = silent,
) -> Forecasted:
    """Forecast the peak hour of each day.

    Parameters
    ----------
    inputs
        The selected tables.
    name
        What the user called them.
    days
        Days ahead.
    kinds
        Names of `plexlens.forecast.series.KINDS`; empty for all.
    utc_offset
        Seconds by which the clock on which days begin is ahead of UTC; None if it changes, for days of UTC.
    progress
        Told each stage.

    Raises
    ------
    NothingUsableError
        No series has a week of days.
    """
    with explained(inputs.selection):
        series = read_series(
            inputs, name, kinds or [kind.name for kind in KINDS], utc_offset=utc_offset or 0.0, progress=progress
        )
        long = [daily for daily in series if len(daily.values) >= WEEK]
        if not long:
            most = max(len(daily.values) for daily in series)
            raise NothingUsableError(
                file=name,
                what=f"the longest series has {most} whole {'day' if most == 1 else 'days'}; a forecast needs a week",
                remedy="ingest at least a week; four weeks or more allow a back-test",
            )
    progress(0, 0, "back-testing")
    return Forecasted(
        name,
        days,
        tuple(OfSeries(daily, forecast(daily.values, days)) for daily in long),
        tuple(daily for daily in series if len(daily.values) < WEEK),
        utc_offset is not None,
    )


def to_object(result: Forecasted) -> dict[str, Any]:
    """Forecasts as plain values, in base units."""
    return {
        "source": result.name,
        "days": result.days,
        "days_on_the_systems_clock": result.has_clock,
        "series": [
            {
                "kind": entry.series.kind.name,
                "metric": f"{entry.series.kind.grain}.{entry.series.kind.metric}",
                "name": entry.series.name,
                "unit": entry.series.unit.base,
                "first": entry.series.first.isoformat(),
                "values": _listed(entry.series.values),
                "days_left_out": entry.series.left_out,
                "model": entry.forecast.model,
                "better_than_last_week": entry.forecast.is_better,
                "weeks_held_out": entry.forecast.weeks,
                "errors": {name: test.error for name, test in entry.forecast.tests.items()},
                "forecast_first": entry.series.day(len(entry.series.values)).isoformat(),
                "forecast": _listed(entry.forecast.values),
                "low": _listed(entry.forecast.low),
                "high": _listed(entry.forecast.high),
            }
            for entry in result.series
        ],
        "too_short": [
            {"kind": short.kind.name, "name": short.name, "days": len(short.values)} for short in result.short
        ],
    }


def _listed(values: Values) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
