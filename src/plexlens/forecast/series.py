"""The daily series of a database: the peak hour of each day of processors, MSU, DASD and structures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import numpy as np

from plexlens.cost.peaks import partition_hours
from plexlens.cost.use import read_use
from plexlens.errors import NothingUsableError
from plexlens.forecast.daily import Values
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import available, rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import Unit
from plexlens.progress import Progress, silent

#: Share of the usual number of hours of a day that a day needs.
WHOLE_DAY = 0.8


@dataclass(frozen=True)
class Kind:
    """A kind of series.

    Attributes
    ----------
    name, title
        For options, and for readers.
    grain, metric
        Its number.
    by
        Keys that series keep apart.
    where
        SQL condition on the rows; empty for all.
    """

    name: str
    title: str
    grain: str
    metric: str
    by: tuple[str, ...]
    where: str = ""


#: In the order of the page. ``msu`` is the four-hour average of `plexlens.cost`.
KINDS = (
    Kind("cpu", "General processors used", "cpu_system", "processors_used", ("system",), "processor_type = 'CP'"),
    Kind("msu", "Four-hour average of a machine", "cpu_partition", "msu_rolling", ("machine",)),
    Kind("dasd", "I/O of a system to DASD", "dasd_device", "io_rate", ("system",)),
    Kind("structure", "Size of a structure", "coupling_structure", "structure_bytes", ("facility", "structure")),
)  # fmt: skip


@dataclass(frozen=True)
class Daily:
    """A daily series.

    Attributes
    ----------
    kind
        What it is of.
    name
        System, machine or structure.
    first
        Its first day, by the clock of the systems.
    values
        Highest hour of each day, base unit; not a number on days left out.
    left_out
        Days with data in too few hours.
    """

    kind: Kind
    name: str
    first: date
    values: Values
    left_out: int

    @property
    def unit(self) -> Unit:
        """Unit of the values."""
        return GRAINS[self.kind.grain].column(self.kind.metric).unit

    def day(self, place: int) -> date:
        """The day of a value, or of one after the last."""
        return self.first + timedelta(days=place)


def read_series(
    inputs: Inputs, name: str, kinds: Iterable[str], *, utc_offset: float = 0.0, progress: Progress = silent
) -> list[Daily]:
    """Read the daily series of a database.

    Parameters
    ----------
    inputs
        The selected tables.
    name
        What the user called them.
    kinds
        Names of `KINDS`.
    utc_offset
        Seconds by which the clock on which days begin is ahead of UTC.
    progress
        Told each stage.

    Raises
    ------
    NothingUsableError
        No kind has data.
    """
    results: list[Daily] = []
    for kind in KINDS:
        if kind.name not in kinds or not available(inputs, GRAINS[kind.grain]):
            continue
        progress(0, 0, f"reading the series of {kind.name}")
        hours = _msu(inputs, name) if kind.name == "msu" else _hours(inputs, kind, utc_offset)
        results += [_daily(kind, entity, of_one) for entity, of_one in sorted(hours.items())]
    if not results:
        raise NothingUsableError(
            file=name,
            what="it has no processors, MSU, DASD or structures to forecast",
            remedy="add SMF 70-1, 74-1 or 74-4, or RMF reports",
        )
    return results


def _hours(inputs: Inputs, kind: Kind, utc_offset: float) -> dict[str, list[tuple[datetime, float]]]:
    rows = rolled_up(
        inputs, GRAINS[kind.grain], by=kind.by, time="hour", where=kind.where or None, utc_offset=utc_offset,
        shown=(kind.metric,),
    )  # fmt: skip
    results: dict[str, list[tuple[datetime, float]]] = {}
    for row in rows:
        value, moment = row[kind.metric], row["time"]
        if value is not None and moment is not None:
            local = moment.replace(tzinfo=None) + timedelta(seconds=utc_offset)
            entity = " ".join(str(row[key]) for key in kind.by if row[key] is not None)
            results.setdefault(entity, []).append((local, float(value)))
    return results


def _msu(inputs: Inputs, name: str) -> dict[str, list[tuple[datetime, float]]]:
    try:
        use = read_use(inputs, name)
    except NothingUsableError:
        return {}
    results: dict[str, list[tuple[datetime, float]]] = {}
    for machine in use.machines:
        averages = [partition_hours(use, partition).average for partition in use.of(machine)]
        total = np.nansum(averages, axis=0)
        has_data = ~np.all(np.isnan(averages), axis=0)
        for hour, value, known in zip(use.hours, total.tolist(), has_data.tolist(), strict=True):
            if known:
                local = use.clock(hour)
                results.setdefault(machine, []).append((local, value))
    return results


def _daily(kind: Kind, name: str, hours: Iterable[tuple[datetime, float]]) -> Daily:
    by_day: dict[date, list[float]] = {}
    for moment, value in hours:
        by_day.setdefault(moment.date(), []).append(value)
    usual = float(np.median([len(values) for values in by_day.values()]))
    kept = {day: max(values) for day, values in by_day.items() if len(values) >= WHOLE_DAY * usual}
    first, last = min(kept), max(kept)
    values = np.full((last - first).days + 1, np.nan)
    for day, value in kept.items():
        values[(day - first).days] = value
    return Daily(kind, name, first, values, len(by_day) - len(kept))
