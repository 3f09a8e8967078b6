"""Placement of rows: the record family of a table, the day of a row.

Partitions serve reading: a question about a day opens that day's files. Nothing but a file's path depends on them, and
a row whose day cannot be told is not lost but `undated`.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa

UNDATED = "undated"
"""The partition of rows without a plausible date."""

DAY_COLUMNS = ("interval_start", "interval_end", "written_at")
"""Columns that date a row, the first that has a value wins: an interval belongs to the day (UTC) it began."""

EXPIRED = ""
"""Stands for the partition of rows that no longer have one: their record is of a day whose inventory has expired."""

_EPOCH = date(1970, 1, 1)
_NO_DAY = np.iinfo(np.int32).min
_EXPIRED_DAY = _NO_DAY + 1
# Damaged time stamps must not make a folder for each day of ten thousand years.
_PLAUSIBLE = ((date(1970, 1, 2) - _EPOCH).days, (date(2100, 1, 1) - _EPOCH).days)

#: Up to this number of runs of rows of one day, a batch is put together from them: the import of pyarrow.compute, which
#: is needed to take rows by their numbers, takes longer than all of a small dump's batches.
_MOST_RUNS = 100

_TABLE_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def family_of(table: str) -> str:
    """The record family of a table, the folder it lies in: ``smf74`` of ``smf74_4_request``.

    Raises
    ------
    ValueError
        Not a table name: lower-case words and digits joined by underscores.
    """
    if not _TABLE_NAME.fullmatch(table):
        raise ValueError(f"not a table name: {table!r}; it takes lower-case letters, digits and underscores")
    return table.partition("_")[0]


def partition_of(day: date | None) -> str:
    """The partition for the rows of a day: ``2022-08-15``; `UNDATED` for rows without a plausible day."""
    if day is None or not _PLAUSIBLE[0] <= (day - _EPOCH).days < _PLAUSIBLE[1]:
        return UNDATED
    return day.isoformat()


def place_of(system: str | None) -> str:
    """The folder for the rows of a system: its name, with ``%`` and two hexadecimal digits for other signs.

    Rows without a system go to ``%``, which no name gives.
    """
    return "%" if system is None else quote(system, safe="").replace(".", "%2E").replace("~", "%7E") or "%00"


def system_of(place: str) -> str | None:
    """The system whose rows a folder has; None for rows without a system."""
    return None if place == "%" else "" if place == "%00" else unquote(place)


def by_system(rows: pa.RecordBatch) -> list[tuple[str, pa.RecordBatch]]:
    """Rows by the folder of their system, in their order; all in one without a name if they have no such column."""
    index = rows.schema.get_field_index("system")
    if index < 0 or not pa.types.is_string(rows.column(index).type):
        return [("", rows)]
    names = rows.column(index).to_pylist()
    distinct = dict.fromkeys(names)
    if len(distinct) == 1:
        return [(place_of(names[0]), rows)]
    places: dict[str | None, list[int]] = {name: [] for name in distinct}
    for number, name in enumerate(names):
        places[name].append(number)
    return [(place_of(name), rows.take(pa.array(numbers))) for name, numbers in places.items()]


def _day_name(days: int) -> str:
    if days == _EXPIRED_DAY:
        return EXPIRED
    return UNDATED if days == _NO_DAY else (_EPOCH + timedelta(days=days)).isoformat()


class RowDays:
    """Splits the batches of one ingest by day.

    A row is dated by `DAY_COLUMNS`; one without any by the date its record was written, which the record's row in
    ``smf_record`` tells: the batches of ``smf_record`` are to come before those of the sections in the same records.

    Parameters
    ----------
    horizon
        The first day whose records ``smf_record`` still holds (`plexlens.pdb.Manifest.horizons`): rows of
        records before it are `EXPIRED`, whatever their own day, since the PDB may have held them.
    """

    def __init__(self, horizon: str = "") -> None:
        self._horizon = (date.fromisoformat(horizon) - _EPOCH).days if horizon else None
        self._record_no = np.empty(0, np.uint64)
        self._written = np.empty(0, np.int32)
        self._latest = 0

    def split(self, table: str, batch: pa.RecordBatch) -> list[tuple[str, pa.RecordBatch]]:
        """The batch by day: pairs of partition and rows, the rows of a partition in their order."""
        if batch.num_rows == 0:
            return []
        days = self._days(batch)
        if table == "smf_record":
            self._remember(batch, days)
        elif self._horizon is not None:
            days = self._without_expired(batch, days)
        first = days[0]
        if (days == first).all():
            return [(_day_name(int(first)), batch)]
        starts = np.flatnonzero(np.diff(days)) + 1
        if len(starts) > _MOST_RUNS:
            return [(_day_name(int(d)), batch.take(pa.array(np.flatnonzero(days == d)))) for d in np.unique(days)]
        runs: dict[int, list[pa.RecordBatch]] = {}
        for begin, end in pairwise([0, *starts.tolist(), len(days)]):
            runs.setdefault(int(days[begin]), []).append(batch.slice(begin, end - begin))
        # One run is not copied.
        parts = {day: of_day[0] if len(of_day) == 1 else pa.concat_batches(of_day) for day, of_day in runs.items()}
        return [(_day_name(day), parts[day]) for day in sorted(parts)]

    def _days(self, batch: pa.RecordBatch) -> np.ndarray:
        days = np.full(batch.num_rows, _NO_DAY, np.int32)
        open_rows = np.ones(batch.num_rows, bool)
        for name in DAY_COLUMNS:
            index = batch.schema.get_field_index(name)
            if index < 0 or batch.column(index).null_count == batch.num_rows:
                continue
            column_days = _column_days(batch.column(index))
            days[open_rows] = column_days[open_rows]
            open_rows = days == _NO_DAY
            if not open_rows.any():
                return days
        index = batch.schema.get_field_index("record_no")
        if index >= 0 and len(self._record_no):
            days[open_rows] = self._written_days(batch.column(index))[open_rows]
        return days

    def _without_expired(self, batch: pa.RecordBatch, days: np.ndarray) -> np.ndarray:
        index = batch.schema.get_field_index("record_no")
        if index < 0 or not len(self._record_no):
            return days
        written = self._written_days(batch.column(index))
        return np.where((written != _NO_DAY) & (written < self._horizon), _EXPIRED_DAY, days).astype(np.int32)

    def _remember(self, batch: pa.RecordBatch, days: np.ndarray) -> None:
        numbers = batch.column("record_no").to_numpy(zero_copy_only=False).astype(np.uint64)
        # The sections of a record may come while the next batch of records is under way: keep the batch before too.
        self._record_no = np.concatenate([self._record_no[len(self._record_no) - self._latest :], numbers])
        self._written = np.concatenate([self._written[len(self._written) - self._latest :], days])
        self._latest = len(numbers)

    def _written_days(self, record_no: pa.Array) -> np.ndarray:
        known = record_no.fill_null(0) if record_no.null_count else record_no
        numbers = known.to_numpy(zero_copy_only=False).astype(np.uint64)
        place = np.minimum(np.searchsorted(self._record_no, numbers), len(self._record_no) - 1)
        return np.where(self._record_no[place] == numbers, self._written[place], _NO_DAY).astype(np.int32)


def _column_days(column: pa.Array) -> np.ndarray:
    """Days since 1970-01-01 of a column of time stamps or dates; `_NO_DAY` where null or implausible."""
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date32(column.type)):
        return np.full(len(column), _NO_DAY, np.int32)
    # By numpy, where null is a moment before all others: Arrow loads its functions for that, which takes longer.
    numbers = column.to_numpy(zero_copy_only=False).astype("datetime64[D]").astype(np.int64)
    first, past = _PLAUSIBLE
    return np.where((numbers >= first) & (numbers < past), numbers, _NO_DAY).astype(np.int32)
