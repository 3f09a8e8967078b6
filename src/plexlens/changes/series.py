"""The series of a database: each metric of each object, on a grid of the systems' clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from plexlens.forecast.daily import Values
from plexlens.metrics import GRAINS
from plexlens.metrics.definition import Fact, Grain, Metric
from plexlens.metrics.evaluate import available
from plexlens.metrics.grain_data import Covered, GrainData
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.roll_ups import RollUps
from plexlens.pdb.engine import arrow
from plexlens.progress import Progress, silent

#: Lengths of a slot in seconds, and the length of time by which rows are rolled up to it.
SLOTS = ((900, "quarter_hour"), (1800, "interval"), (3600, "hour"))

#: Numbers held of a grain at a time.
_HELD = 20_000_000

_DAY = 86_400
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Grid:
    """Days of the systems' clock, each of the same number of slots.

    Attributes
    ----------
    first
        The first day.
    days
        Number of days.
    seconds
        Length of a slot.
    """

    first: date
    days: int
    seconds: int

    @property
    def slots(self) -> int:
        """Slots of a day."""
        return _DAY // self.seconds

    def moment(self, place: int) -> datetime:
        """Beginning of a slot, on the systems' clock."""
        return datetime.combine(self.first, datetime.min.time()) + timedelta(seconds=place * self.seconds)


@dataclass(frozen=True)
class Named:
    """A series by its name.

    Attributes
    ----------
    grain, column
        What it is of.
    keys, names
        The keys that tell objects apart, and their values.
    grid
        Where its values stand.
    """

    grain: Grain
    column: Fact | Metric
    keys: tuple[str, ...]
    names: tuple[Any, ...]
    grid: Grid

    @property
    def metric(self) -> str:
        """``grain.metric``."""
        return f"{self.grain.name}.{self.column.name}"

    @property
    def label(self) -> str:
        """The object in one line."""
        return " / ".join(str(name) for name in self.names if name not in (None, "")) or "all"


@dataclass
class Read:
    """Record of what reading left out.

    Attributes
    ----------
    left_out
        Why a grain has no series, by its name.
    in_local_time
        Grains with reports in local time of unknown offset, which are not read.
    two_clocks
        Grains whose systems have different clocks at the same time: their days are those of UTC.
    clock_changes
        Grains within whose data the clock changes.
    repeated
        Values that stand in a slot that has another: the mean counts.
    """

    left_out: dict[str, str] = field(default_factory=dict)
    in_local_time: list[str] = field(default_factory=list)
    two_clocks: list[str] = field(default_factory=list)
    clock_changes: list[str] = field(default_factory=list)
    repeated: int = 0


def metrics_of(inputs: Inputs) -> dict[str, tuple[str, ...]]:
    """Every metric of every grain that the database has a source of."""
    return {
        name: tuple(metric.name for metric in GRAINS[name].metrics)
        for name in GRAINS
        if available(inputs, GRAINS[name])
    }


def read_series(
    inputs: Inputs, metrics: Mapping[str, Sequence[str]], read: Read, progress: Progress = silent
) -> Iterator[tuple[Named, Values]]:
    """Read series one after the other.

    Parameters
    ----------
    inputs
        The selected tables.
    metrics
        Metrics or facts of each grain.
    read
        Told what is left out.
    progress
        Told each grain.

    Yields
    ------
    Named, Values
        The series, and its values: a row per day of the grid, a column per slot; not a number where there is none.
    """
    for number, (name, columns) in enumerate(metrics.items()):
        progress(number, len(metrics), f"reading {name}")
        if not columns:
            read.left_out[name] = "it has facts, and no metrics"
            continue
        grain = GRAINS[name]
        by = tuple(dict.fromkeys(("system", "sysplex", *(key.name for key in grain.keys))))
        numbers = RollUps(inputs, GRAINS)
        numbers.need(name, (*by, *columns), None)
        data = numbers.data(name)
        if data is None:
            read.left_out[name] = "it has no rows"
            continue
        covered = data.first
        if covered.is_local:
            read.in_local_time.append(name)
            read.left_out[name] = "its reports have local times of unknown offset from UTC"
            continue
        if len(data.clocks) > 1:
            read.in_local_time.append(name)
        slot = _slot(covered, is_regular=data.regular)
        if slot is None:
            read.left_out[name] = "its intervals are longer than an hour"
            continue
        rows = data.kept.count()
        at_once = max(1, _HELD // max(1, rows))
        offsets = _offsets(inputs, data, read)
        for first in range(0, len(columns), at_once):
            part = tuple(columns[first : first + at_once])
            table, _ = numbers.rows(data, part, by=by, time=slot[1], where=data.on(covered))
            yield from _Rows(table, grain, by, slot[0], offsets).series(part, read)


def _slot(covered: Covered, *, is_regular: bool) -> tuple[int, str] | None:
    usual = covered.interval_seconds if is_regular else 0.0
    return next((slot for slot in SLOTS if usual <= slot[0] * 1.01), None)


def _offsets(inputs: Inputs, data: GrainData, read: Read) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Moments from which an offset of the clock from UTC is in force, and the offsets; in seconds, the first at 0."""
    table = arrow(
        inputs.connection,
        'select epoch("interval")::bigint as moment, min(utc_offset) as low, max(utc_offset) as high'
        f' from {data.kept.source} where "interval" is not null and utc_offset is not null group by all'
        " order by moment",
    )
    if not table.num_rows:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    low, high = (np.round(table[name].to_numpy() / 60).astype(np.int64) * 60 for name in ("low", "high"))
    if (low != high).any():
        read.two_clocks.append(data.name)
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    changes = np.flatnonzero(np.diff(low)) + 1
    if len(changes):
        read.clock_changes.append(data.name)
    places = np.concatenate([[0], changes])
    moments = table["moment"].to_numpy()[places].astype(np.int64)
    moments[0] = np.iinfo(np.int64).min
    return moments, low[places]


@dataclass(frozen=True)
class _Rows:
    """Rows of a grain in the order of objects and time, with the length of a slot and the offsets of the clock."""

    table: pa.Table
    grain: Grain
    by: tuple[str, ...]
    seconds: int
    offsets: tuple[NDArray[np.int64], NDArray[np.int64]]

    def series(self, columns: tuple[str, ...], read: Read) -> Iterator[tuple[Named, Values]]:
        """The series of these metrics of each object."""
        if not self.table.num_rows:
            return
        moments, of_clock = self.offsets
        at = self.table["time"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy() // 1_000_000
        local = at + of_clock[np.searchsorted(moments, at, side="right") - 1]
        first_day = int(local.min()) // _DAY
        days = int(local.max()) // _DAY - first_day + 1
        grid = Grid(_EPOCH + timedelta(days=first_day), days, self.seconds)
        places = (local - first_day * _DAY) // self.seconds
        values = {name: _numbers(self.table[name]) for name in columns}
        for begin, end in pairwise(_bounds(self.table, self.by)):
            names = tuple(self.table[name][begin].as_py() for name in self.by)
            for column in columns:
                on_grid, repeated = _on_grid(places[begin:end], values[column][begin:end], days * grid.slots)
                read.repeated += repeated
                named = Named(self.grain, self.grain.column(column), self.by, names, grid)
                yield named, on_grid.reshape(days, grid.slots)


def _on_grid(places: NDArray[np.int64], values: Values, count: int) -> tuple[Values, int]:
    """Values at their places, the mean where several stand at one; and the number of values that stand with another."""
    known = np.isfinite(values)
    number = np.bincount(places[known], minlength=count)
    total = np.bincount(places[known], values[known], minlength=count)
    result = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return result, int((number[number > 1] - 1).sum())


def _numbers(column: pa.ChunkedArray) -> Values:
    numbers = column.cast(pa.float64()).to_numpy()
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _bounds(table: pa.Table, by: Sequence[str]) -> list[int]:
    """Rows at which another object begins, and the number of rows; rows stand in the order of objects."""
    differs = np.zeros(table.num_rows - 1, dtype=bool)
    for name in by:
        codes = pc.fill_null(table[name].combine_chunks().dictionary_encode().indices, -1).to_numpy()
        differs |= codes[1:] != codes[:-1]
    return [0, *(np.flatnonzero(differs) + 1).tolist(), table.num_rows]
